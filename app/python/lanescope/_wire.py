"""The wire format of Protocol Buffers, as far as .trace files use it: fields of messages, and packed columns as numpy arrays.

Malformed bytes raise WireError. No function allocates more than a small multiple of the bytes that it is given.
Source: https://protobuf.dev/programming-guides/encoding
"""

from __future__ import annotations

from typing import Iterator, Union

import numpy as np
import numpy.typing as npt

Field = tuple[int, Union[int, memoryview]]
Bytes = Union[bytes, memoryview]

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
LONGEST_VARINT = 10  # bytes
_FARTHEST = 1 << 61  # ns from the start of the recording
_LONGEST_RUN = 4_096


class WireError(ValueError):
    """The bytes are not a valid message of Protocol Buffers."""


def read_varint(data: Bytes, at: int) -> tuple[int, int]:
    """The number at `at`, and the position after it."""
    value = shift = 0
    try:
        while shift < 7 * LONGEST_VARINT:
            byte = data[at]
            at += 1
            if byte < 0x80:
                return (value | byte << shift) & 0xFFFF_FFFF_FFFF_FFFF, at
            value |= (byte & 0x7F) << shift
            shift += 7
    except IndexError:
        pass
    raise WireError("a number is cut off")


def fields(data: Bytes) -> Iterator[Field]:
    """The fields of one message in their order: (number, integer or bytes). Fixed numbers are returned as unsigned bits."""
    at, end, view = 0, len(data), memoryview(data)
    while at < end:
        # Most numbers are one byte; calling read_varint() for each would take most of the time.
        key = data[at]
        if key < 0x80:
            at += 1
        else:
            key, at = read_varint(data, at)
        kind = key & 7
        if kind == _VARINT:
            if at < end and data[at] < 0x80:
                yield key >> 3, data[at]
                at += 1
                continue
            value, at = read_varint(data, at)
            yield key >> 3, value
        elif kind == _BYTES:
            if at < end and data[at] < 0x80:
                length, at = data[at], at + 1
            else:
                length, at = read_varint(data, at)
            if length > end - at:
                raise WireError("a field is longer than its message")
            yield key >> 3, view[at : at + length]
            at += length
        elif kind in (_FIXED64, _FIXED32):
            width = 8 if kind == _FIXED64 else 4
            if width > end - at:
                raise WireError("a field is longer than its message")
            yield key >> 3, int.from_bytes(data[at : at + width], "little")
            at += width
        else:
            raise WireError(f"a field has the unknown wire type {kind}")


def runs(data: bytes) -> "Iterator[tuple[int, Union[int, list[bytes]]]]":
    """As fields(), but consecutive bytes with one number are joined into a list of at most _LONGEST_RUN. Takes a third of the time."""
    at, end = 0, len(data)
    while at < end:
        key = data[at]
        if key < 0x80 and key & 7 == _VARINT:
            number, at = read_varint(data, at + 1)
            yield key >> 3, number
            continue
        if key >= 0x80 or key & 7 != _BYTES:
            begin = at
            key, at = read_varint(data, at)
            if key & 7 == _BYTES:  # a large field number
                length, at = read_varint(data, at)
                at += length
            else:
                at = _behind_number(data, at, key & 7)
            for number, value in fields(memoryview(data)[begin:at]):
                yield number, value if isinstance(value, int) else [bytes(value)]
            continue
        run: "list[bytes]" = []
        while at < end and data[at] == key and len(run) < _LONGEST_RUN:
            at += 1
            if at < end and data[at] < 0x80:
                length, at = data[at], at + 1
            else:
                length, at = read_varint(data, at)
            behind = at + length
            if behind > end:
                raise WireError("a field is longer than its message")
            run.append(data[at:behind])
            at = behind
        yield key >> 3, run


def _behind_number(data: Bytes, at: int, kind: int) -> int:
    if kind == _VARINT:
        return read_varint(data, at)[1]
    return at + {_FIXED64: 8, _FIXED32: 4}.get(kind, 0)


def varints(packed: memoryview) -> npt.NDArray[np.uint64]:
    """A packed column of varints."""
    data = np.frombuffer(packed, dtype=np.uint8)
    if data.size == 0:
        return np.empty(0, dtype=np.uint64)
    if data[-1] >= 0x80:
        raise WireError("a column is cut off")
    continued = data >= 0x80
    last = np.flatnonzero(~continued)
    if last.size == data.size:
        return data.astype(np.uint64)
    if not (continued[1:] & continued[:-1]).any():
        # All numbers have at most two bytes, as in most columns: twice as fast as the code below.
        low = data[np.maximum(last - 1, 0)].astype(np.uint32)
        high = data[last].astype(np.uint32)
        return np.where(low >= 0x80, (high << np.uint32(7)) | (low & np.uint32(0x7F)), high).astype(np.uint64)
    first = np.empty_like(last)
    first[0] = 0
    first[1:] = last[:-1] + 1
    length = last - first + 1
    longest = int(length.max())
    if longest > LONGEST_VARINT:
        raise WireError("a number has more than ten bytes")
    values = (data[first] & 0x7F).astype(np.uint64)
    rows = first
    for byte in range(1, longest):
        # Rows whose number has this byte, too; usually fewer each time.
        which = np.flatnonzero(length > byte)
        more = (data[rows[which] + byte] & 0x7F).astype(np.uint64) << np.uint64(7 * byte)
        if which.size == values.size:
            values |= more
        else:
            values[which] |= more
    return values


def zigzag(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
    """The values of sint64 numbers."""
    return ((values >> np.uint64(1)) ^ (np.uint64(0) - (values & np.uint64(1)))).view(np.int64)


def running_sum(deltas: npt.NDArray[np.int64], start: int = 0) -> npt.NDArray[np.int64]:
    """The sums of a column whose name ends in _delta, starting from `start`; modulo 2^64, as in the program's reader."""
    total = np.cumsum(deltas, dtype=np.int64)
    if start:
        with np.errstate(over="ignore"):
            total += wrapped(start)
    return total


def wrapped(number: int) -> np.int64:
    """The number modulo 2^64, as the program's 64 bits hold it."""
    return np.int64((number + (1 << 63)) % (1 << 64) - (1 << 63))


def is_near(times: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Which values can be times or durations of a recording: no recording lasts 73 years."""
    return (times >= -_FARTHEST) & (times <= _FARTHEST)


def fixed(packed: memoryview, dtype: str) -> npt.NDArray[np.generic]:
    """A packed column of fixed32, fixed64 or double: dtype "<u4", "<u8" or "<f8"."""
    if len(packed) % np.dtype(dtype).itemsize:
        raise WireError("a column is cut off")
    return np.frombuffer(packed, dtype=dtype)
