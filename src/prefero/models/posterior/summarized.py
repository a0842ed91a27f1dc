"""A posterior that is known by its mean and covariance at some points, without the answers."""

from dataclasses import dataclass

import numpy as np

from prefero._support.arrays import Array
from prefero.kernels import Kernel
from prefero.models.algebra.linalg import PivotedCholesky
from prefero.models.likelihood.probit import Probit
from prefero.models.posterior.gaussian import Posterior
from prefero.questions import Comparisons
from prefero.trajectories.features import Scaling


@dataclass(frozen=True, eq=False, repr=False)
class SummarizedPosterior(Posterior):
    """A Gaussian over rewards that is known by its mean and covariance at some points, not by its answers.

    Its `data` are the points, each compared with the anchor, where the reward is 0.
    """


def points_as_data(points: Array, anchor: Array, scaling: Scaling | None) -> Comparisons:
    """Points, each compared with the anchor, where the reward is 0."""
    n = len(points)
    return Comparisons(points, np.tile(anchor, (n, 1)), np.zeros(n, dtype=bool), scaling)


def summarized(
    kernel: Kernel,
    points: Comparisons,
    root: Array,
    u_mean: Array,
    factor: Array,
    probit: Probit,
    log_evidence: float,
) -> SummarizedPosterior:
    """The Gaussian under which the rewards of points are root @ u.

    `root` is the Cholesky factor of the kernel there, and u has this mean, and this Cholesky factor of its
    precision. Where answers leave more open than a kernel allows, it has to be scaled first.
    """
    n = len(points)
    sites, pivots = (np.zeros(n), np.zeros(n)), np.arange(n)
    cholesky = PivotedCholesky(root, pivots)
    return SummarizedPosterior(kernel, probit, points, sites, cholesky, u_mean, factor, log_evidence)
