"""Tables of a trace: columns of numbers and names that are decoded when they are asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator, Protocol, Union, overload

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

Array = npt.NDArray[Any]

# A process's place in a job (-1 if it is not known), the recording that the row is from, and whether the row is in the part that was saved. Every table has
# these
# columns, but returns them only if they are named.
PROVENANCE = {"rank": "int64", "local_rank": "int64", "world_size": "int64", "run": "text", "host": "text", "in_part": "bool"}


class Batch(dict[str, Array]):
    """Columns of some rows. Text columns hold numbers into the texts of the trace."""


def within(begin: int, end: int, start: Array, last: Array) -> Array:
    """Which rows overlap [begin, end), or start in it."""
    inside: Array = (start < end) & ((last > begin) | (start >= begin))
    return inside


class Source(Protocol):
    """Where a table's rows come from."""

    def batches(self, columns: "list[str]") -> Iterator[Batch]: ...

    def texts(self, column: str, numbers: Array) -> "tuple[Array, list[str]]":
        """The numbers renumbered from 0 without gaps, and the texts that they stand for."""
        ...

    def column_types(self) -> "dict[str, str]": ...

    def row_count(self) -> int: ...


class _Chosen:
    """The rows of a source that a function chooses."""

    def __init__(self, source: Source, columns: "list[str]", keep: "Callable[[Batch], Array]") -> None:
        self._source, self._needed, self._keep = source, columns, keep

    def batches(self, columns: "list[str]") -> Iterator[Batch]:
        for batch in self._source.batches(list(dict.fromkeys([*columns, *self._needed]))):
            kept = self._keep(batch)
            yield Batch({name: batch[name][kept] for name in columns})

    def texts(self, column: str, numbers: Array) -> "tuple[Array, list[str]]":
        return self._source.texts(column, numbers)

    def column_types(self) -> "dict[str, str]":
        return self._source.column_types()

    def row_count(self) -> int:
        return sum(len(batch["start"]) for batch in self.batches(["start"]))


def _table_again(trace: Any, name: str, columns: "list[str]", window: "tuple[int, int] | None", further: "tuple[str, ...]") -> "Table":
    table = Table(name, trace.tables[name]._source, columns, window)
    table._further = further
    return table


