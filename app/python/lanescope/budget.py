"""What a block of a test may cost on the GPU.

The pytest plugin of this package gives tests the fixture `gpu_budget`:

    def test_step(gpu_budget):
        step()  # warm-up: sets up what is set up only once
        with gpu_budget(idle=0.2, kernels=40):
            step()
            torch.cuda.synchronize()
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from typing import Any, Iterator, Optional

from ._recording import record

__all__ = ["Cost", "cost_of", "gpu_budget"]


@dataclass(frozen=True)
class Cost:
    kernels: int  # kernels that ran, on all GPUs
    idle: float   # share of the time between the first kernel's start and the last one's end without a kernel; the largest of all GPUs


def cost_of(path: "os.PathLike[str] | str") -> Cost:
    """The cost of a recording. O(n log n)."""
    import numpy as np

    from .trace import open as open_trace

    with open_trace(path) as trace:
        table = trace.kernels[["process", "device", "start", "duration"]].to_numpy()
    starts, ends = table["start"].astype(np.int64), table["start"].astype(np.int64) + table["duration"].astype(np.int64)
    idle = 0.0
    for process, device in set(zip(table["process"].tolist(), table["device"].tolist())):
        own = (table["process"] == process) & (table["device"] == device)
        begin, end = starts[own], np.maximum.accumulate(ends[own])
        gaps = np.maximum(begin[1:] - end[:-1], 0).sum()
        if end[-1] > begin[0]:
            idle = max(idle, float(gaps) / float(end[-1] - begin[0]))
    return Cost(len(starts), idle)


@contextlib.contextmanager
def gpu_budget(output: "os.PathLike[str] | str", *, idle: Optional[float] = None, kernels: Optional[int] = None, **options: Any) -> Iterator[None]:
    """Records the block. Raises AssertionError if it runs more than `kernels` kernels, or if a GPU is idle for more than `idle` (0 to 1) of the time."""
    chosen: "dict[str, Any]" = {"trace": "cuda,nvtx", "sample": "none", "cpuctxsw": "none", "force": True, **options}
    with record(output, **chosen) as recording:
        yield
    cost = cost_of(recording.path)
    reasons = []
    if cost.kernels == 0:
        reasons.append("it ran no kernel")
    if kernels is not None and cost.kernels > kernels:
        reasons.append(f"it ran {cost.kernels} kernels, and {kernels} are allowed")
    if idle is not None and cost.idle > idle:
        reasons.append(f"the GPU was idle for {cost.idle:.1%} of it, and {idle:.1%} are allowed")
    if reasons:
        raise AssertionError(f"The block is over its budget: {'; '.join(reasons)}. See: lanescope analyze {recording.path}")
