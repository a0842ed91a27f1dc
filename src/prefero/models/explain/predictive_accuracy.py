"""How many of a person's further answers a posterior would predict, and how sure that is.

    pairs       random pairs of a pool's trajectories, the same ones every time
    predicted   the answer to a pair that is the more probable one under the posterior
    accuracy    of a reward f with a noise and a lapse rate: the mean over pairs of the probability that a
                person with these answers as predicted. A person who has to choose is meant: "about equal" is
                no answer here
    attainable  the accuracy if the reward were known

The posterior gives each reward, noise and lapse rate a probability, and so the accuracy has a distribution.
Its mean has a closed form, the mean over pairs of max(P, 1 - P), where P is the probability of an answer
under the posterior. How sure it is follows from draws.
"""

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from scipy.special import ndtr

from prefero._support.arrays import Array, Indices, as_probabilities, one_thread
from prefero.models.likelihood.probit import SQRT_2, lapsing
from prefero.models.posterior.draws import draw_rewards
from prefero.models.posterior.gaussian import Distribution

AnyProbability = TypeVar("AnyProbability", float, Array)

SURELY = 1e-6  # a probability is taken to be at least this far from 0 and 1
TRAJECTORIES, PAIRS = 200, 3000  # of a pool that the accuracy is averaged over


@one_thread
def expected_accuracy(belief: Distribution, x: Array) -> float:
    """The expected fraction of a person's answers to random pairs of x that the belief predicts."""
    probability = _chosen_first(belief, *_sample_pairs(x))
    return float(np.mean(np.maximum(probability, 1.0 - probability)))


def log_odds(p: AnyProbability) -> AnyProbability:
    """log(p / (1 - p)), finite also where p is rounded to 0 or 1."""
    kept = np.clip(p, SURELY, 1.0 - SURELY)
    return np.log(kept) - np.log1p(-kept)  # type: ignore[no-any-return]


@dataclass(frozen=True, eq=False)
class AccuracyDraws:
    """The accuracy under draws of a posterior.

    mean              its expectation, in closed form
    accuracies (S,)   the accuracy of the prediction, for each draw of reward and noise
    attainable (S,)   the accuracy that the drawn reward itself would have
    weights    (S,)   of the draws
    """

    mean: float
    accuracies: Array
    attainable: Array
    weights: Array

    @property
    def room(self) -> float:
        """What is expected to be missing to the attainable accuracy."""
        return float((self.attainable - self.accuracies) @ self.weights)

    @property
    def variance_of_log_odds(self) -> float:
        """Of the accuracies, on the scale of log odds."""
        z = log_odds(self.accuracies)
        return float((z - z @ self.weights) ** 2 @ self.weights)


@one_thread
def accuracy_draws(belief: Distribution, x: Array) -> AccuracyDraws:
    """The accuracy of what a belief predicts, if one of its draws were the person."""
    some, pairs = _sample_pairs(x)
    probability = _chosen_first(belief, some, pairs)
    draws = draw_rewards(belief, some)
    first, second = pairs.T
    lead = (draws.rewards[:, first] - draws.rewards[:, second]) / (SQRT_2 * draws.noise[:, None])
    better = lapsing(ndtr(lead), draws.lapse[:, None])
    return AccuracyDraws(
        mean=float(np.mean(np.maximum(probability, 1.0 - probability))),
        accuracies=np.where(probability >= 0.5, better, 1.0 - better).mean(axis=1),
        attainable=np.maximum(better, 1.0 - better).mean(axis=1),
        weights=draws.weights,
    )


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
    for weight, component in belief.components:
        mean, learned = component.project(x)
        covariance = component.kernel(x, x) - learned @ learned.T
        variance = covariance.diagonal()
        gap_variance = variance[first] + variance[second] - 2.0 * covariance[first, second]
        gap = mean[first] - mean[second]
        total += weight * component.probit.forced.probabilities(gap, np.maximum(gap_variance, 0.0))[0]
    return as_probabilities(total)
