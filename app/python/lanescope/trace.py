"""A .trace file as tables."""

from __future__ import annotations

import bisect
import copy
import os
from dataclasses import dataclass
from typing import Any, Callable, Iterable, Iterator, Optional

import numpy as np

from . import program
from ._demangle import demangled
from ._dictionary import BeyondBudget, Dictionary, Texts
from ._frames import FRAME_HEADER, Budget, Frame, FrameFile, TraceError
from ._kernel_tables import RECORD_SCHEMAS, RecordColumn, Recorded, RecordSchema
from ._message import decode, text, with_texts
from ._schema import ENUMERATIONS, FRAME_TYPES, MESSAGES, TRACK_KINDS
from ._segments import FileTables, SegmentChunk, entries_of_index, track_of
from ._tables import LARGEST_CHUNK, SCHEMAS, Chunk, Column, DamagedMembers, Member, TableSchema, member_of
from ._wire import WireError, fields, is_near, running_sum, varints, wrapped, zigzag
from .provenance import ClockReading, JobPlace, Loss, Process
from .table import PROVENANCE, Array, Batch, Table, distinct, within

_CACHED_BYTES = 256 << 20  # of decompressed chunks that are kept
_GROUP_ROWS, _GROUP_BYTES = 16_384, 1 << 20  # of chunks that are read together
# What each counts as in the program's limit of memory: all are asked about each GPU.
_DEVICE_BYTES = 1 << 20
_COUNTER_BYTES = 1_200
_KIND_OF_FIELD = {number: name for name, (number, kind) in MESSAGES["EventChunk"].items() if isinstance(kind, str) and kind in MESSAGES}
_KNOWN_MINOR_VERSION = 5  # of the format
_WARNING, _FAILED = 1, 7  # Severity, and ComponentState, of a Diagnostic
_COMPACTION = 5  # FrameSource: said by what made a file of another one
_FRAME_NAMES = {number: name for name, number in FRAME_TYPES.items()}


@dataclass(frozen=True)
class _Place:
    """A chunk, or a lane segment, of events in the file."""

    frame: Frame
    base_time: int  # since the recording began; of a lane segment, the recording's epoch
    kind: int       # field of EventChunk; 0 for a lane segment
    rows: Optional[int]  # None: of a lane segment of which some rows are of another table


