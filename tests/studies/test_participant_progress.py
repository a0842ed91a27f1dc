"""How far people are, and whether they pay attention: against numbers that were counted by hand."""

from typing import Any

import pytest

from prefero.studies.event_log import Asked, Log, Said, Step, Told
from prefero.studies.participant_progress import (
    ParticipantProgress,
    progress_of,
    retest_agreement,
    stage_of,
    unrated,
)
from prefero.studies.protocol import Asker, Protocol
from prefero.studies.storage.store import Store
from studies.pretended import QUICK, answer, ask, invited, new_key, proposal, protocol_of, study_of

ALL = protocol_of(
    methods=(Asker("A", QUICK, 2), Asker("B", QUICK, 1)),
    consent="Do you?",
    instructions="Do.",
    target_scores=True,
    practice=True,
    rate=True,
)


def log_of(*rows: tuple[str, int, int, Said], steps: tuple[tuple[str, str], ...] = ()) -> Log:
    """Questions as (method, left, right), and what was said to each."""
    return Log(
        tuple(Asked(n, n, n - 1, 0, row[0], row[1], row[2], None, None, "") for n, row in enumerate(rows, 1)),
        tuple(Told(n, n, 0, row[3], str(n), None, "") for n, row in enumerate(rows, 1)),
        tuple(Step(n, stage, item, {}, str(n), "") for n, (stage, item) in enumerate(steps, 1)),
    )


def test_nobody_is_nobody(store: Store) -> None:
    assert progress_of(store, study_of(store)) == []


def test_who_was_invited_and_never_came_has_no_numbers(store: Store) -> None:
    study = study_of(store)
    invited(store, "P1", study)
    assert progress_of(store, study) == [ParticipantProgress("P1", None, 0, 4, None, None, None, None, None)]


def test_progress_counts_what_stands(store: Store) -> None:
    study = study_of(store, methods=(Asker("Random", "CorrectedGP 1 0.1", 4),), ties=True)
    person, _ = invited(store, "P1", study), invited(store, "P2", study)
    for said, seconds in (("left", 2.0), ("left", 9.0), ("right", 3.0), ("equal", 4.0), ("skip", 50.0)):
        store.tell(person, ask(store, person), said, new_key(), seconds)  # type: ignore[arg-type]
    store.tell(person, store.log(person).questions[1].id, "delete", new_key())
    log = store.log(person)
    assert progress_of(store, study)[0] == ParticipantProgress(
        label="P1",
        stage="compare",
        answered=3,
        total=4,
        started=log.questions[0].at,
        last_seen=log.told[-1].at,
        median_seconds=3.0,
        left_share=0.5,
        retest_agreement=None,
    )
    assert progress_of(store, study)[1].stage is None


def test_a_step_is_a_sign_of_life(file_store: Store) -> None:
    study = study_of(file_store, consent="Do you?")
    person = invited(file_store, "P1", study)
    file_store.do(person, "consent", "", {"agreed": True}, new_key())
    (found,) = progress_of(file_store, study)
    assert found.stage == "compare"
    assert found.started == found.last_seen == file_store.log(person).steps[0].at


def test_times_and_sides_that_nobody_knows_are_left_out(file_store: Store) -> None:
    study = study_of(file_store, ties=True, methods=(Asker("Random", "CorrectedGP 1 0.1", 2),))
    person = invited(file_store, "P1", study)
    file_store.tell(person, ask(file_store, person), "equal", new_key(), None)
    (found,) = progress_of(file_store, study)
    assert (found.answered, found.median_seconds, found.left_share) == (1, None, None)


def test_attention_is_seen_in_the_list(file_store: Store) -> None:
    study = study_of(file_store, methods=(Asker("Random", QUICK, 2),), retests=1)
    person = invited(file_store, "P1", study)
    answer(file_store, person, "left", proposal(1, left=3, right=7))
    answer(file_store, person, "left", proposal(2))
    answer(file_store, person, "right", proposal(3, method="retest", left=7, right=3))
    (found,) = progress_of(file_store, study)
    assert (found.stage, found.retest_agreement, found.left_share) == ("done", 1.0, 2 / 3)


