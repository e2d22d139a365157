#!/usr/bin/env python3
"""Makes the files of a job with many ranks from the real recording of one job, with inserted faults whose place and size are therefore known.

The recording is ranks_late1.trace: 20 steps, each with matrix products and an all-reduce. Every rank is a copy of it, so all ranks come to each
collective at the same moment. A fault inserts time: at a late rank before it comes to the collective, at all others while they wait in it. Everything
after it is later by the same time on all ranks, as in a real job.

Needs protoc, and Python's protobuf, numpy, xxhash and zstandard.
"""

import argparse
import bisect
import json
import pathlib
import struct
import subprocess
import sys
import tempfile

import xxhash
import zstandard

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCE = ROOT / "tests" / "data" / "ranks_late1.trace"


def schema():
    """The module of trace.proto, made by protoc."""
    folder = tempfile.mkdtemp()
    subprocess.run(["protoc", f"--python_out={folder}", "-I", ROOT / "proto", ROOT / "proto/lanescope/trace.proto"], check=True)
    import importlib.util

    found = importlib.util.spec_from_file_location("trace_pb2", pathlib.Path(folder) / "lanescope" / "trace_pb2.py")
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


proto = schema()


def frames(data):
    at = 16
    while at + 32 <= len(data):
        magic, kind, codec, source, stored, raw, process, count, _ = struct.unpack_from("<IHBBIIIIQ", data, at)
        if magic != 0x3146534C:
            return
        payload = data[at + 32 : at + 32 + stored]
        yield kind, process, source, count, zstandard.ZstdDecompressor().decompress(payload, max_output_size=raw) if codec else payload
        at += 32 + stored


def frame(kind, process, source, count, payload):
    stored = zstandard.ZstdCompressor(level=3).compress(payload)
    codec = 1 if len(stored) < len(payload) else 0
    stored = stored if codec else payload
    header = struct.pack("<IHBBIIII", 0x3146534C, kind, codec, source, len(stored), len(payload), process, count)
    return header + struct.pack("<Q", xxhash.xxh64(header + stored).intdigest()) + stored


class Recording:
    """The source recording, and where its collectives are."""

    def __init__(self, path=SOURCE):
        self.data = path.read_bytes()
        self.frames = list(frames(self.data))
        self.strings = {}
        kernels, work = [], []
        for kind, process, source, _, payload in self.frames:
            if kind == proto.FRAME_SESSION_START:
                self.epoch = proto.SessionStart.FromString(payload).epoch
            if kind != proto.FRAME_EVENTS:
                continue
            chunk = proto.EventChunk.FromString(payload)
            for i, text in enumerate(chunk.strings):
                self.strings[process, source, chunk.first_string + i] = text.decode(errors="replace")
            if chunk.WhichOneof("events") == "kernels":
                time = chunk.base_time
                for delta, duration, name in zip(chunk.kernels.start_delta, chunk.kernels.duration, chunk.kernels.name):
                    time += delta
                    (kernels if "ncclDevKernel" in self.strings.get((process, source, name), "") else work).append((time, time + duration))
        self.collectives, self.work = sorted(kernels), sorted(work)


class Warp:
    """The time after insertions: sorted points, and the time inserted at each. A time that equals a point comes after what is inserted there."""

    def __init__(self, insertions):
        insertions = sorted(insertions)
        self.points = [point for point, _ in insertions]
        self.sums = [0]
        for _, length in insertions:
            self.sums.append(self.sums[-1] + length)

    def __call__(self, time):
        return time + self.sums[bisect.bisect_right(self.points, time)]


def warped(chunk, name, times):
    """Start and end of each event, moved."""
    events = getattr(chunk, name)
    column = events.start_delta if hasattr(events, "start_delta") else events.time_delta
    if not len(column):
        return
    time, starts = chunk.base_time, []
    for delta in column:
        time += delta
        starts.append(time)
    moved = [times(start) for start in starts]
    if hasattr(events, "duration") and len(events.duration):
        durations = [times(start + duration) - new for start, duration, new in zip(starts, events.duration, moved)]
        del events.duration[:]
        events.duration.extend(durations)
    chunk.base_time = moved[0]
    del column[:]
    column.extend([0] + [b - a for a, b in zip(moved, moved[1:])])


