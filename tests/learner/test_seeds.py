"""A learner depends on its seed and its answers alone: not on their order, nor on what was repeated."""

from typing import Any

import numpy as np
import pytest

from prefero import Answer, Learner, LinearPreference, Pool, Question
from prefero.learner import AnswerConflict
from taught_learners import choice_of, learner_of, quick, rewards, taught


@pytest.mark.parametrize("model", [None, quick(), LinearPreference(draws=30)], ids=["belief", "GP", "linear"])
def test_the_seed_decides_everything(model: Any) -> None:
    first, again = (taught(6, seed=5, model=model) for _ in range(2))
    assert first.answers == again.answers
    np.testing.assert_array_equal(rewards(first), rewards(again))


def test_a_learner_does_not_touch_the_model_it_was_given() -> None:
    model = quick()
    taught(3, model=model)
    assert not hasattr(model, "posterior_")
    two = [learner_of(model=model) for _ in range(2)]
    two[0].tell(two[0].ask(), "left")
    assert np.allclose(rewards(two[1]), 0.0)


@pytest.mark.parametrize(
    ("model", "seed"), [*((None, seed) for seed in range(3)), *((quick(), seed) for seed in range(8))]
)
def test_rebuilt_from_its_answers_it_asks_the_same_next_question(model: Any, seed: int) -> None:
    learner = taught(5, rows=20, seed=seed, model=model)
    rebuilt = Learner(learner.pool, seed=seed, model=model, answers=learner.answers)
    assert rebuilt.answers == learner.answers
    np.testing.assert_allclose(rewards(rebuilt), rewards(learner), atol=1e-4)
    assert rebuilt.ask() == learner.ask()
    assert rebuilt.ask(strategy="random") == learner.ask(strategy="random")


@pytest.mark.parametrize("order", [(3, 2, 1, 0), (1, 3, 0, 2)])
@pytest.mark.parametrize("model", [None, quick()], ids=["belief", "GP"])
def test_late_answers_in_any_order_come_to_the_same(order: tuple[int, ...], model: Any) -> None:
    straight, crossed = (learner_of(model=model) for _ in range(2))
    questions = [straight.ask() for _ in range(4)]
    assert [crossed.ask() for _ in range(4)] == questions
    for question in questions:
        straight.tell(question, choice_of(question, straight.pool))
    for number in order:
        crossed.tell(questions[number], choice_of(questions[number], crossed.pool))
        rewards(crossed)  # look in between, too
    assert crossed.answers == straight.answers
    np.testing.assert_allclose(rewards(crossed), rewards(straight), atol=1e-4)
    assert crossed.ask() == straight.ask()


def test_told_twice_alike_is_told_once() -> None:
    learner = taught(2)
    before, answers = rewards(learner), learner.answers
    learner.tell(answers[0].question, answers[0].choice)
    assert learner.answers == answers
    np.testing.assert_array_equal(rewards(learner), before)


def test_told_twice_differently_is_a_conflict_that_changes_nothing() -> None:
    learner = learner_of()
    question = learner.ask()
    learner.tell(question, "left")
    with pytest.raises(AnswerConflict, match=r"answered 'left' .*'right'"):
        learner.tell(question, "right")
    assert [answer.choice for answer in learner.answers] == ["left"]


def test_one_number_cannot_stand_for_two_questions() -> None:
    learner = learner_of()
    question = learner.ask()
    other = [i for i in range(12) if i not in (question.left, question.right)]
    stranger = Question(other[0], other[1], number=question.number)
    for _ in range(2):  # while it is open, and when it was answered
        with pytest.raises(ValueError, match=f"{stranger.left} and {stranger.right}"):
            learner.tell(stranger, "left")
        learner.tell(question, "left")
    assert learner.answers == (Answer(question, "left"),)


def test_answers_to_questions_of_ones_own_count_each() -> None:
    learner = learner_of()
    learner.tell(Question(0, 1), "left")
    learner.tell(Question(0, 1), "right")
    assert [answer.question.number for answer in learner.answers] == [1, 2]
    assert learner.ask().number == 3


def test_answers_may_carry_numbers_of_another_session() -> None:
    learner = learner_of()
    learner.tell(Question(3, 4, number=17), "equal")
    learner.tell(Question(1, 2, number=5), "left")
    assert [answer.question.number for answer in learner.answers] == [5, 17]
    assert learner.ask().number == 18


def test_a_fork_goes_its_own_way() -> None:
    learner = Learner(Pool(np.random.default_rng(0).normal(size=(30, 2))), seed=1)
    for _ in range(3):
        learner.tell(learner.ask(), "left")
    before = learner.reward()(learner.pool.features)
    waiting = learner.ask()
    fork = learner.fork()
    assert fork.answers == learner.answers
    assert fork.open_questions == ()
    fork.tell(waiting, "right")
    fork.skip(fork.ask())
    assert not np.allclose(fork.reward()(learner.pool.features), before)
    assert learner.open_questions == (waiting,)
    assert len(learner.answers) == 3
    np.testing.assert_array_equal(learner.reward()(learner.pool.features), before)
