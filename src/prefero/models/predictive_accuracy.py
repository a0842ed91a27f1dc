"""How many of a person's further answers a posterior would predict, and how sure that is.

    pairs       random pairs of a pool's trajectories, the same ones every time
    predicted   the answer to a pair that is the more probable one under the posterior
    accuracy    of a reward f with noise sigma and a lapse rate: the mean over pairs of the probability that a
                person with these answers as predicted. A person who has to choose is meant: "about equal"
                is no answer here

The posterior gives each reward, noise and lapse rate a probability, and so the accuracy has a distribution.
Its mean has a closed form, the mean over pairs of max(P, 1 - P), where P is the probability of an answer
under the posterior. Its interval is that of draws.
"""

import numpy as np
from scipy.special import ndtr

from prefero._support.arrays import Array, Indices, one_thread
from prefero.models.draws import LEVEL, Estimate, draw_rewards, interval
from prefero.models.likelihood import SQRT_2, lapsing
from prefero.models.posterior import Distribution

TRAJECTORIES, PAIRS = 200, 3000  # of a pool that the accuracy is averaged over


@one_thread
def expected_accuracy(belief: Distribution, x: Array) -> float:
    """The expected share of a person's answers to random pairs of x that the belief predicts."""
    probability = _chosen_first(belief, *_sample_pairs(x))
    return float(np.mean(np.maximum(probability, 1.0 - probability)))


@one_thread
def predictive_accuracy(belief: Distribution, x: Array, level: float = LEVEL) -> Estimate:
    """The expected accuracy with its interval."""
    some, pairs = _sample_pairs(x)
    probability = _chosen_first(belief, some, pairs)
    draws = draw_rewards(belief, some)
    first, second = pairs.T
    lead = (draws.rewards[:, first] - draws.rewards[:, second]) * np.where(probability >= 0.5, 1.0, -1.0)
    each = lapsing(ndtr(lead / (SQRT_2 * draws.noise[:, None])).mean(axis=1), draws.lapse)
    mean = float(np.mean(np.maximum(probability, 1.0 - probability)))
    low, high = interval(each, draws.weights, level)
    return Estimate(mean, min(low, mean), max(high, mean))


def _sample_pairs(x: Array) -> tuple[Array, Indices]:
    """Some trajectories, and random pairs of them as indices (P, 2); all pairs where there are few."""
    rng = np.random.default_rng(0)
    some = x if len(x) <= TRAJECTORIES else x[rng.choice(len(x), TRAJECTORIES, replace=False)]
    pairs = np.column_stack(np.triu_indices(len(some), 1))
    return some, pairs if len(pairs) <= PAIRS else rng.choice(pairs, PAIRS, replace=False)


def _chosen_first(belief: Distribution, x: Array, pairs: Indices) -> Array:
    """The probability of each pair that a person who has to choose takes its first trajectory, (P,)."""
    first, second = pairs.T
    total = np.zeros(len(pairs))
    for weight, part in belief.components:
        mean, learned = part.project(x)
        covariance = part.kernel(x, x) - learned @ learned.T
        variance = covariance.diagonal()
        spread = variance[first] + variance[second] - 2.0 * covariance[first, second]
        gap = mean[first] - mean[second]
        total += weight * part.probit.forced.probabilities(gap, np.maximum(spread, 0.0))[0]
    return total
