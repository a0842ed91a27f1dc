"""The probability of each answer given all others: which answers surprise the model.

    p_kn     the probability of answer n under component k, whose posterior has the other answers only: its
             cavity distribution, the posterior without the site of answer n
    w_k      the component's weight given all answers

Without answer n, the weight of component k is proportional to w_k / p_kn, since its evidence is larger by
that factor. The weighted mean of p_kn is then 1 / sum_k w_k / p_kn. No model is fitted again.
"""

from collections.abc import Sequence

import numpy as np

from prefero._support.arrays import Array, as_probabilities, one_thread
from prefero.models.inference.sites import Packing
from prefero.models.likelihood.factors import factors_of
from prefero.models.likelihood.regions import Layout, layout_of
from prefero.models.posterior.gaussian import (
    Distribution,
    Gaussian,
    covariance_of_differences,
    variance_of_differences,
)
from prefero.questions import Comparisons


@one_thread
def leave_one_out(
    belief: Distribution, data: Comparisons, sites: Sequence[tuple[Array, Array]] | None = None
) -> Array:
    """The probability of each answer given all others, (answers,).

    Args:
        belief: It was fitted to the answers.
        data: The answers.
        sites: Precision and shift of the answers under each component; None if the components are samples of
            the reward, which is then known.
    """
    if sites is None:
        sites = [(np.zeros(len(data)), np.zeros(len(data)))] * len(belief.components)
    unlikely = sum(
        (
            weight * np.exp(-_log_probability(component, data, own))
            for (weight, component), own in zip(belief.components, sites, strict=True)
        ),
        np.zeros(data.n_answers),
    )
    return as_probabilities(1.0 / unlikely)


def _log_probability(component: Gaussian, data: Comparisons, sites: tuple[Array, Array]) -> Array:
    """log p_kn, (answers,)."""
    layout = layout_of(data)
    mean, moments = _moments(component, data, layout)
    packing, found = Packing.of(layout), np.empty(layout.n_answers)
    flat, bounded = packing.flat(*sites)[None], np.array([True])
    each = zip(
        layout.batches, layout.numbers, packing.places, factors_of(layout, [component.probit]), strict=True
    )
    for (batch, numbers, place, factors), cov in zip(each, moments, strict=True):
        rows = batch.rows[:, 0] if place.is_number else batch.rows
        m, V, _ = place.algebra.cavity(mean[rows][None], cov[None], *place.of(flat), bounded)
        found[numbers] = factors.tilted(m, V).log[0]
    return found


def _moments(component: Gaussian, data: Comparisons, layout: Layout) -> tuple[Array, list[Array]]:
    """Means of all rows, and variances or covariances of those of each batch of answers."""
    (mean_a, learned_a), (mean_b, learned_b) = component.project(data.winners), component.project(data.losers)
    learned = learned_a - learned_b
    if layout.width == 1:
        prior = variance_of_differences(component.kernel, data.winners, data.losers)
        variance = np.maximum(prior - np.sum(learned**2, axis=1), 0.0)
        return mean_a - mean_b, [variance[batch.rows[:, 0]] for batch in layout.batches]
    covariance = covariance_of_differences(component.kernel, data) - learned @ learned.T
    found = [covariance[batch.rows[:, :, None], batch.rows[:, None, :]] for batch in layout.batches]
    return mean_a - mean_b, [cov[:, 0, 0] if cov.shape[1] == 1 else cov for cov in found]
