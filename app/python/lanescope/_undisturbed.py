"""Work in which no signal handler raises an exception, such as KeyboardInterrupt at a Ctrl+C.

Python runs handlers on the main thread alone. So the work is done on another thread, and the main thread waits for it.
"""

from __future__ import annotations

import _thread
import threading
from typing import Callable, Optional, TypeVar

_Value = TypeVar("_Value")


def undisturbed(work: "Callable[[], _Value]", hurry: "Optional[Callable[[], None]]" = None) -> _Value:
    """Does the work, and returns what it returns. An exception of a handler is raised once the work is over, or at once if it has not begun.

    `hurry` is called meanwhile, so that the work need not be waited for where it waits itself.
    """
    if threading.current_thread() is not threading.main_thread():
        return work()
    claim = [work]  # whoever takes it out decides whether the work is done
    values: "list[_Value]" = []
    problems: "list[BaseException]" = []
    over = threading.Event()

    def run() -> None:
        try:
            claimed = claim.pop()
        except IndexError:
            return
        try:
            values.append(claimed())
        except BaseException as problem:
            problems.append(problem)
        finally:
            over.set()

    disturbance: Optional[BaseException] = None
    try:
        _thread.start_new_thread(run, ())
    except BaseException as problem:
        try:
            claim.pop()
        except IndexError:
            disturbance = problem
        else:
            is_of_a_handler = problem.__traceback__ is not None and problem.__traceback__.tb_next is not None
            if is_of_a_handler or not isinstance(problem, RuntimeError):
                raise
            return work()  # no thread can be started: a limit was reached, or the interpreter ends
    while not over.is_set():
        try:
            if disturbance is not None and hurry is not None:
                hurry()
            over.wait()
        except BaseException as problem:
            disturbance = problem
    if disturbance is not None:
        raise disturbance
    if problems:
        raise problems[0]
    return values[0]