def write_rank(recording, path, rank, world, insertions, clock, host, communicator, cause="", slower=None, sizes=None, stop_after=None, utc=None, gpu_scale=1.0, before=lambda time: time):
    """Writes the file of one rank. `clock` converts a true time to the host's; `before` moves times before anything is inserted; `slower` scales kernels
    whose name contains a text; `sizes` changes the bytes of collectives by number."""
    inserted = Warp([(before(point), length) for point, length in insertions])
    times = lambda time: clock(inserted(before(time)))
    out = [recording.data[:16]]
    first_new = max((number for _, _, number in recording.strings), default=0)
    calls = 0
    for kind, process, source, count, payload in recording.frames:
        if kind in (proto.FRAME_INDEX, proto.FRAME_OUTLINE):
            continue
        if kind == proto.FRAME_SESSION_START:
            start = proto.SessionStart.FromString(payload)
            begin = start.epoch
            start.host_name = host.encode()
            start.epoch = clock(begin)
            if utc is not None:
                start.utc_epoch = utc
            payload = start.SerializeToString()
        elif kind in (proto.FRAME_SESSION_END, proto.FRAME_PROCESS_START, proto.FRAME_PROCESS_END):
            message = {proto.FRAME_SESSION_END: proto.SessionEnd, proto.FRAME_PROCESS_START: proto.ProcessStart, proto.FRAME_PROCESS_END: proto.ProcessEnd}[kind].FromString(payload)
            message.time = times(message.time)
            if kind == proto.FRAME_PROCESS_START:
                message.pid = 1000 + rank
            payload = message.SerializeToString()
        elif kind == proto.FRAME_RESOURCES:
            resources = proto.Resources.FromString(payload)
            for device in resources.devices:
                if device.uuid:
                    device.uuid = device.uuid[:-1] + bytes([rank % 256])
            payload = resources.SerializeToString()
        elif kind == proto.FRAME_EVENTS:
            chunk = proto.EventChunk.FromString(payload)
            for i, text in enumerate(chunk.strings):
                if text.startswith(b'{"NCCL communicator ID"'):
                    said = json.loads(text)
                    said["NCCL communicator ID"] = communicator
                    said |= {"No. of ranks": world, "Rank": rank, "CUDA device": 0} if "Rank" in said else {}
                    chunk.strings[i] = json.dumps(said, separators=(",", ":")).encode()
            name = chunk.WhichOneof("events")
            if name == "kernels" and (slower or gpu_scale != 1.0):
                kernels = chunk.kernels
                for i, (text, duration) in enumerate(zip(kernels.name, kernels.duration)):
                    if not slower or slower[0] in recording.strings.get((process, source, text), ""):
                        kernels.duration[i] = int(duration * (slower[1] if slower else gpu_scale))
            if name == "nvtx_ranges" and (sizes or stop_after is not None):
                calls = change_calls(recording, chunk, process, source, calls, sizes or {}, stop_after)
            if name and name != "counter_samples":
                warped(chunk, name, times)
            count = len(getattr(getattr(chunk, name), "start_delta", getattr(getattr(chunk, name), "time_delta", []))) if name and name != "counter_samples" else count
            payload = chunk.SerializeToString()
        out.append(frame(kind, process, source, count, payload))
        if kind == proto.FRAME_EVENTS and cause and name == "nvtx_ranges" and insertions:
            thread = chunk.nvtx_ranges.thread
            out.append(cause_ranges(process, source, thread, first_new + 1, cause, insertions, inserted, clock))
            cause = ""
    path.write_bytes(b"".join(out))


def cause_ranges(process, source, thread, string, cause, insertions, inserted, clock):
    """NVTX ranges that cover the inserted times."""
    chunk = proto.EventChunk(first_string=string, strings=[cause.encode()])
    ranges, time = chunk.nvtx_ranges, 0
    ranges.thread = thread
    for point, length in sorted(insertions):
        begin, end = clock(inserted(point) - length), clock(inserted(point))
        if chunk.base_time == 0:
            chunk.base_time = time = begin
        ranges.start_delta.append(begin - time)
        ranges.duration.append(end - begin)
        ranges.name.append(string)
        ranges.depth.append(1)
        time = begin
    return frame(proto.FRAME_EVENTS, process, source, len(ranges.name), chunk.SerializeToString())


