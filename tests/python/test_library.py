"""liblanescope.so by ctypes: its tables equal those that the program writes, and its reports those that the program prints."""

import ctypes
import errno
import json
import math
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

import arrow_c
import support
from arrow_stream import streams

FILE = pathlib.Path(support.program()).resolve().parent.parent / "lib" / "liblanescope.so"


def load():
    library = ctypes.CDLL(str(FILE))
    text, error = ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p)
    library.lanescope_version.restype = ctypes.c_char_p
    for name in ("lanescope_tables", "lanescope_reports"):
        getattr(library, name).restype = ctypes.POINTER(ctypes.c_char_p)
    library.lanescope_open.restype = ctypes.c_void_p
    library.lanescope_open.argtypes = [ctypes.c_char_p, error]
    library.lanescope_open_several.restype = ctypes.c_void_p
    library.lanescope_open_several.argtypes = [ctypes.POINTER(ctypes.c_char_p), ctypes.c_size_t, error]
    library.lanescope_close.argtypes = [ctypes.c_void_p]
    library.lanescope_close.restype = None
    library.lanescope_table.restype = ctypes.c_bool
    library.lanescope_table.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(arrow_c.Stream), error]
    library.lanescope_report.restype = text
    library.lanescope_report.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p, error]
    library.lanescope_findings.restype = text
    library.lanescope_findings.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p, error]
    library.lanescope_losses.restype = text
    library.lanescope_losses.argtypes = [ctypes.c_void_p, error]
    library.lanescope_free.argtypes = [text]
    library.lanescope_free.restype = None
    return library


LIBRARY = load() if FILE.exists() else None
RECORDINGS = [path for path in support.RECORDINGS if path.stat().st_size < 200_000]  # these include each kind; larger ones take minutes to read this way


def names(function):
    found, all_names = function(), []
    while found[len(all_names)] is not None:
        all_names.append(found[len(all_names)].decode())
    return all_names


def taken(text):
    """A text from the library, which is then given back to it."""
    try:
        return ctypes.string_at(text).decode()
    finally:
        LIBRARY.lanescope_free(text)


def answered(function, *arguments):
    """The result of a function, or the sentence with which it fails."""
    error = ctypes.c_void_p()
    value = function(*arguments, ctypes.byref(error))
    return (value, None) if value else (None, taken(error.value))


def opened(path):
    trace, sentence = answered(LIBRARY.lanescope_open, os.fsencode(path))
    assert trace, sentence
    return trace


def table(trace, name):
    stream = arrow_c.Stream()
    done, sentence = answered(LIBRARY.lanescope_table, trace, name.encode(), stream)
    assert done, sentence
    return stream


def comparable(columns):
    return {name: ["nan" if isinstance(value, float) and math.isnan(value) else value for value in values] for name, values in columns.items()}


