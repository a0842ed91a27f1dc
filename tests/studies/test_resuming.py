"""A sitting can be left and taken up again, anywhere: the same questions come, prepared or not."""

from typing import Any

import pytest

from prefero import Pool
from prefero.studies.compute_slots import Turns
from prefero.studies.event_log import Log
from prefero.studies.protocol import Asker, teaching
from prefero.studies.session import Sitting
from prefero.studies.storage.database import open_database
from prefero.studies.storage.store import Person, Store, Study
from studies.pretended import (
    QUICK,
    Unprepared,
    choice_of,
    go_through,
    invited,
    new_key,
    protocol_of,
    react,
    study_of,
    wait_for,
)

LEARNERS = {
    "belief": (Asker("Prefero", "Prefero", 5),),
    "fixed": (Asker("Active", "ActiveGP 1 0.1", 5), Asker("EP", "ActiveGP+EP 1 0.1", 3)),
    "linear": (Asker("Linear", "ActiveLinear", 4), Asker("Random", "RandomGP 1 0.1", 2)),
}


def questions_of(log: Log) -> list[tuple[Any, ...]]:
    return [(asked.slot, asked.method, asked.left, asked.right) for asked in log.questions]


class Ways:
    """The same person (the same seed) in several studies that are alike."""

    def __init__(self, store: Store, pool: Pool, methods: tuple[Asker, ...]) -> None:
        self.store, self.pool, self.methods = store, pool, methods

    def begin(self, name: str) -> tuple[Study, Person]:
        protocol = protocol_of(methods=self.methods, tests=1, retests=1)
        study = self.store.add_study(name, "study", protocol.to_json(), self.pool, {}, f"secret of {name}")
        return study, invited(self.store, "P1", study, seed=11)

    def prepared(self) -> Log:
        """Every next question is computed before the answer comes; the person waits for that."""
        study, person = self.begin("prepared")
        turns = Turns()
        sitting = Sitting(self.store, study, person, turns)
        now = sitting.moment()
        while now.stage == "compare":
            wait_for(turns)
            now = react(sitting, now)
        turns.close()
        return self.store.log(person)

    def unprepared(self) -> Log:
        """Nothing is computed before it is needed."""
        study, person = self.begin("unprepared")
        turns = Unprepared()
        go_through(Sitting(self.store, study, person, turns))
        turns.close()
        return self.store.log(person)

    def restarted(self) -> Log:
        """Every request comes to another server, which knows nothing but the database."""
        study, person = self.begin("restarted")
        turns, stage = Unprepared(), "compare"
        while stage == "compare":
            now = Sitting(self.store, study, person, turns).moment()
            assert Sitting(self.store, study, person, turns).moment() == now
            assert now.question is not None
            said = choice_of(self.pool, *now.question.items)
            stage = Sitting(self.store, study, person, turns).answer(now.question.id, said, new_key()).stage
        turns.close()
        return self.store.log(person)


@pytest.mark.parametrize("kind", LEARNERS)
def test_questions_do_not_depend_on_what_was_prepared_or_on_who_serves(
    file_store: Store, pool: Pool, kind: str
) -> None:
    ways = Ways(file_store, pool, LEARNERS[kind])
    wanted = ways.unprepared()
    assert len(questions_of(wanted)) == sum(asker.questions for asker in LEARNERS[kind]) + 2
    assert questions_of(ways.prepared()) == questions_of(wanted)
    assert questions_of(ways.restarted()) == questions_of(wanted)


def test_a_sitting_goes_on_in_another_process_with_the_question_that_waited(
    database: str, pool: Pool
) -> None:
    turns, shown = Unprepared(), []
    for stop in range(4):
        engine = open_database(database)
        store = Store(engine)
        if stop == 0:
            invited(store, study=study_of(store, pool=pool))
        study = store.study("one")
        sitting = Sitting(store, study, store.people(study)[0], turns)
        shown.append(sitting.moment())
        if stop == 1:
            react(sitting, shown[-1])
        engine.dispose()
    turns.close()
    assert shown[0] == shown[1]
    assert shown[2] == shown[3]
    assert [moment.answered for moment in shown] == [0, 0, 1, 1]
    assert shown[1].question != shown[2].question


