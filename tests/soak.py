"""Long forms of tests, for `make soak`: hundreds of kills, thousands of random requests and histories."""

import os

SOAK = bool(os.environ.get("PREFERO_SOAK"))


def repetitions(short: int, long: int) -> int:
    """How often a test repeats itself: `short` in the ordinary tests, `long` in a soak."""
    return long if SOAK else short
