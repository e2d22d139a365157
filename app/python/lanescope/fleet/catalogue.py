"""All recipes that can be asked: those of this package, and those of other installed packages."""

from __future__ import annotations

import sys
from importlib.metadata import entry_points
from typing import Any

from . import (  # noqa: F401  (each import registers a recipe)
    check_recipe,
    collective_recipes,
    file_recipe,
    history_recipes,
    kernel_recipes,
    metric_recipes,
    network_recipe,
    range_recipes,
    rule_recipes,
    sum_recipes,
    time_recipes,
    what_if_recipe,
)
from .recipe import Recipe, known_recipes, recipe

_ASKED: "set[str]" = set()  # entry points that were loaded, so that each is loaded once


def recipes() -> "dict[str, type[Recipe]]":
    """All recipes by name: those of this package, and those of other packages under the entry point lanescope.recipes."""
    found: Any = entry_points()
    others = found.select(group="lanescope.recipes") if hasattr(found, "select") else found.get("lanescope.recipes", [])
    for other in others:
        if other.value in _ASKED:
            continue
        _ASKED.add(other.value)
        reason = _take(other)
        if reason:
            said = f"lanescope fleet: The recipe {other.value} of an installed package is left out: {reason}"
            print("".join(c if c.isprintable() else "?" for c in said), file=sys.stderr)
    return known_recipes()


def _take(other: Any) -> str:
    """Registers the recipe of an entry point; otherwise returns why not."""
    try:
        chosen = other.load()
    except Exception as error:  # an error in another package must not hide the other recipes
        return f"{type(error).__name__}: {error}"
    if not (isinstance(chosen, type) and issubclass(chosen, Recipe) and hasattr(chosen, "name") and hasattr(chosen, "help")):
        return "it is no class of lanescope.fleet.Recipe with a name and a help."
    if known_recipes().get(chosen.name, chosen) is not chosen:
        return f"there is a recipe {chosen.name} already."
    recipe(chosen)
    return ""
