"""Prints docs/tables.md: python3 -m lanescope._tables_page"""

from ._kernel_tables import RECORD_SCHEMAS
from ._tables import SCHEMAS
from .table import PROVENANCE
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

_PROVENANCE = {
    "rank": "among all processes of the job, as its launcher said; -1 where that is not known",
    "local_rank": "among those of one machine; -1 where that is not known",
    "world_size": "processes of the job; -1 where that is not known",
    "run": "the recording's label `run` (`--label run=night-17`); of two runs that the viewer compares, A or B",
    "host": "name of the machine that recorded",
    "in_part": "whether it is of the part of the recording that was saved; true in a whole recording",
}

# What `lanescope export -t parquet` writes beyond the columns above, in this order: of which tables, the column, its type, unit and meaning.
_LAUNCHED = "kernels, copies, sets, graph_launches"
_PARQUET = (
    ("kernels", "short_name", "text", "", "function without parameters, templates and namespaces"),
    ("kernels, nvtx_marks", "name_hash", "uint64", "", "XXH64 of the name's bytes: the same in all files"),
    ("kernels, copies, sets, synchronizations, graph_launches, memory_usage, cuda_events", "gpu_uuid", "text", "", "of the GPU, 32 hexadecimal digits; empty where it is not known"),
    (_LAUNCHED, "launch_start", "int64", "ns", "when the call that launched it began; null where that call is not known"),
    (_LAUNCHED, "launch_duration", "int64", "ns", "of that call"),
    (_LAUNCHED, "launch_thread", "int64", "", "thread id of that call"),
    (_LAUNCHED, "launch_name", "text", "", "function of that call"),
    ("nvtx_ranges", "row", "int64", "", "number of the row in its table"),
    ("nvtx_ranges", "parent", "int64", "", "`row` of the innermost range around it on its thread and domain; null where there is none"),
    ("nvtx_ranges", "name_hash", "uint64", "", "XXH64 of the name's bytes: the same in all files"),
)


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
    for records in RECORD_SCHEMAS.values():
        lines += ["", f"## {records.name}", "", records.meaning, "", "| column | type | unit | meaning |", "|---|---|---|---|"]
        lines += [f"| `{c.name}` | {_TYPES.get(c.type, c.type)} | {c.unit} | {c.meaning} |" for c in records.columns]
    lines += [
        "",
        "## Where a row comes from",
        "",
        "Every table has these columns, too, so that rows of many recordings can lie in one table. In Parquet they are behind all others; in Python they come",
        "where they are named, `trace.kernels[[\"rank\", \"duration\"]]`, or with `trace.kernels.with_provenance()`.",
        "",
        "| column | type | unit | meaning |",
        "|---|---|---|---|",
    ]
    lines += [f"| `{name}` | {kind} |  | {_PROVENANCE[name]} |" for name, kind in PROVENANCE.items()]
    lines += [
        "",
        "**Parts.** A part that was saved ([file-format.md](file-format.md#parts)) has rows in front of it: calls that were over before it began, kept for the GPU work of the part",
        "that they enqueued, with the ranges around them. Tables have them all, and `in_part` is false there. `lanescope stats`, fleets and all that sums take the other rows, each with its",
        "whole duration: so does `WHERE in_part`, and in Python `lanescope.open(FILE).in_part()`. Rows of `instruction_counts` and `kernel_metrics` are of the part where their kernel is.",
        "",
        "## Parquet",
        "",
        "`lanescope export -t parquet run.trace` writes these tables into the folder `run.parquet`, a file each (`kernels.parquet`); one without rows is left",
        "out. Its rows and columns are those above, and behind them come the columns below. Keys of the footer say where the recording comes from and",
        "what it lacks: `lanescope.utc_epoch_ns`, `lanescope.host`, `lanescope.command`, `lanescope.finished`, `lanescope.dropped`, `lanescope.late`,",
        "`lanescope.invalid`, `lanescope.unwritten`, `lanescope.condition`; of a part, `lanescope.part_begin_ns` and `lanescope.part_end_ns`. `lanescope.tables` is the version of this page: 4.",
        "",
        "| tables | column | type | unit | meaning |",
        "|---|---|---|---|---|",
    ]
    lines += [f"| {tables} | `{name}` | {kind} | {unit} | {meaning} |" for tables, name, kind, unit, meaning in _PARQUET]
    lines += [
        "",
        "## Arrow",
        "",
        "`lanescope export -t arrow run.trace` writes the tables of Parquet, with the same columns, into one file or pipe: a stream of Arrow's interprocess format",
        "for each, one behind the other. The key `lanescope.table` of a schema's metadata says which table it is; the others are those of Parquet's footer. Texts are",
        "dictionaries, of which each record batch brings its own. `--tables` says which tables; one that it names comes also where it has no row:",
        "",
        "```",
        "$ lanescope export -t arrow --tables kernels -o - run.trace | python3 -c 'import pyarrow.ipc, sys; print(pyarrow.ipc.open_stream(sys.stdin.buffer).read_all())'",
        "```",
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(page(), end="")
