"""What would be saved if one rank, link or operation behaved like the others."""

from __future__ import annotations

from typing import Any

import numpy as np

from .collective_recipes import CollectiveRecipe, _about, _about_clocks, _about_transfers
from .collectives import Matched
from .engine import Outcome
from .recipe import recipe
from .result import Answer, ResultTable


class Replay:
    """The collectives of all communicators in one order, with each rank's own time before each of them, and the duration of the transfer. Times in ns.

    A rank comes to a collective after its own time since it left the previous one, in whichever communicator. A collective ends on all ranks when the last
    rank has come and the transfer is done. The waits of ranks follow from that.
    """

    def __init__(self, groups: "list[Matched]") -> None:
        self.groups = groups
        self.came = [group.came() for group in groups]
        self.left = [group.left() for group in groups]
        self.order = sorted(((int(came[:, k].max()), g, k) for g, came in enumerate(self.came) for k in range(came.shape[1])))
        self.ranks = [[(part.member.path, part.member.instance) for part in group.ranks] for group in groups]
        self.own = [np.zeros(came.shape) for came in self.came]
        self.transfer = [np.maximum(left - came, 0).min(axis=0).astype(float) for came, left in zip(self.came, self.left)]
        last: "dict[Any, int]" = {}
        for _, g, k in self.order:
            for i, rank in enumerate(self.ranks[g]):
                self.own[g][i, k] = self.came[g][i, k] - last.get(rank, self.came[g][i, k])  # nothing is known about the time before the first collective
                last[rank] = int(self.left[g][i, k])

    def measured(self) -> float:
        return float(max(left.max() for left in self.left) - min(came[:, 0].max() for came in self.came if came.shape[1]))

    def loop(self, own: "list[Any]", transfer: "list[Any]") -> float:
        """The time from the earliest possible start of the first collective to the last one's end. O(ranks · collectives)."""
        clock: "dict[Any, float]" = {}
        for _, g, k in self.order:
            end = max(clock.get(rank, 0.0) + own[g][i, k] for i, rank in enumerate(self.ranks[g])) + transfer[g][k]
            clock.update((rank, end) for rank in self.ranks[g])
        return max(clock.values())


@recipe
class WhatIf(CollectiveRecipe):
    name, help = "what_if", "What the loop would take if a rank, a link or an operation were as the median of its like"

    def present(self, outcome: Outcome) -> Answer:
        groups, alignment = self.aligned(outcome)
        groups = [group for group in groups if group.count > 1 and (group.came() >= 0).all()]
        answer = Answer(self.name, [_about_clocks(alignment)])
        columns = ["What", "As the median of", "Loop now", "Loop then", "Saved", "Saved (%)"]
        if not groups:
            answer.tables.append(ResultTable("savings", columns, []))
            answer.sentences.append("There are no collectives that two ranks came to: nothing can be replayed.")
            return answer
        answer.sentences = _about(self.parts(outcome), groups, alignment) + _about_transfers(groups)
        replay = Replay(groups)
        now = replay.loop(replay.own, replay.transfer)
        rows: "list[list[Any]]" = []

        def add(what: str, like: str, own: "list[Any]", transfer: "list[Any]") -> None:
            then = replay.loop(own, transfer)
            rows.append([what, like, now, then, now - then, 100 * (now - then) / now if now else 0.0])

        labels = {rank: group.label(i) for g, group in enumerate(groups) for i, rank in enumerate(replay.ranks[g])}
        for rank, label in labels.items():
            add(label, "the other ranks, between collectives", [_with_rank(own, ranks, rank) for own, ranks in zip(replay.own, replay.ranks)], replay.transfer)
        for g, group in enumerate(groups):
            like = _transfers(replay, [h for h, other in enumerate(groups) if h != g and len(other.ranks) == len(group.ranks)])
            add(f"communicator {group.communicator}", "communicators of as many ranks", replay.own, [_lowered(group, each, like) if h == g else each for h, each in enumerate(replay.transfer)])
        for operation in sorted({key for group in groups for key in _keys(group)}):
            like = {key: time for key, time in _transfers(replay, list(range(len(groups)))).items() if key == operation}
            add(f"{operation[0]} of {operation[1]} bytes", "its own transfers", replay.own, [_lowered(group, each, like) for group, each in zip(groups, replay.transfer)])
        rows.sort(key=lambda row: (-row[4], row[0]))
        answer.tables.append(ResultTable("savings", columns, rows, {"Loop now": "ns", "Loop then": "ns", "Saved": "ns", "Saved (%)": "%"}))
        best = rows[0]
        answer.sentences.append(f"The replay takes {100 * now / max(1.0, replay.measured()):.1f} % of the time that was measured from the first common collective to the last one's end.")
        answer.sentences.append(f"With {best[0]} as the median of {best[1]}, {best[4] / 1e6:.1f} ms of {now / 1e6:.1f} ms would be saved ({best[5]:.1f} %).")
        return answer


def _keys(group: Matched) -> "list[tuple[str, int]]":
    return [(group.ranks[0].operations[k], group.ranks[0].sizes[k]) for k in range(group.count)]


def _with_rank(own: Any, ranks: "list[Any]", rank: Any) -> Any:
    if rank not in ranks:
        return own
    changed, i = own.copy(), ranks.index(rank)
    changed[i] = np.minimum(own[i], np.median(np.delete(own, i, axis=0), axis=0))
    return changed


def _transfers(replay: Replay, chosen: "list[int]") -> "dict[tuple[str, int], float]":
    """The median transfer of each operation and size in these communicators."""
    found: "dict[tuple[str, int], list[float]]" = {}
    for g in chosen:
        for key, time in zip(_keys(replay.groups[g]), replay.transfer[g].tolist()):
            found.setdefault(key, []).append(time)
    return {key: float(np.median(times)) for key, times in found.items()}


def _lowered(group: Matched, transfer: Any, like: "dict[tuple[str, int], float]") -> Any:
    return np.array([min(time, like.get(key, time)) for key, time in zip(_keys(group), transfer.tolist())])
