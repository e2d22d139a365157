"""Small messages of the schema as dictionaries; columns of events are read by _tables instead."""

from __future__ import annotations

import struct
from typing import Any, Optional

from ._schema import MESSAGES, WITH_PRESENCE, Message
from ._wire import WireError, fields

_BY_NUMBER: dict[str, dict[int, tuple[str, str, bool]]] = {}


def _numbered(name: str) -> dict[int, tuple[str, str, bool]]:
    if name not in _BY_NUMBER:
        message: Message = MESSAGES[name]
        _BY_NUMBER[name] = {
            number: (field, kind[0], True) if isinstance(kind, list) else (field, kind, False) for field, (number, kind) in message.items()
        }
    return _BY_NUMBER[name]


def text(data: bytes) -> str:
    """Text as the program gave it, of which nobody says that it is UTF-8."""
    return data.decode("utf-8", errors="replace")


def decode(name: str, data: memoryview, default: Optional[dict[str, Any]] = None) -> dict[str, Any]:
    """The message `name`: every field of its schema, absent ones as zero, empty or an empty list, or None. Unknown fields are skipped."""
    numbered = _numbered(name)
    result: dict[str, Any] = dict(default) if default else {
        field: None if (name, field) in WITH_PRESENCE or (kind in MESSAGES and not many) else _empty(kind, many) for field, kind, many in numbered.values()
    }
    for number, value in fields(data):
        if number not in numbered:
            continue
        field, kind, many = numbered[number]
        read = _value(kind, value)
        if many:
            result[field].append(read)
        else:
            result[field] = read
    return result


def _empty(kind: str, many: bool) -> Any:
    if many:
        return []
    return {"bytes": b"", "bool": False, "double": 0.0}.get(kind, 0)


def _value(kind: str, value: Any) -> Any:
    if isinstance(value, memoryview) != (kind == "bytes" or kind in MESSAGES):
        raise WireError("a field has another type than the schema says")
    if kind == "bytes":
        return bytes(value)
    if kind in MESSAGES:
        return decode(kind, value)
    if kind == "sint":
        return (value >> 1) ^ -(value & 1)
    if kind == "int":
        return value - (1 << 64) if value >> 63 else value
    if kind == "bool":
        return value != 0
    if kind == "double":
        return struct.unpack("<d", value.to_bytes(8, "little"))[0]
    return value
