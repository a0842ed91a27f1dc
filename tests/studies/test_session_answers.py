"""Answers of a session: refused, undone, skipped and deleted, and how often the log is read for one."""

import re
from collections.abc import Iterator
from typing import Any, Literal

import pytest
from sqlalchemy import event

from prefero.studies.protocol.protocol import StudyMethod
from prefero.studies.session import Session
from prefero.studies.storage.store import Refused, Store
from studies.fake_study import (
    FAST_METHOD,
    answered,
    complete_stages,
    features_only,
    in_parallel,
    invited,
    learner_of,
    new_key,
    refusal,
    respond,
)
from studies.new_sessions import SessionFactory, question_of

# --- answers ----------------------------------------------------------------------------------------------


def test_about_equal_is_an_answer_only_where_the_protocol_says_so(sessions: SessionFactory) -> None:
    session = sessions.new()
    with refusal("no-ties"):
        session.answer(question_of(session), "equal", new_key())
    assert session.state().choices == ["left", "right"]
    tied = sessions.new(ties=True, methods=(StudyMethod("A", "Prefero, random", 2),))
    assert tied.state().choices == ["left", "right", "equal"]
    assert tied.answer(question_of(tied), "equal", new_key()).answered == 1


def test_another_window_gets_the_same_question_and_its_late_answer_is_refused(
    sessions: SessionFactory,
) -> None:
    session = sessions.new()
    other = Session(session.store, session.study, session.participant, sessions.slots)
    assert other.state() == session.state()
    question = question_of(session)
    after = session.answer(question, "left", new_key())
    with refusal("already-answered"):
        other.answer(question, "right", new_key())
    assert other.state() == after


def test_windows_that_ask_and_answer_in_parallel_agree(sessions: SessionFactory) -> None:
    session = sessions.new(methods=(StudyMethod("Active", "ActiveGP 1 0.1", 3),))
    windows = [
        session,
        *(Session(session.store, session.study, session.participant, sessions.slots) for _ in range(3)),
    ]
    for done in range(3):
        shown = in_parallel(4, lambda number: windows[number].state())
        assert [state for state in shown if state != shown[0]] == []
        question = question_of(session)
        found = in_parallel(4, lambda n, q=question: windows[n].answer(q, "left", new_key()))  # type: ignore[misc]
        assert len([one for one in found if isinstance(one, Refused)]) == 3
        assert len(answered(session.store.event_log(session.participant))) == done + 1
    assert session.state().stage == "done"


def test_undo_shows_the_same_question_again_and_what_followed_may_change(sessions: SessionFactory) -> None:
    session = sessions.new(methods=(StudyMethod("Active", "ActiveGP 1 0.1", 4),))
    first = session.state()
    assert first.question is not None
    second = session.answer(first.question.id, "left", new_key())
    assert second.undoable is not None
    assert second.question is not None
    assert session.undo(new_key()) == first
    other = session.answer(first.question.id, "right", new_key())
    assert other.question is not None
    assert other.question.id != second.question.id
    (answer,) = learner_of(session).answers
    assert [answer.question.left, answer.question.right] == first.question.items
    assert answer.choice == "right"


def test_a_skip_teaches_nothing_leads_to_another_question_and_can_be_undone(sessions: SessionFactory) -> None:
    for label in ("A", "test"):
        session = sessions.new(
            methods=(StudyMethod("A", FAST_METHOD, 3),),
            tests=0 if label == "A" else 3,
            seed=5 if label == "A" else 8,
        )
        first = session.state()
        assert first.question is not None
        assert session.workspace.methods.labels[0] == label
        skipped = session.answer(first.question.id, "skip", new_key())
        assert skipped.question is not None
        assert (skipped.answered, skipped.undoable is not None) == (0, True)
        pairs = [set(q.items) for q in (first.question, skipped.question)]
        assert pairs[0] != pairs[1]
        assert learner_of(session, "A").answers == ()
        assert session.undo(new_key()).question == first.question


def test_a_participant_who_skipped_every_pair_can_go_on(file_store: Store) -> None:
    sessions = SessionFactory(file_store, features_only(rows=3))
    session = sessions.new(methods=(StudyMethod("Active", "ActiveGP 1 0.1", 2),))
    for _ in range(5):
        now = session.answer(question_of(session), "skip", new_key())
    assert (now.stage, now.answered) == ("compare", 0)
    assert [state.stage for state in complete_stages(session)] == ["compare", "compare", "done"]
    sessions.slots.close()


def test_a_retest_question_can_be_skipped_any_number_of_times(sessions: SessionFactory) -> None:
    session = sessions.new(methods=(StudyMethod("A", FAST_METHOD, 4),), retests=2)
    now, skips = session.state(), 0
    while now.stage == "compare" and skips < 12:
        assert now.question is not None
        asked = session.store.event_log(session.participant).by_id[now.question.id]
        skips += asked.method == "retest"
        now = session.answer(now.question.id, "skip" if asked.method == "retest" else "left", new_key())
    assert skips == 12
    assert now.stage == "compare"


