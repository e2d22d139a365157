"""Reads streams of Arrow's C interface according to its specification, with ctypes only."""

import ctypes
import struct


class Schema(ctypes.Structure):
    pass


class Array(ctypes.Structure):
    pass


class Stream(ctypes.Structure):
    pass


Schema._fields_ = [("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_void_p), ("flags", ctypes.c_int64),
                   ("n_children", ctypes.c_int64), ("children", ctypes.POINTER(ctypes.POINTER(Schema))), ("dictionary", ctypes.POINTER(Schema)),
                   ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(Schema))), ("private_data", ctypes.c_void_p)]
Array._fields_ = [("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64), ("n_buffers", ctypes.c_int64),
                  ("n_children", ctypes.c_int64), ("buffers", ctypes.POINTER(ctypes.c_void_p)), ("children", ctypes.POINTER(ctypes.POINTER(Array))),
                  ("dictionary", ctypes.POINTER(Array)), ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(Array))), ("private_data", ctypes.c_void_p)]
Stream._fields_ = [("get_schema", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Schema))),
                   ("get_next", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Array))),
                   ("get_last_error", ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.POINTER(Stream))),
                   ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(Stream))), ("private_data", ctypes.c_void_p)]

_NUMBERS = {b"l": "q", b"L": "Q", b"g": "d", b"i": "i"}


def _bits(place, count):
    bytes_ = ctypes.string_at(place, (count + 7) // 8)
    return [bytes_[i // 8] >> i % 8 & 1 for i in range(count)]


def _texts(array):
    offsets = struct.unpack(f"={array.length + 1}i", ctypes.string_at(array.buffers[1], 4 * (array.length + 1)))
    return [ctypes.string_at(array.buffers[2] + begin, end - begin).decode("utf-8", "surrogateescape") for begin, end in zip(offsets, offsets[1:])]


def _column(schema, array):
    count = array.length
    assert array.offset == 0 and array.n_buffers == 2
    if schema.format == b"b":
        values = [bool(bit) for bit in _bits(array.buffers[1], count)]
    else:
        kind = _NUMBERS[schema.format]
        values = list(struct.unpack(f"={count}{kind}", ctypes.string_at(array.buffers[1], count * struct.calcsize(kind))))
    if schema.dictionary:
        assert schema.format == b"i" and schema.dictionary.contents.format == b"u"
        texts = _texts(array.dictionary.contents)
        values = [texts[value] if texts else None for value in values]
    if not array.buffers[0]:
        assert array.null_count == 0
        return values
    present = _bits(array.buffers[0], count)
    assert present.count(0) == array.null_count and schema.flags & 2
    return [value if known else None for value, known in zip(values, present)]


def _metadata(place):
    if not place:
        return {}
    at = place

    def text():
        nonlocal at
        (size,) = struct.unpack("=i", ctypes.string_at(at, 4))
        at += 4 + size
        return ctypes.string_at(at - size, size).decode()

    (count,) = struct.unpack("=i", ctypes.string_at(at, 4))
    at += 4
    return {text(): text() for _ in range(count)}


def read(stream):
    """Columns, metadata and batch sizes of a whole stream. Releases the stream."""
    schema = Schema()
    assert stream.get_schema(stream, schema) == 0, stream.get_last_error(stream)
    assert schema.format == b"+s"
    fields = [schema.children[i].contents for i in range(schema.n_children)]
    columns, batches = {field.name.decode(): [] for field in fields}, []
    while True:
        array = Array()
        assert stream.get_next(stream, array) == 0, stream.get_last_error(stream)
        if not array.release:
            break
        assert array.n_children == len(fields)
        batches.append(array.length)
        for i, field in enumerate(fields):
            columns[field.name.decode()] += _column(field, array.children[i].contents)
        array.release(array)
    metadata = _metadata(schema.metadata)
    schema.release(schema)
    stream.release(stream)
    return columns, metadata, batches
