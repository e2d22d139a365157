"""The tables of a recipe's answer, and the formats in which they are written."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


def counted(number: int, thing: str, things: str = "") -> str:
    """`1 file`, `2 files`."""
    return f"{number} {thing if number == 1 else things or thing + 's'}"


@dataclass
class ResultTable:
    """One table of an answer. Cells are numbers, texts or None."""

    name: str
    columns: "list[str]"
    rows: "list[list[Any]]"
    units: "dict[str, str]" = field(default_factory=dict)  # by column: ns, B, %, ...

    def records(self) -> "list[dict[str, Any]]":
        return [dict(zip(self.columns, row)) for row in self.rows]

    def to_pandas(self) -> Any:
        import pandas

        return pandas.DataFrame(self.rows, columns=self.columns)

    def to_csv(self) -> str:
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows(zip(*(_plain(column) for column in zip(*self.rows))))
        return text.getvalue()

    def text_columns(self) -> "list[bool]":
        """For each column, whether it contains texts and no numbers."""
        return [set(map(type, column)) <= {str, type(None)} for column in zip(*self.rows)] if self.rows else [True] * len(self.columns)

    def to_json(self) -> str:
        return json.dumps(self.records(), indent=1, ensure_ascii=False)

    def to_parquet(self, path: Path) -> None:
        import pyarrow
        import pyarrow.parquet

        columns = [pyarrow.array([_encodable(row[i]) for row in self.rows]) for i in range(len(self.columns))]
        pyarrow.parquet.write_table(pyarrow.Table.from_arrays(columns, names=self.columns), path, compression="zstd")


def _encodable(cell: Any) -> Any:
    """Makes a text encodable, because file names need not be UTF-8."""
    return cell.encode("utf-8", "backslashreplace").decode() if isinstance(cell, str) else cell


def _plain(column: "tuple[Any, ...]") -> "tuple[Any, ...]":
    """Removes control characters of names, because they would reach the terminal of whoever prints the file."""
    shown = {cell: _printable(cell) for cell in set(column) if isinstance(cell, str) and not cell.isprintable()}
    return tuple(shown.get(cell, cell) for cell in column) if shown else column


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() or c in "\t\n" else f"\\x{ord(c):02x}" for c in text)


@dataclass
class Source:
    """The recording that a row of a picture comes from, and the times of the columns in it. Times are ns since its start, -1: not known."""

    path: str
    begins: "list[int]" = field(default_factory=list)
    ends: "list[int]" = field(default_factory=list)
    shifts: "list[int]" = field(default_factory=list)  # ns to add to these times to get times on the common axis

    def command(self, column: int) -> "list[str]":
        """The command that opens the viewer at a column."""
        known = column < len(self.begins) and 0 <= self.begins[column] < self.ends[column]
        return ["lanescope-ui", self.path, *(["--range", f"{self.begins[column]}ns:{self.ends[column]}ns"] if known else [])]


@dataclass
class HeatMap:
    """A picture of an answer: rows by columns. Each cell is a number, or None if nothing is known."""

    title: str
    rows: "list[str]"
    columns: "list[str]"
    cells: "list[list[float | None]]"
    unit: str = ""
    sources: "list[Source]" = field(default_factory=list)  # one per row, or none at all


@dataclass
class Answer:
    """A recipe's answer about a fleet: sentences, tables and pictures."""

    recipe: str
    sentences: "list[str]" = field(default_factory=list)
    tables: "list[ResultTable]" = field(default_factory=list)
    maps: "list[HeatMap]" = field(default_factory=list)
    failed: bool = False  # for a check: exit code 3
