"""The recordings that a question is asked about."""

from __future__ import annotations

import contextlib
import functools
import operator
import os
from pathlib import Path
from typing import Iterable, Iterator, Union

from .._frames import TraceError

PathLike = Union[str, "os.PathLike[str]"]


def find_traces(inputs: "Iterable[PathLike]") -> "list[str]":
    """The named files, and all .trace files below named folders, without repetition and by name. DIR:N means the first N. Raises TraceError if an input does
    not exist. A link of such a folder that leads nowhere is among them: nobody knows what is missing with it."""
    found: "set[str]" = set()
    for each in inputs:
        path = Path(each)
        folder, _, number = os.fspath(each).rpartition(":")
        if number.isdecimal() and not path.exists() and Path(folder).is_dir():
            found.update(sorted(_below(Path(folder)))[: int(number)])
            continue
        if path.is_dir():
            found.update(_below(path))
            found.update(_unsearchable(path))
        elif path.exists():
            found.add(str(path))
        else:
            raise TraceError(f"{path} is not there.")
    return sorted(found)


def _below(folder: Path) -> "list[str]":
    return [str(file) for file in folder.rglob("*.trace") if file.is_file() or (file.is_symlink() and not file.exists())]


@contextlib.contextmanager
def kept_private(paths: "Iterable[PathLike]") -> "Iterator[None]":
    """Files that this process writes within the block get no permission for group and others that one of these files (or of the files in these folders) lacks,
    because they tell what these files contain."""
    permitted = functools.reduce(operator.and_, map(_permitted, paths), 0o077)
    permitted |= (permitted & 0o044) >> 2  # whoever may read a file may list folders of that kind
    umask = os.umask(0o077)
    os.umask(umask | (~permitted & 0o077))
    try:
        yield
    finally:
        os.umask(umask)


def _permitted(path: PathLike) -> int:
    try:
        if os.path.isdir(path):
            return functools.reduce(operator.and_, (_permitted(each) for each in Path(path).iterdir() if each.is_file()), 0o077)
        return os.stat(path).st_mode & 0o077
    except OSError:
        return 0o077


def _unsearchable(folder: Path) -> "list[str]":
    """Folders below a folder that can't be searched. Each becomes a row of `files` with its reason."""
    failed: "list[OSError]" = []
    for _ in os.walk(folder, onerror=failed.append):
        pass
    return [os.fspath(error.filename) for error in failed]
