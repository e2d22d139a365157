#!/usr/bin/env python3
"""changelog.py ROOT: whether CHANGELOG.md has its shape: below a version each heading once, below a heading entries, and no entry twice.

Changes that are merged leave the same entry twice, the second often with a clause more, and a second section of the same name."""
import pathlib
import sys

LETTERS = 60  # by which two entries are the same


def faults(text):
    """What is wrong, a sentence each, by line."""
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
            continue  # the title, and what is said of the page
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
assert len(faults(WHOLE.replace("Project", "Viewer"))) == 1  # a second section of the name
assert len(faults(WHOLE.replace("Fixed", "Added"))) == 2  # with another Viewer in it
assert len(faults(WHOLE.replace("Two.\n", f"{'x' * LETTERS} a.\n").replace("Five.", f"{'x' * LETTERS} b."))) == 1
assert len(faults(WHOLE.replace("### Added\n\nViewer\n- One.", "### Added\n\n- One."))) == 2  # One and Two

wrong = faults((pathlib.Path(sys.argv[1]) / "CHANGELOG.md").read_text())
if wrong:
    print("CHANGELOG.md:", *wrong, sep="\n")
sys.exit(1 if wrong else 0)
