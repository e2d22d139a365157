"""Descriptors that only this process has: its forked children close them. One that the program has closed is recognised even if its number is used again."""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
import threading
from typing import Optional

_changing = threading.RLock()  # no other thread can fork between the creation of a descriptor and its entry in _open
_open: "set[Descriptor]" = set()


def _above_standard(descriptor: int) -> int:
    """Moves a descriptor to a number above 2, because a child has its standard streams there and this process may have closed its own."""
    if descriptor > 2:
        return descriptor
    moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 3)
    os.close(descriptor)
    return moved


class Descriptor:
    """A pipe's end or a socket. As a context manager it is closed at the end of the block. Any thread may use it."""

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
        """Whether the number still belongs to the same pipe or socket."""
        return self in _open and self._look() == self._file

    def is_same(self, other: "Descriptor") -> bool:
        """Whether both belong to the same pipe or socket, which may be closed already."""
        return self._file == other._file

    def as_socket(self) -> socket.socket:
        """A socket object with this number. Descriptor notices if it is closed."""
        self._socket = socket.socket(fileno=self.number)
        return self._socket

    def give_away(self) -> None:
        """Stops tracking the number: its new owner closes it."""
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
    """Makes pairs of descriptors: sockets that keep message boundaries, then pipes, with the reading end first. An OSError leaves none open."""
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


def make_loop() -> "Optional[Descriptor]":
    """A pipe whose two ends are one descriptor. Other pipes signal their owner (F_SETOWN) also when one end is closed before the other. None without /proc."""
    with _changing:
        hears, rings = os.pipe()
        try:
            return Descriptor(os.open(f"/proc/self/fd/{hears}", os.O_RDWR))
        except OSError:
            return None
        finally:
            os.close(hears)
            os.close(rings)


def _let_go() -> None:
    with contextlib.suppress(RuntimeError):  # this module was imported while another thread forked
        _changing.release()


def _close_in_child() -> None:
    global _changing
    _changing = threading.RLock()
    for each in [*_open]:
        each.close()


# Held only during the fork: a lock around the start of a program could deadlock with other locks that are held over a fork.
os.register_at_fork(before=lambda: _changing.acquire(), after_in_parent=_let_go, after_in_child=_close_in_child)
