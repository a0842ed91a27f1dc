"""Computing slots, one a core: requests come first, in their order; preparations when no request waits.

More computations at once than there are cores only make every one of them slower.
"""

import logging
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from functools import partial
from queue import SimpleQueue
from types import GeneratorType
from typing import Any

from prefero._support.steps import completed
from prefero._support.systems import usable_cores
from prefero.studies.computing.base import NOW
from prefero.studies.computing.workspace import Workspace

LOGGER = logging.getLogger("prefero")
PATIENCE = 0.1  # seconds that a preparation waits for a request of the same person


class ComputeSlots:
    """Computes in this process: at most `slots` computations at once, by default one a core.

    A thread of its own runs preparations. Whoever asks for a question waits until the best one is found.
    """

    patience: float | None = None
    workers = 0

    def __init__(self, slots: int | None = None) -> None:
        self._free = slots or usable_cores()
        self._waiting: deque[object] = deque()  # in the order in which they came
        self._change = threading.Condition()
        self._preparations: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._worker = threading.Thread(target=self._prepare, name="prefero-preparations", daemon=True)
        self._worker.start()

    def submit(
        self, workspace: Workspace, function: Callable[..., Any], *arguments: Any, priority: int = NOW
    ) -> "Future[Any]":
        """Compute `function(workspace, *arguments)`: here and now, or once no request waits."""
        future: Future[Any] = Future()
        compute = partial(_compute, future, function, workspace, *arguments)
        if priority != NOW:
            self.run_when_idle(partial(_prepare, future, workspace, compute))
            return future
        # one at a time for each person: their second request does not hold a slot while it waits
        with workspace.lock, self.acquire():
            compute()
        return future

    def people_waiting(self, workspace: Workspace) -> int:
        """How many requests wait for a slot."""
        del workspace
        return len(self._waiting)

    def cancel(self, workspace: Workspace, future: "Future[Any]") -> None:
        """Drop a preparation that has not begun."""
        del workspace
        future.cancel()

    @contextmanager
    def acquire(self) -> Iterator[None]:
        """A slot for a computation that a request waits for."""
        request = object()
        with self._change:
            self._waiting.append(request)
            self._change.wait_for(lambda: self._free > 0 and self._waiting[0] is request)
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


def _compute(future: "Future[Any]", function: Callable[..., Any], *arguments: Any) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        found = function(*arguments)
        future.set_result(completed(found) if isinstance(found, GeneratorType) else found)
    except Exception as error:
        future.set_exception(error)


def _prepare(future: "Future[Any]", workspace: Workspace, compute: Callable[[], None]) -> None:
    """Compute, unless a request of this person waits for this very slot."""
    if future.cancelled() or not workspace.lock.acquire(timeout=PATIENCE):
        future.cancel()
        return
    try:
        compute()
    finally:
        workspace.lock.release()
    problem = None if future.cancelled() else future.exception()
    if problem is not None:  # the request that needs it computes it again, and reports the error
        LOGGER.error("a question could not be prepared", exc_info=problem)
