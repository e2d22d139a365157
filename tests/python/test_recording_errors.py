"""What a program is told that can't be recorded, or whose recorder fails."""

import os
import pathlib
import shutil
import subprocess
import sys
import unittest

from recorded import Recorded
from support import program


class Refusals(Recorded):
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

    def test_an_option_that_no_program_can_take(self):
        output, _ = self.run_program("""
            before = len(os.listdir("/proc/self/fd"))
            try:
                lanescope.start("x\\0y.trace", trace="nvtx", **QUIET)
            except lanescope.RecordingError as error:
                print(error)
            print(len(os.listdir("/proc/self/fd")) - before)
            with lanescope.record("x.trace", trace="nvtx", **QUIET):
                with annotate("work"): pass
        """)
        self.assertRegex(output, r"lanescope can't be run: embedded null byte\.\n0\n$")
        self.assertEqual(self.ranges(), ["work"])

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


class Failures(Recorded):
    def test_a_descriptor_that_is_no_connection(self):
        done = subprocess.run([program(), "attach", "--from-inside=0", str(os.getpid())], stdin=subprocess.DEVNULL, capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr, f"lanescope: Can't record process {os.getpid()}: descriptor 0 is no socket of it.\n")

    def test_a_recorder_that_is_killed_before_the_program_ends(self):
        _, errors = self.run_program("""
            import signal
            recording = lanescope.start("x.trace", trace="nvtx", **QUIET)
            os.kill(recording._recorder.pid, signal.SIGKILL)
        """)
        self.assertIn("was killed", errors)
        self.assertNotIn("Traceback", errors)

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


if __name__ == "__main__":
    unittest.main()
