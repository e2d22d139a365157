"""Events of compacted files: what their ids stand for, and lane segments as chunks from whose columns tables are made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Optional

import numpy as np

from ._dictionary import Dictionary, Texts
from ._message import decode
from ._schema import DETAIL_COLUMNS, MESSAGES, TRACK_KINDS
from ._tables import LARGEST_CHUNK, Array, Chunk, DamagedMembers, Member
from ._wire import WireError, fields, running_sum, varints, zigzag

if TYPE_CHECKING:
    from ._frames import Frame

_PROCESS_RANGES = 6  # a TrackKind


class FileTables:
    """What ids in lane segments of a file stand for. Details are decoded when the first is asked for; `note_damaged` is called with the frames of damaged
    details."""

    def __init__(self, texts: Texts, most_detail_bytes: int, note_damaged: "Callable[[Frame], None]") -> None:
        self._most_detail_bytes = most_detail_bytes
        self.dictionary = Dictionary(texts)
        self.tracks: "list[dict[str, Any]]" = []
        self.threads: "list[dict[str, int]]" = []
        self._note_damaged = note_damaged
        self._unread: "list[tuple[Frame, memoryview]]" = []
        self._details: "dict[int, list[Array]]" = {}

    def take_tracks(self, payload: memoryview) -> None:
        tracks = decode("Tracks", payload)
        self.threads += tracks["threads"]
        self.tracks += tracks["tracks"]

    def take_details(self, frame: Frame, payload: memoryview) -> None:
        self._unread.append((frame, payload))

    def _read_details(self, payload: memoryview) -> None:
        details = decode_details(payload)
        if details is None:
            return
        kind, first, rows, columns = details
        if 8 * (first + rows) * len(self._details_of(kind)) > self._most_detail_bytes:
            raise WireError("ids of details are larger than their number may be")
        for column, values in enumerate(self._details_of(kind)):
            if len(values) < first + rows:
                grown = np.zeros(max(2 * len(values), first + rows), dtype=np.int64)
                grown[: len(values)] = values
                self._details[kind][column] = values = grown
            if column < len(columns) and len(columns[column]):
                values[first : first + rows] = columns[column]

    def detail(self, kind: int, name: str, ids: Array) -> Array:
        """A column of details; 0 for ids that no frame has defined."""
        for frame, payload in self._unread:
            try:
                self._read_details(payload)
            except WireError:
                self._note_damaged(frame)
        self._unread.clear()
        values = self._details_of(kind)[DETAIL_COLUMNS[kind].index(name)]
        found: Array = values[np.where(ids < len(values), ids, 0)]
        return found


    def _details_of(self, kind: int) -> "list[Array]":
        if kind not in self._details:
            self._details[kind] = [np.zeros(1, dtype=np.int64) for _ in DETAIL_COLUMNS[kind]]
        return self._details[kind]


def decode_details(payload: memoryview) -> "Optional[tuple[int, int, int, list[Array]]]":
    """Kind, first id, number of rows, and columns of a frame; None for an unknown kind."""
    numbers = {number: name for name, (number, _) in MESSAGES["Details"].items()}
    found = {"kind": 0, "first": 0, "rows": 0}
    columns: "list[Array]" = []
    for number, value in fields(payload):
        name = numbers.get(number)
        if name == "columns" and isinstance(value, memoryview):
            parts = b"".join(part for field, part in fields(value) if field == MESSAGES["DetailColumn"]["value_delta"][0] and isinstance(part, memoryview))
            if len(parts) > 10 * LARGEST_CHUNK:
                raise WireError("a frame of details has too many rows")
            columns.append(running_sum(zigzag(varints(memoryview(parts)))))
        elif name in found and isinstance(value, int):
            found[name] = value
    if found["kind"] not in DETAIL_COLUMNS:
        return None
    if found["rows"] > LARGEST_CHUNK or any(len(column) not in (0, found["rows"]) for column in columns):
        raise WireError("columns of details have other lengths than their frame says")
    return found["kind"], found["first"], found["rows"], columns


def track_of(segment: memoryview) -> int:
    """The position of the track of a segment or of a segment's head; both start alike."""
    number = MESSAGES["LaneSegment"]["track"][0]
    return next((value for field, value in fields(segment) if field == number and isinstance(value, int)), 0)


def entries_of_index(payload: memoryview) -> "dict[int, Optional[int]]":
    """The positions of the frames that a frame of the index names. The value is the track of a lane segment, None for other frames."""
    entry_number, offset_number, head_number = MESSAGES["Index"]["entries"][0], MESSAGES["IndexEntry"]["offset"][0], MESSAGES["IndexEntry"]["segment"][0]
    found: "dict[int, Optional[int]]" = {}
    for number, entry in fields(payload):
        if number != entry_number or not isinstance(entry, memoryview):
            continue
        offset, head = 0, None
        for field, value in fields(entry):
            if field == offset_number and isinstance(value, int):
                offset = value
            elif field == head_number and isinstance(value, memoryview):
                head = value
        found[offset] = None if head is None else track_of(head)
    return found


