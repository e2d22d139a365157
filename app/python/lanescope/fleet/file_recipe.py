"""Files that programs read and write (recorded with --osrt-file-access), over a fleet: bytes, operations, the NVTX ranges in which they are used, and advice."""

from __future__ import annotations

from typing import Any, Iterable

import numpy as np

from ..table import Array
from ..trace import Trace
from .engine import Outcome
from .projection import nesting, ranges_of
from .recipe import Member, Recipe, members, recipe
from .result import Answer, ResultTable

_DOMAIN = "File access"
_OPEN, _READ, _WRITE, _MAP, _SYNC = range(5)  # NVTX categories from 1 on: the operation on the file
_OPERATIONS = 5
# The numbers of a file: counts, bytes and ns of each operation.
_COUNTS, _BYTES, _TIMES = (slice(i * _OPERATIONS, (i + 1) * _OPERATIONS) for i in range(3))

_SMALL = 4096            # bytes of a read or write; smaller ones should be joined
_MANY = 1000             # reads or writes
_MANY_OPENS = 100        # by one process
_SHARED = 64 << 20       # bytes that each of several processes reads
_NOTABLE = 0.01          # share of the time of all files; below it, no advice is given


@recipe
class FileAccessSum(Recipe):
    name, help = "file_access_sum", "Files by bytes and operations, over all ranks, for each and by NVTX range, with advice"
    is_of_parts = True

    def map(self, trace: Trace, path: str) -> Any:
        known = members(trace, path)
        ranges = ranges_of(trace)
        uses, _ = trace.nvtx_ranges[["category", "payload", "duration"]].coded()
        titles = {instance: {number for number, name in process.nvtx_domains.items() if name == _DOMAIN} for instance, process in trace.processes.items()}
        domains = {(instance, domain) for instance, numbers in titles.items() for domain in numbers}
        is_use = np.zeros(len(ranges.start), dtype=bool)
        for instance, domain in domains:
            is_use |= (ranges.process == instance) & (ranges.domain == domain)
        is_use &= (uses["category"] >= 1) & (uses["category"] <= _OPERATIONS)
        rows = np.flatnonzero(is_use)
        around = nesting(ranges)[1]
        inner = around[rows]
        while len(again := np.flatnonzero((inner >= 0) & is_use[np.maximum(inner, 0)])):
            inner[again] = around[inner[again]]  # a copy between files is two uses at once
        operation = uses["category"][rows] - 1
        values = (operation, np.maximum(uses["payload"][rows], 0), uses["duration"][rows])
        files: "dict[str, list[int]]" = {}
        ranks: "list[Any]" = []
        for instance, member in known.items():
            own = ranges.process[rows] == instance
            sums = _summed(ranges.name[rows][own], *(column[own] for column in values))
            named = [[ranges.titles[name], numbers] for name, numbers in sums]
            if named:
                ranks.append([member.to_json(), sorted(named)])
                _add(files, named)
        key = np.where(inner >= 0, ranges.name[np.maximum(inner, 0)] + 1, 0)
        by_range: "dict[str, list[int]]" = {}
        _add(by_range, ((ranges.titles[name - 1] if name else "", numbers) for name, numbers in _summed(key, *values)))
        return {"files": files, "ranks": ranks, "ranges": by_range}

    def merge(self, one: Any, other: Any) -> Any:
        merged: "dict[str, Any]" = {"ranks": sorted(one["ranks"] + other["ranks"], key=lambda rank: rank[0][:2])}
        for name in ("files", "ranges"):
            sums: "dict[str, list[int]]" = {}
            for part in (one[name], other[name]):
                _add(sums, part.items())
            merged[name] = sums
        return merged

    def present(self, outcome: Outcome) -> Answer:
        answer = Answer(self.name)
        said = outcome.partial or {"files": {}, "ranks": [], "ranges": {}}
        users: "dict[str, list[list[int]]]" = {}
        for _, own in said["ranks"]:
            for file, numbers in own:
                users.setdefault(file, []).append(numbers)
        rows = [[file, *_row(numbers), len(users[file])] for file, numbers in _by_time(said["files"])]
        answer.tables.append(ResultTable("all_stats", ["File", *_COLUMNS, "Processes"], rows, _UNITS))
        advice = _advice(said["files"], users)
        answer.tables.append(ResultTable("advice", ["File", "Advice", "Takes"], advice, {"Takes": "ns"}))
        by_range = [[name, *_row(numbers)] for name, numbers in _by_time(said["ranges"])]
        answer.tables.append(ResultTable("range_stats", ["Range", *_COLUMNS], by_range, _UNITS))
        ranks = sorted(((Member(*who), own) for who, own in said["ranks"]), key=lambda each: (each[0].rank is None, each[0].rank or 0, each[0].path, each[0].pid))
        by_rank = [[who.rank, who.host, who.pid, who.path, file, *_row(numbers)] for who, own in ranks for file, numbers in _by_time(dict(own))]
        answer.tables.append(ResultTable("rank_stats", ["Rank", "Host", "PID", "File", "Used file", *_COLUMNS], by_rank, _UNITS))
        if not rows:
            answer.sentences.append("No file names the files that its program used: record with -t osrt --osrt-file-access=true.")
        else:
            total = [sum(numbers[i] for numbers in said["files"].values()) for i in range(3 * _OPERATIONS)]
            answer.sentences.append(
                f"{len(ranks)} processes used {len(rows)} files: {total[_BYTES][_READ] / 1e6:.1f} MB read, {total[_BYTES][_WRITE] / 1e6:.1f} MB written, "
                f"in {sum(total[_COUNTS])} calls of {sum(total[_TIMES]) / 1e9:.3f} s."
            )
            answer.sentences += [f"{file}: {text}" for file, text, _ in advice[:3]]
        return answer


