"""Frames of a .trace file (docs/file-format.md): where they are, whether they are whole, and what they contain.

A file is read with pread and never mapped, so that a file that is cut or replaced meanwhile causes an error, not a signal. A frame with a wrong checksum
is skipped, and so is everything up to the next whole frame; both are counted.
"""

from __future__ import annotations

import errno
import os
import struct
import threading
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
LARGEST_PAYLOAD = 64 << 20  # bytes after decompression
_TRAILER_BYTES = 16
_WINDOW = 4 << 20           # bytes that are read at once
# In a damaged file, at most this many times the file's size is hashed to find the next whole frame. Otherwise a file full of bytes that look like
# the start of a frame would take time with the square of its size.
_SEARCH_FACTOR = 16


class Budget:
    """How much of a file is read (docs/file-format.md, Limits). 64 MB of zeros are 6 KB when compressed, so everything is bounded by the file's size."""

    def __init__(self, size: int) -> None:
        size = max(size, 10_000_000)
        self.entries = size // 4  # texts and entries of other tables
        self.text_bytes = 48 * size // 4  # of memory; the program counts four copies of each text
        self.detail_bytes = 2 * 48 * size  # memory for the rows of one kind; columns are wider here than in the program
        self._unpacked = 32 * size  # bytes
        self._events = 7 * size // 10

    def takes(self, frame: "Frame") -> bool:
        """Subtracts the frame, whose payload will be read, from the budget. Returns whether there was room for it."""
        self._unpacked -= frame.raw_size
        self._events -= frame.event_count
        return min(self._unpacked, self._events) >= 0


class Frame(NamedTuple):
    """A whole frame: its header and the position of its stored payload."""

    kind: int         # FrameType
    codec: int        # 0: uncompressed, 1: zstd
    source: int       # FrameSource
    stored_size: int  # bytes
    raw_size: int     # bytes
    process: int      # instance number; 0 is the recording itself
    event_count: int  # for event chunks
    payload_at: int   # position in the file


@dataclass
class Damage:
    """The parts of a file that could not be read."""

    bytes: int = 0    # bytes that belong to no whole frame
    frames: int = 0   # whole frames whose payload could not be read
    cut: bool = False  # the file ends within a frame
    stretches: "list[tuple[int, int]]" = field(default_factory=list)  # the damaged bytes that are followed by a whole frame or by the trailer

    def frames_within(self, positions: "list[int]") -> int:
        """How many frames these stretches contained. `positions` are those of the index; a stretch without any counts as one frame."""
        return sum(max(1, bisect_left(positions, end) - bisect_left(positions, begin)) for begin, end in self.stretches)


def _is_whole(header: "bytes | memoryview", payload: memoryview) -> bool:
    hashed = xxhash.xxh64(header[:24])
    hashed.update(payload)
    return hashed.intdigest() == int.from_bytes(header[24:32], "little")


class FrameFile:
    """A .trace file that is open for reading. Any number of threads may read payloads; frames() is for one thread."""

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
            self.modified = status.st_mtime_ns
            header = os.pread(self._file, FILE_HEADER.size, 0)
            if len(header) < FILE_HEADER.size or header[:8] != FILE_MAGIC:
                raise TraceError(f"{self.path} is not a .trace file; `lanescope export -t trace` makes one of files of other tools.")
            _, major, self.minor_version, _ = FILE_HEADER.unpack(header)
            if major > MAJOR_VERSION:
                raise TraceError(f"{self.path} has format version {major}; this package reads version {MAJOR_VERSION}. Install a newer one.")
        except BaseException:
            self.close()
            raise
        self._of_thread = threading.local()
        self._search_budget = _SEARCH_FACTOR * self.size + (1 << 20)

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def __del__(self) -> None:
        if getattr(self, "_file", -1) >= 0:
            self.close()

    def frames(self, at: int = FILE_HEADER.size) -> Iterator[tuple[Frame, memoryview]]:
        """Whole frames from position `at` on, with their stored payloads. Time grows linearly with the file's size, also for damaged files."""
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
        """The decompressed payload of a frame. None, counted as damage, if it can't be read. Without `stored`, it is read from the file again."""
        if self._file < 0:
            raise OSError(errno.EBADF, "The trace was closed: read its tables before that", self.path)
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
            raw = self._decompressor().decompress(stored, max_output_size=frame.raw_size)
            if len(raw) != frame.raw_size:
                raise ValueError("another size than the header says")
            return memoryview(raw)
        except (ValueError, zstandard.ZstdError):
            self.damage.frames += 1
            return None

    def _decompressor(self) -> "zstandard.ZstdDecompressor":
        """This thread's own: it decompresses without Python's lock, so that two threads with one would destroy each other's data."""
        found: "Optional[zstandard.ZstdDecompressor]" = getattr(self._of_thread, "decompressor", None)
        if found is None:
            found = self._of_thread.decompressor = zstandard.ZstdDecompressor()
        return found

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
        """The position of the first whole frame at or after `at`, or the file's end."""
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
    """A part of the file in memory, which moves forward as the file is read."""

    def __init__(self, file: int, size: int) -> None:
        self._file, self._size = file, size
        self._begin, self._data = 0, b""
        self.bytes_read = 0

    def read(self, at: int, count: int) -> memoryview:
        """`count` bytes from `at` on; fewer at the end of the file."""
        if at < self._begin or at + count > self._begin + len(self._data):
            self._begin, self._data = at, os.pread(self._file, max(count, _WINDOW), at)
            self.bytes_read += len(self._data)
        offset = at - self._begin
        return memoryview(self._data)[offset : offset + count]

    def find(self, pattern: bytes, at: int) -> int:
        """The first position of the pattern from `at` on, or -1."""
        while at + len(pattern) <= self._size:
            if len(self.read(at, len(pattern))) < len(pattern):
                return -1
            offset = self._data.find(pattern, at - self._begin)
            if offset >= 0:
                return self._begin + offset
            at = self._begin + len(self._data) - len(pattern) + 1
        return -1