@unittest.skipUnless(LIBRARY, "liblanescope.so was not built")
class Tables(unittest.TestCase):
    def test_are_those_of_the_arrow_export(self):
        for path in RECORDINGS:
            with self.subTest(recording=path.name):
                written = streams(support.lanescope("export", "-q", "-t", "arrow", "-o", "-", path))
                trace = opened(path)
                for name in names(LIBRARY.lanescope_tables):
                    columns, metadata, batches = arrow_c.read(table(trace, name))
                    if name not in written:
                        self.assertEqual(batches, [], name)
                        continue
                    self.assertTrue(comparable(columns) == comparable(written[name].columns), name)
                    self.assertEqual(metadata, written[name].metadata)
                    self.assertEqual(batches, written[name].batches)
                LIBRARY.lanescope_close(trace)

    def test_are_read_after_their_trace_was_closed_and_given_back_unread(self):
        trace = opened(support.recording("torch_training_workers0"))
        several = [table(trace, "api_calls") for _ in range(3)]
        LIBRARY.lanescope_close(trace)
        columns, _, _ = arrow_c.read(several[0])
        self.assertGreater(len(columns["start"]), 1000)
        several[1].release(several[1])
        self.assertFalse(several[1].release)
        array = arrow_c.Array()
        self.assertEqual(several[2].get_next(several[2], array), 0)
        several[2].release(several[2])
        self.assertGreater(array.length, 0)  # the array outlives its stream
        array.release(array)

    def test_a_forked_child_closes_what_it_inherits_and_ends_as_it_wants_to(self):
        with tempfile.TemporaryDirectory() as folder:
            log, file = pathlib.Path(folder) / "log.trace", pathlib.Path(folder) / "x.trace"
            program = "import lanescope\nfor i in range(200_000):\n  with lanescope.annotate('r'): pass"
            subprocess.run([support.program(), "profile", "-t", "nvtx", "-s", "none", "--cpuctxsw=none", "-o", log, sys.executable, "-c", program],
                           env={**os.environ, "PYTHONPATH": str(support.ROOT / "app" / "python")}, check=True, capture_output=True)
            support.lanescope("export", "-q", "-t", "trace", "-o", file, log)
            trace = opened(file)
            self.assertTrue(taken(answered(LIBRARY.lanescope_report, trace, b"nvtx_sum", b"csv")[0]))  # its segments are decoded by threads
            stream = table(trace, "nvtx_ranges")
            array = arrow_c.Array()
            self.assertEqual(stream.get_next(stream, array), 0)
            child = os.fork()
            if child == 0:
                signal.alarm(60)
                is_told = stream.get_next(stream, arrow_c.Array()) == errno.EPERM and b"in the process" in stream.get_last_error(stream)
                stream.release(stream)
                LIBRARY.lanescope_close(trace)
                ctypes.CDLL(None).exit(7 if is_told else 8)  # with the destructors of libraries
            self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 7)
            self.assertEqual(stream.get_next(stream, array), 0)
            stream.release(stream)
            LIBRARY.lanescope_close(trace)

    def test_of_one_trace_are_read_on_several_threads(self):
        trace = opened(support.recording("torch_training_workers0"))
        expected = arrow_c.read(table(trace, "kernels"))[0]
        found = []
        threads = [threading.Thread(target=lambda: found.append(arrow_c.read(table(trace, "kernels"))[0])) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertTrue(all(columns == expected for columns in found) and len(found) == 4)
        LIBRARY.lanescope_close(trace)


@unittest.skipUnless(LIBRARY, "liblanescope.so was not built")
class Reports(unittest.TestCase):
    def test_are_those_that_the_program_prints(self):
        path = support.recording("cuda_streams")
        trace = opened(path)
        for report in ("cuda_gpu_kern_sum", "cuda_api_sum:rows=3", "gpu_idle_sum"):
            for kind in ("json", "csv", "column"):
                text, sentence = answered(LIBRARY.lanescope_report, trace, report.encode(), kind.encode())
                self.assertIsNone(sentence)
                self.assertEqual(taken(text), support.lanescope("stats", "-q", "-f", kind, "-r", report, path).decode(), report)
        LIBRARY.lanescope_close(trace)

    def test_are_all_named_and_can_all_be_made(self):
        trace = opened(support.recording("transpositions"))
        for report in names(LIBRARY.lanescope_reports):
            text, sentence = answered(LIBRARY.lanescope_report, trace, report.encode(), None)
            self.assertIsNone(sentence, report)
            json.loads(taken(text))
        LIBRARY.lanescope_close(trace)

    def test_of_several_traces_are_of_one(self):
        paths = [os.fsencode(support.recording(name)) for name in ("ranks_late0", "ranks_late1")]
        trace, _ = answered(LIBRARY.lanescope_open_several, (ctypes.c_char_p * 2)(*paths), 2)
        text, _ = answered(LIBRARY.lanescope_report, trace, b"nccl_sum", b"csv")
        self.assertEqual(taken(text), support.lanescope("stats", "-q", "-f", "csv", "-r", "nccl_sum", *map(os.fsdecode, paths)).decode())
        LIBRARY.lanescope_close(trace)


@unittest.skipUnless(LIBRARY, "liblanescope.so was not built")
class Findings(unittest.TestCase):
    def test_are_those_that_the_program_finds(self):
        for recording in ("cuda_streams", "torch_training_workers0", "cause_lock"):
            path = support.recording(recording)
            trace = opened(path)
            for kind in ("json", "csv"):
                text, sentence = answered(LIBRARY.lanescope_findings, trace, None, kind.encode())
                self.assertIsNone(sentence)
                self.assertEqual(taken(text), support.lanescope("analyze", "-q", "-f", kind, path).decode())
            LIBRARY.lanescope_close(trace)

    def test_of_one_rule_are_a_part_of_all(self):
        trace = opened(support.recording("torch_training_workers0"))
        every = json.loads(taken(answered(LIBRARY.lanescope_findings, trace, None, None)[0]))
        idle = json.loads(taken(answered(LIBRARY.lanescope_findings, trace, b"gpu_bubbles", None)[0]))
        self.assertEqual(idle, [finding for finding in every if finding["Rule"] == "gpu_bubbles"])
        self.assertGreater(len(idle), 0)
        costs = [finding["Cost (ns)"] - finding["Hidden (ns)"] for finding in every if finding["When"] != "once"]
        self.assertEqual(costs, sorted(costs, reverse=True))
        LIBRARY.lanescope_close(trace)


@unittest.skipUnless(LIBRARY, "liblanescope.so was not built")
class Failures(unittest.TestCase):
    def test_are_sentences(self):
        trace = opened(support.recording("cuda_streams"))
        self.assertEqual(taken(answered(LIBRARY.lanescope_losses, trace)[0]), "")
        stream = arrow_c.Stream()
        for function, arguments, said in (
            (LIBRARY.lanescope_open, (b"/no/such/file.trace",), "/no/such/file.trace"),
            (LIBRARY.lanescope_open, (b"/proc/self/exe",), "is no"),
            (LIBRARY.lanescope_open, (None,), "There is no path"),
            (LIBRARY.lanescope_open_several, (None, 0), "There are no paths to open"),
            (LIBRARY.lanescope_table, (trace, b"kernel", stream), "There is no table kernel. Tables: kernels, copies"),
            (LIBRARY.lanescope_table, (trace, b".*", stream), "There is no table .*"),
            (LIBRARY.lanescope_table, (trace, None, stream), "There is no table: it is null."),
            (LIBRARY.lanescope_table, (None, b"kernels", stream), "There is no trace"),
            (LIBRARY.lanescope_report, (trace, b"no_such", b"json"), "no_such"),
            (LIBRARY.lanescope_findings, (trace, b"no_such", None), "no_such"),
            (LIBRARY.lanescope_findings, (trace, b"gpu_bubbles:gap=much", None), "gap"),
            (LIBRARY.lanescope_findings, (trace, None, b"xml"), "There is no format xml"),
            (LIBRARY.lanescope_findings, (None, None, None), "There is no trace"),
            (LIBRARY.lanescope_losses, (None,), "There is no trace"),
            (LIBRARY.lanescope_report, (trace, b"cuda_gpu_kern_sum", b"xml"), "There is no format xml"),
        ):
            with self.subTest(said=said):
                value, sentence = answered(function, *arguments)
                self.assertIsNone(value)
                self.assertIn(said, sentence)
        self.assertFalse(LIBRARY.lanescope_open(b"/no/such/file.trace", None))  # no error text is asked for
        LIBRARY.lanescope_free(None)
        LIBRARY.lanescope_close(None)
        LIBRARY.lanescope_close(trace)

    def test_a_compacted_file_that_is_cut_while_it_is_open_has_no_answers(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "x.trace"
            support.lanescope("export", "-q", "-t", "trace", "-o", file, support.recording("ranks_compute"))
            for ask in ((LIBRARY.lanescope_report, b"cuda_gpu_kern_sum", b"csv"), (LIBRARY.lanescope_findings, None, b"json")):
                shutil.copy(file, pathlib.Path(folder) / f"{ask[0].__name__}.trace")
                cut = pathlib.Path(folder) / f"{ask[0].__name__}.trace"
                trace = opened(cut)
                os.truncate(cut, 2000)
                value, sentence = answered(ask[0], trace, *ask[1:])
                self.assertIsNone(value)
                self.assertIn("can be read any more", sentence)
                LIBRARY.lanescope_close(trace)
            trace = opened(file)
            os.truncate(file, 2000)
            stream = table(trace, "kernels")
            with self.assertRaisesRegex(Exception, "can be read any more"):
                arrow_c.read(stream)
            LIBRARY.lanescope_close(trace)

    def test_a_trace_of_which_half_is_missing_has_the_other_half(self):
        with tempfile.TemporaryDirectory() as folder:
            whole = support.recording("torch_training_workers0").read_bytes()
            path = pathlib.Path(folder) / "cut.trace"
            path.write_bytes(whole[: len(whole) // 2])
            trace = opened(path)
            written = streams(support.lanescope("export", "-q", "-t", "arrow", "-o", "-", path))
            self.assertEqual(arrow_c.read(table(trace, "kernels"))[1], written["kernels"].metadata)
            self.assertIn("The recording was cut off", taken(answered(LIBRARY.lanescope_losses, trace)[0]))
            LIBRARY.lanescope_close(trace)


@unittest.skipUnless(LIBRARY, "liblanescope.so was not built")
class Symbols(unittest.TestCase):
    @unittest.skipUnless(shutil.which("nm"), "nm is not installed")
    def test_are_those_of_the_interface_alone_with_their_version(self):
        lines = subprocess.run(["nm", "-D", "--defined-only", FILE], capture_output=True, text=True, check=True).stdout.split("\n")
        given = {line.split()[-1] for line in lines if line} - {"LANESCOPE_0.1"}
        self.assertTrue(given)
        self.assertEqual([name for name in given if not name.startswith("lanescope_") or not name.endswith("@@LANESCOPE_0.1")], [])
        self.assertEqual(LIBRARY.lanescope_version().decode(), support.lanescope("--version").split()[-1].decode())


if __name__ == "__main__":
    unittest.main()
