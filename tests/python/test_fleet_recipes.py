"""Sums, projections and parts of recordings, compared with `lanescope stats` and with brute force."""

import csv
import json
import pathlib
import random
import statistics
import tempfile
import unittest

import support
import numpy as np
from fleet_questions import HERE, RANKS, stats, run, bare
from lanescope.fleet import Fleet
from lanescope.fleet.filters import _range, _time_window
from lanescope.fleet.intervals import covered_before, overlapped, summed, union
from lanescope.fleet.sums import Summary
from lanescope.trace import Trace


class Intervals(unittest.TestCase):
    def test_times_are_those_of_each_nanosecond(self):
        generator = random.Random(9)
        for _ in range(60):
            spans = [(b, b + generator.randrange(0, 30)) for b in (generator.randrange(0, 200) for _ in range(generator.randrange(0, 12)))]
            start, end = (np.array([span[i] for span in spans], dtype=np.int64) for i in (0, 1))
            depth = [sum(b <= t < e for b, e in spans) for t in range(300)]
            borders = np.array(sorted(generator.randrange(0, 260) for _ in range(8)), dtype=np.int64)
            self.assertEqual(summed(start, end, borders).tolist(), [sum(depth[a:b]) for a, b in zip(borders, borders[1:])])
            self.assertEqual(covered_before(*overlapped(start, end), borders).tolist(), [sum(d >= 2 for d in depth[:b]) for b in borders])
            self.assertEqual(covered_before(*union(start, end), borders).tolist(), [sum(d >= 1 for d in depth[:b]) for b in borders])

    def test_sums_of_late_times_do_not_leave_64_bits(self):
        start = np.full(4000, 1 << 60, dtype=np.int64)
        self.assertEqual(summed(start, start + 5, np.array([0, (1 << 60) + 2, 1 << 61])).tolist(), [8000, 12000])


