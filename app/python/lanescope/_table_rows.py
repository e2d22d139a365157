"""Rows of a trace's tables, decoded as columns are asked for."""

from __future__ import annotations

import bisect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Iterable, Iterator, Optional

import numpy as np

from ._demangle import demangled
from ._frames import Frame
from ._kernel_tables import RecordColumn, Recorded, RecordSchema
from ._schema import MESSAGES
from ._segments import SegmentChunk
from ._tables import LARGEST_CHUNK, Chunk, Column, DamagedMembers, Member, TableSchema, member_of
from ._wire import WireError, fields, is_near, running_sum, varints, wrapped, zigzag
from .table import PROVENANCE, Array, Batch, distinct

if TYPE_CHECKING:
    from .trace import Trace

_GROUP_ROWS, _GROUP_BYTES = 16_384, 1 << 20  # of chunks that are read together


@dataclass(frozen=True)
class Place:
    """The place of a chunk or a lane segment of events in the file."""

    frame: Frame
    base_time: int  # ns since the recording began; for a lane segment, the recording's epoch
    kind: int       # field of EventChunk; 0 for a lane segment
    rows: Optional[int]  # None for a lane segment some of whose rows belong to another table


class TextColumns:
    """The texts for the numbers in text columns, for tables of one trace."""

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


class EventRows(TextColumns):
    """Rows from all chunks of one kind of event."""

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
                except WireError:  # it is not known which chunk caused it
                    for place, _ in group:
                        self._trace._note_damaged(place.frame)
                    break

    def _groups(self) -> "Iterator[list[tuple[Place, Member]]]":
        """Chunks that can be read. Small chunks that follow each other are put together."""
        trace = self._trace
        group: "list[tuple[Place, Member]]" = []
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

    def _batch(self, group: "list[tuple[Place, Member]]", columns: "list[str]") -> Batch:
        trace, schema = self._trace, self._schema
        places, members = [place for place, _ in group], [member for _, member in group]
        if places[0].kind == 0:
            chunk: Chunk = SegmentChunk(schema.name, members, trace._tables, trace.session["epoch"])
        else:
            chunk = Chunk(schema.message, members)
        wrong = np.array([place.rows is not None and place.rows != rows for place, rows in zip(places, chunk.sizes.tolist())])
        chunk.refuse(wrong, "a chunk has another number of events than its frame says")
        times: "dict[str, Array]" = {name: self._columns[name].make(chunk) for name in ("start", "duration") if name in self._columns}
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
        """Which events have possible times; None if all have, as in any recording that is not damaged."""
        if not all(is_near(np.array([column.min(initial=0), column.max(initial=0)])).all() for column in times.values()):
            valid: Array = np.logical_and.reduce([is_near(column) for column in times.values()]) & (times.get("duration", np.int64(0)) >= 0)
            return valid
        duration = times.get("duration")
        return None if duration is None or duration.min(initial=0) >= 0 else duration >= 0

    def _column(self, chunk: Chunk, places: "list[Place]", name: str) -> Array:
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


class RecordRows(TextColumns):
    """Rows that are made from other frames than those of events."""

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
            process, size = int(rows["process"][0]), len(rows["start"])  # all rows of a batch are of one process
            known = trace.processes.get(process)
            for name, value in ({"pid": known.pid if known else 0} | trace._provenance(process)).items():
                rows[name] = np.full(size, value, dtype=np.int64)
            rows["in_part"] = trace._in_part(rows["start"], rows["duration"])
            yield Batch({name: rows[name] for name in columns})


COUNTER_COLUMNS = {
    "start": "int64",
    "duration": "int64",
    "process": "int64",
    "gpu_uuid": "text",
    "name": "text",
    "unit": "text",
    "value": "double",
}


class CounterRows(TextColumns):
    """Values of counters, one per row."""

    def column_types(self) -> "dict[str, str]":
        return COUNTER_COLUMNS | PROVENANCE

    def row_count(self) -> int:
        return sum(len(batch["start"]) for batch in self.batches(["start"]))

    def batches(self, columns: "list[str]") -> Iterator[Batch]:
        trace = self._trace
        known: "dict[tuple[int, ...], list[tuple[int, int]]]" = {}  # the times that chunks of the same counters cover
        for place in trace._places["counter_samples"]:
            if place.frame.payload_at in trace._damaged:
                continue
            try:
                events = trace._events_of(place)
                if events is not None:
                    yield from list(self._chunk(place, events, columns, known))
            except WireError:
                trace._note_damaged(place.frame)

    def _chunk(self, place: Place, events: memoryview, columns: "list[str]", known: "dict[tuple[int, ...], list[tuple[int, int]]]") -> Iterator[Batch]:
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
    """Adds a time to the sorted times of the same counters. Raises WireError if it overlaps one of them."""
    at = bisect.bisect_left(known, (begin, begin))
    if (at < len(known) and known[at][0] < end) or (at > 0 and known[at - 1][1] > begin):
        raise WireError("two chunks speak of the same time of a counter")
    if at == len(known) and at > 0 and known[-1][1] == begin:
        known[-1] = (known[-1][0], end)
    else:
        known.insert(at, (begin, end))
