"""Tables about kernels that contain more than times: counters of measured launches, instruction counts, samples of where warps stood."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, Iterator, Optional

import numpy as np
import numpy.typing as npt

from ._message import decode
from ._schema import ENUMERATIONS, MESSAGES
from ._wire import WireError, fields, fixed, running_sum, varints, zigzag
from .table import Array, Batch, Table

if TYPE_CHECKING:
    from ._frames import Frame

_REASON_PREFIX = b"smsp__pcsamp_warps_issue_stalled_"
_LARGEST_OFFSET = (1 << 32) - 1
_MOST_ROWS = 1 << 22  # of a message: a frame has no room for more


@dataclass(frozen=True)
class RecordColumn:
    """A column, as in a table of events. Its values are made together with the rest of its table."""

    name: str
    type: str
    unit: str
    meaning: str
    words: Optional["list[str]"] = None


@dataclass(frozen=True)
class Recorded:
    """What a recording provides to the functions that make rows of its frames."""

    payloads: "Callable[[], Iterator[tuple[Frame, memoryview]]]"  # of the frames of the table that can be read, in their order
    note_damaged: "Callable[[Frame], None]"  # for a frame that makes no sense: it is counted and left out from now on
    text_number: "Callable[[bytes], int]"  # the number by which columns refer to a text
    kernels: Table
    epoch: int  # when the recording began, in ns by the clock of its frames


@dataclass(frozen=True)
class RecordSchema:
    """A table: its columns without process and pid, and the function that makes its rows."""

    name: str
    frame: str
    meaning: str
    columns: "tuple[RecordColumn, ...]"
    rows: "Callable[[Recorded], Iterator[Batch]]"


def _packed(message: str, data: memoryview) -> "tuple[dict[str, Array], dict[str, int], dict[str, list[memoryview]]]":
    """Repeated numbers as columns, single numbers, and repeated messages and texts, each by name."""
    names = {number: (name, kind) for name, (number, kind) in MESSAGES[message].items()}
    pieces: "dict[str, list[memoryview]]" = {}
    scalars = {name: 0 for name, kind in names.values() if not isinstance(kind, list)}
    for number, value in fields(data):
        name, kind = names.get(number, ("", ""))
        if isinstance(value, memoryview):
            pieces.setdefault(name, []).append(value)
        elif name in scalars:
            value = (value >> 1) ^ -(value & 1) if kind == "sint" else value
            scalars[name] = value - (1 << 64) if value >> 63 > 0 else value  # as signed 64 bits
    columns: "dict[str, Array]" = {}
    for name, kind in names.values():
        if kind in (["uint"], ["sint"], ["double"]):
            whole = memoryview(b"".join(pieces.pop(name, [])))
            if len(whole) > 10 * _MOST_ROWS:
                raise WireError("a message has too many rows")
            if kind == ["double"]:
                columns[name] = fixed(whole, "<f8")
            else:
                columns[name] = zigzag(varints(whole)) if kind == ["sint"] else varints(whole)
    return columns, scalars, pieces


@dataclass
class _Launch:
    """A measured launch."""

    process: int
    numbers: "dict[str, int]"
    launches: int  # the number of launches over which its passes were spread
    metrics: Array  # numbers of texts
    values: Array


def _launches(recorded: Recorded) -> "Iterator[_Launch]":
    for frame, payload in recorded.payloads():
        try:
            _, _, pieces = _packed("KernelMetrics", payload)
            metrics = np.array([recorded.text_number(bytes(metric)) for metric in pieces.get("metrics", [])], dtype=np.int64)
            for piece in pieces.get("launches", []):
                columns, numbers, _ = _packed("MeasuredLaunch", piece)
                values = columns["values"]
                if len(values) != len(metrics):
                    raise WireError("a launch has another number of values than there are metrics")
                known = np.isfinite(values)
                yield _Launch(frame.process, numbers, 1 + len(columns["other_launches"]), metrics[known], values[known])
        except WireError:
            recorded.note_damaged(frame)


def _kernel_metrics(recorded: Recorded) -> "Iterator[Batch]":
    """Each value of each measured launch whose kernel is in the trace. If the launch has several kernels, it is put at the first."""
    launches = list(_launches(recorded))
    if not launches:
        return
    kernels = _Kernels(recorded.kernels, ["start", "duration", "name", "device", "context", "stream"])
    for launch in launches:
        kernel = kernels.row(launch.process, launch.numbers["correlation"])
        if kernel is None or not len(launch.values):
            continue
        said = {name: kernels.columns[name][kernel] for name in ("start", "duration", "name", "device", "context", "stream")}
        said |= {name: launch.numbers[name] for name in ("correlation", "replay", "passes", "spent")}
        said |= {"process": launch.process, "launches": launch.launches}
        yield Batch({name: np.full(len(launch.values), value, dtype=np.int64) for name, value in said.items()} | {"metric": launch.metrics, "value": launch.values})


class _Kernels:
    """For each launch, the kernel that started first."""

    def __init__(self, kernels: Table, columns: "list[str]") -> None:
        self.columns, _ = kernels._read(["process", "correlation", *columns])
        # Kernels are sorted by start, so the first place of a key is that of its first kernel.
        self._keys, self._first = np.unique(_key(self.columns["process"], self.columns["correlation"]), return_index=True)

    def row(self, process: int, correlation: int) -> "Optional[int]":
        key = _key(np.array([process]), np.array([correlation]))[0]
        at = int(np.searchsorted(self._keys, key))
        return int(self._first[at]) if at < len(self._keys) and self._keys[at] == key else None


def _instruction_counts(recorded: Recorded) -> "Iterator[Batch]":
    """Each count of each instruction of each launch whose kernel is in the trace, ordered by the kernel's start."""
    kernels: Optional[_Kernels] = None  # made only if needed, because it reads the whole table
    batches: "list[tuple[int, int, Batch]]" = []
    for frame, payload in recorded.payloads():
        try:
            columns, said, pieces = _packed("InstructionCounts", payload)
            functions = [decode("GpuFunction", piece) for piece in pieces.get("functions", [])]
            rows, metrics, offset = len(columns["function"]), pieces.get("metrics", []), running_sum(columns["pc_delta"])
            if len(offset) != rows or len(columns["values"]) != rows * len(metrics):
                raise WireError("columns of counts have different lengths")
            if rows and (int(columns["function"].max()) >= len(functions) or int(offset.min()) < 0 or int(offset.max()) > _LARGEST_OFFSET):
                raise WireError("a count has no place")
        except WireError:
            recorded.note_damaged(frame)
            continue
        kernels = kernels or _Kernels(recorded.kernels, ["start", "duration"])
        kernel = kernels.row(frame.process, said["correlation"])
        if kernel is None or not rows or not metrics:
            continue
        start, duration = int(kernels.columns["start"][kernel]), int(kernels.columns["duration"][kernel])
        size = rows * len(metrics)

        def of(values: "list[int]", dtype: Any = np.int64) -> Array:
            return np.tile(_mapped(columns["function"], dict(enumerate(values)), dtype), len(metrics))

        batch = Batch({name: np.full(size, value, dtype=np.int64) for name, value in (("process", frame.process), ("start", start), ("duration", duration), ("correlation", said["correlation"]))})
        batch["name"] = of([recorded.text_number(function["name"]) for function in functions])
        batch["code_object"] = of([function["code_object"] for function in functions], np.uint64)
        batch["offset"] = np.tile(offset, len(metrics))
        batch["metric"] = np.repeat(np.array([recorded.text_number(bytes(metric)) for metric in metrics], dtype=np.int64), rows)
        batch["value"] = columns["values"].view(np.int64)
        batches.append((start, len(batches), batch))
    for _, _, batch in sorted(batches, key=lambda each: each[:2]):
        yield batch


