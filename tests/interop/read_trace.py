#!/usr/bin/env python3
"""A second reader of .trace files, written only from docs/file-format.md and trace.proto. Checks that Lanescope reads the same events.

Use: read_trace.py LANESCOPE TRACE...
Needs: protoc, and pip install protobuf zstandard xxhash. Without them it exits with 77, which ctest takes as skipped.

Every event of every file is compared with the output of `lanescope export -t json`: kind, name, times, process, thread, stream,
correlation id, bytes, launch shape, call chain. Counters are compared with the export as SQLite, and processes are compared, too.
"""
import collections, contextlib, json, math, os, pathlib, shutil, sqlite3, struct, subprocess, sys, tempfile

SKIPPED = 77
try:
    import google.protobuf, xxhash, zstandard
except ImportError as missing:
    print("skipped:", missing)
    sys.exit(SKIPPED)
if shutil.which("protoc") is None:
    print("skipped: no protoc")
    sys.exit(SKIPPED)

ROOT = pathlib.Path(__file__).resolve().parents[2]
folder = pathlib.Path(tempfile.mkdtemp())
subprocess.run(["protoc", f"--python_out={folder}", "-I", ROOT / "proto", ROOT / "proto/lanescope/trace.proto"], check=True)
sys.path.insert(0, str(folder))
from lanescope import trace_pb2 as proto

MAGIC, HEADER = b"LSF1", struct.Struct("<4sHBBIIIIQ")


def frames(data):
    """The sound frames of a file: (type, process, source, payload)."""
    assert data[:8] == b"\x89LST\r\n\x1a\n" and struct.unpack_from("<H", data, 8)[0] == 1
    at = 16
    while (at := data.find(MAGIC, at)) >= 0:
        frame = frame_at(data, at)
        if frame is None:
            at += 1
            continue
        (_, kind, codec, source, stored, raw, process, _, _), payload = frame
        yield kind, process, source, zstandard.ZstdDecompressor().decompress(payload, max_output_size=raw) if codec == 1 else payload
        at += HEADER.size + stored


def frame_at(data, at):
    if at + HEADER.size > len(data):
        return None
    header = HEADER.unpack_from(data, at)
    payload = data[at + HEADER.size:at + HEADER.size + header[4]]
    sound = len(payload) == header[4] and xxhash.xxh64(data[at:at + 24] + payload).intdigest() == header[8]
    return (header, payload) if sound else None


def sums(deltas, start=0):
    for delta in deltas:
        start += delta
        yield start


class Dictionary:
    """What the ids of one process and source stand for. Id 0, and ids that no chunk has defined, stand for nothing."""
    TABLES = {"strings": "first_string", "launch_shapes": "first_shape", "queues": "first_queue", "copy_shapes": "first_copy_shape",
              "kernel_names": "first_kernel_name", "code_locations": "first_code_location", "call_nodes": "first_call_node"}

    def __init__(self):
        self.tables = {name: {} for name in self.TABLES}
        self.symbols = {}

    def extend(self, message):
        for name, first in self.TABLES.items():
            for i, entry in enumerate(getattr(message, name, [])):
                self.tables[name][getattr(message, first) + i] = entry

    def string(self, number):
        return self.tables["strings"].get(number, b"").decode(errors="replace")

    def functions(self, location):
        """The functions at a code location, innermost first: those that Symbols name, otherwise the one from the chunk."""
        if location in self.symbols:
            return self.symbols[location]
        place = self.tables["code_locations"][location]
        if place.function:
            return [self.string(place.function)]
        module = self.string(place.module).rsplit("/", 1)[-1]
        return [(module + "+" if module else "") + f"0x{place.address:x}"]

    def stack(self, node):
        """The stack, outermost call first."""
        calls = []
        while node:
            call = self.tables["call_nodes"][node]
            calls += self.functions(call.location)
            node = call.parent
        return ";".join(reversed(calls))


TRACK_WORDS = dict(enumerate(["Kernel", "Copy", "Graph launch", "Synchronization", "CUDA API", "NVTX range", "NVTX range", "NVTX mark", "OS runtime", "Overhead",
                              "Compilation", "Page fault", "Thread state", "", "CPU sample", "Backtrace", "Memory usage", "CUDA event"]))
