"""Waiting for a condition, on a machine that may be busy with other things."""

import time
from collections.abc import Callable
from typing import TypeVar

TIMEOUT = 120.0  # seconds: a limit for what does not come at all, on the busiest machine
Result = TypeVar("Result")


def wait_until(condition: Callable[[], Result], what: str = "the condition") -> Result:
    """The first true value of `condition`, which is checked again and again until the timeout."""
    end = time.monotonic() + TIMEOUT
    while not (found := condition()):
        assert time.monotonic() < end, f"{what} did not come true in {TIMEOUT:.0f} seconds"
        time.sleep(0.005)
    return found
