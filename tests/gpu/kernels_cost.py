#!/usr/bin/env python3
"""The cost of sampling the warps of kernels (--kernels=pc), compared with the same recording without it.

Use: kernels_cost.py LANESCOPE [--seconds 150] [--workloads zoo,gpu,cpu,resnet18] [--zoo LIBRARY] [--raw FILE]

As in tests/bench/step_cost.py, one program for each way is started and warmed up, and then one at a time runs a burst, in a new random order in
each round; after some rounds programs are started anew. Only one process of a GPU can be sampled at a time, so there is one pair of programs.
zoo: the twelve kernels of the corpus' zoo.cu (LIBRARY: nvcc -O2 -shared -Xcompiler -fPIC -Dmain=run_zoo -arch=native zoo.cu), repeatedly; gpu,
cpu: a PyTorch training step limited by the GPU or by the CPU; resnet18: that of saturated.py, with its loader in the main process.

Prints for each workload the median burst of both ways, and the median of the pairs' median ratios with its 95 % interval. FILE gets a line for each
burst: workload, pair, round, way, ms.
"""
import argparse
import contextlib
import ctypes
import os
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import time

from saturated import resnet18

SHARES = {"zoo": 0.12, "gpu": 0.2, "cpu": 0.43, "resnet18": 0.25}  # of the total time
STEPS = {"zoo": 20, "gpu": 4, "cpu": 20, "resnet18": 6}            # per burst
ROUNDS = 8
WAYS = {"without": [], "pc": ["--kernels=pc"]}


def transformer(batch, length):
    import torch

    torch.manual_seed(0)
    layers = [torch.nn.TransformerEncoderLayer(512, 8, 2048, batch_first=True) for _ in range(8)]
    model = torch.nn.Sequential(*layers).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    data = torch.randn(batch, length, 512, device="cuda")

    def steps(count):
        for _ in range(count):
            model(data).square().mean().backward()
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        torch.cuda.synchronize()

    return steps


def zoo(library):
    run = ctypes.CDLL(library)["_Z7run_zooiPPc"]  # run_zoo(int, char**) by its mangled name; each call allocates 256 MiB that it never frees

    def steps(count):
        words = (ctypes.c_char_p * 2)(b"zoo", str(count).encode())
        if run(2, words) != 0:
            raise SystemExit("the kernels failed")

    return steps


def serve(path, way, workload, library):
    """The program: connects to PATH, says WAY, and answers each line with the milliseconds of a burst."""
    programs = {"zoo": lambda: zoo(library), "gpu": lambda: transformer(128, 128), "cpu": lambda: transformer(1, 32), "resnet18": lambda: resnet18(0)}
    steps = programs[workload]()
    for _ in range(3):
        steps(STEPS[workload])
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        with connection.makefile("rw") as lines:
            print(way, file=lines, flush=True)
            for _ in lines:
                begin = time.perf_counter()
                steps(STEPS[workload])
                print((time.perf_counter() - begin) * 1000, file=lines, flush=True)


@contextlib.contextmanager
def pair(arguments, workload):
    """A warm program of each way: the lines to talk to it."""
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as server, contextlib.ExitStack() as talks:
        server.bind(f"{folder}/socket")
        server.listen(len(WAYS))
        server.settimeout(60)
        started = [subprocess.Popen([arguments.lanescope, "profile", "-t", "cuda,nvtx", "-f", "-o", f"{folder}/{way}.trace", *options, sys.executable,
                                     os.path.abspath(__file__), "--serve", f"{folder}/socket", way, workload, arguments.zoo],
                                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                   for way, options in WAYS.items()]
        try:
            lines = {}
            for _ in started:
                connection = talks.enter_context(server.accept()[0])
                connection.settimeout(60)
                talk = talks.enter_context(connection.makefile("rw"))  # a program ends when both are closed
                lines[talk.readline().strip()] = talk
            yield lines
        finally:
            talks.close()
            for process in started:
                try:
                    process.wait(60)
                except subprocess.TimeoutExpired:
                    process.kill()


def measure(arguments, workload, raw):
    """For each pair of programs, the bursts of each way, round by round."""
    end = time.monotonic() + arguments.seconds * SHARES[workload]
    order, pairs = random.Random(workload), []
    while time.monotonic() < end:
        bursts = {way: [] for way in WAYS}
        with pair(arguments, workload) as programs:
            for turn in range(ROUNDS):
                for way in order.sample(list(programs), len(programs)):
                    print("go", file=programs[way], flush=True)
                    bursts[way].append(float(programs[way].readline()))
                    print(workload, len(pairs), turn, way, bursts[way][-1], sep="\t", file=raw, flush=True)
        pairs.append(bursts)
    return pairs


def main():
    if sys.argv[1:2] == ["--serve"]:
        serve(*sys.argv[2:])
        return
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("lanescope")
    parser.add_argument("--seconds", type=float, default=150)
    parser.add_argument("--workloads", default=",".join(SHARES))
    parser.add_argument("--zoo", default="")
    parser.add_argument("--raw", default=os.devnull)
    arguments = parser.parse_args()
    print(f"{'':10} {'pairs':>5} {'without, ms':>12} {'pc, ms':>9}   pc beside without, %")
    with open(arguments.raw, "w", encoding="utf-8") as raw:
        for workload in arguments.workloads.split(","):
            try:
                pairs = measure(arguments, workload, raw)
            except (OSError, ValueError) as problem:
                print(f"{workload:10} {problem!r}", flush=True)
                continue
            ratios = [statistics.median(100 * (pc / without - 1) for pc, without in zip(bursts["pc"], bursts["without"])) for bursts in pairs]
            draw = random.Random(1)
            drawn = sorted(statistics.median(draw.choices(ratios, k=len(ratios))) for _ in range(4000))
            medians = {way: statistics.median(burst for bursts in pairs for burst in bursts[way]) / STEPS[workload] for way in WAYS}
            print(f"{workload:10} {len(pairs):5} {medians['without']:12.3f} {medians['pc']:9.3f}   {statistics.median(ratios):+.2f} "
                  f"[{drawn[100]:+.2f}, {drawn[3899]:+.2f}]", flush=True)


if __name__ == "__main__":
    main()
