"""Measuring on a noisy machine: medians of interleaved runs, as ratios to something run beside them.

Times are those of the processor, not of the clock, so that other programs disturb them less: everything
measured here runs in one thread.
"""

import sys
import time
from collections.abc import Callable
from statistics import median

import numpy as np

from prefero._support.arrays import Array
from prefero.questions import Comparisons
from prefero.simulation.users import SimulatedUser, quadratic, with_unit_std


def seconds(
    *works: Callable[[], object], repeats: int = 9, clock: Callable[[], float] = time.process_time
) -> list[float]:
    """Median time of each work; they take turns, so that a slow moment hits all alike."""
    times: list[list[float]] = [[] for _ in works]
    for work in works:
        work()
    for _ in range(repeats):
        for work, kept in zip(works, times, strict=True):
            start = clock()
            work()
            kept.append(clock() - start)
    return [median(kept) for kept in times]


def peak_memory() -> int:
    """The most memory that this process has had, in bytes."""
    if sys.platform == "win32":
        from psutil import Process

        most = int(Process().memory_info().peak_wset)
    else:
        import resource

        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        most *= 2**10 if sys.platform.startswith("linux") else 1
    return most


def problem(answers: int, pool: int, features: int, seed: int = 0) -> tuple[Array, Comparisons]:
    """A pool, and a simulated user's answers to random questions about it."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((pool, features))
    user = SimulatedUser(with_unit_std(quadratic(features, rng), x), noise=0.1)
    pairs = np.array([rng.choice(pool, 2, replace=False) for _ in range(answers)])
    won = [user.answer(x[i], x[j], rng) == "left" for i, j in pairs]
    return x, Comparisons.of(x, np.where(np.array(won)[:, None], pairs, pairs[:, ::-1]))


def row(name: str, time_taken: float, unit: float, allowed: float | None = None) -> str:
    """A line of a table: milliseconds, the ratio, and whether it is what we want."""
    ratio = time_taken / unit
    verdict = "" if allowed is None else f"   wanted {allowed:g}: {'yes' if ratio <= allowed else 'NO'}"
    return f"{name:58s} {1e3 * time_taken:10.2f} ms {ratio:9.2f} x{verdict}"