class Trace:
    """A recording. Opening reads its frames and dictionaries once; events are decoded when a table's columns are asked for.

    Not for several threads at once. Also a context manager.
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
        self._last_part: "Optional[tuple[int, int]]" = None  # that --ring kept, by the clock of the recording
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
        self._places: "dict[str, list[_Place]]" = {name: [] for name in [*SCHEMAS, "counter_samples"]}
        self._payloads: "dict[int, memoryview]" = {}  # what _keep() was given, by position of the payload
        self._cached = 0  # bytes of them
        self._record_frames: "dict[str, list[Frame]]" = {schema.frame: [] for schema in RECORD_SCHEMAS.values()}
        self._damaged: "set[int]" = set()  # where payloads lie that make no sense
        self._invalid: "dict[tuple[str, int], int]" = {}  # events whose times make none, by table and payload
        self._counters: "dict[tuple[int, int, int], dict[str, Any]]" = {}
        self._gpus: "set[bytes | tuple[int, bytes]]" = set()  # by UUID, or number and name
        self._losses: "dict[tuple[int, int], dict[str, Any]]" = {}
        self._unreturned: "dict[int, int]" = {}  # buffers of CUPTI's, by process
        self._scan()
        for name, schema in SCHEMAS.items():
            setattr(self, name, Table(name, _Events(self, schema), ["process", "pid", *(column.name for column in schema.columns)]))
        self.counters = Table("counters", _CounterValues(self), list(_COUNTER_COLUMNS))
        for name, records in RECORD_SCHEMAS.items():
            setattr(self, name, Table(name, _Records(self, records), ["process", "pid", *(column.name for column in records.columns)]))
        for table in self.tables.values():
            table._further = tuple(PROVENANCE)

    @property
    def tables(self) -> "dict[str, Table]":
        """All tables by their names."""
        return {name: getattr(self, name) for name in [*SCHEMAS, "counters", *RECORD_SCHEMAS]}

    def event_count(self) -> int:
        """Events in all tables of events; of the whole recording, decodes nothing."""
        if self._whole is not None:
            return sum(len(getattr(self, name)) for name in SCHEMAS)
        frames = {place.frame for schema in SCHEMAS.values() for place in self._places[schema.chunk]}
        return sum(frame.event_count for frame in frames if frame.payload_at not in self._damaged)

    def has_text(self, prefix: str) -> bool:
        """Whether any text of the recording, such as the name of a range, begins so; decodes no events. O(texts)."""
        return any(value.startswith(prefix) for value in self._texts.values)

    def last_end(self) -> int:
        """When the last event ended, in ns since the recording began; 0 without events. Decodes the times of all events."""
        last = 0
        for table in (self.whole.tables[name] for name in SCHEMAS):
            times = [name for name in ("start", "duration") if name in table.columns]
            for batch in table[times].batches() if len(table) else ():
                last = max(last, int(sum(batch[name] for name in times).max(initial=0)))
        return last

    @property
    def utc_epoch(self) -> int:
        """When the recording began, in ns since 1970 UTC; 0 where the file does not say."""
        return int(self.session["utc_epoch"])

    @property
    def part(self) -> "Optional[tuple[int, int]]":
        """Of a part of a recording that was saved, and of the last one that `--ring` kept: from when to when it is whole, in ns since the recording began. What
        lies in front of it is there for what it enqueued, or of some processes alone: `in_part` says of each row whether it is of the part."""
        epoch = int(self.session["epoch"])
        begin, end = (time - epoch for time in self._last_part or (int(self.session["part_begin"]), int(self.session["part_end"])))
        return (begin, end) if begin < end and is_near(np.array([wrapped(begin), wrapped(end)])).all() else None

    def in_part(self) -> "Trace":
        """What counts: of a part that was saved, the rows that overlap its time, as `lanescope stats` counts them; of a whole recording, all."""
        part = self.part
        return self if part is None else self.with_tables(lambda table: table.between(*part))

    @property
    def labels(self) -> "dict[str, str]":
        """What --label said of the recording."""
        return {label["key"]: label["value"] for label in self.session["labels"]}

    @property
    def machine_id(self) -> str:
        """Equal for recordings of one machine; empty where the file does not say."""
        return str(self.session["machine_id"])

    @property
    def boot_id(self) -> str:
        """Of the machine's kernel: recordings of one boot share a clock; empty where the file does not say."""
        return str(self.session["boot_id"])

    def with_tables(self, choose: "Callable[[Table], Table]") -> "Trace":
        """The same recording with what `choose` makes of each table; `whole` is still all of it. To be closed by closing the whole."""
        part = copy.copy(self)
        part._whole = self.whole
        for name, table in self.tables.items():
            setattr(part, name, choose(table))
        return part

    @property
    def whole(self) -> "Trace":
        """The recording with all rows; itself, but for what with_tables() made."""
        return self._whole or self

    def stats(self, report: str, *arguments: str) -> "list[dict[str, Any]]":
        """The rows of a report of `lanescope stats`, with further options of that command."""
        rows: "list[dict[str, Any]]" = program.run_json(["stats", "-q", "-f", "json", "-r", report, *arguments, program.operand(self.path)])
        return rows

    def analyze(self, *arguments: str) -> "list[dict[str, Any]]":
        """The findings of `lanescope analyze`, the most costly first."""
        rows: "list[dict[str, Any]] | dict[str, Any]" = program.run_json(["analyze", "-f", "json", *arguments, program.operand(self.path)])
        if isinstance(rows, dict):  # with -r, the tables of rules beside the findings
            rows = rows.get("findings", [])
        return rows

    def close(self) -> None:
        """Gives the file back, and what was kept of it: its tables can't be read any more."""
        self._file.close()
        self._payloads.clear()  # now: a trace and its tables hold each other, so that they stay until Python collects them

    def __enter__(self) -> "Trace":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<lanescope.Trace {self.path}>"

    def _scan(self) -> None:
        segments: "list[Frame]" = []
        index: "dict[int, Optional[int]]" = {}  # positions of frames, and of those of segments the tracks
        budget = self._budget
        for frame, stored in self._file.frames():
            name = _FRAME_NAMES.get(frame.kind)
            if name in (None, "outline"):
                continue
            if name != "index" and not budget.takes(frame):
                self._leave_unread(frame)
                break
            if name == "clock_sync" and frame.process != 0:
                continue
            if name in self._record_frames:
                self._record_frames[name].append(frame)
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
        self.lost.damaged_chunks += len(tracks)  # that are no frames any more, where the index says that some are
        self.lost.damaged_bytes = self._file.damage.bytes
        self.lost.damaged_frames = self._file.damage.frames_within(sorted(index))
        self.lost.damaged_chunks += self._file.damage.frames
        self.lost.cut = self._file.damage.cut
        self.lost.unreturned_buffers = sum(self._unreturned.values())
        for counters in self._losses.values():
            for name in ("dropped", "late", "invalid"):
                setattr(self.lost, name, getattr(self.lost, name) + counters[name])

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
        self._places[name].append(_Place(frame, base_time - self.session["epoch"], kind, frame.event_count))
        self._keep(frame, events)

    def _take_lane_segment(self, frame: Frame, track: Optional[int]) -> None:
        """`track` is what the index says: so that a segment is decompressed when a table is asked for that has its events."""
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
            # How many rows of a memory track are copies, their details say.
            self._places[name].append(_Place(frame, self.session["epoch"], 0, frame.event_count if len(tables) == 1 else None))

    def _keep(self, frame: Frame, payload: memoryview) -> None:
        """Of a lane segment; of a chunk, the bytes of its events."""
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
        self._last_part = (int(end["whole_from"]), int(end["time"])) if end["whole_from"] else None

    def _take_process_start(self, frame: Frame, payload: memoryview) -> None:
        start, process = decode("ProcessStart", payload), self._process(frame)
        process.pid, process.parent_pid = start["pid"], start["parent_pid"]
        process.start = start["time"] - self.session["epoch"]
        if start["place"] is not None:
            place = {field: text(value) if isinstance(value, bytes) else value for field, value in start["place"].items()}
            process.place = JobPlace(**place | {"world_size": place["world_size"] or None})
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
            if gpu not in self._gpus:  # all processes may see it
                self._texts.take_memory(_DEVICE_BYTES)
                self._gpus.add(gpu)
            process.devices[device["id"]] = device | {"name": text(device["name"]), "uuid": device["uuid"].hex(), "bus_id": text(device["bus_id"])}

    def _take_diagnostic(self, frame: Frame, payload: memoryview) -> None:
        said = decode("Diagnostic", payload)
        if 0 < said["known_from_minor_version"] <= _KNOWN_MINOR_VERSION:
            return
        self.lost.before = self.lost.before or frame.source == _COMPACTION
        self.lost.failed += said["severity"] >= _WARNING and said["state"] == _FAILED
        self.diagnostics.append(
            {"time": said["time"] - self.session["epoch"], "process": frame.process, "severity": _word("Severity", said["severity"]), "text": text(said["text"])}
        )

    def _take_counters(self, frame: Frame, payload: memoryview) -> None:
        self._losses[frame.process, frame.source] = decode("Counters", payload)

    def _take_output(self, frame: Frame, payload: memoryview) -> None:
        output = decode("Output", payload)
        self.output.append((output["time"] - self.session["epoch"], frame.process, "stderr" if output["stream"] else "stdout", output["data"]))

    def _provenance(self, process: int) -> "dict[str, int]":
        """Of rows of a process: numbers, and those of texts."""
        place = self.processes[process].place if process in self.processes else JobPlace()
        numbers = {"rank": place.rank, "local_rank": place.local_rank, "world_size": place.world_size}
        texts = {"run": self.labels.get("run", ""), "host": self.session["host_name"]}
        return {name: -1 if number is None else number for name, number in numbers.items()} | {name: self._texts.number_of_text(value) for name, value in texts.items()}

    def _in_part(self, start: Array, duration: "Array | int") -> Array:
        """Of rows: whether they are of the part that was saved."""
        part = self.part
        return np.ones(len(start), dtype=bool) if part is None else within(*part, start, start + duration)

    def _take_symbols(self, frame: Frame, payload: memoryview) -> None:
        self._dictionary(frame).extend_by_symbols(payload)

    def _whole_payloads(self, frames: "list[Frame]") -> "Iterator[tuple[Frame, memoryview]]":
        """Of those that can be read, and were not found to make no sense."""
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

    def _events_of(self, place: _Place) -> Optional[memoryview]:
        """The bytes of a chunk's events; None, counted, where the file was changed meanwhile."""
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
    """To be kept: one that is stored as it is, is a view of the window that was read, which would stay with it."""
    return memoryview(bytes(payload)) if frame.codec == 0 else payload