DETAILS_OF_TRACKS = {0: 1, 1: 2, 2: 7, 3: 4, 4: 3, 5: 8, 6: 8, 7: 8, 11: 9, 12: 10, 14: 11, 15: 11, 16: 6, 17: 5}
STREAM_TRACKS = (proto.TRACK_KERNELS, proto.TRACK_MEMORY, proto.TRACK_GRAPH_LAUNCHES, proto.TRACK_SYNCHRONIZATIONS)


class Reader:
    def __init__(self, data):
        self.dictionaries = collections.defaultdict(Dictionary)
        self.epoch, self.pids, self.domains = 0, {}, {}
        self.events, self.counters, self.counter_events = [], {}, collections.defaultdict(list)
        self.file, self.tracks, self.threads, self.details = Dictionary(), [], [], collections.defaultdict(dict)  # of a compacted file
        for kind, process, source, payload in frames(data):
            self.take(kind, process, source, payload)

    def take(self, kind, process, source, payload):
        dictionary = self.dictionaries[process, source]
        if kind == proto.FRAME_SESSION_START:
            self.epoch = proto.SessionStart.FromString(payload).epoch
        elif kind == proto.FRAME_PROCESS_START:
            self.pids[process] = proto.ProcessStart.FromString(payload).pid
        elif kind == proto.FRAME_RESOURCES:
            resources = proto.Resources.FromString(payload)
            for domain in resources.nvtx_domains:
                self.domains[process, domain.id] = domain.name.decode(errors="replace")
            for counter in resources.counters:
                self.counters[process, source, counter.id] = counter
        elif kind == proto.FRAME_SYMBOLS:
            symbols = proto.Symbols.FromString(payload)
            dictionary.extend(symbols)
            for location in symbols.locations:
                if location.functions:
                    dictionary.symbols[location.location] = [dictionary.string(f.function) for f in location.functions]
        elif kind == proto.FRAME_EVENTS:
            chunk = proto.EventChunk.FromString(payload)
            dictionary.extend(chunk)
            which = chunk.WhichOneof("events")
            if which == "counter_samples":
                self.take_counters(process, source, chunk)
            elif which:
                self.take_events(process, dictionary, which, getattr(chunk, which), chunk.base_time - self.epoch)

        elif kind == proto.FRAME_NAMES:
            page = proto.Names.FromString(payload)
            self.file.tables["strings"].update((page.first + i, text) for i, text in enumerate(page.texts))
        elif kind == proto.FRAME_CALL_STACKS:
            stacks = proto.CallStacks.FromString(payload)
            self.file.tables["code_locations"].update((stacks.first_location + i, place) for i, place in enumerate(stacks.locations))
            self.file.tables["call_nodes"].update((stacks.first_node + i, node) for i, node in enumerate(stacks.nodes))
            for location in stacks.symbols:
                self.file.symbols[location.location] = [self.file.string(f.function) for f in location.functions]
        elif kind == proto.FRAME_TRACKS:
            message = proto.Tracks.FromString(payload)
            self.threads += message.threads
            self.tracks += message.tracks
        elif kind == proto.FRAME_DETAILS:
            details = proto.Details.FromString(payload)
            columns = [list(sums(column.value_delta)) or [0] * details.rows for column in details.columns]
            for i, row in enumerate(zip(*columns)):
                self.details[details.kind][details.first + i] = row
        elif kind == proto.FRAME_LANE_SEGMENT:
            self.take_segment(proto.LaneSegment.FromString(payload))

    def take_segment(self, segment):
        track, count = self.tracks[segment.track], len(segment.gap)
        if track.kind == proto.TRACK_PROCESSORS:
            return  # these repeat the states of threads
        column = lambda values: list(values) or [0] * count
        names, correlations = column(segment.name), list(sums(column(segment.correlation_delta)))
        rows = list(sums(column(segment.detail_delta)))
        start = segment.first_start - self.epoch
        for i, (gap, duration) in enumerate(zip(segment.gap, column(segment.duration))):
            start += gap
            event = {"start_ns": start, "duration_ns": duration, "pid": self.pids.get(track.process, 0), "name": self.file.string(names[i])}
            start += duration
            if correlations[i] and track.kind not in (proto.TRACK_NVTX_RANGES, proto.TRACK_NVTX_PROCESS_RANGES, proto.TRACK_NVTX_MARKS):
                event["correlation"] = correlations[i]
            if track.kind in STREAM_TRACKS:
                event |= {"device": track.device, "context": track.context, "stream": track.stream}
            if track.thread:
                event["tid"] = self.threads[track.thread - 1].id
            details = self.details[DETAILS_OF_TRACKS.get(track.kind, 0)].get(rows[i])
            self.events.append(event | self.segment_event(track, details))

    def segment_event(self, track, row):
        """An event from its track and details, in the form that read_kernels() and the other functions give."""
        kind, domain = TRACK_WORDS[track.kind], self.domains.get((track.process, track.domain), "")
        if kind == "Kernel":
            row = row or (0,) * 22
            return {"kind": kind, "grid": list(row[2:5]), "block": list(row[5:8]), "registers_per_thread": row[11], "static_shared_memory": row[12],
                    "dynamic_shared_memory": row[13]}
        if kind == "Copy":
            row = row or (0,) * 14
            if row[0] == 1:
                return {"kind": "Set", "bytes": row[5], "destination_memory": row[3]}
            return {"kind": kind, "bytes": row[5], "source_memory": row[2], "destination_memory": row[3], "name": row[1]}
        if kind == "Thread state":
            row = row or (0, 0)
            return {"kind": kind, "name": row[0]} | ({"processor": row[1] - 1} if row[1] else {})
        if kind in ("CPU sample", "Backtrace"):
            row = row or (0, 0, 0, 0)
            return {"kind": kind, "stack": (self.file, row[0]), "name": row[1]} | ({"processor": row[2] - 1} if row[2] and kind == "CPU sample" else {})
        if kind == "Synchronization":
            return {"kind": kind, "name": row[0] if row else 0}
        if kind == "Memory usage":
            return {"kind": kind, "name": row[0] if row else 0}
        if kind in ("NVTX range", "NVTX mark"):
            return {"kind": kind} | ({"domain": domain} if domain else {})
        if kind == "CUDA event":
            return {"kind": kind, "name": f"CUDA event {row[0] if row else 0}"}
        return {"kind": kind}

    def take_counters(self, process, source, chunk):
        samples = chunk.counter_samples
        times = list(sums(samples.time_delta, chunk.base_time - self.epoch))
        for number, column in zip(samples.counter, samples.columns):
            counter = self.counters[process, source, number]
            values = [value * (counter.resolution or 1) for value in sums(column.value_delta)]
            known = [(time, value) for i, (time, value) in enumerate(zip(times, values)) if i not in set(column.missing)]
            self.counter_events[process, counter.name.decode(), counter.unit.decode()] += known

    def take_events(self, process, dictionary, which, events, base):
        string, tables = dictionary.string, dictionary.tables
        times = list(sums(events.start_delta if hasattr(events, "start_delta") else events.time_delta, base))
        count = len(times)
        column = lambda name: getattr(events, name, []) or [0] * count
        durations = column("duration") if which != "samples" or events.origin != proto.SAMPLE_TIMER else [0] * count
        correlations = list(sums(column("correlation_delta")))
        for i, (start, duration) in enumerate(zip(times, durations)):
            event = {"start_ns": start, "duration_ns": duration, "pid": self.pids.get(process, 0)}
            if correlations[i] and which not in ("nvtx_ranges", "nvtx_marks"):
                event["correlation"] = correlations[i]
            if hasattr(events, "queue") and which not in ("cuda_events", "memory_usage"):  # the export leaves out the queues of these two
                queue = tables["queues"].get(events.queue[i], proto.Queue())
                event |= {"device": queue.device, "context": queue.context, "stream": queue.stream}
            if which in ("overheads", "compilations"):
                if thread := column("thread")[i]:  # 0: belongs to the whole process
                    event["tid"] = thread
            elif hasattr(events, "thread"):
                event["tid"] = column("thread")[i] if which == "os_runtime" else events.thread
            self.events.append(event | getattr(self, "read_" + which)(process, dictionary, events, i, column))

    def read_kernels(self, process, dictionary, kernels, i, column):
        shape = dictionary.tables["launch_shapes"].get(kernels.shape[i], proto.LaunchShape())
        if kernels.kernel_name:
            name = dictionary.string(dictionary.tables["kernel_names"][kernels.kernel_name[i]].readable)
        else:
            name = dictionary.string(kernels.name[i])
        return {"kind": "Kernel", "name": name, "grid": [shape.grid_x, shape.grid_y, shape.grid_z],
                "block": [shape.block_x, shape.block_y, shape.block_z], "registers_per_thread": shape.registers_per_thread,
                "static_shared_memory": shape.static_shared_memory, "dynamic_shared_memory": shape.dynamic_shared_memory}

    def read_copies(self, process, dictionary, copies, i, column):
        shape = dictionary.tables["copy_shapes"].get(copies.shape[i], proto.CopyShape())
        return {"kind": "Copy", "bytes": copies.bytes[i], "source_memory": shape.source_memory,
                "destination_memory": shape.destination_memory, "name": shape.kind}

    def read_sets(self, process, dictionary, sets, i, column):
        return {"kind": "Set", "bytes": sets.bytes[i], "destination_memory": sets.memory_kind[i], "name": "[CUDA memset]"}

    def read_graph_launches(self, process, dictionary, launches, i, column):
        return {"kind": "Graph launch", "name": f"CUDA graph {launches.graph[i]}"}

    def read_synchronizations(self, process, dictionary, events, i, column):
        return {"kind": "Synchronization", "name": events.type[i]}

    def read_cuda_events(self, process, dictionary, events, i, column):
        return {"kind": "CUDA event", "name": f"CUDA event {events.event[i]}"}

    def read_api_calls(self, process, dictionary, calls, i, column):
        return {"kind": "CUDA API", "name": dictionary.string(calls.name[i])}

    def read_os_runtime(self, process, dictionary, spans, i, column):
        return {"kind": "OS runtime", "name": dictionary.string(spans.name[i])}

    def read_overheads(self, process, dictionary, spans, i, column):
        return {"kind": "Overhead", "name": dictionary.string(spans.name[i])}

    def read_compilations(self, process, dictionary, spans, i, column):
        return {"kind": "Compilation", "name": dictionary.string(spans.name[i])}

    def read_nvtx_ranges(self, process, dictionary, ranges, i, column):
        return self.nvtx("NVTX range", process, dictionary, ranges, i)

    def read_nvtx_marks(self, process, dictionary, marks, i, column):
        return self.nvtx("NVTX mark", process, dictionary, marks, i)

    def nvtx(self, kind, process, dictionary, events, i):
        domain = self.domains.get((process, events.domain), "")
        return {"kind": kind, "name": dictionary.string(events.name[i])} | ({"domain": domain} if domain else {})

    def read_memory_usage(self, process, dictionary, usage, i, column):
        return {"kind": "Memory usage", "name": usage.operation[i]}

    def read_page_faults(self, process, dictionary, faults, i, column):
        return {"kind": "Page fault", "name": "GPU page fault" if column("device")[i] else "CPU page fault"}

    def read_thread_states(self, process, dictionary, states, i, column):
        processor = column("processor")[i]
        return {"kind": "Thread state", "name": states.state[i]} | ({"processor": processor - 1} if processor else {})

    def read_samples(self, process, dictionary, samples, i, column):
        processor, timed = column("processor")[i], samples.origin == proto.SAMPLE_TIMER
        event = {"kind": "CPU sample" if timed else "Backtrace", "stack": (dictionary, samples.call_node[i]), "name": samples.origin}
        return event | ({"processor": processor - 1} if processor and timed else {})


