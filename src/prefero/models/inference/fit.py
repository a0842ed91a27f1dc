"""The end of an inference: what the next one starts from, and what gives the posterior.

    winners, losers   (N, d)   features of the preferred and the other trajectory
    differences       (N,)     f(winners) - f(losers)
    C                 (N, N)   prior covariance of the differences
    basis             (N, r)   C = basis @ basis.T, the pivoted Cholesky factor: the differences are basis @ u
    pivots            (r,)     the answers whose differences determine all others

An answer is about one difference only, so the likelihood's precision is diagonal there, and no matrix of size
2N is formed. The differences are often linearly dependent (a question asked twice, a linear reward, a smooth
one), and then r is smaller than N: repeated questions need no jitter, and a linear reward in d features costs
d. Laplace's method and EP (`prefero.models.inference.infer`) differ only in the numbers of the solution.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from prefero._support.arrays import Array
from prefero.kernels import Kernel
from prefero.models.algebra.linalg import PivotedCholesky, triangular_inverse
from prefero.models.inference.low_rank import LowRank
from prefero.models.inference.solution import Solution
from prefero.models.likelihood.probit import Probit
from prefero.models.posterior.gaussian import Posterior, prediction_weights
from prefero.questions import Comparisons


@dataclass(frozen=True, eq=False)
class Fit:
    """A Gaussian process fitted to answers; `posterior` is what it says about rewards.

    Args:
        kernel: The prior covariance.
        probit: The likelihood of answers.
        data: The comparisons.
        cholesky: The pivoted Cholesky decomposition of the covariance of the answered differences.
        solution: What the inference found, with the sites of the answers.
    """

    kernel: Kernel
    probit: Probit
    data: Comparisons
    cholesky: PivotedCholesky | LowRank
    solution: Solution

    @property
    def log_evidence(self) -> float:
        """The log marginal likelihood of the answers."""
        return self.solution.log_evidence

    @property
    def pivots(self) -> tuple[Array, Array]:
        """The winners and losers of the answers whose differences determine all others, (r, d) each."""
        return self.data.winners[self.cholesky.pivots], self.data.losers[self.cholesky.pivots]

    @property
    def unpivot(self) -> Array:
        """Cov[f(x), u] = Cov[f(x), differences[pivots]] @ unpivot, shape (r, r)."""
        return triangular_inverse(self.cholesky.basis[self.cholesky.pivots]).T

    @cached_property
    def posterior(self) -> Posterior:
        """The posterior over rewards, which needs no answers any more."""
        solution, inverse = self.solution, triangular_inverse(self.solution.factor)
        rises = bool(np.min(solution.W, initial=0.0) < 0)  # after a lapse, variances may
        weights = prediction_weights(self.unpivot, solution.u_mean, inverse.T @ inverse, rises)
        return Posterior(
            self.kernel,
            self.probit,
            *self.pivots,
            *weights,
            solution.log_evidence,
            self.data.n_answers,
            self.data.scaling,
        )