def test_after_the_last_answer_nothing_can_be_undone(sessions: SessionFactory) -> None:
    """Ratings are about the answers, and the page offers no undo then."""
    for rated in (False, True):
        session = sessions.new(methods=(StudyMethod("A", FAST_METHOD, 2),), rate=True)
        now = respond(session, respond(session, session.state()))
        assert now.stage == "rate"
        if rated:
            now = respond(session, now)
        assert now.undoable is None
        with refusal("nothing-to-undo"):
            session.undo(new_key())
        assert session.state() == now


def test_deleting_an_answer_makes_room_for_another(sessions: SessionFactory) -> None:
    session = sessions.new(open_ended=True)
    first = question_of(session)
    respond(session, respond(session, session.state()))
    now = session.change(first, "delete", new_key())
    assert now.answered == 1
    assert len(learner_of(session).answers) == 1
    assert session.change(first, "restore", new_key()).answered == 2
    with refusal("not-deleted"):
        session.change(first, "restore", new_key())


def test_a_teacher_is_told_the_expected_accuracy_and_once_that_the_goal_is_reached(
    sessions: SessionFactory,
) -> None:
    told: list[str] = []
    session = sessions.new(kind="teach", open_ended=True)
    session = Session(
        session.store, session.study, session.participant, sessions.slots, goal=0.501, report=told.append
    )
    now = session.state()
    assert (now.accuracy, now.goal) == (None, 0.501)
    for _ in range(5):
        assert (now.accuracy, told) == (None, [])  # too early to say
        now = respond(session, now)
    progress = learner_of(session).progress()
    assert now.accuracy == pytest.approx(progress.accuracy)
    assert progress.reaches(0.501)
    assert told == [f"It stopped asking after 5 answers, since 50% were wanted: {progress}."]
    assert now.question is not None  # for those who go on
    assert respond(session, now).accuracy is not None
    assert len(told) == 1
    assert session.undo(new_key()).accuracy == now.accuracy


def test_participants_of_a_study_see_no_accuracy(sessions: SessionFactory) -> None:
    session = sessions.new(open_ended=True)
    now = session.state()
    for _ in range(6):
        now = respond(session, now)
    assert (now.accuracy, now.goal) == (None, None)


def test_two_participants_of_a_study_get_different_schedules(sessions: SessionFactory) -> None:
    methods = (StudyMethod("A", FAST_METHOD, 4), StudyMethod("B", FAST_METHOD, 4))
    session = sessions.new(seed=1, methods=methods)
    other = Session(
        session.store, session.study, invited(sessions.store, "P2", session.study, 2), sessions.slots
    )
    assert session.workspace.methods.labels != other.workspace.methods.labels
    complete_stages(session)
    assert other.state().answered == 0


def test_the_learner_that_is_handed_out_is_a_copy(sessions: SessionFactory) -> None:
    session = sessions.new()
    respond(session, session.state())
    learner = learner_of(session)
    learner.tell(learner.ask(strategy="random"), "left")
    assert len(learner.answers) == 2
    assert len(learner_of(session).answers) == 1


# --- how often the log is read ----------------------------------------------------------------------------


@pytest.fixture
def statements(file_store: Store) -> Iterator[list[str]]:
    """The SQL that is executed from here on."""
    seen: list[str] = []

    def note(*arguments: Any) -> None:
        seen.append(str(arguments[2]))

    event.listen(file_store.engine, "before_cursor_execute", note)
    yield seen
    event.remove(file_store.engine, "before_cursor_execute", note)


@pytest.mark.parametrize("kind", ["left", "skip", "undo"])
def test_for_an_answer_the_log_is_read_once(
    sessions: SessionFactory, statements: list[str], kind: Literal["left", "skip", "undo"]
) -> None:
    """At most one query a table, in the transaction that records the answer; none for the next question."""
    session = sessions.new()
    session.answer(question_of(session), "left", new_key())
    open_question = question_of(session)
    statements.clear()
    if kind == "undo":
        session.undo(new_key())
    else:
        session.answer(open_question, kind, new_key())
    reads = [statement for statement in statements if statement.startswith("SELECT")]
    for table in ("question_items", "events", "stage_events"):
        rows = [read for read in reads if re.search(rf"(FROM|JOIN) {table}\b.*ORDER BY", read, re.DOTALL)]
        assert len(rows) <= 1, table
    others = [read for read in reads if "ORDER BY" not in read]
    assert len(others) <= 4  # locks, the length of the log, and whether another window changed it
    assert sum(statement.startswith("INSERT INTO events") for statement in statements) == 1
