"""What a learner expects of itself, and which answers surprise it."""

import numpy as np

from prefero import Learner, Pool, Question
from prefero.models.explain.learning_progress import likely_accuracy


def told(count: int, flipped: int | None = None) -> Learner:
    """Random questions about a linear reward; one answer may be the wrong way round."""
    pool = Pool(np.random.default_rng(2).standard_normal((60, 2)), ["speed", "height"])
    learner, rng = Learner(pool), np.random.default_rng(3)
    for number in range(1, count + 1):
        left, right = (int(i) for i in rng.choice(60, 2, replace=False))
        better = pool.features[left] @ [2.0, -1.0] > pool.features[right] @ [2.0, -1.0]
        learner.tell(Question(left, right), "left" if better != (number == flipped) else "right")
    return learner


def test_progress_is_the_accuracy_of_its_belief_with_an_interval() -> None:
    learner = told(12)
    progress = learner.progress()
    assert progress.answers == 12
    assert progress.accuracy == likely_accuracy(learner.belief(), learner.pool.scaled)
    assert 0.0 < progress.gain < 0.2
    assert 0.5 < progress.low < progress.accuracy < progress.high < 1.0
    assert not progress.is_early
    assert str(progress) == (
        f"it would predict about {progress.accuracy:.0%} of further answers "
        f"(90% sure: between {progress.low:.0%} and {progress.high:.0%}), and {progress.outlook}"
    )


def test_early_progress_claims_nothing() -> None:
    assert told(4).progress().is_early
    assert str(told(1).progress()).startswith("it is too early")
    assert not told(5).progress().is_early


def test_one_can_stop_if_the_last_answers_all_say_so() -> None:
    """The judge builds a learner of its own after each number of answers."""
    says = {count: told(count).progress().can_stop for count in range(8, 31)}
    expected = {count: all(says[count - back] for back in range(3)) for count in range(10, 31, 4)}
    assert {count: told(count).can_stop() for count in expected} == expected
    assert set(expected.values()) == {False, True}


def test_a_slip_is_the_greatest_surprise() -> None:
    learner = told(25, flipped=5)
    first, *others = learner.surprises()
    assert first.answer.question.number == 5
    assert first.probability < 0.1
    assert [one.probability for one in others] == sorted(one.probability for one in others)
    assert len(learner.surprises(most=1)) == 1


def test_consistent_answers_surprise_nobody() -> None:
    assert told(25).surprises() == []
    assert told(4, flipped=2).surprises() == []  # too early
