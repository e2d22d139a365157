"""Threads and the global lock of their interpreter. Each thread prints its number and what it did, in nanoseconds of the clock.

python_gil.py compete [SECONDS]   two threads that compute all the time
python_gil.py sleep               one thread that sleeps and one that computes
python_gil.py release             one thread that calls native code that releases the lock: zlib and hashlib with much data
python_gil.py failing             one thread that computes while it starts programs that do not exist, by vfork
python_gil.py interpreters [SECONDS]   two threads that compute all the time, each in an interpreter with its own lock (3.12 and newer)
"""
import hashlib
import sys
import threading
import time
import zlib

one_writes = threading.Lock()


def compute(until):
    while time.monotonic() < until:
        sum(i * i for i in range(2000))


def told(name, work):
    def body():
        begin = time.monotonic_ns()
        work()
        text = f"{name} {threading.get_native_id()} {begin} {time.monotonic_ns()}\n"
        with one_writes:
            sys.stdout.write(text)
            sys.stdout.flush()

    return threading.Thread(target=body)


def native():
    data = bytes(8 << 20)
    for _ in range(4):
        zlib.compress(data, 6)
        hashlib.sha256(data).digest()


def in_interpreter(seconds):
    try:
        import _interpreters
    except ImportError:
        import _xxsubinterpreters as _interpreters
    interpreter = _interpreters.create()
    script = f"import time\nuntil = time.monotonic() + {seconds}\nwhile time.monotonic() < until: sum(i * i for i in range(2000))"

    def run():
        _interpreters.run_string(interpreter, script)
        _interpreters.destroy(interpreter)

    return run


def failing():
    """Computes with the lock held, between the end of the child and the reading of what it reported."""
    import os
    import subprocess

    read = os.read

    def read_later(descriptor, size):
        compute(time.monotonic() + 0.03)
        return read(descriptor, size)

    os.read = read_later
    for _ in range(10):
        try:
            subprocess.Popen(["/nonexistent/program"], close_fds=False)
        except FileNotFoundError:
            pass
    os.read = read


def main():
    what = sys.argv[1]
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 1.0
    until = time.monotonic() + seconds
    if what == "compete":
        threads = [told("first", lambda: compute(until)), told("second", lambda: compute(until))]
    elif what == "sleep":
        threads = [told("sleeper", lambda: time.sleep(seconds)), told("computer", lambda: compute(until))]
    elif what == "failing":
        threads = [told("starter", failing)]
    elif what == "interpreters":
        threads = [told("first", in_interpreter(seconds)), told("second", in_interpreter(seconds))]
    else:
        threads = [told("native", native)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


main()
