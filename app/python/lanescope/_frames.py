"""Frames of a .trace file (docs/file-format.md): where they lie, whether they are whole, and what they hold.

A file is read with pread, never mapped, so that one that is cut or replaced meanwhile ends in an error and not in a signal. A frame whose checksum
differs is skipped, and so is everything up to the next place where a whole frame begins; both are counted.
"""

from __future__ import annotations

import os
import struct
from bisect import bisect_left
from dataclasses import dataclass, field
from typing import Iterator, NamedTuple, Optional

import xxhash
import zstandard

from ._errors import TraceError as TraceError

FILE_MAGIC = b"\x89LST\r\n\x1a\n"
FRAME_MAGIC = b"LSF1"
FILE_HEADER, FRAME_HEADER = struct.Struct("<8sHHI"), struct.Struct("<4sHBBIIIIQ")
MAJOR_VERSION = 1
LARGEST_PAYLOAD = 64 << 20  # bytes, once decompressed
_TRAILER_BYTES = 16
_WINDOW = 4 << 20           # bytes that are read at once
# Of a damaged file, at most so many times its size is hashed in search of the next whole frame: what looks like the begin of one, everywhere,
# would otherwise take time with the square of its size.
_SEARCH_FACTOR = 16


class Budget:
    """What of a file is read (docs/file-format.md, Limits): 64 MB of zeros are 6 KB once compressed, so all of it is bounded by the file's size."""

    def __init__(self, size: int) -> None:
        size = max(size, 10_000_000)
        self.entries = size // 4  # texts, and entries of other tables
        self.text_bytes = 48 * size // 4  # of memory; the program counts four copies of each
        self.detail_bytes = 2 * 48 * size  # of the rows of one kind, whose columns are wider here than the program's
        self._unpacked = 32 * size  # bytes
        self._events = 7 * size // 10

    def takes(self, frame: "Frame") -> bool:
        """Whether there is room for one more, whose payload is read; takes it off."""
        self._unpacked -= frame.raw_size
        self._events -= frame.event_count
        return min(self._unpacked, self._events) >= 0


class Frame(NamedTuple):
    """A whole frame: its header, and where its stored payload lies."""

    kind: int         # FrameType
    codec: int        # 0 as it is, 1 zstd
    source: int       # FrameSource
    stored_size: int  # bytes
    raw_size: int     # bytes
    process: int      # instance number; 0 is the recording itself
    event_count: int  # of event chunks
    payload_at: int   # position in the file


@dataclass
class Damage:
    """What of a file could not be read."""

    bytes: int = 0    # that belong to no whole frame
    frames: int = 0   # whole ones whose payload could not be read
    cut: bool = False  # the file ends within a frame
    stretches: "list[tuple[int, int]]" = field(default_factory=list)  # of these bytes, those with whole frames, or the trailer, behind them

    def frames_within(self, positions: "list[int]") -> int:
        """How many frames these stretches were, of which the index says where they lie; where it says none, one."""
        return sum(max(1, bisect_left(positions, end) - bisect_left(positions, begin)) for begin, end in self.stretches)


def _is_whole(header: "bytes | memoryview", payload: memoryview) -> bool:
    hashed = xxhash.xxh64(header[:24])
    hashed.update(payload)
    return hashed.intdigest() == int.from_bytes(header[24:32], "little")


