"""Sums over a fleet: kernels, CUDA calls, copies, NVTX ranges, calls into the C library, MPI, NCCL; by name, over all ranks and for each."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..table import distinct
from ..trace import Trace
from .engine import Outcome
from .recipe import Member, Recipe, members, recipe
from .result import Answer, ResultTable
from .sums import Summary, groups_of, merged_groups, quartiles

# Of each rank: number, sum, least, quartiles, largest. Exact, since a rank's values are all in one file.
_RANK_COLUMNS = ["Count", "Total", "Mean", "Min", "Q1", "Median", "Q3", "Max"]


class SumRecipe(Recipe):
    """Sums of one column of a table by name."""

    table: ClassVar[str]
    value: ClassVar[str] = "duration"
    unit: ClassVar[str] = "ns"
    columns: ClassVar["tuple[str, ...]"] = ("name",)

    def titles(self, trace: Trace, data: "dict[str, Any]", texts: "dict[str, list[str]]") -> "tuple[Any, list[str]]":
        """A number for each row, and what it stands for; rows below 0 do not count."""
        return data[self.columns[0]], texts[self.columns[0]]

    def map(self, trace: Trace, path: str) -> Any:
        data, texts = trace.tables[self.table][list(dict.fromkeys(["process", "start", self.value, *self.columns]))].coded()
        numbers, titles = self.titles(trace, data, texts)
        names = sorted(set(titles))  # of two mangled names one may be the readable form
        place = {name: i for i, name in enumerate(names)}
        by_number = np.array([place[title] for title in titles], dtype=np.int64)
        keys = np.where(numbers >= 0, by_number[numbers] if len(titles) else -1, -1)
        instances, processes = distinct(data["process"])
        known = members(trace, path)
        sums: "dict[str, Summary]" = {}
        rows: "dict[int, list[Any]]" = {}
        groups = np.where(keys >= 0, processes * len(names) + keys, -1)
        for group, chosen in groups_of(groups, len(instances) * len(names)):
            name, instance = names[group % len(names)], int(instances[group // len(names)])
            values = data[self.value][chosen]
            summary = Summary.of(values, data["start"][chosen], path)
            rows.setdefault(instance, []).append([name, *_row(values, summary)])
            sums[name] = sums[name].merged(summary) if name in sums else summary
        ranks = [[known[instance].to_json(), own] for instance, own in sorted(rows.items()) if instance in known]
        return {"all": sums, "ranks": ranks}

    def merge(self, one: Any, other: Any) -> Any:
        return {"all": merged_groups([one["all"], other["all"]]), "ranks": sorted(one["ranks"] + other["ranks"], key=lambda rank: rank[0][:2])}

    def to_json(self, partial: Any) -> Any:
        return {"all": {name: summary.to_json() for name, summary in partial["all"].items()}, "ranks": partial["ranks"]}

    def from_json(self, data: Any) -> Any:
        return {"all": {name: Summary.from_json(summary) for name, summary in data["all"].items()}, "ranks": data["ranks"]}

    def present(self, outcome: Outcome) -> Answer:
        answer = Answer(self.name)
        if outcome.partial is None:
            return answer
        sums: "dict[str, Summary]" = outcome.partial["all"]
        total = sum(summary.total for summary in sums.values())
        rows = [
            [
                name, 100.0 * s.total / total if total else 0.0, s.count, s.total, s.mean, s.deviation, s.least,
                s.quantile(0.25), s.quantile(0.5), s.quantile(0.75), s.quantile(0.95), s.quantile(0.99), s.most, *s.most_at,
            ]
            for name, s in sorted(sums.items(), key=lambda item: (-item[1].total, item[0]))
        ]  # fmt: skip
        columns = ["Name", "Share (%)", "Count", "Total", "Mean", "StdDev", "Min", "Q1", "Median", "Q3", "P95", "P99", "Max", "Max in file", "Max at (ns)"]
        units = {name: self.unit for name in ("Total", "Mean", "StdDev", "Min", "Q1", "Median", "Q3", "P95", "P99", "Max")}
        answer.tables.append(ResultTable("all_stats", columns, rows, units))
        per_rank = []
        for said, own in outcome.partial["ranks"]:
            member = Member(*said)
            per_rank += [[member.rank, member.host, member.pid, member.path, *row] for row in own]
        per_rank.sort(key=lambda row: (row[0] is None, row[0] or 0, row[3], row[2], -row[6], row[4]))
        answer.tables.append(
            ResultTable("rank_stats", ["Rank", "Host", "PID", "File", "Name", *_RANK_COLUMNS], per_rank, {name: self.unit for name in _RANK_COLUMNS[1:]})
        )
        if rows:
            answer.sentences.append(f"{rows[0][0]} takes {rows[0][1]:.1f} % of {len(outcome.partial['ranks'])} processes' total, in {rows[0][2]} instances.")
        return answer


def _row(values: Any, summary: Summary) -> "list[Any]":
    q1, median, q3 = quartiles(values)
    return [summary.count, summary.total, summary.mean, summary.least, q1, median, q3, summary.most]


@recipe
class KernelSum(SumRecipe):
    name, help, table = "cuda_gpu_kern_sum", "Time of kernels by name, over all ranks and for each", "kernels"


@recipe
class ApiSum(SumRecipe):
    name, help, table = "cuda_api_sum", "Time in CUDA calls by function", "api_calls"


@recipe
class OsRuntimeSum(SumRecipe):
    name, help, table = "osrt_sum", "Time in calls into the C library by function", "os_runtime"


@recipe
class MemoryTimeSum(SumRecipe):
    name, help, table, columns = "cuda_gpu_mem_time_sum", "Time of copies by kind", "copies", ("kind",)


@recipe
class MemorySizeSum(MemoryTimeSum):
    name, help, value, unit = "cuda_gpu_mem_size_sum", "Bytes of copies by kind", "bytes", "B"


class DomainSum(SumRecipe):
    """NVTX ranges of some domains."""

    table, columns = "nvtx_ranges", ("name", "domain")

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
    name, help = "mpi_sum", "Time in calls of MPI"

    def domain(self, name: str) -> bool:
        return name == "MPI"
