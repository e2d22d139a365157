#!/usr/bin/env python3
"""changelog.py ROOT: checks the structure of CHANGELOG.md: each heading once in a version, entries under each heading, and no entry twice.

Merges can leave an entry twice, the second one often with a further clause, and a second section of the same name."""
import pathlib
import sys

LETTERS = 60  # the number of equal first letters that makes two entries the same


def faults(text):
    """The faults, one sentence each, by line."""
    wrong, headings, entries = [], {}, {}
    version = kind = group = None
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("  "):
            continue
        if line.startswith("- "):
            if version is None or group is None:
                wrong.append(f"line {number}: an entry stands below no heading")
            begin = line[2:2 + LETTERS]
            if begin in entries:
                wrong.append(f"line {number} begins as line {entries[begin]}: {begin}")
            entries.setdefault(begin, number)
            continue
        if line.startswith("# ") or version is None and not line.startswith("#"):
            continue  # the title, and the text about the page
        if line.startswith("## "):
            version, kind, group = line, None, None
        elif line.startswith("### "):
            kind, group = line, None
        else:
            group = line
        place = (version, kind, group)
        if place in headings:
            wrong.append(f"line {number}: the heading {line} stands in line {headings[place]} already")
        headings.setdefault(place, number)
    return wrong


WHOLE = "# Changelog\n\nAll changes.\n\n## 2\n\n### Added\n\nViewer\n- One.\n  Two of one.\n- Two.\n\nProject\n- Three.\n\n### Fixed\n\nViewer\n- Four.\n\n## 1\n\n### Added\n\nViewer\n- Five.\n"
assert faults(WHOLE) == []
assert len(faults(WHOLE.replace("Project", "Viewer"))) == 1  # a second section with the same name
assert len(faults(WHOLE.replace("Fixed", "Added"))) == 2  # and another Viewer in it
assert len(faults(WHOLE.replace("Two.\n", f"{'x' * LETTERS} a.\n").replace("Five.", f"{'x' * LETTERS} b."))) == 1
assert len(faults(WHOLE.replace("### Added\n\nViewer\n- One.", "### Added\n\n- One."))) == 2  # One and Two

wrong = faults((pathlib.Path(sys.argv[1]) / "CHANGELOG.md").read_text())
if wrong:
    print("CHANGELOG.md:", *wrong, sep="\n")
sys.exit(1 if wrong else 0)
