"""A .trace file as tables."""

from __future__ import annotations

import os
import re
from typing import Any, Callable, Iterator, Optional

import numpy as np

from . import program
from ._dictionary import BeyondBudget, Dictionary, Texts
from ._frames import FRAME_HEADER, Budget, Frame, FrameFile, TraceError
from ._kernel_tables import RECORD_SCHEMAS
from ._message import decode, text, with_texts
from ._schema import ENUMERATIONS, FRAME_TYPES, LARGEST_FRAME_TYPE, MESSAGES, TRACK_KINDS
from ._segments import FileTables, entries_of_index, track_of
from ._table_rows import COUNTER_COLUMNS, CounterRows, EventRows, Place, RecordRows
from ._tables import LARGEST_CHUNK, SCHEMAS
from ._wire import WireError, fields, is_near, wrapped
from .provenance import ClockReading, JobPlace, Loss, Process
from .table import PROVENANCE, Array, Table, within

_CACHED_BYTES = 256 << 20  # of decompressed chunks that are kept
# The bytes that a device and a counter count as in the program's memory limit. For a device this includes work: each is compared with all tracks.
_DEVICE_BYTES = 1 << 20
_COUNTER_BYTES = 1_200
_KIND_OF_FIELD = {number: name for name, (number, kind) in MESSAGES["EventChunk"].items() if isinstance(kind, str) and kind in MESSAGES}
_KNOWN_MINOR_VERSION = 8  # of the format
_WARNING, _ERROR = 1, 2  # Severity of a Diagnostic
_RECORDING, _OWNED_BY_OTHER, _FAILED = 1, 4, 7  # ComponentState of a Diagnostic
_OF_SESSION, _OF_NVTX, _OF_CPU = 0, 2, 4  # Component of a Diagnostic
_UNSPECIFIED, _OTHER, _LOSS, _TORN_STACKS, _ROWS_LEFT_OUT = 0, 1, 2, 3, 7  # DiagnosticKind
# Words of recorders that did not say the kind.
_WORDS_OF_TORN_STACKS = re.compile("([0-9]+) Python stacks changed while they were read, and were dropped;")
_WORDS_OF_LOSS = re.compile(" (missing|lost|not recorded|dropped)")
_WORDS_OF_ROWS_LEFT_OUT = "Rows were left out by choice when this file was saved."
_FULL = (4, 5)  # EndReason: the disk or the file is full
_COMPACTION = 5  # FrameSource: the program that made this file from another one
_FRAME_NAMES = {number: name for name, number in FRAME_TYPES.items()}


def _content_by_words(said: "dict[str, Any]", words: str) -> "tuple[int, int]":
    """The kind and the count of a diagnostic from before version 1.6 of the format, which does not say them."""
    torn = _WORDS_OF_TORN_STACKS.match(words)
    if torn and said["component"] == _OF_CPU:
        return _TORN_STACKS, int(torn[1])
    is_loss = said["severity"] >= _WARNING and said["state"] == _RECORDING and _WORDS_OF_LOSS.search(words)
    return (_LOSS if is_loss else _OTHER), 0


