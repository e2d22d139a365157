"""Recordings that a program makes of itself. Each program runs in a folder of its own; its behaviour is known from its text."""

import contextlib
import os
import pathlib
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest

from support import ROOT, program

import lanescope
from parquet_file import ParquetFile


class Recorded(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_program(self, text, code=0, environment=(), interpreter=(sys.executable,), timeout=600):
        """Runs Python text with the package imported. Returns its output and its errors."""
        text = "import os, sys, time, threading, warnings, lanescope\nfrom lanescope import annotate\nQUIET = {'sample': 'none', 'cpuctxsw': 'none'}\n" + textwrap.dedent(text)
        variables = {**os.environ, "PYTHONPATH": str(ROOT / "app" / "python"), "XDG_RUNTIME_DIR": str(self.folder), **dict(environment)}
        done = subprocess.run([*interpreter, "-B", "-c", text], cwd=self.folder, env=variables, capture_output=True, text=True, timeout=timeout)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout, done.stderr

    def await_end(self, process):
        """Waits for the end of a process that is no longer our child and that perhaps nobody reaps."""
        deadline = time.monotonic() + 60
        while True:
            try:
                if pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z":
                    return
            except OSError:
                return
            self.assertLess(time.monotonic(), deadline, "the recorder did not end")
            time.sleep(0.01)

    def ranges(self, name="x.trace", process=None):
        """The names of the ranges of a file, in order."""
        with lanescope.open(self.folder / name) as trace:
            self.assertFalse(trace.lost, trace.lost)
            rows = trace.nvtx_ranges.to_numpy()
        return [text for text, pid in zip(rows["name"], rows["pid"]) if process in (None, pid)]


class Blocks(Recorded):
    def test_a_file_that_was_replaced_meanwhile_is_none_of_the_recordings(self):
        self.run_program("""
            recording = lanescope.record("x.trace", trace=["nvtx"], **QUIET)
            try:
                with recording:
                    with annotate("work"): pass
                    os.rename("x.trace", "kept.trace")
                    open("x.trace", "w").close()
            except lanescope.RecordingError as error:
                assert "x.trace was moved to" in str(error) and "another file has its name now" in str(error), error
            else:
                raise AssertionError("it was said to be whole")
            assert recording.paths == [], recording.paths
        """)
        self.assertEqual(self.ranges("kept.trace"), ["work"])

    def test_what_happens_in_the_block_is_recorded_and_nothing_else(self):
        self.run_program("""
            with annotate("before"): pass
            with lanescope.record("x.trace", trace=["nvtx"], **QUIET) as recording:
                for number in range(1000):
                    with annotate("outer", payload=number, color=0xFF76B900):
                        with annotate("inner ä", payload=0.5): pass
            with annotate("after"): pass
            assert recording.path == os.path.abspath("x.trace"), recording.path
            with recording.open() as trace:
                assert len(trace.nvtx_ranges) == 2000
            lanescope.open(recording).close()
        """)
        with lanescope.open(self.folder / "x.trace") as trace:
            rows = trace.nvtx_ranges.to_numpy()
            self.assertFalse(trace.lost)
        self.assertEqual([rows["name"].tolist().count(name) for name in ("before", "outer", "inner ä", "after")], [0, 1000, 1000, 0])
        outer = rows["name"] == "outer"
        self.assertEqual(set(rows["color"][outer].tolist()), {0xFF76B900})
        self.assertEqual([int(depth) for depth in set(rows["depth"][outer])], [0])
        self.assertEqual([int(depth) for depth in set(rows["depth"][~outer])], [1])
        self.assertTrue((rows["start"][~outer] >= rows["start"][outer]).all())

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
        for wrong in ("'x', payload=object()", "'x', payload='1'", "5"):
            with self.assertRaisesRegex(TypeError, "is a (number|text), not"):
                eval(f"lanescope.annotate({wrong})")
        with self.assertRaises(TypeError):
            lanescope.annotate("x", payload=[1])

    def test_equal_ranges_are_one_and_those_that_differ_by_the_type_of_a_number_are_not(self):
        self.assertIs(lanescope.annotate("x", payload=2), lanescope.annotate("x", payload=2))
        kinds = {annotate._attributes.payload_type for annotate in (lanescope.annotate("x", payload=payload) for payload in (2, 2.0, None))}
        self.assertEqual(len(kinds), 3)
        self.assertIsNot(lanescope.annotate("x", domain="a"), lanescope.annotate("x", domain="b"))

    def test_one_recording_after_the_other(self):
        self.run_program("""
            for number in range(3):
                recording = lanescope.start(f"{number}.trace", trace="nvtx", **QUIET)
                with annotate(f"range {number}"): pass
                assert lanescope.stop() is recording
                recording.stop()  # it is over
        """)
        for number in range(3):
            self.assertEqual(self.ranges(f"{number}.trace"), [f"range {number}"])

    def test_an_exception_ends_the_recording_in_order_and_goes_on(self):
        _, errors = self.run_program("""
            with lanescope.record("x.trace", trace="nvtx", **QUIET):
                with annotate("work"):
                    raise KeyError("of the program")
        """, code=1)
        self.assertIn("KeyError: 'of the program'", errors)
        self.assertEqual(self.ranges(), ["work"])

    def test_programs_that_end_without_stop_leave_whole_files(self):
        for end in ("pass", "sys.exit(0)", "os._exit(0)"):
            with self.subTest(end=end):
                recorder, _ = self.run_program(f"""
                    recording = lanescope.start("x.trace", trace="nvtx", force=True, **QUIET)
                    with annotate("work"): pass
                    print(recording._recorder.pid, flush=True)
                    {end}
                """)
                self.await_end(int(recorder))
                self.assertEqual(self.ranges(), ["work"])

    def test_threads(self):
        self.run_program("""
            def work(name):
                for _ in range(100):
                    with annotate(name): pass
            with lanescope.record("x.trace", trace="nvtx", **QUIET):
                threads = [threading.Thread(target=work, args=[f"thread {number}"]) for number in range(4)]
                for thread in threads: thread.start()
                for thread in threads: thread.join()
        """)
        names = self.ranges()
        self.assertEqual([names.count(f"thread {number}") for number in range(4)], [100] * 4)

    def test_threads_that_stop_it_at_once_all_wait_until_it_is_over(self):
        output, _ = self.run_program("""
            recording = lanescope.start("x.trace", trace="nvtx", **QUIET)
            with annotate("work"): pass
            def stop():
                recording.stop()
                paths.append(recording.path)
            paths = []
            threads = [threading.Thread(target=stop) for _ in range(8)]
            for thread in threads: thread.start()
            for thread in threads: thread.join()
            print(len(paths))
        """)
        self.assertEqual(output.strip(), "8")
        self.assertEqual(self.ranges(), ["work"])

    def test_a_child_that_is_forked_while_a_thread_sets_ranges_up(self):
        self.run_program("""
            from lanescope import _nvtx
            with _nvtx._setup:  # as another thread may
                child = os.fork()
                if child == 0:
                    with annotate("child"): pass
                    os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
        """)

    def test_a_program_that_becomes_another_leaves_a_whole_file_that_says_so(self):
        recorder, _ = self.run_program("""
            recording = lanescope.start("x.trace", trace="nvtx", **QUIET)
            with annotate("before"): pass
            print(recording._recorder.pid, flush=True)
            wait = "import lanescope, time\\nwhile not lanescope.open('x.trace').lost.unfollowed: time.sleep(0.01)"
            os.execv(sys.executable, [sys.executable, "-c", wait])
        """)
        self.await_end(int(recorder))
        with lanescope.open(self.folder / "x.trace") as trace:
            self.assertEqual([*trace.nvtx_ranges.to_numpy()["name"]], ["before"])
            self.assertEqual(trace.lost, type(trace.lost)(unfollowed=True))

    def test_a_file_that_exists_is_kept_and_the_options_spelling_is_that_of_python(self):
        (self.folder / "x.trace").write_text("mine")
        output, _ = self.run_program("""
            try:
                with lanescope.record("x.trace", trace="nvtx", **QUIET): pass
            except lanescope.RecordingError as error:
                print(error)
        """)
        self.assertIn("exists already. Give another name, or allow overwriting with force=True.", output)
        self.assertEqual((self.folder / "x.trace").read_text(), "mine")

    def test_a_name_of_bytes_is_a_name(self):
        self.run_program("""
            with lanescope.record(b"x.trace", trace="nvtx", **QUIET):
                with annotate("work"): pass
        """)
        self.assertEqual(self.ranges(), ["work"])

    def test_forked_children_are_recorded_and_do_not_end_the_recording(self):
        output, _ = self.run_program("""
            with lanescope.record("x.trace", trace="nvtx", **QUIET) as recording:
                child = os.fork()
                if child == 0:
                    with annotate("child"): pass
                    recording.stop()  # of its parent: nothing
                    print(lanescope.stop() is recording, flush=True)
                    try:
                        lanescope.start("y.trace", trace="nvtx", **QUIET)
                    except lanescope.RecordingError as error:
                        print(error, flush=True)
                    os._exit(0)
                os.waitpid(child, 0)
                with annotate("parent"): pass
            print(child)
        """)
        stopped, error, child = output.splitlines()
        self.assertEqual(stopped, "True")
        self.assertIn("being recorded already", error)
        self.assertFalse((self.folder / "y.trace").exists())
        self.assertEqual(self.ranges(process=int(child)), ["child"])
        self.assertEqual(sorted(self.ranges()), ["child", "parent"])

    def test_programs_that_it_starts_run_as_ever(self):
        output, _ = self.run_program("""
            import subprocess
            with lanescope.record("x.trace", trace="nvtx", **QUIET):
                print(subprocess.run([sys.executable, "-c", "print('child')"], capture_output=True, text=True).stdout.strip())
            print([name for name in os.environ if "INJECTION" in name])
        """)
        self.assertEqual(output.split(), ["child", "[]"])

    def test_a_recorder_that_it_starts_is_none_that_could_not_be_followed(self):
        self.run_program("""
            import subprocess
            with lanescope.record("x.trace", trace="nvtx", **QUIET):
                subprocess.run([os.environ["LANESCOPE"], "profile", "-t", "nvtx", "-o", "own", sys.executable, "-c", "import time; time.sleep(0.3)"], check=True)
                with annotate("work"): pass
        """)
        self.assertEqual(self.ranges(), ["work"])

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

    def test_a_recording_that_ends_by_itself(self):
        self.run_program("""
            recording = lanescope.start("x.trace", trace="nvtx", duration=0.2, **QUIET)
            with annotate("work"): pass
            recording._recorder.await_end()
            with annotate("late"): pass
            assert lanescope.stop().path
        """)
        self.assertEqual(self.ranges(), ["work"])

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

    def test_nothing_is_said_of_a_recording_in_which_nothing_is_missing(self):
        said = re.search(r'kNamingMessage = "(.*)";', (ROOT / "collector/include/collector/session/recording.h").read_text()).group(1)
        slow = self.folder / "slow"  # prints what the recorder prints if names take longer than two seconds
        slow.write_text(f"#!/bin/sh\necho 'lanescope: {said}' >&2\nexec {shlex.quote(program())} \"$@\"\n")
        slow.chmod(0o755)
        _, errors = self.run_program("""
            with lanescope.record("x.trace", trace="nvtx"):
                with annotate("work"): pass
        """, interpreter=(sys.executable, "-W", "always"), environment={"LANESCOPE": str(slow)})
        self.assertEqual(errors, "")
        self.assertEqual(self.ranges(), ["work"])

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


class Errors(Recorded):
    def test_a_second_recording_at_once_is_refused_and_the_first_goes_on(self):
        output, _ = self.run_program("""
            with lanescope.record("x.trace", trace="nvtx", **QUIET):
                try:
                    lanescope.start("y.trace", trace="nvtx")
                except lanescope.RecordingError as error:
                    print(error)
                with annotate("work"): pass
            try:
                lanescope.stop()
            except lanescope.RecordingError as error:
                print(error)
        """)
        self.assertEqual(output.splitlines(), ["A recording of this process is under way already: end it before another one begins.",
                                               "No recording of this process is under way."])
        self.assertEqual(self.ranges(), ["work"])

    def test_the_recorders_sentences_are_the_errors(self):
        (self.folder / "there.trace").write_bytes(b"kept")
        output, _ = self.run_program("""
            for options in [{"output": "there.trace"}, {"output": "x.trace", "trase": "nvtx"}, {"output": "x.trace", "trace": "nvtxx"},
                            {"output": "no/such/folder/x.trace"}]:
                try:
                    lanescope.start(**options)
                except lanescope.RecordingError as error:
                    print(error)
            with lanescope.record("x.trace", trace="nvtx", **QUIET):
                with annotate("work"): pass
        """)
        exists, option, trace, folder = output.splitlines()
        self.assertIn("there.trace", exists)
        self.assertIn("--trase", option)
        self.assertIn("nvtxx", trace)
        self.assertIn("no/such/folder", folder)
        self.assertEqual((self.folder / "there.trace").read_bytes(), b"kept")
        self.assertEqual(self.ranges(), ["work"])

    def test_a_descriptor_that_is_no_connection(self):
        done = subprocess.run([program(), "attach", "--from-inside=0", str(os.getpid())], stdin=subprocess.DEVNULL, capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr, f"lanescope: Can't record process {os.getpid()}: descriptor 0 is no socket of it.\n")

    def test_a_process_does_not_record_its_number_on_another_machine(self):
        output, _ = self.run_program("""
            try:
                lanescope.start("x.trace", trace="none", on="command:env")
            except lanescope.RecordingError as error:
                print(error)
        """)
        self.assertIn("recorded where it runs", output)
        self.assertFalse((self.folder / "x.trace").exists())

    def test_a_folder_that_is_gone(self):
        output, _ = self.run_program("""
            os.mkdir("gone"); os.chdir("gone"); os.rmdir("../gone")
            try:
                lanescope.start("x.trace", trace="nvtx", **QUIET)
            except lanescope.RecordingError as error:
                print(error)
            os.chdir("/")
        """)
        self.assertIn("The folder of this process is gone", output)

    def test_an_agent_that_was_replaced_is_not_loaded_beside_the_old_one(self):
        agent = pathlib.Path(program()).resolve().parents[1] / "lib" / "liblanescope-agent.so"
        shutil.copy(agent, self.folder / agent.name)
        output, _ = self.run_program(f"""
            import shutil
            with lanescope.record("x.trace", trace="nvtx", **QUIET):
                with annotate("work"): pass
            os.remove({agent.name!r})
            shutil.copy({str(agent)!r}, {agent.name!r})
            try:
                lanescope.start("y.trace", trace="nvtx", **QUIET)
            except lanescope.RecordingError as error:
                print(error)
            print(open("/proc/self/maps").read().count("liblanescope-agent.so") > 0)
        """, environment={"LANESCOPE_AGENT": str(self.folder / agent.name)})
        self.assertIn("start the process anew", output)
        self.assertEqual(self.ranges(), ["work"])
        self.assertFalse((self.folder / "y.trace").exists())

    def test_no_thread_can_be_started(self):
        output, _ = self.run_program("""
            start = threading.Thread.start
            def refuse(thread): raise RuntimeError("can't start new thread")
            threading.Thread.start = refuse
            try:
                lanescope.start("x.trace", trace="nvtx", **QUIET)
            except lanescope.RecordingError as error:
                print(error)
            threading.Thread.start = start
            with lanescope.record("x.trace", trace="nvtx", force=True, **QUIET):
                with annotate("work"): pass
        """)
        self.assertIn("No thread can be started", output)
        self.assertEqual(self.ranges(), ["work"])

    def test_a_recorder_that_is_killed_before_the_program_ends(self):
        _, errors = self.run_program("""
            import signal
            recording = lanescope.start("x.trace", trace="nvtx", **QUIET)
            os.kill(recording._recorder.pid, signal.SIGKILL)
        """)
        self.assertIn("was killed", errors)
        self.assertNotIn("Traceback", errors)

    def test_a_handler_of_a_signal_may_stop_what_is_just_beginning(self):
        self.run_program("""
            import signal
            signal.signal(signal.SIGALRM, lambda *_: lanescope.stop() if lanescope._recording._current else None)
            for delay in (0.001, 0.01, 0.03, 0.1):
                signal.setitimer(signal.ITIMER_REAL, delay, 0.05)  # again and again, where it came too early
                lanescope.start("x%n.trace", trace="nvtx", **QUIET)
                while lanescope._recording._current: time.sleep(0.005)
                signal.setitimer(signal.ITIMER_REAL, 0)
            with lanescope.record("last.trace", trace="nvtx", **QUIET):
                with annotate("work"): pass
        """)
        self.assertEqual(self.ranges("last.trace"), ["work"])

    def test_without_the_program(self):
        text = """
            try:
                lanescope.start("x.trace")
            except (lanescope.ProgramError, lanescope.RecordingError) as error:
                print(error)
        """
        output, _ = self.run_program(text, environment={"LANESCOPE": "", "PATH": "/nowhere"})
        self.assertIn("put it on the PATH", output)
        output, _ = self.run_program(text, environment={"LANESCOPE": "/no/lanescope"})
        self.assertIn("can't be run: No such file", output)
        output, _ = self.run_program(text, environment={"LANESCOPE": "/bin/false"})
        self.assertIn("The recorder ended before it began", output)
        output, _ = self.run_program(text, environment={"LANESCOPE_AGENT": "/no/agent.so"})
        self.assertIn("/no/agent.so is not there", output)

    def test_a_capture_that_ends_by_itself_leaves_the_loop_alone(self):
        loop = """
            import signal
            warnings.simplefilter("always")
            recording = lanescope.start("x.trace", schedule=lanescope.schedule(wait=1, warmup=1, active=3, repeat=2), force=True, {options}, trace="nvtx", **QUIET)
            for number in range(12):
                if number == 3: {during}
                with annotate("work"): pass
                recording.step()
            try:
                recording.stop()
                print("stopped")
            except lanescope.RecordingError as error:
                print("raised:", error)
            print(len(recording.paths), number)
        """
        burst = "\n".join(["for _ in range(40000):", "                        with annotate('burst'): pass"])
        for options, during, said, files in (("max_file_size='8K'", "\n                    " + burst, "stopped", 2), ("duration=0.2", "time.sleep(0.5)", "stopped", 2),
                                             ("duration=None", "os.kill(recording._recorder.pid, signal.SIGKILL)", "raised: The recorder was killed", 1)):
            with self.subTest(during=during):
                output, errors = self.run_program(loop.format(options=options, during=during))
                self.assertIn(said, output)
                self.assertEqual(output.split()[-2:], [str(files), "11"])
                self.assertIn("RecordingWarning", errors)
                self.assertNotIn("Traceback", errors)
                self.assertEqual([name for name in self.ranges("x.2.trace") if name.startswith("step")], ["step 7", "step 8", "step 9"])

    def test_a_program_that_waits_for_all_of_its_children(self):
        output, _ = self.run_program("""
            with lanescope.record("x.trace", trace="nvtx", **QUIET) as recording:
                for _ in range(2):
                    if os.fork() == 0:
                        with annotate("child"): pass
                        os._exit(3)
                codes = []
                while True:
                    try:
                        codes.append(os.waitstatus_to_exitcode(os.wait()[1]))
                    except ChildProcessError:
                        break
                print(codes)
        """)
        self.assertEqual(output, "[3, 3]\n")
        self.assertEqual(self.ranges(), ["child", "child"])

    def test_files_have_the_names_that_they_were_given(self):
        for name in ("a\\n\\tb.trace", "\\x1b[31mred.trace", "by\\udcfftes.trace", "ä ö.trace"):
            with self.subTest(name=name):
                output, _ = self.run_program(f"""
                    with lanescope.record("{name}", trace="nvtx", **QUIET) as recording:
                        with annotate("work"): pass
                    assert recording.paths == [os.path.abspath("{name}")], recording.paths
                    print(len(lanescope.open(recording).nvtx_ranges))
                """)
                self.assertEqual(output, "1\n")

    def test_a_program_without_standard_streams(self):
        self.run_program("""
            for descriptor in (0, 1, 2): os.close(descriptor)
            with lanescope.record("x.trace", trace="nvtx", **QUIET):
                with annotate("work"): pass
        """)
        self.assertEqual(self.ranges(), ["work"])

    def test_a_long_folder_for_sockets(self):
        runtime = self.folder / ("long" * 25)
        runtime.mkdir(mode=0o700)
        _, errors = self.run_program("""
            with lanescope.record("x.trace", schedule=lanescope.schedule(wait=0, active=2), trace="nvtx", **QUIET) as recording:
                for _ in range(3): recording.step()
        """, environment={"XDG_RUNTIME_DIR": str(runtime)})
        self.assertEqual(errors, "")
        self.assertEqual(self.ranges(), ["step 0", "step 1"])

    def test_a_recorder_that_is_killed(self):
        output, _ = self.run_program("""
            import signal
            recording = lanescope.start("x.trace", trace="nvtx", **QUIET)
            with annotate("work"): pass
            os.kill(recording._recorder.pid, signal.SIGKILL)
            try:
                lanescope.stop()
            except lanescope.RecordingError as error:
                print(error)
            with lanescope.record("y.trace", trace="nvtx", **QUIET):
                with annotate("again"): pass
        """)
        self.assertIn("was killed", output)
        self.assertEqual(self.ranges("y.trace"), ["again"])

    def test_a_program_that_is_recorded_already(self):
        output, _ = self.run_program("""
            with annotate("by its launcher"): pass
            try:
                lanescope.start("y.trace", trace="nvtx", **QUIET)
            except lanescope.RecordingError as error:
                print(error)
            with annotate("and on"): pass
        """, interpreter=(program(), "profile", "-t", "nvtx", "-s", "none", "-o", "x", sys.executable))
        self.assertIn("This process is being recorded already", output)
        self.assertEqual(self.ranges(), ["by its launcher", "and on"])
        self.assertFalse((self.folder / "y.trace").exists())

    def test_recording_needs_no_modules_for_reading(self):
        self.run_program("""
            with lanescope.record("x.trace", trace="nvtx", **QUIET):
                with annotate("work"): pass
            assert not {"numpy", "xxhash", "zstandard"} & set(sys.modules)
        """)
        self.assertEqual(self.ranges(), ["work"])


class OtherChildren(Recorded):
    def test_a_child_that_is_forked_while_the_recorder_starts_is_not_waited_for(self):
        self.run_program("""
            import signal, subprocess
            popen, children = subprocess.Popen, []
            def forking(*arguments, **options):
                children.append(os.fork())
                if children[-1] == 0:
                    time.sleep(120)
                    os._exit(0)
                return popen(*arguments, **options)
            subprocess.Popen = forking
            recording = lanescope.start("x.trace", trace=["nvtx"], **QUIET)
            with annotate("work"): pass
            lanescope.stop()
            assert len(children) == 1 and os.waitpid(children[0], os.WNOHANG) == (0, 0), "it waited for the child"
            os.kill(children[0], signal.SIGKILL)
        """)
        self.assertEqual(self.ranges(), ["work"])


class Functions(Recorded):
    def test_each_call_has_its_file_and_inner_calls_are_ranges(self):
        self.run_program("""
            @lanescope.profile(trace="nvtx", **QUIET)
            def train():
                load()
                return 7
            @lanescope.profile("load%n.trace", trace="nvtx", **QUIET)
            def load():
                with annotate("read"): pass
            assert train() == 7
            load()
            assert train.__name__ == "train"
        """)
        self.assertEqual(sorted(path.name for path in self.folder.glob("*.trace")), ["load1.trace", "train1.trace"])
        self.assertEqual(self.ranges("train1.trace"), ["train", "load", "read"])
        self.assertEqual(self.ranges("load1.trace"), ["load", "read"])

    def test_calls_of_a_name_without_a_number_are_numbered(self):
        self.run_program("""
            @lanescope.profile("load.trace", trace="nvtx", **QUIET)
            def load(what):
                with annotate(what): pass
            for what in ("first", "second"):
                load(what)
        """)
        self.assertEqual(self.ranges("load.trace"), ["load", "first"])
        self.assertEqual(self.ranges("load-2.trace"), ["load", "second"])

    def test_functions_that_run_after_their_call_are_refused(self):
        async def coroutine():
            pass
        def generator():
            yield
        async def both():
            yield
        for decorator in (lanescope.profile, lanescope.annotate("x")):
            for function in (coroutine, generator, both):
                with self.assertRaisesRegex(TypeError, "coroutine" if function is coroutine else "generator"):
                    decorator(function)

    def test_payloads_that_do_not_fit_are_refused(self):
        for payload in (1 << 63, -(1 << 63) - 1):
            with self.assertRaisesRegex(ValueError, "64 bits"):
                lanescope.annotate("x", payload=payload)
        lanescope.annotate("x", payload=-(1 << 63))
        lanescope.annotate("x", payload=float(1 << 63))


class Schedules(Recorded):
    def test_the_active_steps_of_each_cycle_are_recorded(self):
        output, _ = self.run_program("""
            schedule = lanescope.schedule(wait=2, warmup=1, active=2, repeat=2)
            with lanescope.record("x.trace", schedule=schedule, trace="nvtx", **QUIET) as recording:
                for number in range(14):
                    with annotate(f"work {number}"): pass
                    recording.step()
            print(*recording.paths)
        """)
        self.assertEqual([pathlib.Path(path).name for path in output.split()], ["x.1.trace", "x.2.trace"])
        self.assertEqual(self.ranges("x.1.trace"), ["step 3", "work 3", "step 4", "work 4"])
        self.assertEqual(self.ranges("x.2.trace"), ["step 8", "work 8", "step 9", "work 9"])

    def test_cycles_without_pause_and_a_loop_that_ends_within_one(self):
        self.run_program("""
            with lanescope.record("x.trace", schedule=lanescope.schedule(active=2, repeat=0), trace="nvtx", force=True, **QUIET) as recording:
                for number in range(3):
                    with annotate(f"work {number}"): pass
                    recording.step()
        """)
        self.assertEqual(self.ranges("x.1.trace"), ["step 0", "work 0", "step 1", "work 1"])
        self.assertEqual(self.ranges("x.2.trace")[:2], ["step 2", "work 2"])

    def test_phases(self):
        phases = [lanescope.schedule(wait=1, warmup=2, active=1, repeat=2).at(step) for step in range(10)]
        self.assertEqual([(cycle, phase.value[0]) for cycle, phase in phases],
                         [(0, "i"), (0, "r"), (0, "r"), (0, "a"), (1, "i"), (1, "r"), (1, "r"), (1, "a"), (2, "i"), (2, "i")])
        for wrong in ({"active": 0}, {"active": 1, "wait": -1}, {"active": 1.5}):
            with self.assertRaises(ValueError):
                lanescope.schedule(**wrong)


if __name__ == "__main__":
    unittest.main()
