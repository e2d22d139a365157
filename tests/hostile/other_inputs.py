#!/usr/bin/env python3
"""Writes hostile files that are no traces, each with far too much of one thing: answers of lanescope fleet, notes beside a trace, lists of Python functions.

other_inputs.py FOLDER BYTES [NAME...]: BYTES is the approximate maximum size of each file. Notes are written beside a trace of one event (NAME.trace.notes).
"""
import itertools
import json

from wanted_files import write_wanted


def filled(head, part, tail):
    """`head`, part(0), part(1), ... separated by commas until the file is full, `tail`."""

    def write(path, most):
        with open(path, "w") as out:
            size = out.write(head) + len(tail)
            for number in itertools.count():
                text = ("," if number else "") + part(number)
                if size + len(text) > most:
                    break
                out.write(text)
                size += len(text.encode())
            out.write(tail)

    return write


HEAD = '{"format":"lanescope fleet","version":1,"recipe":"straggler","sentences":["s"],'
SOURCES = '"sources":[{"file":"a.trace","begin":[0],"end":[9],"shift":[0]}],'
MAP = '{"title":"t","unit":"ms","columns":["c"],"rows":[{"label":"r","source":0,"values":[1]}]}'


def twice(head, part, middle, other, tail):
    """Two lists with the same number of entries."""

    def write(path, most):
        count = (most - len(head) - len(middle) - len(tail)) // (len(part) + len(other) + 2)
        with open(path, "w") as out:
            out.write(head + ",".join([part] * count) + middle + ",".join([other] * count) + tail)

    return write


def cells(path, most):
    count = (most - 400) // (3 * 8)
    numbers = ",".join(str(i % 1_000_000) for i in range(count))
    with open(path, "w") as out:
        out.write(HEAD + f'"sources":[{{"file":"a.trace","begin":[{numbers}],"end":[{numbers}],"shift":[{numbers}]}}],"maps":[{MAP}]}}')


FLEETS = {
    "rows": filled(HEAD + SOURCES + '"maps":[{"title":"t","unit":"ms","columns":["c"],"rows":[', lambda n: '{"label":"r%d","source":0,"values":[%d]}' % (n, n % 9), "]}]}"),
    "columns": twice(HEAD + SOURCES + '"maps":[{"title":"t","unit":"ms","columns":[', '"c"', '],"rows":[{"label":"r","source":0,"values":[', "1", "]}]}]}"),
    "maps": filled(HEAD + SOURCES + '"maps":[', lambda n: MAP, "]}"),
    "sources": filled(HEAD + f'"maps":[{MAP}],"sources":[', lambda n: '{"file":"%d","begin":[0],"end":[9],"shift":[0]}' % n, "]}"),
    "cells": cells,
    "sentences": filled(HEAD[:-len('"s"],')], lambda n: '"s%d"' % n, "]," + SOURCES + f'"maps":[{MAP}]}}'),
    "long_texts": lambda path, most: open(path, "w").write(HEAD + SOURCES + '"maps":[' + MAP.replace('"t"', '"' + "t" * (most // 2) + '"').replace('"r"', '"' + "r" * (most // 2 - 500) + '"') + "]}"),
    "keys": filled(HEAD + SOURCES + f'"maps":[{MAP}],', lambda n: '"k%d":0' % (n * 7919 % 1_000_003), "}"),
    "nested": lambda path, most: open(path, "w").write(HEAD + '"maps":' + "[" * (most - 200)),
    "far_values": filled(HEAD + SOURCES + '"maps":[{"title":"t","unit":"ms","columns":["c"],"rows":[', lambda n: '{"label":"r","source":0,"values":[%s]}' % ("1e308", "-1e308", "null", "1e-300")[n % 4], "]}]}"),
}

MOST_NOTES = 4 << 20  # larger files of notes are not read


def notes(line):
    def write(path, most):
        with open(path[: -len(".notes")], "w") as trace:
            trace.write('[{"ph":"X","ts":1,"dur":1000,"pid":1,"tid":1,"name":"f"}]')
        with open(path, "w") as out:
            size = 0
            for number in itertools.count():
                text = line(number)
                if size + len(text.encode()) > min(most, MOST_NOTES):
                    break
                out.write(text)
                size += len(text.encode())

    return write


NOTES = {
    "notes_of_one_time": notes(lambda n: "0 x\n"),
    "notes_of_their_own": notes(lambda n: f"{n % 1000}.{n:09} note {n}\n"),
    "long_notes": notes(lambda n: f"0.0000005 {'w ' * 2040}\n"),
    "notes_of_line_breaks": notes(lambda n: "0.0000005 " + "\\n" * 2040 + "\n"),
    "lines_that_are_no_notes": notes(lambda n: "#\n"),
    "controls": notes(lambda n: "0.0000005 " + "\x01\x1b[2J\u202e" * 500 + "\n"),
}

FUNCTIONS = {
    "nested": lambda path, most: open(path, "w").write("[" * min(most, MOST_NOTES)),
    "modules": filled("[", lambda n: '{"module":"m%d","functions":["f"]}' % n, "]"),
    "functions": filled('[{"module":"os","functions":[', lambda n: '"f%d"' % n, "]}]"),
    "same_functions": filled('[{"module":"os","functions":[', lambda n: '"getpid"', "]}]"),
    "ways": lambda path, most: open(path, "w").write('[{"module":"os","functions":["' + "path." * ((min(most, MOST_NOTES) - 60) // 5) + 'x"]}]'),
    "long_module": lambda path, most: open(path, "w").write('[{"module":"' + "m." * ((min(most, MOST_NOTES) - 60) // 2) + 'x","functions":["f"]}]'),
}


def kinds():
    for name, write in FLEETS.items():
        yield name + ".fleet.json", write
    for name, write in NOTES.items():
        yield name + ".json.notes", write
    for name, write in FUNCTIONS.items():
        yield name + ".functions.json", lambda path, most, write=write: write(path, min(most, MOST_NOTES))
    yield "words.command", lambda path, most: open(path, "w").write("--show-output=true " * (most // 19))
    yield "one_word.command", lambda path, most: open(path, "w").write("x" * most)


if __name__ == "__main__":
    write_wanted(kinds(), __doc__)
