"""Reads the Arrow streams of the tests, written only from the format's specification: https://arrow.apache.org/docs/format/Columnar.html, and
https://flatbuffers.dev/internals for the messages' metadata.

Integers of 64 bits, doubles, booleans, and texts in dictionaries that are replaced; no compression. Everything else is an error.
"""

import struct

import numpy as np


class Flat:
    """A table of FlatBuffers, with fields by their number in the schema."""

    def __init__(self, data, at):
        self.data, self.at = data, at
        self.list = at - struct.unpack_from("<i", data, at)[0]
        self.places = (struct.unpack_from("<H", data, self.list)[0] - 4) // 2
        assert at % 4 == 0 and self.list % 2 == 0

    def _place(self, field):
        offset = struct.unpack_from("<H", self.data, self.list + 4 + 2 * field)[0] if field < self.places else 0
        return self.at + offset if offset else None

    def number(self, field, form, default=0):
        at = self._place(field)
        if at is None:
            return default
        assert at % struct.calcsize(form) == 0  # aligned
        return struct.unpack_from("<" + form, self.data, at)[0]

    def _target(self, field):
        at = self._place(field)
        return None if at is None else at + struct.unpack_from("<I", self.data, at)[0]

    def table(self, field):
        at = self._target(field)
        return None if at is None else Flat(self.data, at)

    def text(self, field):
        at = self._target(field)
        size = struct.unpack_from("<I", self.data, at)[0]
        assert self.data[at + 4 + size] == 0
        return bytes(self.data[at + 4:at + 4 + size]).decode()

    def tables(self, field):
        at = self._target(field)
        count = struct.unpack_from("<I", self.data, at)[0]
        places = range(at + 4, at + 4 + 4 * count, 4)
        return [Flat(self.data, place + struct.unpack_from("<I", self.data, place)[0]) for place in places]

    def structs(self, field, words):
        at = self._target(field)
        count = struct.unpack_from("<I", self.data, at)[0]
        assert (at + 4) % 8 == 0
        numbers = struct.unpack_from(f"<{count * words}q", self.data, at + 4)
        return [numbers[i:i + words] for i in range(0, len(numbers), words)]


_SCHEMA, _DICTIONARY, _RECORDS = 1, 2, 3
_INT, _DOUBLE, _UTF8, _BOOL = 2, 3, 5, 6


class ArrowStream:
    """`columns`: values by name, None for nulls. `metadata`: the schema's keys and values. `batches`: number of rows of each. `end`: where the next stream
    starts."""

    def __init__(self, data, at=0):
        self.columns, self.batches, self._dictionaries = None, [], {}
        while True:
            mark, size = struct.unpack_from("<Ii", data, at)
            assert mark == 0xFFFFFFFF and size % 8 == 0
            at += 8
            if size == 0:
                break
            message = Flat(data[at:at + size], struct.unpack_from("<I", data, at)[0])
            assert message.number(0, "h") == 4  # V5
            kind, header, length = message.number(1, "B"), message.table(2), message.number(3, "q")
            assert length % 8 == 0
            body = data[at + size:at + size + length]
            assert len(body) == length
            {_SCHEMA: self._schema, _DICTIONARY: self._dictionary, _RECORDS: self._records}[kind](header, body)
            at += size + length
        assert self.columns is not None
        self.end = at

    def _schema(self, header, _):
        assert self.columns is None and header.number(0, "h") == 0  # only one schema, and little-endian
        self.metadata = {entry.text(0): entry.text(1) for entry in header.tables(2)}
        self.fields = header.tables(1)
        self.columns = {field.text(0): [] for field in self.fields}
        for field in self.fields:
            assert field.tables(5) == []  # an empty list of children is present

    def _dictionary(self, header, body):
        assert not header.number(2, "B")  # not a delta
        batch = header.table(1)
        (count, nulls), = batch.structs(1, 2)
        validity, offsets, texts = (body[at:at + size] for at, size in batch.structs(2, 2))
        assert batch.number(0, "q") == count and nulls == 0 and len(validity) == 0
        borders = np.frombuffer(offsets, dtype="<i4")
        assert len(borders) == count + 1 and borders[0] == 0 and borders[-1] == len(texts)
        self._dictionaries[header.number(0, "q")] = [bytes(texts[a:b]).decode() for a, b in zip(borders, borders[1:])]

    def _records(self, batch, body):
        rows, nodes, buffers = batch.number(0, "q"), batch.structs(1, 2), iter(batch.structs(2, 2))
        self.batches.append(rows)
        for field, (length, nulls) in zip(self.fields, nodes, strict=True):
            assert length == rows
            validity, values = (self._buffer(body, next(buffers)) for _ in range(2))
            if len(validity) == 0:
                assert nulls == 0
                present = [True] * rows
            else:
                assert field.number(1, "B") == 1  # nullable
                present = self._bits(validity, rows)
                assert present.count(False) == nulls
            found = self._values(field, values, rows)
            assert len(found) == rows
            self.columns[field.text(0)] += [value if there else None for value, there in zip(found, present)]
        assert next(buffers, None) is None

    def _buffer(self, body, place):
        at, size = place
        assert at % 8 == 0 and at + size <= len(body)
        return body[at:at + size]

    def _bits(self, data, count):
        return np.unpackbits(np.frombuffer(data, dtype=np.uint8), bitorder="little")[:count].astype(bool).tolist()

    def _values(self, field, values, rows):
        kind, details, dictionary = field.number(2, "B"), field.table(3), field.table(4)
        if kind == _UTF8:
            index = dictionary.table(1)
            assert index.number(0, "i") == 32 and index.number(1, "B") == 1
            texts = self._dictionaries[dictionary.number(0, "q")]
            return [texts[i] if texts else "" for i in np.frombuffer(values, dtype="<i4").tolist()]
        assert dictionary is None
        if kind == _BOOL:
            return self._bits(values, rows)
        if kind == _DOUBLE:
            assert details.number(0, "h") == 2
            return np.frombuffer(values, dtype="<f8").tolist()
        assert kind == _INT and details.number(0, "i") == 64
        return np.frombuffer(values, dtype="<i8" if details.number(1, "B") else "<u8").tolist()


def streams(data):
    """The streams that follow each other in the data, by the name of their table."""
    found, at = {}, 0
    while at < len(data):
        stream = ArrowStream(data, at)
        found[stream.metadata["lanescope.table"]] = stream
        at = stream.end
    return found
