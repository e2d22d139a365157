"""Recipes over time: how busy each GPU was, when, and how one kernel or range goes on over its instances and ranks."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from ..trace import Trace
from .engine import Outcome
from .intervals import covered, union
from .recipe import Member, Recipe, members, number_within, recipe
from .result import Answer, HeatMap, ResultTable, Source

_FINE_BINS = 1024  # of each GPU, over its own time; those of the answer are made of them


@recipe
class UtilizationMap(Recipe):
    name, help = "cuda_gpu_time_util_map", "Share of time with a kernel, for each GPU and bin of time"

    @classmethod
    def add_arguments(cls, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--bins", type=number_within(1, 100_000), default=30, help="bins of time (30)")
        parser.add_argument("--disable-alignment", action="store_true", help="let each recording begin at 0, not at its time of day")

    def map(self, trace: Trace, path: str) -> Any:
        data = trace.kernels[["start", "duration", "process", "device"]].to_numpy()
        rows = []
        own = members(trace, path)
        for instance, member in own.items():
            for device in np.unique(data["device"][data["process"] == instance]).tolist():
                chosen = (data["process"] == instance) & (data["device"] == device)
                start, end = union(data["start"][chosen], data["start"][chosen] + data["duration"][chosen])
                if not len(start):
                    continue
                borders = np.linspace(int(start[0]), int(end[-1]), _FINE_BINS + 1).astype(np.int64)
                # Whole numbers of ns: sums of shares would depend on their order.
                rows.append([[*member.to_json(), int(device)], trace.utc_epoch, int(start[0]), int(end[-1]), covered(start, end, borders).tolist()])
        return rows

    def merge(self, one: Any, other: Any) -> Any:
        return sorted(one + other, key=lambda row: (row[0][0], row[0][1], row[0][-1]))

    def present(self, outcome: Outcome) -> Answer:
        answer = Answer(self.name)
        rows = outcome.partial or []
        if not rows:
            return answer
        aligned = not self.arguments["disable_alignment"]
        begins = [row[2] + (row[1] if aligned else 0) for row in rows]
        ends = [row[3] + (row[1] if aligned else 0) for row in rows]
        first, last = min(begins), max(ends)
        bins = max(1, self.arguments["bins"])
        borders = np.linspace(first, last, bins + 1)
        table, cells, labels, sources = [], [], [], []
        for row, begin, end in sorted(zip(rows, begins, ends), key=lambda item: (item[0][0][4] is None, item[0][0][4] or 0, item[0][0][0], item[0][0][1])):
            member = Member(*row[0][:6])
            fine = np.linspace(begin, end, len(row[4]) + 1)
            passed = np.concatenate(([0.0], np.cumsum(row[4])))
            busy = np.diff(np.interp(borders, fine, passed))
            width = np.diff(borders)
            shares = [float(100 * b / w) if w > 0 else 0.0 for b, w in zip(busy, width)]
            cells.append([share if right > begin and left < end else None for share, left, right in zip(shares, borders, borders[1:])])
            labels.append(f"{member.label()}, GPU {row[0][6]}")
            shift = row[1] if aligned else 0
            edges = np.rint(borders).astype(np.int64) - shift
            sources.append(Source(member.path, np.maximum(edges[:-1], 0).tolist(), edges[1:].tolist(), [shift] * bins))
            table += [[i, share, member.rank, member.pid, row[0][6], member.path] for i, share in enumerate(cells[-1]) if share is not None]
        answer.tables.append(ResultTable("analysis", ["Bin", "Kernel (%)", "Rank", "PID", "Device", "File"], table, {"Kernel (%)": "%"}))
        answer.maps.append(HeatMap("Share of time with a kernel", labels, [f"{(b - first) / 1e9:.3f} s" for b in borders[:-1]], cells, "%", sources))
        means = [float(np.mean([share for share in row if share is not None])) for row in cells]
        least = int(np.argmin(means))
        answer.sentences.append(f"Over {(last - first) / 1e9:.3f} s GPUs ran kernels for {np.mean(means):.1f} % of the time; {labels[least]} least, {means[least]:.1f} %.")
        return answer


class Pace(Recipe):
    """How the instances of one name follow each other, on each rank."""

    table = "kernels"

    @classmethod
    def add_arguments(cls, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--name", default="", help="the name, whole; without it, of those with three instances or more the one that takes most time")

    def map(self, trace: Trace, path: str) -> Any:
        data = trace.tables[self.table][["start", "duration", "process", "name"]].to_numpy()
        names = [self.arguments["name"]] if self.arguments["name"] else sorted(set(data["name"]))
        rows = []
        for instance, member in members(trace, path).items():
            own = data["process"] == instance
            for name in names:
                chosen = own & (data["name"] == name)
                if chosen.any():
                    rows.append([member.to_json(), name, data["start"][chosen].tolist(), data["duration"][chosen].tolist()])
        return rows

    def merge(self, one: Any, other: Any) -> Any:
        return sorted(one + other, key=lambda row: (row[0][:2], row[1]))

    def present(self, outcome: Outcome) -> Answer:
        answer = Answer(self.name)
        rows = outcome.partial or []
        totals: "dict[str, int]" = {}
        for _, name, _, durations in rows:
            if len(durations) > 2 or self.arguments["name"]:
                totals[name] = totals.get(name, 0) + sum(durations)
        if not totals:
            return answer
        name = max(sorted(totals), key=lambda key: totals[key])
        chosen = sorted((row for row in rows if row[1] == name), key=lambda row: (row[0][4] is None, row[0][4] or 0, row[0][:2]))
        table, stats = [], []
        for said, _, starts, durations in chosen:
            member = Member(*said)
            gaps = np.diff(starts) if len(starts) > 1 else np.zeros(0)
            median = float(np.median(gaps)) if len(gaps) else 0.0
            for i, (start, duration) in enumerate(zip(starts, durations)):
                since = int(start - starts[i - 1]) if i else None
                table.append([member.rank, member.pid, i, start, duration, since, None if since is None else since - median])
            spread = float(np.quantile(gaps, 0.9) - np.quantile(gaps, 0.1)) if len(gaps) else 0.0
            stats.append([member.rank, member.pid, member.path, len(starts), median, spread, int(gaps.max()) if len(gaps) else 0])
        times = {column: "ns" for column in ("Start", "Duration", "Since previous", "Delta from median", "Median pace", "Spread (P10 to P90)", "Longest")}
        answer.tables.append(ResultTable("pace", ["Rank", "PID", "Instance", "Start", "Duration", "Since previous", "Delta from median"], table, times))
        answer.tables.append(ResultTable("stats", ["Rank", "PID", "File", "Instances", "Median pace", "Spread (P10 to P90)", "Longest"], stats, times))
        answer.sentences.append(f"{name}: one each {np.median([row[4] for row in stats]) / 1e6:.3f} ms in the median of {len(stats)} processes.")
        return answer


@recipe
class KernelPace(Pace):
    name, help = "cuda_gpu_kern_pace", "Progress of one kernel over its instances and ranks"


@recipe
class NvtxPace(Pace):
    name, help, table = "nvtx_pace", "Progress of one NVTX range over its instances and ranks", "nvtx_ranges"


@recipe
class GpuGaps(Recipe):
    name, help = "gpu_gaps", "The longest times in which a GPU did nothing"

    @classmethod
    def add_arguments(cls, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--gap", type=number_within(0, 1e9), default=500, help="least length in ms (500)")
        parser.add_argument("--rows", type=number_within(1, 1e9), default=50, help="rows of the answer (50)")

    def map(self, trace: Trace, path: str) -> Any:
        parts = [trace.tables[name][["start", "duration", "process", "device"]].to_numpy() for name in ("kernels", "copies", "sets", "graph_launches")]
        data = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        rows: "list[Any]" = []
        for instance, member in members(trace, path).items():
            for device in np.unique(data["device"][data["process"] == instance]).tolist():
                chosen = (data["process"] == instance) & (data["device"] == device)
                start, end = union(data["start"][chosen], data["start"][chosen] + data["duration"][chosen])
                gaps = start[1:] - end[:-1]
                rows += [[-int(gaps[i]), member.to_json(), int(device), int(end[i])] for i in np.flatnonzero(gaps >= self.arguments["gap"] * 1_000_000)]
        return sorted(rows)[: self.arguments["rows"]]

    def merge(self, one: Any, other: Any) -> Any:
        return sorted(one + other, key=lambda row: (row[0], row[1][:2], row[2], row[3]))[: self.arguments["rows"]]

    def present(self, outcome: Outcome) -> Answer:
        rows = [[-row[0], row[3], Member(*row[1]).rank, row[1][2], row[2], row[1][0]] for row in outcome.partial or []]
        answer = Answer(self.name, tables=[ResultTable("analysis", ["Duration", "Start", "Rank", "PID", "Device", "File"], rows, {"Duration": "ns", "Start": "ns"})])
        if rows:
            answer.sentences.append(f"The longest gap is {rows[0][0] / 1e6:.1f} ms, in {rows[0][5]} at {rows[0][1] / 1e9:.3f} s.")
        return answer
