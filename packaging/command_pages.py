#!/usr/bin/env python3
"""command_pages.py LANESCOPE FOLDER: writes completions for bash, zsh and fish and man pages into a tree with the layout of a prefix.

They are made from the --help of each command, which comes from the command's own description of its options; so they contain exactly these options."""
import os
import pathlib
import re
import subprocess
import sys
import time

program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
# The options of these commands are followed by a program with its own arguments.
RUNS_PROGRAM = {"profile", "launch"}
READS_TRACES = {"info", "stats", "analyze", "diff", "export", "kernels"}


def printed(*arguments):
    return subprocess.run([program, *arguments], check=True, capture_output=True, text=True).stdout


class Option:
    def __init__(self, names, value, text):
        self.names, self.value, self.text = names, value, text

    @property
    def first_sentence(self):
        return re.split(r"[;:.]( |$)", self.text)[0].strip().replace("\n", " ")


class Page:
    """The help of one command: a paragraph, usage, groups of options, and what follows."""

    def __init__(self, name, summary):
        self.name, self.summary = name, summary
        self.groups, self.rest, self.about, self.usage = [], [], "", ""
        self._read(printed(name, "--help"))

    def _read(self, text):
        blocks = re.split(r"\n\n+", text.strip("\n"))
        self.about = blocks[0].replace("\n", " ").strip()
        for block in blocks[1:]:
            title, _, body = block.partition("\n")
            if title.startswith("Usage:"):
                self.usage = title[len("Usage:"):].strip()
            elif re.match(r"^[A-Z][^\n]*:$", title) and re.match(r"  (-|[A-Z])", body) and title != "Examples:":
                self.groups.append((title[:-1], self._options(body)))
            else:
                self.rest.append(block)

    @staticmethod
    def _options(body):
        options, begun = [], []  # begun: options that are in one line and share the text
        for line in body.split("\n"):
            begin = re.match(r"^  (\S.*?)(?:  +(.*))?$", line) if re.match(r"^  \S", line) else None
            if begin:
                begun = [Option(names.split(","), value, begin[2] or "") for names, _, value in (part.partition(" ") for part in re.split(r", (?=-)", begin[1]))]
                options += begun
            else:
                for option in begun:
                    option.text = (option.text + " " + line.strip()).strip()
        for name in (name for option in options if option.names[0].startswith("-") for name in option.names):
            assert re.fullmatch(r"--?[a-zA-Z][\w-]*", name), name
        return options

    @property
    def options(self):
        return [option for _, group in self.groups for option in group if option.names[0].startswith("-")]


def commands():
    listed = re.search(r"^Commands:\n(.*?)\n\n", printed("--help"), flags=re.S | re.M)[1]
    return [Page(*re.match(r"  (\S+) +(.*)", line).groups()) for line in listed.split("\n")]


def names_in(*arguments):
    """The first words of a list that the program prints."""
    return [re.match(r"[\w-]+", line)[0] for line in printed(*arguments).splitlines() if re.match(r"[a-z]\w*", line)]