def _key(process: Array, correlation: Array) -> Array:
    return (process.astype(np.uint64) << np.uint64(32)) | (correlation.astype(np.uint64) & np.uint64(0xFFFF_FFFF))


class _Names:
    """What ids of functions and reasons stand for. Frames add to them one after the other."""

    def __init__(self, text_number: "Callable[[bytes], int]") -> None:
        self._text_number = text_number
        self.functions: "dict[tuple[int, int, int], tuple[int, int]]" = {}  # process, source and id: code object, number of the mangled name
        self.reasons: "dict[tuple[int, int, int], int]" = {}

    def extend(self, frame: "Frame", said: "dict[str, int]", pieces: "dict[str, list[memoryview]]") -> None:
        for i, piece in enumerate(pieces.get("functions", []), said["first_function"]):
            function = decode("GpuFunction", piece)
            self.functions[frame.process, frame.source, i] = (function["code_object"], self._text_number(function["name"]))
        for i, piece in enumerate(pieces.get("reasons", []), said["first_reason"]):
            name = bytes(piece)
            self.reasons[frame.process, frame.source, i] = self._text_number(name[len(_REASON_PREFIX) :] if name.startswith(_REASON_PREFIX) else name)


def _windows(recorded: Recorded) -> "Iterator[tuple[Batch, Batch]]":
    """For each window its row and the rows of its samples."""
    names = _Names(recorded.text_number)
    for frame, payload in recorded.payloads():
        try:
            yield _window(recorded.epoch, frame, payload, names)
        except WireError:
            recorded.note_damaged(frame)