class Trace:
    """A recording. Opening it reads the frames and dictionaries once; events are decoded when a column of a table is asked for.

    Not thread-safe: use it from one thread at a time. Also a context manager.
    """

    kernels: Table
    copies: Table
    sets: Table
    api_calls: Table
    synchronizations: Table
    graph_launches: Table
    nvtx_ranges: Table
    nvtx_marks: Table
    os_runtime: Table
    overheads: Table
    compilations: Table
    page_faults: Table
    thread_states: Table
    samples: Table
    memory_usage: Table
    cuda_events: Table
    counters: Table
    kernel_metrics: Table
    instruction_counts: Table
    pc_sample_windows: Table
    pc_samples: Table

    def __init__(self, path: "os.PathLike[str] | str") -> None:
        self.path = os.fspath(path)
        self._whole: "Optional[Trace]" = None
        self.lost = Loss(unfinished=True)
        self._last_part: "Optional[tuple[int, int]]" = None  # start and end of the part that --ring kept, by the clock of the recording
        self.processes: "dict[int, Process]" = {}
        self.diagnostics: "list[dict[str, Any]]" = []
        self.output: "list[tuple[int, int, str, bytes]]" = []  # ns, process, "stdout" or "stderr", bytes
        self.session: "dict[str, Any]" = with_texts(decode("SessionStart", memoryview(b"")))
        self.clocks: "list[ClockReading]" = []
        self._file = FrameFile(self.path)
        self._budget = Budget(self._file.size)
        self._texts = Texts(self._budget.entries, self._budget.text_bytes)
        self._readable: "dict[int, int]" = {}  # mangled text: readable text
        self._dictionaries: "dict[tuple[int, int], Dictionary]" = {}
        self._tables = FileTables(self._texts, self._budget.detail_bytes, self._note_damaged)  # of a compacted file
        self._places: "dict[str, list[Place]]" = {name: [] for name in [*SCHEMAS, "counter_samples"]}
        self._payloads: "dict[int, memoryview]" = {}  # payloads that _keep() was given, by their position in the file
        self._cached = 0  # bytes of these payloads
        self._record_frames: "dict[str, list[Frame]]" = {schema.frame: [] for schema in RECORD_SCHEMAS.values()}
        self._damaged: "set[int]" = set()  # positions of payloads that could not be understood
        self._invalid: "dict[tuple[str, int], int]" = {}  # events with impossible times, by table and payload
        self._counters: "dict[tuple[int, int, int], dict[str, Any]]" = {}
        self._gpus: "set[bytes | tuple[int, bytes]]" = set()  # by UUID, or number and name
        self._losses: "dict[tuple[int, int], dict[str, Any]]" = {}
        self._unreturned: "dict[int, int]" = {}  # CUPTI buffers that were not returned, by process
        self._scan()
        for name, schema in SCHEMAS.items():
            setattr(self, name, Table(name, EventRows(self, schema), ["process", "pid", *(column.name for column in schema.columns)]))
        self.counters = Table("counters", CounterRows(self), list(COUNTER_COLUMNS))
        for name, records in RECORD_SCHEMAS.items():
            setattr(self, name, Table(name, RecordRows(self, records), ["process", "pid", *(column.name for column in records.columns)]))
        for table in self.tables.values():
            table._further = tuple(PROVENANCE)

    @property
    def tables(self) -> "dict[str, Table]":
        """All tables by their names."""
        return {name: getattr(self, name) for name in [*SCHEMAS, "counters", *RECORD_SCHEMAS]}

    def event_count(self) -> int:
        """The number of events in all tables of events of the whole recording; decodes nothing."""
        if self._whole is not None:
            return sum(len(getattr(self, name)) for name in SCHEMAS)
        frames = {place.frame for schema in SCHEMAS.values() for place in self._places[schema.chunk]}
        return sum(frame.event_count for frame in frames if frame.payload_at not in self._damaged)

    def has_text(self, prefix: str) -> bool:
        """Whether any text of the recording, such as the name of a range, starts with `prefix`; decodes no events. O(texts)."""
        return any(value.startswith(prefix) for value in self._texts.values)

    def last_end(self) -> int:
        """When the last event ended, in ns since the start of the recording; 0 if there are no events. Decodes the times of all events."""
        last = 0
        for table in (self.whole.tables[name] for name in SCHEMAS):
            times: "list[str]" = [name for name in ("start", "duration") if name in table.columns]
            for batch in table[times].batches() if len(table) else ():
                last = max(last, int(np.sum([batch[name] for name in times], axis=0).max(initial=0)))
        return last

    @property
    def utc_epoch(self) -> int:
        """When the recording began, in ns since 1970 UTC; 0 if the file does not say."""
        return int(self.session["utc_epoch"])

    @property
    def part(self) -> "Optional[tuple[int, int]]":
        """The start and end of the time for which a saved part of a recording (or the last part that `--ring` kept) is complete, in ns since the start of the
        recording; None for a whole recording. Earlier rows are kept only for the work that they enqueued, or only for some processes. The column
        `in_part` says whether a row is in the part."""
        epoch = int(self.session["epoch"])
        begin, end = (time - epoch for time in self._last_part or (int(self.session["part_begin"]), int(self.session["part_end"])))
        return (begin, end) if begin < end and is_near(np.array([wrapped(begin), wrapped(end)])).all() else None

    def in_part(self) -> "Trace":
        """For a saved part of a recording, the rows that overlap its time, as `lanescope stats` counts them; for a whole recording, all rows."""
        if self.part is None:
            return self
        begin, end = self.part
        return self.with_tables(lambda table: table.between(begin, end))

    @property
    def labels(self) -> "dict[str, str]":
        """The labels that --label gave the recording."""
        return {label["key"]: label["value"] for label in self.session["labels"]}

    @property
    def machine_id(self) -> str:
        """An id that is equal for recordings of one machine; empty if the file does not say."""
        return str(self.session["machine_id"])

    @property
    def boot_id(self) -> str:
        """The id of the machine's boot: recordings with the same id share a clock. Empty if the file does not say."""
        return str(self.session["boot_id"])

    def with_tables(self, choose: "Callable[[Table], Table]") -> "Trace":
        """The same recording with each table replaced by `choose(table)`; `whole` is still the full recording. Closing the full recording closes this one."""
        part = Trace.__new__(Trace)
        part.__dict__.update(self.__dict__)
        part._whole = self.whole
        for name, table in self.tables.items():
            setattr(part, name, choose(table))
        return part

    @property
    def whole(self) -> "Trace":
        """The recording with all rows: the recording itself, except for one that with_tables() made."""
        return self._whole or self

    def stats(self, report: str, *arguments: str) -> "list[dict[str, Any]]":
        """The rows of a report of `lanescope stats`. `arguments` are further options of that command."""
        rows: "list[dict[str, Any]]" = program.run_json(["stats", "-q", "-f", "json", "-r", report, *arguments, program.operand(self.path)])
        return rows

    def analyze(self, *arguments: str) -> "list[dict[str, Any]]":
        """The findings of `lanescope analyze`, most costly first. `arguments` are further options of that command."""
        answer = program.run_json(["analyze", "-f", "json", *arguments, program.operand(self.path)])
        # With -r, there are tables of rules beside the findings.
        rows: "list[dict[str, Any]]" = answer.get("findings", []) if isinstance(answer, dict) else answer
        return rows

    def critical_path(
        self, step: "str | None" = None, *, begin: "int | None" = None, end: "int | None" = None
    ) -> "list[dict[str, Any]]":
        """What the time of a step went to: the parts of its critical path in order of time, of `lanescope analyze --critical-path`.

        `step` names an NVTX range, as --filter-nvtx does ("step 7", "step@DOMAIN/3"); else `begin` and `end` are a time of the recording in ns. The parts
        adjoin and cover the step. There are none if no GPU worked in it.
        """
        if (step is None) == (begin is None and end is None):
            raise ValueError("Name the step, or its time: critical_path(\"step 7\"), critical_path(begin=1_200_000_000, end=1_500_000_000)")
        time = f"{'' if begin is None else begin}/{'' if end is None else end}"
        chosen = f"--filter-time={time}" if step is None else f"--filter-nvtx={step}"
        tables: "dict[str, list[dict[str, Any]]]" = program.run_json(
            ["analyze", "--critical-path", "-f", "json", chosen, program.operand(self.path)]
        )
        return tables["critical_path"]

    def close(self) -> None:
        """Closes the file and frees what was cached: the tables can't be read any more."""
        self._file.close()
        self._payloads.clear()  # explicitly: a trace and its tables refer to each other, so they stay until Python's garbage collector runs

    def __enter__(self) -> "Trace":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<lanescope.Trace {self.path}>"

    def __reduce__(self) -> "tuple[Callable[..., Trace], tuple[str, int, int]]":
        """A pickled trace is its path: whoever unpickles it, such as a process of a pool, opens the file, which must be the same as here."""
        if self._whole is not None:
            raise TypeError("Chosen rows of a recording can't be pickled. Pickle the whole recording, and choose the rows again.")
        return _open_again, (os.path.abspath(self.path), self._file.size, self._file.modified)

    def _scan(self) -> None:
        segments: "list[Frame]" = []
        index: "dict[int, Optional[int]]" = {}  # positions of frames; the value is the track of a lane segment
        budget = self._budget
        for frame, stored in self._file.frames():
            name = _FRAME_NAMES.get(frame.kind)
            if name in (None, "outline"):
                if frame.kind > LARGEST_FRAME_TYPE:
                    self.lost.unknown_frames += 1
                    self.lost.unknown_events += frame.event_count
                continue
            if name != "index" and not budget.takes(frame):
                self._leave_unread(frame)
                break
            if name == "clock_sync" and frame.process != 0:
                continue
            if name in self._record_frames:
                self._record_frames[name].append(frame)
                if name == "pc_samples":
                    self._count_missing_samples(frame, stored)
                continue
            if name == "lane_segment":
                segments.append(frame)
                continue
            payload = self._file.payload(frame, stored)
            if payload is None:
                continue
            try:
                if name == "index":
                    index.update(entries_of_index(payload))
                elif name == "events":
                    self._take_chunk(frame, payload)
                else:
                    getattr(self, "_take_" + str(name))(frame, payload)
            except BeyondBudget:
                self._leave_unread(frame)
                break
            except WireError:
                self.lost.damaged_chunks += 1
        tracks = {position: track for position, track in index.items() if track is not None}
        for frame in segments:
            self._take_lane_segment(frame, tracks.pop(frame.payload_at - FRAME_HEADER.size, None))
        self.lost.damaged_chunks += len(tracks)  # segments that the index names but that are not whole frames any more
        self.lost.damaged_bytes = self._file.damage.bytes
        self.lost.damaged_frames = self._file.damage.frames_within(sorted(index))
        self.lost.damaged_chunks += self._file.damage.frames
        self.lost.cut = self._file.damage.cut
        self.lost.unreturned_buffers = sum(self._unreturned.values())
        for counters in self._losses.values():
            for name in ("dropped", "late", "invalid"):
                setattr(self.lost, name, getattr(self.lost, name) + counters[name])

    def _count_missing_samples(self, frame: Frame, stored: "Optional[memoryview]") -> None:
        payload = self._file.payload(frame, stored)
        try:
            numbers = {number: value for number, value in fields(payload) if isinstance(value, int)} if payload is not None else {}
        except WireError:
            return  # the tables report it
        dropped, was_full = (MESSAGES["PcSamples"][name][0] for name in ("dropped", "buffer_was_full"))
        self.lost.pc_samples += numbers.get(dropped, 0)
        self.lost.full_pc_windows += numbers.get(was_full, 0) != 0

    def _leave_unread(self, frame: Frame) -> None:
        self.lost.unread = self._file.size - (frame.payload_at - FRAME_HEADER.size)

    def _dictionary(self, frame: Frame) -> Dictionary:
        key = (frame.process, frame.source)
        if key not in self._dictionaries:
            self._dictionaries[key] = Dictionary(self._texts)
        return self._dictionaries[key]

    def _process(self, frame: Frame) -> Process:
        return self.processes.setdefault(frame.process, Process(frame.process))

    def _take_chunk(self, frame: Frame, payload: memoryview) -> None:
        base_time, kind, events = self._dictionary(frame).extend(payload)
        name = _KIND_OF_FIELD.get(kind)
        if name is None:
            return
        if frame.event_count > LARGEST_CHUNK:
            raise WireError(f"a chunk has {frame.event_count} events")
        self._places[name].append(Place(frame, base_time - self.session["epoch"], kind, frame.event_count))
        self._keep(frame, events)

    def _take_lane_segment(self, frame: Frame, track: Optional[int]) -> None:
        """`track` is what the index says, or None. With it, a segment is decompressed only when a table that has its events is asked for."""
        try:
            if track is None:
                payload = self._file.payload(frame)
                if payload is None:
                    return
                self._keep(frame, payload)
                track = track_of(payload)
            if track >= len(self._tables.tracks):
                raise WireError("a lane segment is of no track")
        except WireError:
            self._note_damaged(frame)
            return
        tables, _ = TRACK_KINDS.get(self._tables.tracks[track]["kind"], ((), 0))
        for name in tables:
            # The details say how many rows of a memory track are copies.
            self._places[name].append(Place(frame, self.session["epoch"], 0, frame.event_count if len(tables) == 1 else None))

    def _keep(self, frame: Frame, payload: memoryview) -> None:
        """Caches the payload of a lane segment, or the bytes of a chunk's events."""
        if self._cached + len(payload) <= _CACHED_BYTES:
            self._payloads[frame.payload_at] = payload
            self._cached += len(payload)

    def _take_names(self, frame: Frame, payload: memoryview) -> None:
        self._tables.dictionary.extend_by_names(payload)

    def _take_call_stacks(self, frame: Frame, payload: memoryview) -> None:
        self._tables.dictionary.extend_by_call_stacks(payload)

    def _take_details(self, frame: Frame, payload: memoryview) -> None:
        self._tables.take_details(frame, _own(frame, payload))

    def _take_tracks(self, frame: Frame, payload: memoryview) -> None:
        self._tables.take_tracks(payload)

    def _take_session_start(self, frame: Frame, payload: memoryview) -> None:
        self.session = with_texts(decode("SessionStart", payload))

    def _take_session_end(self, frame: Frame, payload: memoryview) -> None:
        self.lost.unfinished = False
        end = decode("SessionEnd", payload)
        self.lost.unwritten = end["unwritten_events"]
        self.lost.file_was_full = end["reason"] in _FULL
        self._last_part = (int(end["whole_from"]), int(end["time"])) if end["whole_from"] else None

    def _take_process_start(self, frame: Frame, payload: memoryview) -> None:
        start, process = decode("ProcessStart", payload), self._process(frame)
        process.pid, process.parent_pid = start["pid"], start["parent_pid"]
        process.start = start["time"] - self.session["epoch"]
        if start["place"] is not None:
            place: "dict[str, Any]" = {field: text(value) if isinstance(value, bytes) else value for field, value in start["place"].items()}
            place["world_size"] = place["world_size"] or None
            process.place = JobPlace(**place)
        process.executable, process.arguments = text(start["executable"]), [text(argument) for argument in start["arguments"]]

    def _take_process_end(self, frame: Frame, payload: memoryview) -> None:
        end, process = decode("ProcessEnd", payload), self._process(frame)
        process.end, process.end_kind = end["time"] - self.session["epoch"], _word("ProcessEndKind", end["kind"])
        process.exit_code = end["exit_code"] if process.end_kind == "exited" else None
        process.signal = end["signal"] if process.end_kind == "signaled" else None
        self._unreturned[frame.process] = end["unreturned_buffers"]

    def _take_clock_sync(self, frame: Frame, payload: memoryview) -> None:
        said = decode("ClockSync", payload)
        kept = said["time_keeping"] or decode("TimeKeeping", memoryview(b""))
        time = said["monotonic"] - self.session["epoch"]
        self.clocks.append(ClockReading(time, said["realtime"], said["monotonic_raw"], said["boottime"], said["uncertainty"], **kept))

    def _take_resources(self, frame: Frame, payload: memoryview) -> None:
        self._texts.take_entries_of(payload)
        resources = decode("Resources", payload)
        for counter in resources["counters"]:
            key = (frame.process, frame.source, counter["id"])
            if key not in self._counters:
                self._texts.take_memory(_COUNTER_BYTES)
            self._counters[key] = counter
        if frame.process == 0:
            return
        process = self._process(frame)
        process.threads.update((thread["id"], text(thread["name"])) for thread in resources["threads"])
        process.nvtx_domains.update((domain["id"], text(domain["name"])) for domain in resources["nvtx_domains"])
        for device in resources["devices"]:
            gpu = device["uuid"] or (device["id"], device["name"])
            if gpu not in self._gpus:  # several processes may see the same GPU
                self._texts.take_memory(_DEVICE_BYTES)
                self._gpus.add(gpu)
            process.devices[device["id"]] = device | {"name": text(device["name"]), "uuid": device["uuid"].hex(), "bus_id": text(device["bus_id"])}

    def _take_diagnostic(self, frame: Frame, payload: memoryview) -> None:
        said = decode("Diagnostic", payload)
        if 0 < said["known_from_minor_version"] <= _KNOWN_MINOR_VERSION:
            return
        self._count_missing(frame.source, said, text(said["text"]))
        self.diagnostics.append(
            {"time": said["time"] - self.session["epoch"], "process": frame.process, "severity": _word("Severity", said["severity"]), "text": text(said["text"])}
        )

    def _count_missing(self, source: int, said: "dict[str, Any]", words: str) -> None:
        """Counts what a diagnostic says is missing, as docs/file-format.md describes."""
        lost = self.lost
        if source == _COMPACTION:
            left_out = words == _WORDS_OF_ROWS_LEFT_OUT  # from before the kind
            lost.rows_left_out |= left_out
            lost.before |= not left_out
            lost.was_cut |= said["severity"] == _ERROR
        kind, count = said["kind"], said["count"]
        if kind == _UNSPECIFIED:
            kind, count = _content_by_words(said, words)
        is_warning = said["severity"] >= _WARNING
        lost.rows_left_out |= kind == _ROWS_LEFT_OUT
        if kind == _TORN_STACKS:
            lost.python_stacks += count
        elif is_warning and said["state"] == _FAILED and said["component"] == _OF_SESSION:
            lost.unfollowed = True
        elif is_warning and (kind == _LOSS or said["state"] == _FAILED or (said["state"] == _OWNED_BY_OTHER and said["component"] == _OF_NVTX)):
            lost.failed += 1

    def _take_counters(self, frame: Frame, payload: memoryview) -> None:
        self._losses[frame.process, frame.source] = decode("Counters", payload)

    def _take_output(self, frame: Frame, payload: memoryview) -> None:
        output = decode("Output", payload)
        self.output.append((output["time"] - self.session["epoch"], frame.process, "stderr" if output["stream"] else "stdout", output["data"]))

    def _provenance(self, process: int) -> "dict[str, int]":
        """The provenance of a process's rows: numbers, and numbers of texts."""
        place = self.processes[process].place if process in self.processes else JobPlace()
        numbers = {"rank": place.rank, "local_rank": place.local_rank, "world_size": place.world_size}
        texts = {"run": self.labels.get("run", ""), "host": self.session["host_name"]}
        return {name: -1 if number is None else number for name, number in numbers.items()} | {name: self._texts.number_of_text(value) for name, value in texts.items()}

    def _in_part(self, start: Array, duration: "Array | int") -> Array:
        """Whether each row is in the part that was saved."""
        part = self.part
        return np.ones(len(start), dtype=bool) if part is None else within(*part, start, start + duration)

    def _take_symbols(self, frame: Frame, payload: memoryview) -> None:
        self._dictionary(frame).extend_by_symbols(payload)

    def _whole_payloads(self, frames: "list[Frame]") -> "Iterator[tuple[Frame, memoryview]]":
        """The frames that can be read and whose payloads are not known to be damaged."""
        for frame in frames:
            if frame.payload_at not in self._damaged:
                payload = self._file.payload(frame)
                if payload is None:
                    self._note_damaged(frame)
                else:
                    yield frame, payload

    def _note_damaged(self, frame: Frame) -> None:
        if frame.payload_at not in self._damaged:
            self._damaged.add(frame.payload_at)
            self.lost.damaged_chunks += 1

    def _note_invalid(self, table: str, frame: Frame, events: int) -> None:
        if (table, frame.payload_at) not in self._invalid:
            self._invalid[table, frame.payload_at] = events
            self.lost.invalid += events

    def _events_of(self, place: Place) -> Optional[memoryview]:
        """The bytes of a chunk's events; None, and counted, if the file was changed since it was opened."""
        payload = self._payloads.get(place.frame.payload_at)
        if payload is None:
            payload = self._file.payload(place.frame)
            if payload is None:
                self._note_damaged(place.frame)
                return None
            if place.kind != 0:
                payload = next((value for number, value in fields(payload) if number == place.kind and isinstance(value, memoryview)), memoryview(b""))
            self._keep(place.frame, payload)
        return payload


