"""The part of each recording that a recipe looks at: a time, an NVTX range, or the time in which the GPU ran what a range enqueued.

Times and ranges have the same syntax and meaning as in `lanescope stats`.
"""

from __future__ import annotations

import argparse
import re
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np

from .._frames import TraceError
from ..table import Array, Batch, Table, within
from ..trace import Trace
from .projection import Ranges, projected_ranges, ranges_of

_UNITS = {"": 1, "ns": 1, "nsec": 1, "us": 1e3, "usec": 1e3, "ms": 1e6, "msec": 1e6, "s": 1e9, "sec": 1e9}
_EVER = 1 << 62

Window = "tuple[int, int]"  # ns since the recording began; the end is excluded


def add_filter_arguments(parser: argparse.ArgumentParser, projected: bool = True) -> None:
    group = parser.add_argument_group("part of each recording")
    group.add_argument("--filter-time", type=_checked(_time_window), default=None, metavar="[START]/[END]", help="only events that overlap this time: 1.5s/2s, /300ms (ns without a unit)")
    group.add_argument("--times", "--time", dest="filter_time", type=_checked(_time_window), default=None, help=argparse.SUPPRESS)
    group.add_argument("--filter-nvtx", type=_checked(_range), default=None, metavar="RANGE[@DOMAIN][/INDEX]",
                       help="only what happened during this NVTX range, in each process in its own, and the GPU work that was enqueued in it; of several of its name, the first (INDEX counts from 0)")  # fmt: skip
    if projected:
        group.add_argument("--filter-projected-nvtx", type=_checked(_range), default=None, metavar="RANGE[@DOMAIN][/INDEX]",
                           help="only what overlaps the time in which the GPU ran what this range enqueued, in each process its own")  # fmt: skip
        group.add_argument("--start", type=_checked(lambda text: _time_window(f"{text}/")), default=None, metavar="TIME", help="as --filter-time TIME/")
        group.add_argument("--end", type=_checked(lambda text: _time_window(f"/{text}")), default=None, metavar="TIME", help="as --filter-time /TIME")


def part_of(trace: Trace, arguments: "dict[str, Any]") -> Trace:
    """The part of a recording that these arguments choose. Raises TraceError if it has no such range."""
    for text in (arguments.get("filter_time"), arguments.get("start") and f"{arguments['start']}/", arguments.get("end") and f"/{arguments['end']}"):
        if text:
            begin, end = _time_window(text)
            trace = trace.with_tables(lambda table, begin=begin, end=end: table.between(begin, end))  # type: ignore[misc]
    if arguments.get("filter_nvtx"):
        trace = _during(trace, _range(arguments["filter_nvtx"]))
    if arguments.get("filter_projected_nvtx"):
        trace = _during_projection(trace, _range(arguments["filter_projected_nvtx"]))
    return trace


@dataclass(frozen=True)
class _Range:
    name: str
    domain: Optional[str]  # None: the default domain; "*": any
    index: int

    def of_processes(self, trace: Trace, ranges: Ranges) -> "dict[int, int]":
        """The row of the range in each process that has it."""
        rows: "dict[int, int]" = {}
        named = np.array([title == self.name for title in ranges.titles], dtype=bool)
        candidates = np.flatnonzero(named[ranges.name]) if len(named) else np.empty(0, dtype=np.int64)
        for instance in np.unique(ranges.process[candidates]).tolist():
            domains = trace.processes[instance].nvtx_domains if instance in trace.processes else {}
            fits = [row for row in candidates[ranges.process[candidates] == instance].tolist() if self._fits(domains.get(int(ranges.domain[row]), ""))]
            if self.index < len(fits):
                rows[instance] = sorted(fits, key=lambda row: (int(ranges.start[row]), row))[self.index]
        if not rows:
            where = f" in the domain {self.domain}" if self.domain and self.domain != "*" else ""
            raise TraceError(f"It has no NVTX range {self.name}{where} with index {self.index}.")
        return rows

    def _fits(self, domain: str) -> bool:
        return not domain if self.domain is None else self.domain in ("*", domain)


