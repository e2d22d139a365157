"""Recipes over time: how busy each GPU was and when, and how a kernel or range develops over its instances and ranks."""

from __future__ import annotations

import argparse
from typing import Any, ClassVar

import numpy as np

from ..table import distinct
from ..trace import Trace
from .axis import Axis, Series
from .engine import Outcome
from .intervals import Times, covered, summed, union
from .projection import projected_ranges, ranges_of
from .recipe import Member, Recipe, begins, members, number_within, recipe
from .result import Answer, ResultTable
from .sums import groups_of

_FINE_BINS = 1024  # of each GPU, over its own time; the bins of the answer are made from these


class UtilizationMap(Recipe):
    """The share of time in which something was active, for each GPU of each process and each bin of time."""

    is_of_parts = True
    measures: ClassVar["tuple[str, ...]"]  # one picture each
    columns: ClassVar["tuple[str, ...]"]   # one column of the table each

    @classmethod
    def add_arguments(cls, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--bins", type=number_within(1, 100_000), default=30, help="bins of time (30)")
        parser.add_argument("--disable-alignment", action="store_true", help="let each recording begin at 0, not at its time of day")

    def covers(self, trace: Trace, instance: int, kernels: "dict[str, Any]", borders: Times) -> "list[Times]":
        """For each measure, the ns between each two borders. `kernels` are those of one GPU by `start`, `end` and `is_nccl`."""
        raise NotImplementedError

    def further(self, trace: Trace, instance: int) -> "tuple[Times, Times]":
        """Starts and ends of further intervals on the CPU that count in addition to kernels."""
        return _NOTHING

    def map(self, trace: Trace, path: str) -> Any:
        data, texts = trace.kernels[["start", "duration", "process", "device", "name"]].coded()
        ours = begins(data["name"], texts["name"], "nccl")
        recorded = trace.last_end() if trace is trace.whole else None
        rows = []
        for instance, member in members(trace, path).items():
            own = data["process"] == instance
            further = self.further(trace, instance)
            for device in np.unique(data["device"][own]).tolist() or ([-1] if len(further[0]) else []):
                chosen = own & (data["device"] == device)
                kernels = {"start": data["start"][chosen], "end": data["start"][chosen] + data["duration"][chosen], "is_nccl": ours[chosen]}
                begin = min(int(times.min()) for times in (kernels["start"], further[0]) if len(times))
                end = max(int(times.max()) for times in (kernels["end"], further[1]) if len(times))
                # GPU work may lie before the recording's time 0, because its clock was converted to the trace's.
                asked = (begin, end) if recorded is None else (min(begin, 0), max(end, recorded))
                borders = np.linspace(begin, end, _FINE_BINS + 1).astype(np.int64)
                # Integers of ns, because sums of floating-point shares would depend on their order.
                covers = [cover.tolist() for cover in self.covers(trace, instance, kernels, borders)]
                rows.append([[*member.to_json(), int(device)], trace.utc_epoch, begin, end, *asked, covers])
        return rows

    def merge(self, one: Any, other: Any) -> Any:
        return sorted(one + other, key=lambda row: (row[0][0], row[0][1], row[0][-1]))

    def present(self, outcome: Outcome) -> Answer:
        answer = Answer(self.name)
        rows = sorted(outcome.partial or [], key=lambda row: (row[0][4] is None, row[0][4] or 0, row[0][0], row[0][1], row[0][6]))
        if not rows:
            return answer
        series = [Series(f"{Member(*row[0][:6]).label()}" + (f", GPU {row[0][6]}" if row[0][6] >= 0 else ""), row[0][0], *row[1:6]) for row in rows]
        axis = Axis(series, self.arguments["bins"], not self.arguments["disable_alignment"])
        table = []
        for number, measure in enumerate(self.measures):
            cells = axis.shares(series, [row[6][number] for row in rows])
            answer.maps.append(axis.picture(measure, series, cells, "%"))
            means = [float(np.mean([share for share in row if share is not None])) for row in cells]
            least = int(np.argmin(means))
            what = measure[0].lower() + measure[1:]
            answer.sentences.append(f"Over {axis.length / 1e9:.3f} s, {what}: {np.mean(means):.1f} %; {series[least].label} least, {means[least]:.1f} %.")
        for i, row in enumerate(rows):
            shares = [heat.cells[i] for heat in answer.maps]
            table += [[b, *(cells[b] for cells in shares), row[0][4], row[0][2], row[0][6], row[0][0]] for b in range(axis.bins) if shares[0][b] is not None]
        titles = [f"{measure} (%)" for measure in self.columns]
        answer.tables.append(ResultTable("analysis", ["Bin", *titles, "Rank", "PID", "Device", "File"], table, dict.fromkeys(titles, "%")))
        return answer


_NOTHING = (np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))


