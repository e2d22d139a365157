"""Recordings of CUDA programs (.trace files): made from within a program, and read as tables.

    import lanescope
    with lanescope.record("run.trace", trace=["cuda", "nvtx"]):
        train()
    with lanescope.open("run.trace") as trace:
        print(trace.kernels[["name", "start", "duration"]].to_pandas())

docs/python.md is the guide, docs/tables.md lists the tables. Recording needs nothing but Python. The modules for reading are imported on first use;
they need numpy, xxhash and zstandard.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING
from typing import Any as _Any

from . import callbacks
from ._errors import ProgramError, RecordingError, RecordingWarning, TraceError
from ._nvtx import annotate
from ._recording import Recording, profile, record, start, stop
from ._schedule import Schedule, schedule

if TYPE_CHECKING:
    from .provenance import ClockReading, JobPlace, Loss, Process
    from .table import Table
    from .trace import Trace, diff, open

__all__ = ["ClockReading", "JobPlace", "Loss", "Process", "ProgramError", "Recording", "RecordingError", "RecordingWarning", "Schedule", "Table", "Trace",
           "TraceError", "annotate", "callbacks", "diff", "open", "profile", "record", "schedule", "start", "stop"]
__version__ = "0.1.0"

_READING = {"Table": "table", **dict.fromkeys(["ClockReading", "JobPlace", "Loss", "Process"], "provenance"),
            **dict.fromkeys(["Trace", "diff", "open"], "trace")}


def load_ipython_extension(shell: _Any) -> None:
    """Called by IPython for %load_ext lanescope."""
    from ._notebook import LanescopeMagics

    shell.register_magics(LanescopeMagics)


def __getattr__(name: str) -> _Any:
    if name == "budget":
        return _import_module(".budget", __name__)
    if name not in _READING:
        raise AttributeError(f"module 'lanescope' has no attribute {name!r}")
    globals()[name] = value = getattr(_import_module(f".{_READING[name]}", __name__), name)
    return value
