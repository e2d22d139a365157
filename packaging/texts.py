#!/usr/bin/env python3
"""texts.py --check [--complete] | --update: checks or updates the texts that people read, and their translations (model/text/translations/*.po).

--check   names translations that differ from their text in what must be equal: placeholders ({name}, %1), tags, mnemonics, blanks at the ends. It fails
          if there are any, as the test *translations* does. It also lists texts without a translation, and translations whose text no longer exists. With
          --complete it fails for these, too (packaging/nightly.sh, releases): a text without a translation is shown in English.
--update  updates the translations to match the sources: new texts are added without a translation, and texts that are gone are dropped.

A text is its own key. Texts are found by the marks in the sources (MARKS), and in whole files that are tables of words (WORDS)."""
import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TRANSLATIONS = sorted((ROOT / "model/text/translations").glob("*.po"))
SOURCES = ["app/gui", "timeline", "model/analysis", "model/kernels", "model/stats", "model/text", "model/samples", "model/events/event_values.cpp", "model/query/ready_queries.cpp", "app/cli/output/findings_text.cpp", "app/cli/output/path_output.cpp", "app/cli/doctor"]
LITERAL = r'"(?:[^"\\\n]|\\.)*"'
TEXT = rf"((?:{LITERAL}\s*)+)(?!\s*\+)"
CHOICE = r"(?:[^\";{}]*\?\s*)?"  # before two texts, one of which a condition chooses
# What precedes a text.
MARKS = [
    r"\btr\(\s*", rf"\bMessage\(\s*{CHOICE}", r"\bto_translate\(\s*", r"QT_TRANSLATE_NOOP\(\"[^\"]*\",\s*",
    rf"\b(?:integers|identifiers|reals|texts|words|written_numbers)\(\s*{CHOICE}",
    rf"\bproperties\.(?:push_back\(\s*\{{|emplace_back\()\s*{CHOICE}", rf"\bproperties\.(?:push_back\(\s*\{{|emplace_back\()\s*{LITERAL},\s*",
    rf"\badd\(properties, \s*{CHOICE}", rf"\badd\(properties, \s*{LITERAL},\s*{CHOICE}", r"\bProperty> properties\{\{\s*",
    r"\badd\((?:menu|themes|record|analyze|help), ", r"\bcommand\(\s*Menu::\w+,\s*", r"\badd_row\([^;\"]*(?:\"[^\"]*\"[^;\",]*)?, ",
    rf"\.tables\.push_back\(\s*\{{{LITERAL}, ", r"\bchange\(\s*", r"\bsay\(\s*", r"\bOperation\{", rf"\bOperation\{{{LITERAL},\s*", r"(?:^|\s)add\(\s*(?=\"[A-Z])",
    rf"\banswer\({LITERAL}, ", rf"\bapply\(context, arguments, Kind::\w+, {LITERAL}, ", rf"\bStallReason\{{{LITERAL}, ", rf"\badd\((?=\"GPU \{{)",
    rf"\badd\((?=\"[a-z]+ \{{number)",
]
SECOND = rf"(?:\s*:\s*(?:Message\(|to_translate\()?{TEXT})?"
LISTED = re.compile(rf"\btitle : \{{((?:{LITERAL},?\s*)+)\}}")
SENTENCE = re.compile(r"[A-Z][^{}]* [^{}]* [^{}]*\.")  # a text wherever it is
COUNTED = re.compile(r'\b(?:format_)?counted\([^;"]*"([a-zA-Z ]+)"\)')
# In these files every literal with a blank between words, or with a capital letter at its start, is a text.
WORDS = ["model/analysis/own_rules.cpp", "model/analysis/nsight/nsight_rules.cpp", "model/analysis/idle/idle_words.cpp", "model/kernels/instructions/stall_reasons.cpp",
         "model/kernels/counters/memory_traffic.cpp", "model/kernels/counters/section_rows.h", "model/kernels/counters/sections.cpp", "model/kernels/matrix_product.cpp", "model/analysis/diff/counter_diff.cpp", "model/stats/report.cpp",
         "model/events/event_column.cpp", "model/events/pivot_column.cpp"]
FUNCTIONS = {"model/kernels/counters/verdict.cpp": ["bound_name", "cause_name"], "model/kernels/occupancy.cpp": ["limiter_name"],
             "model/trace/completeness.cpp": ["completeness_text"], "model/analysis/diff/trace_diff.cpp": ["diff_kind_name", "diff_verdict_name"], "collector/agent/cupti/records/records.cpp": ["overhead_name"], "model/trace/trace.cpp": ["memory_kind_name", "synchronization_name", "thread_state_name"]}
# Literals that are no texts: without words and placeholders; names of functions, sections and calls.
SAME = re.compile(r"^(?:[^A-Za-z{%]*|\d+ %|.*::.*|[A-Z]+[a-z]+[A-Z_]\w*|MPI_Init|Comm_dup|Malloc|Free|Library|Link|Compil|GPU )$")
NO_TEXTS = {"app/gui/base/state/settings.cpp", "app/gui/options.cpp"}


