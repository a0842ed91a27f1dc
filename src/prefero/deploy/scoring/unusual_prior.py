"""The prior knowledge that unusual episodes are probably bad, which answers and labels overrule.

    v       (M,)   how unusual an episode is: the logarithm of its unusualness over the usual one, at least 0;
                   half of the episodes and ordinary variation beyond them are usual
    mean    (M,)   the expected reward above the average episode, under the posterior
    k       (M,)   the variance of that difference before the answers
    left    (M,)   the share of k that the answers have left, from 1 (they say nothing of this episode) to 0
    gamma          how many independent things the answers have told, the effective number of parameters
    trust          the slope of -v in the reward, in standard deviations of the reward over the episodes

A prior mean of -trust v in place of 0 changes the posterior mean of an episode by -trust left v, as for a
Gaussian that is observed with noise: nothing where the answers know the reward. The answers decide about the
trust too. They have said (1 - left) k^1/2 of the reward's slope along v, with the weight of gamma
observations; before, the trust is normal with mean TRUST and variance 1 / PRIOR_ANSWERS. It is never below 0:
unusual episodes are not taken to be good.
"""

import numpy as np

from prefero._support.arrays import Array
from prefero.models.posterior.gaussian import Distribution, Posterior
from prefero.models.posterior.standardized import CHUNK, StandardizedRewards, reference_of

TRUST = 1.0
PRIOR_ANSWERS = 3.0
USUAL, LEAST_USUAL = 1.6, 3.0  # unusualness up to so many medians, and so many deviations, is usual
FEWEST = 10  # of fewer episodes nobody knows what is usual
TINY = 1e-300


def unusual_shift(belief: Distribution, x: Array, unusualness: Array) -> Array:
    """How much lower or higher the expected rewards of x are if unusual ones are worse a priori, (M,).

    Args:
        belief: The posterior over rewards.
        x: Scaled features, (M, d).
        unusualness: Of each row among these, (M,).

    Returns:
        What is added to the rewards; 0 for a belief whose prior is not known.
    """
    components = [(w, one) for w, one in belief.components if isinstance(one, Posterior)]
    usual = max(USUAL * float(np.median(unusualness)), LEAST_USUAL)
    v = np.log(np.maximum(unusualness / usual, 1.0))
    v = v - v.mean()
    if not components or not v.any() or len(x) < FEWEST:
        return np.zeros(len(x))
    reference = reference_of(x)
    standardized = StandardizedRewards(belief, reference)
    mean, std = (standardized.unit * values for values in standardized(x))
    k = sum((w * _prior_variance(one, x, reference) for w, one in components), np.zeros(len(x)))
    left = np.minimum(std**2 / np.maximum(k, TINY), 1.0)
    unit = float(np.sqrt(k.mean()))
    gamma = sum(w * _effective_parameters(one) for w, one in components)
    shift: Array = -unit * _trust(v, mean / unit, left, gamma) * left * v
    return shift


def _prior_variance(component: Posterior, x: Array, reference: Array) -> Array:
    """Of the difference from the average of the reference, (M,)."""
    kernel = component.kernel.for_differences
    pieces = np.array_split(x, -(-len(x) // CHUNK))
    across = np.concatenate([kernel(piece, reference).mean(axis=1) for piece in pieces])
    average = kernel(reference, reference).mean()
    variance: Array = np.maximum(kernel.diagonal(x) - 2.0 * across + average, 0.0)
    return variance


def _effective_parameters(component: Posterior) -> float:
    """The trace of the share of the answered differences' prior covariance that the answers have taken."""
    taken = component.project(component.points)[1] - component.project(component.others)[1]
    return float(np.sum(component.whitener * taken))


def _trust(v: Array, mean: Array, left: Array, gamma: float) -> float:
    """The posterior mean of the slope of -v in the reward."""
    told = float(np.sum(1.0 - left))
    if told <= 0.0:
        return TRUST
    slope, weight = -gamma * float(v @ mean) / told, gamma * float((1.0 - left) @ v**2) / told
    return max((PRIOR_ANSWERS * TRUST + slope) / (PRIOR_ANSWERS + weight), 0.0)
