"""Sums over a fleet: kernels, CUDA calls, copies, NVTX ranges, calls into the C library, MPI, NCCL; by name, over all ranks and for each."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..trace import Trace
from .engine import Outcome
from .recipe import Member, Recipe, members, recipe
from .result import Answer, ResultTable
from .sums import Summary, grouped, merged_groups

# Of each rank: number, sum, least, quartiles, largest. Exact, since a rank's values are all in one file.
_RANK_COLUMNS = ["Count", "Total", "Mean", "Min", "Q1", "Median", "Q3", "Max"]


class SumRecipe(Recipe):
    """Sums of one column of a table by name."""

    table: ClassVar[str]
    value: ClassVar[str] = "duration"
    unit: ClassVar[str] = "ns"

    @classmethod
    def columns(cls) -> "list[str]":
        return ["name"]

    def names(self, trace: Trace, data: "dict[str, Any]") -> "tuple[Any, Any]":
        """A name for each row, and which rows count."""
        return data["name"], np.ones(len(data["name"]), dtype=bool)

    def map(self, trace: Trace, path: str) -> Any:
        table = trace.tables[self.table]
        data: "dict[str, Any]" = table[list(dict.fromkeys(["process", "start", self.value, *self.columns()]))].to_numpy()
        names, chosen = self.names(trace, data)
        names, values = names[chosen], data[self.value][chosen]
        starts, processes = data["start"][chosen], data["process"][chosen]
        ranks = []
        for instance, member in members(trace, path).items():
            own = processes == instance
            if own.any():
                rows = [[name, *_row(values[own & (names == name)])] for name in sorted(set(names[own]))]
                ranks.append([member.to_json(), rows])
        return {"all": grouped(names, values, starts, path), "ranks": ranks}

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


def _row(values: Any) -> "list[Any]":
    q1, median, q3 = (float(q) for q in np.quantile(values, (0.25, 0.5, 0.75)))
    return [len(values), int(values.sum()), float(values.mean()), int(values.min()), q1, median, q3, int(values.max())]


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
    name, help, table = "cuda_gpu_mem_time_sum", "Time of copies by kind", "copies"

    @classmethod
    def columns(cls) -> "list[str]":
        return ["kind"]

    def names(self, trace: Trace, data: "dict[str, Any]") -> "tuple[Any, Any]":
        return data["kind"], np.ones(len(data["kind"]), dtype=bool)


@recipe
class MemorySizeSum(MemoryTimeSum):
    name, help, value, unit = "cuda_gpu_mem_size_sum", "Bytes of copies by kind", "bytes", "B"


class DomainSum(SumRecipe):
    """NVTX ranges of some domains."""

    table = "nvtx_ranges"

    @classmethod
    def columns(cls) -> "list[str]":
        return ["name", "process", "domain"]

    def domain(self, name: str) -> bool:
        return True

    def names(self, trace: Trace, data: "dict[str, Any]") -> "tuple[Any, Any]":
        names, chosen = data["name"].copy(), np.zeros(len(data["name"]), dtype=bool)
        for instance, process in trace.processes.items():
            for number in np.unique(data["domain"][data["process"] == instance]).tolist():
                title = process.nvtx_domains.get(number, "")
                rows = (data["process"] == instance) & (data["domain"] == number)
                if self.domain(title):
                    chosen |= rows
                    names[rows] = np.array([self.title(title, name) for name in names[rows]], dtype=object)
        return names, chosen

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
