"""A person is asked where the judge helps least, about their own reward."""

import numpy as np
import pytest

from prefero import Learner, Pool, best_question
from prefero.questions.prior_knowledge import Judgements

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 2))
POOL = Pool(X, ["speed", "jerk"])


def knows_only(feature: int) -> Judgements:
    """A judge of pairs that differ in one feature: more of it is better; of the other it says nothing."""
    first, second = np.zeros((2, 40, 2))
    first[:, feature], second[:, feature] = RNG.normal(size=(2, 40))
    right = (first[:, feature] > second[:, feature])[:, None]
    return Judgements(
        "qwen", np.where(right, first, second), np.where(right, second, first), np.zeros(40, bool)
    )


@pytest.mark.parametrize("known", [0, 1])
def test_the_first_question_is_about_what_the_judge_does_not_tell(known: int) -> None:
    learner = Learner(POOL)
    learner.judge(knows_only(known))
    sure, open_ = (
        learner.reward().predict_proba(np.eye(2)[[one]], np.zeros((1, 2)))[0] for one in (known, 1 - known)
    )
    assert sure > 0.7
    assert open_ == pytest.approx(0.5, abs=0.1)
    question = learner.ask()
    gaps = np.abs(np.diff(POOL.scaled[list(question.items)], axis=0))[0]
    assert gaps[1 - known] > 1.5 * gaps[known]


def test_a_question_is_the_best_for_the_belief_about_the_person_and_not_about_the_judge() -> None:
    learner = Learner(POOL)
    learner.judge(knows_only(0))
    learner.tell(learner.ask(), "left")
    belief = learner.belief("")
    asked = learner.ask()
    unavailable = [answer.question.items for answer in learner.answers]
    best = best_question(belief, POOL, acquisition=learner.acquisition, exclude=unavailable)
    assert set(asked.items) == set(best.items)
    assert asked.value == pytest.approx(best.value)
    judge = learner.people_belief().person("qwen")
    assert not np.allclose(judge.marginals(POOL.scaled)[0], belief.marginals(POOL.scaled)[0], atol=0.1)
