"""`lanescope fleet`: its words, and recipes that users bring along."""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import support
from fleet_questions import RANKS, run
from lanescope import TraceError
from lanescope.fleet import find_traces, recipes
from lanescope.fleet.__main__ import expanded
from lanescope.fleet.filters import add_filter_arguments
from lanescope.trace import Trace


USERS_RECIPE = '''
from lanescope.fleet import Answer, Recipe, ResultTable


class LongestKernel(Recipe):
    name, help = "longest_kernel", "The longest kernel of each recording"

    @classmethod
    def add_arguments(cls, parser):
        parser.add_argument("--least", type=int, default=0, help="shorter ones are left out, in ns")

    def map(self, trace, path):
        longest = int(trace.kernels["duration"].max(initial=0))
        return [[path, longest]] if longest >= self.arguments["least"] else []

    def present(self, outcome):
        rows = outcome.partial or []
        return Answer(self.name, [f"{len(rows)} recordings."], [ResultTable("longest", ["File", "Duration"], rows, {"Duration": "ns"})])
'''


class UsersRecipes(unittest.TestCase):
    """A recipe that a package names under the entry point lanescope.recipes can be asked like any other."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.site = pathlib.Path(folder.name)
        self.install("users_recipes", USERS_RECIPE, "LongestKernel")

    def install(self, module, source, recipe_class):
        (self.site / f"{module}.py").write_text(source)
        about = self.site / f"{module}-1.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
        (about / "entry_points.txt").write_text(f"[lanescope.recipes]\n{recipe_class} = {module}:{recipe_class}\n")

    def fleet(self, *arguments):
        environment = os.environ | {"PYTHONPATH": os.pathsep.join((str(support.ROOT / "app/python"), str(self.site)))}
        return subprocess.run([sys.executable, "-m", "lanescope.fleet", *map(str, arguments)], capture_output=True, text=True, env=environment)

    def test_it_is_asked_of_processes_shards_and_in_python(self):
        expected = {}
        for path in RANKS:
            with Trace(path) as trace:
                expected[str(path)] = int(trace.kernels["duration"].max())
        for form in ("pool", "none"):
            done = self.fleet("longest_kernel", "--input", *RANKS, "--mode", form, "--workers", 2, "--format", "json", "-o", self.site / form)
            self.assertEqual(done.returncode, 0, done.stderr)
            rows = json.loads((self.site / form / "longest.json").read_text())
            self.assertEqual({row["File"]: row["Duration"] for row in rows}, expected)
        for i in (1, 2):
            self.assertEqual(self.fleet("longest_kernel", "--input", *RANKS, "--shard", f"{i}/2", "-o", self.site / f"part{i}").returncode, 0)
        joined = self.fleet("merge", "--input", self.site / "part1", self.site / "part2", "-o", self.site / "joined")
        self.assertIn("3 recordings.", joined.stdout)
        none = self.fleet("longest_kernel", "--input", *RANKS, "--least", 10**12)
        self.assertIn("0 recordings.", none.stdout)
        self.assertIn("longest_kernel", self.fleet("--help").stdout)

    def test_one_that_does_not_load_leaves_the_others(self):
        self.install("broken_recipes", "raise RuntimeError('not today\x1b[31m')", "Broken")
        self.install("no_recipes", "Wrong = 3", "Wrong")
        self.install("old_recipes", USERS_RECIPE.replace("longest_kernel", "cuda_gpu_kern_sum"), "LongestKernel")
        done = self.fleet("longest_kernel", "--input", RANKS[0])
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stderr.splitlines()
        self.assertEqual(len(lines), 3, done.stderr)
        self.assertIn("broken_recipes:Broken", "".join(lines))
        self.assertNotIn("\x1b", done.stderr)
        # The name of an existing recipe is not taken over.
        self.assertIn("instances", self.fleet("cuda_gpu_kern_sum", "--input", RANKS[0]).stdout)


class CommandLine(unittest.TestCase):
    def test_what_is_no_recipe_is_one_sentence_with_those_there_are(self):
        for name, said in (("no_recipe", "There is no recipe 'no_recipe'. There are align, "), ("s3_access_sum", "Requests to S3 are not recorded")):
            done = run(name, "--input", RANKS[0])
            self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1))
            self.assertIn(said, done.stderr)
            self.assertIn("straggler", done.stderr)

    def test_names_and_arguments_of_nsight_systems_are_taken(self):
        with tempfile.TemporaryDirectory() as folder:
            calls = [
                ("cuda_gpu_kern_sum", "--csv", "--filter-time", "/9s"), ("cuda_gpu_time_util_map", "--bins", "5", "--disable-alignment", "--start", "1s", "--end", "9s"),
                ("cuda_api_sync", "--rows", "2", "--nvtx", "step 3"), ("gpu_time_util", "--chunks", "3", "--threshold", "90"), ("gpu_metric_util_sum", "--per-projected-nvtx", "--match-ranges", "a"),
                ("nccl_gpu_overlap_trace", "--divisor", "10"), ("nvtx_gpu_proj_pace", "--name", "step 3", "--filter-projected-nvtx", "step 3"), ("gpu_gaps", "--gap", "1", "--export-dir", f"{folder}/parts"),
                ("network_sum", "--hide-inactive"), ("network_traffic_map", "--bins", "3", "--bytes-threshold", "5"), ("storage_util_map", "--disable-alignment"),
            ]  # fmt: skip
            for number, (recipe, *arguments) in enumerate(calls):
                with self.subTest(recipe=recipe):
                    done = run(recipe, *arguments, "--workers", "1", "--input", RANKS[0], "--mode", "concurrent", "--output", f"{folder}/{number}-%p", "--force-overwrite")
                    self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(len(list(pathlib.Path(folder).glob("*-*/report.html"))), len(calls))
            self.assertTrue(any(pathlib.Path(f"{folder}/parts").iterdir()))

    def test_a_time_is_asked_for_in_the_words_of_every_command(self):
        parser = argparse.ArgumentParser()
        add_filter_arguments(parser)
        for spelling in ("--filter-time", "--times", "--time"):
            self.assertEqual(parser.parse_args([spelling, "1s/2s"]).filter_time, "1s/2s")
        self.assertIsNone(parser.parse_args([]).filter_time)
        self.assertIn("--filter-time", parser.format_help())
        self.assertNotIn("--times", parser.format_help())

    def test_a_folder_may_be_limited(self):
        folder = support.ROOT / "tests" / "data"
        self.assertEqual(find_traces([f"{folder}:2"]), sorted(map(str, support.RECORDINGS))[:2])
        with self.assertRaises(TraceError):
            find_traces(["/nonexistent:2"])

    def test_outputs_are_named_by_their_surroundings(self):
        os.environ["LANESCOPE_TEST_NAME"] = "x"
        self.assertEqual(expanded("a%q{LANESCOPE_TEST_NAME}-%p%%"), f"ax-{os.getpid()}%")
        self.assertEqual(expanded("%%n%%"), "%n%")
        with self.assertRaises(Exception):
            expanded("%q{LANESCOPE_NO_SUCH_NAME}")

    def test_every_recipe_explains_itself(self):
        for name in recipes():
            done = run(name, "--help")
            self.assertEqual(done.returncode, 0, name)


if __name__ == "__main__":
    unittest.main()
