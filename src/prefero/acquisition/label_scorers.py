"""Scores questions about one trajectory, as pairs of it and the bar.

A label says between which two thresholds the perceived distance d of the trajectory from the bar lies: one
threshold, the bar itself, for a success, and the cut points for a rating. So what it tells about target
questions is what a pair with the bar does (`prefero.acquisition.target_scorer`), and its mutual information
with the reward is that with d, an integral over one normal variable:

    I(y; d) = H(E[p]) - E[H(p)],   p the probabilities of the labels given d
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Self

import numpy as np
from scipy.special import ndtr

from prefero._support.arrays import Array, Indices
from prefero.acquisition.base import PairMoments, Scorer
from prefero.acquisition.entropy import entropy
from prefero.acquisition.scorers import PoolScorer
from prefero.acquisition.target_scorer import TargetScorer
from prefero.acquisition.targets import TargetQuestions
from prefero.models.likelihood.probit import Probit
from prefero.models.likelihood.regions import bounds_of
from prefero.models.posterior.bar import features_of_places, with_bar
from prefero.models.posterior.gaussian import Distribution
from prefero.questions.answer_kinds import Kind, kind_named
from prefero.questions.kinds.base import AnswerKind

Thresholds = Callable[[Probit], Array]
FEW, MANY = 15, 201  # nodes of the integral, where it hardly counts, and where it is the value
REACH = 6.0  # of the nodes, in standard deviations


@dataclass(frozen=True, eq=False, kw_only=True)
class _LabelScorer(PoolScorer):
    """Scores trajectories as pairs with the bar, which is the last row of x.

    Args:
        kind: Of the answers.
    """

    unit = "bits"
    kind: AnswerKind

    def scores(self, items: Indices) -> Array:
        """The value of each question, (n,); items are (n, 1)."""
        return super().scores(self._with_bar(items))

    def estimates(self, items: Indices) -> Array:
        """Cheap estimates of the scores."""
        return super().estimates(self._with_bar(items))

    def about(self, considered: Indices) -> Self:
        """Prepared for these trajectories."""
        return super().about(np.union1d(considered, [self.bar]))

    @property
    def bar(self) -> int:
        """The index of the bar."""
        return len(self.x) - 1

    def thresholds(self, probit: Probit) -> Array:
        """What the distance from the bar exceeds or not, (m,) ascending."""
        values = bounds_of(probit)[list(_bound_numbers(self.kind))]
        return np.unique(values[np.isfinite(values)])

    def _with_bar(self, items: Indices) -> Indices:
        return items if items.shape[1] == 2 else np.column_stack([items, np.full(len(items), self.bar)])


@dataclass(frozen=True, eq=False, kw_only=True)
class TargetLabelScorer(_LabelScorer, TargetScorer):
    """Scores labels by what they tell about target questions."""


class InformationLabelScorer(_LabelScorer):
    """Scores labels by their mutual information with the reward."""

    def _estimates(self, places: Indices) -> Array:
        return label_information(self._moments(places), self.thresholds, FEW)

    def _scores(self, places: Indices) -> Array:
        return label_information(self._moments(places), self.thresholds, MANY)


@cache
def _bound_numbers(kind: AnswerKind) -> tuple[int, ...]:
    """The bounds of the distance from the bar between which the labels lie."""
    constraints = [one for choice in kind.choices for (one,) in kind.regions(choice)]
    ends = [(one.low, one.high) if one.better == 0 else (-one.low, -one.high) for one in constraints]
    return tuple({number for pair in ends for number in pair})


def target_label_scorer(
    belief: Distribution, x: Array, kind: Kind, targets: TargetQuestions, mutual_information_weight: float
) -> Scorer:
    """Scores labels of a kind by what they tell about targets, and a little about the reward itself.

    Args:
        belief: The posterior over rewards.
        x: The pool, (M, d), in the units of the belief.
        kind: Of the answers.
        targets: What the answers should tell about.
        mutual_information_weight: Of the information about the reward, beside that about the targets.
    """
    asked = kind_named(kind)

    def bonus(moments: Sequence[PairMoments]) -> Array:
        if not mutual_information_weight:
            return np.zeros(len(moments[0].gap))
        return mutual_information_weight * label_information(moments, scorer.thresholds, FEW)

    scorer = TargetLabelScorer(
        belief=with_bar(belief), x=features_of_places(x, asked), kind=asked, targets=targets, bonus=bonus
    )
    return scorer


def information_label_scorer(belief: Distribution, x: Array, kind: Kind) -> Scorer:
    """Scores labels of a kind by their mutual information with the reward."""
    asked = kind_named(kind)
    return InformationLabelScorer(belief=with_bar(belief), x=features_of_places(x, asked), kind=asked)


def label_information(moments: Sequence[PairMoments], thresholds: Thresholds, nodes: int) -> Array:
    """The mutual information in bits of labels and rewards, (Q,), by an integral with so many nodes."""
    at, weights = _nodes(nodes)
    mixed, within = np.zeros(1), np.zeros(1)
    for one in moments:
        deviation = np.sqrt(np.maximum(one.gap_variance, 0.0))
        d = one.gap[:, None] + deviation[:, None] * at
        exceeds = ndtr((d[:, :, None] - thresholds(one.probit)) / one.probit.scale)
        p = -np.diff(exceeds, axis=2, prepend=1.0, append=0.0)
        p = (1.0 - one.probit.lapse) * p + one.probit.lapse / p.shape[2]
        mixed = mixed + one.weight * np.einsum("n,qnc->qc", weights, p)
        within = within + one.weight * entropy(p) @ weights
    return np.asarray(np.maximum(entropy(mixed) - within, 0.0))


@cache
def _nodes(count: int) -> tuple[Array, Array]:
    """Of an integral over a standard normal variable, evenly spaced, with weights that add up to 1."""
    at = np.linspace(-REACH, REACH, count)
    weights = np.exp(-0.5 * at**2)
    return at, weights / weights.sum()
