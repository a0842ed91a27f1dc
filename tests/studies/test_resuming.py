"""Sessions resumed by another server: the same questions come, prepared or not."""

from typing import Any

import pytest

from prefero import Pool
from prefero.pools.displays import display_of
from prefero.studies.computing.compute_slots import ComputeSlots
from prefero.studies.log.event_log import EventLog
from prefero.studies.protocol.protocol import StudyMethod, teaching_protocol
from prefero.studies.session import Session
from prefero.studies.storage.database import open_database
from prefero.studies.storage.store import Participant, Store, Study
from studies.fake_study import (
    FAST_METHOD,
    WithoutPreparations,
    complete_stages,
    invited,
    learner_of,
    new_key,
    preferred_choice,
    protocol_of,
    respond,
    study_of,
    wait_for_preparations,
)

LEARNERS = {
    "belief": (StudyMethod("Prefero", "Prefero", 5),),
    "fixed": (StudyMethod("Active", "ActiveGP 1 0.1", 5), StudyMethod("EP", "ActiveGP+EP 1 0.1", 3)),
    "linear": (StudyMethod("Linear", "ActiveLinear", 4), StudyMethod("Random", "RandomGP 1 0.1", 2)),
}


def questions_of(log: EventLog) -> list[tuple[Any, ...]]:
    return [(asked.answered, asked.method, asked.items) for asked in log.questions]


class EqualStudies:
    """The same participant (the same seed) in several equal studies."""

    def __init__(self, store: Store, pool: Pool, methods: tuple[StudyMethod, ...]) -> None:
        self.store, self.pool, self.methods = store, pool, methods

    def begin(self, name: str) -> tuple[Study, Participant]:
        protocol = protocol_of(methods=self.methods, tests=1, retests=1)
        display = display_of(self.pool)
        study = self.store.add_study(
            name, "study", protocol.to_json(), self.pool, display, f"secret of {name}"
        )
        return study, invited(self.store, "P1", study, seed=11)

    def prepared(self) -> EventLog:
        """Every next question is computed before the answer comes."""
        study, person = self.begin("prepared")
        slots = ComputeSlots()
        session = Session(self.store, study, person, slots)
        now = session.state()
        while now.stage == "compare":
            wait_for_preparations(slots)
            now = respond(session, now)
        slots.close()
        return self.store.event_log(person)

    def unprepared(self) -> EventLog:
        """Nothing is computed before it is needed."""
        study, person = self.begin("unprepared")
        slots = WithoutPreparations()
        complete_stages(Session(self.store, study, person, slots))
        slots.close()
        return self.store.event_log(person)

    def restarted(self) -> EventLog:
        """Every request comes to another server, with an empty cache."""
        study, person = self.begin("restarted")
        slots, stage = WithoutPreparations(), "compare"
        while stage == "compare":
            now = Session(self.store, study, person, slots).state()
            assert Session(self.store, study, person, slots).state() == now
            assert now.question is not None
            said = preferred_choice(self.pool, *now.question.items)
            stage = Session(self.store, study, person, slots).answer(now.question.id, said, new_key()).stage
        slots.close()
        return self.store.event_log(person)


@pytest.mark.parametrize("kind", LEARNERS)
def test_questions_depend_neither_on_preparations_nor_on_the_server(
    file_store: Store, pool: Pool, kind: str
) -> None:
    studies = EqualStudies(file_store, pool, LEARNERS[kind])
    wanted = studies.unprepared()
    assert len(questions_of(wanted)) == sum(asker.questions for asker in LEARNERS[kind]) + 2
    assert questions_of(studies.prepared()) == questions_of(wanted)
    assert questions_of(studies.restarted()) == questions_of(wanted)


def test_a_session_goes_on_in_another_process_with_the_open_question(database: str, pool: Pool) -> None:
    slots, shown = WithoutPreparations(), []
    for stop in range(4):
        engine = open_database(database)
        store = Store(engine)
        if stop == 0:
            invited(store, study=study_of(store, pool=pool))
        study = store.study("one")
        session = Session(store, study, store.participants(study)[0], slots)
        shown.append(session.state())
        if stop == 1:
            respond(session, shown[-1])
        engine.dispose()
    slots.close()
    assert shown[0] == shown[1]
    assert shown[2] == shown[3]
    assert [state.answered for state in shown] == [0, 0, 1, 1]
    assert shown[1].question != shown[2].question


