"""Recordings of training loops of other packages. These packages are imported only when a callback is made.

    trainer = transformers.Trainer(..., callbacks=[lanescope.callbacks.transformers("run.trace", schedule=lanescope.schedule(wait=10, warmup=2, active=5))])
    trainer = lightning.Trainer(callbacks=[lanescope.callbacks.lightning("run.%q{RANK}.trace", ranks=[0, 1], schedule=...)])

A problem with a recording is a RecordingWarning, and the training goes on. Each step of the training, up to the start of the next one, is an NVTX range
"step N", also in what another recorder (`lanescope profile`) records of this process. `ranks` are the ranks to record; all if it is left out.
"""

from __future__ import annotations

import contextlib
import functools
import warnings
from importlib import import_module
from typing import Any, Collection, Iterator, Optional, Union

from ._errors import ProgramError, RecordingError, RecordingWarning, UnderWayElsewhere
from ._nvtx import Range, annotate
from ._recording import Recording, _Path, numbered

__all__ = ["lightning", "transformers"]


@contextlib.contextmanager
def _warning() -> Iterator[None]:
    """Turns errors of a recording into warnings, because a training of hours must not end for its recording."""
    try:
        yield
    except (ProgramError, RecordingError) as error:
        warnings.warn(str(error), RecordingWarning, stacklevel=4)


class _Marks:
    """Marks steps as a Recording does, in what another recorder records."""

    def __init__(self) -> None:
        self._step = 0
        self._range: Optional[Range] = None

    def mark_step(self) -> None:
        self._range = annotate(f"step {self._step}").__enter__()

    def step(self) -> None:
        self.stop()
        self._step += 1
        self.mark_step()

    def stop(self) -> None:
        if self._range:
            self._range.__exit__()
            self._range = None


class _Steps:
    """A recording that starts and ends with a training."""

    def __init__(self, output: Optional[_Path], ranks: Optional[Collection[int]], options: "dict[str, Any]") -> None:
        self._output, self._ranks, self._options = output, ranks, options
        self._is_first = True
        self._trainings = 0
        self.recording: Optional[Recording] = None
        self._loop: "Union[Recording, _Marks, None]" = None  # the recording, or what marks the steps in its place

    def begin(self, rank: int) -> None:
        if self._ranks is None or rank in self._ranks:
            self.end()  # a training that was interrupted, which not all packages report
            self._is_first = True
            self._trainings += 1
            with _warning():
                try:
                    self._loop = self.recording = Recording(self._output and numbered(self._output, self._trainings), **self._options).start()
                except UnderWayElsewhere:
                    self._loop = _Marks()
                    raise

    def step_begins(self) -> None:
        if self._loop and self._is_first:
            self._loop.mark_step()
        elif self._loop:
            self._loop.step()
        self._is_first = False

    def end(self) -> None:
        if self._loop:
            with _warning():
                self._loop.stop()


def transformers(output: Optional[_Path] = None, *, ranks: Optional[Collection[int]] = None, **options: Any) -> Any:
    """A callback for `Trainer(callbacks=[...])` of Hugging Face. `schedule` and other options are as in lanescope.record. `.steps.recording` has the files."""
    base = import_module("transformers").TrainerCallback

    class LanescopeCallback(base):  # type: ignore[misc, valid-type]
        def __init__(self) -> None:
            self.steps = _Steps(output, ranks, options)

        # Trainers that start processes send their callbacks there. The class is made here, where pickle does not find it.
        def __reduce__(self) -> "tuple[Any, ...]":
            return functools.partial(transformers, output, ranks=ranks, **options), ()

        def on_train_begin(self, arguments: Any, state: Any, control: Any, **more: Any) -> None:
            self.steps.begin(arguments.process_index)

        def on_step_begin(self, arguments: Any, state: Any, control: Any, **more: Any) -> None:
            self.steps.step_begins()

        def on_train_end(self, arguments: Any, state: Any, control: Any, **more: Any) -> None:
            self.steps.end()

    return LanescopeCallback()


def lightning(output: Optional[_Path] = None, *, ranks: Optional[Collection[int]] = None, **options: Any) -> Any:
    """A callback for `Trainer(callbacks=[...])` of Lightning, under either name of its package. Otherwise as transformers()."""
    try:
        base = import_module("lightning.pytorch").Callback
    except ModuleNotFoundError:
        base = import_module("pytorch_lightning").Callback

    class LanescopeCallback(base):  # type: ignore[misc, valid-type]
        def __init__(self) -> None:
            self.steps = _Steps(output, ranks, options)

        # Trainers that start processes send their callbacks there. The class is made here, where pickle does not find it.
        def __reduce__(self) -> "tuple[Any, ...]":
            return functools.partial(lightning, output, ranks=ranks, **options), ()

        def on_train_start(self, trainer: Any, module: Any) -> None:
            self.steps.begin(trainer.global_rank)

        def on_train_batch_start(self, trainer: Any, module: Any, batch: Any, batch_index: int) -> None:
            self.steps.step_begins()

        def on_train_end(self, trainer: Any, module: Any) -> None:
            self.steps.end()

        def on_exception(self, trainer: Any, module: Any, problem: BaseException) -> None:
            self.steps.end()

    return LanescopeCallback()
