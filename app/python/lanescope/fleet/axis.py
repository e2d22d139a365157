"""Bins of time over recordings that started at different moments, and pictures over them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Sequence

import numpy as np

from .intervals import sums_before
from .result import HeatMap, Source


@dataclass
class Series:
    """A row of a picture: its source, and the start and end of what happened, in ns since the start of its recording."""

    label: str
    path: str
    utc_epoch: int
    begin: int
    end: int
    first: int  # start and end of the time that is asked about: the whole recording, or what a filter left of it
    last: int


class Axis:
    """The given number of bins over all the time that is asked about. Recordings are aligned by the time of day, or all start at 0."""

    def __init__(self, series: "Sequence[Series]", bins: int, aligned: bool) -> None:
        self.bins = bins
        self._aligned = aligned
        self._first = min(each.first + self.shift(each) for each in series)
        # Relative to the first start, because a double holds ns since 1970 only to hundreds of ns.
        self._borders = np.linspace(0, max(each.last + self.shift(each) for each in series) - self._first, bins + 1)

    @property
    def length(self) -> float:
        return float(self._borders[-1])

    def shift(self, series: Series) -> int:
        """The ns that are added to a recording's times."""
        return series.utc_epoch if self._aligned else 0

    def _times(self, series: Series) -> "tuple[int, int]":
        return series.begin + self.shift(series) - self._first, series.end + self.shift(series) - self._first

    def sums(self, series: Series, fine: "Sequence[float]") -> Any:
        """Sums per bin, from sums over equal parts of a series' time."""
        begin, end = self._times(series)
        edges = np.linspace(begin, end, len(fine) + 1)
        return np.diff(np.interp(self._borders, edges, sums_before(fine)))

    def shares(self, series: "Sequence[Series]", covers: "Sequence[Sequence[int]]") -> "list[list[float | None]]":
        """Percent of each bin; None if nothing of the series was recorded, or asked about, in the bin."""
        width = np.diff(self._borders)
        rows: "list[list[float | None]]" = []
        for each, fine in zip(series, covers):
            part = [float(100 * busy / length) if length > 0 else 0.0 for busy, length in zip(self.sums(each, fine), width)]
            begin, end = (moment + self.shift(each) - self._first for moment in (each.first, each.last))
            rows.append([share if right > begin and left < end else None for share, left, right in zip(part, self._borders, self._borders[1:])])
        return rows

    def picture(self, title: str, series: "Sequence[Series]", cells: "list[list[float | None]]", unit: str) -> HeatMap:
        sources = []
        for each in series:
            edges = np.rint(self._borders).astype(np.int64) + self._first - self.shift(each)
            sources.append(Source(each.path, np.maximum(edges[:-1], 0).tolist(), edges[1:].tolist(), [self.shift(each)] * self.bins))
        return HeatMap(title, [each.label for each in series], [f"{border / 1e9:.3f} s" for border in self._borders[:-1]], cells, unit, sources)
