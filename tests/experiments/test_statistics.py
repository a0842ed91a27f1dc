"""Summaries of runs, against counting and a bootstrap of our own."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prefero._support.arrays import Array
from prefero.experiments.statistics import Interval, questions_needed, questions_to_reach

# --- questions needed -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("curve", "goal", "wanted"),
    [
        ([0.5, 0.8, 0.9, 0.95], 0.9, 3),
        ([0.9, 0.5, 0.5], 0.9, 1),  # the first time counts
        ([0.5, 0.6], 0.61, np.inf),
        ([0.5, 0.6], 0.6, 2),
        ([], 0.5, np.inf),
    ],
)
def test_questions_are_counted_until_the_goal_is_first_reached(
    curve: list[float], goal: float, wanted: float
) -> None:
    assert questions_to_reach(np.array(curve), goal) == wanted


@given(st.lists(st.floats(0, 1), max_size=30), st.floats(0, 1))
def test_questions_needed_are_those_of_a_loop(curve: list[float], goal: float) -> None:
    wanted = next((n for n, value in enumerate(curve, 1) if value >= goal), np.inf)
    assert questions_to_reach(np.array(curve), goal) == wanted


def climbing(runs: int, questions: int = 40, seed: int = 0) -> Array:
    rng = np.random.default_rng(seed)
    speed = rng.uniform(4, 25, (runs, 1))
    return 0.5 + 0.5 * (1 - np.exp(-np.arange(1, questions + 1) / speed))


def test_identical_runs_leave_no_doubt() -> None:
    assert questions_needed(np.tile(climbing(1), (5, 1)), 0.8) == (
        found := questions_needed(climbing(1), 0.8)
    )
    assert found.low == found.value == found.high == questions_to_reach(climbing(1)[0], 0.8)


def test_what_is_never_reached_is_infinite() -> None:
    assert questions_needed(np.full((4, 10), 0.7), 0.9) == Interval(np.inf, np.inf, np.inf)


def test_of_two_runs_the_interval_is_from_one_to_the_other() -> None:
    """A quarter of the draws are twice the first, a quarter twice the second."""
    soon, late = (np.where(np.arange(1, 31) >= n, 1.0, 0.0) for n in (5, 25))
    assert questions_needed(np.stack([soon, late]), 0.9) == Interval(25, 5, 25)
    assert questions_needed(np.stack([soon, late]), 0.5) == Interval(5, 5, 25)
    never = np.zeros(30)
    assert questions_needed(np.stack([soon, never]), 0.4) == Interval(5, 5, np.inf)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_interval_is_that_of_a_bootstrap_by_hand(seed: int) -> None:
    curves, goal = climbing(8, seed=seed), 0.85
    rng, drawn = np.random.default_rng(99), []
    for _ in range(4000):
        chosen = [curves[rng.integers(8)] for _ in range(8)]
        mean = [sum(column) / 8 for column in zip(*chosen, strict=True)]
        drawn.append(next((n for n, value in enumerate(mean, 1) if value >= goal), np.inf))
    found = questions_needed(curves, goal)
    assert found.value == next(n for n, v in enumerate(curves.mean(axis=0), 1) if v >= goal)
    low, high = np.quantile(drawn, [0.025, 0.975], method="inverted_cdf")
    assert abs(found.low - low) <= 1
    assert abs(found.high - high) <= 1
    assert found.low < found.value < found.high


def test_the_interval_is_the_same_again() -> None:
    assert questions_needed(climbing(6), 0.8) == questions_needed(climbing(6), 0.8)


def test_an_interval_reads_like_one() -> None:
    assert str(Interval(12.0, 9.0, 15.0)) == "12 (9 to 15)"
    assert str(Interval(30.0, 21.0, np.inf)) == "30 (21 to more)"
    assert str(Interval(np.inf, np.inf, np.inf)) == "more (more to more)"
