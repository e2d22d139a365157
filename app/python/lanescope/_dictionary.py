"""What ids of one process and source stand for: strings, queues, shapes, code. Id 0, and an id that no chunk has defined, stand for nothing."""

from __future__ import annotations

from typing import Optional, Sequence

import numpy as np
import numpy.typing as npt

from ._message import decode, text
from ._schema import MESSAGES
from ._wire import WireError, fields, runs

# Ids count up from 1, so rows lie in arrays. A row whose id is this far above the others (those between were lost or never existed) is kept apart.
_LARGEST_GAP = 1 << 16


class BeyondBudget(WireError):
    """A file has more entries than are read from a file of its size (_frames.py)."""


class Texts:
    """Texts of a whole trace, each once. Number 0 is the empty text. `room` is the number of entries that may still be added to all tables of its dictionaries,
    `room_of_texts` the number of bytes of texts."""

    def __init__(self, room: int, room_of_texts: int) -> None:
        self.room = room
        self.room_of_texts = room_of_texts
        self.values: list[str] = [""]
        self._numbers: dict[bytes, int] = {b"": 0}

    def take(self, entries: int) -> None:
        self.room -= entries
        if self.room < 0:
            raise BeyondBudget("there are more entries than are read")

    def take_entries_of(self, message: memoryview) -> None:
        """Counts the entries of a message before it is decoded."""
        for _, value in runs(bytes(message)):
            if not isinstance(value, int):
                self.take(len(value))

    def take_memory(self, size: int) -> None:
        """Counts memory for something else than texts, in bytes. A quarter of it is taken, because the program counts four copies of each text."""
        self.room_of_texts -= size // 4
        if self.room_of_texts < 0:
            raise BeyondBudget("there is more than is kept")

    def number(self, data: bytes) -> int:
        found = self._numbers.get(data)
        if found is None:
            self.room_of_texts -= len(data)
            if self.room_of_texts < 0:
                raise BeyondBudget("there are more bytes of texts than are read")
            found = self._numbers[data] = len(self.values)
            self.values.append(text(data))
        return found

    def number_of_text(self, value: str) -> int:
        return self.number(value.encode("utf-8", errors="replace"))


class IdTable:
    """Rows of integers, as columns, by ids that mostly count up from 1. Memory grows with the number of rows, not with the ids."""

    __slots__ = ("_rows", "_size", "_put", "_far")

    def __init__(self, columns: int) -> None:
        self._rows: npt.NDArray[np.int64] = np.zeros((4, columns), dtype=np.int64)
        self._size = 1
        self._put = 0  # rows put so far, also under the same id
        self._far: dict[int, tuple[int, ...]] = {}

    def put(self, row_id: int, row: "tuple[int, ...]") -> None:
        if row_id == 0:
            return
        self._put += 1
        if row_id > min(self._size, 2 * self._put) + _LARGEST_GAP:  # there may be as many missing ids as rows
            self._far[row_id] = row
            return
        self._reach(row_id)
        self._rows[row_id] = row

    def put_all(self, first: int, values: "list[int]") -> None:
        """Stores values under consecutive ids, for a table with one column."""
        if 0 < first <= self._size and values:
            self._put += len(values)
            self._reach(first + len(values) - 1)
            self._rows[first : first + len(values), 0] = values
        else:
            for i, value in enumerate(values):
                self.put(first + i, (value,))

    def put_rows(self, first: int, rows: "list[tuple[int, ...]]") -> None:
        """Stores rows under consecutive ids."""
        if 0 < first <= self._size and rows:
            self._put += len(rows)
            self._reach(first + len(rows) - 1)
            self._rows[first : first + len(rows)] = rows
        else:
            for i, row in enumerate(rows):
                self.put(first + i, row)

    def _reach(self, row_id: int) -> None:
        """Makes room for all rows up to that id."""
        if row_id >= len(self._rows):
            grown = np.zeros((max(2 * len(self._rows), row_id + 1), self._rows.shape[1]), dtype=np.int64)
            grown[: len(self._rows)] = self._rows
            self._rows = grown
        self._size = max(self._size, row_id + 1)

    @property
    def size(self) -> int:
        """The number of rows that rows() returns."""
        return self._size

    def rows(self) -> npt.NDArray[np.int64]:
        """The rows by id from 0 on, except the few whose ids are far above the others."""
        return self._rows[: self._size]

    def get(self, row_id: int) -> "tuple[int, ...]":
        if row_id in self._far:
            return self._far[row_id]
        row = self._rows[row_id] if row_id < self._size else self._rows[0]
        return tuple(int(value) for value in row)

    def column(self, ids: npt.NDArray[np.uint64], column: int) -> npt.NDArray[np.int64]:
        """The value of each id in that column; 0 for unknown ids."""
        near = ids < self._size
        values: npt.NDArray[np.int64] = self._rows[np.where(near, ids, 0).astype(np.intp), column]
        if self._far and not near.all():
            for row in np.flatnonzero(~near):
                values[row] = self._far.get(int(ids[row]), self._rows[0])[column]
        return values