def _own(frame: Frame, payload: memoryview) -> memoryview:
    """A copy to keep if the payload is stored uncompressed: it is then a view of the window that was read, and would keep that in memory."""
    return memoryview(bytes(payload)) if frame.codec == 0 else payload


def _word(enumeration: str, number: int) -> str:
    words = ENUMERATIONS[enumeration]
    return words[number] if number < len(words) else words[0]


def open(path: "os.PathLike[str] | str") -> Trace:
    """Opens a .trace file. It may be finished, cut at any byte, damaged, or still being written (then what is there now is read).

    Raises OSError if the file can't be read, TraceError if it is not a .trace file. `lost` says what is missing.
    """
    return Trace(path)


def _open_again(path: str, size: int, modified: int) -> Trace:
    trace = Trace(path)
    if (trace._file.size, trace._file.modified) != (size, modified):
        trace.close()
        raise TraceError(f"{path} is not the file any more that was opened when it was pickled: it was changed, or replaced. Open it by its path.")
    return trace


def diff(before: "os.PathLike[str] | str", after: "os.PathLike[str] | str", *arguments: str) -> "list[dict[str, Any]]":
    """The result of `lanescope diff BEFORE AFTER`. `arguments` are further options of that command."""
    rows: "list[dict[str, Any]]" = program.run_json(["diff", "-f", "json", *arguments, program.operand(before), program.operand(after)])
    return rows


__all__ = ["Trace", "TraceError", "diff", "open"]
