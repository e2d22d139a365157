"""Alignment of the clocks of hosts by the ends of the same collectives.

All ranks leave a synchronising collective at nearly the same moment: on two H200s the ends of one all-reduce agree to 5 µs with 0.3 µs of noise, while
their starts differ by 15 ms. Within windows of 10 s, the median distance of a clock from the mean end of its communicator is one measurement. A line for
each clock is fitted to all of them at once, by least squares with Huber's weights. The clock that most ranks use stays as it is.

Recordings of one boot of a machine share CLOCK_MONOTONIC and therefore a clock; if files do not say the boot, those with the same host name do. Each
recording says its start on that clock. The result is checked against a bound that always holds: no collective ends before all of its ranks have started it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from .collectives import RankCollectives

_WINDOW = 10_000_000_000  # ns; a quarter of this for short recordings, so that drift can be measured
_ROUNDS = 12              # of re-weighting
_HUBER = 1.345            # in robust sigmas (Huber 1981)


@dataclass
class Clock:
    """A host's clock on the common axis: time + offset + drift * (time - reference)."""

    host: str
    offset: float = 0.0      # ns at the reference time
    drift: float = 0.0       # ns per ns
    reference: int = 0       # ns of this clock
    measurements: int = 0
    deviation: float = 0.0   # ns: 1.4826 times the median distance of its collectives' ends from the line

    def on_axis(self, times: "npt.NDArray[np.int64]") -> "npt.NDArray[np.int64]":
        """Converts times of this clock to the common axis."""
        shift: "npt.NDArray[np.int64]" = np.rint(self.offset + self.drift * (times - self.reference)).astype(np.int64)
        return times + shift


@dataclass
class Alignment:
    """The clocks of a fleet and how well they agree."""

    clocks: "dict[str, Clock]"
    collectives: int = 0     # the collectives by whose ends the clocks were aligned
    error: float = 0.0       # ns: robust deviation of ends after alignment
    violations: int = 0      # collectives that ended on one rank before another had started them, by more than three times the error
    unconnected: "list[str]" = field(default_factory=list)  # hosts that share no communicator with the others; they are aligned by time of day

    def times(self, part: RankCollectives, since_begin: "npt.NDArray[np.int64]") -> "npt.NDArray[np.int64]":
        """Converts times of a recording to the common axis."""
        return self.clocks[part.clock[0]].on_axis(since_begin + part.clock[1])


def align(parts: "list[RankCollectives]") -> Alignment:
    """Aligns the clocks of all hosts. Hosts without common collectives are aligned by their time of day."""
    parts = sorted(parts, key=RankCollectives.order)
    _name_clocks(parts)
    hosts = sorted({part.clock[0] for part in parts})
    # The offsets of the hosts' clocks by the time of day. The line is fitted to the remaining differences.
    rough = {host: int(np.median([part.clock[2] - part.clock[1] for part in parts if part.clock[0] == host])) for host in hosts}
    base = max(hosts, key=lambda host: (sum(part.clock[0] == host for part in parts), host)) if hosts else ""
    clocks = {host: Clock(host, float(rough[host] - rough[base])) for host in hosts}
    rows = _measurements(parts, hosts, rough, rough[base] if base else 0)
    alignment = Alignment(clocks)
    if rows is None or len(hosts) < 2:
        alignment.unconnected = [host for host in hosts if host != base] if len(hosts) > 1 else []
        if rows is not None:
            alignment.collectives, alignment.error = rows.collectives, _spread(rows.distances)
        return alignment
    _fit(rows, hosts, hosts.index(base), clocks, alignment)
    return alignment


