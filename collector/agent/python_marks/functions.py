"""NVTX ranges around calls of functions that a JSON file names, in the format of Nsight Systems' --python-functions-trace:

    [{"module": "cupy", "color": "green", "domain": "arrays", "functions": ["dot", "random.random", {"function": "sort", "color": "red"}]}]

A function is named by its path from the module, through submodules that the module has and through classes. A class stands for its `__init__` and its
`__call__`, if it has one. Ranges are named by module and function. Functions that can't be marked are reported, and the program goes on without them.
"""

import functools
import inspect
import json
import os
import sys
import threading
import types

_COLORS = {  # of the nvtx package and of CSS, RGB
    "green": 0x76B900, "blue": 0x0071C5, "yellow": 0xFFFF00, "purple": 0xFF00FF, "rapids": 0x7400FF, "cyan": 0x00FFFF, "red": 0xFF0000,
    "white": 0xFFFFFF, "darkgreen": 0x006400, "orange": 0xFFA500, "black": 0x000000, "gray": 0x808080, "grey": 0x808080, "silver": 0xC0C0C0,
    "maroon": 0x800000, "magenta": 0xFF00FF, "fuchsia": 0xFF00FF, "lime": 0x00FF00, "olive": 0x808000, "navy": 0x000080, "teal": 0x008080,
    "aqua": 0x00FFFF, "pink": 0xFFC0CB, "brown": 0xA52A2A, "violet": 0xEE82EE, "gold": 0xFFD700, "salmon": 0xFA8072, "crimson": 0xDC143C,
    "indigo": 0x4B0082, "turquoise": 0x40E0D0, "darkblue": 0x00008B, "darkred": 0x8B0000, "lightblue": 0xADD8E6, "lightgreen": 0x90EE90,
}
_MARKED = "__lanescope_marked__"
# What a function that calls it can stand for: a call is all that programs do with it. Other callables have attributes or a class that programs use
# (functools.lru_cache's, functools.partial, ufuncs of numpy, compiled functions of JAX and torch), which a function in their place would not have.
_KINDS = (types.FunctionType, types.MethodType, types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType)
_NAMED_KINDS = ("cython_function_or_method",)  # a type of each module that Cython made
# Functions that look at who called them, by their modules' names. They would find a mark.
_LOGGED = frozenset(("debug", "info", "warning", "warn", "error", "exception", "critical", "fatal", "log"))
_LOOK_AT_CALLER = {
    "builtins": frozenset(("breakpoint", "dir", "eval", "exec", "globals", "locals", "vars")),
    "sys": frozenset(("_getframe", "_getframemodulename")),
    "inspect": frozenset(("currentframe", "stack")),
    "traceback": frozenset(("extract_stack", "format_stack", "print_stack")),
    "warnings": frozenset(("warn",)), "_warnings": frozenset(("warn",)), "_py_warnings": frozenset(("warn",)),
    "collections": frozenset(("namedtuple",)),
    "typing": frozenset(("NamedTuple", "TypedDict", "_caller")),
    "logging": _LOGGED | frozenset("%s.%s" % (owner, name) for owner in ("Logger", "LoggerAdapter") for name in _LOGGED),
}


@functools.lru_cache(maxsize=None)
def _color(given):
    """The ARGB value of a name, of #RRGGBB, or of a number (0xRRGGBB, 0xAARRGGBB); None if `given` is none of these."""
    if given is None or isinstance(given, bool):
        return None
    if isinstance(given, int):
        number = given
    elif given.lower() in _COLORS:
        number = _COLORS[given.lower()]
    else:
        try:
            number = int(given[1:], 16) if given.startswith("#") else int(given, 0)
        except ValueError:
            _say("The colour %r of functions of Python is not known: their ranges have none." % given)
            return None
    return (number if number > 0xFFFFFF else number | 0xFF000000) & 0xFFFFFFFF


_beside = None  # loads a file beside this one (sitecustomize.py)
_say = None  # tells the user a sentence


def _nvtx():
    return _beside("nvtx")


# A mark takes a stack frame of its own above the function's, and some more frames for a moment. While marked functions are on the stack, the recursion limit is
# raised by as many frames, so that a program can recurse as deeply as without marks.
# It is raised at once for _EACH nested marks of a thread; marks also take that many frames for a moment. Fewer marks use the program's own frames, so that
# most calls don't change the limit.
_EACH = 32  # nested marks


class _Room(threading.local):
    depth = 0


_room = _Room()


class _Limit:
    """The recursion limit, raised above the value that the program has set."""

    def __init__(self):
        self._lock = threading.RLock()  # reentrant: a signal handler may be marked, and interrupt the thread that holds it
        self._set = 0  # the value that was last set here; any other value was set by the program
        self._changes = 0  # number of changes by the program
        self._owed = 0  # frames by which the limit is still too high

    def raise_by(self, frames):
        """Raises the limit. Returns the argument for lower()."""
        with self._lock:
            now = sys.getrecursionlimit()
            if now != self._set:
                self._changes += 1
                self._owed = 0
            try:
                sys.setrecursionlimit(now + frames)
            except (RecursionError, OverflowError):  # some versions require a distance to the current depth, or the limit is at its maximum
                frames = 0
            self._set = now + frames
            return self._changes, frames

    def lower(self, raised):
        changes, frames = raised
        with self._lock:
            if sys.getrecursionlimit() != self._set or changes != self._changes:
                return
            self._owed += frames
            try:
                sys.setrecursionlimit(self._set - self._owed)
            except RecursionError:  # the next call lowers it
                return
            self._set -= self._owed
            self._owed = 0


