"""A worker process: it computes what it is sent, the most urgent first, and sends the results back.

    task       a function, whose first argument is the worker's state, and its other arguments
    priority   of a task: those with the lowest number first. Of those that somebody waits for, with priority
               0, the oldest comes first. Of preparations it is the newest: the others may come too late
    step       a function that yields may be interrupted there: more urgent tasks are then run in between

Messages to a worker are tuples: ("run", number, priority, function, arguments), ("cancel", number), ("ping",
0), which it answers also in the middle of a task, and ("end", 0). A worker ends when the connection does,
also in the middle of a task: it owns nothing that could be lost.
"""

import os
import pickle
import signal
import threading
from collections.abc import Callable, Generator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from multiprocessing.connection import Connection
from typing import Any, Protocol

READY, ALIVE = -1, -2  # in place of a task's number: the worker can be sent tasks; it answers a ping


class ResultReceiver(Protocol):
    """Where a worker sends its results: a connection, or what computes in its own process."""

    def send(self, result: tuple[int, bool, Any], /) -> None:
        """A task's number, whether it went well, and its value or its error."""


@dataclass
class Task:
    """A task that waits or runs."""

    number: int
    priority: int
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    cancelled: bool = False

    @property
    def urgency(self) -> tuple[int, int]:
        """The smaller, the sooner it is run."""
        return self.priority, -self.number if self.priority else self.number


class WorkerQueue:
    """The tasks that wait; another thread adds to them."""

    def __init__(self) -> None:
        self._tasks: dict[int, Task] = {}  # waiting and running ones
        self._waiting: dict[int, Task] = {}  # in the order in which they came
        self._change = threading.Condition()

    def receive(self, message: tuple[Any, ...]) -> None:
        """A message of the process that sends tasks."""
        kind, number, *rest = message
        with self._change:
            if kind == "run":
                self._tasks[number] = self._waiting[number] = Task(number, *rest)
                self._change.notify()
            elif number in self._tasks:
                self._tasks[number].cancelled = True
                self._waiting.pop(number, None)

    def take(self, seconds: float | None = None) -> Task | None:
        """The most urgent task, once there is one; None if none comes for so many seconds."""
        with self._change:
            self._change.wait_for(lambda: self._waiting, seconds)
            return self._waiting.pop(self._first()) if self._waiting else None

    def take_before(self, priority: int) -> Task | None:
        """The most urgent task, if it is more urgent than this."""
        with self._change:
            if not self._waiting or self._waiting[self._first()].priority >= priority:
                return None
            return self._waiting.pop(self._first())

    def finish(self, task: Task) -> None:
        """The task has ended."""
        with self._change:
            self._tasks.pop(task.number, None)

    def _first(self) -> int:
        return min(self._waiting.values(), key=lambda task: task.urgency).number


class Worker:
    """Runs tasks one at a time with a state of its own; if none can be made, a task ends with the error."""

    def __init__(self, results: ResultReceiver, state_of: Callable[[], Any]) -> None:
        self._results, self._state_of, self.queue = results, state_of, WorkerQueue()
        self._sending = threading.Lock()

    @cached_property
    def state(self) -> Any:
        """What tasks find."""
        return self._state_of()

    def serve(self, connection: Connection) -> None:
        """Run the tasks that come by a connection, until it ends."""
        inbox = threading.Thread(target=self._receive, args=[connection], name="prefero-inbox", daemon=True)
        inbox.start()
        self._send(READY, True, None)
        while True:
            self.run_next()

    def run_next(self, seconds: float | None = None) -> None:
        """Run the most urgent task, once there is one; nothing if none comes for so many seconds."""
        task = self.queue.take(seconds)
        if task is not None:
            self._run(task)

    def _receive(self, connection: Connection) -> None:
        with suppress(EOFError, OSError):
            while (message := connection.recv())[0] != "end":
                if message[0] == "ping":
                    self._send(ALIVE, True, None)
                else:
                    self.queue.receive(message)
        os._exit(0)

    def _run(self, task: Task) -> None:
        try:
            well, value = True, self._value(task)
        except Exception as error:
            well, value = False, as_sent(error)
        self.queue.finish(task)
        self._send(task.number, well, value)

    def _value(self, task: Task) -> Any:
        found = task.function(self.state, *task.arguments)
        if not isinstance(found, Generator):
            return found
        while not task.cancelled:
            try:
                next(found)
            except StopIteration as end:
                return end.value
            while (urgent := self.queue.take_before(task.priority)) is not None:
                self._run(urgent)
        found.close()
        return None

    def _send(self, number: int, well: bool, value: Any) -> None:
        try:
            with self._sending:
                self._results.send((number, well, value))
        except OSError:
            os._exit(0)


def as_sent(error: Exception) -> Exception:
    """The error, or where it cannot be sent to another process, one with the same text."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


def run_worker(connection: Connection, state_of: Callable[[], Any]) -> None:
    """The main function of a worker process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is for the server, which then closes the connection
    with suppress(ValueError):
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
    Worker(connection, state_of).serve(connection)
