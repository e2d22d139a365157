"""Recordings read by the package must equal the output of `lanescope export`. Damaged and hostile files must end in an answer."""

import collections
import copy
import json
import multiprocessing
import os
import pathlib
import pickle
import resource
import subprocess
import sys
import tempfile
import threading
import unittest
import unittest.mock
import warnings
from random import Random

import support
import lanescope
from lanescope._frames import FrameFile
from lanescope._tables import SCHEMAS
import numpy as np
import zstandard

# Kinds of the export, and their tables.
KINDS = {
    "Kernel": "kernels", "Copy": "copies", "Set": "sets", "CUDA API": "api_calls", "Synchronization": "synchronizations", "Graph launch": "graph_launches",
    "NVTX range": "nvtx_ranges", "NVTX mark": "nvtx_marks", "OS runtime": "os_runtime", "Overhead": "overheads", "Compilation": "compilations",
    "Page fault": "page_faults", "Thread state": "thread_states", "CPU sample": "samples", "Backtrace": "samples", "Memory usage": "memory_usage",
    "CUDA event": "cuda_events",
}
# Columns of tables, and their names in the export.
COLUMNS = {"start": "start_ns", "duration": "duration_ns", "name": "name", "pid": "pid", "thread": "tid", "stream": "stream", "correlation": "correlation",
           "bytes": "bytes", "registers_per_thread": "registers_per_thread", "stack": "stack"}


def rows_of(table, columns):
    data = table[columns].to_numpy()
    return collections.Counter(zip(*(data[name].tolist() for name in columns)))


def kernel_time(trace):
    return int(trace.kernels["duration"].sum())


