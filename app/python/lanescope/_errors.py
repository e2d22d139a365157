"""The errors of this package. They need no other module, so that recording works without the modules for reading."""


class TraceError(Exception):
    """The file is not a .trace file, or nothing can be read from it. The message is one sentence."""


class ProgramError(TraceError):
    """The program `lanescope` was not found, or it failed. The message is what it printed."""

    def __init__(self, message: str, code: int = 0) -> None:
        super().__init__(message)
        self.code = code  # its exit code; 0 if it did not run


class RecordingError(RuntimeError):
    """Why this process can't be recorded. The message is one sentence, mostly the recorder's."""


class UnderWay(RecordingError):
    """Another recording of this process is under way."""


class UnderWayElsewhere(UnderWay):
    """The same, by a recorder that this process did not start."""


class RecordingWarning(UserWarning):
    """A problem that does not stop a recording, or a warning that an answer comes from an incomplete recording."""
