"""NVTX ranges of Python code, without another package.

This module acts like a library that embeds NVTX: the tool is named by NVTX_INJECTION64_PATH, or is our agent once a recording starts. The tool
puts its functions into the table that is kept here. So every tool that supports NVTX sees these ranges; without a tool, a range costs some
0.1 to 0.3 µs. `lanescope attach` does not find this table, so this module checks whether the agent has been loaded.
"""

from __future__ import annotations

import contextlib
import contextvars
import ctypes
import functools
import inspect
import numbers
import os
import threading
import time
from typing import TYPE_CHECKING, Any, Callable, Dict, Optional, Tuple, TypeVar, Union

_Function = TypeVar("_Function", bound=Callable[..., Any])

_CALLBACKS, _VERSION = 1, 3                # export tables
_CORE, _DOMAINS = 1, 5                     # modules of functions: without and with a domain
_FUNCTIONS = 16                            # functions in each module
_RANGE_START_EX, _RANGE_END, _RANGE_PUSH_EX, _RANGE_POP = 4, 7, 8, 11  # in the first module
_DOMAIN_START_EX, _DOMAIN_END, _DOMAIN_PUSH_EX, _DOMAIN_POP, _DOMAIN_CREATE = 2, 3, 4, 5, 12  # in the second module
_COLOR_ARGB, _MESSAGE_UTF8 = 1, 1
_PAYLOAD_INT64, _PAYLOAD_DOUBLE = 2, 3


class _Payload(ctypes.Union):
    _fields_ = [("integer", ctypes.c_int64), ("double", ctypes.c_double)]


class _Attributes(ctypes.Structure):  # nvtxEventAttributes_t, version 2
    _fields_ = [("version", ctypes.c_uint16), ("size", ctypes.c_uint16), ("category", ctypes.c_uint32), ("color_type", ctypes.c_int32),
                ("color", ctypes.c_uint32), ("payload_type", ctypes.c_int32), ("reserved", ctypes.c_int32), ("payload", _Payload),
                ("message_type", ctypes.c_int32), ("message", ctypes.c_char_p)]


_Slots = ctypes.c_void_p * _FUNCTIONS
_slots = {module: _Slots() for module in (_CORE, _DOMAINS)}
_tables = {module: _Slots(*(ctypes.addressof(slots) + i * ctypes.sizeof(ctypes.c_void_p) for i in range(_FUNCTIONS)))
           for module, slots in _slots.items()}


def _module_table(module: int, table: Any, size: Any) -> int:
    if module not in _tables:
        return 0
    table[0], size[0] = ctypes.addressof(_tables[module]), _FUNCTIONS
    return 1


def _take_tool_version(version: int) -> None:
    pass


_ModuleTable = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_uint))
_TakeToolVersion = ctypes.CFUNCTYPE(None, ctypes.c_uint32)


class _Callbacks(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("module_table", _ModuleTable)]


class _Version(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("version", ctypes.c_uint32), ("reserved", ctypes.c_uint32), ("take_tool_version", _TakeToolVersion)]


_callbacks = _Callbacks(ctypes.sizeof(_Callbacks), _ModuleTable(_module_table))
_version = _Version(ctypes.sizeof(_Version), 3, 0, _TakeToolVersion(_take_tool_version))


def _export_table(table: int) -> Optional[int]:
    return {_CALLBACKS: ctypes.addressof(_callbacks), _VERSION: ctypes.addressof(_version)}.get(table)


_get_export_table = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_uint32)(_export_table)


# PYFUNCTYPE does not release the GIL: these functions return at once.
_PUSH = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Attributes))
_POP = ctypes.PYFUNCTYPE(ctypes.c_int)
_PUSH_IN = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(_Attributes))
_POP_IN = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
_START = ctypes.PYFUNCTYPE(ctypes.c_uint64, ctypes.POINTER(_Attributes))
_END = ctypes.PYFUNCTYPE(None, ctypes.c_uint64)
_START_IN = ctypes.PYFUNCTYPE(ctypes.c_uint64, ctypes.c_void_p, ctypes.POINTER(_Attributes))
_END_IN = ctypes.PYFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint64)
_CREATE = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_char_p)
_push: Optional[Any] = None
_pop: Optional[Any] = None
_push_in: Optional[Any] = None
_pop_in: Optional[Any] = None
_create: Optional[Any] = None
_start: Optional[Any] = None
_end: Optional[Any] = None
_start_in: Optional[Any] = None
_end_in: Optional[Any] = None
_Begun = Tuple["Range", Optional[Callable[[], None]]]
_begun: "contextvars.ContextVar[Tuple[_Begun, ...]]" = contextvars.ContextVar("lanescope_begun", default=())  # in this task by `async with`, with their ends
_domains: Dict[str, int] = {}  # the tool's handles
_setup = threading.RLock()  # reentrant, because a signal handler may start a range, too
_was_set_up = False
_AGENT = "liblanescope-agent.so"  # the name that it gives itself, wherever its file is
_LOOK = 0.01      # s, between checks whether the agent has been loaded; made by the start of a range
_next_look = 0.0
_now = time.monotonic
_loaded = -1  # how many libraries were loaded when the agent was last looked for