def change_calls(recording, chunk, process, source, calls, sizes, stop_after):
    """Changes the bytes of collectives with a number in `sizes`, and removes collectives from `stop_after` on."""
    ranges = chunk.nvtx_ranges
    keep = []
    for i, name in enumerate(ranges.name):
        text = recording.strings.get((process, source, name), "")
        if text == "ncclAllReduce":
            if calls in sizes:
                at = max(list(range(chunk.first_string, chunk.first_string + len(chunk.strings))) + [1 << 20])
                number = at + 1 + calls
                said = {"NCCL communicator ID": 77, "Message size [bytes]": sizes[calls], "Reduction operation": "Sum"}
                chunk.first_string, offset = chunk.first_string or number, len(chunk.strings)
                chunk.strings.append(json.dumps(said, separators=(",", ":")).encode())
                ranges.payload_json[i] = chunk.first_string + offset
            if stop_after is None or calls < stop_after:
                keep.append(i)
            calls += 1
        else:
            keep.append(i)
    if len(keep) < len(ranges.name):
        time, starts = chunk.base_time, []
        for delta in ranges.start_delta:
            time += delta
            starts.append(time)
        for name in ("duration", "name", "depth", "category", "color", "payload_type", "payload", "payload_json", "id_delta", "end_thread"):
            column = getattr(ranges, name)
            if len(column):
                values = [column[i] for i in keep]
                del column[:]
                column.extend(values)
        starts = [starts[i] for i in keep]
        del ranges.start_delta[:]
        ranges.start_delta.extend([0] + [b - a for a, b in zip(starts, starts[1:])])
        chunk.base_time = starts[0] if starts else chunk.base_time
    return calls


def own_clock(recording, offset, ppm):
    """A host's clock: `offset` ns off at the start, and `ppm` µs per second too fast."""
    return lambda time: recording.epoch + offset + round((time - recording.epoch) * (1 + ppm * 1e-6))


def identity(time):
    return time


def before_collective(recording, number):
    """A time within the CPU's work of the step: between the end of one collective and the start of the next."""
    end, begin = recording.collectives[number - 1][1], recording.collectives[number][0]
    return end + (begin - end) // 4


def within_collective(recording, number):
    """A time just before the end of the collective: a rank that waits does so here."""
    return recording.collectives[number][1] - 1


def straggler(folder, ranks=8, late=3, lateness=12_000_000, cause="load shard", clocks=None):
    """Rank `late` comes `lateness` ns late to every collective except the first, in the NVTX range `cause`."""
    recording = Recording()
    numbers = range(1, len(recording.collectives))
    for rank in range(ranks):
        place = before_collective if rank == late else within_collective
        host, clock = (f"host{rank}", own_clock(recording, *clocks[rank])) if clocks else ("host", identity)
        insertions = [(place(recording, number), lateness) for number in numbers]
        write_rank(recording, folder / f"rank{rank:03}.trace", rank, ranks, insertions, clock, host, 77, cause if rank == late else "")


