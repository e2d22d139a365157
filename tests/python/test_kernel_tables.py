"""Tables of kernels' counters and of samples of their warps. They must equal the reports, and the known content of made frames."""

import collections
import json
import pathlib
import struct
import tempfile
import unittest

import support
import lanescope

# Metrics by column of the report kernel_metrics.
METRICS = {
    "Achieved Occupancy (%)": "sm__warps_active.avg.pct_of_peak_sustained_active",
    "Issue Slots Used (%)": "smsp__issue_active.avg.pct_of_peak_sustained_active",
}


def report(name, path):
    return json.loads(support.lanescope("stats", "-q", "-f", "json", "-r", name, path))


class Recorded(unittest.TestCase):
    def test_counters_are_those_of_the_report(self):
        path = support.recording("kernel_counters")
        with lanescope.open(path) as trace:
            table = trace.kernel_metrics.to_numpy()
        values = collections.defaultdict(dict)
        for start, name, passes, metric, value in zip(*(table[column].tolist() for column in ("start", "name", "passes", "metric", "value"))):
            values[start, name, passes][metric] = value
        rows = report("kernel_metrics", path)
        self.assertEqual(len(values), len(rows))
        self.assertGreater(len(rows), 10)
        for row in rows:
            said = values[row["Start (ns)"], row["Name"], row["Passes"]]
            for column, metric in METRICS.items():
                self.assertAlmostEqual(said[metric], row[column], delta=0.06, msg=(row["Name"], column))  # the report rounds
            self.assertAlmostEqual(said["gpc__cycles_elapsed.avg.per_second"] / 1e6, row["SM Clock MHz"], delta=0.06)
            self.assertEqual(round(said["gpu__time_duration.sum"]), row["Duration (ns)"])

    def test_samples_are_those_of_the_report(self):
        path = support.recording("transpositions")
        with lanescope.open(path) as trace:
            table = trace.pc_samples.to_numpy()
            windows = trace.pc_sample_windows.to_numpy()
        sums, reasons = collections.Counter(), collections.defaultdict(collections.Counter)
        for name, reason, samples in zip(*(table[column].tolist() for column in ("name", "reason", "samples"))):
            sums[name] += samples
            reasons[name][reason] += samples
        rows = report("kernel_pc_sum", path)
        self.assertEqual({row["Name"]: row["Samples"] for row in rows}, dict(sums))
        self.assertGreater(len(rows), 1)
        for row in rows:
            nothing = ("selected", "not_selected")
            decisive = max((count, reason) for reason, count in reasons[row["Name"]].items() if reason not in nothing)[1]
            self.assertEqual(row["Decisive Reason"], decisive)
        self.assertEqual(windows["dropped"].sum(), 0)
        self.assertLessEqual(set(table["start"].tolist()), set(windows["start"].tolist()))


def counted(metrics, launches):
    body = b"".join(support.field(2, metric) for metric in metrics)
    for correlation, values in launches:
        packed = struct.pack(f"<{len(values)}d", *values)
        body += support.field(3, support.field(1, correlation) + support.field(2, packed) + support.field(4, 3) + support.field(5, bytes([9, 10])))
    return support.frame(21, body, source=6)


def kernel(correlation, start, duration=50):
    shape = support.field(1, start + 1000 << 1) + support.field(2, 1) + support.field(3, b"work")
    columns = support.field(1, support.zigzag(0)) + support.field(2, support.varint(duration)) + support.field(3, bytes([1])) + support.field(4, bytes([0]))
    return support.frame(6, shape + support.field(16, columns + support.field(5, support.zigzag(correlation)) + support.field(6, bytes([0]))), count=1)


