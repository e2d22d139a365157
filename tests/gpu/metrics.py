"""Work that keeps one part of a GPU busy at a time, each part under an NVTX range of its name.

  metrics.py phases        memory-bound copies, tensor-core matrix products, and pulses of work, with pauses between them
  metrics.py memory        the memory-bound kernel alone, a few times (for ncu)
  metrics.py tensor        the matrix product alone, a few times (for ncu)
  metrics.py cost PROGRAM  milliseconds of a training step of a small transformer without and with this sampler beside it, in several ways
"""
import os
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


VARIANTS = {
    "1 kHz": ["--frequency", "1000"],
    "10 kHz": [],
    "10 kHz, one thread, seldom": ["--evaluators", "1", "--look-every", "100", "--nice", "19"],
    "10 kHz, no NVML": ["--evaluators", "1", "--look-every", "100", "--nice", "19", "--nvml-every", "0"],
    "10 kHz, nothing fetched": ["--look-every", "60000", "--nvml-every", "0"],
    "NVML alone": ["--frequency", "10"],
}


def cost(sampler, *others):
    """Steps without and with the sampler beside them, in turn; it gets time to begin. OTHERS: what stands in front of it, for example a loader."""
    command = [*others, sampler]
    step = training_step()
    milliseconds_of(step, 50)
    figures = {"without": [], **{name: [] for name in VARIANTS}}
    busy = {name: [] for name in VARIANTS}
    for round_number in range(7):
        figures["without"].append(milliseconds_of(step, 60))
        names = list(VARIANTS)
        for name in names if round_number % 2 == 0 else reversed(names):
            begin = time.perf_counter()
            process = subprocess.Popen(command + VARIANTS[name], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
            time.sleep(1.0)
            figures[name].append(milliseconds_of(step, 60))
            end = time.perf_counter()
            if process.poll() is not None:
                print(f"{name}: the sampler ended by itself: {process.returncode}")
            before = sum(os.times()[2:4])
            process.stdin.close()
            process.wait()
            busy[name].append((sum(os.times()[2:4]) - before) / (end - begin))
    best, median = min(figures["without"]), statistics.median(figures["without"])
    print(f"{'ms a step':28} {'best':>8} {'':>7} {'median':>8} {'':>7}  processors that the sampler kept busy")
    for name, values in figures.items():
        kept = f"{statistics.median(busy[name]):.2f}" if name in busy else ""
        print(f"{name:28} {min(values):8.3f} {100 * (min(values) / best - 1):+6.1f}% {statistics.median(values):8.3f} "
              f"{100 * (statistics.median(values) / median - 1):+6.1f}%  {kept}")


def main():
    what = sys.argv[1]
    if what == "memory":
        memory(3)
    elif what == "tensor":
        tensor(3)
    elif what == "cost":
        cost(*sys.argv[2:])
    else:
        memory(200)
        tensor(200)
        pulses()


main()
