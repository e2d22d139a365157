"""Work that keeps one part of a GPU busy at a time, each part under an NVTX range of its name.

  metrics.py phases      memory-bound copies, tensor-core matrix products, and pulses of work, with pauses between them
  metrics.py memory      the memory-bound kernel alone, a few times (for ncu)
  metrics.py tensor      the matrix product alone, a few times (for ncu)
  metrics.py steps N     N training steps of a small transformer; prints the milliseconds of one
"""
import sys
import time

import torch


class Range:
    """An NVTX range that ends when the GPU has done what it enqueued."""

    def __init__(self, name):
        self.name = name

    def __enter__(self):
        torch.cuda.synchronize()
        torch.cuda.nvtx.range_push(self.name)

    def __exit__(self, *_):
        torch.cuda.synchronize()
        torch.cuda.nvtx.range_pop()
        time.sleep(0.1)


def memory(count):
    source = torch.ones(1 << 29, device="cuda")  # 2 GiB: nothing of it stays in the cache
    target = torch.empty_like(source)
    torch.add(source, 1, out=target)
    with Range("memory_bound"):
        for _ in range(count):
            torch.add(source, 1, out=target)


def tensor(count):
    a = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
    b = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
    out = torch.empty_like(a)
    torch.matmul(a, b, out=out)
    with Range("tensor_cores"):
        for _ in range(count):
            torch.matmul(a, b, out=out)


def pulses():
    """Kernels of 2 ms with 3 ms of nothing between them: where the metrics' times are right, each pulse lies on its kernel."""
    source = torch.ones(1 << 28, device="cuda")
    target = torch.empty_like(source)
    with Range("pulses"):
        for _ in range(50):
            for _ in range(4):
                torch.add(source, 1, out=target)
            torch.cuda.synchronize()
            time.sleep(0.003)


def steps(count):
    layer = torch.nn.TransformerEncoderLayer(d_model=1024, nhead=16, dim_feedforward=4096, batch_first=True, device="cuda")
    model = torch.nn.TransformerEncoder(layer, num_layers=6).to(torch.bfloat16)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    batch = torch.randn(16, 256, 1024, device="cuda", dtype=torch.bfloat16)

    def step():
        optimizer.zero_grad(set_to_none=True)
        model(batch).float().square().mean().backward()
        optimizer.step()

    for _ in range(20):
        step()
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(count):
        step()
    torch.cuda.synchronize()
    print(f"{(time.perf_counter() - begin) * 1000 / count:.4f}")


def main():
    what = sys.argv[1]
    if what == "memory":
        memory(3)
    elif what == "tensor":
        tensor(3)
    elif what == "steps":
        steps(int(sys.argv[2]))
    else:
        memory(200)
        tensor(200)
        pulses()


main()
