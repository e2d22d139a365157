"""Reads the Parquet files of the tests, written only from the format's specification: https://github.com/apache/parquet-format.

Flat columns; pages of version 1, compressed by zstd; plain, dictionary and delta encodings. Everything else is an error.
"""

import struct

import numpy as np
import zstandard


class Thrift:
    """Thrift's compact protocol: structures become dictionaries by field id."""

    def __init__(self, data, at=0):
        self.data, self.at = data, at

    def varint(self):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def signed(self):
        value = self.varint()
        return value >> 1 ^ -(value & 1)

    def value(self, kind):
        if kind in (4, 5, 6):
            return self.signed()
        if kind == 3:
            self.at += 1
            return self.data[self.at - 1]
        if kind == 8:
            size = self.varint()
            self.at += size
            return bytes(self.data[self.at - size:self.at])
        if kind == 9:
            head = self.data[self.at]
            self.at += 1
            size = head >> 4 if head >> 4 < 15 else self.varint()
            return [self.value(head & 15) for _ in range(size)]
        if kind == 12:
            return self.struct()
        raise ValueError(f"Thrift type {kind}")

    def struct(self):
        fields, last = {}, 0
        while head := self.data[self.at]:
            self.at += 1
            last = last + (head >> 4) if head >> 4 else self.signed()
            fields[last] = (head & 15) == 1 if head & 15 in (1, 2) else self.value(head & 15)
        self.at += 1
        return fields


def bits(data, width, count):
    """Numbers of `width` bits each, lowest bit first."""
    if width == 0:
        return np.zeros(count, dtype=np.uint64)
    table = np.unpackbits(np.frombuffer(data, dtype=np.uint8), bitorder="little")[:width * count].reshape(count, width)
    return table.astype(np.uint64) @ (np.uint64(1) << np.arange(width, dtype=np.uint64))


def runs(data, width, count):
    """Runs in RLE or bit packing."""
    parts, known, at = [], 0, Thrift(data)
    while known < count:
        head = at.varint()
        if head & 1:
            size = (head >> 1) * width
            parts.append(bits(data[at.at:at.at + size], width, (head >> 1) * 8))
        else:
            size = (width + 7) // 8
            parts.append(np.full(head >> 1, int.from_bytes(data[at.at:at.at + size], "little"), dtype=np.uint64))
        known += len(parts[-1])
        at.at += size
    return np.concatenate(parts)[:count].tolist() if parts else []


def deltas(data):
    at = Thrift(data)
    block, miniblocks, count, first = at.varint(), at.varint(), at.varint(), at.signed()
    steps, size = [np.array([first], dtype=np.int64)], block // miniblocks
    known = 1
    while known < count:
        least = at.signed()
        widths = data[at.at:at.at + miniblocks]
        at.at += miniblocks
        for width in widths:
            if known >= count:
                break
            steps.append(bits(data[at.at:at.at + size * width // 8], width, size).view(np.int64) + np.int64(least))  # wraps around
            known += size
            at.at += size * width // 8
    return np.cumsum(np.concatenate(steps)[:count]).tolist()


def plain(data, kind, count):
    if kind == 0:
        return bits(data, 1, count).astype(bool).tolist()
    if kind == 6:
        texts, at = [], 0
        for _ in range(count):
            size = struct.unpack_from("<I", data, at)[0]
            texts.append(bytes(data[at + 4:at + 4 + size]).decode())
            at += 4 + size
        return texts
    return list(struct.unpack(f"<{count}{'q' if kind == 2 else 'd'}", data[:8 * count]))


class ParquetFile:
    """`columns`: values by name, None for nulls. `metadata`: the footer's keys and values."""

    def __init__(self, path):
        data = path.read_bytes()
        assert data[:4] == data[-4:] == b"PAR1"
        size = struct.unpack("<I", data[-8:-4])[0]
        footer = Thrift(data, len(data) - 8 - size).struct()
        root, *schema = footer[2]
        assert root[5] == len(schema)
        self.metadata = {entry[1].decode(): entry[2].decode() for entry in footer[5]}
        self.row_groups = footer[4]
        self.columns = {element[4].decode(): [] for element in schema}
        for group in self.row_groups:
            for element, chunk in zip(schema, group[1]):
                values = self._chunk(data, element, chunk[3])
                assert len(values) == group[3]
                self.columns[element[4].decode()] += values
        assert all(len(values) == footer[3] for values in self.columns.values())

    def _page(self, data, at):
        header = Thrift(data, at)
        fields = header.struct()
        body = data[header.at:header.at + fields[3]]
        return fields, zstandard.ZstdDecompressor().decompress(body, max_output_size=max(1, fields[2])), header.at + fields[3]

    def _chunk(self, data, element, place):
        kind, nullable, dictionary, at = element[1], element[3] == 1, None, place[9]
        if 11 in place:
            fields, body, at = self._page(data, place[11])
            assert fields[1] == 2 and at == place[9]
            dictionary = plain(body, kind, fields[7][1])
        fields, body, end = self._page(data, at)
        assert fields[1] == 0 and end == place.get(11, place[9]) + place[7]
        count = fields[5][1]
        present = [1] * count
        if nullable:
            size = struct.unpack_from("<I", body)[0]
            present = runs(body[4:4 + size], 1, count)
            body = body[4 + size:]
        number, encoding = sum(present), fields[5][2]
        if encoding == 8:
            values = [dictionary[i] for i in runs(body[1:], body[0], number)]
        elif encoding == 5:
            values = deltas(body)
        else:
            assert encoding == 0
            values = plain(body, kind, number)
        is_unsigned = 10 in element and element[10].get(10, {}).get(2) is False
        if is_unsigned:
            values = [value % (1 << 64) for value in values]
        if 5 in place[12]:
            form = "<Q" if is_unsigned else "<q"
            assert (min(values), max(values)) == (struct.unpack(form, place[12][6])[0], struct.unpack(form, place[12][5])[0])
        assert place[12][3] == count - number
        assert len(values) == number
        rest = iter(values)
        return [next(rest) if is_there else None for is_there in present]
