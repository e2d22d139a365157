"""Which recordings a question is asked of."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Iterable, Iterator, Union

from .._frames import TraceError

PathLike = Union[str, "os.PathLike[str]"]


def find_traces(inputs: "Iterable[PathLike]") -> "list[str]":
    """Files as they are named, and every .trace file below folders; each once, by name. Of DIR:N the first N. Raises TraceError where an input is not there."""
    found: "set[str]" = set()
    for each in inputs:
        path = Path(each)
        folder, _, number = os.fspath(each).rpartition(":")
        if number.isdecimal() and not path.exists() and Path(folder).is_dir():
            found.update(sorted(str(file) for file in Path(folder).rglob("*.trace") if file.is_file())[: int(number)])
            continue
        if path.is_dir():
            found.update(str(file) for file in path.rglob("*.trace") if file.is_file())
            found.update(_unsearchable(path))
        elif path.exists():
            found.add(str(path))
        else:
            raise TraceError(f"{path} is not there.")
    return sorted(found)


@contextlib.contextmanager
def kept_private(paths: "Iterable[PathLike]") -> "Iterator[None]":
    """What this process writes meanwhile is for its owner alone where one of these files, or of those in these folders, is: it tells what they hold."""
    umask = os.umask(0o077)
    os.umask(umask | 0o077 if any(map(_is_private, paths)) else umask)
    try:
        yield
    finally:
        os.umask(umask)


def _is_private(path: PathLike) -> bool:
    try:
        if os.path.isdir(path):
            return any(_is_private(each) for each in Path(path).iterdir() if each.is_file())
        return os.stat(path).st_mode & 0o044 == 0
    except OSError:
        return False


def _unsearchable(folder: Path) -> "list[str]":
    """Folders below one that can't be searched: each becomes a row of `files` with its reason."""
    failed: "list[OSError]" = []
    for _ in os.walk(folder, onerror=failed.append):
        pass
    return [os.fspath(error.filename) for error in failed]
