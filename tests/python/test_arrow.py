"""`lanescope export -t arrow` writes the same tables as Parquet, as streams. Checked by a reader of Arrow written from its specification, and by pyarrow and
polars."""

import os
import pathlib
import stat
import subprocess
import tempfile
import unittest

import support
from arrow_stream import streams
from parquet_file import ParquetFile


def arrow(recording, *arguments):
    return support.lanescope("export", "-q", "-t", "arrow", "-o", "-", *arguments, recording)


def parquet(recording, folder, *arguments):
    path = pathlib.Path(folder) / f"{pathlib.Path(recording).stem}.parquet"
    support.lanescope("export", "-q", "-f", "-t", "parquet", "-o", path, *arguments, recording)
    return {file.stem: ParquetFile(file) for file in path.iterdir()}


class Rows(unittest.TestCase):
    def test_are_those_of_parquet_for_every_recording(self):
        for path in support.RECORDINGS:
            with self.subTest(recording=path.name), tempfile.TemporaryDirectory() as folder:
                files, found = parquet(path, folder), streams(arrow(path))
                self.assertEqual(sorted(found), sorted(files))
                for name, stream in found.items():
                    self.assertTrue(stream.columns == files[name].columns, name)  # a million different rows are too long to print
                    self.assertEqual(stream.metadata, files[name].metadata)

    def test_of_several_batches_are_all_there(self):
        # Each range has a different name, so that each batch has other texts than the one before.
        count, chunks, expected = 50_000, [], []
        for number in range(3):
            first = 1 + number * count
            texts = b"".join(support.field(3, f"range {first + i}".encode()) for i in range(count))
            body = support.field(4, support.zigzag(0) + support.zigzag(2) * (count - 1)) + support.field(5, bytes([1]) * count)
            body += support.field(6, b"".join(support.varint(first + i) for i in range(count))) + support.field(7, bytes(count))
            chunks.append(support.frame(6, support.field(1, (1000 + 200_000 * number) << 1) + support.field(2, first) + texts + support.field(24, body), count=count))
            expected += [(200_000 * number + 2 * i, f"range {first + i}") for i in range(count)]
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "long.trace"
            path.write_bytes(support.HEADER + support.session_start() + support.process_start() + b"".join(chunks) + support.session_end())
            stream = streams(arrow(path))["nvtx_ranges"]
            self.assertEqual(stream.batches, [1 << 16, 1 << 16, 150_000 - (2 << 16)])
            self.assertTrue(list(zip(stream.columns["start"], stream.columns["name"])) == expected)


class Requests(unittest.TestCase):
    def test_one_table_comes_also_without_a_row(self):
        found = streams(arrow(support.recording("cuda_streams"), "--tables", "kernels,page_faults"))
        self.assertEqual(list(found), ["kernels", "page_faults"])
        self.assertEqual(found["page_faults"].batches, [])
        self.assertIn("address", found["page_faults"].columns)

    def test_a_window_holds_what_parquet_has_of_it(self):
        path = support.recording("cuda_streams")
        with tempfile.TemporaryDirectory() as folder:
            starts = streams(arrow(path, "--tables", "kernels"))["kernels"].columns["start"]
            window = f"{starts[len(starts) // 3]}/{starts[len(starts) // 2]}"
            files, found = parquet(path, folder, "--times", window), streams(arrow(path, "--times", window))
            self.assertEqual({name: stream.columns for name, stream in found.items()}, {name: file.columns for name, file in files.items()})

    def test_wrong_tables_are_named(self):
        for given, said in (("no_such_table", "none of the tables that there are: kernels, copies"), ("(", "is not a regular expression")):
            for kind in ("arrow", "parquet"):
                with self.subTest(given=given, kind=kind), tempfile.TemporaryDirectory() as folder:
                    arguments = [support.program(), "export", "-t", kind, "--tables", given, "-o", f"{folder}/x", support.recording("cuda_streams")]
                    done = subprocess.run(arguments, capture_output=True, text=True)
                    self.assertEqual(done.returncode, 2)
                    self.assertIn(said, done.stderr)
                    self.assertEqual(done.stderr.count("\n"), 1)
                    self.assertEqual(os.listdir(folder), [])

    def test_a_reader_that_goes_away_ends_it_with_a_sentence(self):
        child = subprocess.Popen([support.program(), "export", "-t", "arrow", "-o", "-", support.recording("torch_training_workers0")],
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        child.stdout.read(8)
        child.stdout.close()
        said = child.stderr.read().decode()
        child.stderr.close()
        self.assertIn(child.wait(), (1, -13), said)
        self.assertLessEqual(said.count("\n"), 1)

    def test_a_file_is_whole_and_never_written_over_another(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "x.arrows"
            support.lanescope("export", "-q", "-t", "arrow", "-o", path, support.recording("gpu_metrics"))
            self.assertEqual(path.read_bytes(), arrow(support.recording("gpu_metrics")))
            again = subprocess.run([support.program(), "export", "-t", "arrow", "-o", path, support.recording("cuda_streams")], capture_output=True, text=True)
            self.assertEqual(again.returncode, 1)
            self.assertIn("exists already", again.stderr)


class OtherReaders(unittest.TestCase):
    """Other readers, if installed, read the same."""

    def setUp(self):
        self.data = {name: arrow(support.recording(name)) for name in ("torch_training_workers0", "gpu_metrics", "cpu_loader", "kernel_counters", "transpositions")}

    def test_pyarrow(self):
        try:
            import pyarrow
            import pyarrow.ipc
        except ImportError as missing:
            self.skipTest(str(missing))
        for name, data in self.data.items():
            source, expected = pyarrow.BufferReader(data), streams(data)
            for table, stream in expected.items():
                read = pyarrow.ipc.open_stream(source).read_all()
                read.validate(full=True)
                self.assertEqual(read.schema.metadata[b"lanescope.table"].decode(), table)
                self.assertTrue(read.to_pydict() == stream.columns, (name, table))
            self.assertEqual(source.tell(), len(data))

    def test_polars(self):
        try:
            import polars
        except ImportError as missing:
            self.skipTest(str(missing))
        for table in ("kernels", "nvtx_ranges"):
            data = arrow(support.recording("torch_training_workers0"), "--tables", table)
            read = polars.read_ipc_stream(data)
            self.assertTrue(read.to_dict(as_series=False) == streams(data)[table].columns)


if __name__ == "__main__":
    unittest.main()
