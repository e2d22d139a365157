"""Recordings of parts of a program: of the calls of a function, and of the steps of a loop."""

import functools
import pathlib
import sys
import unittest

from recorded import Recorded
from support import program

import lanescope


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

    def test_calls_in_a_process_that_another_recorder_records_are_ranges_there(self):
        _, errors = self.run_program("""
            starts, popen = 0, lanescope._recorder.subprocess.Popen
            def count(*positional, **named):
                global starts
                starts += 1
                return popen(*positional, **named)
            lanescope._recorder.subprocess.Popen = count
            @lanescope.profile("load.trace", trace="nvtx", force=True, **QUIET)
            def load(what):
                with annotate(what): pass
                return what
            open("load.trace", "w").write("kept")
            for what in ("first", "second"):
                assert load(what) == what
            assert starts == 1
            assert open("load.trace").read() == "kept"
        """, interpreter=(program(), "profile", "-t", "nvtx", "-s", "none", "-o", "x", sys.executable))
        self.assertEqual(errors.count("calls of load have no files of their own"), 1)
        self.assertEqual(self.ranges(), ["load", "first", "load", "second"])

    def test_calls_in_forked_children_are_ranges_in_the_recording_of_their_parent(self):
        _, errors = self.run_program("""
            @lanescope.profile("load.trace", trace="nvtx", **QUIET)
            def load(what):
                with annotate(what): pass
            with lanescope.record("x.trace", trace="nvtx", **QUIET):
                child = os.fork()
                if child == 0:
                    load("first")
                    load("second")
                    os._exit(0)
                assert os.waitpid(child, 0)[1] == 0
            load("later")
        """)
        self.assertNotIn("Warning: This process", errors)
        self.assertEqual(self.ranges(), ["load", "first", "load", "second"])
        self.assertEqual(self.ranges("load.trace"), ["load", "later"])

    def test_functions_that_run_after_their_call_are_refused(self):
        async def coroutine():
            pass
        def generator():
            yield
        async def both():
            yield
        partial = functools.partial(coroutine)
        for decorator in (lanescope.profile, lanescope.annotate("x")):
            for function in (coroutine, generator, both, partial):
                with self.assertRaisesRegex(TypeError, "coroutine" if function in (coroutine, partial) else "generator"):
                    decorator(function)


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

    def test_phases(self):
        phases = [lanescope.schedule(wait=1, warmup=2, active=1, repeat=2).at(step) for step in range(10)]
        self.assertEqual([(cycle, phase.value[0]) for cycle, phase in phases],
                         [(0, "i"), (0, "r"), (0, "r"), (0, "a"), (1, "i"), (1, "r"), (1, "r"), (1, "a"), (2, "i"), (2, "i")])
        for wrong in ({"active": 0}, {"active": 1, "wait": -1}, {"active": 1.5}):
            with self.assertRaises(ValueError):
                lanescope.schedule(**wrong)


if __name__ == "__main__":
    unittest.main()
