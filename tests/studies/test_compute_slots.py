"""ComputeSlots: people before preparations, as many at once as there are places, and no end by an error."""

import threading
import time

import pytest

from prefero.studies.compute_slots import ComputeSlots

SOON = 10.0  # seconds: far more than anything here takes, on a machine that is busy


def until(condition: threading.Event) -> None:
    assert condition.wait(SOON)


@pytest.fixture
def slots() -> ComputeSlots:
    return ComputeSlots(1)


def waits(slots: ComputeSlots, count: int) -> None:
    """Until so many people stand in line."""
    end = time.monotonic() + SOON
    while slots._waiting != count:
        assert time.monotonic() < end
        time.sleep(0.001)


def test_people_come_before_preparations(slots: ComputeSlots) -> None:
    order, done = [], threading.Event()
    with slots.acquire():
        slots.run_when_idle(lambda: order.append("preparation"))
        slots.run_when_idle(done.set)

        def person() -> None:
            with slots.acquire():
                order.append("person")

        people = [threading.Thread(target=person) for _ in range(3)]
        for thread in people:
            thread.start()
        waits(slots, 3)
        assert order == []
    until(done)
    for thread in people:
        thread.join()
    slots.close()
    assert order == ["person", "person", "person", "preparation"]


def test_preparations_are_made_one_after_another_when_nobody_waits(slots: ComputeSlots) -> None:
    order: list[int] = []
    for number in range(20):
        slots.run_when_idle(lambda number=number: order.append(number))  # type: ignore[misc]
    slots.close()
    assert order == list(range(20))


@pytest.mark.parametrize("places", [1, 2, 3])
def test_as_many_compute_at_once_as_there_are_places_and_no_more(places: int) -> None:
    slots, entered = ComputeSlots(places), threading.Semaphore(0)
    inside, leave = threading.Barrier(places + 1), threading.Event()

    def compute() -> None:
        with slots.acquire():
            inside.wait(SOON)
            until(leave)

    def comes_late() -> None:
        with slots.acquire():
            entered.release()

    threads = [threading.Thread(target=compute) for _ in range(places)]
    threads += [threading.Thread(target=comes_late) for _ in range(2)]
    for thread in threads[:places]:
        thread.start()
    inside.wait(SOON)  # all of them are in at the same time
    for thread in threads[places:]:
        thread.start()
    waits(slots, 2)
    assert not entered.acquire(timeout=0.05)
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


def test_an_error_in_somebodys_turn_gives_the_turn_back(slots: ComputeSlots) -> None:
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