def _word(enumeration: str, number: int) -> str:
    words = ENUMERATIONS[enumeration]
    return words[number] if number < len(words) else words[0]


class _Texts:
    """Texts behind the numbers of text columns, for tables of one trace."""

    def __init__(self, trace: Trace, columns: "Iterable[Column | RecordColumn]" = ()) -> None:
        self._trace = trace
        self._by_name = {column.name: column for column in columns}

    def texts(self, column: str, numbers: Array) -> "tuple[Array, list[str]]":
        used, codes = distinct(numbers)
        return codes, self._values(column, used)

    def _values(self, column: str, used: Array) -> "list[str]":
        described = self._by_name.get(column)
        if described is not None and described.words is not None:
            return [described.words[number] if 0 <= number < len(described.words) else described.words[0] for number in used.tolist()]
        values = [self._trace._texts.values[number] for number in used.tolist()]
        if described is not None and described.type == "symbol":
            readable = demangled(values)
            return [readable.get(value, value) for value in values]
        return values


class _Events(_Texts):
    """The chunks of one kind of event."""

    def __init__(self, trace: Trace, schema: TableSchema) -> None:
        super().__init__(trace, schema.columns)
        self._schema = schema
        self._columns = {column.name: column for column in schema.columns}

    def column_types(self) -> "dict[str, str]":
        return {"process": "int64", "pid": "int64"} | {column.name: column.type for column in self._schema.columns} | PROVENANCE

    def row_count(self) -> int:
        places = self._trace._places[self._schema.chunk]
        if any(place.rows is None for place in places):
            return sum(len(batch["start"]) for batch in self.batches(["start"]))
        invalid = self._trace._invalid
        return sum((place.rows or 0) - invalid.get((self._schema.name, place.frame.payload_at), 0) for place in places if place.frame.payload_at not in self._trace._damaged)

    def batches(self, columns: "list[str]") -> Iterator[Batch]:
        for group in self._groups():
            while group:
                try:
                    yield self._batch(group, columns)
                    break
                except DamagedMembers as damaged:
                    members = set(damaged.members.tolist())
                    for i in members:
                        self._trace._note_damaged(group[i][0].frame)
                    group = [each for i, each in enumerate(group) if i not in members]
                except WireError:  # of which nobody knows whose it is
                    for place, _ in group:
                        self._trace._note_damaged(place.frame)
                    break

    def _groups(self) -> "Iterator[list[tuple[_Place, Member]]]":
        """Chunks that can be read, small ones that follow each other together."""
        trace = self._trace
        group: "list[tuple[_Place, Member]]" = []
        rows = size = 0
        for place in trace._places[self._schema.chunk]:
            if place.frame.payload_at in trace._damaged:
                continue
            dictionary = trace._tables.dictionary if place.kind == 0 else trace._dictionary(place.frame)
            try:
                events = trace._events_of(place)
                if events is None:
                    continue
                member = member_of(events, dictionary, place.base_time)
            except WireError:
                trace._note_damaged(place.frame)
                continue
            if group and (rows + place.frame.event_count > _GROUP_ROWS or size + len(events) > _GROUP_BYTES or (place.kind == 0) != (group[0][0].kind == 0)):
                yield group
                group, rows, size = [], 0, 0
            group.append((place, member))
            rows += place.frame.event_count
            size += len(events)
        if group:
            yield group

    def _batch(self, group: "list[tuple[_Place, Member]]", columns: "list[str]") -> Batch:
        trace, schema = self._trace, self._schema
        places, members = [place for place, _ in group], [member for _, member in group]
        if places[0].kind == 0:
            chunk: Chunk = SegmentChunk(schema.name, members, trace._tables, trace.session["epoch"])
        else:
            chunk = Chunk(schema.message, members)
        wrong = np.array([place.rows is not None and place.rows != rows for place, rows in zip(places, chunk.sizes.tolist())])
        chunk.refuse(wrong, "a chunk has another number of events than its frame says")
        times = {name: self._columns[name].make(chunk) for name in ("start", "duration") if name in self._columns}
        batch = Batch({name: times[name] if name in times else self._column(chunk, places, name) for name in columns})
        valid = self._valid(times)
        if valid is None:
            return batch
        owners = chunk.owners()[~valid]
        for i, events in zip(*(each.tolist() for each in np.unique(owners, return_counts=True))):
            trace._note_invalid(schema.name, places[i].frame, events)
        return Batch({name: column[valid] for name, column in batch.items()})

    @staticmethod
    def _valid(times: "dict[str, Array]") -> Optional[Array]:
        """Which events have times that make sense; None: all, as in any recording but a damaged one."""
        if not all(is_near(np.array([column.min(initial=0), column.max(initial=0)])).all() for column in times.values()):
            return np.logical_and.reduce([is_near(column) for column in times.values()]) & (times.get("duration", np.int64(0)) >= 0)
        duration = times.get("duration")
        return None if duration is None or duration.min(initial=0) >= 0 else duration >= 0

    def _column(self, chunk: Chunk, places: "list[_Place]", name: str) -> Array:
        if name in self._columns:
            return self._columns[name].make(chunk)
        if name == "in_part":
            start = self._columns["start"].make(chunk)
            return self._trace._in_part(start, self._columns["duration"].make(chunk) if "duration" in self._columns else 0)
        processes = [place.frame.process for place in places]
        if name == "process":
            return chunk.of_members(processes)
        said = {process: self._said_of(process, name) for process in set(processes)}
        return chunk.of_members([said[process] for process in processes])

    def _said_of(self, process: int, name: str) -> int:
        if name == "pid":
            known = self._trace.processes.get(process)
            return known.pid if known else 0
        return self._trace._provenance(process)[name]


