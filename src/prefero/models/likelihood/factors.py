"""Factors: what the answers of one shape say about their rows, which are differences of rewards.

    K, B, q          models, answers, and rows of each answer
    m, V             cavity mean and (co)variance of the rows: (K, B) numbers where q = 1, otherwise (K, B, q)
                     and (K, B, q, q)
    low, high        the perceived difference of an answer of one row lies between them
    log, gradient,   log-probability of the answer where its rows are N(m, V), its gradient by m, and its
      curvature      Hessian by m, negated

An answer that says between which bounds one perceived difference lies is an interval, `Intervals`; any other
one is a set of regions, `Regions`. That is all that expectation propagation knows of kinds of answers.
"""

from collections.abc import Sequence
from copy import copy
from typing import NamedTuple, Protocol, Self

import numpy as np
from scipy.special import expit, logsumexp

from prefero._support.arrays import Array, Flags, Indices
from prefero.models.likelihood.joint import INNER_PASSES, by_bounds, region_probability, step_likelihood
from prefero.models.likelihood.probit import Probit
from prefero.models.likelihood.regions import AnswerBatch, Layout, bounds_of
from prefero.questions.kinds.base import ANYWHERE, MARGIN, STRONG

MARGINS = [MARGIN, STRONG]  # the bounds of answers about several trajectories
PASSES_PER_SWEEP = 3  # over the constraints of a region, while the outer sites move as well


class Tilted(NamedTuple):
    """What EP needs of the answers of a batch under every model.

    Args:
        log: Log-probabilities, (K, B).
        gradient: By the means of the rows, (K, B) or (K, B, q).
        curvature: The Hessians, negated, (K, B) or (K, B, q, q).
    """

    log: Array
    gradient: Array
    curvature: Array


class Factors(Protocol):
    """Answers of one shape under several models."""

    @property
    def moved(self) -> Array:
        """How far from its own fixed point the last result was, in standard deviations, (K,)."""

    def tilted(self, m: Array, V: Array) -> Tilted:
        """The log-probabilities of the answers with their derivatives."""

    def of_models(self, which: Flags) -> Self:
        """The same answers under some of the models, (K,)."""


class _Probits:
    """Noise and lapses of K models, which all factors have in common."""

    def __init__(self, batch: AnswerBatch, probits: Sequence[Probit]) -> None:
        self.batch, self.moved = batch, np.zeros(len(probits))
        bounds = np.array([bounds_of(probit) for probit in probits])
        self.low, self.high = bounds[:, batch.low], bounds[:, batch.high]  # (K, regions, c)
        of_sources = np.array([[probit.noise * one for one in probit.source_noise] for probit in probits])
        self.noise = of_sources[:, batch.source] ** 2  # a variance, (K, B)
        of_models = np.array([[probit.lapse] for probit in probits])
        self.lapse = np.where(np.isnan(batch.lapse), of_models, batch.lapse)  # (K, B)
        self.answers = batch.answers.T[[int(probit.margin > 0) for probit in probits]]  # (K, B)

    def of_models(self, which: Flags) -> Self:
        other = copy(self)
        other.low, other.high, other.noise = self.low[which], self.high[which], self.noise[which]
        other.lapse, other.answers, other.moved = self.lapse[which], self.answers[which], self.moved[which]
        return other

    def _by_bounds(self, bounds: Sequence[int], by_low: Array, by_high: Array) -> Array:
        """Derivatives of each region's log-probability by some bounds, (K, regions, bounds)."""
        low, high = self.batch.low, self.batch.high
        changes = [by_low * _sign_of(bound, low) + by_high * _sign_of(bound, high) for bound in bounds]
        return np.stack([change.sum(axis=2) for change in changes], axis=2)

    def _attended(self, log: Array) -> tuple[Array, Array, Array]:
        """The log-probability with lapses, and the probabilities that the answer was meant, and a lapse."""
        with np.errstate(divide="ignore"):
            meant, at_random = log + np.log1p(-self.lapse), np.log(self.lapse / self.answers)
            log_odds, total = meant - at_random, np.logaddexp(meant, at_random)
        return total, expit(log_odds), expit(-log_odds)


class Intervals(_Probits):
    """Answers that one difference lies between two bounds: plain pairs, ties, strengths and labels."""

    def __init__(self, batch: AnswerBatch, probits: Sequence[Probit], neglected: Array | float = 0.0) -> None:
        super().__init__(batch, probits)
        self.low, self.high = self.low[..., 0], self.high[..., 0]
        # of the noise, and of the rows besides that of the latent, (K, B)
        self.variance = 2.0 * self.noise + neglected

    def tilted(self, m: Array, V: Array) -> Tilted:
        at = step_likelihood(self.low, self.high, m, V + self.variance)
        if not self.lapse.any():
            return Tilted(at.log, at.gradient, at.curvature)
        log, attended, lapsed = self._attended(at.log)
        gradient = attended * at.gradient
        return Tilted(log, gradient, attended * at.curvature - lapsed * gradient * at.gradient)

    def by_bounds(self, m: Array, V: Array) -> Array:
        """The derivatives of the sum of log-probabilities by all bounds, (K, ANYWHERE)."""
        variance = V + self.variance
        log = step_likelihood(self.low, self.high, m, variance).log
        by_low, by_high = by_bounds(self.low, self.high, m, variance, log)
        found = self._by_bounds(range(ANYWHERE), by_low[..., None], by_high[..., None])
        if self.lapse.any():
            found = self._attended(log)[1][..., None] * found
        total: Array = found.sum(axis=1)
        return total

    def of_models(self, which: Flags) -> Self:
        other = super().of_models(which)
        other.variance = self.variance[which]
        return other

    def one(self, place: int) -> Self:
        """One of the answers."""
        other, own = copy(self), slice(place, place + 1)
        other.low, other.high, other.answers = self.low[:, own], self.high[:, own], self.answers[:, own]
        other.variance, other.lapse = self.variance[:, own], self.lapse[:, own]
        return other


