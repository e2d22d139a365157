"""Descriptors of this process alone: children that it forks close them, and one that the program has closed is told from the one that has its number now."""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
import threading
from typing import Optional

_changing = threading.RLock()  # no other thread forks between the making of a descriptor and its entry here
_open: "set[Descriptor]" = set()


def _above_standard(descriptor: int) -> int:
    """The same with a number above 2, where a child has its standard streams: this process may have closed its own."""
    if descriptor > 2:
        return descriptor
    moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 3)
    os.close(descriptor)
    return moved


class Descriptor:
    """A pipe's end or a socket, which is closed with the block that it is given to. Any thread may look at it."""

    def __init__(self, number: int) -> None:
        self.number = _above_standard(number)
        self._socket: Optional[socket.socket] = None
        self._file = self._look()
        _open.add(self)

    def _look(self) -> "Optional[tuple[int, int]]":
        try:
            status = os.fstat(self.number)
        except OSError:
            return None
        return status.st_dev, status.st_ino

    def is_open(self) -> bool:
        """Whether the number still is that of the same pipe or socket."""
        return self in _open and self._look() == self._file

    def is_same(self, other: "Descriptor") -> bool:
        """Whether both are of one pipe or socket, which need not be open any more."""
        return self._file == other._file

    def as_socket(self) -> socket.socket:
        """The socket, of whose closing this one is told as of any other."""
        self._socket = socket.socket(fileno=self.number)
        return self._socket

    def give_away(self) -> None:
        """Whoever has the number now sees to it."""
        _open.discard(self)

    def close(self) -> None:
        is_ours = self.is_open()
        _open.discard(self)
        if self._socket is not None:
            self._socket.detach()
        if is_ours:
            with contextlib.suppress(OSError):
                os.close(self.number)

    def __enter__(self) -> "Descriptor":
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def make(sockets: int, pipes: int) -> "list[Descriptor]":
    """Pairs of them: sockets that keep messages apart, then pipes, each with the end that is read first. OSError leaves none."""
    made: "list[Descriptor]" = []
    with _changing:
        try:
            for _ in range(sockets):
                ends = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
                made += [Descriptor(end.detach()) for end in ends]
            for _ in range(pipes):
                made += [Descriptor(end) for end in os.pipe()]
        except OSError:
            for each in made:
                each.close()
            raise
    return made


def _let_go() -> None:
    with contextlib.suppress(RuntimeError):  # this module came while another thread forked
        _changing.release()


def _close_in_child() -> None:
    global _changing
    _changing = threading.RLock()
    for each in [*_open]:
        each.close()


# Not held longer: a lock over what starts a program would meet other locks that are held over a fork.
os.register_at_fork(before=lambda: _changing.acquire(), after_in_parent=_let_go, after_in_child=_close_in_child)
