"""Which trajectory of a pool is the best, and how probable that is.

The trajectory with the highest expected reward may be the best only by a hair: after further answers another
one comes first. The probability is the fraction of draws from the posterior in which a trajectory has the
highest reward of the pool.
"""

import numpy as np

from prefero._support.arrays import Array, Indices, as_probabilities, one_thread
from prefero._support.ordering import first_largest, first_largest_of_rows, largest_first
from prefero.models.posterior.draws import draw_rewards
from prefero.models.posterior.gaussian import Distribution

CANDIDATES = 200  # trajectories that may be the best: the others have a lower upper confidence bound
WIDTH = 2.5  # of that bound, in standard deviations


@one_thread
def probability_of_best(
    belief: Distribution, x: Array, marginals: tuple[Array, Array] | None = None
) -> Array:
    """The probability that each trajectory (M, d) has the highest reward of all, (M,).

    `marginals` are the belief's mean and variance of x, if they are known already.
    """
    mean, variance = marginals or belief.marginals(x)
    likely = _likely(mean + WIDTH * np.sqrt(np.maximum(variance, 0.0)), mean)
    draws = draw_rewards(belief, x[likely])
    found = np.zeros(len(x))
    np.add.at(found, likely[first_largest_of_rows(draws.rewards)], draws.weights)
    return as_probabilities(found)


def _likely(bound: Array, mean: Array) -> Indices:
    """The candidates: highest bound first, and always the highest mean."""
    chosen = largest_first(bound, CANDIDATES)
    return np.union1d(chosen, [first_largest(mean)])
