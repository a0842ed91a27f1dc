"""Compute slots: requests before preparations, a limit on what runs at once, and errors that end nothing."""

import threading

import pytest

from prefero.studies.computing.compute_slots import ComputeSlots
from waiting import TIMEOUT, wait_until


def until(condition: threading.Event) -> None:
    assert condition.wait(TIMEOUT)


@pytest.fixture
def slots() -> ComputeSlots:
    return ComputeSlots(1)


def wait_for_requests(slots: ComputeSlots, count: int) -> None:
    """Wait until so many requests wait for a slot."""
    wait_until(lambda: len(slots._waiting) == count, f"{count} waiting requests")


def test_requests_come_before_preparations(slots: ComputeSlots) -> None:
    order, done = [], threading.Event()
    with slots.acquire():
        slots.run_when_idle(lambda: order.append("preparation"))
        slots.run_when_idle(done.set)

        def request() -> None:
            with slots.acquire():
                order.append("request")

        requests = [threading.Thread(target=request) for _ in range(3)]
        for thread in requests:
            thread.start()
        wait_for_requests(slots, 3)
        assert order == []
    until(done)
    for thread in requests:
        thread.join()
    slots.close()
    assert order == ["request", "request", "request", "preparation"]


def test_preparations_are_made_one_after_another_when_nobody_waits(slots: ComputeSlots) -> None:
    order: list[int] = []
    for number in range(20):
        slots.run_when_idle(lambda number=number: order.append(number))  # type: ignore[misc]
    slots.close()
    assert order == list(range(20))


@pytest.mark.parametrize("count", [1, 2, 3])
def test_as_many_compute_at_once_as_there_are_slots_and_no_more(count: int) -> None:
    slots, entered = ComputeSlots(count), threading.Semaphore(0)
    inside, leave = threading.Barrier(count + 1), threading.Event()

    def compute() -> None:
        with slots.acquire():
            inside.wait(TIMEOUT)
            until(leave)

    def comes_late() -> None:
        with slots.acquire():
            entered.release()

    threads = [threading.Thread(target=compute) for _ in range(count)]
    threads += [threading.Thread(target=comes_late) for _ in range(2)]
    for thread in threads[:count]:
        thread.start()
    inside.wait(TIMEOUT)  # all of them are in at the same time
    for thread in threads[count:]:
        thread.start()
    wait_for_requests(slots, 2)
    assert not entered.acquire(blocking=False)
    leave.set()
    for thread in threads:
        thread.join()
    slots.close()


def fails() -> None:
    raise KeyError("it fails")


def test_an_error_in_a_preparation_is_logged_and_ends_nothing(
    slots: ComputeSlots, caplog: pytest.LogCaptureFixture
) -> None:
    done = threading.Event()
    slots.run_when_idle(fails)
    slots.run_when_idle(done.set)
    until(done)
    with slots.acquire():
        pass
    slots.close()
    assert [record.getMessage() for record in caplog.records] == ["a question could not be prepared"]
    assert "KeyError: 'it fails'" in caplog.text


def test_an_error_in_a_request_releases_its_slot(slots: ComputeSlots) -> None:
    for _ in range(3):
        with pytest.raises(KeyError, match="it fails"), slots.acquire():
            fails()
    done = threading.Event()
    slots.run_when_idle(done.set)
    until(done)
    slots.close()


def workers() -> int:
    return [thread.name for thread in threading.enumerate()].count("prefero-preparations")


def test_closing_finishes_what_was_asked_for_and_ends_the_worker() -> None:
    before = workers()
    slots = ComputeSlots(1)
    assert workers() == before + 1
    order: list[str] = []
    slots.run_when_idle(lambda: order.append("done"))
    slots.close()
    assert order == ["done"]
    assert workers() == before
    slots.run_when_idle(lambda: order.append("too late"))
    assert order == ["done"]


def test_requests_get_their_slots_in_the_order_in_which_they_came() -> None:
    slots, order = ComputeSlots(1), list[int]()

    def compute(number: int) -> None:
        with slots.acquire():
            order.append(number)

    threads = [threading.Thread(target=compute, args=(number,)) for number in range(8)]
    with slots.acquire():
        for number, thread in enumerate(threads, 1):
            thread.start()
            wait_for_requests(slots, number)
    for thread in threads:
        thread.join()
    assert order == list(range(8))
    slots.close()
