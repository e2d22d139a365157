"""Sums that can be taken part by part, in any order: what a fleet's answers are made of.

All parts are integers, so that merging is associative and commutative to the last digit, whoever adds what first. Quantiles come from a histogram with
128 steps an octave: within 0.6 % of the true value.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Iterable, Iterator, Optional

import numpy as np
import numpy.typing as npt

STEPS_AN_OCTAVE = 128

Place = "tuple[str, int]"  # file, ns since its recording began


@dataclass
class Summary:
    """Values of one group: ns, or bytes."""

    count: int = 0
    total: int = 0
    squares: int = 0
    least: int = 0
    most: int = 0
    most_at: "tuple[str, int]" = ("", 0)  # file and time of the largest
    histogram: "dict[int, int]" = field(default_factory=dict)

    @classmethod
    def of(cls, values: "npt.NDArray[np.int64]", starts: "npt.NDArray[np.int64]", path: str) -> "Summary":
        """Of values that are there; at least one."""
        largest = int(values.max())
        buckets = _buckets(values)
        lowest = int(buckets.min())
        counts = np.bincount(buckets - lowest)
        used = np.flatnonzero(counts)
        # Squares of nanoseconds leave 64 bits soon: sums of high and low halves do not.
        high, low = values >> 31, values & (1 << 31) - 1
        squares = _exact(low * low)
        if high.any():
            squares += (_exact(high * high) << 62) + (_exact(high * low) << 32)
        return cls(
            count=len(values),
            total=_exact(values),
            squares=squares,
            least=int(values.min()),
            most=largest,
            most_at=(path, int(starts[values == largest].min())),
            histogram=dict(zip((used + lowest).tolist(), counts[used].tolist())),
        )

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
            # Of equal ones the first by name and time, so that the order of merging does not show.
            most_at=min((-self.most, self.most_at), (-other.most, other.most_at))[1],
            histogram=histogram,
        )

    @property
    def mean(self) -> float:
        return self.total / self.count if self.count else 0.0

    @property
    def deviation(self) -> float:
        """The sample's standard deviation; 0 of one value."""
        if self.count < 2:
            return 0.0
        return math.sqrt(max(0, self.count * self.squares - self.total * self.total) / (self.count * (self.count - 1)))

    def quantile(self, share: float) -> float:
        """The value below which that share lies: of the histogram's step, and never outside of the least and the largest."""
        if not self.count:
            return 0.0
        wanted, passed = share * (self.count - 1), 0
        for bucket in sorted(self.histogram):
            passed += self.histogram[bucket]
            if passed > wanted:
                return min(max(_middle(bucket), float(self.least)), float(self.most))
        return float(self.most)

    def to_json(self) -> "list[Any]":
        return [self.count, self.total, self.squares, self.least, self.most, list(self.most_at), sorted(self.histogram.items())]

    @classmethod
    def from_json(cls, data: "list[Any]") -> "Summary":
        count, total, squares, least, most, (path, start), histogram = data
        return cls(count, total, squares, least, most, (path, start), {bucket: n for bucket, n in histogram})


def quartiles(values: "npt.NDArray[np.int64]") -> "list[float]":
    """The first, the median and the third, between two values in proportion; of at least one value. O(values)."""
    places = [share * (len(values) - 1) for share in (0.25, 0.5, 0.75)]
    near = sorted({int(place) for place in places} | {min(int(place) + 1, len(values) - 1) for place in places})
    ordered = np.partition(values, near)
    found = []
    for place in places:
        low, high = int(ordered[int(place)]), int(ordered[min(int(place) + 1, len(values) - 1)])
        found.append(low + (high - low) * (place - int(place)))
    return found


def _exact(values: "npt.NDArray[np.int64]") -> int:
    """The sum as an integer of any size: halves can't overflow for fewer than 2^31 values."""
    return (int((values >> 32).sum()) << 32) + int((values & 0xFFFF_FFFF).sum())


def _buckets(values: "npt.NDArray[np.int64]") -> "npt.NDArray[np.int64]":
    # Conversion cuts off what is behind the point: of numbers from 0 on, as floor does.
    buckets = (np.log2(np.maximum(values, 1)) * STEPS_AN_OCTAVE).astype(np.int64)
    return buckets if values.min() > 0 else np.where(values > 0, buckets, -1)


def _middle(bucket: int) -> float:
    return 0.0 if bucket < 0 else 2.0 ** ((bucket + 0.5) / STEPS_AN_OCTAVE)


def groups_of(keys: "npt.NDArray[np.int64]", count: int) -> "Iterator[tuple[int, npt.NDArray[np.int64]]]":
    """The rows of each key from 0 to count - 1 that there is; of keys below 0 none. O(rows)."""
    # Of 16 bits, numbers are sorted without comparing them.
    order = np.argsort(keys.astype(np.int16) if count < 1 << 15 else keys, kind="stable")
    keys = keys[order]
    borders = np.concatenate(([0], np.flatnonzero(keys[1:] != keys[:-1]) + 1, [len(keys)]))
    for begin, end in zip(borders[:-1].tolist(), borders[1:].tolist()):
        if end > begin and keys[begin] >= 0:
            yield int(keys[begin]), order[begin:end]


def merged_groups(parts: "Iterable[dict[Any, Summary]]") -> "dict[Any, Summary]":
    result: "dict[Any, Summary]" = {}
    for part in parts:
        for key, summary in part.items():
            before: Optional[Summary] = result.get(key)
            result[key] = summary if before is None else before.merged(summary)
    return result
