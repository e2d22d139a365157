"""An answer as one HTML page that needs no network, and as files."""

from __future__ import annotations

import contextlib
import html
import json
import math
import os
import re
import shlex
from pathlib import Path
from typing import Any, Iterator, Sequence

from .._frames import TraceError
from .engine import Outcome, new_beside
from .result import Answer, HeatMap, ResultTable, Source, counted

FLEET_FILE_VERSION = 1
_SUFFIXES = (".csv", ".json", ".parquet", ".ipynb")

_MOST_ROWS = 200     # of a table on the page; the files contain all rows
_MOST_COLUMNS = 240  # of a picture: if there are more, neighbours are replaced by their mean
_LONGEST_TEXT = 80   # of a cell on a terminal: names of kernels have thousands of letters; the files contain them whole

_STYLE = """
body{font:14px/1.45 system-ui,sans-serif;max-width:1200px;margin:2em auto;padding:0 1em;color:#222;background:#fff}
h1{font-size:1.3em}h2{font-size:1.05em;margin-top:2em}
p.said{background:#f3f6fa;padding:.6em .8em;margin:.4em 0;border-left:3px solid #3b78b5}
table{border-collapse:collapse;font-size:12px;display:block;overflow-x:auto}td,th{padding:2px 8px;border-bottom:1px solid #e3e3e3;text-align:right;white-space:nowrap}
th{position:sticky;top:0;background:#fff}td.text,th.text{text-align:left;max-width:60ch;overflow:hidden;text-overflow:ellipsis}
code{background:#f3f3f3;padding:1px 4px;user-select:all}svg text{font:11px system-ui,sans-serif;fill:currentColor}
@media(prefers-color-scheme:dark){body,th{background:#1c1f23;color:#ddd}p.said{background:#262c33}td,th{border-color:#353b42}code{background:#2b3036}}
"""


def html_page(answer: Answer, outcome: Outcome, files: "Sequence[str]" = ()) -> str:
    """The page. Texts of traces are escaped, and nothing is loaded from elsewhere. `files`: what lies beside it, for the next answer there (earlier_files)."""
    parts = [f'<!doctype html><html lang=en><meta charset=utf-8><meta name=lanescope-files content="{html.escape(json.dumps(list(files)))}">'
             f"<title>{html.escape(answer.recipe)}</title><style>{_STYLE}</style>"]  # fmt: skip
    parts.append(f"<h1>{html.escape(answer.recipe)}</h1>")
    parts += [f"<p class=said>{html.escape(said)}</p>" for said in answer.sentences]
    parts += [_heat_map(each) for each in answer.maps]
    parts += [_table(each) for each in answer.tables]
    parts.append(_table(files_table(outcome)))
    return "".join(parts)


def files_table(outcome: Outcome) -> ResultTable:
    return ResultTable("files", ["File", "Read", "Events", "Remark"], [[f.path, f.read, f.events, f.reason] for f in outcome.files])


