"""Sums that can be computed in parts and in any order. A fleet's answers are made of them.

All parts are integers, so that merging is exactly associative and commutative, whatever the order. Quantiles come from a histogram with
128 steps per octave: within 0.6 % of the true value. Quartiles and the 95th and 99th percentile of values that were summed at once are exact.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Iterable, Iterator, Optional

import numpy as np
import numpy.typing as npt

from .intervals import is_first

STEPS_AN_OCTAVE = 128
_KEPT = (25, 50, 75, 95, 99)  # percentiles that are exact if all values were summed at once

Place = "tuple[str, int]"  # file, ns since its recording began


@dataclass
class Summary:
    """The values of one group, in ns or bytes."""

    count: int = 0
    total: int = 0
    squares: int = 0
    least: int = 0
    most: int = 0
    most_at: "tuple[str, int]" = ("", 0)  # file and time of the maximum
    histogram: "dict[int, int]" = field(default_factory=dict)
    percentiles: "Optional[list[float]]" = None  # those of _KEPT, exact; None after merging

    @classmethod
    def of(cls, values: "npt.NDArray[np.int64]", starts: "npt.NDArray[np.int64]", path: str) -> "Summary":
        """The summary of values; at least one is needed."""
        return next(summed_groups(np.zeros(len(values), dtype=np.int64), 1, values, starts, path))[1]

    def merged(self, other: "Summary") -> "Summary":
        if not self.count or not other.count:
            return self if self.count else other
        histogram = dict(self.histogram)
        for bucket, count in other.histogram.items():
            histogram[bucket] = histogram.get(bucket, 0) + count
        return Summary(
            count=self.count + other.count,
            total=self.total + other.total,
            squares=self.squares + other.squares,
            least=min(self.least, other.least),
            most=max(self.most, other.most),
            # Among equal maxima the first by name and time, so that the result does not depend on the order of merging.
            most_at=min((-self.most, self.most_at), (-other.most, other.most_at))[1],
            histogram=histogram,
        )

    @property
    def mean(self) -> float:
        return self.total / self.count if self.count else 0.0

    @property
    def deviation(self) -> float:
        """The standard deviation of the sample; 0 for one value."""
        if self.count < 2:
            return 0.0
        return math.sqrt(max(0, self.count * self.squares - self.total * self.total) / (self.count * (self.count - 1)))

    def percentile(self, percent: int) -> float:
        """The value below which so many of a hundred lie, by linear interpolation between two values, as in `lanescope stats`. Minimum and maximum are
        exact, and so are those that were kept."""
        if not self.count:
            return 0.0
        if self.percentiles and percent in _KEPT:
            return self.percentiles[_KEPT.index(percent)]
        near, rest = divmod(percent * (self.count - 1), 100)
        low = self._value(near)
        return low + (self._value(near + 1) - low) * (rest / 100) if rest else low

    def _value(self, place: int) -> float:
        """The value at that place among the sorted values: the middle of its histogram step, except for the first and the last value."""
        if place in (0, self.count - 1):
            return float(self.least if place == 0 else self.most)
        passed = 0
        for bucket in sorted(self.histogram):
            passed += self.histogram[bucket]
            if passed > place:
                return min(max(_middle(bucket), float(self.least)), float(self.most))
        return float(self.most)

    def to_json(self) -> "list[Any]":
        return [self.count, self.total, self.squares, self.least, self.most, list(self.most_at), sorted(self.histogram.items()), self.percentiles]

    @classmethod
    def from_json(cls, data: "list[Any]") -> "Summary":
        count, total, squares, least, most, (path, start), histogram, percentiles = data
        return cls(count, total, squares, least, most, (path, start), {bucket: n for bucket, n in histogram}, percentiles)


def summed_groups(
    keys: "npt.NDArray[np.int64]", count: int, values: "npt.NDArray[np.int64]", starts: "npt.NDArray[np.int64]", path: str
) -> "Iterator[tuple[int, Summary, list[float]]]":
    """For each existing key from 0 to count - 1, the sums of its rows and their exact quartiles. Rows of keys below 0 do not count.

    All groups are summed at once, because there are many names and separate numpy calls would take most of the time. O(rows), except for groups with widely
    spread values, which are sorted.
    """
    order = _by_key(keys, count)
    sorted_keys = keys[order]
    skipped = int(np.searchsorted(sorted_keys, 0))
    order, sorted_keys = order[skipped:], sorted_keys[skipped:]
    if not len(order):
        return
    begins = np.flatnonzero(is_first(sorted_keys[1:] != sorted_keys[:-1]))
    sizes = np.diff(begins, append=len(order))
    sorted_values = values[order]
    least, most = np.minimum.reduceat(sorted_values, begins), np.maximum.reduceat(sorted_values, begins)
    largest = np.flatnonzero(sorted_values == np.repeat(most, sizes))
    most_at = np.minimum.reduceat(starts[order[largest]], np.searchsorted(largest, begins))

    group, different, counts = _counted(sorted_values, begins, sizes, least, most)
    firsts = np.searchsorted(group, np.arange(len(begins)))
    totals, squares = _exact(different, counts, firsts), _squares(different, counts, firsts)
    buckets = _buckets(different)
    runs = np.flatnonzero(is_first((buckets[1:] != buckets[:-1]) | (group[1:] != group[:-1])))
    run_buckets, run_counts = buckets[runs].tolist(), np.add.reduceat(counts, runs).tolist()
    run_begins = np.searchsorted(runs, np.append(firsts, len(group))).tolist()

    ends = np.cumsum(counts)
    near, rest = np.divmod(np.multiply.outer(sizes - 1, _KEPT), 100)
    low, high = (different[np.searchsorted(ends, begins[:, None] + np.minimum(near + step, sizes[:, None] - 1), side="right")] for step in (0, 1))
    percentiles = (low + (high - low) * (rest / 100)).tolist()

    said = zip(sorted_keys[begins].tolist(), sizes.tolist(), totals, squares, least.tolist(), most.tolist(), most_at.tolist(), percentiles)
    for i, (key, size, total, square, smallest, greatest, at, own) in enumerate(said):
        run = slice(run_begins[i], run_begins[i + 1])
        yield key, Summary(size, total, square, smallest, greatest, (path, at), dict(zip(run_buckets[run], run_counts[run])), own), own[:3]


def _counted(values: Any, begins: Any, sizes: Any, least: Any, most: Any) -> "tuple[Any, Any, Any]":
    """The different values of groups that lie one after the other, ascending in each group: their groups, the values, and the count of each."""
    # Durations of one name are mostly close together. Then each value has a place in which it is counted.
    is_near = most.astype(np.float64) - least < 2 * sizes + min(4096, (1 << 22) // len(sizes))
    near, far = np.flatnonzero(is_near), np.flatnonzero(~is_near)
    spans = most[near] - least[near] + 1
    shifts = np.cumsum(spans) - spans - least[near]
    chosen = values if not len(far) else values[np.repeat(is_near, sizes)]
    counts = np.bincount(chosen + np.repeat(shifts, sizes[near]))
    used = np.flatnonzero(counts)
    group = np.repeat(np.arange(len(near)), spans)[used]
    different, counts, group = used - shifts[group], counts[used], near[group]
    if not len(far):
        return group, different, counts
    parts = [np.unique(values[begins[i] : begins[i] + sizes[i]], return_counts=True) for i in far]
    group = np.concatenate((group, np.repeat(far, [len(part) for part, _ in parts])))
    order = np.argsort(group, kind="stable")
    different, counts = (np.concatenate(joined)[order] for joined in ((different, *(part for part, _ in parts)), (counts, *(number for _, number in parts))))
    return group[order], different, counts


def _exact(values: Any, counts: Any, firsts: Any) -> "list[int]":
    """For each group, the sum of products as an integer of any size. The halves can't overflow for fewer than 2^31 values in total."""
    high, low = (np.add.reduceat(half * counts, firsts).tolist() for half in (values >> 32, values & 0xFFFF_FFFF))
    return [(a << 32) + b for a, b in zip(high, low)]


