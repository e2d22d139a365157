"""The recorder: a `lanescope attach` that this process starts, and that is no child of it: a program may wait for all of its children."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import selectors
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
_LONGEST_FOLDER = 56  # bytes, as app/cli/session/session_directory.h has it
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
    is_ours = status is not None and stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and len(os.fsencode(str(runtime))) <= _LONGEST_FOLDER
    folder = os.path.join(str(runtime), "lanescope") if is_ours else f"/tmp/lanescope-{os.getuid()}"
    return os.path.join(folder, name + ".session")


def _above_standard(descriptor: int) -> int:
    """The same with a number above 2, where a child has its standard streams: this process may have closed its own."""
    if descriptor > 2:
        return descriptor
    moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 3)
    os.close(descriptor)
    return moved


def _end_of(pid: int) -> "list[int]":
    """A descriptor that can be read once this process is gone; none where the kernel (before 5.3) or Python (before 3.9) has none."""
    try:
        return [os.pidfd_open(pid)] if pid else []
    except (AttributeError, OSError):
        return []


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
        self._last_word = ""  # that it printed
        self.pid = 0
        self._code: Optional[int] = None  # that it ended with; None where it could not say so
        self._has_begun = False
        self._has_spoken = threading.Event()  # begun, or ended
        self._has_ended = threading.Event()
        self._to_come: Optional[LibrariesToCome] = None
        found = program.find()
        opened: "list[int]" = []
        try:
            for end in socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET):
                opened.append(_above_standard(end.detach()))
            for _ in range(2):
                opened += map(_above_standard, os.pipe())
        except OSError as error:
            for descriptor in opened:
                os.close(descriptor)
            raise RecordingError(f"The recorder can't be started: {error.strerror}.") from error
        ours, theirs = (socket.socket(fileno=descriptor) for descriptor in opened[:2])
        told, tells, says, speaks = opened[2:]
        with ours:
            with theirs:
                command = [found, "attach", f"--from-inside={theirs.fileno()}", f"--tell={tells}", f"--session-new={self.name}", *arguments,
                           str(os.getpid())]
                try:  # a session of its own: Ctrl+C in the terminal is ours, and ends the recording in order
                    self._starter = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=speaks,
                                                     pass_fds=[theirs.fileno(), tells], start_new_session=True)
                except OSError as error:
                    os.close(told)
                    os.close(says)
                    raise RecordingError(f"{command[0]} can't be run: {error.strerror}.") from error
                finally:
                    os.close(tells)
                    os.close(speaks)
            self._records = b""
            self._words = b""
            while not self.pid and self._take_records(told):
                pass
            if self.pid != self._starter.pid:  # it goes on in a process of its own, or says why it can't
                code = self._starter.wait()
                self._code = None if self.pid else code
            self._reader = threading.Thread(target=self._read, args=(told, says), name="lanescope", daemon=True)
            try:
                self._reader.start()
                self._enter(ours)
            except BaseException as problem:
                ours.close()
                self._ask_for_end()
                if self._reader.ident is None:  # a limit, or the interpreter's end
                    os.close(told)
                    os.close(says)
                    raise RecordingError(f"No thread can be started to listen to the recorder: {problem}.") from problem
                self.await_end()
                raise

    def _enter(self, ours: socket.socket) -> None:
        if self.pid:
            allow_reading(self.pid)
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
            self.await_end()
            raise RecordingError(self.failure() or "The recorder ended before it began.")
        if agent:
            agent.await_joined()
            self._to_come = LibrariesToCome(agent.path)
            _nvtx.install(agent.library)

    def _read(self, told: int, says: int) -> None:
        """What it tells, and what it prints, until it has said how it ended, or is gone."""
        takes = {told: self._take_records, says: self._take_words}
        gone = _end_of(self.pid)
        is_gone = False
        with selectors.DefaultSelector() as selector:
            for descriptor in [*takes, *gone]:
                selector.register(descriptor, selectors.EVENT_READ)
            while told in takes and not is_gone:
                ready = [key.fd for key, _ in selector.select()]
                is_gone = any(descriptor in ready for descriptor in gone)
                for descriptor in [each for each in takes if each in ready]:
                    if not takes[descriptor](descriptor):
                        selector.unregister(descriptor)
                        os.close(descriptor)
                        del takes[descriptor]
        # What is in them is all that comes, though a child that was forked meanwhile may have their other ends for as long as it lives.
        for descriptor, take in takes.items():
            os.set_blocking(descriptor, False)
            with contextlib.suppress(BlockingIOError):
                while take(descriptor):
                    pass
            os.close(descriptor)
        for descriptor in gone:
            os.close(descriptor)
        self._has_ended.set()
        self._has_spoken.set()

    def _take_records(self, descriptor: int) -> bool:
        """As app/cli/session/asking_program.h has them; false at their end, and behind the last."""
        some = os.read(descriptor, _LARGEST_ANSWER)
        *records, self._records = (self._records + some).split(b"\0")
        for record in records:
            word, _, value = record.partition(b" ")
            if word == b"recorder":
                self.pid = int(value)
            elif word == b"file":
                self.files.append(os.path.join(self._folder, os.fsdecode(value)))
            elif word == b"lost":
                self.messages.append(os.fsdecode(value))
            elif word == b"end":
                self._code = int(value)
                return False
        return bool(some)

    def _take_words(self, descriptor: int) -> bool:
        """What it prints for people; false at its end."""
        some = os.read(descriptor, _LARGEST_ANSWER)
        *lines, self._words = (self._words + some).split(b"\n")
        for line in lines:
            text = os.fsdecode(line)
            if text.startswith(("Recording process ", "Attached to process ")):
                self._has_begun = True
                self._has_spoken.set()
            elif text.startswith(_PREFIX) and not text.startswith(_PREFIX + _BUSY):
                self._last_word = text[len(_PREFIX):]
                self.messages.append(self._last_word)
        return bool(some)

    def _runs(self) -> bool:
        return not self._has_ended.is_set()

    def _ask_for_end(self) -> None:
        if self.pid and self._runs():
            try:
                os.kill(self.pid, signal.SIGTERM)
            except OSError:
                pass  # it has just ended

    def failure(self) -> str:
        """Its last words."""
        if self._last_word in self.messages:
            self.messages.remove(self._last_word)
        return self._last_word

    def answers(self) -> bool:
        """Whether it can be asked for another capture."""
        try:
            self.ask(command="describe")
        except RecordingError:
            return False
        return True

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

    def await_end(self) -> None:
        """Returns once it has ended, by itself or by end()."""
        self._reader.join()
        self._starter.wait()
        if self.pid and self.pid != self._starter.pid:
            with contextlib.suppress(ChildProcessError):  # it is a child of ours where this process is the first one of a container
                os.waitpid(self.pid, 0)

    def end(self) -> None:
        """Ends the recording in order, and waits until its files are complete. Fails where they are not."""
        if self._to_come:
            self._to_come.end()
        self._ask_for_end()
        self.await_end()
        if self._code is None:
            raise RecordingError("The recorder was killed; what it had written can be read.")
        if self._code != 0:
            raise RecordingError(self.failure() or f"The recorder ended with {self._code}.")
