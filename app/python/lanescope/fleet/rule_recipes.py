"""Recipes over the findings of the rules of `lanescope analyze` for all ranks. That program, which must lie beside this package, analyses each recording."""

from __future__ import annotations

import argparse
import statistics
from typing import Any, ClassVar, Optional

import numpy as np

from .. import program
from ..trace import Trace
from .engine import Outcome
from .filters import add_filter_arguments
from .intervals import union
from .recipe import Member, Recipe, members, number_within, recipe
from .report import cell_text
from .result import Answer, ResultTable, counted
from .sum_recipes import KernelSum
from .sums import Summary, groups_of

_LOOP, _ONCE = "loop", "once"


class RuleRecipe(Recipe):
    """Asks rules about each file."""

    @classmethod
    def add_arguments(cls, parser: argparse.ArgumentParser) -> None:
        add_filter_arguments(parser, projected=False)

    def ask(self, trace: Trace, *rules: str) -> "dict[str, list[dict[str, Any]]]":
        filters = [f"--{name.replace('_', '-')}={self.arguments[name]}" for name in ("filter_time", "filter_nvtx") if self.arguments[name]]
        return program.rule_tables(trace.path, list(rules), *filters)


@recipe
class IdleCauses(RuleRecipe):
    name, help = "idle_causes", "What GPUs waited for, over all ranks: causes of idle time with the range and the call that it fell into"

    def map(self, trace: Trace, path: str) -> Any:
        said = self.ask(trace, "gpu_bubbles:gap=0:rows=-1")
        by_pid = {member.pid: member for member in members(trace, path).values()}
        users: "dict[int, set[int]]" = {}
        for stream in said.get("gpu_bubbles_streams", []):
            users.setdefault(stream["GPU"], set()).add(stream["PID"])
        gpus = {int(row["GPU"].split()[1]): row for row in said.get("gpu_bubbles_gpus", [])}
        rows = []
        for gpu, row in sorted(gpus.items()):
            pids = users.get(gpu, set())
            member = by_pid.get(min(pids)) if len(pids) == 1 else None  # a GPU that processes share does not belong to a rank
            own = [
                [each["Cause"], each["NVTX Range"], each["Call"], each["When"], each["Total Time (ns)"], each["Parts"], each["Longest (ns)"], each["Longest Gap Start (ns)"]]
                for each in said.get("gpu_bubbles", [])
                if each["GPU"] == gpu
            ]
            host = trace.session["host_name"]
            rows.append([path, gpu, member.to_json() if member else None, host, row["Span (ns)"], row["Busy (ns)"], sorted(own)])
        return {"rows": rows, "used": _times_of_use(trace, path)}

    def merge(self, one: Any, other: Any) -> Any:
        return {"rows": sorted(one["rows"] + other["rows"], key=lambda row: row[:2]), "used": sorted(one["used"] + other["used"])}

    def present(self, outcome: Outcome) -> Answer:
        rows, used = (outcome.partial["rows"], outcome.partial["used"]) if outcome.partial else ([], [])
        idle = sum(row[4] - row[5] for row in rows)
        sums: "dict[tuple[str, ...], list[Any]]" = {}
        ranks: "list[list[Any]]" = []
        for path, gpu, said, host, span, busy, own in rows:
            member = Member(*said) if said else None
            causes: "dict[str, int]" = {}
            for cause, around, call, when, total, parts, longest, at in own:
                causes[cause] = causes.get(cause, 0) + total
                known = sums.setdefault((cause, around, call, when), [0, 0, (0, "", 0), set()])
                known[0] += total
                known[1] += parts
                known[2] = min(known[2], (-longest, path, at))
                known[3].add((path, gpu))
            ranks += [[member.rank if member else None, host, path, gpu, cause, total, 100.0 * total / max(1, span)] for cause, total in causes.items()]
        table: "list[list[Any]]" = [[*key, total, 100.0 * total / max(1, idle), parts, len(where), -longest, path, at] for key, (total, parts, (longest, path, at), where) in sums.items()]
        table.sort(key=lambda row: (-row[4], row[:4]))
        ranks.sort(key=lambda row: (row[0] is None, row[0] or 0, row[2], row[3], -row[5], row[4]))
        units = {"Idle": "ns", "Longest": "ns", "Longest at": "ns"}
        answer = Answer(self.name)
        columns = ["Cause", "NVTX range", "Call", "When", "Idle", "Share of idle (%)", "Parts", "GPUs", "Longest", "Longest in file", "Longest at"]
        answer.tables.append(ResultTable("causes", columns, table, units))
        answer.tables.append(ResultTable("rank_causes", ["Rank", "Host", "File", "GPU", "Cause", "Idle", "Of its time (%)"], ranks, units))
        if rows:
            answer.sentences.append(
                f"{counted(len(rows), 'GPU was', 'GPUs were')} idle for {idle / 1e9:.3f} s in all, {100 * idle / max(1, sum(row[4] for row in rows)):.1f} % of {'its' if len(rows) == 1 else 'their'} time."
            )
            in_loop = [row for row in table if row[3] == _LOOP]
            if lost := sum(row[4] for row in in_loop):
                answer.sentences.append(f"Of this, {lost / 1e9:.3f} s ({100 * lost / max(1, idle):.0f} %) are in the loop.")
            if first := next(iter(in_loop or table), None):
                where = "".join(f", in {text}" for text in first[1:3] if text)
                answer.sentences.append(f"The largest part of {'that' if in_loop else 'it'}: {first[0]}{where}, {first[4] / 1e9:.3f} s on {counted(first[7], 'GPU')}.")
            if shared := _used_at_once(used):
                answer.sentences.append(
                    f"{counted(len(shared), 'GPU is', 'GPUs are')} in several files at the same time: idle in one of them may be busy for another one. Record their processes into one file."
                )
        return answer