def test_an_answer_that_was_kept_before_the_server_died_counts(file_store: Store) -> None:
    """It is on disk, and the next question was never asked: whoever comes next asks it."""
    study = study_of(file_store)
    person, turns = invited(file_store, study=study), Unprepared()
    now = Sitting(file_store, study, person, turns).moment()
    assert now.question is not None
    file_store.tell(person, now.question.id, "left", "the-key")
    sitting = Sitting(file_store, study, person, turns)
    after = sitting.answer(now.question.id, "left", "the-key")
    assert after.answered == 1
    assert after.question is not None
    assert after == sitting.moment()
    assert len(file_store.log(person).questions) == 2
    turns.close()


# --- ahead ------------------------------------------------------------------------------------------------


def test_what_may_come_next_is_known_before_the_answer(file_store: Store, pool: Pool) -> None:
    study = study_of(
        file_store, pool=pool, methods=(Asker("Active", "ActiveGP 1 0.1", 3),), tests=2, retests=1
    )
    person, turns = invited(file_store, study=study), Turns()
    sitting = Sitting(file_store, study, person, turns)
    now = sitting.moment()
    for left in range(5, 0, -1):
        wait_for(turns)
        ahead, ready = sitting.ahead()
        assert ready
        now = react(sitting, now)
        assert now.question is not None
        assert set(now.question.items) <= set(ahead)
        assert len(ahead) <= 4
        assert now.answered == 6 - left
    turns.close()


def test_what_is_not_prepared_is_not_known_and_nothing_is_computed_for_it(file_store: Store) -> None:
    study = study_of(file_store, methods=(Asker("Active", "ActiveGP 1 0.1", 3),))
    person, turns = invited(file_store, study=study), Unprepared()
    sitting = Sitting(file_store, study, person, turns)
    sitting.moment()
    assert sitting.ahead() == ([], False)
    assert len(file_store.log(person).questions) == 1
    turns.close()


def test_after_the_last_question_nothing_comes_and_that_is_all(file_store: Store) -> None:
    """Who asks until everything is ready would else ask for ever."""
    study = study_of(file_store, methods=(Asker("Random", QUICK, 1),))
    person, turns = invited(file_store, study=study), Turns()
    sitting = Sitting(file_store, study, person, turns)
    now = sitting.moment()
    wait_for(turns)
    assert sitting.ahead() == ([], True)
    assert react(sitting, now).stage == "done"
    assert sitting.ahead() == ([], True)
    turns.close()


def test_a_teacher_never_comes_to_the_end(file_store: Store, pool: Pool) -> None:
    protocol = teaching("Own", 2).to_json() | {
        "methods": [{"label": "A", "method": "CorrectedGP 1 0.1", "questions": 2}]
    }
    study = file_store.add_study("teach", "teach", protocol, pool, {}, "secret")
    person, turns = invited(file_store, study=study), Turns()
    sitting = Sitting(file_store, study, person, turns)
    now = sitting.moment()
    for done in range(3):
        assert (now.stage, now.answered, now.total) == ("compare", done, 2)
        assert now.choices == ["left", "right", "equal"]
        wait_for(turns)
        ahead, ready = sitting.ahead()
        assert ready
        assert 2 <= len(ahead) <= 6
        assert now.question is not None
        now = sitting.answer(now.question.id, "left", new_key())
    assert now.stage == "compare"
    assert len(sitting.learner().answers) == 3
    turns.close()


def test_a_preparation_that_comes_too_late_is_not_made(file_store: Store) -> None:
    """The answer is there already, so the learner for the other one would never be used."""
    held: list[Any] = []

    class Later(Unprepared):
        def later(self, job: Any) -> None:
            held.append(job)

    study = study_of(file_store, methods=(Asker("Active", "ActiveGP 1 0.1", 3),))
    person, turns = invited(file_store, study=study), Later()
    sitting = Sitting(file_store, study, person, turns)
    react(sitting, sitting.moment())
    late = held[:2]
    before = dict(sitting.minds._next)
    for job in late:
        job()
    assert sitting.minds._next == before
    for job in held[2:]:
        job()
    assert len(sitting.minds._next) == len(before) + 2
    turns.close()
