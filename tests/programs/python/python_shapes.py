"""Works in functions that are called in the different ways of calling Python code. In each, sixty() takes 60 % of the processor time
and forty() 40 %, in turns of 10 ms or in two threads.

python_shapes.py [SECONDS]   seconds for each; without it, it reads a time from its input, and prints when it is done.
"""
import os
import sys
import threading
import time

DEPTH = 20


def sixty(until):
    count = 0
    while time.thread_time() < until:
        for _ in range(200):
            count += 1
    return count


def forty(until):
    count = 0
    while time.thread_time() < until:
        for _ in range(200):
            count -= 1
    return count


def turns(seconds):
    begin = time.thread_time()
    return [begin + turn * 0.010 for turn in range(int(seconds * 100))]


def down(depth, begin):
    if depth > 1:
        return down(depth - 1, begin)
    return sixty(begin + 0.006) + forty(begin + 0.010)


def recursive(seconds):
    for begin in turns(seconds):
        down(DEPTH, begin)


def produce(seconds):
    for begin in turns(seconds):
        yield sixty(begin + 0.006)
        yield forty(begin + 0.010)


def generator(seconds):
    for _ in produce(seconds / 2):
        pass
    sum(produce(seconds / 2))


async def step(work, until):
    import asyncio
    await asyncio.sleep(0)
    return work(until)


async def steps(seconds):
    for begin in turns(seconds):
        await step(sixty, begin + 0.006)
        await step(forty, begin + 0.010)


def asynchronous(seconds):
    import asyncio
    asyncio.run(steps(seconds))


def compare(begin):
    return sixty(begin + 0.006) + forty(begin + 0.010)


def callback(seconds):
    """Calls the C library, which calls Python."""
    import ctypes
    bsearch = ctypes.CDLL(None).bsearch
    number = ctypes.c_int()
    for begin in turns(seconds):
        found = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(lambda key, item: compare(begin) and 0)
        bsearch(ctypes.byref(number), ctypes.byref(number), ctypes.c_size_t(1), ctypes.c_size_t(4), found)


def alone(name, seconds):
    globals()[name](time.thread_time() + seconds)


def threads(seconds, target=alone):
    both = [threading.Thread(target=target, args=("sixty", 0.6 * seconds)), threading.Thread(target=target, args=("forty", 0.4 * seconds))]
    for thread in both:
        thread.start()
    for thread in both:
        thread.join()


def run_in_interpreter(call):
    """Runs `call` in an interpreter of its own, in the calling thread."""
    try:
        import _interpreters
    except ImportError:
        import _xxsubinterpreters as _interpreters
    interpreter = _interpreters.create()
    script = f"import sys; sys.path.insert(0, {os.path.dirname(os.path.abspath(__file__))!r}); import python_shapes; python_shapes.{call}"
    failure = _interpreters.run_string(interpreter, script)
    _interpreters.destroy(interpreter)
    if failure:
        raise RuntimeError(failure)


def called_from_other(seconds):
    for begin in turns(seconds):
        sixty(begin + 0.006)
        forty(begin + 0.010)


def nested(seconds):
    run_in_interpreter(f"called_from_other({seconds})")


def in_interpreter(name, seconds):
    run_in_interpreter(f"alone({name!r}, {seconds})")


def interpreters(seconds):
    threads(seconds, in_interpreter)


def work(seconds):
    for shape in (recursive, generator, asynchronous, callback, threads, nested, interpreters):
        shape(seconds)


def main():
    if len(sys.argv) > 1:
        work(float(sys.argv[1]))
        return
    print("ready", flush=True)
    for seconds in sys.stdin:
        work(float(seconds))
        print("done", flush=True)


if __name__ == "__main__":
    main()
