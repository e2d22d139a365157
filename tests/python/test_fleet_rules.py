"""Recipes about rules, compared with `lanescope analyze`."""

import itertools
import json
import os
import pathlib
import shutil
import sys
import tempfile
import unittest

import support
import numpy as np
from fleet_questions import HERE, RANKS, stats
from lanescope.fleet import Fleet
from lanescope.fleet.families import name_family
from lanescope.fleet.history_recipes import behind_warm_up
from lanescope.trace import Trace

try:
    sys.path.insert(0, str(support.ROOT / "tests" / "programs"))
    import make_fleet
except (ImportError, OSError):  # without Python's protobuf, or protoc
    make_fleet = None


class Rules(unittest.TestCase):
    def test_idle_causes_are_those_of_each_file_added_up(self):
        answer = Fleet(RANKS, HERE).ask("idle_causes")
        expected, ranks = {}, set()
        for path in RANKS:
            for row in stats("gpu_idle_sum", path):
                expected[row["Cause"]] = expected.get(row["Cause"], 0) + row["Total Time (ns)"]
        ours = {}
        for row in answer.tables[0].records():
            ours[row["Cause"]] = ours.get(row["Cause"], 0) + row["Idle"]
        self.assertEqual(ours, expected)
        for row in answer.tables[1].records():
            ranks.add((pathlib.Path(row["File"]).stem, row["Rank"], row["GPU"]))
        self.assertEqual(ranks, {("ranks_late0", 0, 0), ("ranks_late1", 1, 1), ("ranks_compute", 0, 0), ("ranks_compute", 1, 1)})

    def test_kernels_have_the_time_of_all_ranks_and_what_rules_say(self):
        paths = [support.recording("transformer_fp32"), support.recording("transformer_tf32")]
        rows = {row["Name"]: row for row in Fleet(paths, HERE).ask("kernels").tables[0].records()}
        self.assertEqual({name: row["Total"] for name, row in rows.items()}, {row["Name"]: row["Total Time (ns)"] for row in stats("cuda_gpu_kern_sum", *paths)})
        best = max(rows.values(), key=lambda row: row["Winnable at most"] or 0)
        self.assertEqual(best["Rule"], "fp32_products")
        self.assertIn("cutlass_80_simt_sgemm_128x256_8x4_nt_align1", best["Name"])
        self.assertTrue(any(sentence.startswith(f"Most could be won in {best['Name']}") for sentence in Fleet(paths, HERE).ask("kernels").sentences))
        with tempfile.TemporaryDirectory() as folder:
            support.lanescope("analyze", "-q", "-f", "json", "-r", "fp32_products", "-o", f"{folder}/x", paths[0])
            said: "dict[str, int]" = {}  # in the loop, and once
            for row in json.loads((pathlib.Path(folder) / "x_fp32_products.json").read_text()):
                said[row["Kernel"]] = said.get(row["Kernel"], 0) + row["Winnable at Most (ns)"]
        self.assertEqual(best["Winnable at most"], said[best["Name"]])  # the other recording has none

    def test_what_is_less_than_a_hundredth_of_the_time_is_not_worth_a_sentence(self):
        answer = Fleet(RANKS[:2], HERE).ask("kernels")
        best = max(row["Winnable at most"] or 0 for row in answer.tables[0].records())
        self.assertEqual(best, 152)  # ns, of 434 ms
        self.assertFalse(any("could be won" in sentence for sentence in answer.sentences))

    @unittest.skipIf(make_fleet is None or shutil.which("protoc") is None, "needs protoc and Python's protobuf")
    def test_processes_that_share_a_gpu_win_the_time_once(self):
        for name, rule in (("transformer_fp32", "fp32_products"), ("transpositions", "kernel_stalls")):
            with self.subTest(recording=name), tempfile.TemporaryDirectory() as folder:
                ranks = pathlib.Path(folder) / "ranks"
                ranks.mkdir()
                recording = make_fleet.Recording(pathlib.Path(support.recording(name)))
                for number in (0, 256):  # the UUID of their GPU is the same, and they do the same at the same time
                    make_fleet.write_rank(recording, ranks / f"{number:03}.trace", number, 2, [], make_fleet.identity, "host", 77)
                make_fleet.in_one_file(sorted(ranks.iterdir()), pathlib.Path(folder) / "shared.trace")
                alone, shared = (max(Fleet(path, HERE).ask("kernels").tables[0].records(), key=lambda row: row["Winnable at most"] or 0)
                                 for path in (support.recording(name), f"{folder}/shared.trace"))  # fmt: skip
                self.assertEqual(shared["Total"], 2 * alone["Total"])
                self.assertEqual((shared["Name"], shared["Rule"], alone["Rule"]), (alone["Name"], rule, rule))
                self.assertAlmostEqual(shared["Winnable at most"] / alone["Winnable at most"], 1, places=6)

    def test_what_idle_causes_says_of_the_loop_is_of_the_loop(self):
        for paths in (RANKS, [support.recording("torch_backward")], [support.recording("cuda_streams")]):
            answer = Fleet(paths, HERE).ask("idle_causes")
            rows = answer.tables[0].records()
            idle, lost = (sum(row["Idle"] for row in rows if row["When"] in kinds) for kinds in (("loop", "once", ""), ("loop",)))
            self.assertIn(" of its time." if len(paths) == 1 else " of their time.", answer.sentences[0])
            expected = [f"Of this, {lost / 1e9:.3f} s ({100 * lost / idle:.0f} %) are in the loop."] if lost else []
            self.assertEqual(answer.sentences[1:-1], expected)
            largest = max((row for row in rows if row["When"] == "loop" or not lost), key=lambda row: row["Idle"])
            self.assertTrue(answer.sentences[-1].startswith(f"The largest part of {'that' if lost else 'it'}: {largest['Cause']}"), answer.sentences)

    @unittest.skipIf(make_fleet is None or shutil.which("protoc") is None, "needs protoc and Python's protobuf")
    def test_a_gpu_of_several_files_may_be_busy_for_another(self):
        recording, text = make_fleet.Recording(), "in several files at the same time"
        for other, later, is_shared in ((256, 0, True), (1, 0, False), (256, 10**12, False)):  # rank 256 has the GPU of rank 0
            with tempfile.TemporaryDirectory() as folder:
                for number, after in ((0, 0), (other, later)):
                    make_fleet.write_rank(recording, pathlib.Path(folder) / f"{number:03}.trace", number, 2, [], make_fleet.identity, "host", 77, utc=10**18 + after)
                said = [sentence for sentence in Fleet(folder, HERE).ask("idle_causes").sentences if text in sentence]
                self.assertEqual([sentence.split(" in ")[0] for sentence in said], ["1 GPU is"] if is_shared else [])

    def test_what_a_rule_can_not_tell_is_no_gain(self):
        answer = Fleet(RANKS[:2], HERE).ask("kernels")
        product = next(row for row in answer.tables[0].records() if row["Name"].startswith("nvjet_"))
        self.assertIsNone(product["Winnable at most"])
        self.assertFalse([text for text in answer.sentences if "nvjet" in text and "could be won" in text])

    def test_the_slowest_rank_is_compared_with_the_others_and_is_none_of_a_collective(self):
        answer = Fleet(RANKS[:2], HERE).ask("kernels")
        means: "dict[str, list[tuple[float, str]]]" = {}
        for row in answer.tables[1].records():
            means.setdefault(row["Name"], []).append((row["Mean"], f"rank {row['Rank']}"))
        rows = answer.tables[0].records()
        self.assertTrue(any(row["Name"].startswith("nccl") for row in rows))
        for row in rows:
            (fast, _), (slow, name) = sorted(means[row["Name"]])
            if row["Name"].startswith("nccl"):
                self.assertEqual((row["Slowest rank"], row["Slower than others (%)"]), (None, None))
            else:
                self.assertEqual(row["Slowest rank"], name)
                self.assertAlmostEqual(row["Slower than others (%)"], 100 * (slow / fast - 1), places=6)

    def test_a_check_leaves_the_warm_up_out_and_fails_nothing_by_chance(self):
        new, old = support.recording("torch_loader_samples"), support.recording("torch_training_workers0")
        answer = Fleet(new, HERE).ask("check", against=[str(old)])
        step = next(row for row in answer.tables[0].records() if row["Name"] == "NVTX step *")
        for path, column in ((old, "Mean before"), (new, "Mean now")):
            with Trace(path) as trace:
                ranges = trace.nvtx_ranges[["name", "duration"]].to_numpy()
            lengths = {name: length for name, length in zip(ranges["name"].tolist(), ranges["duration"].tolist()) if name.startswith("step ")}
            self.assertGreater(lengths.pop("step 0"), 10 * max(lengths.values()))  # it loads code
            self.assertEqual(step[column], sum(lengths.values()) / len(lengths))
        self.assertFalse(answer.failed)
        self.assertIn("noise between runs is not known", answer.sentences[-1])
        self.assertIsNone(step["At least (%)"])

    def test_warm_up_is_the_long_beginning_of_each_family_and_process(self):
        chance = np.random.default_rng(7)
        for _ in range(200):
            process, family, duration = (chance.integers(0, most, 60) for most in (2, 3, 100))
            start = chance.permutation(60)
            expected = np.ones(60, dtype=bool)
            for own in itertools.product(range(2), range(3)):
                rows = sorted((i for i in range(60) if (process[i], family[i]) == own), key=lambda i: start[i])
                for number, i in enumerate(rows):
                    if duration[i] <= 1.5 * np.median(duration[rows]) or 4 * (number + 1) > len(rows):
                        break
                    expected[i] = False
            self.assertEqual(behind_warm_up(process, family, start, duration).tolist(), expected.tolist())

    def test_a_check_of_other_names_does_not_pass(self):
        answer = Fleet(support.recording("cause_pageable_copies"), HERE).ask("check", against=[str(support.recording("jax_training"))])
        self.assertTrue(answer.failed)
        self.assertIn("Nothing can be compared", answer.sentences[0])
        # Some names are in both: the others are said, and fail nothing.
        answer = Fleet(support.recording("transformer_tf32"), HERE).ask("check", against=[str(support.recording("transformer_fp32"))])
        self.assertFalse(answer.failed)
        named = {verdict: [row["Name"] for row in answer.tables[0].records() if row["Verdict"] == verdict] for verdict in ("only now", "only before")}
        self.assertTrue(any("tensorop" in name or "tf32" in name for name in named["only now"]), named)
        self.assertTrue(any("simt" in name for name in named["only before"]), named)
        for verdict, names in named.items():
            self.assertTrue([text for text in answer.sentences if f"only in the runs {verdict.split()[1]}" in text and names[0] in text], answer.sentences)

    def test_ranges_are_put_together_by_their_family(self):
        names = ["step 7", "step 12", "step_3", "conv2d", "layer1", "iter12", "Batch9", "a-1.5", "7", "9x", "x9", "step", "r2d2 44", "epoch 1 step 200"]
        families = [name_family(name) for name in names]
        self.assertEqual(families, ["step *", "step *", "step_*", "conv2d", "layer1", "iter*", "Batch*", "a-*.*", "*", "9x", "x9", "step", "r2d2 *", "epoch * step *"])
        answer = Fleet([support.recording("torch_training_workers4")], HERE).ask("check", against=[str(support.recording("torch_training_workers0"))])
        ranges = {row["Name"] for row in answer.tables[0].records() if row["Name"].startswith("NVTX step")}
        self.assertEqual(ranges, {"NVTX step *"})

    def test_one_is_no_plural(self):
        answer = Fleet([support.recording("cause_pageable_copies")], HERE).ask("cuda_memcpy_async", rows=1)
        self.assertEqual(answer.sentences, ["1 row of 1 file."])
        self.assertTrue(Fleet([RANKS[0]], HERE).ask("idle_causes").sentences[0].startswith("1 GPU was idle for "))

    def test_advice_is_that_of_analyze_with_ranks(self):
        for recipe, paths in (("cuda_api_sync", RANKS), ("cuda_memcpy_async", [support.recording("cause_pageable_copies")]), ("gpu_time_util", RANKS)):
            with self.subTest(recipe=recipe):
                expected = []
                for path in paths:
                    expected += json.loads(support.lanescope("analyze", "-q", "-f", "json", "-r", f"{recipe}:rows=3", path))
                rows = Fleet(paths, HERE).ask(recipe, rows=3).tables[0].records()
                key = lambda row: (row["PID"], row["Start (ns)"], row["Duration (ns)"])
                self.assertEqual(sorted(map(key, rows)), sorted(map(key, expected)))
                self.assertGreater(len(rows), 0)
        self.assertEqual({row["Rank"] for row in Fleet(RANKS, HERE).ask("cuda_api_sync", rows=3).tables[0].records()}, {0, 1})

    def test_without_the_program_each_file_says_so(self):
        fleet = Fleet(RANKS[0], HERE)
        named = os.environ.pop("LANESCOPE")
        try:
            os.environ["LANESCOPE"] = "/nonexistent"
            fleet.ask("idle_causes")
        finally:
            os.environ["LANESCOPE"] = named
        self.assertIn("/nonexistent can't be run", fleet.outcome.files[0].reason)


# A user's package as pip installs it: a module, and its metadata.


if __name__ == "__main__":
    unittest.main()
