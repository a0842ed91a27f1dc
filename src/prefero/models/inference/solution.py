"""Where an approximate inference starts and where it ends: what EP and Laplace's method have in common.

basis     (N, r)   the answered differences are basis @ u, with u ~ N(0, I) a priori
W         (N,)     the precision that each answer adds: EP's site, or the curvature at Laplace's mode;
                   (N, width) where answers have several rows, see `prefero.models.inference.sites`
shift     (N,)     precision times mean of each site: the posterior mean of u is Lambda^-1 basis.T shift
Lambda    (r, r)   I + basis.T W basis, the posterior precision of u; `factor` is its Cholesky factor
"""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from prefero._support.arrays import Array
from prefero.models.likelihood.factors import Tilted


class ConvergenceError(RuntimeError):
    """An iteration did not converge; the message says how far it came."""


@dataclass(frozen=True, eq=False)
class Solution:
    """The Gaussian approximation that an inference found.

    Args:
        u_mean: The posterior mean in the coordinates of the pivots, (r,).
        W: The precision that each answer adds, (N,).
        shift: The linear term that each answer adds, (N,).
        factor: The Cholesky factor of the posterior precision, (r, r).
        log_evidence: The log marginal likelihood of the answers.
        iterations: How many it took.
        residual: How far the last iteration was from the fixed point.
        tilted: Of each batch of answers: log-likelihood and derivatives at EP's cavity distributions, or at
            the mode.
        cavities: Their means and variances; for Laplace the mode, without variance.
    """

    u_mean: Array  # (r,) posterior mean of u
    W: Array
    shift: Array  # EP's site; for Laplace, W d + gradient at the mode
    factor: Array
    log_evidence: float
    iterations: int
    residual: float
    tilted: tuple[Tilted, ...]
    cavities: tuple[tuple[Array, Array], ...]

    @property
    def sites(self) -> tuple[Array, Array]:
        """Precision and shift that each answer adds."""
        return self.W, self.shift

    def sites_alone(self) -> "Solution":
        """What another inference starts from, without the arrays that it computes anew."""
        return replace(self, u_mean=np.empty(0), factor=np.empty((0, 0)), tilted=(), cavities=())


@dataclass(frozen=True, eq=False)
class WarmStart:
    """Sites to start from: those of EP; Laplace starts at their posterior mean.

    Args:
        precision: Of each answer's site, (N,).
        shift: Of each answer's site, (N,).
        solution: What they are from, where it is of the same basis, or of its first columns.
        is_final: Whether the solution is what the inference ends with, however large its residual.
    """

    precision: Array
    shift: Array
    solution: Solution | None = None
    is_final: bool = False

    def solved(self, count: int, tolerance: float) -> Solution | None:
        """What the sites are from, if it is of so many answers and has converged.

        Args:
            count: How many answers there are.
            tolerance: The largest residual that is allowed.

        Returns:
            The solution; None if there is more to do.
        """
        found = self.solution
        if found is None or len(found.W) != count:
            return None
        return found if self.is_final or found.residual <= tolerance else None

    @classmethod
    def zeros(cls, count: int) -> Self:
        """The prior: no site says anything yet."""
        return cls(np.zeros(count), np.zeros(count))

    @classmethod
    def from_solution(cls, solution: Solution, count: int) -> Self:
        """The sites of a solution, for the first of the answers; those of new answers are 0.

        Args:
            solution: Of earlier answers.
            count: How many answers there are now.

        Returns:
            The sites.
        """
        more = max(count - len(solution.W), 0)
        beyond = [(0, more)] + [(0, 0)] * (solution.W.ndim - 1)  # sites of several rows are matrices
        return cls(np.pad(solution.W, beyond)[:count], np.pad(solution.shift, (0, more))[:count])
