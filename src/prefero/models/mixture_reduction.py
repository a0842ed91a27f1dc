"""A mixture of many candidates replaced by one of a few that predicts the same answers.

    K, T          candidates, and pairs of trajectories that stand for all
    d             (T,)       the difference of rewards of each pair, uncertain under every candidate
    moments       (K, 4, T)  under each candidate: P(the first is preferred) - 1/2, E[d], E[d^2], and E[d d'],
                             where d' is the next pair's difference
    weights       (K,)       of the candidates

The heaviest few would not do: with few answers the weight is spread over many candidates. Instead some are
chosen, and weighted anew, such that the mixture has the same moments: the same predictions, and the same
means and covariances of rewards. They are chosen one by one, each the one that mends the largest part of what
is still wrong (orthogonal matching pursuit), and then exchanged as long as that helps.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from prefero._support.arrays import Array
from prefero.kernels import Kernel
from prefero.models.linalg import triangular_inverse
from prefero.models.posterior import Posterior, covariance_with_differences

PREDICTIONS = 16.0  # how much more the predictions count than the other moments
TINY = 1e-12
EXCHANGES = 2  # times that one candidate is exchanged for a better one
EXACT_ENOUGH = 1e-4  # root mean square error of the moments: more candidates would not be noticed


def reduced_weights(moments: Array, weights: Array, count: int) -> Array:
    """Weights of which at most `count` are not 0, with which the mixture has the same moments, (K,)."""
    moments = _in_units(moments, weights)
    wanted = weights @ moments
    choice = _Choice.of(moments, wanted, [int(np.argmax(weights))])
    while len(choice.chosen) < min(count, len(weights)) and choice.error > EXACT_ENOUGH**2:
        wider = choice.with_another(moments, wanted)
        if wider.error >= choice.error:
            break
        choice = wider
    for _ in range(EXCHANGES):
        others = [choice.without(place, moments, wanted) for place in range(len(choice.chosen))]
        best = min((other.with_another(moments, wanted) for other in others), key=lambda other: other.error)
        if best.error >= choice.error:
            break
        choice = best
    result = np.zeros(len(weights))
    result[choice.chosen] = choice.shares
    return result


def _in_units(moments: Array, weights: Array) -> Array:
    """The moments (K, 4T), in units of the size that each difference has in the whole mixture."""
    predicted, mean, second, product = np.swapaxes(moments, 0, 1)
    size = np.sqrt(weights @ second) + TINY
    parts = [PREDICTIONS * predicted, mean / size, second / size**2, product / (size * np.roll(size, -1))]
    return np.concatenate(parts, axis=1)


class _Choice(NamedTuple):
    """Some candidates, their weights, and the mean squared error of the moments with these."""

    chosen: list[int]
    shares: Array
    error: float

    @classmethod
    def of(cls, moments: Array, wanted: Array, chosen: list[int]) -> "_Choice":
        chosen, shares = _simplex_fit(moments, wanted, chosen)
        return cls(chosen, shares, float(np.mean((wanted - shares @ moments[chosen]) ** 2)))

    def with_another(self, moments: Array, wanted: Array) -> "_Choice":
        """With the candidate in whose direction most of what is wrong lies."""
        found = self.shares @ moments[self.chosen]
        apart = moments - found
        gain = apart @ (wanted - found) / np.maximum(np.linalg.norm(apart, axis=1), 1e-12)
        gain[self.chosen] = -np.inf
        return _Choice.of(moments, wanted, [*self.chosen, int(np.argmax(gain))])

    def without(self, place: int, moments: Array, wanted: Array) -> "_Choice":
        """Without one of them, unless it is the only one."""
        rest = [one for at, one in enumerate(self.chosen) if at != place]
        return _Choice.of(moments, wanted, rest) if rest else self


def _simplex_fit(moments: Array, wanted: Array, chosen: list[int]) -> tuple[list[int], Array]:
    """Least squares with weights that are positive and add up to 1; what would be negative is left out."""
    while True:
        last, others = moments[chosen[-1]], moments[chosen[:-1]]
        shares = np.linalg.lstsq((others - last).T, wanted - last, rcond=1e-10)[0]
        shares = np.append(shares, 1.0 - shares.sum())
        if np.all(shares > 0):
            return chosen, shares
        smallest = int(np.argmin(shares))
        chosen = [*chosen[:smallest], *chosen[smallest + 1 :]]


def pair_moments(posteriors: Sequence[Posterior], a: Array, b: Array) -> Array:
    """The moments of pairs of trajectories under each posterior, (K, 4, T).

    Posteriors with the same kernel share their prior covariances, which are most of the work.
    """
    shared: dict[int, _Prior] = {}
    found = []
    for posterior in posteriors:
        key = id(posterior.cholesky)
        if key not in shared:
            shared[key] = _Prior.of(posterior, a, b)
        found.append(_moments(posterior, shared[key]))
    return np.array(found)


class _Prior(NamedTuple):
    """Differences of pairs a priori: variances (T,), covariances with the next (T,), and with u (T, r)."""

    variance: Array
    covariance: Array
    along: Array

    @classmethod
    def of(cls, posterior: Posterior, a: Array, b: Array) -> "_Prior":
        kernel, pivots = posterior.kernel.for_differences, posterior.pivots
        cross = covariance_with_differences(kernel, a, pivots) - covariance_with_differences(
            kernel, b, pivots
        )
        next_a, next_b = np.roll(a, -1, axis=0), np.roll(b, -1, axis=0)
        variance = kernel.diagonal(a) + kernel.diagonal(b) - 2.0 * kernel.rowwise(a, b)
        return cls(variance, _covariance(kernel, a, b, next_a, next_b), cross @ posterior.unpivot)


def _covariance(kernel: Kernel, a: Array, b: Array, c: Array, d: Array) -> Array:
    """Cov[f(a) - f(b), f(c) - f(d)], row by row."""
    return kernel.rowwise(a, c) - kernel.rowwise(a, d) - kernel.rowwise(b, c) + kernel.rowwise(b, d)


def _moments(posterior: Posterior, prior: _Prior) -> Array:
    """u has the mean `u_mean` and the covariance (factor factor')^-1."""
    known, along = prior.along @ triangular_inverse(posterior.factor).T, prior.along
    mean = along @ posterior.u_mean
    variance = np.maximum(prior.variance + np.sum(known**2 - along**2, axis=1), 0.0)
    shared = np.sum(known * np.roll(known, -1, axis=0) - along * np.roll(along, -1, axis=0), axis=1)
    covariance = prior.covariance + shared
    predicted = posterior.probit.probabilities(mean, variance)[0] - 0.5
    return np.array([predicted, mean, variance + mean**2, covariance + mean * np.roll(mean, -1)])
