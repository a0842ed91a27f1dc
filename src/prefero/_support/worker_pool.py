"""Worker processes that compute for a server, so that the server itself only reads, writes and serves.

    place   of a task: a number that decides which worker runs it, and so whose state it finds

The tasks of a worker that died are sent again to the one that takes its place. A worker has one BLAS thread.
Where the system can, workers are forked from a process that has imported what they need, so that one which
died is replaced at once; elsewhere each is started anew.
"""

import itertools
import logging
import multiprocessing
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, ClassVar

from prefero._support.engine import one_thread_each
from prefero._support.systems import usable_cores
from prefero._support.worker import READY, run_worker

LOGGER = logging.getLogger("prefero")
ATTEMPTS = 3  # times that a task is sent, or a worker started, before it is given up
PAUSE = 0.2  # seconds, longer after every worker that could not start
END_SECONDS = 5.0  # for a worker to end
_STARTING = threading.Lock()  # one worker starts at a time


class WorkerDied(RuntimeError):
    """Every worker that was given a task died."""


@dataclass(eq=False)
class _Sent:
    """A task whose result has not come yet."""

    number: int
    priority: int
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    future: "Future[Any]" = field(default_factory=Future)
    attempts: int = 1

    @property
    def message(self) -> tuple[Any, ...]:
        return "run", self.number, self.priority, self.function, self.arguments


class WorkerPool:
    """Some worker processes.

    Args:
        count: How many; None is as many as there are cores.
        state_of: Makes the state of a worker, in the worker; it must be a function of a module, or a partial.
        modules: What a worker imports before it is needed.
    """

    def __init__(self, count: int | None, state_of: Callable[[], Any], modules: Sequence[str] = ()) -> None:
        method = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
        context = multiprocessing.get_context(method)
        if method == "forkserver":
            context.set_forkserver_preload([run_worker.__module__, *modules])
        self._workers = [_Handle(context, state_of) for _ in range(count or usable_cores())]

    def __len__(self) -> int:
        return len(self._workers)

    @property
    def processes(self) -> list[int]:
        """The ids of the worker processes."""
        return [worker.process.pid for worker in self._workers if worker.process is not None]

    def submit(
        self, place: int, function: Callable[..., Any], *arguments: Any, priority: int = 0
    ) -> "Future[Any]":
        """Run `function(state, *arguments)` in the worker of this place."""
        return self._workers[place % len(self._workers)].submit(function, arguments, priority)

    def set_priority(self, place: int, future: "Future[Any]", priority: int) -> None:
        """Make a task more or less urgent."""
        self._workers[place % len(self._workers)].change(future, "priority", priority)

    def unfinished(self, place: int, priority: int | None = None) -> int:
        """How many tasks the worker of this place has; of this priority, or of any."""
        return self._workers[place % len(self._workers)].unfinished(priority)

    def cancel(self, place: int, future: "Future[Any]") -> None:
        """Drop a task, if it has not begun."""
        if future.cancel():
            self._workers[place % len(self._workers)].change(future, "cancel")

    def close(self) -> None:
        """End the workers; tasks that they have not finished are cancelled."""
        for worker in self._workers:
            worker.close()
        for worker in self._workers:
            worker.join()


