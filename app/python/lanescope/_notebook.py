"""Recordings in notebooks: the magics %lanescope and %%lanescope, and the display of a recording in a cell.

The display is HTML with one inline picture and no script, so it stays in the saved notebook and works wherever that is shown.
"""

from __future__ import annotations

import asyncio
import contextlib
import html
import os
import re
import sys
import tempfile
from dataclasses import dataclass
from typing import Any, Iterator, Optional

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_cell_magic, magics_class
from IPython.display import display

from . import program
from ._errors import ProgramError, RecordingError
from ._recording import Recording

_FINDINGS = 3
_ROWS = 6
_COUNTS = ("kernels", "copies", "cuda_api_calls", "nvtx_ranges", "os_runtime_calls", "cpu_samples")
_SHORT = {"-t": "trace", "-s": "sample", "-o": "output", "-f": "force", "-v": "variable", "-r": "report"}
_FLAGS = {"force"}
_OPTION = re.compile(r"\s*(-[a-z]|--[a-z][a-z-]*)(?=[\s=]|$)")
_VALUE = re.compile(r"(?:=|\s+)(\"[^\"]*\"|'[^']*'|\S+)")

USAGE = """%lanescope [OPTIONS] STATEMENT, or %%lanescope [OPTIONS] above a cell: runs it, and shows what was recorded.

  -t LIST          what is traced: cuda, nvtx, osrt, python-gil (cuda,nvtx)
  -s WHAT          samples; none
  -o FILE          the recording is kept there; else it goes with the notebook's kernel
  -f               FILE is replaced, whoever wrote it; a cell that runs again replaces its own FILE without -f
  -v NAME          this variable becomes the trace, as of lanescope.open
  -r REPORT        the table that is shown (cuda_gpu_kern_sum)
  --OPTION=VALUE   any other option of `lanescope attach`
"""


def parse(line: str) -> "tuple[dict[str, Any], str]":
    """The options as keyword arguments, and the statement after them."""
    options: "dict[str, Any]" = {}
    while found := _OPTION.match(line):
        name = _SHORT.get(found[1], found[1].lstrip("-").replace("-", "_"))
        if found[1] not in _SHORT and not found[1].startswith("--"):
            raise UsageError(f"There is no option {found[1]}.\n{USAGE}")
        line = line[found.end():]
        needs_value = name not in _FLAGS and not (found[1].startswith("--") and not line.startswith("="))
        if not needs_value:
            options[name] = True
            continue
        value = _VALUE.match(line)
        if not value:
            raise UsageError(f"{found[1]} needs a value.\n{USAGE}")
        options[name] = value[1].strip("\"'")
        line = line[value.end():]
    return options, line.strip()


@contextlib.contextmanager
def _in_one_line() -> Iterator[None]:
    """Has the notebook show what is wrong with the options without the lines of this package, which found it."""
    try:
        yield
    except (ProgramError, RecordingError) as error:
        raise UsageError(str(error).replace("with force=True.", "with -f.")) from None


def _text(value: Any) -> str:
    if isinstance(value, float):
        value = round(value, 1)
    return f"{value:,}" if isinstance(value, (int, float)) else html.escape(str(value))


def _time(nanoseconds: int) -> str:
    for unit, size in (("s", 1_000_000_000), ("ms", 1_000_000), ("µs", 1_000)):
        if nanoseconds >= size:
            return f"{nanoseconds / size:.3g} {unit}"
    return f"{nanoseconds} ns"


def _counted(number: int, things: str) -> str:
    return f"{number:,} {things[:-1] if number == 1 else things}"


def _lack(facts: "dict[str, Any]") -> str:
    """A text about what is missing, to follow the one about what there is."""
    contents = facts["contents"] if facts["contents"].startswith("incomplete") else ""
    return "".join(f"; {each}" for each in (contents, facts["condition"]) if each)


class Summary:
    """The display of a recording in a cell: its timeline, first findings and a table."""

    def __init__(self, path: "os.PathLike[str] | str", report: str = "cuda_gpu_kern_sum") -> None:
        self._name = os.fspath(path)
        path = program.operand(path)
        try:
            self._picture = program.run_text(["report", "--timeline", "-o", "-", path])
        except ProgramError:
            self._picture = ""  # there is nothing to draw
        facts = program.run_json(["info", "--json", path])
        counts = [_counted(facts["counts"][kind], kind.replace("_", " ")) for kind in _COUNTS if facts["counts"][kind]]
        self._facts = ", ".join([_time(facts["span"]["duration_ns"]), *counts]) + _lack(facts)
        self._findings = program.run_json(["analyze", "-f", "json", path])
        self._table = program.run_json(["stats", "-q", "-f", "json", "-r", report, path])
        self._report = report

    def _repr_html_(self) -> str:
        parts = [f"<div><b>{html.escape(os.path.basename(self._name))}</b>: {html.escape(self._facts)}", self._picture]
        for finding in self._findings[:_FINDINGS]:
            parts.append(f"<p><b>{_time(finding['Cost (ns)'])}:</b> {html.escape(finding['Finding'])} <i>{html.escape(finding['Advice'])}</i></p>")
        if not self._findings:
            parts.append("<p>Nothing was found that costs much of the time.</p>")
        if self._table:
            parts.append("<table><tr>" + "".join(f"<th>{html.escape(title)}</th>" for title in self._table[0]) + "</tr>")
            parts += ["<tr>" + "".join(f"<td>{_text(value)}</td>" for value in row.values()) + "</tr>" for row in self._table[:_ROWS]]
            parts.append("</table>")
        return "\n".join(part for part in parts if part) + "</div>"

    def __repr__(self) -> str:
        found = [f"{_time(finding['Cost (ns)'])}: {finding['Finding']}" for finding in self._findings[:_FINDINGS]]
        return "\n".join([f"{self._name}: {self._facts}", *(found or ["Nothing was found that costs much of the time."])])


