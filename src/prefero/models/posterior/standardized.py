"""Rewards of a pool in a unit that can be explained: standard deviations above the average trajectory.

    reference    (R, d)   trajectories that stand for the pool
    average               the mean reward of the reference, as uncertain as the rewards are
    unit                  the standard deviation of the reward over the reference: unit^2 is the expectation,
                          under the posterior, of the mean squared difference from the average

A reward is known up to a constant, and a posterior is anchored: its reward is 0, without any uncertainty, at
one point that was chosen for convenience. Differences do not depend on that choice, so their uncertainty is
that of the reward. Over the reference, the means and variances of the standardized rewards add up to 1:
mean(mean^2 + std^2) = 1.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from prefero._support.arrays import Array, Indices
from prefero.models.posterior.gaussian import Distribution, Gaussian

REFERENCE = 300  # trajectories of a pool that stand for it
CHUNK = 5000  # trajectories at a time, for whose covariances with the reference there is memory


def reference_rows(size: int, count: int = REFERENCE) -> Indices:
    """Which trajectories of a pool stand for it: at most `count` of `size`, always the same ones."""
    if size <= count:
        return np.arange(size)
    return np.sort(np.random.default_rng(0).choice(size, count, replace=False))


def reference_of(x: Array, count: int = REFERENCE) -> Array:
    """The trajectories that stand for a pool."""
    return x if len(x) <= count else x[reference_rows(len(x), count)]


@dataclass(frozen=True, eq=False)
class StandardizedRewards:
    """Rewards as standard deviations above the average trajectory of a pool."""

    belief: Distribution
    reference: Array

    def __call__(self, x: Array) -> tuple[Array, Array]:
        """Mean (M,) and standard deviation (M,) of (f(x) - average) / unit."""
        chunks = np.array_split(x, max(1, -(-len(x) // CHUNK)))
        mean, variance = (np.concatenate(p) for p in zip(*map(self._above_average, chunks), strict=True))
        return mean / self.unit, np.sqrt(variance) / self.unit

    @cached_property
    def unit(self) -> float:
        """The reward's standard deviation over the pool; 1 where every reward is the same."""
        mean, variance = self._above_average(self.reference)
        unit = float(np.sqrt(np.mean(mean**2 + variance)))
        return unit if unit > 0 else 1.0

    def _above_average(self, x: Array) -> tuple[Array, Array]:
        """Mean and variance of f(x) - average under the whole mixture."""
        each = [(weight, *average.above(x)) for weight, average in self._averages]
        mean: Array = np.asarray(sum(w * m for w, m, _ in each))
        variance: Array = np.asarray(sum(w * (v + (m - mean) ** 2) for w, m, v in each))
        return mean, variance

    @cached_property
    def _averages(self) -> list[tuple[float, "_Average"]]:
        return [(weight, _Average(component, self.reference)) for weight, component in self.belief.components]


class _Average:
    """The average reward of the reference under one component."""

    def __init__(self, component: Gaussian, reference: Array) -> None:
        mean, learned = component.project(reference)
        self.component, self.reference, self.kernel = component, reference, component.kernel.for_differences
        self.mean, self.learned = mean.mean(), learned.mean(axis=0)
        self.prior = self.kernel(reference, reference).mean()

    def above(self, x: Array) -> tuple[Array, Array]:
        """Mean and variance of f(x) - average."""
        mean, learned = self.component.project(x)
        prior = self.kernel.diagonal(x) - 2.0 * self.kernel(x, self.reference).mean(axis=1) + self.prior
        return mean - self.mean, np.maximum(prior - np.sum((learned - self.learned) ** 2, axis=1), 0.0)
