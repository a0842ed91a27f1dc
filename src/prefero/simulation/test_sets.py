"""Exams: questions with known answers, on which a learned reward is tested.

An exam is made of diverse trajectories (Poisson disk) that were not asked about, and of all pairs of them:
most random trajectories are alike and dull, and a test on them would reward dullness.

    features     (T, d)   of the diverse trajectories, raw
    pairs        (P, 2)   all pairs of them
    differences  (P,)     true reward of the first less that of the second: a noiseless answer is its sign
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from prefero._support.arrays import Array, Indices
from prefero.pools.pool import Pool
from prefero.questions import Answer
from prefero.reward import Reward
from prefero.simulation.users import RewardFunction
from prefero.trajectories.diversity import sample_diverse

SURE = 1e-15  # nobody is surer: the loss of being wrong is finite, and the same either way round


@dataclass(frozen=True, eq=False)
class Exam:
    """Pairs of trajectories with true answers."""

    features: Array
    pairs: Indices
    differences: Array

    @classmethod
    def of(cls, features: Array, truth: Array) -> "Exam":
        """All pairs of these trajectories, whose true rewards are `truth` (T,)."""
        first, second = np.triu_indices(len(features), 1)
        return cls(features, np.column_stack([first, second]), truth[first] - truth[second])

    @classmethod
    def diverse(cls, candidates: Pool, reward: RewardFunction, count: int, seed: int = 0) -> "Exam":
        """`count` diverse candidates, in units of the candidates' spread; `reward` is of raw features."""
        chosen = candidates.features[sample_diverse(candidates.scaled, count, seed=seed)]
        return cls.of(chosen, reward(chosen))

    @property
    def sides(self) -> tuple[Array, Array]:
        """Features of the first and of the second trajectory of every pair, (P, d) each."""
        return self.features[self.pairs[:, 0]], self.features[self.pairs[:, 1]]

    def accuracy(self, probability: Array) -> float:
        """The share of pairs whose better one is predicted with more than half; exactly half counts half."""
        lean = np.sign(probability - 0.5)
        return float(np.mean(np.where(lean == 0, 0.5, lean == np.sign(self.differences))))

    def log_likelihood(self, probability: Array) -> float:
        """The mean log probability of the true answers; a tie in truth counts both ways."""
        share = np.clip(probability, SURE, 1 - SURE)
        first = 0.5 + 0.5 * np.sign(self.differences)
        return float(np.mean(first * np.log(share) + (1 - first) * np.log1p(-share)))


def accuracy_on_answers(reward: Reward, pool: Pool, answers: Sequence[Answer]) -> float:
    """The share of these answers that a reward predicts; "equal" is never predicted."""
    left, right = (pool.features[[getattr(a.question, side) for a in answers]] for side in ("left", "right"))
    lead = reward.predict_proba(left, right) - reward.predict_proba(right, left)
    predicted = np.where(lead > 0, "left", "right")
    return float(np.mean(predicted == [answer.choice for answer in answers]))
