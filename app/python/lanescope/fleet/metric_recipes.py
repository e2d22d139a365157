"""Recipes over sampled counters: how much of a GPU was used when and by which kernel or range, and the traffic over NVLink, networks and disks."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Any, Callable, ClassVar

import numpy as np

from ..table import Array
from ..trace import Trace
from .axis import Axis, Series
from .engine import Outcome
from .intervals import is_first, sums_before
from .network_recipe import links_of, seen_once
from .projection import projected_ranges, ranges_of
from .recipe import Recipe, number_within, recipe
from .result import Answer, ResultTable, counted

_FINE_BINS = 1024
_METRICS = "SMs active,Instructions issued,Tensor cores active"
_NOT_SAMPLED = "No file has samples of these counters: record with --gpu-metrics-devices=all."
_NO_NETWORKS = "No file has samples of networks: record with --nic-metrics=lf."
_NO_DISKS = "No file has samples of disks: record with --storage-metrics."
# What is counted for each device. A counter's name is the device's name and one of these.
_OF_NETWORKS = ("received", "sent", "packets received", "packets sent", "packets dropped", "packets sent again", "read by RDMA", "written by RDMA", "send waits", "CNPs sent", "CNPs handled")
_OF_EFA = ("packets sent again", "read by RDMA", "written by RDMA")  # no other adapter has these
_OF_DISKS = ("read", "written", "reads", "writes", "busy", "requests in flight")


@dataclass
class Samples:
    """One counter of a GPU (by its UUID), a network device or a disk (by its name). There may be gaps between its first and last sample."""

    device: str
    name: str
    unit: str
    starts: Array
    ends: Array
    values: Array

    def before(self, moments: Array) -> "tuple[Array, Array]":
        """The sum of value × ns, and the ns that were sampled, before each moment."""
        sampled = sums_before(self.ends - self.starts)
        weighted = sums_before(self.values * (self.ends - self.starts))
        at = np.searchsorted(self.starts, moments, side="right") - 1
        inside = np.clip(np.minimum(moments, self.ends[np.maximum(at, 0)]) - self.starts[np.maximum(at, 0)], 0, None)
        inside = np.where(at >= 0, inside, 0)
        at = np.maximum(at, 0)
        return weighted[at] + self.values[at] * inside, sampled[at] + inside


def _samples(trace: Trace, owner: "Callable[[str, str], tuple[str, str] | None]") -> "list[Samples]":
    """Counters of no process. `owner` is given the GPU's UUID and the counter's name; it returns the owner's name and the counter's name there, or None if it
    is not wanted."""
    data, texts = trace.counters[["start", "duration", "process", "gpu_uuid", "name", "unit", "value"]].coded()
    chosen = np.array([[owner(gpu, name) is not None for name in texts["name"]] for gpu in texts["gpu_uuid"]], dtype=bool)
    rows = np.flatnonzero(chosen[data["gpu_uuid"], data["name"]] & (data["process"] == 0)) if chosen.size else np.empty(0, dtype=np.int64)
    if not len(rows):
        return []
    order = rows[np.lexsort((data["start"][rows], data["name"][rows], data["gpu_uuid"][rows]))]
    keys = np.stack((data["gpu_uuid"][order], data["name"][order]))
    borders = np.append(np.flatnonzero(is_first((keys[:, 1:] != keys[:, :-1]).any(axis=0))), len(order))
    result = []
    for begin, end in zip(borders[:-1], borders[1:]):
        own = order[begin:end]
        gpu, name, unit = (texts[column][int(data[column][own[0]])] for column in ("gpu_uuid", "name", "unit"))
        found = owner(gpu, name)
        if found:
            result.append(Samples(found[0], found[1], unit, data["start"][own], data["start"][own] + data["duration"][own], data["value"][own]))
    return sorted(result, key=lambda each: (each.device, each.name))


def samples_of(trace: Trace, wanted: "set[str] | None" = None) -> "list[Samples]":
    """Counters of GPUs, by GPU and name. With `wanted`, only these."""
    return _samples(trace, lambda gpu, name: (gpu, name) if gpu and (wanted is None or name in wanted) else None)


def machine_samples(trace: Trace, counted: "tuple[str, ...]") -> "list[Samples]":
    """Counters of the machine's networks or disks, by device and counted quantity."""

    def owner(gpu: str, name: str) -> "tuple[str, str] | None":
        measure = max((each for each in counted if name.endswith(" " + each)), key=len, default=None)
        return None if gpu or measure is None else (name[: -len(measure) - 1], measure)

    return _samples(trace, owner)


