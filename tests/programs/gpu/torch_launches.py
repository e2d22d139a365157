"""A PyTorch training loop whose GPU is limited in the way of the mode, with a range "step N" around each step.

Use: torch_launches.py MODE [--steps N]

eager      many small operations, launched one by one: the CPU limits the GPU
graph      the same step as a CUDA graph
large      few large operations on tensor cores (TF32): the GPU limits the program, and there is nothing to find
fp32       the same without tensor cores
item       as eager, but the value of each layer is read (.item()), which waits for the GPU
pageable   as large, but each step's input is copied from memory that is not pinned
"""
import argparse

import torch
from torch import nn

SMALL, LARGE = (256, 24, 32), (4096, 6, 4096)  # width, layers, batch


class Layers(nn.Module):
    def __init__(self, width, layers, ask):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(layers))
        self.ask = ask

    def forward(self, value):
        for layer in self.layers:
            value = torch.relu(layer(value)) + value * 0.5
            if self.ask:
                value.sum().item()
        return value


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mode", choices=["eager", "graph", "large", "fp32", "item", "pageable"])
    parser.add_argument("--steps", type=int, default=60)
    arguments = parser.parse_args()
    torch.manual_seed(0)
    width, layers, batch = LARGE if arguments.mode in ("large", "fp32", "pageable") else SMALL
    torch.set_float32_matmul_precision("highest" if arguments.mode == "fp32" else "high")
    model = Layers(width, layers, arguments.mode == "item").cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    value = torch.randn(batch, width, device="cuda")
    host = torch.randn(batch, width)

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = model(value).square().mean()
        loss.backward()
        optimizer.step()

    run = step
    if arguments.mode == "graph":
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                step()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            step()
        run = graph.replay
    for index in range(arguments.steps):
        with torch.cuda.nvtx.range(f"step {index}"):
            if arguments.mode == "pageable":
                value.copy_(host)
            run()
    torch.cuda.synchronize()
    print("done")


main()
