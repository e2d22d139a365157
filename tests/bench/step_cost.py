#!/usr/bin/env python3
"""What recording costs a PyTorch training step that the CPU bounds, from many short processes.

Use: step_cost.py [--seconds 220] [--lanes 7] [--lanescope PATH] [--nsys PATH] [--injection LIBRARY]
     step_cost.py --steps STRETCHES STEPS BATCH     the program itself: milliseconds of a step in each stretch

The same step takes up to half as long again in another process on the same machine, so that many processes tell more than long ones. In each lane, two
processors with a recorder of their own, all ways follow each other in an order drawn anew each round. LIBRARY is loaded by CUDA: a bare CUPTI
library shows the least that any recorder costs. Prints for each way the best and the median of its processes' median stretches, and the
median of their ratios to the process without a profiler, and to that with LIBRARY, of the same lane and round, with 95 % intervals.
"""
import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time


def train(stretches, steps, batch):
    import torch
    torch.manual_seed(0)
    layers = [torch.nn.TransformerEncoderLayer(512, 8, 2048, batch_first=True) for _ in range(8)]
    model = torch.nn.Sequential(*layers).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    data = torch.randn(batch, 128, 512, device="cuda")

    def step(number):
        with torch.cuda.nvtx.range(f"step_{number}"):
            with torch.cuda.nvtx.range("forward"):
                loss = model(data).square().mean()
            with torch.cuda.nvtx.range("backward"):
                loss.backward()
            with torch.cuda.nvtx.range("optimizer"):
                optimizer.step()
                optimizer.zero_grad(set_to_none=True)

    def milliseconds(count):
        begin = time.perf_counter()
        for number in range(count):
            step(number)
        torch.cuda.synchronize()
        return (time.perf_counter() - begin) * 1000 / count

    milliseconds(10)
    print("STEPS", *(f"{milliseconds(steps):.3f}" for _ in range(stretches)))


def ways_of(arguments, folder):
    """By name: what stands before the program, and its environment."""
    ways = {"none": ([], {})}
    if arguments.injection:
        ways["injection"] = ([], {"CUDA_INJECTION64_PATH": os.path.abspath(arguments.injection)})
    alone = ["--sample=none", "--cpuctxsw=none"]
    if arguments.nsys:
        ways["nsys"] = ([arguments.nsys, "profile", "-t", "cuda,nvtx", *alone, "-f", "true", "-o", f"{folder}/LANE"], {})
    own = [arguments.lanescope, "profile", "-t", "cuda,nvtx", "-f", "-o", f"{folder}/LANE.trace"]
    ways["light"] = ([*own, "--preset=light", *alone], {})
    ways["default, no samples"] = ([*own, *alone], {})
    ways["default"] = (own, {})
    return ways


def measure(ways, arguments):
    """The median stretch of each process: by way, then by lane and round."""
    figures = {way: {} for way in ways}
    end = time.monotonic() + arguments.seconds

    def run_lane(lane):
        order = random.Random(lane)
        for turn in range(10_000):
            for way in order.sample(list(ways), len(ways)):
                if time.monotonic() > end:
                    return
                prefix, environment = ways[way]
                command = ["taskset", "-c", f"{2 * lane + 1},{2 * lane + 2}", *(word.replace("LANE", str(lane)) for word in prefix),
                           sys.executable, os.path.abspath(__file__), "--steps", "12", "10", "2"]
                try:
                    result = subprocess.run(command, capture_output=True, text=True, timeout=90,
                                            env={**os.environ, "OMP_NUM_THREADS": "1", **environment})
                except subprocess.TimeoutExpired:
                    print(f"{way}: no answer in 90 s", flush=True)
                    continue
                steps = next((line.split()[1:] for line in result.stdout.splitlines() if line.startswith("STEPS")), None)
                if steps is None:
                    print(f"{way}: no figures: {result.stdout[-200:]}{result.stderr[-300:]}", flush=True)
                else:
                    figures[way][lane, turn] = [float(step) for step in steps]

    lanes = [threading.Thread(target=run_lane, args=(lane,)) for lane in range(arguments.lanes)]
    for lane in lanes:
        lane.start()
    for lane in lanes:
        lane.join()
    return figures


def beside(values, base):
    """In per cent: the median ratio of what ran in the same lane and round, and an interval that holds 95 % of the medians of as many drawn from these."""
    ratios = [100 * (values[place] / base[place] - 1) for place in values if place in base]
    if not ratios:
        return ""
    draw = random.Random(1)
    medians = sorted(statistics.median(draw.choices(ratios, k=len(ratios))) for _ in range(4000))
    return f"{statistics.median(ratios):+6.1f} [{medians[100]:+.1f}, {medians[3899]:+.1f}]"


def main():
    if sys.argv[1:2] == ["--steps"]:
        train(*map(int, sys.argv[2:]))
        return
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=220)
    parser.add_argument("--lanes", type=int, default=7)
    parser.add_argument("--lanescope", default="build/release/bin/lanescope")
    parser.add_argument("--nsys")
    parser.add_argument("--injection")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures = measure(ways_of(arguments, folder), arguments)
    middle = {way: {place: statistics.median(steps) for place, steps in values.items()} for way, values in figures.items()}
    print(f"{'':20} {'runs':>4} {'best, ms':>9} {'median':>7}   beside none, %          beside the injection, %")
    for way, values in middle.items():
        if values:
            print(f"{way:20} {len(values):4} {min(values.values()):9.2f} {statistics.median(values.values()):7.2f}   "
                  f"{beside(values, middle['none']):23} {beside(values, middle.get('injection', {}))}")


if __name__ == "__main__":
    main()
