"""The recorder: a `lanescope attach` that this process starts. It is not a child of this process, because a program may wait for all of its children."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import selectors
import signal
import socket
import stat
import subprocess
import threading
import time
from typing import Any, Optional

from . import _descriptors, _nvtx, program
from ._agent import Agent, LibrariesToCome, allow_reading, await_answer
from ._descriptors import Descriptor
from ._errors import RecordingError
from ._process import LOOK, Patience, Process

_PREFIX = "lanescope: "  # of the sentences that the program prints
_BUSY = "Looking up the names of the code that ran"  # tells users at a terminal why they wait; it does not mean that something is missing
_NO_FILE = "No file was made: "
_LARGEST_ANSWER = 64 << 10
_LONGEST_FOLDER = 56  # bytes, as app/cli/session/session_directory.h has it
_ERRORS = 2  # the descriptor to which the recorder prints
_MOMENT = 10  # looks: two seconds
_count = 0
_left: "list[Recorder]" = []  # recorders that we stopped waiting for


def arguments_of(options: "dict[str, Any]") -> "list[str]":
    """Keyword arguments as options of the command line: `max_file_size="1G"` is --max-file-size=1G, and a list is joined by commas. They must end a command."""
    arguments, bare = [], []
    for name, value in options.items():
        option = "--" + {"force": "force-overwrite"}.get(name, name).replace("_", "-")
        if value is None:
            continue
        if value is True and option != "--force-overwrite":
            bare.append(option)
        elif isinstance(value, bool):
            arguments.append(f"{option}={str(value).lower()}")
        elif isinstance(value, dict):
            arguments += [f"{option}={key}={text}" for key, text in value.items()]
        elif isinstance(value, (list, tuple, set, frozenset)):
            arguments.append(f"{option}={','.join(map(str, value))}")
        else:
            arguments.append(f"{option}={value}")
    return arguments + bare  # last, so that an option that needs a value finds none after it


def _new_selector() -> selectors.BaseSelector:
    """Needs no descriptor of its own, and keeps those that it waits for open meanwhile. eventlet removes all but one kind from programs that it patches."""
    return getattr(selectors, "PollSelector", selectors.SelectSelector)()


def _session_socket(name: str) -> str:
    """The path of the session's socket, as in app/cli/session/session_directory.h."""
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    try:
        status = os.stat(runtime) if runtime else None
    except OSError:
        status = None
    is_ours = (status is not None and stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
               and len(os.fsencode(str(runtime))) <= _LONGEST_FOLDER)
    folder = os.path.join(str(runtime), "lanescope") if is_ours else f"/tmp/lanescope-{os.getuid()}"
    return os.path.join(folder, name + ".session")


def _end_of(pid: int) -> "list[Descriptor]":
    """A descriptor that becomes readable when the process has ended; empty if the kernel (before 5.3) has none."""
    try:
        return [Descriptor(os.pidfd_open(pid))] if pid else []
    except (AttributeError, OSError):
        return []


def _can_be_read(descriptor: Descriptor) -> bool:
    """Whether it can be read, or its other end is closed, now or within LOOK seconds."""
    with _new_selector() as selector:
        selector.register(descriptor.number, selectors.EVENT_READ)
        return bool(selector.select(LOOK))


def _await_left(hurry: Optional[threading.Event]) -> None:
    """Gives recorders that we stopped waiting for, mostly because of a Ctrl+C, a moment to end. Fails if one has not ended then."""
    for _ in range(_MOMENT):
        for each in [*_left]:
            if each._process.is_gone():
                each._has_ended.wait(LOOK)  # its reader may be about to close the same
                each._close()
                _left.remove(each)
        if not _left or _left[0]._process.is_stopped() or (hurry and hurry.is_set()):
            break
        time.sleep(LOOK)
    if _left:
        raise RecordingError(f"The recorder of an earlier recording of this process has not ended yet: it is process {_left[0].pid}.")