def install(tool: ctypes.CDLL) -> bool:
    """Connects the ranges of this process to a tool's library. Returns whether it accepts them."""
    global _push, _pop, _push_in, _pop_in, _create, _start, _end, _start_in, _end_in, _was_set_up
    _was_set_up = True
    is_taken = tool.InitializeInjectionNvtx2(_get_export_table)
    push, pop = _slots[_CORE][_RANGE_PUSH_EX], _slots[_CORE][_RANGE_POP]
    if not is_taken or not push or not pop:
        return False
    _domains.clear()
    push_in, pop_in, create = (_slots[_DOMAINS][function] for function in (_DOMAIN_PUSH_EX, _DOMAIN_POP, _DOMAIN_CREATE))
    if push_in and pop_in and create:
        _push_in, _pop_in, _create = _PUSH_IN(push_in), _POP_IN(pop_in), _CREATE(create)
    start, end = _slots[_CORE][_RANGE_START_EX], _slots[_CORE][_RANGE_END]
    if start and end:
        _start, _end = _START(start), _END(end)
    start_in, end_in = _slots[_DOMAINS][_DOMAIN_START_EX], _slots[_DOMAINS][_DOMAIN_END]
    if start_in and end_in:
        _start_in, _end_in = _START_IN(start_in), _END_IN(end_in)
    _push, _pop = _PUSH(push), _POP(pop)
    return True


def _handle_of(domain: str) -> Optional[int]:
    """The tool's handle for a domain; None is the default domain, used if the tool supports no others."""
    known = _domains.get(domain)
    if known is None and _create is not None and (made := _create(domain.encode("utf-8", "replace"))):
        known = _domains.setdefault(domain, made)
    return known


def _set_up() -> None:
    """Does what every library with NVTX does at its first call."""
    global _was_set_up
    if _was_set_up:
        return
    _was_set_up = True
    path = os.environ.get("NVTX_INJECTION64_PATH")
    if not path:
        return
    try:
        install(ctypes.CDLL(path))
    except (OSError, AttributeError):
        pass  # NVTX reports nothing if its tool can't be loaded


class _LoadedFile(ctypes.Structure):  # dl_phdr_info
    _fields_ = [("address", ctypes.c_void_p), ("name", ctypes.c_void_p), ("headers", ctypes.c_void_p), ("header_count", ctypes.c_uint16),
                ("loaded", ctypes.c_ulonglong), ("unloaded", ctypes.c_ulonglong), ("rest", ctypes.c_byte * 64)]


@functools.lru_cache(maxsize=None)
def _count_of_loads() -> Callable[[], int]:
    """A function that returns how many libraries the loader has loaded so far, in some µs and without reading a file.

    The loader calls back with its lock held. The callback must not wait for the GIL or run Python code, in which a Ctrl+C would be lost.
    """
    library = ctypes.PyDLL(None)
    copy = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)(("memmove", library))
    first = _LoadedFile()
    take = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t)(functools.partial(copy, ctypes.addressof(first)))
    visit = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(("dl_iterate_phdr", library))

    def count() -> int:
        visit(ctypes.cast(take, ctypes.c_void_p), None)
        return int(first.loaded)

    return count


def look_for_tool() -> None:
    """If there is no tool yet, looks for the one that the process was started with, or for our agent, which `lanescope attach` may have loaded meanwhile."""
    global _next_look, _loaded
    with _setup:  # threads that start ranges meanwhile wait here, or their ranges would be lost
        if _push is not None or _now() < _next_look:
            return
        try:
            _set_up()
            loaded = _count_of_loads()()
            if loaded != _loaded and _push is None:
                _loaded = loaded
                install(ctypes.CDLL(_AGENT, mode=os.RTLD_NOLOAD | os.RTLD_NOW))
        except (OSError, AttributeError):
            pass  # it is not loaded
        finally:
            _next_look = _now() + _LOOK


def _forget_threads_of_parent() -> None:
    global _setup
    _setup = threading.RLock()  # a thread of the parent may have held it


os.register_at_fork(after_in_child=_forget_threads_of_parent)


def returns_before_it_runs(function: Callable[..., Any]) -> str:
    """What kind of function it is, if its call only makes something that runs later; empty for other functions."""
    if inspect.iscoroutinefunction(function):
        return "a coroutine"
    return "a generator" if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function) else ""


def _attributes(message: str, color: Optional[int], payload: Union[int, float, None]) -> _Attributes:
    values = _Attributes(version=2, size=ctypes.sizeof(_Attributes), message_type=_MESSAGE_UTF8, message=message.encode("utf-8", "replace"))
    if color is not None:
        values.color_type, values.color = _COLOR_ARGB, color
    if isinstance(payload, float):
        values.payload_type, values.payload.double = _PAYLOAD_DOUBLE, payload
    elif payload is not None:
        if not -(1 << 63) <= payload < 1 << 63:
            raise ValueError(f"A payload has 64 bits: {payload} does not fit. Give it as a float.")
        values.payload_type, values.payload.integer = _PAYLOAD_INT64, payload
    return values