class Regions(_Probits):
    """Answers of several constraints; the inner sites of their regions are kept as warm starts.

    The first call makes all passes over the constraints that are needed. After further ones, of few passes,
    the inner sites may not have converged: `moved` says by how much they moved.
    """

    def __init__(self, batch: AnswerBatch, probits: Sequence[Probit]) -> None:
        super().__init__(batch, probits)
        self.sites: tuple[Array, Array] | None = None

    def of_models(self, which: Flags) -> Self:
        other = super().of_models(which)
        if self.sites is not None:
            rows = np.repeat(which, self.low.shape[1])
            other.sites = self.sites[0][rows], self.sites[1][rows]
        return other

    def tilted(self, m: Array, V: Array) -> Tilted:
        found = self._summed(m, V)[0]
        if m.ndim == 3:
            return found
        return Tilted(found.log, found.gradient[..., 0], found.curvature[..., 0, 0])

    def by_bounds(self, m: Array, V: Array) -> Array:
        """The derivatives of the sum of log-probabilities by all bounds, (K, ANYWHERE): by the margins."""
        total = np.zeros((len(m), ANYWHERE))
        total[:, MARGINS] = self._summed(m, V)[1].sum(axis=1)
        return total

    def _summed(self, mean: Array, covariance: Array) -> tuple[Tilted, Array]:
        """The sum over an answer's regions, and over answering and lapsing; with derivatives by margins."""
        batch = self.batch
        if mean.ndim == 2:  # numbers, where there is one row
            mean, covariance = mean[..., None], covariance[..., None, None]
        noisy = covariance + self.noise[:, :, None, None] * batch.noise
        A, owner = batch.A, batch.owner
        centers = np.einsum("pij,kpj->kpi", A, mean[:, owner])
        K = A @ noisy[:, owner] @ np.swapaxes(A, 1, 2)
        shape, c = K.shape[:2], K.shape[2]
        low, high = (self.low - centers).reshape(-1, c), (self.high - centers).reshape(-1, c)
        passes = INNER_PASSES if self.sites is None else PASSES_PER_SWEEP
        found, self.sites, moved = region_probability(low, high, K.reshape(-1, c, c), self.sites, passes)
        self.moved = moved.reshape(shape).max(axis=1)
        gradient = np.einsum("pji,kpj->kpi", A, found.gradient.reshape(*shape, c))
        curvature = np.swapaxes(A, 1, 2) @ found.curvature.reshape(*shape, c, c) @ A
        by_margins = self._by_bounds(MARGINS, *(one.reshape(*shape, c) for one in found.by_bounds))
        at = Tilted(found.log.reshape(shape), gradient, curvature)
        if batch.members.shape[1] > 1:
            at, by_margins = self._of_answers(at, by_margins)
        if self.lapse.any():
            at, by_margins = self._with_lapses(at, by_margins)
        return at, by_margins

    def _of_answers(self, at: Tilted, by_margins: Array) -> tuple[Tilted, Array]:
        """The sum over the regions of each answer."""
        members = self.batch.members
        logs = np.where(members >= 0, at.log[:, members], -np.inf)
        total = logsumexp(logs, axis=2)
        chance = np.exp(logs - total[:, :, None])
        some, bends = at.gradient[:, members], at.curvature[:, members]
        gradient = np.einsum("kbm,kbmi->kbi", chance, some)
        curvature = np.einsum("kbm,kbmij->kbij", chance, bends)
        curvature -= np.einsum("kbm,kbmi,kbmj->kbij", chance, some, some)
        curvature += gradient[..., :, None] * gradient[..., None, :]
        return Tilted(total, gradient, curvature), np.einsum("kbm,kbmt->kbt", chance, by_margins[:, members])

    def _with_lapses(self, at: Tilted, by_margins: Array) -> tuple[Tilted, Array]:
        log, attended, lapsed = self._attended(at.log)
        outer = at.gradient[..., :, None] * at.gradient[..., None, :]
        curvature = attended[..., None, None] * (at.curvature - lapsed[..., None, None] * outer)
        return Tilted(log, attended[..., None] * at.gradient, curvature), attended[..., None] * by_margins


def _sign_of(bound: int, places: Indices) -> Array:
    """1 where the bound is, -1 where its negative is, otherwise 0."""
    return np.asarray(1.0 * (places == bound) - (places == -bound))


def factors_of(
    layout: Layout, probits: Sequence[Probit], neglected: Array | float = 0.0
) -> list[Intervals | Regions]:
    """The factors of all answers under K models."""
    return [factors_of_batch(batch, probits, neglected) for batch in layout.batches]


def factors_of_batch(
    batch: AnswerBatch, probits: Sequence[Probit], neglected: Array | float = 0.0
) -> Intervals | Regions:
    """The factors of a batch of answers under K models."""
    return Intervals(batch, probits, neglected) if batch.is_interval else Regions(batch, probits)
