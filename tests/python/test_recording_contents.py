"""What a recording of the program by itself contains."""

import contextlib
import copy
import os
import pathlib
import pickle
import sqlite3
import subprocess
import unittest

from recorded import Recorded
from support import program

import lanescope
from parquet_file import ParquetFile


class Ranges(Recorded):
    def test_payloads_keep_their_value_and_type(self):
        self.run_program("""
            with lanescope.record("x.trace", trace="nvtx", **QUIET):
                import numpy
                for payload in (1, 1.0, -7, None, numpy.float32(0.5), numpy.int64(3)):
                    with annotate("same", payload=payload): pass
        """)
        subprocess.run([program(), "export", "-q", "x.trace"], cwd=self.folder, check=True)
        with contextlib.closing(sqlite3.connect(self.folder / "x.sqlite")) as database:
            rows = database.execute("SELECT int64Value, doubleValue FROM NVTX_EVENTS WHERE end IS NOT NULL ORDER BY start").fetchall()
        self.assertEqual([(value, type(value)) for row in rows for value in row],
                         [(value, type(value)) for row in [(1, None), (None, 1.0), (-7, None), (None, None), (None, 0.5), (3, None)] for value in row])
        for wrong in ("'x', payload=object()", "'x', payload='1'", "5", "'x', domain=5"):
            with self.assertRaisesRegex(TypeError, "is a (number|text), not"):
                eval(f"lanescope.annotate({wrong})")
        with self.assertRaises(TypeError):
            lanescope.annotate("x", payload=[1])

    def test_equal_ranges_are_one_and_those_that_differ_by_the_type_of_a_number_are_not(self):
        self.assertIs(lanescope.annotate("x", payload=2), lanescope.annotate("x", payload=2))
        kinds = {annotate._attributes.payload_type for annotate in (lanescope.annotate("x", payload=payload) for payload in (2, 2.0, None))}
        self.assertEqual(len(kinds), 3)
        self.assertIsNot(lanescope.annotate("x", domain="a"), lanescope.annotate("x", domain="b"))

    def test_they_can_be_sent_to_other_processes_and_copied(self):
        for range_ in (lanescope.annotate("x"), lanescope.annotate("x", 5, 7, "tasks"), lanescope.annotate("x", payload=0.5)):
            for copied in (pickle.loads(pickle.dumps(range_)), copy.deepcopy([range_])[0]):
                for field, _ in type(range_._attributes)._fields_:
                    if field != "payload":
                        self.assertEqual(getattr(copied._attributes, field), getattr(range_._attributes, field))
                self.assertEqual((copied._attributes.payload.integer, copied._domain), (range_._attributes.payload.integer, range_._domain))

    def test_blocks_that_await_have_a_beginning_and_an_end_of_their_own(self):
        self.run_program("""
            import asyncio
            async def outlives(domain, others_end):
                async with annotate("outer", domain=domain):
                    async with annotate("outer", domain=domain): await others_end.wait()
            async def ends_first(domain, others_end):
                async with annotate("other", payload=7, domain=domain): await asyncio.sleep(0)
                with annotate("between"): others_end.set()
            async def begun_before(goes_on):
                async with annotate("before"): await goes_on.wait()
            async def main():
                goes_on = asyncio.Event()
                before = asyncio.create_task(begun_before(goes_on))
                await asyncio.sleep(0)
                with lanescope.record("x.trace", trace="nvtx", **QUIET):
                    goes_on.set()
                    await before
                    for domain in (None, "tasks"):
                        others_end = asyncio.Event()
                        await asyncio.gather(outlives(domain, others_end), ends_first(domain, others_end))
                async with annotate("after"): pass
            asyncio.run(main())
        """)
        with lanescope.open(self.folder / "x.trace") as trace:
            rows = trace.nvtx_ranges[["name", "start", "duration"]].to_numpy()
        found = sorted((int(start), int(start + duration), name) for start, duration, name in zip(rows["start"], rows["duration"], rows["name"]))
        self.assertEqual([name for _, _, name in found], ["outer", "outer", "other", "between"] * 2)
        for outer, inner, other, between in (found[:4], found[4:]):
            times = [outer[0], inner[0], other[0], other[1], between[0], between[1], inner[1], outer[1]]
            self.assertEqual(times, sorted(times))

    def test_payloads_that_do_not_fit_are_refused(self):
        for payload in (1 << 63, -(1 << 63) - 1):
            with self.assertRaisesRegex(ValueError, "64 bits"):
                lanescope.annotate("x", payload=payload)
        with self.assertRaisesRegex(ValueError, "32 bits"):
            lanescope.annotate("x", color=1 << 32)
        lanescope.annotate("x", payload=-(1 << 63))
        lanescope.annotate("x", payload=float(1 << 63))


