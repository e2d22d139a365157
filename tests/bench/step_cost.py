#!/usr/bin/env python3
"""The cost of recording for a PyTorch training step that is limited by the CPU.

Use: step_cost.py [--seconds 220] [--lanes 3] [--lanescope PATH] [--nsys PATH] [--injection LIBRARY] [--also OPTIONS]... [--raw FILE]

A machine's speed drifts, and the same step takes longer in one process than in another. So one program for each way (without a profiler, with each
profiler) is started and warmed up, and then one of them at a time runs a burst of steps, in a new random order in each round. The compared
bursts thus ran on the same processors within seconds. After some rounds, programs are started anew. Each lane does so on its own processors.
CUDA loads LIBRARY: a bare CUPTI library shows the minimum cost of any recorder. Each OPTIONS of lanescope is a further way.

Prints for each way the median burst. It also prints the ratios to the program without a profiler, and to the one with LIBRARY, in the same rounds: of
the median ratios of the processes, the median with its 95 % interval and the quartiles. FILE gets a line for each burst: lane, generation, round, way, ms per
step, ms of processor time per step.
"""
import argparse
import contextlib
import os
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

ROUNDS = 8
STEPS = 40  # half a second: filling buffers and the threads that write them are part of what is measured


def serve(path, name):
    """The program: connects to PATH, says NAME, and answers each line with the cost of a burst of steps: ms per step, ms of processor time per step."""
    import torch
    torch.manual_seed(0)
    layers = [torch.nn.TransformerEncoderLayer(512, 8, 2048, batch_first=True) for _ in range(8)]
    model = torch.nn.Sequential(*layers).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    data = torch.randn(1, 32, 512, device="cuda")  # so small that a GPU shared by lanes has time for all

    def step(number):
        with torch.cuda.nvtx.range(f"step_{number}"):
            with torch.cuda.nvtx.range("forward"):
                loss = model(data).square().mean()
            with torch.cuda.nvtx.range("backward"):
                loss.backward()
            with torch.cuda.nvtx.range("optimizer"):
                optimizer.step()
                optimizer.zero_grad(set_to_none=True)

    def burst(count):
        begin, begin_cpu = time.perf_counter(), time.process_time()
        for number in range(count):
            step(number)
        torch.cuda.synchronize()
        return (time.perf_counter() - begin) * 1000 / count, (time.process_time() - begin_cpu) * 1000 / count

    burst(STEPS)
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        with connection.makefile("rw") as lines:
            print(name, file=lines, flush=True)
            for _ in lines:
                print(*burst(STEPS), file=lines, flush=True)


def ways_of(arguments, folder):
    """The ways by name: the command before the program, and its environment."""
    ways = {"none": ([], {})}
    if arguments.injection:
        ways["injection"] = ([], {"CUDA_INJECTION64_PATH": os.path.abspath(arguments.injection)})
    alone = ["--sample=none", "--cpuctxsw=none"]
    if arguments.nsys:
        ways["nsys"] = ([arguments.nsys, "profile", "-t", "cuda,nvtx", *alone, "-f", "true", "-o", f"{folder}/nsys"], {})
    own = [arguments.lanescope, "profile", "-t", "cuda,nvtx", "-f", "-o"]
    ways["light"] = ([*own, f"{folder}/light.trace", "--preset=light", *alone], {})
    ways["default, no samples"] = ([*own, f"{folder}/alone.trace", *alone], {})
    ways["default"] = ([*own, f"{folder}/default.trace"], {})
    for number, options in enumerate(arguments.also):
        ways[options] = ([*own, f"{folder}/also{number}.trace", *options.split()], {})
    return ways


