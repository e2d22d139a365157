"""The recorder's agent in this process. This process loads it and then lets the recorder in.

collector/include/collector/attach/from_inside.h describes the messages between the two.
"""

from __future__ import annotations

import ctypes
import errno
import os
import re
import socket
from typing import Callable, Optional

from ._descriptors import Descriptor
from ._errors import RecordingError, UnderWayElsewhere
from ._process import LOOK

_PR_SET_PTRACER = 0x59616D61
_LARGEST_ANSWER = 64 << 10
_PATIENCE = 10_000  # ms, until the functions of loaded libraries are taken over
_NAME = "liblanescope-agent.so"  # the name that it gives itself, wherever its file is
_NO_DESCRIPTOR = (1 << 31) - 1
_INJECTION_VARIABLES = ("CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH")


def allow_reading(recorder: int) -> None:
    """Lets the recorder read this process's memory for Python's stacks, on systems where only parents may do that."""
    ctypes.CDLL(None).prctl(_PR_SET_PTRACER, ctypes.c_ulong(recorder), 0, 0, 0)


def await_answer(connection: socket.socket, recorder_runs: Callable[[], bool]) -> "Optional[tuple[str, bytes]]":
    """The paths of the agent and of the session's socket; None if the recorder needs no agent or has ended."""
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
    """The path of an agent that was loaded at the program's start or by another recorder. A second agent would not know of the first one."""
    with open("/proc/self/maps", "rb") as maps:
        found = re.search(rb"(/.*/liblanescope-agent\.so)( \(deleted\))?$", maps.read(), flags=re.M)
    if found and found[2]:
        raise RecordingError(f"Lanescope was replaced since this process loaded {os.fsdecode(found[1])}: start the process anew to record it.")
    return os.fsdecode(found[1]) if found else None


def is_recorded() -> bool:
    """Whether a recorder records this process, as far as its agent knows. False if no agent is loaded."""
    try:
        attach = ctypes.CDLL(_NAME, mode=os.RTLD_NOLOAD | os.RTLD_NOW).lanescope_agent_attach
    except (OSError, AttributeError):
        return False
    # The agent looks for another recording before it looks at the descriptor.
    return bool(attach(b"fd:%d" % _NO_DESCRIPTOR) == errno.EBUSY)


class Agent:
    """The agent library. Once loaded, it stays in the process."""

    def __init__(self, path: str) -> None:
        self.path = _loaded_agent() or path
        try:
            self.library = ctypes.CDLL(self.path)
            self._attach, self._await = self.library.lanescope_agent_attach, self.library.lanescope_agent_await
            self._follow = getattr(self.library, "lanescope_agent_follow", None)  # absent from an older agent that is loaded already
        except (OSError, AttributeError) as problem:
            raise RecordingError(f"The agent {self.path} can't be loaded: {problem}.") from problem

    def join(self, descriptor: Descriptor, connection: socket.socket, session: bytes) -> None:
        """Gives the agent the connection, whose descriptor is `descriptor`."""
        connection.settimeout(None)  # the agent waits for answers
        os.set_blocking(connection.fileno(), True)  # sockets of gevent never block, whatever their timeout
        descriptor.give_away()  # the agent closes it in children
        code = self._attach(b"fd:%d:%s" % (connection.fileno(), session))
        if code != 0:
            connection.close()
        if code == errno.EBUSY:
            raise UnderWayElsewhere("This process is being recorded already, by a recorder that it did not start. End that recording first.")
        if code != 0:
            raise RecordingError(f"The agent could not start: {os.strerror(code)}.")
        connection.detach()

    def await_joined(self) -> None:
        """Waits until nothing is lost from here on."""
        code = self._await(_PATIENCE)
        if code != 0:
            raise RecordingError(f"The agent did not get ready to record: {os.strerror(code)}.")

    def follow_capture(self) -> None:
        """Waits until GPU activity is recorded, after the recorder has said that a capture began."""
        if self._follow:
            self._follow()


class LibrariesToCome:
    """Makes libraries that are set up while a recording runs load the agent at once: CUDA's driver, and libraries with NVTX."""

    def __init__(self, agent: str) -> None:
        self._set = [name for name in _INJECTION_VARIABLES if name not in os.environ]
        self._agent = agent
        for name in self._set:
            os.environ[name] = agent

    def end(self) -> None:
        for name in self._set:
            if os.environ.get(name) == self._agent:
                del os.environ[name]