class _Records(_Texts):
    """Rows that are not made of events."""

    def __init__(self, trace: Trace, schema: RecordSchema) -> None:
        super().__init__(trace, schema.columns)
        self._schema = schema

    def column_types(self) -> "dict[str, str]":
        return {"process": "int64", "pid": "int64"} | {column.name: column.type for column in self._schema.columns} | PROVENANCE

    def row_count(self) -> int:
        return sum(len(batch["start"]) for batch in self.batches(["start"]))

    def batches(self, columns: "list[str]") -> Iterator[Batch]:
        trace = self._trace
        frames = trace._record_frames[self._schema.frame]
        recorded = Recorded(lambda: trace._whole_payloads(frames), trace._note_damaged, trace._texts.number, trace.kernels, trace.session["epoch"])
        for rows in self._schema.rows(recorded):
            process, size = int(rows["process"][0]), len(rows["start"])  # a batch is of one process
            known = trace.processes.get(process)
            for name, value in ({"pid": known.pid if known else 0} | trace._provenance(process)).items():
                rows[name] = np.full(size, value, dtype=np.int64)
            rows["in_part"] = trace._in_part(rows["start"], rows["duration"])
            yield Batch({name: rows[name] for name in columns})


_COUNTER_COLUMNS = {
    "start": "int64",
    "duration": "int64",
    "process": "int64",
    "gpu_uuid": "text",
    "name": "text",
    "unit": "text",
    "value": "double",
}


