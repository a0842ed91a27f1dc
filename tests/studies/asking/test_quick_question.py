"""A quick question is a good one: it is compared with random questions, and with what was asked before."""

import numpy as np
import pytest

from prefero import Labels, Pool
from prefero.acquisition.scorers import score_questions
from prefero.learner import Learner
from prefero.questions import Answer, Question
from prefero.questions.answer_kinds import ANSWER_KINDS, choices_of, items_of
from prefero.studies.asking.quick_question import quick_question


def pool_of(features: int, trajectories: int = 120) -> Pool:
    return Pool(np.random.default_rng(3).standard_normal((trajectories, features)))


def answers_of(pool: Pool, count: int, ties: bool = False) -> list[Answer]:
    """Of somebody who likes the first feature."""
    rng, found = np.random.default_rng(4), []
    for number in range(count):
        left, right = (int(i) for i in rng.choice(len(pool), 2, replace=False))
        gap = pool.scaled[left, 0] - pool.scaled[right, 0]
        choice = "equal" if ties and abs(gap) < 0.3 else "left" if gap > 0 else "right"
        found.append(Answer(Question(left, right, number=number + 1), choice))
    return found


@pytest.mark.parametrize(("features", "fraction"), [(2, 0.9), (8, 0.75), (30, 0.5)])
def test_it_tells_more_than_most_random_questions_by_the_default_model(
    features: int, fraction: float
) -> None:
    pool = pool_of(features)
    answers = answers_of(pool, 12)
    learner = Learner(pool, answers=answers)
    rng = np.random.default_rng(0)
    quick = [quick_question(pool, answers, "pair", [], rng)[0].items for _ in range(3)]
    others = [tuple(rng.choice(len(pool), 2, replace=False).tolist()) for _ in range(60)]
    bits = score_questions(learner.belief(), pool, [*quick, *others], acquisition="predictive-information")
    assert bits[:3].mean() > np.quantile(bits[3:], fraction)


def test_it_is_none_that_was_asked_and_its_likely_answer_is_what_was_learned() -> None:
    pool = pool_of(2, 12)
    answers, asked = answers_of(pool, 20, ties=True), [(a, b) for a in range(12) for b in range(a)][:-1]
    question, likely = quick_question(pool, answers, "pair", asked, np.random.default_rng(1))
    left, right = question.items
    assert {left, right} == {10, 11}
    assert likely == ("left" if pool.scaled[left, 0] > pool.scaled[right, 0] else "right")
    with pytest.raises(ValueError, match="left to ask"):
        quick_question(pool, answers, "pair", [*asked, (11, 10)], np.random.default_rng(1))


@pytest.mark.parametrize("kind", list(ANSWER_KINDS))
def test_every_kind_of_answer_can_be_wanted(kind: str) -> None:
    pool = pool_of(3)
    question, likely = quick_question(pool, [], kind, [], np.random.default_rng(2))
    assert question.kind == kind
    assert len(set(question.items)) == items_of(kind)
    assert likely in choices_of(kind)


def test_answers_that_contradict_each_other_are_no_obstacle() -> None:
    pool = pool_of(2)
    answers = [Answer(Question(0, 1, number=n + 1), ("left", "right")[n % 2]) for n in range(250)]
    question, _ = quick_question(pool, answers, "pair", [(0, 1)], np.random.default_rng(0))
    assert set(question.items) != {0, 1}
    assert question.value > 0


def test_labels_count_from_the_first_question_on() -> None:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(300, 2))
    pool = Pool(features, labels=Labels.of(features[:, 0] > 0, "success"))
    question, likely = quick_question(pool, [], "pair", [], np.random.default_rng(1))
    better = "left" if features[question.left, 0] > features[question.right, 0] else "right"
    assert likely == better
    assert quick_question(Pool(features), [], "pair", [], np.random.default_rng(1))[0] != question
