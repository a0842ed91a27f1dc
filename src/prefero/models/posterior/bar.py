"""The bar under a posterior: what a person finds just acceptable, and how probably a trajectory is above it.

A posterior knows the bar if some answer was about it. Before that, the bar has its prior: it is independent
of the reward, with mean 0 and variance 1.
"""

from dataclasses import replace

import numpy as np
from scipy.special import ndtr

from prefero._support.arrays import Array, as_probabilities
from prefero._support.parallel import chunks_of
from prefero.kernels import WithBar
from prefero.kernels.bar import knows_bar
from prefero.models.posterior.gaussian import ROWS, Distribution, Gaussian, Posterior
from prefero.models.posterior.mixture import MixturePosterior
from prefero.questions.comparisons import bar_features
from prefero.questions.kinds.base import AnswerKind

TINY = 1e-300


def has_bar(belief: Distribution) -> bool:
    """Whether answers have said what is acceptable."""
    return all(knows_bar(component.kernel) for _, component in belief.components)


def with_bar(belief: Distribution) -> Distribution:
    """The posterior, under which the bar has its prior if no answer was about it."""
    if has_bar(belief):
        return belief
    if isinstance(belief, MixturePosterior):
        return replace(belief, components=tuple((w, _aware(one)) for w, one in belief.components))
    if isinstance(belief, Posterior):
        return _aware(belief)
    raise ValueError(f"{belief!r} cannot say what is acceptable: take a PreferenceGP with inference='ep'")


def _aware(posterior: Posterior) -> Posterior:
    return replace(posterior, kernel=WithBar(posterior.kernel))


def features_of_places(x: Array, kind: AnswerKind) -> Array:
    """The features at all places of a question about these trajectories, (k, d), perhaps with the bar."""
    return np.concatenate([x, bar_features(x.shape[1])]) if kind.uses_bar else x


def probability_acceptable(belief: Distribution, x: Array) -> Array:
    """P(the reward is above the bar), (M,)."""
    total = np.zeros(len(x))
    for weight, component in with_bar(belief).components:
        for rows in chunks_of(len(x), ROWS):
            mean, variance = _above_bar(component, x[rows])
            total[rows] += weight * ndtr(mean / np.sqrt(variance + TINY))
    return as_probabilities(total)


def _above_bar(component: Gaussian, x: Array) -> tuple[Array, Array]:
    """Mean (M,) and variance (M,) of how far rewards are above the bar."""
    bar = bar_features(x.shape[1])
    (mean, learned), (bar_mean, bar_learned) = component.project(x), component.project(bar)
    prior = component.kernel.diagonal(x) + component.kernel.diagonal(bar)
    return mean - bar_mean, np.maximum(prior - np.sum((learned - bar_learned) ** 2, axis=1), 0.0)


def probability_mean_acceptable(belief: Distribution, x: Array) -> float:
    """P(the mean of the rewards of x is above the bar): of an episode of several windows."""
    return float(as_probabilities(sum(w * _mean_above(one, x) for w, one in belief.components)))


def _mean_above(component: Gaussian, x: Array) -> float:
    bar = bar_features(x.shape[1])
    (mean, learned), (bar_mean, bar_learned) = component.project(x), component.project(bar)
    prior = component.kernel(x, x).mean() + component.kernel.diagonal(bar)[0]
    variance = prior - np.sum((learned.mean(axis=0) - bar_learned[0]) ** 2)
    return float(ndtr((mean.mean() - bar_mean[0]) / np.sqrt(max(variance, 0.0) + TINY)))
