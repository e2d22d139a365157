"""Fleets with files that are damaged, cut, foreign or hostile: each is a row with its reason. Every recipe has an answer, which is the same with every
engine."""

import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import unittest
import warnings

import support
from lanescope import TraceError
from lanescope.fleet import Engine, Fleet, recipes
from lanescope.fleet.engine import Outcome
from lanescope.fleet.report import fleet_file, html_page, text_of, write_folder
from lanescope.fleet.result import Answer, HeatMap, ResultTable, Source
from lanescope.fleet.recipe import Recipe

try:
    sys.path.insert(0, str(support.ROOT / "tests" / "programs"))
    import make_fleet
except (ImportError, OSError):  # without Python's protobuf, or protoc
    make_fleet = None

HERE = Engine(kind="none")
NAMES = sorted(recipes())


def question_of(name, folder):
    # check compares with other files
    return recipes()[name].with_defaults(**({"against": [str(folder / "whole.trace")]} if name == "check" else {}))


def mixed_fleet(folder):
    """Files in every condition, and what can be read of them. The recordings are small, so that every recipe can be asked."""
    whole = support.recording("ranks_late0").read_bytes()
    other = support.recording("torch_graph").read_bytes()
    third, fourth = (support.recording(name).read_bytes() for name in ("ranks_late1", "cuda_streams"))  # two files of one recording would count as one
    generator = random.Random(11)
    damaged = bytearray(other)
    for _ in range(40):
        damaged[generator.randrange(16, len(damaged))] ^= 1 << generator.randrange(8)
    readable = {
        "whole.trace": whole,
        "cut.trace": third[: len(third) * 2 // 3],
        "damaged.trace": bytes(damaged),
        "growing.trace": fourth[: len(fourth) // 2],
        "only_a_header.trace": other[:16],
        "nothing_happened.trace": support.HEADER + support.session_start() + support.session_end(),
        "strange.trace": strange_ranks(),
    }
    unreadable = {
        "empty.trace": b"",
        "text.trace": b"no trace\n" * 100,
        "later.trace": other[:8] + b"\xff\x00" + other[10:],
        "program.trace": pathlib.Path(sys.executable).read_bytes()[:4096],
        "json.trace": b'{"traceEvents": []}',
        b"\xff\xfe name.trace".decode(errors="surrogateescape"): b"x",
    }
    for name, content in (readable | unreadable).items():
        (folder / name).write_bytes(content)
    return readable, unreadable


def strange_ranks():
    """NVTX ranges of NCCL with invalid payloads, or with impossible values in them."""
    payloads = [
        '{"NCCL communicator ID": [[[]]], "Message size [bytes]": "many"}', '{"NCCL communicator ID": "\\ud800<script>", "Message size [bytes]": -5}',
        '{"NCCL communicator ID": 1, "Message size [bytes]": 1' + "0" * 400 + "}", '{"NCCL communicator ID": null}', "[" * 5000, "{", "7",
        '{"NCCL communicator ID": 1e999, "Rank": true, "No. of ranks": {}}', '{"Rank": -1, "No. of ranks": 1' + "0" * 400 + "}", "",
    ]  # fmt: skip
    names = ["ncclAllReduce", "ncclCommInitRankConfig", "ncclGroupStart", "ncclGroupEnd"]
    texts = [*payloads, *names]
    rows = [(name, payload) for payload in range(len(payloads)) for name in range(len(names))]
    column = lambda number, values: support.field(number, b"".join(support.varint(value) for value in values))
    body = support.field(1, 5) + support.field(2, 9) + support.field(4, support.zigzag(10) * len(rows)) + column(5, [5] * len(rows))
    body += column(6, [1 + len(payloads) + name for name, _ in rows]) + column(7, [0] * len(rows)) + column(15, [1 + payload for _, payload in rows])
    chunk = support.field(1, 2000) + support.field(2, 1) + b"".join(support.field(3, text.encode(errors="surrogatepass")) for text in texts) + support.field(24, body)
    resources = support.field(3, support.field(1, 9) + support.field(2, b"NCCL"))
    return support.HEADER + support.session_start() + support.process_start() + support.frame(5, resources) + support.frame(6, chunk, count=len(rows)) + support.session_end()


class Mixed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.readable, cls.unreadable = mixed_fleet(cls.folder)
        cls.fleet = Fleet(cls.folder, HERE)
        cls.outcomes = {name: HERE.run(question_of(name, cls.folder), cls.fleet.paths) for name in NAMES}

    def test_every_file_is_a_row_with_its_reason(self):
        for name, outcome in self.outcomes.items():
            with self.subTest(recipe=name):
                states = {os.path.basename(state.path): state for state in outcome.files}
                self.assertEqual(sorted(states), sorted(self.readable | self.unreadable))
                for file, state in states.items():
                    self.assertEqual(state.read, file in self.readable, (file, state.reason))
                for file in [*self.unreadable, "cut.trace", "damaged.trace", "growing.trace"]:
                    self.assertTrue(states[file].reason, file)
                self.assertEqual(states["whole.trace"].reason, "")

    def test_every_recipe_answers_and_writes_all_it_can(self):
        for name, outcome in self.outcomes.items():
            with self.subTest(recipe=name), tempfile.TemporaryDirectory() as out:
                answer = question_of(name, self.folder).present(outcome)
                write_folder(answer, outcome, pathlib.Path(out), ["csv", "json", "ipynb"])
                page = (pathlib.Path(out) / "report.html").read_text()
                self.assertNotIn("http", page)
                self.assertNotIn("<script", page)
                self.assertTrue(text_of(answer, outcome).isascii() or text_of(answer, outcome).encode())
                if answer.maps:
                    json.loads((pathlib.Path(out) / "fleet.json").read_text())

    def test_what_damaged_files_hold_does_not_change_the_whole_ones(self):
        alone = Fleet(self.folder / "whole.trace", HERE)
        for name in ("cuda_gpu_kern_sum", "osrt_sum"):
            ranks = {row["File"]: row for row in question_of(name, self.folder).present(self.outcomes[name]).tables[1].records()}
            for row in alone.ask(name).tables[1].records()[:1]:
                self.assertEqual(ranks[row["File"]]["PID"], row["PID"])

    def test_every_recipe_gives_the_same_bytes_in_any_order_and_grouping(self):
        """merge is associative and commutative: parts are merged in random pairs."""
        generator = random.Random(5)
        for name in NAMES:
            question = question_of(name, self.folder)
            expected = self.outcomes[name].to_bytes(question)
            parts = [HERE.run(question, [path]).to_bytes(question) for path in self.fleet.paths]
            for _ in range(3):
                with self.subTest(recipe=name):
                    left = [Outcome.from_bytes(part, question) for part in parts]
                    while len(left) > 1:
                        one, other = (left.pop(generator.randrange(len(left))) for _ in range(2))
                        left.append(one.merged(other, question))
                    self.assertEqual(left[0].to_bytes(question), expected)

    def test_a_pool_and_a_cache_give_the_same_bytes(self):
        with tempfile.TemporaryDirectory() as cache:
            for name in ("straggler", "cuda_gpu_kern_sum", "nvtx_sum", "history", "cuda_gpu_time_util_map"):
                question = question_of(name, self.folder)
                for engine in (Engine(kind="pool", workers=2, cache=cache), Engine(kind="none", cache=cache)):
                    with self.subTest(recipe=name, engine=engine.kind):
                        self.assertEqual(engine.run(question, reversed(self.fleet.paths)).to_bytes(question), self.outcomes[name].to_bytes(question))
            # Kept files are checked: a file with other bytes counts as missing.
            for kept in pathlib.Path(cache).iterdir():
                kept.write_bytes(kept.read_bytes()[:-3])
            question = question_of("straggler", self.folder)
            self.assertEqual(Engine(kind="none", cache=cache).run(question, self.fleet.paths).to_bytes(question), self.outcomes["straggler"].to_bytes(question))

    def test_a_file_that_is_cut_anywhere_is_read_as_far_as_it_goes(self):
        whole = (self.folder / "whole.trace").read_bytes()
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "cut.trace"
            for size in range(0, len(whole), max(1, len(whole) // 20)):
                path.write_bytes(whole[:size])
                fleet = Fleet(path, HERE)
                fleet.ask("collectives")
                self.assertEqual(fleet.outcome.files[0].read, size >= 16, size)


class Kills(Recipe):
    """A recipe whose reader is killed at one file, and that fails at another."""

    name, help = "kills", "For tests"

    def map(self, trace, path):
        if "killer" in path:
            os.kill(os.getpid(), 9)
        if "wrong" in path:
            raise RuntimeError("the recipe has a fault")
        return [[path]]


class Workers(unittest.TestCase):
    def test_a_file_that_has_its_reader_killed_is_a_row(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("a", "b", "killer", "c", "wrong", "d"):
                (pathlib.Path(folder) / f"{name}.trace").write_bytes(support.HEADER + support.session_start() + support.session_end())
            outcome = Engine(kind="pool", workers=2).run(Kills.with_defaults(), Fleet(folder, HERE).paths)
            states = {pathlib.Path(state.path).stem: state for state in outcome.files}
            self.assertEqual({name for name, state in states.items() if state.read}, {"a", "b", "c", "d"})
            self.assertIn("was killed", states["killer"].reason)
            self.assertIn("the recipe has a fault", states["wrong"].reason)
            self.assertEqual(len(outcome.partial), 4)


class Pages(unittest.TestCase):
    def test_names_do_not_leave_their_places(self):
        evil = "</title><script>alert(1)</script><img src=http://x onerror=y>'\"\x1b[2J\ud800"
        source = Source(f"/tmp/{evil}", [5], [9], [0])
        answer = Answer(evil, [evil], [ResultTable(evil, [evil], [[evil]])], [HeatMap(evil, [evil], [evil], [[1.0]], evil, [source])])
        page = html_page(answer, Outcome())
        for raw in ("<script", "<img", "'\"\x1b"):
            self.assertNotIn(raw, page)
        said = json.loads(fleet_file(answer, pathlib.Path("/tmp")))
        self.assertEqual(said["maps"][0]["rows"][0]["label"], evil)
        self.assertNotIn("\x1b", text_of(answer, Outcome()))

    def test_a_cell_opens_by_a_command_that_quotes_its_file(self):
        source = Source("it's; rm -rf.trace", [5, 100], [9, 250], [0, 0])
        page = html_page(Answer("x", maps=[HeatMap("t", ["rank 0"], ["1", "2"], [[1.0, 3.0]], "ms", [source])]), Outcome())
        self.assertIn("&#x27;it&#x27;&quot;&#x27;&quot;&#x27;s; rm -rf.trace&#x27; --range 100ns:250ns", page)

    def test_values_that_are_none_are_none_in_the_viewers_file(self):
        answer = Answer("x", maps=[HeatMap("t", ["a"], ["1", "2", "3"], [[float("nan"), float("inf"), 2.0]])])
        self.assertEqual(json.loads(fleet_file(answer, pathlib.Path(".")))["maps"][0]["rows"][0]["values"], [None, None, 2.0])


class CommandLine(unittest.TestCase):
    def run_fleet(self, *arguments):
        environment = os.environ | {"PYTHONPATH": str(support.ROOT / "app/python")}
        return subprocess.run([sys.executable, "-m", "lanescope.fleet", *map(str, arguments)], capture_output=True, text=True, env=environment)

    def test_numbers_that_are_none_are_refused(self):
        trace = support.recording("torch_graph")
        for arguments in (["gpu_gaps", "--gap", "-1"], ["gpu_gaps", "--rows", "0"], ["cuda_gpu_time_util_map", "--bins", "1e9"], ["cuda_gpu_time_util_map", "--bins", "0"],
                          ["check", "--against", trace, "--tolerance", "nan"], ["history", "--least", "inf"]):  # fmt: skip
            with self.subTest(arguments=arguments):
                done = self.run_fleet(*arguments, "--input", trace)
                self.assertEqual(done.returncode, 2)
                self.assertIn("number from", done.stderr)

    def test_parts_that_are_none_or_there_twice_are_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            part = pathlib.Path(folder) / "part"
            self.assertEqual(self.run_fleet("gpu_gaps", "--input", support.recording("torch_graph"), "--shard", "1/1", "-o", part, "--mode", "none").returncode, 0)
            data = part.read_bytes()
            for name, content in (("cut", data[:-20]), ("other", b'{"question": 7}'), ("list", b"[1, 2]"), ("binary", b"\x80\x81"), ("deep", b"[" * 100_000)):
                (pathlib.Path(folder) / name).write_bytes(content)
                for inputs in ([name], ["part", name]):
                    with self.subTest(inputs=inputs):
                        done = self.run_fleet("merge", "--input", *(pathlib.Path(folder) / each for each in inputs))
                        self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1), done.stderr)
            (pathlib.Path(folder) / "again").write_bytes(data)
            done = self.run_fleet("merge", "--input", part, pathlib.Path(folder) / "again")
            self.assertEqual(done.returncode, 1)
            self.assertIn("which another part has, too", done.stderr)

    def test_nothing_readable_ends_with_1(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "x.trace").write_bytes(b"")
            for name in ("straggler", "history", "check", "gpu_gaps"):
                with self.subTest(recipe=name):
                    further = ["--against", folder] if name == "check" else []
                    done = self.run_fleet(name, "--input", folder, *further, "--mode", "none")
                    self.assertEqual(done.returncode, 1, done.stderr)
                    self.assertNotIn("Traceback", done.stderr)
                    self.assertIn("1 of 1 file was left out", done.stdout)


class Nights(unittest.TestCase):
    def history(self, nights):
        question = recipes()["history"].with_defaults()
        rows = [[1_790_000_000_000_000_000 + i * 86_400_000_000_000, f"night{i:02}", sums] for i, sums in enumerate(nights)]
        return question.present(Outcome(rows, []))

    def test_two_nights_say_nothing_for_good(self):
        answer = self.history([{"k": [10, 1000]}, {"k": [10, 9000]}])
        self.assertEqual(answer.tables[0].rows, [])
        self.assertIn("In 2 runs nothing changed", answer.sentences[0])

    def test_equal_nights_do_not_change_and_a_step_without_noise_is_one(self):
        self.assertEqual(self.history([{"k": [10, 1000]}] * 20).tables[0].rows, [])
        first = self.history([{"k": [10, 1000]}] * 9 + [{"k": [10, 1500]}] * 8).tables[0].records()[0]
        self.assertEqual((first["From file"], first["Change (%)"]), ("night09", 50))

    def test_runs_whose_time_is_not_known_are_ordered_by_name_or_left_out(self):
        question = recipes()["history"].with_defaults()
        runs = [[0, f"run{i}", {"k": [10, 1500 if i >= 9 else 1000]}] for i in range(17)]
        answer = question.present(Outcome(sorted(runs, key=lambda run: run[1]), []))  # run1, run10, run11, ...
        first = answer.tables[0].records()[0]
        self.assertEqual((first["From file"], first["From (UTC)"]), ("run9", None))
        self.assertNotIn("1970", answer.sentences[0])
        self.assertIn("in order of their names", answer.sentences[-1])
        known = [[1_790_000_000_000_000_000 + i, f"night{i:02}", {"k": [10, 1000]}] for i in range(17)]
        answer = question.present(Outcome(runs[9:] + known, []))  # these would be the oldest, and slower
        self.assertEqual(answer.tables[0].rows, [])
        self.assertIn("In 17 runs nothing changed", answer.sentences[0])
        self.assertIn("8 runs are left out, run9 first", answer.sentences[1])

    def test_nights_without_the_kernel_are_left_out(self):
        noise = random.Random(3)
        nights = [{} if i % 4 == 3 else {"k": [10, int(10_000 * noise.gauss(1, 0.01) * (1.3 if i >= 16 else 1))]} for i in range(32)]
        first = self.history(nights).tables[0].records()[0]
        self.assertEqual((first["From file"], first["Runs"]), ("night16", 24))
        self.assertAlmostEqual(first["Change (%)"], 30, delta=2)


@unittest.skipIf(make_fleet is None or shutil.which("protoc") is None, "needs protoc and Python's protobuf")
class StrangeTimes(unittest.TestCase):
    """All times far before the recording's 0, far after it, or 0, as from a wrong clock. Each question has an answer without NaN;
    events with times that no recording can have are left out and counted."""

    def test_maps_and_sums_have_answers(self):
        recording = make_fleet.Recording(support.recording("ranks_late0"))
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("error")
            for number, (name, shift) in enumerate((("before", -(10**12)), ("long_before", -(1 << 62)), ("long_behind", 1 << 61), ("at_once", None))):
                data = bytearray(recording.data[:16])
                for kind, process, source, count, payload in recording.frames:
                    if kind in (make_fleet.proto.FRAME_INDEX, make_fleet.proto.FRAME_OUTLINE):
                        continue
                    if kind == make_fleet.proto.FRAME_EVENTS:
                        payload = self.moved(payload, shift, recording.epoch)
                    elif kind == make_fleet.proto.FRAME_SESSION_START:
                        start = make_fleet.proto.SessionStart.FromString(payload)
                        start.utc_epoch += number  # of files of one recording, only one would be read
                        payload = start.SerializeToString()
                    data += make_fleet.frame(kind, process, source, count, payload)
                (pathlib.Path(folder) / name).mkdir()
                (pathlib.Path(folder) / name / "rank.trace").write_bytes(data)
            for name in ("cuda_gpu_time_util_map", "nccl_gpu_time_util_map", "cuda_gpu_kern_sum", "gpu_gaps", "straggler"):
                for files in (*sorted(pathlib.Path(folder).iterdir()), folder):
                    with self.subTest(recipe=name, files=files):
                        fleet = Fleet(files, HERE)
                        said = text_of(fleet.ask(name), fleet.outcome)
                        for state in fleet.outcome.files:
                            self.assertRegex(state.reason, r"^0 records dropped, 0 late, \d+ invalid$" if "/long_" in state.path else "^$")  # of those asked for
                        self.assertNotIn("nan", said.lower().split())

    @staticmethod
    def moved(payload, shift, epoch):
        chunk = make_fleet.proto.EventChunk.FromString(payload)
        kind = chunk.WhichOneof("events")
        if shift is not None:
            chunk.base_time += shift
        elif kind:
            chunk.base_time = epoch
            events = getattr(chunk, kind)
            for column in ("start_delta", "duration"):
                if hasattr(events, column):
                    getattr(events, column)[:] = [0] * len(getattr(events, column))
        return chunk.SerializeToString()


if __name__ == "__main__":
    unittest.main()
