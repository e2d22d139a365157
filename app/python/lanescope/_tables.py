"""Tables of events: which there are, their columns, and how a chunk's columns become theirs.

A table's column is made by a small function of a Chunk. docs/tables.md says what each is; tests/python/test_tables.py holds that page to this file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Optional

import numpy as np
import numpy.typing as npt

from ._dictionary import COPY_SHAPE, LAUNCH_SHAPE, QUEUE, Dictionary
from ._schema import ENUMERATIONS, MESSAGES
from ._wire import WireError, fields, fixed, running_sum, varints, zigzag

LARGEST_CHUNK = 65_536  # events (docs/file-format.md)

Array = npt.NDArray[Any]


class Chunk:
    """The events of one chunk: columns of the schema, decoded when they are first asked for."""

    def __init__(self, message: str, data: memoryview, dictionary: Dictionary, base_time: int) -> None:
        self.dictionary = dictionary
        self._base_time = base_time
        self._schema = MESSAGES[message]
        self._parts: dict[int, list[memoryview]] = {}
        self._scalars: dict[int, int] = {}
        for number, value in fields(data):
            if isinstance(value, int):
                self._scalars[number] = value
            else:
                self._parts.setdefault(number, []).append(value)
        self._cache: dict[str, Array] = {}
        self.size = len(self.column("start_delta" if "start_delta" in self._schema else "time_delta"))
        if self.size > LARGEST_CHUNK:
            raise WireError(f"a chunk has {self.size} events")

    def scalar(self, name: str) -> int:
        return self._scalars.get(self._schema[name][0], 0)

    def column(self, name: str) -> Array:
        """The column as it is stored; empty where it is not."""
        if name not in self._cache:
            number, kind = self._schema[name]
            assert isinstance(kind, list)
            parts = self._parts.get(number, [])
            # Bytes are counted before they become eight times as many.
            if sum(len(part) for part in parts) > 10 * LARGEST_CHUNK:
                raise WireError(f"a chunk has more than {LARGEST_CHUNK} events")
            whole = parts[0] if len(parts) == 1 else memoryview(b"".join(parts))
            if kind[0] == "fixed64":
                self._cache[name] = fixed(whole, "<u8")
            elif kind[0] == "fixed32":
                self._cache[name] = fixed(whole, "<u4")
            else:
                values = varints(whole)
                self._cache[name] = zigzag(values) if kind[0] == "sint" else values
        return self._cache[name]

    def values(self, name: str) -> Array:
        """The column with one value an event: an empty one stands for zeros."""
        column = self.column(name)
        if len(column) == self.size:
            return column
        if len(column) != 0:
            raise WireError(f"column {name} has {len(column)} values for {self.size} events")
        return np.zeros(self.size, dtype=column.dtype)

    def start(self) -> Array:
        return running_sum(self.column("start_delta" if "start_delta" in self._schema else "time_delta"), self._base_time)

    def sum(self, name: str) -> Array:
        return running_sum(self.values(name).astype(np.int64, copy=False))

    def of_all(self, name: str) -> Array:
        """What the chunk says once, of all its events."""
        return self.all(self.scalar(name))

    def all(self, value: int) -> Array:
        return np.full(self.size, value, dtype=np.int64)

    def named(self, name: str) -> Array:
        """Whether a column of row numbers names each event."""
        result = np.zeros(self.size, dtype=bool)
        rows = self.column(name)
        result[rows[rows < self.size].astype(np.intp)] = True
        return result

    def text(self, name: str) -> Array:
        return self.dictionary.texts(self.values(name))

    def queue(self, name: str) -> Array:
        return self.dictionary.column("queues", QUEUE, name, self.values("queue"))

    def launch_shape(self, name: str) -> Array:
        return self.dictionary.column("launch_shapes", LAUNCH_SHAPE, name, self.values("shape"))

    def copy_shape(self, name: str) -> Array:
        return self.dictionary.column("copy_shapes", COPY_SHAPE, name, self.values("shape"))

    def by_node(self, of: Callable[[int], int]) -> Array:
        """What `of` says of each event's call node; asked once a node."""
        nodes, places = np.unique(self.values("call_node"), return_inverse=True)
        return np.array([of(int(node)) for node in nodes], dtype=np.int64)[places.reshape(-1)]


