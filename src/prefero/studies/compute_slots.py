"""Whose turn it is to compute: those who wait come first, preparations when nobody waits.

More computations at once than there are cores only make every one of them slower.
"""

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import SimpleQueue

from prefero._support.systems import usable_cores

LOGGER = logging.getLogger("prefero")


class Turns:
    """As many computations at once as there are `places`, one a core, people before preparations."""

    def __init__(self, places: int | None = None) -> None:
        self._free = places or usable_cores()
        self._waiting = 0
        self._change = threading.Condition()
        self._later: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._worker = threading.Thread(target=self._work, name="prefero-ahead", daemon=True)
        self._worker.start()

    @contextmanager
    def mine(self) -> Iterator[None]:
        """Somebody waits for this."""
        with self._change:
            self._waiting += 1
            self._change.wait_for(lambda: self._free > 0)
            self._waiting -= 1
            self._free -= 1
        try:
            yield
        finally:
            self._release()

    def later(self, job: Callable[[], None]) -> None:
        """Do this when nobody waits."""
        self._later.put(job)

    def close(self) -> None:
        """No more jobs."""
        self._later.put(None)
        self._worker.join(timeout=5)

    def _work(self) -> None:
        while (job := self._later.get()) is not None:
            with self._change:
                self._change.wait_for(lambda: self._free > 0 and not self._waiting)
                self._free -= 1
            try:
                job()
            except Exception:  # whoever needs it will compute it, and meet the error
                LOGGER.exception("a question could not be prepared")
            finally:
                self._release()

    def _release(self) -> None:
        with self._change:
            self._free += 1
            self._change.notify_all()
