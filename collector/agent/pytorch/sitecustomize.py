"""Marks the operations of PyTorch with NVTX, once a program has imported it.

Python imports a module of this name at its start. The recorder puts this one in front of the others for the programs that it starts
(LANESCOPE_PYTORCH says what to mark); the one that would have been imported without it is imported, too. Nothing happens in a program that
imports no PyTorch.
"""

import atexit
import os
import sys


def _import_the_next_one():
    """What stands behind us on the path under our name, under its own name."""
    here = os.path.dirname(os.path.abspath(__file__))
    ours = sys.modules.pop(__name__, None)
    sys.path[:] = [folder for folder in sys.path if os.path.abspath(folder) != here]
    try:
        import sitecustomize  # noqa: F401
    except ImportError as error:
        if error.name != "sitecustomize":
            raise
        sys.modules[__name__] = ours


def _without_wait_for_the_gpu(torch, change, *arguments):
    """emit_nvtx waits for the GPU at its begin and end: that would begin to use one."""
    wait = torch.cuda.synchronize
    torch.cuda.synchronize = lambda *arguments, **named: None
    try:
        change(*arguments)
    finally:
        torch.cuda.synchronize = wait


def _mark_operations(torch):
    """emit_nvtx for the rest of the program."""
    try:
        from torch.autograd import profiler

        ranges = profiler.emit_nvtx(record_shapes=os.environ.get("LANESCOPE_PYTORCH") == "autograd-shapes-nvtx")
        _without_wait_for_the_gpu(torch, ranges.__enter__)
        # PyTorch warns of what still marks when it goes.
        atexit.register(_without_wait_for_the_gpu, torch, ranges.__exit__, None, None, None)
    except Exception as error:  # a PyTorch without NVTX, or one that has moved on: the program goes on without ranges
        print("lanescope: the operations of PyTorch are not marked: %s" % error, file=sys.stderr)


class _TorchFinder:
    """Finds what would be found without it, and marks the operations once the module is there."""

    asks_others = False

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name != "torch" or cls.asks_others:
            return None
        from importlib.util import find_spec

        cls.asks_others = True
        try:
            spec = find_spec(name)
        finally:
            cls.asks_others = False
        if spec is None or not hasattr(spec.loader, "exec_module"):
            return spec
        execute = spec.loader.exec_module

        def execute_and_mark(module):
            execute(module)
            _mark_operations(module)

        spec.loader.exec_module = execute_and_mark
        return spec


if os.environ.get("LANESCOPE_PYTORCH") in ("autograd-nvtx", "autograd-shapes-nvtx"):
    sys.meta_path.insert(0, _TorchFinder)
_import_the_next_one()
