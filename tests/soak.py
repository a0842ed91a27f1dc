"""Long forms of tests, for `make soak`: killed servers, mutated requests, hostile pools, full disks.

A variable of the environment changes one number: PREFERO_SOAK_KILLS=50 make soak.
"""

import os

SOAK = bool(os.environ.get("PREFERO_SOAK"))


def repetitions(what: str, short: int, long: int) -> int:
    """How often a test repeats itself: `short` in ordinary tests; in a soak `long`, or as a variable says."""
    return int(os.environ.get(f"PREFERO_SOAK_{what.upper()}", long)) if SOAK else short
