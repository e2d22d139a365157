"""Another process that is waited for."""

from __future__ import annotations

import os
from typing import Optional

from ._errors import RecordingError

LOOK = 0.2           # s, between looks at it
_STANDING_LOOKS = 10  # in a row: who stopped it, or holds it in a debugger, means it
LOOKS = 1500         # five minutes; counted, since this process may have been stopped meanwhile, too
_BEGIN = 19          # of the words behind a program's name in /proc/PID/stat


class Process:
    """What /proc shows of it, and of no other process that has its number later."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        words = self._words()
        self._begin = words[_BEGIN] if words else None

    def _words(self) -> "Optional[list[str]]":
        try:
            with open(f"/proc/{self.pid}/stat", encoding="utf-8", errors="replace") as file:
                return file.read().rpartition(")")[2].split()
        except OSError:
            return None  # it is gone, or hidden from this user

    def state(self) -> str:
        """A letter, as ps shows it; X where it is gone, and ? where that alone is known that it is not."""
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

    def is_gone(self) -> bool:
        return self.state() == "X"


class Patience:
    """With a recorder: look() is called every LOOK seconds, and raises the sentence that is said where it stands still or takes too long."""

    def __init__(self, process: Process, waited_for: str) -> None:
        self._process = process
        self._waited_for = waited_for  # as in: it has not ...
        self._looks = 0
        self._standing = 0

    def look(self) -> None:
        self._looks += 1
        self._standing = self._standing + 1 if self._process.state() in ("T", "t") else 0
        if self._standing >= _STANDING_LOOKS:
            raise RecordingError(f"The recorder of this process was stopped. Let it go on with: kill -CONT {self._process.pid}")
        if self._looks >= LOOKS:
            raise RecordingError(f"The recorder of this process (process {self._process.pid}) has not {self._waited_for} for {LOOKS * LOOK / 60:.0f} minutes. "
                                 "It is no longer waited for; its file is whole once it has ended.")