class FrameFile:
    """A .trace file that is open for reading. Not for several threads at once."""

    def __init__(self, path: "os.PathLike[str] | str") -> None:
        self.path = os.fspath(path)
        self.damage = Damage()
        # A pipe or a device would block, or never end.
        self._file = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NONBLOCK", 0))
        try:
            status = os.fstat(self._file)
            if (status.st_mode & 0o170000) != 0o100000:
                raise TraceError(f"{self.path} is not a regular file.")
            self.size = status.st_size
            header = os.pread(self._file, FILE_HEADER.size, 0)
            if len(header) < FILE_HEADER.size or header[:8] != FILE_MAGIC:
                raise TraceError(f"{self.path} is not a .trace file; `lanescope export -t trace` makes one of files of other tools.")
            _, major, self.minor_version, _ = FILE_HEADER.unpack(header)
            if major > MAJOR_VERSION:
                raise TraceError(f"{self.path} has format version {major}; this package reads version {MAJOR_VERSION}. Install a newer one.")
        except BaseException:
            self.close()
            raise
        self._decompressor = zstandard.ZstdDecompressor()
        self._search_budget = _SEARCH_FACTOR * self.size + (1 << 20)

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def __del__(self) -> None:
        if getattr(self, "_file", -1) >= 0:
            self.close()

    def frames(self, at: int = FILE_HEADER.size) -> Iterator[tuple[Frame, memoryview]]:
        """Whole frames from position `at` on, with their stored payloads. Time grows with the file's size, also of damaged ones."""
        window = _Window(self._file, self.size)
        while at + FRAME_HEADER.size <= self.size:
            found = self._frame_at(window, at)
            if found is not None:
                yield found
                at += FRAME_HEADER.size + found[0].stored_size
                continue
            if self._is_trailer(window, at):
                return
            begin, at = at, self._next_frame(window, at + 1)
            if at == self.size and self._search_budget > 0 and self._is_trailer(window, at - _TRAILER_BYTES):  # the index is damaged
                at -= _TRAILER_BYTES
            if at < self.size:
                self.damage.stretches.append((begin, at))
            self.damage.bytes += at - begin
        if at < self.size and not self._is_trailer(window, at):
            self.damage.cut = True
            self.damage.bytes += self.size - at

    def payload(self, frame: Frame, stored: Optional[memoryview] = None) -> Optional[memoryview]:
        """What a frame holds; None where it can't be read, which is counted as damage. Without `stored`, it is read anew."""
        try:
            if stored is None:
                whole = os.pread(self._file, FRAME_HEADER.size + frame.stored_size, frame.payload_at - FRAME_HEADER.size)
                stored = memoryview(whole)[FRAME_HEADER.size :]
                if len(stored) != frame.stored_size or not _is_whole(whole[: FRAME_HEADER.size], stored):
                    raise ValueError("the file was cut or changed while it was open")
            if frame.codec == 0:
                return stored
            if frame.codec != 1:
                raise ValueError("unknown codec")
            raw = self._decompressor.decompress(stored, max_output_size=frame.raw_size)
            if len(raw) != frame.raw_size:
                raise ValueError("another size than the header says")
            return memoryview(raw)
        except (ValueError, zstandard.ZstdError):
            self.damage.frames += 1
            return None

    def _frame_at(self, window: "_Window", at: int) -> Optional[tuple[Frame, memoryview]]:
        header = window.read(at, FRAME_HEADER.size)
        if len(header) < FRAME_HEADER.size:
            return None
        magic, kind, codec, source, stored, raw, process, count, _ = FRAME_HEADER.unpack(header)
        if magic != FRAME_MAGIC or codec > 1 or stored > raw or raw > LARGEST_PAYLOAD or at + FRAME_HEADER.size + stored > self.size:
            return None
        payload = window.read(at + FRAME_HEADER.size, stored)
        if len(payload) < stored or not _is_whole(header, payload):
            self._search_budget -= stored
            return None
        return Frame(kind, codec, source, stored, raw, process, count, at + FRAME_HEADER.size), payload

    def _next_frame(self, window: "_Window", at: int) -> int:
        """Where the next whole frame begins at or behind `at`, else the file's end."""
        while at < self.size and self._search_budget > 0:
            read_before = window.bytes_read
            found = window.find(FRAME_MAGIC, at)
            if found < 0:
                return self.size
            if self._frame_at(window, found) is not None:
                return found
            self._search_budget -= window.bytes_read - read_before
            at = found + 1
        return self.size

    def _is_trailer(self, window: "_Window", at: int) -> bool:
        return self.size - at == _TRAILER_BYTES and bytes(window.read(at + 8, 8)) == b"LSTIDX\r\n"


class _Window:
    """A part of the file in memory, moved forward as it is read."""

    def __init__(self, file: int, size: int) -> None:
        self._file, self._size = file, size
        self._begin, self._data = 0, b""
        self.bytes_read = 0

    def read(self, at: int, count: int) -> memoryview:
        """Those from `at` on; fewer where the file ends."""
        if at < self._begin or at + count > self._begin + len(self._data):
            self._begin, self._data = at, os.pread(self._file, max(count, _WINDOW), at)
            self.bytes_read += len(self._data)
        offset = at - self._begin
        return memoryview(self._data)[offset : offset + count]

    def find(self, pattern: bytes, at: int) -> int:
        """The first place of the pattern from `at` on, or -1."""
        while at + len(pattern) <= self._size:
            if len(self.read(at, len(pattern))) < len(pattern):
                return -1
            offset = self._data.find(pattern, at - self._begin)
            if offset >= 0:
                return self._begin + offset
            at = self._begin + len(self._data) - len(pattern) + 1
        return -1
