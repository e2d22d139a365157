#!/usr/bin/env python3
"""check_pages.py LANESCOPE DATA: compares pages of `lanescope report` with what is known otherwise: the places of boxes for a trace made by hand, and the
findings of `lanescope analyze` for recordings. Every page must be complete, load nothing from elsewhere, and escape names."""

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
    """Fails if tags are not closed in order."""

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
    """Left, right and name of each box, in px from the start of the time axis."""
    found = []
    for group in picture.iter("{http://www.w3.org/2000/svg}g"):
        box = group.find("{http://www.w3.org/2000/svg}rect")
        if box is None:
            continue
        left = float(box.get("x")) - NAMES_WIDTH
        found.append((left, left + float(box.get("width")), group.find("{http://www.w3.org/2000/svg}title").text))
    return found


def plot_of(text, name):
    """The boxes of a plot with their texts, without the background."""
    found = re.search(rf'<svg[^>]*class="{name}".*?</svg>', text, re.S)
    if found is None:
        return None
    rows = xml.fromstring(found[0]).iter("{http://www.w3.org/2000/svg}rect")
    return [(*(float(row.get(side)) for side in ("x", "y", "width", "height")), row[0].text) for row in rows if row.get("fill") != "#eef0f2"]


def check_plots(folder):
    """Boxes of a GPU that is busy for 0.4, idle for 0.2 and busy for 0.4 ms; and of as many iterations as the rule counts."""
    kernels = [(0, 400), (600, 400)]
    events = [{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": begin, "dur": length, "args": {"device": 0, "context": 1, "stream": 7}}
              for begin, length in kernels]
    file = folder / "plots.json"
    file.write_text(json.dumps({"traceEvents": events}))
    busy = plot_of(run("report", "-q", "-o", "-", file).stdout, "busy")
    assert abs(sum(width * height for _, _, width, height, _ in busy) / (WIDTH * 56) - 0.8) < 0.001, busy
    assert all(said.startswith("100.0 % busy") for *_, said in busy), busy
    idle = [NAMES_WIDTH + WIDTH * share for share in (0.4, 0.6)]
    assert all(x + width <= idle[0] + 0.1 or x >= idle[1] - 0.1 for x, _, width, _, _ in busy), busy
    # Of a collective of 1 ms, the first of two ranks waits for 0.6 ms while the second one computes.
    ranks = [(0, "ncclDevKernel_AllReduce", 0, 1000), (1, "k", 0, 600), (1, "ncclDevKernel_AllReduce", 600, 400)]
    events = [{"ph": "X", "cat": "kernel", "name": name, "pid": gpu, "tid": 7, "ts": begin, "dur": length, "args": {"device": gpu, "context": 1, "stream": 7}}
              for gpu, name, begin, length in ranks]
    file.write_text(json.dumps({"traceEvents": events}))
    text = run("report", "-q", "-o", "-", file).stdout
    waiting = [box for box in plot_of(text, "busy") if box[-1].startswith("100.0 % waiting for other ranks")]
    assert abs(sum(width * height for _, _, width, height, _ in waiting) / (WIDTH * 56) - 0.6) < 0.01, waiting
    assert "GPU 0: 40.0 % busy" in text and "60.0 % waiting for other ranks" in text, text
    for name in ("torch_training_workers0", "ranks_late0", "cause_lock"):
        text = run("report", "-q", "-o", "-", DATA / f"{name}.trace").stdout
        said = re.search(r'in the loop ".*?", (\d+) iterations', "".join(Page(text).text))
        steps = plot_of(text, "steps")
        assert steps and sum(int(said_of.split(" of ")[0].replace(",", "")) for *_, said_of in steps) == int(said[1]), (name, steps, said)
    # Ranges within an iteration and on another thread are no iterations; of 20, which take 1 ms each.
    events = [{"ph": "X", "cat": "user_annotation", "name": f"step {step}", "pid": 1, "tid": tid, "ts": 1500 * step + offset, "dur": length}
              for step in range(20) for tid, offset, length in ((1, 0, 1000), (1, 100, 300), (2, 50, 600))]
    for step in range(20):
        events += [{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 1500 * step + 20, "dur": 5,
                    "args": {"correlation": step + 1}},
                   {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1500 * step + 30, "dur": 400,
                    "args": {"device": 0, "context": 1, "stream": 7, "correlation": step + 1}}]
    file.write_text(json.dumps({"traceEvents": events}))
    text = run("report", "-q", "-o", "-", file).stdout
    assert [said for *_, said in plot_of(text, "steps")] == ["20 of 1.000 ms to 1.000 ms"], plot_of(text, "steps")
    # The executions of a module begin iterations, each of which lasts until the next one begins: 39 after the first, of which the last begins none.
    steps = plot_of(run("report", "-q", "-o", "-", DATA / "jax_training.trace").stdout, "steps")
    assert sum(int(said.split(" of ")[0]) for *_, said in steps) == 38, steps


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
    """Names that are in every box, and as long as a text may be, must not make a page too large for browsers."""
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
        text = "".join(page.text)
        printed = run("analyze", file).stdout
        overlap = re.search(r"Costs overlap .*", printed)
        assert ("Costs overlap" in text) == bool(overlap), file.name
        assert not overlap or len(titles) > 10 or overlap.group() in text, file.name
        if "holds no GPU work" in analysed.stderr + printed:
            assert "Nothing was found" not in text and "The trace holds no GPU work" in text, file.name
        assert not re.search(r"and 1 more rows", text), file.name


def check_idle_time(file, page):
    """The table must agree with the sentence above the findings about the loop."""
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
    """The picture on its own must equal the first one of the page."""
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
    check_plots(pathlib.Path(temporary))
    check_long_names(pathlib.Path(temporary))
    check_files(pathlib.Path(temporary))
check_timeline()
check_recordings()
