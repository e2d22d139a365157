"""Files that a program used: sums of a recording that is made here use by use and therefore known, and payloads of ranges as columns."""

import csv
import io
import pathlib
import struct
import tempfile
import unittest

import numpy as np
import support
import lanescope
from lanescope.fleet import Engine, Fleet

HERE = Engine(kind="none")
DOMAIN, OTHER = 0x7FFF0003, 7
OPEN, READ, WRITE, MAP, SYNC = range(1, 6)
UNSIGNED, SIGNED, REAL = 1, 2, 3


def ranges(thread, domain, rows, first, names):
    """A chunk of NVTX ranges: (start, duration, name, category, payload type, payload)."""
    column = lambda number, values: support.field(number, b"".join(support.varint(value) for value in values))
    starts = [0, *(row[0] for row in rows)]
    body = support.field(1, thread) + support.field(2, domain)
    body += support.field(4, b"".join(support.zigzag(b - a) for a, b in zip(starts, starts[1:])))
    body += column(5, [row[1] for row in rows]) + column(6, [first + names.index(row[2]) for row in rows]) + column(7, [0] * len(rows))
    body += column(8, [row[3] for row in rows]) + column(10, [row[4] for row in rows])
    body += support.field(11, b"".join(struct.pack("<d" if row[4] == REAL else "<q" if row[4] == SIGNED else "<Q", row[5]) for row in rows))
    texts = b"".join(support.field(3, name.encode()) for name in names)
    return support.frame(6, support.field(1, 2000) + support.field(2, first) + texts + support.field(24, body), count=len(rows))


def trace_of(chunks, pid=4242):
    domain = lambda number, name: support.field(5, support.field(1, number) + support.field(2, name))
    resources = support.frame(5, domain(DOMAIN, b"File access") + domain(OTHER, b"app"))
    return support.HEADER + support.session_start() + support.process_start(pid=pid) + resources + b"".join(chunks) + support.session_end()


