"""The participants' progress, compared with numbers counted by hand."""

from prefero.studies.protocol.protocol import StudyMethod
from prefero.studies.reports.participant_progress import ParticipantProgress, progress_of
from prefero.studies.storage.store import Store
from studies.fake_study import FAST_METHOD, answer, ask, invited, new_key, proposal, study_of


def test_a_study_without_participants_has_no_progress(store: Store) -> None:
    assert progress_of(store, study_of(store)) == []


def test_an_invited_participant_who_never_came_has_no_numbers(store: Store) -> None:
    study = study_of(store)
    invited(store, "P1", study)
    assert progress_of(store, study) == [
        ParticipantProgress("P1", None, 0, 4, None, None, None, None, None, [])
    ]


def test_progress_counts_active_answers(store: Store) -> None:
    study = study_of(store, methods=(StudyMethod("Random", "CorrectedGP 1 0.1", 4),), ties=True)
    person, _ = invited(store, "P1", study), invited(store, "P2", study)
    for said, seconds in (("left", 2.0), ("left", 9.0), ("right", 3.0), ("equal", 4.0), ("skip", 50.0)):
        store.add_event(person, ask(store, person), said, new_key(), seconds)
    store.add_event(person, store.event_log(person).questions[1].id, "delete", new_key())
    log = store.event_log(person)
    assert progress_of(store, study)[0] == ParticipantProgress(
        label="P1",
        stage="compare",
        answered=3,
        total=4,
        started=log.questions[0].at,
        last_seen=log.events[-1].at,
        median_seconds=3.0,
        left_fraction=0.5,
        retest_agreement=None,
        careless_signs=[],
    )
    assert progress_of(store, study)[1].stage is None


def test_a_stage_event_counts_as_having_started(file_store: Store) -> None:
    study = study_of(file_store, consent="Do you?")
    person = invited(file_store, "P1", study)
    file_store.add_stage_event(person, "consent", "", {"agreed": True}, new_key())
    (found,) = progress_of(file_store, study)
    assert found.stage == "compare"
    assert found.started == found.last_seen == file_store.event_log(person).stage_events[0].at


def test_unknown_times_and_sides_are_left_out(file_store: Store) -> None:
    study = study_of(file_store, ties=True, methods=(StudyMethod("Random", "CorrectedGP 1 0.1", 2),))
    person = invited(file_store, "P1", study)
    file_store.add_event(person, ask(file_store, person), "equal", new_key(), None)
    (found,) = progress_of(file_store, study)
    assert (found.answered, found.median_seconds, found.left_fraction) == (1, None, None)


def test_retest_agreement_is_in_the_progress(file_store: Store) -> None:
    study = study_of(file_store, methods=(StudyMethod("Random", FAST_METHOD, 2),), retests=1)
    person = invited(file_store, "P1", study)
    answer(file_store, person, "left", proposal(1, items=(3, 7)))
    answer(file_store, person, "left", proposal(2))
    answer(file_store, person, "right", proposal(3, method="retest", items=(7, 3)))
    (found,) = progress_of(file_store, study)
    assert (found.stage, found.retest_agreement, found.left_fraction) == ("done", 1.0, 2 / 3)
