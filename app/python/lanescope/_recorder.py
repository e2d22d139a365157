"""The recorder: `lanescope attach` as a child of the process that it records."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import subprocess
import threading
from typing import Any, Optional

from . import _nvtx, program
from ._agent import Agent, LibrariesToCome, allow_reading, await_answer
from ._errors import RecordingError

_PREFIX = "lanescope: "  # of sentences, as the program prints them
_BUSY = "Looking up the names of the code that ran"  # tells someone who waits at a terminal why; nothing is missing
_LARGEST_ANSWER = 64 << 10
_count = 0


def arguments_of(options: "dict[str, Any]") -> "list[str]":
    """Options of the command line, as keyword arguments: `max_file_size="1G"` is --max-file-size=1G, a list is one with commas."""
    arguments = []
    for name, value in options.items():
        option = "--" + {"force": "force-overwrite"}.get(name, name).replace("_", "-")
        if value is None:
            continue
        if isinstance(value, bool):
            arguments.append(option if value else f"{option}=false")
        elif isinstance(value, dict):
            arguments += [f"{option}={key}={text}" for key, text in value.items()]
        elif isinstance(value, (list, tuple, set, frozenset)):
            arguments.append(f"{option}={','.join(map(str, value))}")
        else:
            arguments.append(f"{option}={value}")
    return arguments


def _session_socket(name: str) -> str:
    """Where a session listens, as app/cli/session_directory.h has it."""
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    try:
        status = os.stat(runtime) if runtime else None
    except OSError:
        status = None
    is_ours = status is not None and stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid()
    folder = os.path.join(str(runtime), "lanescope") if is_ours else f"/tmp/lanescope-{os.getuid()}"
    return os.path.join(folder, name + ".session")


class Recorder:
    """Runs from its construction until end(). Fails with RecordingError or ProgramError; this process then is as before."""

    def __init__(self, arguments: "list[str]") -> None:
        global _count
        _count += 1
        self.name = f"python-{os.getpid()}-{_count}"
        self.messages: "list[str]" = []
        self.files: "list[str]" = []
        try:
            self._folder = os.getcwd()
        except OSError as error:
            raise RecordingError(f"The folder of this process is gone ({error.strerror}): enter another one, or files have no place.") from error
        self._has_begun = False
        self._has_spoken = threading.Event()  # begun, or ended
        self._to_come: Optional[LibrariesToCome] = None
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with ours:
            with theirs:
                command = [program.find(), "attach", f"--from-inside={theirs.fileno()}", f"--session-new={self.name}", *arguments, str(os.getpid())]
                try:  # a session of its own: Ctrl+C in the terminal is ours, and ends the recording in order
                    self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                                     pass_fds=[theirs.fileno()], start_new_session=True)
                except OSError as error:
                    raise RecordingError(f"{command[0]} can't be run: {error.strerror}.") from error
            self._reader = threading.Thread(target=self._read, name="lanescope", daemon=True)
            try:
                self._reader.start()
                self._enter(ours)
            except BaseException as problem:
                ours.close()
                self._process.terminate()
                self._await_end()
                if self._reader.ident is None:  # a limit, or the interpreter's end
                    raise RecordingError(f"No thread can be started to listen to the recorder: {problem}.") from problem
                raise

    def _enter(self, ours: socket.socket) -> None:
        allow_reading(self._process.pid)
        try:
            ours.send(b"ready")
        except OSError:
            pass  # it has ended, and says why
        paths = await_answer(ours, self._runs)
        agent = Agent(paths[0]) if paths else None
        if agent and paths:
            agent.join(ours, paths[1])
        self._has_spoken.wait()
        if not self._has_begun:
            self._await_end()
            raise RecordingError(self.failure() or "The recorder ended before it began.")
        if agent:
            agent.await_joined()
            self._to_come = LibrariesToCome(agent.path)
            _nvtx.install(agent.library)

    def _read(self) -> None:
        """What it prints; its last line is its end."""
        lists_files = False
        assert self._process.stderr is not None
        for line in self._process.stderr:
            text = os.fsdecode(line.rstrip(b"\n"))
            if text.startswith(("Recording process ", "Attached to process ")):
                self._has_begun = True
                self._has_spoken.set()
            elif text.startswith(_PREFIX):
                if not text.startswith(_PREFIX + _BUSY):
                    self.messages.append(text[len(_PREFIX):])
            elif lists_files and text.startswith("\t"):
                self.files.append(os.path.join(self._folder, text[1:]))
            lists_files = text == "Generated:" or (lists_files and text.startswith("\t"))
        self._has_spoken.set()

    def _runs(self) -> bool:
        return self._process.poll() is None

    def failure(self) -> str:
        """Its last words."""
        return self.messages.pop() if self.messages else ""

    def ask(self, **request: Any) -> "dict[str, Any]":
        """What `lanescope start` and `stop` ask of a session."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
            try:
                connection.connect(_session_socket(self.name))
                connection.send(json.dumps(request).encode())
                answer = json.loads(connection.recv(_LARGEST_ANSWER) or b"{}")
            except (OSError, ValueError) as error:
                raise RecordingError(f"The recorder of this process does not answer: {error}.") from error
        if "error" in answer:
            raise RecordingError(str(answer["error"]))
        return dict(answer)

    def _await_end(self) -> int:
        if self._reader.ident is not None:
            self._reader.join()
        assert self._process.stderr is not None
        self._process.stderr.close()
        return self._process.wait()

    def end(self) -> None:
        """Ends the recording in order, and waits until its files are complete. Fails where they are not."""
        if self._to_come:
            self._to_come.end()
        if self._runs():
            self._process.send_signal(signal.SIGTERM)
        code = self._await_end()
        if code < 0:
            raise RecordingError(f"The recorder was ended by {signal.Signals(-code).name}; what it had written can be read.")
        if code != 0:
            raise RecordingError(self.failure() or f"The recorder ended with {code}.")