class _CounterValues(_Texts):
    """Values of counters, one row each."""

    def column_types(self) -> "dict[str, str]":
        return _COUNTER_COLUMNS | PROVENANCE

    def row_count(self) -> int:
        return sum(len(batch["start"]) for batch in self.batches(["start"]))

    def batches(self, columns: "list[str]") -> Iterator[Batch]:
        trace = self._trace
        known: "dict[tuple[int, ...], list[tuple[int, int]]]" = {}  # of chunks of the same counters, of which times they speak
        for place in trace._places["counter_samples"]:
            if place.frame.payload_at in trace._damaged:
                continue
            try:
                events = trace._events_of(place)
                if events is not None:
                    yield from list(self._chunk(place, events, columns, known))
            except WireError:
                trace._note_damaged(place.frame)

    def _chunk(self, place: _Place, events: memoryview, columns: "list[str]", known: "dict[tuple[int, ...], list[tuple[int, int]]]") -> Iterator[Batch]:
        schema, column_schema = MESSAGES["CounterSamples"], MESSAGES["CounterColumn"]
        parts: "dict[int, list[memoryview]]" = {}
        last_duration = 0
        for number, value in fields(events):
            if isinstance(value, memoryview):
                parts.setdefault(number, []).append(value)
            elif number == schema["last_duration"][0]:
                last_duration = value
        counters = varints(memoryview(b"".join(parts.get(schema["counter"][0], []))))
        deltas = b"".join(parts.get(schema["time_delta"][0], []))
        if len(deltas) > 10 * LARGEST_CHUNK:
            raise WireError("a chunk has too many times")
        start = running_sum(zigzag(varints(memoryview(deltas))), place.base_time)
        if not len(start):
            return
        end = int(start[-1]) + last_duration
        if not (is_near(start).all() and is_near(np.array([wrapped(end)])).all() and (np.diff(start) > 0).all() and start[-1] < end < 1 << 63):
            raise WireError("a chunk's times make no sense")
        if not len(counters) or len(counters) != len(parts.get(schema["columns"][0], [])):
            raise WireError("a chunk has another number of columns than counters")
        duration = np.diff(start, append=np.int64(end))
        for counter_id, column in zip(counters.tolist(), parts.get(schema["columns"][0], [])):
            pieces: "dict[int, bytes]" = {}
            for number, value in fields(column):
                if isinstance(value, memoryview):
                    pieces[number] = pieces.get(number, b"") + bytes(value)
            values = running_sum(zigzag(varints(memoryview(pieces.get(column_schema["value_delta"][0], b"")))))
            if len(values) != len(start):
                raise WireError("a counter has another number of values than times")
            said = np.ones(len(start), dtype=bool)
            missing = varints(memoryview(pieces.get(column_schema["missing"][0], b"")))
            said[missing[missing < len(start)].astype(np.intp)] = False
            counter = self._trace._counters.get((place.frame.process, place.frame.source, counter_id))
            if counter is None:
                raise WireError("a chunk is of a counter that nothing describes")
            texts = self._trace._texts
            row: "dict[str, Any]" = {
                "process": place.frame.process,
                "gpu_uuid": texts.number_of_text(counter.get("gpu_uuid", b"").hex()),
                "name": texts.number(counter.get("name", b"")),
                "unit": texts.number(counter.get("unit", b"")),
                **self._trace._provenance(place.frame.process),
            }
            count = int(said.sum())
            batch = Batch({name: np.full(count, row[name], dtype=np.int64) for name in columns if name in row})
            if "start" in columns:
                batch["start"] = start[said]
            if "duration" in columns:
                batch["duration"] = duration[said]
            if "in_part" in columns:
                batch["in_part"] = self._trace._in_part(start[said], duration[said])
            if "value" in columns:
                batch["value"] = values[said] * (counter.get("resolution") or 1.0)
            yield batch
        _take_time(known.setdefault((place.frame.process, place.frame.source, *counters.tolist()), []), int(start[0]), end)


