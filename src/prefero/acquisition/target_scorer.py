"""Scores pairs by what their answers tell about target questions.

    K, Q, T, m   components of the posterior, questions, targets, and thresholds between the answers

The joint probabilities come from the distribution function of two correlated normal variables, averaged over
the components of the mixture. For one component, with d_q and d_t the differences of rewards,

    P(y_q = A, y_t = A) = Phi2(a_q, a_t; r)
    a_q = (E[d_q] - margin) / sqrt(Var[d_q] + 2 noise^2)     a person answers with noise
    a_t = E[d_t] / sqrt(Var[d_t])                            what they truly prefer has none
    r = Cov[d_q, d_t] / sqrt((Var[d_q] + 2 noise^2) Var[d_t]).

With a lapse rate, the answer is at random with this probability: P(y_q, y_t) is
(1 - lapse) Phi2 + lapse / n P(y_t). What a person truly prefers has no lapses. Where there are more than two
answers, the perceived difference exceeds some of several thresholds, with a Phi2 of each, and an answer lies
between two of them.

An estimate that is cheaper than Phi2 screens questions: to first order in r (tetrachoric series)
Phi2 = Phi(a_q) Phi(a_t) + phi(a_q) phi(a_t) r, and the mutual information of a binary variable of variance w
with another variable is the sum over the values of that of c^2 / (2 ln(2) p w), with p the probability of the
value and c the covariance, if c is small.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from prefero._support.arrays import Array, Indices
from prefero.acquisition.base import PairMoments
from prefero.acquisition.bivariate_normal import bivariate_normal_cdf
from prefero.acquisition.entropy import TINY, entropy_of_probabilities, entropy_terms
from prefero.acquisition.projection import WHOLE, Projection, projections
from prefero.acquisition.scorers import PoolScorer
from prefero.acquisition.targets import TargetQuestions
from prefero.models.likelihood.probit import SQRT_2PI, Probit
from prefero.models.posterior.gaussian import variance_of_differences

ESTIMATED = 2  # every second target counts in the estimates
ROUNDING = 1e-12  # of the largest variance: that of a known difference, as between equal trajectories


@dataclass(frozen=True, eq=False)
class TargetMoments:
    """Target questions under one component.

    Args:
        view: The component, projected onto M trajectories.
        x: The points that the targets are pairs of, (P, d).
        pairs: The targets, (T, 2).
        a: Mean over standard deviation of each d_t, (T,).
        deviation: Standard deviation of each d_t, (T,).
        learned: Of the differences, (T, r): Cov[d_s, d_t] is that of the prior less learned_s . learned_t.
    """

    view: Projection
    x: Array
    pairs: Indices
    a: Array
    deviation: Array
    learned: Array

    @classmethod
    def of(cls, view: Projection, points: Projection, pairs: Indices) -> "TargetMoments":
        first, second = pairs.T
        learned = points.learned[first] - points.learned[second]
        prior = variance_of_differences(view.kernel, points.x[first], points.x[second])
        known = np.sum(learned * learned, axis=1)
        deviation = np.sqrt(np.maximum(prior - known, ROUNDING * prior.max(initial=TINY)))
        a = (points.mean[first] - points.mean[second]) / deviation
        return cls(view, points.x, pairs, a, deviation, learned)

    def some(self, which: slice) -> "TargetMoments":
        """Some of the targets, without the points of the others."""
        used, pairs = np.unique(self.pairs[which], return_inverse=True)
        return TargetMoments(
            self.view,
            self.x[used],
            pairs.reshape(-1, 2),
            self.a[which],
            self.deviation[which],
            self.learned[which],
        )

    def covariance(self, rows: Indices | slice = WHOLE, dtype: npt.DTypeLike = np.float64) -> Array:
        """Of the rewards of some trajectories with each d_t, (n, T)."""
        x, points, known, learned = (
            array.astype(dtype, copy=False)
            for array in (self.view.x[rows], self.x, self.view.learned[rows], self.learned)
        )
        with_points = self.view.kernel(x, points)
        found: Array = with_points[:, self.pairs[:, 0]] - with_points[:, self.pairs[:, 1]]
        found -= known @ learned.T
        return found

    @cached_property
    def roots(self) -> Array:
        """Covariance over the standard deviation of d_t, (M, T): its square is what d_t explains."""
        return self.covariance() / self.deviation

    @cached_property
    def slopes(self) -> npt.NDArray[np.float32]:
        """By how much P(the target's first is preferred) changes with each reward, (M, T)."""
        return _single(self.covariance(dtype=np.float32) * _single(_density(self.a) / self.deviation))


@dataclass(frozen=True, eq=False, kw_only=True)
class TargetScorer(PoolScorer):
    """Scores pairs by what they tell about target questions.

    Args:
        targets: The target questions.
        bonus: What is added to the predictive information of questions, by their moments.
    """

    unit = "bits"
    targets: TargetQuestions
    bonus: Callable[[Sequence[PairMoments]], Array]

    @cached_property
    def _projected(self) -> list[tuple[Projection, Projection]]:
        """Every component, projected onto the prepared trajectories and onto the points of the targets."""
        both = projections(self.belief, np.concatenate([self.features, self.targets.points]))
        return [view.split(len(self.features)) for view in both]

    @cached_property
    def views(self) -> list[Projection]:
        """The components of the belief, projected onto the prepared trajectories."""
        return [view for view, _ in self._projected]

    @cached_property
    def about_targets(self) -> list[TargetMoments]:
        """The target questions under every component."""
        return [TargetMoments.of(view, points, self.targets.pairs) for view, points in self._projected]

    @cached_property
    def _estimated(self) -> list[TargetMoments]:
        """Some of the targets, by which questions are screened."""
        return [at.some(slice(None, None, ESTIMATED)) for at in self.about_targets]

    def priority(self, _: Indices) -> Array:
        """The variance of each trajectory's reward, averaged over the components."""
        return np.asarray(sum(view.component.weight * view.variance for view in self.views))

    def thresholds(self, probit: Probit) -> Array:
        """What a perceived difference exceeds or not; an answer lies between two of them, (m,) ascending."""
        return np.array([-probit.margin, probit.margin] if probit.margin else [0.0])

    def _estimates(self, places: Indices) -> Array:
        """To first order in the correlations."""
        moments = self._moments(places)
        a, b = places.T
        z, roots = self._standardized(moments)
        preferred = np.array([ndtr(at.a) for at in self._estimated])
        weights, attended, lapsed = _shares(moments, z.shape[2] + 1)
        with_target = np.zeros((z.shape[2], len(places), preferred.shape[1]), dtype=np.float32)
        change, other = np.empty_like(with_target[0]), np.empty_like(with_target[0])
        slopes = attended[:, None, None] * _density(z) / roots[:, :, None]
        for slope, at in zip(slopes.astype(np.float32), self._estimated, strict=True):
            np.subtract(_rows(at.slopes, a, change), _rows(at.slopes, b, other), out=change)
            for covariance, own in zip(with_target, slope.T, strict=True):
                covariance += np.multiply(change, own[:, None], out=other)
        target = weights @ preferred
        exceeds, apart = attended[:, None, None] * ndtr(z), preferred - target
        for covariance, own in zip(with_target, np.moveaxis(exceeds, 2, 0), strict=True):
            covariance += _single(own.T) @ _single(apart)
        chances = _between(attended.sum(), exceeds.sum(axis=0).T, lapsed)
        whole, lapses = _single(attended @ apart), _single((weights - attended) @ apart / len(chances))
        total = np.zeros_like(change)
        for covariance, chance in zip(_between(whole, with_target, lapses), chances, strict=True):
            np.square(covariance, out=covariance)
            total += np.multiply(covariance, _single(0.5 / np.log(2.0) / (chance + TINY))[:, None], out=other)
        total *= _single(1.0 / (target * (1.0 - target) + TINY))
        return self._with_bonus(np.minimum(total, 1.0, out=total), moments)

    def _scores(self, places: Indices) -> Array:
        """The questions' predictive information, and the bonus."""
        moments = self._moments(places)
        z, roots = self._standardized(moments)
        used, each = np.unique(places, return_inverse=True)
        first, second = each.reshape(places.shape).T
        rows = (at.covariance(used) for at in self.about_targets)
        covariance = np.array([of_used[first] - of_used[second] for of_used in rows])
        covariance /= roots[:, :, None]
        covariance /= np.array([at.deviation for at in self.about_targets])[:, None, :]
        target = np.array([at.a for at in self.about_targets])[:, None, :]
        weights, attended, lapsed = _shares(moments, z.shape[2] + 1)
        both = [
            np.tensordot(attended, bivariate_normal_cdf(own[:, :, None], target, covariance), 1)
            for own in np.moveaxis(z, 2, 0)
        ]
        preferred = ndtr(target[:, 0])
        lapses = (weights - attended) / (z.shape[2] + 1) @ preferred
        chances = _between(attended.sum(), np.tensordot(attended, ndtr(z), 1).T, lapsed)
        joint = _between(attended @ preferred, both, lapses)
        return self._with_bonus(_mutual_information(chances, weights @ preferred, joint), moments)

    def _standardized(self, moments: Sequence[PairMoments]) -> tuple[Array, Array]:
        """How far differences exceed the thresholds, (K, Q, m), and by what that was divided, (K, Q)."""
        roots = np.sqrt([component.gap_variance + component.probit.scale**2 for component in moments])
        gaps = np.array([component.gap for component in moments])
        thresholds = np.array([self.thresholds(component.probit) for component in moments])
        return (gaps[:, :, None] - thresholds[:, None, :]) / roots[:, :, None], roots

    def _with_bonus(self, information: Array, moments: Sequence[PairMoments]) -> Array:
        """The average over targets, and the bonus."""
        return np.asarray(information.mean(axis=1) + self.bonus(moments))


def _shares(moments: Sequence[PairMoments], answers: int) -> tuple[Array, Array, float]:
    """Weights of the components, what of them is no lapse, (K,) each, and P(a lapse to one answer)."""
    weights = np.array([component.weight for component in moments])
    attended = weights * [1.0 - component.probit.lapse for component in moments]
    return weights, attended, float(np.sum(weights - attended)) / answers


def _between(whole: Any, exceeding: Iterable[Any], lapsed: Any) -> list[Any]:
    """Of each answer, given what exceeds each threshold, (m, ...), of the whole; and lapses."""
    return [above - beyond + lapsed for above, beyond in pairwise([whole, *exceeding, 0.0])]


def _mutual_information(chances: Sequence[Array], target: Array, joint: Sequence[Array]) -> Array:
    """Mutual information in bits of answers and preferences, (Q, T).

    Args:
        chances: Of each answer, (Q,).
        target: That the target's first trajectory is preferred, (T,).
        joint: Of each answer and that, (Q, T).
    """
    separate = sum(entropy_terms(np.maximum(p, 0.0)) for p in chances)
    together = sum(
        entropy_terms(np.maximum(cell, 0.0))
        for p, both in zip(chances, joint, strict=True)
        for cell in (both, p[:, None] - both)
    )
    apart = np.asarray(separate)[:, None] + entropy_of_probabilities(target, 1.0 - target)
    return np.asarray(np.maximum(apart - together, 0.0))


def _rows(
    matrix: npt.NDArray[np.float32], rows: Indices, out: npt.NDArray[np.float32]
) -> npt.NDArray[np.float32]:
    """These rows; one is enough where they are all the same."""
    return (
        matrix[rows[:1]] if np.all(rows == rows[:1]) else np.take(matrix, rows, axis=0, out=out, mode="clip")
    )


def _single(values: Array) -> npt.NDArray[np.float32]:
    return np.asarray(values, dtype=np.float32)


def _density(z: Array) -> Array:
    return np.exp(-0.5 * z * z) / SQRT_2PI
