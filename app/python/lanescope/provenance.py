"""What a recording says of itself: its processes, its clocks, and what it lacks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Optional


@dataclass
class Loss:
    """What is missing in a trace. All zeros and False: nothing is known to be missing."""

    damaged_frames: int = 0    # that were skipped, because their checksum differs: as many as the program says
    damaged_bytes: int = 0     # of the file, that belong to no whole frame
    damaged_chunks: int = 0    # frames of events that could not be read, also those of which some of these bytes are
    cut: bool = False          # the file ends within a frame
    unfinished: bool = False   # the recording was cut off, or is still being written
    dropped: int = 0           # records lost for lack of room while recording
    late: int = 0              # that came after the recording had ended
    invalid: int = 0           # whose times make no sense
    unread: int = 0            # bytes behind what is read of a file of this size
    before: bool = False       # the file that this one was made from lacked something; diagnostics say what
    unwritten: int = 0         # events that were recorded and had no room in the file
    unreturned_buffers: int = 0  # of CUPTI's, whose records were lost with their processes
    failed: int = 0            # warnings of what could not be recorded; diagnostics say what

    def __bool__(self) -> bool:
        return any(vars(self).values())


@dataclass(frozen=True)
class JobPlace:
    """Where a process stands in a job of several, as its launcher said in its environment."""

    rank: Optional[int] = None        # among all processes of the job
    local_rank: Optional[int] = None  # among those of one machine
    world_size: Optional[int] = None
    launcher: str = ""                # that gave the rank: "torchrun", "Open MPI", "Slurm"
    scheduler: str = ""               # that gave the id of the job
    job: str = ""
    step: str = ""


@dataclass(frozen=True)
class ClockReading:
    """The machine's clocks at one moment, in ns, and what keeps the time of day right."""

    time: int           # since the recording began
    utc: int            # since 1970
    monotonic_raw: int  # CLOCK_MONOTONIC_RAW, which NTP does not slew
    boottime: int       # CLOCK_BOOTTIME
    uncertainty: int
    synchronized: bool  # by NTP, PTP or the like
    offset: int         # that is still to be made up
    frequency: float    # ppm by which the clock is made to run faster
    estimated_error: int
    maximum_error: int


@dataclass
class Process:
    """A process of the recording. Times are ns since the recording began."""

    instance: int
    pid: int = 0
    parent_pid: int = 0
    start: int = 0
    executable: str = ""
    arguments: "list[str]" = field(default_factory=list)
    end: Optional[int] = None
    end_kind: str = "unknown"
    exit_code: Optional[int] = None
    signal: Optional[int] = None
    place: JobPlace = JobPlace()
    threads: "dict[int, str]" = field(default_factory=dict)       # names by thread id
    devices: "dict[int, dict[str, Any]]" = field(default_factory=dict)  # by CUDA's number in this process
    nvtx_domains: "dict[int, str]" = field(default_factory=dict)


__all__ = ["ClockReading", "JobPlace", "Loss", "Process"]