def _during(trace: Trace, wanted: _Range) -> Trace:
    ranges = ranges_of(trace.whole)
    windows = {instance: (int(ranges.start[row]), int(ranges.end[row])) for instance, row in wanted.of_processes(trace, ranges).items()}
    calls, _ = trace.whole.api_calls[["process", "start", "correlation"]].coded()
    launches = {}
    for instance, (begin, end) in windows.items():
        inside = (calls["process"] == instance) & (calls["start"] >= begin) & (calls["start"] < end)
        launches[instance] = np.unique(calls["correlation"][inside])

    def choose(table: Table) -> Table:
        if "stream" in table.columns and "correlation" in table.columns:
            return table.where(["process", "correlation"], lambda batch: _any_process(batch, lambda instance: np.isin(batch["correlation"], launches[instance]), windows))
        return _within(table, windows)

    return trace.with_tables(choose)


def _during_projection(trace: Trace, wanted: _Range) -> Trace:
    ranges = ranges_of(trace.whole)
    projected = projected_ranges(trace.whole, ranges)
    place = {int(row): i for i, row in enumerate(projected.row.tolist())}
    windows = {}
    for instance, row in wanted.of_processes(trace, ranges).items():
        if row in place:
            i = place[row]
            windows[instance] = (int(projected.start[i]), int(projected.end[i]))
    if not windows:
        raise TraceError(f"The NVTX range {wanted.name} enqueued no GPU work.")
    return trace.with_tables(lambda table: _within(table, windows))


def _within(table: Table, windows: "dict[int, tuple[int, int]]") -> Table:
    """Rows that overlap the window of their process. Rows without a process are compared with the time from the first window's start to the last one's end."""
    windows = windows | {0: (min(begin for begin, _ in windows.values()), max(end for _, end in windows.values()))}
    needed = ["process", "start", *(["duration"] if "duration" in table.columns else [])]

    def overlaps(batch: Batch, instance: int) -> Array:
        begin, end = windows[instance]
        start = batch["start"]
        last = start + batch["duration"] if "duration" in batch else start
        return within(begin, end, start, last)

    return table.where(needed, lambda batch: _any_process(batch, lambda instance: overlaps(batch, instance), windows))


def _any_process(batch: Batch, rows: Any, windows: "dict[int, tuple[int, int]]") -> Array:
    kept = np.zeros(len(batch["process"]), dtype=bool)
    for instance in np.unique(batch["process"]).tolist():
        if instance in windows:
            kept |= (batch["process"] == instance) & rows(instance)
    return kept


def _checked(parse: Any) -> Any:
    """Checks an option whose text is kept. A wrong text ends the program with a sentence."""

    def check(text: str) -> str:
        try:
            parse(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from error
        return text

    return check


def _time_window(text: str) -> "tuple[int, int]":
    begin, slash, end = text.partition("/")
    times = [_time(part) if part else default for part, default in ((begin, -_EVER), (end, _EVER))]
    if not slash or None in times:
        raise ValueError(f"{text} is not a time range: write start/end with units ns, us, ms or s, for example 1.5s/2s or /300ms")
    if times[1] < times[0]:  # type: ignore[operator]
        raise ValueError(f"the time range {text} ends before it begins")
    return times[0], times[1]  # type: ignore[return-value]


def _time(text: str) -> "int | None":
    said = re.fullmatch(r"(-?\d+\.?\d*(?:e[+-]?\d{1,3})?)([a-z]*)", text, flags=re.ASCII)
    if not said or said[2] not in _UNITS or abs(float(said[1]) * _UNITS[said[2]]) > 1e18:
        return None
    return round(float(said[1]) * _UNITS[said[2]])


def _range(text: str) -> _Range:
    """Parses RANGE[@DOMAIN][/INDEX]. A backslash makes the next character literal."""
    parts, separators = [""], ""
    characters = iter(text)
    for c in characters:
        if c in "@/" and (c == "/" or separators == "") and not separators.endswith("/"):
            parts.append("")
            separators += c
        else:
            parts[-1] += next(characters, c) if c == "\\" else c
    name, domain, index = parts[0], parts[1] if separators.startswith("@") else None, parts[-1] if separators.endswith("/") else "0"
    if not name:
        raise ValueError(f"the NVTX range in {text} has no name: write RANGE[@DOMAIN][/INDEX]")
    if not re.fullmatch(r"\d{1,18}", index, flags=re.ASCII):
        raise ValueError(f"the index in {text} is not a number: write RANGE[@DOMAIN][/INDEX]; a slash in a name is written \\/")
    return _Range(name, domain, int(index))