# The export's words for numbers of the schema.
def words(enum, number, prefix):
    return enum.Name(number)[len(prefix):].replace("_", " ").lower()


SYNCHRONIZATIONS = {1: "Event synchronization", 2: "Stream waits for event", 3: "Stream synchronization", 4: "Context synchronization"}
MEMORY_USAGE = {1: "Allocation", 2: "Release", 3: "Memory pool created", 4: "Memory pool destroyed", 5: "Memory pool trimmed"}
SAMPLES = ["CPU sample", "Backtrace of a CUDA call", "Backtrace of an OS call"]


def worded(event):
    """The event in the export's form, except that names of copies and memory lose their capitals and hyphens."""
    kind, event = event["kind"], dict(event)
    if kind == "Copy":
        direction = words(proto.CopyKind, event["name"], "COPY_")
        event["name"] = "[cuda memcpy" + ("" if direction == "unknown" else " " + direction) + "]"
    if kind == "Synchronization":
        event["name"] = SYNCHRONIZATIONS.get(event["name"], "Synchronization")
    if kind == "Memory usage":
        event["name"] = MEMORY_USAGE.get(event["name"], "Memory operation")
    if kind == "Thread state":
        event["name"] = words(proto.ThreadState, event["name"], "THREAD_STATE_" if event["name"] == 0 else "THREAD_").capitalize()
    if kind in ("CPU sample", "Backtrace"):
        dictionary, node = event["stack"]  # all symbols are known only now
        event |= {"name": SAMPLES[event["name"]], "stack": dictionary.stack(node)}
    for memory in ("source_memory", "destination_memory"):
        if memory in event:
            event[memory] = words(proto.MemoryKind, event[memory], "MEMORY_")
    return event


