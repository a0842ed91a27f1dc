"""The first actions of a loop: random ones of many styles, so that the first questions are about differences.

    strength     how large the actions of a style are, as a fraction of what is possible
    memory       how much of an action is the one before
    lean         where the actions of a style are centered

Independent uniform actions make all segments alike: each is about the mean of all. A robot that is stiff in
one segment, trembles in another and swings in a third shows what a person likes with far fewer questions.
"""

from typing import Any

import gymnasium
import numpy as np

from prefero._support.arrays import Array

LARGEST = 1.0  # of an action in a direction without limits; with one limit, it goes twice as far from there


class StyledActions:
    """Random actions whose style changes after some steps.

    Args:
        space: Of the actions: arrays of numbers.
        every: The steps of a style.
        rng: Draws styles and actions.
    """

    def __init__(self, space: gymnasium.spaces.Box, every: int, rng: np.random.Generator) -> None:
        low, high = (np.asarray(limit, dtype=float) for limit in (space.low, space.high))
        least, most = np.minimum(high - 2 * LARGEST, -LARGEST), np.maximum(low + 2 * LARGEST, LARGEST)
        low, high = np.where(np.isfinite(low), low, least), np.where(np.isfinite(high), high, most)
        self._middle, self._half = (low + high) / 2, (high - low) / 2
        self._every, self._rng, self._dtype, self._left = every, rng, space.dtype, 0
        self._wave: Array = np.zeros(self._half.shape)

    def __call__(self) -> Any:
        """The next action."""
        if self._left == 0:
            self._new_style()
        self._left -= 1
        fresh = self._rng.standard_normal(self._half.shape)
        self._wave = self._memory * self._wave + np.sqrt(1.0 - self._memory**2) * fresh
        action: Array = self._middle + self._half * np.clip(self._strength * (self._wave + self._lean), -1, 1)
        return action.astype(self._dtype)

    def _new_style(self) -> None:
        self._left = self._every
        self._strength, self._memory = self._rng.uniform(size=2)
        self._lean = self._rng.standard_normal(self._half.shape) * self._rng.uniform()
        self._wave = self._rng.standard_normal(self._half.shape)