def _window(epoch: int, frame: "Frame", payload: memoryview, names: _Names) -> "tuple[Batch, Batch]":
    columns, said, pieces = _packed("PcSamples", payload)
    names.extend(frame, said, pieces)
    size = len(columns["function"])
    not_issued = columns["not_issued"] if len(columns["not_issued"]) else np.zeros(size, dtype=np.uint64)
    if any(len(values) != size for values in (columns["pc_delta"], columns["reason"], columns["samples"], not_issued)):
        raise WireError("columns of samples have different lengths")
    functions = {i: names.functions.get((frame.process, frame.source, i)) for i in np.unique(columns["function"]).tolist()}
    reasons = {i: names.reasons.get((frame.process, frame.source, i)) for i in np.unique(columns["reason"]).tolist()}
    offset = running_sum(columns["pc_delta"])
    # Leaves out samples of functions that a lost frame named, and those with an impossible offset.
    sound = (offset >= 0) & (offset <= _LARGEST_OFFSET)
    sound &= _mapped(columns["function"], {i: int(found is not None and i != 0) for i, found in functions.items()}) != 0
    sound &= _mapped(columns["reason"], {i: int(found is not None and i != 0) for i, found in reasons.items()}) != 0
    window = {"process": frame.process, "start": said["begin"] - epoch}
    window |= {name: said[name] for name in ("duration", "device", "context")}
    row = window | {name: said[name] for name in ("period", "other_samples", "every")} | {"dropped": said["dropped"] + int(columns["samples"][~sound].sum())}
    one = Batch({name: np.array([value], dtype=np.int64) for name, value in row.items()} | {"buffer_was_full": np.array([said["buffer_was_full"] != 0])})
    function, reason = columns["function"][sound], columns["reason"][sound]
    samples = Batch({name: np.full(len(function), value, dtype=np.int64) for name, value in window.items()})
    samples["name"] = _mapped(function, {i: found[1] if found else 0 for i, found in functions.items()})
    samples["code_object"] = _mapped(function, {i: found[0] if found else 0 for i, found in functions.items()}, np.uint64)
    samples["reason"] = _mapped(reason, {i: found or 0 for i, found in reasons.items()})
    samples["offset"] = offset[sound]
    samples["samples"], samples["not_issued"] = columns["samples"][sound].view(np.int64), not_issued[sound].view(np.int64)
    return one, samples


def _mapped(ids: Array, values: "dict[int, int]", dtype: Any = np.int64) -> Array:
    """The value of each id."""
    used, places = np.unique(ids, return_inverse=True)
    table: npt.NDArray[Any] = np.array([values[i] for i in used.tolist()], dtype=dtype)
    mapped: Array = table[places.reshape(-1)] if len(table) else np.zeros(0, dtype=dtype)
    return mapped


def _pc_sample_windows(recorded: Recorded) -> "Iterator[Batch]":
    return (window for window, _ in _windows(recorded))


def _pc_samples(recorded: Recorded) -> "Iterator[Batch]":
    return (samples for _, samples in _windows(recorded) if len(samples["start"]))


_DEVICE = RecordColumn("device", "int64", "", "CUDA's number of the GPU in the process")
_CONTEXT = RecordColumn("context", "int64", "", "CUDA context")

