"""Recipes with Nsight Systems' names, and recipes about rules, compared with `lanescope stats` and `analyze`, and with brute force."""

import argparse
import contextlib
import csv
import io
import itertools
import json
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import unittest

import support
import numpy as np
from lanescope import TraceError
from lanescope.fleet import Engine, Fleet, find_traces, recipes
from lanescope.fleet.__main__ import expanded, main
from lanescope.fleet.engine import Outcome
from lanescope.fleet.families import name_family
from lanescope.fleet.filters import _range, _time_window, add_filter_arguments
from lanescope.fleet.history_recipes import behind_warm_up
from lanescope.fleet.intervals import covered_before, overlapped, summed, union
from lanescope.fleet.metric_recipes import NvlinkSum, samples_of
from lanescope.fleet.projection import projected_ranges, ranges_of
from lanescope.fleet.sums import Summary
from lanescope.trace import Trace

try:
    sys.path.insert(0, str(support.ROOT / "tests" / "programs"))
    import make_fleet
except ImportError:
    make_fleet = None

HERE = Engine(kind="none")
RANKS = [support.recording("ranks_late0"), support.recording("ranks_late1"), support.recording("ranks_compute")]


def stats(report, *arguments):
    return json.loads(support.lanescope("stats", "-q", "-f", "json", "-r", report, *arguments) or "[]")


