#!/usr/bin/env python3
"""The cost of naming Python functions, for the sampled program and for the host.

python_sampling_cost.py LANESCOPE PYTHON [ROUNDS]

Two programs run in interleaved rounds: "calls" calls small functions all the time, "threads" has 31 threads, 30 of which wait 40 calls deep.
Prints for each way of recording the program's processor time relative to that without a recorder, best of all rounds, and the processor time of the
recorder for each second that it recorded.
"""
import os
import subprocess
import sys
import tempfile

PROGRAMS = {
    "calls": """
def fibonacci(n): return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)
fibonacci(27)
begin = time.process_time()
for _ in range(80): fibonacci(27)
""",
    "threads": """
def deep(n): threading.Event().wait() if n == 0 else deep(n - 1)
for _ in range(30): threading.Thread(target=deep, args=(40,), daemon=True).start()
begin = time.process_time()
for _ in range(500): sum(i * i for i in range(100_000))
""",
}
FRAME = "import os, sys, threading, time\n{}\nprint(time.process_time() - begin, flush=True)\nos._exit(0)\n"
PLAIN = ["-t", "none", "--cpuctxsw=none", "-s", "process-tree"]
WAYS = {
    "not recorded": None,
    "not recorded, with the trampoline (PYTHONPERFSUPPORT=1)": None,
    "-b fp": [*PLAIN, "-b", "fp"],
    "-b fp --python-sampling": [*PLAIN, "-b", "fp", "--python-sampling"],
    "-b dwarf": [*PLAIN, "-b", "dwarf"],
    "-b dwarf --python-sampling": [*PLAIN, "-b", "dwarf", "--python-sampling"],
}


def run(command, environment):
    """Seconds of the program's own measured part, of processor time in total, and of elapsed time."""
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment)
    begin = os.times().elapsed
    output = child.stdout.read()
    _, _, usage = os.wait4(child.pid, 0)
    child.returncode = 0
    return float(output.split()[0]), usage.ru_utime + usage.ru_stime, os.times().elapsed - begin


def main():
    lanescope, python = sys.argv[1:3]
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    with tempfile.TemporaryDirectory() as folder:
        for name, body in PROGRAMS.items():
            program = [python, "-c", FRAME.format(body)]
            results = {way: [] for way in WAYS}
            for _ in range(rounds):
                for way, options in WAYS.items():
                    environment = dict(os.environ)
                    if "trampoline" in way:
                        environment["PYTHONPERFSUPPORT"] = "1"
                    record = [lanescope, "profile", *options, "-f", "-o", folder + "/x"] if options else []
                    results[way].append(run(record + program, environment))
            alone = min(seconds for seconds, _, _ in results["not recorded"])
            start = min(all_of_it - seconds for seconds, all_of_it, _ in results["not recorded"])
            print(f"{name}: {alone:.3f} s of processor time alone")
            for way, measured in results.items():
                seconds = min(seconds for seconds, _, _ in measured)
                host = min((all_of_it - own - start) / clock for own, all_of_it, clock in measured)
                print(f"  {way:58} {100 * (seconds / alone - 1):+6.1f} %   recorder {100 * max(host, 0):5.1f} % of one processor")


main()
