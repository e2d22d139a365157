#!/usr/bin/env python3
"""Trains ResNet-18 with 8 loader workers under every kind of trace, launched and attached to, as often as time allows, on a machine with a GPU.

training_ends.py [--seconds S] [--at-a-time N] [--kinds TEXT|TEXT] [--first K] LANESCOPE

Each run forks 16 workers in two epochs, and has its own exit code. It must end in time and print what it prints alone. Its ranges, known by
construction, must be in the file or be reported missing. Kinds take turns, starting with the K-th. Prints a line for each run that failed, the places of
the threads of each run that did not end, and a table. The exit code is 1 if any run failed. Needs PyTorch and torchvision.
"""
import argparse
import collections
import concurrent.futures
import csv
import io
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

IMAGES, EPOCHS, BATCH = 256, 2, 16
RANGES = {"item": IMAGES * EPOCHS, "step": IMAGES // BATCH * EPOCHS}
LIMIT = 150  # seconds after which a run counts as never ending

QUIET = ["--sample=none", "--cpuctxsw=none"]
KINDS = {
    "alone": None,
    "the guide's": ["profile", "--trace=cuda,nvtx,osrt,cudnn,cublas"],
    "osrt": ["profile", "-t", "osrt", *QUIET],
    "nvtx": ["profile", "-t", "nvtx", *QUIET],
    "cuda": ["profile", "-t", "cuda", *QUIET],
    "python-gil": ["profile", "-t", "python-gil", *QUIET],
    "nvtx,osrt,python-gil": ["profile", "-t", "nvtx,osrt,python-gil", *QUIET],
    "samples, from outside": ["profile", "-t", "none", "--python-sampling"],
    "deep": ["profile", "--preset=deep", "-t", "cuda,nvtx,osrt,python-gil"],
    "attached: cuda,nvtx,osrt": ["attach", "-t", "cuda,nvtx,osrt"],
    "attached: nvtx,osrt,python-gil": ["attach", "-t", "nvtx,osrt,python-gil", *QUIET],
    "attached: osrt": ["attach", "-t", "osrt", *QUIET],
}


def train(go=None):
    import torch
    from torch import nn
    from torchvision.models import resnet18

    nvtx = torch.cuda.nvtx
    torch.set_num_threads(2)
    model = resnet18().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)

    class Images(torch.utils.data.Dataset):
        def __len__(self):
            return IMAGES

        def __getitem__(self, index):
            nvtx.range_push("item")
            image = (torch.rand(3, 256, 256)[:, 16:240, 16:240] - 0.45) / 0.22
            nvtx.range_pop()
            return image, index % 1000

    if go:
        print("waits", flush=True)
        while not os.path.exists(go):
            nvtx.range_push("waiting")
            time.sleep(0.002)
            nvtx.range_pop()
    loader = torch.utils.data.DataLoader(Images(), batch_size=BATCH, num_workers=8, pin_memory=True, shuffle=True)
    for epoch in range(EPOCHS):
        seen = 0
        for images, labels in loader:
            nvtx.range_push("step")
            loss = nn.functional.cross_entropy(model(images.cuda(non_blocking=True)), labels.cuda(non_blocking=True))
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            nvtx.range_pop()
            seen += len(labels)
        torch.cuda.synchronize()
        print(f"epoch {epoch}: {seen} images", flush=True)
    sys.exit(7)


EXPECTED = "".join(f"epoch {epoch}: {IMAGES} images\n" for epoch in range(EPOCHS))


def processes_below(pid):
    children = collections.defaultdict(list)
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/stat", encoding="utf-8", errors="replace") as stat:
                children[int(stat.read().rsplit(")", 1)[1].split()[1])].append(int(entry))
        except OSError:
            pass
    found, left = [], [pid]
    while left:
        found.append(left.pop())
        left += children[found[-1]]
    return found


