"""A taste for good trajectories: of questions that tell about as much, those about what the person likes.

    chance   (M,)   of a trajectory: the probability that its reward is above the pool's median, which is that
                    of the mean rewards
    taste           from 0, where information alone counts, to 1

    value = information * (1 - taste + taste * mean chance of the trajectories shown)

Questions chosen by information alone show good and bad trajectories alike to the end, and people complain
that the robot does not get better. This is a little exploitation beside the exploration. The taste grows with
the answers, up to its full size after FULL of them: the first questions are for learning, and little is known
then of what is good.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import ndtr

from prefero._support.arrays import Array, Indices
from prefero.acquisition import base
from prefero.acquisition.base import Scorer
from prefero.acquisition.entropy import TINY
from prefero.acquisition.projection import projections
from prefero.models.posterior.gaussian import Distribution

TASTE = 0.35  # such that at least two of three trajectories shown are above the median by question 20
FULL = 20  # answers after which the taste has its full size
ROWS = 500  # random trajectories, whose median stands for that of the pool


def with_taste(scorer: Scorer, belief: Distribution, x: Array, taste: float) -> Scorer:
    """A scorer with a taste for good trajectories.

    Args:
        scorer: Of the information.
        belief: The posterior over rewards.
        x: The pool, (M, d), in the units of the belief.
        taste: From 0, where nothing changes, to 1.

    Returns:
        The scorer.
    """
    grown = taste * min(1.0, base.answers_of(belief) / FULL)
    return scorer if grown == 0.0 else TasteScorer(scorer, ProbabilityAboveMedian.of(belief, x), grown)


@dataclass(frozen=True, eq=False)
class ProbabilityAboveMedian:
    """How probably the trajectories of a pool are above its median.

    Args:
        belief: The posterior over rewards.
        x: The pool, (M, d), in the units of the belief.
        medians: Of the pool's mean rewards, under every component of the belief.
    """

    belief: Distribution
    x: Array
    medians: tuple[float, ...]

    @classmethod
    def of(cls, belief: Distribution, x: Array) -> "ProbabilityAboveMedian":
        """With the medians of some trajectories."""
        some = base.random_items(len(x), ROWS, base.generator(belief, len(x)))
        return cls(belief, x, tuple(float(np.median(view.mean)) for view in projections(belief, x[some])))

    def __call__(self, items: Indices) -> Array:
        """Of these trajectories, in an array of the same shape."""
        if len(self.x) <= base.LARGE_POOL:
            return np.asarray(self._of_all[items])
        used, places = np.unique(items, return_inverse=True)
        return np.asarray(self._of(self.x[used])[places.reshape(items.shape)])

    @cached_property
    def _of_all(self) -> Array:
        return self._of(self.x)

    def _of(self, x: Array) -> Array:
        chances = np.zeros(len(x))
        for view, median in zip(projections(self.belief, x), self.medians, strict=True):
            chances += view.component.weight * ndtr((view.mean - median) / np.sqrt(view.variance + TINY))
        return chances


class TasteScorer(Scorer):
    """Scores questions by another scorer, the higher the better the trajectories are that they show.

    Args:
        scorer: Of the information.
        chances: How probably trajectories are good.
        taste: From 0 to 1.
    """

    def __init__(self, scorer: Scorer, chances: ProbabilityAboveMedian, taste: float) -> None:
        self.scorer, self.chances, self.taste = scorer, chances, taste
        self.unit, self.avoids_answered = scorer.unit, scorer.avoids_answered

    def about(self, considered: Indices) -> Scorer:
        """The same, prepared for these trajectories."""
        return TasteScorer(self.scorer.about(considered), self.chances, self.taste)

    def scores(self, items: Indices) -> Array:
        """By the other scorer and the taste."""
        return self.scorer.scores(items) * self._factors(items)

    def estimates(self, items: Indices) -> Array:
        """By the other scorer's estimates and the taste."""
        return self.scorer.estimates(items) * self._factors(items)

    def value(self, items: Sequence[int]) -> float:
        """That of the other scorer, in its unit."""
        return self.scorer.value(items)

    def considered(self, size: int, rng: np.random.Generator) -> Indices:
        """Those of the other scorer."""
        return self.scorer.considered(size, rng)

    def priority(self, considered: Indices) -> Array:
        """That of the other scorer."""
        return self.scorer.priority(considered)

    def _factors(self, items: Indices) -> Array:
        return np.asarray(1.0 - self.taste + self.taste * self.chances(items).mean(axis=1))
