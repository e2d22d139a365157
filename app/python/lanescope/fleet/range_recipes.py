"""NVTX ranges one by one, with the times in which the GPU ran what they enqueued."""

from __future__ import annotations

import argparse
from typing import Any

from ..trace import Trace
from .engine import Outcome
from .projection import projected_ranges, ranges_of
from .recipe import Member, Recipe, members, number_within, recipe
from .result import Answer, ResultTable


@recipe
class NvtxProjectedTrace(Recipe):
    name, help = "nvtx_gpu_proj_trace", "Every NVTX range with the time of the GPU for what it enqueued, its parent and its depth"
    is_of_parts = True

    @classmethod
    def add_arguments(cls, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--rows", type=number_within(-1, 1e9), default=-1, help="rows of each process, by time on the GPU; -1 for all (-1)")

    def map(self, trace: Trace, path: str) -> Any:
        ranges = ranges_of(trace)
        found = projected_ranges(trace, ranges)
        rows: "dict[int, list[Any]]" = {}
        for row, start, end, operations, level, parent in zip(*(column.tolist() for column in (found.row, found.start, found.end, found.operations, found.level, found.parent))):
            instance = int(ranges.process[row])
            domains = trace.processes[instance].nvtx_domains if instance in trace.processes else {}
            text = f"{domains.get(int(ranges.domain[row]), '')}:{ranges.titles[int(ranges.name[row])]}"
            began, ended = int(ranges.start[row]), int(ranges.end[row])
            rows.setdefault(instance, []).append([start, row, text, end, began, ended, operations, level, parent if parent >= 0 else None, int(ranges.thread[row])])
        kept = self.arguments["rows"]
        known = members(trace, path)
        result = []
        for instance, own in sorted(rows.items()):
            if kept >= 0:
                own = sorted(own, key=lambda row: (row[0] - row[3], row))[:kept]
            if instance in known:
                result.append([known[instance].to_json(), sorted(own)])
        return result

    def merge(self, one: Any, other: Any) -> Any:
        return sorted(one + other, key=lambda row: row[0][:2])

    def present(self, outcome: Outcome) -> Answer:
        rows: "list[list[Any]]" = []
        for said, own in sorted(outcome.partial or [], key=lambda row: (row[0][4] is None, row[0][4] or 0, row[0][:2])):
            member = Member(*said)
            rows += [[text, start, end, end - start, began, ended, operations, row, parent, level, member.pid, thread, member.rank, member.path]
                     for start, row, text, end, began, ended, operations, level, parent, thread in own]  # fmt: skip
        columns = ["Text", "Start", "End", "Duration", "Original start", "Original end", "GPU operations", "Range ID", "Parent ID", "Stack level", "PID", "TID", "Rank", "File"]
        units = dict.fromkeys(("Start", "End", "Duration", "Original start", "Original end"), "ns")
        answer = Answer(self.name, tables=[ResultTable("trace", columns, rows, units)])
        if rows:
            longest = max(rows, key=lambda row: row[3])
            answer.sentences.append(f"{len(rows)} ranges enqueued GPU work; the longest on the GPU is {longest[0]}, {longest[3] / 1e6:.3f} ms in {longest[-1]}.")
        else:
            answer.sentences.append("No file has an NVTX range that enqueued GPU work.")
        return answer
