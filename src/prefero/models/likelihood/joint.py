"""The likelihood of answers of every kind, where the rewards are uncertain: what EP needs of it.

    K, B, P, q         models, answers, regions (`prefero.models.likelihood.regions`), and rows of each answer
    m, V               (K, B, q), (K, B, q, q)   mean and covariance of an answer's differences of rewards
    Z                  the probability of a region: that a normal vector lies between low and high
    tau, nu            (n, q)   precision and shift of a region's inner sites, one for each constraint
    log, gradient,     log-probability of the answer, its gradient by m, and its Hessian by m, negated
      curvature

The impressions of an answer's rows are normal with mean m and covariance V + noise^2 R. Their noise is
correlated, because rows share a trajectory and so a showing. With one row Z is a difference of two normal
distribution functions, exactly as in `prefero.models.likelihood.probit`. With more it is found by expectation
propagation with one inner site for each constraint (Cunningham, Hennig & Lacoste-Julien, 2011). The inner
fixed point inside the outer one equals that of EP with all constraints at once, whose likelihoods are steps.

The probability of an answer is a sum over its regions, and with lapses the uniform answer is one more term:
(1 - lapse) sum_p Z_p + lapse / n. Its derivatives follow from those of each term's logarithm.
"""

from typing import NamedTuple

import numpy as np

from prefero._support.arrays import Array
from prefero.models.algebra.linalg import regular_solutions, symmetric
from prefero.models.likelihood.probit import LOG_SQRT_2PI, Likelihood, choice_likelihood, interval_likelihood

INNER_TOLERANCE = 1e-10  # standard deviations by which a pass over the constraints may still move
INNER_PASSES = 100


class RegionProbability(NamedTuple):
    """log P(low < x < high) for x ~ N(0, K), with derivatives by a shift of x and by the bounds."""

    log: Array  # (n,)
    gradient: Array  # (n, q)
    curvature: Array  # (n, q, q), negated
    by_bounds: tuple[Array, Array]  # by low and by high, (n, q)


def region_probability(
    low: Array, high: Array, K: Array, start: tuple[Array, Array] | None = None, passes: int = INNER_PASSES
) -> tuple[RegionProbability, tuple[Array, Array], Array]:
    """The probabilities of regions, the inner sites, and how far the last pass moved these, (n,)."""
    tau, nu = (np.zeros_like(low), np.zeros_like(low)) if start is None else start
    tau, nu, moved = _inner_sites(low, high, K, tau.copy(), nu.copy(), passes)
    mean, covariance = _inner_moments(K, tau, nu)
    variance = np.diagonal(covariance, axis1=1, axis2=2)
    m, v = _cavity(mean, variance, tau, nu)
    step = step_likelihood(low, high, m, v)
    widened = 1.0 + tau * v
    terms = step.log + 0.5 * np.log(widened) - 0.5 * (2.0 * m * nu + nu**2 * v - tau * m**2) / widened
    inner = np.eye(low.shape[1]) + tau[:, :, None] * K
    log_det = np.linalg.slogdet(inner)[1]
    solved = regular_solutions(
        inner, np.concatenate([nu[:, :, None], tau[:, :, None] * np.eye(low.shape[1])], 2)
    )
    curvature = solved[:, :, 1:]
    log = terms.sum(axis=1) + 0.5 * np.sum(nu * mean, axis=1) - 0.5 * log_det
    bounds = by_bounds(low, high, m, v, step.log)
    return RegionProbability(log, solved[:, :, 0], symmetric(curvature), bounds), (tau, nu), moved


def _inner_sites(
    low: Array, high: Array, K: Array, tau: Array, nu: Array, passes: int
) -> tuple[Array, Array, Array]:
    """Sequential EP over the constraints, of all regions at once."""
    moved = np.full(len(low), np.inf)
    for _ in range(passes):
        mean, covariance = _inner_moments(K, tau, nu)
        moved = np.zeros(len(low))
        for j in range(low.shape[1]):
            v, at = covariance[:, j, j].copy(), mean[:, j].copy()
            m, rest = _cavity(at, v, tau[:, j], nu[:, j])
            step = step_likelihood(low[:, j], high[:, j], m, rest)
            left_over = 1.0 - rest * step.curvature
            to_tau = step.curvature / left_over - tau[:, j]
            to_nu = (step.gradient + m * step.curvature) / left_over - nu[:, j]
            gain = covariance[:, :, j] / (1.0 + to_tau * v)[:, None]
            mean += gain * (to_nu - to_tau * at)[:, None]
            covariance -= gain[:, :, None] * (to_tau[:, None] * covariance[:, j, :])[:, None, :]
            tau[:, j] += to_tau
            nu[:, j] += to_nu
            off = np.abs(to_tau) * v + np.abs(to_nu - at * to_tau) * np.sqrt(v)
            moved = np.maximum(moved, off)
        if not np.any(moved > INNER_TOLERANCE):
            break
    return tau, nu, moved


def _inner_moments(K: Array, tau: Array, nu: Array) -> tuple[Array, Array]:
    """Mean and covariance of a region's constraints given its inner sites."""
    covariance = symmetric(np.asarray(regular_solutions(np.eye(K.shape[1]) + K * tau[:, None, :], K), float))
    return np.einsum("nij,nj->ni", covariance, nu), covariance


def _cavity(mean: Array, variance: Array, tau: Array, nu: Array) -> tuple[Array, Array]:
    rest = 1.0 - tau * variance
    return (mean - nu * variance) / rest, variance / rest


def step_likelihood(low: Array, high: Array, mean: Array, variance: Array) -> Likelihood:
    """log P(low < x < high) for x ~ N(mean, variance) and its derivatives by the mean; low is finite."""
    scale = np.sqrt(variance)
    found = choice_likelihood((mean - low) / scale)
    bounded = np.isfinite(high)
    if bounded.any():
        a, b, s = low[bounded], high[bounded], scale[bounded]
        inside = interval_likelihood((0.5 * (a + b) - mean[bounded]) / s, 0.5 * (b - a) / s)
        for all_rows, some in zip(found, inside, strict=True):
            all_rows[bounded] = some
    return Likelihood(found.log, found.gradient / scale, found.curvature / variance, found.third / scale**3)


def by_bounds(low: Array, high: Array, mean: Array, variance: Array, log: Array) -> tuple[Array, Array]:
    """Derivatives of the log-probability by low and by high."""

    def density(bound: Array) -> Array:
        z = (bound - mean) / np.sqrt(variance)
        return np.exp(-0.5 * z**2 - LOG_SQRT_2PI - log) / np.sqrt(variance)

    return -density(low), density(high)
