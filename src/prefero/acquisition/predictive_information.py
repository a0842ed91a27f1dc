"""Predictive information: what the answer to a question tells about the answers to target questions.

Mutual information asks about the reward everywhere, so about the oddest trajectories first. Predictive
information (EPIG: Bickford Smith et al., 2023) asks for what is to be predicted: the mutual information
between the answer y_q to a question and the true preference y_t of a target question, averaged over targets,

    I(y_q; y_t) = H(y_q) + H(y_t) - H(y_q, y_t).

The joint probabilities come from the distribution function of two correlated normal variables, averaged over
the components of the mixture. For one component, with d_q and d_t the differences of rewards,

    P(y_q = A, y_t = A) = Phi2(a_q, a_t; r)
    a_q = (E[d_q] - margin) / sqrt(Var[d_q] + 2 noise^2)     a person answers with noise
    a_t = E[d_t] / sqrt(Var[d_t])                            what they truly prefer has none
    r = Cov[d_q, d_t] / sqrt((Var[d_q] + 2 noise^2) Var[d_t]).

With a lapse rate, the answer is at random with this probability: P(y_q, y_t) is
(1 - lapse) Phi2 + lapse / n P(y_t). What a person truly prefers has no lapses.

When all targets are nearly known there is little left to choose by, so a small share of the mutual
information with the reward itself is added.

An estimate that is cheaper than Phi2 screens questions: to first order in r (tetrachoric series)
Phi2 = Phi(a_q) Phi(a_t) + phi(a_q) phi(a_t) r, and the mutual information of two binary variables with
covariance c and variances v, w is c^2 / (2 ln(2) v w) for small c.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from prefero._support.arrays import Array, Indices
from prefero.acquisition.base import PairMoments
from prefero.acquisition.bivariate_normal import bivariate_normal_cdf
from prefero.acquisition.entropy import TINY, entropy_of_probabilities
from prefero.acquisition.exchange_search import SearchedAcquisition, features_of, generator, random_part
from prefero.acquisition.mutual_information import mutual_information
from prefero.acquisition.projection import Projection, moments_of, projections
from prefero.acquisition.targets import TargetQuestions, TargetSource, draw_targets
from prefero.models.likelihood import SQRT_2PI
from prefero.models.posterior import Distribution, variance_of_differences
from prefero.pools.pool import Pool

MUTUAL_INFORMATION_SHARE = 0.05
ROUNDING = 1e-12  # of the largest variance: that of a known difference, as between equal trajectories


@dataclass(frozen=True)
class PredictiveInformation(SearchedAcquisition):
    """Information about the answers to target questions (EPIG): learns what is to be predicted.

    Args:
        targets: What the reward should predict well: None for pairs of the pool itself; another `Pool`; a
            function of raw features that returns which trajectories of the pool count; or pairs of
            trajectory indices, (T, 2).
        mutual_information_share: How much of the mutual information with the reward is added.
    """

    targets: TargetSource | None = None
    mutual_information_share: float = MUTUAL_INFORMATION_SHARE
    unit: ClassVar[str] = "bits"

    def _scorers(self, belief: Distribution, pool: Pool | Array) -> Callable[[Indices], "TargetScorer"]:
        """Scorers of questions by what they tell about the targets."""
        x = features_of(belief, pool)
        targets = draw_targets(self.targets, belief, pool, generator(belief, len(x)))
        return lambda considered: TargetScorer.of(belief, x, considered, targets, self._share)

    def _considered(self, _: Distribution, x: Array, rng: np.random.Generator) -> Indices:
        """Of a large pool, random trajectories."""
        return random_part(len(x), rng)

    def _share(self, moments: Sequence[PairMoments]) -> Array:
        return np.asarray(self.mutual_information_share * mutual_information(moments))


@dataclass(frozen=True, eq=False)
class _TargetMoments:
    """Target questions under one component."""

    a: Array  # (T,) mean over standard deviation of d_t
    deviation: Array  # (T,) standard deviation of d_t
    covariance: Array  # (M, T) of f(x_i) and d_t

    @classmethod
    def of(cls, view: Projection, points: Projection, pairs: Indices) -> "_TargetMoments":
        first, second = pairs.T
        learned = points.learned[first] - points.learned[second]
        prior = variance_of_differences(view.kernel, points.x[first], points.x[second])
        known = np.sum(learned * learned, axis=1)
        deviation = np.sqrt(np.maximum(prior - known, ROUNDING * prior.max(initial=TINY)))
        with_points = view.kernel(view.x, points.x)
        covariance = with_points[:, first] - with_points[:, second]
        covariance -= view.learned @ learned.T
        return cls((points.mean[first] - points.mean[second]) / deviation, deviation, covariance)

    @cached_property
    def slopes(self) -> npt.NDArray[np.float32]:
        """By how much P(the target's first is preferred) changes with each reward, (M, T), for estimates."""
        return ((_density(self.a) / self.deviation) * self.covariance).astype(np.float32)


@dataclass(frozen=True, eq=False)
class TargetScorer:
    """Scores questions about the considered trajectories of a pool; a place is an index into these.

    considered   (M,)     indices of the trajectories
    views        K        the posterior's components, projected onto them
    targets      K        the target questions under each component
    bonus                 what is added to the predictive information of questions
    """

    considered: Indices
    views: list[Projection]
    targets: list[_TargetMoments]
    bonus: Callable[[Sequence[PairMoments]], Array]

    @classmethod
    def of(
        cls,
        belief: Distribution,
        x: Array,
        considered: Indices,
        targets: TargetQuestions,
        bonus: Callable[[Sequence[PairMoments]], Array],
    ) -> Self:
        """For a pool x, (M, d), in the units of the belief."""
        both = projections(belief, np.concatenate([x[considered], targets.points]))
        views, points = zip(*(view.split(len(considered)) for view in both), strict=True)
        moments = [_TargetMoments.of(v, p, targets.pairs) for v, p in zip(views, points, strict=True)]
        return cls(considered, list(views), moments, bonus)

    @property
    def priority(self) -> Array:
        """The variance of each trajectory's reward, averaged over the components."""
        return np.asarray(sum(view.component.weight * view.variance for view in self.views))

    def moments(self, places: Indices) -> list[PairMoments]:
        """Means and variances of the questions' rewards under every component."""
        return moments_of(self.views, places)

    def estimates(self, moments: Sequence[PairMoments], places: Indices) -> Array:
        """Cheap estimates of the scores."""
        a, b = places.T
        chosen, preferred = [], [ndtr(at.a) for at in self.targets]
        shared = np.zeros((len(places), len(preferred[0])), dtype=np.float32)
        change, other = np.empty_like(shared), np.empty_like(shared)  # new memory would take longer
        for part, at in zip(moments, self.targets, strict=True):
            root = np.sqrt(part.gap_variance + part.probit.scale**2)
            z = (part.gap - part.probit.margin) / root
            slope = part.weight * (1.0 - part.probit.lapse) * _density(z) / root
            np.subtract(_rows(at.slopes, a, change), _rows(at.slopes, b, other), out=change)
            change *= slope.astype(np.float32)[:, None]
            shared += change
            chosen.append(part.weight * part.probit.with_lapses(ndtr(z)))
        weights = np.array([part.weight for part in moments])
        first, target = np.sum(chosen, axis=0), weights @ preferred
        shared += _single(np.transpose(chosen)) @ _single(preferred - target)
        np.square(shared, out=shared)
        shared *= _single(0.5 / np.log(2.0) / (first * (1.0 - first) + TINY))[:, None]
        shared *= _single(1.0 / (target * (1.0 - target) + TINY))
        return self._with_bonus(np.minimum(shared, 1.0, out=shared), moments)

    def scores(self, moments: Sequence[PairMoments], places: Indices) -> Array:
        """The questions' predictive information, and the bonus."""
        roots = np.array([np.sqrt(part.gap_variance + part.probit.scale**2) for part in moments])
        covariance = np.array(
            [at.covariance[places[:, 0]] - at.covariance[places[:, 1]] for at in self.targets]
        )
        covariance /= roots[:, :, None]
        covariance /= np.array([at.deviation for at in self.targets])[:, None, :]
        target = np.array([at.a for at in self.targets])[:, None, :]
        answers = [
            np.array([sign * part.gap - part.probit.margin for part in moments]) / roots
            for sign in (1.0, -1.0)
        ]
        both = bivariate_normal_cdf(answers[0][:, :, None], target, covariance)
        preferred = ndtr(target)
        if any(part.probit.margin for part in moments):
            other = bivariate_normal_cdf(answers[1][:, :, None], target, -covariance)
        else:
            other = preferred - both
        joints = [
            _joint(*each) for each in zip(moments, *map(ndtr, answers), preferred, both, other, strict=True)
        ]
        mixed = _Joint(*(np.sum(same, axis=0) for same in zip(*joints, strict=True)))
        return self._with_bonus(_mutual_information(mixed), moments)

    def _with_bonus(self, information: Array, moments: Sequence[PairMoments]) -> Array:
        """The average over targets, and the bonus."""
        return np.asarray(information.mean(axis=1) + self.bonus(moments))


class _Joint(NamedTuple):
    """Probabilities of a question's answer and of a target's preference, for Q questions and T targets."""

    first: Array  # (Q, 1) the answer is A
    second: Array  # (Q, 1) the answer is B; the rest is "about equal"
    target: Array  # (1, T) the target's first trajectory is preferred
    first_and_target: Array  # (Q, T)
    second_and_target: Array  # (Q, T)


def _joint(
    part: PairMoments, first: Array, second: Array, preferred: Array, both: Array, other: Array
) -> _Joint:
    """The probabilities with lapses under one component, multiplied by its weight."""
    chosen = (part.probit.with_lapses(answer)[:, None] for answer in (first, second))
    together = (part.probit.with_lapses(p, preferred) for p in (both, other))
    return _Joint(*(part.weight * p for p in (*chosen, preferred, *together)))


def _mutual_information(joint: _Joint) -> Array:
    """Mutual information in bits of the answers and the preferences, (Q, T)."""
    first, second, target, both, other = joint
    equal = np.maximum(1.0 - first - second, 0.0)
    equal_and_target = np.clip(target - both - other, 0.0, equal)
    cells = both, other, equal_and_target, first - both, second - other, equal - equal_and_target
    entropy = -np.sum([np.maximum(p, 0.0) * np.log2(np.maximum(p, TINY)) for p in cells], axis=0)
    separate = entropy_of_probabilities(first, second) + entropy_of_probabilities(target, 1.0 - target)
    return np.asarray(np.maximum(separate - entropy, 0.0))


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
