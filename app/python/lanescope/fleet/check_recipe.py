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
from .result import Answer, ResultTable, counted

_CHANCE = 0.05       # of calling a run without a change slower, over all names together
_ALL = "all kernels, a run"

_SLOWER, _UNSURE, _ONLY_NOW, _ONLY_BEFORE = "slower", "unsure", "only now", "only before"
_ORDER = (_SLOWER, _UNSURE, _ONLY_NOW, _ONLY_BEFORE, "")


@recipe
class Check(History):
    name, help = "check", "Whether kernels or NVTX ranges became slower than in the runs --against; exit code 3 where they did, or where nothing can be compared"

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
        before, after = self._sides(outcome)
        answer = Answer(self.name)
        rows: "list[list[Any]]" = []
        shares = [_shares(side) for side in (before, after)]
        looked_at = {name for side in shares for name, share in side.items() if share >= self.arguments["share"]} | {_ALL}
        in_both = set(shares[0]) & set(shares[1])
        common = sorted(in_both & looked_at)
        for name in common:
            old, new = (np.array([run[name][0] for run in side if name in run]) for side in (before, after))
            change, low, high = _interval(old, new, _CHANCE / len(common))
            grew = change > self.arguments["tolerance"]
            verdict = _SLOWER if grew and low is not None and low > 0 else _UNSURE if grew else ""
            rows.append([name, verdict, float(old.mean()), float(new.mean()), change, low, high, len(old), len(new)])
        for name in sorted((set(shares[0]) ^ set(shares[1])) & looked_at):
            times = [[run[name][0] for run in side if name in run] for side in (before, after)]
            means = [float(np.mean(side)) if side else None for side in times]
            rows.append([name, _ONLY_NOW if times[1] else _ONLY_BEFORE, *means, None, None, None, *map(len, times)])
        rows.sort(key=lambda row: (_ORDER.index(row[1]), -abs(row[4] or 0), -max(side.get(row[0], 0) for side in shares), row[0]))
        columns = ["Name", "Verdict", "Mean before", "Mean now", "Change (%)", "At least (%)", "At most (%)", "Runs before", "Runs now"]
        answer.tables.append(ResultTable("checked", columns, rows, {"Mean before": "ns", "Mean now": "ns"}))
        can_compare = bool(in_both - {_ALL})
        answer.failed = not can_compare or any(row[1] == _SLOWER for row in rows)
        if can_compare:
            answer.sentences += self._judged(rows, len(common))
        else:
            answer.sentences.append("Nothing can be compared: the runs have no kernel and no range in common.")
        answer.sentences += _said_of_one_side(rows)
        if len(before) == len(after) == 1:
            answer.sentences.append("With one run on each side, noise between runs is not known, and nothing counts as slower: give two runs or more on a side.")
        return answer

    def _sides(self, outcome: Outcome) -> "tuple[list[Any], list[Any]]":
        """The means of the runs to compare with, and of those to check. A recording counts once, in however many files it is."""
        read_as = {state.path: state.same_as or state.path for state in outcome.files}
        base, given = ({read_as.get(path, path) for path in side} for side in (self._against(), self._given))
        runs = outcome.partial or []
        # A run on both sides is one to compare with, unless no other run is to be checked.
        new = {run[1] for run in runs} - base or given or base
        before, after = ([_means(run[2]) for run in runs if run[1] in side] for side in (base, new))
        return before, after

    def _judged(self, rows: "list[list[Any]]", compared: int) -> "list[str]":
        tolerance = f"{self.arguments['tolerance']:g} %"
        slower, unsure = ([row for row in rows if row[1] == verdict] for verdict in (_SLOWER, _UNSURE))
        if slower:
            said = [f"{len(slower)} of {compared} became slower; most of all {slower[0][0]}: {slower[0][4]:+.1f} %."]
        else:
            said = [f"None of {compared} kernels and ranges became slower {'beyond noise' if unsure else f'by more than {tolerance}'}."]
        if unsure:
            said.append(f"{len(unsure)} grew by more than {tolerance}, which may be noise and is no failure; most of all {unsure[0][0]}: {unsure[0][4]:+.1f} %.")
        return said


def _said_of_one_side(rows: "list[list[Any]]") -> "list[str]":
    said = []
    for verdict, where in ((_ONLY_NOW, "now"), (_ONLY_BEFORE, "before")):
        if own := [row[0] for row in rows if row[1] == verdict]:
            said.append(f"There {'is' if len(own) == 1 else 'are'} {counted(len(own), 'name')} only in the runs {where}; most time takes {own[0]}.")
    return said


def _shares(runs: "list[dict[str, tuple[float, int]]]") -> "dict[str, float]":
    """The share in % that each name has of its kind's time, of all runs together."""
    sums: "dict[str, int]" = {}
    for run in runs:
        for name, (_, total) in run.items():
            sums[name] = sums.get(name, 0) + total
    totals = {kind: sum(total for name, total in sums.items() if name != _ALL and name.startswith("NVTX ") == kind) for kind in (True, False)}
    return {name: 100 * total / max(1, totals[name.startswith("NVTX ")]) for name, total in sums.items()}


def _means(sums: "dict[str, list[int]]") -> "dict[str, tuple[float, int]]":
    """Mean duration and total time of one run, by name."""
    kernels = sum(total for name, (_, total) in sums.items() if not name.startswith("NVTX "))
    means = {name: (total / count, total) for name, (count, total) in sums.items() if count}
    return means | ({_ALL: (float(kernels), kernels)} if kernels else {})


def _interval(old: Any, new: Any, chance: float) -> "tuple[float, float | None, float | None]":
    """Change of the mean in %, and its interval by Welch's test; of a side with one run, the spread is that of the other side. If each side has only one run,
    there is no interval."""
    first, difference = float(old.mean()), float(new.mean() - old.mean())
    if not first:
        return 0.0, 0.0, 0.0
    several = [side for side in (old, new) if len(side) > 1]
    if not several:
        return 100 * difference / first, None, None
    error = math.sqrt(sum(float((side if len(side) > 1 else several[0]).var(ddof=1)) / len(side) for side in (old, new)))
    reach = student_quantile(1 - chance / 2, min(map(len, several)) - 1) * error
    return 100 * difference / first, 100 * (difference - reach) / first, 100 * (difference + reach) / first
