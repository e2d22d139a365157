"""The command line program `lanescope`, which is run for reports, findings and comparisons.

It is looked up in the variable LANESCOPE, then beside this package, then in PATH.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
import warnings
from pathlib import Path
from typing import Any

from ._errors import ProgramError as ProgramError
from ._errors import RecordingWarning

_WRONG_USAGE = 2


def find() -> str:
    """The path of `lanescope`."""
    if named := os.environ.get("LANESCOPE"):
        return named
    beside = Path(__file__).parent / "_native" / "bin" / "lanescope"
    if beside.exists():
        return str(beside)
    if found := shutil.which("lanescope"):
        return found
    raise ProgramError("The program lanescope was not found: put it on the PATH, or its path into the variable LANESCOPE.")


def operand(path: "os.PathLike[str] | str") -> str:
    """The path as an argument that is not taken for an option."""
    name = os.fspath(path)
    return "./" + name if name.startswith("-") else name


def run_text(arguments: "list[str]") -> str:
    """The output of `lanescope ARGUMENTS`."""
    return _run(arguments)[0]


def _run(arguments: "list[str]") -> "tuple[str, str]":
    """Its standard output, and what it writes to standard error."""
    program = find()
    try:
        done = subprocess.run([program, *arguments], capture_output=True, check=False)
    except OSError as error:
        raise ProgramError(f"{program} can't be run: {error.strerror}.") from error
    if done.returncode != 0:
        raise ProgramError(done.stderr.decode("utf-8", errors="replace").strip() or f"{program} ended with {done.returncode}.", done.returncode)
    return done.stdout.decode("utf-8", errors="replace"), done.stderr.decode("utf-8", errors="replace")


def run_json(arguments: "list[str]") -> Any:
    """Its output as JSON. What it writes to standard error, for example that the recording was cut off, becomes a RecordingWarning."""
    text, said = _run(arguments)
    for line in said.splitlines():
        if line and not line.startswith("SKIPPED: "):
            warnings.warn(line, RecordingWarning, stacklevel=3)
    return json.loads(text) if text.strip() else []


def check_report(name: str) -> None:
    """Fails if `lanescope stats` has no such report, or if more than one is named."""
    if "," in name:
        raise ProgramError(f"One report is shown, not \"{name}\".")
    try:
        _run(["stats", "-q", "-r", name, os.devnull])
    except ProgramError as error:
        if error.code == _WRONG_USAGE:  # otherwise only the file can't be read
            raise


def rule_tables(path: "os.PathLike[str] | str", rules: "list[str]", *options: str) -> "dict[str, list[dict[str, Any]]]":
    """The tables of rules of `lanescope analyze` by name, for example gpu_bubbles_causes, and the rules' findings.

    A rule may have arguments: "gpu_gaps:gap=1".
    """
    with tempfile.TemporaryDirectory() as folder:
        run_text(["analyze", "-q", "-f", "json", "-r", ",".join(rules), *options, "-o", f"{folder}/table", operand(path)])
        # Files are named as tables are; some names are followed by the rule's arguments.
        return {
            re.sub(r"_[a-z]+=.*", "", file.name[len("table_") : -len(".json")]): json.loads(file.read_text(encoding="utf-8", errors="replace") or "[]")
            for file in Path(folder).iterdir()
        }
