"""Works for the given seconds of processor time: 60 % of it in sixty(), 40 % in forty(), in turns of 10 ms. A second thread
waits all the time. If the first argument is "fork", a child does the work. Without arguments it reads times from its input, and answers each when
it is done."""
import os
import sys
import threading
import time


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


def work(seconds):
    begin = time.thread_time()
    for turn in range(int(seconds * 100)):
        sixty(begin + turn * 0.010 + 0.006)
        forty(begin + turn * 0.010 + 0.010)


class Sleeper:
    def wait(self):
        threading.Event().wait()


def main():
    if sys.argv[1:2] == ["fork"]:
        child = os.fork()
        if child != 0:
            os.waitpid(child, 0)
            return
    threading.Thread(target=Sleeper().wait, daemon=True).start()
    if len(sys.argv) > 1:
        work(float(sys.argv[-1]))
        return
    print("ready", flush=True)
    for seconds in sys.stdin:
        work(float(seconds))
        print("done", flush=True)


main()