def where_threads_are(pid):
    """A line for each thread of the process and of its descendants: its system call, and the modules of the first addresses on its stack."""
    lines = []
    for process in processes_below(pid):
        try:
            with open(f"/proc/{process}/cmdline", "rb") as command:
                lines.append(f"    process {process}: {command.read().replace(bytes(1), b' ').decode(errors='replace')[:120]}")
            for thread in sorted(os.listdir(f"/proc/{process}/task")):
                with open(f"/proc/{process}/task/{thread}/syscall", encoding="ascii") as call, \
                        open(f"/proc/{process}/task/{thread}/wchan", encoding="ascii") as wait:
                    lines.append(f"      {thread}: {call.read().strip()} {wait.read().strip()}")
        except OSError:
            pass
        stacks = subprocess.run(["gdb", "-p", str(process), "-batch", "-ex", "thread apply all bt 12"], capture_output=True, text=True, check=False, timeout=60) \
            if os.path.exists("/usr/bin/gdb") else None
        if stacks:
            lines += ["      " + line for line in stacks.stdout.splitlines() if line.startswith(("#", "Thread"))]
    return lines


def end_all(pid):
    for process in processes_below(pid):
        try:
            os.kill(process, signal.SIGKILL)
        except OSError:
            pass


def ranges_in(lanescope, file):
    table = subprocess.run([lanescope, "stats", "-q", "-r", "nvtx_sum", "-f", "csv", file], capture_output=True, text=True, check=False).stdout
    counts = collections.Counter()
    for row in csv.DictReader(io.StringIO(table)):
        counts[row["Range"].lstrip(":")] += int(row["Instances"])
    return counts


class Run:
    def __init__(self, lanescope, kind, folder):
        self.kind, self.folder, self.lanescope = kind, folder, lanescope
        self.options = KINDS[kind]
        self.trace = f"{folder}/x.trace"
        self.problems, self.notes = [], []

    def start(self, words):
        with open(f"{self.folder}/messages", "ab") as messages:
            return subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=messages, text=True, cwd=self.folder, start_new_session=True)

    def wait(self, process, what):
        """The output of the process; None if it did not end."""
        try:
            return process.communicate(timeout=LIMIT)[0]
        except subprocess.TimeoutExpired:
            self.problems.append(f"{what} did not end within {LIMIT} s")
            self.notes += where_threads_are(process.pid)
            end_all(process.pid)
            process.communicate()
            return None

    def traces_nvtx(self):
        return self.options is not None and any("nvtx" in word for word in self.options)

    def do(self):
        begin = time.monotonic()
        train_words = [sys.executable, os.path.abspath(__file__), "--train"]
        recorder = None
        if self.options is None:
            process = self.start(train_words)
        elif self.options[0] == "profile":
            process = self.start([self.lanescope, *self.options, "-o", self.trace, *train_words])
        else:
            process = self.start([*train_words, f"{self.folder}/go"])
            if process.stdout.readline() != "waits\n":
                self.problems.append("the program did not begin")
            else:
                recorder = self.start([self.lanescope, *self.options, "-o", self.trace, str(process.pid)])
                self.let_go(recorder)
        output = self.wait(process, "the program")
        if recorder is not None:
            self.wait(recorder, "the recorder")
        if output is not None and process.returncode != 7:
            self.problems.append(f"exit code {process.returncode}")
        if output is not None and output != EXPECTED:
            self.problems.append(f"output {output[-200:]!r}")
        self.seconds = time.monotonic() - begin
        if self.options is not None:
            self.look_at_trace()
        return self

    def let_go(self, recorder):
        """Continues the program once its work is recorded, or can't be recorded any more."""
        end = time.monotonic() + 60
        while time.monotonic() < end and recorder.poll() is None:
            if os.path.exists(self.trace) and (not self.traces_nvtx() or ranges_in(self.lanescope, self.trace)["waiting"] > 0):
                break
            time.sleep(0.2)
        else:
            self.problems.append("nothing was recorded")
        with open(f"{self.folder}/go", "w", encoding="ascii"):
            pass

    def look_at_trace(self):
        answer = subprocess.run([self.lanescope, "info", "--json", self.trace], capture_output=True, text=True, check=False)
        if answer.returncode != 0:
            self.problems.append(answer.stderr.strip())
            return
        self.info = json.loads(answer.stdout)
        if not self.info["finished"]:
            self.problems.append("the file is not finished")
        self.dropped = sum(sum(process["completeness"][part] for part in ("dropped", "late", "invalid", "unreturned_buffers")) for process in self.info["processes"])
        said = [note["text"] for note in self.info["diagnostics"] if note["severity"] != "info"]
        if self.traces_nvtx():
            counts = ranges_in(self.lanescope, self.trace)
            found = {name: counts[name] for name in RANGES}
            if found != RANGES and self.dropped == 0 and not said:
                self.problems.append(f"ranges {found} in place of {RANGES}, and nothing said")
            elif found != RANGES:
                self.notes.append(f"    ranges {found} in place of {RANGES}; dropped {self.dropped}")
        self.notes += [f"    said: {text[:200]}" for text in said]


