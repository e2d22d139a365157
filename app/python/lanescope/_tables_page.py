"""Prints docs/tables.md: python3 -m lanescope._tables_page"""

from ._kernel_tables import RECORD_SCHEMAS
from ._tables import SCHEMAS
from .table import PROVENANCE
from ._table_rows import COUNTER_COLUMNS

_TYPES = {"text": "text", "symbol": "text"}

_COUNTERS = {
    "start": ("ns", "when the counter took the value, counted from the beginning of the recording"),
    "duration": ("ns", "how long the value held"),
    "process": ("", "instance number of the process; 0 for a GPU's own counters"),
    "gpu_uuid": ("", "UUID of the GPU, 32 hexadecimal digits; empty if there is none"),
    "name": ("", "name of the counter"),
    "unit": ("", "%, W, B/s, Hz, B; empty for plain numbers"),
    "value": ("", "value in that unit"),
}

_PROVENANCE = {
    "rank": "rank among all processes of the job, from its launcher; -1 if it is not known",
    "local_rank": "rank among those of one machine; -1 if it is not known",
    "world_size": "number of processes of the job; -1 if it is not known",
    "run": "the recording's label `run` (`--label run=night-17`); if the viewer compares two runs, A or B",
    "host": "name of the machine that recorded",
    "in_part": "whether the row counts for the saved part of a recording; true in a whole recording",
}

# Columns that `lanescope export -t parquet` writes after the columns above, in this order: their tables, name, type, unit and meaning.
_LAUNCHED = "kernels, copies, sets, graph_launches"
_PARQUET = (
    ("kernels", "short_name", "text", "", "function without parameters, templates and namespaces"),
    ("kernels, nvtx_marks", "name_hash", "uint64", "", "XXH64 of the name's bytes: the same in all files. In `lanescope query` the same bits as a signed number, as SQLite has no other"),
    ("kernels, copies, sets, synchronizations, graph_launches, memory_usage, cuda_events", "gpu_uuid", "text", "", "UUID of the GPU, 32 hexadecimal digits; empty if it is not known"),
    (_LAUNCHED, "launch_start", "int64", "ns", "when the call that launched it began; null if that call is not known"),
    (_LAUNCHED, "launch_duration", "int64", "ns", "duration of that call"),
    (_LAUNCHED, "launch_thread", "int64", "", "thread id of that call"),
    (_LAUNCHED, "launch_name", "text", "", "function of that call"),
    ("nvtx_ranges", "row", "int64", "", "number of the row in its table"),
    ("nvtx_ranges", "parent", "int64", "", "`row` of the innermost range around it on its thread and domain; null if there is none"),
    ("nvtx_ranges", "name_hash", "uint64", "", "XXH64 of the name's bytes: the same in all files. In `lanescope query` the same bits as a signed number, as SQLite has no other"),
)


def page() -> str:
    lines = [
        "# Tables",
        "",
        "This page lists the tables that the Python package `lanescope` makes of a `.trace` file ([python.md](python.md)). It is printed by",
        "`python3 -m lanescope._tables_page`.",
        "",
        "Times are nanoseconds since the recording began. Add `Trace.utc_epoch` to get UTC. Rows are sorted by `start`. Every table except `counters` begins with",
        "`process` (int64: the instance number of the process, because process ids are used again) and `pid` (int64). `proto/lanescope/trace.proto` says what a",
        "column means in the file, and where CUDA's numbers in it come from.",
    ]
    for schema in SCHEMAS.values():
        lines += ["", f"## {schema.name}", "", schema.meaning, "", "| column | type | unit | meaning |", "|---|---|---|---|"]
        lines += [f"| `{c.name}` | {_TYPES.get(c.type, c.type)} | {c.unit} | {c.meaning} |" for c in schema.columns]
    lines += ["", "## counters", "", "Values of counters over time: GPU metrics, and what processes count.", "", "| column | type | unit | meaning |", "|---|---|---|---|"]
    lines += [f"| `{name}` | {kind} | {_COUNTERS[name][0]} | {_COUNTERS[name][1]} |" for name, kind in COUNTER_COLUMNS.items()]
    for records in RECORD_SCHEMAS.values():
        lines += ["", f"## {records.name}", "", records.meaning, "", "| column | type | unit | meaning |", "|---|---|---|---|"]
        lines += [f"| `{c.name}` | {_TYPES.get(c.type, c.type)} | {c.unit} | {c.meaning} |" for c in records.columns]
    lines += [
        "",
        "## Where a row comes from",
        "",
        "Every table has these columns, too, so rows of many recordings can be in one table. In Parquet they come after all others. In Python they are returned",
        "if you name them, `trace.kernels[[\"rank\", \"duration\"]]`, or with `trace.kernels.with_provenance()`.",
        "",
        "| column | type | unit | meaning |",
        "|---|---|---|---|",
    ]
    lines += [f"| `{name}` | {kind} |  | {_PROVENANCE[name]} |" for name, kind in PROVENANCE.items()]
    lines += [
        "",
        "**Parts.** A saved part of a recording ([file-format.md](file-format.md#parts)) has rows in front of it: calls that ended before the part began and enqueued",
        "GPU work of the part, with the ranges around them. Tables contain these rows, with `in_part` false. `lanescope stats`, fleets and everything else that sums",
        "use only the other rows, each with its whole duration. `WHERE in_part` does the same, and so does `lanescope.open(FILE).in_part()` in Python. Rows of",
        "`instruction_counts` and `kernel_metrics` count for the part if their kernel does.",
        "",
        "## Parquet",
        "",
        "`lanescope export -t parquet run.trace` writes these tables into the folder `run.parquet`, one file each (`kernels.parquet`). A table without rows is left",
        "out. The rows and columns are those above, followed by the columns below. Keys of the footer say where the recording comes from and what it lacks:",
        "`lanescope.utc_epoch_ns`, `lanescope.host`, `lanescope.command`, `lanescope.finished`, `lanescope.dropped`, `lanescope.late`, `lanescope.invalid`,",
        "`lanescope.unwritten`, `lanescope.condition`; for a part also `lanescope.part_begin_ns` and `lanescope.part_end_ns`. `lanescope.tables` is the version of",
        "this page: 4.",
        "",
        "| tables | column | type | unit | meaning |",
        "|---|---|---|---|---|",
    ]
    lines += [f"| {tables} | `{name}` | {kind} | {unit} | {meaning} |" for tables, name, kind, unit, meaning in _PARQUET]
    lines += [
        "",
        "## Arrow",
        "",
        "`lanescope export -t arrow run.trace` writes the tables of Parquet, with the same columns, into one file or pipe. Each table is a stream of Arrow's",
        "interprocess format, and the streams follow each other. The key `lanescope.table` of a schema's metadata names the table; the other keys are those of",
        "Parquet's footer. Texts are dictionaries, and each record batch brings its own. `--tables` selects tables; a table that it names is written even if it has",
        "no rows:",
        "",
        "```",
        "$ lanescope export -t arrow --tables kernels -o - run.trace | python3 -c 'import pyarrow.ipc, sys; print(pyarrow.ipc.open_stream(sys.stdin.buffer).read_all())'",
        "```",
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(page(), end="")
