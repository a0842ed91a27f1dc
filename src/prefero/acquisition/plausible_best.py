"""Which trajectories of a pool may be the best: those that are the best in draws from the posterior.

x            (M, d)   features of the pool, in the units that the posterior was fitted to
optimistic   (M,)     mean and two standard deviations of each trajectory's reward
reported              the trajectory with the largest posterior mean, which is reported as best
draw                  a reward from the posterior, at all trajectories at once
regret                of a draw: by how much its best trajectory is better than the reported one
"""

from typing import NamedTuple

import numpy as np

from prefero._support.arrays import Array, Indices
from prefero._support.ordering import first_largest, first_largest_of_rows, largest_first
from prefero.acquisition import base
from prefero.acquisition.projection import Projection, projections
from prefero.models.algebra.linalg import pivoted_cholesky
from prefero.models.posterior.gaussian import Distribution

DRAWN = 500  # trajectories that are drawn: in a larger pool, those that are best if one is optimistic
COARSE = 100.0  # leaves out directions below a thousandth of the standard deviation: some are rounding errors


class PlausibleBest(NamedTuple):
    """The best trajectories in draws from the posterior."""

    reported: int
    best: Indices  # (draws,)
    regret: Array  # (draws,)


def optimistic(belief: Distribution, x: Array) -> Array:
    """How good each trajectory may be: mean and two standard deviations, (M,)."""
    mean, variance = belief.marginals(x)
    return mean + 2.0 * np.sqrt(variance)


def by_promise(belief: Distribution, x: Array) -> Indices:
    """All trajectories, the most promising one first."""
    return largest_first(optimistic(belief, x))


def promising(belief: Distribution, x: Array, rng: np.random.Generator) -> Indices:
    """All trajectories; of a large pool, one half those that may be best, and one half random ones."""
    count = base.LARGE_POOL
    if len(x) <= count:
        return np.arange(len(x))
    best, others = np.split(by_promise(belief, x), [count // 2])
    return np.sort(np.concatenate([best, rng.choice(others, count - len(best), replace=False)]))


def draw_best(belief: Distribution, x: Array, count: int, rng: np.random.Generator) -> PlausibleBest:
    """The best trajectory in each of `count` draws from the posterior."""
    reported = first_largest(belief.marginals(x)[0])
    among = np.union1d(by_promise(belief, x)[:DRAWN], [reported])
    counts = rng.multinomial(count, [weight for weight, _ in belief.components])
    views, at = projections(belief, x[among]), int(np.searchsorted(among, reported))
    drawn = [_draw_gains(view, at, int(n), rng) for view, n in zip(views, counts, strict=True) if n]
    gains = rng.permutation(np.concatenate(drawn))
    return PlausibleBest(reported, among[first_largest_of_rows(gains)], gains.max(axis=1))


def _draw_gains(view: Projection, reported: int, count: int, rng: np.random.Generator) -> Array:
    """Draws of how much better each trajectory is than the reported one, under one component, (count, M)."""
    mean = np.broadcast_to(view.mean - view.mean[reported], (count, len(view.x)))
    if view.is_certain:
        return mean
    # a projection has the covariances of differences alone: its kernel leaves out the anchor
    covariance = view.kernel(view.x, view.x) - view.learned @ view.learned.T
    with_reported = covariance[reported].copy()
    covariance += with_reported[reported] - with_reported[:, None] - with_reported[None, :]
    root = pivoted_cholesky(covariance, COARSE * float(np.sqrt(np.max(covariance.diagonal())))).basis
    gains: Array = mean + rng.standard_normal((count, root.shape[1])) @ root.T
    gains[:, reported] = 0.0  # without rounding
    return gains
