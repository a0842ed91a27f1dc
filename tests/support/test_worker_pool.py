"""Worker processes: which task comes first, errors, and workers that die."""

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from prefero._support import worker_pool
from prefero._support.systems import usable_cores
from prefero._support.worker import Worker
from prefero._support.worker_pool import WorkerDied, WorkerPool
from support import worker_tasks as tasks
from systems import ON_WINDOWS
from waiting import TIMEOUT, wait_until


@pytest.fixture(scope="module")
def shared() -> Iterator[WorkerPool]:
    pool = WorkerPool(1, tasks.new_state)
    yield pool
    pool.close()


class Outbox:
    """A connection that collects what a worker sends."""

    def __init__(self) -> None:
        self.sent: list[tuple[Any, ...]] = []

    def send(self, message: tuple[Any, ...]) -> None:
        self.sent.append(message)


def worker() -> tuple[Worker, list[tuple[Any, ...]]]:
    """A worker in this process, and what it has sent."""
    outbox: Any = Outbox()
    return Worker(outbox, []), outbox.sent


def run_all(here: Worker) -> None:
    while here.queue._waiting:
        here._run(here.queue.take())


def test_urgent_tasks_come_first_and_equal_ones_in_their_order() -> None:
    here, sent = worker()
    for number, priority in enumerate([2, 0, 1, 0]):
        here.queue.receive(("run", number, priority, tasks.remember, (str(number),)))
    here.queue.receive(("priority", 2, 3))
    run_all(here)
    assert [number for number, _, _ in sent] == [1, 3, 0, 2]


def test_a_cancelled_task_is_not_run() -> None:
    here, sent = worker()
    for number in (1, 2):
        here.queue.receive(("run", number, 0, tasks.remember, (str(number),)))
    here.queue.receive(("cancel", 1))
    here.queue.receive(("cancel", 17))  # finished long ago
    run_all(here)
    assert sent == [(2, True, ["2"])]


def test_between_two_steps_a_more_urgent_task_is_run(tmp_path: Path) -> None:
    here, sent = worker()
    (tmp_path / "go").touch()
    here.queue.receive(("run", 1, 2, tasks.in_steps, ("slow", str(tmp_path / "go"))))
    slow = here.queue.take()
    for number, priority in ((2, 2), (3, 0), (4, 1)):
        here.queue.receive(("run", number, priority, tasks.remember, (str(number),)))
    here._run(slow)
    run_all(here)
    assert here.state == ["slow 1", "3", "4", "slow 2", "2"]
    assert [number for number, _, _ in sent] == [3, 4, 1, 2]


def test_a_task_in_steps_that_is_cancelled_ends_at_the_next_step(tmp_path: Path) -> None:
    here, _ = worker()
    (tmp_path / "go").touch()
    here.queue.receive(("run", 1, 2, tasks.in_steps, ("slow", str(tmp_path / "go"))))
    slow = here.queue.take()
    here.queue.receive(("cancel", 1))
    here._run(slow)
    assert here.state == []


def test_a_worker_keeps_its_state_has_one_thread_and_reports_errors(shared: WorkerPool) -> None:
    threads, process = shared.submit(5, tasks.threads_and_process).result(TIMEOUT)
    assert (threads, [process]) == ("1", shared.processes)
    assert process != os.getpid()
    first = shared.submit(0, tasks.remember, "a").result(TIMEOUT)
    assert shared.submit(0, tasks.remember, "b").result(TIMEOUT) == [*first, "b"]
    with pytest.raises(ValueError, match="no such"):
        shared.submit(0, tasks.fail, ValueError("no such")).result(TIMEOUT)


def test_a_waiting_task_can_be_made_more_urgent_or_cancelled(shared: WorkerPool, tmp_path: Path) -> None:
    gate = tmp_path / "go"
    running = shared.submit(0, tasks.wait_in_steps, str(gate), "first", priority=1)
    late, urgent, dropped = (
        shared.submit(0, tasks.remember, word, priority=3) for word in ("late", "urgent", "dropped")
    )
    shared.set_priority(0, urgent, 2)
    shared.cancel(0, dropped)
    # messages are read in their order: when this one has been, all have
    assert shared.submit(0, tasks.remember, "meanwhile", priority=0).result(TIMEOUT)[-1] == "meanwhile"
    gate.touch()
    assert running.result(TIMEOUT)[-2:] == ["meanwhile", "first"]
    assert late.result(TIMEOUT)[-3:] == ["first", "urgent", "late"]
    assert dropped.cancelled()
    assert "dropped" not in shared.submit(0, tasks.remember, "end").result(TIMEOUT)


@pytest.mark.skipif(ON_WINDOWS, reason="SIGKILL is not there")
def test_a_killed_worker_is_replaced_and_its_tasks_are_run_again(shared: WorkerPool, tmp_path: Path) -> None:
    gate, before = tmp_path / "go", shared.processes
    running = shared.submit(0, tasks.wait_for, str(gate), "running")
    waiting = shared.submit(0, tasks.remember, "waiting")
    wait_until((tmp_path / "go.began").exists, "the task's beginning")
    os.kill(before[0], signal.SIGKILL)
    gate.touch()
    assert running.result(TIMEOUT) == ["running"]  # in a new state
    assert waiting.result(TIMEOUT) == ["running", "waiting"]
    assert shared.processes != before


def test_a_task_that_ends_every_worker_is_given_up(shared: WorkerPool, tmp_path: Path) -> None:
    assert shared.submit(0, tasks.die_once, str(tmp_path / "died")).result(TIMEOUT) == ["survived"]
    with pytest.raises(WorkerDied):
        shared.submit(0, tasks.die).result(TIMEOUT)
    assert shared.submit(0, tasks.remember, "on").result(TIMEOUT)[-1] == "on"


def test_nobody_waits_for_a_worker_that_cannot_be_started(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    begun, may_fail = threading.Event(), threading.Event()

    def start(_: object) -> None:
        begun.set()
        may_fail.wait(TIMEOUT)
        raise OSError("no process")

    monkeypatch.setattr(worker_pool._Handle, "_start", start)
    pool = WorkerPool(1, tasks.new_state)
    assert begun.wait(TIMEOUT)
    future = pool.submit(0, tasks.remember, "word")
    may_fail.set()
    with pytest.raises(WorkerDied, match="no worker process can be started"):
        future.result(TIMEOUT)
    assert "no process" in caplog.text
    assert wait_until(lambda: pool.submit(0, tasks.remember, "word").cancelled())
    pool.close()


def test_closing_ends_the_workers_and_cancels_what_waits(tmp_path: Path) -> None:
    pool = WorkerPool(2, tasks.new_state)
    assert len(pool) == 2
    future = pool.submit(0, tasks.wait_for, str(tmp_path / "never"), "never")
    pool.close()
    assert future.cancelled()
    assert all(worker.process is not None and not worker.process.is_alive() for worker in pool._workers)
    assert pool.submit(0, tasks.remember, "late").cancelled()


def test_by_default_there_is_one_worker_a_core(monkeypatch: pytest.MonkeyPatch) -> None:
    from prefero._support import worker_pool

    monkeypatch.setattr(worker_pool, "_Handle", lambda *_: object())
    assert len(WorkerPool(None, tasks.new_state)) == usable_cores()
