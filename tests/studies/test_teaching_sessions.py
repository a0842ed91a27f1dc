"""The list of teaching sessions, and what their teacher changes: names, archive, copies and settings."""

from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest

from prefero.pools.displays import display_of
from prefero.studies.computing.compute_slots import ComputeSlots
from prefero.studies.log.event_log import EventLog
from prefero.studies.protocol.protocol import Protocol, teaching_protocol
from prefero.studies.session import Session
from prefero.studies.storage.store import Participant, Store, Study, new_secret
from prefero.studies.teaching_sessions import (
    change_settings,
    copy_session,
    free_name,
    setting_changes,
    settings_of,
    taught_since,
    teaching_sessions,
)
from studies.fake_study import answer, features_only, new_key, refusal, study_of


def begun(store: Store, name: str = "robot", people: int = 1) -> tuple[Study, list[Participant]]:
    pool = features_only()
    protocol = teaching_protocol("Robot", 30)
    study = store.add_study(name, "teach", protocol.to_json(), pool, display_of(pool), new_secret())
    labels = ("teacher", "Ben")[:people]
    return study, [store.invite(study, label, new_secret(), seed=n) for n, label in enumerate(labels)]


def test_the_list_says_what_each_session_is_about_and_who_taught(store: Store) -> None:
    study_of(store, "no session")
    begun(store, "older")
    _, (first, second) = begun(store, "newer", people=2)
    for person in (first, first, second):
        answer(store, person, "left")
    newer, older = teaching_sessions(store)
    assert (newer.name, older.name) == ("newer", "older")
    assert (newer.trajectories, newer.shown, newer.answers, newer.archived) == (12, "features", 3, False)
    assert [(one.label, one.answers) for one in newer.people] == [("teacher", 2), ("Ben", 1)]
    assert newer.people[0].session == first.session
    assert store.teacher_of(first.session) == (store.study("newer"), first)
    assert store.teacher_of(first.session) == (store.study("newer"), first)  # from the id, which is known now
    assert store.teacher_of("another") is None


def test_participants_of_studies_are_nobodys_teachers(store: Store) -> None:
    participant = store.invite(study_of(store), "P1", new_secret())
    assert store.teacher_of(participant.session) is None


def test_a_session_is_renamed_unless_the_name_is_taken_or_cannot_be_shown(store: Store) -> None:
    study, (teacher,) = begun(store)
    begun(store, "other")
    renamed = store.rename(study, "putting")
    assert (renamed.id, renamed.name) == (study.id, "putting")
    assert store.teacher_of(teacher.session) == (renamed, teacher)
    wrong = {"other": "study-exists", "two\nlines": "bad-name", " x": "bad-name", "": "bad-name"}
    for name, code in wrong.items():
        with refusal(code):
            store.rename(renamed, name)
    assert [one.name for one in store.studies()] == ["putting", "other"]


def test_an_archived_session_keeps_everything_and_can_be_restored(store: Store) -> None:
    study, (teacher,) = begun(store)
    answer(store, teacher, "left")
    before = store.event_log(teacher)
    archived = store.archive(study)
    assert archived.archived is not None
    assert [one.archived for one in teaching_sessions(store)] == [True]
    assert store.archive(archived, False) == study
    assert store.event_log(teacher) == before


def test_a_copy_has_the_same_answers_and_is_independent(store: Store) -> None:
    _, (teacher,) = begun(store)
    for choice in ("left", "right", "left"):
        answer(store, teacher, choice)
    store.undo(teacher, new_key())
    answer(store, teacher, "equal")
    asked = store.event_log(teacher).answers[0].asked.id
    store.add_event(teacher, asked, "delete", new_key())
    store.add_event(teacher, asked, "restore", new_key())
    store.add_reason(teacher, asked, "speed", new_key())
    copy = copy_session(store, "robot", "robot 2", answers=True)
    (own,) = store.participants(copy)
    original, copied = store.event_log(teacher), store.event_log(own)
    assert own.session != teacher.session
    assert (own.label, own.seed) == (teacher.label, teacher.seed)

    def told(log: EventLog) -> list[Any]:
        found = log.answers
        return [(one.asked.items, one.asked.kind, one.choice, one.because, one.event.at) for one in found]

    assert told(copied) == told(original)
    assert len(copied.answers) == 3
    assert [one.based_on for one in copied.questions] != [one.based_on for one in original.questions]
    assert copied.undoable is not None
    answer(store, own, "left")
    store.undo(own, new_key())
    assert store.event_log(teacher) == original


