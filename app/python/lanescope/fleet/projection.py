"""NVTX ranges as the GPU saw them: from the start of the first operation that a range enqueued to the end of the last one.

A range contains the calls of its thread that start and end within it. The kernels, copies, sets and graphs that these calls launched are its GPU work.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..table import Array
from ..trace import Trace
from .intervals import is_first, sums_before


@dataclass
class Ranges:
    """All NVTX ranges of a recording, as columns."""

    process: Array
    thread: Array
    domain: Array
    name: Array          # number into titles
    titles: "list[str]"
    nests: Array         # whether it is pushed and popped; otherwise it is started and ended
    start: Array
    end: Array


@dataclass
class Projected:
    """Ranges that enqueued GPU work, in the order of the rows of the recording."""

    row: Array           # in Ranges
    start: Array         # on the GPU, ns
    end: Array
    operations: Array    # on the GPU
    level: Array         # the number of ranges around it on its thread
    parent: Array        # row of the innermost range around it, -1 for none


def ranges_of(trace: Trace) -> Ranges:
    data, texts = trace.nvtx_ranges[["process", "thread", "domain", "name", "style", "start", "duration"]].coded()
    is_nesting = np.array([text == "push pop" for text in texts["style"]], dtype=bool)
    nests = is_nesting[data["style"]] if len(is_nesting) else np.zeros(0, dtype=bool)
    return Ranges(data["process"], data["thread"], data["domain"], data["name"], texts["name"], nests, data["start"], data["start"] + data["duration"])


def projected_ranges(trace: Trace, ranges: Ranges) -> Projected:
    """Projects `ranges` to the GPU work in `trace`. O((ranges + operations) log)."""
    process, thread, call_start, call_end, first, last, count = _launches(trace)
    order = np.lexsort((call_start, thread, process))
    process, thread, call_start, call_end, first, last, count = (column[order] for column in (process, thread, call_start, call_end, first, last, count))
    total = sums_before(count)
    found: "list[tuple[Array, ...]]" = []
    for instance, number in sorted(set(zip(process.tolist(), thread.tolist()))):
        rows = np.flatnonzero((ranges.process == instance) & (ranges.thread == number))
        calls = np.flatnonzero((process == instance) & (thread == number))
        if not len(rows):
            continue
        offset = int(calls[0])
        low = np.searchsorted(call_start[calls], ranges.start[rows], side="left") + offset
        high = np.searchsorted(call_start[calls], ranges.end[rows], side="right") + offset
        while len(crossing := np.flatnonzero((high > low) & (call_end[np.maximum(high - 1, 0)] > ranges.end[rows]))):
            high[crossing] -= 1  # calls that end after the range
        has = high > low
        rows, low, high = rows[has], low[has], high[has]
        found.append((rows, _least(first, low, high), -_least(-last, low, high), total[high] - total[low]))
    columns = [np.concatenate(parts) for parts in zip(*found)] if found else [np.empty(0, dtype=np.int64)] * 4
    order = np.argsort(columns[0], kind="stable")
    row, start, end, operations = (column[order] for column in columns)
    level, parent = nesting(ranges)
    return Projected(row, start, end, operations, level[row], parent[row])


def _launches(trace: Trace) -> "tuple[Array, ...]":
    """For each call that launched something: process, thread, start, end, start of its first and end of its last operation, and the number of operations."""
    calls, _ = trace.whole.api_calls[["process", "thread", "correlation", "start", "duration"]].coded()
    parts = [trace.tables[name][["process", "correlation", "start", "duration"]].coded()[0] for name in ("kernels", "copies", "sets", "graph_launches")]
    work = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    # A call is found by process and correlation id. If an id was used again, the last call before the operation is meant.
    order = np.lexsort((calls["start"], calls["correlation"], calls["process"]))
    known = np.stack([calls[name][order] for name in ("process", "correlation", "start")])
    wanted = np.stack([work[name] for name in ("process", "correlation", "start")])
    both = np.concatenate((known, wanted), axis=1)
    kind = np.concatenate((np.zeros(known.shape[1], dtype=np.int64), np.ones(wanted.shape[1], dtype=np.int64)))
    merged = np.lexsort((kind, both[2], both[1], both[0]))
    place = np.empty(len(merged), dtype=np.int64)
    place[merged] = np.cumsum(kind[merged] == 0) - 1  # of the last call before the operation
    call = place[known.shape[1] :]
    is_known = (call >= 0) & (wanted[1] != 0)
    is_known[is_known] = (known[:2, call[is_known]] == wanted[:2, is_known]).all(axis=0)
    call, start, end = order[call[is_known]], wanted[2][is_known], (work["start"] + work["duration"])[is_known]
    by_call = np.argsort(call, kind="stable")
    call, start, end = call[by_call], start[by_call], end[by_call]
    borders = np.flatnonzero(is_first(call[1:] != call[:-1])) if len(call) else np.empty(0, dtype=np.int64)
    own = call[borders]
    count = np.diff(borders, append=len(call))
    least, most = (np.minimum.reduceat(start, borders), np.maximum.reduceat(end, borders)) if len(borders) else (start, end)
    return calls["process"][own], calls["thread"][own], calls["start"][own], calls["start"][own] + calls["duration"][own], least, most, count


def _least(values: Array, low: Array, high: Array) -> Array:
    """The minimum of values[low:high], which must not be empty. O(values log values), with memory for two copies."""
    result = np.empty(len(low), dtype=values.dtype)
    steps = np.floor(np.log2(high - low)).astype(np.int64)
    table = values
    for step in range(int(steps.max(initial=-1)) + 1):
        width = 1 << step
        chosen = steps == step
        result[chosen] = np.minimum(table[low[chosen]], table[high[chosen] - width])
        table = np.minimum(table[: max(0, len(table) - width)], table[width:])
    return result


def nesting(ranges: Ranges) -> "tuple[Array, Array]":
    """For each range, the number of ranges around it on its thread, and the innermost of them, -1 for none. Only pushed and popped ranges nest."""
    level, parent = np.zeros(len(ranges.start), dtype=np.int64), np.full(len(ranges.start), -1, dtype=np.int64)
    order = np.lexsort((-ranges.end, ranges.start, ranges.thread, ranges.process))
    open_ranges: "list[int]" = []
    of: "tuple[int, int]" = (-1, -1)
    for row, process, thread, start, end, nests in zip(*(column[order].tolist() for column in (np.arange(len(order)), ranges.process, ranges.thread, ranges.start, ranges.end, ranges.nests))):
        if (process, thread) != of:
            open_ranges, of = [], (process, thread)
        if not nests:
            continue
        while open_ranges and (ranges.end[open_ranges[-1]] <= start or ranges.end[open_ranges[-1]] < end):
            open_ranges.pop()
        level[row] = len(open_ranges)
        parent[row] = open_ranges[-1] if open_ranges else -1
        open_ranges.append(row)
    return level, parent
