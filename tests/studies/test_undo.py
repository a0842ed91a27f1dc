"""Undo, delete and restore, skips, stage events; and that participants' rows are separate."""

from typing import Any

import pytest

from prefero.studies.log.event_log import EventLog
from prefero.studies.storage.store import Refused, Store
from studies.fake_study import answer, answered, ask, in_parallel, invited, new_key, refusal, study_of

# --- undo -------------------------------------------------------------------------------------------------


def test_undo_takes_back_the_last_answer_and_its_question_waits_again(store: Store) -> None:
    person = invited(store)
    first, second = answer(store, person, "left"), answer(store, person, "right")
    ask(store, person)
    log = store.undo(person, new_key())
    assert log == store.event_log(person)
    assert answered(log) == [(first, "left")]
    assert log.open_question is not None
    assert log.open_question.id == second
    log = store.add_event(person, second, "equal", new_key())
    assert answered(log) == [(first, "left"), (second, "equal")]
    assert log.open_question is None  # the question that came next was chosen with the other answer in mind
    assert [(event.question, event.position, event.kind) for event in log.events] == [
        (first, 0, "left"),
        (second, 0, "right"),
        (second, 1, "undo"),
        (second, 2, "equal"),
    ]


def test_undo_goes_back_to_the_beginning_one_by_one(store: Store) -> None:
    person = invited(store)
    questions = [answer(store, person) for _ in range(3)]
    for left in (2, 1, 0):
        log = store.undo(person, new_key())
        assert answered(log) == [(question, "left") for question in questions[:left]]
        assert log.open_question is not None
        assert log.open_question.id == questions[left]
    with refusal("nothing-to-undo", "there is no answer to undo"):
        store.undo(person, new_key())
    assert len(store.event_log(person).events) == 6


def test_undo_takes_back_a_skip(store: Store) -> None:
    person = invited(store)
    first, skipped = answer(store, person), answer(store, person, "skip")
    assert [asked.id for asked in store.event_log(person).skipped] == [skipped]
    log = store.undo(person, new_key())
    assert log.skipped == ()
    assert log.open_question is not None
    assert log.open_question.id == skipped
    log = store.add_event(person, skipped, "right", new_key())
    assert answered(log) == [(first, "left"), (skipped, "right")]


def test_undo_goes_through_answers_and_skips_in_the_order_in_which_they_came(store: Store) -> None:
    person = invited(store)
    questions = [answer(store, person, word) for word in ("skip", "left", "skip", "right")]
    taken = []
    for _ in questions:
        log = store.undo(person, new_key())
        assert log.open_question is not None
        taken.append(log.open_question.id)
    assert taken == questions[::-1]
    assert (log.answers, log.skipped) == ((), ())


def test_undo_after_undo_and_a_new_answer_takes_the_new_answer_back(store: Store) -> None:
    person = invited(store)
    first, second = answer(store, person), answer(store, person)
    store.undo(person, new_key())
    store.undo(person, new_key())
    third = answer(store, person, "right")
    assert third == first
    assert answered(store.event_log(person)) == [(first, "right")]
    assert answered(store.undo(person, new_key())) == []
    assert second not in store.event_log(person).deleted


def test_one_key_undoes_once(store: Store) -> None:
    person = invited(store)
    first, _ = answer(store, person), answer(store, person)
    log = store.undo(person, "same")
    assert store.undo(person, "same") == log
    assert answered(log) == [(first, "left")]


def test_one_key_undoes_once_from_many_windows_at_once(store: Store) -> None:
    person = invited(store)
    first, _ = answer(store, person), answer(store, person)
    assert in_parallel(8, lambda _: store.undo(person, "same")) == [store.event_log(person)] * 8
    assert answered(store.event_log(person)) == [(first, "left")]


def test_one_answer_is_undone_once_by_many_windows_in_parallel(store: Store) -> None:
    person = invited(store)
    answer(store, person)
    found = in_parallel(8, lambda _: store.undo(person, new_key()))
    codes = [error.code for error in found if isinstance(error, Refused)]
    assert codes == ["nothing-to-undo"] * 7
    assert [event.kind for event in store.event_log(person).events] == ["left", "undo"]


def test_an_older_answer_can_be_undone_and_is_asked_again(store: Store) -> None:
    person = invited(store)
    first, second = answer(store, person), answer(store, person)
    waiting = ask(store, person)
    log = store.add_event(person, first, "undo", new_key())
    assert answered(log) == [(second, "left")]
    assert log.open_question is not None
    assert log.open_question.id == first
    with refusal("already-answered"):
        store.add_event(person, waiting, "left", new_key())
    log = store.add_event(person, first, "right", new_key())
    assert answered(log) == [(second, "left"), (first, "right")]
    assert log.answer_numbers == {first: 1, second: 2}


# --- delete and restore -----------------------------------------------------------------------------------


def test_any_answer_can_be_deleted_and_restored_to_its_place(store: Store) -> None:
    person = invited(store)
    first, second, third = (answer(store, person, word) for word in ("left", "right", "equal"))
    waiting = ask(store, person)
    log = store.add_event(person, second, "delete", new_key())
    assert answered(log) == [(first, "left"), (third, "equal")]
    assert {question: event.kind for question, event in log.deleted.items()} == {second: "right"}
    assert log.open_question is None  # what waited was chosen with the deleted answer in mind
    assert waiting not in log.events_by_question
    log = store.add_event(person, second, "restore", new_key())
    assert answered(log) == [(first, "left"), (second, "right"), (third, "equal")]
    assert log.deleted == {}


