"""Computing slots, one a core: requests come first, in their order; preparations when no request waits.

More computations at once than there are cores only make every one of them slower.
"""

import logging
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import SimpleQueue

from prefero._support.systems import usable_cores

LOGGER = logging.getLogger("prefero")


class ComputeSlots:
    """At most `slots` computations at once, by default one a core; a thread of its own runs preparations."""

    def __init__(self, slots: int | None = None) -> None:
        self._free = slots or usable_cores()
        self._waiting: deque[object] = deque()  # in the order in which they came
        self._change = threading.Condition()
        self._preparations: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._worker = threading.Thread(target=self._prepare, name="prefero-preparations", daemon=True)
        self._worker.start()

    @contextmanager
    def acquire(self) -> Iterator[None]:
        """A slot for a computation that a request waits for."""
        turn = object()
        with self._change:
            self._waiting.append(turn)
            self._change.wait_for(lambda: self._free > 0 and self._waiting[0] is turn)
            self._waiting.popleft()
            self._free -= 1
            self._change.notify_all()  # another slot may be free for the next one
        try:
            yield
        finally:
            self._release()

    def run_when_idle(self, job: Callable[[], None]) -> None:
        """Run a preparation once no request waits for a slot."""
        self._preparations.put(job)

    def close(self) -> None:
        """Run the preparations that were asked for, and take no more."""
        self._preparations.put(None)
        self._worker.join(timeout=5)

    def _prepare(self) -> None:
        while (job := self._preparations.get()) is not None:
            with self._change:
                self._change.wait_for(lambda: self._free > 0 and not self._waiting)
                self._free -= 1
            try:
                job()
            except Exception:  # the request that needs it computes it again, and reports the error
                LOGGER.exception("a question could not be prepared")
            finally:
                self._release()

    def _release(self) -> None:
        with self._change:
            self._free += 1
            self._change.notify_all()
