"""The errors of this package. They need no other module, so that what records works where the modules for reading are missing."""


class TraceError(Exception):
    """A file that is no .trace file, or of which nothing can be read. The message is one sentence."""


class ProgramError(TraceError):
    """The program is not there, or it failed; the message is what it said."""

    def __init__(self, message: str, code: int = 0) -> None:
        super().__init__(message)
        self.code = code  # that it ended with; 0 where it did not run


class RecordingError(RuntimeError):
    """What keeps this process from being recorded; the message is one sentence, mostly the recorder's."""


class RecordingWarning(UserWarning):
    """What is to be known of a recording that goes on all the same, or is answered from though it is not whole."""
