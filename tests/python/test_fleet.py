"""Fleets with inserted faults: each fault is found first, with its size, and every engine gives the same bytes. Also recordings of two real GPUs."""

import collections
import contextlib
import dataclasses
import io
import json
import math
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

import support
import numpy as np
from lanescope import TraceError
from lanescope.fleet import Engine, Fleet, recipes
from lanescope.fleet import __main__ as command
from lanescope.fleet.clocks import align
from lanescope.fleet.collective_recipes import median_of_others
from lanescope.fleet.collectives import RankCollectives, collectives_of
from lanescope.fleet.engine import Outcome
from lanescope.fleet.intervals import covered, union
from lanescope.fleet.same_recording import distinct_recordings
from lanescope.fleet.sums import Summary, summed_groups
from lanescope.trace import Trace

try:
    sys.path.insert(0, str(support.ROOT / "tests" / "programs"))
    import make_fleet
except (ImportError, OSError):  # without Python's protobuf, or protoc
    make_fleet = None

try:
    import dask.distributed as distributed
except ImportError:
    distributed = None

needs_protobuf = unittest.skipIf(make_fleet is None or shutil.which("protoc") is None, "needs protoc and Python's protobuf")
HERE = Engine(kind="none")


class Parts(unittest.TestCase):
    def test_sums_do_not_depend_on_how_they_are_taken(self):
        generator = np.random.default_rng(3)
        values = generator.lognormal(12, 3, 5000).astype(np.int64)
        starts = generator.integers(0, 10**12, 5000)
        whole = dataclasses.replace(Summary.of(values, starts, "x"), percentiles=None)  # percentiles are exact only for values that were summed at once
        order = random.Random(2)
        for _ in range(20):
            cuts = sorted(order.sample(range(1, 5000), 9))
            parts = [Summary.of(v, s, "x") for v, s in zip(np.split(values, cuts), np.split(starts, cuts))]
            order.shuffle(parts)
            while len(parts) > 1:
                one, other = parts.pop(order.randrange(len(parts))), parts.pop(order.randrange(len(parts)))
                parts.append(one.merged(other))
            self.assertEqual(parts[0], whole)
            self.assertEqual(Summary.from_json(json.loads(json.dumps(parts[0].to_json()))), whole)
        self.assertEqual(whole.squares, sum(int(value) ** 2 for value in values))
        self.assertAlmostEqual(whole.deviation / float(np.std(values, ddof=1)), 1, places=9)
        for percent in (1, 25, 50, 75, 99):
            self.assertLess(abs(whole.percentile(percent) / np.percentile(values, percent) - 1), 0.02)

    def test_quartiles_and_percentiles_are_those_of_numpy(self):
        generator = np.random.default_rng(6)
        for count in (1, 2, 3, 4, 5, 6, 7, 100, 1001):
            values = generator.integers(0, 1 << 40, count)
            ((_, summary, found),) = summed_groups(np.zeros(count, dtype=np.int64), 1, values, values, "x")
            self.assertEqual([round(q, 3) for q in found], [round(float(q), 3) for q in np.quantile(values, (0.25, 0.5, 0.75))])
            shares = (25, 50, 75, 95, 99)
            self.assertTrue(np.allclose([summary.percentile(share) for share in shares], np.percentile(values, shares), rtol=1e-12))

    def test_sums_of_groups_are_those_of_each_group_alone(self):
        generator = np.random.default_rng(11)
        for most, groups in ((60, 1), (1 << 40, 3), (9000, 40), (1 << 34, 400)):
            # Values close to each other in some groups and far apart in others, with equal ones among them; keys below 0 do not count.
            keys = generator.integers(-1, groups, 3000)
            values = np.where(keys % 2 == 0, generator.integers(0, most, 3000), generator.integers(0, 50, 3000) + 1000 * keys)
            starts = generator.integers(0, 900, 3000)
            found = {key: (summary, own) for key, summary, own in summed_groups(keys, groups, values, starts, "x")}
            self.assertEqual(sorted(found), sorted(set(keys[keys >= 0].tolist())))
            for key, (summary, own) in found.items():
                mine = [(value, start) for value, start, each in zip(values.tolist(), starts.tolist(), keys.tolist()) if each == key]
                of_values = [value for value, _ in mine]
                self.assertEqual((summary.count, summary.total, summary.squares), (len(mine), sum(of_values), sum(value**2 for value in of_values)))
                self.assertEqual((summary.least, summary.most), (min(of_values), max(of_values)))
                self.assertEqual(summary.most_at, ("x", min(start for value, start in mine if value == max(of_values))))
                steps = collections.Counter(math.floor(128 * math.log2(value)) if value > 1 else (0 if value else -1) for value in of_values)
                self.assertEqual(summary.histogram, dict(steps))
                self.assertTrue(np.allclose(own, np.quantile(of_values, (0.25, 0.5, 0.75)), rtol=1e-12))

    def test_the_median_of_others_is_that_of_each_row_left_out(self):
        generator = np.random.default_rng(8)
        for rows in (2, 3, 4, 5, 8):
            table = generator.integers(-20, 20, (rows, 40))
            expected = [np.median(np.delete(table, i, axis=0), axis=0) for i in range(rows)]
            self.assertEqual(median_of_others(table).tolist(), np.stack(expected).tolist())

    def test_covered_time_is_that_of_each_nanosecond(self):
        generator = random.Random(4)
        for _ in range(50):
            spans = [(b, b + generator.randrange(0, 30)) for b in (generator.randrange(0, 200) for _ in range(generator.randrange(0, 12)))]
            inside = [any(b <= t < e for b, e in spans) for t in range(300)]
            start, end = union(np.array([b for b, _ in spans], dtype=np.int64), np.array([e for _, e in spans], dtype=np.int64))
            borders = np.array(sorted(generator.randrange(0, 260) for _ in range(8)), dtype=np.int64)
            self.assertEqual(covered(start, end, borders).tolist(), [sum(inside[a:b]) for a, b in zip(borders, borders[1:])])


