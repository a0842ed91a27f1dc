"""Worker processes: which task comes first, errors, and workers that die."""

import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any

import pytest

from prefero._support import worker_pool
from prefero._support.systems import fork_server_process, usable_cores
from prefero._support.worker import Task, Worker
from prefero._support.worker_pool import WorkerDied, WorkerPool
from support import worker_tasks as tasks
from systems import ON_WINDOWS, posix_only
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
    return Worker(outbox, list), outbox.sent


def run_all(here: Worker) -> None:
    while here.queue._waiting:
        here._run(next_task(here))


def next_task(here: Worker) -> Task:
    task = here.queue.take()
    assert task is not None
    return task


def test_urgent_tasks_come_first_in_their_order_and_then_the_newest_preparations() -> None:
    here, sent = worker()
    for number, priority in enumerate([2, 0, 1, 0, 1]):
        here.queue.receive(("run", number, priority, tasks.remember, (str(number),)))
    run_all(here)
    assert [number for number, _, _ in sent] == [1, 3, 4, 2, 0]


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
    slow = next_task(here)
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
    slow = next_task(here)
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


def test_the_newest_preparation_comes_first_and_a_waiting_task_can_be_cancelled(
    shared: WorkerPool, tmp_path: Path
) -> None:
    gate = tmp_path / "go"
    running = shared.submit(0, tasks.wait_in_steps, str(gate), "first", priority=1)
    late, _, dropped = (
        shared.submit(0, tasks.remember, word, priority=3) for word in ("late", "newer", "dropped")
    )
    shared.cancel(0, dropped)
    # messages are read in their order: when this one has been, all have
    assert shared.submit(0, tasks.remember, "meanwhile", priority=0).result(TIMEOUT)[-1] == "meanwhile"
    gate.touch()
    assert running.result(TIMEOUT)[-2:] == ["meanwhile", "first"]
    assert late.result(TIMEOUT)[-3:] == ["first", "newer", "late"]
    assert dropped.cancelled()
    assert "dropped" not in shared.submit(0, tasks.remember, "end").result(TIMEOUT)


@pytest.mark.skipif(ON_WINDOWS, reason="SIGKILL is not there")
def test_a_killed_worker_is_replaced_and_its_tasks_are_run_again(shared: WorkerPool, tmp_path: Path) -> None:
    gate = tmp_path / "go"
    running = shared.submit(0, tasks.wait_for, str(gate), "running")
    waiting = shared.submit(0, tasks.remember, "waiting")
    wait_until((tmp_path / "go.began").exists, "the task's beginning")
    before = shared.processes
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