_limit = _Limit()
_has_one_thread_at_a_time = getattr(sys, "_is_gil_enabled", lambda: True)()  # otherwise changing the limit stops all threads, so it is not done


def _forget_threads_of_parent():
    _limit._lock = threading.RLock()  # a thread of the parent may have held it


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads_of_parent)


def _begin(mark):
    try:
        mark.__enter__()
        return True
    except Exception:  # at the recursion limit; an error of the function itself is the program's, and is raised there
        return False


def _attribute(owner, name):
    """The result of inspect.getattr_static, but much faster for modules and names that are no attribute of the module type."""
    if type(owner) is types.ModuleType and not hasattr(types.ModuleType, name):
        try:
            return vars(owner)[name]
        except KeyError:
            raise AttributeError(name) from None
    return inspect.getattr_static(owner, name)


class _Function:
    """What one name of the file stands for in a module."""

    def __init__(self, way, color, domain):
        self._way = way
        self._color = color
        self._domain = domain

    def mark_in(self, module):
        """Marks the function. Returns why it could not be marked, or None."""
        name = "%s.%s" % (module.__name__, self._way)
        try:
            self._argb = _color(self._color)
            *owners, attribute = self._way.split(".")
            self._wrap(functools.reduce(getattr, owners, module), attribute, name)
        except AttributeError:
            return "%s is not marked: there is none" % name
        except Exception as error:  # whatever the module has under this name, the program goes on
            return "%s is not marked: %s" % (name, error)
        return None

    def _wrap(self, owner, attribute, name):
        given = _attribute(owner, attribute)
        if isinstance(given, type):
            own = [part for part in ("__init__", "__call__") if isinstance(inspect.getattr_static(given, part, None), types.FunctionType)]
            if not own:
                raise TypeError("it is a class without an __init__ or __call__ in Python")
            for part in own:
                self._wrap(given, part, "%s.%s" % (name, part))
        elif isinstance(given, (staticmethod, classmethod)):
            setattr(owner, attribute, type(given)(self._around(given.__func__, name)))
        elif callable(given):
            setattr(owner, attribute, self._around(given, name))
        else:
            raise TypeError("it is no function")

    def _around(self, function, name):
        if not (isinstance(function, _KINDS) or type(function).__name__ in _NAMED_KINDS):
            raise TypeError("it is an object of the class %s, which is more than a function" % type(function).__name__)
        if getattr(function, _MARKED, False):
            return function
        if getattr(function, "__qualname__", None) in _LOOK_AT_CALLER.get(getattr(function, "__module__", None), ()):
            raise TypeError("it looks at the function that calls it, which would be the mark")
        kind = _nvtx().returns_before_it_runs(function)
        if kind:
            raise TypeError("it is %s, whose call returns before it runs" % kind)
        mark = _nvtx().annotate(name, color=self._argb, domain=self._domain)

        @functools.wraps(function)
        def call(*arguments, **named):
            raised = None
            _room.depth += 1
            try:
                if _has_one_thread_at_a_time and _room.depth % _EACH == 0:
                    raised = _limit.raise_by(_EACH if _room.depth > _EACH else 2 * _EACH)
                is_marked = _begin(mark)
                try:
                    return function(*arguments, **named)
                finally:
                    if is_marked:
                        mark.__exit__(None, None, None)
            finally:
                _room.depth -= 1
                if raised is not None:
                    _limit.lower(raised)

        setattr(call, _MARKED, True)
        return call


_MOST_TOLD = 20  # functions of a module that could not be marked


def _mark(functions, module):
    reasons = [reason for reason in (function.mark_in(module) for function in functions) if reason is not None]
    for reason in reasons[:_MOST_TOLD]:
        _say(reason + ".")
    if len(reasons) > _MOST_TOLD:
        _say("%d more functions of %s are not marked." % (len(reasons) - _MOST_TOLD, module.__name__))


def read(path, beside, tell):
    """The functions to mark in each module, by the modules' names. `beside` loads a file beside this one, by its name, once; `tell` tells the user a sentence."""
    global _beside, _say
    _beside, _say = beside, tell
    with open(path, encoding="utf-8-sig") as file:
        groups = json.load(file)
    functions = {}
    for group in groups:
        for given in group["functions"]:
            own = given if isinstance(given, dict) else {"function": given}
            functions.setdefault(group["module"], []).append(
                _Function(own["function"], own.get("color", group.get("color")), own.get("domain", group.get("domain"))))

    functions.pop("__main__", None)  # they do not exist before the program runs; the recorder says so
    def marker(of_module):
        return lambda module: _mark(of_module, module)

    return {module: marker(of_module) for module, of_module in functions.items()}
