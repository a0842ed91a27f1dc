"""Predictive information: what the answer to a question tells about the answers to target questions.

Mutual information asks about the reward everywhere, so about the oddest trajectories first. Predictive
information (EPIG: Bickford Smith et al., 2023) asks for what is to be predicted: the mutual information
between the answer y_q to a question and the true preference y_t of a target question, averaged over targets,

    I(y_q; y_t) = H(y_q) + H(y_t) - H(y_q, y_t).

`prefero.acquisition.target_scorer` computes it in closed form.

When all targets are nearly known there is little left to choose by, so the mutual information with the reward
itself is added with a small weight.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from prefero._support.arrays import Array
from prefero.acquisition.base import PairMoments, Scorer, features_of, generator
from prefero.acquisition.functions.answer_information import information_scorer
from prefero.acquisition.functions.group_information import GroupScorer
from prefero.acquisition.functions.mutual_information import mutual_information
from prefero.acquisition.label_scorers import target_label_scorer
from prefero.acquisition.target_scorer import TargetScorer
from prefero.acquisition.targets import TargetSource, draw_targets
from prefero.acquisition.taste import with_taste
from prefero.models.people.posterior import PeoplePosterior
from prefero.models.posterior.gaussian import Distribution
from prefero.pools.pool import Pool
from prefero.questions.answer_kinds import Kind, items_of

MUTUAL_INFORMATION_WEIGHT = 0.05


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
        """Pairs and labels in closed form, answers of other kinds by draws."""
        x = features_of(belief, pool)
        targets = draw_targets(self.targets, belief, pool, generator(belief, len(x)))
        scorer: Scorer = TargetScorer(belief=belief, x=x, targets=targets, bonus=self._bonus)
        if items_of(kind) == 1:
            scorer = target_label_scorer(belief, x, kind, targets, self.mutual_information_weight)
        elif kind != "pair":
            scorer = information_scorer(belief, x, kind, targets, self.mutual_information_weight)
        return with_taste(scorer, belief, x, self.taste)

    def group_scorer(self, people: PeoplePosterior, person: str, x: Array) -> Scorer:
        """Questions to one person by what they tell about the reward that all people share."""
        return GroupScorer(people, person, x)

    def _bonus(self, moments: Sequence[PairMoments]) -> Array:
        return np.asarray(self.mutual_information_weight * mutual_information(moments))