def _squares(values: Any, counts: Any, firsts: Any) -> "list[int]":
    # Sums of squares of nanoseconds soon exceed 64 bits; sums of high and low halves do not.
    high, low = values >> 31, values & (1 << 31) - 1
    squares = _exact(low * low, counts, firsts)
    if high.any():
        squares = [a + (b << 62) + (c << 32) for a, b, c in zip(squares, _exact(high * high, counts, firsts), _exact(high * low, counts, firsts))]
    return squares


def _buckets(values: "npt.NDArray[np.int64]") -> "npt.NDArray[np.int64]":
    # Conversion to integers truncates, which is floor for numbers from 0 on.
    buckets = (np.log2(np.maximum(values, 1)) * STEPS_AN_OCTAVE).astype(np.int64)
    kept: "npt.NDArray[np.int64]" = buckets if values.min() > 0 else np.where(values > 0, buckets, -1)
    return kept


def _middle(bucket: int) -> float:
    return 0.0 if bucket < 0 else math.pow(2.0, (bucket + 0.5) / STEPS_AN_OCTAVE)


def groups_of(keys: "npt.NDArray[np.int64]", count: int) -> "Iterator[tuple[int, npt.NDArray[np.int64]]]":
    """The rows of each existing key from 0 to count - 1. Keys below 0 are left out. O(rows)."""
    order = _by_key(keys, count)
    keys = keys[order]
    borders = np.append(np.flatnonzero(is_first(keys[1:] != keys[:-1])), len(keys))
    for begin, end in zip(borders[:-1].tolist(), borders[1:].tolist()):
        if end > begin and keys[begin] >= 0:
            yield int(keys[begin]), order[begin:end]


def _by_key(keys: "npt.NDArray[np.int64]", count: int) -> "npt.NDArray[np.intp]":
    """The rows sorted by key, with rows of one key in their order. Keys of 16 bits use radix sort."""
    return np.argsort(keys.astype(np.int16) if count < 1 << 15 else keys, kind="stable")


def merged_groups(parts: "Iterable[dict[Any, Summary]]") -> "dict[Any, Summary]":
    result: "dict[Any, Summary]" = {}
    for part in parts:
        for key, summary in part.items():
            before: Optional[Summary] = result.get(key)
            result[key] = summary if before is None else before.merged(summary)
    return result
