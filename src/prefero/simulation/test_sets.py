"""Test sets: pairs of trajectories with known answers, on which a learned reward is evaluated.

A test set is made of diverse trajectories (Poisson disk) that were not asked about, and of all pairs of them:
most random trajectories are alike, and a test on them would measure little.

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
from prefero.rewards.reward import Reward
from prefero.simulation.users import RewardFunction
from prefero.trajectories.diversity import sample_diverse

LEAST_PROBABILITY = 1e-15  # so that the loss of a wrong prediction is finite


@dataclass(frozen=True, eq=False)
class TestSet:
    """Pairs of trajectories with true answers.

    Args:
        features: Of the trajectories, (T, d).
        pairs: Indices of two trajectories, (P, 2).
        differences: The first one's true reward minus the second's, (P,).
    """

    __test__ = False  # for pytest: this is no test

    features: Array
    pairs: Indices
    differences: Array

    @classmethod
    def of(cls, features: Array, truth: Array) -> "TestSet":
        """All pairs of trajectories.

        Args:
            features: Of the trajectories, (T, d).
            truth: Their true rewards, (T,).

        Returns:
            The test set.
        """
        first, second = np.triu_indices(len(features), 1)
        return cls(features, np.column_stack([first, second]), truth[first] - truth[second])

    @classmethod
    def diverse(cls, candidates: Pool, reward: RewardFunction, count: int, seed: int = 0) -> "TestSet":
        """A test set of diverse trajectories.

        Args:
            candidates: The pool to choose from, by scaled features.
            reward: The true reward, of raw features.
            count: How many trajectories.
            seed: Of the selection.

        Returns:
            The test set.
        """
        chosen = candidates.features[sample_diverse(candidates.scaled, count, seed=seed)]
        return cls.of(chosen, reward(chosen))

    @property
    def sides(self) -> tuple[Array, Array]:
        """Features of the first and of the second trajectory of every pair, (P, d) each."""
        return self.features[self.pairs[:, 0]], self.features[self.pairs[:, 1]]

    def accuracy(self, probability: Array) -> float:
        """The fraction of pairs whose better one has a probability above 1/2; exactly 1/2 counts half."""
        lean = np.sign(probability - 0.5)
        return float(np.mean(np.where(lean == 0, 0.5, lean == np.sign(self.differences))))

    def log_likelihood(self, probability: Array) -> float:
        """The mean log probability of the true answers; a tie in truth counts both ways."""
        clipped = np.clip(probability, LEAST_PROBABILITY, 1 - LEAST_PROBABILITY)
        first = 0.5 + 0.5 * np.sign(self.differences)
        return float(np.mean(first * np.log(clipped) + (1 - first) * np.log1p(-clipped)))


def accuracy_on_answers(reward: Reward, pool: Pool, answers: Sequence[Answer]) -> float:
    """The fraction of these answers that a reward predicts; "equal" is never predicted.

    An answer about several trajectories counts as what it says about pairs.
    """
    pairs = [pair for answer in answers for pair in answer.pairs]
    if not pairs:
        return float("nan")
    left, right = (pool.features[[getattr(pair, side) for pair in pairs]] for side in ("left", "right"))
    lead = reward.predict_proba(left, right) - reward.predict_proba(right, left)
    predicted = np.where(lead > 0, "left", "right")  # of equal rewards the right one
    return float(np.mean(predicted == [pair.choice for pair in pairs]))