LAUNCH_SHAPE = tuple(MESSAGES["LaunchShape"])
QUEUE = tuple(MESSAGES["Queue"])
COPY_SHAPE = tuple(MESSAGES["CopyShape"])
KERNEL_NAME = tuple(MESSAGES["KernelName"])
CODE_LOCATION = tuple(MESSAGES["CodeLocation"])
CALL_NODE = tuple(MESSAGES["CallNode"])


class Dictionary:
    """The dictionaries of one (process, source). A file may have as many as frames, most of them empty."""

    __slots__ = ("_texts", "_tables", "_symbols", "_stacks", "_calls", "_unread")

    # For each table: the field of its entries, the field of the first id, the message of an entry, and the columns.
    _TABLES = (
        ("launch_shapes", "first_shape", "LaunchShape", LAUNCH_SHAPE),
        ("queues", "first_queue", "Queue", QUEUE),
        ("copy_shapes", "first_copy_shape", "CopyShape", COPY_SHAPE),
        ("kernel_names", "first_kernel_name", "KernelName", KERNEL_NAME),
        ("code_locations", "first_code_location", "CodeLocation", CODE_LOCATION),
        ("call_nodes", "first_call_node", "CallNode", CALL_NODE),
    )

    def __init__(self, texts: Texts) -> None:
        self._texts = texts
        self._tables: dict[str, IdTable] = {}  # tables that have rows
        self._symbols: dict[int, list[int]] = {}  # location: numbers of texts, innermost first
        self._stacks: dict[int, int] = {0: 0}     # call node: number of the text of its stack
        self._calls: dict[int, tuple[int, list[int]]] = {}  # call node: its caller, and its functions
        self._unread: list[tuple[str, str, tuple[str, ...], int, list[bytes]]] = []

    def table(self, name: str) -> IdTable:
        """The table of strings, or of the entries that a chunk calls by that name; read only."""
        return self._tables.get(name) or _EMPTY_TABLES[name]

    def _own(self, name: str) -> IdTable:
        """The same table for writing."""
        if name not in self._tables:
            self._tables[name] = IdTable(_COLUMNS[name])
        return self._tables[name]

    def extend(self, data: memoryview) -> tuple[int, int, memoryview]:
        """Adds the entries of an EventChunk. Returns its base_time, the field number of its events, and their bytes; number 0 if it has no events."""
        numbers = _chunk_numbers()
        firsts: dict[str, int] = {}
        entries: dict[str, list[bytes]] = {}
        base_time, kind, events = 0, 0, memoryview(b"")
        for number, value in runs(bytes(data)):
            field = numbers.get(number)
            if field is None:
                continue
            if isinstance(value, int):
                if field == "base_time":
                    base_time = (value >> 1) ^ -(value & 1)
                else:
                    firsts[field] = value
            elif field == "events":
                kind, events = number, memoryview(value[-1])
            else:
                self._texts.take(len(value))
                entries.setdefault(field, []).extend(value)
        if "strings" in entries:
            self._own("strings").put_all(firsts.get("first_string", 0), list(map(self._texts.number, entries["strings"])))
        for name, first, message, columns in self._TABLES:
            if name not in entries:
                continue
            if name in ("code_locations", "call_nodes"):
                # Most entries of a file with samples are of this kind, and most readers never need them.
                self._unread.append((name, message, columns, firsts.get(first, 0), entries[name]))
            else:
                self._read(name, message, columns, firsts.get(first, 0), entries[name])
        return base_time, kind, events

    def _read(self, table: str, message: str, columns: "tuple[str, ...]", first: int, entries: "Sequence[memoryview | bytes]") -> None:
        places = {MESSAGES[message][column][0]: i for i, column in enumerate(columns)}
        known: "dict[memoryview | bytes, tuple[int, ...]]" = {}  # each different entry is decoded once
        rows = []
        for entry in entries:
            found = known.get(entry)
            if found is None:
                row = [0] * len(columns)
                for number, value in fields(entry):
                    if number in places and isinstance(value, int):
                        row[places[number]] = value - (1 << 64) if value >> 63 else value
                found = known[entry] = tuple(row)
            rows.append(found)
        self._own(table).put_rows(first, rows)

    def extend_by_symbols(self, data: memoryview) -> None:
        self._texts.take_entries_of(data)
        symbols = decode("Symbols", data)
        for i, entry in enumerate(symbols["strings"]):
            self._own("strings").put(symbols["first_string"] + i, (self._texts.number(entry),))
        for location in symbols["locations"]:
            if location["functions"]:
                self._symbols[location["location"]] = [self.text(function["function"]) for function in location["functions"]]
        self._stacks = {0: 0}
        self._calls.clear()

    def extend_by_names(self, data: memoryview) -> None:
        self._texts.take_entries_of(data)
        names = decode("Names", data)
        self._own("strings").put_all(names["first"], [self._texts.number(entry) for entry in names["texts"]])

    def extend_by_call_stacks(self, data: memoryview) -> None:
        self._texts.take_entries_of(data)
        stacks = decode("CallStacks", data)
        for name, first, rows, columns in (
            ("code_locations", "first_location", "locations", CODE_LOCATION),
            ("call_nodes", "first_node", "nodes", CALL_NODE),
        ):
            for i, row in enumerate(stacks[rows]):
                values = tuple(row[column] - (1 << 64) if row[column] >> 63 else row[column] for column in columns)
                self._own(name).put(stacks[first] + i, values)
        for location in stacks["symbols"]:
            if location["functions"]:
                self._symbols[location["location"]] = [self.text(function["function"]) for function in location["functions"]]

    def text(self, string: int) -> int:
        """The number of the text of a string id."""
        return self.table("strings").get(string)[0]

    def texts(self, strings: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
        return self.table("strings").column(strings, 0)

    def function(self, node: int) -> int:
        """The number of the text of the innermost function of a call node."""
        return self._call(node)[1][0] if node else 0

    def stack(self, node: int) -> int:
        """The number of the text of the call chain, outermost call first, joined by semicolons. Of a deep chain only the innermost calls are kept."""
        if node not in self._stacks:
            names: list[str] = []
            at = node
            while at and len(names) < _DEEPEST_STACK:
                at, functions = self._call(at)
                names += [self._texts.values[number] for number in functions]
            self._stacks[node] = self._texts.number_of_text(";".join(reversed(names)))
        return self._stacks[node]

    def _call(self, node: int) -> tuple[int, list[int]]:
        """The caller of a call node, and the numbers of the texts of its functions, innermost first."""
        for unread in self._unread:
            self._read(*unread)
        self._unread.clear()
        found = self._calls.get(node)
        if found is None:
            parent, location = self.table("call_nodes").get(node)
            # A caller's id must be smaller, so that no chain is circular.
            found = self._calls[node] = (parent if 0 < parent < node else 0, self._functions(location))
        return found

    def _functions(self, location: int) -> list[int]:
        if location in self._symbols:
            return self._symbols[location]
        place = dict(zip(CODE_LOCATION, self.table("code_locations").get(location)))
        if place["function"]:
            return [self.text(place["function"])]
        module = self._texts.values[self.text(place["module"])].rsplit("/", 1)[-1]
        address = place["address"] & 0xFFFF_FFFF_FFFF_FFFF
        return [self._texts.number_of_text((module + "+" if module else "") + f"0x{address:x}")]


_COLUMNS = {"strings": 1} | {entries: len(columns) for entries, _, _, columns in Dictionary._TABLES}
_EMPTY_TABLES = {name: IdTable(columns) for name, columns in _COLUMNS.items()}
_DEEPEST_STACK = 2048  # calls


_NUMBERS: Optional[dict[int, str]] = None


def _chunk_numbers() -> dict[int, str]:
    global _NUMBERS
    if _NUMBERS is None:
        _NUMBERS = {number: "events" if isinstance(kind, str) and kind in MESSAGES else name for name, (number, kind) in MESSAGES["EventChunk"].items()}
    return _NUMBERS