_PLAIN = (type(None), int, float)


def _plain(payload: Any) -> Union[int, float]:
    """The plain value of numbers of numpy and similar types."""
    if isinstance(payload, numbers.Integral):
        return int(payload)
    if isinstance(payload, numbers.Real):
        return float(payload)
    # Reading a tensor could make the program wait for its GPU without a sign of it.
    raise TypeError(f"A payload is a number, not {type(payload).__name__}: give it as int(...) or float(...).")


class Range(contextlib.ContextDecorator):
    """The return value of annotate(). It may be entered any number of times, on any thread."""

    def __init__(self, message: str, color: Optional[int], payload: Union[int, float, None], domain: Optional[str]) -> None:
        if payload.__class__ not in _PLAIN:
            payload = _plain(payload)
        if color is not None and not isinstance(color, int):
            raise TypeError(f"A color is a number, such as 0xFF76B900 (ARGB), not {color!r}.")
        if color is not None and not -(1 << 31) <= color < 1 << 32:
            raise ValueError(f"A color has 32 bits (ARGB): {color:#x} does not fit.")
        if not isinstance(message, str):
            raise TypeError(f"The name of a range is a text, not {type(message).__name__}.")
        if domain is not None and not isinstance(domain, str):
            raise TypeError(f"The name of a domain is a text, not {type(domain).__name__}.")
        self._attributes = _attributes(message, color, payload)
        self._arguments = (message, color, payload)
        self._domain = domain

    # Functions that are marked, and objects that keep a range, are sent to other processes and copied.
    def __reduce__(self) -> "Tuple[Callable[..., Range], Tuple[Any, ...]]":
        return annotate, (*self._arguments, self._domain)

    # While nothing is recorded, a range costs mostly these two calls and the reading of the clock.
    def __enter__(self) -> "Range":
        if _push is None:
            if _now() < _next_look:
                return self
            look_for_tool()
        if self._domain is not None and _push_in is not None:
            _push_in(_handle_of(self._domain), self._attributes)
        elif _push is not None:
            _push(self._attributes)
        return self

    def __exit__(self, kind: object = None, value: object = None, traceback: object = None) -> None:
        if _pop is None:
            return
        if self._domain is not None and _pop_in is not None:
            _pop_in(_handle_of(self._domain))
        else:
            _pop()

    # Ranges of one thread nest, and those of tasks, which take turns on one thread, do not. So these have a beginning and an end of their own.
    async def __aenter__(self) -> "Range":
        if _push is None and _now() >= _next_look:
            look_for_tool()
        _begun.set((*_begun.get(), (self, self._begin())))
        return self

    async def __aexit__(self, kind: object, value: object, traceback: object) -> None:
        begun = _begun.get()
        for i in reversed(range(len(begun))):
            if begun[i][0] is self:
                _begun.set(begun[:i] + begun[i + 1:])
                if end := begun[i][1]:
                    end()
                return

    def _begin(self) -> Optional[Callable[[], None]]:
        """Begins a range that other ranges may overlap, and returns what ends it; None without a tool."""
        if self._domain is not None and _start_in is not None and _end_in is not None:
            domain = _handle_of(self._domain)
            return functools.partial(_end_in, domain, _start_in(domain, self._attributes))
        if _start is not None and _end is not None:
            return functools.partial(_end, _start(self._attributes))
        return None

    def __call__(self, function: _Function) -> _Function:
        if kind := returns_before_it_runs(function):
            raise TypeError(f"annotate can't mark {getattr(function, '__qualname__', function)}: it is {kind}, and ranges of one thread nest. "
                            "Mark a block in it; where the block awaits, by async with.")
        return super().__call__(function)


# Equal ranges are made once: that is 0.3 µs faster than making one each time.
@functools.lru_cache(maxsize=4096, typed=True)
def _range(message: str, color: Optional[int] = None, payload: Union[int, float, None] = None, domain: Optional[str] = None) -> Range:
    """An NVTX range around a block, or around each call of a function.

        with lanescope.annotate("load", payload=batch): ...
        @lanescope.annotate("forward", color=0xFF76B900)
        async with lanescope.annotate("request"): ...

    `color` is ARGB, `payload` is a number that is stored with the range, and `domain` is the NVTX domain of the range. Ranges of one thread and domain
    nest; those of `async with`, for blocks that await, may overlap. The result may be entered any number of times, on any thread.
    """
    return Range(message, color, payload, domain)


if TYPE_CHECKING:
    def annotate(message: str, color: Optional[int] = None, payload: Union[int, float, None] = None, domain: Optional[str] = None) -> Range: ...
else:
    annotate = _range
