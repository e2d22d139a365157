#!/usr/bin/env python3
"""Runs every command, and the viewer, on files, and prints those that take more than a limit.

measure.py --programs build/release/bin [--seconds 5] [--megabytes 1024] [--cores 2] [--commands info,stats] FILE...
Processor time and peak memory are those of the command's process. A command is ended at four times the limits, or if it waits for half an hour
(at idle priority it may wait long for a processor). A command that writes something for
each event may take 2 us per event in addition: the number of events in a file is bounded by its size (docs/file-format.md, Limits).
"""
import argparse, os, re, resource, subprocess, sys, tempfile, time

COMMANDS = {
    "info": ["lanescope", "info", "{file}"],
    "stats": ["lanescope", "stats", "{file}"],
    "analyze": ["lanescope", "analyze", "{file}"],
    "rules": ["lanescope", "analyze", "-r", "all", "{file}"],
    "diff": ["lanescope", "diff", "{file}", "{file}"],
    "json": ["lanescope", "export", "-q", "-f", "-t", "json", "-o", "/dev/null", "{file}"],
    "chrome": ["lanescope", "export", "-q", "-f", "-t", "chrome", "-o", "/dev/null", "{file}"],
    "sqlite": ["lanescope", "export", "-q", "-f", "-t", "sqlite", "-o", "{out}.sqlite", "{file}"],
    "trace": ["lanescope", "export", "-q", "-f", "-t", "trace", "-o", "{out}.trace", "{file}"],
    "csv": ["lanescope", "export", "-q", "-f", "-t", "csv", "-o", "/dev/null", "{file}"],
    "text": ["lanescope", "export", "-q", "-f", "-t", "text", "-o", "/dev/null", "{file}"],
    "parquet": ["lanescope", "export", "-q", "-f", "-t", "parquet", "-o", "{out}.parquet", "{file}"],
    "arrow": ["lanescope", "export", "-q", "-f", "-t", "arrow", "-o", "{out}.arrow", "{file}"],
    "query": ["lanescope", "query", "{file}", "SELECT name, count(*), sum(duration) FROM kernels GROUP BY 1 ORDER BY 3 DESC LIMIT 5"],
    "import": ["lanescope", "import", "-f", "-o", "{out}.imported.trace", "{file}"],
    "report": ["lanescope", "report", "-q", "-f", "-o", "{out}.html", "{file}"],
    "kernels": ["lanescope", "kernels", "{file}"],
    "viewer": ["lanescope-ui", "{file}", "-f", "--screenshot", "{out}.png"],
    "fleet": ["lanescope-ui", "{file}"],
    "notes": ["lanescope-ui", "{trace}", "-f", "--screenshot", "{out}.png"],
    "functions": ["lanescope", "profile", "--trace=nvtx", "-f", "-o", "{out}.marked.trace", "--python-functions-trace={file}", "python3", "-c", "1"],
    "command": ["lanescope", "profile", "--command-file={file}"],
    "python": [],  # the package in app/python, for .trace files: every table, row by row
}
PACKAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "app", "python")
READ_ALL = """
import sys
sys.path.insert(0, sys.argv[1])
import lanescope
try:
    with lanescope.open(sys.argv[2]) as trace:
        rows = 0
        for table in trace.tables.values():
            # A table in memory takes eight bytes for each value, so that of millions of rows only parts are.
            parts = table.batches() if len(table) > 1_000_000 else [table.to_numpy()]
            rows += sum(len(next(iter(part.values()))) for part in parts)
        print(rows, "rows,", trace.lost)
except lanescope.TraceError as error:
    sys.exit(str(error))
"""


def python():
    """A Python that has what the package needs; None if there is none."""
    for each in (os.environ.get("LANESCOPE_PYTHON"), sys.executable, "/usr/bin/python3"):
        if each and subprocess.run([each, "-c", "import numpy, xxhash, zstandard"], capture_output=True).returncode == 0:
            return each
    return None

# The commands for files that are no traces (other_inputs.py). With notes, the viewer opens the trace beside them; a window of a fleet stays open
# until it is idle.
COMMANDS_OF = {"fleet.json": ["fleet"], "notes": ["notes"], "functions.json": ["functions"], "command": ["command"]}


def kind_of(file):
    """The file's name from its first dot on."""
    ends = [end for end in COMMANDS_OF if file.endswith("." + end)]
    return ends[0] if ends else ""


WRITE_EACH_EVENT = {"json", "chrome", "sqlite", "trace", "csv", "text", "parquet", "arrow", "import", "python"}
SECONDS_PER_EVENT = 2e-6
LONGEST_WAIT = 1800  # seconds
QUIET = 2  # seconds without use of a processor