def _times_of_use(trace: Trace, path: str) -> "list[list[Any]]":
    """The UUIDs of GPUs that ran kernels, each with the time of day of the first begin and the last end, in ns."""
    data, _ = trace.kernels[["process", "device", "start", "duration"]].coded()
    used, of_row = np.unique(np.stack((data["process"], data["device"])), axis=1, return_inverse=True)
    times: "dict[str, tuple[int, int]]" = {}
    for number, (instance, device) in enumerate(used.T.tolist()):
        process, rows = trace.processes.get(instance), of_row.reshape(-1) == number
        uuid = process.devices.get(device, {}).get("uuid") if process else None
        if uuid and trace.utc_epoch:
            begin, end = int(data["start"][rows].min()), int((data["start"][rows] + data["duration"][rows]).max())
            known = times.get(uuid, (begin, end))
            times[uuid] = (min(begin, known[0]), max(end, known[1]))
    return [[uuid, trace.utc_epoch + begin, trace.utc_epoch + end, path] for uuid, (begin, end) in sorted(times.items())]


def _used_at_once(used: "list[list[Any]]") -> "set[str]":
    """The GPUs that were used at the same time in several files. `used` is sorted."""
    found, last = set(), ("", 0)
    for uuid, begin, end, _ in used:
        if uuid == last[0] and begin < last[1]:
            found.add(uuid)
        last = (uuid, max(end, last[1])) if uuid == last[0] else (uuid, end)
    return found


# The rules about kernels, each of which estimates the possible gain.
_KERNEL_RULES = ("fp32_products", "kernel_bounds", "kernel_stalls", "low_occupancy", "small_grid", "tail_wave")


