"""Questions over many traces: all ranks of a job, or the runs of many nights.

    from lanescope.fleet import Fleet
    answer = Fleet("traces/").ask("cuda_gpu_kern_sum")
    print(answer.tables[0].to_pandas())

docs/fleets.md is the guide.
"""

from __future__ import annotations

import os
from typing import Any, Iterable

from .._frames import TraceError
from .catalogue import recipes
from .engine import Engine, Outcome
from .inputs import PathLike, find_traces
from .recipe import Recipe, recipe
from .result import Answer, HeatMap, ResultTable


class Fleet:
    """Traces that are questioned together."""

    def __init__(self, paths: "PathLike | Iterable[PathLike]", engine: "Engine | None" = None) -> None:
        self.paths = find_traces([paths] if isinstance(paths, (str, os.PathLike)) else paths)
        if not self.paths:
            raise TraceError("There are no .trace files to ask.")
        self.engine = engine or Engine()
        self.outcome = Outcome()  # of the last question: its files say what could not be read

    def ask(self, question: "str | Recipe", **arguments: Any) -> Answer:
        """The answer of a recipe. `arguments` are the recipe's arguments by name."""
        if isinstance(question, str):
            known = recipes()
            if question not in known:
                raise TraceError(f"There is no recipe {question!r}; there are {', '.join(known)}.")
            question = known[question].with_defaults(**arguments)
        self.outcome = self.engine.run(question, question.files_to_read(self.paths))
        return question.present(self.outcome)


__all__ = ["Answer", "Engine", "Fleet", "HeatMap", "Outcome", "Recipe", "ResultTable", "find_traces", "recipe", "recipes"]
