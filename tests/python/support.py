"""Common parts of the Python package's tests: paths, and a writer of frames with arbitrary bytes."""

import os
import pathlib
import struct
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "app" / "python"))
RECORDINGS = sorted((ROOT / "tests" / "data").glob("*.trace"))

import xxhash
import zstandard

HEADER = b"\x89LST\r\n\x1a\n" + struct.pack("<HHI", 1, 0, 0)


def recording(name):
    return ROOT / "tests" / "data" / f"{name}.trace"


def program():
    """The command line program to compare with; set by ctest."""
    return os.environ["LANESCOPE"]


def lanescope(*arguments):
    return subprocess.run([program(), *map(str, arguments)], check=True, capture_output=True).stdout


def frame(kind, payload, process=1, source=0, count=0, compress=True):
    stored = zstandard.ZstdCompressor(level=19).compress(payload) if compress else payload
    codec = 1 if compress and len(stored) < len(payload) else 0
    stored = stored if codec else payload
    header = struct.pack("<IHBBIIII", 0x3146534C, kind, codec, source, len(stored), len(payload), process, count)
    return header + struct.pack("<Q", xxhash.xxh64(header + stored).intdigest()) + stored


def varint(number):
    result = bytearray()
    while number > 0x7F:
        result.append(number & 0x7F | 0x80)
        number >>= 7
    result.append(number)
    return bytes(result)


def zigzag(number):
    return varint(((number << 1) ^ (number >> 63)) & (1 << 64) - 1)


def field(number, data):
    """A field of the schema: bytes, or an unsigned number."""
    if isinstance(data, bytes):
        return varint(number << 3 | 2) + varint(len(data)) + data
    return varint(number << 3) + varint(data)


def session_start(epoch=1000):
    return frame(1, field(1, epoch << 1), process=0)


def process_start(instance=1, pid=4242):
    return frame(3, field(1, pid), process=instance)


def session_end():
    return frame(2, field(2, 1), process=0)
