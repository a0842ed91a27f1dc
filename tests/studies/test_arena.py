"""An arena in a database: blind questions, several judges, undo and skip, its end, report and export."""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from prefero.arena import ArenaPlan
from prefero.pools.pool import Pool
from prefero.questions import Labels
from prefero.studies.arena_start import arena_name, begin_arena
from prefero.studies.asking.arena_schedule import arena_of
from prefero.studies.computing.compute_slots import ComputeSlots
from prefero.studies.exports.export_import import export_study, import_study
from prefero.studies.protocol.participant_texts import ARENA_INSTRUCTIONS, ARENA_THANKS
from prefero.studies.reports.arena import write_arena_report
from prefero.studies.reports.participant_progress import progress_of
from prefero.studies.reports.study import write_study_report
from prefero.studies.session import Session
from prefero.studies.storage.store import Participant, Refused, Store, Study, new_secret
from prefero.views.session_state import ArenaState, SessionState
from studies.fake_study import new_key

POLICIES = ("careful", "hasty")


def rollouts(**settings: Any) -> tuple[Pool, ArenaPlan]:
    """Two policies with six rollouts each, which are told apart by a feature that nobody sees here."""
    features = np.random.default_rng(0).standard_normal((12, 2))
    ids = [f"{POLICIES[i % 2]}/{i}" for i in range(12)]
    plan = ArenaPlan(POLICIES, tuple(i % 2 for i in range(12)), **settings)
    return Pool(features, ["speed", "distance"], ids=ids), plan


def begun(store: Store, judge: str = "anna", **settings: Any) -> tuple[Study, Participant]:
    study, participant, _ = begin_arena(
        store, "two", POLICIES, lambda: rollouts(**settings), judge, **settings
    )
    return study, participant


def session_of(store: Store, study: Study, judge: Participant) -> Session:
    return Session(store, study, judge, ComputeSlots())


def prefer(session: Session, state: SessionState, policy: str) -> SessionState:
    """Answer the question so that this policy wins."""
    assert state.question is not None
    left = session.pool.ids is not None and session.pool.ids[state.question.items[0]].startswith(policy)
    return session.answer(state.question.id, "left" if left else "right", new_key(), 2.0)


def judge_all(session: Session, policy: str = "careful") -> SessionState:
    state = session.state()
    while state.stage == "compare":
        assert state.arena is not None
        assert not any(name in str(state) for name in POLICIES)
        state = prefer(session, state, policy)
    return state


def test_an_invited_judge_is_blind_and_is_thanked_at_the_end(file_store: Store) -> None:
    study, judge = begun(file_store)
    state = judge_all(session_of(file_store, study, judge))
    assert (state.stage, state.undoable) == ("done", None)
    assert state.arena == ArenaState(state.answered, 120, None)
    assert state.text == ARENA_THANKS
    assert 10 <= state.answered <= 14
    assert progress_of(file_store, study)[0].stage == "done"


def test_who_runs_an_arena_sees_the_result_at_its_end_and_goes_on(file_store: Store) -> None:
    study, judge = begun(file_store, questions=20)
    session = Session(file_store, study, judge, ComputeSlots(), arena_report="prefero arena report two")
    state = session.state()
    while state.arena is not None and state.arena.result is None:
        state = prefer(session, state, "careful")
    assert state.arena is not None
    assert state.arena.result is not None
    found, confidence = state.arena.result, arena_of(file_store, study).standings().confidence
    assert confidence >= 0.95
    assert found.sentences[0].startswith("The order is careful, hasty: 9")
    assert [one.policy for one in found.standings] == ["careful", "hasty"]
    assert found.standings[0].better_than_next == pytest.approx(confidence, abs=0.02)
    assert found.report == "prefero arena report two"
    for _ in range(20):  # more than were planned
        assert (state.stage, state.can_skip) == ("compare", True)
        state = prefer(session, state, "careful")
    assert session.undo(new_key(), state.undoable).answered == state.answered - 1
    assert session_of(file_store, study, judge).state().stage == "done"


def test_undo_skip_and_another_server(file_store: Store) -> None:
    study, judge = begun(file_store)
    session = session_of(file_store, study, judge)
    first = session.state()
    after = prefer(session, first, "careful")
    assert after.arena is not None
    assert after.arena.answers == 1
    undone = session.undo(new_key(), after.undoable)
    assert undone.question == first.question
    assert first.question is not None
    skipped = session.answer(first.question.id, "skip", new_key())
    assert skipped.question is not None
    assert set(skipped.question.items) != set(first.question.items)
    assert session_of(file_store, study, judge).state().question == skipped.question
    judge_all(session)
    with pytest.raises(Refused, match="answers are final"):
        session.undo(new_key())