def _metric_argument(parser: argparse.ArgumentParser, default: str) -> None:
    parser.add_argument("--metrics", default=default, metavar="LIST", help=f"counters by their names, separated by commas ({default or 'all'})")


class CounterMap(Recipe):
    """Counters over time, for each device and bin of time, with a picture for each counter."""

    is_of_parts = True
    owner: ClassVar[str]  # the title of the column of devices
    not_sampled: ClassVar[str]

    @classmethod
    def add_arguments(cls, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--bins", type=number_within(1, 100_000), default=30, help="bins of time (30)")
        parser.add_argument("--disable-alignment", action="store_true", help="let each recording begin at 0, not at its time of day")

    def measured(self, trace: Trace) -> "list[Samples]":
        raise NotImplementedError

    def metrics(self) -> "list[str]":
        """The counters in the order in which they are shown."""
        raise NotImplementedError

    def label(self, host: str, device: str) -> str:
        return f"{host}, {device}"

    def map(self, trace: Trace, path: str) -> Any:
        host = trace.session["host_name"]
        found = self.measured(trace)
        moments = [int(edge) for samples in found for edge in (samples.starts[0], samples.ends[-1])]  # the first samples may lie before the recording's 0
        whole = (min(0, *moments), max(trace.last_end(), *moments)) if found and trace is trace.whole else None
        rows = []
        for samples in found:
            begin, end = int(samples.starts[0]), int(samples.ends[-1])
            weighted, sampled = samples.before(np.linspace(begin, end, _FINE_BINS + 1).astype(np.int64))
            rows.append([path, host, samples.device, samples.name, samples.unit, trace.utc_epoch, begin, end, *(whole or (begin, end)), np.diff(weighted).tolist(), np.diff(sampled).tolist()])
        return rows

    def merge(self, one: Any, other: Any) -> Any:
        return sorted(one + other, key=lambda row: (row[0], row[2], row[3]))

    def present(self, outcome: Outcome) -> Answer:
        answer = Answer(self.name)
        rows = sorted(outcome.partial or [], key=lambda row: (row[1], row[2], row[0], row[3]))
        if not rows:
            answer.sentences.append(self.not_sampled)
            return answer
        series = {id(row): Series(self.label(row[1], row[2]), row[0], *row[5:10]) for row in rows}
        axis = Axis(list(series.values()), self.arguments["bins"], not self.arguments["disable_alignment"])
        table = []
        for metric in [name for name in self.metrics() if any(row[3] == name for row in rows)]:
            own = [row for row in rows if row[3] == metric]
            cells = []
            for row in own:
                weighted, sampled = (axis.sums(series[id(row)], fine) for fine in row[10:12])
                cells.append([float(w / s) if s >= 1 else None for w, s in zip(weighted, sampled)])
            answer.maps.append(axis.picture(metric, [series[id(row)] for row in own], cells, own[0][4]))
            table += [[metric, b, value, row[1], row[2], row[0]] for row, of_row in zip(own, cells) for b, value in enumerate(of_row) if value is not None]
            means = [sum(row[10]) / max(1, sum(row[11])) for row in own]
            unit = f" {own[0][4]}" if own[0][4] else ""
            answer.sentences.append(f"{metric}: {_short(float(np.mean(means)))}{unit} on average over {len(own)} {self.owner}s, {_short(min(means))} to {_short(max(means))}.")
        answer.tables.append(ResultTable("analysis", ["Metric", "Bin", "Mean", "Host", self.owner, "File"], table))
        return answer


def _short(value: float) -> str:
    return f"{value:,.1f}"


@recipe
class MetricMap(CounterMap):
    name, help = "gpu_metric_util_map", "Counters of GPUs over time, for each GPU and bin of time"
    owner, not_sampled = "GPU", _NOT_SAMPLED

    @classmethod
    def add_arguments(cls, parser: argparse.ArgumentParser) -> None:
        super().add_arguments(parser)
        _metric_argument(parser, _METRICS)

    def metrics(self) -> "list[str]":
        return [name for name in self.arguments["metrics"].split(",") if name]

    def measured(self, trace: Trace) -> "list[Samples]":
        return samples_of(trace, set(self.metrics()))

    def label(self, host: str, device: str) -> str:
        return f"{host}, GPU {device[:8]}"


def _traffic_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--hide-inactive", action="store_true", help="leave out devices over which nothing went")
    parser.add_argument("--bytes-threshold", type=number_within(0, 1e18), default=0, metavar="BYTES", help="leave out devices over which fewer bytes went (0)")


def _bytes(samples: Samples) -> float:
    return float((samples.values * (samples.ends - samples.starts)).sum()) / 1e9 if samples.name in ("received", "sent") else 0.0


def _busy_networks(trace: Trace, arguments: "dict[str, Any]") -> "list[Samples]":
    """The samples of devices that the arguments do not exclude."""
    found = machine_samples(trace, _OF_NETWORKS)
    moved: "dict[str, float]" = {}
    for each in found:
        moved[each.device] = moved.get(each.device, 0.0) + _bytes(each)
    return [each for each in found if moved[each.device] >= max(arguments["bytes_threshold"], 1 if arguments["hide_inactive"] else 0)]


@recipe
class NetworkMap(CounterMap):
    name, help = "network_traffic_map", "What network devices and InfiniBand ports receive and send over time, and congestion, for each device and bin of time"
    owner, not_sampled = "device", _NO_NETWORKS

    @classmethod
    def add_arguments(cls, parser: argparse.ArgumentParser) -> None:
        super().add_arguments(parser)
        _traffic_arguments(parser)

    def metrics(self) -> "list[str]":
        return [*_OF_NETWORKS]

    def measured(self, trace: Trace) -> "list[Samples]":
        return _busy_networks(trace, self.arguments)


@recipe
class AwsNetworkMap(NetworkMap):
    name, help = "network_map_aws", "What EFA adapters of AWS receive and send over time, by RDMA, too, and what they send again, for each adapter and bin of time"
    owner, not_sampled = "adapter", "No file has samples of EFA adapters: record with --nic-metrics=lf where there are some."

    def measured(self, trace: Trace) -> "list[Samples]":
        found = super().measured(trace)
        adapters = {each.device for each in found if each.name in _OF_EFA}
        return [each for each in found if each.device in adapters]


@recipe
class StorageMap(CounterMap):
    name, help = "storage_util_map", "What disks read and write over time, and how long they are busy, for each disk and bin of time"
    owner, not_sampled = "disk", _NO_DISKS

    def metrics(self) -> "list[str]":
        return [*_OF_DISKS]

    def measured(self, trace: Trace) -> "list[Samples]":
        return machine_samples(trace, _OF_DISKS)


@recipe
class NetworkSum(Recipe):
    name, help = "network_sum", "What network devices and InfiniBand ports received and sent, and congestion, summed up by device"
    is_of_parts = True

    @classmethod
    def add_arguments(cls, parser: argparse.ArgumentParser) -> None:
        _traffic_arguments(parser)

    def map(self, trace: Trace, path: str) -> Any:
        host = trace.session["host_name"]
        rows = []
        for each in _busy_networks(trace, self.arguments):
            width = each.ends - each.starts
            total, sampled = float((each.values * width).sum()) / 1e9, int(width.sum())
            rows.append([path, host, each.device, each.name, each.unit, total, total * 1e9 / max(1, sampled), float(each.values.max()), sampled])
        return rows

    def merge(self, one: Any, other: Any) -> Any:
        return sorted(one + other, key=lambda row: row[:4])

    def present(self, outcome: Outcome) -> Answer:
        order = {name: place for place, name in enumerate(_OF_NETWORKS)}
        rows = sorted(outcome.partial or [], key=lambda row: (row[1], row[2], order[row[3]], row[0]))
        columns = ["Host", "Device", "Metric", "Total", "Mean", "Highest", "Unit of mean", "Sampled", "File"]
        table = [[host, device, metric, total, mean, most, unit, sampled, path] for path, host, device, metric, unit, total, mean, most, sampled in rows]
        answer = Answer(self.name, tables=[ResultTable("stats_by_device", columns, table, {"Sampled": "ns"})])
        # Ranks of one host sample the same devices: for each device, the recording that sampled it longest counts.
        longest: "dict[tuple[str, str, str], list[Any]]" = {}
        for row in rows:
            key = (row[1], row[2], row[3])
            if key not in longest or row[8] > longest[key][8]:
                longest[key] = row
        devices = {key[:2] for key in longest}
        sums = {name: sum(row[5] for key, row in longest.items() if key[2] == name) for name in _OF_NETWORKS}
        said = [["all devices", name, sums[name], len(devices)] for name in _OF_NETWORKS if any(key[2] == name for key in longest)]
        answer.tables.append(ResultTable("all_stats", ["Device", "Metric", "Total", "Devices"], said))
        if not rows:
            answer.sentences.append(_NO_NETWORKS)
            return answer
        answer.sentences.append(f"{len(devices)} devices of {len({host for host, _ in devices})} hosts received {sums['received'] / 1e9:.3f} GB and sent {sums['sent'] / 1e9:.3f} GB.")
        held = [row for row in longest.values() if row[3] in ("packets dropped", "packets sent again", "send waits", "CNPs sent") and row[5] >= 1]
        answer.sentences += [f"{row[1]}, {row[2]}: {row[5]:,.0f} {row[3]}." for row in sorted(held, key=lambda row: (-row[5], row[1], row[2], row[3]))[:5]]
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
        host = trace.session["host_name"]
        if not (self.arguments["per_kernel"] or self.arguments["per_projected_nvtx"]):
            rows = []
            for each in samples:
                width = each.ends - each.starts
                mean = float((each.values * width).sum() / max(1, int(width.sum())))
                rows.append([path, host, each.device, "", each.name, each.unit, 1, 0, int(width.sum()), mean, float(each.values.min()), float(each.values.max())])
            return rows
        gpus, names, texts, start, end = self._intervals(trace)
        rows = []
        for gpu in sorted(set(gpus.tolist())):
            own = [each for each in samples if each.device == gpu]
            of_gpu = gpus == gpu
            totals = {int(name): int((end - start)[of_gpu & (names == name)].sum()) for name in np.unique(names[of_gpu])}
            longest = sorted(totals, key=lambda name: (-totals[name], texts[name]))[: self.arguments["longest_n"]]
            for name in longest if own else []:
                chosen = of_gpu & (names == name)
                for each in own:
                    weighted, sampled = (after - before for after, before in zip(each.before(end[chosen]), each.before(start[chosen])))
                    seen = sampled > 0  # a range that is shorter than the sampling interval may have none
                    if seen.any():
                        means = weighted[seen] / sampled[seen]
                        rows.append([path, host, gpu, texts[name], each.name, each.unit, int(seen.sum()), int((~seen).sum()), int(sampled.sum()),
                                     float(weighted[seen].sum() / sampled[seen].sum()), float(means.min()), float(means.max())])  # fmt: skip
        return rows

    def _intervals(self, trace: Trace) -> "tuple[Array, Array, list[str], Array, Array]":
        """GPU, name, start and end of each kernel or projected range, and the names by number."""
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
            # on each GPU on which its process has kernels
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
        answer.sentences.append(f"{counted(len({row[10] for row in rows}), 'GPU')}, {counted(len({row[1] for row in rows}), 'counter')}." if rows else _NOT_SAMPLED)
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
        shown = [row[:8] for row in rows]
        answer = Answer(self.name, tables=[ResultTable("stats_by_gpu", ["File", "Host", "GPU", "Direction", "Mean", "Bytes", "Highest", "Sampled"], shown, units)])
        sums = []
        for direction in sorted({row[3] for row in rows}):
            own = [row for row in seen_once(rows) if row[3] == direction]
            sums.append([direction, sum(row[5] for row in own), max(row[6] for row in own), len({(row[1], row[2] or row[0]) for row in own})])
        answer.tables.append(ResultTable("all_stats", ["Direction", "Bytes", "Highest", "GPUs"], sums, units))
        answer.sentences.append("; ".join(f"{name}: {moved / 1e9:.3f} GB on {gpus} GPUs" for name, moved, _, gpus in sums) + "." if rows else _NOT_SAMPLED)
        return answer