def _name_clocks(parts: "list[RankCollectives]") -> None:
    """Gives each boot of a machine one clock name. Containers may have host names of their own, and machines may share a host name."""
    hosts: "dict[str, set[str]]" = {}
    for part in parts:
        if part.clock[3:] and part.clock[3]:
            hosts.setdefault(part.clock[3], set()).add(part.clock[0])
    names = {boot: min(found) for boot, found in hosts.items()}
    for part in parts:
        if part.clock[3:] and part.clock[3]:
            name = names[part.clock[3]]
            is_shared = list(names.values()).count(name) > 1
            part.clock[0] = f"{name} ({part.clock[3][:8]})" if is_shared else name


@dataclass
class _Measurements:
    """Medians by window: the clock, the group of simultaneous ends, the time, and the distance from the group's mean."""

    host: "npt.NDArray[np.int64]"
    group: "npt.NDArray[np.int64]"
    time: "npt.NDArray[np.float64]"   # on that clock
    distance: "npt.NDArray[np.float64]"
    distances: "npt.NDArray[np.float64]"  # of all ends, not only of medians
    collectives: int


def _measurements(parts: "list[RankCollectives]", hosts: "list[str]", rough: "dict[str, int]", base: int) -> "_Measurements | None":
    groups: "dict[str, list[RankCollectives]]" = {}
    for part in parts:
        groups.setdefault(part.communicator, []).append(part)
    host_rows, group_rows, time_rows, distance_rows, all_distances = [], [], [], [], []
    collectives = group_number = 0
    for _, group in sorted(groups.items()):
        count = min(len(part.ended) for part in group)
        if len(group) < 2 or not count:
            continue
        ends = np.stack([part.ended[:count] for part in group])
        usable = (ends >= 0).all(axis=0)
        ends = ends[:, usable] + np.array([part.clock[1] for part in group], dtype=np.int64)[:, None]
        if not ends.shape[1]:
            continue
        collectives += ends.shape[1]
        members_of = np.array([hosts.index(part.clock[0]) for part in group])
        common = ends + np.array([rough[part.clock[0]] - base for part in group], dtype=np.int64)[:, None]
        distance = (common - common.mean(axis=0, dtype=np.float64)).astype(np.float64)
        all_distances.append(distance.reshape(-1))
        span = int(common[0].max() - common[0].min())
        window = (common[0] - common[0].min()) // max(1, min(_WINDOW, span // 4 + 1))
        for number in np.unique(window):
            chosen = window == number
            for host in np.unique(members_of):
                of_host = members_of == host
                host_rows.append(int(host))
                group_rows.append(group_number)
                time_rows.append(float(np.median(ends[of_host][:, chosen])))
                distance_rows.append(float(np.median(distance[of_host][:, chosen])))
            group_number += 1
    if not host_rows:
        return None
    return _Measurements(
        np.array(host_rows), np.array(group_rows), np.array(time_rows), np.array(distance_rows), np.concatenate(all_distances), collectives
    )


def _fit(rows: _Measurements, hosts: "list[str]", base: int, clocks: "dict[str, Clock]", alignment: Alignment) -> None:
    """Fits a line for each clock so that the ends of a group agree. A group's true moment is unknown, so the mean is subtracted. O(rows + groups · hosts²)."""
    reference = {host: float(np.median(rows.time[rows.host == host])) if (rows.host == host).any() else 0.0 for host in range(len(hosts))}
    seconds = (rows.time - np.array([reference[int(host)] for host in rows.host])) / 1e9
    # A drift can't be determined from one window.
    drifts = np.array([len(np.unique(rows.group[rows.host == host])) > 2 for host in range(len(hosts))])
    scale = max(1e-9, float(np.abs(seconds).max()))  # gives offsets and drifts the same precision when they are solved for
    equations = _Equations(rows, np.where(drifts[rows.host], seconds / scale, 0.0), base, len(hosts))
    weights: "npt.NDArray[np.floating[Any]]" = np.ones(len(rows.host))
    for _ in range(_ROUNDS):
        offsets, slopes = equations.solved(weights)
        residual = np.abs(equations.residual(offsets, slopes))
        sigma = max(1.0, 1.4826 * float(np.median(residual)))
        weights = np.minimum(1.0, _HUBER * sigma / np.maximum(residual, 1e-9))
    residual = equations.residual(offsets, slopes)
    connected = _connected(rows, base)
    for number, host in enumerate(hosts):
        clock = clocks[host]
        clock.reference = int(reference[number])
        clock.measurements = int((rows.host == number).sum())
        clock.deviation = _spread(residual[rows.host == number])
        if number in connected and number != base:
            clock.offset += float(offsets[number])
            clock.drift = float(slopes[number]) / scale / 1e9
    alignment.collectives = rows.collectives
    alignment.error = _spread(residual)
    alignment.unconnected = [host for number, host in enumerate(hosts) if number not in connected]