@dataclass(frozen=True)
class Column:
    """A column of a table. Its type is int64, uint64, double, bool, text, or symbol: a text that is demangled."""

    name: str
    type: str
    unit: str
    meaning: str
    make: Callable[[Chunk], Array]
    words: Optional[list[str]] = None  # of a text column whose numbers are an enumeration's


@dataclass(frozen=True)
class TableSchema:
    """A table: the field of EventChunk that it comes from, that field's message, and its columns but for process and pid."""

    name: str
    chunk: str
    message: str
    meaning: str
    columns: "tuple[Column, ...]"


def _start(meaning: str = "when it began, since the recording did") -> Column:
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
    return Column("processor", "int64", "", "logical processor; -1 where none is known", lambda chunk: chunk.values("processor").view(np.int64) - 1)


def _kernel_name(chunk: Chunk) -> Array:
    if len(chunk.column("kernel_name")):
        return chunk.dictionary.kernel_names(chunk.values("kernel_name"))
    return chunk.text("name")


_UNSIGNED, _SIGNED, _REAL = 1, 2, 3  # PayloadType


def _payload(chunk: Chunk, types: "tuple[int, ...]") -> Array:
    """Bits of payloads of these types, 0 for others."""
    bits = chunk.values("payload").view(np.int64)
    return np.where(np.isin(chunk.values("payload_type"), types), bits, np.int64(0))


_DURATION = _value("duration", "how long it took", "ns")
_THREAD = _scalar("thread", "thread id")
_CORRELATION = Column(
    "correlation", "int64", "", "number that a CUDA call and its work share within a process; 0 none", lambda chunk: chunk.sum("correlation_delta")
)
_GRAPH = (
    _value("graph", "CUDA graph; 0 outside of graphs"),
    Column("graph_node", "int64", "", "node of the graph; 0 outside of graphs", lambda chunk: chunk.sum("graph_node_delta")),
)
_QUEUE = (_queue("device", "CUDA's number of the GPU in the process"), _queue("context", "CUDA context"), _queue("stream", "CUDA stream"))
_UNFINISHED = Column("unfinished", "bool", "", "whether it was still open when the recording ended", lambda chunk: chunk.named("unfinished"))
_NVTX = (
    _value("category", "NVTX category; 0 none"),
    Column("color", "int64", "", "ARGB; 0 none", lambda chunk: chunk.values("color").astype(np.int64)),
    Column("payload", "int64", "", "whole number that goes with it; 0 where there is none", lambda chunk: _payload(chunk, (_UNSIGNED, _SIGNED))),
    Column("payload_real", "double", "", "real number that goes with it; 0 where there is none", lambda chunk: _payload(chunk, (_REAL,)).view(np.float64)),
    _text("payload_json", "structured payload as a JSON object"),
)