def plain(event):
    """The export's event in the form of worded()."""
    event = dict(event)
    if event["kind"] == "Copy":
        event["name"] = event["name"].lower().replace("-", " ")
    for memory in ("source_memory", "destination_memory"):
        if memory in event:
            event[memory] = event[memory].lower()
    return event


def demangled(events):
    names = sorted({e["name"] for e in events if e["kind"] == "Kernel" and e["name"].startswith("_Z")})
    text = subprocess.run(["c++filt", "--no-strip-underscores"], input="\n".join(names), capture_output=True, text=True, check=True).stdout
    readable = dict(zip(names, text.splitlines()))
    return [e | {"name": readable.get(e["name"], e["name"])} if e["kind"] == "Kernel" else e for e in events]


def counted(events):
    return collections.Counter(json.dumps(event, sort_keys=True) for event in events)


def compare_events(reader, lanescope, trace):
    read = counted(demangled([worded(event) for event in reader.events]))
    text = subprocess.run([lanescope, "export", "-t", "json", "-o", "-", trace], check=True, capture_output=True).stdout
    # Rows of processors repeat the states of threads.
    exported = counted(plain(event) for event in json.loads(text) if "pid" in event)
    for difference, who in ((read - exported, "this reader alone"), (exported - read, "lanescope alone")):
        for event, count in list(difference.items())[:3]:
            print(f"  {who} ({sum(difference.values())} events): {count} x {event}")
    return read == exported


