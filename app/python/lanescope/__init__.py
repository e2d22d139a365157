"""Recordings of CUDA programs (.trace files) as tables.

    import lanescope
    with lanescope.open("run.trace") as trace:
        print(trace.kernels[["name", "start", "duration"]].to_pandas())

docs/python.md is the guide, docs/tables.md lists the tables.
"""

from ._frames import TraceError
from .program import ProgramError
from .table import Table
from .trace import ClockReading, JobPlace, Loss, Process, Trace, diff, open

__all__ = ["ClockReading", "JobPlace", "Loss", "Process", "ProgramError", "Table", "Trace", "TraceError", "diff", "open"]
__version__ = "0.1.0"
