"""`lanescope fleet RECIPE --input DIR|FILE... -o OUT`, as python3 -m lanescope.fleet."""

from __future__ import annotations

import argparse
import contextlib
import errno
import importlib.util
import io
import itertools
import os
import platform
import re
import signal
import sys
import threading
from pathlib import Path
from typing import Iterator, NoReturn

from .._frames import TraceError
from . import find_traces, recipes
from .difference import difference
from .engine import Engine, Outcome, ProgressLine, keep_freed_memory
from .inputs import kept_private
from .recipe import Recipe, number_within
from .report import replaced, text_of, write_folder
from .result import Answer
from .sum_recipes import SumRecipe

_CHECK_FAILED = 3
_FORMATS = ("csv", "json", "parquet", "ipynb")
_NUMBER = "\0"  # stands for the number in the name of an output; names can't contain it
_MOST_WORKERS = 4096


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence, as all commands do, in place of the usage."""

    def error(self, message: str) -> NoReturn:
        print(f"lanescope fleet: {message[:1].upper()}{message[1:].rstrip('.')}. What there is: {self.prog} --help", file=sys.stderr)
        sys.exit(2)


def main(arguments: "list[str] | None" = None) -> int:
    arguments = sys.argv[1:] if arguments is None else arguments
    if isinstance(sys.stdout, io.TextIOWrapper):  # a name or unit that the locale's encoding lacks is no reason to fail
        sys.stdout.reconfigure(errors="replace")
    known = [*recipes(), "merge", "diff"]
    if arguments and not arguments[0].startswith("-") and arguments[0] not in known:
        print(f"lanescope fleet: {_unknown(arguments[0])} There are {', '.join(known)}.", file=sys.stderr)
        return 2
    given = _parser(arguments[:1]).parse_args(arguments)
    if wrong := _wrong_usage(given):
        print(f"lanescope fleet: {wrong}", file=sys.stderr)
        return 2
    try:
        return {"merge": _merge, "diff": _diff}.get(given.recipe, _ask)(given)
    except TraceError as error:
        print(f"lanescope fleet: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        where = os.fsdecode(error.filename) if isinstance(error.filename, (str, bytes)) else ""
        print(f"lanescope fleet: {where + ': ' if where else ''}{error.strerror or error}.", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process is about to end
        print("\nlanescope fleet: stopped. With --cache DIR, what was read is not read again.", file=sys.stderr)
        return 130


# Recipes of Nsight Systems that do not exist here, and their replacements.
_ELSEWHERE = {
    "s3_access_sum": "Requests to S3 are not recorded: they are encrypted where they leave the program. file_access_sum has files.",
    "nvtx_cpu_topdown": "It is for Arm, whose top-down metrics take several runs; --cpu-core-events counts events of processors.",
}


def _unknown(name: str) -> str:
    return f"There is no recipe {''.join(c if c.isprintable() else '?' for c in name)!r}. {_ELSEWHERE.get(name, '')}".rstrip()


def _parser(asked: "list[str]") -> argparse.ArgumentParser:
    """The parser for the recipes that are asked for, if these are known: making the options of all recipes takes as long as reading a small fleet."""
    parser = _Parser(prog="lanescope fleet", description="Asks one question of many traces: all ranks of a job, or the runs of many nights.")
    verbs = parser.add_subparsers(dest="recipe", metavar="RECIPE", required=True)
    known = recipes()
    for name, chosen in known.items() if not asked or asked[0] not in known else [(asked[0], known[asked[0]])]:
        verb = verbs.add_parser(name, help=chosen.help, description=chosen.help + ".")
        _add_common(verb)
        verb.add_argument("--input", nargs="+", required=True, metavar="DIR[:N]|FILE", help=".trace files, and folders that are searched for them; of DIR:N only the first N")
        verb.add_argument("--mode", choices=["none", "pool", "dask", "concurrent", "dask-futures"], default=None, help="this process alone, processes of this machine (default; also: concurrent), or Dask (also: dask-futures)")
        verb.add_argument("--workers", type=number_within(1, _MOST_WORKERS, int), default=0, metavar="N", help="processes of the pool (one a processor)")
        verb.add_argument("--dask", metavar="WHERE", default="", help="a scheduler's address, its file, or local:N")
        verb.add_argument("--shard", type=_shard, metavar="I/N", help="read every Nth file from the Ith on, and write partial results for `merge` in place of an answer")
        verb.add_argument("--cache", "--export-dir", metavar="DIR", help="keep each file's part there, so that it is read once")
        chosen.add_all_arguments(verb)
    merge = verbs.add_parser("merge", help="Joins the partial results of shards into an answer")
    _add_common(merge)
    merge.add_argument("--input", nargs="+", required=True, metavar="FILE", help="what --shard wrote")
    diff = verbs.add_parser("diff", help="Compares what a recipe of sums said of two fleets, by name and rank")
    _add_common(diff)
    diff.add_argument("--input", nargs=2, metavar=("BEFORE", "AFTER"), help="folders that such a recipe wrote with -o")
    diff.add_argument("--tolerance", type=number_within(0, 1e6, float), default=0.0, metavar="PERCENT", help="what changes by no more than this is the same (0)")
    diff.add_argument("--drop", action="store_true", help="leave out what is the same, or in one of the two alone")
    diff.add_argument("--print-compat-recipes", action="store_true", help="print the recipes whose folders can be compared")
    return parser


def expanded(text: str) -> str:
    """Expands the name of an output: %h, %p and %q{NAME} are the host, the process id and an environment variable; %% is a percent sign; %n becomes _NUMBER,
    for which a number is chosen later."""

    def value(said: "re.Match[str]") -> str:
        if said[2] is not None:
            if said[2] not in os.environ:
                raise argparse.ArgumentTypeError(f"the variable {said[2]} of {text} is not set")
            return os.environ[said[2]]
        return {"h": platform.node(), "p": str(os.getpid()), "%": "%", "n": _NUMBER}[said[1]]

    return re.sub(r"%(?:([hpn%])|q\{(\w+)\})", value, text)


@contextlib.contextmanager
def _claimed(given: argparse.Namespace) -> "Iterator[None]":
    """Creates the output before the work starts, so that no other run takes its name, and removes it if there is no answer. Within the block, given.output is
    the final name."""
    if not given.output:
        yield
        return
    is_file = bool(getattr(given, "shard", None))
    is_numbered = _NUMBER in given.output
    claimed = None
    for number in itertools.count(1):
        place = Path(given.output.replace(_NUMBER, str(number)))
        try:
            _make(place, is_file)
            claimed = place
        except FileExistsError:
            if is_numbered:
                continue
            if not given.force_overwrite:
                raise TraceError(f"{place} is there already; -f writes {'over' if is_file else 'into'} it.") from None
        break
    given.output = str(place)
    try:
        yield
    except BaseException:
        if claimed:
            with contextlib.suppress(OSError):  # files that are already there are kept
                if not is_file:
                    claimed.rmdir()
                elif claimed.stat().st_size == 0:
                    claimed.unlink()
        raise


def _make(place: Path, is_file: bool) -> None:
    """Fails with FileExistsError if the name exists."""
    if place.parent.exists() and not place.parent.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(place.parent))
    if is_file:
        os.close(os.open(place, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    else:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.mkdir()


def _add_common(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("-o", "--output", type=expanded, metavar="DIR", help="write report.html and the tables there; without it, the answer is printed")
    verb.add_argument("-f", "--force-overwrite", action="store_true", help="write into a folder that is there; the tables of an earlier answer in it are removed")
    verb.add_argument("--format", type=_formats, metavar="LIST", help=f"with -o, tables as {', '.join(_FORMATS)} (csv)")
    verb.add_argument("--csv", dest="format", action="store_const", const=["csv"], help="as --format csv")


def _shard(text: str) -> "tuple[int, int]":
    said = re.fullmatch("([0-9]{1,9})/([0-9]{1,9})", text)
    if not said or not 1 <= int(said[1]) <= int(said[2]):
        raise argparse.ArgumentTypeError(f"{text!r} is not I/N with 1 <= I <= N")
    return int(said[1]), int(said[2])


def _formats(text: str) -> "list[str]":
    kinds = [kind for kind in text.split(",") if kind]
    for kind in kinds:
        if kind not in _FORMATS:
            raise argparse.ArgumentTypeError(f"there is no format {kind!r}; there are {', '.join(_FORMATS)}")
    return kinds


def _ask(given: argparse.Namespace) -> int:
    question = recipes()[given.recipe](given)
    _check_places(given)  # before the work starts
    paths = find_traces(given.input)
    if not paths:
        raise TraceError("There are no .trace files in " + ", ".join(given.input) + ".")
    paths = question.files_to_read(paths)
    engine = Engine(cache=given.cache, dask=given.dask)
    engine.kind = {"concurrent": "pool", "dask-futures": "dask"}.get(given.mode, given.mode) or ("dask" if given.dask else "pool")
    if given.workers:
        engine.workers = given.workers
    with kept_private(paths):
        if given.shard:
            return _write_shard(given, question, engine, paths)
        with _claimed(given):
            outcome = engine.run(question, paths, ProgressLine())
            return _answer(given, question, outcome)


def _wrong_usage(given: argparse.Namespace) -> str:
    """What contradicts itself in the options, whatever the files contain; empty if nothing does."""
    if getattr(given, "shard", None) and not given.output:
        return "--shard needs -o FILE for the partial results."
    if given.output == "-":
        return "-o - names no folder: without -o, the answer is printed."
    if given.format and not given.output:
        return "--format is of tables, which -o DIR writes."
    if given.recipe == "diff" and not given.input and not given.print_compat_recipes:
        return "diff needs --input BEFORE AFTER."
    return ""


def _check_places(given: argparse.Namespace) -> None:
    if "parquet" in (given.format or []) and importlib.util.find_spec("pyarrow") is None:
        raise TraceError(f"--format parquet needs pyarrow. Run: {sys.executable} -m pip install pyarrow; or write csv or json.")
    if given.output and _NUMBER not in given.output and Path(given.output).exists():
        if not given.force_overwrite:
            raise TraceError(f"{given.output} is there already; -f writes {'over' if given.shard else 'into'} it.")
        if Path(given.output).is_dir() == bool(given.shard):
            raise TraceError(f"{given.output} is {'a folder: --shard writes a file' if given.shard else 'a file: the answer is a folder'}. Name another place with -o.")
    if given.cache and Path(given.cache).exists() and not Path(given.cache).is_dir():
        raise TraceError(f"{given.cache} is a file: name a folder for partial results.")


def _write_shard(given: argparse.Namespace, question: Recipe, engine: Engine, paths: "list[str]") -> int:
    with _claimed(given):
        outcome = engine.run(question, paths, ProgressLine(), given.shard)
        with replaced(Path(given.output)) as partial:
            partial.write_bytes(outcome.to_bytes(question))
    return 0


def _merge(given: argparse.Namespace) -> int:
    question, outcome = None, Outcome()
    for path in sorted(given.input):
        data = Path(path).read_bytes()
        if question is None:
            question = _question_of(data, path)
        try:
            part = Outcome.from_bytes(data, question)
        except TraceError as error:
            raise TraceError(f"{path}: {error}") from error
        twice = {state.path for state in outcome.files} & {state.path for state in part.files}
        if twice:
            raise TraceError(f"{path} has {min(twice)}, which another part has, too: name each part once.")
        outcome = outcome.merged(part, question)
    assert question is not None
    with kept_private(given.input), _claimed(given):
        return _answer(given, question, outcome)


def _question_of(data: bytes, path: str) -> Recipe:
    import json

    try:
        name, _, arguments = json.loads(data.decode("utf-8", "surrogatepass"))["question"].partition(" ")
        return recipes()[name].with_defaults(**json.loads(arguments))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise TraceError(f"{path} does not hold partial results of `lanescope fleet --shard`.") from error


def _diff(given: argparse.Namespace) -> int:
    if given.print_compat_recipes:
        print("\n".join(name for name, each in recipes().items() if issubclass(each, SumRecipe) and name.endswith("_sum")))
        return 0
    with kept_private(given.input), _claimed(given):
        before, after = map(Path, given.input)
        return _written(given, difference(before, after, given.tolerance, given.drop), Outcome(None, []))


def _answer(given: argparse.Namespace, question: Recipe, outcome: Outcome) -> int:
    code = _written(given, question.present(outcome), outcome)
    return 1 if code in (0, _CHECK_FAILED) and not any(state.read for state in outcome.files) else code


def _written(given: argparse.Namespace, answer: Answer, outcome: Outcome) -> int:
    """Must be called within _claimed()."""
    try:
        if given.output:
            for path in write_folder(answer, outcome, Path(given.output), given.format or ["csv"]):
                print(path)
    finally:  # if it could not be written, it can still be read here
        print(text_of(answer, outcome), end="")
    return _CHECK_FAILED if answer.failed else 0


if __name__ == "__main__":
    keep_freed_memory()
    sys.exit(main())
