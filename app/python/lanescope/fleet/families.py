"""Names of ranges that differ only in counters."""

from __future__ import annotations

import re

_NUMBER = re.compile("[0-9]+")
_COUNTING = ("step", "iter", "iteration", "batch", "epoch", "frame")
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")


def name_family(name: str) -> str:
    """The name with `*` for each number that is a counter, as `lanescope` decides it: no letter stands next to the number, except words such as step before
    it."""

    def shown(number: "re.Match[str]") -> str:
        before, behind = name[: number.start()], name[number.end() : number.end() + 1]
        is_part_of_word = before[-1:] in _LETTERS and not before.lower().endswith(_COUNTING)
        return number[0] if behind in _LETTERS or is_part_of_word else "*"

    return _NUMBER.sub(shown, name)
