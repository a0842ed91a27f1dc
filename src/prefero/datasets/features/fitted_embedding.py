"""What embeddings that are fitted on example episodes have in common: they are made of a few arrays."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Self

import numpy as np

from prefero._support.arrays import Array
from prefero.datasets.episode import BadEpisode, Episode
from prefero.datasets.features.library import NamedValues
from prefero.trajectories.features import location_and_scale


@dataclass(frozen=True, eq=False)
class FittedEmbedding(ABC):
    """An embedding that was fitted on examples: its fields are all that it consists of."""

    @classmethod
    @abstractmethod
    def fit(cls, examples: Sequence[Episode], count: int) -> Self:
        """Fit it to examples, with so many features."""

    @abstractmethod
    def __call__(self, episode: Episode) -> NamedValues:
        """The features of an episode."""

    def arrays(self) -> dict[str, Array]:
        """All that it consists of, by name."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array], count: int) -> Self:
        """What `arrays` gave; an error unless they fit each other, and give so many features."""
        made = cls(**{one.name: np.asarray(arrays[one.name], dtype=float) for one in fields(cls)})
        known = made.arrays()
        if made.shapes(count) != {name: array.shape for name, array in known.items()}:
            raise ValueError("the arrays of an embedding do not fit each other")
        if any((known[name] <= 0).any() for name in ("scale", "unit") if name in known):
            raise ValueError("the units of an embedding must be positive")
        return made

    @abstractmethod
    def shapes(self, count: int) -> dict[str, tuple[int, ...]]:
        """The shapes that the arrays must have."""

    def written(self, literal: Callable[[object], str]) -> dict[str, str]:
        """The arguments of exported code that computes the same, as texts; `literal` writes an array."""
        return {name: literal(array) for name, array in self.arrays().items()}


def with_same_states(examples: Sequence[Episode]) -> Sequence[Episode]:
    """Two examples or more, all with the same states."""
    if len(examples) < 2:
        raise ValueError(f"an embedding needs two examples or more, but there are {len(examples)}")
    return [checked(episode, examples[0].states.shape[1]) for episode in examples]


def checked(episode: Episode, wanted: int) -> Episode:
    """The episode, if it has so many states."""
    count = episode.states.shape[1]
    if count != wanted:
        raise BadEpisode(episode.id, f"it has {count} states, but the examples have {wanted}")
    return episode


def units(values: Array) -> tuple[Array, Array]:
    """Mean and standard deviation of each column; 1 in place of none."""
    center, scale, varies = location_and_scale(values)
    return center, np.where(varies, scale, 1.0)
