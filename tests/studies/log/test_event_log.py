"""The event log as a value, compared with plain lists that the test keeps."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from sqlalchemy import text

from prefero.questions import Answer, Question
from prefero.studies.log.event_log import AskedQuestion, Event, EventKind, EventLog
from prefero.studies.storage.database import open_database
from prefero.studies.storage.store import Refused, Store
from soak import repetitions
from studies.fake_study import answered, invited, new_key, proposal, study_of

LABELS = (f"P{number}" for number in range(10**6))
WORDS = st.sampled_from(["left", "right", "equal"])


@dataclass
class ActiveEvent:
    """An answer or skip that is active; `time` is when it was given."""

    time: int
    question: int
    word: str


class ParticipantMachine(RuleBasedStateMachine):
    """A participant at one or more windows, and lists of the answers and skips that should be active."""

    def __init__(self, store: Store, reopen: Callable[[], Store]) -> None:
        super().__init__()
        self.store, self.reopen = store, reopen
        self.answers: list[ActiveEvent] = []
        self.skips: list[ActiveEvent] = []
        self.deleted: list[ActiveEvent] = []
        self.asked: list[int] = []
        self.waiting: int | None = None
        self.events = 0
        self.resend: Callable[[], EventLog] = lambda: store.event_log(self.person)

    @initialize()
    def comes(self) -> None:
        study = self.store.studies()[0]
        self.person = invited(self.store, next(LABELS), study)

    def tell(self, question: int, word: Any) -> EventLog:
        key = new_key()
        self.resend = lambda: self.store.add_event(self.person, question, word, key)
        self.events += 1
        return self.store.add_event(self.person, question, word, key, 1.0)

    def active(self) -> list[ActiveEvent]:
        return sorted(self.answers + self.skips, key=lambda one: one.time)

    @precondition(lambda self: self.waiting is None)
    @rule()
    def is_asked(self) -> None:
        log = self.store.add_question(
            self.person, self.store.event_log(self.person), proposal(len(self.asked))
        )
        assert log.open_question is not None
        assert log.open_question.id not in self.asked
        self.waiting = log.open_question.id
        self.asked.append(self.waiting)

    @precondition(lambda self: self.waiting is not None)
    @rule(word=WORDS)
    def answers_it(self, word: str) -> None:
        assert self.waiting is not None
        self.tell(self.waiting, word)
        self.answers.append(ActiveEvent(self.events, self.waiting, word))
        self.waiting = None

    @precondition(lambda self: self.waiting is not None)
    @rule()
    def skips_it(self) -> None:
        assert self.waiting is not None
        self.tell(self.waiting, "skip")
        self.skips.append(ActiveEvent(self.events, self.waiting, "skip"))
        self.waiting = None

    @precondition(lambda self: self.answers or self.skips)
    @rule()
    def takes_back(self) -> None:
        last, key = self.active()[-1], new_key()
        self.store.undo(self.person, key)
        self.resend = lambda: self.store.undo(self.person, key)
        (self.skips if last.word == "skip" else self.answers).remove(last)
        self.waiting = last.question
        self.events += 1

    @precondition(lambda self: self.answers)
    @rule(data=st.data())
    def deletes(self, data: st.DataObject) -> None:
        one = data.draw(st.sampled_from(self.answers))
        self.tell(one.question, "delete")
        self.answers.remove(one)
        self.deleted.append(one)
        self.waiting = None

    @precondition(lambda self: self.answers)
    @rule(data=st.data())
    def answers_again(self, data: st.DataObject) -> None:
        one = data.draw(st.sampled_from(self.answers))
        self.tell(one.question, "undo")
        self.answers.remove(one)
        self.waiting = one.question

    @precondition(lambda self: self.deleted)
    @rule(data=st.data())
    def restores(self, data: st.DataObject) -> None:
        one = data.draw(st.sampled_from(self.deleted))
        self.tell(one.question, "restore")
        self.deleted.remove(one)
        self.answers.append(one)
        self.waiting = None

    @rule()
    def sends_the_last_once_more(self) -> None:
        assert self.resend() == self.store.event_log(self.person)

    @precondition(lambda self: self.asked)
    @rule(data=st.data(), word=st.sampled_from(["left", "skip", "undo", "delete", "restore"]))
    def tries_what_does_not_fit(self, data: st.DataObject, word: str) -> None:
        fitting: dict[str, list[int | None]] = {
            "left": [self.waiting],
            "skip": [self.waiting],
            "undo": [one.question for one in self.active()],
            "delete": [one.question for one in self.answers],
            "restore": [one.question for one in self.deleted],
        }
        unfit = [question for question in self.asked if question not in fitting[word]]
        if unfit:
            with pytest.raises(Refused):
                self.store.add_event(self.person, data.draw(st.sampled_from(unfit)), word, new_key())

    @invariant()
    def the_log_has_the_active_answers(self) -> None:
        self.compare(self.store.event_log(self.person))

    def compare(self, log: EventLog) -> None:
        answers = sorted(self.answers, key=lambda one: one.time)
        assert answered(log) == [(one.question, one.word) for one in answers]
        assert {asked.id for asked in log.skipped} == {one.question for one in self.skips}
        assert {q: event.kind for q, event in log.deleted.items()} == {
            o.question: o.word for o in self.deleted
        }
        assert (log.open_question.id if log.open_question else None) == self.waiting
        assert [asked.id for asked in log.questions] == self.asked
        with self.store.engine.connect() as connection:
            rows = connection.execute(
                text("SELECT count(*) FROM events WHERE participant = :id"), {"id": self.person.id}
            )
            assert rows.scalar_one() == self.events

    def teardown(self) -> None:
        """Another store over the same database reads the same log."""
        fresh = self.reopen()
        self.compare(fresh.event_log(self.person))
        assert fresh.event_log(self.person) == self.store.event_log(self.person)
        fresh.engine.dispose()


def test_the_log_agrees_with_a_plain_list_after_any_sequence_of_events(
    file_store: Store, tmp_path: Path
) -> None:
    study_of(file_store)
    run_state_machine_as_test(
        lambda: ParticipantMachine(file_store, lambda: Store(open_database(tmp_path / "studies.db"))),  # type: ignore[arg-type]
        settings=settings(max_examples=repetitions("histories", short=25, long=1000), stateful_step_count=30),
    )


# --- values -----------------------------------------------------------------------------------------------


def asked(number: int, based_on: int = 0, **changed: Any) -> AskedQuestion:
    plain = {"answered": 0, "method": "Random", "items": (3, 4), "value": 0.5, "unit": "bits"}
    plain |= {"accuracy": 0.6, "at": ""}
    return AskedQuestion(id=100 + number, number=number, based_on=based_on, **{**plain, **changed})


def event(id: int, question: int, word: EventKind, position: int = 0) -> Event:
    return Event(id, 100 + question, position, word, f"key {id}", None, "")


@pytest.mark.parametrize("word", ["left", "right", "equal", "skip"])
def test_a_supposed_event_is_like_a_recorded_one(file_store: Store, word: EventKind) -> None:
    person = invited(file_store)
    log = file_store.add_question(person, EventLog(), proposal())
    assert log.open_question is not None
    supposed = log.supposing(word)
    assert log == file_store.event_log(person)  # it is a value: nothing was changed
    really = file_store.add_event(person, log.open_question.id, word, new_key())
    assert answered(supposed) == answered(really)
    assert supposed.skipped == really.skipped
    assert supposed.open_question is really.open_question is None


def test_a_learner_gets_the_question_with_its_number_value_and_unit() -> None:
    first = asked(7, items=(9, 2), value=0.25)
    assert first.question == Question(9, 2, number=7)
    assert first.question.value == 0.25
    assert (
        asked(7, value=None, unit=None).question.value != asked(7, value=None, unit=None).question.value
    )  # not known, so not a number
    (live,) = EventLog((first,), (event(5, 7, "right"),)).answers
    assert live.answer == Answer(Question(9, 2, number=7), "right")


def test_the_order_is_that_of_the_answers_and_not_of_the_questions() -> None:
    log = EventLog(
        (asked(1), asked(2, 1)),
        (event(1, 1, "left"), event(2, 2, "right"), event(3, 1, "delete", 1), event(4, 1, "restore", 2)),
    )
    assert answered(log) == [(101, "left"), (102, "right")]
    swapped = EventLog(log.questions, (event(1, 2, "right"), event(2, 1, "left")))
    assert answered(swapped) == [(102, "right"), (101, "left")]


def test_a_question_based_on_another_event_is_not_open() -> None:
    assert EventLog((asked(1),)).open_question == asked(1)
    assert EventLog((asked(1, based_on=7),)).open_question is None
    log = EventLog((asked(1), asked(2, based_on=1)), (event(1, 1, "left"),))
    assert log.open_question == asked(2, based_on=1)
    assert EventLog(log.questions, (*log.events, event(2, 1, "undo", 1))).open_question == asked(1)