def _take_time(known: "list[tuple[int, int]]", begin: int, end: int) -> None:
    """Adds a stretch to those of the same counters, which are sorted. Raises WireError where one of them is of the same time."""
    at = bisect.bisect_left(known, (begin, begin))
    if (at < len(known) and known[at][0] < end) or (at > 0 and known[at - 1][1] > begin):
        raise WireError("two chunks speak of the same time of a counter")
    if at == len(known) and at > 0 and known[-1][1] == begin:
        known[-1] = (known[-1][0], end)
    else:
        known.insert(at, (begin, end))


def open(path: "os.PathLike[str] | str") -> Trace:
    """Opens a .trace file: finished, cut at any byte, damaged, or still being written (what is there now).

    Raises OSError where the file can't be read, TraceError where it is no .trace file. What is missing is in `lost`.
    """
    return Trace(path)


def diff(before: "os.PathLike[str] | str", after: "os.PathLike[str] | str", *arguments: str) -> "list[dict[str, Any]]":
    """What `lanescope diff BEFORE AFTER` says, with further options of that command."""
    rows: "list[dict[str, Any]]" = program.run_json(["diff", "-f", "json", *arguments, program.operand(before), program.operand(after)])
    return rows


__all__ = ["Trace", "TraceError", "diff", "open"]
