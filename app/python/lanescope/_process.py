"""Another process that this one waits for."""

from __future__ import annotations

import os
import threading
from typing import Optional

from ._errors import RecordingError

LOOK = 0.2           # s, between looks at the process
_STANDING_LOOKS = 10  # looks in a row that find it stopped: then somebody stopped it, or a debugger holds it, on purpose
LOOKS = 1500         # five minutes; looks are counted instead of time, because this process may have been stopped meanwhile, too
_BEGIN = 19          # index of the start time among the words after a program's name in /proc/PID/stat


class Process:
    """What /proc says about a process. A later process with the same number is recognised as another one."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        words = self._words()
        self._begin = words[_BEGIN] if words else None

    def _words(self) -> "Optional[list[str]]":
        try:
            with open(f"/proc/{self.pid}/stat", encoding="utf-8", errors="replace") as file:
                return file.read().rpartition(")")[2].split()
        except OSError:
            return None  # the process is gone, or hidden from this user

    def state(self) -> str:
        """A letter as in ps; X if the process is gone, ? if it is only known to exist."""
        if not self.pid:
            return "X"
        words = self._words()
        if words:
            return "X" if words[0] == "Z" or (self._begin and words[_BEGIN] != self._begin) else words[0]
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return "X"
        except OSError:
            pass
        return "?"

    def is_stopped(self) -> bool:
        return self.state() in ("T", "t")

    def is_gone(self) -> bool:
        return self.state() == "X"


class Patience:
    """For waiting for a recorder: look() must be called every LOOK seconds. It raises an error sentence if the recorder stands still or takes too long.

    If `hurry` is set meanwhile, because nobody wants the recording any more, look() raises an error, too.
    """

    def __init__(self, process: Process, waited_for: str, hurry: Optional[threading.Event] = None) -> None:
        self._process = process
        self._hurry = hurry
        self._waited_for = waited_for  # ends the sentence "it has not ..."
        self._looks = 0
        self._standing = 0

    def look(self) -> None:
        if self._hurry is not None and self._hurry.is_set():
            raise RecordingError(f"The recorder of this process was given up before it had {self._waited_for}.")
        self._looks += 1
        self._standing = self._standing + 1 if self._process.is_stopped() else 0
        if self._standing >= _STANDING_LOOKS:
            raise RecordingError(f"The recorder of this process was stopped. Let it go on with: kill -CONT {self._process.pid}")
        if self._looks >= LOOKS:
            raise RecordingError(f"The recorder of this process (process {self._process.pid}) has not {self._waited_for} for {LOOKS * LOOK / 60:.0f} minutes. "
                                 "It is no longer waited for; its file is whole once it has ended.")