@recipe
class KernelMap(UtilizationMap):
    name, help = "cuda_gpu_time_util_map", "Share of time with a kernel, for each process on each GPU and bin of time"
    measures, columns = ("Share of time with a kernel",), ("Kernel",)

    @classmethod
    def add_arguments(cls, parser: argparse.ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--cumulative", action="store_true", help="add kernels up that run at once: more than 100 %% where they do")

    def covers(self, trace: Trace, instance: int, kernels: "dict[str, Any]", borders: Times) -> "list[Times]":
        if self.arguments["cumulative"]:
            return [summed(kernels["start"], kernels["end"], borders)]
        return [covered(*union(kernels["start"], kernels["end"]), borders)]


def _both(one: "tuple[Times, Times]", other: "tuple[Times, Times]", borders: Times) -> "list[Times]":
    """The time that the first covers, that the second covers, and that both cover at once."""
    first, second = union(*one), union(*other)
    apart = [covered(*each, borders) for each in (first, second)]
    together = covered(*union(*(np.concatenate(edges) for edges in zip(first, second))), borders)
    return [*apart, apart[0] + apart[1] - together]


@recipe
class NcclMap(UtilizationMap):
    name, help = "nccl_gpu_time_util_map", "Share of time with kernels of NCCL, with others, and with both, for each process on each GPU and bin of time"
    measures, columns = ("Share of time with NCCL", "Share of time with computation", "Share of time with both"), ("NCCL", "Compute", "Overlap")

    def covers(self, trace: Trace, instance: int, kernels: "dict[str, Any]", borders: Times) -> "list[Times]":
        ours = kernels["is_nccl"]
        return _both((kernels["start"][ours], kernels["end"][ours]), (kernels["start"][~ours], kernels["end"][~ours]), borders)


@recipe
class MpiMap(UtilizationMap):
    name, help = "mpi_gpu_time_util_map", "Share of time with a kernel, in MPI, and with both, for each process on each GPU and bin of time"
    measures, columns = ("Share of time with a kernel", "Share of time in MPI", "Share of time with both"), ("Kernel", "MPI", "Overlap")
    domain = "MPI"

    def further(self, trace: Trace, instance: int) -> "tuple[Times, Times]":
        domains = [number for number, name in trace.processes[instance].nvtx_domains.items() if name == self.domain]
        if not domains:
            return _NOTHING
        data, _ = trace.nvtx_ranges[["start", "duration", "process", "domain"]].coded()
        own = (data["process"] == instance) & np.isin(data["domain"], domains)
        return data["start"][own], data["start"][own] + data["duration"][own]

    def covers(self, trace: Trace, instance: int, kernels: "dict[str, Any]", borders: Times) -> "list[Times]":
        return _both((kernels["start"], kernels["end"]), self.further(trace, instance), borders)


@recipe
class UcxMap(MpiMap):
    name, help = "ucx_gpu_time_util_map", "Share of time with a kernel, in UCX, and with both, for each process on each GPU and bin of time"
    measures, columns = ("Share of time with a kernel", "Share of time in UCX", "Share of time with both"), ("Kernel", "UCX", "Overlap")
    domain = "UCX"


class Pace(Recipe):
    """How the instances of one name follow each other on each rank."""

    is_of_parts = True
    table = "kernels"

    @classmethod
    def add_arguments(cls, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--name", default="", help="the name, whole, or a kernel's without its parameters; without it, of those with three instances or more the one that takes most time")

    def rows(self, trace: Trace) -> "tuple[dict[str, Any], list[str]]":
        """Process, name, start and duration of each row; and the names by number."""
        data, texts = trace.tables[self.table][["start", "duration", "process", "name"]].coded()
        return data, texts["name"]

    def map(self, trace: Trace, path: str) -> Any:
        data, titles = self.rows(trace)
        wanted = self.arguments["name"]
        names = sorted(name for name in set(titles) if not wanted or name == wanted)
        place = {name: i for i, name in enumerate(names)}
        numbers = np.array([place.get(title, -1) for title in titles], dtype=np.int64)
        order = np.argsort(data["start"], kind="stable")
        start, duration = data["start"][order], data["duration"][order]
        numbers = numbers[data["name"][order]] if len(titles) else np.empty(0, dtype=np.int64)
        instances, processes = distinct(data["process"][order])
        known = members(trace, path)
        rows = []
        for group, chosen in groups_of(np.where(numbers >= 0, processes * len(names) + numbers, -1), len(instances) * len(names)):
            instance = int(instances[group // len(names)])
            if instance in known:
                rows.append([known[instance].to_json(), names[group % len(names)], start[chosen].tolist(), duration[chosen].tolist()])
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
            if self.arguments["name"]:
                answer.sentences.append(f"No recording has anything of the name {self.arguments['name']}.")
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


def _function_of(kernel: str) -> str:
    """The name of a function: "void at::native::fill<float>(int)" is "fill". Leaves out parameters, template arguments, namespaces and the return type."""
    outside, depth = [], 0
    for letter in kernel.replace("(anonymous namespace)::", ""):
        if letter == "(" and depth == 0:
            break
        depth += (letter in "<(") - (letter in ">)")
        if depth == 0 and letter != ">":
            outside.append(letter)
    return "".join(outside).split(" ")[-1].split("::")[-1]


@recipe
class KernelPace(Pace):
    name, help = "cuda_gpu_kern_pace", "Progress of one kernel over its instances and ranks"

    def rows(self, trace: Trace) -> "tuple[dict[str, Any], list[str]]":
        data, names = super().rows(trace)
        wanted = self.arguments["name"]
        if wanted and wanted not in names:
            names = [wanted if _function_of(name) == wanted else name for name in names]
        return data, names


@recipe
class NvtxPace(Pace):
    name, help, table = "nvtx_pace", "Progress of one NVTX range over its instances and ranks", "nvtx_ranges"


@recipe
class NvtxProjectedPace(Pace):
    name, help = "nvtx_gpu_proj_pace", "Progress of one NVTX range over its instances and ranks, as the GPU ran what it enqueued"

    def rows(self, trace: Trace) -> "tuple[dict[str, Any], list[str]]":
        ranges = ranges_of(trace)
        found = projected_ranges(trace, ranges)
        return {"process": ranges.process[found.row], "name": ranges.name[found.row], "start": found.start, "duration": found.end - found.start}, ranges.titles


@recipe
class GpuGaps(Recipe):
    is_of_parts = True
    name, help = "gpu_gaps", "The longest times in which a GPU did nothing for one process"

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
            answer.sentences.append(f"The longest gap is {rows[0][0] / 1e6:.1f} ms without work of process {rows[0][3]} on GPU {rows[0][4]}, in {rows[0][5]} at {rows[0][1] / 1e9:.3f} s.")
        return answer
