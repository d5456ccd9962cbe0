"""PyTorch, or a reason to skip: it is an extra, and CI demands it by ARENA_REQUIRE_RL."""

from __future__ import annotations

import os

import pytest


def need_torch() -> None:
    """Skips the module where PyTorch is missing, unless it must be there."""
    if not os.environ.get("ARENA_REQUIRE_RL"):
        pytest.importorskip("torch", reason="PyTorch is not installed (make setup-rl)")
