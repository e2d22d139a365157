#!/usr/bin/env python3
"""check_language.py ROOT LANESCOPE: checks that findings are in the language of the option or the locale, and that output for programs is always English."""
import os
import pathlib
import re
import subprocess
import sys

root, lanescope = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
trace = root / "tests/data/torch_training_workers0.trace"
wrong = []


def run(*arguments, **locale):
    environment = {name: value for name, value in os.environ.items() if name not in ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG")} | locale
    return subprocess.run([lanescope, "analyze", *arguments, trace], capture_output=True, env=environment)


def expect(what, truth):
    if not truth:
        wrong.append(what)


english = run(LANG="C.UTF-8").stdout.decode()
chinese = run("--language", "zh_CN", LANG="C.UTF-8").stdout.decode()
expect("English findings are English", "Costs:" in english and not re.search("[\u4e00-\u9fff]", english))
expect("Chinese findings have a line for each English one", english.count("\n") == chinese.count("\n"))
for line in list(filter(str.strip, chinese.splitlines()))[:6]:  # the most costly findings
    expect(f"a line is not Chinese: {line}", re.search("[\u4e00-\u9fff]", line))
    # Without quoted names, code and numbers, the line must not contain an English sentence: no three lower-case words in a row.
    bare = re.sub(r"“[^”]*”|（[^）]*）|\([^)]*\)|[\w.]+\.py:\d+", "", line)
    expect(f"a line has English in it: {line}", not re.search(r"\b[a-z]+ [a-z]+ [a-z]+\b", bare))
numbers = re.compile(r"\d+(?:\.\d+)? (?:(?:ns|µs|ms|s)\b|%)")
expect("both say the same numbers", sorted(numbers.findall(english)) == sorted(numbers.findall(chinese)))

expect("the locale is followed", run(LANG="zh_CN.UTF-8").stdout.decode() == chinese)
expect("the option goes before the locale", run("--language=en", LANG="zh_CN.UTF-8").stdout.decode() == english)
expect("another locale is English", run(LANG="zh_TW.UTF-8").stdout.decode() == english)
for form in ("json", "csv"):
    plain = run("-f", form, "-o", "-", LANG="C.UTF-8")
    expect(f"{form} is written", plain.returncode == 0 and plain.stdout)
    expect(f"{form} is English always", run("-f", form, "-o", "-", "--language", "zh_CN", LANG="zh_CN.UTF-8").stdout == plain.stdout)
unknown = run("--language", "xx", LANG="C.UTF-8")
expect("an unknown language is named", unknown.returncode == 2 and unknown.stderr.decode().count("\n") == 1 and "xx" in unknown.stderr.decode())

print("\n".join(wrong), end="\n" if wrong else "")
sys.exit(1 if wrong else 0)