def test_an_answer_recorded_before_the_server_died_counts(file_store: Store) -> None:
    """It is on disk, and the next question was never recorded: the next server records it."""
    study = study_of(file_store)
    person, slots = invited(file_store, study=study), WithoutPreparations()
    now = Session(file_store, study, person, slots).state()
    assert now.question is not None
    file_store.add_event(person, now.question.id, "left", "the-key")
    session = Session(file_store, study, person, slots)
    after = session.answer(now.question.id, "left", "the-key")
    assert after.answered == 1
    assert after.question is not None
    assert after == session.state()
    assert len(file_store.event_log(person).questions) == 2
    slots.close()


# --- ahead ------------------------------------------------------------------------------------------------


def test_the_next_trajectories_can_be_prefetched_before_the_answer(file_store: Store, pool: Pool) -> None:
    study = study_of(
        file_store, pool=pool, methods=(StudyMethod("Active", "ActiveGP 1 0.1", 3),), tests=2, retests=1
    )
    person, slots = invited(file_store, study=study), ComputeSlots()
    session = Session(file_store, study, person, slots)
    now = session.state()
    for left in range(5, 0, -1):
        wait_for_preparations(slots)
        ahead, ready = session.prefetch()
        assert ready
        now = respond(session, now)
        assert now.question is not None
        assert set(now.question.items) <= set(ahead)
        assert len(ahead) <= 4
        assert now.answered == 6 - left
    slots.close()


def test_prefetching_computes_nothing(file_store: Store) -> None:
    study = study_of(file_store, methods=(StudyMethod("Active", "ActiveGP 1 0.1", 3),))
    person, slots = invited(file_store, study=study), WithoutPreparations()
    session = Session(file_store, study, person, slots)
    session.state()
    assert session.prefetch() == ([], False)
    assert len(file_store.event_log(person).questions) == 1
    slots.close()


def test_after_the_last_question_there_is_nothing_to_prefetch(file_store: Store) -> None:
    """A page that asks until everything is known must be able to stop."""
    study = study_of(file_store, methods=(StudyMethod("Random", FAST_METHOD, 1),))
    person, slots = invited(file_store, study=study), ComputeSlots()
    session = Session(file_store, study, person, slots)
    now = session.state()
    wait_for_preparations(slots)
    assert session.prefetch() == ([], True)
    assert respond(session, now).stage == "done"
    assert session.prefetch() == ([], True)
    slots.close()


def test_a_teacher_never_comes_to_the_end(file_store: Store, pool: Pool) -> None:
    protocol = teaching_protocol("Own", 2).to_json() | {
        "methods": [{"label": "A", "method": "CorrectedGP 1 0.1", "questions": 2}]
    }
    study = file_store.add_study("teach", "teach", protocol, pool, display_of(pool), "secret")
    person, slots = invited(file_store, study=study), ComputeSlots()
    session = Session(file_store, study, person, slots)
    now = session.state()
    for done in range(3):
        assert (now.stage, now.answered, now.total) == ("compare", done, 2)
        assert now.choices == ["left", "right", "equal"]
        wait_for_preparations(slots)
        ahead, ready = session.prefetch()
        assert ready
        assert 2 <= len(ahead) <= 6
        assert now.question is not None
        now = session.answer(now.question.id, "left", new_key())
    assert now.stage == "compare"
    assert len(learner_of(session).answers) == 3
    slots.close()


def test_a_preparation_for_a_question_that_was_answered_is_skipped(file_store: Store) -> None:
    """The answer has come already, so the learner for the other one would never be used."""
    held: list[Any] = []

    class Later(WithoutPreparations):
        def run_when_idle(self, job: Any) -> None:
            held.append(job)

    study = study_of(file_store, methods=(StudyMethod("Active", "ActiveGP 1 0.1", 3),))
    person, slots = invited(file_store, study=study), Later()
    session = Session(file_store, study, person, slots)
    respond(session, session.state())
    late = held[:2]
    before = dict(session.workspace.methods.learners._next)
    for job in late:
        job()
    assert session.workspace.methods.learners._next == before
    for job in held[2:]:
        job()
    assert len(session.workspace.methods.learners._next) == len(before) + 2
    slots.close()
