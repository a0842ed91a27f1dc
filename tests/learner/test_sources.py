"""How far sources are trusted, compared with counts and with probabilities of draws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prefero import Learner, Pool, Question
from prefero.learner.sources import KnownSource, worth_in_answers
from prefero.questions.prior_knowledge import Judgements

FEATURES = np.random.default_rng(3).normal(size=(60, 3))
NAMES = ["speed", "jerk", "reach"]
REWARD = FEATURES @ [1.0, -1.0, 0.3]
POOL = Pool(FEATURES, NAMES)


def taught(pool: Pool, answers: int = 12) -> Learner:
    learner = Learner(pool)
    rng = np.random.default_rng(4)
    for _ in range(answers):
        left, right = (int(one) for one in rng.choice(60, 2, replace=False))
        learner.tell(Question(left, right), "left" if REWARD[left] > REWARD[right] else "right")
    return learner


def judged(sign: float) -> Judgements:
    first, second = np.random.default_rng(5).normal(size=(2, 30, 3))
    right = (sign * (first - second) @ [1.0, -1.0, 0.3] > 0)[:, None]
    return Judgements(
        "qwen", np.where(right, first, second), np.where(right, second, first), np.zeros(30, bool)
    )


@pytest.mark.parametrize("sign", [1.0, -1.0], ids=["right", "wrong"])
def test_what_answers_contradict_is_not_trusted(sign: float) -> None:
    learner = taught(POOL)
    best = np.argsort(-sign * REWARD)[:4]
    learner.demonstrate(FEATURES[best])
    learner.know("jerk", "lower" if sign > 0 else "higher")
    learner.judge(judged(sign))
    found = learner.sources()
    assert [(one.source, one.name) for one in found] == [
        ("demonstration", ""),
        ("direction", "jerk"),
        ("judge", "qwen"),
    ]
    assert [one.trusted for one in found] == [sign > 0] * 3
    assert all(("Not trusted." in one.describe()) == (sign < 0) for one in found)


def test_support_is_the_fraction_of_draws_of_the_reward_that_agree() -> None:
    learner = taught(POOL)
    learner.demonstrate(FEATURES[[3, 7]])
    (found,) = learner.sources()
    said = learner.pool.knowledge.comparisons(POOL.scaled, POOL.scaling)
    rows = np.concatenate([said.winners, said.losers])
    drawn = learner.belief().sample(rows, 4000, np.random.default_rng(0))
    better, worse = np.split(drawn, 2, axis=1)
    assert found.support == pytest.approx(np.mean(better > worse), abs=0.02)


@pytest.mark.parametrize("lower", [False, True])
def test_agreement_of_a_score_is_counted(lower: bool) -> None:
    score = -POOL.features[:, 1] * (-1.0 if lower else 1.0)
    learner = taught(POOL.scored(score, "success"))
    learner.tell(Question(0, 1), "equal")
    (found,) = learner.sources()
    pairs = [answer.pair for answer in learner.answers if not answer.tied]
    assert found.compared == len(pairs)
    assert found.agreeing == sum(score[winner] > score[loser] for winner, loser in pairs)
    assert found.trusted == (not lower)
    assert f"{found.agreeing} of 12 answers" in found.describe()


def test_a_few_answers_check_nothing() -> None:
    learner = taught(POOL, 2)
    assert learner.sources() == ()
    learner.know("jerk", "higher")
    (found,) = learner.sources()
    assert found.trusted
    assert found.describe() == "Higher jerk is better (90% sure): too few answers yet to check this."


def test_worth_is_the_answers_that_good_demonstrations_save() -> None:
    learner = taught(POOL, 8)
    learner.demonstrate(FEATURES[np.argsort(-REWARD)[:3]])
    learner.know("reach", "lower", 0.6)
    assert 1 <= learner.worth_in_answers("demonstration") <= 8
    with pytest.raises(
        ValueError, match="nothing is known from 'judge qwen', but from demonstration, direction reach"
    ):
        learner.worth_in_answers("judge", "qwen")


@given(st.lists(st.floats(0.5, 1.0), min_size=1, max_size=12), st.floats(0.5, 1.0))
def test_worth_is_what_a_search_through_all_counts_finds(curve: list[float], without: float) -> None:
    rising = sorted(curve)
    count = len(rising) - 1
    enough = [number for number, expected in enumerate(rising) if expected >= without]
    better = rising[-1] > without
    assert worth_in_answers(count, lambda n: rising[n], without) == (count - enough[0] if better else 0)


def test_sources_describe_themselves() -> None:
    said = KnownSource("score", "success", "higher success is better (90% sure)", 0.3, 14, 4, 14)
    assert said.describe() == (
        "Higher success is better (90% sure): 30% right, as far as your answers tell; "
        "it agrees with 4 of 14 answers (29%). Not trusted."
    )