@contextlib.contextmanager
def programs_of(arguments, processors):
    """A warm program of each way, by name: the lines to talk to it."""
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as server, contextlib.ExitStack() as open_lines:
        ways = ways_of(arguments, folder)
        server.bind(f"{folder}/socket")
        server.listen(len(ways))
        server.settimeout(90)
        started = [subprocess.Popen(["taskset", "-c", processors, *prefix, sys.executable, os.path.abspath(__file__), "--serve", f"{folder}/socket", way],
                                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                    env={**os.environ, "OMP_NUM_THREADS": "1", **environment})
                   for way, (prefix, environment) in ways.items()]
        try:
            lines = {}
            for _ in started:
                connection = open_lines.enter_context(server.accept()[0])
                connection.settimeout(90)
                talk = open_lines.enter_context(connection.makefile("rw"))  # a program ends when both are closed
                lines[talk.readline().strip()] = talk
            yield lines
        finally:
            open_lines.close()
            for process in started:
                try:
                    process.wait(60)
                except subprocess.TimeoutExpired:
                    process.kill()


def measure(arguments, raw):
    """Bursts by (lane, generation, round, way): (ms per step, ms of processor time per step)."""
    bursts = {}
    end = time.monotonic() + arguments.seconds
    width = (os.cpu_count() or 1) // arguments.lanes
    processors = [f"{lane * width}-{(lane + 1) * width - 1}" for lane in range(arguments.lanes)]

    def run_lane(lane):
        order = random.Random(lane)
        for generation in range(1000):
            if time.monotonic() > end - 30:
                return
            try:
                with programs_of(arguments, processors[lane]) as programs:
                    for turn in range(ROUNDS):
                        for way in order.sample(list(programs), len(programs)):
                            print("go", file=programs[way], flush=True)
                            figures = tuple(map(float, programs[way].readline().split()))
                            bursts[lane, generation, turn, way] = figures
                            if raw:
                                print(lane, generation, turn, way, *figures, sep="\t", file=raw, flush=True)
                        if time.monotonic() > end:
                            return
            except (OSError, ValueError) as problem:
                print(f"lane {lane}, programs {generation}: {problem!r}", flush=True)

    lanes = [threading.Thread(target=run_lane, args=(lane,)) for lane in range(arguments.lanes)]
    for lane in lanes:
        lane.start()
    for lane in lanes:
        lane.join()
    return bursts


def beside(bursts, way, base):
    """In per cent: the median of the processes' median ratios, an interval that contains 95 % of the medians of as many ratios drawn from these, and the
    quartiles."""
    ratios = {}
    for (lane, generation, turn, name), (time_of_step, _) in bursts.items():
        other = bursts.get((lane, generation, turn, base))
        if name == way and other:
            ratios.setdefault((lane, generation), []).append(100 * (time_of_step / other[0] - 1))
    medians = [statistics.median(values) for values in ratios.values()]
    if len(medians) < 2 or way == base:
        return ""
    draw = random.Random(1)
    drawn = sorted(statistics.median(draw.choices(medians, k=len(medians))) for _ in range(4000))
    low, _, high = statistics.quantiles(medians, n=4)
    return f"{statistics.median(medians):+6.1f} [{drawn[100]:+.1f}, {drawn[3899]:+.1f}] ({low:+.1f}, {high:+.1f})"


def main():
    if sys.argv[1:2] == ["--serve"]:
        serve(*sys.argv[2:])
        return
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=220)
    parser.add_argument("--lanes", type=int, default=3)
    parser.add_argument("--lanescope", default="build/release/bin/lanescope")
    parser.add_argument("--nsys")
    parser.add_argument("--injection")
    parser.add_argument("--also", action="append", default=[])
    parser.add_argument("--raw")
    arguments = parser.parse_args()
    with open(arguments.raw, "w", encoding="utf-8") if arguments.raw else contextlib.nullcontext() as raw:
        bursts = measure(arguments, raw)
    print(f"{'':20} {'processes':>9} {'ms':>6} {'cpu ms':>6}   {'beside none, %':35} beside the injection, %")
    for way in ways_of(arguments, ""):
        of_way = {place: figures for place, figures in bursts.items() if place[3] == way}
        if not of_way:
            continue
        wall, cpu = (statistics.median(figures) for figures in zip(*of_way.values()))
        print(f"{way:20} {len({place[:2] for place in of_way}):9} {wall:6.2f} {cpu:6.2f}   {beside(bursts, way, 'none'):35} "
              f"{beside(bursts, way, 'injection')}")


if __name__ == "__main__":
    main()
