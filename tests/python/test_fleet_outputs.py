"""Where answers and partial results go: nothing is overwritten unasked or left incomplete. An output that can't be written is one sentence, before the work
starts."""

import contextlib
import html
import io
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import support
from lanescope import TraceError
from lanescope.fleet import Engine, Fleet, find_traces
from lanescope.fleet.__main__ import main
from lanescope.fleet.engine import Outcome, _keep, _Merged
from lanescope.fleet.report import replaced, text_of, write_folder
from lanescope.fleet.result import Answer, ResultTable
from lanescope.trace import Trace

try:
    sys.path.insert(0, str(support.ROOT / "tests" / "programs"))
    import make_fleet
except (ImportError, OSError):  # without Python's protobuf, or protoc
    make_fleet = None

HERE = Engine(kind="none")
RANK = support.recording("ranks_late0")


def run(*arguments):
    """Exit code and messages of `lanescope fleet`."""
    err = io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(err):
        return main([*map(str, arguments)]), err.getvalue()


class Folders(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_a_dash_is_no_folder(self):
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder) if hasattr(contextlib, "chdir") else contextlib.nullcontext():
            code, messages = run("cuda_gpu_kern_sum", "--input", RANK, "-o", "-")
            self.assertEqual(code, 2)
            self.assertIn("-o - names no folder", messages)
            self.assertFalse(os.path.exists("-"))

    def test_a_place_that_is_taken_is_told_before_the_work(self):
        file, there, parts = self.folder / "file", self.folder / "there", self.folder / "parts"
        file.write_text("mine")
        there.mkdir()
        for arguments, said in [
            (["-o", there], "there is there already; -f writes into it."),
            (["-o", file, "-f"], "file is a file: the answer is a folder."),
            (["-o", there, "-f", "--shard", "1/1"], "there is a folder: --shard writes a file."),
            (["-o", file, "--shard", "1/1"], "file is there already; -f writes over it."),
        ]:
            with self.subTest(said=said):
                code, message = run("cuda_gpu_kern_sum", "--input", RANK, "--workers", "1", "--cache", parts, *arguments)
                self.assertEqual((code, message.count("\n")), (1, 1))
                self.assertIn(said, message)
        code, message = run("cuda_gpu_kern_sum", "--input", RANK, "--cache", file)
        self.assertEqual((code, message), (1, f"lanescope fleet: {file} is a file: name a folder for partial results.\n"))
        self.assertFalse(parts.exists())  # nothing was read
        self.assertEqual((file.read_text(), list(there.iterdir())), ("mine", []))

    def test_an_answer_that_replaces_another_leaves_none_of_its_tables(self):
        out, fresh, own = self.folder / "out", self.folder / "fresh", self.folder / "out" / "mine.csv"
        other = support.recording("cuda_streams")
        ask = ["--mode", "none", "--cache", self.folder / "parts", "-o"]
        self.assertEqual(run("cuda_gpu_kern_sum", "--input", RANK, *ask, out)[0], 0)
        own.write_text("mine")
        self.assertEqual(run("cuda_gpu_kern_sum", "--input", other, *ask, out, "-f", "--format", "json")[0], 0)
        self.assertEqual(run("cuda_gpu_kern_sum", "--input", other, *ask, fresh, "--format", "json")[0], 0)
        self.assertEqual({path.name for path in out.iterdir()}, {path.name for path in fresh.iterdir()} | {own.name})
        self.assertEqual(own.read_text(), "mine")
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            self.assertEqual(main(["diff", "--input", str(out), str(fresh)]), 0)
        self.assertNotIn("only", said.getvalue().splitlines()[0])  # the two are answers of one recording

    def test_a_page_names_no_files_of_other_folders_to_remove(self):
        out, mine, link = self.folder / "out", self.folder / "mine.csv", self.folder / "out" / "link.csv"
        out.mkdir()
        mine.write_text("mine")
        link.symlink_to(mine)
        for names in (["../mine.csv", "link.csv", "..", 1, None], {"a": 1}, 7):
            (out / "report.html").write_text(f'<meta name=lanescope-files content="{html.escape(json.dumps(names))}">')
            write_folder(Answer("x"), Outcome(), out, ["csv"])
        self.assertTrue(mine.exists() and link.is_symlink())

    def test_wrong_use_is_told_in_one_sentence(self):
        for arguments, said in [
            (["cuda_gpu_kern_sum"], "required: --input"),
            (["cuda_gpu_kern_sum", "--input", RANK, "--workers", "0"], "--workers"),
            (["cuda_gpu_kern_sum", "--input", RANK, "--format", "xlsx"], "there is no format 'xlsx'"),
            (["cuda_gpu_kern_sum", "--input", RANK, "--what"], "--what"),
            ([], "RECIPE"),
        ]:
            with self.subTest(arguments=arguments):
                err = io.StringIO()
                with contextlib.redirect_stderr(err), self.assertRaises(SystemExit) as ended:
                    main([*map(str, arguments)])
                self.assertEqual((ended.exception.code, err.getvalue().count("\n")), (2, 1), err.getvalue())
                self.assertIn(said, err.getvalue())

    def test_a_long_name_is_cut_on_a_terminal(self):
        table = ResultTable("sums", ["Name", "Count"], [["k" * 6000, 1], ["short", 2]])
        answer = Answer("x")
        answer.tables.append(table)
        self.assertLess(max(map(len, text_of(answer, Outcome()).splitlines())), 120)
        self.assertIn("k" * 6000, table.to_csv())

    def test_an_encoding_without_a_unit_or_a_name_loses_letters_alone(self):
        command = [sys.executable, "-m", "lanescope.fleet", "cuda_gpu_kern_hist", "--input", str(RANK), "--workers", "1", "--cache", str(self.folder / "parts")]
        environment = os.environ | {"PYTHONPATH": str(support.ROOT / "app" / "python"), "PYTHONIOENCODING": "ascii"}
        ran = subprocess.run(command, env=environment, capture_output=True, text=True)
        self.assertEqual((ran.returncode, ran.stderr.count("Traceback")), (0, 0), ran.stderr)

    def test_a_file_is_replaced_whole_or_not_at_all(self):
        path = self.folder / "report.html"
        path.write_text("before")
        with self.assertRaisesRegex(TraceError, "report.html can't be written: No space left on device"):
            with replaced(path) as partial:
                partial.write_text("half of")
                raise OSError(28, "No space left on device")
        self.assertEqual([(each.name, each.read_text()) for each in self.folder.iterdir()], [("report.html", "before")])
        with replaced(path) as partial:
            partial.write_text("after")
        self.assertEqual([(each.name, each.read_text()) for each in self.folder.iterdir()], [("report.html", "after")])

    def test_no_link_that_somebody_has_laid_beside_a_place_is_written_through(self):
        victim = self.folder / "victim"
        victim.write_text("precious")
        path = self.folder / "report.html"
        for name in (f"report.html.{os.getpid()}", f"report.{os.getpid()}", "report.html.partial"):
            (self.folder / name).symlink_to(victim)
        with replaced(path) as partial:
            self.assertTrue(partial.is_file() and not partial.is_symlink())
            self.assertNotIn(str(os.getpid()), partial.name.split("."))
            partial.write_text("after")
        _keep(path, b"answer")
        self.assertEqual(victim.read_text(), "precious")

    def test_what_is_made_of_a_private_recording_is_for_its_owner_alone(self):
        rank, other = self.folder / "rank0.trace", self.folder / "rank1.trace"
        for copy, mode in ((rank, 0o600), (other, 0o644)):
            shutil.copyfile(RANK, copy)
            copy.chmod(mode)
        umask = os.umask(0o022)
        self.addCleanup(os.umask, umask)

        def modes(*places):
            files = [file for place in places for file in ([place] if place.is_file() else place.rglob("*")) if file.is_file()]
            self.assertTrue(files)
            return {file.stat().st_mode & 0o777 for file in files}

        def ask(recording, name, *more):
            places = self.folder / name, self.folder / (name + ".parts")
            self.assertEqual(run("cuda_gpu_kern_sum", "--input", recording, "--workers", "1", "--cache", places[1], "-o", places[0], *more)[0], 0)
            return places

        self.assertEqual(modes(*ask(other, "open", "--format", "csv,json")), {0o644})
        sums, parts = ask(rank, "private", "--format", "csv,json")
        self.assertEqual(modes(sums, parts), {0o600})
        shard, _ = ask(rank, "shard", "--shard", "1/1")
        self.assertEqual(modes(shard), {0o600})
        self.assertEqual(run("merge", "--input", shard, "-o", self.folder / "merged")[0], 0)
        self.assertEqual(run("diff", "--input", sums, sums, "-o", self.folder / "difference")[0], 0)
        self.assertEqual(modes(self.folder / "merged", self.folder / "difference"), {0o600})
        self.assertEqual(os.umask(0o022), 0o022)

    def test_a_cache_that_cannot_be_written_costs_time_alone(self):
        (self.folder / "file").write_text("mine")
        partial = Engine(kind="none", cache=str(self.folder / "file" / "parts")).run(_question("cuda_api_sum"), [str(RANK)])
        self.assertTrue(partial.files[0].read, partial.files[0].reason)

    def test_a_notebook_finds_the_tables_that_it_reads(self):
        answer = Answer("x", ["said"], [ResultTable("one", ["Name"], [["a"]]), ResultTable("none", ["Name", "Value"], [])])
        write_folder(answer, Outcome(), self.folder, ["ipynb"])
        cells = json.loads((self.folder / "report.ipynb").read_text())["cells"]
        read = [line.split('"')[1] for cell in cells for line in cell["source"] if "read_json" in line]
        self.assertEqual(read, ["one.json", "none.json"])
        for name in read:
            json.loads((self.folder / name).read_text())

    def test_a_table_without_rows_keeps_its_columns_in_parquet(self):
        try:
            import pyarrow.parquet
        except ImportError:
            self.skipTest("no pyarrow")
        ResultTable("none", ["Name", "Value"], []).to_parquet(self.folder / "none.parquet")
        self.assertEqual(pyarrow.parquet.read_table(self.folder / "none.parquet").column_names, ["Name", "Value"])

    @unittest.skipIf(os.geteuid() == 0, "root may read all")
    def test_a_folder_that_cannot_be_searched_is_a_row(self):
        shutil.copy(RANK, self.folder / "a.trace")
        (self.folder / "closed").mkdir(mode=0)
        self.addCleanup((self.folder / "closed").chmod, 0o700)
        self.assertEqual(find_traces([self.folder]), [str(self.folder / "a.trace"), str(self.folder / "closed")])
        states = HERE.run(_question("cuda_api_sum"), find_traces([self.folder])).files
        self.assertEqual([state.read for state in states], [True, False])
        self.assertIn("Permission denied", states[1].reason)


