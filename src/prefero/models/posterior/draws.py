"""Draws from a posterior over rewards, for quantities that have no closed form.

    rewards    (S, M)   rewards of M trajectories, one draw a row
    noise      (S,)     the noise that the drawn model assumes
    lapse      (S,)     and its lapse rate; margin, strong margin and cut points likewise
    weights    (S,)     of the draws; they add up to 1

A component of a mixture gives draws in proportion to its weight, and at least a few, which then weigh less:
no component is left out by chance, and the same posterior always gives the same draws.
"""

from dataclasses import dataclass

import numpy as np

from prefero._support.arrays import Array
from prefero.models.algebra.linalg import symmetric_root
from prefero.models.posterior.gaussian import Distribution, Gaussian

DRAWS = 800  # in all; the ends of an interval then have a standard error of a few hundredths of its width
LEAST = 10  # of each component
CONFIDENCE = 0.9  # of intervals


@dataclass(frozen=True)
class Estimate:
    """A quantity that depends on the reward: its expectation, and a 90 % interval.

    Args:
        mean: The expectation.
        low: The lower end of the interval.
        high: The upper end.
    """

    mean: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Draws:
    """Weighted draws of rewards, with their noises, lapse rates and margins."""

    rewards: Array
    noise: Array
    lapse: Array
    weights: Array
    margin: Array
    strong_margin: Array
    cut_points: Array


def draw_rewards(belief: Distribution, x: Array, count: int = DRAWS, seed: int = 0) -> Draws:
    """About `count` joint draws of the rewards of x."""
    rng = np.random.default_rng(seed)
    drawn = [
        (w, component, _draw(component, x, max(LEAST, round(w * count)), rng))
        for w, component in belief.components
    ]
    sizes = [len(rewards) for _, _, rewards in drawn]
    probits = [component.probit for _, component, _ in drawn]
    return Draws(
        rewards=np.concatenate([rewards for _, _, rewards in drawn]),
        noise=np.repeat([probit.noise for probit in probits], sizes),
        lapse=np.repeat([probit.lapse for probit in probits], sizes),
        weights=np.repeat([w / n for (w, _, _), n in zip(drawn, sizes, strict=True)], sizes),
        margin=np.repeat([probit.margin for probit in probits], sizes),
        strong_margin=np.repeat([probit.strong_margin for probit in probits], sizes),
        cut_points=np.repeat([probit.cut_points for probit in probits], sizes, axis=0),
    )


def interval(values: Array, weights: Array, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """The central interval that holds this fraction of weighted values."""
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weights[order]) - 0.5 * weights[order]
    tail = 0.5 * (1.0 - confidence)
    low, high = np.interp([tail, 1.0 - tail], below / np.sum(weights), values[order])
    return float(low), float(high)


def _draw(component: Gaussian, x: Array, count: int, rng: np.random.Generator) -> Array:
    mean, learned = component.project(x)
    covariance = component.kernel(x, x) - learned @ learned.T
    if not covariance.any():  # a reward that is known
        return np.array([mean])
    drawn: Array = mean + rng.standard_normal((count, len(x))) @ symmetric_root(covariance)
    return drawn
