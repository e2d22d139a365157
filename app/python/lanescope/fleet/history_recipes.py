"""Recipes over runs of many nights: what became slower, and when."""

from __future__ import annotations

import argparse
import math
import re
from datetime import datetime, timezone
from typing import Any

import numpy as np

from ..trace import Trace
from .engine import Outcome
from .families import name_family
from .recipe import Recipe, number_within, recipe
from .result import Answer, ResultTable, counted

_FEWEST = 3       # runs on each side of a change
_CHANCE = 0.01    # of reporting a change that is none, over all names together
_WARM_UP = 1.5    # times the median: the first ranges of a family, while they take longer, warm up


@recipe
class History(Recipe):
    name, help = "history", "Kernels and NVTX ranges whose mean duration changed from one run on"

    @classmethod
    def add_arguments(cls, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--least", type=number_within(0, 1e6, float), default=2.0, help="least change in %% (2)")

    def map(self, trace: Trace, path: str) -> Any:
        sums: "dict[str, list[int]]" = {}
        for table, prefix in (("kernels", ""), ("nvtx_ranges", "NVTX ")):
            data, texts = trace.tables[table][["name", "duration", "start", "process"]].coded()
            titles = [prefix + name_family(name) if prefix else name for name in texts["name"]]
            names = sorted(set(titles))
            place = {name: i for i, name in enumerate(names)}
            keys = np.array([place[title] for title in titles], dtype=np.int64)[data["name"]]
            duration = data["duration"]
            if prefix:
                counted = behind_warm_up(data["process"], keys, data["start"], duration)
                keys, duration = keys[counted], duration[counted]
            counts, totals = np.bincount(keys, minlength=len(names)), np.zeros(len(names), dtype=np.int64)
            np.add.at(totals, keys, duration)
            sums.update({name: [count, total] for name, count, total in zip(names, counts.tolist(), totals.tolist())})
        return [[trace.utc_epoch, path, dict(sorted(sums.items()))]]

    def merge(self, one: Any, other: Any) -> Any:
        return sorted(one + other, key=lambda row: row[:2])

    def present(self, outcome: Outcome) -> Answer:
        answer = Answer(self.name)
        runs, order = _in_order(outcome.partial or [])
        names = sorted({name for run in runs for name in run[2]})
        rows = []
        for name in names:
            having = [run for run in runs if name in run[2]]
            means = np.array([run[2][name][1] / run[2][name][0] for run in having])
            change = change_point(means, _CHANCE / max(1, len(names)))
            if change is None:
                continue
            at, before, after, low, high = change
            share = 100 * (after / before - 1) if before else math.inf
            if abs(share) >= self.arguments["least"]:
                count = float(np.mean([run[2][name][0] for run in having[at:]]))
                epoch = having[at][0]
                when = datetime.fromtimestamp(epoch / 1e9, timezone.utc).strftime("%Y-%m-%d %H:%M") if epoch else None
                rows.append([name, when, having[at][1], before, after, share, 100 * low / before, 100 * high / before, (after - before) * count, len(having)])
        rows.sort(key=lambda row: (-abs(row[8]), row[0]))
        columns = ["Name", "From (UTC)", "From file", "Mean before", "Mean after", "Change (%)", "At least (%)", "At most (%)", "Change a run", "Runs"]
        answer.tables.append(ResultTable("changes", columns, rows, {name: "ns" for name in ("Mean before", "Mean after", "Change a run")}))
        if rows:
            first = rows[0]
            said = f" ({first[1]} UTC)" if first[1] else ""
            answer.sentences.append(f"From {first[2]}{said} on, {first[0]} takes {first[5]:+.1f} % [{first[6]:+.1f}, {first[7]:+.1f}].")
        else:
            answer.sentences.append(f"In {len(runs)} runs nothing changed for good by {self.arguments['least']:g} % or more.")
        if order:
            answer.sentences.append(order)
        return answer


def _in_order(runs: "list[Any]") -> "tuple[list[Any], str]":
    """Runs in order of time, and what has to be said about that: files of other tools may not say when they were recorded."""
    known = [run for run in runs if run[0]]
    if len(known) == len(runs):
        return runs, ""
    if not known:
        return sorted(runs, key=lambda run: _natural(run[1])), "No file says when it was recorded: the runs are in order of their names."
    left_out = [run[1] for run in runs if not run[0]]
    return known, f"{counted(len(left_out), 'run is', 'runs are')} left out, {left_out[0]} first: the file does not say when it was recorded."


def _natural(name: str) -> "list[tuple[int, int, str]]":
    """Sorts `night2` before `night10`."""
    return [(0, int(part), part) if part.isdecimal() else (1, 0, part) for part in re.split(r"([0-9]+)", name)]


def behind_warm_up(process: "np.ndarray[Any, Any]", family: "np.ndarray[Any, Any]", start: "np.ndarray[Any, Any]", duration: "np.ndarray[Any, Any]") -> "np.ndarray[Any, Any]":
    """Which ranges are not warm-up. In each process, the first ranges of a family warm up while they take more than 1.5 times its median; at most a fourth."""
    counted = np.ones(len(duration), dtype=bool)
    order = np.lexsort((start, family, process))
    borders = np.flatnonzero((np.diff(process[order]) != 0) | (np.diff(family[order]) != 0)) + 1
    for group in np.split(order, borders):
        if most := len(group) // 4:
            usual = duration[group] <= _WARM_UP * np.median(duration[group])
            counted[group[: min(most, int(usual.argmax()))]] = False
    return counted


def change_point(values: "np.ndarray[Any, Any]", chance: float) -> "tuple[int, float, float, float, float] | None":
    """The value at which the mean changes: its place, the means before and after, and a 95 % interval of their difference. None if no change is certain.

    The split with the largest |t| of Welch's test. `chance` is shared by all splits (Bonferroni); the degrees of freedom are those of the smaller side, the
    fewest that Welch's formula can give, so that few values need a larger step.
    """
    best = None
    splits = range(_FEWEST, len(values) - _FEWEST + 1)
    for at in splits:
        left, right = values[:at], values[at:]
        error = math.sqrt(float(left.var(ddof=1)) / len(left) + float(right.var(ddof=1)) / len(right))
        difference = float(right.mean() - left.mean())
        t = abs(difference) / error if error > 0 else math.inf if difference else 0.0
        if best is None or t > best[0]:
            best = (t, at, float(left.mean()), float(right.mean()), error, min(len(left), len(right)) - 1)
    if best is None:
        return None
    t, at, before, after, error, freedom = best
    if t <= student_quantile(1 - chance / (2 * len(splits)), freedom):
        return None
    reach = student_quantile(0.975, freedom) * error
    return at, before, after, after - before - reach, after - before + reach


def student_quantile(share: float, freedom: int) -> float:
    """A quantile of Student's t distribution, by bisection of its tail: exact to 1e-6."""
    low, high = 0.0, 1e6
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if _student_cdf(middle, freedom) < share else (low, middle)
    return (low + high) / 2


def _student_cdf(t: float, freedom: int) -> float:
    """For t >= 0, by the finite sums for whole degrees of freedom (Abramowitz and Stegun 26.7.3, 26.7.4)."""
    theta = math.atan2(t, math.sqrt(freedom))
    cosine, sine = math.cos(theta), math.sin(theta)
    if freedom == 1:
        return 0.5 + theta / math.pi
    term = cosine if freedom % 2 else 1.0
    total = term
    for k in range(3 if freedom % 2 else 2, freedom - 1, 2):
        term *= cosine * cosine * (k - 1) / k
        total += term
    area = 2 / math.pi * (theta + sine * total) if freedom % 2 else sine * total
    return 0.5 + area / 2
