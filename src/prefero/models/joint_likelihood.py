"""The likelihood of answers of every kind, where the rewards are uncertain: what EP needs of it.

    K, B, P, q         models, answers, regions (`prefero.models.answer_regions`), and rows of each answer
    m, V               (K, B, q), (K, B, q, q)   mean and covariance of an answer's differences of rewards
    Z                  the probability of a region: that a normal vector lies between low and high
    tau, nu            (n, q)   precision and shift of a region's inner sites, one for each constraint
    log, gradient,     log-probability of the answer, its gradient by m, and its Hessian by m, negated
      curvature

The impressions of an answer's rows are normal with mean m and covariance V + noise^2 R. Their noise is
correlated, because rows share a trajectory and so a showing. With one row Z is a difference of two normal
distribution functions, exactly as in `prefero.models.likelihood`. With more it is found by expectation
propagation with one inner site for each constraint (Cunningham, Hennig & Lacoste-Julien, 2011). The inner
fixed point inside the outer one equals that of EP with all constraints at once, whose likelihoods are steps.

The probability of an answer is a sum over its regions, and with lapses the uniform answer is one more term:
(1 - lapse) sum_p Z_p + lapse / n. Its derivatives follow from those of each term's logarithm.
"""

from collections.abc import Sequence
from copy import copy
from typing import NamedTuple, Self

import numpy as np
from scipy.special import logsumexp

from prefero._support.arrays import Array, Flags
from prefero.models.answer_regions import BELOW, MARGIN, STRONG, Group, Layout, bounds_of
from prefero.models.likelihood import (
    LOG_SQRT_2PI,
    Likelihood,
    Probit,
    choice_likelihood,
    interval_likelihood,
)
from prefero.models.linalg import regular_solutions, symmetric

INNER_TOLERANCE = 1e-10  # standard deviations by which a pass over the constraints may still move
INNER_PASSES = 100
PASSES_PER_SWEEP = 3  # while the outer sites move as well


class AnswerLikelihood(NamedTuple):
    """The answers of a group under every model.

    Args:
        log: Log-probabilities, (K, B).
        gradient: By the means of the differences, (K, B, q).
        curvature: The Hessians, negated, (K, B, q, q).
        by_margins: The derivatives of `log` by margin and strong margin, (K, B, 2).
    """

    log: Array
    gradient: Array
    curvature: Array
    by_margins: Array


class JointLikelihood:
    """The likelihood of a group of answers under several models; it keeps the inner sites as warm starts.

    The first call makes all passes that are needed. After further ones, of few passes, the inner sites may
    not have converged: `moved` says by how much they moved.
    """

    def __init__(self, group: Group, probits: Sequence[Probit], passes: int = INNER_PASSES) -> None:
        self.group, self.passes, self.moved = group, passes, 0.0
        bounds = np.array([bounds_of(probit) for probit in probits])
        self.low, self.high = bounds[:, group.low], bounds[:, group.high]  # (K, P, q)
        self.variance = np.array([probit.noise**2 for probit in probits])
        self.lapse = np.array([probit.lapse for probit in probits])
        with_ties = [int(probit.margin > 0) for probit in probits]
        self.answers = group.answers.T[with_ties]  # (K, B)
        self.sites: tuple[Array, Array] | None = None

    def of_models(self, which: Flags) -> Self:
        """The same under some of the models, (K,), with their inner sites."""
        other = copy(self)
        other.low, other.high, other.variance = self.low[which], self.high[which], self.variance[which]
        other.lapse, other.answers = self.lapse[which], self.answers[which]
        if self.sites is not None and self.sites[0].size:
            rows = np.repeat(which, self.low.shape[1])
            other.sites = self.sites[0][rows], self.sites[1][rows]
        return other

    def __call__(self, mean: Array, covariance: Array) -> AnswerLikelihood:
        """The answers' probabilities where the differences have this mean (K, B, q) and covariance."""
        group = self.group
        noisy = covariance + self.variance[:, None, None, None] * group.noise
        A, owner = group.A, group.owner
        centers = np.einsum("pij,kpj->kpi", A, mean[:, owner])
        K = A @ noisy[:, owner] @ np.swapaxes(A, 1, 2)
        count, q = K.shape[0] * K.shape[1], K.shape[2]
        low, high = (self.low - centers).reshape(count, q), (self.high - centers).reshape(count, q)
        found, self.sites, self.moved = region_probability(
            low, high, K.reshape(count, q, q), self.sites, INNER_PASSES if self.sites is None else self.passes
        )
        shape = K.shape[:2]
        gradient = np.einsum("pji,kpj->kpi", A, found.gradient.reshape(*shape, q))
        curvature = np.swapaxes(A, 1, 2) @ found.curvature.reshape(*shape, q, q) @ A
        by_margins = self._by_margins(*(one.reshape(*shape, q) for one in found.by_bounds))
        return self._summed(found.log.reshape(shape), gradient, curvature, by_margins)

    def _by_margins(self, by_low: Array, by_high: Array) -> Array:
        """Derivatives of each region's log-probability by the two margins, (K, P, 2)."""
        low, high = self.group.low, self.group.high
        by_margin = by_low * (1.0 * (low == MARGIN) - (low == BELOW)) + by_high * (high == MARGIN)
        by_strong = by_low * (low == STRONG) + by_high * (high == STRONG)
        return np.stack([by_margin.sum(axis=2), by_strong.sum(axis=2)], axis=2)

    def _summed(self, log: Array, gradient: Array, curvature: Array, by_margins: Array) -> AnswerLikelihood:
        """The sum over an answer's regions, and over answering and lapsing."""
        members = self.group.members
        if members.shape[1] > 1:
            logs = np.where(members >= 0, log[:, members], -np.inf)
            total = logsumexp(logs, axis=2)
            share = np.exp(logs - total[:, :, None])
            some, bends = gradient[:, members], curvature[:, members]
            gradient = np.einsum("kbm,kbmi->kbi", share, some)
            curvature = np.einsum("kbm,kbmij->kbij", share, bends)
            curvature -= np.einsum("kbm,kbmi,kbmj->kbij", share, some, some)
            curvature += gradient[..., :, None] * gradient[..., None, :]
            by_margins = np.einsum("kbm,kbmt->kbt", share, by_margins[:, members])
            log = total
        if not self.lapse.any():
            return AnswerLikelihood(log, gradient, curvature, by_margins)
        return self._with_lapses(AnswerLikelihood(log, gradient, curvature, by_margins))

    def _with_lapses(self, at: AnswerLikelihood) -> AnswerLikelihood:
        lapse = self.lapse[:, None]
        with np.errstate(divide="ignore"):
            log_meant, log_random = at.log + np.log1p(-lapse), np.log(lapse / self.answers)
        log = np.logaddexp(log_meant, log_random)
        attended, lapsed = np.exp(log_meant - log), np.exp(log_random - log)
        outer = at.gradient[..., :, None] * at.gradient[..., None, :]
        curvature = attended[..., None, None] * (at.curvature - lapsed[..., None, None] * outer)
        return AnswerLikelihood(
            log, attended[..., None] * at.gradient, curvature, attended[..., None] * at.by_margins
        )


