"""NCCL collectives as each process saw them, and matched over the ranks of their communicators.

A collective is identified by its communicator (an id that all ranks share) and its number there: NCCL requires the same order on all ranks. Kernels
belong to the call that launched them; a group of calls is one kernel.

Definitions: skew is the time between the first and the last arrival. A rank's wait is its duration minus the shortest duration, which is the transfer.
Bus bandwidth is bytes over transfer, times 2 (n - 1) / n for all-reduce and (n - 1) / n for all-gather, reduce-scatter and all-to-all (NCCL's own tests).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Iterable

import numpy as np
import numpy.typing as npt

from ..trace import Trace
from .recipe import Member, begins, json_object, members, whole_number

_NOT_COLLECTIVE = ("ncclCommInit", "ncclGroup", "ncclCommSplit", "ncclCommDestroy", "ncclCommAbort", "ncclCommFinalize", "ncclSend", "ncclRecv")


@dataclass
class RankCollectives:
    """The collectives of one process in one communicator, in order. Times are ns since the start of the recording; -1: not known."""

    member: Member
    clock: "list[Any]"           # host, CLOCK_MONOTONIC and UTC at the recording's start
    communicator: str
    operations: "list[str]"
    sizes: "list[int]"           # bytes
    called: "npt.NDArray[np.int64]"
    began: "npt.NDArray[np.int64]"  # times of the kernel
    ended: "npt.NDArray[np.int64]"
    world: "int | None" = None   # ranks of the communicator; None: not known, because it was made before the recording

    def to_json(self) -> "list[Any]":
        columns = (c.tolist() for c in (self.called, self.began, self.ended))
        return [self.member.to_json(), self.clock, self.communicator, self.operations, self.sizes, *columns, self.world]

    @classmethod
    def from_json(cls, data: "list[Any]") -> "RankCollectives":
        member, clock, communicator, operations, sizes, called, began, ended, world = data
        return cls(Member(*member), clock, communicator, operations, sizes, _times(called), _times(began), _times(ended), world)

    def order(self) -> "tuple[Any, ...]":
        return (self.communicator, self.member.rank is None, self.member.rank or 0, self.member.path, self.member.instance)


def _times(values: "Iterable[int]") -> "npt.NDArray[np.int64]":
    return np.array(values, dtype=np.int64)


def collectives_of(trace: Trace, path: str) -> "list[RankCollectives]":
    """What each process of a file did in each communicator."""
    ranges = trace.nvtx_ranges[["start", "duration", "name", "process", "thread", "domain", "payload_json"]].to_numpy()
    launches = trace.whole.api_calls[["start", "process", "thread", "correlation"]].to_numpy()
    kernels, texts = trace.kernels[["start", "duration", "name", "process", "correlation"]].coded()
    ours = begins(kernels["name"], texts["name"], "nccl")
    clock = [trace.session["host_name"], trace.session["epoch"], trace.utc_epoch, trace.boot_id]
    result = []
    for instance, member in members(trace, path).items():
        domains = [number for number, name in trace.processes[instance].nvtx_domains.items() if name == "NCCL"]
        own = (ranges["process"] == instance) & np.isin(ranges["domain"], domains)
        if not own.any():
            continue
        work = ours & (kernels["process"] == instance)
        by_correlation = {c: (s, s + d) for c, s, d in zip(*(kernels[name][work].tolist() for name in ("correlation", "start", "duration")))}
        calls = (launches["process"] == instance) & np.isin(launches["correlation"], list(by_correlation))
        by_thread = {
            thread: tuple(launches[name][calls & (launches["thread"] == thread)] for name in ("start", "correlation"))
            for thread in np.unique(launches["thread"][calls]).tolist()
        }
        rows: "dict[str, list[tuple[Any, ...]]]" = {}
        worlds: "dict[str, int]" = {}
        groups = _groups(ranges, own)
        for start, duration, name, thread, payload in sorted(
            zip(*(ranges[column][own].tolist() for column in ("start", "duration", "name", "thread", "payload_json"))), key=lambda row: row[0]
        ):
            said = json_object(payload) if payload else {}
            communicator = said.get("NCCL communicator ID")
            if communicator is not None and 0 < whole_number(said.get("No. of ranks")) < 1 << 63:  # it is made here
                worlds[str(communicator)] = whole_number(said["No. of ranks"])
            if communicator is None or name.startswith(_NOT_COLLECTIVE):
                continue
            begin, end = groups.get((thread, start), (start, start + duration))
            starts, correlations = by_thread.get(thread, (np.zeros(0), np.zeros(0)))
            last = int(np.searchsorted(starts, end)) - 1
            kernel = by_correlation[int(correlations[last])] if last >= 0 and starts[last] >= begin else (-1, -1)
            rows.setdefault(str(communicator), []).append((name, whole_number(said.get("Message size [bytes]")), start, *kernel))
        for communicator, found in sorted(rows.items()):
            operations, sizes, called, began, ended = zip(*found)
            result.append(
                RankCollectives(
                    member, clock, communicator, list(operations), list(sizes), _times(called), _times(began), _times(ended), worlds.get(communicator)
                )
            )
    return result


def _groups(ranges: "dict[str, Any]", own: "npt.NDArray[np.bool_]") -> "dict[tuple[int, int], tuple[int, int]]":
    """For calls between ncclGroupStart and ncclGroupEnd: the time of the end of the group, which launches the work."""
    result: "dict[tuple[int, int], tuple[int, int]]" = {}
    open_calls: "dict[int, list[int] | None]" = {}
    rows = sorted(zip(*(ranges[column][own].tolist() for column in ("start", "duration", "name", "thread"))), key=lambda row: row[0])
    for start, duration, name, thread in rows:
        if name == "ncclGroupStart":
            open_calls[thread] = []
        elif name == "ncclGroupEnd":
            for call in open_calls.pop(thread, None) or []:
                result[thread, call] = (start, start + duration)
        elif (waiting := open_calls.get(thread)) is not None:
            waiting.append(start)
    return result


@dataclass
class Matched:
    """The collectives of one communicator over its ranks, as arrays of rank by number. Times are ns on the common axis; -1: not known."""

    communicator: str
    ranks: "list[RankCollectives]"
    count: int                            # collectives that all ranks reached
    called: "npt.NDArray[np.int64]"
    began: "npt.NDArray[np.int64]"
    ended: "npt.NDArray[np.int64]"

    def came(self) -> "npt.NDArray[np.int64]":
        """When each rank came to each collective: the start of its kernel, otherwise of its call."""
        return np.where(self.began >= 0, self.began, self.called)

    def left(self) -> "npt.NDArray[np.int64]":
        return np.where(self.ended >= 0, self.ended, self.called)

    def label(self, rank: int) -> str:
        return self.ranks[rank].member.label()

    def world(self) -> int:
        """The ranks of the communicator, also those without a file here, as far as that is known."""
        return max([part.world for part in self.ranks if part.world is not None], default=len(self.ranks))

    def lacks_ranks(self) -> bool:
        return self.world() > len({(part.member.rank, part.member.rank is None and (part.member.path, part.member.instance)) for part in self.ranks})


Times = npt.NDArray[np.int64]


def matched(parts: "Iterable[RankCollectives]", to_axis: "Callable[[RankCollectives, Times], Times] | None" = None) -> "list[Matched]":
    """Communicators with two or more ranks. `to_axis` converts a recording's times to the common axis; without it, the axis is CLOCK_MONOTONIC."""
    groups: "dict[str, list[RankCollectives]]" = {}
    for part in sorted(parts, key=RankCollectives.order):
        groups.setdefault(part.communicator, []).append(part)
    result = []
    for communicator, group in sorted(groups.items()):
        if len(group) < 2:
            continue
        count = min(len(part.operations) for part in group)
        columns = []
        for name in ("called", "began", "ended"):
            column = np.full((len(group), count), -1, dtype=np.int64)
            for row, part in zip(column, group):
                values = getattr(part, name)[:count]
                known = values >= 0
                row[known] = to_axis(part, values[known]) if to_axis else values[known] + part.clock[1]
            columns.append(column)
        result.append(Matched(communicator, group, count, *columns))
    return result


def bus_factor(operation: str, ranks: int) -> float:
    """The factor from the algorithm bandwidth to the bandwidth of the links."""
    if operation == "ncclAllReduce":
        return 2 * (ranks - 1) / ranks
    if operation in ("ncclAllGather", "ncclReduceScatter", "ncclAlltoAll", "ncclAllToAll"):
        return (ranks - 1) / ranks
    return 1.0
