"""The probability of each answer given all others: which answers surprise the model.

    p_kn     the probability of answer n under component k, whose posterior has the other answers only: its
             cavity distribution, the posterior without the site of answer n
    w_k      the component's weight given all answers

Without answer n, the weight of component k is proportional to w_k / p_kn, since its evidence is larger by
that factor. The weighted mean of p_kn is then 1 / sum_k w_k / p_kn. No model is fitted again.
"""

import numpy as np

from prefero._support.arrays import Array, as_probabilities, one_thread
from prefero.models.answer_regions import layout_of
from prefero.models.joint_sites import cavity_log_likelihood
from prefero.models.posterior import Distribution, Gaussian, Posterior, covariance_of_differences
from prefero.questions import Comparisons


@one_thread
def leave_one_out(belief: Distribution, data: Comparisons) -> Array:
    """The probability of each answer given all others, (answers,); `belief` was fitted to `data`."""
    unlikely = sum(
        (weight * np.exp(-_log_probability(part, data)) for weight, part in belief.components),
        np.zeros(data.n_answers),
    )
    return as_probabilities(1.0 / unlikely)


def _log_probability(part: Gaussian, data: Comparisons) -> Array:
    """log p_kn, (answers,)."""
    if data.rows is not None:
        return _joint_log_probability(part, data)
    if not isinstance(part, Posterior):  # a sample of the reward, which is known
        gap = part.project(data.winners)[0] - part.project(data.losers)[0]
        return part.probit(gap, data.tied).log
    mean, variance = part.difference(data.winners, data.losers)
    precision, shift = part.sites
    rest = np.maximum(1.0 - precision * variance, 1e-12)
    return part.probit((mean - shift * variance) / rest, data.tied, variance / rest).log


def _joint_log_probability(part: Gaussian, data: Comparisons) -> Array:
    """The same, where an answer may have several rows."""
    mean_a, learned_a = part.project(data.winners)
    mean_b, learned_b = part.project(data.losers)
    gap, learned = mean_a - mean_b, learned_a - learned_b
    covariance = covariance_of_differences(part.kernel, data) - learned @ learned.T
    sites = part.sites if isinstance(part, Posterior) else None
    return cavity_log_likelihood(layout_of(data), part.probit, gap, covariance, sites)
