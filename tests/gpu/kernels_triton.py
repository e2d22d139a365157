#!/usr/bin/env python3
"""Checks that PC samples and exact counts of a Triton kernel are at the lines of this Python file, on a machine with a GPU and Triton.

Use: kernels_triton.py [LANESCOPE] [--keep FOLDER]

The kernel adds two arrays of 2^22 floats and writes their sum twice: to adjacent places and to every eighth place. So by construction its lines request this
many sectors of 32 bytes: 2^19 for each load, 2^19 for the adjacent store, and 2^22 for the other store, whose bytes would fit in 2^19. Prints a line for each
check.
"""
import argparse
import csv
import inspect
import os
import shutil
import subprocess
import sys
import tempfile

try:
    import triton
    import triton.language as tl
except ImportError:
    sys.exit("kernels_triton.py: needs Triton.")

PLACES = 1 << 22
BLOCK = 1024
SECTOR = 32  # bytes


@triton.jit
def add_and_scatter(left, right, near, far, BLOCK: tl.constexpr):
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    first = tl.load(left + places)
    second = tl.load(right + places)
    tl.store(near + places, first + second)
    tl.store(far + places * 8, first + second)


def program():
    import torch

    left, right = torch.arange(PLACES, device="cuda", dtype=torch.float32), torch.ones(PLACES, device="cuda")
    near, far = torch.empty(PLACES, device="cuda"), torch.zeros(PLACES * 8, device="cuda")
    for _ in range(200):
        add_and_scatter[(PLACES // BLOCK,)](left, right, near, far, BLOCK=BLOCK)
    torch.cuda.synchronize()
    right_results = bool((near == left + 1).all()) and bool((far[::8] == left + 1).all())
    print("right" if right_results else "wrong")
    return 0 if right_results else 1


def line_of(text):
    lines, first = inspect.getsourcelines(add_and_scatter.fn)
    return next(first + number for number, line in enumerate(lines) if text in line)


def run(folder, name, words):
    with open(f"{folder}/{name}.out", "w") as out, open(f"{folder}/{name}.err", "w") as err:
        return subprocess.run(words, stdout=out, stderr=err, timeout=120).returncode


def rows_of(lanescope, folder, report, trace):
    run(folder, report, [lanescope, "stats", "-r", report, "-q", "-f", "csv", "-o", "-", f"{folder}/{trace}"])
    return [row for row in csv.DictReader(open(f"{folder}/{report}.out")) if row.get("Name", "").startswith("add_and_scatter")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lanescope", nargs="?", default="build/dev/bin/lanescope")
    parser.add_argument("--keep", metavar="FOLDER", help="copy what was printed there")
    parser.add_argument("--program", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.program:
        return program()
    failures = 0

    def check(what, holds, found=""):
        nonlocal failures
        failures += not holds
        print("PASS" if holds else "FAIL", what + ":", found)

    file = os.path.basename(__file__)
    target = [sys.executable, os.path.realpath(__file__), "--program"]
    with tempfile.TemporaryDirectory() as folder:
        code = run(folder, "counts", [arguments.lanescope, "kernels", "--set", "source", "-k", "add_and_scatter", "--save", f"{folder}/counts.trace", "--", *target])
        check("counted: the program's result is right", code == 0 and "right" in open(f"{folder}/counts.out").read(), code)
        sectors = {}
        for row in rows_of(arguments.lanescope, folder, "line_count_sum", "counts.trace"):
            sectors[row["Line"]] = (int(row["Global Sectors"] or 0), int(row["Global Sectors Ideal"] or 0))
        check("counts stand at lines of this file", sectors and all(f"{file}:" in line for line in sectors), sorted(sectors))
        contiguous = PLACES * 4 // SECTOR
        for text, asked in (("tl.load(left", contiguous), ("tl.load(right", contiguous), ("tl.store(near", contiguous), ("tl.store(far", PLACES)):
            found = [value for line, value in sectors.items() if line.split(" < ")[0].endswith(f"{file}:{line_of(text)}")]
            check(f"{text}...): pieces of 32 bytes, and ideal", found == [(asked, contiguous)], found)
        code = run(folder, "samples", [arguments.lanescope, "profile", "-s", "none", "--cpuctxsw=none", "-t", "cuda", "--kernels=pc", "-o", f"{folder}/samples.trace", *target])
        check("sampled: the program's result is right", code == 0 and "right" in open(f"{folder}/samples.out").read(), code)
        samples = {row["Line"]: int(row["Samples"]) for row in rows_of(arguments.lanescope, folder, "kernel_line_sum", "samples.trace")}
        known = [line for line in samples if f"{file}:" in line]
        check("samples stand at lines of this file", known and sum(samples[line] for line in known) >= 0.99 * sum(samples.values()), samples)
        hottest = max(samples, key=samples.get, default="")
        check("the store to distant places, or what waits for it, is the hottest line", hottest.split(" < ")[0].endswith((str(line_of("tl.store(far")), str(line_of("tl.store(near")))), hottest)
        run(folder, "page", [arguments.lanescope, "kernels", "--page", "source", f"{folder}/counts.trace"])
        print(open(f"{folder}/page.out").read()[:2500])
        if arguments.keep:
            for name in os.listdir(folder):
                shutil.copy(f"{folder}/{name}", arguments.keep)
    print(failures, "failed")
    return failures


if __name__ == "__main__":
    sys.exit(main())
