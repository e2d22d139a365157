"""The changes between two answers of one recipe of sums: by name, and by rank and name."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

from .._frames import TraceError
from .result import Answer, ResultTable

_COMPARED = ("all_stats", "rank_stats")
_KEYS = ("Rank", "Name")
_MEASURES = ("Count", "Total", "Mean", "Min", "Median", "Max")


def difference(before: Path, after: Path, tolerance: float, drop: bool) -> Answer:
    """For each measure: before, after, and the difference, also in percent. Raises TraceError if a folder has no such answer."""
    answer = Answer("diff")
    verdicts: "dict[str, int]" = {}
    for name in _COMPARED:
        old, new = (_rows(folder, name) for folder in (before, after))
        rows = []
        for key in sorted(old.keys() | new.keys(), key=lambda key: [(part == "", len(part), part) if i + 1 < len(key) else (False, 0, part) for i, part in enumerate(key)]):
            one, other = old.get(key), new.get(key)
            verdict = _verdict(one, other, tolerance)
            if name == _COMPARED[0]:
                verdicts[verdict] = verdicts.get(verdict, 0) + 1
            if drop and verdict in ("same", "only before", "only after"):
                continue
            cells: "list[Any]" = []
            for measure in _MEASURES:
                a, b = (row[measure] if row else None for row in (one, other))
                change = None if a is None or b is None else b - a
                cells += [a, b, change, None if change is None or not a else 100.0 * change / a]
            rows.append([*key, verdict, *cells])
        keys = _KEYS if name == "rank_stats" else _KEYS[1:]
        titles = [f"{measure}{form}" for measure in _MEASURES for form in (" before", " after", " difference", " (%)")]
        rows.sort(key=lambda row: -abs(row[len(keys) + 1 + titles.index("Total difference")] or 0))
        answer.tables.append(ResultTable(name, [*keys, "Verdict", *titles], rows))
        if name == _COMPARED[0] and not old.keys() & new.keys():
            answer.sentences.append("The two have no name in common: are they answers of one recipe?")
    answer.sentences.append(", ".join(f"{count} {verdict}" for verdict, count in sorted(verdicts.items())) + "." if verdicts else "Neither has a row.")
    return answer


def _verdict(one: "dict[str, float] | None", other: "dict[str, float] | None", tolerance: float) -> str:
    """Compares by the mean: less time is better."""
    if one is None or other is None:
        return "only after" if one is None else "only before"
    change = other["Mean"] - one["Mean"]
    if abs(change) * 100 <= tolerance * abs(one["Mean"]):
        return "same"
    return "worse" if change > 0 else "better"


def _rows(folder: Path, name: str) -> "dict[tuple[str, ...], dict[str, float]]":
    """Rows by rank and name. Rows that share both, such as those of processes without a rank, are summed."""
    try:
        if (file := folder / f"{name}.csv").exists():
            with file.open(encoding="utf-8", newline="") as text:
                records: "list[dict[str, Any]]" = list(csv.DictReader(text))
        else:
            records = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
        rows: "dict[tuple[str, ...], dict[str, float]]" = {}
        for record in records:
            rank = record.get("Rank")
            key = (*(["" if rank is None else str(rank)] if name == "rank_stats" else []), str(record["Name"]))
            row = {measure: float(record[measure]) for measure in _MEASURES}
            rows[key] = _joined(rows[key], row) if key in rows else row
        return rows
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, csv.Error) as error:
        raise TraceError(f"{folder} has no {name}.csv or {name}.json that a recipe of sums wrote: run `lanescope fleet cuda_gpu_kern_sum --input … -o {folder}`.") from error


def _joined(one: "dict[str, float]", other: "dict[str, float]") -> "dict[str, float]":
    count, total = one["Count"] + other["Count"], one["Total"] + other["Total"]
    return {"Count": count, "Total": total, "Mean": total / max(1.0, count), "Min": min(one["Min"], other["Min"]), "Max": max(one["Max"], other["Max"]),
            "Median": (one["Median"] * one["Count"] + other["Median"] * other["Count"]) / max(1.0, count)}  # fmt: skip
