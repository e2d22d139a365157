"""Common parts of all recipes: their names and arguments, the rank of a process, and the registration of recipes."""

from __future__ import annotations

import argparse
import json
import math
from dataclasses import dataclass
from typing import Any, Callable, ClassVar, Optional

import numpy as np

from ..trace import Trace
from .engine import Outcome
from .filters import add_filter_arguments, part_of
from .result import Answer

_BY_NAME: "dict[str, type[Recipe]]" = {}


class Recipe:
    """A question with its answer. A subclass has a name, a sentence, and map, merge and present; @recipe registers it."""

    name: ClassVar[str]
    help: ClassVar[str]
    is_of_parts: ClassVar[bool] = False  # whether it can look at a part of each recording, such as a time or an NVTX range

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.arguments = {name: getattr(arguments, name) for name in self.argument_names()}

    @classmethod
    def add_arguments(cls, parser: argparse.ArgumentParser) -> None:
        """Adds the recipe's own options."""

    @classmethod
    def add_all_arguments(cls, parser: argparse.ArgumentParser) -> None:
        cls.add_arguments(parser)
        if cls.is_of_parts:
            add_filter_arguments(parser)

    @classmethod
    def argument_names(cls) -> "list[str]":
        return list(cls._defaults())

    @classmethod
    def _defaults(cls) -> "dict[str, Any]":
        parser = argparse.ArgumentParser(add_help=False)
        cls.add_all_arguments(parser)
        return {action.dest: action.default for action in parser._actions}

    @classmethod
    def with_defaults(cls, **arguments: Any) -> "Recipe":
        values = cls._defaults()
        for name in arguments:
            if name not in values:
                raise TypeError(f"Recipe {cls.name} has no argument {name!r}.")
        return cls(argparse.Namespace(**(values | arguments)))

    def files_to_read(self, given: "list[str]") -> "list[str]":
        """The files to read, by name: those that the fleet is given, and others that the question is about."""
        return sorted(set(given))

    def key(self) -> str:
        return f"{self.name} {json.dumps(self.arguments, sort_keys=True)}"

    def part(self, trace: Trace) -> Trace:
        """The part of a recording that map() is given. For a saved part of a recording, rows before the part are left out."""
        return part_of(trace.in_part(), self.arguments) if self.is_of_parts else trace.in_part()

    def map(self, trace: Trace, path: str) -> Any:
        raise NotImplementedError

    def merge(self, one: Any, other: Any) -> Any:
        """Results of files are kept separate unless a recipe overrides this: lists, sorted by their first members."""
        return sorted(one + other, key=lambda row: row[0])

    def to_json(self, partial: Any) -> Any:
        return partial

    def from_json(self, data: Any) -> Any:
        return data

    def present(self, outcome: Outcome) -> Answer:
        raise NotImplementedError


def recipe(chosen: "type[Recipe]") -> "type[Recipe]":
    """Registers a recipe under its name."""
    _BY_NAME[chosen.name] = chosen
    return chosen


def known_recipes() -> "dict[str, type[Recipe]]":
    """The registered recipes by name."""
    return dict(sorted(_BY_NAME.items()))


@dataclass(frozen=True, order=True)
class Member:
    """A process of a fleet: its file and instance, and its place in the job if the file says it."""

    path: str
    instance: int
    pid: int
    host: str
    rank: Optional[int] = None
    world: Optional[int] = None

    def label(self) -> str:
        return f"rank {self.rank}" if self.rank is not None else f"{self.path}, process {self.pid}"

    def to_json(self) -> "list[Any]":
        return [self.path, self.instance, self.pid, self.host, self.rank, self.world]


_COMMUNICATOR_MADE = "ncclCommInit"


def members(trace: Trace, path: str) -> "dict[int, Member]":
    """The processes of a file by instance number. The rank is the one in the largest NCCL communicator that the process joined, otherwise the launcher's."""
    host = trace.session["host_name"]
    ranks: "dict[int, tuple[int, int]]" = {}
    if trace.whole.has_text(_COMMUNICATOR_MADE):  # otherwise no range needs to be read
        ranges, texts = trace.whole.nvtx_ranges[["process", "name", "payload_json"]].coded()
        made = begins(ranges["name"], texts["name"], _COMMUNICATOR_MADE)
        for instance, payload in zip(ranges["process"][made].tolist(), ranges["payload_json"][made].tolist()):
            if texts["payload_json"][payload]:
                said = json_object(texts["payload_json"][payload])
                rank, world = said.get("Rank"), said.get("No. of ranks")
                if isinstance(rank, int) and isinstance(world, int) and 0 <= rank < world < 1 << 63 and world > ranks.get(instance, (0, 0))[0]:
                    ranks[instance] = (world, rank)
    result = {}
    for instance, process in trace.processes.items():
        world, rank = ranks.get(instance, (process.place.world_size, process.place.rank))
        result[instance] = Member(path, instance, process.pid, host, rank, world)
    return result


def begins(numbers: Any, texts: "list[str]", prefix: "str | tuple[str, ...]") -> Any:
    """Which rows of a column of numbers stand for texts that start with `prefix`."""
    return np.array([text.startswith(prefix) for text in texts], dtype=bool)[numbers] if texts else np.zeros(len(numbers), dtype=bool)


def number_within(least: float, most: float, kind: "type[int] | type[float]" = int) -> "Callable[[str], Any]":
    """A parser for the value of an option. A wrong value ends the program with a sentence."""

    def parse(text: str) -> "int | float":
        try:
            value = kind(text)
        except ValueError:
            value = kind(least - 1) if kind is int else math.nan
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(f"{text!r} is no {'whole ' if kind is int else ''}number from {least:g} to {most:g}")
        return value

    return parse


def whole_number(value: Any) -> int:
    """The value of a payload; 0 if it is not an integer of 64 bits."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 63 else 0


def json_object(text: str) -> "dict[str, Any]":
    """A structured payload; empty if the text is not a JSON object."""
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return said if isinstance(said, dict) else {}


