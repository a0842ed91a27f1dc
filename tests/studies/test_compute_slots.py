"""Turns: people before preparations, as many at once as there are places, and no end by an error."""

import threading
import time

import pytest

from prefero.studies.compute_slots import Turns

SOON = 10.0  # seconds: far more than anything here takes, on a machine that is busy


def until(condition: threading.Event) -> None:
    assert condition.wait(SOON)


@pytest.fixture
def turns() -> Turns:
    return Turns(1)


def waits(turns: Turns, count: int) -> None:
    """Until so many people stand in line."""
    end = time.monotonic() + SOON
    while turns._waiting != count:
        assert time.monotonic() < end
        time.sleep(0.001)


def test_people_come_before_preparations(turns: Turns) -> None:
    order, done = [], threading.Event()
    with turns.mine():
        turns.later(lambda: order.append("preparation"))
        turns.later(done.set)

        def person() -> None:
            with turns.mine():
                order.append("person")

        people = [threading.Thread(target=person) for _ in range(3)]
        for thread in people:
            thread.start()
        waits(turns, 3)
        assert order == []
    until(done)
    for thread in people:
        thread.join()
    turns.close()
    assert order == ["person", "person", "person", "preparation"]


def test_preparations_are_made_one_after_another_when_nobody_waits(turns: Turns) -> None:
    order: list[int] = []
    for number in range(20):
        turns.later(lambda number=number: order.append(number))  # type: ignore[misc]
    turns.close()
    assert order == list(range(20))


@pytest.mark.parametrize("places", [1, 2, 3])
def test_as_many_compute_at_once_as_there_are_places_and_no_more(places: int) -> None:
    turns, entered = Turns(places), threading.Semaphore(0)
    inside, leave = threading.Barrier(places + 1), threading.Event()

    def compute() -> None:
        with turns.mine():
            inside.wait(SOON)
            until(leave)

    def comes_late() -> None:
        with turns.mine():
            entered.release()

    threads = [threading.Thread(target=compute) for _ in range(places)]
    threads += [threading.Thread(target=comes_late) for _ in range(2)]
    for thread in threads[:places]:
        thread.start()
    inside.wait(SOON)  # all of them are in at the same time
    for thread in threads[places:]:
        thread.start()
    waits(turns, 2)
    assert not entered.acquire(timeout=0.05)
    leave.set()
    for thread in threads:
        thread.join()
    turns.close()


def fails() -> None:
    raise KeyError("it fails")


def test_an_error_in_a_preparation_is_logged_and_ends_nothing(
    turns: Turns, caplog: pytest.LogCaptureFixture
) -> None:
    done = threading.Event()
    turns.later(fails)
    turns.later(done.set)
    until(done)
    with turns.mine():
        pass
    turns.close()
    assert [record.getMessage() for record in caplog.records] == ["a question could not be prepared"]
    assert "KeyError: 'it fails'" in caplog.text


def test_an_error_in_somebodys_turn_gives_the_turn_back(turns: Turns) -> None:
    for _ in range(3):
        with pytest.raises(KeyError, match="it fails"), turns.mine():
            fails()
    done = threading.Event()
    turns.later(done.set)
    until(done)
    turns.close()


def workers() -> int:
    return [thread.name for thread in threading.enumerate()].count("prefero-ahead")


def test_closing_finishes_what_was_asked_for_and_ends_the_worker() -> None:
    before = workers()
    turns = Turns(1)
    assert workers() == before + 1
    order: list[str] = []
    turns.later(lambda: order.append("done"))
    turns.close()
    assert order == ["done"]
    assert workers() == before
    turns.later(lambda: order.append("too late"))
    assert order == ["done"]