def _spans(name: str, meaning: str) -> TableSchema:
    return TableSchema(
        name, name, "Spans", meaning, (_start(), _DURATION, _text("name", "what it is called"), _value("thread", "thread id; 0: the process's"), _CORRELATION)
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
                Column("name", "symbol", "", "function with its parameters, demangled", _kernel_name),
                *_QUEUE,
                _CORRELATION,
                *(_shape(f"grid_{axis}", "blocks of the grid") for axis in "xyz"),
                *(_shape(f"block_{axis}", "threads of a block") for axis in "xyz"),
                _shape("registers_per_thread", "registers of 32 bits"),
                _shape("static_shared_memory", "of a block", "B"),
                _shape("dynamic_shared_memory", "of a block", "B"),
                _shape("local_memory_per_thread", "of a thread", "B"),
                *(_shape(f"cluster_{axis}", "blocks of a cluster; 0 without") for axis in "xyz"),
                *_GRAPH,
                _UNFINISHED,
            ),
        ),
        TableSchema(
            "copies",
            "copies",
            "Copies",
            "Copies of memory by GPUs.",
            (
                _start(),
                _DURATION,
                _enumeration("kind", "from where to where", "CopyKind", lambda chunk: chunk.copy_shape("kind")),
                _value("bytes", "that were copied", "B"),
                *_QUEUE,
                _CORRELATION,
                _enumeration("source_memory", "kind of memory that was read", "MemoryKind", lambda chunk: chunk.copy_shape("source_memory")),
                _enumeration("destination_memory", "and written", "MemoryKind", lambda chunk: chunk.copy_shape("destination_memory")),
                *_GRAPH,
                _address("virtual_address", "of unified memory that moved; 0 otherwise"),
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
                _value("bytes", "that were set", "B"),
                _value("value", "to which they were set"),
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
                Column("driver", "bool", "", "whether it is the driver's, not the runtime's", lambda chunk: chunk.of_all("driver").astype(bool)),
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
                _enumeration("kind", "for what", "SynchronizationType", lambda chunk: chunk.values("type").view(np.int64)),
                *_QUEUE,
                _value("event", "CUDA event; 0 none"),
                _CORRELATION,
            ),
        ),
        TableSchema(
            "graph_launches",
            "graph_launches",
            "GraphLaunches",
            "CUDA graphs that ran as a whole.",
            (_start(), _DURATION, _value("graph", "CUDA graph"), _value("graph_exec", "instance of it"), *_QUEUE, _CORRELATION),
        ),
        TableSchema(
            "nvtx_ranges",
            "nvtx_ranges",
            "NvtxRanges",
            "Ranges that the program, or its framework, set with NVTX.",
            (
                _start(),
                _DURATION,
                _text("name", "the range's message"),
                _THREAD,
                _scalar("domain", "NVTX domain; 0 is the default one"),
                _value("depth", "ranges around it on this thread and domain"),
                _enumeration("style", "whether ranges nest (push pop) or not (start end)", "NvtxStyle", lambda chunk: chunk.of_all("style")),
                *_NVTX,
                _UNFINISHED,
            ),
        ),
        TableSchema(
            "nvtx_marks",
            "nvtx_marks",
            "NvtxMarks",
            "Instants that the program set with NVTX.",
            (_start("when it was"), _text("name", "the mark's message"), _THREAD, _scalar("domain", "NVTX domain; 0 is the default one"), *_NVTX),
        ),
        _spans("os_runtime", "Calls into the C library that wait or touch files."),
        _spans("overheads", "Time that the profiler, or CUDA on its behalf, took."),
        _spans("compilations", "Compilation at run time and loading of modules."),
        TableSchema(
            "page_faults",
            "page_faults",
            "PageFaults",
            "Faults on pages of unified memory.",
            (
                _start(),
                _DURATION,
                Column("device", "int64", "", "GPU that faulted; -1: the CPU", lambda chunk: chunk.values("device").view(np.int64) - 1),
                _address("address", "of the page"),
                _value("count", "faults that the row stands for"),
                _text("function", "around the CPU's instruction"),
            ),
        ),
        TableSchema(
            "thread_states",
            "thread_states",
            "ThreadStates",
            "What the scheduler did with threads.",
            (_start(), _DURATION, _THREAD, _enumeration("state", "of the thread", "ThreadState", lambda chunk: chunk.values("state").view(np.int64)), _processor()),
        ),
        TableSchema(
            "samples",
            "samples",
            "Samples",
            "Call chains: of threads while they ran, and of calls.",
            (
                _start("when it was taken"),
                _THREAD,
                _enumeration("origin", "what made it be taken", "SampleOrigin", lambda chunk: chunk.of_all("origin")),
                _scalar("period", "processor time that a timer's sample stands for", "ns"),
                _value("duration", "of the call that it is of; 0 for a timer's", "ns"),
                Column("function", "text", "", "innermost function", lambda chunk: chunk.by_node(chunk.dictionary.function)),
                Column("stack", "text", "", "all functions, the outermost first, with semicolons between", lambda chunk: chunk.by_node(chunk.dictionary.stack)),
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
                _start("when it was"),
                _enumeration("operation", "what was done", "MemoryUsageOperation", lambda chunk: chunk.values("operation").view(np.int64)),
                Column("address", "uint64", "", "of the memory, or of the pool", lambda chunk: chunk.sum("address_delta").view(np.uint64)),
                _value("bytes", "of the memory", "B"),
                _enumeration("memory", "kind of memory", "MemoryKind", lambda chunk: chunk.values("memory_kind").view(np.int64)),
                *_QUEUE,
                _CORRELATION,
            ),
        ),
        TableSchema(
            "cuda_events",
            "cuda_events",
            "CudaEvents",
            "Times at which streams came past CUDA events.",
            (_start("when it was"), *_QUEUE, _value("event", "CUDA event"), _value("record", "number of this recording of it"), _CORRELATION),
        ),
    )
}