class RealRanks(unittest.TestCase):
    """Recordings of two H200s; tests/data/README.md says what each rank did."""

    def test_the_rank_that_sleeps_15_ms_a_step_is_late_by_that(self):
        answer = Fleet([support.recording("ranks_late0"), support.recording("ranks_late1")], HERE).ask("straggler")
        first = answer.tables[0].records()[0]
        self.assertEqual((first["Rank"], first["Last by itself"], first["Collectives"]), ("rank 1", 20, 20))
        self.assertLess(abs(first["Median lateness"] / 15e6 - 1), 0.1)
        self.assertIn("rank 1", answer.sentences[1])

    def test_the_rank_that_multiplies_twice_as_much_computes_longer(self):
        for name in ("imbalance", "straggler"):
            first = Fleet(support.recording("ranks_compute"), HERE).ask(name).tables[0].records()[0]
            self.assertEqual(first["Rank"], "rank 1")
        causes = Fleet(support.recording("ranks_compute"), HERE).ask("straggler").tables[1].records()
        self.assertEqual(causes[0]["Cause"], "GPU ran kernels")

    def test_sums_of_a_fleet_are_those_of_stats(self):
        paths = [support.recording("ranks_late0"), support.recording("ranks_late1"), support.recording("torch_training_workers0")]
        for report, recipe in (("cuda_gpu_kern_sum", "cuda_gpu_kern_sum"), ("cuda_api_sum", "cuda_api_sum")):
            said = json.loads(support.lanescope("stats", "-q", "-f", "json", "-r", report, *paths))
            ours = {row["Name"]: row for row in Fleet(paths, HERE).ask(recipe).tables[0].records()}
            for row in said:
                self.assertIn(row["Name"], ours)
                self.assertEqual((ours[row["Name"]]["Total"], ours[row["Name"]]["Min"], ours[row["Name"]]["Max"]),
                                 (row["Total Time (ns)"], row["Min (ns)"], row["Max (ns)"]))

    def test_percentiles_of_one_recording_are_those_of_stats(self):
        path = support.recording("torch_training_workers0")
        for report, suffix in (("cuda_gpu_kern_sum", " (ns)"), ("cuda_api_sum", " (ns)"), ("nvtx_sum", " (ns)"), ("cuda_gpu_mem_size_sum", "")):
            said = json.loads(support.lanescope("stats", "-q", "-f", "json", "-r", f"{report}:p50:p95:p99:rows=-1", path))
            title = {"nvtx_sum": "Range", "cuda_gpu_mem_size_sum": "Operation"}.get(report, "Name")
            scale = next((1e6 for key in said[0] if key == "P95 (MB)"), 1)
            suffix = suffix if scale == 1 else " (MB)"
            theirs = {row[title]: [scale * row[key + suffix] for key in ("Med", "P50", "P95", "P99")] for row in said}
            rows = Fleet(path, HERE).ask(report).tables[0].records()
            self.assertEqual({row["Name"] for row in rows}, set(theirs))
            for row in rows:
                ours = [row[key] for key in ("Median", "Median", "P95", "P99")]
                self.assertTrue(np.allclose(ours, theirs[row["Name"]], rtol=1e-9, atol=0.06 if scale == 1 else 500), (report, row["Name"], ours, theirs[row["Name"]]))
                self.assertLessEqual(row["Q3"], row["P95"])

    def test_ends_of_collectives_agree_better_than_their_begins(self):
        parts = []
        for name in ("ranks_late0", "ranks_late1"):
            with Trace(support.recording(name)) as trace:
                parts += collectives_of(trace, name)
        self.assertEqual([len(part.operations) for part in parts], [21, 21])
        absolute = [part.ended + part.clock[1] for part in parts]
        self.assertLess(np.abs(absolute[0] - absolute[1]).max(), 10_000)

    def test_real_clocks_that_were_shifted_come_back_to_5_us(self):
        for offset, ppm in ((0, 0), (9_876_543_210, 0), (-3_000_000_000, 50), (1_000, -35)):
            parts = []
            for name, host in (("ranks_late0", "a"), ("ranks_late1", "b")):
                with Trace(support.recording(name)) as trace:
                    parts += collectives_of(trace, name)
                parts[-1].clock[0] = host
            true = [part.ended + part.clock[1] for part in parts]
            moved = parts[1]
            epoch = moved.clock[1]
            for column in (moved.called, moved.began, moved.ended):
                column += np.rint(column * ppm * 1e-6).astype(np.int64)
            moved.clock[1], moved.clock[2] = epoch + offset, moved.clock[2] + 2_000_000_000  # its time of day is 2 s off, too
            alignment = align(parts)
            on_axis = [alignment.times(part, part.ended) for part in sorted(parts, key=RankCollectives.order)]
            self.assertLess(np.abs((on_axis[0] - on_axis[1]) - (true[0] - true[1])).max(), 10_000)
            # The ends themselves differ by 5 us on one clock; the rest is the error of the alignment.
            self.assertLess(np.abs(np.median(on_axis[0] - on_axis[1])), 5_000)