@contextmanager
def no_more_files() -> Iterator[None]:
    """This process can open no file and no pipe, and so start no process."""
    resource = pytest.importorskip("resource", reason="Windows has no such limit")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with Path(os.devnull).open(encoding="utf-8") as lowest:
        resource.setrlimit(resource.RLIMIT_NOFILE, (lowest.fileno(), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@posix_only
def test_while_no_process_can_be_started_the_server_computes_and_says_so_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with no_more_files():
        pool = WorkerPool(2, tasks.new_state)
        processes = {pool.submit(place, tasks.threads_and_process).result(TIMEOUT)[1] for place in (0, 1)}
        wait_until(lambda: all(worker._pause > 3 * worker_pool.FIRST_PAUSE for worker in pool._workers))
        assert pool.submit(0, tasks.remember, "a").result(TIMEOUT) == ["a"]
        with pytest.raises(ValueError, match="no such"):
            pool.submit(0, tasks.fail, ValueError("no such")).result(TIMEOUT)
    assert processes == {os.getpid()}
    assert pool.processes == []
    wait_until(lambda: len(pool.processes) == 2, "two workers")
    assert pool.submit(0, tasks.threads_and_process).result(TIMEOUT)[1] == pool.processes[0]
    pool.close()
    said = [record.getMessage() for record in caplog.records]
    assert len(said) == 2
    assert "Too many open files)" in said[0]
    assert said[1] == "all worker processes could be started again"


@posix_only
def test_urgent_tasks_come_first_also_in_the_server(tmp_path: Path) -> None:
    gate = tmp_path / "go"
    with no_more_files():
        pool = WorkerPool(1, tasks.new_state)
        running = pool.submit(0, tasks.wait_in_steps, str(gate), "running", priority=1)
        assert pool.submit(0, tasks.remember, "urgent").result(TIMEOUT) == ["urgent"]
    gate.touch()
    assert running.result(TIMEOUT) == ["urgent", "running"]
    wait_until(lambda: pool.processes, "a worker")
    assert pool.submit(0, tasks.remember, "later").result(TIMEOUT) == ["later"]
    pool.close()


@pytest.mark.skipif(ON_WINDOWS, reason="there is no fork server")
def test_workers_are_replaced_after_the_fork_server_was_killed(
    shared: WorkerPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_pool, "END_SECONDS", 0.05)
    assert shared.submit(0, tasks.remember, "before").result(TIMEOUT)
    before, server = shared.processes, fork_server_process()
    assert server is not None
    os.kill(server, signal.SIGSTOP)
    os.kill(before[0], signal.SIGKILL)
    time.sleep(0.3)  # the replacement is being started meanwhile
    os.kill(server, signal.SIGKILL)
    assert shared.submit(0, tasks.remember, "after").result(TIMEOUT) == ["after"]
    wait_until(lambda: shared.processes not in ([], before), "another worker")


@pytest.mark.skipif(ON_WINDOWS, reason="there is no fork server")
def test_workers_are_replaced_while_the_fork_server_hangs(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A start waits for it, and all other starts for that start."""
    pool = WorkerPool(2, tasks.new_state)
    for place in (0, 1):
        pool.submit(place, tasks.remember, "before").result(TIMEOUT)
    before, server = pool.processes, fork_server_process()
    assert server is not None
    monkeypatch.setattr(worker_pool, "START_SECONDS", 0.3)
    os.kill(server, signal.SIGSTOP)
    for process in before:
        os.kill(process, signal.SIGKILL)
    for place in (0, 1):
        assert pool.submit(place, tasks.remember, "after").result(TIMEOUT)[-1] == "after"
    assert "forked from hangs and is replaced" in caplog.text
    monkeypatch.setattr(worker_pool, "START_SECONDS", TIMEOUT)
    wait_until(lambda: len(set(pool.processes) - set(before)) == 2, "two new workers")
    assert fork_server_process() != server
    pool.close()


@pytest.mark.skipif(ON_WINDOWS, reason="SIGSTOP is not there")
def test_a_worker_that_hangs_is_replaced(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    monkeypatch.setattr(worker_pool, "BEAT", 0.05)
    pool, gate = WorkerPool(1, tasks.new_state), tmp_path / "go"
    busy = pool.submit(0, tasks.wait_for, str(gate), "busy")  # a worker that computes for long does not hang
    wait_until(lambda: "began" in str(list(tmp_path.iterdir())))
    before = pool.processes
    time.sleep(worker_pool.BEAT * (worker_pool.BEATS + 10))
    assert pool.processes == before
    os.kill(before[0], signal.SIGSTOP)
    waiting = pool.submit(0, tasks.remember, "waiting")
    gate.touch()
    assert (busy.result(TIMEOUT), waiting.result(TIMEOUT)) == (["busy"], ["busy", "waiting"])
    assert pool.processes != before
    assert "no sign of life" in caplog.text
    pool.close()


def test_a_task_whose_state_cannot_be_made_ends_with_the_error(tmp_path: Path) -> None:
    pool = WorkerPool(1, partial(tasks.state_in, str(tmp_path / "state")))
    with pytest.raises(FileNotFoundError, match="state"):
        pool.submit(0, tasks.remember, "early").result(TIMEOUT)
    (tmp_path / "state").write_text("known", encoding="utf-8")
    assert pool.submit(0, tasks.remember, "late").result(TIMEOUT) == ["known", "late"]
    pool.close()


SCRIPT = """
from prefero._support.worker_pool import WorkerPool
from support import worker_tasks as tasks
pool = WorkerPool(1, tasks.new_state)
print(pool.submit(0, tasks.remember, "word").result(), flush=True)
input()
pool.close()
"""


@pytest.mark.skipif(ON_WINDOWS, reason="there is no fork server")
def test_the_folder_of_a_killed_server_is_removed_at_the_next_start(tmp_path: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path), "PYTHONPATH": str(Path(__file__).parents[1])}
    for kill in (True, False):
        command = [sys.executable, "-c", SCRIPT]
        with Popen(command, stdin=PIPE, stdout=PIPE, env=environment) as server:
            assert server.stdout is not None
            assert server.stdout.readline() == b"['word']\n"
            assert len(list(tmp_path.iterdir())) == 1
            if kill:
                server.kill()
            else:
                server.communicate(b"\n")
    assert list(tmp_path.iterdir()) == []


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
