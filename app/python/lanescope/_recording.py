"""Recordings of this process, from within it."""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import threading
import warnings
from typing import TYPE_CHECKING, Any, Callable, Optional, TypeVar, Union

from ._agent import is_recorded
from ._errors import ProgramError, RecordingError, RecordingWarning, UnderWay, UnderWayElsewhere
from ._nvtx import Range, annotate, returns_before_it_runs
from ._recorder import Recorder, arguments_of
from ._schedule import Phase, Schedule
from ._undisturbed import undisturbed

if TYPE_CHECKING:
    from .trace import Trace

_Path = Union["os.PathLike[str]", str]
_Function = TypeVar("_Function", bound=Callable[..., Any])

_begin = threading.Lock()  # so that recordings begin one after the other
_current: "Optional[Recording]" = None
_left_to_another = 0  # the process for which @profile found that another recorder records it
_parents: "Optional[Recording]" = None  # in a child that was forked meanwhile: the recording that goes on in its parent


def numbered(output: _Path, number: int) -> str:
    """The name of a later recording: the second one of run.trace is run-2.trace. A name with %n is numbered by the recorder."""
    name = os.fsdecode(output)
    if number == 1 or "%n" in name:
        return name
    stem, extension = os.path.splitext(name)
    return f"{stem}-{number}{extension}"


class Recording:
    """A recording of this process, made by record() or start(). Only one can run at a time.

    Any thread may stop it; its other methods must not be called by several threads at once.
    When it is over, it can be read: lanescope.open(recording). `paths` are all files; a schedule makes several.
    """

    def __init__(self, output: Optional[_Path] = None, *, schedule: Optional[Schedule] = None, **options: Any) -> None:
        self.paths: "list[str]" = []
        self._output = None if output is None else os.fsdecode(output)
        self._options = options
        self._schedule = schedule
        self._step = 0
        self._range: Optional[Range] = None
        self._recorder: Optional[Recorder] = None
        self._place: "tuple[int, Phase]" = (0, Phase.IDLE)
        self._lost: Optional[Exception] = None  # why steps of a schedule were not recorded; raised by stop()
        self._process = 0  # the process that is recorded; 0 before the start
        self._changing = threading.RLock()  # held by start() and stop(), which threads may call at the same time

    def start(self) -> "Recording":
        """Starts the recording. Returns once everything from here on is recorded."""
        global _current
        with _begin:
            if _current is not None:
                raise UnderWay("A recording of this process is under way already: end it before another one begins.")
            if self._process:
                raise RecordingError("This recording is over: make another one.")
            self._process = os.getpid()
            _current = self
        with self._changing:
            try:
                self._go_to_step() if self._schedule else self._attach()
            except BaseException:
                _current = None
                with contextlib.suppress(RecordingError):
                    self._detach()
                raise
            if _current is not self:  # a signal handler has stopped it meanwhile
                self._detach()
            elif self._schedule:
                self.mark_step()
        return self

    def stop(self) -> "Recording":
        """Ends the recording. Returns once the files are complete. Does nothing if it is over, or in a child that was forked meanwhile."""
        global _current
        if self._process != os.getpid():
            return self
        with self._changing:
            if _current is not self:
                return self
            self._end_range()
            try:
                self._detach()
            finally:
                _current = None
        if self._lost:
            raise self._lost
        return self

    def step(self) -> None:
        """Ends one step of the program's loop and starts the next one, for the schedule and as NVTX ranges "step N".

        If the recorder of a schedule has ended or fails, this warns, and the loop goes on unrecorded until the next cycle; stop() then raises the error.
        """
        if self._process != os.getpid() or _current is not self:
            return
        self._end_range()
        self._step += 1
        if self._schedule:
            try:
                self._go_to_step()
            except (ProgramError, RecordingError) as error:
                self._lose(error)
        self.mark_step()

    def mark_step(self) -> None:
        """Marks the current step as an NVTX range. Needed for the first step of a recording without a schedule, because step() marks only the later ones."""
        is_recorded = self._schedule is None or self._place[1] is Phase.ACTIVE
        if is_recorded and self._range is None and _current is self:
            self._range = annotate(f"step {self._step}").__enter__()

    @property
    def path(self) -> str:
        """The path of the file, or of the first of several."""
        if not self.paths:
            raise RecordingError("This recording has no file: " + ("it is not over." if _current is self else "nothing was recorded."))
        return self.paths[0]

    def open(self) -> "Trace":
        from .trace import open as open_trace

        return open_trace(self.path)

    def __fspath__(self) -> str:
        return self.path

    def __enter__(self) -> "Recording":
        return self.start()

    def __exit__(self, kind: object, problem: object, traceback: object) -> None:
        try:
            self.stop()
        except (ProgramError, RecordingError) as error:
            if kind is None:
                raise
            warnings.warn(str(error), RecordingWarning, stacklevel=2)  # the exception of the with block says more

    def _end_range(self) -> None:
        if self._range:
            self._range.__exit__()
            self._range = None

    def _attach(self, **more: Any) -> None:
        arguments = arguments_of({**({} if "start_later" in more else {"output": self._output}), **self._options, **more})
        hurry = threading.Event()

        def attach() -> None:
            self._recorder = Recorder(arguments, hurry)

        undisturbed(attach, hurry.set)

    def _detach(self) -> None:
        recorder: Optional[Recorder] = None

        def ask_for_end() -> None:
            nonlocal recorder
            recorder, self._recorder = self._recorder, None
            if recorder:
                recorder.ask_for_end()

        try:
            undisturbed(ask_for_end)
            if recorder:
                recorder.finish()
        finally:
            self._take_results(recorder)

    def _take_results(self, recorder: Optional[Recorder]) -> None:
        if recorder:
            self.paths += recorder.files
            unexplained = [recorder.no_file] if recorder.no_file and not self._schedule else []  # a loop may end before its first recorded step
            for message in recorder.messages + unexplained:
                warnings.warn(message, RecordingWarning, stacklevel=4)

    def _go_to_step(self) -> None:
        assert self._schedule is not None
        before, self._place = self._place, self._schedule.at(self._step)
        if before == self._place:
            return
        cycle, phase = self._place
        if before[1] is Phase.ACTIVE and self._recorder:
            self._end_capture(self._recorder)
        if phase is Phase.IDLE:
            self._detach()
        elif self._recorder is None:
            self._attach(start_later=True)
        if phase is Phase.ACTIVE and self._recorder:
            arguments = arguments_of({"output": self._name_of(cycle), "force": bool(self._options.get("force"))})
            self._recorder.begin_capture(arguments=arguments, folder=os.getcwd())

    def _end_capture(self, recorder: Recorder) -> None:
        try:
            recorder.ask(command="stop")
        except RecordingError as error:
            if recorder.answers():  # the capture has ended by itself, because of its duration or size limit
                warnings.warn(f"Not all steps of this cycle were recorded: {error}", RecordingWarning, stacklevel=5)
            else:
                self._detach()

    def _lose(self, error: Exception) -> None:
        """Stops recording for the rest of the current cycle."""
        warnings.warn(f"Step {self._step} and those after it are not recorded: {error}", RecordingWarning, stacklevel=3)
        try:
            self._detach()
        except RecordingError as problem:
            error = problem
        self._lost = self._lost or error

    def _name_of(self, cycle: int) -> Optional[str]:
        assert self._schedule is not None
        if self._output is None or self._schedule.repeat == 1 or "%n" in self._output:
            return self._output
        stem, extension = os.path.splitext(self._output)
        return f"{stem}.{cycle + 1}.trace" if extension == ".trace" else f"{self._output}.{cycle + 1}"


