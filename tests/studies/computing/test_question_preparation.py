"""What is computed ahead, in which order, and what is asked when the best question is not ready."""

import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import replace
from typing import Any

import pytest

from prefero import Pool
from prefero._support.steps import completed
from prefero.models.inference.solution import ConvergenceError
from prefero.studies.computing import workspace
from prefero.studies.computing.base import LIKELY, NOW, POSSIBLE
from prefero.studies.computing.study_workers import StudyWorkers
from prefero.studies.computing.workspace import Workspace, WorkspaceName, Workspaces, next_question
from prefero.studies.protocol.protocol import StudyMethod
from prefero.studies.session import Session
from prefero.studies.storage.store import Participant, Store, Study
from studies.fake_study import FAST_METHOD, invited, learner_of, respond, study_of
from systems import ON_WINDOWS

PREFERO = (StudyMethod("P", "Prefero", 9),)


class Postponed:
    """Computes when a test says so."""

    workers = 0

    def __init__(self, patience: float | None = 0.0) -> None:
        self.patience = patience
        self.waiting: list[tuple[int, Future[Any], Callable[[], Any], tuple[Any, ...]]] = []
        self.now = True  # whether what somebody waits for is computed at once
        self.people = 0  # who wait

    def submit(
        self, workspace: Workspace, function: Callable[..., Any], *arguments: Any, priority: int = NOW
    ) -> "Future[Any]":
        future: Future[Any] = Future()

        def run() -> None:
            found = function(workspace, *arguments)
            future.set_result(completed(found) if hasattr(found, "send") else found)

        if self.now and priority == NOW:
            run()
        else:
            self.waiting.append((priority, future, run, arguments))
        return future

    def people_waiting(self, _: Workspace) -> int:
        return self.people

    def cancel(self, _: Workspace, future: "Future[Any]") -> None:
        future.cancel()
        self.waiting = [row for row in self.waiting if row[1] is not future]

    def close(self) -> None:
        self.waiting = []

    def work(self) -> list[int]:
        """Compute all that waits; the priorities that it had."""
        waiting, self.waiting = self.waiting, []
        for _, _, run, _ in waiting:
            run()
        return [row[0] for row in waiting]


def session_of(store: Store, pool: Pool, computing: Any, **changed: Any) -> Session:
    study = study_of(store, pool=pool, **{"methods": PREFERO, **changed})
    return Session(store, study, invited(store, "P1", study, 5), computing)


@pytest.fixture
def postponed() -> Postponed:
    return Postponed()


@pytest.fixture
def session(file_store: Store, pool: Pool, postponed: Postponed) -> Session:
    return session_of(file_store, pool, postponed)


def selections(session: Session) -> list[str]:
    return [asked.selection for asked in session.event_log().questions]


def test_the_likelier_answer_is_prepared_first(session: Session, postponed: Postponed) -> None:
    now = session.state()
    (first, *_), (second, *_) = postponed.waiting
    assert (first, second) == (LIKELY, POSSIBLE)
    asked = session.event_log().open_question
    assert asked is not None
    learner = learner_of(session)
    likelier = learner.reward()(session.pool.features[list(asked.items)]).argmax()
    assert postponed.waiting[0][3][1] == ("left", "right")[likelier]
    session.state()
    assert len(postponed.waiting) == 2  # it is not prepared twice
    respond(session, now)


def test_only_a_teacher_gets_what_follows_the_likely_answer_first(
    session: Session, postponed: Postponed
) -> None:
    session.state()
    (_, likely, *_), (_, other, *_) = postponed.waiting
    postponed.work()
    items = [item for future in (likely, other) for item in future.result().proposal.items]
    assert session.prefetch() == (sorted(set(items)), True)  # a participant does not see what is expected
    session.study = replace(session.study, kind="teach")
    assert session.prefetch() == (list(dict.fromkeys(items)), True)


def test_which_answer_is_likely_to_a_question_of_another_process_is_not_known(
    session: Session, postponed: Postponed
) -> None:
    session.state()
    again = Session(session.store, session.study, session.participant, postponed)
    postponed.waiting = []
    again.state()
    assert [priority for priority, *_ in postponed.waiting] == [POSSIBLE, POSSIBLE]


def test_a_prepared_question_is_asked_without_computing(session: Session, postponed: Postponed) -> None:
    now = session.state()
    postponed.work()
    postponed.now = False
    assert session.prefetch()[1]
    after = respond(session, now)
    assert selections(session) == ["best", "best"]
    assert {priority for priority, *_ in postponed.waiting} == {LIKELY, POSSIBLE}
    postponed.now = True
    by_hand = Session(session.store, session.study, session.participant, Postponed()).state()
    assert by_hand.question == after.question


