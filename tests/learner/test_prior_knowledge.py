"""A learner learns from what is known before the first question, and gives up what is wrong."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from prefero import Learner, LinearPreference, Pool, PreferenceGP, Question
from prefero._support.arrays import Array
from prefero.questions.prior_knowledge import Judgements

RNG = np.random.default_rng(2)
NAMES = ["speed", "jerk", "reach", "height"]
FEATURES = RNG.normal(size=(120, 4))
WEIGHTS = np.array([1.0, -1.2, 0.4, 0.0])
REWARD = FEATURES @ WEIGHTS
SEEN, HELD_OUT = FEATURES[:80], FEATURES[80:]
POOL = Pool(SEEN, NAMES)
Know = Callable[[Learner], None]


def right_pairs(learner: Learner) -> float:
    """On which fraction of held-out pairs the learned reward has the right order."""
    gaps, found = (np.subtract.outer(one, one) for one in (REWARD[80:], learner.reward()(HELD_OUT)))
    return float(np.mean((gaps > 0) == (found > 0), where=gaps != 0))


def taught(learner: Learner, answers: int) -> Learner:
    for _ in range(answers):
        question = learner.ask()
        learner.tell(question, "left" if REWARD[question.left] > REWARD[question.right] else "right")
    return learner


def answered(learner: Learner, answers: int) -> Learner:
    """As `taught`, by random questions, which cost less than chosen ones."""
    for left, right in np.random.default_rng(3).choice(80, (answers, 2), replace=False).tolist():
        learner.tell(Question(left, right), "left" if REWARD[left] > REWARD[right] else "right")
    return learner


def best(count: int, sign: float = 1.0) -> Array:
    """The best of so many others, several times."""
    rows = np.random.default_rng(5).normal(size=(count, 40, 4))
    chosen = np.argmax(sign * rows @ WEIGHTS, axis=1)
    return np.asarray(rows[np.arange(count), chosen])


def judged(sign: float, pairs: int = 30) -> Judgements:
    first, second = np.random.default_rng(6).normal(size=(2, pairs, 4))
    right = (sign * (first - second) @ WEIGHTS > 0)[:, None]
    better, worse = np.where(right, first, second), np.where(right, second, first)
    return Judgements("qwen", better, worse, np.zeros(pairs, dtype=bool))


def demonstrations(sign: float) -> Know:
    return lambda learner: learner.demonstrate(best(5, sign))


def corrections(sign: float) -> Know:
    first, second = np.random.default_rng(7).normal(size=(2, 6, 4))
    right = (sign * (first - second) @ WEIGHTS > 0)[:, None]
    return lambda learner: learner.prefer(np.where(right, first, second), np.where(right, second, first))


def direction(sign: float) -> Know:
    return lambda learner: learner.know("jerk", "lower" if sign > 0 else "higher")


def judge(sign: float) -> Know:
    return lambda learner: learner.judge(judged(sign))


SOURCES = {
    "demonstrations": demonstrations,
    "corrections": corrections,
    "direction": direction,
    "judge": judge,
}
every_source = pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES.keys())


@every_source
def test_before_the_first_answer_the_order_follows_what_is_known(source: Callable[[float], Know]) -> None:
    learner = Learner(POOL)
    source(1.0)(learner)
    assert right_pairs(learner) > 0.68  # a coin without it
    turned = Learner(POOL)
    source(-1.0)(turned)
    assert right_pairs(turned) < 0.32


@every_source
def test_after_twenty_answers_what_was_wrong_costs_little(source: Callable[[float], Know]) -> None:
    learner = Learner(POOL)
    source(-1.0)(learner)
    assert right_pairs(answered(learner, 20)) > right_pairs(answered(Learner(POOL), 20)) - 0.03


def test_a_score_orders_trajectories_before_the_first_question_and_is_corrected() -> None:
    noise = np.random.default_rng(8).normal(size=120)
    truth = REWARD / REWARD.std()
    for correlation, at_first in ((0.9, 0.8), (-0.9, 0.0)):
        score = correlation * truth + np.sqrt(1.0 - correlation**2) * noise
        learner = Learner(POOL.scored(score[:80], "success"))
        rows = np.column_stack([HELD_OUT, score[80:]])

        def right(learner: Learner = learner, rows: Array = rows) -> float:
            gaps, found = (np.subtract.outer(one, one) for one in (REWARD[80:], learner.reward()(rows)))
            return float(np.mean((gaps > 0) == (found > 0), where=gaps != 0))

        assert right() > at_first
        answered(learner, 20)
        assert right() > 0.86


@every_source
def test_saved_learners_ask_the_same_next_question(source: Callable[[float], Know], tmp_path: Path) -> None:
    learner = Learner(POOL)
    source(1.0)(learner)
    taught(learner, 3)
    learner.save(tmp_path / "learner.json")
    again = Learner.load(tmp_path / "learner.json")
    assert again.pool.knowledge.describe() == learner.pool.knowledge.describe()
    assert again.ask().items == learner.ask().items


@every_source
def test_rewards_can_be_saved_and_explained(source: Callable[[float], Know], tmp_path: Path) -> None:
    learner = Learner(POOL)
    source(1.0)(learner)
    taught(learner, 3)
    reward = learner.reward()
    assert reward.diagnostics["answers"] == 3
    reward.save(tmp_path / "reward.json")
    assert reward.explain(POOL)
    assert len(learner.answers) == learner.progress().answers == 3


@every_source
def test_only_answers_can_be_surprising(source: Callable[[float], Know]) -> None:
    learner = Learner(POOL)
    source(1.0)(learner)
    answered(learner, 12)
    slip = Question(int(np.argmin(REWARD[:80])), int(np.argmax(REWARD[:80])))
    learner.tell(slip, "left")
    found = learner.surprises()
    assert all(surprise.answer in learner.answers for surprise in found)
    assert learner.answers[-1] in [surprise.answer for surprise in found]


@pytest.mark.parametrize("source", [demonstrations, corrections, direction])
def test_every_third_question_is_chosen_as_if_nothing_had_been_known(source: Callable[[float], Know]) -> None:
    learner, same = Learner(POOL), list[bool]()
    source(1.0)(learner)
    for _ in range(3):
        question = learner.ask()
        same.append(question.items == Learner(POOL, answers=learner.answers).ask().items)
        learner.tell(question, "left" if REWARD[question.left] > REWARD[question.right] else "right")
    assert same == [False, True, False]


@every_source
def test_beside_several_people_it_is_learned_from_too(source: Callable[[float], Know]) -> None:
    learner = Learner(POOL)
    source(1.0)(learner)
    for left, right in np.random.default_rng(9).integers(80, size=(10, 2)).tolist():
        if left != right:
            choice = "left" if REWARD[left] > REWARD[right] else "right"
            for person in ("ann", "bob"):
                learner.tell(Question(left, right), choice, person=person)
    assert {"ann", "bob"} < set(learner.people_belief().names)
    assert learner.people == ("ann", "bob")
    assert right_pairs(learner) > 0.8


def test_undo_leads_back_to_what_was_known() -> None:
    learner = Learner(POOL)
    learner.judge(judged(1.0))
    before = learner.reward()(HELD_OUT)
    question = learner.ask()
    learner.tell(question, "left")
    learner.undo()
    np.testing.assert_allclose(learner.reward()(HELD_OUT), before, atol=1e-6)


def test_a_judge_may_say_more_later_and_a_person_may_not_have_its_name() -> None:
    learner = Learner(POOL)
    learner.judge(judged(1.0, 10))
    learner.judge(judged(1.0, 40))
    assert learner.pool.knowledge.describe() == "40 judgements of qwen"
    with pytest.raises(ValueError, match="'qwen' judges this pool"):
        learner.tell(learner.ask(), "left", person="qwen")
    learner.tell(learner.ask(), "left", person="ann")
    with pytest.raises(ValueError, match="'ann' answers questions here"):
        learner.judge(replace(judged(1.0), judge="ann"))


@every_source
@pytest.mark.parametrize(
    "model", [LinearPreference(), PreferenceGP(inference="laplace")], ids=["linear", "laplace"]
)
def test_models_of_answers_alone_refuse_it(source: Callable[[float], Know], model: object) -> None:
    learner = Learner(POOL, model=model)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="learns from answers alone"):
        source(1.0)(learner)
    assert not learner.pool.knowledge


def test_labels_and_what_is_known_are_learned_together() -> None:
    from prefero import Labels

    pool = Pool(SEEN, NAMES, labels=Labels.of(REWARD[:80] > 0.3, "success"))
    learner = Learner(pool)
    learner.demonstrate(best(3))
    learner.judge(judged(1.0, 20))
    assert right_pairs(taught(learner, 2)) > 0.85


KINDS = {
    "pair": "equal",
    "strength": "left-much",
    "rate-5": "4",
    "success": "pass",
    "best-of-3": "2",
    "rank-3": "1>2>3",
    "pair-or-none": "none",
}


@pytest.mark.parametrize(("kind", "choice"), KINDS.items())
def test_beside_it_answers_of_every_kind_are_learned_from(kind: str, choice: str) -> None:
    learner = Learner(POOL.scored(REWARD[:80], "success"))
    learner.prefer([1.0, -1.0, 0.0, 0.0, 1.0], [-1.0, 1.0, 0.0, 0.0, -1.0])
    learner.know("jerk", "lower")
    for _ in range(2):
        learner.tell(learner.ask(kind=kind, strategy="random"), choice)
    assert len(learner.sources()) == 3
    rewards = learner.reward()(learner.pool.features)  # that it could not be fitted would be a warning
    assert np.isfinite(rewards).all()
    assert rewards.std() > 0
