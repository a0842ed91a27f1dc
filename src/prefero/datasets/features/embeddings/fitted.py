"""What fitted embeddings have in common: they are fitted on examples, and then consist of a few arrays.

steps    (T, s + a)    the states of every step, and its actions
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np

from prefero._support.arrays import Array
from prefero.datasets.episode import BadEpisode, Episode
from prefero.datasets.features.library.library import NamedValues
from prefero.trajectories.feature_spec import FeatureSpec
from prefero.trajectories.features import location_and_scale

UNFITTING = "the arrays of an embedding do not fit each other"


@dataclass(frozen=True, eq=False)
class FittedEmbedding(ABC):
    """An embedding that was fitted on examples: its fields are all that it consists of."""

    @classmethod
    @abstractmethod
    def fit(cls, examples: Sequence[Episode], count: int) -> Self:
        """Fit it to examples, with so many features."""

    def __call__(self, episode: Episode) -> NamedValues:
        """The features of an episode, which has as many states and actions as the examples."""
        self.check(episode)
        return self.features(episode)

    def check(self, episode: Episode) -> None:
        """An error unless it has as many states and actions as the examples."""
        checked(episode, numbers_in(self.arrays()["sizes"]))

    @abstractmethod
    def features(self, episode: Episode) -> NamedValues:
        """The features of an episode that was checked. Exported files hold its code, like the library's."""

    def running(self, spec: FeatureSpec, count: int | None, wanted: Sequence[str]) -> Any:  # noqa: ARG002
        """What updates these features step by step, for episodes that still run; None: nothing does.

        Args:
            spec: Which states, actions and times the episodes have.
            count: How many episodes run at once; None for one alone.
            wanted: The names of the features.
        """
        return None

    def arrays(self) -> dict[str, Array]:
        """All that it consists of, by name."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array], count: int) -> Self:
        """What `arrays` gave; an error unless they fit each other, and give so many features."""
        made = cls(**{one.name: np.asarray(arrays[one.name], dtype=float) for one in fields(cls)})
        known = made.arrays()
        if made.shapes(count) != {name: array.shape for name, array in known.items()}:
            raise ValueError(UNFITTING)
        if any((known[name] <= 0).any() for name in ("scale", "unit") if name in known):
            raise ValueError("the units of an embedding must be positive")
        return made

    @abstractmethod
    def shapes(self, count: int) -> dict[str, tuple[int, ...]]:
        """The shapes that the arrays must have."""


def steps_of(episode: Episode) -> Array:
    """The states of every step, and its actions, (T, s + a)."""
    return np.concatenate([episode.states[: len(episode.actions)], episode.actions], axis=1)


def check_examples(examples: Sequence[Episode]) -> None:
    """An error unless there are two or more."""
    if len(examples) < 2:
        raise ValueError(
            f"an embedding needs two examples or more, but there are {len(examples)}: add episodes, or use "
            "features that are not fitted, such as mean and max"
        )


def with_same_numbers(examples: Sequence[Episode]) -> Sequence[Episode]:
    """The examples; an error unless there are two or more, with as many states and actions each."""
    check_examples(examples)
    sizes = numbers_of(examples[0])
    return [checked(episode, sizes) for episode in examples]


def numbers_of(episode: Episode) -> tuple[int, int]:
    """How many states and actions it has."""
    return episode.states.shape[1], episode.actions.shape[1]


def sizes_array(episode: Episode) -> Array:
    """The same as an array, for a fitted embedding."""
    return np.array(numbers_of(episode), dtype=float)


def numbers_in(sizes: Array) -> tuple[int, int]:
    """What `sizes_array` gave."""
    if sizes.shape != (2,) or sizes.min() < 0:
        raise ValueError(UNFITTING)
    return int(sizes[0]), int(sizes[1])


def checked(episode: Episode, wanted: tuple[int, int]) -> Episode:
    """The episode; an error unless it has so many states and actions."""
    for name, has, should in zip(("states", "actions"), numbers_of(episode), wanted, strict=True):
        if has != should:
            raise BadEpisode(episode.id, f"it has {has} {name}, but the examples have {should}")
    return episode


def units(values: Array) -> tuple[Array, Array]:
    """Center and scale of every column; the scale of one that does not vary is 1."""
    center, scale, varies = location_and_scale(values)
    return center, np.where(varies, scale, 1.0)


def principal_axes(centered: Array) -> tuple[Array, Array]:
    """The principal axes of rows around their mean, in rows and always of the same sign; singular values."""
    _, singular, axes = np.linalg.svd(centered, full_matrices=False)
    return axes * np.sign(axes.sum(axis=1, keepdims=True) + 1e-12), singular
