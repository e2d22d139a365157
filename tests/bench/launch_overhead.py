#!/usr/bin/env python3
"""The cost of recording, measured by the recorded program itself.

Use: launch_overhead.py PROGRAM [ARGUMENTS...] [--repeats N] [--pattern REGEX] [--nsys PATH] [--lanescope PATH] [--presets light,default]

Runs the program without a profiler, under Lanescope and, if its path is given, under Nsight Systems, in turn, N times each. Prints for
each the best and the median of the figure that the program prints (the first group of REGEX), and how much these are above the figures without a
profiler. The default pattern is "ns per launch: FIGURE". Interleaving keeps the ratios correct on a machine whose speed drifts.
"""
import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", nargs="+")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--pattern", default=r"ns per launch: ([\d.]+)")
    parser.add_argument("--nsys", default=os.environ.get("LANESCOPE_PEER_NSYS"))
    parser.add_argument("--lanescope", default="build/release/bin/lanescope")
    parser.add_argument("--presets", default="light,default")
    arguments = parser.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        ways = {"no profiler": []}
        if arguments.nsys:
            ways["nsys -t cuda,nvtx"] = [arguments.nsys, "profile", "-t", "cuda,nvtx", "--sample=none", "--cpuctxsw=none", "-f", "true", "-o",
                                         os.path.join(folder, "peer")]
        for preset in filter(None, arguments.presets.split(",")):
            ways[f"lanescope {preset}"] = [arguments.lanescope, "profile", "-t", "cuda,nvtx", "--preset", preset, "-f", "-o",
                                           os.path.join(folder, "own.trace"), "--"]
        figures = {way: [] for way in ways}
        for _ in range(arguments.repeats):
            for way, prefix in ways.items():
                result = subprocess.run(prefix + arguments.program, capture_output=True, text=True)
                match = re.search(arguments.pattern, result.stdout)
                if not match:
                    sys.exit(f"{way}: the program printed no figure:\n{result.stdout[-500:]}{result.stderr[-500:]}")
                figures[way].append(float(match.group(1)))

    best, median = min(figures["no profiler"]), statistics.median(figures["no profiler"])
    print(f"{'':24s} {'best':>10s} {'':>9s} {'median':>10s}   ({arguments.repeats} interleaved runs)")
    for way, values in figures.items():
        print(f"{way:24s} {min(values):10.1f} {100 * (min(values) / best - 1):+8.1f}% {statistics.median(values):10.1f} "
              f"{100 * (statistics.median(values) / median - 1):+8.1f}%")


if __name__ == "__main__":
    main()