def bash(pages, reports, rules):
    lines = ["# Completions of lanescope for bash.", "_lanescope() {", "  local command=${COMP_WORDS[1]} word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} options values",
             "  # bash takes = for a word of its own.",
             "  if [ \"$word\" = = ]; then word=; elif [ \"$before\" = = ]; then before=${COMP_WORDS[COMP_CWORD-2]}; fi",
             "  COMPREPLY=()", "  if [ \"$COMP_CWORD\" = 1 ]; then",
             f"    COMPREPLY=($(compgen -W '{' '.join(page.name for page in pages)} --help --version' -- \"$word\"))", "    return", "  fi", "  case $command in"]
    for page in pages:
        takes = " ".join(name for option in page.options if option.value for name in option.names)
        every = " ".join(name for option in page.options for name in option.names)
        lines += [f"    {page.name}) options='{every}' values=' {takes} ' ;;"]
    lines += ["    *) return ;;", "  esac", "  if [[ $before = -* && $values = *\" $before \"* ]]; then", "    case $command:$before in",
              f"      stats:-r|stats:--report) COMPREPLY=($(compgen -W '{' '.join(reports)}' -- \"$word\")) ;;",
              f"      analyze:-r|analyze:--rule) COMPREPLY=($(compgen -W '{' '.join(rules)}' -- \"$word\")) ;;",
              "      *) compopt -o default ;;", "    esac", "    return", "  fi"]
    lines += [f"  if [[ $command = {'@(' + '|'.join(sorted(RUNS_PROGRAM)) + ')'} ]]; then", "    # The first word that is no option, nor the value of one, is the program: its own completion takes over.",
              "    local i=2", "    while [ $i -lt $COMP_CWORD ] && [[ ${COMP_WORDS[i]} = -* && ${COMP_WORDS[i]} != -- ]]; do",
              "      [[ $values = *\" ${COMP_WORDS[i]} \"* && ${COMP_WORDS[i+1]} != '=' ]] && i=$((i + 1))",
              "      [[ ${COMP_WORDS[i+1]} = '=' ]] && i=$((i + 2))", "      i=$((i + 1))", "    done",
              "    [[ ${COMP_WORDS[i]} = -- ]] && i=$((i + 1))",
              "    if [ $i -lt $COMP_CWORD ]; then declare -F _command_offset >/dev/null && _command_offset $i; return; fi",
              "    [[ $word = -* ]] || { COMPREPLY=($(compgen -c -- \"$word\")); return; }", "  fi",
              "  if [[ $word = -* ]]; then COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))",
              "  else compopt -o filenames",
              "    mapfile -t COMPREPLY < <({ compgen -d -- \"$word\"; compgen -f -X '!*.@(trace|sqlite|json|gz|csv)' -- \"$word\"; } | sort -u); fi", "}",
              "complete -F _lanescope lanescope", ""]
    return "\n".join(lines)


def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


def zsh(pages, reports, rules):
    lines = ["#compdef lanescope", "# Completions of lanescope for zsh.", "local state line", "typeset -A opt_args", "local -a commands", "commands=("]
    lines += [f"  {quoted(page.name + ':' + page.summary)}" for page in pages]
    lines += [")", "if (( CURRENT == 2 )); then", "  _describe command commands", "  return", "fi", "case $words[2] in"]
    for page in pages:
        lines.append(f"  {page.name})")
        lines.append("    shift words; (( CURRENT-- ))")
        lines.append("    _arguments -S \\")
        for option in page.options:
            told = re.sub(r"([\[\]:])", r"\\\1", option.first_sentence)
            values = {"-r": f":{option.value}:({' '.join(reports if page.name == 'stats' else rules)})"}.get(option.names[0] if page.name in ("stats", "analyze") else "")
            value = (values or f":{option.value.split()[0]}:_files") if option.value else ""
            for name in option.names:
                form = name + ("=" if option.value and name.startswith("--") else "")
                lines.append(f"      {quoted(f'*{form}[{told}]{value}')} \\")
        lines.append("      " + (quoted("*::program:_normal") if page.name in RUNS_PROGRAM else quoted('*:file:_files -g "*.(trace|sqlite|json|gz|csv)"')))
        lines.append("    ;;")
    return "\n".join([*lines, "esac", ""])


# For fish: functions that tell whether the options of a command come next, and the words of the program that the command runs.
FISH_FUNCTIONS = """function __lanescope_program
    set -l words (commandline -opc)
    set -l values (__lanescope_values $words[2])
    set words $words[3..]
    while set -q words[1]
        switch $words[1]
            case --
                string escape -- $words[2..]
                return 0
            case '-*'
                contains -- $words[1] $values; and set -e words[1]
                set -e words[1]
            case '*'
                string escape -- $words
                return 0
        end
    end
    return 1
end
function __lanescope_in
    set -l words (commandline -opc)
    test (count $words) -ge 2; and test $words[2] = $argv[1]; and begin; not contains $argv[1] PROGRAMS; or not __lanescope_program >/dev/null; end
end
function __lanescope_runs
    set -l words (commandline -opc)
    test (count $words) -ge 2; and contains $words[2] PROGRAMS; and __lanescope_program >/dev/null
end"""