def test_a_quick_question_is_asked_when_the_best_one_is_not_ready(
    session: Session, postponed: Postponed
) -> None:
    now = session.state()
    postponed.now = False
    respond(session, now)
    assert selections(session) == ["best", "quick"]
    first, second = session.event_log().questions
    assert set(first.items) != set(second.items)
    assert second.value is not None
    assert second.value > 0
    assert NOW not in [row[0] for row in postponed.waiting]  # nobody needs the best one any more
    assert LIKELY in [row[0] for row in postponed.waiting]  # which answer to it is likely is known too


def test_only_where_nothing_can_be_chosen_a_random_question_is_asked(
    file_store: Store, pool: Pool, postponed: Postponed, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise ConvergenceError("for the test")

    monkeypatch.setattr("prefero.studies.computing.question_preparation.FIRST_PATIENCE", 0.0)
    monkeypatch.setattr("prefero.studies.asking.question_schedule.quick_question", fails)
    postponed.now = False
    session = session_of(file_store, pool, postponed)
    now = session.state()
    assert selections(session) == ["random"]
    assert session.state() == now


def test_tests_are_not_replaced_and_who_computes_here_waits(file_store: Store, pool: Pool) -> None:
    computing = Postponed()
    computing.now = False
    session = session_of(file_store, pool, computing, methods=(StudyMethod("A", FAST_METHOD, 1),), tests=3)
    drawn = [label for label in session.workspace.methods.labels if label == "test"]
    assert len(drawn) == 3
    if session.workspace.methods.labels[0] == "test":
        session.state()
        assert selections(session) == ["best"]
    assert session._preparation._patience(session.event_log()) is not None
    computing.patience = None
    assert session._preparation._patience(session.event_log()) is None


def test_who_would_wait_behind_others_gets_a_quick_question_at_once(
    session: Session, postponed: Postponed
) -> None:
    patience = session._preparation._patience
    postponed.patience, postponed.people = 0.3, 1
    assert patience(session.event_log()) == 1.0  # while the page opens
    now = session.state()
    postponed.waiting = []
    respond(session, now)
    assert selections(session) == ["best", "quick"]
    assert patience(session.event_log()) == 0.0
    postponed.people = 0
    assert patience(session.event_log()) == 0.3


# --- in worker processes ----------------------------------------------------------------------------------


@pytest.fixture
def workers(file_store: Store) -> Iterator[StudyWorkers]:
    found = StudyWorkers(file_store, 1, patience=None)
    yield found
    found.close()


@pytest.mark.skipif(ON_WINDOWS, reason="SIGKILL is not there")
def test_workers_ask_the_same_as_this_process_also_when_one_is_killed_during_an_answer(
    file_store: Store, pool: Pool, workers: StudyWorkers
) -> None:
    session = session_of(file_store, pool, workers)
    study = session.study
    here = Session(file_store, study, invited(file_store, "P2", study, 5), Postponed(None))
    now, wanted = session.state(), here.state()
    for number in range(4):
        assert now.question is not None
        assert wanted.question is not None
        assert now.question.items == wanted.question.items
        if number == 2:
            os.kill(workers.pool.processes[0], signal.SIGKILL)
        now, wanted = respond(session, now), respond(here, wanted)
    assert selections(session) == ["best"] * 5
    assert [event.kind for event in session.event_log().events] == [
        event.kind for event in here.event_log().events
    ]
    assert learner_of(session).answers == learner_of(here).answers


def name_of(study: Study, person: Participant) -> WorkspaceName:
    return WorkspaceName(study, person, "person")


def test_a_workspace_that_nobody_uses_is_forgotten(
    file_store: Store, pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = study_of(file_store, pool=pool, methods=(StudyMethod("A", FAST_METHOD, 9),))
    names = [name_of(study, invited(file_store, f"P{n}", study, n)) for n in range(2)]
    now = [0.0]
    monkeypatch.setattr("prefero.studies.computing.workspace.time.monotonic", lambda: now[0])
    workspaces = Workspaces(file_store)
    first = workspaces.of(names[0])
    now[0] = workspace.FORGOTTEN
    workspaces.of(names[1])
    assert workspaces.of(names[0]) is first
    now[0] *= 3
    workspaces.of(names[1])
    assert workspaces.of(names[0]) is not first


def test_a_process_keeps_few_workspaces_and_makes_others_anew(file_store: Store, pool: Pool) -> None:
    study = study_of(file_store, pool=pool, methods=(StudyMethod("A", FAST_METHOD, 9),))
    people = [invited(file_store, f"P{n}", study, n) for n in range(3)]
    workspaces = Workspaces(file_store, most=2)
    first = workspaces.of(name_of(study, people[0]))
    for one in people[1:]:
        workspaces.of(name_of(study, one))
    again = workspaces.of(name_of(study, people[0]))
    assert again is not first
    assert workspaces.of(name_of(study, people[0])) is again
    changed = file_store.change_protocol(study, title="Another")
    assert workspaces.of(name_of(changed, people[0])).protocol.title == "Another"
    length = file_store.event_log(people[0]).length
    assert completed(next_question(again, length)) == completed(next_question(first, length))
