"""Recipes over single kernels: the distribution of their durations, and what else ran meanwhile."""

from __future__ import annotations

import argparse
import math
from typing import Any

import numpy as np

from ..trace import Trace
from .engine import Outcome
from .intervals import covered_before, overlapped, union
from .recipe import Member, Recipe, begins, members, number_within, recipe
from .result import Answer, HeatMap, ResultTable
from .sum_recipes import KernelSum
from .sums import STEPS_AN_OCTAVE, Summary

_PICTURED = 30  # kernels in the picture of a histogram


@recipe
class KernelHistogram(KernelSum):
    name, help = "cuda_gpu_kern_hist", "How the durations of one kernel, or of all, are distributed"

    @classmethod
    def add_arguments(cls, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--name", default="", help="the kernel, its whole name; without it, each")
        parser.add_argument("--bins", type=number_within(1, 1000), default=30, help="parts of equal ratio that the durations are cut into (30)")

    def present(self, outcome: Outcome) -> Answer:
        answer = Answer(self.name)
        wanted = self.arguments["name"]
        sums: "dict[str, Summary]" = {name: s for name, s in (outcome.partial or {"all": {}})["all"].items() if not wanted or name == wanted}
        if not sums:
            answer.sentences.append(f"No file has a kernel {wanted}." if wanted else "No file has a kernel.")
            return answer
        bins = self.arguments["bins"]
        low, high = (max(1, limit) for limit in (min(s.least for s in sums.values()), max(s.most for s in sums.values())))
        borders = [low * (high / low) ** (i / bins) for i in range(bins + 1)]
        rows, counts = [], {}
        for name, summary in sorted(sums.items(), key=lambda item: (-item[1].total, item[0])):
            counts[name] = [0] * bins
            for step, count in summary.histogram.items():
                # The middle of a step is within 0.3 % of its values. It must not lie outside of the minimum and the maximum.
                middle = min(max(2.0 ** ((step + 0.5) / STEPS_AN_OCTAVE), low), high)
                place = int(bins * math.log(middle / low) / math.log(high / low)) if high > low else 0
                counts[name][min(place, bins - 1)] += count
            rows += [[name, borders[i], borders[i + 1], count] for i, count in enumerate(counts[name]) if count]
        answer.tables.append(ResultTable("analysis", ["Name", "From", "To", "Count"], rows, {"From": "ns", "To": "ns"}))
        shown = list(counts)[:_PICTURED]
        cells: "list[list[float | None]]" = [[float(count) or None for count in counts[name]] for name in shown]
        answer.maps.append(HeatMap("Kernels by their duration", [name[:60] for name in shown], [f"{border / 1e3:.3g} µs" for border in borders[:-1]], cells, "kernels"))
        first = rows[0][0]
        summary = sums[first]
        answer.sentences.append(
            f"{first}: {summary.count} times, half of them within {summary.percentile(25) / 1e3:.1f} to {summary.percentile(75) / 1e3:.1f} µs, the longest {summary.most / 1e3:.1f} µs."
        )
        return answer


@recipe
class NcclOverlap(Recipe):
    name, help = "nccl_gpu_overlap_trace", "Of each kernel, how long kernels of NCCL and others ran beside it"
    is_of_parts = True

    @classmethod
    def add_arguments(cls, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--divisor", type=number_within(1, 1e9), default=100, help="without effect: memory does not grow with pairs of kernels")

    def map(self, trace: Trace, path: str) -> Any:
        data, texts = trace.kernels[["start", "duration", "process", "device", "name"]].coded()
        ours = begins(data["name"], texts["name"], "nccl")
        start, end = data["start"], data["start"] + data["duration"]
        result = []
        for instance, member in members(trace, path).items():
            for device in np.unique(data["device"][data["process"] == instance]).tolist():
                own = np.flatnonzero((data["process"] == instance) & (data["device"] == device))
                if not ours[own].any():
                    continue  # without communication there is nothing to report
                rows = []
                for is_nccl in (True, False):
                    kind = own[ours[own] == is_nccl]
                    other = own[ours[own] != is_nccl]
                    beside = [_beside(edges, start[kind], end[kind]) for edges in (overlapped(start[kind], end[kind]), union(start[other], end[other]))]
                    communication, computation = beside if is_nccl else beside[::-1]
                    names = (texts["name"][name] for name in data["name"][kind].tolist())
                    rows += list(zip(start[kind].tolist(), end[kind].tolist(), names, communication.tolist(), computation.tolist(), [is_nccl] * len(kind)))
                result.append([[*member.to_json(), int(device)], sorted(rows)])
        return result

    def merge(self, one: Any, other: Any) -> Any:
        return sorted(one + other, key=lambda row: (row[0][:2], row[0][6]))

    def to_json(self, partial: Any) -> Any:
        return [[who, [list(row) for row in rows]] for who, rows in partial]

    def present(self, outcome: Outcome) -> Answer:
        trace, grouped = [], []
        hidden, total = 0, 0
        for who, rows in outcome.partial or []:
            member, device = Member(*who[:6]), who[6]
            groups: "dict[str, list[int]]" = {}
            for start, end, name, communication, computation, is_nccl in rows:
                trace.append([name, start, end, end - start, communication, computation, member.rank, device, member.path])
                of_name = groups.setdefault(name, [0, 0, 0, 0])
                for i, value in enumerate((1, end - start, communication, computation)):
                    of_name[i] += value
                hidden += computation if is_nccl else 0
                total += end - start if is_nccl else 0
            grouped += [[name, *values, 100.0 * values[2] / max(1, values[1]), 100.0 * values[3] / max(1, values[1]), member.rank, device, member.path] for name, values in groups.items()]
        grouped.sort(key=lambda row: (row[7] is None, row[7] or 0, row[9], row[8], -row[2], row[0]))
        units = dict.fromkeys(("Start", "End", "Duration", "Beside NCCL", "Beside computation", "Total"), "ns")
        columns = ["Name", "Count", "Total", "Beside NCCL", "Beside computation", "Beside NCCL (%)", "Beside computation (%)", "Rank", "Device", "File"]
        answer = Answer(self.name, tables=[ResultTable("grouped_trace", columns, grouped, units)])
        answer.tables.append(ResultTable("rank_trace", ["Name", "Start", "End", "Duration", "Beside NCCL", "Beside computation", "Rank", "Device", "File"], trace, units))
        answer.sentences.append(f"{100 * hidden / total:.1f} % of {total / 1e9:.3f} s of NCCL's kernels ran beside computation." if total else "No file has kernels of NCCL.")
        return answer


def _beside(edges: Any, start: Any, end: Any) -> Any:
    """For each interval, how much of it the other intervals cover. The others must not overlap each other."""
    starts, ends = edges
    return covered_before(starts, ends, end) - covered_before(starts, ends, start)