def run(*arguments):
    """The exit code and output of `lanescope fleet`."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main([*map(str, arguments)])
        except SystemExit as ended:
            code = ended.code or 0
    return subprocess.CompletedProcess(arguments, code, out.getvalue(), err.getvalue())


def bare(name):
    """stats shows the functions of CUDA without their version."""
    return name.rsplit("_v", 1)[0] if name.startswith("cu") and name.rsplit("_v", 1)[-1].isdigit() else name


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

        self.assertEqual(summary(1_000, 5_000).quantile(0.5), 3_000)
        self.assertEqual(summary(1_000).merged(summary(5_000)).quantile(0.5), 3_000)
        four = summary(10, 1_000).merged(summary(5_000, 9_000))
        self.assertAlmostEqual(four.quantile(0.5) / 3_000, 1, delta=0.006)
        self.assertEqual((four.quantile(0), four.quantile(1)), (10, 9_000))
        self.assertEqual(Summary.from_json(json.loads(json.dumps(four.to_json()))).quantile(0.5), four.quantile(0.5))

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


class OverTime(unittest.TestCase):
    def test_shares_are_what_kernels_cover(self):
        with Trace(RANKS[0]) as trace:
            data = trace.kernels[["start", "duration", "name"]].to_numpy()
            span = trace.last_end()  # from the recording's start to its last event
        start, end = data["start"], data["start"] + data["duration"]
        nccl = np.array([name.startswith("nccl") for name in data["name"]])
        share = lambda chosen: 100 * int((lambda edges: (edges[1] - edges[0]).sum())(union(start[chosen], end[chosen]))) / span
        row = Fleet(RANKS[0], HERE).ask("nccl_gpu_time_util_map", bins=1).tables[0].records()[0]
        both = share(nccl) + share(~nccl) - share(nccl | ~nccl)
        for column, expected in (("NCCL (%)", share(nccl)), ("Compute (%)", share(~nccl)), ("Overlap (%)", both)):
            self.assertAlmostEqual(row[column], expected, places=4)
        summed_up = Fleet(support.recording("cuda_streams"), HERE).ask("cuda_gpu_time_util_map", bins=1, cumulative=True).tables[0].records()[0]
        with Trace(support.recording("cuda_streams")) as trace:
            self.assertAlmostEqual(summed_up["Kernel (%)"], 100 * trace.kernels["duration"].sum() / trace.last_end(), places=4)

    def test_a_map_has_the_bins_and_shares_of_nsight_systems(self):
        # Output of `nsys recipe` 2025.3.1 for these recordings with --bins 30 --disable-alignment: shares in %, rounded to 0.1, by bin. The recordings have
        # the bins 0 to 17, 0 to 17 and 0 to 29; bins that are not listed are 0.
        paths = [RANKS[0], RANKS[1], support.recording("torch_training_workers0")]
        busy = {0: {14: 41.1, 15: 70.2}, 1: {14: 6.7, 15: 12.4}, None: {28: 3.1, 29: 4.8}}
        apart = {0: {14: (33.6, 7.4), 15: (59.1, 11.1)}, 1: {14: (0.2, 6.5), 15: (0.3, 12.1)}}
        rows = Fleet(paths, HERE).ask("cuda_gpu_time_util_map", disable_alignment=True).tables[0].records()
        self.assertEqual([(row["Rank"], row["Bin"]) for row in rows], [(rank, b) for rank, bins in ((0, 18), (1, 18), (None, 30)) for b in range(bins)])
        for row in rows:
            self.assertAlmostEqual(row["Kernel (%)"], busy[row["Rank"]].get(row["Bin"], 0), delta=0.051)
        for row in Fleet(paths, HERE).ask("nccl_gpu_time_util_map", disable_alignment=True).tables[0].records():
            for column, expected in zip(("NCCL (%)", "Compute (%)"), apart.get(row["Rank"], {}).get(row["Bin"], (0, 0))):
                self.assertTrue(row["Rank"] is None or abs(row[column] - expected) < 0.051, row)

    def test_a_map_of_a_part_has_its_bins(self):
        path = support.recording("torch_training_workers0")
        row = Fleet(path, HERE).ask("cuda_gpu_time_util_map", bins=1, filter_nvtx="step 7").tables[0].records()[0]
        with Trace(path) as trace:
            chosen = Fleet(path, HERE).ask("cuda_gpu_kern_sum", filter_nvtx="step 7").tables[0].records()
            self.assertGreater(row["Kernel (%)"], 100 * sum(each["Total"] for each in chosen) / trace.last_end())  # kernels of one stream do not overlap

    def test_overlap_is_that_of_each_pair(self):
        answer = Fleet(RANKS[2], HERE).ask("nccl_gpu_overlap_trace")
        rows = next(table for table in answer.tables if table.name == "rank_trace").records()
        for device in (0, 1):
            own = [row for row in rows if row["Device"] == device]
            for is_nccl, column in ((True, "Beside computation"), (False, "Beside NCCL")):
                kind = [row for row in own if row["Name"].startswith("nccl") == is_nccl]
                other = [(row["Start"], row["End"]) for row in own if row["Name"].startswith("nccl") != is_nccl]
                for row in kind[::7]:
                    inside = [(max(row["Start"], b), min(row["End"], e)) for b, e in other if b < row["End"] and e > row["Start"]]
                    edges = union(*(np.array([span[i] for span in inside], dtype=np.int64) for i in (0, 1)))
                    self.assertEqual(row[column], int((edges[1] - edges[0]).sum()))

    def test_metrics_are_those_of_stats_and_of_single_samples(self):
        path = support.recording("gpu_metrics")
        said = {row["Metric"]: row for row in stats("gpu_metric_sum", path)}
        rows = {row["Metric"]: row for row in Fleet(path, HERE).ask("gpu_metric_util_sum").tables[0].records()}
        self.assertEqual(rows.keys(), said.keys())
        for metric in ("SMs active", "Tensor cores active", "DRAM bandwidth"):
            self.assertAlmostEqual(rows[metric]["Mean"], said[metric]["Mean"], delta=0.051)
        whole = Fleet(path, HERE).ask("gpu_metric_util_map", bins=1)
        self.assertAlmostEqual(whole.tables[0].records()[0]["Mean"], rows["SMs active"]["Mean"], places=3)
        first = Fleet(path, HERE).ask("gpu_metric_util_sum", per_kernel=True, longest_n=1, metrics="SMs active").tables[0].records()[0]
        with Trace(path) as trace:
            samples = samples_of(trace, {"SMs active"})[0]
            kernels = trace.kernels[["start", "duration", "name"]].to_numpy()
        self.assertEqual(first["Name"], max(set(kernels["name"]), key=lambda name: kernels["duration"][kernels["name"] == name].sum()))
        weighted = sampled = 0
        for begin, duration in zip(*(kernels[column][kernels["name"] == first["Name"]].tolist() for column in ("start", "duration"))):
            inside = np.clip(np.minimum(samples.ends, begin + duration) - np.maximum(samples.starts, begin), 0, None)
            weighted, sampled = weighted + float((samples.values * inside).sum()), sampled + int(inside.sum())
        self.assertEqual(first["Sampled"], sampled)
        self.assertAlmostEqual(first["Mean"], weighted / sampled, places=6)


NETWORK_HEAD = "Inter-|   Receive                                                |  Transmit\n" + " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed\n"


def network_line(name, received, sent, dropped=0):
    return f"  {name}: {received} 10 0 {dropped} 0 0 0 0 {sent} 20 0 0 0 0 0 0\n"


def disk_line(name, read, written):
    return f" 254       0 {name} 7 0 {read} 1 9 0 {written} 1 0 0 3 0 0 0 0 0 0\n"


class Machines(unittest.TestCase):
    """Counters of made-up machines, whose traffic over networks and to disks is known."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.traces = []
        for number in range(2):
            root = pathlib.Path(cls.folder.name, f"machine{number}")
            (root / "proc/net").mkdir(parents=True)
            (root / "sys/block/nvme0n1").mkdir(parents=True)
            (root / "sys/block/nvme0n1/size").write_text("1")
            (root / "proc/net/dev").write_text(NETWORK_HEAD + network_line("eth0", 1000, 0) + network_line("eth1", 5, 5))
            (root / "next").write_text(NETWORK_HEAD + network_line("eth0", 1000 + 8_000_000 * (number + 1), 2_000_000, 40) + network_line("eth1", 5, 5))
            (root / "proc/diskstats").write_text(disk_line("nvme0n1", 0, 2048))
            efa = root / "sys/class/infiniband/rdmap79s0/ports/1/hw_counters"
            efa.mkdir(parents=True)
            for name, before, after in (("rx_bytes", 7, 7), ("tx_bytes", 100, 100 + 3_000_000), ("retrans_pkts", 1, 1 + 60 * number), ("rdma_write_bytes", 0, 1_000_000)):
                (efa / name).write_text(f"{before}\n")
                (root / f"next_{name}").write_text(f"{after}\n")
            (root / "next_disk").write_text(disk_line("nvme0n1", 500, 2048 + 2000 * (number + 1)))
            file = pathlib.Path(cls.folder.name, f"m{number}.trace")
            environment = {**os.environ, "LANESCOPE_MACHINE_ROOT": str(root)}
            work = f"cd '{root}' && sleep 0.3 && mv next proc/net/dev && mv next_disk proc/diskstats && for each in rx_bytes tx_bytes retrans_pkts rdma_write_bytes; do mv next_$each {efa}/$each; done && sleep 0.3"
            subprocess.run([support.program(), "profile", "-t", "none", "-s", "none", "--cpuctxsw=none", "--nic-metrics=lf", "--storage-metrics", "-f", "-o", file, "sh", "-c", work],
                           check=True, capture_output=True, env=environment)  # fmt: skip
            cls.traces.append(file)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_networks_are_summed_by_device(self):
        answer = Fleet(self.traces, HERE).ask("network_sum")
        of_device = {(pathlib.Path(row["File"]).name, row["Device"], row["Metric"]): row["Total"] for row in answer.tables[0].records()}
        for number, file in enumerate(("m0.trace", "m1.trace")):
            self.assertAlmostEqual(of_device[file, "eth0", "received"], 8_000_000 * (number + 1), delta=1000)
            self.assertAlmostEqual(of_device[file, "eth0", "sent"], 2_000_000, delta=1000)
            self.assertAlmostEqual(of_device[file, "eth0", "packets dropped"], 40, delta=0.1)
            self.assertEqual(of_device[file, "eth1", "received"], 0)
        # Both have the same host and device, which counts once.
        self.assertEqual({row["Devices"] for row in answer.tables[1].records()}, {3})
        total = {row["Metric"]: row["Total"] for row in answer.tables[1].records()}
        self.assertTrue(min(abs(total["received"] - expected) for expected in (8e6, 16e6)) < 1000, total)
        self.assertIn("sent 0.005 GB", answer.sentences[0])
        self.assertIn("40 packets dropped", " ".join(answer.sentences))
        for arguments in ({"hide_inactive": True}, {"bytes_threshold": 10_000}):
            self.assertEqual({row["Device"] for row in Fleet(self.traces, HERE).ask("network_sum", **arguments).tables[0].records()}, {"eth0", "rdmap79s0 port 1"})
        self.assertEqual(Fleet(self.traces, HERE).ask("network_sum", bytes_threshold=10**12).tables[0].records(), [])

    def test_maps_hold_what_went_over_devices(self):
        traffic = Fleet(self.traces, HERE).ask("network_traffic_map", bins=1, disable_alignment=True, hide_inactive=True)
        self.assertEqual([each.title for each in traffic.maps][:2], ["received", "sent"])
        self.assertEqual(len(traffic.maps[0].rows), 4)
        efa = Fleet(self.traces, HERE).ask("network_map_aws", bins=1, disable_alignment=True)
        self.assertEqual([each.title for each in efa.maps], ["received", "sent", "packets sent again", "written by RDMA"])
        self.assertEqual({row["adapter"] for row in efa.tables[0].records()}, {"rdmap79s0 port 1"})
        sent = [row["Mean"] for row in efa.tables[0].records() if row["Metric"] == "sent"]
        written = [row["Mean"] for row in efa.tables[0].records() if row["Metric"] == "written by RDMA"]
        for share in zip(sent, written):
            self.assertAlmostEqual(share[0] / share[1], 3, places=3)
        self.assertEqual(sorted(row["Mean"] > 0 for row in efa.tables[0].records() if row["Metric"] == "packets sent again"), [False, True])
        disks = Fleet(self.traces, HERE).ask("storage_util_map", bins=4)
        self.assertEqual([each.title for each in disks.maps], ["read", "written", "reads", "writes", "busy", "requests in flight"])
        stats_of = {row["Metric"]: row for row in stats("machine_metric_sum", self.traces[1])}
        mean = {row["Metric"]: row["Mean"] for row in Fleet(self.traces[1], HERE).ask("storage_util_map", bins=1).tables[0].records()}
        self.assertAlmostEqual(mean["written"] / 1e6, stats_of["nvme0n1 written"]["Mean"], delta=0.06)
        rows = Fleet(self.traces[1], HERE).ask("network_traffic_map", bins=1, hide_inactive=True).tables[0].records()
        mean = {row["Metric"]: row["Mean"] for row in rows if row["device"] == "eth0"}
        self.assertAlmostEqual(mean["received"] / 1e6, stats_of["eth0 received"]["Mean"], delta=0.06)

    def test_a_gpu_whose_links_several_recordings_sampled_at_once_counts_once(self):
        def link(file, gpu, moved, begin, end, host="host"):
            return [file, host, gpu, "NVLink received", moved * 1e9 / (end - begin), moved, 2.0 * moved, end - begin, begin, end]

        # a and b are at the same time, and a is longer; c is later, in a run of its own; d is on another host, so its GPU is another one.
        rows = [link("a", "gpu", 100.0, 0, 1000), link("b", "gpu", 90.0, 100, 900), link("c", "gpu", 7.0, 1000, 1500), link("a", "other", 20.0, 0, 1000), link("d", "gpu2", 3.0, 0, 1000, "host2")]
        parser = argparse.ArgumentParser()
        NvlinkSum.add_arguments(parser)
        answer = NvlinkSum(parser.parse_args([])).present(Outcome(partial=rows))
        self.assertEqual(len(answer.tables[0].records()), 5)
        self.assertEqual(answer.tables[1].records(), [{"Direction": "NVLink received", "Bytes": 130.0, "Highest": 200.0, "GPUs": 3}])

    def test_without_such_counters_a_sentence_says_how_to_record_them(self):
        for name, option in (("network_sum", "--nic-metrics=lf"), ("network_traffic_map", "--nic-metrics=lf"), ("network_map_aws", "--nic-metrics=lf"), ("storage_util_map", "--storage-metrics")):
            answer = Fleet(support.recording("gpu_metrics"), HERE).ask(name)
            self.assertIn(option, answer.sentences[0])
            self.assertEqual(sum(len(table.records()) for table in answer.tables), 0)


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
        with tempfile.TemporaryDirectory() as folder:
            support.lanescope("analyze", "-q", "-f", "json", "-r", "fp32_products", "-o", f"{folder}/x", paths[0])
            said: "dict[str, int]" = {}  # in the loop, and once
            for row in json.loads((pathlib.Path(folder) / "x_fp32_products.json").read_text()):
                said[row["Kernel"]] = said.get(row["Kernel"], 0) + row["Winnable at Most (ns)"]
        self.assertEqual(best["Winnable at most"], said[best["Name"]])  # the other recording has none

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