def test_deleting_and_restoring_can_be_repeated(store: Store) -> None:
    person = invited(store)
    question = answer(store, person, "right")
    for _ in range(3):
        assert answered(store.add_event(person, question, "delete", new_key())) == []
        assert answered(store.add_event(person, question, "restore", new_key())) == [(question, "right")]
    assert answered(store.undo(person, new_key())) == []


def test_undo_skips_a_deleted_answer(store: Store) -> None:
    person = invited(store)
    first, second = answer(store, person), answer(store, person)
    store.add_event(person, second, "delete", new_key())
    log = store.undo(person, new_key())
    assert log.open_question is not None
    assert log.open_question.id == first
    assert list(log.deleted) == [second]


@pytest.mark.parametrize(
    ("before", "change", "code"),
    [
        ([], "delete", "not-answered"),
        (["skip"], "delete", "not-answered"),
        (["left", "undo"], "delete", "not-answered"),
        (["left", "delete"], "delete", "not-answered"),
        ([], "restore", "not-deleted"),
        (["left"], "restore", "not-deleted"),
        (["left", "undo"], "restore", "not-deleted"),
        (["left", "delete", "restore"], "restore", "not-deleted"),
        (["left", "delete"], "undo", "nothing-to-undo"),
        (["left", "undo"], "undo", "nothing-to-undo"),
        ([], "undo", "nothing-to-undo"),
    ],
)
def test_a_change_that_does_not_fit_is_refused_and_changes_nothing(
    file_store: Store, before: list[Any], change: Any, code: str
) -> None:
    person = invited(file_store)
    question = ask(file_store, person)
    for word in before:
        file_store.add_event(person, question, word, new_key())
    log = file_store.event_log(person)
    with refusal(code):
        file_store.add_event(person, question, change, new_key())
    assert file_store.event_log(person) == log


def test_deleting_from_two_windows_at_once_deletes_once(store: Store) -> None:
    person = invited(store)
    question = answer(store, person)
    found = in_parallel(4, lambda _: store.add_event(person, question, "delete", new_key()))
    assert [error.code for error in found if isinstance(error, Refused)] == ["not-answered"] * 3
    assert [event.kind for event in store.event_log(person).events] == ["left", "delete"]


# --- steps ------------------------------------------------------------------------------------------------


def test_a_stage_event_is_recorded_as_submitted(store: Store) -> None:
    person = invited(store)
    data = {"red": 5, "ü": [1.5, None, True], "text": 'quoted "here"\nand there'}
    log = store.add_stage_event(person, "target_scores", "", data, "my-key")
    assert log == store.event_log(person)
    step = log.stage_event("target_scores")
    assert step is not None
    assert (step.stage, step.item, step.data, step.key) == ("target_scores", "", data, "my-key")
    assert log.stage_event("consent") is None
    assert log.stage_event("target_scores", "other") is None


def test_a_stage_is_submitted_once_for_each_item(store: Store) -> None:
    person = invited(store)
    for item in ("one", "two"):
        store.add_stage_event(person, "rate", item, {"rating": 3}, f"key of {item}")
    before = store.event_log(person)
    assert store.add_stage_event(person, "rate", "one", {"rating": 9}, "key of one") == before
    with refusal("wrong-stage", "done already, perhaps in another window"):
        store.add_stage_event(person, "rate", "one", {"rating": 9}, new_key())
    assert store.event_log(person) == before
    assert [(step.item, step.data) for step in before.stage_events] == [
        ("one", {"rating": 3}),
        ("two", {"rating": 3}),
    ]


@pytest.mark.parametrize("same", [True, False], ids=["one key", "many keys"])
def test_a_stage_is_submitted_once_by_many_windows_in_parallel(store: Store, same: bool) -> None:
    person = invited(store)
    keys = ["same" if same else new_key() for _ in range(8)]
    found = in_parallel(
        8, lambda number: store.add_stage_event(person, "consent", "", {"window": number}, keys[number])
    )
    codes = [error.code for error in found if isinstance(error, Refused)]
    assert codes == ([] if same else ["wrong-stage"] * 7)
    assert len([log for log in found if isinstance(log, EventLog)]) == (8 if same else 1)
    assert len(store.event_log(person).stage_events) == 1


# --- whose rows are whose ---------------------------------------------------------------------------------


def test_participants_cannot_read_or_change_each_others_rows(store: Store) -> None:
    study = study_of(store)
    person, other = invited(store, "P1", study), invited(store, "P2", study)
    question = answer(store, person)
    store.add_stage_event(person, "consent", "", {"agreed": True}, "key")
    waiting = ask(store, person)
    before = store.event_log(person)
    assert store.event_log(other) == EventLog()
    for reached in (question, waiting):
        for word in ("left", "skip", "undo", "delete", "restore"):
            with refusal("no-question", "this participant was never asked that question"):
                store.add_event(other, reached, word, new_key())
    with pytest.raises(Refused):
        store.undo(other, new_key())
    assert store.event_log(person) == before
    assert store.event_log(other) == EventLog()


def test_two_participants_may_use_the_same_keys(store: Store) -> None:
    study = study_of(store)
    people = [invited(store, label, study) for label in ("P1", "P2")]
    for person in people:
        store.add_event(person, ask(store, person), "left", "same")
        store.add_stage_event(person, "consent", "", {}, "same")
    assert [len(store.event_log(person).events) for person in people] == [1, 1]
    assert [len(store.event_log(person).stage_events) for person in people] == [1, 1]


def test_a_question_that_does_not_exist_is_refused(store: Store) -> None:
    with refusal("no-question"):
        store.add_event(invited(store), 2**31 - 1, "left", new_key())
