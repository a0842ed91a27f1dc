"""What is said about the progress: its corrections, and what five more answers did bring simulated users."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.taught import answers_about, pool, taught_mixture
from prefero.kernels import Linear
from prefero.models.explain.learning_progress import (
    CORRECTION,
    LEAST_TO_STOP,
    LITTLE_GAIN,
    Progress,
    check_goal,
    likely_accuracy,
    progress_of,
)
from prefero.models.explain.predictive_accuracy import expected_accuracy
from prefero.models.inference.infer import infer
from prefero.models.likelihood.probit import Probit


def log_odds(accuracy: float) -> float:
    return math.log(accuracy) - math.log1p(-accuracy)


def test_the_interval_is_that_of_the_posterior_with_the_corrections_added() -> None:
    """The judge draws rewards by itself, and adds up the chances of people with these rewards."""
    _, data = taught_mixture()
    x, noise = pool()[:12], 0.3
    belief = infer(Linear(), data, Probit(noise), "ep").posterior
    first, second = np.triu_indices(len(x), 1)
    sign = np.where(belief.probability(x[first], x[second]) > 0.5, 1.0, -1.0)
    drawn = belief.sample(x, 1000, np.random.default_rng(3))
    lead = sign * (drawn[:, first] - drawn[:, second]) / (2.0 * noise)
    accuracies = [float(np.mean([0.5 + 0.5 * math.erf(one) for one in row])) for row in lead]
    variance = np.var([log_odds(accuracy) for accuracy in accuracies])
    half = 1.645 * np.sqrt(CORRECTION.stretch**2 * variance + CORRECTION.extra**2)
    middle = CORRECTION.shift + CORRECTION.slope * log_odds(expected_accuracy(belief, x))
    found = progress_of(belief, x, 12)
    assert log_odds(found.accuracy) == pytest.approx(middle, abs=1e-9)
    assert log_odds(found.low) == pytest.approx(middle - half, abs=0.08)
    assert log_odds(found.high) == pytest.approx(middle + half, abs=0.08)
    assert found.accuracy == likely_accuracy(belief, x)


@given(answers=st.integers(1, 1000), room=st.floats(0.0, 0.5))
def test_ten_answers_bring_what_twice_five_bring(answers: int, room: float) -> None:
    first = CORRECTION.gain(answers, room)
    second = CORRECTION.gain(answers + 5, room - first)
    assert 0.0 <= second <= first <= room
    assert first + second == pytest.approx(room * (1.0 - (answers / (answers + 10)) ** CORRECTION.rate))


def test_where_there_is_no_room_nothing_is_gained() -> None:
    assert CORRECTION.gain(20, 0.0) == CORRECTION.gain(20, -0.01) == 0.0


def test_the_gain_is_about_what_five_answers_bring() -> None:
    """Simulated users with linear rewards answer five more random questions."""
    kernel, noise, x = 0.5 * Linear(), 0.2, pool(30)
    first, second = np.triu_indices(len(x), 1)
    expected, brought = [], []
    for seed in range(25):
        truth = x @ np.random.default_rng([7, seed]).standard_normal(2) * np.sqrt(0.5)
        data = answers_about(x, truth, 13, seed, noise)
        beliefs = [infer(kernel, data[:count], Probit(noise), "ep").posterior for count in (8, 13)]
        right = np.vectorize(math.erf)(np.abs(truth[first] - truth[second]) / (2.0 * noise))
        sides = [np.sign(belief.probability(x[first], x[second]) - 0.5) for belief in beliefs]
        accuracies = [
            np.mean(0.5 + 0.5 * right * side * np.sign(truth[first] - truth[second])) for side in sides
        ]
        expected.append(progress_of(beliefs[0], x, 8).gain)
        brought.append(accuracies[1] - accuracies[0])
    assert np.mean(expected) == pytest.approx(np.mean(brought), abs=0.02)


def test_a_goal_is_reached_by_the_expected_accuracy_but_not_too_early() -> None:
    progress = Progress(12, accuracy=0.9, low=0.8, high=0.95, gain=0.02)
    assert progress.reaches(0.9)
    assert not progress.reaches(0.9001)
    assert not Progress(4, accuracy=0.95, low=0.6, high=0.99, gain=0.02).reaches(0.9)


def test_one_can_stop_when_five_more_answers_add_little_but_not_too_early() -> None:
    late = Progress(LEAST_TO_STOP, accuracy=0.8, low=0.7, high=0.9, gain=LITTLE_GAIN / 2)
    assert late.can_stop
    assert not replace(late, answers=LEAST_TO_STOP - 1).can_stop
    assert not replace(late, gain=LITTLE_GAIN).can_stop


@pytest.mark.parametrize("goal", [0.5, 1.0, 0.0, -1.0, 2.0, 90.0, math.nan])
def test_a_goal_that_cannot_be_meant_is_refused(goal: float) -> None:
    with pytest.raises(ValueError, match=r"between 0\.5 .*and 1"):
        check_goal(goal)


def test_a_goal_in_percents_is_answered_with_the_fraction() -> None:
    with pytest.raises(ValueError, match=r"write 0\.9$"):
        check_goal(90.0)


@pytest.mark.parametrize(
    ("gain", "words"),
    [
        (0.0099, "five more answers would add hardly anything"),
        (0.0101, "five more answers are likely to add about 1 percentage point"),
        (0.034, "five more answers are likely to add about 3 percentage points"),
    ],
)
def test_the_outlook_is_in_words(gain: float, words: str) -> None:
    assert Progress(12, 0.8, 0.7, 0.9, gain).outlook == words
