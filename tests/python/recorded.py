"""The base of tests of recordings that a program makes of itself."""

import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest

from support import ROOT

import lanescope


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
