"""Questions over many traces: all ranks of a job, or the runs of many nights.

    from lanescope.fleet import Fleet
    answer = Fleet("traces/").ask("cuda_gpu_kern_sum")
    print(answer.tables[0].to_pandas())

docs/fleets.md is the guide.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Iterable, Union

from .._frames import TraceError
from .engine import Engine, Outcome
from .recipe import Recipe, recipe, recipes
from .result import Answer, HeatMap, ResultTable

PathLike = Union[str, "os.PathLike[str]"]


def find_traces(inputs: "Iterable[PathLike]") -> "list[str]":
    """Files as they are named, and every .trace file below folders; each once, by name. Of DIR:N the first N. Raises TraceError where an input is not there."""
    found: "set[str]" = set()
    for each in inputs:
        path = Path(each)
        folder, _, number = os.fspath(each).rpartition(":")
        if number.isdecimal() and not path.exists() and Path(folder).is_dir():
            found.update(sorted(str(file) for file in Path(folder).rglob("*.trace") if file.is_file())[: int(number)])
            continue
        if path.is_dir():
            found.update(str(file) for file in path.rglob("*.trace") if file.is_file())
            found.update(_unsearchable(path))
        elif path.exists():
            found.add(str(path))
        else:
            raise TraceError(f"{path} is not there.")
    return sorted(found)


def _unsearchable(folder: Path) -> "list[str]":
    """Folders below one that can't be searched: each becomes a row of `files` with its reason."""
    failed: "list[OSError]" = []
    for _ in os.walk(folder, onerror=failed.append):
        pass
    return [os.fspath(error.filename) for error in failed]


class Fleet:
    """Traces that are asked together."""

    def __init__(self, paths: "PathLike | Iterable[PathLike]", engine: "Engine | None" = None) -> None:
        self.paths = find_traces([paths] if isinstance(paths, (str, os.PathLike)) else paths)
        if not self.paths:
            raise TraceError("There are no .trace files to ask.")
        self.engine = engine or Engine()
        self.outcome = Outcome()  # of the last question: its files say what could not be read

    def ask(self, question: "str | Recipe", **arguments: Any) -> Answer:
        """The answer of a recipe, with its arguments by name."""
        if isinstance(question, str):
            known = recipes()
            if question not in known:
                raise TraceError(f"There is no recipe {question!r}; there are {', '.join(known)}.")
            question = known[question].with_defaults(**arguments)
        self.outcome = self.engine.run(question, sorted({*self.paths, *find_traces(question.further_inputs())}))
        return question.present(self.outcome)


__all__ = ["Answer", "Engine", "Fleet", "HeatMap", "Outcome", "Recipe", "ResultTable", "find_traces", "recipe", "recipes"]
