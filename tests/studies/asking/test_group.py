"""Participants together: the group's reward, agreement, and several people who teach in one session."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from prefero import Pool
from prefero.models.people.posterior import AnswerStyle
from prefero.pools.displays import display_of
from prefero.rewards.reward import BestTrajectory
from prefero.studies.asking.group import GroupSummary, named_answers, other_teachers, together_sentences
from prefero.studies.computing.compute_slots import ComputeSlots
from prefero.studies.protocol.protocol import StudyMethod
from prefero.studies.reports.study import write_study_report
from prefero.studies.session import Session
from prefero.studies.start import begin_teaching, taught_reward
from prefero.studies.storage.store import Participant, Store, Study, new_secret
from studies.fake_study import FAST_METHOD, answer, invited, learner_of, proposal, protocol_of

TASTES = {"ann": 1.0, "ben": 1.0, "eve": -1.0}


def pool() -> Pool:
    return Pool(np.random.default_rng(0).standard_normal((12, 2)), ["height", "speed"])


def say(store: Store, person: Participant, count: int, taste: float, method: str = "ActiveGP") -> None:
    """Answers of somebody who likes what is high (or low), whatever its speed."""
    rng = np.random.default_rng([*person.label.encode()])
    height = pool().features[:, 0]
    for number in range(count):
        left, right = rng.choice(len(height), 2, replace=False).tolist()
        choice = "left" if taste * (height[left] - height[right]) > 0 else "right"
        answer(store, person, choice, proposal(number + 1, method, items=(left, right)))


@pytest.fixture
def study(file_store: Store) -> Study:
    protocol = protocol_of(methods=(StudyMethod("ActiveGP", FAST_METHOD, 8),), tests=0, rate=False)
    made = file_store.add_study("s", "study", protocol.to_json(), pool(), display_of(pool()), new_secret())
    for label, taste in TASTES.items():
        say(file_store, invited(file_store, label, made), 8, taste)
    return made


def test_answers_keep_who_said_what(file_store: Store, study: Study) -> None:
    answers = named_answers(file_store, study)
    assert [one.person for one in answers] == ["ann"] * 8 + ["ben"] * 8 + ["eve"] * 8
    assert sorted({one.question.number for one in answers}) == list(range(1, 25))


def test_the_report_shows_agreement_noise_and_the_groups_reward(
    file_store: Store, study: Study, tmp_path: Path
) -> None:
    write_study_report(file_store, study, tmp_path / "report")
    text = (tmp_path / "report" / "report.md").read_text(encoding="utf-8")
    assert "## Participants together" in text
    assert "noise from" in text
    assert (tmp_path / "report" / "agreement.png").read_bytes().startswith(b"\x89PNG")
    rows = (tmp_path / "report" / "people.csv").read_text(encoding="utf-8").splitlines()
    assert [row.split(",")[:2] for row in rows[1:]] == [["ann", "8"], ["ben", "8"], ["eve", "8"]]
    agrees = {row.split(",")[0]: float(row.split(",")[-1].rstrip("%")) for row in rows[1:]}
    assert min(agrees["ann"], agrees["ben"]) > 70 > agrees["eve"]


def test_what_people_share_in_words() -> None:
    style, best = AnswerStyle(0.1, 0.05, 0.2, 0.0, 0.0, 8), BestTrajectory(3, 1.0, 0.1, None, 0.8)
    careless = replace(style, careless=0.9)
    agreement = np.array([[1.0, 0.75], [0.75, 1.0]])
    summary = GroupSummary(("ann", "ben"), (style, careless), agreement, np.ones(2), 0.4, best, (best, best))
    first, second, third = together_sentences(summary)
    assert first.startswith("2 people have taught in this session: ann, ben. Two of them agree on 75%")
    assert "number 3, with a probability of 80%" in second
    assert third == "Perhaps answered at random, and so hardly counted: ben (90%)."


def test_several_people_teach_in_one_session(file_store: Store, tmp_path: Path) -> None:
    pool().save(tmp_path / "pool.npz")
    what = str(tmp_path / "pool.npz")
    study, ann, known = begin_teaching(file_store, what, None, 30, person="ann")
    again, ben, _ = begin_teaching(file_store, what, None, 30, person="ben")
    assert (again.id, ann.label, ben.label, known) == (study.id, "ann", "ben", False)
    assert begin_teaching(file_store, what, None, 30, person="ann")[1:] == (ann, True)
    assert begin_teaching(file_store, what, None, 30)[1] == ann
    method = study.protocol["methods"][0]["label"]
    say(file_store, ann, 6, 1.0, method)
    alone = taught_reward(file_store, "pool", "prefero teach")
    assert alone.diagnostics["answers"] == 6
    say(file_store, ben, 6, 1.0, method)
    together = taught_reward(file_store, "pool", "prefero teach")
    assert together.diagnostics["answers"] == 12
    height = pool().features[:, 0]
    assert np.corrcoef(together(pool().features), height)[0, 1] > 0.8


def test_a_session_begins_with_what_others_taught(file_store: Store, tmp_path: Path) -> None:
    """The learner of somebody new knows what the others have in common, and asks about either reward."""
    pool().save(tmp_path / "pool.npz")
    what, slots = str(tmp_path / "pool.npz"), ComputeSlots()
    study, ann, _ = begin_teaching(file_store, what, None, 30, person="ann")
    (_, ben, _), (_, cid, _) = (
        begin_teaching(file_store, what, None, 30, person=name) for name in ("ben", "cid")
    )
    assert other_teachers(file_store, study, cid) is None
    method = study.protocol["methods"][0]["label"]
    for person in (ann, ben):
        say(file_store, person, 6, 1.0, method)
    height = pool().features[:, 0]
    for about in ("person", "group"):
        session = Session(file_store, study, cid, slots, about=about)
        learner = learner_of(session)
        assert learner.answers == ()
        assert np.corrcoef(learner.reward()(pool().features), height)[0, 1] > 0.6
        assert session.state().question is not None
    assert other_teachers(file_store, replace(study, kind="study"), cid) is None
