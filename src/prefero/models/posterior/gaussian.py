"""The Gaussian process posterior over rewards: a value, which has all that predicting needs.

    points, others   (r, d)   features whose differences f(points) - f(others) determine all that was learned
    alpha            (r,)     mean(x) = Cov[f(x), differences] @ alpha  (GPML, Algorithm 3.1)
    whitener         (r, s)   learned(x) = Cov[f(x), differences] @ whitener

    Cov[f(x), f(y)] = k(x, y) - learned(x) @ learned(y).T

Inference (`prefero.models.inference.fit`) and the model of several people (`prefero.models.people.posterior`)
both end in this form. They know the differences as combinations of independent standard normals:

    u                (r,)     differences = root @ u, with u ~ N(0, I) before the answers
    unpivot          (r, r)   Cov[f(x), u] = Cov[f(x), differences] @ unpivot
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from prefero._support.arrays import AnyArray, Array, like
from prefero._support.names import shortened
from prefero._support.parallel import chunks_of, map_parallel
from prefero.kernels import Kernel
from prefero.models.algebra.linalg import pivoted_cholesky, symmetric_root
from prefero.models.likelihood.probit import Probit
from prefero.questions import Comparisons
from prefero.trajectories.features import Scaling

ROWS = 20_000  # trajectories whose covariances with the answers are in memory at once
LONGEST_KERNEL = 120  # letters of a kernel in a repr


def covariance_of_differences(kernel: Kernel, data: Comparisons) -> Array:
    """C = Cov[differences, differences], shape (N, N)."""
    return covariance_between(kernel, data.winners, data.losers)


def covariance_between(kernel: Kernel, a: Array, b: Array) -> Array:
    """Cov[f(a) - f(b), f(a) - f(b)], shape (N, N)."""
    if not len(a):
        return np.empty((0, 0))
    points, n = np.concatenate([a, b]), len(a)
    K: Array = kernel.for_differences(points, points)
    C: Array = K[:n, :n] + K[n:, n:]
    C -= K[:n, n:]
    C -= K[n:, :n]
    return C


def covariance_with_differences(kernel: Kernel, x: AnyArray, a: Array, b: Array) -> AnyArray:
    """Cov[f(x), f(a) - f(b)], shape (M, N)."""
    if not len(a):
        return like(np.empty((x.shape[0], 0)), x)
    both = kernel(x, like(np.concatenate([a, b]), x))
    return both[:, : len(a)] - both[:, len(a) :]


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
    """One component of a distribution: Cov[f(x), f(y)] = k(x, y) - learned(x) @ learned(y).T."""

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
        points: Features, (r, d).
        others: Features, (r, d); the differences f(points) - f(others) determine all that was learned.
        alpha: What gives the mean, (r,).
        whitener: What gives the covariance, (r, s).
        log_evidence: The log marginal likelihood of the answers.
        answers: How many there are.
        scaling: What scaled the features that it was fitted to; None: they are raw.
    """

    kernel: Kernel
    probit: Probit
    points: Array
    others: Array
    alpha: Array
    whitener: Array
    log_evidence: float
    answers: int
    scaling: Scaling | None = None

    def __call__(self, x: Array) -> tuple[Array, Array]:
        """Mean (M,) and covariance (M, M) of the rewards of x."""
        mean, learned = self.project(x)
        covariance: Array = self.kernel(x, x)
        covariance -= learned @ learned.T
        np.fill_diagonal(covariance, np.maximum(covariance.diagonal(), 0.0))
        return mean, covariance

    def __repr__(self) -> str:
        kernel = shortened(repr(self.kernel), LONGEST_KERNEL)
        return f"Posterior({kernel}, {self.probit}, {self.answers} answers)"

    def marginals(self, x: Array) -> tuple[Array, Array]:
        """Mean (M,) and variance (M,) of the rewards of x, without the covariance between them."""
        if len(x) <= ROWS:
            return self._marginals(x)
        each = map_parallel(lambda rows: self._marginals(x[rows]), chunks_of(len(x), ROWS))
        mean, variance = (np.concatenate(values) for values in zip(*each, strict=True))
        return mean, variance

    def _marginals(self, x: Array) -> tuple[Array, Array]:
        mean, learned = self.project(x)
        return mean, np.maximum(self.kernel.diagonal(x) - np.sum(learned**2, axis=1), 0.0)

    def project(self, x: AnyArray) -> tuple[AnyArray, AnyArray]:
        """Mean (M,) and `learned` (M, r), with Cov[f(x), f(y)] = k(x, y) - learned(x) @ learned(y).T."""
        cross = covariance_with_differences(self.kernel, x, self.points, self.others)
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
        return int(self.points.shape[1])

    @property
    def components(self) -> tuple[tuple[float, "Posterior"], ...]:
        """This Gaussian as a mixture of one."""
        return ((1.0, self),)


def prediction_weights(
    unpivot: Array, u_mean: Array, u_covariance: Array, rises: bool = False
) -> tuple[Array, Array]:
    """`alpha` and `whitener` of a posterior under which u has this mean and covariance.

    Args:
        unpivot: From the differences to u, (r, r).
        u_mean: The posterior mean of u, (r,).
        u_covariance: The posterior covariance of u, (r, r).
        rises: Whether some variances may be above the prior's, as with lapses.
    """
    fallen = np.eye(len(u_mean)) - u_covariance
    root = symmetric_root(fallen) if rises else pivoted_cholesky(fallen, 0.0).basis
    return unpivot @ u_mean, unpivot @ root


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