@contextlib.contextmanager
def replaced(path: Path) -> "Iterator[Path]":
    """A path to write to. At the end of the block it replaces the file `path`, completely or not at all."""
    partial = None
    try:
        partial = new_beside(path)
        yield partial
        partial.replace(path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            if partial:
                partial.unlink()
        if isinstance(error, OSError):
            raise TraceError(f"{path} can't be written: {error.strerror or error}. Free some space, or name another place with -o.") from error
        raise


def earlier_files(folder: Path) -> "list[Path]":
    """The tables of the answer whose page is in the folder, as that page names them."""
    try:
        with (folder / "report.html").open(encoding="utf-8", errors="replace") as page:
            said = re.search('<meta name=lanescope-files content="([^"]*)">', page.read(1 << 16))
        names = json.loads(html.unescape(said[1])) if said else []
    except (OSError, ValueError, RecursionError):
        return []
    plain = [name for name in names if isinstance(name, str) and Path(name).name == name and Path(name).suffix in _SUFFIXES] if isinstance(names, list) else []
    return [folder / name for name in plain if (folder / name).is_file() and not (folder / name).is_symlink()]


def write_folder(answer: Answer, outcome: Outcome, folder: Path, formats: "list[str]") -> "list[Path]":
    """Writes the page and the tables into an existing folder. Tables of an earlier answer there that this one lacks are removed: beside the new ones, they would
    be taken for its own. Returns the files."""
    earlier = earlier_files(folder)
    written: "list[Path]" = []

    def put(name: str, text: str) -> None:
        with replaced(folder / name) as path:
            path.write_text(text, encoding="utf-8", errors="backslashreplace")  # file names need not be UTF-8
        written.append(folder / name)

    if answer.maps:
        put("fleet.json", fleet_file(answer, folder))
    for table in [*answer.tables, files_table(outcome)]:
        for kind in formats:
            if kind == "csv":
                put(f"{table.name}.csv", table.to_csv())
            elif kind == "json":
                put(f"{table.name}.json", table.to_json())
            elif kind == "parquet":
                with replaced(folder / f"{table.name}.parquet") as path:
                    table.to_parquet(path)
                written.append(folder / f"{table.name}.parquet")
    if "ipynb" in formats:
        if "json" not in formats:
            for table in answer.tables:
                put(f"{table.name}.json", table.to_json())  # the notebook reads it
        put("report.ipynb", _notebook(answer))
    put("report.html", html_page(answer, outcome, [path.name for path in written]))
    for path in earlier:
        if path not in written:
            with contextlib.suppress(OSError):
                path.unlink()
    return [written[-1], *written[:-1]]


def fleet_file(answer: Answer, folder: Path) -> str:
    """The pictures, with the recordings that they come from, for the viewer (docs/fleets.md)."""
    sources: "list[dict[str, Any]]" = []
    places: "dict[int, int]" = {}  # by id of a source: a source that several pictures share is written once

    def place(source: Source) -> int:
        if id(source) not in places:
            places[id(source)] = len(sources)
            sources.append({"file": os.path.relpath(source.path, folder), "begin": source.begins, "end": source.ends, "shift": source.shifts})
        return places[id(source)]

    maps = []
    for heat in answer.maps:
        rows: "list[dict[str, Any]]" = [
            {"label": label, "values": [cell if cell is not None and math.isfinite(cell) else None for cell in cells]} for label, cells in zip(heat.rows, heat.cells)
        ]
        for row, source in zip(rows, heat.sources):
            row["source"] = place(source)
        maps.append({"title": heat.title, "unit": heat.unit, "columns": heat.columns, "rows": rows})
    said = {"format": "lanescope fleet", "version": FLEET_FILE_VERSION, "recipe": answer.recipe, "sentences": answer.sentences, "sources": sources, "maps": maps}
    return json.dumps(said, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def text_of(answer: Answer, outcome: Outcome, rows: int = 20) -> str:
    """A text for a terminal: the sentences, and the first rows of the first table."""
    lines = list(answer.sentences)
    bad = [state for state in outcome.files if not state.read]
    if bad:
        lines.append(f"{len(bad)} of {counted(len(outcome.files), 'file')} {'was' if len(bad) == 1 else 'were'} left out, {bad[0].path} first: {bad[0].reason}")
    lacking = [state for state in outcome.files if state.read and state.reason]
    if lacking:
        lines.append(f"{len(lacking)} of {counted(len(outcome.files), 'file')} {'lacks' if len(lacking) == 1 else 'lack'} something, {lacking[0].path} first: {lacking[0].reason}.")
    for table in answer.tables[:1]:
        cells = [[cell_text(value, table.units.get(column, "")) for column, value in zip(table.columns, row)] for row in table.rows[:rows]]
        widths = [max(len(line[i]) for line in [table.columns, *cells]) for i in range(len(table.columns))]
        lines += ["", "  ".join(title.ljust(width) for title, width in zip(table.columns, widths)).rstrip()]
        lines += ["  ".join(cell.ljust(width) if isinstance(value, str) else cell.rjust(width) for cell, width, value in zip(line, widths, row)).rstrip()
                  for line, row in zip(cells, table.rows)]  # fmt: skip
        if len(table.rows) > rows:
            lines.append(f"... and {len(table.rows) - rows} more rows")
    return "".join(c if c.isprintable() or c == "\n" else f"\\x{ord(c):02x}" for c in "\n".join(lines)) + "\n"


def cell_text(value: object, unit: str) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (int, float)) and unit == "ns":
        for size, name in ((1e9, "s"), (1e6, "ms"), (1e3, "µs")):
            if abs(value) >= size:
                return f"{value / size:.3f} {name}"
        return f"{value:.0f} ns"
    if isinstance(value, float):
        return f"{value:.2f}" + (f" {unit}" if unit and unit != "%" else "")
    if isinstance(value, str) and len(value) > _LONGEST_TEXT:
        return value[: _LONGEST_TEXT - 3] + "..."
    return str(value)


def _table(table: ResultTable) -> str:
    text = table.text_columns()
    head = "".join(f"<th{' class=text' if text[i] else ''}>{html.escape(title)}</th>" for i, title in enumerate(table.columns))
    body = []
    for row in table.rows[:_MOST_ROWS]:
        cells = (f"<td{' class=text' if text[i] else ''}>{html.escape(cell_text(value, table.units.get(table.columns[i], '')))}</td>" for i, value in enumerate(row))
        body.append(f"<tr>{''.join(cells)}</tr>")
    more = f"<p>{len(table.rows) - _MOST_ROWS} more rows are in the files.</p>" if len(table.rows) > _MOST_ROWS else ""
    return f"<h2>{html.escape(table.name)}</h2><table><tr>{head}</tr>{''.join(body)}</table>{more}"


def _heat_map(heat: HeatMap) -> str:
    """A picture whose darkest cell is the largest value. Hovering over a cell shows its value."""
    joined = max(1, -(-len(heat.columns) // _MOST_COLUMNS))
    cells = [[_mean(row[i : i + joined]) for i in range(0, len(row), joined)] for row in heat.cells]
    known = [value for row in cells for value in row if value is not None]
    if not known:
        return ""
    low, high = min(0.0, min(known)), max(known)
    width, height, left = max(2, min(24, 900 // max(1, len(cells[0])))), 16, 8 + 7 * max((len(label) for label in heat.rows), default=0)
    left = min(left, 320)
    drawn = []
    for y, row in enumerate(cells):
        label = html.escape(heat.rows[y])
        drawn.append(f"<text x={left - 6} y={y * height + 12} text-anchor=end>{label}</text>")
        for x, value in enumerate(row):
            if value is None:
                continue
            share = (value - low) / (high - low) if high > low else 0.0
            title = f"{label}, {html.escape(heat.columns[x * joined])}: {value:.3g} {html.escape(heat.unit)}"
            drawn.append(f"<rect x={left + x * width} y={y * height} width={width} height={height - 1} fill='{_color(share)}'><title>{title}</title></rect>")
    size = f"width={left + len(cells[0]) * width + 10} height={len(cells) * height + 4}"
    opened = [(label, source.command(_largest(row))) for label, source, row in zip(heat.rows, heat.sources, heat.cells)]
    commands = "".join(f"<li>{html.escape(label)}: <code>{html.escape(shlex.join(command))}</code></li>" for label, command in opened[:_MOST_ROWS])
    opens = f"<details><summary>Open a row in the viewer, where its value is largest</summary><ul>{commands}</ul></details>" if commands else ""
    legend = f"<p>{low:.3g} to {high:.3g} {html.escape(heat.unit)}" + (f"; {joined} columns are drawn as one" if joined > 1 else "") + "</p>"
    return f"<h2>{html.escape(heat.title)}</h2><svg {size} role=img aria-label='{html.escape(heat.title, quote=True)}'>{''.join(drawn)}</svg>{legend}{opens}"


def _largest(row: "list[float | None]") -> int:
    """The first position of the largest known value; 0 if no value is known."""
    values = [-math.inf if value is None else value for value in row]
    return values.index(max(values)) if values else 0


def _mean(values: "list[float | None]") -> "float | None":
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _color(share: float) -> str:
    """A colour from near white over blue to dark. The lightness falls evenly, so that the picture can be read without colours, too."""
    stops = ((247, 251, 255), (158, 202, 225), (49, 130, 189), (8, 48, 107))
    place = min(max(share, 0.0), 1.0) * (len(stops) - 1)
    i = min(int(place), len(stops) - 2)
    part = place - i
    return "#" + "".join(f"{round(a + (b - a) * part):02x}" for a, b in zip(stops[i], stops[i + 1]))


def _notebook(answer: Answer) -> str:
    code = ["import pandas\n", *(f'{table.name} = pandas.read_json("{table.name}.json")\n' for table in answer.tables)]
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": [f"# {answer.recipe}\n", "\n", *(said + "\n\n" for said in answer.sentences)]},
        {"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": [], "source": code},
    ]
    cells += [{"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": [], "source": [table.name]} for table in answer.tables]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1)
