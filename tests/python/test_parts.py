"""Saved parts of recordings: every output counts the same events, whatever precedes the part."""

import collections
import contextlib
import csv
import io
import json
import pathlib
import re
import sqlite3
import tempfile
import unittest

import support
import lanescope
from arrow_stream import streams
from lanescope.fleet import Fleet
from parquet_file import ParquetFile

RECORDING = support.recording("torch_training_workers0")
VERSION = re.compile(r"_v\d{4}$")  # of a CUDA function; reports leave it out


class Sums:
    """For each name, the number of events and their total duration."""

    def __init__(self, rows=()):
        self.by_name = collections.defaultdict(lambda: [0, 0])
        for name, duration in rows:
            of_name = self.by_name[VERSION.sub("", name)]
            of_name[0] += 1
            of_name[1] += duration

    def __eq__(self, other):
        return dict(self.by_name) == dict(other.by_name)

    def __repr__(self):
        return repr(dict(self.by_name))


def sums_of_columns(columns, counts):
    return Sums((name, duration) for name, duration, is_of_part in zip(columns["name"], columns["duration"], counts) if is_of_part)


def overlapping(table, window):
    """The oracle: rows of the whole recording that overlap the time, or start in it."""
    columns = table[["name", "start", "duration"]].to_numpy()
    begin, end = window
    return sums_of_columns(columns, [s < end and (s >= begin or s + d > begin) for s, d in zip(columns["start"].tolist(), columns["duration"].tolist())])


def sums_of_report(rows):
    sums = Sums()
    for row in rows:
        name = next(row[title] for title in ("Name", "Range") if title in row).removeprefix(":")
        sums.by_name[name] = [row[next(title for title in ("Instances", "Num Calls") if title in row)], row["Total Time (ns)"]]
    return sums


def sums_of_sqlite(path, table, name):
    with contextlib.closing(sqlite3.connect(path)) as database:
        said = dict(database.execute("SELECT name, value FROM META_DATA_CAPTURE"))
        begin, end = (int(said.get(key, default)) for key, default in (("LANESCOPE_PART_BEGIN_NS", -(1 << 62)), ("LANESCOPE_PART_END_NS", 1 << 62)))
        condition = f'start < {end} AND (start >= {begin} OR "end" > {begin})'  # as docs/tables.md says it
        return Sums(database.execute(f'SELECT value, "end" - start FROM {table} JOIN StringIds ON id = {name} WHERE {condition}'))


def sums_of_chrome(path, categories):
    said = json.loads(path.read_text())
    begin, end = said.get("partBegin", -1e15), said.get("partEnd", 1e15)
    events = (event for event in said["traceEvents"] if event.get("cat") in categories and event["ph"] == "X")
    return Sums((event["name"], round(event["dur"] * 1000)) for event in events if event["ts"] < end and (event["ts"] >= begin or event["ts"] + event["dur"] > begin))


# A table, its report by the program and by a fleet; the table of its events in SQLite, their categories in Chrome's JSON, and their title in JSON and CSV.
KINDS = (
    ("api_calls", "cuda_api_sum", "CUPTI_ACTIVITY_KIND_RUNTIME", "nameId", ("cuda_runtime", "cuda_driver"), "CUDA API"),
    ("kernels", "cuda_gpu_kern_sum", "CUPTI_ACTIVITY_KIND_KERNEL", "demangledName", ("kernel",), "Kernel"),
)


