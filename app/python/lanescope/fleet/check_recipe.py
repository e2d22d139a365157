"""Whether runs are slower than others, for continuous integration."""

from __future__ import annotations

import argparse
import math
from typing import Any

import numpy as np

from .engine import Outcome
from .history_recipes import History, student_quantile
from .inputs import find_traces
from .recipe import number_within, recipe
from .result import Answer, ResultTable

_CHANCE = 0.05       # of calling a run without a change slower, over all names together
_ALL = "all kernels, a run"


@recipe
class Check(History):
    name, help = "check", "Whether kernels or NVTX ranges became slower than in the runs --against; exit code 3 where they did"

    @classmethod
    def add_arguments(cls, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--against", nargs="+", required=True, default=[], metavar="DIR|FILE", help="runs to compare with")
        parser.add_argument("--tolerance", type=number_within(0, 1e6, float), default=5.0, metavar="PERCENT", help="what may become slower by less than this is not looked at (5)")
        parser.add_argument("--share", type=number_within(0, 100, float), default=1.0, metavar="PERCENT", help="nor what takes less of a run's kernel or range time (1)")

    _given: "frozenset[str]" = frozenset()  # the runs to check, if they are known; they are unknown for merged results

    def _against(self) -> "set[str]":
        return set(find_traces(self.arguments["against"]))

    def files_to_read(self, given: "list[str]") -> "list[str]":
        self._given = frozenset(given)
        return sorted({*given, *self._against()})

    def present(self, outcome: Outcome) -> Answer:
        base = self._against()
        runs = outcome.partial or []
        # A run on both sides is one to compare with, unless no other run is to be checked.
        new = {run[1] for run in runs} - base or set(self._given) or base
        before, after = ([_means(run[2]) for run in runs if run[1] in side] for side in (base, new))
        answer = Answer(self.name)
        rows: "list[list[Any]]" = []
        names = sorted(set().union(*before) & set().union(*after)) if before and after else []
        totals = {kind: sum(each[1] for run in before for name, each in run.items() if name != _ALL and name.startswith("NVTX ") == kind) for kind in (True, False)}
        for name in names:
            old, new = (np.array([run[name][0] for run in side if name in run]) for side in (before, after))
            share = sum(run[name][1] for run in before if name in run) / max(1, totals[name.startswith("NVTX ")])
            if name != _ALL and 100 * share < self.arguments["share"]:
                continue
            change, low, high = _interval(old, new, _CHANCE / len(names))
            is_slower = change > self.arguments["tolerance"] and low > 0
            rows.append([name, "slower" if is_slower else "", float(old.mean()), float(new.mean()), change, low, high, len(old), len(new)])
        rows.sort(key=lambda row: (row[1] != "slower", -abs(row[4]), row[0]))
        columns = ["Name", "Verdict", "Mean before", "Mean now", "Change (%)", "At least (%)", "At most (%)", "Runs before", "Runs now"]
        answer.tables.append(ResultTable("checked", columns, rows, {"Mean before": "ns", "Mean now": "ns"}))
        slower = [row for row in rows if row[1] == "slower"]
        answer.failed = bool(slower) or not names
        if not names:
            answer.sentences.append("Nothing can be compared: the runs have no kernel and no range in common.")
        elif slower:
            answer.sentences.append(f"{len(slower)} of {len(rows)} became slower; most of all {slower[0][0]}: {slower[0][4]:+.1f} %.")
        else:
            answer.sentences.append(f"None of {len(rows)} kernels and ranges became slower by more than {self.arguments['tolerance']:g} %.")
        if len(before) < 2 or len(after) < 2:
            answer.sentences.append("With one run on a side, noise between runs is not known: give two or more.")
        return answer


def _means(sums: "dict[str, list[int]]") -> "dict[str, tuple[float, int]]":
    """Mean duration and total time of one run, by name."""
    kernels = sum(total for name, (_, total) in sums.items() if not name.startswith("NVTX "))
    means = {name: (total / count, total) for name, (count, total) in sums.items() if count}
    return means | ({_ALL: (float(kernels), kernels)} if kernels else {})


def _interval(old: Any, new: Any, chance: float) -> "tuple[float, float, float]":
    """Change of the mean in %, and its interval by Welch's test. If a side has only one run, only the change."""
    first, difference = float(old.mean()), float(new.mean() - old.mean())
    if not first:
        return 0.0, 0.0, 0.0
    reach = 0.0
    if len(old) > 1 and len(new) > 1:
        error = math.sqrt(float(old.var(ddof=1)) / len(old) + float(new.var(ddof=1)) / len(new))
        reach = student_quantile(1 - chance / 2, min(len(old), len(new)) - 1) * error
    return 100 * difference / first, 100 * (difference - reach) / first, 100 * (difference + reach) / first
