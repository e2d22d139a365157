"""The recorder's agent in this process: loaded by the process itself, which then asks the recorder in.

collector/include/collector/attach/from_inside.h describes what passes between the two.
"""

from __future__ import annotations

import ctypes
import errno
import os
import re
import socket
from typing import Callable, Optional

from ._descriptors import Descriptor
from ._errors import RecordingError
from ._process import LOOK

_PR_SET_PTRACER = 0x59616D61
_LARGEST_ANSWER = 64 << 10
_PATIENCE = 10_000  # ms, for libraries that are loaded to be taken over
_INJECTION_VARIABLES = ("CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH")


def allow_reading(recorder: int) -> None:
    """Lets the recorder read this process's memory, for Python's stacks, where the system lets only parents do that."""
    ctypes.CDLL(None).prctl(_PR_SET_PTRACER, ctypes.c_ulong(recorder), 0, 0, 0)


def await_answer(connection: socket.socket, recorder_runs: Callable[[], bool]) -> "Optional[tuple[str, bytes]]":
    """The paths of the agent and of the session's socket; none where the recorder needs no agent, or has ended."""
    connection.settimeout(LOOK)
    while True:
        try:
            answer = connection.recv(_LARGEST_ANSWER)
            break
        except socket.timeout:
            if not recorder_runs():
                return None
        except OSError:
            return None
    if not answer:
        return None
    agent, session = answer.split(b"\0")[:2]
    return os.fsdecode(agent), session


def _loaded_agent() -> Optional[str]:
    """An agent that came with the program's start, or with another recorder: two would not know of each other."""
    with open("/proc/self/maps", "rb") as maps:
        found = re.search(rb"(/.*/liblanescope-agent\.so)( \(deleted\))?$", maps.read(), flags=re.M)
    if found and found[2]:
        raise RecordingError(f"Lanescope was replaced since this process loaded {os.fsdecode(found[1])}: start the process anew to record it.")
    return os.fsdecode(found[1]) if found else None


class Agent:
    """The library, which stays in the process once it is loaded."""

    def __init__(self, path: str) -> None:
        self.path = _loaded_agent() or path
        try:
            self.library = ctypes.CDLL(self.path)
            self._attach, self._await = self.library.lanescope_agent_attach, self.library.lanescope_agent_await
        except (OSError, AttributeError) as problem:
            raise RecordingError(f"The agent {self.path} can't be loaded: {problem}.") from problem

    def join(self, descriptor: Descriptor, connection: socket.socket, session: bytes) -> None:
        """Takes the connection over, which is that descriptor's."""
        connection.settimeout(None)  # the agent waits for answers
        descriptor.give_away()  # and sees to it in children
        code = self._attach(b"fd:%d:%s" % (connection.fileno(), session))
        if code != 0:
            connection.close()
        if code == errno.EBUSY:
            raise RecordingError("This process is being recorded already, by a recorder that it did not start. End that recording first.")
        if code != 0:
            raise RecordingError(f"The agent could not start: {os.strerror(code)}.")
        connection.detach()

    def await_joined(self) -> None:
        """Until nothing is lost from here on."""
        code = self._await(_PATIENCE)
        if code != 0:
            raise RecordingError(f"The agent did not get ready to record: {os.strerror(code)}.")


class LibrariesToCome:
    """Lets libraries that are set up while a recording runs load the agent at once: CUDA's driver, and libraries with NVTX."""

    def __init__(self, agent: str) -> None:
        self._set = [name for name in _INJECTION_VARIABLES if name not in os.environ]
        self._agent = agent
        for name in self._set:
            os.environ[name] = agent

    def end(self) -> None:
        for name in self._set:
            if os.environ.get(name) == self._agent:
                del os.environ[name]
