"""A training of six layers, of which each step is an NVTX range. PyTorch launches the kernels of the backward pass from a thread of its own.

torch_backward.py
"""
import torch

model = torch.nn.Sequential(*[torch.nn.Linear(1024, 1024) for _ in range(6)]).cuda()
optimizer = torch.optim.SGD(model.parameters(), 0.01)
batch = torch.randn(256, 1024, device="cuda")
for step in range(12):
    torch.cuda.nvtx.range_push(f"step {step}")
    optimizer.zero_grad()
    loss = model(batch).square().mean()
    loss.backward()
    optimizer.step()
    loss.item()
    torch.cuda.nvtx.range_pop()