def record(output: Optional[_Path] = None, *, schedule: Optional[Schedule] = None, **options: Any) -> Recording:
    """A recording for a with block:

        with lanescope.record("x.trace", trace=["cuda", "nvtx"], sample="none", force=True) as recording: ...

    Options are those of `lanescope attach`, with underscores; `force` is --force-overwrite. With a schedule, recording.step() ends each step.
    """
    return Recording(output, schedule=schedule, **options)


def start(output: Optional[_Path] = None, *, schedule: Optional[Schedule] = None, **options: Any) -> Recording:
    """Starts a recording with the arguments of record(). End it with stop()."""
    return Recording(output, schedule=schedule, **options).start()


def stop() -> Recording:
    """Ends the current recording. Does nothing in a child that was forked meanwhile."""
    recording = _current or _parents
    if recording is None:
        raise RecordingError("No recording of this process is under way.")
    return recording.stop()


def profile(function: "Union[_Function, _Path, None]" = None, **options: Any) -> Any:
    """Records each call of a function into a file of its own, with an NVTX range that has the function's name:

        @lanescope.profile                                       into train1.trace, train2.trace, ...
        @lanescope.profile("epoch.trace", trace=["nvtx"])        into epoch.trace, epoch-2.trace, ...

    If another recording runs, a call becomes a range in it: one of this or another function, of a recorder that this process did not start, or of the
    process that forked this one.
    """
    if not callable(function):
        return functools.partial(_recorded, output=function, options=options)
    return _recorded(function, output=None, options=options)


def _recorded(function: _Function, output: Optional[_Path], options: "dict[str, Any]") -> _Function:
    if kind := returns_before_it_runs(function):
        raise TypeError(f"profile can't record {getattr(function, '__qualname__', function)}: it is {kind}. Record the call that runs it.")

    # Callable objects have no name; an object of functools.partial stands for its function.
    named = getattr(function, "func", function)
    name = getattr(named, "__name__", type(named).__name__)
    qualified_name = getattr(named, "__qualname__", type(named).__qualname__)

    recorded = 0

    @functools.wraps(function)
    def called(*arguments: Any, **keywords: Any) -> Any:
        nonlocal recorded
        with contextlib.ExitStack() as scopes:
            if not _is_left_to_another():
                try:
                    scopes.enter_context(Recording(numbered(output, recorded + 1) if output else f"{name}%n", **options))
                    recorded += 1
                except UnderWayElsewhere:
                    _leave_to_another(qualified_name)
                except UnderWay:
                    pass
            scopes.enter_context(annotate(qualified_name))
            return function(*arguments, **keywords)
    return called  # type: ignore[return-value]


def _is_left_to_another() -> bool:
    # Asking the agent takes no time. It is not asked first, because it may not know yet that the last recording of this process is over.
    return _left_to_another == os.getpid() and is_recorded()


def _leave_to_another(function: str) -> None:
    global _left_to_another
    _left_to_another = os.getpid()
    if _parents is None:
        warnings.warn("This process is being recorded already, by a recorder that it did not start: "
                      f"calls of {function} have no files of their own, and are ranges in that recording.", RecordingWarning, stacklevel=3)


def _forget_parents_recording() -> None:
    global _begin, _current, _parents
    _begin, _current, _parents = threading.Lock(), None, _current or _parents


def _end_with_program() -> None:
    if _current is not None:
        try:
            _current.stop()
        except (ProgramError, RecordingError) as error:
            warnings.warn(str(error), RecordingWarning, stacklevel=2)


os.register_at_fork(after_in_child=_forget_parents_recording)
atexit.register(_end_with_program)
