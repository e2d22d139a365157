"""The fixture gpu_budget. pytest finds this module by the package's entry point."""

from __future__ import annotations

import functools
import pathlib
from typing import Any, Callable

import pytest

from .budget import gpu_budget as _gpu_budget


@pytest.fixture
def gpu_budget(tmp_path: pathlib.Path) -> "Callable[..., Any]":
    """with gpu_budget(idle=0.2, kernels=40): ... fails the test if the block costs more on the GPU."""
    return functools.partial(_gpu_budget, tmp_path / "budget.trace")