class Counts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def part(self, recording, window, name):
        path = self.folder / name
        support.lanescope("export", "-q", "-t", "trace", "--filter-time", f"{window[0]}/{window[1]}", "-o", path, recording)
        return path

    def export(self, recording, kind, suffix):
        path = self.folder / f"{recording.stem}{suffix}"
        support.lanescope("export", "-q", "-f", "-t", kind, "-o", path, recording)
        return path

    def ways(self, recording, table, report, sqlite_table, sqlite_name, chrome_categories, title):
        """The sums of one kind of events by each output."""
        with lanescope.open(recording) as trace:
            columns = trace.tables[table][["name", "duration", "in_part"]].to_numpy()
            yield "the reader's column", sums_of_columns(columns, columns["in_part"])
            columns = trace.in_part().tables[table][["name", "duration"]].to_numpy()
            yield "the reader's part", Sums(zip(columns["name"], columns["duration"].tolist()))
            yield "stats", sums_of_report(trace.stats(report))
        fleet = Sums()
        for row in Fleet([str(recording)]).ask(report).tables[0].records():
            fleet.by_name[row["Name"]] = [row["Count"], row["Total"]]
        yield "a fleet", fleet
        answer = support.lanescope("query", "-q", "-f", "json", recording, f"SELECT name, duration FROM {table} WHERE in_part")
        yield "a query", Sums((row["name"], next(row[key] for key in row if key.startswith("duration"))) for row in json.loads(answer))
        columns = ParquetFile(self.export(recording, "parquet", ".parquet") / f"{table}.parquet").columns
        yield "Parquet", sums_of_columns(columns, columns["in_part"])
        arrow = streams(self.export(recording, "arrow", ".arrows").read_bytes())[table]
        yield "Arrow", sums_of_columns(arrow.columns, arrow.columns["in_part"])
        sqlite = self.export(recording, "sqlite", ".sqlite")
        yield "SQLite", sums_of_sqlite(sqlite, sqlite_table, sqlite_name)
        chrome = self.export(recording, "chrome", ".chrome.json")
        yield "Chrome's JSON", sums_of_chrome(chrome, chrome_categories)
        for imported in (sqlite, chrome):
            yield f"stats of {imported.suffix}", sums_of_report(json.loads(support.lanescope("stats", "-q", "-f", "json", "-r", report, imported)))
        events = json.loads(self.export(recording, "json", ".json").read_text())
        yield "JSON", Sums((each["name"], each["duration_ns"]) for each in events if each["kind"] == title and each.get("in_part", True))
        for kind, suffix, delimiter in (("csv", ".csv", ","), ("text", ".txt", "\t")):
            rows = csv.DictReader(io.StringIO(self.export(recording, kind, suffix).read_text()), delimiter=delimiter)
            yield kind, Sums((row["Name"], int(row["Duration (ns)"])) for row in rows if row["Kind"] == title and row.get("In part", "yes") == "yes")

    def test_are_the_same_by_each_way_of_a_recording_of_a_part_and_of_a_part_of_it(self):
        with lanescope.open(RECORDING) as whole:
            kernels = whole.kernels.to_numpy()
            begin, end = int(kernels["start"][0]), int((kernels["start"] + kernels["duration"]).max())
            # The borders are within kernels: these reach into the part, and the calls that launched them are before it.
            middle = int(kernels["start"][len(kernels["start"]) // 2] + kernels["duration"][len(kernels["start"]) // 2] // 2)
            part = (middle, middle + (end - begin) // 8)
            inner = (middle + (end - begin) // 64, middle + (end - begin) // 16)
            first = self.part(RECORDING, part, "part.trace")
            recordings = [(RECORDING, (-(1 << 62), 1 << 62)), (first, part), (self.part(first, inner, "inner.trace"), inner)]
            in_front = 0
            for recording, window in recordings:
                with lanescope.open(recording) as trace:
                    self.assertEqual(trace.part, None if recording == RECORDING else window)
                    in_front += len(trace.api_calls) - len(trace.in_part().api_calls)
                    self.assertEqual(len(trace.in_part().whole.api_calls), len(trace.api_calls))
                for kind in KINDS:
                    expected = overlapping(whole.tables[kind[0]], window)
                    self.assertTrue(expected.by_name)
                    for way, found in self.ways(recording, *kind):
                        with self.subTest(recording=recording.name, table=kind[0], way=way):
                            self.assertEqual(found, expected)
            self.assertGreater(in_front, 0)


class Gaps(unittest.TestCase):
    def test_a_part_in_which_nothing_happened_is_one_and_so_is_a_part_of_it(self):
        with tempfile.TemporaryDirectory() as folder:
            made, source = [], RECORDING
            for window in ((100_000_000_000, 100_000_500_000), (100_000_100_000, 100_000_200_000)):
                made.append(pathlib.Path(folder) / f"gap{len(made)}.trace")
                support.lanescope("export", "-q", "-t", "trace", "--filter-time", f"{window[0]}/{window[1]}", "-o", made[-1], source)
                source = made[-1]
                with lanescope.open(source) as trace:
                    self.assertEqual((trace.event_count(), trace.part, bool(trace.lost)), (0, window, False))
                said = json.loads(support.lanescope("info", "--json", source))
                self.assertEqual((said["part"]["begin_ns"], said["part"]["end_ns"], said["event_count"]), (*window, 0))


if __name__ == "__main__":
    unittest.main()