class _Equations:
    """The measurements as equations for each host's offset and slope. With the group's mean subtracted on both sides: offset + slope * x = -distance."""

    def __init__(self, rows: _Measurements, x: "npt.NDArray[np.floating[Any]]", base: int, hosts: int) -> None:
        self._host, self._x, self._hosts = rows.host, np.where(rows.host == base, 0.0, x), hosts
        self._is_free = (rows.host != base).astype(np.float64)  # those of the base are 0
        order = np.argsort(rows.group, kind="stable")
        borders = np.flatnonzero(np.diff(rows.group[order])) + 1
        self._groups = np.split(order, borders)
        self._group = rows.group
        self._sizes = np.bincount(rows.group)
        self._target = -rows.distance + (np.bincount(rows.group, rows.distance) / self._sizes)[rows.group]

    def solved(self, weights: "npt.NDArray[np.floating[Any]]") -> "tuple[npt.NDArray[np.floating[Any]], npt.NDArray[np.floating[Any]]]":
        """Solves by least squares with these weights. Returns the offset and slope of each host, 0 if no measurement determines them."""
        n = self._hosts
        matrix, right = np.zeros((2 * n, 2 * n)), np.zeros(2 * n)
        for group in self._groups:
            host, x, free, w = self._host[group], self._x[group], self._is_free[group], weights[group]
            mean = np.zeros(2 * n)
            np.add.at(mean, host, free / len(group))
            np.add.at(mean, n + host, x / len(group))
            weighted = np.zeros(2 * n)  # the sum of the rows before the mean is subtracted
            np.add.at(weighted, host, w * free)
            np.add.at(weighted, n + host, w * x)
            np.add.at(matrix, (host, host), w * free)
            np.add.at(matrix, (host, n + host), w * x)
            np.add.at(matrix, (n + host, host), w * x)
            np.add.at(matrix, (n + host, n + host), w * x * x)
            matrix -= np.outer(weighted, mean) + np.outer(mean, weighted) - w.sum() * np.outer(mean, mean)
            target = w * self._target[group]
            np.add.at(right, host, target * free)
            np.add.at(right, n + host, target * x)
            right -= mean * target.sum()
        solution = np.linalg.lstsq(matrix, right, rcond=1e-12)[0]
        return solution[:n], solution[n:]

    def residual(self, offsets: "npt.NDArray[np.floating[Any]]", slopes: "npt.NDArray[np.floating[Any]]") -> "npt.NDArray[np.floating[Any]]":
        value = offsets[self._host] * self._is_free + slopes[self._host] * self._x
        return np.asarray(self._target - value + (np.bincount(self._group, value) / self._sizes)[self._group])


def _connected(rows: _Measurements, base: int) -> "set[int]":
    """Hosts that are connected to the base by groups."""
    reached, before = {base}, 0
    while len(reached) != before:
        before = len(reached)
        groups = np.unique(rows.group[np.isin(rows.host, list(reached))])
        reached |= set(rows.host[np.isin(rows.group, groups)].tolist())
    return reached


def _spread(values: Any) -> float:
    return 1.4826 * float(np.median(np.abs(values - np.median(values)))) if len(values) else 0.0