class Made(unittest.TestCase):
    """Frames with known content."""

    def read(self, *frames):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "made.trace"
            path.write_bytes(support.HEADER + support.session_start() + support.process_start() + b"".join(frames) + support.session_end())
            with lanescope.open(path) as trace:
                tables = {name: getattr(trace, name).to_numpy() for name in ("kernel_metrics", "instruction_counts", "pc_sample_windows", "pc_samples")}
                rows = {name: list(zip(*(values.tolist() for values in columns.values()))) for name, columns in tables.items()}
                names = {name: list(columns) for name, columns in tables.items()}
                return {name: [dict(zip(names[name], row)) for row in rows[name]] for name in rows}, trace.lost

    def test_values_that_are_none_and_launches_without_a_kernel_have_no_row(self):
        rows, lost = self.read(kernel(4, 100), kernel(5, 300), counted([b"a", b"b"], [(5, (1.5, float("nan"))), (4, (2.5, float("inf"))), (6, (7.0, 8.0))]))
        self.assertEqual([(row["correlation"], row["start"], row["metric"], row["value"], row["launches"], row["passes"]) for row in rows["kernel_metrics"]],
                         [(4, 100, "a", 2.5, 3, 3), (5, 300, "a", 1.5, 3, 3)])
        self.assertFalse(lost)

    def test_of_several_kernels_with_a_number_the_first_is_meant(self):
        rows, _ = self.read(kernel(4, 500), kernel(4, 200, 70), counted([b"a"], [(4, (1.0,))]))
        self.assertEqual([(row["start"], row["duration"]) for row in rows["kernel_metrics"]], [(200, 70)])

    def test_a_launch_with_too_few_values_is_counted_and_left_out(self):
        rows, lost = self.read(kernel(4, 100), kernel(5, 200), counted([b"a", b"b"], [(5, (1.0, 2.0)), (4, (1.0,))]))
        self.assertEqual({row["correlation"] for row in rows["kernel_metrics"]}, {5})
        self.assertEqual(lost.damaged_chunks, 1)

    def pc_frame(self, function=(1, 1, 1), offset=(16, 16, -8), reason=(1, 2, 1), samples=(5, 6, 7), first=1):
        column = lambda number, values: support.field(number, b"".join(support.varint(value) for value in values))
        body = support.field(1, 1500 << 1) + support.field(2, 400) + support.field(3, 0) + support.field(4, 2) + support.field(5, 2048) + support.field(6, first)
        body += support.field(7, support.varint(1 << 3 | 1) + struct.pack("<Q", 77) + support.field(3, b"_Z4workPf")) + support.field(8, 1)
        body += support.field(9, b"smsp__pcsamp_warps_issue_stalled_long_scoreboard") + support.field(9, b"selected")
        body += column(10, function) + support.field(11, b"".join(support.zigzag(value) for value in offset)) + column(12, reason) + column(13, samples)
        return support.frame(20, body + support.field(15, 3) + support.field(17, 1))

    def test_samples_lie_at_offsets_that_are_summed_up(self):
        rows, lost = self.read(self.pc_frame())
        self.assertEqual([(row["start"], row["name"], row["offset"], row["reason"], row["samples"], row["code_object"]) for row in rows["pc_samples"]],
                         [(500, "work(float*)", 16, "long_scoreboard", 5, 77), (500, "work(float*)", 32, "selected", 6, 77), (500, "work(float*)", 24, "long_scoreboard", 7, 77)])
        window = rows["pc_sample_windows"][0]
        self.assertEqual((window["duration"], window["context"], window["period"], window["dropped"], window["buffer_was_full"]), (400, 2, 2048, 3, True))
        self.assertEqual(str(lost), "incomplete: 3 PC samples dropped, 1 full buffer of PC samples lost more")

    def test_samples_of_what_nobody_named_are_dropped_and_counted(self):
        rows, _ = self.read(self.pc_frame(function=(1, 9, 0), reason=(1, 1, 1)))
        self.assertEqual([row["samples"] for row in rows["pc_samples"]], [5])
        self.assertEqual(rows["pc_sample_windows"][0]["dropped"], 3 + 6 + 7)
        rows, _ = self.read(self.pc_frame(offset=(-1, 2, 1 << 33)))
        self.assertEqual([row["offset"] for row in rows["pc_samples"]], [1])

    def count_frame(self, correlation=4, function=(0, 1, 0), offset=(16, 16, -32), values=(1, 2, 3, 10, 20, 30)):
        column = lambda number, numbers: support.field(number, b"".join(support.varint(value) for value in numbers))
        body = support.field(1, correlation) + support.field(3, b"executed") + support.field(3, b"threads")
        for crc, name in ((77, b"_Z4workPf"), (78, b"_Z5otherv")):
            body += support.field(4, support.varint(1 << 3 | 1) + struct.pack("<Q", crc) + support.field(3, name))
        body += column(5, function) + support.field(6, b"".join(support.zigzag(value) for value in offset)) + column(7, values)
        return support.frame(22, body, source=6)

    def test_counts_stand_at_their_instructions_by_the_start_of_their_kernel(self):
        rows, lost = self.read(kernel(4, 500), kernel(5, 200), self.count_frame(4), self.count_frame(5), self.count_frame(6))
        self.assertEqual([(row["name"], row["offset"], row["metric"], row["value"], row["code_object"]) for row in rows["instruction_counts"][:6]],
                         [("work(float*)", 16, "executed", 1, 77), ("other()", 32, "executed", 2, 78), ("work(float*)", 0, "executed", 3, 77),
                          ("work(float*)", 16, "threads", 10, 77), ("other()", 32, "threads", 20, 78), ("work(float*)", 0, "threads", 30, 77)])
        self.assertEqual([(row["start"], row["correlation"]) for row in rows["instruction_counts"]], [(200, 5)] * 6 + [(500, 4)] * 6)
        self.assertFalse(lost)

    def test_counts_that_disagree_or_have_no_place_are_damage(self):
        for wrong in ({"values": (1, 2, 3)}, {"function": (0, 2, 0)}, {"offset": (-1, 1, 1)}, {"offset": (1, 1)}):
            rows, lost = self.read(kernel(4, 500), self.count_frame(**wrong), self.count_frame())
            self.assertEqual((len(rows["instruction_counts"]), lost.damaged_chunks), (6, 1), wrong)

    def test_columns_of_different_lengths_are_damage(self):
        rows, lost = self.read(self.pc_frame(samples=(5, 6)), self.pc_frame())
        self.assertEqual((len(rows["pc_samples"]), lost.damaged_chunks), (3, 1))


if __name__ == "__main__":
    unittest.main()