class SegmentChunk(Chunk):
    """Events of lane segments that belong to one table, with the same columns as chunks of that table."""

    def __init__(self, table: str, members: "list[Member]", tables: FileTables, epoch: int) -> None:
        super().__init__("LaneSegment", members, "gap")
        places = self.scalars("track")
        self.refuse((self.sizes == 0) | np.array([place >= len(tables.tracks) for place in places]), "a lane segment has no events, or no track")
        self._tables, self._tracks = tables, [tables.tracks[place] for place in places]
        kinds = [TRACK_KINDS.get(track["kind"], ((), 0)) for track in self._tracks]
        self.refuse(np.array([table not in kind[0] for kind in kinds]), "a lane segment is of another track than the index says")
        self._kind = kinds[0][1]  # all details of a table are of one kind
        self._epoch = epoch
        self._made: "dict[str, Array]" = {}
        self._chosen: "Optional[Array]" = None  # the rows that belong to this table; None: all
        if table in ("copies", "sets"):
            chosen = self._tables.detail(self._kind, "operation", self._details()) == ("copies", "sets").index(table)
            self._made.clear()
            owners = self.owners()
            self._chosen, self.size = chosen, int(chosen.sum())
            self.sizes = np.bincount(owners[chosen], minlength=len(members))

    def _once(self, name: str, make: "Callable[[], Array]") -> Array:
        """A column of the table's rows, made when it is first asked for."""
        if name not in self._made:
            whole = make()
            self._made[name] = whole if self._chosen is None else whole[self._chosen]
        return self._made[name]

    def _starts(self) -> Array:
        duration = self._rows("duration").astype(np.int64)
        first = [((start >> 1) ^ -(start & 1)) - self._epoch for start in self.scalars("first_start")]
        return self._summed(self._rows("gap").astype(np.int64) + duration, first) - duration

    def _details(self) -> Array:
        def make() -> Array:
            detail = self._summed(self._rows("detail_delta").astype(np.int64, copy=False))
            if (detail < 0).any():
                owners = np.repeat(np.arange(len(self._members)), self._stored("gap")[1])
                raise DamagedMembers(np.unique(owners[detail < 0]), "a detail has a negative id")
            return detail

        return self._once("detail", make)

    def _of_detail(self, name: str) -> Array:
        return self._tables.detail(self._kind, name, self._details())

    def _of_tracks(self, name: str) -> Array:
        return self.of_members([track[name] for track in self._tracks])

    def _threads(self) -> Array:
        threads = self._tables.threads
        return self.of_members([threads[track["thread"] - 1]["id"] if 0 < track["thread"] <= len(threads) else 0 for track in self._tracks])

    def start(self) -> Array:
        return self._once("start", self._starts)

    def kernel_name(self) -> Array:
        return self.text("name")  # names are readable already

    def values(self, name: str) -> Array:
        if name == "duration":
            return self._once("duration", lambda: self._rows("duration").astype(np.int64))
        if name == "thread":
            return self._threads()
        if name == "depth":
            return self.of_members(self.scalars("lane"))
        if name == "device":  # for page faults: 0 is the CPU
            return self.of_members([1 + track["device"] if track["on_gpu"] else 0 for track in self._tracks])
        if name == "memory_kind" and self._kind == 2:  # for sets
            return self._of_detail("destination_memory")
        values = self._of_detail(name)
        return values.view(np.uint64) if name in ("address", "virtual_address") else values

    def sum(self, name: str) -> Array:
        if name != "correlation_delta":
            return self._of_detail(name[: -len("_delta")])
        return self._once("correlation", lambda: self._summed(self._rows("correlation_delta").astype(np.int64, copy=False)))

    def of_all(self, name: str) -> Array:
        if name == "thread":
            return self._threads()
        if name == "domain":
            return self._of_tracks("domain")
        if name == "style":
            return self.of_members([int(track["kind"] == _PROCESS_RANGES) for track in self._tracks])
        return self._of_detail(name)

    def named(self, name: str) -> Array:
        is_named: Array = self._of_detail(name) != 0
        return is_named

    def text(self, name: str) -> Array:
        return self._tables.dictionary.texts(self._once("name", lambda: self._rows("name")) if name == "name" else self._of_detail(name).view(np.uint64))

    def queue(self, name: str) -> Array:
        return self._of_detail(name) if self._kind == 6 and name != "device" else self._of_tracks(name)

    def launch_shape(self, name: str) -> Array:
        return self._of_detail(name)

    def copy_shape(self, name: str) -> Array:
        return self._of_detail("copy_kind" if name == "kind" else name)
