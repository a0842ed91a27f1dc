"""Trajectories: the actions that a robot executed, the poses that followed, and features of both."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from prefero._support.arrays import Array, Flags, Indices


@dataclass(frozen=True, eq=False)
class Trajectory:
    """One trajectory, or a batch of N with one more axis in front.

    Args:
        actions: The actions that the robot executed, (A,).
        features: What a person's reward may depend on, in their units, (d,).
        poses: Where the moving parts of the scene were, for replay, (T, P, k).
    """

    actions: Array
    features: Array
    poses: Array

    def __len__(self) -> int:
        if self.features.ndim == 1:
            raise TypeError("this is one trajectory, not a batch")
        return len(self.features)

    def __getitem__(self, which: int | slice | Indices | Flags) -> Self:
        """Some of a batch, or with one index the trajectory itself."""
        len(self)
        return type(self)(self.actions[which], self.features[which], self.poses[which])

    def as_batch(self) -> Self:
        """A batch: itself, or the one trajectory as a batch of one."""
        if self.features.ndim == 2:
            return self
        return type(self)(self.actions[None], self.features[None], self.poses[None])

    @classmethod
    def join(cls, batches: Sequence[Self]) -> Self:
        """Several batches as one."""
        return cls(
            np.concatenate([batch.actions for batch in batches]),
            np.concatenate([batch.features for batch in batches]),
            np.concatenate([batch.poses for batch in batches]),
        )
