"""What tests of recipes ask, and of which recordings."""

import contextlib
import io
import json
import subprocess

import support
from lanescope.fleet import Engine
from lanescope.fleet.__main__ import main

HERE = Engine(kind="none")
RANKS = [support.recording("ranks_late0"), support.recording("ranks_late1"), support.recording("ranks_compute")]


def stats(report, *arguments):
    return json.loads(support.lanescope("stats", "-q", "-f", "json", "-r", report, *arguments) or "[]")


def run(*arguments):
    """The exit code and output of `lanescope fleet`."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main([*map(str, arguments)])
        except SystemExit as ended:
            code = ended.code or 0
    return subprocess.CompletedProcess(arguments, code, out.getvalue(), err.getvalue())


def bare(name):
    """stats shows the functions of CUDA without their version."""
    return name.rsplit("_v", 1)[0] if name.startswith("cu") and name.rsplit("_v", 1)[-1].isdigit() else name
