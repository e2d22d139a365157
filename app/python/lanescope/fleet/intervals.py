"""Intervals of time as pairs of arrays: starts and ends in ns, half-open."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Times = npt.NDArray[np.int64]


def sums_before(values: Any) -> Any:
    """The sum of the values before each one, and of all of them: one number more than there are values."""
    sums = np.cumsum(values)
    return np.append(np.zeros(1, dtype=sums.dtype), sums)


def is_first(differs: Any) -> "npt.NDArray[np.bool_]":
    """Whether a row is the first of equal ones, where `differs` says for each row but the first whether it differs from the one before.
    Requires a row."""
    first = np.ones(len(differs) + 1, dtype=bool)
    first[1:] = differs
    return first


def union(start: Times, end: Times) -> "tuple[Times, Times]":
    """The covered time as intervals without overlaps, by start. O(n log n)."""
    keep = end > start
    order = np.argsort(start[keep], kind="stable")
    start, end = start[keep][order], end[keep][order]
    if not len(start):
        return start, end
    last = np.maximum.accumulate(end)
    first = is_first(start[1:] > last[:-1])
    return start[first], last[np.append(np.flatnonzero(first)[1:] - 1, len(start) - 1)]


def covered(start: Times, end: Times, borders: Times) -> Times:
    """The ns that intervals cover between each two borders. The intervals must be sorted by start and must not overlap. O((n + m) log n)."""
    differences: Times = np.diff(covered_before(start, end, borders))
    return differences


def covered_before(start: Times, end: Times, moments: Times) -> Times:
    """The ns that intervals cover before each moment. The intervals must be sorted by start and must not overlap."""
    if not len(start):
        return np.zeros(len(moments), dtype=np.int64)
    before = sums_before(end - start)
    at = np.searchsorted(start, moments, side="right")
    inside = np.clip(np.minimum(moments, end[np.maximum(at - 1, 0)]) - start[np.maximum(at - 1, 0)], 0, None)
    sums: Times = before[np.maximum(at - 1, 0)] + np.where(at > 0, inside, 0)
    return sums


def summed(start: Times, end: Times, borders: Times) -> Times:
    """For any intervals: the sum of the ns that each covers between each two borders. O((n + m) log n)."""

    def before(moments: Times) -> Times:
        # The time before a moment: since all earlier starts, minus since all earlier ends. Sums that overflow 64 bits are correct again after the subtraction.
        total = np.zeros(len(moments), dtype=np.int64)
        for edges, sign in ((np.sort(start), 1), (np.sort(end), -1)):
            count = np.searchsorted(edges, moments, side="left")
            total += sign * (count * moments - sums_before(edges)[count])
        return total

    differences: Times = np.diff(before(borders))
    return differences


def overlapped(start: Times, end: Times) -> "tuple[Times, Times]":
    """The times covered by two or more intervals, without overlaps, by start. O(n log n)."""
    keep = end > start
    edges = np.concatenate((start[keep], end[keep]))
    steps = np.concatenate((np.ones(int(keep.sum()), dtype=np.int64), -np.ones(int(keep.sum()), dtype=np.int64)))
    order = np.lexsort((steps, edges))  # an interval that ends at a moment ends before another one that starts there
    edges, depth = edges[order], np.cumsum(steps[order])
    several = np.flatnonzero(depth[:-1] >= 2) if len(depth) else np.empty(0, dtype=np.int64)
    return union(edges[several], edges[several + 1])
