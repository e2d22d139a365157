#!/usr/bin/env python3
"""known_sentences.py: checks that the sentences of recorders and agents that the viewer translates (app/gui/base/text/diagnostic_text.cpp) are still printed:
each piece of each sentence, between its placeholders, must be in a literal of collector/ or of other code that writes diagnostics. A sentence that is changed
there would be shown in English from then on, and nothing else would report it."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
LITERAL = r'"((?:[^"\\\n]|\\.)*)"'
COMMENT = re.compile(r'//[^\n]*|"(?:[^"\\\n]|\\.)*"')


def literals(text):
    """The string literals of a source. Adjacent literals are joined, and comments are ignored."""
    text = COMMENT.sub(lambda found: "" if found[0].startswith("//") else found[0], text)
    return ["".join(re.findall(LITERAL, run[0])).replace('\\"', '"') for run in re.finditer(rf"(?:{LITERAL}\s*)+", text)]


def main():
    known = [each for each in literals((ROOT / "app/gui/base/text/diagnostic_text.cpp").read_text()) if " " in each]
    sources = [path for folder in ("collector", "model/trace", "model/include/model/trace", "app/cli") for path in sorted((ROOT / folder).rglob("*")) if path.suffix in (".cpp", ".h")]
    said = "\0".join(literal for path in sources for literal in literals(path.read_text()))
    missing = [(piece, sentence) for sentence in known for piece in re.split(r"\{\w+\}|%[sdlu]+", sentence) if len(piece.strip(" .():;,")) > 2 and piece.strip(" .") not in said]
    for piece, sentence in missing:
        print(f"nobody says {piece!r} of: {sentence}")
    print(f"{len(known)} sentences, {len(missing)} pieces that nobody says")
    return 1 if missing or len(known) < 90 else 0


if __name__ == "__main__":
    sys.exit(main())
