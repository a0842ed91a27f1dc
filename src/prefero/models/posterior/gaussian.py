"""The Gaussian process posterior over rewards, in the space of answered differences.

    winners, losers   (N, d)   features of the preferred and the other trajectory
    differences       (N,)     f(winners) - f(losers)
    C                 (N, N)   prior covariance of the differences
    basis             (N, r)   C = basis @ basis.T, the pivoted Cholesky factor
    pivots            (r,)     the answers whose differences determine all others
    alpha             (r,)     mean(x) = Cov[f(x), differences[pivots]] @ alpha  (GPML, Algorithm 3.1)
    whitener          (r, r)   learned(x) = Cov[f(x), differences[pivots]] @ whitener

An answer is about one difference only, so the likelihood's precision is diagonal there, and no matrix of size
2N is formed. The differences are often linearly dependent (a question asked twice, a linear reward, a smooth
one), and then r is smaller than N: repeated questions need no jitter, and a linear reward in d features costs
d.

    Cov[f(x), f(y)] = k(x, y) - learned(x) @ learned(y).T

Laplace's method and EP (`prefero.models.inference.infer`) both end in this form and differ only in its
numbers.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np

from prefero._support.arrays import AnyArray, Array, like
from prefero._support.names import shortened
from prefero._support.parallel import blocks_of, map_parallel
from prefero.kernels import Kernel
from prefero.models.algebra.linalg import (
    PivotedCholesky,
    pivoted_cholesky,
    symmetric_root,
    triangular_inverse,
)
from prefero.models.likelihood.probit import Probit
from prefero.questions import Comparisons
from prefero.trajectories.features import Scaling

if TYPE_CHECKING:
    from prefero.models.inference.low_rank import LowRank

BLOCK = 20_000  # trajectories whose covariances with the answers are in memory at once
LONGEST_KERNEL = 120  # letters of a kernel in a repr


def covariance_of_differences(kernel: Kernel, data: Comparisons) -> Array:
    """C = Cov[differences, differences], shape (N, N)."""
    if not len(data):
        return np.empty((0, 0))
    points, n = np.concatenate([data.winners, data.losers]), len(data)
    K: Array = kernel.for_differences(points, points)
    C: Array = K[:n, :n] + K[n:, n:]
    C -= K[:n, n:]
    C -= K[n:, :n]
    return C


def covariance_with_differences(kernel: Kernel, x: AnyArray, data: Comparisons) -> AnyArray:
    """Cov[f(x), differences], shape (M, N)."""
    if not len(data):
        return like(np.empty((x.shape[0], 0)), x)
    both = kernel(x, like(np.concatenate([data.winners, data.losers]), x))
    return both[:, : len(data)] - both[:, len(data) :]


def variance_of_differences(kernel: Kernel, a: Array, b: Array) -> Array:
    """Var[f(a) - f(b)] a priori, row by row; rounding may leave it slightly below 0."""
    variance: Array = kernel.diagonal(a) + kernel.diagonal(b) - 2.0 * kernel.rowwise(a, b)
    return variance


class Distribution(Protocol):
    """A posterior over rewards: one Gaussian, a mixture of several, or equally likely samples."""

    @property
    def probit(self) -> Probit:
        """The likelihood of answers."""

    @property
    def log_evidence(self) -> float:
        """The log marginal likelihood of the answers."""

    @property
    def n_features(self) -> int:
        """The number of features."""

    @property
    def scaling(self) -> Scaling | None:
        """What scaled the features that it was fitted to, and so x below; None: they are raw."""

    @property
    def components(self) -> Sequence[tuple[float, "Gaussian"]]:
        """Weights and Gaussians that make it up."""

    def __call__(self, x: Array) -> tuple[Array, Array]:
        """Mean (M,) and covariance (M, M) of the rewards of x."""

    def marginals(self, x: Array) -> tuple[Array, Array]:
        """Mean (M,) and variance (M,) of the rewards of x."""

    def difference(self, a: Array, b: Array) -> tuple[Array, Array]:
        """Mean and variance of f(a) - f(b), row by row.

        Args:
            a: Features, (M, d).
            b: Features of the others, (M, d).

        Returns:
            Mean and variance, (M,) each.
        """

    def probability(self, a: Array, b: Array) -> Array:
        """P(a is preferred to b), row by row; with a margin, P(b preferred) is not the rest of it.

        Args:
            a: Features, (M, d).
            b: Features of the others, (M, d).

        Returns:
            The probabilities, (M,).
        """

    def sample(self, x: Array, count: int, rng: np.random.Generator) -> Array:
        """Joint samples of the rewards of rows of features.

        Args:
            x: Features, (M, d).
            count: How many samples.
            rng: Draws them.

        Returns:
            The samples, (count, M).
        """


class Gaussian(Protocol):
    """One part of a distribution: Cov[f(x), f(y)] = k(x, y) - learned(x) @ learned(y).T."""

    @property
    def kernel(self) -> Kernel:
        """The prior covariance."""

    @property
    def probit(self) -> Probit:
        """The likelihood of answers."""

    def project(self, x: AnyArray) -> tuple[AnyArray, AnyArray]:
        """Mean (M,) and `learned` (M, r)."""


@dataclass(frozen=True, eq=False, repr=False)
class Posterior:
    """A Gaussian over rewards. Call it with features for a mean and a covariance.

    Args:
        kernel: The prior covariance.
        probit: The likelihood of answers.
        data: The comparisons.
        sites: Precision and shift that each answer adds.
        cholesky: The pivoted Cholesky decomposition of the covariance of the answered differences.
        u_mean: The posterior mean in the coordinates of the pivots, (r,).
        factor: The Cholesky factor of the posterior precision there, (r, r).
        log_evidence: The log marginal likelihood of the answers.
    """

    kernel: Kernel
    probit: Probit
    data: Comparisons
    sites: tuple[Array, Array]  # precision and shift of every answer; all else follows from them
    cholesky: "PivotedCholesky | LowRank"  # of C
    u_mean: Array  # (r,) posterior mean of u, where the differences are basis @ u
    factor: Array  # (r, r) lower Cholesky factor of u's posterior precision
    log_evidence: float

    def __call__(self, x: Array) -> tuple[Array, Array]:
        """Mean (M,) and covariance (M, M) of the rewards of x."""
        mean, learned = self.project(x)
        covariance: Array = self.kernel(x, x)
        covariance -= learned @ learned.T
        np.fill_diagonal(covariance, np.maximum(covariance.diagonal(), 0.0))
        return mean, covariance

    def __repr__(self) -> str:
        kernel = shortened(repr(self.kernel), LONGEST_KERNEL)
        return f"Posterior({kernel}, {self.probit}, {self.data.n_answers} answers)"

    def marginals(self, x: Array) -> tuple[Array, Array]:
        """Mean (M,) and variance (M,) of the rewards of x, without the covariance between them."""
        if len(x) <= BLOCK:
            return self._marginals(x)
        parts = map_parallel(lambda block: self._marginals(x[block]), blocks_of(len(x), BLOCK))
        mean, variance = (np.concatenate(part) for part in zip(*parts, strict=True))
        return mean, variance

    def _marginals(self, x: Array) -> tuple[Array, Array]:
        mean, learned = self.project(x)
        return mean, np.maximum(self.kernel.diagonal(x) - np.sum(learned**2, axis=1), 0.0)

    def project(self, x: AnyArray) -> tuple[AnyArray, AnyArray]:
        """Mean (M,) and `learned` (M, r), with Cov[f(x), f(y)] = k(x, y) - learned(x) @ learned(y).T."""
        cross = covariance_with_differences(self.kernel, x, self.pivots)
        return cross @ like(self.alpha, x), cross @ like(self.whitener, x)

    def difference(self, a: Array, b: Array) -> tuple[Array, Array]:
        """Mean and variance of f(a) - f(b), row by row, shape (M,) each."""
        (mean_a, learned_a), (mean_b, learned_b) = self.project(a), self.project(b)
        prior = variance_of_differences(self.kernel, a, b)
        return mean_a - mean_b, np.maximum(prior - np.sum((learned_a - learned_b) ** 2, axis=1), 0.0)

    def probability(self, a: Array, b: Array) -> Array:
        """P(a is preferred to b), row by row; with a margin, P(b preferred) is not the rest of it."""
        return self.probit.probabilities(*self.difference(a, b))[0]

    def sample(self, x: Array, count: int, rng: np.random.Generator) -> Array:
        """Joint samples of the rewards of x, shape (count, M)."""
        mean, covariance = self(x)
        samples: Array = mean + rng.standard_normal((count, len(x))) @ symmetric_root(covariance)
        return samples

    @property
    def n_features(self) -> int:
        """The number of features."""
        return int(self.data.winners.shape[1])

    @property
    def scaling(self) -> Scaling | None:
        """What scaled the features that it was fitted to; None: they are raw."""
        return self.data.scaling

    @cached_property
    def pivots(self) -> Comparisons:
        """The answers whose differences determine all others."""
        return self.data[self.cholesky.pivots]

    @cached_property
    def alpha(self) -> Array:
        """mean(x) = Cov[f(x), differences[pivots]] @ alpha, shape (r,)."""
        return self.unpivot @ self.u_mean

    @cached_property
    def whitener(self) -> Array:
        """learned(x) = Cov[f(x), differences[pivots]] @ whitener, shape (r, r)."""
        inverse = triangular_inverse(self.factor)
        # Var[u] has fallen from I to inverse.T @ inverse: `known` is a root of the difference
        fallen = np.eye(len(inverse)) - inverse.T @ inverse
        # after a lapse variances may rise above the prior's
        rises = np.min(self.sites[0], initial=0.0) < 0
        return self.unpivot @ (symmetric_root(fallen) if rises else pivoted_cholesky(fallen, 0.0).basis)

    @cached_property
    def unpivot(self) -> Array:
        """Cov[f(x), u] = Cov[f(x), differences[pivots]] @ unpivot, shape (r, r)."""
        return triangular_inverse(self.cholesky.basis[self.cholesky.pivots]).T

    @property
    def components(self) -> tuple[tuple[float, "Posterior"], ...]:
        """This Gaussian as a mixture of one."""
        return ((1.0, self),)


def predict(
    belief: Distribution, x: Array, return_std: bool = False, return_cov: bool = False
) -> Array | tuple[Array, Array]:
    """The expected reward of rows of features (M,), with std (M,) or covariance (M, M)."""
    if return_std and return_cov:
        raise ValueError("ask for the standard deviation or for the covariance, not for both")
    if return_cov:
        return belief(x)
    mean, variance = belief.marginals(x)
    return (mean, np.sqrt(variance)) if return_std else mean