class Recorder:
    """Runs from its construction until finish(). The constructor fails with RecordingError or ProgramError; this process is then as before.

    If `hurry` is set meanwhile, the constructor waits no longer and fails. No handler of a signal may raise an exception in it (see undisturbed()).
    """

    def __init__(self, arguments: "list[str]", hurry: Optional[threading.Event] = None) -> None:
        global _count
        _count += 1
        self.name = f"python-{os.getpid()}-{_count}"
        self.messages: "list[str]" = []
        self.files: "list[str]" = []
        self.no_file = ""  # why there is no file
        try:
            self._folder = os.getcwd()
        except OSError as error:
            raise RecordingError(f"The folder of this process is gone ({error.strerror}): enter another one, or files have no place.") from error
        self._place = os.path.join(self._folder, _session_socket(self.name))  # kept from the start: the program may change its environment, folder and user
        self._last_word = ""  # the last line that it printed
        self.pid = 0
        self._process = Process(0)
        self._code: Optional[int] = None  # its exit code; None if it could not report it
        self._is_unheard = False  # it ended, but this process could not read how
        self._reads_alone = False  # no thread could be started to listen to it, so that whoever waits for its end reads
        self._has_begun = False
        self._has_spoken = threading.Event()  # begun, or ended
        self._has_ended = threading.Event()
        self._to_come: Optional[LibrariesToCome] = None
        self._agent: Optional[Agent] = None
        self._bell: Optional[Descriptor] = None
        self._hurry = hurry
        found = program.find()
        _await_left(hurry)
        try:
            ours, theirs, told, tells, says, speaks = _descriptors.make(sockets=1, pipes=2)
        except OSError as error:
            raise RecordingError(f"The recorder can't be started: {error.strerror}.") from error
        self._told, self._says, self._tells_number = told, says, tells.number
        with ours:
            command = [found, "attach", f"--from-inside={theirs.number}", f"--tell={tells.number}", f"--session-new={self.name}", str(os.getpid()), *arguments]
            try:  # start_new_session: a Ctrl+C in the terminal reaches only us, and we end the recording in order
                with theirs, tells, speaks:
                    self._starter = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=speaks.number,
                                                     pass_fds=[theirs.number, tells.number], start_new_session=True)
            except (OSError, RuntimeError, ValueError) as error:  # also a NUL in an option, or an interpreter that may start no programs
                self._close()
                raise RecordingError(f"{command[0]} can't be run: {getattr(error, 'strerror', None) or error}.") from error
            self._records = b""
            self._words = b""
            try:
                self._await_first_word()
            except BaseException as problem:
                self._starter.kill()
                self._starter.wait()
                self._close()
                if isinstance(problem, RecordingError):
                    raise RecordingError("The recorder did not begin: it was stopped, or stands still.") from problem
                raise
            self._process = Process(self.pid)
            self._hang_bell()
            if self.pid != self._starter.pid:  # it continues in a process of its own, or says why it can't
                code = self._starter.wait()
                self._code = None if self.pid else code
            self._reader = self._new_reader()
            try:
                self._reader.start()
                self._enter(ours)
            except BaseException as problem:
                ours.close()
                if self._to_come:
                    self._to_come.end()
                with contextlib.suppress(RecordingError):
                    self._ask_for_end()
                if self._reader.ident is None:  # the thread did not start: a limit was reached, or the interpreter ends
                    self._close()
                    raise RecordingError(f"No thread can be started to listen to the recorder: {problem}.") from problem
                with contextlib.suppress(RecordingError):
                    self.await_end()
                raise

    def _await_first_word(self) -> None:
        """Waits until the recorder has said which process it is, or that it refuses."""
        patience = Patience(Process(self._starter.pid), "begun", self._hurry)
        while not self.pid:
            if _can_be_read(self._told):
                if not self._take_records(self._told.number):
                    return
            elif self._starter.poll():
                return  # no end of file arrives if a child that was forked meanwhile outside of Python has the other end
            else:
                patience.look()

    def _enter(self, ours: Descriptor) -> None:
        if self.pid:
            allow_reading(self.pid)
        connection = ours.as_socket()
        try:
            connection.send(b"ready")
        except OSError:
            pass  # it has ended and says why
        patience = Patience(self._process, "begun", self._hurry)

        def runs() -> bool:
            patience.look()
            return self._runs()

        paths = await_answer(connection, runs)
        agent = Agent(paths[0]) if paths else None
        if agent and paths:
            agent.join(ours, connection, paths[1])
        self._await(self._has_spoken, "begun", self._hurry)
        if not self._has_begun:
            self.await_end()
            raise RecordingError(self.failure() or "The recorder ended before it began.")
        if agent:
            agent.await_joined()
            self._agent = agent
            self._to_come = LibrariesToCome(agent.path)
            _nvtx.install(agent.library)

    def _new_reader(self) -> threading.Thread:
        return threading.Thread(target=self._read, args=(self._told, self._says), name="lanescope", daemon=True)

    def _close(self) -> None:
        self._told.close()
        self._says.close()
        self._take_bell_down()

    def _read(self, told: Descriptor, says: Descriptor, patience: Optional[Patience] = None) -> None:
        """Reads what it tells and prints until it says how it ended, it is gone, the program closes these descriptors, or patience ends."""
        with contextlib.ExitStack() as closing:
            gone = _end_of(self.pid)
            for each in gone:
                closing.callback(each.close)
            self._read_until(told, says, patience, gone)

    def _read_until(self, told: Descriptor, says: Descriptor, patience: Optional[Patience], gone: "list[Descriptor]") -> None:
        takes = {each: take for each, take in ((told, self._take_records), (says, self._take_words)) if each.is_open()}
        if told not in takes:
            return  # as below
        is_gone = self._process.is_gone()
        with _new_selector() as selector:
            for each in [*takes, *gone]:
                selector.register(each.number, selectors.EVENT_READ)
            while told in takes and not is_gone:
                ready = [key.fd for key, _ in selector.select(LOOK if patience else None if gone else 1.0)]
                if patience and not ready:
                    patience.look()
                for each in [each for each in takes if not each.is_open()]:
                    selector.unregister(each.number)
                    del takes[each]
                if told not in takes:
                    return  # end() finds out how it ends
                if not gone or gone[0].number in ready:
                    is_gone = self._process.is_gone()
                    for each in gone if not is_gone else ():  # the program has closed it
                        selector.unregister(each.number)
                        gone = []
                for each in [each for each in takes if each.number in ready]:
                    if not takes[each](each.number):
                        selector.unregister(each.number)
                        each.close()
                        del takes[each]
        # Nothing more will come than what the pipes hold now; a child that was forked meanwhile may keep their other ends open for as long as it lives.
        for each, take in takes.items():
            with each, contextlib.suppress(BlockingIOError):
                if each.is_open():
                    os.set_blocking(each.number, False)
                    while take(each.number):
                        pass
        self._has_ended.set()
        self._has_spoken.set()

    def _take_records(self, descriptor: int) -> bool:
        """Reads the records of app/cli/session/asking_program.h. False at the end of file and after the last record."""
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
        """Reads the lines for people. False at the end of file."""
        some = os.read(descriptor, _LARGEST_ANSWER)
        *lines, self._words = (self._words + some).split(b"\n")
        for line in lines:
            text = os.fsdecode(line)
            if text.startswith(("Recording process ", "Attached to process ")):
                self._has_begun = True
                self._has_spoken.set()
            elif text.startswith(_NO_FILE):
                self.no_file = text
            elif text.startswith(_PREFIX) and not text.startswith(_PREFIX + _BUSY):
                self._last_word = text[len(_PREFIX):]
                self.messages.append(self._last_word)
        return bool(some)

    def _runs(self) -> bool:
        return not self._has_ended.is_set()

    def _hang_bell(self) -> None:
        """Sets up a pipe that signals the recorder with the rights that this process has now, because the process may become another user."""
        if not self.pid:
            return
        with contextlib.suppress(AttributeError, OSError):
            self._bell = _descriptors.make_loop()
            if self._bell:
                bell = self._bell.number
                fcntl.fcntl(bell, fcntl.F_SETOWN, self.pid)
                fcntl.fcntl(bell, fcntl.F_SETSIG, signal.SIGTERM)
                fcntl.fcntl(bell, fcntl.F_SETFL, fcntl.fcntl(bell, fcntl.F_GETFL) | os.O_ASYNC)

    def _take_bell_down(self) -> None:
        if self._bell:
            self._bell.close()

    def _ask_for_end(self) -> None:
        if not self.pid or not self._runs() or self._process.is_gone():
            return
        try:
            os.kill(self.pid, signal.SIGTERM)
        except ProcessLookupError:
            pass  # it has just ended
        except OSError as error:
            if not self._bell or not self._bell.is_open():
                raise RecordingError(f"The recorder of this process (process {self.pid}) can't be asked to end: {error.strerror}. "
                                     "The recording ends with this process.") from error
            os.write(self._bell.number, b"\0")

    def _listen_anew(self) -> None:
        """If the program has closed our descriptors, the recorder still has the other ends. Opens them anew to read what it says at its end."""
        if not self._runs() or self._told.is_open():
            return
        self._says.close()
        before, anew = (self._told, self._says), []
        try:
            for number, each in zip((self._tells_number, _ERRORS), before):
                anew.append(Descriptor(os.open(f"/proc/{self.pid}/fd/{number}", os.O_RDONLY)))
                if not anew[-1].is_same(each):
                    raise OSError(errno.ESTALE, "another program's")
            self._told, self._says = anew
            reader = self._new_reader()
            try:
                reader.start()
                self._reader = reader
            except RuntimeError:  # a limit was reached, or the interpreter ends, in which Python 3.12 starts none
                self._reads_alone = True
        except OSError:  # the recorder belongs to another user or is gone
            self._told, self._says = before
            for each in anew:
                each.close()

    def failure(self) -> str:
        """The last words of the recorder, with options as they are spelled here."""
        if self._last_word in self.messages:
            self.messages.remove(self._last_word)
        return self._last_word.replace("allow overwriting with -f.", "allow overwriting with force=True.")

    def answers(self) -> bool:
        """Whether it can be asked for another capture."""
        try:
            self.ask(command="describe")
        except RecordingError:
            return False
        return True

    def begin_capture(self, **request: Any) -> None:
        """Asks for a capture; all that the program does afterwards is in it."""
        self.ask(command="start", **request)
        if self._agent:
            self._agent.follow_capture()

    def ask(self, **request: Any) -> "dict[str, Any]":
        """Sends the session a request of `lanescope start` or `stop`."""
        patience = Patience(self._process, "answered")
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
            try:
                connection.settimeout(LOOK)
                connection.connect(self._place)
                connection.send(json.dumps(request).encode())
                while True:
                    try:
                        answer = json.loads(connection.recv(_LARGEST_ANSWER) or b"{}")
                        break
                    except socket.timeout:
                        patience.look()
            except (OSError, ValueError) as error:
                raise RecordingError(f"The recorder of this process does not answer: {error}.") from error
        if "error" in answer:
            raise RecordingError(str(answer["error"]))
        return dict(answer)

    def _await(self, event: threading.Event, waited_for: str, hurry: Optional[threading.Event] = None) -> None:
        """Waits for the event. Fails if the recorder stands still or takes very long."""
        patience = Patience(self._process, waited_for, hurry)
        while not event.wait(LOOK):
            if self._process.is_gone() and not self._reader.is_alive() and not self._has_ended.is_set():
                self._is_unheard = True
                self._has_ended.set()
                self._has_spoken.set()
            patience.look()

    def await_end(self) -> None:
        """Returns once it has ended, by itself or by end(). Fails if it stands still or takes very long."""
        try:
            if self._reads_alone:
                self._read(self._told, self._says, Patience(self._process, "ended"))
            self._await(self._has_ended, "ended")
        except BaseException:  # also an exception of a signal's handler, such as KeyboardInterrupt
            if self not in _left:
                _left.append(self)
            raise
        finally:
            self._take_bell_down()
        if self in _left:
            _left.remove(self)
        self._reader.join(LOOK)
        self._starter.wait()
        if self.pid and self.pid != self._starter.pid:
            with contextlib.suppress(ChildProcessError):  # it is our child if this process is the first one of a container
                os.waitpid(self.pid, 0)

    def ask_for_end(self) -> None:
        """Lets the recorder end the recording in order. No handler of a signal may raise an exception in it. finish() must follow."""
        if self._to_come:
            self._to_come.end()
        self._listen_anew()
        self._ask_for_end()
        _left.append(self)

    def finish(self) -> None:
        """Waits until the recorder has ended and its files are complete. Fails if they are not."""
        self.await_end()
        if self._is_unheard:
            raise RecordingError("This process has closed the descriptors on which the recorder tells of its end (os.closerange for one): "
                                 "what was recorded is in its file, and what is missing there is not known.")
        if self._code is None:
            raise RecordingError("The recorder was killed; what it had written can be read.")
        if self._code != 0:
            raise RecordingError(self.failure() or f"The recorder ended with {self._code}.")


os.register_at_fork(after_in_child=_left.clear)
