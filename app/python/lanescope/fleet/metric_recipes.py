"""Recipes over counters that were sampled (--gpu-metrics-devices): how much of a GPU was used when, by which kernel or range, and what went over NVLink."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..table import Array
from ..trace import Trace
from .axis import Axis, Series
from .engine import Outcome
from .network_recipe import links_of
from .projection import projected_ranges, ranges_of
from .recipe import Recipe, number_within, recipe
from .result import Answer, ResultTable

_FINE_BINS = 1024
_METRICS = "SMs active,Instructions issued,Tensor cores active"
_NOT_SAMPLED = "No file has samples of these counters: record with --gpu-metrics-devices=all."


@dataclass
class Samples:
    """One counter of one GPU. Between its first and last sample there may be times without."""

    gpu: str
    name: str
    unit: str
    starts: Array
    ends: Array
    values: Array

    def before(self, moments: Array) -> "tuple[Array, Array]":
        """The sum of value × ns, and the ns that were sampled, before each moment."""
        sampled = np.concatenate(([0], np.cumsum(self.ends - self.starts)))
        weighted = np.concatenate(([0.0], np.cumsum(self.values * (self.ends - self.starts))))
        at = np.searchsorted(self.starts, moments, side="right") - 1
        inside = np.clip(np.minimum(moments, self.ends[np.maximum(at, 0)]) - self.starts[np.maximum(at, 0)], 0, None)
        inside = np.where(at >= 0, inside, 0)
        at = np.maximum(at, 0)
        return weighted[at] + self.values[at] * inside, sampled[at] + inside


def samples_of(trace: Trace, wanted: "set[str] | None" = None) -> "list[Samples]":
    """Counters of GPUs, by GPU and name; only those that are wanted."""
    data, texts = trace.counters[["start", "duration", "gpu_uuid", "name", "unit", "value"]].coded()
    chosen = np.array([wanted is None or name in wanted for name in texts["name"]], dtype=bool)
    rows = np.flatnonzero(chosen[data["name"]]) if len(chosen) else np.empty(0, dtype=np.int64)
    order = rows[np.lexsort((data["start"][rows], data["name"][rows], data["gpu_uuid"][rows]))]
    keys = np.stack((data["gpu_uuid"][order], data["name"][order]))
    borders = np.flatnonzero(np.concatenate(([True], (keys[:, 1:] != keys[:, :-1]).any(axis=0), [True]))) if len(order) else [0]
    result = []
    for begin, end in zip(borders[:-1], borders[1:]):
        own = order[begin:end]
        gpu, name, unit = (texts[column][int(data[column][own[0]])] for column in ("gpu_uuid", "name", "unit"))
        if gpu:
            result.append(Samples(gpu, name, unit, data["start"][own], data["start"][own] + data["duration"][own], data["value"][own]))
    return sorted(result, key=lambda each: (each.gpu, each.name))


def _metric_argument(parser: argparse.ArgumentParser, default: str) -> None:
    parser.add_argument("--metrics", default=default, metavar="LIST", help=f"counters by their names, separated by commas ({default or 'all'})")


@recipe
class MetricMap(Recipe):
    name, help = "gpu_metric_util_map", "Counters of GPUs over time, for each GPU and bin of time"
    is_of_parts = True

    @classmethod
    def add_arguments(cls, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--bins", type=number_within(1, 100_000), default=30, help="bins of time (30)")
        parser.add_argument("--disable-alignment", action="store_true", help="let each recording begin at 0, not at its time of day")
        _metric_argument(parser, _METRICS)

    def map(self, trace: Trace, path: str) -> Any:
        host = trace.session["host_name"].decode("utf-8", errors="replace")
        rows = []
        for samples in samples_of(trace, set(self.arguments["metrics"].split(","))):
            begin, end = int(samples.starts[0]), int(samples.ends[-1])
            weighted, sampled = samples.before(np.linspace(begin, end, _FINE_BINS + 1).astype(np.int64))
            rows.append([path, host, samples.gpu, samples.name, samples.unit, trace.utc_epoch, begin, end, np.diff(weighted).tolist(), np.diff(sampled).tolist()])
        return rows

    def merge(self, one: Any, other: Any) -> Any:
        return sorted(one + other, key=lambda row: (row[0], row[2], row[3]))

    def present(self, outcome: Outcome) -> Answer:
        answer = Answer(self.name)
        rows = sorted(outcome.partial or [], key=lambda row: (row[1], row[2], row[0], row[3]))
        if not rows:
            answer.sentences.append(_NOT_SAMPLED)
            return answer
        series = {id(row): Series(f"{row[1]}, GPU {row[2][:8]}", row[0], row[5], row[6], row[7]) for row in rows}
        axis = Axis(list(series.values()), self.arguments["bins"], not self.arguments["disable_alignment"])
        table = []
        for metric in [name for name in self.arguments["metrics"].split(",") if any(row[3] == name for row in rows)]:
            own = [row for row in rows if row[3] == metric]
            cells = []
            for row in own:
                weighted, sampled = (axis.sums(series[id(row)], fine) for fine in row[8:10])
                cells.append([float(w / s) if s >= 1 else None for w, s in zip(weighted, sampled)])
            answer.maps.append(axis.picture(metric, [series[id(row)] for row in own], cells, own[0][4]))
            table += [[metric, b, value, row[1], row[2], row[0]] for row, of_row in zip(own, cells) for b, value in enumerate(of_row) if value is not None]
            means = [sum(row[8]) / max(1, sum(row[9])) for row in own]
            answer.sentences.append(f"{metric}: {np.mean(means):.1f} {own[0][4]} on average over {len(own)} GPUs, {min(means):.1f} to {max(means):.1f}.")
        answer.tables.append(ResultTable("analysis", ["Metric", "Bin", "Mean", "Host", "GPU", "File"], table))
        return answer


@recipe
class MetricSum(Recipe):
    name, help = "gpu_metric_util_sum", "Counters of GPUs summed up, of all the time, of each kernel, or of each NVTX range"
    is_of_parts = True

    @classmethod
    def add_arguments(cls, parser: argparse.ArgumentParser) -> None:
        kind = parser.add_mutually_exclusive_group()
        kind.add_argument("--per-kernel", action="store_true", help="of each kernel, while it ran")
        kind.add_argument("--per-projected-nvtx", action="store_true", help="of each NVTX range, while the GPU ran what it enqueued")
        parser.add_argument("--match-ranges", default="", metavar="TEXT", help="only kernels or ranges in whose name this is")
        parser.add_argument("--longest-n", type=number_within(1, 1e9), default=None, metavar="N", help="only the N that take most time on each GPU")
        _metric_argument(parser, "")

    def map(self, trace: Trace, path: str) -> Any:
        wanted = {name for name in self.arguments["metrics"].split(",") if name}
        samples = samples_of(trace, wanted or None)
        host = trace.session["host_name"].decode("utf-8", errors="replace")
        if not (self.arguments["per_kernel"] or self.arguments["per_projected_nvtx"]):
            rows = []
            for each in samples:
                width = each.ends - each.starts
                mean = float((each.values * width).sum() / max(1, int(width.sum())))
                rows.append([path, host, each.gpu, "", each.name, each.unit, 1, 0, int(width.sum()), mean, float(each.values.min()), float(each.values.max())])
            return rows
        gpus, names, texts, start, end = self._intervals(trace)
        rows = []
        for gpu in sorted(set(gpus.tolist())):
            own = [each for each in samples if each.gpu == gpu]
            of_gpu = gpus == gpu
            totals = {int(name): int((end - start)[of_gpu & (names == name)].sum()) for name in np.unique(names[of_gpu])}
            longest = sorted(totals, key=lambda name: (-totals[name], texts[name]))[: self.arguments["longest_n"]]
            for name in longest if own else []:
                chosen = of_gpu & (names == name)
                for each in own:
                    weighted, sampled = (after - before for after, before in zip(each.before(end[chosen]), each.before(start[chosen])))
                    seen = sampled > 0  # a range that is shorter than the time between two samples may have none
                    if seen.any():
                        means = weighted[seen] / sampled[seen]
                        rows.append([path, host, gpu, texts[name], each.name, each.unit, int(seen.sum()), int((~seen).sum()), int(sampled.sum()),
                                     float(weighted[seen].sum() / sampled[seen].sum()), float(means.min()), float(means.max())])  # fmt: skip
        return rows

    def _intervals(self, trace: Trace) -> "tuple[Array, Array, list[str], Array, Array]":
        """GPU, name, begin and end of each kernel or projected range, and the names by number."""
        uuids = {(instance, device): said["uuid"] for instance, process in trace.processes.items() for device, said in process.devices.items()}
        if self.arguments["per_kernel"]:
            data, texts = trace.kernels[["start", "duration", "process", "device", "name"]].coded()
            keys = list(zip(data["process"].tolist(), data["device"].tolist()))
            names, titles, start, end = data["name"], texts["name"], data["start"], data["start"] + data["duration"]
        else:
            ranges = ranges_of(trace)
            found = projected_ranges(trace, ranges)
            used = trace.whole.kernels[["process", "device"]].coded()[0]
            devices: "dict[int, list[int]]" = {}
            for instance, device in np.unique(np.stack((used["process"], used["device"]), axis=1), axis=0).tolist():
                devices.setdefault(instance, []).append(device)
            # On each GPU that its process has kernels on.
            pairs = [(i, (instance, device)) for i, instance in enumerate(ranges.process[found.row].tolist()) for device in devices.get(instance, [])]
            keys, places = [key for _, key in pairs], np.array([i for i, _ in pairs], dtype=np.int64)
            names, titles, start, end = ranges.name[found.row][places], ranges.titles, found.start[places], found.end[places]
        gpus = np.array([uuids.get(key, "") for key in keys], dtype=object)
        fits = np.array([self.arguments["match_ranges"] in title for title in titles], dtype=bool)
        kept = fits[names] & (gpus != "") if len(fits) else np.zeros(0, dtype=bool)
        return gpus[kept], names[kept], titles, start[kept], end[kept]

    def merge(self, one: Any, other: Any) -> Any:
        return sorted(one + other, key=lambda row: row[:5])

    def present(self, outcome: Outcome) -> Answer:
        rows = [[name, metric, unit, count, without, sampled, mean, least, most, host, gpu, path]
                for path, host, gpu, name, metric, unit, count, without, sampled, mean, least, most in outcome.partial or []]  # fmt: skip
        rows.sort(key=lambda row: (row[9], row[10], row[11], -row[5] if row[0] else 0, row[0], row[1]))
        columns = ["Name", "Metric", "Unit", "Instances", "Without a sample", "Sampled", "Mean", "Least", "Most", "Host", "GPU", "File"]
        answer = Answer(self.name, tables=[ResultTable("stats", columns, rows, {"Sampled": "ns"})])
        answer.sentences.append(f"{len({row[10] for row in rows})} GPUs, {len({row[1] for row in rows})} counters." if rows else _NOT_SAMPLED)
        return answer


@recipe
class NvlinkSum(Recipe):
    name, help = "nvlink_sum", "Bytes over NVLink by GPU and direction, and bandwidth"

    def map(self, trace: Trace, path: str) -> Any:
        return [row for row in links_of(trace, path) if row[3].startswith("NVLink")]

    def merge(self, one: Any, other: Any) -> Any:
        return sorted(one + other, key=lambda row: (row[0], row[2], row[3]))

    def present(self, outcome: Outcome) -> Answer:
        rows = sorted(outcome.partial or [], key=lambda row: (row[1], row[2], row[3], row[0]))
        units = {"Mean": "B/s", "Highest": "B/s", "Bytes": "B", "Sampled": "ns"}
        answer = Answer(self.name, tables=[ResultTable("stats_by_gpu", ["File", "Host", "GPU", "Direction", "Mean", "Bytes", "Highest", "Sampled"], rows, units)])
        directions = sorted({row[3] for row in rows})
        sums = [[name, sum(row[5] for row in rows if row[3] == name), max(row[6] for row in rows if row[3] == name), sum(row[3] == name for row in rows)] for name in directions]
        answer.tables.append(ResultTable("all_stats", ["Direction", "Bytes", "Highest", "GPUs"], sums, units))
        answer.sentences.append("; ".join(f"{name}: {moved / 1e9:.3f} GB on {gpus} GPUs" for name, moved, _, gpus in sums) + "." if rows else _NOT_SAMPLED)
        return answer