def test_a_copy_without_answers_begins_anew_with_the_same_settings(store: Store) -> None:
    study, (teacher,) = begun(store)
    answer(store, teacher, "left")
    change_settings(store, study, replace(settings_of(study), answers="rate-3", goal=0.9))
    copy = copy_session(store, "robot", "again", answers=False)
    assert settings_of(copy) == settings_of(store.study("robot"))
    (own,) = store.participants(copy)
    assert store.event_log(own).questions == ()
    assert copy.pool == study.pool
    with refusal("study-exists"):
        copy_session(store, "robot", "again", answers=False)
    assert len(store.studies()) == 2


def test_settings_change_from_the_next_question_on(file_store: Store) -> None:
    study, (teacher,) = begun(file_store)
    with closing(ComputeSlots(1)) as slots:
        state = Session(file_store, study, teacher, slots).state()
        assert (state.kinds, state.total, state.goal) == (["pair"], 30, None)
        wanted = replace(
            settings_of(study),
            task_description="Which one\nis calmer?",
            answers="rate-3",
            questions=7,
            words=("poor", "fair", "good"),
            goal=0.8,
        )
        changed = change_settings(file_store, study, wanted)
        state = Session(file_store, changed, teacher, slots).state()
    assert (state.kinds, state.total, state.goal) == (["rate-3"], 7, 0.8)
    assert (state.task_description, state.words) == ("Which one is calmer?", ["poor", "fair", "good"])
    assert Protocol.from_json(changed.protocol).level_words == ("poor", "fair", "good")
    # words of three levels do not fit five, and are the usual ones again
    five = change_settings(file_store, changed, replace(settings_of(changed), answers="rate-5"))
    assert settings_of(five).words == ()


@pytest.mark.parametrize(
    "wrong",
    [{"answers": "nothing"}, {"questions": 0}, {"goal": 1.5}, {"goal": 0.4}, {"words": ("a", "b")}],
    ids=str,
)
def test_settings_that_make_no_sense_change_nothing(wrong: dict[str, Any]) -> None:
    protocol = teaching_protocol("Robot", 30)
    study = Study(1, "robot", "teach", protocol.to_json(), "", "")
    with pytest.raises(ValueError, match=r".{20}"):
        setting_changes(study.protocol, replace(settings_of(study), **wrong))
    assert setting_changes(study.protocol, settings_of(study)) == {}


def test_two_windows_change_two_settings_at_once_and_both_stay(store: Store) -> None:
    study, _ = begun(store)
    store.change_protocol(study, task_description="one")
    changed = store.change_protocol(study, goal=0.9)  # which knows the former sentence
    assert (changed.protocol["task_description"], changed.protocol["goal"]) == ("one", 0.9)


def test_a_name_that_is_free(store: Store) -> None:
    begun(store, "golf")
    begun(store, "golf 2")
    assert [free_name(store, wanted) for wanted in ("golf", "tosser", "\n")] == [
        "golf 3",
        "tosser",
        "session",
    ]


def test_the_sessions_that_were_answered_in_lately_come_first(store: Store) -> None:
    (_, (first,)), (_, (second,)) = begun(store, "one"), begun(store, "two")
    answer(store, second, "left")
    answer(store, first, "left")
    found = taught_since(store, store.event_log(second).events[0].at)
    assert {study.name for study, _ in found} == {"one", "two"}
    assert taught_since(store, "9999") == []
