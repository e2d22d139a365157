"""Programs that a recorder attaches to, without their knowledge."""

import contextlib
import os
import subprocess
import sys
import unittest

from recorded import Recorded
from support import ROOT, program

START = """
import os, sys, time
import lanescope
from lanescope import annotate
lanescope._agent.allow_reading(-1)  # where the system lets only parents attach
def await_recorder():
    print("ready", flush=True)
    sys.stdin.readline()
    time.sleep(0.05)  # longer than between two looks for the agent
"""


class Attached(Recorded):
    def attach(self, text, *options):
        """Runs a program, attaches to it when it is ready, and lets it continue and end."""
        variables = {**os.environ, "PYTHONPATH": str(ROOT / "app" / "python"), "XDG_RUNTIME_DIR": str(self.folder)}
        with subprocess.Popen([sys.executable, "-B", "-c", START + text], cwd=self.folder, env=variables, text=True,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE) as target, contextlib.ExitStack() as ends:
            ends.callback(target.kill)
            self.assertEqual(target.stdout.readline(), "ready\n")
            command = [program(), "attach", "-s", "none", "--cpuctxsw=none", "-o", "x", "-f", *options, str(target.pid)]
            recorder = ends.enter_context(subprocess.Popen(command, cwd=self.folder, env=variables, text=True, stdout=subprocess.DEVNULL,
                                                           stderr=subprocess.PIPE))
            ends.callback(recorder.kill)
            said = recorder.stderr.readline()
            if "ptrace" in said or "not permitted" in said:
                self.skipTest(said)
            self.assertIn("Recording process", said)
            target.stdin.write("\n")
            target.stdin.flush()
            self.assertEqual(target.wait(60), 0)
            said = recorder.stderr.read()
            self.assertEqual(recorder.wait(60), 0, said)

    def test_ranges_are_recorded_from_then_on(self):
        self.attach("""
with annotate("open before"):
    with annotate("before"): pass
    await_recorder()
    for _ in range(100):
        with annotate("outer"):
            with annotate("inner", domain="input"): pass
with annotate("last"): pass
""", "-t", "nvtx")
        self.assertEqual(self.ranges(), ["outer", "inner"] * 100 + ["last"])

    def test_a_program_whose_first_range_comes_later(self):
        self.attach("""
await_recorder()
for _ in range(3):
    with annotate("work"): pass
""", "-t", "nvtx")
        self.assertEqual(self.ranges(), ["work"] * 3)

    def test_threads_and_forked_children(self):
        self.attach("""
import threading
with annotate("before"): pass
await_recorder()
def work(name):
    for _ in range(50):
        with annotate(name): pass
threads = [threading.Thread(target=work, args=[f"thread {number}"]) for number in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
child = os.fork()
if child == 0:
    with annotate("child"): pass
    os._exit(0)
os.waitpid(child, 0)
""", "-t", "nvtx")
        names = self.ranges()
        self.assertEqual([names.count(f"thread {number}") for number in range(4)], [50] * 4)
        self.assertEqual(names.count("child"), 1)

    def test_a_second_recording_of_one_process(self):
        self.run_program("""
            import subprocess
            lanescope._agent.allow_reading(-1)
            with annotate("before"): pass
            for name in ("x", "y"):
                command = [os.environ["LANESCOPE"], "attach", "-t", "nvtx", "-s", "none", "--cpuctxsw=none", "-o", name, str(os.getpid())]
                recorder = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
                said = recorder.stderr.readline()
                if "Recording process" not in said: sys.exit(said)
                time.sleep(0.05)
                with annotate(name): pass
                recorder.terminate()
                recorder.wait()
                with annotate("between"): pass
        """, timeout=60)
        self.assertEqual(self.ranges("x.trace"), ["x"])
        self.assertEqual(self.ranges("y.trace"), ["y"])


if __name__ == "__main__":
    unittest.main()