class _Handle:
    """One worker, seen from the server: its process, and the tasks whose results have not come yet.

    A thread starts the worker, which takes a second, reads its results, and replaces it should it die.
    """

    _numbers: ClassVar[Iterator[int]] = itertools.count(1)

    def __init__(self, context: Any, state_of: Callable[[], Any]) -> None:
        self._context, self._state_of = context, state_of
        self._lock = threading.RLock()
        self._sent: dict[int, _Sent] = {}  # by number; those that could not be sent yet too
        self._closed, self._failed_starts = False, 0
        self._connection: Any = None
        self.process: Any = None
        self._reader = threading.Thread(target=self._read, name="prefero-results", daemon=True)
        self._reader.start()

    def submit(
        self, function: Callable[..., Any], arguments: tuple[Any, ...], priority: int
    ) -> "Future[Any]":
        """Send a task."""
        task = _Sent(next(self._numbers), priority, function, arguments)
        with self._lock:
            if self._closed:
                task.future.cancel()
                return task.future
            self._sent[task.number] = task
            self._send(task.message)
        return task.future

    def change(self, future: "Future[Any]", kind: str, *rest: int) -> None:
        """Tell the worker about a task that it was sent."""
        with self._lock:
            task = next((task for task in self._sent.values() if task.future is future), None)
            if task is None:
                return
            if kind == "cancel":
                del self._sent[task.number]
            else:
                task.priority = rest[0]
            self._send((kind, task.number, *rest))

    def unfinished(self, priority: int | None) -> int:
        """How many tasks it has; of this priority, or of any."""
        with self._lock:
            return sum(priority in (None, task.priority) for task in self._sent.values())

    def close(self) -> None:
        """End the worker."""
        with self._lock:
            self._closed = True
            for task in self._sent.values():
                task.future.cancel()
            self._sent.clear()
            self._send(("end", 0))

    def join(self) -> None:
        """Wait until the worker has ended."""
        self._reader.join(END_SECONDS)
        if self.process is not None:
            self.process.join(END_SECONDS)
            if self.process.is_alive():
                self.process.kill()
                self.process.join()

    def _start(self) -> None:
        """Start a worker, and send it the unfinished tasks."""
        connection, theirs = self._context.Pipe()
        process = self._context.Process(target=run_worker, args=(theirs, self._state_of), daemon=True)
        with _STARTING, one_thread_each(), _without_main():
            process.start()
        theirs.close()
        with self._lock:
            self._connection, self.process = connection, process
            for task in self._sent.values():
                self._send(task.message)
            if self._closed:
                self._send(("end", 0))

    def _send(self, message: tuple[Any, ...]) -> None:
        """A message to the worker; one that has not started, or has died, is replaced and sent all tasks."""
        with suppress(OSError):
            if self._connection is not None:
                self._connection.send(message)

    def _read(self) -> None:
        try:
            self._work()
        except Exception:  # a process cannot be started: nobody should wait for what will not come
            with self._lock:
                if not self._closed:
                    LOGGER.exception("no worker process can be started")
                self._closed = True
                self._give_up(list(self._sent.values()), "no worker process can be started")

    def _work(self) -> None:
        self._start()
        while True:
            try:
                self._receive(*self._connection.recv())
            except (EOFError, OSError):
                if self._closed:
                    break
                self._replace()
        self._connection.close()

    def _receive(self, number: int, well: bool, value: Any) -> None:
        if number == READY:
            self._failed_starts = 0
            return
        with self._lock:
            task = self._sent.pop(number, None)
        if task is None or not task.future.set_running_or_notify_cancel():
            return
        if well:
            task.future.set_result(value)
        else:
            task.future.set_exception(value)

    def _replace(self) -> None:
        """Start another worker in place of one that died."""
        LOGGER.warning("a worker process died (exit code %s) and is replaced", _exit_code(self.process))
        with self._lock:
            self._failed_starts += 1
            self._connection.close()
            self._connection = None
            hopeless = [t for t in self._sent.values() if max(t.attempts, self._failed_starts) >= ATTEMPTS]
            self._give_up(hopeless, f"{ATTEMPTS} workers died, one after the other")
            for task in self._sent.values():
                task.attempts += 1
        time.sleep(min(PAUSE * (self._failed_starts - 1), END_SECONDS))  # none is able to start, perhaps
        self._start()

    def _give_up(self, tasks: list[_Sent], why: str) -> None:
        for task in tasks:
            del self._sent[task.number]
            if task.future.set_running_or_notify_cancel():
                task.future.set_exception(WorkerDied(why))


def _exit_code(process: Any) -> int | None:
    process.join(END_SECONDS)
    code: int | None = process.exitcode
    return code


@contextmanager
def _without_main() -> Iterator[None]:
    """A new process would run the main module again, which may be a script of the user's; none is needed."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main
