"""Trajectories that can be shown to a person, with their features."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy.typing as npt

from prefero.arrays import Array
from prefero.features import Scaling, feature_matrix


@dataclass(frozen=True, eq=False, init=False)
class Pool:
    """The trajectories that questions are made of.

    features   (M, d)   one row a trajectory, in the user's units
    scaled     (M, d)   the same with mean 0 and standard deviation 1, as models see them
    names      d        names of the features
    """

    features: Array
    scaling: Scaling

    def __init__(self, features: npt.ArrayLike, names: Sequence[str] | None = None) -> None:
        matrix = feature_matrix(features, names).copy()
        if len(matrix) < 2:
            raise ValueError(
                f"a pool needs at least two trajectories to compare, but has {len(matrix)}: add more rows"
            )
        matrix.setflags(write=False)
        object.__setattr__(self, "features", matrix)
        object.__setattr__(self, "scaling", Scaling.of(matrix, names))

    def __len__(self) -> int:
        return len(self.features)

    @property
    def names(self) -> tuple[str, ...]:
        """The features' names."""
        return self.scaling.names

    @cached_property
    def scaled(self) -> Array:
        """The features in units of their spread over the pool."""
        scaled = self.scaling(self.features)
        scaled.setflags(write=False)
        return scaled

    def check_index(self, index: int) -> None:
        """An error unless `index` is that of a trajectory of this pool."""
        if not 0 <= index < len(self):
            raise ValueError(f"the pool has trajectories 0 to {len(self) - 1}, but this is {index}")
