#!/usr/bin/env python3
"""Records a PyTorch program by `lanescope profile --on 'command:bash -c'`, or another TARGET: the recorder is at the far side of a link, which is also this
machine with a GPU.

remote.py [LANESCOPE [TARGET]]

The copy is read while it grows. The link is killed during a recording. The lanescope that asked is killed, and the recording is fetched. Each
time the copy must equal the remote file byte for byte, and contain the kernels and ranges that the program has by construction. Prints a line for each check,
and exits with the number of failed checks. Takes about a minute. Needs PyTorch.
"""
import csv
import filecmp
import io
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time

STEPS, KERNELS = 150, 20  # per step


def train():
    import torch

    values = torch.ones(1 << 20, device="cuda")
    for step in range(STEPS):
        torch.cuda.nvtx.range_push(f"step {step}")
        for _ in range(KERNELS):
            values.sin_()
        torch.cuda.synchronize()
        torch.cuda.nvtx.range_pop()
        time.sleep(0.04)
    print("trained")


class Links:
    """Keeps the files of remote recordings under additional names, because they are removed after they are copied."""

    def __init__(self, there, kept):
        self.there, self.kept, self.last, self.goes_on = there, kept, None, True
        self.thread = threading.Thread(target=self.watch)
        self.thread.start()

    def watch(self):
        seen = set()
        while self.goes_on:
            for file in self.there.glob("*/*.trace"):
                try:
                    inode = file.stat().st_ino
                    if inode not in seen:
                        os.link(file, self.kept / str(inode))
                        seen.add(inode)
                        self.last = self.kept / str(inode)
                except FileNotFoundError:
                    pass  # it was removed or replaced meanwhile
            time.sleep(0.002)

    def end(self):
        self.goes_on = False
        self.thread.join()
        return self.last


def main():
    lanescope = os.path.realpath(sys.argv[1] if len(sys.argv) > 1 else "build/dev/bin/lanescope")
    target = sys.argv[2] if len(sys.argv) > 2 else "command:bash -c"
    program = [sys.executable, os.path.realpath(__file__), "train"]
    failures = 0

    def check(what, holds, found=""):
        nonlocal failures
        failures += not holds
        print("PASS" if holds else "FAIL", what + (f": {found}" if found != "" else ""), flush=True)

    with tempfile.TemporaryDirectory() as folder:
        here, cache = pathlib.Path(folder), pathlib.Path(folder, "cache")
        (here / "kept").mkdir()
        os.environ.update(XDG_CACHE_HOME=str(cache), XDG_RUNTIME_DIR=folder)
        on = ["--on", target, "--remote-lanescope", lanescope]
        recordings = cache / "lanescope" / "recordings"

        def said(*arguments):
            return subprocess.run([lanescope, *arguments], cwd=here, capture_output=True, text=True)

        def counted(file):
            """The program's kernels and ranges that are in the file so far."""
            counts = []
            for report, column, text in (("cuda_gpu_kern_sum", "Name", "sin_kernel"), ("nvtx_pushpop_sum", "Range", "step ")):
                rows = list(csv.reader(io.StringIO(said("stats", "-q", "-r", report, "-f", "csv", file).stdout)))
                header = next((row for row in rows if column in row and "Instances" in row), None)
                counts.append(sum(int(row[header.index("Instances")]) for row in rows[rows.index(header) + 1 :]
                                  if len(row) == len(header) and text in row[header.index(column)]) if header else 0)
            return tuple(counts)

        def begin(file):
            command = [lanescope, "profile", *on, "-t", "cuda,nvtx", "-s", "none", "--cpuctxsw=none", "-o", file, *program]
            return subprocess.Popen(command, cwd=here, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

        def finish(what, process, file, links):
            output, messages = process.communicate(timeout=120)
            check(f"{what}: it ended as the program did", process.returncode == 0 and output == "trained\n", process.returncode)
            if process.returncode != 0:
                print(messages)
            original = links.end()
            size = (here / file).stat().st_size
            check(f"{what}: the copy is the file there", filecmp.cmp(original, here / file, shallow=False), f"{size} bytes")
            whole(what, file)

        def whole(what, file):
            check(f"{what}: kernels and ranges", counted(file) == (STEPS * KERNELS, STEPS), counted(file))
            contents = [line for line in said("info", file).stdout.splitlines() if line.strip().startswith("Contents")]
            check(f"{what}: nothing dropped", "complete: nothing dropped" in str(contents), contents)

        def await_growth(file, process):
            while process.poll() is None and counted(file)[1] < STEPS // 5:
                time.sleep(0.1)

        links, process = Links(recordings, here / "kept"), begin("live.trace")
        looks = []
        while process.poll() is None:
            looks.append(counted("live.trace"))
            time.sleep(0.2)
        grown = sorted({look[0] for look in looks if 0 < look[0] < STEPS * KERNELS})
        check("live: kernels in the copy while the program ran", len(grown) >= 3 and looks == sorted(looks), grown)
        finish("live", process, "live.trace", links)

        links, process = Links(recordings, here / "kept"), begin("cut.trace")
        await_growth("cut.trace", process)
        far_sides = subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True, text=True).stdout.split()
        for far_side in far_sides:
            os.kill(int(far_side), signal.SIGKILL)
        check("cut: the link was there to be killed", len(far_sides) == 1 and process.poll() is None, far_sides)
        finish("cut", process, "cut.trace", links)

        process = begin("killed.trace")
        await_growth("killed.trace", process)
        process.kill()
        process.communicate()
        part = (here / "killed.trace").stat().st_size
        name = os.listdir(recordings)[0]
        ended = recordings / name / "ended"
        for _ in range(600):
            if ended.exists():
                break
            time.sleep(0.1)
        check("killed: the program ran on to its end", ended.exists())
        original = next((recordings / name).glob("*.trace"))
        os.link(original, here / "kept" / "killed")
        fetched = said("fetch", *on, "--recording", name, "-o", "fetched.trace")
        check("killed: the recording is fetched", fetched.returncode == 0 and fetched.stdout == "trained\n", fetched.stderr if fetched.returncode else "")
        check("killed: the copy is the file there", filecmp.cmp(here / "kept" / "killed", here / "fetched.trace", shallow=False),
              f"{part} bytes before, {(here / 'fetched.trace').stat().st_size} in the end")
        whole("killed", "fetched.trace")
        check("nothing is left there", os.listdir(recordings) == [])
    print(failures, "failed")
    return failures > 0


if __name__ == "__main__":
    sys.exit(train() if sys.argv[1:] == ["train"] else main())