class Pickles(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "run.trace"
        self.path.write_bytes((support.ROOT / "tests/data/cuda_streams.trace").read_bytes())

    def test_processes_of_a_pool_read_a_trace_that_they_are_given(self):
        folder = os.getcwd()
        self.addCleanup(os.chdir, folder)
        os.chdir(self.path.parent)  # the processes begin elsewhere
        with lanescope.open(self.path.name) as trace, multiprocessing.get_context("spawn").Pool(1, os.chdir, ["/"]) as pool:
            self.assertGreater(kernel_time(trace), 0)
            self.assertEqual(pool.apply(kernel_time, [trace]), kernel_time(trace))

    def test_a_table_keeps_its_columns_and_its_time(self):
        for path in ("cuda_streams.trace", "gpu_metrics.trace"):
            with lanescope.open(support.ROOT / "tests" / "data" / path) as trace:
                for name, table in trace.tables.items():
                    middle = trace.last_end() // 2
                    for chosen in (table, table[table.columns[:2]], table.between(0, middle) if "start" in table.columns else table, table[["process", "rank"]]):
                        again = pickle.loads(pickle.dumps(chosen))
                        self.assertEqual(again.columns, chosen.columns)
                        read = again.to_numpy()
                        for column, values in chosen.to_numpy().items():
                            np.testing.assert_array_equal(read[column], values)

    def test_another_file_of_that_name_is_refused(self):
        with lanescope.open(self.path) as trace:
            pickled = pickle.dumps(trace)
        for change in (lambda content: content + b"more", lambda content: content):
            self.path.write_bytes(change((support.ROOT / "tests/data/cuda_streams.trace").read_bytes()))
            with self.assertRaisesRegex(lanescope.TraceError, "run.trace is not the file any more"):
                pickle.loads(pickled)
        self.path.unlink()
        with self.assertRaises(FileNotFoundError):
            pickle.loads(pickled)

    def test_chosen_rows_are_refused_with_a_sentence(self):
        with lanescope.open(self.path) as trace:
            for chosen in (trace.with_tables(lambda table: table), trace.kernels.where(["start"], lambda batch: batch["start"] > 0)):
                with self.assertRaisesRegex(TypeError, "can't be pickled. Pickle the"):
                    pickle.dumps(chosen)

    def test_a_copy_is_open_on_its_own(self):
        with lanescope.open(self.path) as trace:
            again = copy.copy(trace)
        self.assertGreater(kernel_time(again), 0)
        again.close()


class Recordings(unittest.TestCase):
    def test_every_event_is_that_of_the_export(self):
        for path in support.RECORDINGS:
            exported = collections.defaultdict(list)
            for event in json.loads(support.lanescope("export", "-t", "json", "-o", "-", path)):
                if event["kind"] in KINDS and "pid" in event:  # rows of processors repeat the states of threads
                    exported[KINDS[event["kind"]]].append(event)
            with lanescope.open(path) as trace:
                for name, table in trace.tables.items():
                    if name not in SCHEMAS:
                        continue  # the export has only events
                    with self.subTest(recording=path.name, table=name):
                        # Events without a name of their own (copies, memory marks) have words of the export as names.
                        columns = [c for c in table.columns if c in COLUMNS and not (c == "duration" and name == "samples")]
                        if name in ("overheads", "compilations", "nvtx_ranges", "nvtx_marks"):
                            columns = [c for c in columns if c != "thread" and c != "correlation"]
                        if name == "memory_usage" or name == "cuda_events":
                            columns = ["start", "pid"]
                        expected = collections.Counter(
                            tuple(event.get(COLUMNS[column], 0 if column != "stack" else "") for column in columns) for event in exported[name]
                        )
                        self.assertEqual(rows_of(table, columns), expected)
                self.assertFalse(trace.lost.damaged_bytes or trace.lost.damaged_chunks or trace.lost.cut)

    def test_lengths_are_known_without_decoding(self):
        for path in support.RECORDINGS:
            with lanescope.open(path) as trace:
                for table in trace.tables.values():
                    self.assertEqual(len(table), len(table["start"]))

    def test_who_woke_a_blocked_thread_is_a_column_of_python_and_sql_in_logs_and_compacted_files(self):
        packed = lambda number, values: support.field(number, b"".join(values))
        states = support.field(1, 4711) + packed(2, [support.zigzag(each) for each in (0, 10, 20)]) + packed(3, [support.varint(each) for each in (10, 20, 5)])
        states += packed(4, [support.varint(each) for each in (1, 3, 3)]) + packed(6, [support.varint(each) for each in (0, 4712, 0)])
        chunk = support.frame(6, support.field(1, 1000 << 1) + support.field(28, states), count=3)
        with tempfile.TemporaryDirectory() as folder:
            path, compact = pathlib.Path(folder) / "x.trace", pathlib.Path(folder) / "compact.trace"
            path.write_bytes(support.HEADER + support.session_start() + support.process_start() + chunk + support.session_end())
            support.lanescope("export", "-q", "-t", "trace", "--form", "compact", "-o", compact, path)
            for file in (path, compact):
                with self.subTest(file.name), lanescope.open(file) as trace:
                    self.assertEqual(trace.thread_states["waker"].tolist(), [0, 4712, 0])
                    rows = json.loads(support.lanescope("query", "-q", "-f", "json", file, "SELECT state, waker FROM thread_states ORDER BY start"))
                    self.assertEqual([row["waker"] for row in rows], [0, 4712, 0])

    def test_a_compacted_file_has_the_same_rows(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("unified_memory", "torch_loader_samples", "gpu_metrics", "torch_graph", "cuda_streams", "cause_lock", "ranks_late0"):
                path = support.recording(name)
                compact = pathlib.Path(folder) / path.name
                support.lanescope("export", "-q", "-t", "trace", "--form", "compact", "-o", compact, path)
                with lanescope.open(path) as log, lanescope.open(compact) as trace:
                    for name, table in log.tables.items():
                        with self.subTest(recording=path.name, table=name):
                            self.assertEqual(len(trace.tables[name]), len(table))
                            self.assertEqual(rows_of(trace.tables[name], table.columns), rows_of(table, table.columns))
                    self.assertEqual(len(trace.diagnostics), len(log.diagnostics))
                    self.assertFalse(trace.lost.damaged_bytes or trace.lost.damaged_chunks or trace.lost.cut or trace.lost.unfinished)

    def test_no_two_threads_share_what_decompresses(self):
        users = collections.defaultdict(set)  # of each decompressor: the threads; zstandard's are for one thread each
        class Watched:
            def __init__(self, make=zstandard.ZstdDecompressor):
                self._own = make()
            def decompress(self, *data, **limits):
                users[id(self)].add(threading.get_ident())
                kept.append(self)
                return self._own.decompress(*data, **limits)
        kept = []
        with tempfile.TemporaryDirectory() as folder:
            compact = pathlib.Path(folder) / "x.trace"
            support.lanescope("export", "-q", "-t", "trace", "--form", "compact", "-o", compact, support.recording("ranks_compute"))
            with unittest.mock.patch("zstandard.ZstdDecompressor", Watched), lanescope.open(compact) as trace:
                before = sum(map(len, users.values()))
                all_read = threading.Barrier(3)
                def read():
                    trace.kernels.to_numpy()
                    all_read.wait()  # the threads live at the same time, so none has the number of another
                threads = [threading.Thread(target=read) for _ in range(2)]
                for thread in threads:
                    thread.start()
                all_read.wait()
                for thread in threads:
                    thread.join()
        self.assertGreater(sum(map(len, users.values())), before)  # threads decompress, too
        self.assertEqual([len(of_one) for of_one in users.values()], [1] * len(users))

    def test_counters_have_the_values_of_the_sqlite_export(self):
        import contextlib
        import math
        import sqlite3

        with tempfile.TemporaryDirectory() as folder, lanescope.open(support.recording("gpu_metrics")) as trace:
            database = pathlib.Path(folder) / "gpu_metrics.sqlite"
            support.lanescope("export", "-q", "-t", "sqlite", "-o", database, support.recording("gpu_metrics"))
            with contextlib.closing(sqlite3.connect(database)) as connection:
                said = {name: (count, total) for name, count, total in connection.execute(
                    "SELECT metricName, count(*), sum(value) FROM GPU_METRICS JOIN TARGET_INFO_GPU_METRICS USING (typeId, metricId) GROUP BY metricName")}
            values = trace.counters.to_numpy()
        own = values["process"] == 0
        read = {}
        for name in sorted(set(values["name"][own])):
            chosen = values["value"][own & (values["name"] == name)]
            unit = set(values["unit"][own & (values["name"] == name)]).pop()
            read[name + (f" [{unit}]" if unit else "")] = (len(chosen), math.fsum(chosen))
        self.assertEqual(read.keys(), said.keys())
        for name, (count, total) in said.items():
            self.assertEqual(read[name][0], count)
            self.assertTrue(math.isclose(read[name][1], total, rel_tol=1e-9))

    def test_sums_are_those_of_stats(self):
        os.environ["LANESCOPE"] = support.program()
        with lanescope.open(support.recording("torch_training_workers0")) as trace:
            kernels = trace.kernels[["name", "duration"]].to_numpy()
            for row in trace.stats("cuda_gpu_kern_sum"):
                durations = kernels["duration"][kernels["name"] == row["Name"]]
                self.assertEqual((len(durations), int(durations.sum())), (row["Instances"], row["Total Time (ns)"]))

    def test_a_critical_path_covers_its_step(self):
        os.environ["LANESCOPE"] = support.program()
        with lanescope.open(support.recording("cause_slow_loader")) as trace:
            ranges = trace.nvtx_ranges[["name", "start", "duration"]].to_numpy()
            step = ranges["name"] == "step 7"
            begin, end = int(ranges["start"][step][0]), int((ranges["start"] + ranges["duration"])[step][0])
            for parts in (trace.critical_path("step 7"), trace.critical_path(begin=begin, end=end)):
                self.assertEqual(parts[0]["Start (ns)"], begin)
                self.assertTrue(all(a["Start (ns)"] + a["Duration (ns)"] == b["Start (ns)"] for a, b in zip(parts, parts[1:])))
                self.assertGreaterEqual(parts[-1]["Start (ns)"] + parts[-1]["Duration (ns)"], end)  # or later, with its last work
            for wrong in ({}, {"step": "step 7", "end": end}):
                with self.assertRaises(ValueError):
                    trace.critical_path(**wrong)
            with self.assertRaises(lanescope.ProgramError):
                trace.critical_path("no such range")

    def test_a_window_holds_what_overlaps_it(self):
        with lanescope.open(support.recording("cuda_streams")) as trace:
            everything = trace.kernels[["start", "duration"]].to_numpy()
            begin, end = int(np.quantile(everything["start"], 0.3)), int(np.quantile(everything["start"], 0.4))
            one_by_one = [(s, d) for s, d in zip(everything["start"].tolist(), everything["duration"].tolist()) if s < end and (s + d > begin or s >= begin)]
            window = trace.kernels.between(begin, end)[["start", "duration"]].to_numpy()
            self.assertEqual(list(zip(window["start"].tolist(), window["duration"].tolist())), one_by_one)
            self.assertEqual(len(trace.kernels.between(begin, end)), len(one_by_one))

    def test_a_table_of_a_closed_trace_says_so(self):
        with lanescope.open(support.recording("cuda_streams")) as trace:
            table = trace.kernels
        with self.assertRaisesRegex(OSError, "The trace was closed"):
            table["start"]

    def test_an_unknown_column_is_named(self):
        with lanescope.open(support.recording("cuda_streams")) as trace, self.assertRaisesRegex(KeyError, "nmae"):
            trace.kernels["nmae"]

    def test_tables_become_frames_of_other_libraries(self):
        with lanescope.open(support.recording("torch_graph")) as trace:
            numbers = trace.kernels[["name", "start", "duration"]].to_numpy()
            for method in ("to_pandas", "to_polars", "to_arrow"):
                with self.subTest(method=method):
                    try:
                        frame = getattr(trace.kernels[["name", "start", "duration"]], method)()
                    except ImportError as missing:
                        self.skipTest(str(missing))
                    columns = frame.to_pydict() if method == "to_arrow" else {name: list(frame[name]) for name in frame.columns}
                    self.assertEqual({name: values.tolist() for name, values in numbers.items()}, columns)


class DamagedFiles(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name) / "x.trace"

    def write(self, *parts):
        self.path.write_bytes(support.HEADER + b"".join(parts))
        return self.path

    def kernels(self, count, duration=b"\x05"):
        columns = support.field(1, b"\x02" * count) + support.field(2, duration * count) + b"".join(support.field(f, bytes(count)) for f in (3, 4, 5, 6))
        return support.frame(6, support.field(1, 4000) + support.field(16, columns), count=count)

    def test_a_cut_file_keeps_its_whole_frames(self):
        whole = support.HEADER + support.session_start() + support.process_start() + self.kernels(10) + self.kernels(20) + support.session_end()
        first = len(whole) - len(self.kernels(20)) - len(support.session_end())
        for end in range(len(support.HEADER), len(whole), 3):
            self.path.write_bytes(whole[:end])
            with lanescope.open(self.path) as trace:
                self.assertTrue(trace.lost.unfinished)
                self.assertEqual(len(trace.kernels["start"]), (10 if end >= first else 0) + (20 if end >= len(whole) - len(support.session_end()) else 0))

    def test_what_a_newer_version_writes_is_counted(self):
        newer = support.frame(777, b"of a kind to come", count=42)
        padding, code = support.frame(24, bytes(10)), support.frame(19, b"")  # these contain nothing that tables have
        with lanescope.open(self.write(support.session_start(), support.process_start(), self.kernels(10), newer, padding, code, support.session_end())) as trace:
            self.assertEqual((trace.lost.unknown_frames, trace.lost.unknown_events), (1, 42))
            self.assertEqual(len(trace.kernels["start"]), 10)

    def test_a_damaged_frame_costs_itself_alone(self):
        parts = [support.session_start(), support.process_start(), self.kernels(10), self.kernels(20), support.session_end()]
        data = bytearray(support.HEADER + b"".join(parts))
        at = len(support.HEADER) + len(parts[0]) + len(parts[1]) + 40
        data[at] ^= 0xFF
        self.path.write_bytes(data)
        with lanescope.open(self.path) as trace:
            self.assertEqual(len(trace.kernels["start"]), 20)
            self.assertEqual(trace.lost.damaged_bytes, len(parts[2]))

    def test_damaged_segments_of_a_compacted_file_are_counted_as_the_program_does(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "x.trace"
            support.lanescope("export", "-q", "-t", "trace", "-o", path, support.recording("torch_training_workers4"))
            with lanescope.open(path) as trace:
                self.assertEqual(trace.lost.damaged_chunks, 0)
            segments = [frame for frame, _ in FrameFile(path).frames() if frame.kind == 18]
            data = bytearray(path.read_bytes())
            for frame in (segments[0], segments[5]):
                data[frame.payload_at + frame.stored_size // 2] ^= 0xFF
            path.write_bytes(data)
            said = json.loads(support.lanescope("info", "--json", path))["condition"]
            self.assertTrue(said.startswith("2 frames are damaged"), said)
            with lanescope.open(path) as trace:
                self.assertEqual((trace.lost.damaged_frames, trace.lost.damaged_chunks), (2, 2))
                self.assertEqual(sum(map(len, (trace.tables[name] for name in SCHEMAS))), sum(frame.event_count for frame in segments if frame not in (segments[0], segments[5])))

    def test_damaged_frames_are_counted_each_alone_two_side_by_side_and_the_index(self):
        whole = support.recording("numba_streams_bug").read_bytes()
        places = [frame.payload_at - 32 for frame, _ in FrameFile(support.recording("numba_streams_bug")).frames()]  # the last is the index
        for first in range(len(places)):
            for count in (1, 2):
                if first + count > len(places) or count == 2 and first + 2 == len(places):
                    continue  # without the index, two adjacent frames look like one
                data = bytearray(whole)
                for place in places[first : first + count]:
                    data[place + 24] ^= 0xFF  # in the checksum
                self.path.write_bytes(data)
                with self.subTest(first=first, count=count), lanescope.open(self.path) as trace:
                    self.assertEqual(trace.lost.damaged_frames, count)
                    self.assertFalse(trace.lost.cut)

    def test_what_had_no_room_was_lost_with_its_process_or_failed_is_missing(self):
        cases = {
            "unwritten": (841, support.frame(2, support.field(2, 1) + support.field(3, 841), process=0)),
            "unreturned_buffers": (3, support.frame(4, support.field(2, 1) + support.field(5, 3)) + support.session_end()),
            "unfollowed": (True, support.frame(8, support.field(2, 1) + support.field(4, 7) + support.field(5, b"It failed."), process=0) + support.session_end()),
            "failed": (1, support.frame(8, support.field(2, 1) + support.field(3, 1) + support.field(4, 7) + support.field(5, b"It failed."), process=0) + support.session_end()),
        }
        for name, (number, frames) in cases.items():
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder) / "x.trace"
                path.write_bytes(support.HEADER + support.session_start() + support.process_start() + frames)
                with lanescope.open(path) as trace:
                    self.assertEqual({key: value for key, value in vars(trace.lost).items() if value}, {name: number})
                    self.assertTrue(trace.lost)
                self.assertIn("incomplete", support.lanescope("info", path).decode())

    def test_what_is_missing_is_the_sentence_of_the_program(self):
        def said(component, state, words, severity=1):
            return support.frame(8, support.field(2, severity) + support.field(3, component) + support.field(4, state) + support.field(5, words), process=0)

        def of_kind(component, kind, words, severity=1, count=0):
            said = support.field(2, severity) + support.field(3, component) + support.field(4, 1) + support.field(5, words.encode())
            return support.frame(8, said + support.field(7, kind) + support.field(8, count), process=0)

        def end(reason, unwritten=0):
            return support.frame(2, support.field(2, reason) + support.field(3, unwritten), process=0)

        torn = said(4, 1, b"536 Python stacks changed while they were read, and were dropped; programs were read 9818 times.", severity=0)
        samples = support.frame(20, support.field(1, 5) + support.field(15, 1234) + support.field(17, 1))
        cases = {
            "incomplete: 536 Python stacks dropped": torn + end(1),
            "incomplete: 1,234 PC samples dropped, 1 full buffer of PC samples lost more": samples + end(1),
            "incomplete: 3 events had no room in the file, what came once the file was full": end(4, 3),
            "incomplete: what came once the file was full": end(5),
            # Kinds, whatever the words are: torn stacks (3), a loss (2), and what is none (1).
            "incomplete: 7 Python stacks dropped, 2 warnings say what else is missing": of_kind(4, 3, "更改的堆栈。", severity=0, count=7)
            + of_kind(5, 2, "样本缺失。")
            + of_kind(5, 1, "Samples are missing in the sense of 9 Python stacks changed while they were read, and were dropped; no more.")
            + said(2, 4, b"Another tool has them.")
            + end(1),
            "incomplete: processes could not be followed, 2 warnings say what else is missing": said(0, 7, b"One was not followed.")
            + said(5, 1, b"Some samples are missing.")
            + said(1, 7, b"It failed.")
            + said(5, 1, b"They may be 50 ms late.")
            + end(1),
            "incomplete: the recording was cut off": b"",
        }
        for sentence, frames in cases.items():
            with self.subTest(sentence), tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder) / "x.trace"
                path.write_bytes(support.HEADER + support.session_start() + support.process_start() + frames)
                with lanescope.open(path) as trace:
                    self.assertEqual(str(trace.lost), sentence)
                self.assertEqual(json.loads(support.lanescope("info", "--json", path))["contents"], sentence)

    def test_the_sentence_of_recorded_files_is_the_program_s(self):
        for name in ("torch_loader_samples", "gpu_metrics", "ranks_late0", "transpositions_counts"):
            with self.subTest(name), lanescope.open(support.recording(name)) as trace:
                self.assertEqual(str(trace.lost), json.loads(support.lanescope("info", "--json", support.recording(name)))["contents"])

    def test_answers_of_the_program_warn_of_a_recording_that_is_not_whole(self):
        whole = support.recording("ranks_late0")
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "cut.trace"
            path.write_bytes(whole.read_bytes()[:200_000])
            with lanescope.open(path) as trace, self.assertWarnsRegex(lanescope.RecordingWarning, "cut off"):
                trace.stats("cuda_api_sum")
        with lanescope.open(whole) as trace, warnings.catch_warnings():
            warnings.simplefilter("error")
            trace.stats("cuda_api_sum")

    def test_other_files_are_refused_in_a_sentence(self):
        self.path.write_bytes(b"SQLite format 3\0" + bytes(100))
        with self.assertRaisesRegex(lanescope.TraceError, "is not a .trace file"):
            lanescope.open(self.path)
        with self.assertRaises(FileNotFoundError):
            lanescope.open(self.path.parent / "none.trace")
        self.path.unlink()
        os.mkfifo(self.path)
        with self.assertRaisesRegex(lanescope.TraceError, "not a regular file"):
            lanescope.open(self.path)

    def test_ids_that_no_chunk_defines_stand_for_nothing(self):
        columns = b"".join(support.field(f, b"\xff\xff\xff\xff\x0f") for f in (3, 4, 6)) + b"".join(support.field(f, b"\x02") for f in (1, 2, 5))
        self.write(support.session_start(), support.process_start(), support.frame(6, support.field(16, columns), count=1), support.session_end())
        with lanescope.open(self.path) as trace:
            row = trace.kernels.to_numpy()
            self.assertEqual((row["name"][0], row["stream"][0], row["grid_x"][0]), ("", 0, 0))

    def test_columns_of_unequal_length_are_counted_as_damage(self):
        bad = support.field(1, b"\x02" * 5) + support.field(2, b"\x02" * 4)
        self.write(support.session_start(), support.frame(6, support.field(16, bad), count=5), self.kernels(3), support.session_end())
        with lanescope.open(self.path) as trace:
            self.assertEqual(len(trace.kernels["duration"]), 3)
            self.assertEqual((len(trace.kernels), trace.lost.damaged_chunks), (3, 1))

    def test_small_chunks_that_are_read_together_say_what_each_says_alone(self):
        random = Random(1)
        numbers = lambda count, bits: b"".join(support.varint(random.getrandbits(random.randrange(1, bits))) for _ in range(count))
        frames, damaged = [], 0
        for i in range(600):
            rows = random.randrange(1, 6)
            lengths = {f: random.choice((0, rows)) for f in range(2, 14)} | {1: rows}
            is_damaged = random.random() < 0.05
            if is_damaged:
                lengths[2] = rows + 1
            damaged += is_damaged
            kernels = b"".join(support.field(f, numbers(length, 40 if f in (1, 2) else 4)) for f, length in lengths.items() if length)
            entries = support.field(2, 1) + b"".join(support.field(3, b"text %d" % (i + j)) for j in range(3))
            entries += support.field(4, 1) + support.field(5, support.field(1, i) + support.field(4, 2)) + support.field(6, 1) + support.field(7, support.field(1, i % 7))
            entries += support.field(10, 1) + support.field(11, support.field(1, 1 + i % 3))
            calls = support.field(1, random.randrange(9)) + b"".join(support.field(f, numbers(rows, 20)) for f in (3, 4, 7))
            frames += [support.frame(6, support.field(1, 2 * i) + entries + support.field(16, kernels), random.randrange(1, 4), i % 3, rows, False),
                       support.frame(6, support.field(1, 2 * i) + support.field(19, calls), random.randrange(1, 4), 0, rows, False)]
        self.write(support.session_start(), support.process_start(), *frames, support.session_end())
        with lanescope.open(self.path) as together, lanescope.open(self.path) as alone:
            read = {name: table.to_numpy() for name, table in together.tables.items()}
            with unittest.mock.patch("lanescope._table_rows._GROUP_ROWS", 0):
                expected = {name: table.to_numpy() for name, table in alone.tables.items()}
            for name, table in expected.items():
                for column, values in table.items():
                    self.assertEqual(read[name][column].tolist(), values.tolist(), (name, column))
            self.assertGreater(len(expected["kernels"]["start"]), 1000)
            self.assertGreater(len(expected["api_calls"]["start"]), 1000)
            self.assertEqual((together.lost, together.lost.damaged_chunks), (alone.lost, damaged))

    def test_small_hostile_files_take_little_time_and_memory(self):
        big = 60 << 20
        zeros = b"".join(support.field(f, bytes(big // 6)) for f in range(1, 7))
        false_magic = support.struct.pack("<IHBBII", 0x3146534C, 6, 0, 0, 2 << 20, 2 << 20)
        hostile = {
            "columns of zeros": [support.frame(6, support.field(16, zeros), count=65536)] * 20,
            "false magic": [false_magic * (4 << 20 >> 4)],
            "far ids": [support.frame(6, support.field(2, (1 << 32) - 1 - i * 70000) + support.field(3, b"x"), count=0) for i in range(2000)],
            "chunks of one event": [support.frame(6, support.field(1, 2 * i) + support.field(16, b"".join(support.field(f, b"\x02") for f in range(1, 7))), count=1, compress=False)
                                    for i in range(40000)],
            "deep chains": [support.frame(6, support.field(14, 1) + b"".join(support.field(15, support.field(1, i)) for i in range(100000))
                                          + support.field(29, support.field(4, b"\x02" * 60000) + support.field(5, b"".join(support.varint(100000 - i % 1000) for i in range(60000)))), count=60000)],
            "a column in pieces": [support.frame(6, support.field(16, support.field(1, b"\x02") * 4_000_000), count=65536)],
            "a name that grows": [support.frame(6, support.field(2, 1) + support.field(3, b"_ZN1a" + b"1aIS_S_S_S_E" * 12 + b"E")
                                                + support.field(16, b"".join(support.field(f, b"\x02") for f in (1, 2, 4, 5, 6)) + support.field(3, b"\x01")), count=1)],
        }
        reader = "import sys; sys.path.insert(0, sys.argv[1]); import lanescope; t = lanescope.open(sys.argv[2]); [v.to_numpy() for v in t.tables.values()]"
        for name, frames in hostile.items():
            with self.subTest(file=name):
                self.write(support.session_start(), support.process_start(), *frames, support.session_end())
                child = subprocess.Popen([sys.executable, "-c", reader, str(support.ROOT / "app/python"), str(self.path)])
                _, status, used = os.wait4(child.pid, 0)
                child.returncode = status
                self.assertEqual(status, 0)
                self.assertLess(used.ru_utime + used.ru_stime, 5)
                self.assertLess(used.ru_maxrss, 1 << 20)  # KiB


class Limits(unittest.TestCase):
    def test_what_a_file_lacked_is_told_of_the_one_that_was_made_from_it(self):
        data = bytearray(support.recording("ranks_compute").read_bytes())
        data[len(data) // 2] ^= 0xFF
        with tempfile.TemporaryDirectory() as folder:
            damaged, compacted = f"{folder}/damaged.trace", f"{folder}/compacted.trace"
            pathlib.Path(damaged).write_bytes(data)
            subprocess.run([support.program(), "export", "-q", "-t", "trace", "-o", compacted, damaged], check=True, capture_output=True)
            with lanescope.open(damaged) as trace:
                self.assertTrue(trace.lost.damaged_chunks or trace.lost.damaged_bytes)
            with lanescope.open(compacted) as trace:
                self.assertTrue(trace.lost.before)
            with lanescope.open(support.recording("ranks_compute")) as trace:
                self.assertFalse(trace.lost)

    def test_more_entries_gpus_and_counters_than_a_small_file_may_hold_are_left_unread_and_told(self):
        texts = support.field(3, b"n") * 100_000
        devices = b"".join(support.field(1, support.field(1, number)) for number in range(1_000))
        counters = b"".join(support.field(7, support.field(1, number)) for number in range(1, 20_001))
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "small.trace"
            for name, frames in {
                "entries": [support.frame(6, support.field(2, 1) + texts) for _ in range(26)],
                "gpus": [support.frame(5, devices)],
                "counters": [support.frame(5, counters, source=number) for number in range(21)],
            }.items():
                with self.subTest(of=name):
                    path.write_bytes(support.HEADER + support.session_start() + support.process_start() + b"".join(frames) + support.session_end())
                    with lanescope.open(path) as trace:
                        self.assertGreater(trace.lost.unread, 0)
                    few = frames[:-2] if len(frames) > 2 else [support.frame(5, devices[: len(devices) // 4])]
                    path.write_bytes(support.HEADER + support.session_start() + support.process_start() + b"".join(few) + support.session_end())
                    with lanescope.open(path) as trace:
                        self.assertEqual(trace.lost.unread, 0)

    def test_a_gpu_that_all_processes_see_is_one(self):
        uuids = [bytes([number]) * 16 for number in range(8)]
        devices = b"".join(support.field(1, (support.field(1, number) if number else b"") + support.field(3, uuid)) for number, uuid in enumerate(uuids))
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "node.trace"
            # Together more than the GPUs that a small file may have. The program counts each one, too (model/trace/building/trace_builder.cpp).
            seen = b"".join(support.process_start(number, 100 + number) + support.frame(5, devices, process=number) for number in range(1, 101))
            path.write_bytes(support.HEADER + support.session_start() + seen + support.session_end())
            with lanescope.open(path) as trace:
                self.assertFalse(trace.lost)
                self.assertEqual({len(process.devices) for process in trace.processes.values()}, {8})

    def test_times_that_make_no_sense_are_left_out_and_counted_as_the_program_does(self):
        field, zigzags = support.field, lambda *numbers: b"".join(map(support.zigzag, numbers))

        def ranges(base_time, starts, durations):
            """A frame of NVTX ranges, with starts as sint64 and durations as uint64."""
            times = field(4, zigzags(*starts)) + field(5, b"".join(map(support.varint, durations))) + field(6, bytes(len(starts))) + field(7, bytes(len(starts)))
            return support.frame(6, field(1, base_time << 1 ^ base_time >> 63 if base_time >= 0 else (-base_time << 1) - 1) + field(24, times), count=len(starts))

        far = 1 << 61
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "wild.trace"
            for frames, valid, invalid in (
                ([ranges(1_000, [5, 5], [3, 3])], 2, 0),
                ([ranges(1_000, [5, far + 5, -far], [3, 3, 3])], 2, 1),
                ([ranges(1_000, [5, 5], [3, (1 << 64) - 3])], 1, 1),
                ([ranges(1_000, [5, 5], [3, far + 1]), ranges((1 << 63) - 1, [-5], [3])], 1, 2),
                ([ranges(-(1 << 63) + 1, [-5], [3])], 0, 1),
            ):
                with self.subTest(valid=valid, invalid=invalid):
                    path.write_bytes(support.HEADER + support.session_start() + support.process_start() + b"".join(frames) + support.session_end())
                    with lanescope.open(path) as trace:
                        self.assertEqual(len(trace.nvtx_ranges["start"]), valid)
                        self.assertEqual(len(trace.nvtx_ranges["duration"]), valid)  # counted once
                        self.assertEqual(len(trace.nvtx_ranges), valid)
                        self.assertEqual(trace.lost.invalid, invalid)
                    said = support.lanescope("query", "-f", "json", path, "SELECT count(*) AS count FROM nvtx_ranges")
                    self.assertEqual(json.loads(said)[0]["count"], valid)

    def test_of_two_chunks_of_one_time_of_a_counter_the_first_is_read(self):
        data = support.recording("gpu_metrics").read_bytes()
        with lanescope.open(support.recording("gpu_metrics")) as trace:
            frames = [place.frame for place in trace._places["counter_samples"]]
            values = len(trace.counters["value"])
            self.assertEqual(trace.lost.damaged_chunks, 0)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "twice.trace"
            chosen = frames[len(frames) // 2]
            at, behind = chosen.payload_at - 32, chosen.payload_at + chosen.stored_size
            path.write_bytes(data[:behind] + data[at:behind] + data[behind:])
            with lanescope.open(path) as trace:
                for _ in range(2):
                    self.assertEqual(len(trace.counters["value"]), values)
                self.assertEqual(trace.lost.damaged_chunks, 1)
            said = support.lanescope("query", "-f", "json", path, "SELECT count(*) AS count FROM counters")
            self.assertEqual(json.loads(said)[0]["count"], values)


class Stacks(unittest.TestCase):
    def test_those_beyond_what_is_read_are_damaged_in_either_form_of_a_recording(self):
        log = support.recording("torch_loader_samples")
        with tempfile.TemporaryDirectory() as folder:
            finished = os.path.join(folder, "finished.trace")
            support.lanescope("export", "-q", "-t", "trace", "-o", finished, log)
            for each in (log, finished):
                whole = lanescope.open(each)
                rows = len(whole.samples.to_numpy()["start"])
                self.assertGreater(rows, 1000)
                self.assertEqual(str(whole.lost), "incomplete: 536 Python stacks dropped")
                trace = lanescope.open(each)
                trace._texts.room_of_texts = 0
                self.assertLess(len(trace.samples.to_numpy()["start"]), rows)
                self.assertGreater(trace.lost.damaged_chunks, 0)


if __name__ == "__main__":
    unittest.main()