def _identity(path: str) -> "Optional[tuple[int, ...]]":
    """Changes when the file is replaced or written to; None if there is no such file."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


@dataclass(frozen=True)
class _Kept:
    """A file that a cell wrote with -o."""

    path: str
    identity: "Optional[tuple[int, ...]]"
    cell: Optional[str]  # the cell's id, which Jupyter and others send; None if it is not known
    run: int             # the number of the cell's run, in brackets beside it


@magics_class
class LanescopeMagics(Magics):  # type: ignore[misc]
    """Magics that record cells."""

    _folder: "Optional[tempfile.TemporaryDirectory[str]]" = None
    _kept: "dict[str, _Kept]" = {}  # by absolute path of what -o names

    @line_cell_magic  # type: ignore
    def lanescope(self, line: str, cell: Optional[str] = None) -> None:
        assert self.shell is not None
        options, statement = parse(line)
        if cell is not None and statement:
            raise UsageError(f"Options come behind %%lanescope, and what is to run below, not \"{statement}\".\n{USAGE}")
        if cell is None and not statement:
            raise UsageError(USAGE)
        variable, report = options.pop("variable", None), options.pop("report", "cuda_gpu_kern_sum")
        if variable is not None and not (isinstance(variable, str) and variable.isidentifier()):
            raise UsageError(f"-v needs the name of a variable.\n{USAGE}")
        if not isinstance(report, str):
            raise UsageError(f"-r needs the name of a report.\n{USAGE}")
        with _in_one_line():
            program.check_report(report)  # checked before the cell runs, which may take long
        if not isinstance(options.get("output", ""), str):
            raise UsageError(f"-o needs the name of a file.\n{USAGE}")
        if "output" not in options:
            if self._folder is None:
                LanescopeMagics._folder = tempfile.TemporaryDirectory(prefix="lanescope-")
            options["output"] = os.path.join(self._folder.name, "cell%n.trace")  # type: ignore[union-attr]
        elif self._may_replace(options["output"]):
            options.setdefault("force", True)
        kept = os.path.abspath(options["output"])
        self._refuse_await(cell if cell is not None else statement)
        with contextlib.ExitStack() as until_recorded:
            with _in_one_line():
                recording = until_recorded.enter_context(Recording(**options))
            result = self.shell.run_cell(cell if cell is not None else statement)  # shows the errors of the cell
        if recording.paths:
            self._kept[kept] = _Kept(recording.path, _identity(recording.path), *self._this_run())
            if variable:
                self.shell.user_ns[variable] = recording.open()
            display(Summary(recording, report))
        else:
            print("Nothing was recorded, so there is nothing to show.", file=sys.stderr)
        problem = result.error_before_exec or result.error_in_exec
        if problem is not None:  # so that running all cells stops here
            problem._render_traceback_ = lambda: []  # it has been shown already
            raise problem

    def _refuse_await(self, code: str) -> None:
        """Fails if the code has an `await` outside of functions and the loop that would run it runs us. Jupyter has such a loop, IPython in a terminal has none."""
        assert self.shell is not None
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return
        if self.shell.should_run_async(code, transformed_cell=self.shell.transform_cell(code)):
            raise UsageError("A cell that has await outside of functions can't be run by %%lanescope: put what is to be recorded under "
                             "\"with lanescope.record('run.trace'):\" in the cell.")

    def _this_run(self) -> "tuple[Optional[str], int]":
        """The id of the cell that runs, and the number of this run."""
        assert self.shell is not None
        message: "dict[str, Any]" = getattr(self.shell, "get_parent", dict)() or {}
        return message.get("metadata", {}).get("cellId"), self.shell.execution_count

    def _may_replace(self, output: str) -> bool:
        """Whether an earlier run of this cell wrote the file, and nobody has changed it since. A loop within one run needs a name for each of its files."""
        kept = self._kept.get(os.path.abspath(output))
        if kept is None or "%" in output or kept.identity is None or kept.identity != _identity(kept.path):
            return False
        cell, run = self._this_run()
        return cell == kept.cell and run != kept.run