def uses(scale=1):
    """An epoch of 10 µs with a batch in it, on one thread; a second thread uses files outside of any range."""
    app = [(0, 10_000, "epoch", 0, 0, 0), (2000, 3000, "batch", 0, 0, 0)]
    one = [
        (100, 50, "/data/a", OPEN, 0, 0), (200, 10, "/data/a", READ, UNSIGNED, 1000 * scale), (2100, 20, "/data/a", READ, UNSIGNED, 24 * scale),
        (2200, 30, "/out, \"b\"</script>", WRITE, UNSIGNED, 500), (2200, 30, "/data/a", READ, UNSIGNED, 500), (2300, 7, "/out, \"b\"</script>", SYNC, 0, 0),
        (9000, 5, "/data/a", MAP, UNSIGNED, 4096), (12_000, 1, "/data/a", READ, UNSIGNED, 1),
    ]  # fmt: skip
    other = [(2500, 11, "/data/a", READ, UNSIGNED, 3), (2600, 9, "/data/a", 99, UNSIGNED, 1 << 40)]  # 99 is an unknown category
    names = ["/data/a", "/out, \"b\"</script>"]
    return [ranges(1, OTHER, app, 1, ["epoch", "batch"]), ranges(1, DOMAIN, one, 3, names), ranges(2, DOMAIN, other, 5, names)]


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "one.trace").write_bytes(trace_of(uses()))
        (self.folder / "two.trace").write_bytes(trace_of(uses(scale=100_000), pid=4343))
        (self.folder / "none.trace").write_bytes(trace_of([]))
        self.answer = Fleet(self.folder, HERE).ask("file_access_sum")
        self.tables = {table.name: table.records() for table in self.answer.tables}

    def test_sums_over_all_are_those_of_each_use(self):
        rows = {row["File"]: row for row in self.tables["all_stats"]}
        a, b = rows["/data/a"], rows["/out, \"b\"</script>"]
        self.assertEqual([a[name] for name in ("Total", "Operations", "Read", "Written", "Mapped", "Opens", "Reads", "Maps", "Processes")],
                         [2 * 127, 2 * 7, 100_001 * 1024 + 2 * 504, 0, 8192, 2, 10, 2, 2])  # fmt: skip
        self.assertEqual([b[name] for name in ("Total", "Operations", "Written", "Writes", "Syncs", "Mean write", "Mean read")], [74, 4, 1000, 2, 2, 500.0, None])
        self.assertEqual(list(rows), ["/data/a", "/out, \"b\"</script>"])  # most time first

    def test_uses_belong_to_the_innermost_range_of_their_thread(self):
        rows = {row["Range"]: row for row in self.tables["range_stats"]}
        self.assertEqual({name: (row["Operations"], row["Written"]) for name, row in rows.items()}, {"epoch": (6, 0), "batch": (8, 1000), "": (4, 0)})
        self.assertEqual(rows["batch"]["Read"], 100_001 * 24 + 1000)

    def test_ranks_add_up_to_all(self):
        self.assertEqual(sorted({row["PID"] for row in self.tables["rank_stats"]}), [4242, 4343])
        self.assertEqual(sum(row["Read"] for row in self.tables["rank_stats"]), sum(row["Read"] for row in self.tables["all_stats"]))

    def test_they_are_those_of_stats(self):
        said = support.lanescope("stats", "-q", "-r", "file_access_sum:rows=-1", "-f", "csv", self.folder / "two.trace").decode()
        known = {row["File"]: row for row in csv.DictReader(io.StringIO(said))}
        own = {row["Used file"]: row for row in self.tables["rank_stats"] if row["PID"] == 4343}
        self.assertEqual(sorted(known), sorted(own))
        pairs = {"Total Time (ns)": "Total", "Operations": "Operations", "Read (B)": "Read", "Written (B)": "Written", "Mapped (B)": "Mapped", "Opens": "Opens", "Reads": "Reads", "Writes": "Writes", "Maps": "Maps", "Syncs": "Syncs"}
        for file, row in known.items():
            for theirs, ours in pairs.items():
                self.assertEqual(int(row[theirs]), own[file][ours], (file, theirs))
        self.assertEqual((known["/data/a"]["First (ns)"], known["/data/a"]["Last (ns)"]), ("100", "12001"))

    def test_advice_names_the_file_and_the_time(self):
        small = [(1000 * i, 100, "/small", READ, UNSIGNED, 16) for i in range(2000)] + [(1000 * i + 500, 10, "/small", OPEN, 0, 0) for i in range(100)]
        synced = [(5_000_000 + 3000 * i, 2000, "/log", SYNC, 0, 0) for i in range(9)] + [(6_000_000, 100, "/log", WRITE, UNSIGNED, 1 << 20)]
        shared = [(7_000_000, 90_000, "/set", READ, UNSIGNED, 100 << 20)]
        for name, pid in (("a", 4242), ("b", 4343)):
            (self.folder / f"{name}.trace").write_bytes(trace_of([ranges(1, DOMAIN, sorted(small) + synced + shared, 1, ["/small", "/log", "/set"])], pid))
        answer = Fleet([self.folder / "a.trace", self.folder / "b.trace"], HERE).ask("file_access_sum")
        advice = {(row["File"], row["Takes"]): row["Advice"] for row in answer.tables[1].records()}
        self.assertIn("4000 calls of 16 bytes", advice["/small", 400_000])
        self.assertIn("2 processes read it, 105 MB each", advice["/set", 180_000])
        self.assertIn("18 syncs take 99 %", advice["/log", 36_000])
        self.assertNotIn(("/small", 2000), advice)  # below a hundredth of the total, so opening it is not worth advice
        self.assertEqual(len(advice), 3)

    def test_without_names_of_files_a_sentence_says_how_to_record_them(self):
        answer = Fleet(self.folder / "none.trace", HERE).ask("file_access_sum")
        self.assertIn("--osrt-file-access=true", answer.sentences[0])


class Payloads(unittest.TestCase):
    def test_numbers_of_each_type_are_columns(self):
        rows = [(0, 5, "a", 0, UNSIGNED, 1 << 40), (10, 5, "a", 0, SIGNED, -7), (20, 5, "a", 0, REAL, 2.5), (30, 5, "a", 0, 0, 0)]
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "x.trace"
            file.write_bytes(trace_of([ranges(1, OTHER, rows, 1, ["a"])]))
            support.lanescope("export", "-q", "-f", "-t", "trace", "-o", file.with_name("compacted.trace"), file)
            for each in (file, file.with_name("compacted.trace")):
                columns = lanescope.open(each).nvtx_ranges[["payload", "payload_real"]].to_numpy()
                self.assertEqual(columns["payload"].tolist(), [1 << 40, -7, 0, 0])
                self.assertEqual(columns["payload_real"].tolist(), [0, 0, 2.5, 0])
                self.assertEqual(columns["payload_real"].dtype, np.float64)
            said = support.lanescope("query", "-f", "csv", file, "SELECT payload, payload_real FROM nvtx_ranges ORDER BY start").decode()
            self.assertEqual([tuple(map(float, line)) for line in list(csv.reader(io.StringIO(said)))[1:]], [(1 << 40, 0), (-7, 0), (0, 2.5), (0, 0)])


if __name__ == "__main__":
    unittest.main()
