"""Intervals of time as pairs of arrays: begins and ends in ns, half-open."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Times = npt.NDArray[np.int64]


def union(start: Times, end: Times) -> "tuple[Times, Times]":
    """What they cover, without overlaps, by start. O(n log n)."""
    keep = end > start
    order = np.argsort(start[keep], kind="stable")
    start, end = start[keep][order], end[keep][order]
    if not len(start):
        return start, end
    last = np.maximum.accumulate(end)
    first = np.concatenate(([True], start[1:] > last[:-1]))
    return start[first], last[np.concatenate((np.flatnonzero(first)[1:] - 1, [len(start) - 1]))]


def covered(start: Times, end: Times, borders: Times) -> Times:
    """For intervals that do not overlap, by start: how many ns they cover between each two borders. O((n + m) log n)."""
    if not len(start):
        return np.zeros(max(0, len(borders) - 1), dtype=np.int64)
    before = np.concatenate(([0], np.cumsum(end - start)))
    at = np.searchsorted(start, borders, side="right")
    inside = np.clip(np.minimum(borders, end[np.maximum(at - 1, 0)]) - start[np.maximum(at - 1, 0)], 0, None)
    sums: Any = before[np.maximum(at - 1, 0)] + np.where(at > 0, inside, 0)
    differences: Times = np.diff(sums)
    return differences