_COLUMNS = ["Total", "Operations", "Read", "Written", "Mapped", "Opens", "Reads", "Writes", "Maps", "Syncs", "Mean read", "Mean write"]
_UNITS = {"Total": "ns", "Read": "B", "Written": "B", "Mapped": "B", "Mean read": "B", "Mean write": "B", "Takes": "ns"}


def _summed(keys: Array, operation: Array, size: Array, duration: Array) -> "Iterable[tuple[int, list[int]]]":
    """The sums for each key. They are exact, because sums stay below 2^63 for any recording."""
    different, place = np.unique(keys, return_inverse=True)
    cell = place.reshape(-1) * _OPERATIONS + operation
    columns = []
    for values in (np.ones_like(size), size, duration):
        sums = np.zeros(len(different) * _OPERATIONS, dtype=np.int64)
        np.add.at(sums, cell, values)
        columns.append(sums.reshape(-1, _OPERATIONS))
    return zip(different.tolist(), np.concatenate(columns, axis=1).tolist())


def _add(sums: "dict[str, list[int]]", parts: "Iterable[Any]") -> None:
    for name, numbers in parts:
        sums[name] = [a + b for a, b in zip(sums[name], numbers)] if name in sums else list(numbers)


def _by_time(sums: "dict[str, list[int]]") -> "list[tuple[str, list[int]]]":
    return sorted(sums.items(), key=lambda item: (-sum(item[1][_TIMES]), item[0]))


def _row(numbers: "list[int]") -> "list[Any]":
    counts, size = numbers[_COUNTS], numbers[_BYTES]
    mean = [size[i] / counts[i] if counts[i] else None for i in (_READ, _WRITE)]
    return [sum(numbers[_TIMES]), sum(counts), size[_READ], size[_WRITE], size[_MAP], counts[_OPEN], counts[_READ], counts[_WRITE], counts[_MAP], counts[_SYNC], *mean]


def _advice(files: "dict[str, list[int]]", users: "dict[str, list[list[int]]]") -> "list[list[Any]]":
    """Recommended changes: file, sentence, and the ns that it concerns; largest first."""
    least = _NOTABLE * sum(sum(numbers[_TIMES]) for numbers in files.values())
    found: "list[list[Any]]" = []
    for file, numbers in files.items():
        counts, size, times = numbers[_COUNTS], numbers[_BYTES], numbers[_TIMES]
        for operation, done, instead in ((_READ, "read", "Read more at once, or map the file"), (_WRITE, "written", "Write more at once, through a buffer")):
            if counts[operation] >= _MANY and size[operation] < _SMALL * counts[operation]:
                text = f"It is {done} in {counts[operation]} calls of {size[operation] / counts[operation]:.0f} bytes each. {instead}."
                found.append([file, text, times[operation]])
        opens = max(own[_COUNTS][_OPEN] for own in users[file])
        if opens >= _MANY_OPENS:
            found.append([file, f"One process opens it {opens} times. Keep it open.", times[_OPEN]])
        readers = [own for own in users[file] if own[_BYTES][_READ] >= _SHARED]
        if len(readers) > 1:
            text = f"{len(readers)} processes read it, {sum(own[_BYTES][_READ] for own in readers) / len(readers) / 1e6:.0f} MB each. Read it once and send it, or copy it to each machine's own disk."
            found.append([file, text, times[_READ]])
        if 2 * times[_SYNC] >= sum(times) and counts[_SYNC] > 1:
            found.append([file, f"{counts[_SYNC]} syncs take {100 * times[_SYNC] / max(1, sum(times)):.0f} % of its time. Sync it once, when it is whole.", times[_SYNC]])
    return sorted((row for row in found if row[2] >= least and row[2] > 0), key=lambda row: (-row[2], row[0], row[1]))