class RegionProbability(NamedTuple):
    """log P(low < x < high) for x ~ N(0, K), with derivatives by a shift of x and by the bounds."""

    log: Array  # (n,)
    gradient: Array  # (n, q)
    curvature: Array  # (n, q, q), negated
    by_bounds: tuple[Array, Array]  # by low and by high, (n, q)


def region_probability(
    low: Array, high: Array, K: Array, start: tuple[Array, Array] | None = None, passes: int = INNER_PASSES
) -> tuple[RegionProbability, tuple[Array, Array], float]:
    """The probabilities of regions, the inner sites, and how far the last pass moved these."""
    if low.shape[1] == 1:
        return _one_constraint(low, high, K), (np.empty(0), np.empty(0)), 0.0
    tau, nu = (np.zeros_like(low), np.zeros_like(low)) if start is None else start
    tau, nu, moved = _inner_sites(low, high, K, tau.copy(), nu.copy(), passes)
    mean, covariance = _inner_moments(K, tau, nu)
    variance = np.diagonal(covariance, axis1=1, axis2=2)
    m, v = _cavity(mean, variance, tau, nu)
    step = step_likelihood(low, high, m, v)
    shared = 1.0 + tau * v
    terms = step.log + 0.5 * np.log(shared) - 0.5 * (2.0 * m * nu + nu**2 * v - tau * m**2) / shared
    inner = np.eye(low.shape[1]) + tau[:, :, None] * K
    log_det = np.linalg.slogdet(inner)[1]
    solved = regular_solutions(
        inner, np.concatenate([nu[:, :, None], tau[:, :, None] * np.eye(low.shape[1])], 2)
    )
    curvature = solved[:, :, 1:]
    log = terms.sum(axis=1) + 0.5 * np.sum(nu * mean, axis=1) - 0.5 * log_det
    by_bounds = _by_bounds(low, high, m, v, step.log)
    return RegionProbability(log, solved[:, :, 0], symmetric(curvature), by_bounds), (tau, nu), moved


def _one_constraint(low: Array, high: Array, K: Array) -> RegionProbability:
    variance = K[:, :, 0]
    zero = np.zeros_like(low)
    step = step_likelihood(low, high, zero, variance)
    by_bounds = _by_bounds(low, high, zero, variance, step.log)
    return RegionProbability(step.log[:, 0], step.gradient, step.curvature[:, :, None], by_bounds)


def _inner_sites(
    low: Array, high: Array, K: Array, tau: Array, nu: Array, passes: int
) -> tuple[Array, Array, float]:
    """Sequential EP over the constraints, of all regions at once."""
    moved = np.inf
    for _ in range(passes):
        mean, covariance = _inner_moments(K, tau, nu)
        moved = 0.0
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
            moved = max(moved, float(off.max(initial=0.0)))
        if not moved > INNER_TOLERANCE:
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
        for whole, part in zip(found, inside, strict=True):
            whole[bounded] = part
    return Likelihood(found.log, found.gradient / scale, found.curvature / variance, found.third / scale**3)


def _by_bounds(low: Array, high: Array, mean: Array, variance: Array, log: Array) -> tuple[Array, Array]:
    """Derivatives of the log-probability by low and by high."""

    def density(bound: Array) -> Array:
        z = (bound - mean) / np.sqrt(variance)
        return np.exp(-0.5 * z**2 - LOG_SQRT_2PI - log) / np.sqrt(variance)

    return -density(low), density(high)


def likelihoods(
    layout: Layout, probits: Sequence[Probit], passes: int = INNER_PASSES
) -> list[JointLikelihood]:
    """The likelihoods of all groups of answers."""
    return [JointLikelihood(group, probits, passes) for group in layout.groups]