class Table:
    """Events of one kind, ordered by start. Only the columns that are asked for are decoded.

    Times are int64 nanoseconds since the start of the recording. Text columns become dictionaries (Arrow), categories (pandas) or str objects (numpy).
    Not thread-safe: use it from one thread at a time.
    """

    def __init__(self, name: str, source: Source, columns: "list[str]", window: "tuple[int, int] | None" = None) -> None:
        self.name = name
        self._source, self._columns, self._window = source, columns, window
        self._further: "tuple[str, ...]" = ()  # columns that are returned only if they are named

    def __reduce__(self) -> "tuple[Callable[..., Table], tuple[Any, ...]]":
        """A pickled table is its trace (Trace.__reduce__) with the columns and the time that were chosen of it."""
        trace = getattr(self._source, "_trace", None)
        if trace is None:
            raise TypeError("Rows that a function chose can't be pickled. Pickle the trace, and choose the rows again.")
        return _table_again, (trace, self.name, self._columns, self._window, self._further)

    @property
    def columns(self) -> "list[str]":
        return list(self._columns)

    def with_provenance(self) -> "Table":
        """The table with the columns of PROVENANCE after its own. Use it to put rows of several recordings into one table."""
        return Table(self.name, self._source, [*self._columns, *(name for name in PROVENANCE if name not in self._columns)], self._window)

    def __len__(self) -> int:
        """The number of rows. Decodes nothing, except after between()."""
        if self._window is None:
            return self._source.row_count()
        return len(self._read(["start"])[0]["start"])

    @overload
    def __getitem__(self, columns: str) -> Array: ...

    @overload
    def __getitem__(self, columns: "list[str]") -> "Table": ...

    def __getitem__(self, columns: Union[str, "list[str]"]) -> "Table | Array":
        """One column as an array, or a table of some columns."""
        if isinstance(columns, str):
            self._check([columns])
            return Table(self.name, self._source, [columns], self._window).to_numpy()[columns]
        self._check(columns)
        return Table(self.name, self._source, list(columns), self._window)

    def between(self, begin: int, end: int) -> "Table":
        """The rows that start in [begin, end) or overlap it, in ns since the start of the recording."""
        if self._window is not None:
            begin, end = max(begin, self._window[0]), min(end, self._window[1])
        table = Table(self.name, self._source, self._columns, (begin, end))
        table._further = self._further
        return table

    def where(self, columns: "list[str]", keep: "Callable[[Batch], Array]") -> "Table":
        """The rows for which `keep` returns True. It is given batches with these columns each time that rows are read."""
        table = Table(self.name, _Chosen(self._source, columns, keep), self._columns, self._window)
        table._further = self._further
        return table

    def batches(self) -> Iterator["dict[str, Array]"]:
        """The rows in the order of the file, not in that of time, some ten thousand at a time. Text columns are str objects."""
        types = self._source.column_types()
        for batch in self._windowed(self._columns):
            yield {name: self._objects(name, batch[name]) if types[name] in ("text", "symbol") else batch[name] for name in self._columns}

    def to_numpy(self) -> "dict[str, Array]":
        batch, types = self._read(self._columns)
        for name in self._columns:
            if types[name] in ("text", "symbol"):
                batch[name] = self._objects(name, batch[name])
        return {name: batch[name] for name in self._columns}

    def coded(self) -> "tuple[dict[str, Array], dict[str, list[str]]]":
        """All rows in the order of the file, with text columns as numbers, and the texts of each such column by number. The fastest way to read all rows."""
        types, texts = self._source.column_types(), {}
        columns: "dict[str, Array]" = _gathered(self._windowed(self._columns), {name: types[name] for name in self._columns})
        for name in self._columns:
            if types[name] in ("text", "symbol"):
                columns[name], texts[name] = self._source.texts(name, columns[name])
        return columns, texts

    def to_arrow(self) -> "pyarrow.Table":
        import pyarrow

        batch, types = self._read(self._columns)
        arrays = []
        for name in self._columns:
            if types[name] in ("text", "symbol"):
                codes, texts = self._source.texts(name, batch[name])
                arrays.append(pyarrow.DictionaryArray.from_arrays(pyarrow.array(codes.astype(np.int32)), pyarrow.array(texts, type=pyarrow.string())))
            else:
                arrays.append(pyarrow.array(batch[name]))
        return pyarrow.table(arrays, names=self._columns)

    def to_pandas(self) -> "pandas.DataFrame":
        import pandas

        batch, types = self._read(self._columns)
        columns: dict[str, Any] = {}
        for name in self._columns:
            if types[name] in ("text", "symbol"):
                codes, texts = self._source.texts(name, batch[name])
                columns[name] = pandas.Categorical.from_codes(codes.tolist(), categories=texts)
            else:
                columns[name] = batch[name]
        return pandas.DataFrame(columns, columns=self._columns)

    def to_polars(self) -> "polars.DataFrame":
        import polars

        frame = polars.from_arrow(self.to_arrow())
        assert isinstance(frame, polars.DataFrame)
        return frame

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """The Arrow PyCapsule interface, by which polars, DuckDB and pandas read tables. Needs pyarrow."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        return f"<lanescope.Table {self.name}: {len(self._columns)} columns>"

    def _check(self, columns: Iterable[str]) -> None:
        for column in columns:
            if column not in self._columns and column not in self._further:
                raise KeyError(f"Table {self.name} has no column {column!r}; it has {', '.join(self._columns)}.")

    def _windowed(self, columns: "list[str]") -> Iterator[Batch]:
        types = self._source.column_types()
        needed = [name for name in ("start", "duration") if name in types and self._window is not None]
        for batch in self._source.batches(list(dict.fromkeys([*columns, *needed]))):
            if self._window is not None:
                begin, end = self._window
                start = batch["start"]
                last = start + batch["duration"] if "duration" in batch else start
                inside = within(begin, end, start, last)
                batch = Batch({name: values[inside] for name, values in batch.items()})
            yield batch

    def _read(self, columns: "list[str]") -> "tuple[Batch, dict[str, str]]":
        """Columns of all rows, ordered by start."""
        types = self._source.column_types()
        wanted = list(dict.fromkeys([*columns, "start"]))
        whole = _gathered(self._windowed(wanted), {name: types[name] for name in wanted})
        start = whole["start"]
        if len(start) and (start[1:] < start[:-1]).any():
            order = np.argsort(start, kind="stable")
            for name in wanted:
                whole[name] = whole[name][order]
        return whole, types

    def _objects(self, column: str, numbers: Array) -> Array:
        codes, texts = self._source.texts(column, numbers)
        values = np.empty(len(texts), dtype=object)
        values[:] = texts
        return values[codes] if len(texts) else np.empty(0, dtype=object)


_DTYPES = {"int64": np.int64, "uint64": np.uint64, "double": np.float64, "bool": np.bool_, "text": np.int64, "symbol": np.int64}


def distinct(numbers: Array) -> "tuple[Array, Array]":
    """The different numbers, ascending, and for each number its position among these."""
    least, most = (int(numbers.min()), int(numbers.max())) if len(numbers) else (0, 0)
    if len(numbers) and least == most:
        return numbers[:1], np.zeros(len(numbers), dtype=np.int64)
    if len(numbers) and least >= 0 and most < len(numbers) + 4096:
        # Small numbers are not sorted, because sorting would take most of the time.
        is_used = np.zeros(most + 1, dtype=bool)
        is_used[numbers] = True
        used = np.flatnonzero(is_used)
        codes = np.zeros(len(is_used), dtype=np.int64)
        codes[used] = np.arange(len(used))
        return used, codes[numbers]
    used, codes = np.unique(numbers, return_inverse=True)
    return used, codes.reshape(-1)


def _gathered(batches: "Iterable[Batch]", types: "dict[str, str]") -> Batch:
    """All rows in one batch. The result grows in place, so that the rows are not in memory twice."""
    whole = Batch({name: np.empty(0, dtype=_DTYPES[column_type]) for name, column_type in types.items()})
    size = room = 0
    for batch in batches:
        count = len(next(iter(batch.values()), ()))
        if size + count > room:
            room = max(size + count, size + size // 8)
            for column in whole.values():
                column.resize(room, refcheck=False)  # nothing else refers to it
        for name, column in whole.items():
            column[size : size + count] = batch[name]
        size += count
    for column in whole.values():
        column.resize(size, refcheck=False)
    return whole
