#!/usr/bin/env python3
"""viewer_page.py VIEWER FOLDER: writes the viewer's man page, made from its --help, into a tree with the layout of a prefix."""
import os
import pathlib
import re
import subprocess
import sys
import time


def printed(argument):
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "LC_ALL": "C.UTF-8"}
    return subprocess.run([sys.argv[1], argument], check=True, capture_output=True, text=True, env=environment).stdout


def roff(text):
    return re.sub(r"^([.'])", r"\\&\1", text.replace("\\", "\\e").replace("-", "\\-"), flags=re.M)


summary, usage, body = printed("--help").strip("\n").split("\n\n")
options = []  # name and text; continuation lines are indented further
for line in body.split("\n"):
    entry = re.fullmatch(r"  (\S.*?) {2,}(.*)", line)
    if entry:
        options.append(list(entry.groups()))
    else:
        options[-1][1] += " " + line.strip()
date = time.strftime("%Y-%m-%d", time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", time.time()))))
name, about = summary.split(": ", 1)
lines = [f'.TH LANESCOPE\\-UI 1 "{date}" "{roff(printed("--version").strip())}" "Lanescope"', ".SH NAME", f"{roff(name)} \\- {roff(about.rstrip('.'))}",
         ".SH SYNOPSIS", ".nf", roff("\n".join(line.removeprefix("Usage:").strip() for line in usage.split("\n"))), ".fi", ".SH OPTIONS"]
for option, text in options:
    lines += [".TP", "\\fB" + roff(option) + "\\fR", roff(text)]
lines += [".SH SEE ALSO", ".BR lanescope (1)", ""]
page = pathlib.Path(sys.argv[2]) / "share/man/man1/lanescope-ui.1"
page.parent.mkdir(parents=True, exist_ok=True)
page.write_text("\n".join(lines))
