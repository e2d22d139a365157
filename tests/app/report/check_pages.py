#!/usr/bin/env python3
"""check_pages.py LANESCOPE DATA: holds `lanescope report` to what is known another way: of a trace made by hand where its boxes are, of
recordings what `lanescope analyze` finds; every page is whole, needs nothing from elsewhere, and takes no name for markup."""

import html.parser
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

PROGRAM, DATA = sys.argv[1], pathlib.Path(sys.argv[2])
VOID = {"meta"}
NAMES_WIDTH, WIDTH = 200, 760  # px of a picture


class Page(html.parser.HTMLParser):
    """Fails where tags are not closed in order."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.headings, self.text = [], set(), [], []
        self.rows = []  # of tables
        self.links = []
        self.feed(text)
        self.close()
        assert not self.open, f"not closed: {self.open}"

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.links += [value for name, value in attributes if name in ("src", "href", "xlink:href")]
        if tag not in VOID:
            self.open.append(tag)
        if tag == "h3":
            self.headings.append("")
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_startendtag(self, tag, attributes):
        self.tags.add(tag)
        self.links += [value for name, value in attributes if name in ("src", "href", "xlink:href")]

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> within {self.open}"
        self.open.pop()

    def handle_data(self, data):
        self.text.append(data)
        if "h3" in self.open:
            self.headings[-1] += data
        if self.open and self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data


def run(*arguments):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, check=False)


def page_of(file):
    done = run("report", "-q", "-o", "-", file)
    assert done.returncode == 0, done.stderr
    page = Page(done.stdout)
    assert "script" not in page.tags and not page.links, (page.tags, page.links)
    pictures = [xml.fromstring(each) for each in re.findall(r"<svg.*?</svg>", done.stdout, re.S)]
    return page, pictures


def boxes(picture):
    """Left, right and name of each box, px from where time begins."""
    found = []
    for group in picture.iter("{http://www.w3.org/2000/svg}g"):
        box = group.find("{http://www.w3.org/2000/svg}rect")
        if box is None:
            continue
        left = float(box.get("x")) - NAMES_WIDTH
        found.append((left, left + float(box.get("width")), group.find("{http://www.w3.org/2000/svg}title").text))
    return found


def check_made_by_hand(folder):
    name = '<script>alert("1")</script>&amp;'
    kernels = [(0, 400), (600, 400)]  # us
    events = [{"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": begin, "dur": length,
               "args": {"device": 0, "context": 1, "stream": 7}} for begin, length in kernels]
    file = folder / "by 'hand'.json"
    file.write_text(json.dumps({"traceEvents": events}))
    page, pictures = page_of(file)
    assert name in "".join(page.text)
    kernel_boxes = [box for box in boxes(pictures[0]) if "alert" in box[2]]
    assert len(kernel_boxes) == len(kernels), kernel_boxes
    for (begin, length), (left, right, title) in zip(kernels, kernel_boxes):
        assert abs(left - begin / 1000 * WIDTH) <= 1 and abs(right - (begin + length) / 1000 * WIDTH) <= 1.5, (left, right)
        assert title.endswith(", 400.000 µs"), title


def check_long_names(folder):
    """Names that are repeated in every box, and as long as a text may be, do not make a page that no browser opens."""
    name = "<" * 4000
    events = [{"ph": "X", "cat": "user_annotation", "name": f"{name} {i}", "pid": 1, "tid": tid, "ts": 20 * i, "dur": 15}
              for tid in range(8) for i in range(60)]
    file = folder / "long.json"
    file.write_text(json.dumps({"traceEvents": events}))
    done = run("report", "-q", "-o", "-", file)
    assert done.returncode == 0, done.stderr
    Page(done.stdout)
    assert len(done.stdout) < 2_000_000, len(done.stdout)


def check_recordings():
    for file in sorted(DATA.glob("*.trace")):
        page, pictures = page_of(file)
        analysed = run("analyze", "-f", "json", file)
        assert analysed.returncode == 0, analysed.stderr
        titles = [finding["Finding"] for finding in json.loads(analysed.stdout or "[]")]
        shown = [re.sub(r"^\d+\. ", "", heading) for heading in page.headings]
        assert shown == titles[:10], (file.name, shown, titles)
        assert pictures, file.name
        check_idle_time(file, page)


def check_idle_time(file, page):
    """What the table says of the loop is what the sentence above the findings says."""
    text = "".join(page.text)
    said = re.search(r"idle for ([\d.]+) (s|ms|µs|ns) of", text)
    if said is None or "When" not in text:
        return
    scale = {"s": 1000, "ms": 1, "µs": 1e-3, "ns": 1e-6}[said[2]]
    rows = [row for row in page.rows if len(row) >= 6 and row[0].isdigit() and row[5] in ("loop", "once", "")]
    assert rows, file.name
    counters_are_read = "went into reading the counters" in text
    left_out = {"Gaps below the threshold"} | ({"Profiler overhead"} if counters_are_read else set())
    idle = sum(float(row[2].replace(",", "")) for row in rows if row[5] != "once" and row[4] not in left_out)
    assert abs(idle - float(said[1]) * scale) <= 0.006 * idle, (file.name, idle, said[0])


def check_timeline():
    """The picture alone is the first one of the page."""
    for file in sorted(DATA.glob("*.trace"))[:4]:
        alone = run("report", "--timeline", "-o", "-", file)
        assert alone.returncode == 0, alone.stderr
        page = run("report", "-q", "-o", "-", file).stdout
        assert alone.stdout == re.search(r"<svg.*?</svg>", page, re.S)[0], file.name


def check_files(folder):
    source = next(iter(sorted(DATA.glob("*.trace"))))
    target = folder / "page.html"
    assert run("report", "-o", target, source).returncode == 0
    before = target.read_bytes()
    refused = run("report", "-o", target, source)
    assert refused.returncode != 0 and "exists" in refused.stderr and target.read_bytes() == before, refused.stderr
    assert run("report", "-f", "--findings=0", "--rows=1", "-o", target, source).returncode == 0
    assert len(target.read_bytes()) < len(before)
    assert run("report", folder / "none.trace").returncode == 1
    assert run("report").returncode == 2


with tempfile.TemporaryDirectory() as temporary:
    check_made_by_hand(pathlib.Path(temporary))
    check_long_names(pathlib.Path(temporary))
    check_files(pathlib.Path(temporary))
check_timeline()
check_recordings()
