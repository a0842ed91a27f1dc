"""Some rows of a large array on each core: one thread a core, and one BLAS thread inside each.

NumPy and BLAS release Python's lock while they compute, so threads do the work without copies. All
callers use one set of threads: two large computations at once take turns instead of crowding the cores.
"""

import os
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import TypeVar

from prefero._support.systems import usable_cores

T = TypeVar("T")
R = TypeVar("R")
LIMIT = "OMP_NUM_THREADS"  # how many threads numerical programs may use: the convention that BLAS follows too
_INSIDE = threading.local()


def core_count() -> int:
    """How many cores this process may use: what the system gives it, or fewer where OMP_NUM_THREADS says."""
    given = usable_cores()
    limit = os.environ.get(LIMIT, "")
    return max(1, min(given, int(limit))) if limit.isdecimal() else given


def chunks_of(count: int, size: int) -> list[slice]:
    """Slices of at most `size` rows that make up `count` rows."""
    return [slice(start, min(start + size, count)) for start in range(0, count, size)]


def map_parallel(function: Callable[[T], R], items: Iterable[T]) -> list[R]:
    """[function(item) for item in items], on all cores; the order of the results is that of the items."""
    waiting = list(items)
    cores = core_count()
    if cores == 1 or len(waiting) < 2 or getattr(_INSIDE, "working", False):
        return [function(item) for item in waiting]
    return list(_threads(cores).map(function, waiting))


@lru_cache(maxsize=1)
def _threads(cores: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(cores, "prefero", initializer=_mark_as_working)


def _mark_as_working() -> None:
    """Work that is parallel already does not wait for further threads."""
    _INSIDE.working = True


def _forget_threads() -> None:
    """A forked process has none of its parent's threads."""
    _threads.cache_clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)
