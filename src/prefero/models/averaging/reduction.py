"""A mixture of many candidates replaced by one of a few that predicts the same answers.

    K, T          candidates, and pairs of trajectories that stand for all
    d             (T,)       the difference of rewards of each pair, uncertain under every candidate
    moments       (K, 4, T)  under each candidate: P(the first is preferred) - 1/2, E[d], E[d^2], and E[d d'],
                             where d' is the next pair's difference
    weights       (K,)       of the candidates

The heaviest few would not do: with few answers the weight is spread over many candidates. Instead some are
chosen, and weighted anew, such that the mixture has the same moments: the same predictions, and the same
means and covariances of rewards. They are chosen one by one, each the one that mends most of what
is still wrong (orthogonal matching pursuit), and then exchanged as long as that helps.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from prefero._support.arrays import Array
from prefero._support.ordering import exceeds, first_largest
from prefero.kernels import Kernel
from prefero.models.algebra.linalg import triangular_inverse
from prefero.models.inference.fit import Fit
from prefero.models.posterior.gaussian import covariance_with_differences, variance_of_differences

PREDICTIONS = 16.0  # how much more the predictions count than the other moments
TINY = 1e-12
RIDGE = 1e-12  # of the products' trace, where candidates are the same
EXCHANGES = 2  # times that one candidate is exchanged for a better one
EXACT_ENOUGH = 1e-4  # root mean square error of the moments: more candidates would not be noticed


def reduced_weights(moments: Array, weights: Array, count: int) -> Array:
    """Weights of which at most `count` are not 0, with which the mixture has the same moments, (K,).

    Of candidates that do equally well, as all noises do before the first answer, the first is chosen.
    """
    apart = _in_units(moments, weights)
    apart -= weights @ apart  # what is wanted is now 0
    products = apart @ apart.T / max(apart.shape[1], 1)
    choice = _Choice.of(products, [first_largest(weights)])
    while len(choice.chosen) < min(count, len(weights)) and choice.error > EXACT_ENOUGH**2:
        wider = choice.with_another(products)
        if not exceeds(choice.error, wider.error):
            break
        choice = wider
    for _ in range(EXCHANGES):
        others = [choice.without(place, products) for place in range(len(choice.chosen))]
        exchanged = [other.with_another(products) for other in others]
        best = exchanged[first_largest(np.array([-other.error for other in exchanged]))]
        if not exceeds(choice.error, best.error):
            break
        choice = best
    result = np.zeros(len(weights))
    result[choice.chosen] = choice.weights
    return result


def _in_units(moments: Array, weights: Array) -> Array:
    """The moments (K, 4T), in units of the size that each difference has in the whole mixture."""
    predicted, mean, second, product = np.swapaxes(moments, 0, 1)
    size = np.sqrt(weights @ second) + TINY
    scaled = [PREDICTIONS * predicted, mean / size, second / size**2, product / (size * np.roll(size, -1))]
    return np.concatenate(scaled, axis=1)


class _Choice(NamedTuple):
    """Some candidates, their weights, and the mean squared error of the moments with these.

    The products, (K, K), are those of the candidates' errors, so that weights w have the error w' products w.
    """

    chosen: list[int]
    weights: Array
    error: float

    @classmethod
    def of(cls, products: Array, chosen: list[int]) -> "_Choice":
        chosen, weights = _simplex_fit(products, chosen)
        return cls(chosen, weights, float(weights @ products[np.ix_(chosen, chosen)] @ weights))

    def with_another(self, products: Array) -> "_Choice":
        """With the candidate in whose direction most of what is wrong lies."""
        with_error = self.weights @ products[self.chosen]
        distance = np.sqrt(np.maximum(products.diagonal() - 2.0 * with_error + self.error, TINY**2))
        gain = (self.error - with_error) / distance
        gain[self.chosen] = -np.inf
        return _Choice.of(products, [*self.chosen, first_largest(gain)])

    def without(self, place: int, products: Array) -> "_Choice":
        """Without one of them, unless it is the only one."""
        rest = [one for at, one in enumerate(self.chosen) if at != place]
        return _Choice.of(products, rest) if rest else self


def _simplex_fit(products: Array, chosen: list[int]) -> tuple[list[int], Array]:
    """Least squares with weights that are positive and add up to 1; what would be negative is left out."""
    while True:
        weights = _smallest_error(products[np.ix_(chosen, chosen)])
        if np.all(weights > TINY):
            return chosen, weights
        smallest = first_largest(-weights)
        chosen = [*chosen[:smallest], *chosen[smallest + 1 :]]


def _smallest_error(products: Array) -> Array:
    """The weights, which add up to 1, of the smallest error: a linear system with one condition."""
    size = len(products)
    system = np.ones((size + 1, size + 1))
    system[:size, :size], system[size, size] = products, 0.0
    # to the diagonal; where all candidates predict exactly the same, any weights do
    system.ravel()[: size * (size + 2) : size + 2] += RIDGE * (products.trace() or 1.0)
    weights: Array = np.linalg.solve(system, np.append(np.zeros(size), 1.0))[:size]
    return weights


class ReferencePairs:
    """Pairs of trajectories that stand for all, and what is known of their differences a priori.

    Args:
        a: The features of the first trajectories, (T, d).
        b: The features of the others, (T, d).
    """

    def __init__(self, a: Array, b: Array) -> None:
        self.a, self.b = a, b
        self._variances: dict[Kernel, tuple[Array, Array]] = {}

    def copy(self) -> "ReferencePairs":
        """The same pairs, and what is known of them so far."""
        other = ReferencePairs(self.a, self.b)
        other._variances = dict(self._variances)
        return other

    def moments(self, fits: Sequence[Fit]) -> Array:
        """The moments of the pairs under each fit's posterior, (K, 4, T).

        Fits with the same kernel have the same prior covariances, which are most of the work.
        """
        priors: dict[int, _Prior] = {}
        found = []
        for fit in fits:
            key = id(fit.cholesky)
            if key not in priors:
                priors[key] = self._prior(fit)
            found.append(priors[key].moments(fit))
        return np.array(found)

    def _prior(self, fit: Fit) -> "_Prior":
        kernel, count = fit.kernel.for_differences, len(self.a)
        both = covariance_with_differences(kernel, np.concatenate([self.a, self.b]), *fit.pivots)
        along = (both[:count] - both[count:]) @ fit.unpivot
        variance, covariance = self._of_differences(kernel)
        unknown = variance - np.sum(along**2, axis=1), covariance - _with_next(along)
        return _Prior(*unknown, along)

    def _of_differences(self, kernel: Kernel) -> tuple[Array, Array]:
        """The variance of each difference, and its covariance with the next; the same for all answers."""
        if kernel not in self._variances:
            a, b = self.a, self.b
            c, d = np.roll(a, -1, axis=0), np.roll(b, -1, axis=0)
            variance = variance_of_differences(kernel, a, b)
            same, across = (
                kernel.rowwise(a, c) + kernel.rowwise(b, d),
                kernel.rowwise(a, d) + kernel.rowwise(b, c),
            )
            self._variances[kernel] = variance, same - across
        return self._variances[kernel]


class _Prior(NamedTuple):
    """Differences of pairs before the answers: what the answers are not about, and covariances with u.

    Args:
        variance: Of each difference, without what u explains, (T,).
        covariance: With the next difference, without that, (T,).
        along: Covariances with u, (T, r).
    """

    variance: Array
    covariance: Array
    along: Array

    def moments(self, fit: Fit) -> Array:
        """Given the answers, u has the mean `u_mean` and the covariance (factor factor')^-1."""
        known = self.along @ triangular_inverse(fit.solution.factor).T
        mean = self.along @ fit.solution.u_mean
        variance = np.maximum(self.variance + np.sum(known**2, axis=1), 0.0)
        product = self.covariance + _with_next(known) + mean * np.roll(mean, -1)
        predicted = fit.probit.probabilities(mean, variance)[0] - 0.5
        return np.array([predicted, mean, variance + mean**2, product])


def _with_next(rows: Array) -> Array:
    """The product of each row with the next, and of the last with the first."""
    return np.asarray(np.einsum("ij,ij->i", rows, np.roll(rows, -1, axis=0)))