def busy_straggler(folder, ranks=4, late=2, lateness=12_000_000, step=14_600_000):
    """As straggler, but ranks only compute: the sleep in each step of the recording is cut out, and its matrix products take
    longer, so that each step takes 30 ms including the lateness."""
    recording = Recording()
    edges = sorted(recording.work + recording.collectives)
    # Keeps a hundredth of each time in which the GPU was idle.
    gaps = [(end, begin) for (_, end), (begin, _) in zip(edges, edges[1:]) if begin - end > 1_000_000 and end >= recording.collectives[0][1]]
    cut = lambda time: time - sum(99 * (min(time, begin) - end) // 100 for end, begin in gaps if time > end)
    first, last = recording.collectives[0][1], recording.collectives[-1][0]
    products = [(begin, end) for begin, end in recording.work if first <= begin <= last]
    longer = (len(recording.collectives) - 1) * step // len(products)
    everywhere = [((begin + end) // 2, longer) for begin, end in products]
    for rank in range(ranks):
        place = before_collective if rank == late else within_collective
        insertions = everywhere + [(place(recording, number), lateness) for number in range(1, len(recording.collectives))]
        write_rank(recording, folder / f"rank{rank:03}.trace", rank, ranks, insertions, identity, "host", 77, before=cut)


def in_one_file(paths, path):
    """Writes the processes of several recordings with one epoch as one recording."""
    begin, ends = [], []
    for number, each in enumerate(paths):
        data = each.read_bytes()
        for kind, process, source, count, payload in frames(data):
            if process or not number:
                (ends if kind == proto.FRAME_SESSION_END else begin).append(frame(kind, process + 100 * number if process else 0, source, count, payload))
    path.write_bytes(data[:16] + b"".join(begin + ends))


def slow_link(folder, pairs=6, slow=4, factor=3):
    """Pairs of ranks with one communicator each. The transfers of one pair take `factor` times as long."""
    recording = Recording()
    for pair in range(pairs):
        insertions = []
        if pair == slow:
            insertions = [((begin + end) // 2, (factor - 1) * (end - begin)) for begin, end in recording.collectives]
        for rank in (0, 1):
            write_rank(recording, folder / f"pair{pair}_rank{rank}.trace", rank, 2, insertions, identity, f"host{2 * pair + rank}", 100 + pair)


def imbalance(folder, ranks=6, heavy=2, factor=1.5):
    """The matrix products of one rank take `factor` times as long. The others wait in the following collective."""
    recording = Recording()
    own = [((begin + end) // 2, round((factor - 1) * (end - begin))) for begin, end in recording.work]
    begins = [begin for begin, _ in recording.collectives]
    longer = [0] * len(begins)
    for (begin, _), (_, length) in zip(recording.work, own):
        longer[min(bisect.bisect_left(begins, begin), len(begins) - 1)] += length
    waits = [(within_collective(recording, number), length) for number, length in enumerate(longer) if length]
    for rank in range(ranks):
        write_rank(recording, folder / f"rank{rank:03}.trace", rank, ranks, own if rank == heavy else waits, identity, "host", 77)


def desync(folder, ranks=4, wrong=2, number=9):
    """Rank `wrong` calls the collective with that number (from 0) with half of the bytes."""
    recording = Recording()
    for rank in range(ranks):
        write_rank(recording, folder / f"rank{rank:03}.trace", rank, ranks, [], identity, "host", 77, sizes={number: 8388608} if rank == wrong else None)


def early_end(folder, ranks=4, dead=1, number=12):
    """Rank `dead` never comes to the collective with that number (from 0)."""
    recording = Recording()
    for rank in range(ranks):
        write_rank(recording, folder / f"rank{rank:03}.trace", rank, ranks, [], identity, "host", 77, stop_after=number if rank == dead else None)


def nights(folder, count=30, slower_from=17, factor=1.1):
    """One run for each night. From night `slower_from` on, the matrix products take `factor` times as long. Noise of 1 %."""
    import random

    recording, noise = Recording(), random.Random(5)
    day = 86_400_000_000_000
    for night in range(count):
        scale = noise.gauss(1, 0.01) * (factor if night >= slower_from else 1)
        write_rank(recording, folder / f"night{night:02}.trace", 0, 2, [], identity, "host", 77, slower=("nvjet", scale), utc=1_790_000_000_000_000_000 + night * day)


def long(folder, files=10, events=1_000_000, source=ROOT / "tests/data/torch_training_workers0.trace"):
    """Recordings with the given number of events, for measurements. The events of a training are repeated one after the other, each a little shorter at random.

    The files are as recorded, not compacted.
    """
    import numpy

    chance = numpy.random.default_rng(1)
    recording = Recording(source)
    chunks = [(kind, process, source, count, proto.EventChunk.FromString(payload)) for kind, process, source, count, payload in recording.frames if kind == proto.FRAME_EVENTS]
    moved = [chunk for chunk in chunks if chunk[4].WhichOneof("events") not in (None, "counter_samples")]
    span = max(end for _, end in recording.work + recording.collectives) - recording.epoch
    repeats = max(1, round(events / max(1, sum(count for _, _, _, count, _ in moved))))
    bodies, lengths = [], {}
    for number in range(repeats):
        for kind, process, source, count, chunk in moved:
            chunk.base_time += span if number else 0
            events_of = getattr(chunk, chunk.WhichOneof("events"))
            if hasattr(events_of, "duration"):
                whole = lengths.setdefault(id(chunk), numpy.array(events_of.duration, dtype=numpy.uint64))
                events_of.duration[:] = (whole * chance.uniform(0.95, 1, len(whole))).astype(numpy.uint64).tolist()
            bodies.append(frame(kind, process, source, count, chunk.SerializeToString()))
            if not number:  # ids are defined only once
                for name in ("strings", "launch_shapes", "queues", "copy_shapes", "kernel_names", "code_locations", "call_nodes"):
                    chunk.ClearField(name)
    others = {kind: [frame(kind, *rest) for kind_, *rest in recording.frames if kind_ == kind] for kind in {kind for kind, *_ in recording.frames}}
    left_out = (proto.FRAME_EVENTS, proto.FRAME_INDEX, proto.FRAME_OUTLINE, proto.FRAME_SESSION_END)
    begin = b"".join(one for kind, all_of_kind in sorted(others.items()) if kind not in left_out for one in all_of_kind)
    data = recording.data[:16] + begin + b"".join(bodies) + b"".join(others[proto.FRAME_SESSION_END])
    for number in range(files):
        (folder / f"long{number:04}.trace").write_bytes(data)


FLEETS = {function.__name__: function for function in (straggler, busy_straggler, slow_link, imbalance, desync, early_end, nights, long)}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("fleet", choices=sorted(FLEETS))
    parser.add_argument("folder", type=pathlib.Path)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    FLEETS[given.fleet](given.folder)