@needs_protobuf
class PlantedFaults(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_a_straggler_is_found_with_its_size_and_cause(self):
        clocks = [(0, 0), (2_000_000_000, 50), (-10_000_000_000, 1), (7_000_000, -20), (0, 35), (10_000_000_000, -50)]
        for hosts in (None, clocks):
            with self.subTest(clocks=hosts):
                shutil.rmtree(self.folder, ignore_errors=True)
                self.folder.mkdir()
                make_fleet.straggler(self.folder, ranks=6, late=3, lateness=12_000_000, clocks=hosts)
                answer = Fleet(self.folder, HERE).ask("straggler")
                first, cause = answer.tables[0].records()[0], answer.tables[1].records()[0]
                self.assertEqual((first["Rank"], cause["Rank"], cause["Cause"]), ("rank 3", "rank 3", "in NVTX range load shard"))
                self.assertLess(abs(first["Median lateness"] / 12e6 - 1), 0.1)
                self.assertLess(abs(cause["More than others"] / 240e6 - 1), 0.1)

    def test_a_straggler_is_what_analyze_reports_first_as_a_share_of_the_loop(self):
        make_fleet.busy_straggler(self.folder, ranks=4, late=2, lateness=12_000_000, step=14_600_000)
        paths = sorted(self.folder.iterdir())
        make_fleet.in_one_file(paths, self.folder / "all.trace")
        for files in (paths, [self.folder / "all.trace"]):
            with self.subTest(files=len(files)):
                first = json.loads(support.lanescope("analyze", "-f", "json", *files))[0]
                self.assertEqual((first["Rule"], first["PID"]), ("imbalance", 1002))
                # 12 of 30 ms in each step. The pid of rank 2 is 1002.
                self.assertAlmostEqual(float(re.search(r"\((\d+) % of the loop", first["Finding"])[1]), 40, delta=2)
        late = Fleet([str(path) for path in paths], HERE).ask("straggler").tables[0].records()[0]
        self.assertEqual(late["Rank"], "rank 2")
        self.assertAlmostEqual(late["Share of loop (%)"], 40, delta=2)

    def test_clocks_with_offset_and_drift_agree_to_5_us(self):
        clocks = [(0, 0), (2_000_000_000, 50), (-10_000_000_000, 1), (7_000_000, -20)]
        make_fleet.straggler(self.folder, ranks=4, late=1, clocks=clocks)
        parts = []
        for path in sorted(self.folder.iterdir()):
            with Trace(path) as trace:
                parts += collectives_of(trace, str(path))
        alignment = align(parts)
        ends = np.stack([alignment.times(part, part.ended) for part in sorted(parts, key=RankCollectives.order)])
        self.assertLess((ends.max(axis=0) - ends.min(axis=0)).max(), 5_000)  # they ended at the same moment

    def test_a_slow_link_is_found(self):
        make_fleet.slow_link(self.folder, pairs=5, slow=2, factor=3)
        answer = Fleet(self.folder, HERE).ask("slow_link")
        first = answer.tables[0].records()[0]
        self.assertEqual(first["Communicator"], "102")
        self.assertAlmostEqual(first["Times the median"], 3, delta=0.3)

    def test_an_imbalance_is_found_with_its_size(self):
        make_fleet.imbalance(self.folder, ranks=5, heavy=2, factor=1.5)
        first = Fleet(self.folder, HERE).ask("imbalance").tables[0].records()[0]
        self.assertEqual((first["Rank"], first["Steps above"]), ("rank 2", 20))
        self.assertAlmostEqual(first["More (%)"], 50, delta=5)

    def test_ranks_that_part_are_found(self):
        make_fleet.desync(self.folder, ranks=4, wrong=2, number=9)
        self.assertIn("collective 10 of communicator 77: rank 2 (host) called ncclAllReduce of 8388608 bytes", Fleet(self.folder, HERE).ask("desync").sentences[0])
        shutil.rmtree(self.folder)
        self.folder.mkdir()
        make_fleet.early_end(self.folder, ranks=4, dead=1, number=12)
        self.assertIn("collective 13 of communicator 77: rank 1 (host) called nothing", Fleet(self.folder, HERE).ask("desync").sentences[0])

    def test_what_a_late_rank_costs_is_what_was_planted(self):
        make_fleet.straggler(self.folder, ranks=5, late=3, lateness=12_000_000)
        answer = Fleet(self.folder, HERE).ask("what_if")
        first, second = answer.tables[0].records()[:2]
        self.assertEqual(first["What"], "rank 3")
        collectives = len(make_fleet.Recording().collectives)
        self.assertAlmostEqual(first["Saved"] / (12e6 * (collectives - 1)), 1, delta=0.02)
        self.assertLess(second["Saved"], 0.05 * first["Saved"])
        measured = float(answer.sentences[1].split(" takes ")[1].split(" %")[0])
        self.assertAlmostEqual(measured, 100, delta=2)

    def test_what_a_slow_link_costs_is_what_was_planted(self):
        make_fleet.slow_link(self.folder, pairs=5, slow=2, factor=3)
        rows = {row["What"]: row for row in Fleet(self.folder, HERE).ask("what_if").tables[0].records()}
        transfers = sum(end - begin for begin, end in make_fleet.Recording().collectives)
        slow, other = rows["communicator 102"], rows["communicator 101"]
        self.assertEqual(slow["Saved"], max(row["Saved"] for name, row in rows.items() if name.startswith("communicator")))
        self.assertAlmostEqual(slow["Saved"] / (2 * transfers), 1, delta=0.1)
        self.assertLess(other["Saved"], 0.1 * slow["Saved"])

    def test_what_collectives_send_is_their_bytes(self):
        clocks = [(0, 0), (2_000_000_000, 50), (-10_000_000_000, 1), (7_000_000, -20)]
        for hosts, where in ((None, "within a host"), (clocks, "between 4 hosts")):
            shutil.rmtree(self.folder, ignore_errors=True)
            self.folder.mkdir()
            make_fleet.straggler(self.folder, ranks=4, late=1, clocks=hosts)
            rows = Fleet(self.folder, HERE).ask("network").tables[0].records()
            self.assertEqual([row["Rank"] for row in rows], [f"rank {rank}" for rank in range(4)])
            for row in rows:
                self.assertEqual(row["Goes"], where)
                self.assertEqual(row["Bytes over its links"], row["Collectives"] * 16777216 * 2 * 3 / 4)

    def test_a_check_tells_slower_nights_from_noise(self):
        make_fleet.nights(self.folder, count=30, slower_from=17, factor=1.1)
        nights = [str(self.folder / f"night{number:02}.trace") for number in range(30)]
        kept = Engine(kind="none", cache=str(self.folder / "cache"))  # so that each night is read once
        slower = Fleet(nights[17:], kept).ask("check", against=nights[:17])
        first = slower.tables[0].records()[0]
        self.assertIn("nvjet", first["Name"])
        self.assertAlmostEqual(first["Change (%)"], 10, delta=1)
        self.assertLess(first["At least (%)"], first["Change (%)"])
        self.assertTrue(slower.failed)
        self.assertFalse(Fleet(nights[9:17], kept).ask("check", against=nights[:9]).failed)
        self.assertFalse(Fleet(nights[17:], kept).ask("check", against=nights[:17], tolerance=12.0).failed)
        self.assertFalse(Fleet(nights[:17], kept).ask("check", against=nights[17:]).failed)  # faster
        run = lambda *arguments: subprocess.run([sys.executable, "-m", "lanescope.fleet", "check", "--cache", kept.cache, *arguments], capture_output=True, text=True,
                                                env=os.environ | {"PYTHONPATH": str(support.ROOT / "app/python")})
        codes = [run("--input", *new, "--against", *old).returncode for new, old in ((nights[20:], nights[:9]), (nights[9:17], nights[:9]), (["/nonexistent"], nights[:9]))]
        self.assertEqual(codes, [3, 0, 1])
        self.assertEqual(run("--input", nights[0]).returncode, 2)

    def test_a_run_did_not_become_slower_than_itself(self):
        make_fleet.nights(self.folder, count=3, slower_from=2, factor=1.5)
        nights = [str(self.folder / f"night{number:02}.trace") for number in range(3)]
        for new, old, changes in (([nights[0]], [nights[0]], {0.0}), (nights, nights, {0.0})):
            answer = Fleet(new, HERE).ask("check", against=old)
            self.assertFalse(answer.failed, answer.sentences)
            self.assertEqual({row["Change (%)"] for row in answer.tables[0].records()}, changes)
        # The slowest against all three: slower by 1.5 / ((1 + 1 + 1.5) / 3) - 1 = 28.6 %.
        slower = Fleet(nights[2], HERE).ask("check", against=nights).tables[0].records()
        self.assertAlmostEqual(max(row["Change (%)"] for row in slower), 28.6, delta=3)

    def test_a_check_of_one_run_takes_the_noise_of_the_other_side(self):
        make_fleet.nights(self.folder, count=12, slower_from=10, factor=1.2)
        nights = [str(self.folder / f"night{number:02}.trace") for number in range(12)]
        answer = Fleet(nights[10], HERE).ask("check", against=nights[:10])
        first = answer.tables[0].records()[0]
        self.assertTrue(answer.failed)
        self.assertIn("nvjet", first["Name"])
        self.assertLess(first["At least (%)"], first["Change (%)"] - 1)  # the nights differ by 1 %
        self.assertFalse(Fleet(nights[9], HERE).ask("check", against=nights[:9]).failed)
        for new, old in ((nights[10:11], nights[:1]), (nights[10:], nights[:2])):  # of two runs a side, noise of 1 % is not enough to be known
            answer = Fleet(new, HERE).ask("check", against=old)
            self.assertFalse(answer.failed)
            self.assertEqual(answer.tables[0].records()[0]["Verdict"], "unsure")
            self.assertTrue([text for text in answer.sentences if "may be noise and is no failure" in text], answer.sentences)

    def test_a_check_looks_at_what_takes_time_on_either_side(self):
        recording = make_fleet.Recording()
        for number in range(4):
            longer = 200 if number > 1 else 1
            make_fleet.write_rank(recording, self.folder / f"run{number}.trace", 0, 2, [], make_fleet.identity, "host", 77, slower=("FillFunctor", longer), utc=(1 + number) * 10**18)
        runs = [str(self.folder / f"run{number}.trace") for number in range(4)]
        shares = [row["Share (%)"] for row in Fleet(runs[0], HERE).ask("cuda_gpu_kern_sum").tables[0].records() if "FillFunctor" in row["Name"]]
        self.assertLess(max(shares), 1)
        slower = [row["Change (%)"] for row in Fleet(runs[2:], HERE).ask("check", against=runs[:2]).tables[0].records() if row["Verdict"] == "slower" and "FillFunctor" in row["Name"]]
        self.assertTrue(slower)
        self.assertEqual({round(change) for change in slower}, {100 * 199})

    def test_engines_and_shards_give_the_same_bytes(self):
        make_fleet.straggler(self.folder, ranks=6)
        (self.folder / "broken.trace").write_bytes(b"no trace")
        shutil.copy(self.folder / "rank001.trace", self.folder / "rank001_again.trace")
        whole = (self.folder / "rank002.trace").read_bytes()
        (self.folder / "rank002.trace").write_bytes(whole[: len(whole) // 2])
        cache = str(self.folder / "cache")
        for name in ("cuda_gpu_kern_sum", "straggler", "cuda_gpu_time_util_map", "gpu_gaps", "network"):
            question = recipes()[name].with_defaults()
            fleet = Fleet(self.folder, HERE)
            expected = HERE.run(question, fleet.paths).to_bytes(question)
            engines = [Engine(kind="pool", workers=2), Engine(kind="none", cache=cache), Engine(kind="none", cache=cache)]
            for engine in engines:
                with self.subTest(recipe=name, engine=engine):
                    self.assertEqual(engine.run(question, reversed(fleet.paths)).to_bytes(question), expected)
            shards = [HERE.run(question, fleet.paths, None, (i + 1, 3)) for i in range(3)]
            for order in ((0, 1, 2), (2, 0, 1), (1, 2, 0)):
                merged = Outcome()
                for i in order:
                    merged = merged.merged(Outcome.from_bytes(shards[i].to_bytes(question), question), question)
                self.assertEqual(merged.to_bytes(question), expected)

    @unittest.skipIf(distributed is None, "needs dask[distributed]")
    def test_dask_gives_the_same_bytes_with_any_number_of_workers(self):
        make_fleet.straggler(self.folder, ranks=5)
        (self.folder / "broken.trace").write_bytes(b"no trace")
        question = recipes()["straggler"].with_defaults()
        paths = Fleet(self.folder, HERE).paths
        expected = HERE.run(question, paths).to_bytes(question)
        for workers in (1, 2, 4):
            with self.subTest(workers=workers):
                self.assertEqual(Engine(kind="dask", dask=f"local:{workers}").run(question, reversed(paths)).to_bytes(question), expected)
        # An existing scheduler, by its address and by its file.
        with distributed.Client(n_workers=2, threads_per_worker=1, dashboard_address=None, set_as_default=False) as client:
            client.write_scheduler_file(str(self.folder / "scheduler.json"))
            for where in (client.scheduler.address, str(self.folder / "scheduler.json")):
                self.assertEqual(Engine(kind="dask", dask=where).run(question, paths).to_bytes(question), expected)
            self.assertTrue(client.scheduler_info()["workers"])  # the engine must not end a cluster that it did not start
        for where in ("local:", "local:0", "local:x"):
            with self.assertRaises(TraceError):
                Engine(kind="dask", dask=where).run(question, paths)

    def test_a_file_that_cannot_be_read_is_a_row(self):
        make_fleet.straggler(self.folder, ranks=2)
        (self.folder / "broken.trace").write_bytes(b"no trace")
        fleet = Fleet(self.folder, HERE)
        fleet.ask("cuda_gpu_kern_sum")
        states = {pathlib.Path(state.path).name: state for state in fleet.outcome.files}
        self.assertFalse(states["broken.trace"].read)
        self.assertIn("is not a .trace file", states["broken.trace"].reason)
        self.assertTrue(states["rank000.trace"].read)

    def test_a_change_of_a_night_is_found(self):
        make_fleet.nights(self.folder, count=30, slower_from=17, factor=1.1)
        first = Fleet(self.folder, HERE).ask("history").tables[0].records()[0]
        self.assertIn("nvjet", first["Name"])
        self.assertEqual(pathlib.Path(first["From file"]).name, "night17.trace")
        self.assertAlmostEqual(first["Change (%)"], 10, delta=1)


class SameRecordings(unittest.TestCase):
    def asked(self, *paths):
        fleet = Fleet(list(paths), HERE)
        return fleet.ask("cuda_gpu_kern_sum").tables[0].rows, {os.path.basename(state.path): state for state in fleet.outcome.files}

    def test_a_recording_and_its_compacted_form_are_one(self):
        with tempfile.TemporaryDirectory() as folder:
            run, compact = os.path.join(folder, "run.trace"), os.path.join(folder, "run.compact.trace")
            shutil.copy(support.recording("ranks_late0"), run)
            support.lanescope("export", "-q", "-t", "trace", "-o", compact, run)
            alone, _ = self.asked(run)
            both, files = self.asked(run, compact)
            self.assertEqual(str(alone), str(both).replace(compact, run))
            left_out = [state for state in files.values() if not state.read]
            self.assertEqual(len(left_out), 1)
            self.assertIn("holds the same recording as", left_out[0].reason)

    def test_a_copy_in_another_folder_is_no_second_run(self):
        run, before = (str(support.recording(name)) for name in ("torch_loader_samples", "torch_training_workers0"))
        with tempfile.TemporaryDirectory() as folder:
            copy, compact = os.path.join(folder, "copy.trace"), os.path.join(folder, "compact.trace")
            shutil.copy(run, copy)
            support.lanescope("export", "-q", "-t", "trace", "-o", compact, run)
            fleet = Fleet([run, copy, compact], HERE)
            answer = fleet.ask("check", against=[before])
            self.assertEqual({row["Runs now"] for row in answer.tables[0].records() if row["Verdict"] != "only before"}, {1})
            self.assertEqual(sum("holds the same recording as" in state.reason for state in fleet.outcome.files), 2)
            # On both sides, it is one run that is compared with itself.
            for given, against in ((copy, run), (run, compact)):
                answer = Fleet(given, HERE).ask("check", against=[against])
                self.assertEqual({row["Change (%)"] for row in answer.tables[0].records()}, {0.0})
                self.assertFalse(answer.failed)

    def test_parts_with_other_rows_are_two(self):
        field, zigzags = support.field, lambda *numbers: b"".join(map(support.zigzag, numbers))

        def of_gpu(device):
            """What one GPU did in a recording of one process that used two GPUs in turn."""
            start = support.frame(1, field(1, 2) + field(2, 4), process=0)  # both clocks
            queue = field(6, 1) + field(7, (field(1, device) if device else b"") + field(2, device + 1) + field(3, 7))
            kernels = field(1, zigzags(10, 100)) + field(2, b"\x32\x32") + field(3, b"\x01\x01") + field(4, b"\x01\x01")
            return support.HEADER + start + support.process_start() + support.frame(6, field(2, 1) + field(3, b"kernel") + queue + field(16, kernels), source=2, count=2) + support.session_end()

        with tempfile.TemporaryDirectory() as folder:
            paths = [os.path.join(folder, f"gpu{device}.trace") for device in range(2)]
            for device, path in enumerate(paths):
                pathlib.Path(path).write_bytes(of_gpu(device))
                with Trace(path) as trace:
                    self.assertEqual(trace.kernels["device"].tolist(), [device, device])
            self.assertEqual(distinct_recordings(paths), (paths, {}))
            again = os.path.join(folder, "again.trace")
            shutil.copy(paths[1], again)
            self.assertEqual(distinct_recordings([*paths, again]), (paths, {again: paths[1]}))

    def test_parts_that_follow_each_other_are_two(self):
        with tempfile.TemporaryDirectory() as folder:
            parts = [os.path.join(folder, f"part{i}.trace") for i in range(2)]
            for part, times in zip(parts, ("/2s", "4s/")):
                support.lanescope("export", "-q", "-t", "trace", "--times", times, "-o", part, support.recording("ranks_late0"))
            self.assertEqual([state.read for state in self.asked(*parts)[1].values()], [True, True])
            # All calls and samples that reach into a part are in its file, so the events of a short part lie within the times of a long one's events.
            for part, times in zip(parts, ("5s/5.5s", "6s/")):
                support.lanescope("export", "-q", "-f", "-t", "trace", "--times", times, "-o", part, support.recording("torch_loader_samples"))
            self.assertEqual(distinct_recordings(parts), (parts, {}))


class CommandLine(unittest.TestCase):
    def run_fleet(self, *arguments):
        environment = os.environ | {"PYTHONPATH": str(support.ROOT / "app/python")}
        return subprocess.run([sys.executable, "-m", "lanescope.fleet", *map(str, arguments)], capture_output=True, text=True, env=environment)

    def test_an_answer_is_written_and_never_over_another(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "answer"
            arguments = ["cuda_gpu_kern_sum", "--input", support.recording("torch_graph"), "-o", out, "--format", "csv,json"]
            done = self.run_fleet(*arguments)
            self.assertEqual(done.returncode, 0, done.stderr)
            page = (out / "report.html").read_text()
            self.assertIn("cuda_gpu_kern_sum", page)
            self.assertNotIn("http", page)  # nothing is loaded from elsewhere
            self.assertTrue((out / "all_stats.csv").exists() and (out / "all_stats.json").exists() and (out / "files.csv").exists())
            again = self.run_fleet(*arguments)
            self.assertEqual(again.returncode, 1)
            self.assertIn("is there already", again.stderr)

    def test_runs_at_once_have_places_of_their_own(self):
        for shard in ([], ["--shard", "1/2"]):
            with self.subTest(shard=shard), tempfile.TemporaryDirectory() as folder:
                asked = ["cuda_gpu_kern_sum", "--mode", "none", "--input", str(support.recording("torch_graph")), *shard, "-o"]

                def written(name):
                    place = pathlib.Path(folder) / name
                    return (place if shard else place / "report.html").stat().st_size > 0

                at_once = []
                run = command.Engine.run

                def run_behind_another(engine, *arguments):
                    if len(at_once) < 1:
                        at_once.append(None)
                        at_once[0] = command.main([*asked, f"{folder}/{name}"])
                    return run(engine, *arguments)

                with unittest.mock.patch.object(command.Engine, "run", run_behind_another), contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as said:
                    for name, code in (("sums%n", 0), ("one", 1)):
                        at_once.clear()
                        self.assertEqual(command.main([*asked, f"{folder}/{name}"]), 0)
                        self.assertEqual(at_once, [code])
                self.assertIn("one is there already", said.getvalue())
                self.assertTrue(written("sums1") and written("sums2") and written("one"))

                # A failure leaves nothing behind and removes nothing.
                with unittest.mock.patch.object(command.Engine, "run", side_effect=TraceError("no")), contextlib.redirect_stderr(io.StringIO()):
                    self.assertEqual(command.main([*asked, f"{folder}/none"]), 1)
                    self.assertEqual(command.main([*asked, f"{folder}/one", "-f"]), 1)
                self.assertFalse((pathlib.Path(folder) / "none").exists())
                self.assertTrue(written("one"))

    def test_wrong_use_ends_with_2(self):
        trace = support.recording("torch_graph")
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "answer"
            for arguments in (["no_recipe"], ["straggler"], ["straggler", "--input", trace, "--shard", "4/3", "-o", out], ["straggler", "--input", trace, "--shard", "1/3"],
                              ["straggler", "--input", trace, "--format", "xlsx"], ["straggler", "--input", trace, "--format", "json"], ["merge", "--input", trace, "--csv"],
                              ["diff", "--tolerance", "1"]):  # fmt: skip
                with self.subTest(arguments=arguments):
                    self.assertEqual(self.run_fleet(*arguments).returncode, 2)
        self.assertEqual(self.run_fleet("straggler", "--input", "/nonexistent").returncode, 1)

    def test_the_program_knows_every_recipe(self):
        said = support.lanescope("fleet", "--help").decode()
        for name in recipes():
            self.assertRegex(said, rf"\b{name}\b")

    def test_the_program_asks_by_this_package(self):
        environment = os.environ | {"LANESCOPE_PYTHON": sys.executable}
        for verb in ("fleet", "recipe"):
            done = subprocess.run([support.program(), verb, "gpu_gaps", "--input", support.recording("torch_graph"), "--gap", "1"], capture_output=True, text=True, env=environment)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stdout, r"The longest gap is [0-9.]+ ms without work of process \d+ on GPU 0, in ")
        done = subprocess.run([support.program(), "fleet", "gpu_gaps"], capture_output=True, text=True, env=environment | {"LANESCOPE_PYTHON": "/nonexistent"})
        self.assertEqual(done.returncode, 1)
        self.assertIn("LANESCOPE_PYTHON names another one", done.stderr)

    def test_shards_join_to_the_same_answer(self):
        with tempfile.TemporaryDirectory() as folder:
            inputs = [support.recording("ranks_late0"), support.recording("ranks_late1")]
            for i in (1, 2):
                done = self.run_fleet("straggler", "--input", *inputs, "--shard", f"{i}/2", "-o", f"{folder}/part{i}", "--mode", "none")
                self.assertEqual(done.returncode, 0, done.stderr)
            joined = self.run_fleet("merge", "--input", f"{folder}/part2", f"{folder}/part1")
            self.assertEqual(joined.stdout, self.run_fleet("straggler", "--input", *inputs, "--mode", "none").stdout)

    def test_names_do_not_reach_the_terminal_or_the_page_raw(self):
        from lanescope.fleet.report import html_page, text_of
        from lanescope.fleet.result import Answer, ResultTable

        answer = Answer("x", ["\x1b[31mred <script>"], [ResultTable("t", ["Name"], [["\x1b]0;title\x07<script>alert(1)</script>"]])])
        self.assertNotIn("\x1b", text_of(answer, Outcome()))
        self.assertNotIn("<script>", html_page(answer, Outcome()))


if __name__ == "__main__":
    unittest.main()
