"""Tables of events: their names and columns, and how these are made from a chunk's columns.

A table's column is made by a small function of a Chunk. docs/tables.md describes each column; tests/python/test_tables.py compares that page with this file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, NamedTuple, Optional, Sequence, Union

import numpy as np
import numpy.typing as npt

from ._dictionary import COPY_SHAPE, LAUNCH_SHAPE, QUEUE, Dictionary
from ._schema import ENUMERATIONS, MESSAGES
from ._wire import LONGEST_VARINT, WireError, fields, fixed, running_sum, varints, wrapped, zigzag

LARGEST_CHUNK = 65_536  # events (docs/file-format.md)

Array = npt.NDArray[Any]


class DamagedMembers(WireError):
    """Some of the chunks that are read together are damaged."""

    def __init__(self, members: Array, why: str) -> None:
        super().__init__(why)
        self.members = members  # their positions


_MOST_FIELDS = 100_000  # of a chunk; writers need one for each column


class Member(NamedTuple):
    """One of the chunks that are read together: its fields by number, with columns as bytes."""

    dictionary: Dictionary
    base_time: int
    columns: "dict[int, Union[bytes, memoryview]]"
    scalars: "dict[int, int]"


def member_of(data: memoryview, dictionary: Dictionary, base_time: int) -> Member:
    parts: "dict[int, list[memoryview]]" = {}
    scalars: "dict[int, int]" = {}
    for place, (number, value) in enumerate(fields(data)):
        if place == _MOST_FIELDS:
            raise WireError("a chunk is in too many pieces")
        if isinstance(value, int):
            scalars[number] = value
        else:
            parts.setdefault(number, []).append(value)
    columns: "dict[int, Union[bytes, memoryview]]" = {number: each[0] if len(each) == 1 else b"".join(each) for number, each in parts.items()}
    return Member(dictionary, base_time, columns, scalars)


class Chunk:
    """The events of chunks of one kind: one chunk or many small ones, which would take a thousand times as long if read one by one. Columns of the schema
    are decoded when they are first asked for, for all members at once. DamagedMembers says which members are damaged.
    """

    def __init__(self, message: str, members: "list[Member]", rows_by: str = "") -> None:
        self._schema = MESSAGES[message]
        self._members = members
        self._cache: "dict[str, tuple[Array, Array]]" = {}
        self._joined: "dict[str, tuple[Array, Array, Array]]" = {}  # tables with the rows of all dictionaries
        if not rows_by:
            rows_by = "start_delta" if "start_delta" in self._schema else "time_delta"
        self._rows_by = rows_by
        self.sizes = self._stored(rows_by)[1]  # number of events of each member
        self.refuse(self.sizes > LARGEST_CHUNK, "a chunk has too many events")
        self.size = int(self.sizes.sum())

    def refuse(self, members: Array, why: str) -> None:
        """Raises DamagedMembers if `members` is true for any member."""
        if members.any():
            raise DamagedMembers(np.flatnonzero(members), why)

    def owners(self) -> Array:
        """For each event, the position of its member."""
        return np.repeat(np.arange(len(self._members)), self.sizes)

    def of_members(self, values: "Sequence[int]") -> Array:
        """For each event, the value of its member."""
        if len(values) == 1:
            return np.full(self.size, wrapped(values[0]), dtype=np.int64)
        return np.repeat(np.array([wrapped(value) for value in values], dtype=np.int64), self.sizes)

    def scalars(self, name: str) -> "list[int]":
        number = self._schema[name][0]
        return [member.scalars.get(number, 0) for member in self._members]

    def _stored(self, name: str) -> "tuple[Array, Array]":
        """The column as it is stored, with all members joined, and the number of values of each member."""
        found = self._cache.get(name)
        if found is None:
            found = self._cache[name] = self._decoded(name)
        return found

    def _decoded(self, name: str) -> "tuple[Array, Array]":
        number, kind = self._schema[name]
        assert isinstance(kind, list)
        parts = [member.columns.get(number, b"") for member in self._members]
        lengths = np.array([len(part) for part in parts])
        # Checked while the values are still bytes, because they become eight times as large.
        self.refuse(lengths > 10 * LARGEST_CHUNK, "a chunk has too many events")
        whole = memoryview(parts[0] if len(parts) == 1 else b"".join(parts))
        if kind[0] in ("fixed64", "fixed32"):
            dtype = "<u8" if kind[0] == "fixed64" else "<u4"
            width = np.dtype(dtype).itemsize
            self.refuse(lengths % width != 0, "a column is cut off")
            return fixed(whole, dtype), lengths // width
        data = np.frombuffer(whole, dtype=np.uint8)
        ends = np.cumsum(lengths)
        is_cut = lengths > 0
        is_cut[is_cut] = data[ends[is_cut] - 1] >= 0x80
        self.refuse(is_cut, "a column is cut off")
        try:
            values = varints(whole)
        except WireError as error:
            last = np.flatnonzero(data < 0x80)
            too_long = last[np.diff(last, prepend=-1) > LONGEST_VARINT]
            raise DamagedMembers(np.unique(np.searchsorted(ends, too_long, side="right")), str(error)) from None
        if len(values) == len(data):
            counts = lengths
        else:
            counts = np.diff(np.searchsorted(np.flatnonzero(data < 0x80), ends), prepend=0) if len(parts) > 1 else np.array([len(values)])
        return zigzag(values) if kind[0] == "sint" else values, counts

    def _rows(self, name: str) -> Array:
        """The column with one value per event, including events that belong to another table. An empty column stands for zeros."""
        column, counts = self._stored(name)
        sizes = self._stored(self._rows_by)[1]
        if (counts == sizes).all():
            return column
        self.refuse((counts != sizes) & (counts != 0), f"column {name} has another number of values than there are events")
        rows = np.zeros(int(sizes.sum()), dtype=column.dtype)
        rows[np.repeat(counts != 0, sizes)] = column
        return rows

    def _summed(self, deltas: Array, bases: "Sequence[int]" = ()) -> Array:
        """The sums of a column of deltas of all events within each member, starting from its base; modulo 2^64, as in the program's reader."""
        if len(self._members) == 1:
            return running_sum(deltas, bases[0] if bases else 0)
        total = np.cumsum(deltas, dtype=np.int64)
        sizes = self._stored(self._rows_by)[1]
        is_filled = sizes > 0
        first = (np.cumsum(sizes) - sizes)[is_filled]
        shift = np.array([wrapped(base) for base in bases] if bases else np.zeros(len(sizes)), dtype=np.int64)
        shift[is_filled] -= total[first] - deltas[first]
        total += np.repeat(shift, sizes)
        return total

    def values(self, name: str) -> Array:
        """The column with one value per event. An empty column stands for zeros."""
        return self._rows(name)

    def start(self) -> Array:
        return self._summed(self._rows(self._rows_by), [member.base_time for member in self._members])

    def sum(self, name: str) -> Array:
        return self._summed(self._rows(name).astype(np.int64, copy=False))

    def of_all(self, name: str) -> Array:
        """For each event, a value that a chunk stores only once."""
        return self.of_members(self.scalars(name))

    def named(self, name: str) -> Array:
        """Whether each event is named by a column of row numbers."""
        result = np.zeros(self.size, dtype=bool)
        rows, counts = self._stored(name)
        sizes = np.repeat(self.sizes, counts)
        first = np.repeat(np.cumsum(self.sizes) - self.sizes, counts)
        is_there = rows < sizes
        result[first[is_there] + rows[is_there].astype(np.intp)] = True
        return result

    def _dictionaries(self) -> "tuple[list[Dictionary], Array]":
        """The dictionaries of the members without repetition, and the position of each member's dictionary among them."""
        places: "dict[int, int]" = {}
        which = np.array([places.setdefault(id(member.dictionary), len(places)) for member in self._members])
        return list({id(member.dictionary): member.dictionary for member in self._members}.values()), which

    def _looked_up(self, table: str, ids: Array, column: int = 0) -> Array:
        """What the ids stand for, each looked up in the dictionary of its member."""
        first = self._members[0].dictionary
        if all(member.dictionary is first for member in self._members):
            return first.table(table).column(ids, column)
        if table not in self._joined:
            dictionaries, which = self._dictionaries()
            tables = [dictionary.table(table) for dictionary in dictionaries]
            sizes = np.array([each.size for each in tables])
            if sizes.sum() > 4 * len(ids) + 65_536:  # joining the tables would take longer than separate look-ups
                ends = np.cumsum(self.sizes)
                parts = [member.dictionary.table(table).column(ids[end - size:end], column)
                         for member, end, size in zip(self._members, ends.tolist(), self.sizes.tolist())]
                return np.concatenate(parts)
            begins = np.cumsum(sizes) - sizes
            self._joined[table] = np.concatenate([each.rows() for each in tables]), begins[which], sizes[which]
        rows, begin, size = self._joined[table]
        is_near = ids < np.repeat(size, self.sizes)
        values: Array = rows[np.repeat(begin, self.sizes) + np.where(is_near, ids, 0).astype(np.intp), column]
        owners = self.owners()
        for row in np.flatnonzero(~is_near):
            values[row] = self._members[owners[row]].dictionary.table(table).get(int(ids[row]))[column]
        return values

    def text(self, name: str) -> Array:
        return self._looked_up("strings", self.values(name))

    def kernel_name(self) -> Array:
        """The names of the kernels. Imported kernels have readable names of their own."""
        is_imported = self._stored("kernel_name")[1] > 0
        if not is_imported.any():
            return self.text("name")
        imported = self._looked_up("strings", self._looked_up("kernel_names", self.values("kernel_name")).view(np.uint64))
        return imported if is_imported.all() else np.where(np.repeat(is_imported, self.sizes), imported, self.text("name"))

    def queue(self, name: str) -> Array:
        return self._looked_up("queues", self.values("queue"), QUEUE.index(name))

    def launch_shape(self, name: str) -> Array:
        return self._looked_up("launch_shapes", self.values("shape"), LAUNCH_SHAPE.index(name))

    def copy_shape(self, name: str) -> Array:
        return self._looked_up("copy_shapes", self.values("shape"), COPY_SHAPE.index(name))

    def by_node(self, of: "Callable[[Dictionary, int], int]") -> Array:
        """The result of `of` for each event's call node. It is called once for each node and dictionary."""
        nodes, codes = np.unique(self.values("call_node"), return_inverse=True)
        codes = codes.reshape(-1)
        dictionaries, which = self._dictionaries()
        pairs, rows = np.unique(np.repeat(which, self.sizes) * len(nodes) + codes, return_inverse=True)
        said = np.zeros(len(pairs), dtype=np.int64)
        failed = np.zeros(len(pairs), dtype=bool)
        for i, pair in enumerate(pairs.tolist()):
            try:
                said[i] = of(dictionaries[pair // len(nodes)], int(nodes[pair % len(nodes)]))
            except WireError:
                failed[i] = True
        rows = rows.reshape(-1)
        if failed.any():
            raise DamagedMembers(np.unique(self.owners()[failed[rows]]), "a call chain is more than is read")
        return said[rows]


@dataclass(frozen=True)
class Column:
    """A column of a table. Its type is int64, uint64, double, bool, text, or symbol: a text that is demangled."""

    name: str
    type: str
    unit: str
    meaning: str
    make: Callable[[Chunk], Array]
    words: Optional[list[str]] = None  # for a text column with numbers of an enumeration


@dataclass(frozen=True)
class TableSchema:
    """A table: the field of EventChunk that it comes from, that field's message, and its columns except process and pid."""

    name: str
    chunk: str
    message: str
    meaning: str
    columns: "tuple[Column, ...]"


def _start(meaning: str = "when it began, counted from the beginning of the recording") -> Column:
    return Column("start", "int64", "ns", meaning, lambda chunk: chunk.start())


def _value(name: str, meaning: str, unit: str = "", source: str = "") -> Column:
    return Column(name, "int64", unit, meaning, lambda chunk: chunk.values(source or name).view(np.int64))


def _address(name: str, meaning: str) -> Column:
    return Column(name, "uint64", "", meaning, lambda chunk: chunk.values(name))


def _text(name: str, meaning: str, source: str = "") -> Column:
    return Column(name, "text", "", meaning, lambda chunk: chunk.text(source or name))


def _enumeration(name: str, meaning: str, words: str, make: Callable[[Chunk], Array]) -> Column:
    return Column(name, "text", "", meaning, make, ENUMERATIONS[words])


def _scalar(name: str, meaning: str, unit: str = "") -> Column:
    return Column(name, "int64", unit, meaning, lambda chunk: chunk.of_all(name))


def _queue(name: str, meaning: str) -> Column:
    return Column(name, "int64", "", meaning, lambda chunk: chunk.queue(name))


def _shape(name: str, meaning: str, unit: str = "") -> Column:
    return Column(name, "int64", unit, meaning, lambda chunk: chunk.launch_shape(name))


def _processor() -> Column:
    return Column("processor", "int64", "", "logical processor; -1 if it is not known", lambda chunk: chunk.values("processor").view(np.int64) - 1)


_UNSIGNED, _SIGNED, _REAL = 1, 2, 3  # PayloadType


def _payload(chunk: Chunk, types: "tuple[int, ...]") -> Array:
    """The payloads, as bits, of events with one of these types; 0 for other events."""
    bits = chunk.values("payload").view(np.int64)
    return np.where(np.isin(chunk.values("payload_type"), types), bits, np.int64(0))


_DURATION = _value("duration", "how long it took", "ns")
_THREAD = _scalar("thread", "thread id")
_CORRELATION = Column(
    "correlation", "int64", "", "number that a CUDA call and its work share within a process; 0 if there is none", lambda chunk: chunk.sum("correlation_delta")
)
_GRAPH = (
    _value("graph", "CUDA graph; 0 outside of graphs"),
    Column("graph_node", "int64", "", "node of the graph; 0 outside of graphs", lambda chunk: chunk.sum("graph_node_delta")),
)
_QUEUE = (_queue("device", "CUDA's number of the GPU in the process"), _queue("context", "CUDA context"), _queue("stream", "CUDA stream"))
_UNFINISHED = Column("unfinished", "bool", "", "whether it was still open when the recording ended", lambda chunk: chunk.named("unfinished"))
_NVTX = (
    _value("category", "NVTX category; 0 if there is none"),
    Column("color", "int64", "", "ARGB; 0 if there is none", lambda chunk: chunk.values("color").astype(np.int64)),
    Column("payload", "int64", "", "payload that is a whole number; 0 if there is none", lambda chunk: _payload(chunk, (_UNSIGNED, _SIGNED))),
    Column("payload_real", "double", "", "payload that is a real number; 0 if there is none", lambda chunk: _payload(chunk, (_REAL,)).view(np.float64)),
    _text("payload_json", "structured payload as a JSON object"),
)


def _spans(name: str, meaning: str) -> TableSchema:
    return TableSchema(
        name, name, "Spans", meaning, (_start(), _DURATION, _text("name", "name"), _value("thread", "thread id; 0: the whole process, or not known"), _CORRELATION)
    )


SCHEMAS: "dict[str, TableSchema]" = {
    schema.name: schema
    for schema in (
        TableSchema(
            "kernels",
            "kernels",
            "Kernels",
            "CUDA kernels, as the GPU ran them.",
            (
                _start(),
                _DURATION,
                Column("name", "symbol", "", "function with its parameters, demangled", lambda chunk: chunk.kernel_name()),
                *_QUEUE,
                _CORRELATION,
                *(_shape(f"grid_{axis}", "blocks of the grid") for axis in "xyz"),
                *(_shape(f"block_{axis}", "threads of a block") for axis in "xyz"),
                _shape("registers_per_thread", "registers of 32 bits"),
                _shape("static_shared_memory", "static shared memory of a block", "B"),
                _shape("dynamic_shared_memory", "dynamic shared memory of a block", "B"),
                _shape("local_memory_per_thread", "local memory of a thread", "B"),
                *(_shape(f"cluster_{axis}", "blocks of a cluster; 0 without clusters") for axis in "xyz"),
                *_GRAPH,
                _UNFINISHED,
            ),
        ),
        TableSchema(
            "copies",
            "copies",
            "Copies",
            "Memory copies by GPUs.",
            (
                _start(),
                _DURATION,
                _enumeration("kind", "direction of the copy", "CopyKind", lambda chunk: chunk.copy_shape("kind")),
                _value("bytes", "bytes that were copied", "B"),
                *_QUEUE,
                _CORRELATION,
                _enumeration("source_memory", "kind of memory that was read", "MemoryKind", lambda chunk: chunk.copy_shape("source_memory")),
                _enumeration("destination_memory", "kind of memory that was written", "MemoryKind", lambda chunk: chunk.copy_shape("destination_memory")),
                *_GRAPH,
                _address("virtual_address", "address of the unified memory that moved; 0 otherwise"),
            ),
        ),
        TableSchema(
            "sets",
            "sets",
            "Sets",
            "Memory that GPUs filled with a value.",
            (
                _start(),
                _DURATION,
                _value("bytes", "bytes that were set", "B"),
                _value("value", "value to which they were set"),
                *_QUEUE,
                _CORRELATION,
                _enumeration("memory", "kind of memory", "MemoryKind", lambda chunk: chunk.values("memory_kind").view(np.int64)),
                *_GRAPH,
            ),
        ),
        TableSchema(
            "api_calls",
            "api_calls",
            "ApiCalls",
            "Calls of the CUDA runtime and driver.",
            (
                _start(),
                _DURATION,
                _text("name", "function"),
                _THREAD,
                _CORRELATION,
                _value("result", "cudaError_t or CUresult"),
                Column("driver", "bool", "", "whether it is a call of the driver; otherwise it is one of the runtime", lambda chunk: chunk.of_all("driver").astype(bool)),
            ),
        ),
        TableSchema(
            "synchronizations",
            "synchronizations",
            "Synchronizations",
            "Waits of the CPU or of a stream for the GPU.",
            (
                _start(),
                _DURATION,
                _enumeration("kind", "what it waits for", "SynchronizationType", lambda chunk: chunk.values("type").view(np.int64)),
                *_QUEUE,
                _value("event", "CUDA event; 0 if there is none"),
                _CORRELATION,
            ),
        ),
        TableSchema(
            "graph_launches",
            "graph_launches",
            "GraphLaunches",
            "CUDA graphs that ran as a whole.",
            (_start(), _DURATION, _value("graph", "CUDA graph"), _value("graph_exec", "instance of the graph"), *_QUEUE, _CORRELATION),
        ),
        TableSchema(
            "nvtx_ranges",
            "nvtx_ranges",
            "NvtxRanges",
            "Ranges that the program, or its framework, made with NVTX.",
            (
                _start(),
                _DURATION,
                _text("name", "the range's message"),
                _THREAD,
                _scalar("domain", "NVTX domain; 0 is the default one"),
                _value("depth", "number of ranges around it on this thread and domain"),
                _enumeration("style", "whether ranges nest (push pop) or not (start end)", "NvtxStyle", lambda chunk: chunk.of_all("style")),
                *_NVTX,
                _UNFINISHED,
            ),
        ),
        TableSchema(
            "nvtx_marks",
            "nvtx_marks",
            "NvtxMarks",
            "Instants that the program marked with NVTX.",
            (_start("time of the event"), _text("name", "the mark's message"), _THREAD, _scalar("domain", "NVTX domain; 0 is the default one"), *_NVTX),
        ),
        _spans("os_runtime", "Calls into the C library that wait or touch files."),
        _spans("overheads", "Time that the profiler took, or CUDA because of the profiler."),
        _spans("compilations", "Compilation at run time, and loading of modules."),
        TableSchema(
            "page_faults",
            "page_faults",
            "PageFaults",
            "Faults on pages of unified memory.",
            (
                _start(),
                _DURATION,
                Column("device", "int64", "", "GPU that faulted; -1: the CPU", lambda chunk: chunk.values("device").view(np.int64) - 1),
                _address("address", "address of the page"),
                _value("count", "number of faults that the row stands for"),
                _text("function", "function that contains the CPU's instruction"),
            ),
        ),
        TableSchema(
            "thread_states",
            "thread_states",
            "ThreadStates",
            "What the scheduler did with threads.",
            (
                _start(),
                _DURATION,
                _THREAD,
                _enumeration("state", "state of the thread", "ThreadState", lambda chunk: chunk.values("state").view(np.int64)),
                _processor(),
                _value("waker", "thread id of the thread that ended a time in which this one was blocked; 0 if it is not known, or if a device or a timer did"),
            ),
        ),
        TableSchema(
            "samples",
            "samples",
            "Samples",
            "Call chains of threads while they ran, and of calls.",
            (
                _start("when it was taken"),
                _THREAD,
                _enumeration("origin", "why it was taken", "SampleOrigin", lambda chunk: chunk.of_all("origin")),
                _scalar("period", "processor time that a sample of a timer stands for", "ns"),
                _value("duration", "duration of the call to which it belongs; 0 for a timer", "ns"),
                Column("function", "text", "", "innermost function", lambda chunk: chunk.by_node(Dictionary.function)),
                Column("stack", "text", "", "all functions, the outermost first, separated by semicolons", lambda chunk: chunk.by_node(Dictionary.stack)),
                _processor(),
                _CORRELATION,
            ),
        ),
        TableSchema(
            "memory_usage",
            "memory_usage",
            "MemoryUsage",
            "Allocations and releases of memory by CUDA calls.",
            (
                _start("time of the event"),
                _enumeration("operation", "what was done", "MemoryUsageOperation", lambda chunk: chunk.values("operation").view(np.int64)),
                Column("address", "uint64", "", "address of the memory, or of the pool", lambda chunk: chunk.sum("address_delta").view(np.uint64)),
                _value("bytes", "size of the memory", "B"),
                _enumeration("memory", "kind of memory", "MemoryKind", lambda chunk: chunk.values("memory_kind").view(np.int64)),
                *_QUEUE,
                _CORRELATION,
            ),
        ),
        TableSchema(
            "cuda_events",
            "cuda_events",
            "CudaEvents",
            "Times at which streams reached CUDA events.",
            (_start("time of the event"), *_QUEUE, _value("event", "CUDA event"), _value("record", "number of this recording of the event"), _CORRELATION),
        ),
    )
}