def test_several_judges_share_an_arena(file_store: Store) -> None:
    study, anna = begun(file_store, "anna", confidence=0.99)
    _, ben = begun(file_store, "ben")
    sessions = [session_of(file_store, study, judge) for judge in (anna, ben)]
    states = [session.state() for session in sessions]
    for turn in range(3):
        states = [prefer(one, state, "careful") for one, state in zip(sessions, states, strict=True)]
        assert states[1].arena is not None
        assert states[1].arena.answers == 2 * (turn + 1)
    assert states[1].answered == 3
    found = arena_of(file_store, study).standings()
    assert (found.judges, found.rows[0].wins, found.rows[1].losses) == (2, 6, 6)


def test_an_arena_ends_after_so_many_answers_and_continues_with_more(file_store: Store) -> None:
    study, judge = begun(file_store, questions=2, confidence=0.999)
    state = judge_all(session_of(file_store, study, judge))
    assert (state.stage, state.answered) == ("done", 2)
    sentence = arena_of(file_store, study).standings().sentences[0]
    assert sentence.startswith("The order is not known yet. Most probable is careful, hasty: ")
    study, same, known = begin_arena(file_store, "two", None, rollouts, "anna", questions=4)
    assert known
    assert same == judge
    assert session_of(file_store, study, same).state().stage == "compare"


def test_another_arena_or_study_of_the_same_name_is_refused(file_store: Store) -> None:
    study, _ = begun(file_store)
    with pytest.raises(Refused, match=r"careful, hasty, .*other, hasty"):
        begin_arena(file_store, "two", ("other", "hasty"), rollouts)
    with pytest.raises(Refused, match="is an arena"):
        write_study_report(file_store, study, Path("never"))
    assert arena_name(POLICIES) == "careful vs hasty"