for path in [*SOURCES, *WORDS, *FUNCTIONS, *NO_TEXTS]:
    if not (ROOT / path).exists():
        sys.exit(f"texts.py: {path}, which it names, does not exist")


def unquoted(literals):
    text = "".join(literal[1:-1] for literal in re.findall(LITERAL, literals))
    return re.sub(r"\\(.)", lambda found: {"n": "\n", "t": "\t"}.get(found[1], found[1]), text)


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t") + '"'


def without_comments(text):
    return re.sub(rf"({LITERAL})|//[^\n]*|^#include[^\n]*", lambda found: found[1] or "", text, flags=re.M)


def is_text(text):
    return not SAME.match(text)


def body_of(text, function):
    start = text.find(f" {function}(")
    return text[start:text.find("\n}", start)] if start >= 0 else ""


def source_texts():
    """Each text, with the first file that contains it."""
    found = {}
    files = sorted(file for source in SOURCES for file in ([ROOT / source] if (ROOT / source).is_file() else (ROOT / source).rglob("*"))
                   if file.suffix in (".cpp", ".h"))
    for file in files:
        name, text = str(file.relative_to(ROOT)), without_comments(file.read_text())
        if name in NO_TEXTS:
            continue
        for mark in MARKS:
            for match in re.finditer(mark + TEXT + SECOND, text, flags=re.M):
                for literals in match.groups():
                    if literals:
                        found.setdefault(unquoted(literals), name)
        for titles in LISTED.findall(text):
            for literal in re.findall(LITERAL, titles):
                found.setdefault(unquoted(literal), name)
        for literals in re.findall(TEXT, text):
            if SENTENCE.fullmatch(unquoted(literals)):
                found.setdefault(unquoted(literals), name)
        for noun in COUNTED.findall(text):
            for form in (noun, noun + "s"):
                found.setdefault("{number} " + form, name)
    for name in WORDS:
        for literals in re.findall(TEXT, without_comments((ROOT / name).read_text())):
            text = unquoted(literals)
            if text == text.strip() and (" " in text or text[:1].isupper()) and not re.match(r"There is no|Report$|\.", text):
                found.setdefault(text, name)
    for name, functions in FUNCTIONS.items():
        text = without_comments((ROOT / name).read_text())
        for function in functions:
            for literals in re.findall(TEXT, body_of(text, function)):
                if function != "cause_name" or " " in unquoted(literals):
                    found.setdefault(unquoted(literals), name)
    return {text: name for text, name in found.items() if is_text(text)}


def entries(path):
    """The head of the file, and its pairs of a text and its translation."""
    head, _, body = path.read_text().partition("\n\n")
    pairs = []
    for entry in filter(str.strip, body.split("\n\n")):
        english, translated = (unquoted("".join(re.findall(LITERAL, part))) for part in re.split(r"^msgstr ", entry, flags=re.M)[:2])
        pairs.append((english, translated))
    return head, pairs


def read(path):
    """The head of the file, and the translation of each text."""
    head, pairs = entries(path)
    return head, dict(pairs)


def write(path, head, texts, sources):
    by_place = sorted(texts, key=lambda text: (sources[text], text))
    entries = [f"#: {sources[text]}\nmsgid {quoted(text)}\nmsgstr {quoted(texts[text])}\n" for text in by_place]
    path.write_text("\n".join([head + "\n", *entries]))


def parts(text):
    """The parts of a text that its translation must have, too."""
    return sorted(re.findall(r"\{[a-z_]*\}|%\d|%n|<[^<>]+>", text)), bool(re.search(r"&\w", text.replace("&nbsp;", ""))), text[:1] == "\n"


def fits(text, translated):
    return parts(text) == parts(translated) and (text[-1:] != " " or translated[-1:] == " ")


def misfits(path):
    _, texts = read(path)
    wrong = [f"has other places, tags or mnemonics, or no blank at the end: {text!r}" for text, other in texts.items() if other and not fits(text, other)]
    return [f"{path.relative_to(ROOT)} {line}" for line in wrong]


def out_of_step(path, sources):
    _, texts = read(path)
    lines = [f"has no translation of {sources[text]}: {text!r}" for text in sources if not texts.get(text)]
    lines += [f"translates what no source has: {text!r}" for text in texts if text not in sources]
    counts = collections.Counter(text for text, _ in entries(path)[1])
    lines += [f"translates {count} times: {text!r}" for text, count in counts.items() if count > 1]
    return [f"{path.relative_to(ROOT)} {line}" for line in lines]


sources = source_texts()
if sys.argv[1:] == ["--update"]:
    for path in TRANSLATIONS:
        head, texts = read(path)
        write(path, head, {text: texts.get(text, "") for text in sources}, sources)
elif sys.argv[1:] in (["--check"], ["--check", "--complete"]):
    wrong = [line for path in TRANSLATIONS for line in misfits(path)]
    missing = [line for path in TRANSLATIONS for line in out_of_step(path, sources)]
    for line in wrong + missing + (["Bring them in step: packaging/texts.py --update, then translate what is empty."] if missing else []):
        print(line)
    sys.exit(1 if wrong or (missing and "--complete" in sys.argv) else 0)
else:
    sys.exit(__doc__)