RECORD_SCHEMAS: "dict[str, RecordSchema]" = {
    schema.name: schema
    for schema in (
        RecordSchema(
            "kernel_metrics",
            "kernel_metrics",
            "Hardware counters of measured launches: a row for each metric of each launch. `process` and `correlation` are those of the launch's row in `kernels`.",
            (
                RecordColumn("start", "int64", "ns", "when the kernel began, counted from the beginning of the recording"),
                RecordColumn("duration", "int64", "ns", "duration of the kernel on the timeline; it may have taken longer while it was measured"),
                RecordColumn("name", "symbol", "", "function with its parameters, demangled"),
                _DEVICE,
                _CONTEXT,
                RecordColumn("stream", "int64", "", "CUDA stream"),
                RecordColumn("correlation", "int64", "", "number that a CUDA call and its work share within a process"),
                RecordColumn("metric", "text", "", "the metric, with the name that NVIDIA's tools use"),
                RecordColumn("value", "double", "", "ns, bytes, hertz, percent or a plain number, as the metric's name says"),
                RecordColumn("replay", "text", "", "how passes were made: none (one pass was enough), kernel (the kernel ran again), spread (over equal launches), application (the program ran again), range (the program ran again, and all kernels in a range were counted together: the event is that range)", ENUMERATIONS["KernelReplay"]),
                RecordColumn("passes", "int64", "", "number of passes"),
                RecordColumn("launches", "int64", "", "number of launches over which the passes were spread; 1 if they were not spread"),
                RecordColumn("spent", "int64", "ns", "time of the program that was spent on measuring the launch"),
            ),
            _kernel_metrics,
        ),
        RecordSchema(
            "instruction_counts",
            "instruction_counts",
            "Exact counts at the instructions of launches: a row for each metric of each instruction. `process` and `correlation` are those of the launch's row in `kernels`.",
            (
                RecordColumn("start", "int64", "ns", "when the kernel began, counted from the beginning of the recording"),
                RecordColumn("name", "symbol", "", "kernel, or function that it calls, with its parameters, demangled"),
                RecordColumn("correlation", "int64", "", "number that a CUDA call and its work share within a process"),
                RecordColumn("offset", "int64", "B", "position of the instruction in the function"),
                RecordColumn("metric", "text", "", "the metric, with the name that NVIDIA's tools use"),
                RecordColumn("value", "int64", "", "count"),
                RecordColumn("code_object", "uint64", "", "checksum of the code that contains the function"),
            ),
            _instruction_counts,
        ),
        RecordSchema(
            "pc_sample_windows",
            "pc_samples",
            "Windows of time in which the hardware sampled where warps stood: a row for each context and window.",
            (
                RecordColumn("start", "int64", "ns", "when it began, counted from the beginning of the recording"),
                RecordColumn("duration", "int64", "ns", "how long it took"),
                _DEVICE,
                _CONTEXT,
                RecordColumn("period", "int64", "", "cycles of a multiprocessor between two of its samples"),
                RecordColumn("dropped", "int64", "", "samples for which there was no room, or whose function is not known"),
                RecordColumn("other_samples", "int64", "", "samples of no known kernel: of other programs' kernels, and of warps that had not issued their first instruction"),
                RecordColumn("buffer_was_full", "bool", "", "whether the hardware lost samples that could not be counted"),
                RecordColumn("every", "int64", "ns", "time from the start of this window to the start of the next one; nothing was sampled between the windows. 0: sampling was continuous"),
            ),
            _pc_sample_windows,
        ),
        RecordSchema(
            "pc_samples",
            "pc_samples",
            "Where warps stood, and what they waited for: a row for each window, instruction and reason.",
            (
                RecordColumn("start", "int64", "ns", "when the window began, counted from the beginning of the recording"),
                RecordColumn("duration", "int64", "ns", "duration of the window"),
                RecordColumn("name", "symbol", "", "kernel, or function that it calls, with its parameters, demangled"),
                _DEVICE,
                _CONTEXT,
                RecordColumn("offset", "int64", "B", "position of the instruction in the function"),
                RecordColumn("reason", "text", "", "why the warp did not go on, for example `long_scoreboard`; `selected` if it did"),
                RecordColumn("samples", "int64", "", "number of samples"),
                RecordColumn("not_issued", "int64", "", "number of these samples in cycles in which the scheduler issued nothing"),
                RecordColumn("code_object", "uint64", "", "checksum of the code that contains the function"),
            ),
            _pc_samples,
        ),
    )
}
