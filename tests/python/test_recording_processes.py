"""Recordings of a program that forks, becomes another one, starts programs or waits for its children."""

import unittest

from recorded import Recorded

import lanescope


class Children(Recorded):
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


class Programs(Recorded):
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


if __name__ == "__main__":
    unittest.main()
