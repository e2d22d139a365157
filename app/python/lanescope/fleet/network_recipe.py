"""The traffic over links: of collectives, by communicator and rank, and of links whose counters were sampled."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..trace import Trace
from .collective_recipes import CollectiveRecipe, _about, _about_transfers
from .collectives import bus_factor, collectives_of
from .engine import Outcome
from .recipe import recipe
from .result import Answer, ResultTable

_UNIT = "B/s"  # of counters of links: PCIe, NVLink, network devices


@recipe
class Network(CollectiveRecipe):
    name, help = "network", "What each rank sends in collectives, within hosts and between them, and how busy links were whose counters were sampled"

    def map(self, trace: Trace, path: str) -> Any:
        return [[0, part.to_json()] for part in collectives_of(trace, path)] + [[1, *row] for row in links_of(trace, path)]

    def merge(self, one: Any, other: Any) -> Any:
        return sorted(one + other, key=lambda row: (row[0], (row[1][0][0], row[1][0][1], row[1][2]) if row[0] == 0 else (row[1], row[3], row[4])))

    def parts(self, outcome: Outcome) -> "list[Any]":
        from .collectives import RankCollectives

        return [RankCollectives.from_json(row[1]) for row in outcome.partial or [] if row[0] == 0]

    def present(self, outcome: Outcome) -> Answer:
        groups, alignment = self.aligned(outcome)
        rows: "list[list[Any]]" = []
        for group in groups:
            hosts = {part.clock[3] or part.member.host for part in group.ranks}
            where = "within a host" if len(hosts) == 1 else f"between {len(hosts)} hosts"
            operations, sizes = group.ranks[0].operations[: group.count], group.ranks[0].sizes[: group.count]
            sent = sum(size * bus_factor(operation, group.world()) for operation, size in zip(operations, sizes))
            duration = group.ended - group.began
            transfer = int(np.where((group.began >= 0).all(axis=0), duration.min(axis=0), 0).sum())
            for i, part in enumerate(group.ranks):
                rows.append([group.communicator, group.label(i), part.member.host, where, group.count, float(sent), transfer, sent / transfer if transfer else None,
                             int(np.where(group.began[i] >= 0, duration[i], 0).sum()) - transfer])  # fmt: skip
        columns = ["Communicator", "Rank", "Host", "Goes", "Collectives", "Bytes over its links", "Transfer", "Bus bandwidth", "Wait"]
        units = {"Bytes over its links": "B", "Transfer": "ns", "Wait": "ns", "Bus bandwidth": "GB/s"}
        links = sorted((row[1:9] for row in outcome.partial or [] if row[0] == 1), key=lambda row: (-row[5], row[:4]))
        link_units = {"Mean": _UNIT, "Highest": _UNIT, "Bytes": "B", "Sampled": "ns"}
        answer = Answer(self.name, _about(self.parts(outcome), groups, alignment) + _about_transfers(groups) if groups else [], [ResultTable("traffic", columns, rows, units)])
        answer.tables.append(ResultTable("links", ["File", "Host", "GPU", "Link", "Mean", "Bytes", "Highest", "Sampled"], links, link_units))
        between = [row for row in rows if row[3] != "within a host"]
        if rows:
            answer.sentences.append(f"Collectives move {sum(row[5] for row in rows) / 1e9:.2f} GB over links, {sum(row[5] for row in between) / 1e9:.2f} GB of it in communicators of several hosts.")
        if links:
            answer.sentences.append(f"Most goes over {links[0][3]} of {links[0][1]}: {links[0][5] / 1e9:.2f} GB, {links[0][4] / 1e9:.2f} GB/s on average.")
        if not rows and not links:
            answer.sentences.append("Nothing of links was recorded: neither collectives (-t cuda,nvtx) nor counters (--gpu-metrics-devices).")
        return answer


def links_of(trace: Trace, path: str) -> "list[list[Any]]":
    """For each counter of a link: mean, bytes, maximum, the time that was sampled, and the start and end of that time in UTC."""
    table = trace.counters[["start", "duration", "gpu_uuid", "name", "unit", "value"]].to_numpy()
    host = trace.session["host_name"]
    rates = table["unit"] == _UNIT
    result: "list[list[Any]]" = []
    for gpu, name in sorted(set(zip(table["gpu_uuid"][rates].tolist(), table["name"][rates].tolist()))):
        own = rates & (table["gpu_uuid"] == gpu) & (table["name"] == name)
        time, values = table["duration"][own], table["value"][own]
        moved, sampled = float((values * time).sum()) / 1e9, int(time.sum())
        first, last = (trace.utc_epoch + int(time) for time in (table["start"][own].min(), (table["start"] + table["duration"])[own].max()))
        result.append([path, host, gpu, name, moved * 1e9 / sampled if sampled else 0.0, moved, float(values.max()), sampled, first, last])
    return result


def seen_once(links: "list[list[Any]]") -> "list[list[Any]]":
    """The rows of links_of() to sum up. If several recordings sampled a GPU at the same time, only the one that sampled it longest."""
    kept: "dict[tuple[str, str, str], list[list[Any]]]" = {}
    for row in sorted(links, key=lambda row: (-row[7], row[0])):
        others = kept.setdefault((row[1], row[2] or row[0], row[3]), [])  # a GPU without UUID is identified only by its file
        if all(row[9] <= other[8] or other[9] <= row[8] for other in others):
            others.append(row)
    return [row for rows in kept.values() for row in rows]