def fish(pages, reports, rules):
    lines = ["# Completions of lanescope for fish.", "function __lanescope_values", "    switch $argv[1]"]
    for page in pages:
        if page.name in RUNS_PROGRAM:
            lines += [f"        case {page.name}", f"            printf '%s\\n' {' '.join(name for option in page.options if option.value for name in option.names)}"]
    lines += ["    end", "end", FISH_FUNCTIONS.replace("PROGRAMS", " ".join(sorted(RUNS_PROGRAM))), "complete -c lanescope -n __fish_use_subcommand -f"]
    for page in pages:
        lines.append(f"complete -c lanescope -n __fish_use_subcommand -a {page.name} -d {quoted(page.summary)}")
    for page in pages:
        seen = f"-n '__lanescope_in {page.name}'"
        for option in page.options:
            names = " ".join((f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}") for name in option.names)
            value = "" if not option.value else f" -x -a '{' '.join(reports if page.name == 'stats' else rules)}'" if option.names[0] == "-r" and page.name in ("stats", "analyze") else " -r"
            lines.append(f"complete -c lanescope {seen} {names}{value} -d {quoted(option.first_sentence)}")
        if page.name in RUNS_PROGRAM:
            lines.append(f"complete -c lanescope {seen} -f -a '(__fish_complete_command)'")
        elif page.name in READS_TRACES:
            lines.append(f"complete -c lanescope {seen} -k -a '(__fish_complete_suffix .trace)'")
    lines.append("complete -c lanescope -n __lanescope_runs -f -a '(complete -C \"$(string join \" \" -- (__lanescope_program) (commandline -ct))\")'")
    return "\n".join([*lines, ""])


def roff(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.M)


def man(page, version, date):
    lines = [f'.TH LANESCOPE\\-{page.name.upper()} 1 "{date}" "lanescope {version}" "Lanescope"', ".SH NAME", f"lanescope\\-{page.name} \\- {roff(page.summary)}",
             ".SH SYNOPSIS", ".B " + roff(page.usage), ".SH DESCRIPTION", roff(page.about)]
    for title, options in page.groups:
        lines.append(f'.SH "{roff(title.upper())}"')
        for option in options:
            lines += [".TP", "\\fB" + roff(", ".join(option.names)) + "\\fR" + (f" \\fI{roff(option.value)}\\fR" if option.value else ""), roff(option.text) or "\\&"]
    for block in page.rest:
        title, _, body = block.partition("\n")
        if title == "Examples:":
            lines += [".SH EXAMPLES", ".nf", roff("\n".join(line.strip() for line in body.split("\n"))), ".fi"]
        else:
            lines += [".PP", roff(block)]
    lines += [".SH SEE ALSO", ".BR lanescope (1)"]
    return "\n".join(lines) + "\n"


def overview(pages, version, date):
    lines = [f'.TH LANESCOPE 1 "{date}" "lanescope {version}" "Lanescope"', ".SH NAME", "lanescope \\- an open timeline profiler for CUDA programs", ".SH SYNOPSIS",
             ".B lanescope \\fICOMMAND\\fR [\\fIOPTIONS\\fR] ...", ".SH COMMANDS"]
    for page in pages:
        lines += [".TP", f".BR lanescope\\-{page.name} (1)", roff(page.summary)]
    lines += [".SH EXAMPLES", ".nf"] + [roff(line.strip()) for line in re.search(r"^Examples:\n(.*?)\n\n", printed("--help"), flags=re.S | re.M)[1].split("\n")] + [".fi"]
    return "\n".join(lines) + "\n"


def write(path, text):
    path = folder / path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


pages = commands()
version = printed("--version").split()[1]
date = time.strftime("%Y-%m-%d", time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", time.time()))))
reports, rules = names_in("stats", "--help-reports"), names_in("analyze", "--help-rules")
write("share/bash-completion/completions/lanescope", bash(pages, reports, rules))
write("share/zsh/vendor-completions/_lanescope", zsh(pages, reports, rules))
write("share/fish/vendor_completions.d/lanescope.fish", fish(pages, reports, rules))
write("share/man/man1/lanescope.1", overview(pages, version, date))
for page in pages:
    write(f"share/man/man1/lanescope-{page.name}.1", man(page, version, date))