def main():
    if sys.argv[1:2] == ["--train"]:
        train(*sys.argv[2:])
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("lanescope")
    parser.add_argument("--seconds", type=float, default=180)
    parser.add_argument("--at-a-time", type=int, default=max(1, (os.cpu_count() or 1) * 2 // 3))
    parser.add_argument("--kinds", default="", help="only kinds whose name holds one of these, separated by |")
    parser.add_argument("--first", type=int, default=0)
    arguments = parser.parse_args()
    lanescope = os.path.abspath(arguments.lanescope)
    kinds = [kind for kind in KINDS if any(text in kind for text in arguments.kinds.split("|"))]
    end = time.monotonic() + arguments.seconds
    lock, number, longest, runs = threading.Lock(), arguments.first, 0.0, []

    def take_turns():
        nonlocal number, longest
        while time.monotonic() + longest < end:
            with lock:
                kind = kinds[number % len(kinds)]
                number += 1
            with tempfile.TemporaryDirectory() as folder:
                run = Run(lanescope, kind, folder).do()
                with open(f"{folder}/messages", encoding="utf-8", errors="replace") as messages:
                    last = messages.read().splitlines()[-6:]
            with lock:
                runs.append(run)
                longest = max(longest, min(run.seconds, LIMIT / 2))
                if run.problems or run.notes:
                    print(f"{'FAIL' if run.problems else 'note'} {kind}, {run.seconds:.1f} s: {'; '.join(run.problems)}", *run.notes, sep="\n")
                if run.problems:
                    print(*("    | " + line for line in last), sep="\n")
                sys.stdout.flush()

    with concurrent.futures.ThreadPoolExecutor(arguments.at_a_time) as threads:
        for turn in [threads.submit(take_turns) for _ in range(arguments.at_a_time)]:
            turn.result()
    print(f"\n{arguments.at_a_time} at a time on {os.cpu_count()} processors\n{'kind':32} {'runs':>5} {'failed':>6} {'dropped':>8} {'events':>9} {'median s':>9} {'longest':>8}")
    for kind in kinds:
        of_kind = [run for run in runs if run.kind == kind]
        if not of_kind:
            continue
        events = [run.info["event_count"] for run in of_kind if hasattr(run, "info")]
        times = [run.seconds for run in of_kind]
        print(f"{kind:32} {len(of_kind):5} {sum(bool(run.problems) for run in of_kind):6} {sum(getattr(run, 'dropped', 0) for run in of_kind):8} "
              f"{statistics.median(events) if events else 0:9.0f} {statistics.median(times):9.1f} {max(times):8.1f}")
    print(f"next: --first {number % len(kinds)}")
    sys.exit(any(run.problems for run in runs))


main()
