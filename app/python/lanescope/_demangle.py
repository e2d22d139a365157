"""Readable forms of mangled C++ names, made by the machine's C++ runtime library.

A short hostile name may ask for gigabytes, so the names are read in a child process with limits. A name that ends the child keeps its mangled form, and
a new child is started for the rest, a few times.
"""

from __future__ import annotations

import subprocess
import sys

_LONGEST_NAME = 1 << 16  # bytes
_MOST_KNOWN = 1 << 16     # names that are kept, because files of a fleet share names
_MOST_KNOWN_BYTES = 64 << 20
_RESTARTS = 8
_SECONDS = 20  # for each child

_CHILD = r"""
import ctypes, resource, sys
resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
resource.setrlimit(resource.RLIMIT_CPU, (5, 5))
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
library = ctypes.CDLL("libstdc++.so.6")
demangle, release = library.__cxa_demangle, ctypes.CDLL(None).free
demangle.restype, demangle.argtypes = ctypes.c_void_p, [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_int)]
release.argtypes = [ctypes.c_void_p]
status = ctypes.c_int()
for name in sys.stdin.buffer.read().split(b"\0"):
    result = demangle(name, None, None, ctypes.byref(status))
    sys.stdout.buffer.write((ctypes.string_at(result) if result else name) + b"\0")
    sys.stdout.buffer.flush()
    release(result)
"""


_known: "dict[str, str]" = {}  # mangled: readable; "" if it can't be read
_known_bytes = 0


def demangled(names: "list[str]") -> "dict[str, str]":
    """The readable form of each mangled name; names that can't be read are left out."""
    global _known_bytes
    wanted = [name for name in dict.fromkeys(names) if name.startswith("_Z") and "\0" not in name and len(name) <= _LONGEST_NAME]
    found = {name: _known[name] for name in wanted if name in _known}
    unknown = [name for name in wanted if name not in found]
    if unknown:
        answers = _asked(unknown)
        found.update((name, answers.get(name, "")) for name in unknown)
        size = sum(len(name) + len(found[name]) for name in unknown)
        if len(_known) + len(unknown) > _MOST_KNOWN or _known_bytes + size > _MOST_KNOWN_BYTES:
            _known.clear()
            _known_bytes = 0
        if size <= _MOST_KNOWN_BYTES:
            _known.update((name, found[name]) for name in unknown)
            _known_bytes += size
    return {name: readable for name, readable in found.items() if readable}


def _asked(waiting: "list[str]") -> "dict[str, str]":
    result: dict[str, str] = {}
    for _ in range(_RESTARTS):
        if not waiting:
            break
        data = b"\0".join(name.encode("utf-8", errors="replace") for name in waiting)
        try:
            output = subprocess.run(
                [sys.executable, "-I", "-c", _CHILD], input=data, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=_SECONDS, check=False
            ).stdout
        except subprocess.TimeoutExpired as late:
            output = late.stdout or b""
        except OSError:
            break
        answers = output.split(b"\0")[:-1]
        result.update(zip(waiting, (answer.decode("utf-8", errors="replace") for answer in answers)))
        waiting = waiting[len(answers) + 1 :]  # all but the one that ended the child
    return result