def _covered_times(trace: Trace) -> "dict[str, int]":
    """By kernel: the ns in which it ran, where launches at the same time on a GPU count once."""
    data, texts = trace.kernels[["name", "process", "device", "start", "duration"]].coded()
    used, of_row = np.unique(np.stack((data["process"], data["device"])), axis=1, return_inverse=True)
    names, gpus = sorted(set(texts["name"])), [_gpu(trace, *each) for each in used.T.tolist()]
    name_numbers, gpu_numbers = ({each: i for i, each in enumerate(dict.fromkeys(several))} for several in (names, gpus))
    of_name, of_gpu = (np.array(numbers, dtype=np.int64) for numbers in ([name_numbers[text] for text in texts["name"]], [gpu_numbers[gpu] for gpu in gpus]))
    keys = of_name[data["name"]] * len(gpu_numbers) + of_gpu[of_row.reshape(-1)]
    sums: "dict[str, int]" = {}
    for key, rows in groups_of(keys, len(names) * len(gpu_numbers)):
        name = names[key // len(gpu_numbers)]
        begin, end = union(data["start"][rows], data["start"][rows] + data["duration"][rows])
        sums[name] = sums.get(name, 0) + int((end - begin).sum())
    return sums


def _gpu(trace: Trace, instance: int, number: int) -> str:
    """The GPU that a process calls by a number."""
    process = trace.processes.get(instance)
    device = process.devices.get(number, {}) if process else {}
    return device.get("uuid") or f"{number} {device.get('name', '')}"


def _is_gain_known(rule: str, row: "dict[str, Any]") -> bool:
    """Whether the gain is known. Without counters, that of more occupancy is not; nor is that of more blocks for a kernel written to run in one block."""
    return rule != "low_occupancy" and not (rule == "small_grid" and row["Blocks"] == 1)


def _slowest(of_ranks: "list[tuple[float, str]]") -> "tuple[Optional[str], Optional[float]]":
    """The rank with the largest mean, and by how many percent it exceeds the median of the others. With a single rank there is none to compare with.

    Not for kernels of NCCL: one that takes long waits for a rank that comes later.
    """
    if len(of_ranks) < 2:
        return None, None
    mean, rank = of_ranks[-1]
    others = statistics.median(other for other, _ in of_ranks[:-1])
    return rank, 100.0 * (mean / others - 1) if others else None


_NAMED_FROM = 100  # a hundredth of the time of all kernels, as with rules


@recipe
class Kernels(KernelSum):
    name, help = "kernels", "Kernels over all ranks: time, how far ranks differ, and what rules say could be won"
    is_of_parts = False

    def map(self, trace: Trace, path: str) -> Any:
        said = program.rule_tables(trace.path, list(_KERNEL_RULES))
        covered = _covered_times(trace)
        won: "dict[str, dict[str, int]]" = {}
        for rule in _KERNEL_RULES:
            for row in said.get(rule, []):
                once = covered.get(row["Kernel"], 0)
                gain = row["Winnable at Most (ns)"] if _is_gain_known(rule, row) else 0
                of_kernel = won.setdefault(row["Kernel"], {})
                of_kernel[rule] = min(of_kernel.get(rule, 0) + gain, once)  # a kernel of the loop may run beside one that runs once
        return super().map(trace, path) | {"won": won}

    def merge(self, one: Any, other: Any) -> Any:
        won = {name: dict(rules) for name, rules in one["won"].items()}
        for name, rules in other["won"].items():
            for rule, time in rules.items():
                won.setdefault(name, {})[rule] = won.get(name, {}).get(rule, 0) + time
        return super().merge(one, other) | {"won": won}

    def present(self, outcome: Outcome) -> Answer:
        sums = super().present(outcome)
        answer = Answer(self.name, tables=[table for table in sums.tables if table.name == "rank_stats"])
        if outcome.partial is None:
            return answer
        means: "dict[str, list[tuple[float, str]]]" = {}
        for said, own in outcome.partial["ranks"]:
            for row in own:
                means.setdefault(row[0], []).append((row[3], Member(*said).label()))
        found: "dict[str, Summary]" = outcome.partial["all"]
        total = sum(summary.total for summary in found.values())
        rows: "list[list[Any]]" = []
        for name, summary in found.items():
            of_ranks = sorted(means.get(name, []))
            slowest, slower = _slowest(of_ranks) if not name.startswith("nccl") else (None, None)
            rules = outcome.partial["won"].get(name, {})
            best = min(rules, key=lambda rule: (-rules[rule], rule)) if rules else None
            rows.append([name, 100.0 * summary.total / max(1, total), summary.total, summary.count, summary.mean, summary.percentile(50), len(of_ranks), slowest, slower,
                         best, (rules[best] or None) if best else None])  # fmt: skip
        rows.sort(key=lambda row: (-row[2], row[0]))
        columns = ["Name", "Share (%)", "Total", "Count", "Mean", "Median", "Ranks", "Slowest rank", "Slower than others (%)", "Rule", "Winnable at most"]
        answer.tables.insert(0, ResultTable("kernels", columns, rows, dict.fromkeys(("Total", "Mean", "Median", "Winnable at most"), "ns")))
        answer.sentences += sums.sentences
        if winnable := [row for row in rows if row[10] and row[10] * _NAMED_FROM >= total]:
            most = max(winnable, key=lambda row: row[10])
            answer.sentences.append(f"Most could be won in {most[0]}: {cell_text(most[10], 'ns')} at most over all ranks, says the rule {most[9]}.")
        return answer


class AdviceRecipe(RuleRecipe):
    """The rows of one rule with the same name, from all files, longest first."""

    rule_arguments: ClassVar["tuple[str, ...]"] = ()

    @classmethod
    def add_arguments(cls, parser: argparse.ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--rows", type=number_within(-1, 1e9), default=50, help="rows of each rank; -1 for all (50)")
        parser.add_argument("--nvtx", default=None, metavar="RANGE", dest="filter_nvtx", help="as --filter-nvtx")

    def map(self, trace: Trace, path: str) -> Any:
        arguments = "".join(f":{name}={self.arguments[name]}" for name in ("rows", *self.rule_arguments))
        ranks = {member.pid: member.rank for member in members(trace, path).values()}
        rows = self.ask(trace, self.name + arguments).get(self.name, [])
        return [[path, [["Rank", ranks.get(row.get("PID", -1))], *([title, value] for title, value in row.items() if title != "Row#"), ["File", path]]] for row in rows]

    def merge(self, one: Any, other: Any) -> Any:
        return sorted(one + other, key=lambda row: row[0])  # stable: the rows of a file stay in the rule's order

    def present(self, outcome: Outcome) -> Answer:
        records: "list[dict[str, Any]]" = [dict(row) for _, row in outcome.partial or []]
        columns = list(records[0]) if records else ["Rank", "File"]
        rows: "list[list[Any]]" = [[record.get(column) for column in columns] for record in records]
        key = next((i for i, column in enumerate(columns) if column in ("Duration (ns)", "In-Use (%)")), None)
        if key is not None:
            least_first = columns[key] == "In-Use (%)"
            place = key
            rows.sort(key=lambda row: row[place] if least_first else -row[place])
        answer = Answer(self.name, tables=[ResultTable("analysis", columns, rows)])
        files = len({row[-1] for row in rows})
        answer.sentences.append(f"{counted(len(rows), 'row')} of {counted(files, 'file')}." if rows else "The rule found nothing in any file.")
        return answer


@recipe
class CudaApiSync(AdviceRecipe):
    name, help = "cuda_api_sync", "Calls that hold their thread until the GPU has finished all work"


@recipe
class CudaMemcpyAsync(AdviceRecipe):
    name, help = "cuda_memcpy_async", "Asynchronous copies of pageable memory, which wait like synchronous ones"


@recipe
class CudaMemcpySync(AdviceRecipe):
    name, help = "cuda_memcpy_sync", "Copies that hold their thread until they are done"


@recipe
class CudaMemsetSync(AdviceRecipe):
    name, help = "cuda_memset_sync", "Sets of pinned or managed memory that hold their thread"


@recipe
class GpuTimeUtil(AdviceRecipe):
    name, help, rule_arguments = "gpu_time_util", "Parts of the time in which one process used a GPU little", ("chunks", "threshold")

    @classmethod
    def add_arguments(cls, parser: argparse.ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--chunks", type=number_within(1, 1000), default=30, help="parts that the time is cut into (30)")
        parser.add_argument("--threshold", type=number_within(0, 100), default=50, metavar="PERCENT", help="only parts that are used less than this (50)")