def most_events(file):
    """The maximum number of events in a .trace file (model/file/limits.h), plus a chunk and what processors did, which follows from what threads did."""
    return 2 * (max(os.path.getsize(file), 10_000_000) * 7 // 10 + 65536)


def event_count(programs, file):
    """The number that `lanescope info` prints; 0 if it prints none."""
    try:
        said = subprocess.run([os.path.join(programs, "lanescope"), "info", file], capture_output=True, timeout=120).stdout.decode(errors="replace")
    except subprocess.TimeoutExpired:
        return 0
    found = re.search(r"Span .*?([\d,]+) events?(?:, and ([\d,]+) states? of processors)?", said)
    return sum(int(number.replace(",", "")) for number in found.groups() if number) if found else 0


def value_count(programs, file):
    """The number of values of counters, which are not events; 0 if it is not known."""
    command = [os.path.join(programs, "lanescope"), "query", "--format", "csv", file, "SELECT count(*) FROM counters"]
    try:
        said = subprocess.run(command, capture_output=True, timeout=120).stdout.decode(errors="replace").split()
    except subprocess.TimeoutExpired:
        return 0
    return int(said[-1]) if said and said[-1].isdigit() else 0


def processor_seconds(pid):
    with open(f"/proc/{pid}/stat") as stat:
        times = stat.read().rsplit(")", 1)[1].split()[11:13]
    return sum(map(int, times)) / os.sysconf("SC_CLK_TCK")


def run(command, seconds, megabytes, until_quiet=False):
    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds * 4) + 1, int(seconds * 4) + 1))
        resource.setrlimit(resource.RLIMIT_AS, (int(megabytes * 8) << 20,) * 2)  # resident memory is watched below; this limit stops runaway processes
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (8 << 30, 8 << 30))

    output = tempfile.TemporaryFile()
    child = subprocess.Popen(command, stdout=output, stderr=output, stdin=subprocess.DEVNULL, preexec_fn=limit)
    ended_for = ""
    begin = last_look = time.time()
    used = -1.0
    while True:
        pid, status, usage = os.wait4(child.pid, os.WNOHANG)
        if pid:
            break
        with open(f"/proc/{child.pid}/statm") as statm:
            resident = int(statm.read().split()[1]) * resource.getpagesize() / 2**20
        if resident > megabytes * 4:
            ended_for = "memory"
        elif time.time() - begin > LONGEST_WAIT:
            ended_for = "time"
        if until_quiet and time.time() - last_look > QUIET:
            used, before, last_look = processor_seconds(child.pid), used, time.time()
            if used == before:
                child.kill()
                pid, status, usage = os.wait4(child.pid, 0)
                status = 0
                break
        if ended_for:
            child.kill()
            pid, status, usage = os.wait4(child.pid, 0)
            break
        time.sleep(0.005)
    child.returncode = 0
    output.seek(0, os.SEEK_END)
    size = output.tell()
    output.seek(max(0, size - 400))
    text = output.read().decode(errors="replace").strip().splitlines()
    return {
        "seconds": usage.ru_utime + usage.ru_stime,
        "megabytes": usage.ru_maxrss / 1024,
        "exit": os.WEXITSTATUS(status) if os.WIFEXITED(status) else -os.WTERMSIG(status),
        "ended_for": ended_for,
        "last": text[-1][:160] if text else "",
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", required=True)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--megabytes", type=float, default=1024)
    parser.add_argument("--cores", type=int, help="at most so many: what works side by side takes memory each")
    parser.add_argument("--commands", default=",".join(name for name in COMMANDS if [name] not in COMMANDS_OF.values()))
    parser.add_argument("--all", action="store_true", help="print what is within the limits, too")
    parser.add_argument("files", nargs="+")
    arguments = parser.parse_args()
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: arguments.cores])
    interpreter = python()
    runs = beyond = 0
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HOME"] = folder
        for file in arguments.files:
            events = 0 if kind_of(file) else event_count(arguments.programs, file)
            if file.endswith(".trace") and events > most_events(file):
                beyond += 1
                print(f"BEYOND {os.path.basename(file):44} has {events} events, and may have {most_events(file)}")
            written = None
            for name in COMMANDS_OF.get(kind_of(file), arguments.commands.split(",")):
                seconds = arguments.seconds
                if name in WRITE_EACH_EVENT:
                    if written is None:
                        written = events + value_count(arguments.programs, file)
                    seconds += written * SECONDS_PER_EVENT
                if name == "python":
                    if interpreter is None or not file.endswith(".trace"):
                        continue
                    command = [interpreter, "-c", READ_ALL, PACKAGE, file]
                else:
                    command = [part.format(file=file, out=folder + "/out", trace=file.removesuffix(".notes")) for part in COMMANDS[name]]
                    command[0] = os.path.join(arguments.programs, command[0])
                result = run(command, seconds, arguments.megabytes, until_quiet=name == "fleet")
                runs += 1
                bad = (
                    result["seconds"] > seconds
                    or result["megabytes"] > arguments.megabytes
                    or result["exit"] not in (0, 1, 2)
                    or (result["exit"] != 0 and not result["last"])
                    or result["ended_for"]
                )
                beyond += bool(bad)
                if bad or arguments.all:
                    print(
                        f"{'BEYOND' if bad else 'within'} {os.path.basename(file):44} {name:8} {result['seconds']:6.2f} s "
                        f"{result['megabytes']:6.0f} MB exit {result['exit']} {result['ended_for']} {result['last']}",
                        flush=True,
                    )
    print(f"{runs} runs, {beyond} beyond {arguments.seconds:g} s (and 2 us for each event that is written) or {arguments.megabytes:g} MB")
    return 1 if beyond else 0


if __name__ == "__main__":
    sys.exit(main())
