#!/usr/bin/env python3
"""coming_from.py ROOT LANESCOPE: checks that the commands of docs/coming-from.md are accepted as they are written.

Each command and option of its right column (or of its left one, if that says "the same") is run, with a recorded trace for run.trace and a program that does
nothing. None may be refused as unknown or wrong (exit code 2), or ignored with a warning. Commands that need a GPU may say that there is none."""
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

root, lanescope = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
# Placeholders of the page, and what they are replaced with.
MEANT = {"'SELECT ...'": "'SELECT count(*) FROM kernels'", "SECONDS": "1", "RANGE": "step", "DOMAIN@": "app@", "folder": ".", "python train.py": f"{sys.executable} train.py"}
OTHER_PROGRAMS = ("lanescope-ui", "lanescope fleet")  # the viewer, and a command that needs Python packages (tests of fleets run it)


def typed(section, left, right):
    """The commands of a row of the page, as words."""
    cells = re.findall(r"`([^`]+)`", right)
    if right.strip().startswith("the same"):
        cells += re.findall(r"`([^`]+)`", left)
    for text in cells:
        for there, here in MEANT.items():
            text = text.replace(there, here)
        if text.startswith(OTHER_PROGRAMS):
            continue
        if text.startswith("-") and section.startswith("ncu"):
            yield ["kernels", *shlex.split(text), "--", "./app"]
        elif text.startswith("-"):
            yield ["profile", *shlex.split(text), "-f", "-o", "x", "./app"]
        elif text.startswith("lanescope "):
            yield shlex.split(text)[1:]


def commands(page):
    section = ""
    for line in page.splitlines():
        if line.startswith("## "):
            section = line[3:]
        elif line.startswith("| ") and not line.startswith("| there"):
            left, right = line.strip().strip("|").split(" | ")[:2]
            yield from typed(section, left, right)


with tempfile.TemporaryDirectory() as folder:
    place = pathlib.Path(folder)
    shutil.copy(root / "tests/data/torch_training_workers0.trace", place / "run.trace")
    (place / "app").write_text("#!/bin/sh\n")
    (place / "app").chmod(0o755)
    (place / "train.py").write_text("pass\n")
    (place / "functions.json").write_text('[{"domain": "app", "color": "blue", "module": "json", "functions": ["dumps"]}]')
    wrong, ran = [], 0
    for words in commands((root / "docs/coming-from.md").read_text()):
        if words[0] == "kernels" and "./app" not in words:
            continue  # it runs the recorded program again, or reads ncu's output
        sleeper = subprocess.Popen(["sleep", "60"]) if "PID" in words else None
        words = [str(sleeper.pid) if word == "PID" else word for word in words]
        if sleeper:
            words += ["-d", "1"]
        if words[0] in ("profile", "launch", "attach") and "-f" not in words:
            words.insert(1, "-f")
        done = subprocess.run([lanescope, *words], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
        if sleeper:
            sleeper.kill()
            sleeper.wait()
        ran += 1
        said = done.stderr + done.stdout
        if done.returncode == 2 or "left out" in said or "Warning" in said:
            wrong.append(f"lanescope {shlex.join(words)} ends with {done.returncode}: {said.strip()[:300]}")

if ran < 50:
    wrong.append(f"the page has only {ran} commands and options")
print("\n".join(wrong) if wrong else f"{ran} commands and options are taken")
sys.exit(1 if wrong else 0)
