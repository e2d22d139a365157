"""Which steps of a loop are recorded."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Phase(enum.Enum):
    IDLE = "idle"      # no recorder runs
    READY = "ready"    # a recorder is attached, and records nothing yet
    ACTIVE = "active"


@dataclass(frozen=True)
class Schedule:
    """Cycles of steps: `wait` steps without a recorder, `warmup` steps with the recorder attached, `active` steps that are recorded into one file."""

    wait: int
    warmup: int
    active: int
    repeat: int  # number of cycles; 0: without end

    def at(self, step: int) -> "tuple[int, Phase]":
        """The cycle of a step, counted from 0, and what happens during the step."""
        cycle, place = divmod(step, self.wait + self.warmup + self.active)
        if place < self.wait or (self.repeat and cycle >= self.repeat):
            return cycle, Phase.IDLE
        return cycle, Phase.READY if place < self.wait + self.warmup else Phase.ACTIVE


def schedule(*, wait: int = 0, warmup: int = 0, active: int, repeat: int = 1) -> Schedule:
    """For record(schedule=...): of every wait + warmup + active steps, the last `active` are recorded, `repeat` times (0: without end)."""
    for name, count, least in (("wait", wait, 0), ("warmup", warmup, 0), ("active", active, 1), ("repeat", repeat, 0)):
        if not isinstance(count, int) or count < least:
            raise ValueError(f"{name} is a number of {'cycles' if name == 'repeat' else 'steps'}, {least} or more, not {count!r}.")
    return Schedule(wait, warmup, active, repeat)