class Events(Recorded):
    def test_calls_into_the_c_library_and_the_lock_of_python(self):
        self.run_program("""
            with lanescope.record("x.trace", trace=["osrt", "python-gil"], **QUIET):
                for _ in range(5): time.sleep(0.02)
        """)
        with lanescope.open(self.folder / "x.trace") as trace:
            rows = trace.os_runtime.to_numpy()
        sleeps = [duration for name, duration in zip(rows["name"], rows["duration"]) if "sleep" in name or "select" in name]
        # The clock of events is adjusted to the system's, which may meanwhile be steered by 500 ppm.
        self.assertEqual(len([duration for duration in sleeps if duration >= 20_000_000 * 0.999]), 5, sleeps)

    def test_kernels_are_recorded_from_the_start_on_in_every_recording(self):
        build = pathlib.Path(program()).resolve().parents[1]
        cupti, cuda = build / "lib" / "libmock_cupti.so", build / "tests" / "e2e" / "attach" / "libcuda.so.1"
        if not cupti.exists() or not cuda.exists():
            self.skipTest("the libraries that stand for CUDA and CUPTI are not built")
        output, _ = self.run_program(f"""
            import ctypes
            ctypes.CDLL({str(cuda)!r})
            for number in range(6):
                recording = lanescope.start(f"{{number}}.trace", trace="cuda", **QUIET)
                ctypes.CDLL({str(cupti)!r}).mock_cupti_work(ctypes.c_uint64(100))
                lanescope.stop()
                with recording.open() as trace: print(len(trace.kernels))
        """, environment={"LANESCOPE_CUPTI_LIBRARY": str(cupti), "MOCK_CUPTI_IS_SLOW": "1"})
        counts = output.split()
        self.assertGreaterEqual(int(counts[0]), 100)  # including those that the library leaves unfinished
        self.assertEqual(counts, counts[:1] * 6)

    def test_kernels_are_recorded_from_the_start_on_in_every_capture_of_a_schedule(self):
        build = pathlib.Path(program()).resolve().parents[1]
        cupti, cuda = build / "lib" / "libmock_cupti.so", build / "tests" / "e2e" / "attach" / "libcuda.so.1"
        if not cupti.exists() or not cuda.exists():
            self.skipTest("the libraries that stand for CUDA and CUPTI are not built")
        output, _ = self.run_program(f"""
            import ctypes
            ctypes.CDLL({str(cuda)!r})
            schedule = lanescope.schedule(wait=1, warmup=1, active=1, repeat=3)
            with lanescope.record("x.trace", schedule=schedule, trace="cuda", **QUIET) as recording:
                for step in range(9):
                    if step % 3 == 2: ctypes.CDLL({str(cupti)!r}).mock_cupti_work(ctypes.c_uint64(100))
                    recording.step()
            for path in recording.paths:
                with lanescope.open(path) as trace: print(len(trace.kernels))
        """, environment={"LANESCOPE_CUPTI_LIBRARY": str(cupti), "MOCK_CUPTI_IS_SLOW": "1"})
        counts = [int(count) for count in output.split()]
        self.assertEqual(len(counts), 3)
        self.assertTrue(all(count >= 100 for count in counts), counts)  # including those that the library leaves unfinished

    def test_samples_of_functions(self):
        output, _ = self.run_program("""
            def burn_the_processor():
                end = time.process_time() + 0.5
                while time.process_time() < end: pass
            with warnings.catch_warnings(record=True) as said:
                with lanescope.record("x.trace", trace="none", python_sampling=True):
                    burn_the_processor()
            for warning in said: print(warning.message)
        """)
        with lanescope.open(self.folder / "x.trace") as trace:
            if len(trace.samples) == 0:
                self.skipTest(f"no samples can be taken here: {output}")
            functions = trace.stats("cpu_samples:python")
        self.assertTrue(any("burn_the_processor" in str(row) for row in functions), functions[:20])


class Tables(Recorded):
    def test_rows_say_which_rank_run_and_host_they_are_of(self):
        ranks = {"RANK": "3", "LOCAL_RANK": "1", "WORLD_SIZE": "8"}
        self.run_program("""
            with lanescope.record("x.trace", trace="nvtx", label={"run": "night-17", "commit": "1a2b"}, **QUIET):
                with annotate("work"): pass
        """, environment=ranks)
        with lanescope.open(self.folder / "x.trace") as trace:
            self.assertEqual(trace.labels, {"run": "night-17", "commit": "1a2b"})
            table = trace.nvtx_ranges.with_provenance()
            self.assertEqual(table.columns, trace.nvtx_ranges.columns + ["rank", "local_rank", "world_size", "run", "host", "in_part"])
            row = {name: values[0] for name, values in table.to_numpy().items()}
            self.assertEqual([row["rank"], row["local_rank"], row["world_size"], row["run"], row["host"]], [3, 1, 8, "night-17", os.uname().nodename])
            self.assertEqual(trace.nvtx_ranges.between(0, 1 << 60)[["rank", "name"]].to_numpy()["rank"].tolist(), [3])
        subprocess.run([program(), "export", "-q", "-t", "parquet", "x.trace"], cwd=self.folder, check=True)
        columns = ParquetFile(self.folder / "x.parquet" / "nvtx_ranges.parquet").columns
        self.assertEqual([columns[name] for name in ("rank", "local_rank", "world_size", "run", "host")], [[3], [1], [8], ["night-17"], [os.uname().nodename]])


if __name__ == "__main__":
    unittest.main()
