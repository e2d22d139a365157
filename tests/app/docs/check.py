#!/usr/bin/env python3
"""check.py ROOT LANESCOPE VIEWER: checks that the documentation is correct.

The page of commands must equal the --help output, options that pages name must exist, links must lead somewhere, and commands over recorded traces must print
what pages show."""
import difflib
import os
import pathlib
import re
import subprocess
import shlex
import sys
import tempfile

os.environ["LC_ALL"] = "C.UTF-8"  # pages show English output, unless they say otherwise
root, lanescope, viewer = (pathlib.Path(argument).resolve() for argument in sys.argv[1:4])
pages = [root / name for name in ("README.md", "README.zh.md", "HACKING.md", "CHANGELOG.md")] + sorted((root / "docs").rglob("*.md"))
# Options of other programs and of packaging/ that pages name, and options of nsys that are accepted or ignored and are not in the help.
OTHERS = {"--init", "--time", "--times", "--nnodes", "--nproc_per_node", "--ntasks-per-node", "--signal", "--viewer", "--aarch64", "--build", "--check", "--complete", "--update", "--cap-add", "--cflags", "--libs", "--component", "--ftrace", "--import", "--gpuctxsw", "--install", "--ib-switch-metrics-devices", "--enable", "--from", "--pause", "--precision", "--prefix", "--print-metric-instances", "--python_out", "--steps", "--syscall",
          "--trace-fork-before-exec", "--workers"}
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z0-9_-]*[a-z0-9]")
wrong = []


def printed(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def anchors(page):
    """The anchors that GitHub gives to headings."""
    headings = re.findall(r"^#+ (.*)$", re.sub(r"```.*?```", "", page.read_text(), flags=re.S), flags=re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def bare(text):
    """The text without the differences between versions of the library that formats the help."""
    return re.sub(r"\s+", "", text).lower()


helped = printed(root / "docs/command-line.sh", lanescope)
page = (root / "docs/command-line.md").read_text()
if bare(page) != bare(helped):
    wrong += ["docs/command-line.md is not what --help says; make it with docs/command-line.sh:",
              *difflib.unified_diff(page.splitlines(), helped.splitlines(), "page", "help", lineterm="", n=0)]

def own_words(page):
    """The text of a page. For a page that translates the words of other tools, only our side."""
    text = page.read_text()
    return "\n".join(line.split("|")[-2] if line.startswith("|") else line for line in text.splitlines()) if page.name == "coming-from.md" else text


known = set(OPTION.findall(helped)) | OTHERS
if viewer.exists():
    known |= set(OPTION.findall(printed(viewer, "--help")))
    for path in pages:
        if path.parent.name != "adr" and path.name != "measurements.md":  # these pages mention other tools and past versions
            unknown = sorted(set(OPTION.findall(own_words(path))) - known)
            wrong += [f"{path.relative_to(root)} names {option}, which no command has" for option in unknown]

for path in pages:
    text = re.sub(r"```.*?```", "", path.read_text(), flags=re.S)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if "://" in target:
            continue
        file, _, anchor = target.partition("#")
        place = (path.parent / file).resolve() if file else path
        if not place.exists() or (anchor and anchor not in anchors(place)):
            wrong.append(f"{path.relative_to(root)} links to {target}, which is not there")


def outline(page):
    """What a page and its translation must have in common: levels of headings, rows of tables, items of lists, and code to run."""
    text = page.read_text()
    prose = re.sub(r"```.*?```", "", text, flags=re.S)
    return {"headings": re.findall(r"^#+(?= )", prose, flags=re.M), "rows of tables": [line.count("|") for line in prose.splitlines() if line.startswith("|")],
            "items of lists": len(re.findall(r"^- ", prose, flags=re.M)), "examples in Python": re.findall(r"```python\n(.*?)```", text, flags=re.S)}


for translation in sorted((root / "docs/zh").glob("*.md")):
    page = root / "docs" / translation.name
    if not page.exists():
        wrong.append(f"docs/zh/{translation.name} is the translation of no page")
        continue
    ours, theirs = outline(page), outline(translation)
    wrong += [f"docs/zh/{page.name} has other {part} than docs/{page.name}" for part in ours if ours[part] != theirs[part]]
    if f"](zh/{page.name})" not in page.read_text() or f"](../{page.name})" not in translation.read_text():
        wrong.append(f"docs/{page.name} and docs/zh/{page.name} do not name each other")


def examples(text):
    """Each command after a $, with the lines between it and the next one."""
    for block in re.findall(r"```\n(.*?)```", text, flags=re.S):
        for example in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, *lines = example.splitlines()
            yield command.partition("   #")[0].strip(), lines


def shows(shown, said):
    """Whether a line is as the page shows it. The page may leave out blanks, and put three dots for parts of the line."""
    places = [re.escape(part) for part in re.sub(r"\s+|--+", "", shown).split("...")]
    return re.fullmatch(".*".join(places), re.sub(r"\s+|--+", "", said)) is not None


def missing(lines, said):
    """The first line that is not printed at its place in the page. A line of three dots stands for any number of lines."""
    said = [line for line in said if line.strip()]
    anywhere = False
    for shown in filter(str.strip, lines):
        if shown.strip() == "...":
            anywhere = True
            continue
        while anywhere and said and not shows(shown, said[0]):
            said.pop(0)
        if not said or not shows(shown, said.pop(0)):
            return shown
        anywhere = False
    return None


with tempfile.TemporaryDirectory() as folder:
    for trace in (root / "tests/data").glob("*.trace"):
        (pathlib.Path(folder) / trace.name).symlink_to(trace.resolve())
    (pathlib.Path(folder) / "run.trace").symlink_to((root / "tests/data/torch_training_workers0.trace").resolve())
    for page, least in (("docs/user-guide.md", 8), ("docs/zh/user-guide.md", 8), ("docs/kernels.md", 3), ("docs/zh/kernels.md", 3), ("README.zh.md", 1)):
        held = 0
        for command, lines in examples((root / page).read_text()):
            words = shlex.split(command)
            files = [word for word in words if word.endswith((".trace", ".sqlite")) and words[words.index(word) - 1] != "-o"]
            if words[:1] != ["lanescope"] or not files or not all((pathlib.Path(folder) / file).exists() for file in files):
                continue
            ran = subprocess.run([lanescope, *words[1:]], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            held += 1
            if (line := missing(lines, ran.stdout.splitlines())) is not None:
                wrong.append(f"{page}: `{command}` does not print: {line}")
        if held < least:
            wrong.append(f"{page} has only {held} commands over recorded traces")

if wrong:
    print("\n".join(wrong))
sys.exit(1 if wrong else 0)
