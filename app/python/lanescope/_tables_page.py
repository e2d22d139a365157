"""Prints docs/tables.md: python3 -m lanescope._tables_page"""

from ._tables import SCHEMAS
from .trace import _COUNTER_COLUMNS

_TYPES = {"text": "text", "symbol": "text"}

_COUNTERS = {
    "start": ("ns", "from when on the counter had the value, since the recording began"),
    "duration": ("ns", "for how long"),
    "process": ("", "instance number of the process; 0 for a GPU's own counters"),
    "gpu_uuid": ("", "of which GPU, 32 hexadecimal digits; empty for none"),
    "name": ("", "the counter"),
    "unit": ("", "%, W, B/s, Hz, B; empty for plain numbers"),
    "value": ("", "in that unit"),
}


def page() -> str:
    lines = [
        "# Tables",
        "",
        "What the Python package `lanescope` makes of a `.trace` file ([python.md](python.md)). This page is printed by `python3 -m lanescope._tables_page`.",
        "",
        "Times are nanoseconds since the recording began; `Trace.utc_epoch` added to them is UTC. Rows are sorted by `start`. Every table but `counters`",
        "begins with `process` (int64: the instance number of the process, since process ids are used again) and `pid` (int64). What a column means in",
        "the file, and where CUDA's numbers in it come from, is said in `proto/lanescope/trace.proto`.",
    ]
    for schema in SCHEMAS.values():
        lines += ["", f"## {schema.name}", "", schema.meaning, "", "| column | type | unit | meaning |", "|---|---|---|---|"]
        lines += [f"| `{c.name}` | {_TYPES.get(c.type, c.type)} | {c.unit} | {c.meaning} |" for c in schema.columns]
    lines += ["", "## counters", "", "Values of counters over time: GPU metrics, and what processes count.", "", "| column | type | unit | meaning |", "|---|---|---|---|"]
    lines += [f"| `{name}` | {kind} | {_COUNTERS[name][0]} | {_COUNTERS[name][1]} |" for name, kind in _COUNTER_COLUMNS.items()]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(page(), end="")
