"""Recordings that a program ends after it has changed itself or its recorder. The wait for the end must always be limited."""

import os
import signal
import subprocess
import textwrap
import unittest
from unittest import mock

from recorded import Recorded
from support import program

from lanescope import RecordingError, _descriptors, _process

STARTED = """
recording = lanescope.start("x.trace", trace=["nvtx"], **QUIET)
with annotate("work"): pass
"""


class Ends(Recorded):
    def run_started(self, text, **options):
        return self.run_program(STARTED + textwrap.dedent(text), timeout=60, **options)

    @unittest.skipIf(os.getuid() != 0, "only root becomes another user")
    def test_a_program_that_becomes_another_user(self):
        for end in ("lanescope.stop()", "pass"):
            with self.subTest(end=end):
                self.folder.chmod(0o777)
                _, errors = self.run_started(f"""
                    os.setuid(65534)
                    with annotate("as another"): pass
                    {end}
                """)
                self.assertEqual(errors, "")
                self.assertEqual(self.ranges(), ["work", "as another"])
                (self.folder / "x.trace").unlink()

    @unittest.skipIf(os.getuid() != 0, "only root becomes another user")
    def test_a_recorder_that_cannot_be_asked_to_end(self):
        output, errors = self.run_started("""
            os.close(recording._recorder._bell.number)
            print(recording._recorder.pid, flush=True)
            os.setuid(65534)
        """)
        self.assertIn("can't be asked to end: Operation not permitted", errors)
        self.await_end(int(output))
        self.assertEqual(self.ranges(), ["work"])

    def test_a_program_that_closes_its_descriptors(self):
        for end in ("lanescope.stop()", "pass", "threading.Thread.start = no_thread; lanescope.stop()"):
            with self.subTest(end=end):
                _, errors = self.run_started(f"""
                    def no_thread(self):
                        raise RuntimeError("can't create new thread at interpreter shutdown")
                    os.closerange(3, 256)
                    files = [open("/etc/passwd") for _ in range(20)]
                    with annotate("and on"): pass
                    {end}
                    for file in files:
                        assert file.readline() and not file.close()
                """)
                self.assertEqual(errors, "")
                self.assertEqual(self.ranges(), ["work", "and on"])
                (self.folder / "x.trace").unlink()

    def test_a_recorder_is_not_signalled_when_its_program_closes_descriptors_or_becomes_another(self):
        (self.folder / "signals.py").write_text(textwrap.dedent("""
            import os, signal
            def tell_pending(process):
                words = dict(line.split(":", 1) for line in open(f"/proc/{process}/status"))
                print(int(words["SigPnd"], 16) | int(words["ShdPnd"], 16))
                os.kill(process, signal.SIGCONT)
        """))
        for way in ("os.closerange(3, 256); signals.tell_pending(recorder)",
                    "os.execv(sys.executable, [sys.executable, '-c', f'import signals; signals.tell_pending({recorder})'])"):
            with self.subTest(way=way):
                output, _ = self.run_program(f"""
                    import signal, signals
                    recording = lanescope.start("x.trace", trace="nvtx", force=True, **QUIET)
                    recorder = recording._recorder.pid
                    os.kill(recorder, signal.SIGSTOP)  # what comes to it from here on stays pending
                    while not recording._recorder._process.is_stopped(): time.sleep(0.001)
                    {way}
                """, timeout=60)
                self.assertEqual(output, "0\n")

    def test_a_recorder_that_is_killed_or_ends_itself_when_nobody_listens(self):
        for way, options in (("os.kill(recording._recorder.pid, 9)", ""), ("pass", "duration=0.2, ")):
            with self.subTest(way=way):
                output, _ = self.run_program(STARTED.replace("**", options + "force=True, **") + textwrap.dedent(f"""
                    os.closerange(3, 256)
                    {way}
                    while not recording._recorder._process.is_gone(): time.sleep(0.01)
                    try:
                        lanescope.stop()
                    except lanescope.RecordingError as error:
                        print(error)
                """), timeout=60)
                self.assertIn("has closed the descriptors", output)

    def test_descriptors_that_the_recorder_printed_to_alone(self):
        _, errors = self.run_started("""
            os.close(recording._recorder._says.number)
            file = open("/etc/passwd")
            lanescope.stop()
            assert file.read() and recording.path
        """)
        self.assertEqual(errors, "")
        self.assertEqual(self.ranges(), ["work"])

    def test_a_recorder_that_was_stopped(self):
        output, _ = self.run_started("""
            import signal
            process = recording._recorder._process
            recorder = process.pid
            os.kill(recorder, signal.SIGSTOP)
            for attempt in (lanescope.stop, lambda: lanescope.start("y.trace", trace=["nvtx"], **QUIET)):
                try:
                    attempt()
                except lanescope.RecordingError as error:
                    print(str(error).replace(str(recorder), "PID"))
            os.kill(recorder, signal.SIGCONT)
            while not process.is_gone(): time.sleep(0.01)
            with lanescope.record("y.trace", trace=["nvtx"], **QUIET):
                with annotate("again"): pass
        """)
        self.assertEqual(output.splitlines(), ["The recorder of this process was stopped. Let it go on with: kill -CONT PID",
                                               "The recorder of an earlier recording of this process has not ended yet: it is process PID."])
        self.assertEqual(self.ranges(), ["work"])
        self.assertEqual(self.ranges("y.trace"), ["again"])

    def test_a_program_ends_though_its_recorder_was_stopped(self):
        for text, code in (("lanescope.start('x.trace', force=True, trace='nvtx', **QUIET)", 0), ("raise KeyError('of the program')", 1)):
            with self.subTest(text=text):
                _, errors = self.run_program(f"""
                    import signal
                    stop = lambda: os.kill(lanescope._recording._current._recorder.pid, signal.SIGSTOP)
                    if {code}:
                        with lanescope.record("x.trace", trace="nvtx", force=True, **QUIET):
                            stop()
                            {text}
                    {text}
                    stop()
                """, code=code, timeout=60)
                os.kill(int(errors.split("kill -CONT ")[1].split()[0]), signal.SIGKILL)
                self.assertIn("RecordingWarning: The recorder of this process was stopped", errors)

    def test_a_recorder_that_is_stopped_before_it_begins(self):
        stopped = self.folder / "stopped"
        for text, said in (("#!/bin/sh\nkill -STOP $$\n", "did not begin: it was stopped"),
                           ("#!/bin/sh\n(sleep 1; kill -KILL $$)&\nkill -STOP $$\n", "ended before it began")):
            stopped.write_text(text)
            stopped.chmod(0o755)
            output, _ = self.run_program("""
                before = os.listdir("/proc/self/fd")
                try:
                    lanescope.start("x.trace", trace="nvtx", **QUIET)
                except lanescope.RecordingError as error:
                    print(error)
                assert os.listdir("/proc/self/fd") == before
                os.environ["LANESCOPE"] = os.environ["REAL"]
                with lanescope.record("y.trace", trace="nvtx", force=True, **QUIET):
                    with annotate("work"): pass
            """, timeout=60, environment={"LANESCOPE": str(stopped), "REAL": program()})
            self.assertIn(said, output)
            self.assertEqual(self.ranges("y.trace"), ["work"])

    def test_a_loop_goes_on_though_the_recorder_of_its_steps_was_stopped(self):
        output, errors = self.run_program("""
            import signal
            recording = lanescope.start("x.trace", schedule=lanescope.schedule(wait=1, warmup=1, active=1), trace="nvtx", **QUIET)
            for number in range(4):
                if number == 1: os.kill(recording._recorder.pid, signal.SIGSTOP)
                recording.step()
            print(number, lanescope._recorder._left[0].pid)
            try:
                recording.stop()
            except lanescope.RecordingError as error:
                print(error)
        """, timeout=60)
        (steps, recorder), sentence = output.splitlines()[0].split(), output.splitlines()[1]
        os.kill(int(recorder), signal.SIGKILL)
        self.assertEqual(steps, "3")
        self.assertIn(f"kill -CONT {recorder}", sentence)
        self.assertIn("Step 2 and those after it are not recorded", errors)

    def test_a_schedule_of_a_program_that_changes_where_sockets_are(self):
        self.run_program("""
            os.mkdir("other", 0o700)
            with lanescope.record("x.trace", schedule=lanescope.schedule(wait=0, warmup=1, active=2), trace="nvtx", **QUIET) as recording:
                os.environ["XDG_RUNTIME_DIR"] = os.path.abspath("other")
                for _ in range(3): recording.step()
        """, timeout=60)
        self.assertEqual(self.ranges(), ["step 1", "step 2"])

    def test_a_recorder_that_is_never_done(self):
        process = _process.Process(os.getpid())
        self.assertEqual(process.state(), "R")
        patience = _process.Patience(process, "ended")
        for _ in range(_process.LOOKS - 1):
            patience.look()
        with self.assertRaisesRegex(RecordingError, f"process {os.getpid()}. has not ended for 5 minutes"):
            patience.look()

    def test_a_process_is_told_from_the_one_that_has_its_number_later(self):
        child = subprocess.Popen(["sleep", "60"])
        process = _process.Process(child.pid)
        self.assertFalse(process.is_gone())
        process._begin = "1"  # as if it had begun with the machine
        self.assertTrue(process.is_gone())
        child.kill()
        child.wait()
        self.assertTrue(_process.Process(child.pid).is_gone())
        with mock.patch.object(_process.os, "kill", side_effect=PermissionError):  # while /proc hides it, too
            self.assertEqual(_process.Process(child.pid).state(), "?")


