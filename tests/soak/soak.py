#!/usr/bin/env python3
"""Records for a long time, and thousands of processes. Fails if the recorder's memory grows.

soak.py --lanescope LANESCOPE --stream nvtx_stream [--seconds 10] [--rate 100000] [--processes 300] [--growth 24]

One run records ranges at a steady rate, with names that are never repeated and threads that end, for the given seconds. One run records at least the given
number of processes that end at once. Both record states and samples of threads. The maximum of the recorder's own memory (RssAnon) in the last third may
exceed that in the second third by `--growth` MiB. The events in the file plus those reported missing must be all that were made.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time


def own_memory(pid):
    """The memory of a process and of its children that read names, in MiB."""
    total = 0
    family = [pid]
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children") as children:
                for child in children.read().split():
                    with open(f"/proc/{child}/comm") as name:
                        if name.read().startswith("lanescope-code"):
                            family.append(int(child))
    except OSError:
        pass
    for each in family:
        try:
            with open(f"/proc/{each}/status") as status:
                found = re.search(r"RssAnon:\s+(\d+)", status.read())
            total += int(found.group(1)) if found else 0
        except OSError:
            pass
    return total / 1024


def record(arguments, what, command, folder):
    """Runs it. Returns memory over time, the file, and what the program printed."""
    file = os.path.join(folder, "soak.trace")
    process = subprocess.Popen([arguments.lanescope, "profile", "-f", "-o", file, *what, *command],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    memory = []
    while process.poll() is None:
        memory.append(own_memory(process.pid))
        time.sleep(0.2)
    output, messages = process.communicate()
    if process.returncode != 0:
        sys.exit(f"soak.py: {command[0]} ended with {process.returncode}\n{messages}")
    return memory, file, output, messages


def check_flat(name, memory, growth):
    third = max(1, len(memory) // 3)
    if len(memory) < 6:
        sys.exit(f"soak.py: {name} was over before its memory could be seen to grow")
    middle, last = max(memory[third:2 * third]), max(memory[2 * third:])
    print(f"{name}: {max(memory):.0f} MiB at most; {middle:.0f} in the second third, {last:.0f} in the last")
    if last > middle + growth:
        sys.exit(f"soak.py: {name}: the recorder's memory grows: {middle:.0f} MiB in the second third, {last:.0f} in the last")


def info(arguments, file):
    return json.loads(subprocess.run([arguments.lanescope, "info", "--json", file], check=True, capture_output=True, text=True).stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lanescope", required=True)
    parser.add_argument("--stream", required=True, help="the program nvtx_stream")
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--rate", type=int, default=100_000, help="ranges a second of each of two threads")
    parser.add_argument("--processes", type=int, default=300)
    parser.add_argument("--growth", type=float, default=24, help="MiB that count as none")
    parser.add_argument("--observe", default="-s process-tree --cpuctxsw process-tree", help="what is recorded of threads")
    parser.add_argument("--folder", help="where files go; a temporary folder")
    arguments = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="lanescope-soak-", dir=arguments.folder)
    observe = arguments.observe.split()
    try:
        if arguments.seconds > 0:
            begin = time.time()
            memory, file, output, messages = record(arguments, ["-t", "nvtx", *observe],
                                                    [arguments.stream, str(arguments.seconds), str(arguments.rate)], folder)
            made = int(output.split()[0])
            size = os.path.getsize(file) / 2**20
            check_flat(f"{made:,} ranges in {time.time() - begin:.0f} s, {size:.0f} MiB", memory, arguments.growth)
            if made <= 20_000_000:  # a larger file takes long to read
                known = info(arguments, file)
                there = known["counts"]["nvtx_ranges"]
                missing = sum(process["completeness"]["dropped"] for process in known["processes"]) + known["unwritten_events"]
                print(f"  {there:,} ranges in the file, {missing:,} records said to be missing")
                if not there <= made <= there + missing:
                    sys.exit(f"soak.py: {made:,} ranges were made; the file has {there:,} and says that {missing:,} records are missing")
        if arguments.processes > 0:
            begin = time.time()
            # At least this many, and for at least three seconds, so that memory can be seen to grow on fast machines, too.
            script = (f"i=0; end=$(($(date +%s)+4)); while [ $i -lt {arguments.processes} ] || [ $(date +%s) -lt $end ]; "
                      "do /bin/true; i=$((i+1)); done; echo $i")
            memory, file, output, messages = record(arguments, ["-t", "nvtx,osrt", *observe], ["/bin/sh", "-c", script], folder)
            made = int(output.split()[0])
            size = os.path.getsize(file) / 2**20
            check_flat(f"{made:,} processes in {time.time() - begin:.0f} s, {size:.0f} MiB", memory, arguments.growth)
            count = len(info(arguments, file)["processes"])
            print(f"  {count:,} processes in the file")
            if count < made:
                sys.exit(f"soak.py: {made:,} processes ran, and the file knows {count:,}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


main()
