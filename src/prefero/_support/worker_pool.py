"""Worker processes that compute for a server, so that the server itself only reads, writes and serves.

    place      of a task: a number that decides which worker runs it, and so whose state it finds
    stand-in   does a worker's tasks in the server, while no process can be started for them

The tasks of a worker that died, or gave no sign of life for half a minute, are sent again to the one that
takes its place. If none can be started, because the system has no memory or no processes left, it is tried
again after growing pauses. A worker has one BLAS thread. Where the system can, workers are forked from a
process that has imported what they need, the fork server, so that one which died is replaced at once; a fork
server that hangs is killed, and the next start has a new one. Elsewhere each is started anew.
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
from prefero._support.systems import (
    fork_server_process,
    kill_process,
    usable_cores,
    use_own_socket_folder,
)
from prefero._support.worker import Worker, run_worker

LOGGER = logging.getLogger("prefero")
ATTEMPTS = 3  # workers that a task may be sent to, before it is given up
FIRST_PAUSE, LAST_PAUSE = 0.2, 60.0  # seconds after a worker that could not start, doubled each time
BEAT = 1.0  # seconds between a worker's signs of life
BEATS = 30  # without one, after which a worker hangs; not seconds, since the server may have slept itself
START_SECONDS = 60.0  # for a worker to be ready
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
            with suppress(OSError):  # without it, multiprocessing makes one
                use_own_socket_folder()
            context.set_forkserver_preload([run_worker.__module__, *modules])
        shortage = _Shortage()
        self._workers = [_Handle(context, state_of, shortage) for _ in range(count or usable_cores())]

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

    def unfinished(self, place: int, priority: int | None = None) -> int:
        """How many tasks the worker of this place has; of this priority, or of any."""
        return self._workers[place % len(self._workers)].unfinished(priority)

    def cancel(self, place: int, future: "Future[Any]") -> None:
        """Drop a task, if it has not begun."""
        if future.cancel():
            self._workers[place % len(self._workers)].drop(future)

    def close(self) -> None:
        """End the workers; tasks that they have not finished are cancelled."""
        for worker in self._workers:
            worker.close()
        for worker in self._workers:
            worker.join()


class _Shortage:
    """Says once that no worker can be started, and once that all are there again."""

    def __init__(self) -> None:
        self._lock, self._without = threading.Lock(), set[_Handle]()

    def begins(self, worker: "_Handle", error: Exception) -> None:
        """No process could be started for this worker."""
        with self._lock:
            if not self._without:
                why = f"{type(error).__name__}: {error}".removesuffix(": ")
                LOGGER.warning(
                    "no worker process can be started (%s): the server computes by itself, which is slower, "
                    "and tries again",
                    why,
                )
            self._without.add(worker)

    def ends(self, worker: "_Handle") -> None:
        """A process was started for this worker."""
        with self._lock:
            if self._without and not self._without - {worker}:
                LOGGER.warning("all worker processes could be started again")
            self._without.discard(worker)


class _Handle:
    """One worker, seen from the server: its process, and the tasks whose results have not come yet.

    A thread starts the worker, which takes a second, reads its results, and replaces it should it die or
    hang. While no process can be started, the same thread does its tasks: the system may have no thread left
    either. `process` is None then.
    """

    _numbers: ClassVar[Iterator[int]] = itertools.count(1)

    def __init__(self, context: Any, state_of: Callable[[], Any], shortage: _Shortage) -> None:
        self._context, self._state_of, self._shortage = context, state_of, shortage
        self._lock = threading.RLock()
        self._sent: dict[int, _Sent] = {}  # by number; those that could not be sent yet too
        self._closed, self._silent = False, 0
        self._pause, self._next_start = FIRST_PAUSE, 0.0
        self._connection: Any = None
        self._stand_in: Worker | None = None
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

    def drop(self, future: "Future[Any]") -> None:
        """Tell the worker that a task is not needed any more."""
        with self._lock:
            task = next((task for task in self._sent.values() if task.future is future), None)
            if task is not None:
                del self._sent[task.number]
                self._send(("cancel", task.number))

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
            _exit_code(self.process)

    def _read(self) -> None:
        """Start the worker, and take its results until the end."""
        self._start()
        while not (self._closed and self.process is None):
            if self._stand_in is not None:
                self._stand_in.run_next(BEAT)
                self._start_again()
                continue
            try:
                self._take_result()
            except Exception as error:  # it died, or hangs, or sent what cannot be read
                if self._closed:
                    break
                self._replace(error)
        if self._connection is not None:
            self._connection.close()

    def _start(self) -> None:
        """Start a worker; if that is not possible, a stand-in works until it is."""
        try:
            connection, process = self._new_process()
        except Exception as error:
            self._shortage.begins(self, error)
            self._next_start = time.monotonic() + self._pause
            self._pause = min(2 * self._pause, LAST_PAUSE)
            if self._stand_in is None:
                self._use(Worker(self, self._state_of))
        else:
            self._shortage.ends(self)
            self._pause = FIRST_PAUSE
            self._use(None, connection, process)

    def _start_again(self) -> None:
        if not self._closed and time.monotonic() > self._next_start:
            self._start()

    def _new_process(self) -> tuple[Any, Any]:
        """A worker process that is ready, and the connection to it."""
        connection, theirs = self._context.Pipe()
        with theirs:
            process = self._context.Process(target=run_worker, args=(theirs, self._state_of), daemon=True)
            with _STARTING, one_thread_each(), _without_main(), _fork_server_killed_after(START_SECONDS):
                process.start()
        try:
            if not connection.poll(START_SECONDS):
                raise TimeoutError(f"a new one was not ready after {START_SECONDS:g} seconds")
            connection.recv()
        except BaseException:
            connection.close()
            kill_process(process.pid)
            raise
        return connection, process

    def _use(self, stand_in: Worker | None, connection: Any = None, process: Any = None) -> None:
        """Send the unfinished tasks to this worker, and all that come."""
        with self._lock:
            self._stand_in, self._connection, self.process, self._silent = stand_in, connection, process, 0
            for task in self._sent.values():
                self._send(task.message)
            if self._closed:
                self._send(("end", 0))

    def _send(self, message: tuple[Any, ...]) -> None:
        """A message to the worker; one that has not started, or has died, is replaced and sent all tasks."""
        with suppress(OSError):
            if self._stand_in is not None:
                self._stand_in.queue.receive(message)
            elif self._connection is not None:
                self._connection.send(message)

    def send(self, result: tuple[int, bool, Any], /) -> None:
        """A result of the stand-in."""
        self._receive(*result)

    def _take_result(self) -> None:
        if self._connection.poll(BEAT):
            self._receive(*self._connection.recv())
        else:
            self._ping()

    def _ping(self) -> None:
        """Ask the worker for a sign of life; an error if it has given none for long."""
        self._silent += 1
        if self._silent > BEATS:
            kill_process(self.process.pid)
            raise TimeoutError("gave no sign of life")
        if self._lock.acquire(timeout=BEAT):  # a thread that sends to a worker which hangs may hold it
            self._send(("ping", 0))
            self._lock.release()

    def _receive(self, number: int, well: bool, value: Any) -> None:
        self._silent = 0
        with self._lock:
            task = self._sent.pop(number, None)
        if task is None or not task.future.set_running_or_notify_cancel():
            return
        if well:
            task.future.set_result(value)
        else:
            task.future.set_exception(value)

    def _replace(self, error: Exception) -> None:
        """Start another worker in place of one that died or hangs."""
        code = _exit_code(self.process)
        why = f"died (exit code {code})" if isinstance(error, EOFError | ConnectionError) else str(error)
        LOGGER.warning("a worker process %s and is replaced", why)
        with self._lock:
            self._connection.close()
            self._connection = self.process = None
            self._give_up([task for task in self._sent.values() if task.attempts >= ATTEMPTS])
            for task in self._sent.values():
                task.attempts += 1
        self._start()

    def _give_up(self, tasks: list[_Sent]) -> None:
        for task in tasks:
            del self._sent[task.number]
            if task.future.set_running_or_notify_cancel():
                task.future.set_exception(WorkerDied(f"{ATTEMPTS} workers died, one after the other"))


def _exit_code(process: Any) -> int | None:
    """Of a process that ends; it is killed if it does not."""
    with suppress(OSError):
        process.join(END_SECONDS)
        if process.is_alive():
            process.kill()
            process.join(END_SECONDS)
    code: int | None = process.exitcode
    return code


@contextmanager
def _fork_server_killed_after(seconds: float) -> Iterator[None]:
    """A start waits for the fork server's answer as long as that lives: if it hangs, that ends the wait."""
    timer = threading.Timer(seconds, _kill_fork_server)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _kill_fork_server() -> None:
    server = fork_server_process()
    if server is not None:
        LOGGER.warning("the process that worker processes are forked from hangs and is replaced")
        kill_process(server)


@contextmanager
def _without_main() -> Iterator[None]:
    """A new process would run the main module again, which may be a script of the user's; none is needed."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main
