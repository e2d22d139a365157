#!/usr/bin/env python3
"""The cost of sampling the warps of kernels for a step, within one program: steps in windows of sampling compared with those between them.

Use: kernels_windows.py LANESCOPE FOLDER [--seconds 22] [--workloads cpu,resnet18,resnet18-gpu,gpu] [--window 1000] [--every 2000], then
     kernels_windows.py --evaluate FOLDER..., with the package lanescope in PYTHONPATH (app/python)

Between two programs, a step limited by the CPU differs by more than sampling costs (kernels_cost.py); within one program it does not. Sampling is enabled
for the whole recording, and active for a part of the time (--kernels=pc:window=1000ms,every=2000ms). Prints for each workload the median step between
windows, the median of the ratios of windows to the pauses around them with its 95 % interval, and the duration of steps in which a window started or ended.
cpu, gpu: a PyTorch training step limited by the CPU or by the GPU; resnet18: with a loader in the same process, which limits it; resnet18-gpu: with
images that are on the GPU already.
"""
import argparse
import pathlib
import random
import statistics
import subprocess
import sys
import time


def serve(path, seconds, workload):
    """The program: runs steps and writes the time of each to the file: CLOCK_MONOTONIC ns of the start, and the duration."""
    import kernels_cost

    import torch

    torch.set_num_threads(4)  # a loader that uses all processors would measure other users of the machine
    steps = {"gpu": lambda: kernels_cost.transformer(128, 128), "cpu": lambda: kernels_cost.transformer(1, 32), "resnet18": lambda: kernels_cost.resnet18(0),
             "resnet18-gpu": lambda: kernels_cost.resnet18(0, on_gpu=256)}[workload]()
    steps(5)
    times = []
    end = time.monotonic() + float(seconds)
    while time.monotonic() < end:
        begin = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        steps(1)
        times.append(f"{begin} {time.clock_gettime_ns(time.CLOCK_MONOTONIC) - begin}\n")
    pathlib.Path(path).write_text("".join(times), encoding="utf-8")


def run(lanescope, folder, seconds, workloads, window, every):
    for workload in workloads:
        place = pathlib.Path(folder) / workload
        answer = subprocess.run([lanescope, "profile", "-f", "-t", "cuda,nvtx", "-s", "none", "--cpuctxsw=none", f"--kernels=pc:window={window}ms,every={every}ms", "-o", f"{place}.trace",
                                 sys.executable, __file__, "--serve", f"{place}.steps", str(seconds), workload], capture_output=True, text=True, timeout=seconds + 60, check=False)
        print(workload, answer.returncode, (answer.stdout + answer.stderr)[-300:], flush=True)


def evaluate(steps_file):
    import lanescope

    steps = [tuple(map(int, line.split())) for line in steps_file.read_text(encoding="utf-8").splitlines()]
    with lanescope.Trace(steps_file.with_suffix(".trace")) as trace:
        table = trace.tables["pc_sample_windows"]
        epoch = trace.session["epoch"]
        windows = sorted({(int(begin) + epoch, int(begin + duration) + epoch) for begin, duration in zip(table["start"], table["duration"])})
    within, between, edges, ratios = [], [], [], []
    for before, (begin, end), following in zip(windows, windows[1:], windows[2:]):
        inside = [d for b, d in steps if b >= begin and b + d <= end]
        outside = [d for b, d in steps if (b >= before[1] and b + d <= begin) or (b >= end and b + d <= following[0])]
        edges += [d for b, d in steps if b < begin < b + d or b < end < b + d]
        if inside and outside:
            ratios.append(100 * (statistics.median(inside) / statistics.median(outside) - 1))
        within += inside
        between += outside
    if not ratios:
        print(f"{steps_file.stem:10} no step lies within a window")
        return
    draw = random.Random(1)
    drawn = sorted(statistics.median(draw.choices(ratios, k=len(ratios))) for _ in range(4000))
    print(f"{steps_file.stem:10} {len(ratios)} windows; between them {statistics.median(between) / 1e6:.3f} ms, within {statistics.median(within) / 1e6:.3f} ms, "
          f"{statistics.median(ratios):+.2f} % [{drawn[100]:+.2f}, {drawn[3899]:+.2f}]; steps at an edge {statistics.median(edges) / 1e6:.3f} ms")


def main():
    if sys.argv[1:2] == ["--serve"]:
        return serve(*sys.argv[2:])
    if sys.argv[1:2] == ["--evaluate"]:
        for folder in sys.argv[2:]:
            for steps in sorted(pathlib.Path(folder).glob("*.steps")):
                evaluate(steps)
        return None
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("lanescope")
    parser.add_argument("folder")
    parser.add_argument("--seconds", type=float, default=22)
    parser.add_argument("--workloads", default="cpu,resnet18,resnet18-gpu,gpu")
    parser.add_argument("--window", type=int, default=1000, help="ms")
    parser.add_argument("--every", type=int, default=2000, help="ms")
    arguments = parser.parse_args()
    return run(arguments.lanescope, arguments.folder, arguments.seconds, arguments.workloads.split(","), arguments.window, arguments.every)


if __name__ == "__main__":
    main()
