"""Marks what a Python program does with NVTX ranges: the operations of PyTorch, and functions that the user named.

Python imports a module of this name when it starts. The recorder puts this one first on the path of the programs that it starts
(LANESCOPE_PYTORCH and LANESCOPE_PYTHON_FUNCTIONS say what to mark). The module that would have been imported without it is imported, too. Nothing
happens in a program that imports none of the modules to mark. Whatever fails here, in any Python from 2.7 on, the program goes on without marks.
"""

import atexit
import os
import sys


def _is_ours(folder):
    try:
        return os.path.abspath(folder) == _HERE
    except Exception:  # the program's own: no text, or a relative path in a folder that was removed
        return False


def _import_the_next_one():
    """Imports the next module of our name on the path, under that name."""
    ours = sys.modules.pop(__name__, None)
    sys.path[:] = [folder for folder in sys.path if not _is_ours(folder)]
    try:
        import sitecustomize  # noqa: F401
    except ImportError as error:
        if getattr(error, "name", "sitecustomize") != "sitecustomize":
            raise
        sys.modules[__name__] = ours


def _module_beside(name):
    """Loads a file beside this one, which is not on the path of others; once."""
    from importlib import util

    known = sys.modules.get("_lanescope_" + name)
    if known is not None:
        return known
    spec = util.spec_from_file_location("_lanescope_" + name, os.path.join(_HERE, name + ".py"))
    module = util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[spec.name]
        raise
    return module


def _tell(sentence):
    """Tells the user a sentence (messages.py), or prints it if nothing else reaches the user."""
    try:
        _module_beside("messages").tell(sentence, _module_beside("nvtx"))
    except Exception:  # a Python without ctypes, or too old for the ranges; Lanescope was removed meanwhile; the agent can't be loaded
        try:
            sys.stderr.write("lanescope: %s\n" % sentence)
        except Exception:  # the program has none
            pass


def _without_wait_for_the_gpu(torch, change, *arguments):
    """Calls `change`. emit_nvtx waits for the GPU at its start and end, which would make the program use one, so synchronize() does nothing meanwhile."""
    wait = torch.cuda.synchronize
    torch.cuda.synchronize = lambda *arguments, **named: None
    try:
        change(*arguments)
    finally:
        torch.cuda.synchronize = wait


def _mark_operations(torch):
    """Switches emit_nvtx on for the rest of the program."""
    try:
        from torch.autograd import profiler

        ranges = profiler.emit_nvtx(record_shapes=os.environ.get("LANESCOPE_PYTORCH") == "autograd-shapes-nvtx")
        _without_wait_for_the_gpu(torch, ranges.__enter__)
        # PyTorch warns if marks are still on at its end.
        atexit.register(_without_wait_for_the_gpu, torch, ranges.__exit__, None, None, None)
    except Exception as error:  # a PyTorch without NVTX, or a newer one with another interface: the program goes on without ranges
        _tell("The operations of PyTorch are not marked: %s" % error)


class _Finder:
    """Finds the same modules as the finders after it, and has a module marked after it has been executed."""

    marks = {}  # functions that take the module, by the module's name

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        marks = cls.marks.get(name)
        if marks is None or cls not in sys.meta_path:
            return None
        for finder in sys.meta_path[sys.meta_path.index(cls) + 1 :]:  # the finders before it have been asked already
            find = getattr(finder, "find_spec", None)
            spec = find(name, path, target) if find is not None else None
            if spec is not None:
                _have_marked(spec, marks)
                return spec
        return None


class _LoaderByClass:
    """Loads a module as a loader does that is a class, as for modules in the interpreter itself: such a loader is that of other modules, too, and stays as it is."""

    def __init__(self, loader):
        self._loader = loader

    def __getattr__(self, name):
        return getattr(self._loader, name)

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        module.__spec__.loader = module.__loader__ = self._loader  # what it would be without us
        self._loader.exec_module(module)


def _try_to_mark(mark, module):
    try:
        mark(module)
    except Exception as error:
        _tell("The module %s is not marked: %s" % (module.__name__, error))


def _have_marked(spec, marks):
    if not hasattr(spec.loader, "exec_module"):
        return
    if isinstance(spec.loader, type):
        spec.loader = _LoaderByClass(spec.loader)
    loader = spec.loader
    execute, name = loader.exec_module, spec.name

    def execute_and_mark(module):
        execute(module)
        if getattr(getattr(module, "__spec__", None), "name", None) == name:  # some loaders load several modules
            for mark in marks:
                _try_to_mark(mark, module)

    try:
        loader.exec_module = execute_and_mark
    except AttributeError:
        pass


def _mark_functions(file):
    try:
        named = _module_beside("functions").read(file, _module_beside, _tell)
    except Exception as error:  # the file changed, or Python is too old: the program goes on without ranges
        _tell("Functions of Python are not marked: %s" % error)
        return
    for module, mark in named.items():
        if module in sys.modules:
            _try_to_mark(mark, sys.modules[module])
        _Finder.marks.setdefault(module, []).append(mark)


_HERE = os.path.dirname(os.path.abspath(__file__))
_CAN_FIND = sys.version_info >= (3, 4)  # earlier ones have another interface for finders
if _CAN_FIND and os.environ.get("LANESCOPE_PYTORCH") in ("autograd-nvtx", "autograd-shapes-nvtx"):
    _Finder.marks["torch"] = [_mark_operations]
if os.environ.get("LANESCOPE_PYTHON_FUNCTIONS"):
    _mark_functions(os.environ["LANESCOPE_PYTHON_FUNCTIONS"])
if _Finder.marks:
    sys.meta_path.insert(0, _Finder)
_import_the_next_one()