class Projections(unittest.TestCase):
    def test_ranges_on_the_gpu_are_those_of_stats(self):
        for name in ("torch_training_workers0", "ranks_compute", "jax_training", "attach_graph", "numba_streams"):
            with self.subTest(recording=name):
                rows = [[row[key] for key in ("Text", "Start", "Duration", "Original start", "GPU operations", "Stack level", "TID")]
                        for row in Fleet(support.recording(name), HERE).ask("nvtx_gpu_proj_trace").tables[0].records()]
                said = [[row[key] for key in ("Name", "Projected Start (ns)", "Projected Duration (ns)", "Orig Start (ns)", "NumGPUOps", "Lvl", "TID")]
                        for row in stats("nvtx_gpu_proj_trace", support.recording(name))]
                self.assertEqual(sorted(rows), sorted(said))

    def test_parents_are_around_their_children(self):
        rows = Fleet(support.recording("torch_training_workers0"), HERE).ask("nvtx_gpu_proj_trace").tables[0].records()
        by_id = {row["Range ID"]: row for row in rows}
        self.assertEqual({by_id[row["Parent ID"]]["Text"][:6] for row in rows if row["Parent ID"] is not None}, {":step "})
        for row in rows:
            if row["Parent ID"] is not None:
                parent = by_id[row["Parent ID"]]
                self.assertTrue(parent["Original start"] <= row["Original start"] and row["Original end"] <= parent["Original end"])

    def test_sums_and_pace_are_of_the_same_ranges(self):
        said = {row["Range"]: row for row in stats("nvtx_gpu_proj_sum", *RANKS)}
        for row in Fleet(RANKS, HERE).ask("nvtx_gpu_proj_sum").tables[0].records():
            self.assertEqual((row["Total"], row["Count"]), (said[row["Name"]]["Total Proj Time (ns)"], said[row["Name"]]["Range Instances"]))
        ours = {row["Name"]: row["Total"] for row in Fleet(RANKS, HERE).ask("nccl_gpu_proj_sum").tables[0].records()}
        self.assertEqual(ours["ncclAllReduce"], said["NCCL:ncclAllReduce"]["Total Proj Time (ns)"])
        pace = Fleet(RANKS, HERE).ask("nvtx_gpu_proj_pace", name="ncclAllReduce").tables[0].records()
        self.assertEqual(sum(row["Duration"] for row in pace), ours["ncclAllReduce"])

    def test_a_kernel_is_found_by_its_name_with_and_without_parameters(self):
        for whole, function in (
            ("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "ncclDevKernel_AllReduce_Sum_f32_RING_LL"),
            ("void at::native::vectorized_elementwise_kernel<8, at::native::FillFunctor<c10::BFloat16>, std::array<char*, 1ul> >"
             "(int, at::native::FillFunctor<c10::BFloat16>, std::array<char*, 1ul>)", "vectorized_elementwise_kernel"),
        ):
            said = {row["Name"]: row["Instances"] for row in stats("cuda_gpu_kern_sum", *RANKS)}
            by_name, by_function = (Fleet(RANKS, HERE).ask("cuda_gpu_kern_pace", name=name).tables[0].records() for name in (whole, function))
            self.assertEqual(len(by_name), said[whole])
            self.assertGreaterEqual(len(by_function), len(by_name))
            if function.startswith("nccl"):
                self.assertEqual(by_name, by_function)

    def test_a_name_that_no_recording_has_is_said(self):
        answer = Fleet(RANKS, HERE).ask("cuda_gpu_kern_pace", name="no_such_kernel")
        self.assertEqual((answer.tables, answer.sentences), ([], ["No recording has anything of the name no_such_kernel."]))


class Parts(unittest.TestCase):
    """Filters have the same meaning as in `lanescope stats`."""

    def test_a_time_and_a_range_choose_what_they_choose_for_stats(self):
        for recording, options in (
            ("torch_training_workers0", {"filter_nvtx": "step 7"}),
            ("torch_training_workers0", {"filter_nvtx": "forward/3"}),
            ("torch_training_workers0", {"filter_time": "9.55s/9700ms"}),
            ("torch_training_workers0", {"filter_time": "9.5s/", "filter_nvtx": "step 7"}),
            ("ranks_compute", {"filter_nvtx": "ncclAllReduce@NCCL/4"}),
            ("ranks_compute", {"filter_nvtx": "ncclAllReduce@*/4"}),
        ):
            arguments = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
            for recipe, report, title, total in (
                ("cuda_gpu_kern_sum", "cuda_gpu_kern_sum", "Name", "Total Time (ns)"),
                ("cuda_api_sum", "cuda_api_sum", "Name", "Total Time (ns)"),
                ("cuda_gpu_mem_time_sum", "cuda_gpu_mem_time_sum", "Operation", "Total Time (ns)"),
                ("nvtx_sum", "nvtx_sum", "Range", "Total Time (ns)"),
                ("nvtx_gpu_proj_sum", "nvtx_gpu_proj_sum", "Range", "Total Proj Time (ns)"),
            ):
                with self.subTest(recording=recording, options=options, recipe=recipe):
                    expected = {}
                    for row in stats(report, *arguments, support.recording(recording)):
                        expected[bare(row[title])] = expected.get(bare(row[title]), 0) + row[total]
                    ours = {}
                    for row in Fleet(support.recording(recording), HERE).ask(recipe, **options).tables[0].records():
                        ours[bare(row["Name"])] = ours.get(bare(row["Name"]), 0) + row["Total"]
                    self.assertEqual(ours, expected)

    def test_a_projected_range_chooses_what_overlaps_it_on_the_gpu(self):
        path = support.recording("torch_training_workers0")
        ranges = {row["Text"]: row for row in Fleet(path, HERE).ask("nvtx_gpu_proj_trace").tables[0].records()}
        begin, end = ranges[":step 7"]["Start"], ranges[":step 7"]["End"]
        with Trace(path) as trace:
            kernels = trace.kernels[["start", "duration", "name"]].to_numpy()
        expected = sum(1 for start, duration in zip(kernels["start"], kernels["duration"]) if start < end and start + duration > begin)
        answer = Fleet(path, HERE).ask("cuda_gpu_kern_sum", filter_projected_nvtx="step 7")
        self.assertEqual(sum(row["Count"] for row in answer.tables[0].records()), expected)
        self.assertGreater(expected, 0)

    def test_a_file_without_the_range_is_a_row_with_its_reason(self):
        fleet = Fleet([support.recording("torch_training_workers0"), support.recording("torch_graph")], HERE)
        fleet.ask("cuda_gpu_kern_sum", filter_nvtx="step 7")
        reasons = {pathlib.Path(state.path).stem: state.reason for state in fleet.outcome.files}
        self.assertIn("no NVTX range step 7", reasons["torch_graph"])
        self.assertEqual(reasons["torch_training_workers0"], "")

    def test_texts_of_filters(self):
        self.assertEqual(_time_window("1.5s/2s"), (1_500_000_000, 2_000_000_000))
        self.assertEqual(_time_window("/300ms")[1], 300_000_000)
        for text in ("3", "a/b", "2s/1s", "1e400/", "1min/", "1s/nan", "/1s/2s"):
            with self.subTest(text=text), self.assertRaises(ValueError):
                _time_window(text)
        for text, expected in (("a", ("a", None, 0)), ("a@b/3", ("a", "b", 3)), (r"a\/b@*", ("a/b", "*", 0)), (r"a\@b/2", ("a@b", None, 2)), ("a@b@c", ("a", "b@c", 0))):
            said = _range(text)
            self.assertEqual((said.name, said.domain, said.index), expected)
        for text in ("", "@b", "a/", "a/x", "a/-1", "a/1/2"):
            with self.subTest(text=text), self.assertRaises(ValueError):
                _range(text)


class Sums(unittest.TestCase):
    def test_copies_and_sets_are_those_of_stats(self):
        for recording in ("torch_training_workers0", "cuda_streams", "unified_memory"):
            path = support.recording(recording)
            with self.subTest(recording=recording):
                said = {row["Operation"]: (row["Count"], row["Total Time (ns)"]) for row in stats("cuda_gpu_mem_time_sum", path)}
                rows = Fleet(path, HERE).ask("cuda_gpu_mem_time_sum").tables[0].records()
                self.assertEqual({row["Name"]: (row["Count"], row["Total"]) for row in rows}, said)
                bytes_ = Fleet(path, HERE).ask("cuda_gpu_mem_size_sum").tables[0].records()
                sizes = {row["Operation"]: row["Total (MB)"] for row in stats("cuda_gpu_mem_size_sum", path)}
                self.assertEqual({row["Name"]: round(row["Total"] / 1e6, 3) for row in bytes_}, sizes)

    def test_sums_by_device_are_parts_of_those_of_ranks(self):
        tables = {table.name: table.records() for table in Fleet(RANKS, HERE).ask("cuda_gpu_kern_sum").tables}
        for key in ("Count", "Total"):
            of_ranks, of_devices = {}, {}
            for sums, rows in ((of_ranks, tables["rank_stats"]), (of_devices, tables["rank_stats_by_device"])):
                for row in rows:
                    sums[row["File"], row["PID"], row["Name"]] = sums.get((row["File"], row["PID"], row["Name"]), 0) + row[key]
            self.assertEqual(of_ranks, of_devices)
        self.assertEqual({row["Device"] for row in tables["rank_stats_by_device"]}, {0, 1})
        with Trace(RANKS[0]) as trace:
            durations = {}
            for name, duration in zip(trace.kernels["name"].tolist(), trace.kernels["duration"].tolist()):
                durations.setdefault(name, []).append(duration)
        of_first = {row["Name"]: row["StdDev"] for row in tables["rank_stats"] if row["File"] == str(RANKS[0])}
        self.assertEqual(of_first.keys(), durations.keys())
        for name, values in durations.items():
            self.assertAlmostEqual(of_first[name], statistics.stdev(values) if len(values) > 1 else 0, places=3)

    def test_medians_and_names_of_one_program_are_those_of_stats(self):
        for report, recording, part in (("cuda_api_sum", "cuda_streams", "set-up"), ("cuda_gpu_kern_sum", "cause_stream_wait", "")):
            path = support.recording(recording)
            with self.subTest(report=report):
                chosen = {"filter_nvtx": part} if part else {}
                rows = {row["Name"]: row["Median"] for row in Fleet(path, HERE).ask(report, **chosen).tables[0].records()}
                said = {row["Name"]: row["Med (ns)"] for row in stats(report, *(["--filter-nvtx", part] if part else []), path)}
                self.assertEqual(rows, said)

    def test_quantiles_of_several_files_lie_between_the_two_values_in_the_middle(self):
        def summary(*values):
            return Summary.of(np.array(values, dtype=np.int64), np.zeros(len(values), dtype=np.int64), "file")

        self.assertEqual(summary(1_000, 5_000).percentile(50), 3_000)
        self.assertEqual(summary(1_000).merged(summary(5_000)).percentile(50), 3_000)
        four = summary(10, 1_000).merged(summary(5_000, 9_000))
        self.assertAlmostEqual(four.percentile(50) / 3_000, 1, delta=0.006)
        self.assertEqual((four.percentile(0), four.percentile(100)), (10, 9_000))
        self.assertEqual(Summary.from_json(json.loads(json.dumps(four.to_json()))).percentile(50), four.percentile(50))

    def test_a_histogram_counts_every_duration(self):
        with Trace(RANKS[2]) as trace:
            durations = trace.kernels["duration"]
        rows = Fleet(RANKS[2], HERE).ask("cuda_gpu_kern_hist", bins=20).tables[0].records()
        self.assertEqual(sum(row["Count"] for row in rows), len(durations))
        for limit in {row["To"] for row in rows}:
            below = sum(row["Count"] for row in rows if row["To"] <= limit * 1.0001)
            self.assertTrue((durations < limit / 1.006).sum() <= below <= (durations <= limit * 1.006).sum())

    def test_a_difference_is_that_of_two_answers(self):
        with tempfile.TemporaryDirectory() as folder:
            totals = []
            for number, form in ((0, "csv"), (1, "json")):
                self.assertEqual(run("cuda_gpu_kern_sum", "--input", RANKS[number], "-o", f"{folder}/{number}", "--format", form).returncode, 0)
                totals.append({row["Name"]: row["Total"] for row in Fleet(RANKS[number], HERE).ask("cuda_gpu_kern_sum").tables[0].records()})
            done = run("diff", "--input", f"{folder}/0", f"{folder}/1", "-o", f"{folder}/diff")
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(f"{folder}/diff/all_stats.csv", newline="") as text:
                rows = {row["Name"]: row for row in csv.DictReader(text)}
            self.assertEqual(rows.keys(), totals[0].keys() | totals[1].keys())
            for name, row in rows.items():
                self.assertEqual(float(row["Total difference"]), totals[1][name] - totals[0][name])
                self.assertAlmostEqual(float(row["Total (%)"]), 100 * (totals[1][name] / totals[0][name] - 1))
                change = float(row["Mean difference"])
                self.assertEqual(row["Verdict"], "worse" if change > 0 else "better" if change < 0 else "same")
            kept = run("diff", "--input", f"{folder}/0", f"{folder}/1", "--tolerance", "1e6", "--drop", "-o", f"{folder}/none")
            self.assertIn("\n4 same.\n", kept.stdout)
            self.assertEqual(len(pathlib.Path(f"{folder}/none/all_stats.csv").read_text().splitlines()), 1)
            wrong = run("diff", "--input", f"{folder}/0", folder)
            self.assertEqual((wrong.returncode, wrong.stderr.count("\n")), (1, 1))
            self.assertEqual(run("diff").returncode, 2)
            self.assertIn("nvtx_gpu_proj_sum", run("diff", "--print-compat-recipes").stdout.split())


if __name__ == "__main__":
    unittest.main()
