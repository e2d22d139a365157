#!/usr/bin/env python3
"""Makes commands run out of memory at each of their allocations, one run for each. Run at night, because there are tens of thousands.

failing_allocations.py --programs build/dev/bin --data tests/data [--runs N] [--seed S]
A run passes if it prints the same as otherwise, or fails with a sentence. With --runs, only that many allocations are drawn for each command. Prints the runs
that did not pass, and then fails. A run that ends in a library which can't handle a failed allocation is recognised by the library's own message.
"""
import argparse, os, random, subprocess, sys, tempfile

KNOWN = ("failed to register TLS destructor",)  # from glibc, when a thread starts


def commands(data, folder):
    streams = os.path.join(data, "cuda_streams.trace")
    compact = os.path.join(folder, "compact.trace")
    out = os.path.join(folder, "out")
    yield ["info", streams]
    yield ["stats", streams]
    yield ["stats", compact]
    yield ["analyze", os.path.join(data, "torch_training_workers0.trace")]
    yield ["analyze", compact]
    yield ["diff", streams, compact]
    yield ["kernels", os.path.join(data, "kernel_counters.trace")]
    yield ["query", streams, "SELECT name, count(*) FROM kernels GROUP BY 1"]
    yield ["report", "-q", "-f", "-o", out + ".html", streams]
    for kind in ("chrome", "json", "csv", "sqlite", "trace", "parquet", "arrow"):
        yield ["export", "-q", "-f", "-t", kind, "-o", out + "." + kind, streams]


def run(program, command, environment):
    return subprocess.run([program, *command], env=environment, capture_output=True, timeout=300)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--runs", type=int)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    program = os.path.join(arguments.programs, "lanescope")
    draw = random.Random(arguments.seed)
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        count_file = os.path.join(folder, "allocations")
        environment = dict(os.environ, LANESCOPE_ALLOCATIONS=count_file)
        made = run(program, ["export", "-q", "-t", "trace", "-o", os.path.join(folder, "compact.trace"), os.path.join(arguments.data, "cuda_streams.trace")], environment)
        assert made.returncode == 0, made.stderr
        environment["LD_PRELOAD"] = os.path.join(os.path.abspath(arguments.programs), "lanescope_failing_allocations.so")
        for command in commands(arguments.data, folder):
            whole = run(program, command, environment)
            assert whole.returncode == 0, (command, whole.stderr)
            with open(count_file) as file:
                count = int(file.read())
            numbers = range(1, count + 1)
            if arguments.runs and arguments.runs < count:
                numbers = sorted(draw.sample(numbers, arguments.runs))
            bad = {}
            for number in numbers:
                try:
                    ran = run(program, command, dict(environment, LANESCOPE_FAIL_AT=str(number)))
                except subprocess.TimeoutExpired:
                    bad.setdefault("did not end", []).append(number)
                    continue
                said = ran.stderr.decode(errors="replace").strip()
                same = ran.returncode == 0 and ran.stdout == whole.stdout
                told = ran.returncode in (1, 2) and said.startswith("lanescope: ")
                if not same and not told and not any(word in said for word in KNOWN):
                    bad.setdefault(f"exit {ran.returncode}{' with another answer' if ran.returncode == 0 else ''}: {said[-120:]}", []).append(number)
            failed += len(bad)
            print(f"{'failed' if bad else 'passed'} {' '.join(command[:1] + command[-1:])}: {count} allocations, {len(numbers)} runs", flush=True)
            for what, at in bad.items():
                print(f"  {len(at)} times, first at {at[0]}: {what}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
