"""`lanescope export -t parquet` writes the same rows as the package reads. Checked by a reader of Parquet written from its specification, and by other
readers."""

import collections
import contextlib
import pathlib
import re
import sqlite3
import subprocess
import tempfile
import unittest

import support
import lanescope
import numpy as np
import xxhash
from lanescope.table import PROVENANCE
from parquet_file import ParquetFile


def export(recording, folder, *arguments):
    path = pathlib.Path(folder) / f"{recording.stem}.parquet"
    support.lanescope("export", "-q", "-t", "parquet", "-o", path, *arguments, recording)
    return path


def rows_of(columns, names):
    return collections.Counter(zip(*(columns[name] for name in names)))


def further_columns():
    """The columns, by table, that docs/tables.md lists for Parquet beyond the package's."""
    page = (support.ROOT / "docs/tables.md").read_text().split("## Parquet\n")[1]
    found = collections.defaultdict(list)
    for tables, column in re.findall(r"^\| ([a-z_, ]+) \| `(\w+)` \|", page, re.MULTILINE):
        for table in tables.split(", "):
            found[table].append(column)
    return found


class Rows(unittest.TestCase):
    def test_are_those_of_the_package_for_every_recording(self):
        further = further_columns()
        for path in support.RECORDINGS:
            with tempfile.TemporaryDirectory() as folder, lanescope.open(path) as trace:
                files = {file.stem: ParquetFile(file) for file in export(path, folder).iterdir()}
                for name, table in trace.tables.items():
                    with self.subTest(recording=path.name, table=name):
                        if len(table) == 0:
                            self.assertNotIn(name, files)
                            continue
                        own, columns = table.to_numpy(), files[name].columns
                        self.assertEqual(list(columns), table.columns + further[name] + list(PROVENANCE))
                        self.assertEqual(rows_of(columns, PROVENANCE), rows_of({column: values.tolist() for column, values in table[list(PROVENANCE)].to_numpy().items()}, PROVENANCE))
                        self.assertEqual(columns["start"], sorted(columns["start"]))
                        self.assertEqual(rows_of(columns, table.columns), rows_of({column: values.tolist() for column, values in own.items()}, table.columns))
                self.assertLessEqual(files.keys(), trace.tables.keys())

    def test_footers_say_where_the_recording_comes_from(self):
        path = support.recording("torch_training_workers0")
        with tempfile.TemporaryDirectory() as folder, lanescope.open(path) as trace:
            metadata = ParquetFile(export(path, folder) / "kernels.parquet").metadata
            self.assertEqual(int(metadata["lanescope.utc_epoch_ns"]), trace.utc_epoch)
            self.assertEqual(metadata["lanescope.table"], "kernels")
            self.assertEqual(metadata["lanescope.finished"], "true")

    def test_a_window_holds_what_overlaps_it(self):
        path = support.recording("cuda_streams")
        with tempfile.TemporaryDirectory() as folder, lanescope.open(path) as trace:
            starts = trace.kernels["start"]
            begin, end = int(starts[len(starts) // 3]), int(starts[len(starts) // 2])
            columns = ParquetFile(export(path, folder, "--times", f"{begin}/{end}") / "kernels.parquet").columns
            self.assertEqual(columns["start"], trace.kernels.between(begin, end)["start"].tolist())


class LongTables(unittest.TestCase):
    def test_of_several_row_groups_keep_extreme_values(self):
        # More rows than a row group's 2^18; few and many different durations, small ones and ones of 60 bits; names in runs and alternating names.
        random = np.random.default_rng(7)
        chunks, expected = [], []
        for number in range(6):
            count = 50_000
            durations = random.choice([0, 1, 1 << 60], count) if number % 2 else random.integers(0, 1 << (10 * number + 1), count)
            starts = 1_000_000 * number + np.arange(count)
            column = b"".join(support.varint(int(d)) for d in durations)
            body = support.field(1, support.zigzag(0) + support.zigzag(1) * (count - 1)) + support.field(2, column)
            body += b"".join(support.field(f, bytes(count)) for f in (3, 4, 5, 6))
            chunks.append(support.frame(6, support.field(1, (1000 + 1_000_000 * number) << 1) + support.field(16, body), count=count))
            expected += zip(starts.tolist(), durations.tolist())
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "long.trace"
            path.write_bytes(support.HEADER + support.session_start() + support.process_start() + b"".join(chunks) + support.session_end())
            file = ParquetFile(export(path, folder) / "kernels.parquet")
            self.assertEqual([group[3] for group in file.row_groups], [1 << 18, 300_000 - (1 << 18)])
            self.assertEqual(sorted(zip(file.columns["start"], file.columns["duration"])), sorted(expected))


class Size(unittest.TestCase):
    def test_a_kernel_takes_5_bytes_with_its_launch(self):
        # 40,000 launches with random times. Versions of zstd differ by less than a hundredth.
        with tempfile.TemporaryDirectory() as folder:
            file = export(support.recording("cause_tiny_kernels"), folder, "--tables", "kernels") / "kernels.parquet"
            self.assertLess(file.stat().st_size / ParquetFile(file).row_groups[0][3], 5.05)


    def test_times_of_few_kernels_are_differences(self):
        # 10,001 launches with different times: in a dictionary each takes 8 bytes.
        with tempfile.TemporaryDirectory() as folder:
            file = export(support.recording("cause_sync_each_launch"), folder, "--tables", "kernels") / "kernels.parquet"
            self.assertLess(file.stat().st_size / ParquetFile(file).row_groups[0][3], 6.1)


class FurtherColumns(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def test_a_launch_is_the_call_with_the_correlation_number(self):
        path = support.recording("torch_training_workers0")
        with lanescope.open(path) as trace:
            calls = trace.api_calls[["process", "correlation", "start", "duration", "name", "thread"]].to_numpy()
            by_number = collections.defaultdict(list)
            for process, number, *call in zip(*(values.tolist() for values in calls.values())):
                by_number[process, number].append(tuple(call))
        columns = ParquetFile(export(path, self.folder.name) / "kernels.parquet").columns
        found = 0
        for process, number, *launch in zip(*(columns[c] for c in ("process", "correlation", "launch_start", "launch_duration", "launch_name", "launch_thread"))):
            candidates = by_number[process, number] if number else []
            if not candidates:
                self.assertEqual(launch, [None] * 4)
                continue
            found += 1
            self.assertEqual(tuple(launch), min(candidates, key=lambda call: (call[0], -call[1])))  # the outermost call, if calls nest
        self.assertGreater(found, 100)

    def test_a_parent_is_the_innermost_range_around_it(self):
        path = support.recording("torch_training_workers0")
        columns = ParquetFile(export(path, self.folder.name) / "nvtx_ranges.parquet").columns
        names = ("process", "thread", "domain", "style", "start", "duration", "depth", "row", "parent")
        ranges = list(zip(*(columns[name] for name in names)))
        self.assertEqual([r[7] for r in ranges], list(range(len(ranges))))
        nested = 0
        stacks = collections.defaultdict(list)
        for process, thread, domain, style, start, duration, depth, row, parent in ranges:
            if style != "push pop":
                self.assertIsNone(parent)
                continue
            stack = stacks[process, thread, domain]
            while stack and stack[-1][0] < start + duration:
                stack.pop()
            self.assertEqual(parent, stack[-1][1] if stack else None)
            self.assertEqual(depth, len(stack))
            nested += parent is not None
            stack.append((start + duration, row))
        self.assertGreater(nested, 50)

    def test_hashes_of_names_are_xxh64_of_their_bytes(self):
        columns = ParquetFile(export(support.recording("torch_graph"), self.folder.name) / "kernels.parquet").columns
        self.assertTrue(all(number == xxhash.xxh64_intdigest(name.encode()) for name, number in set(zip(columns["name"], columns["name_hash"]))))


class Folders(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name) / "x.parquet"

    def refused(self, *arguments):
        done = subprocess.run([support.program(), "export", "-t", "parquet", *arguments, support.recording("cuda_streams")], capture_output=True, text=True)
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        return done.stderr

    def test_what_is_there_stays_unless_overwriting_is_allowed(self):
        self.path.mkdir()
        (self.path / "mine.txt").write_text("mine")
        self.assertIn("exists already", self.refused("-o", str(self.path)))
        self.assertEqual([file.name for file in self.path.iterdir()], ["mine.txt"])

    def test_overwriting_leaves_no_table_of_the_recording_before(self):
        support.lanescope("export", "-q", "-t", "parquet", "-o", self.path, support.recording("gpu_metrics"))
        (self.path / "mine.txt").write_text("mine")
        self.assertTrue((self.path / "counters.parquet").exists())
        support.lanescope("export", "-q", "-f", "-t", "parquet", "-o", self.path, support.recording("cuda_streams"))
        self.assertFalse((self.path / "counters.parquet").exists())
        self.assertTrue((self.path / "mine.txt").exists())

    def test_a_file_or_standard_output_is_no_folder(self):
        self.path.write_text("mine")
        self.assertIn("not a folder", self.refused("-f", "-o", str(self.path)))
        self.assertEqual(self.path.read_text(), "mine")
        self.assertIn("folder", self.refused("-o", "-"))


class TablesOfSqlite(unittest.TestCase):
    def test_are_those_of_the_sqlite_export_to_the_last_value(self):
        for name in ("torch_training_workers0", "ranks_late1", "gpu_metrics", "cpu_loader", "unified_memory"):
            with self.subTest(recording=name), tempfile.TemporaryDirectory() as folder:
                path, database = pathlib.Path(folder) / "x.parquetdir", pathlib.Path(folder) / "x.sqlite"
                for kind, output in (("parquetdir", path), ("sqlite", database)):
                    support.lanescope("export", "-q", "-t", kind, "-o", output, support.recording(name))
                with contextlib.closing(sqlite3.connect(database)) as sqlite:
                    tables = [row[0] for row in sqlite.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
                    self.assertEqual(sorted(file.name for file in path.iterdir()), sorted(f"{table}.parquet" for table in tables))
                    self.assertIn("StringIds", tables)
                    for table in tables:
                        rows = sqlite.execute(f'SELECT * FROM "{table}" ORDER BY rowid')
                        titles = [column[0] for column in rows.description]
                        columns = ParquetFile(path / f"{table}.parquet").columns
                        self.assertEqual(list(columns), titles, table)
                        same = [list(row) for row in zip(*columns.values())] == [list(row) for row in rows]  # a million different rows are too long to print
                        self.assertTrue(same or table == "META_DATA_EXPORT", table)  # it contains the time of the export

    def test_some_of_the_tables_and_no_other_folder(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "x.parquetdir"
            support.lanescope("export", "-q", "-t", "parquetdir", "--tables", "CUPTI_ACTIVITY_KIND_KERNEL", "-o", path, support.recording("cuda_streams"))
            names = {file.stem for file in path.iterdir() if not file.stem.startswith("ENUM_")}
            self.assertEqual(names, {"CUPTI_ACTIVITY_KIND_KERNEL", "StringIds", "META_DATA_EXPORT"})
            done = subprocess.run([support.program(), "export", "-t", "parquetdir", "-o", path, support.recording("cuda_streams")], capture_output=True, text=True)
            self.assertEqual(done.returncode, 1)
            self.assertIn("exists already", done.stderr)

    def test_overwriting_leaves_no_table_of_the_recording_before(self):
        with tempfile.TemporaryDirectory() as folder:
            path, alone = pathlib.Path(folder) / "x.parquetdir", pathlib.Path(folder) / "alone.parquetdir"
            support.lanescope("export", "-q", "-t", "parquetdir", "-o", path, support.recording("cuda_streams"))
            (path / "mine.parquet").write_text("mine")
            self.assertTrue((path / "CUPTI_ACTIVITY_KIND_MEMCPY.parquet").exists())
            for output in (path, alone):
                support.lanescope("export", "-q", "-f", "-t", "parquetdir", "-o", output, support.recording("cause_lock"))
            self.assertFalse((alone / "CUPTI_ACTIVITY_KIND_MEMCPY.parquet").exists())
            self.assertEqual({file.name for file in path.iterdir()} - {"mine.parquet"}, {file.name for file in alone.iterdir()})
            self.assertEqual((path / "mine.parquet").read_text(), "mine")


class OtherReaders(unittest.TestCase):
    """Other readers, if installed, read the same."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.tables = {}
        for name in ("torch_training_workers0", "gpu_metrics", "cpu_loader"):
            for file in export(support.recording(name), self.folder.name).iterdir():
                self.tables[file] = ParquetFile(file).columns

    def test_pyarrow(self):
        try:
            import pyarrow.parquet
        except ImportError as missing:
            self.skipTest(str(missing))
        for file, columns in self.tables.items():
            self.assertEqual(pyarrow.parquet.read_table(file).to_pydict(), columns, file)

    def test_polars(self):
        try:
            import polars
        except ImportError as missing:
            self.skipTest(str(missing))
        for file, columns in self.tables.items():
            self.assertEqual(polars.read_parquet(file).to_dict(as_series=False), columns, file)

    def test_duckdb(self):
        try:
            import duckdb
        except ImportError as missing:
            self.skipTest(str(missing))
        for file, columns in self.tables.items():
            result = duckdb.sql(f"SELECT * FROM read_parquet('{file}')")
            self.assertEqual({name: list(values) for name, values in zip(result.columns, zip(*result.fetchall()))}, columns, file)
        kernels = next(file for file in self.tables if file.name == "kernels.parquet" and "training" in str(file))
        for name, count, total in duckdb.sql(f"SELECT name, count(*), sum(duration) FROM '{kernels}' GROUP BY name").fetchall():
            durations = [d for n, d in zip(self.tables[kernels]["name"], self.tables[kernels]["duration"]) if n == name]
            self.assertEqual((count, total), (len(durations), sum(durations)))


if __name__ == "__main__":
    unittest.main()
