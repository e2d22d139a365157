"""Recordings that a program makes of itself, from their begin to their end. Each program runs in a folder of its own; its behaviour is known from its text."""

import re
import shlex
import sys
import unittest

from recorded import Recorded
from support import ROOT, program

import lanescope


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

    def test_a_recording_that_ends_by_itself(self):
        self.run_program("""
            recording = lanescope.start("x.trace", trace="nvtx", duration=0.2, **QUIET)
            with annotate("work"): pass
            recording._recorder.await_end()
            with annotate("late"): pass
            assert lanescope.stop().path
        """)
        self.assertEqual(self.ranges(), ["work"])

    def test_a_recording_without_a_file_says_why(self):
        output, errors = self.run_program("""
            with lanescope.record("x.trace", trace="nvtx", capture_range="nvtx", nvtx_capture="never", **QUIET) as recording:
                with annotate("work"): pass
            print(recording.paths)
        """)
        self.assertEqual(output, "[]\n")
        self.assertIn('RecordingWarning: No file was made: no capture began or was kept. One begins with the NVTX range "never"', errors)

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

    def test_a_program_whose_sockets_never_block(self):
        self.run_program("""
            import socket
            set_timeout = socket.socket.settimeout
            def set_timeout_as_gevent_does(self, seconds):
                set_timeout(self, seconds)
                os.set_blocking(self.fileno(), False)
            socket.socket.settimeout = set_timeout_as_gevent_does
            with lanescope.record("x.trace", trace="nvtx", **QUIET):
                with annotate("work"): pass
        """)
        self.assertEqual(self.ranges(), ["work"])

    def test_a_program_that_has_lost_poll(self):  # as eventlet.monkey_patch() takes it away
        self.run_program("""
            import select, selectors
            with lanescope.record("imported.trace", trace="nvtx", **QUIET): pass  # modules may be imported before or after that
            del select.poll, select.epoll, selectors.PollSelector, selectors.EpollSelector
            selectors.DefaultSelector = selectors.SelectSelector
            with lanescope.record("x.trace", trace="nvtx", **QUIET):
                with annotate("work"): pass
        """)
        self.assertEqual(self.ranges(), ["work"])

    def test_a_program_patched_by_eventlet(self):
        try:
            import eventlet  # noqa: F401
        except ImportError:
            self.skipTest("eventlet is not installed")
        self.run_program("""
            import warnings
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                import eventlet
                eventlet.monkey_patch()
            def work():
                with lanescope.record("x.trace", trace="nvtx", **QUIET):
                    with annotate("work"): eventlet.sleep(0.01)
            eventlet.spawn(work).wait()
        """)
        self.assertEqual(self.ranges(), ["work"])

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

    def test_a_folder_for_sockets_that_others_may_change(self):
        runtime = self.folder / "shared"
        runtime.mkdir()
        runtime.chmod(0o777)
        _, errors = self.run_program("""
            with lanescope.record("x.trace", schedule=lanescope.schedule(wait=0, active=2), trace="nvtx", **QUIET) as recording:
                for _ in range(3): recording.step()
        """, environment={"XDG_RUNTIME_DIR": str(runtime)})
        self.assertEqual(errors, "")
        self.assertEqual(self.ranges(), ["step 0", "step 1"])
        self.assertFalse((runtime / "lanescope").exists())

    def test_recording_needs_no_modules_for_reading(self):
        self.run_program("""
            with lanescope.record("x.trace", trace="nvtx", **QUIET):
                with annotate("work"): pass
            assert not {"numpy", "xxhash", "zstandard"} & set(sys.modules)
        """)
        self.assertEqual(self.ranges(), ["work"])


if __name__ == "__main__":
    unittest.main()
