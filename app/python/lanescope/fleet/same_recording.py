"""Files with the same recording: a file and its compacted form, or a part of it. If both were asked, each of their events would count twice. Two parts
with different rows, such as those of two GPUs, are two recordings."""

from __future__ import annotations

from typing import Any, Iterator, NamedTuple, Optional

import numpy as np

from .._frames import FrameFile, TraceError
from .._message import decode
from .._schema import FRAME_TYPES
from .._wire import WireError
from ..trace import Trace

_MOST_FRAMES = 8  # a session's start time is within this many frames
_COLUMNS_OF_ROWS = ("device", "context", "stream", "thread", "domain", "processor")


def distinct_recordings(paths: "list[str]") -> "tuple[list[str], dict[str, str]]":
    """The files to read, in their order; and for each other file, the one that contains its recording. Reads the first bytes of all files, and
    those that began in the same nanosecond completely."""
    alike: "dict[tuple[Any, ...], list[str]]" = {}
    for path in paths:
        if (began := _began(path)) is not None:
            alike.setdefault(began, []).append(path)
    same: "dict[str, str]" = {}
    for group in alike.values():
        if len(group) > 1:
            same.update(_held_by_others(group))
    return [path for path in paths if path not in same], same


def _began(path: str) -> "Optional[tuple[Any, ...]]":
    """When, where and from which command it began; None if the file does not say."""
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
            # In traces of other tools, the times of all ranks may count from the same moment.
            if start is None or start["source_format"] or not (start["epoch"] or start["utc_epoch"]):
                return None
            return (start["epoch"], start["utc_epoch"], start["machine_id"], start["boot_id"], start["host_name"], tuple(start["command"]))
    except (OSError, WireError):
        pass
    finally:
        file.close()
    return None


def _held_by_others(group: "list[str]") -> "Iterator[tuple[str, str]]":
    """Of files that began alike, those whose processes, rows and time are contained in another one with as many events or more."""
    known: "list[_Known]" = []
    for path in group:
        try:
            with Trace(path) as trace:
                known.append(_Known(path, trace.event_count(), trace.part, {(process.pid, process.start) for process in trace.processes.values()}, _rows(trace), _lengths(trace), *_extent(trace)))
        except (OSError, TraceError):
            continue  # the error is reported when the file is asked
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
    part: "Optional[tuple[int, int]]"  # the time that it was saved for; None: the whole recording
    processes: "set[tuple[int, int]]"
    rows: "set[tuple[Any, ...]]"
    lengths: "dict[str, int]"  # of its tables
    begin: int
    end: int

    def is_held_by(self, other: "_Known") -> bool:
        if other.part and not (self.part and other.part[0] <= self.part[0] and self.part[1] <= other.part[1]):
            return False  # events that reach into a part are in its file, too, so the times of events do not tell
        has_all = bool(self.processes) and self.processes <= other.processes and self.rows <= other.rows
        return has_all and all(count <= other.lengths.get(name, 0) for name, count in self.lengths.items()) and (self.begin >= self.end or (other.begin <= self.begin and self.end <= other.end))


def _extent(trace: Trace) -> "tuple[int, int]":
    """The start of its first event and the end of its last one, in ns since the recording began; equal if there are no events."""
    starts = [int(batch["start"].min()) for table in trace.tables.values() if "start" in table.columns and len(table) for batch in table[["start"]].batches() if len(batch["start"])]
    return (min(starts), trace.last_end()) if starts else (0, 0)


def _lengths(trace: Trace) -> "dict[str, int]":
    return {name: len(table) for name, table in trace.tables.items()}


def _rows(trace: Trace) -> "set[tuple[Any, ...]]":
    """The timeline rows that contain its events and values, in a form that is the same in each file of the recording, whatever its own numbers of processes."""
    found: "set[tuple[Any, ...]]" = set()
    for name, table in trace.tables.items():
        if not len(table):
            continue
        columns = ["process", *(column for column in _COLUMNS_OF_ROWS if column in table.columns)]
        texts = ["gpu_uuid", "name"] if name == "counters" else []
        for batch in table[columns + texts].batches():
            for process, *numbers in np.unique(np.column_stack([batch[column].astype(np.int64) for column in columns + texts]), axis=0).tolist():
                known = trace.processes.get(process)
                places = numbers[: len(columns) - 1]
                named = [trace._texts.values[number] for number in numbers[len(columns) - 1 :]]
                found.add((name, (known.pid, known.start) if known else None, *zip(columns[1:], places), *named))
    return found
