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

When all targets are nearly known there is little left to choose by, so the mutual information with the reward
itself is added with a small weight.

An estimate that is cheaper than Phi2 screens questions: to first order in r (tetrachoric series)
Phi2 = Phi(a_q) Phi(a_t) + phi(a_q) phi(a_t) r, and the mutual information of two binary variables with
covariance c and variances v, w is c^2 / (2 ln(2) v w) for small c.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from prefero._support.arrays import Array, Indices
from prefero.acquisition.base import PairMoments, Scorer, features_of, generator
from prefero.acquisition.bivariate_normal import bivariate_normal_cdf
from prefero.acquisition.entropy import TINY, entropy_of_probabilities, entropy_terms
from prefero.acquisition.functions.answer_information import information_scorer
from prefero.acquisition.functions.group_information import GroupScorer
from prefero.acquisition.functions.mutual_information import mutual_information
from prefero.acquisition.projection import WHOLE, Projection, projections
from prefero.acquisition.scorers import PoolScorer
from prefero.acquisition.targets import TargetQuestions, TargetSource, draw_targets
from prefero.acquisition.taste import with_taste
from prefero.models.likelihood.probit import SQRT_2PI
from prefero.models.people.posterior import PeoplePosterior
from prefero.models.posterior.gaussian import Distribution, variance_of_differences
from prefero.pools.pool import Pool
from prefero.questions.answer_kinds import Kind

MUTUAL_INFORMATION_WEIGHT = 0.05
ESTIMATED = 2  # every second target counts in the estimates
ROUNDING = 1e-12  # of the largest variance: that of a known difference, as between equal trajectories


@dataclass(frozen=True)
class PredictiveInformation:
    """Information about the answers to target questions (EPIG): learns what is to be predicted.

    Args:
        targets: What the reward should predict well: None for pairs of the pool itself; another `Pool`; a
            function of raw features that returns which trajectories of the pool count; or pairs of
            trajectory indices, (T, 2).
        mutual_information_weight: With which the mutual information with the reward is added.
        taste: For good trajectories, from 0 to 1 (`prefero.acquisition.taste`): with 0.35, at least two of
            three trajectories shown are above the pool's median by question 20.
    """

    targets: TargetSource | None = None
    mutual_information_weight: float = MUTUAL_INFORMATION_WEIGHT
    taste: float = 0.0
    unit: ClassVar[str] = "bits"

    def __post_init__(self) -> None:
        if not 0.0 <= self.taste <= 1.0:
            raise ValueError(f"a taste for good trajectories is between 0 and 1, but is {self.taste!r}")

    @property
    def exact(self) -> "PredictiveInformation":
        """Without the taste: what a question that was asked is worth, in bits."""
        return replace(self, taste=0.0) if self.taste else self

    def scorer(self, belief: Distribution, pool: Pool | Array, kind: Kind) -> Scorer:
        """Pairs in closed form, answers of other kinds by draws."""
        x = features_of(belief, pool)
        targets = draw_targets(self.targets, belief, pool, generator(belief, len(x)))
        scorer: Scorer = TargetScorer(belief=belief, x=x, targets=targets, bonus=self._bonus)
        if kind != "pair":
            scorer = information_scorer(belief, x, kind, targets, self.mutual_information_weight)
        return with_taste(scorer, belief, x, self.taste)

    def group_scorer(self, people: PeoplePosterior, person: str, x: Array) -> Scorer:
        """Questions to one person by what they tell about the reward that all people share."""
        return GroupScorer(people, person, x)

    def _bonus(self, moments: Sequence[PairMoments]) -> Array:
        return np.asarray(self.mutual_information_weight * mutual_information(moments))


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

    def _estimates(self, places: Indices) -> Array:
        """To first order in the correlations."""
        moments = self._moments(places)
        a, b = places.T
        chosen, preferred = [], [ndtr(at.a) for at in self._estimated]
        covariance = np.zeros((len(places), len(preferred[0])), dtype=np.float32)
        change, other = np.empty_like(covariance), np.empty_like(covariance)  # new memory would take longer
        for component, at in zip(moments, self._estimated, strict=True):
            root = np.sqrt(component.gap_variance + component.probit.scale**2)
            z = (component.gap - component.probit.margin) / root
            slope = component.weight * (1.0 - component.probit.lapse) * _density(z) / root
            np.subtract(_rows(at.slopes, a, change), _rows(at.slopes, b, other), out=change)
            change *= slope.astype(np.float32)[:, None]
            covariance += change
            chosen.append(component.weight * component.probit.with_lapses(ndtr(z)))
        weights = np.array([component.weight for component in moments])
        first, target = np.sum(chosen, axis=0), weights @ preferred
        covariance += _single(np.transpose(chosen)) @ _single(preferred - target)
        np.square(covariance, out=covariance)
        covariance *= _single(0.5 / np.log(2.0) / (first * (1.0 - first) + TINY))[:, None]
        covariance *= _single(1.0 / (target * (1.0 - target) + TINY))
        return self._with_bonus(np.minimum(covariance, 1.0, out=covariance), moments)

    def _scores(self, places: Indices) -> Array:
        """The questions' predictive information, and the bonus."""
        moments = self._moments(places)
        roots = np.sqrt([component.gap_variance + component.probit.scale**2 for component in moments])
        used, each = np.unique(places, return_inverse=True)
        first, second = each.reshape(places.shape).T
        rows = (at.covariance(used) for at in self.about_targets)
        covariance = np.array([of_used[first] - of_used[second] for of_used in rows])
        covariance /= roots[:, :, None]
        covariance /= np.array([at.deviation for at in self.about_targets])[:, None, :]
        target = np.array([at.a for at in self.about_targets])[:, None, :]
        answers = [
            np.array([sign * component.gap - component.probit.margin for component in moments]) / roots
            for sign in (1.0, -1.0)
        ]
        both = bivariate_normal_cdf(answers[0][:, :, None], target, covariance)
        preferred = ndtr(target)
        if any(component.probit.margin for component in moments):
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
    component: PairMoments, first: Array, second: Array, preferred: Array, both: Array, other: Array
) -> _Joint:
    """The probabilities with lapses under one component, multiplied by its weight."""
    chosen = (component.probit.with_lapses(answer)[:, None] for answer in (first, second))
    together = (component.probit.with_lapses(p, preferred) for p in (both, other))
    return _Joint(*(component.weight * p for p in (*chosen, preferred, *together)))


def _mutual_information(joint: _Joint) -> Array:
    """Mutual information in bits of the answers and the preferences, (Q, T)."""
    first, second, target, both, other = joint
    equal = np.maximum(1.0 - first - second, 0.0)
    equal_and_target = np.clip(target - both - other, 0.0, equal)
    cells = both, other, equal_and_target, first - both, second - other, equal - equal_and_target
    entropy = np.sum([entropy_terms(np.maximum(p, 0.0)) for p in cells], axis=0)
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
