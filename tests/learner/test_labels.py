"""A learner learns from its pool's labels from the first question on."""

from pathlib import Path

import numpy as np
import pytest

from prefero import Answer, Labels, Learner, LinearPreference, Pool, PreferenceGP, Question
from prefero.models.person_model import PersonModel
from prefero.questions import Comparisons
from prefero.questions.answer import LABELS

RNG = np.random.default_rng(1)
FEATURES = RNG.normal(size=(60, 3))
REWARD = FEATURES @ [1.0, -0.7, 0.0]
SEEN, HELD_OUT = FEATURES[:40], FEATURES[40:]


def pool_of(labels: object) -> Pool:
    return Pool(SEEN, labels=Labels.of(labels, "success"))  # type: ignore[arg-type]


SUCCESS = pool_of(REWARD[:40] > 0.3)


def right_pairs(learner: Learner) -> float:
    """On which fraction of held-out pairs the learned reward has the right order."""
    gaps, found = (np.subtract.outer(one, one) for one in (REWARD[40:], learner.reward()(HELD_OUT)))
    return float(np.mean((gaps > 0) == (found > 0), where=gaps != 0))


@pytest.mark.parametrize("values", [REWARD[:40] > 0.3, REWARD[:40]], ids=["success", "numbers"])
def test_labels_alone_order_held_out_pairs(values: object) -> None:
    assert right_pairs(Learner(pool_of(values))) > 0.85


def test_labels_that_contradict_each_other_do_not_hurt_much() -> None:
    noisy = np.where(RNG.random(40) < 0.15, REWARD[:40] <= 0.3, REWARD[:40] > 0.3)
    assert right_pairs(Learner(pool_of(noisy))) > 0.75


def test_all_the_same_label_is_learned_from_without_a_crash() -> None:
    learner = Learner(pool_of([True] * 40))
    learner.tell(learner.ask(), "left")
    assert np.isfinite(learner.reward()(HELD_OUT)).all()


def test_the_first_question_is_another_than_without_labels() -> None:
    assert Learner(SUCCESS).ask().items != Learner(Pool(SEEN)).ask().items


def test_answers_count_what_people_said_and_labels_are_told_apart(tmp_path: Path) -> None:
    learner = Learner(SUCCESS)
    for _ in range(5):
        question = learner.ask()
        learner.tell(question, "left" if REWARD[question.left] > REWARD[question.right] else "right")
    slip = Question(int(np.argmin(REWARD[:40])), int(np.argmax(REWARD[:40])))
    learner.tell(slip, "left")
    reward = learner.reward()
    assert (reward.diagnostics["answers"], reward.diagnostics["labels"]) == (6, 40)
    assert len(learner.answers) == learner.progress().answers == 6
    assert "6 answers and 40 labels" in repr(learner)
    reward.save(tmp_path / "reward.json")
    assert '"labels": 40' in (tmp_path / "reward.json").read_text(encoding="utf-8")
    found = learner.surprises()
    assert all(surprise.answer.source == "" for surprise in found)
    assert learner.answers[5] in [surprise.answer for surprise in found]


def test_a_reward_of_labels_alone_says_what_matters() -> None:
    reward = Learner(SUCCESS).reward()
    assert reward.diagnostics["answers"] == 0
    assert reward.explain(SUCCESS)
    early = Learner(pool_of([True, False, *[None] * 38])).reward()
    assert early.describe().endswith("after 2 labels")


def test_a_saved_learner_asks_the_same_next_question(tmp_path: Path) -> None:
    learner = Learner(SUCCESS)
    learner.tell(learner.ask(), "left")
    learner.save(tmp_path / "learner.json")
    again = Learner.load(tmp_path / "learner.json")
    assert again.pool.labels == SUCCESS.labels
    assert again.ask() == learner.ask()


def test_trajectories_that_are_added_have_no_label() -> None:
    learner = Learner(SUCCESS)
    before = learner.reward()(HELD_OUT)
    learner.add(HELD_OUT)
    assert learner.pool.labels == SUCCESS.labels
    np.testing.assert_allclose(learner.reward()(HELD_OUT), before, rtol=1e-6, atol=1e-8)


class Recorder(PreferenceGP):
    """A model that keeps what it is to learn from, and learns nothing."""

    def fit_comparisons(self, data: Comparisons, reference: object = None) -> "Recorder":
        del reference
        self.data_ = data
        self.posterior_ = PreferenceGP().fit_comparisons(Comparisons.none(3, data.scaling)).posterior_
        return self


def who_said(learner: Learner) -> list[str]:
    learner.belief()
    people = learner._beliefs.model.data_.people  # type: ignore[attr-defined]
    return [] if people is None else people.tolist()


def test_labels_are_one_more_person_only_beside_several() -> None:
    learner = Learner(SUCCESS, model=Recorder())
    assert who_said(learner) == []
    learner.tell(Question(0, 1), "left", person="ann")
    assert who_said(learner) == ["ann"] * 41
    learner.tell(Question(0, 1), "right", person="bob")
    assert who_said(learner) == [LABELS] * 40 + ["ann", "bob"]
    assert learner.people == ("ann", "bob")
    with pytest.raises(ValueError, match="choose another name"):
        learner.tell(Question(2, 3), "left", person=LABELS)


def test_a_model_of_pairs_refuses_labels() -> None:
    model = LinearPreference()
    if getattr(model, "learns_from_all_kinds", True):
        model = PreferenceGP(inference="laplace")  # type: ignore[assignment]
    with pytest.raises(ValueError, match="learns from pairs, not from 'success'"):
        Learner(SUCCESS, model=model)


def test_several_people_and_labels_are_learned_together() -> None:
    learner = Learner(SUCCESS)
    for left, right in RNG.integers(40, size=(8, 2)).tolist():
        if left != right:
            choice = "left" if REWARD[left] > REWARD[right] else "right"
            for person in ("ann", "bob"):
                learner.tell(Question(left, right), choice, person=person)
    assert set(learner.people_belief().names) == {"ann", "bob", LABELS}
    assert learner.people == ("ann", "bob")
    assert right_pairs(learner) > 0.85
    assert learner.reward("ann").diagnostics["answers"] == len(learner.answers) / 2
    assert len(learner._beliefs.leave_one_out(learner.answers, learner.pool)) == len(learner.answers)


def test_somebody_among_others_does_not_count_as_having_given_the_labels() -> None:
    others = [Answer(Question(2 * i, 2 * i + 1), "left", person="bob") for i in range(4)]
    model = PersonModel(Comparisons.from_answers(SUCCESS.scaled, others, SUCCESS.scaling), "ann")
    learner = Learner(SUCCESS, model=model)
    learner.tell(Question(0, 1), "left")
    learner.belief()
    people = learner.people_belief()
    counts = {name: people.style(name).answers for name in people.names}
    assert counts == {"ann": 1, "bob": 4, LABELS: 40}
    assert learner.reward().diagnostics["answers"] == 1
    assert len(learner._beliefs.leave_one_out(learner.answers, SUCCESS)) == 1
