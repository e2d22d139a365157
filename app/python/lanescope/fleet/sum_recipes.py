"""Sums over a fleet, by name, over all ranks and for each: kernels, CUDA calls, copies, NVTX ranges, calls into the C library, MPI, NCCL."""

from __future__ import annotations

import re
from typing import Any, ClassVar, Optional

import numpy as np

from ..table import distinct
from ..trace import Trace
from .engine import Outcome
from .projection import projected_ranges, ranges_of
from .recipe import Member, Recipe, members, recipe
from .result import Answer, ResultTable, counted
from .sums import Summary, merged_groups, summed_groups

_WHO = ["Rank", "Host", "PID", "File"]
_VERSION = re.compile(r"(?<=.)_v[0-9]{4}$")  # of a CUDA function, as CUPTI names it
# For each rank: number, sum, minimum, quartiles, maximum. They are exact, because all values of a rank are in one file.
_RANK_COLUMNS = ["Count", "Total", "Mean", "StdDev", "Min", "Q1", "Median", "Q3", "Max"]


class SumRecipe(Recipe):
    """Sums of one column of a table by name."""

    is_of_parts = True
    table: ClassVar[str]
    value: ClassVar[str] = "duration"
    unit: ClassVar[str] = "ns"
    columns: ClassVar["tuple[str, ...]"] = ("name",)
    traced: ClassVar[str] = "cuda"  # the trace option that records such events

    def rows(self, trace: Trace) -> "tuple[dict[str, Any], dict[str, list[str]]]":
        """The columns to sum, and the texts of the columns that contain numbers of texts."""
        return trace.tables[self.table][list(dict.fromkeys(["process", "start", self.value, *self.columns]))].coded()

    def titles(self, trace: Trace, data: "dict[str, Any]", texts: "dict[str, list[str]]") -> "tuple[Any, list[str]]":
        """A number for each row, and the title of each number; rows below 0 do not count."""
        return data[self.columns[0]], texts[self.columns[0]]

    def map(self, trace: Trace, path: str) -> Any:
        data, texts = self.rows(trace)
        numbers, titles = self.titles(trace, data, texts)
        names = sorted(set(titles))  # several mangled names may have the same readable form
        place = {name: i for i, name in enumerate(names)}
        # Position -1, the last one in numpy, is for rows that do not count.
        by_number = np.array([*(place[title] for title in titles), -1], dtype=np.int64)
        keys = by_number[np.maximum(numbers, -1)]
        instances, processes = distinct(data["process"])
        known = members(trace, path)
        sums: "dict[str, Summary]" = {}
        rows: "dict[int, list[Any]]" = {}
        by_device: "dict[tuple[int, int], Optional[list[Any]]]" = {}  # None: the same as the rank's, which is usual because a file mostly has one GPU
        keys = np.where(keys >= 0, processes * len(names) + keys, -1) if len(instances) != 1 else keys
        for group, summary, own in summed_groups(keys, len(instances) * len(names), data[self.value], data["start"], path):
            name, instance = names[group % len(names)], int(instances[group // len(names)])
            rows.setdefault(instance, []).append([name, *_row(summary, own)])
            sums[name] = sums[name].merged(summary) if name in sums else summary
        used = distinct(data["device"])[0] if "device" in data else np.empty(0, dtype=np.int64)
        if len(used) == 1:
            by_device = dict.fromkeys((instance, int(used[0])) for instance in rows)
        elif len(used):
            several: "dict[tuple[int, int], list[Any]]" = {}
            # For each name, what each GPU of each process did.
            numbers = len(instances) * len(names)
            keys = np.where(keys >= 0, distinct(data["device"])[1] * numbers + keys, -1)
            for group, summary, own in summed_groups(keys, len(used) * numbers, data[self.value], data["start"], path):
                instance = int(instances[group % numbers // len(names)])
                several.setdefault((instance, int(used[group // numbers])), []).append([names[group % len(names)], *_row(summary, own)])
            by_device.update(several)
        ranks = [[known[instance].to_json(), own] for instance, own in sorted(rows.items()) if instance in known]
        on_devices = [[known[instance].to_json(), device, own] for (instance, device), own in sorted(by_device.items(), key=lambda item: item[0]) if instance in known]
        return {"all": sums, "ranks": ranks, "devices": on_devices}

    def merge(self, one: Any, other: Any) -> Any:
        return {
            "all": merged_groups([one["all"], other["all"]]),
            "ranks": sorted(one["ranks"] + other["ranks"], key=lambda rank: rank[0][:2]),
            "devices": sorted(one["devices"] + other["devices"], key=lambda rank: (rank[0][:2], rank[1])),
        }

    def to_json(self, partial: Any) -> Any:
        return partial | {"all": {name: summary.to_json() for name, summary in partial["all"].items()}}

    def from_json(self, data: Any) -> Any:
        return data | {"all": {name: Summary.from_json(summary) for name, summary in data["all"].items()}}

    def present(self, outcome: Outcome) -> Answer:
        answer = Answer(self.name)
        if outcome.partial is None:
            return answer
        sums: "dict[str, Summary]" = outcome.partial["all"]
        total = sum(summary.total for summary in sums.values())
        rows: list[list[Any]] = [
            [
                name, 100.0 * s.total / total if total else 0.0, s.count, s.total, s.mean, s.deviation, s.least,
                s.percentile(25), s.percentile(50), s.percentile(75), s.percentile(95), s.percentile(99), s.most, *s.most_at,
            ]
            for name, s in sorted(sums.items(), key=lambda item: (-item[1].total, item[0]))
        ]  # fmt: skip
        columns = ["Name", "Share (%)", "Count", "Total", "Mean", "StdDev", "Min", "Q1", "Median", "Q3", "P95", "P99", "Max", "Max in file", "Max at (ns)"]
        units = {name: self.unit for name in ("Total", "Mean", "StdDev", "Min", "Q1", "Median", "Q3", "P95", "P99", "Max")}
        answer.tables.append(ResultTable("all_stats", columns, rows, units))
        units = {name: self.unit for name in _RANK_COLUMNS[1:]}
        answer.tables.append(ResultTable("rank_stats", [*_WHO, "Name", *_RANK_COLUMNS], _by_rank([[said, [], own] for said, own in outcome.partial["ranks"]]), units))
        if outcome.partial["devices"]:
            of_ranks = {(said[0], said[1]): own for said, own in outcome.partial["ranks"]}
            on_devices = _by_rank([[said, [device], of_ranks.get((said[0], said[1]), []) if own is None else own] for said, device, own in outcome.partial["devices"]])
            answer.tables.append(ResultTable("rank_stats_by_device", [*_WHO, "Device", "Name", *_RANK_COLUMNS], on_devices, units))
        if rows:
            answer.sentences.append(f"{rows[0][0]} takes {rows[0][1]:.1f} % of the total of {counted(len(outcome.partial['ranks']), 'process', 'processes')}, in {counted(rows[0][2], 'instance')}.")
        else:
            answer.sentences.append(f"No file has what this sums up: record with -t {self.traced}.")
        return answer


def _by_rank(said: "list[Any]") -> "list[list[Any]]":
    """Rows of sums, each after its rank and place. Sorted by rank, with the largest sum first."""
    keyed = []
    for who, where, own in said:
        member = Member(*who)
        first = (member.rank is None, member.rank or 0, member.path, member.pid, where)
        keyed += [((*first, -row[2], row[0]), [member.rank, member.host, member.pid, member.path, *where, *row]) for row in own]
    return [row for _, row in sorted(keyed, key=lambda each: each[0])]


def _row(summary: Summary, own: "list[float]") -> "list[Any]":
    return [summary.count, summary.total, summary.mean, summary.deviation, summary.least, *own, summary.most]


@recipe
class KernelSum(SumRecipe):
    name, help, table, columns = "cuda_gpu_kern_sum", "Time of kernels by name, over all ranks and for each", "kernels", ("name", "device")


@recipe
class ApiSum(SumRecipe):
    name, help, table = "cuda_api_sum", "Time in CUDA calls by function", "api_calls"

    def titles(self, trace: Trace, data: "dict[str, Any]", texts: "dict[str, list[str]]") -> "tuple[Any, list[str]]":
        numbers, titles = super().titles(trace, data, texts)
        return numbers, [_VERSION.sub("", title) for title in titles]


@recipe
class OsRuntimeSum(SumRecipe):
    name, help, table, traced = "osrt_sum", "Time in calls into the C library by function", "os_runtime", "osrt"


@recipe
class MemoryTimeSum(SumRecipe):
    name, help, table, columns = "cuda_gpu_mem_time_sum", "Time of copies and sets of GPUs by kind", "copies", ("kind", "device")

    def rows(self, trace: Trace) -> "tuple[dict[str, Any], dict[str, list[str]]]":
        copies, texts = super().rows(trace)
        sets, _ = trace.sets[[name for name in copies if name != "kind"]].coded()
        kinds = [*(f"[CUDA memcpy {kind.title().replace(' To ', '-to-')}]" for kind in texts["kind"]), "[CUDA memset]"]
        sets["kind"] = np.full(len(sets["start"]), len(kinds) - 1, dtype=np.int64)
        return {name: np.concatenate((values, sets[name])) for name, values in copies.items()}, {"kind": kinds}


@recipe
class MemorySizeSum(MemoryTimeSum):
    name, help, value, unit = "cuda_gpu_mem_size_sum", "Bytes of copies and sets of GPUs by kind", "bytes", "B"


class DomainSum(SumRecipe):
    """NVTX ranges of some domains."""

    table, columns, traced = "nvtx_ranges", ("name", "domain"), "nvtx"

    def domain(self, name: str) -> bool:
        return True

    def titles(self, trace: Trace, data: "dict[str, Any]", texts: "dict[str, list[str]]") -> "tuple[Any, list[str]]":
        keys = np.stack((data["process"], data["domain"], data["name"]), axis=1)
        different, numbers = np.unique(keys, axis=0, return_inverse=True)
        titles, counted = [], np.zeros(len(different), dtype=bool)
        for i, (instance, domain, name) in enumerate(different.tolist()):
            process = trace.processes.get(instance)
            title = process.nvtx_domains.get(domain, "") if process else ""
            counted[i] = self.domain(title)
            titles.append(self.title(title, texts["name"][name]))
        return np.where(counted[numbers.reshape(-1)], numbers.reshape(-1), -1), titles

    def title(self, domain: str, name: str) -> str:
        return f"{domain}:{name}"


class ProjectedSum(DomainSum):
    """NVTX ranges, by the time that the GPU took for the work that they enqueued."""

    traced = "cuda,nvtx"

    def rows(self, trace: Trace) -> "tuple[dict[str, Any], dict[str, list[str]]]":
        ranges = ranges_of(trace)
        found = projected_ranges(trace, ranges)
        data = {"process": ranges.process[found.row], "domain": ranges.domain[found.row], "name": ranges.name[found.row], "start": found.start, "duration": found.end - found.start}
        return data, {"name": ranges.titles}


@recipe
class NvtxProjectedSum(ProjectedSum):
    name, help = "nvtx_gpu_proj_sum", "Time of the GPU for NVTX ranges, from the first to the last operation that each enqueued"


@recipe
class NcclProjectedSum(ProjectedSum):
    name, help = "nccl_gpu_proj_sum", "Time of the GPU for calls of NCCL"

    def domain(self, name: str) -> bool:
        return name == "NCCL"

    def title(self, domain: str, name: str) -> str:
        return name


@recipe
class NvtxSum(DomainSum):
    name, help = "nvtx_sum", "Time in NVTX ranges by domain and name"


@recipe
class NcclSum(DomainSum):
    name, help = "nccl_sum", "Time in calls of NCCL"

    def domain(self, name: str) -> bool:
        return name == "NCCL"

    def title(self, domain: str, name: str) -> str:
        return name


@recipe
class MpiSum(NcclSum):
    name, help, traced = "mpi_sum", "Time in calls of MPI", "mpi"

    def domain(self, name: str) -> bool:
        return name == "MPI"
