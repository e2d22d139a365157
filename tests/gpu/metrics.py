"""Work that keeps one part of a GPU busy at a time, each part in an NVTX range of its name.

  metrics.py phases              memory-bound copies, tensor-core matrix products, and pulses of work, with pauses between them
  metrics.py memory              only the memory-bound kernel, a few times (for ncu)
  metrics.py tensor              only the matrix product, a few times (for ncu)
  metrics.py cost PROGRAM        milliseconds of a training step of a small transformer without and with this sampler running, in several ways
  metrics.py large-cost PROGRAM  the same with eight times the batch, so that the GPU limits a step and steps hardly differ
"""
import os
import random
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
    source = torch.ones(1 << 29, device="cuda")  # 2 GiB, so that nothing of it stays in the cache
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
    """Kernels of 2 ms with pauses of 3 ms: if the times of metrics are right, each pulse is at its kernel."""
    source = torch.ones(1 << 28, device="cuda")
    target = torch.empty_like(source)
    with Range("pulses"):
        for _ in range(50):
            for _ in range(4):
                torch.add(source, 1, out=target)
            torch.cuda.synchronize()
            time.sleep(0.003)


def training_step(batch_size):
    layer = torch.nn.TransformerEncoderLayer(d_model=1024, nhead=16, dim_feedforward=4096, batch_first=True, device="cuda")
    model = torch.nn.TransformerEncoder(layer, num_layers=6).to(torch.bfloat16)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    batch = torch.randn(batch_size, 256, 1024, device="cuda", dtype=torch.bfloat16)

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
    "resting all the time": None,
    "10 kHz, as it is by default": [],
    "the same, every 20 ms": ["--look-every", "20"],
    "set light": ["--set", "light"],
}


def processor_seconds(process):
    """Processor time of a process so far, in seconds."""
    with open(f"/proc/{process.pid}/stat", encoding="ascii") as file:
        return sum(map(int, file.read().rpartition(")")[2].split()[11:13])) / os.sysconf("SC_CLK_TCK")


def median_with_interval(ratios):
    """The median in per cent above 1, with an interval that contains 95 % of the medians of as many ratios drawn from these."""
    draw = random.Random(1)
    medians = sorted(statistics.median(draw.choices(ratios, k=len(ratios))) for _ in range(4000))
    return tuple(100 * (ratio - 1) for ratio in (statistics.median(ratios), medians[100], medians[3899]))


def cost(batch_size, cycles, steps, sampler, *others):
    """Times of steps while the sampler pauses and while it samples, in the order off on on off and on off off on in turn, as pairs of
    neighbours. OTHERS: what precedes the sampler's command, for example a loader."""
    step = training_step(batch_size)
    milliseconds_of(step, 60)
    print(f"{'':30} {'ms a step':>9} {'cost':>8}  {'95 %':>17}  processors kept busy   ({2 * cycles} pairs of {steps} steps each)")
    for name, options in VARIANTS.items():
        process = subprocess.Popen([*others, sampler, *(options or [])], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, bufsize=0)
        time.sleep(2.0)
        ratios, alone, busy, lasted = [], [], 0.0, 0.0
        for cycle in range(cycles):
            figures = {False: [], True: []}
            for samples in (False, True, True, False) if cycle % 2 == 0 else (True, False, False, True):
                process.stdin.write(b"r" if samples and options is not None else b"p")
                time.sleep(0.05)
                milliseconds_of(step, 2)
                before, begin = processor_seconds(process), time.perf_counter()
                figures[samples].append(milliseconds_of(step, steps))
                if samples:
                    busy += processor_seconds(process) - before
                    lasted += time.perf_counter() - begin
            ratios += [on / off for on, off in zip(figures[True], figures[False])]
            alone += figures[False]
        if process.poll() is not None:
            print(f"{name}: the sampler ended by itself: {process.returncode}")
        process.stdin.close()
        process.wait()
        middle, low, high = median_with_interval(ratios)
        print(f"{name:30} {statistics.median(alone):9.3f} {middle:+7.2f}%  [{low:+7.2f}, {high:+7.2f}]  {busy / lasted:.2f}", flush=True)


def main():
    what = sys.argv[1]
    if what == "memory":
        memory(3)
    elif what == "tensor":
        tensor(3)
    elif what == "cost":
        cost(16, 40, 10, *sys.argv[2:])
    elif what == "large-cost":
        cost(128, 8, 4, *sys.argv[2:])
    else:
        memory(200)
        tensor(200)
        pulses()


main()
