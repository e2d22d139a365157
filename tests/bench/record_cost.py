#!/usr/bin/env python3
"""The cost of recording from within a program: of an NVTX range, and of starting and ending a recording. The minimum of several rounds.

LANESCOPE names the program; run with PYTHONPATH=app/python.
"""

import pathlib
import tempfile
import time

import lanescope

RANGES, ROUNDS, RECORDINGS = 20_000, 40, 10
QUIET = {"trace": "nvtx", "sample": "none", "cpuctxsw": "none", "force": True}


def least(measure):
    return min(measure() for _ in range(ROUNDS))


def named_each_time():
    begin = time.perf_counter()
    for _ in range(RANGES):
        with lanescope.annotate("tick"):
            pass
    return (time.perf_counter() - begin) / RANGES * 1e9


def kept():
    scope = lanescope.annotate("tick")
    begin = time.perf_counter()
    for _ in range(RANGES):
        with scope:
            pass
    return (time.perf_counter() - begin) / RANGES * 1e9


def costs(when):
    print(f"{when}: a range {least(named_each_time):.0f} ns, with annotate() kept {least(kept):.0f} ns")


with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder) / "cost.trace"
    costs("no tool")
    with lanescope.record(path, **QUIET):
        costs("recorded")
    costs("afterwards")
    starts, stops = [], []
    for _ in range(RECORDINGS):
        begin = time.perf_counter()
        recording = lanescope.start(path, **QUIET)
        started = time.perf_counter()
        recording.stop()
        starts.append(started - begin)
        stops.append(time.perf_counter() - started)
    print(f"start() {sorted(starts)[RECORDINGS // 2] * 1e3:.0f} ms, stop() {sorted(stops)[RECORDINGS // 2] * 1e3:.0f} ms (medians of {RECORDINGS})")