# --- stages -----------------------------------------------------------------------------------------------

STEPS = (("consent", ""), ("instructions", ""), ("target_scores", ""), ("practice", ""))
ANSWERS: Any = (("A", 1, 2, "left"), ("B", 3, 4, "left"), ("A", 5, 6, "right"))


@pytest.mark.parametrize(
    ("log", "stage"),
    [
        (log_of(), "consent"),
        (log_of(steps=STEPS[:1]), "instructions"),
        (log_of(steps=STEPS[:2]), "target_scores"),
        (log_of(steps=STEPS[:3]), "practice"),
        (log_of(steps=STEPS), "compare"),
        (log_of(*ANSWERS[:2], steps=STEPS), "compare"),
        (log_of(*ANSWERS[:2], ("A", 5, 6, "skip"), steps=STEPS), "compare"),
        (log_of(*ANSWERS, steps=STEPS), "rate"),
        (log_of(*ANSWERS, steps=(*STEPS, ("rate", "B"))), "rate"),
        (log_of(*ANSWERS, steps=(*STEPS, ("rate", "B"), ("rate", "A"))), "done"),
        (log_of(steps=STEPS[1:]), "consent"),
    ],
)
def test_a_stage_is_the_first_thing_that_is_not_done(log: Log, stage: str) -> None:
    assert stage_of(log, ALL) == stage


@pytest.mark.parametrize("missing", ["consent", "instructions", "target_scores", "practice"])
def test_what_the_protocol_does_not_want_is_no_stage(missing: str) -> None:
    changed: dict[str, Any] = {missing: "" if missing in ("consent", "instructions") else False}
    protocol = Protocol(**{**vars(ALL), **changed})
    steps = tuple(step for step in STEPS if step[0] != missing)
    for done in range(len(steps)):
        assert stage_of(log_of(steps=steps[:done]), protocol) == steps[done][0]
    assert stage_of(log_of(steps=steps), protocol) == "compare"


def test_without_ratings_the_last_answer_is_the_end_and_without_an_end_there_is_none() -> None:
    plain = protocol_of(methods=ALL.methods)
    assert stage_of(log_of(*ANSWERS), plain) == "done"
    assert stage_of(log_of(*ANSWERS), Protocol(**{**vars(plain), "endless": True})) == "compare"


def test_what_is_not_rated_yet_is_listed_in_the_order_of_the_methods() -> None:
    assert unrated(log_of(), ALL) == ["A", "B"]
    assert unrated(log_of(steps=(("rate", "A"),)), ALL) == ["B"]
    assert unrated(log_of(steps=(("rate", "B"), ("rate", "A"))), ALL) == []


# --- attention --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "agreement"),
    [
        ([("A", 1, 2, "left")], None),
        ([("A", 1, 2, "left"), ("retest", 2, 1, "right")], 1.0),
        ([("A", 1, 2, "left"), ("retest", 2, 1, "left")], 0.0),
        ([("A", 1, 2, "equal"), ("retest", 2, 1, "equal")], 1.0),
        ([("A", 1, 2, "equal"), ("retest", 2, 1, "left")], 0.0),
        (
            [("A", 1, 2, "left"), ("B", 3, 4, "right"), ("retest", 4, 3, "left"), ("retest", 2, 1, "left")],
            0.5,
        ),
        ([("A", 1, 2, "left"), ("B", 2, 1, "left")], None),
        ([("A", 1, 2, "left"), ("B", 2, 1, "left"), ("retest", 2, 1, "right")], 1.0),
        ([("A", 1, 2, "left"), ("retest", 2, 1, "skip")], None),
    ],
)
def test_attention_is_the_share_of_pairs_that_were_answered_alike(rows: Any, agreement: float | None) -> None:
    assert retest_agreement(log_of(*rows)) == agreement
