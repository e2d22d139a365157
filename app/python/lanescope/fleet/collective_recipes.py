"""Recipes over ranks that work together: which rank is late and why, which link is slow, where ranks diverge, how clocks differ."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..trace import Trace
from .clocks import Alignment, align
from .collectives import Matched, RankCollectives, bus_factor, collectives_of, matched
from .engine import Outcome
from .intervals import covered, union
from .recipe import Recipe, begins, number_within, recipe
from .result import Answer, HeatMap, ResultTable, Source

_CAUSES = 8           # of each kind that a rank's partial result keeps
_LATE_SHARE = 0.02    # share of the loop above which a rank is called late
_SLOW_LINK = 1.3      # times the median transfer of comparable communicators


class CollectiveRecipe(Recipe):
    """A recipe that reads the collectives of every process."""

    def map(self, trace: Trace, path: str) -> Any:
        return [part.to_json() for part in collectives_of(trace, path)]

    def merge(self, one: Any, other: Any) -> Any:
        return sorted(one + other, key=lambda row: (row[0][0], row[0][1], row[2]))

    def parts(self, outcome: Outcome) -> "list[RankCollectives]":
        return [RankCollectives.from_json(row) for row in outcome.partial or []]

    def aligned(self, outcome: Outcome) -> "tuple[list[Matched], Alignment]":
        parts = self.parts(outcome)
        alignment = align(parts)
        groups = matched(parts, alignment.times)
        for group in groups:
            usable = (group.began >= 0).all(axis=0) & (group.ended >= 0).all(axis=0)
            early = group.ended[:, usable].min(axis=0) - group.began[:, usable].max(axis=0) if usable.any() else np.zeros(0)
            alignment.violations += int((early < -max(1000.0, 3 * alignment.error)).sum())
        return groups, alignment


class AnnotatedCollectiveRecipe(CollectiveRecipe):
    """A recipe that keeps further data of every process: the rows of a part start with its collectives."""

    def merge(self, one: Any, other: Any) -> Any:
        return sorted(one + other, key=lambda row: (row[0][0][0], row[0][0][1], row[0][2]))

    def parts(self, outcome: Outcome) -> "list[RankCollectives]":
        return [RankCollectives.from_json(row[0]) for row in outcome.partial or []]

    def annotations(self, outcome: Outcome) -> "dict[tuple[str, int, str], Any]":
        """The second members of the rows, by file, process and communicator."""
        return {(row[0][0][0], row[0][0][1], row[0][2]): row[1] for row in outcome.partial or []}


def _about(parts: "list[RankCollectives]", groups: "list[Matched]", alignment: Alignment) -> "list[str]":
    """Sentences about the clocks, and about ranks that are missing from the answer or in it twice."""
    return ([_about_clocks(alignment)] if parts else []) + _about_ranks(parts, groups)


def _about_ranks(parts: "list[RankCollectives]", groups: "list[Matched]") -> "list[str]":
    if not groups:
        return ["There are no collectives that two ranks came to: record all ranks with -t cuda,nvtx, and name all of their files."]
    said = []
    for group in groups:
        files: "dict[int, list[str]]" = {}
        for part in group.ranks:
            if part.member.rank is not None:
                files.setdefault(part.member.rank, []).append(part.member.path)
        twice = min((rank for rank, paths in files.items() if len(paths) > 1), default=None)
        if twice is not None:
            said.append(f"Rank {twice} of communicator {group.communicator} is there twice, in {files[twice][0]} and {files[twice][1]}: name each rank once.")
            break
    ranks = {part.member.rank for part in parts if part.member.rank is not None}
    missing = max((part.member.world or 0 for part in parts), default=0) - len(ranks)
    if ranks and missing > 0:
        first = [str(rank) for rank in range(len(ranks) + 3) if rank not in ranks][: min(3, missing)]
        said.append(f"Of {missing + len(ranks)} ranks, {missing} {'has' if missing == 1 else 'have'} no file here ({', '.join(first)}{', ...' if missing > 3 else ''}): what is said is of the others.")
    return said


def _about_transfers(groups: "list[Matched]") -> "list[str]":
    """Ranks without a file are not there to begin last, so nobody seems to wait for them."""
    if not any(group.lacks_ranks() for group in groups):
        return []
    return ["Where ranks here wait for one without a file, that time counts as transfer."]


def _about_clocks(alignment: Alignment) -> str:
    if len(alignment.clocks) < 2:
        return "All recordings are of one host, so they share a clock."
    if not alignment.collectives:
        return "The recordings have no common collectives: hosts are set by their time of day, which may be wrong by milliseconds."
    said = f"Clocks of {len(alignment.clocks)} hosts are set by the ends of {alignment.collectives} collectives, to ± {max(alignment.error, 1) / 1e3:.1f} µs."
    if alignment.unconnected:
        said += f" {len(alignment.unconnected)} hosts share none and are set by their time of day: {', '.join(alignment.unconnected[:3])}."
    if alignment.violations:
        said += f" {alignment.violations} collectives contradict that: they end on one rank before another begins."
    return said


@recipe
class AlignRecipe(CollectiveRecipe):
    name, help = "align", "How the clocks of the hosts stand to each other, by the ends of collectives"

    def present(self, outcome: Outcome) -> Answer:
        groups, alignment = self.aligned(outcome)
        rows = [[c.host, c.offset / 1e3, c.drift * 1e6, c.measurements, c.deviation / 1e3, c.host in (alignment.unconnected or [])] for c in alignment.clocks.values()]
        columns = ["Host", "Offset", "Drift (ppm)", "Measurements", "Deviation", "By time of day"]
        units = {"Offset": "µs", "Deviation": "µs", "Drift (ppm)": "ppm"}
        return Answer(self.name, _about(self.parts(outcome), groups, alignment), [ResultTable("clocks", columns, rows, units)])


@recipe
class CollectivesRecipe(CollectiveRecipe):
    name, help = "collectives", "Collectives matched over their ranks: skew, wait, transfer, bandwidth"

    def present(self, outcome: Outcome) -> Answer:
        groups, alignment = self.aligned(outcome)
        answer = Answer(self.name, _about(self.parts(outcome), groups, alignment) + _about_transfers(groups))
        rows: "list[list[Any]]" = []
        ranks: "list[list[Any]]" = []
        for group in groups:
            operations = [part.operations[: group.count] for part in group.ranks]
            sizes = np.array(group.ranks[0].sizes[: group.count], dtype=np.int64)
            usable = (group.began >= 0).all(axis=0)
            duration = group.ended - group.began
            for key in sorted({(operations[0][i], int(sizes[i])) for i in range(group.count)}):
                chosen = usable & (sizes == key[1]) & np.array([operation == key[0] for operation in operations[0]])
                if not chosen.any():
                    continue
                transfer = duration[:, chosen].min(axis=0)
                skew = group.began[:, chosen].max(axis=0) - group.began[:, chosen].min(axis=0)
                wait = (duration[:, chosen] - transfer).sum(axis=1)
                bandwidth = key[1] / np.median(transfer) if np.median(transfer) > 0 else 0.0
                rows.append([group.communicator, group.world(), key[0], key[1], int(chosen.sum()), float(np.median(transfer)), float(np.median(skew)),
                             int(skew.max()), int(wait.sum()), float(bandwidth), float(bandwidth * bus_factor(key[0], group.world()))])  # fmt: skip
                ranks += [[group.communicator, group.label(i), key[0], key[1], int(wait[i]), float(100 * wait[i] / max(1, duration[i, chosen].sum()))]
                          for i in range(len(group.ranks))]  # fmt: skip
        columns = ["Communicator", "Ranks", "Operation", "Bytes", "Count", "Transfer", "Skew", "Longest skew", "Wait of all", "Algorithm bandwidth", "Bus bandwidth"]
        units = {"Transfer": "ns", "Skew": "ns", "Longest skew": "ns", "Wait of all": "ns", "Wait": "ns", "Algorithm bandwidth": "GB/s", "Bus bandwidth": "GB/s", "Bytes": "B"}
        answer.tables.append(ResultTable("collectives", columns, rows, units))
        answer.tables.append(ResultTable("waits", ["Communicator", "Rank", "Operation", "Bytes", "Wait", "Wait (%)"], ranks, units))
        if rows:
            worst = max(rows, key=lambda row: row[8])
            most = "at most " if any(group.lacks_ranks() for group in groups if group.communicator == worst[0]) else ""
            answer.sentences.append(f"Ranks waited {worst[8] / 1e6:.1f} ms in all for the last one of {worst[4]} times {worst[2]} of {worst[3]} bytes; the transfer itself takes {most}{worst[5] / 1e3:.1f} µs.")
        return answer


@dataclass
class _Share:
    """What a process did between its collectives: ns by cause, summed over these times."""

    work: int = 0                                     # ns of these times in total
    causes: "dict[str, int]" = field(default_factory=dict)  # "sampled <function>", "NVTX <range>", "called <function>", "waited", "GPU busy"


@recipe
class Straggler(AnnotatedCollectiveRecipe):
    name, help = "straggler", "Which rank comes late to collectives by its own fault, by how much, and what it did meanwhile"

    def map(self, trace: Trace, path: str) -> Any:
        parts = collectives_of(trace, path)
        return [[part.to_json(), share] for part, share in zip(parts, _shares(trace, parts))]

    def present(self, outcome: Outcome) -> Answer:
        groups, alignment = self.aligned(outcome)
        answer = Answer(self.name, _about(self.parts(outcome), groups, alignment) + _about_transfers(groups))
        shares = self.annotations(outcome)
        rows: "list[list[Any]]" = []
        causes: "list[list[Any]]" = []
        for group in groups:
            lateness = own_lateness(group)
            if lateness is None or not lateness.shape[1]:
                continue
            last = group.ended.max(axis=1).max()
            first = group.ended[:, 0].min()
            loop = int(last - first)
            steps = lateness.shape[1]
            total = np.clip(lateness, 0, None).sum(axis=1)
            culprit = lateness.argmax(axis=0)
            excesses = _excesses(group, shares)
            for i in range(len(group.ranks)):
                rows.append([group.communicator, group.label(i), group.ranks[i].member.host, group.ranks[i].member.path, int(np.median(lateness[i])), int(total[i]),
                             100.0 * total[i] / loop if loop else 0.0, int((culprit == i).sum()), steps])  # fmt: skip
                causes += [[group.communicator, group.label(i), *cause] for cause in excesses[i]]
            answer.maps += _maps(group, lateness)
        rows.sort(key=lambda row: (-row[5], row[1]))
        place = {(row[0], row[1]): i for i, row in enumerate(rows)}
        causes.sort(key=lambda cause: place[cause[0], cause[1]])  # stable: the best cause of each rank stays first
        units = {"Median lateness": "ns", "Lateness in all": "ns", "More than others": "ns", "Share of loop (%)": "%"}
        columns = ["Communicator", "Rank", "Host", "File", "Median lateness", "Lateness in all", "Share of loop (%)", "Last by itself", "Collectives"]
        answer.tables.append(ResultTable("stragglers", columns, rows, units))
        answer.tables.append(ResultTable("causes", ["Communicator", "Rank", "Cause", "More than others", "Share of its lateness (%)"], causes, units))
        if rows and rows[0][6] >= 100 * _LATE_SHARE:
            late = rows[0]
            why = next((f": {cause[2]}, {cause[3] / 1e6:.1f} ms more than others" for cause in causes if cause[:2] == late[:2]), "")
            answer.sentences.append(f"{late[1]} ({late[2]}) holds the others up: by itself it comes {late[4] / 1e6:.2f} ms late, {late[6]:.0f} % of the loop, last in {late[7]} of {late[8]} collectives{why}.")
        elif rows:
            lacking = any(group.lacks_ranks() for group in groups)
            answer.sentences.append("No rank that has a file is late by itself for 2 % of the loop or more; whether one without a file is, can't be told."
                                    if lacking else "No rank is late by itself for 2 % of the loop or more.")  # fmt: skip
        return answer


@recipe
class NcclStraggler(Straggler):
    name, help = "nccl_straggler", "The same as straggler"


def _maps(group: Matched, lateness: "np.ndarray[Any, Any]") -> "list[HeatMap]":
    """For each rank and step, what the rank did from the end of one collective to the end of the next."""
    labels = [group.label(i) for i in range(len(group.ranks))]
    columns = [str(i + 1) for i in range(lateness.shape[1])]
    came, left = group.came(), group.left()
    known = (group.began >= 0) & (group.ended >= 0)
    duration = np.where(known, group.ended - group.began, 0)
    wait = np.where(known.all(axis=0), duration - duration.min(axis=0), -1)[:, 1:]
    sources = []
    for i, part in enumerate(group.ranks):
        own = np.where(part.ended >= 0, part.ended, part.called)[: group.count]
        sources.append(Source(part.member.path, own[:-1].tolist(), own[1:].tolist(), (left[i, :-1] - own[:-1]).tolist()))

    def measure(title: str, values: "np.ndarray[Any, Any]", is_known: "np.ndarray[Any, Any]") -> HeatMap:
        cells = [[float(value) / 1e6 if there else None for value, there in zip(*row)] for row in zip(values, is_known)]
        return HeatMap(f"{title}, communicator {group.communicator}", labels, columns, cells, "ms", sources)

    everywhere = np.ones(lateness.shape, dtype=bool)
    return [
        measure("Own lateness by collective", lateness, everywhere),
        measure("Wait in the collective", wait, wait >= 0),
        measure("Time before the collective", came[:, 1:] - left[:, :-1], everywhere),
    ]


def own_lateness(group: Matched) -> "np.ndarray[Any, Any] | None":
    """For each rank and each collective except the first: how many ns later than the other ranks it came, counted from when it left the previous collective.

    A rank that was held up by others leaves the previous collective late, too, so it is not blamed for that. "The others" means their median.
    """
    came, left = group.came(), group.left()
    if came.shape[1] < 2 or (came < 0).any():
        return None
    own = came[:, 1:] - left[:, :-1]
    return np.asarray(own - median_of_others(own))


def median_of_others(table: "np.ndarray[Any, Any]") -> "np.ndarray[Any, Any]":
    """For each cell, the median of the other rows' values in its column. Needs at least two rows. O(cells · log rows)."""
    order = np.argsort(table, axis=0, kind="stable")
    ascending = np.take_along_axis(table, order, axis=0)
    place = np.empty_like(order)
    np.put_along_axis(place, order, np.arange(len(table))[:, None], axis=0)
    # Without a row, the values after its place move up by one.
    rest = len(table) - 1
    low, high = ((middle + (place <= middle)) for middle in ((rest - 1) // 2, rest // 2))
    return np.asarray((np.take_along_axis(ascending, low, axis=0) + np.take_along_axis(ascending, high, axis=0)) / 2)


def _shares(trace: Trace, parts: "list[RankCollectives]") -> "list[Any]":
    """What each process did between its collectives, as plain values."""
    samples = trace.samples[["start", "process", "thread", "origin", "period", "function"]].to_numpy()
    ranges = trace.nvtx_ranges[["start", "duration", "process", "name", "domain"]].to_numpy()
    calls = trace.os_runtime[["start", "duration", "process", "name"]].to_numpy()
    states = trace.thread_states[["start", "duration", "process", "thread", "state"]].to_numpy()
    launches = trace.whole.api_calls[["process", "thread"]].to_numpy()
    kernels, texts = trace.kernels[["start", "duration", "process", "name"]].coded()
    computing = ~begins(kernels["name"], texts["name"], "nccl")
    result = []
    for part in parts:
        instance, domains = part.member.instance, trace.processes[part.member.instance].nvtx_domains
        came, left = np.where(part.began >= 0, part.began, part.called), np.where(part.ended >= 0, part.ended, part.called)
        begin, end = union(left[:-1], came[1:])
        borders = np.stack((begin, end), axis=1).reshape(-1)

        def inside(start: Any, stop: Any) -> int:
            """How much of these intervals lies between collectives. Overlaps count once."""
            return int(covered(*union(start, stop), borders)[::2].sum()) if len(borders) else 0

        share = _Share(work=int((end - begin).sum()))
        threads = launches["thread"][launches["process"] == instance]
        main = int(np.bincount(threads).argmax()) if len(threads) else 0
        own = (samples["process"] == instance) & (samples["thread"] == main) & (samples["origin"] == "timer")
        at = np.searchsorted(borders, samples["start"][own], side="right")
        for name, period in zip(samples["function"][own][at % 2 == 1], samples["period"][own][at % 2 == 1]):
            share.causes[f"ran {name}"] = share.causes.get(f"ran {name}", 0) + int(period)
        for kind, table, chosen in (
            ("in NVTX range", ranges, (ranges["process"] == instance) & ~np.isin(ranges["domain"], [n for n, title in domains.items() if title == "NCCL"])),
            ("called", calls, calls["process"] == instance),
        ):
            for name in sorted(set(table["name"][chosen])):
                rows = chosen & (table["name"] == name)
                share.causes[f"{kind} {name}"] = inside(table["start"][rows], table["start"][rows] + table["duration"][rows])
        blocked = (states["process"] == instance) & (states["thread"] == main) & (states["state"] == "blocked")
        share.causes["launching thread waited"] = inside(states["start"][blocked], states["start"][blocked] + states["duration"][blocked])
        work = computing & (kernels["process"] == instance)
        share.causes["GPU ran kernels"] = inside(kernels["start"][work], kernels["start"][work] + kernels["duration"][work])
        most = sorted(share.causes.items(), key=lambda item: (-item[1], item[0]))
        kept = {name: spent for name, spent in most[: 4 * _CAUSES] if spent > 0}
        result.append([share.work, dict(sorted(kept.items()))])
    return result


def _excesses(group: Matched, shares: "dict[Any, Any]") -> "list[list[list[Any]]]":
    """For each rank the causes on which it spent more time than the median of the others, sorted: first those that explain most of its lateness and little
    else.

    A range around the whole step is longer by the whole lateness, too, but most of the range is not late. A range that only this rank is in says more.
    """
    own = [shares.get((part.member.path, part.member.instance, part.communicator), [0, {}]) for part in group.ranks]
    work = np.array([[share[0]] for share in own], dtype=np.int64)
    more = (work - median_of_others(work))[:, 0]
    names = sorted({name for _, causes in own for name in causes})
    spent = np.array([[causes.get(name, 0) for name in names] for _, causes in own], dtype=np.int64).reshape(len(own), len(names))
    excess = spent - median_of_others(spent)
    result = []
    for i in range(len(own)):
        scored = []
        for name in np.flatnonzero(excess[i] > max(0.0, 0.1 * more[i])).tolist() if more[i] > 0 else ():
            beyond = float(excess[i, name])
            score = round(min(1.0, beyond / more[i]) * beyond / int(spent[i, name]), 1)
            scored.append((-score, _DETAIL.get(names[name].split()[0], 9), names[name], int(beyond), float(100.0 * beyond / more[i])))
        result.append([[name, beyond, share] for _, _, name, beyond, share in sorted(scored)[:_CAUSES]])
    return result


# Which of two causes of similar weight says more: what ran or was called, the program's own range, the GPU's work, or that the thread waited.
_DETAIL = {"ran": 0, "called": 1, "in": 2, "GPU": 3, "launching": 4}


@recipe
class Imbalance(AnnotatedCollectiveRecipe):
    name, help = "imbalance", "Ranks whose GPU computes longer than others between collectives"

    def map(self, trace: Trace, path: str) -> Any:
        kernels, texts = trace.kernels[["start", "duration", "process", "name"]].coded()
        computing = ~begins(kernels["name"], texts["name"], "nccl")
        rows: "list[list[Any]]" = []
        for part in collectives_of(trace, path):
            own = computing & (kernels["process"] == part.member.instance)
            start, end = union(kernels["start"][own], kernels["start"][own] + kernels["duration"][own])
            left = np.where(part.ended >= 0, part.ended, part.called)
            rows.append([part.to_json(), covered(start, end, left).tolist()])
        return rows

    def present(self, outcome: Outcome) -> Answer:
        answer = Answer(self.name)
        busy = self.annotations(outcome)
        rows: "list[list[Any]]" = []
        parts = self.parts(outcome)
        groups = matched(parts)
        answer.sentences += _about_ranks(parts, groups)
        for group in groups:
            steps = group.count - 1
            if steps < 1:
                continue
            table = np.array([busy[part.member.path, part.member.instance, part.communicator][:steps] for part in group.ranks], dtype=np.float64)
            effect, rest = median_polish(table)
            typical_of = median_of_others(table)
            for i in range(len(group.ranks)):
                others = np.delete(effect, i)
                more = float(effect[i] - np.median(others))
                # The noise is the spread of the others (0 for two ranks), or the part that neither rank nor step explains, whichever is larger.
                sigma = max(1.0, 1.4826 * float(np.median(np.abs(others - np.median(others)))), 1.4826 * float(np.median(np.abs(rest))))
                typical = typical_of[i]
                above = int((table[i] > typical + 3 * sigma).sum())
                share = 100.0 * more / float(np.median(typical)) if np.median(typical) else 0.0
                rows.append([group.communicator, group.label(i), group.ranks[i].member.host, float(np.median(table[i])), more, share, above, steps])
            answer.maps.append(HeatMap(f"GPU time between collectives, communicator {group.communicator}", [group.label(i) for i in range(len(group.ranks))],
                                       [str(i + 1) for i in range(steps)], [[float(v) / 1e6 for v in row] for row in table], "ms"))  # fmt: skip
        rows.sort(key=lambda row: (-row[4], row[1]))
        columns = ["Communicator", "Rank", "Host", "Median GPU time", "More than typical", "More (%)", "Steps above", "Steps"]
        answer.tables.append(ResultTable("imbalance", columns, rows, {"Median GPU time": "ns", "More than typical": "ns"}))
        if rows and rows[0][6] > 0.2 * rows[0][7] and rows[0][4] > 0:
            answer.sentences.append(f"{rows[0][1]} ({rows[0][2]}) computes {rows[0][4] / 1e6:.2f} ms longer than typical ({rows[0][5]:.0f} %), in {rows[0][6]} of {rows[0][7]} steps.")
        elif rows:
            answer.sentences.append("No rank computes longer than the others in more than a fifth of the steps.")
        return answer


def median_polish(table: "np.ndarray[Any, Any]") -> "tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]":
    """Tukey's median polish of a two-way table: the effects of rows around their median, and what neither row nor column explains."""
    rest = table.astype(np.float64)
    rows = np.zeros(len(rest))
    for _ in range(10):
        rest = rest - np.median(rest, axis=0)
        step = np.median(rest, axis=1)
        rows, rest = rows + step, rest - step[:, None]
    return rows - np.median(rows), rest


@recipe
class SlowLink(CollectiveRecipe):
    name, help = "slow_link", "Communicators whose transfers take longer than those of their like, and the ranks that they share"

    def present(self, outcome: Outcome) -> Answer:
        groups, alignment = self.aligned(outcome)
        answer = Answer(self.name, _about(self.parts(outcome), groups, alignment) + _about_transfers(groups))
        found: "dict[tuple[str, int, int], list[tuple[float, Matched]]]" = {}
        for group in groups:
            duration = group.ended - group.began
            usable = (group.began >= 0).all(axis=0)
            part = group.ranks[0]
            for key in sorted({(part.operations[i], part.sizes[i]) for i in range(group.count)}):
                chosen = usable & np.array([part.operations[i] == key[0] and part.sizes[i] == key[1] for i in range(group.count)])
                if chosen.any():
                    found.setdefault((*key, group.world()), []).append((float(np.median(duration[:, chosen].min(axis=0))), group))
        rows: "list[list[Any]]" = []
        slow: "list[Matched]" = []
        for (operation, size, ranks), each in sorted(found.items()):
            typical = float(np.median([transfer for transfer, _ in each]))
            for transfer, group in each:
                names = ", ".join(group.label(i) for i in range(len(group.ranks)))
                rows.append([group.communicator, operation, size, ranks, transfer, transfer / typical if typical else 0.0, names])
                if len(each) > 2 and transfer > _SLOW_LINK * typical and not group.lacks_ranks():
                    slow.append(group)
        rows.sort(key=lambda row: (-row[5], row[0], row[1]))
        answer.tables.append(ResultTable("links", ["Communicator", "Operation", "Bytes", "Ranks", "Transfer", "Times the median", "Members"], rows, {"Transfer": "ns"}))
        if slow:
            shared = set.intersection(*({(part.member.host, part.member.label()) for part in group.ranks} for group in slow))
            hosts = set.intersection(*({part.member.host for part in group.ranks} for group in slow))
            what = ", ".join(sorted(label for _, label in shared)) or ", ".join(sorted(hosts))
            answer.sentences.append(f"{len(slow)} communicators transfer more than {_SLOW_LINK} times as long as their like." + (f" All of them have {what}." if what else " They have no rank or host in common."))
        elif rows:
            answer.sentences.append(f"No communicator transfers more than {_SLOW_LINK} times as long as its like.")
        return answer


@recipe
class Desync(AnnotatedCollectiveRecipe):
    name, help = "desync", "The first collective in which ranks of a communicator differ, or that some never came to"

    @classmethod
    def add_arguments(cls, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--rows", type=number_within(1, 1e9), default=50, help="rows of the answer (50)")

    def map(self, trace: Trace, path: str) -> Any:
        samples = trace.samples[["start", "process", "stack"]].to_numpy()
        rows: "list[list[Any]]" = []
        for part in collectives_of(trace, path):
            own = samples["process"] == part.member.instance
            stack = str(samples["stack"][own][-1]) if own.any() else ""
            rows.append([part.to_json(), stack, trace.lost.unfinished])
        return rows

    def present(self, outcome: Outcome) -> Answer:
        answer = Answer(self.name)
        stacks = self.annotations(outcome)
        rows: "list[list[Any]]" = []
        parts = self.parts(outcome)
        groups = matched(parts)
        answer.sentences += _about_ranks(parts, groups)
        for group in groups:
            calls = [list(zip(part.operations, part.sizes)) for part in group.ranks]
            number = next((i for i in range(group.count) if len({own[i] for own in calls}) > 1), None)
            if number is None and len({len(own) for own in calls}) == 1:
                continue
            number = group.count if number is None else number
            for i, own in enumerate(calls):
                what = f"{own[number][0]} of {own[number][1]} bytes" if number < len(own) else "nothing: it ended before"
                part = group.ranks[i]
                rows.append([group.communicator, number + 1, group.label(i), part.member.host, what, stacks.get((part.member.path, part.member.instance, part.communicator), "")])
        answer.tables.append(ResultTable("desync", ["Communicator", "Number", "Rank", "Host", "Called", "Last stack"], rows[: self.arguments["rows"]]))
        if rows:
            common = max({row[4] for row in rows if row[:2] == rows[0][:2]}, key=lambda what: (sum(row[4] == what for row in rows), what))
            other = next((row for row in rows if row[:2] == rows[0][:2] and row[4] != common), rows[0])
            answer.sentences.append(f"Ranks part at collective {other[1]} of communicator {other[0]}: {other[2]} ({other[3]}) called {other[4]}, the others {common}.")
        elif groups:
            answer.sentences.append("All ranks called the same collectives in the same order.")
        return answer