def compare_counters(reader, lanescope, trace):
    """Compares GPU metrics: the number of values of each, and their sum."""
    database = folder / "counters.sqlite"
    subprocess.run([lanescope, "export", "-f", "-t", "sqlite", "-o", database, trace], check=True, capture_output=True)
    exported = {}
    with contextlib.closing(sqlite3.connect(database)) as connection:
        if connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'GPU_METRICS'").fetchone()[0]:
            exported = {name: (count, total) for name, count, total in connection.execute(
                "SELECT metricName, count(*), sum(value) FROM GPU_METRICS JOIN TARGET_INFO_GPU_METRICS USING (typeId, metricId) GROUP BY metricName")}
    read = {name + (f" [{unit}]" if unit else ""): (len(values), math.fsum(value for _, value in values))
            for (process, name, unit), values in reader.counter_events.items() if process == 0}
    same = read.keys() == exported.keys() and all(
        read[name][0] == exported[name][0] and math.isclose(read[name][1], exported[name][1], rel_tol=1e-9) for name in read)
    if not same:
        print("  counters:", {name: (read.get(name), exported.get(name)) for name in read.keys() | exported.keys() if read.get(name) != exported.get(name)})
    return same


failures = 0
for trace in sys.argv[2:]:
    reader = Reader(pathlib.Path(trace).read_bytes())
    same = compare_events(reader, sys.argv[1], trace) & compare_counters(reader, sys.argv[1], trace)
    failures += not same
    print("PASS" if same else "FAIL", trace, f"{len(reader.events)} events, {sum(map(len, reader.counter_events.values()))} values of counters", flush=True)
shutil.rmtree(folder)
sys.exit(failures != 0)