def test_the_report_and_an_exported_arena(file_store: Store, tmp_path: Path) -> None:
    study, judge = begun(file_store)
    judge_all(session_of(file_store, study, judge))
    report = write_arena_report(file_store, study, tmp_path / "report")
    assert report.history[-1] == (report.standings.answers, report.standings.confidence)
    text = (tmp_path / "report" / "report.md").read_text(encoding="utf-8")
    assert "- careful is better than hasty: 9" in text
    assert (tmp_path / "report" / "arena.png").stat().st_size > 10_000
    with (tmp_path / "report" / "comparisons.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == report.standings.answers
    assert {row["judge"] for row in rows} == {"anna"}
    assert all(row[row["choice"]] == "careful" for row in rows)
    export_study(file_store, study, tmp_path / "exported")
    again = import_study(file_store, tmp_path / "exported", new_secret(), name="again")
    np.testing.assert_allclose(arena_of(file_store, again).standings().better, report.standings.better)


def test_a_strangers_plan_that_does_not_fit_the_pool_is_refused(file_store: Store, tmp_path: Path) -> None:
    study, _ = begun(file_store)
    export_study(file_store, study, tmp_path / "exported")
    document = json.loads((tmp_path / "exported" / "study.json").read_text(encoding="utf-8"))
    document["protocol"]["arena"]["policy_of"].append(0)
    (tmp_path / "exported" / "study.json").write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(ValueError, match=r"13 rollouts, .*12"):
        import_study(file_store, tmp_path / "exported", new_secret(), name="again")


def labelled(name: str = "won") -> tuple[Pool, ArenaPlan]:
    """The same rollouts in another order; the careful ones passed, and the first hasty one."""
    pool, plan = rollouts()
    order = list(range(12))[::-1]
    flags = [i % 2 == 0 or i == 1 for i in order]
    read = Pool(pool.features[order], pool.names, ids=[pool.ids_of([i])[0] for i in order])  # type: ignore[index]
    policy_of = tuple(plan.policy_of[i] for i in order)
    return read, ArenaPlan(POLICIES, policy_of, labels=Labels.of(flags, name))


def label_all(session: Session, good: str = "careful") -> SessionState:
    """Say of each rollout that it passes if it is of this policy."""
    state = session.state()
    while state.stage == "compare":
        assert state.question is not None
        assert (state.question.kind, len(state.question.items)) == ("success", 1)
        assert state.choices == ["fail", "pass"]
        assert not any(name in str(state) for name in POLICIES)
        assert session.pool.ids is not None
        passed = session.pool.ids[state.question.items[0]].startswith(good)
        state = session.answer(state.question.id, "pass" if passed else "fail", new_key(), 2.0)
    return state


def test_judges_say_of_one_rollout_at_a_time_whether_it_passes(file_store: Store, tmp_path: Path) -> None:
    study, judge, _ = begin_arena(
        file_store, "two", POLICIES, rollouts, "anna", answers="success", questions=12, confidence=0.99
    )
    session = session_of(file_store, study, judge)
    first = session.state()
    assert first.task_description == ARENA_INSTRUCTIONS["success"]
    assert first.question is not None
    skipped = session.answer(first.question.id, "skip", new_key())
    assert skipped.question is not None
    assert skipped.question.items != first.question.items
    assert session.undo(new_key(), skipped.undoable).question == first.question
    state = label_all(session)
    assert (state.stage, state.text) == ("done", ARENA_THANKS)
    found = arena_of(file_store, study).standings()
    assert found.order == ("careful", "hasty")
    assert (found.rows[0].fails, found.rows[1].passes) == (0, 0)
    assert found.labels == found.answers == state.answered
    report = write_arena_report(file_store, study, tmp_path / "report")
    assert report.summary == f"2 policies, {found.labels} labels by 1 judge."
    assert [row[0] for row in report.success_table] == ["policy", "careful", "hasty"]
    assert report.success_table[1][2:] == (str(found.rows[0].passes), "0")
    with (tmp_path / "report" / "comparisons.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {(row["left"], row["right"], row["choice"]) for row in rows} == {
        ("careful", "", "pass"),
        ("hasty", "", "fail"),
    }
    export_study(file_store, study, tmp_path / "exported")
    again = import_study(file_store, tmp_path / "exported", new_secret(), name="again")
    assert arena_of(file_store, again).standings().rows == found.rows


def test_labels_of_a_dataset_count_and_are_added_to_an_arena_that_has_begun(
    file_store: Store, tmp_path: Path
) -> None:
    study, judge = begun(file_store, confidence=0.99)
    prefer(session_of(file_store, study, judge), session_of(file_store, study, judge).state(), "careful")
    before = arena_of(file_store, study).standings()
    study, _, known = begin_arena(file_store, "two", POLICIES, labelled, "anna", labels="won")
    arena = arena_of(file_store, study)
    assert known
    assert arena.plan.labels is not None
    passed = {
        i for i, one in zip(arena.plan.labels.items, arena.plan.labels.choices, strict=True) if one == "pass"
    }
    assert passed == {0, 1, 2, 4, 6, 8, 10}
    after = arena.standings()
    assert (after.answers, after.labels, len(arena.plan.labels)) == (1, 0, 12)
    assert after.sentences[0].endswith("after 1 comparison and 12 labels.")
    assert after.confidence > before.confidence
    assert after.rows[0].success is not None
    assert after.rows[0].success > 0.7
    report = write_arena_report(file_store, study, tmp_path / "report")
    assert report.summary == "2 policies, 1 comparison by 1 judge, and 12 labels of won: 7 pass, 5 fail."
    assert {row["rollout"] for row in report.labels if row["label"] == "fail"} == {
        f"hasty/{i}" for i in (3, 5, 7, 9, 11)
    }

    def nothing_to_read() -> tuple[Pool, ArenaPlan]:
        raise AssertionError("these labels are known")

    begin_arena(file_store, "two", POLICIES, nothing_to_read, "anna", labels="won")
    with pytest.raises(Refused, match="careful/0 is not there any more"):
        begin_arena(file_store, "two", POLICIES, lambda: (Pool(np.eye(2)), labelled()[1]), labels="other")


def test_what_judges_are_asked_may_change(file_store: Store) -> None:
    begun(file_store)
    study, judge, _ = begin_arena(file_store, "two", POLICIES, rollouts, "anna", answers="pair-or-none")
    session = session_of(file_store, study, judge)
    state = session.state()
    assert state.task_description == ARENA_INSTRUCTIONS["pair-or-none"]
    assert state.choices == ["left", "right", "equal", "none"]
    assert state.question is not None
    session.answer(state.question.id, "none", new_key(), 1.0)
    found = arena_of(file_store, study).standings()
    assert [(row.fails, row.wins, row.losses) for row in found.rows] == [(1, 0, 0), (1, 0, 0)]
    with pytest.raises(ValueError, match="not for 'rate-5'"):
        begin_arena(file_store, "two", POLICIES, rollouts, "anna", answers="rate-5")
    with pytest.raises(ValueError, match="not for 'best-of-3'"):
        begin_arena(file_store, "three", POLICIES, rollouts, "anna", answers="best-of-3")
