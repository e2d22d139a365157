"""Small messages of the schema as dictionaries. Columns of events are read by _tables instead."""

from __future__ import annotations

import struct
from functools import partial
from typing import Any, Callable, Optional

from ._schema import MESSAGES, WITH_PRESENCE, Message
from ._wire import WireError, fields


class _Shape:
    """How a message is read: the values of absent fields, and how each field is converted."""

    def __init__(self, name: str) -> None:
        message: Message = MESSAGES[name]
        self.empty: "dict[str, Any]" = {}
        self.lists: "list[str]" = []
        # By field number: name, whether it is stored as bytes, the function that makes its value (None: unchanged), whether it is repeated.
        self.fields: "dict[int, tuple[str, bool, Optional[Callable[[Any], Any]], bool]]" = {}
        for field, (number, said) in message.items():
            many, kind = isinstance(said, list), said[0] if isinstance(said, list) else said
            is_message = kind in MESSAGES
            absent = (name, field) in WITH_PRESENCE or (is_message and not many)
            self.empty[field] = None if absent else _EMPTY.get(kind, 0)
            if many:
                self.lists.append(field)
            self.fields[number] = (field, is_message or kind == "bytes", partial(decode, kind) if is_message else _MADE.get(kind), many)


_EMPTY: "dict[str, Any]" = {"bytes": b"", "bool": False, "double": 0.0}
_MADE: "dict[str, Callable[[Any], Any]]" = {
    "bytes": bytes,
    "sint": lambda value: (value >> 1) ^ -(value & 1),
    "int": lambda value: value - (1 << 64) if value >> 63 else value,
    "bool": lambda value: value != 0,
    "double": lambda value: struct.unpack("<d", value.to_bytes(8, "little"))[0],
}
_SHAPES: "dict[str, _Shape]" = {}


def text(data: bytes) -> str:
    """Text as the program gave it, which need not be valid UTF-8."""
    return data.decode("utf-8", errors="replace")


def with_texts(value: Any) -> Any:
    """A decoded message with all bytes turned into texts."""
    if isinstance(value, bytes):
        return text(value)
    if isinstance(value, list):
        return [with_texts(each) for each in value]
    return {key: with_texts(each) for key, each in value.items()} if isinstance(value, dict) else value


def decode(name: str, data: "memoryview | bytes") -> dict[str, Any]:
    """The decoded message `name` with every field of its schema. Absent fields are zero, empty, an empty list, or None. Unknown fields are skipped."""
    shape = _SHAPES.get(name)
    if shape is None:
        shape = _SHAPES[name] = _Shape(name)
    result = shape.empty.copy()
    for field in shape.lists:
        result[field] = []
    known = shape.fields
    for number, value in fields(data):
        if number not in known:
            continue
        field, is_bytes, make, many = known[number]
        if isinstance(value, memoryview) != is_bytes:
            raise WireError("a field has another type than the schema says")
        if make is not None:
            value = make(value)
        if many:
            result[field].append(value)
        else:
            result[field] = value
    return result
