"""Files that hold the same recording: one and its compacted form, or a part of it. Asked as two, each of their events would count twice."""

from __future__ import annotations

import os
from typing import Any, Iterator, NamedTuple, Optional

from .._frames import FrameFile, TraceError
from .._message import decode
from .._schema import FRAME_TYPES
from .._wire import WireError
from ..trace import Trace

_MOST_FRAMES = 8  # within which a session says when it began


def distinct_recordings(paths: "list[str]") -> "tuple[list[str], dict[str, str]]":
    """Those to be read, in their order; and of each other one the file that holds its recording. Of files in one folder. Reads the first bytes of all, and all of those
    that began in the same nanosecond."""
    alike: "dict[tuple[Any, ...], list[str]]" = {}
    for path in paths:
        if (began := _began(path)) is not None:
            alike.setdefault((os.path.dirname(path), *began), []).append(path)
    same: "dict[str, str]" = {}
    for group in alike.values():
        if len(group) > 1:
            same.update(_held_by_others(group))
    return [path for path in paths if path not in same], same


def _began(path: str) -> "Optional[tuple[Any, ...]]":
    """When, where and of what; None where the file does not say."""
    try:
        file = FrameFile(path)
    except (OSError, TraceError):
        return None
    try:
        for _, (frame, stored) in zip(range(_MOST_FRAMES), file.frames()):
            if frame.kind != FRAME_TYPES["session_start"]:
                continue
            payload = file.payload(frame, stored)
            start = None if payload is None else decode("SessionStart", payload)
            # Of other tools' traces, those of all ranks may count from one time.
            if start is None or start["source_format"] or not (start["epoch"] or start["utc_epoch"]):
                return None
            return (start["epoch"], start["utc_epoch"], start["machine_id"], start["boot_id"], start["host_name"], tuple(start["command"]))
    except (OSError, WireError):
        pass
    finally:
        file.close()
    return None


def _held_by_others(group: "list[str]") -> "Iterator[tuple[str, str]]":
    """Of files that began alike, those whose processes and time another has, which has as many events or more."""
    known: "list[_Known]" = []
    for path in group:
        try:
            with Trace(path) as trace:
                known.append(_Known(path, trace.event_count(), {(process.pid, process.start) for process in trace.processes.values()}, *_extent(trace)))
        except (OSError, TraceError):
            continue  # which is told when it is asked
    wholes: "list[_Known]" = []
    for each in sorted(known, key=lambda each: -each.events):
        whole = next((one for one in wholes if each.is_held_by(one)), None)
        if whole is None:
            wholes.append(each)
        else:
            yield each.path, whole.path


class _Known(NamedTuple):
    path: str
    events: int
    processes: "set[tuple[int, int]]"
    begin: int
    end: int

    def is_held_by(self, other: "_Known") -> bool:
        return bool(self.processes) and self.processes <= other.processes and (self.begin >= self.end or (other.begin <= self.begin and self.end <= other.end))


def _extent(trace: Trace) -> "tuple[int, int]":
    """When its first event began and its last one ended, in ns since the recording began; equal without events."""
    starts = [int(batch["start"].min()) for table in trace.tables.values() if "start" in table.columns and len(table) for batch in table[["start"]].batches() if len(batch["start"])]
    return (min(starts), trace.last_end()) if starts else (0, 0)
