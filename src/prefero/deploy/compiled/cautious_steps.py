"""A lower confidence bound of the reward of steps, at a small cost, and bounded by what was taught.

    g         the reward of a step: weights . features of the step, with an uncertain vector of weights
    draws     (D, m)   of these weights, less their mean, from their posterior: each a function of steps too
    std       the root of the mean over the draws of their squared values, which estimates the standard
              deviation of g with a relative error of about 1 / sqrt(2 m)

The exact standard deviation needs the covariances of a step with all answers, under every component of the
mixture. The draws are multiplied out once, and are then linear in the features of a step, like the mean.
"""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from prefero._support.arrays import Array, one_thread
from prefero.deploy.compiled.step_reward import StepReward, unit_points
from prefero.models.algebra.linalg import symmetric_root
from prefero.trajectories.step_features import StepFeatures

DRAWS = 16
TAILS = 0.005  # of the taught steps' rewards, on both sides, are no measure of what is possible


@dataclass(frozen=True, eq=False)
class CautiousSteps:
    """mean - caution std of the reward of steps, within bounds; a function of the numbers of steps.

    Args:
        center: Of the numbers, (d + 1,).
        to_y: From the numbers to the k numbers that products and waves are of, (d + 1, k).
        frequencies: Of the waves, (k, W).
        constants: Of the mean and of the draws, (1 + m,).
        linear: The same, of the numbers, (d + 1, 1 + m).
        products: Of all products of two numbers, (k k, 1 + m).
        cosines: (W, 1 + m).
        sines: (W, 1 + m).
        caution: How many standard deviations are taken off.
        low: The least value.
        high: The largest value.
    """

    center: Array
    to_y: Array
    frequencies: Array
    constants: Array
    linear: Array
    products: Array
    cosines: Array
    sines: Array
    caution: float
    low: float = -np.inf
    high: float = np.inf

    @classmethod
    @one_thread
    def of(cls, reward: StepReward, caution: float, seed: int = 0) -> Self:
        """Multiply out the mean and the draws.

        Args:
            reward: The reward.
            caution: How many standard deviations are taken off.
            seed: Of the draws.

        Returns:
            The bound, as a function of the numbers of steps.
        """
        mean, covariance = reward.reward.belief(unit_points(reward))
        normal = np.random.default_rng(seed).standard_normal((len(mean), DRAWS))
        draws = symmetric_root(covariance) @ normal / np.sqrt(DRAWS)
        weights, constants = reward.affine(np.column_stack([mean, draws]))
        return cls._multiplied_out(reward.features, weights, constants, caution)

    @classmethod
    def _multiplied_out(
        cls, features: StepFeatures, weights: Array, constants: Array, caution: float
    ) -> Self:
        blocks = np.split(weights, np.cumsum(list(features.blocks.values()))[:-1])
        linear, quadratic, rest = blocks[0], blocks[1], blocks[2:]
        if features.horizon[0]:
            constants = constants + rest.pop()[0]  # what each step adds by lasting
        k = len(features.axes)
        products = np.zeros((k, k, weights.shape[1]))
        products[np.triu_indices(k)] = quadratic
        both = np.concatenate(rest).reshape(-1, 2, weights.shape[1]) * features.amplitudes[:, None, None]
        return cls(
            features.center,
            np.ascontiguousarray((features.axes / features.scale).T),
            np.ascontiguousarray(features.waves.T),
            constants,
            linear / features.scale[:, None],
            products.reshape(k * k, -1),
            np.ascontiguousarray(both[:, 0]),
            np.ascontiguousarray(both[:, 1]),
            caution,
        )

    def within(self, numbers: Array) -> Self:
        """The same bound, which never leaves the values that it has for most of these steps (n, d + 1)."""
        low, high = np.quantile(self(numbers), [TAILS, 1.0 - TAILS]).tolist()
        return replace(self, low=low, high=high)

    def __call__(self, numbers: Array) -> Array:
        """The bound for steps with these numbers (n, d + 1), (n,); for one step (d + 1,), a number."""
        u = numbers - self.center
        y = u @ self.to_y
        angles = y @ self.frequencies
        products = (y[..., :, None] * y[..., None, :]).reshape(*y.shape[:-1], -1)
        values = u @ self.linear
        values += products @ self.products
        values += np.cos(angles) @ self.cosines
        values += np.sin(angles) @ self.sines
        values += self.constants
        draws = values[..., 1:]
        squares = draws @ draws if draws.ndim == 1 else np.vecdot(draws, draws)
        bound = values[..., 0] - self.caution * np.sqrt(squares)
        return np.minimum(np.maximum(bound, self.low), self.high)
