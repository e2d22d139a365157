"""Recipes over time, and of networks and disks, compared with `lanescope stats` and with brute force."""

import argparse
import os
import pathlib
import subprocess
import tempfile
import unittest

import support
import numpy as np
from fleet_questions import HERE, RANKS, stats
from lanescope.fleet import Fleet
from lanescope.fleet.engine import Outcome
from lanescope.fleet.intervals import union
from lanescope.fleet.metric_recipes import NvlinkSum, samples_of
from lanescope.trace import Trace


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


if __name__ == "__main__":
    unittest.main()
