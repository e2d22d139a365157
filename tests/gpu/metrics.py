"""Work that keeps one part of a GPU busy at a time, each part under an NVTX range of its name.

  metrics.py phases        memory-bound copies, tensor-core matrix products, and pulses of work, with pauses between them
  metrics.py memory        the memory-bound kernel alone, a few times (for ncu)
  metrics.py tensor        the matrix product alone, a few times (for ncu)
  metrics.py cost PROGRAM  milliseconds of a training step of a small transformer without and with this sampler beside it
"""
import statistics
import subprocess
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


def training_step():
    layer = torch.nn.TransformerEncoderLayer(d_model=1024, nhead=16, dim_feedforward=4096, batch_first=True, device="cuda")
    model = torch.nn.TransformerEncoder(layer, num_layers=6).to(torch.bfloat16)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    batch = torch.randn(16, 256, 1024, device="cuda", dtype=torch.bfloat16)

    def step():
        optimizer.zero_grad(set_to_none=True)
        model(batch).float().square().mean().backward()
        optimizer.step()

    return step


def milliseconds_of(step, count):
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(count):
        step()
    torch.cuda.synchronize()
    return (time.perf_counter() - begin) * 1000 / count


def cost(sampler):
    """Steps without and with the sampler beside them, alternating; it gets time to begin and to end."""
    step = training_step()
    milliseconds_of(step, 50)
    figures = {"without": [], "with": []}
    for _ in range(7):
        figures["without"].append(milliseconds_of(step, 100))
        process = subprocess.Popen([sampler], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        time.sleep(1.5)
        figures["with"].append(milliseconds_of(step, 100))
        if process.poll() is not None:
            print(f"the sampler ended by itself: {process.returncode}")
        process.stdin.close()
        process.wait()
    for name, values in figures.items():
        print(f"{name:8} best {min(values):.3f}  median {statistics.median(values):.3f}  all {[round(value, 3) for value in values]}")


def main():
    what = sys.argv[1]
    if what == "memory":
        memory(3)
    elif what == "tensor":
        tensor(3)
    elif what == "cost":
        cost(sys.argv[2])
    else:
        memory(200)
        tensor(200)
        pulses()


main()