class Ranks(unittest.TestCase):
    @unittest.skipUnless(make_fleet, "make_fleet.py needs protobuf")
    def test_a_rank_that_is_there_twice_is_told(self):
        with tempfile.TemporaryDirectory() as name:
            recording = make_fleet.Recording()
            for file, rank, utc in (("a", 0, 1), ("b", 0, 2), ("c", 1, 3)):  # a and b began at different times, so they are two recordings
                make_fleet.write_rank(recording, pathlib.Path(name) / f"{file}.trace", rank, 2, [], make_fleet.identity, "host", 77, utc=utc)
            said = " ".join(Fleet(name, HERE).ask("desync").sentences)
        self.assertIn("Rank 0 of communicator", said)
        self.assertIn("a.trace and", said)

    @unittest.skipUnless(make_fleet, "make_fleet.py needs protobuf")
    def test_ranks_without_a_file_are_told(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            make_fleet.straggler(folder, ranks=5)
            self.assertNotIn("have no file", " ".join(Fleet(folder, HERE).ask("desync").sentences))
            (folder / "rank001.trace").unlink()
            (folder / "rank004.trace").unlink()
            for recipe in ("desync", "straggler"):
                self.assertIn("Of 5 ranks, 2 have no file here (1, 4)", " ".join(Fleet(folder, HERE).ask(recipe).sentences))

    @unittest.skipUnless(make_fleet, "make_fleet.py needs protobuf")
    def test_waits_for_a_rank_without_a_file_are_told(self):
        recipes = ("collectives", "straggler", "slow_link", "network", "what_if")
        caution = "Where ranks here wait for one without a file, that time counts as transfer."
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            make_fleet.straggler(folder, ranks=4, late=2, lateness=12_000_000)
            for recipe in recipes:
                self.assertNotIn(caution, Fleet(folder, HERE).ask(recipe).sentences, recipe)
            whole = Fleet(folder, HERE).ask("collectives")
            (folder / "rank002.trace").unlink()
            for recipe in recipes:
                sentences = Fleet(folder, HERE).ask(recipe).sentences
                self.assertIn(caution, sentences, recipe)
                self.assertIn("Of 4 ranks, 1 has no file here (2): what is said is of the others.", sentences, recipe)
            late = Fleet(folder, HERE).ask("straggler").sentences[-1]
            self.assertEqual(late, "No rank that has a file is late by itself for 2 % of the loop or more; whether one without a file is, can't be told.")
            part = Fleet(folder, HERE).ask("collectives")
        self.assertIn("the transfer itself takes at most 12", part.sentences[-1])
        self.assertNotIn("at most", whole.sentences[-1])
        for answer in (whole, part):  # NCCL's own tests: 2 (n - 1) / n for the four ranks of the communicator
            for row in answer.tables[0].records():
                self.assertEqual(row["Ranks"], 4)
                self.assertAlmostEqual(row["Bus bandwidth"], 1.5 * row["Algorithm bandwidth"])

    def test_a_link_that_leads_nowhere_is_a_file_that_cannot_be_read(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            shutil.copy(RANK, folder / "rank0.trace")
            (folder / "rank1.trace").symlink_to(folder / "gone")
            for asked in (folder, f"{folder}:2"):
                fleet = Fleet(asked, HERE)
                fleet.ask("cuda_gpu_kern_sum")
                said = [(state.path, state.read, state.reason) for state in fleet.outcome.files]
                self.assertEqual(said[0][:2], (str(folder / "rank0.trace"), True))
                self.assertEqual(said[1:], [(str(folder / "rank1.trace"), False, "It can't be read: No such file or directory.")])

    def test_one_rank_alone_is_no_fleet(self):
        for recipe in ("straggler", "collectives", "desync", "align", "slow_link", "imbalance"):
            self.assertIn("There are no collectives that two ranks came to", " ".join(Fleet(RANK, HERE).ask(recipe).sentences), recipe)

    def test_sums_of_nothing_say_how_to_record_it(self):
        for recipe, kind in (("osrt_sum", "osrt"), ("mpi_sum", "mpi")):
            self.assertEqual(Fleet(RANK, HERE).ask(recipe).sentences, [f"No file has what this sums up: record with -t {kind}."])


class Parts(unittest.TestCase):
    def test_what_comes_is_merged_with_as_much(self):
        """For any number n of files, each is there once, and all merges together take O(n log n)."""
        merges = []

        class Question:
            def merge(self, one, other):
                merges.append(len(one) + len(other))
                return sorted(one + other)

        for count in (0, 1, 2, 3, 100, 1000):
            merges.clear()
            merged = _Merged(Question())
            for number in range(count):
                merged.add(Outcome([number], [_state(number)]))
            whole = merged.whole()
            self.assertEqual(whole.partial or [], list(range(count)))
            self.assertEqual(len(whole.files), count)
            self.assertLessEqual(sum(merges), 2 * count * max(1, count).bit_length())

    def test_a_closed_trace_keeps_nothing_of_its_file(self):
        trace = Trace(RANK)
        self.assertGreater(len(trace.kernels["start"]), 0)
        trace.close()
        with self.assertRaises(OSError):
            trace.kernels["start"]


SLOW = """
import pathlib, sys, time
from lanescope.fleet import Engine, Recipe

class Slow(Recipe):
    name = help = "slow"
    def map(self, trace, path):
        pathlib.Path(path + ".begun").touch()
        time.sleep(3600)

try:
    Engine(workers=2).run(Slow.with_defaults(), sys.argv[1:])
except KeyboardInterrupt:
    sys.exit(130)
"""


def four_recordings(folder: pathlib.Path) -> "list[str]":
    """Different ones, because of a recording that is there twice only one is read."""
    names = ("ranks_late0", "ranks_late1", "ranks_compute", "torch_graph")
    for name in names:
        (folder / name).mkdir()
    return [shutil.copy(support.recording(name), folder / name / "rank.trace") for name in names]


class Interrupts(unittest.TestCase):
    def test_two_at_once_end_all_processes(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            files = four_recordings(folder)
            started = subprocess.Popen([sys.executable, "-c", SLOW, *map(str, files)], start_new_session=True, env=os.environ | {"PYTHONPATH": str(support.ROOT / "app" / "python")})
            while len(list(folder.glob("*/*.begun"))) < 2:
                self.assertIsNone(started.poll())
                time.sleep(0.01)
            for _ in range(2):  # as a terminal does: to the program and to its workers
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(started.pid, signal.SIGINT)
            self.assertEqual(started.wait(timeout=600), 130)
            with self.assertRaises(ProcessLookupError):
                os.killpg(started.pid, 0)

    def test_one_in_the_midst_of_the_executor_ends_all_processes(self):
        # At the moment when it takes the locks of what it waits for, one after the other.
        midst = """
import concurrent.futures._base as base, signal
enter = base._AcquireFutures.__enter__
def interrupted(self):
    if list(pathlib.Path(sys.argv[1]).parent.parent.glob("*/*.begun")):
        self.futures[0]._condition.acquire()
        signal.raise_signal(signal.SIGINT)
        self.futures[0]._condition.release()
    return enter(self)
base._AcquireFutures.__enter__ = interrupted
"""
        with tempfile.TemporaryDirectory() as name:
            files = four_recordings(pathlib.Path(name))
            program = SLOW.replace("try:", midst + "try:", 1)
            started = subprocess.Popen([sys.executable, "-c", program, *map(str, files)], start_new_session=True, env=os.environ | {"PYTHONPATH": str(support.ROOT / "app" / "python")})
            self.assertEqual(started.wait(timeout=600), 130)
            with self.assertRaises(ProcessLookupError):
                os.killpg(started.pid, 0)


def _question(name):
    from lanescope.fleet import recipes

    return recipes()[name].with_defaults()


def _state(number):
    from lanescope.fleet.engine import FileState

    return FileState(f"{number:05}")


if __name__ == "__main__":
    unittest.main()