class Descriptors(unittest.TestCase):
    def test_one_that_was_closed_is_told_from_its_successor(self):
        reads, writes = _descriptors.make(sockets=0, pipes=1)
        with open(os.devnull) as other:
            os.dup2(other.fileno(), reads.number)
        self.assertFalse(reads.is_open())
        reads.close()
        os.fstat(reads.number)  # it is not closed, because it is not ours
        os.close(reads.number)
        with writes:
            self.assertTrue(writes.is_open())
        self.assertFalse(writes.is_open())

    def test_children_have_none(self):
        made = _descriptors.make(sockets=1, pipes=2)
        given = _descriptors.make(sockets=0, pipes=1)
        for each in given:
            each.give_away()
        child = os.fork()
        if child == 0:
            gone = sum(1 for each in made if each._look() is None)
            there = sum(1 for each in given if each._look() is not None)
            os._exit(gone * 10 + there)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 62)
        self.assertTrue(all(each.is_open() for each in made))
        for each in made:
            each.close()
        for each in given:
            os.close(each.number)


class Children(Recorded):
    FORKING = """
        import signal, subprocess
        popen, children = subprocess.Popen, []
        def forking(*arguments, **options):  # as another thread may
            if not children:
                children.append(os.fork())
                if children[-1] == 0:
                    time.sleep(60)
                    os._exit(0)
            return popen(*arguments, **options)
        subprocess.Popen = forking
    """

    def test_a_child_that_was_forked_while_a_recording_began_keeps_no_other_one_from_it(self):
        self.run_program(textwrap.dedent(self.FORKING) + textwrap.dedent("""
            for name in ("x", "y", "z"):
                with lanescope.record(f"{name}.trace", trace=["nvtx"], **QUIET):
                    with annotate(name): pass
            assert os.waitpid(children[0], os.WNOHANG) == (0, 0)
            os.kill(children[0], signal.SIGKILL)
        """), timeout=60)
        for name in ("x", "y", "z"):
            self.assertEqual(self.ranges(f"{name}.trace"), [name])

    def test_a_child_that_was_forked_while_a_recording_is_refused_is_not_waited_for(self):
        output, _ = self.run_program(textwrap.dedent(self.FORKING) + textwrap.dedent("""
            try:
                lanescope.start("x.trace", trace=["nonsense"])
            except lanescope.RecordingError as error:
                print(error)
            assert os.waitpid(children[0], os.WNOHANG) == (0, 0), "it waited for the child"
            os.kill(children[0], signal.SIGKILL)
        """), timeout=60)
        self.assertIn("nonsense", output)


if __name__ == "__main__":
    unittest.main()
