"""Random actions of many styles."""

import numpy as np
import pytest
from gymnasium.spaces import Box

from prefero._support.arrays import Array
from prefero.deploy.training.exploration import StyledActions


def drawn(space: Box, steps: int, every: int = 50) -> Array:
    act = StyledActions(space, every, np.random.default_rng(0))
    return np.array([act() for _ in range(steps)])


def test_actions_are_possible() -> None:
    space = Box(np.array([-2.0, 0.0]), np.array([2.0, 0.5]), dtype=np.float64)
    actions = drawn(space, 2000)
    assert all(space.contains(action) for action in actions)
    assert np.ptp(actions, axis=0) == pytest.approx([4.0, 0.5], rel=0.1)


def test_directions_without_limits_are_explored() -> None:
    actions = drawn(Box(-np.inf, np.inf, (1,), np.float64), 1000)
    assert np.abs(actions).max() == pytest.approx(1.0)


def test_a_direction_with_one_limit_keeps_it() -> None:
    low, high = np.array([0.0, 5.0, -np.inf]), np.array([np.inf, np.inf, -3.0])
    space = Box(low, high, dtype=np.float64)
    actions = drawn(space, 2000)
    assert all(space.contains(action) for action in actions)
    assert np.ptp(actions, axis=0) == pytest.approx([2.0, 2.0, 2.0], rel=0.1)


def test_styles_differ_more_than_uniform_actions() -> None:
    """The mean effort of 50 steps: of uniform actions it varies by .3 / sqrt(50) only."""
    efforts = np.mean(drawn(Box(-1.0, 1.0, (1,), np.float64), 5000).reshape(-1, 50) ** 2, axis=1)
    assert np.std(efforts) > 3 * np.sqrt(4 / 45 / 50)
    assert efforts.min() < 0.1
