"""What a recording says about itself: its processes, its clocks, and what is missing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Optional


@dataclass
class Loss:
    """What is missing in a trace. If all members are zero and False, nothing is known to be missing."""

    damaged_frames: int = 0    # frames that were skipped because of a wrong checksum; the same number as the program's
    damaged_bytes: int = 0     # bytes of the file that belong to no whole frame
    damaged_chunks: int = 0    # frames of events that could not be read, including those whose bytes are in damaged_bytes
    unknown_frames: int = 0    # frames of kinds that a newer version writes; skipped
    unknown_events: int = 0    # events in unknown frames
    cut: bool = False          # the file ends within a frame
    unfinished: bool = False   # the recording was cut off, or is still being written
    dropped: int = 0           # records lost for lack of room while recording
    late: int = 0              # records that came after the recording had ended
    invalid: int = 0           # records with impossible times
    unread: int = 0            # bytes at the end that were not read, because they are over the limits for a file of this size
    before: bool = False       # the file that this one was made from was incomplete; diagnostics say how
    was_cut: bool = False      # that file was cut off
    unwritten: int = 0         # events that were recorded and had no room in the file
    unreturned_buffers: int = 0  # CUPTI buffers whose records were lost with their processes
    failed: int = 0            # warnings of what could not be recorded, or is missing; diagnostics say what
    python_stacks: int = 0     # stacks that were dropped because they changed while they were read
    pc_samples: int = 0        # samples that found no room
    full_pc_windows: int = 0   # windows in which lost samples could not be counted
    unfollowed: bool = False   # processes could not be followed
    file_was_full: bool = False  # the recording ended because the file was full
    rows_left_out: bool = False  # rows were left out by choice when the file was saved

    def __bool__(self) -> bool:
        return any(vars(self).values())

    def __str__(self) -> str:
        """One sentence about what is missing, in the words of `lanescope info`: "incomplete: 5 records dropped", "complete: nothing dropped"."""
        losses = [
            (self.dropped, "record", "dropped"),
            (self.invalid, "record", "invalid"),
            (self.unreturned_buffers, "CUPTI buffer", "lost"),
            (self.unwritten, "event", "had no room in the file"),
            (self.python_stacks, "Python stack", "dropped"),
            (self.pc_samples, "PC sample", "dropped"),
            (self.full_pc_windows, "full buffer", "of PC samples lost more"),
        ]
        parts = [f"{count:,} {noun}{'' if count == 1 else 's'} {what}" for count, noun, what in losses if count]
        if self.file_was_full:
            parts.append("what came once the file was full")
        if self.unfollowed:
            parts.append("processes could not be followed")
        if self.failed:
            parts.append(f"{self.failed:,} warning{' says' if self.failed == 1 else 's say'} what else is missing")
        is_damaged = any((self.damaged_frames, self.damaged_bytes, self.damaged_chunks, self.unknown_frames, self.cut, self.before))
        is_cut_off = self.unfinished or self.was_cut
        if self.unread or (is_damaged and not is_cut_off):
            parts.append("not all of it could be read")
        elif is_cut_off and not parts:
            parts.append("the recording was cut off")
        if parts:
            return "incomplete: " + ", ".join(parts)
        return "complete but for rows that were left out by choice" if self.rows_left_out else "complete: nothing dropped"


@dataclass(frozen=True)
class JobPlace:
    """The place of a process in a job of several processes, as its launcher set it in the environment."""

    rank: Optional[int] = None        # number among all processes of the job
    local_rank: Optional[int] = None  # number among the processes of one machine
    world_size: Optional[int] = None
    launcher: str = ""                # the launcher that set the rank: "torchrun", "Open MPI", "Slurm"
    scheduler: str = ""               # the scheduler that set the id of the job
    job: str = ""
    step: str = ""


@dataclass(frozen=True)
class ClockReading:
    """The machine's clocks at one moment, in ns, and how the time of day is synchronised."""

    time: int           # ns since the recording began
    utc: int            # ns since 1970
    monotonic_raw: int  # CLOCK_MONOTONIC_RAW, which NTP does not slew
    boottime: int       # CLOCK_BOOTTIME
    uncertainty: int
    synchronized: bool  # by NTP, PTP or similar
    offset: int         # correction of the time of day that is still to be made
    frequency: float    # ppm by which the clock is sped up
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
