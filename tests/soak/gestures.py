#!/usr/bin/env python3
"""Uses the viewer like a person for hours, by keys and mouse of a display. Fails if the viewer ends or hangs, or if its memory grows.

gestures.py --viewer LANESCOPE_UI --trace FILE [--gestures 3000] [--seed 1] [--growth 8]

Uses keys of the timeline, clicks, drags, the wheel, panels and their lists, in an order given by the seed, on a display of its own (Xvfb, openbox, xdotool).
The maximum of the viewer's memory (VmRSS) in the last quarter may exceed that in the third by `--growth` MiB. Before that, each panel takes its own memory.
"""
import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

KEYS = ("w w s s a d Home shift+Home ctrl+shift+Home g shift+g Left Right shift+Right Up Down f BackSpace l y Escape space ctrl+Down ctrl+Up m period "
        "shift+w shift+s bracketleft bracketright").split()
PANELS = "ctrl+shift+b ctrl+shift+a ctrl+shift+s ctrl+shift+d ctrl+shift+m ctrl+shift+g".split()
PATIENCE = 60  # s, for what takes one second on a machine that does nothing else


class Hands:
    """Keys and mouse for the window of a process. The parts of the window are found by their places when it first opens."""

    def __init__(self, environment, pid):
        self.environment = environment
        deadline = time.time() + PATIENCE
        while not (windows := self.tell("search", "--onlyvisible", "--pid", pid, "--name", "Lanescope").split()):
            if time.time() > deadline:
                sys.exit("The viewer shows no window.")
            time.sleep(0.2)
        place = dict(line.split("=") for line in self.tell("getwindowgeometry", "--shell", windows[-1]).split())
        self.left, self.top, self.width, self.height = (int(place[name]) for name in ("X", "Y", "WIDTH", "HEIGHT"))
        self.tell("windowactivate", "--sync", windows[-1])

    def tell(self, *words):
        return subprocess.run(["xdotool", *map(str, words)], env=self.environment, capture_output=True, text=True, timeout=PATIENCE).stdout

    def at(self, x, y):
        return ("mousemove", self.left + int(self.width * x), self.top + int(self.height * y))

    def act(self, chance):
        rows = self.at(chance.uniform(0.25, 0.9), chance.uniform(0.15, 0.6))
        middle = self.at(0.5, 0.4)
        kind = chance.random()
        if kind < 0.45:
            self.tell(*middle, "key", chance.choice(KEYS))
        elif kind < 0.55:
            self.tell(*rows, "click", 1)
        elif kind < 0.65:
            self.tell(*rows, "click", chance.choice((4, 5)))
        elif kind < 0.72:
            self.tell(*rows, "mousedown", 1, "mousemove_relative", 60, 0, "mousemove_relative", 40, 0, "mouseup", 1)
        elif kind < 0.80:
            self.tell("key", chance.choice(PANELS))
        elif kind < 0.90:
            self.tell(*self.at(chance.uniform(0.02, 0.6), chance.uniform(0.85, 0.95)), "click", 1)
        elif kind < 0.95:
            self.tell("key", "F6")
        else:
            self.tell(*middle, "key", "ctrl+z")


def memory(viewer):
    """The viewer's memory in MiB."""
    if viewer.poll() is not None:
        sys.exit(f"The viewer ended with {viewer.returncode}.")
    with open(f"/proc/{viewer.pid}/status") as status:
        return int(re.search(r"VmRSS:\s+(\d+)", status.read()).group(1)) / 1024


def work(options, folder):
    chance = random.Random(options.seed)
    trace = shutil.copy(options.trace, folder)  # notes are kept beside the copy
    reading, writing = os.pipe()
    server = subprocess.Popen(["Xvfb", "-displayfd", str(writing), "-screen", "0", "1920x1200x24", "-nolisten", "tcp"], pass_fds=[writing],
                              stderr=subprocess.DEVNULL)
    display = b""
    while not display.endswith(b"\n"):
        display += os.read(reading, 16)
    environment = dict(os.environ, DISPLAY=":" + display.decode().strip(), QT_QPA_PLATFORM="xcb", XDG_CONFIG_HOME=folder, XDG_RUNTIME_DIR=folder, HOME=folder)
    manager = subprocess.Popen(["openbox", "--sm-disable"], env=environment, stderr=subprocess.DEVNULL)
    viewer = subprocess.Popen([options.viewer, trace], env=environment)
    try:
        hands = Hands(environment, viewer.pid)
        most = [0.0] * 4  # in each quarter
        begin = time.time()
        for gesture in range(options.gestures):
            hands.act(chance)
            time.sleep(0.05)
            quarter = gesture * 4 // options.gestures
            most[quarter] = max(most[quarter], memory(viewer))
        print(f"{options.gestures} gestures in {time.time() - begin:.0f} s; memory at most {', '.join(f'{each:.0f}' for each in most)} MiB, quarter by quarter")
        hands.tell("key", "--clearmodifiers", "Escape", "Escape", "ctrl+q")
        viewer.wait(timeout=PATIENCE)
        if viewer.returncode != 0:
            sys.exit(f"The viewer ended with {viewer.returncode}.")
        if most[3] > most[2] + options.growth:
            sys.exit(f"The viewer's memory grows: {most[2]:.0f} MiB, then {most[3]:.0f} MiB.")
    finally:
        for process in (viewer, manager, server):
            process.kill()
            process.wait()


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--viewer", required=True)
    options.add_argument("--trace", required=True)
    options.add_argument("--gestures", type=int, default=3000)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--growth", type=float, default=8, help="MiB")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        work(chosen, folder)


if __name__ == "__main__":
    main()
