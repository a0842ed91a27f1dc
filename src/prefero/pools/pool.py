"""Pools: the trajectories that questions are about, with their features."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
import numpy.typing as npt

from prefero._support.arrays import Array
from prefero._support.files import file_names
from prefero._support.frames import Rows, column_keys
from prefero._support.names import MOST_SHOWN, HintsAtNames, listed, repeated
from prefero._support.sentences import pluralize
from prefero.datasets.media.clips import missing_clips
from prefero.pools import from_dataset as datasets
from prefero.pools import knowing, pool_cache, pool_file
from prefero.pools.simulate import Sampling, Source, actions_of, simulate
from prefero.questions.labels import Labels
from prefero.questions.prior_knowledge import CONFIDENCE, PriorKnowledge
from prefero.trajectories.categories import Categories
from prefero.trajectories.diversity import sample_diverse
from prefero.trajectories.feature_spec import FeatureSpec
from prefero.trajectories.features import Scaling, feature_matrix
from prefero.trajectories.trajectory import Trajectory

if TYPE_CHECKING:
    from prefero.models.posterior.gaussian import Distribution
    from prefero.worlds.base import World


MEANT_BY = {
    **dict.fromkeys(("from_pandas", "from_dataframe", "from_polars", "from_dict"), "Pool.from_table(table)"),
    **dict.fromkeys(("from_csv", "from_parquet", "read_csv"), 'Pool.from_table("FILE")'),
    **dict.fromkeys(("from_array", "from_numpy", "from_features"), "Pool(features, names)"),
    **dict.fromkeys(("from_videos", "from_clips"), "Pool.from_video_folder(folder)"),
    **dict.fromkeys(("from_env", "from_environment"), 'Pool.from_gymnasium("CartPole-v1")'),
    **dict.fromkeys(("from_huggingface", "from_hub"), 'Pool.from_dataset("hf://OWNER/NAME")'),
    "from_world": 'Pool.simulate("driver")',
    "open": "Pool.from_dataset(path)",
}


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Pool(HintsAtNames):
    """The trajectories that questions are about. `len(pool)` is their number M.

    Args:
        features: One row of features for each trajectory, (M, d), in your own units; or a pandas frame or any
            other table, whose columns of numbers are the features, and whose ids or index the ids.
        names: The names of the d features. Without them they are numbered. Of a table they choose columns.
        trajectories: Actions and poses of the trajectories, for replay.
        actions: The actions alone, (M, A), from which trajectories of the `source` are simulated when they
            are shown.
        clips: A video of each trajectory, the path of a file.
        ids: Which trajectory each is: its id in its dataset. Without them, the file names of the clips.
        categories: The columns of categories that some of the features encode; see `prefero.datasets`.
        source: The world, its options and the seed, if the trajectories are simulated.
        scaling: The standardization of the features. Without it, the mean and the standard deviation of these
            rows.
        feature_spec: How the features are computed from an episode, where that is known; a reward of this
            pool keeps it.
        no_video: Why there are no clips although there could be, for the person who compares.
        labels: What is known already about some of the trajectories, such as their success:
            `Labels.of(values)`. A learner learns from them as from answers.
        knowledge: What else is known before the first question: demonstrations, corrections, directions.

    Raises:
        ValueError: If there are fewer than two trajectories, numbers that do not fit each other or are not
            finite, or two trajectories with one id.
    """

    _meant_by = MEANT_BY

    features: Array
    scaling: Scaling
    trajectories: Trajectory | None
    actions: Array | None
    clips: tuple[str, ...] | None
    ids: tuple[str, ...] | None
    source: Source | None
    feature_spec: FeatureSpec | None
    no_video: str
    labels: Labels | None
    knowledge: PriorKnowledge

    def __init__(
        self,
        features: Rows,
        names: Sequence[str] | None = None,
        *,
        trajectories: Trajectory | None = None,
        actions: Array | None = None,
        clips: Sequence[str | Path] | None = None,
        ids: Sequence[str] | None = None,
        categories: Sequence[Categories] = (),
        source: Source | None = None,
        scaling: Scaling | None = None,
        feature_spec: FeatureSpec | None = None,
        no_video: str = "",
        labels: Labels | None = None,
        knowledge: PriorKnowledge | None = None,
    ) -> None:
        if column_keys(features) is not None:
            features, names, own_ids, categories = datasets.from_frame(features, names)
            ids = own_ids if ids is None else ids
        matrix = feature_matrix(cast(npt.ArrayLike, features), names).copy()
        if len(matrix) < 2:
            raise ValueError(
                f"a pool needs at least two trajectories to compare, but has {len(matrix)}: add more rows"
            )
        if trajectories is not None and len(trajectories) != len(matrix):
            raise ValueError(
                f"there are {len(matrix)} rows of features, but {len(trajectories)} trajectories"
            )
        for what, given in (("actions", actions), ("clips", clips), ("ids", ids)):
            if given is not None and len(given) != len(matrix):
                raise ValueError(f"there are {len(matrix)} rows of features, but {len(given)} {what}")
        if actions is not None and trajectories is None and source is None:
            raise ValueError("actions alone say nothing without the source that they are simulated in")
        matrix.setflags(write=False)
        object.__setattr__(self, "features", matrix)
        object.__setattr__(self, "scaling", scaling or Scaling.of(matrix, names, categories))
        self.scaling(matrix[:1])  # is of these features
        object.__setattr__(self, "trajectories", trajectories)
        object.__setattr__(self, "actions", actions if trajectories is None else trajectories.actions)
        object.__setattr__(self, "clips", None if clips is None else tuple(map(str, clips)))
        if ids is None and clips is not None:
            ids = file_names(clips)
        object.__setattr__(self, "ids", None if ids is None else _different(ids))
        object.__setattr__(self, "source", source)
        object.__setattr__(self, "feature_spec", feature_spec)
        object.__setattr__(self, "no_video", no_video)
        object.__setattr__(self, "labels", _checked_labels(labels, len(matrix)))
        object.__setattr__(self, "knowledge", self._checked_knowledge(knowledge))
        if self.clips is not None and scaling is None:  # a new pool, not one that was made before
            self._warn_missing_clips()

    def _warn_missing_clips(self) -> None:
        absent = missing_clips(self.clips or ())  # and not to be cut from a dataset on demand
        if absent:
            warnings.warn(
                f"{len(absent)} of {len(self)} clips are missing, the first is {absent[0]}: nobody can be "
                "asked about them before they are there",
                stacklevel=3,
            )

    @classmethod
    def simulate(
        cls,
        world: World | str,
        count: int = 1000,
        seed: int = 0,
        *,
        sampling: Sampling = "random",
        when: Literal["now", "later"] = "now",
        cache: bool = True,
        progress: bool | None = None,
    ) -> Pool:
        """Trajectories of a world; the same call makes the same pool.

        What was simulated once is read from the cache, unless the world is one of your own.

        Args:
            world: A world, or its name.
            count: How many trajectories.
            seed: Of the random actions.
            sampling: "random" draws actions uniformly; "grid" takes an even grid of at most `count` points.
            when: With "later", a world whose features follow from the actions is not simulated here: each
                trajectory is simulated when it is shown.
            cache: Whether to read the pool from the cache, and to store it there.
            progress: Show a progress bar; None shows it on a terminal.

        Returns:
            The pool, with its `source`.
        """
        if isinstance(world, str):
            from prefero import worlds

            world = worlds.make(world)
        source = Source.of(world, count, seed, sampling)
        cache = cache and world.cacheable
        found = pool_cache.find(cls, source) if cache else None
        if found is not None:
            return found
        actions = actions_of(world, source)
        features = world.features_of(actions) if when == "later" else None
        if features is not None:
            return cls(features, world.feature_names, actions=actions, source=source)
        trajectories = simulate(world, actions, progress)
        pool = cls(trajectories.features, world.feature_names, trajectories=trajectories, source=source)
        if cache:
            pool_cache.store(pool, source)
        return pool

    # pools of datasets, one function a format
    from_dataset = staticmethod(datasets.from_dataset)
    from_lerobot = staticmethod(datasets.from_lerobot)
    from_minari = staticmethod(datasets.from_minari)
    from_video_folder = staticmethod(datasets.from_video_folder)
    from_table = staticmethod(datasets.from_table)
    from_gymnasium = staticmethod(datasets.from_gymnasium)

    def __len__(self) -> int:
        return len(self.features)

    def has_same_trajectories(self, other: Pool) -> bool:
        """Whether answers about one are answers about the other: the same features, names and ids."""
        same_ids = self.ids is None or other.ids is None or self.ids == other.ids
        return same_ids and self.names == other.names and np.array_equal(self.features, other.features)

    def __repr__(self) -> str:
        of = f" of {self.source.world}" if self.source else ""
        clips = ", with clips" if self.clips else ""
        features = f"{pluralize(len(self.names), 'feature')}: {listed(self.names, MOST_SHOWN)}"
        labels = f", with {pluralize(len(self.labels), 'label')}" if self.labels else ""
        known = f", with {self.knowledge.describe()}" if self.knowledge else ""
        return f"Pool({len(self)} trajectories{of}{clips}{labels}{known}; {features})"

    @property
    def names(self) -> tuple[str, ...]:
        """The features' names."""
        return self.scaling.names

    @cached_property
    def scaled(self) -> Array:
        """The standardized features."""
        scaled = self.scaling(self.features)
        scaled.setflags(write=False)
        return scaled

    def features_for(self, posterior: Distribution) -> Array:
        """The features in the units that a posterior was fitted with: raw, or scaled as it scales them."""
        if posterior.scaling is None:
            if posterior.n_features != len(self.names):
                raise ValueError(
                    f"the model was fitted to {posterior.n_features} features, but the pool has "
                    f"{len(self.names)} ({listed(self.names)})"
                )
            return self.features
        posterior.scaling.check_names(self.names, "the pool")
        return self.scaled if posterior.scaling == self.scaling else posterior.scaling(self.features)

    def ids_of(self, indices: Iterable[int]) -> list[str] | None:
        """The ids of some trajectories; None where the pool has none."""
        return None if self.ids is None else [self.ids[index] for index in indices]

    def check_index(self, index: int) -> None:
        """An error unless `index` is that of a trajectory of this pool."""
        if not 0 <= index < len(self):
            raise ValueError(f"the pool has trajectories 0 to {len(self) - 1}, but this is {index}")

    def trajectory(self, index: int) -> Trajectory:
        """One trajectory, for replay; it is simulated now if it was not before."""
        self.check_index(index)
        if self.trajectories is not None:
            return self.trajectories[index]
        if self.actions is None or self.source is None:
            raise ValueError(
                "this pool has only features: nothing is known of its trajectories' actions and poses"
            )
        return self._simulator.rollout(self.actions[index])

    @cached_property
    def _simulator(self) -> World:
        world = self.world()
        if self.source is not None and world.physics != self.source.physics:
            warnings.warn(
                f"this pool was made with {self.source.physics}, and its trajectories are simulated with "
                f"{world.physics}: they may differ slightly",
                stacklevel=3,
            )
        return world

    def simulated(self) -> Pool:
        """This pool with all its trajectories: those that were to be simulated later are simulated now."""
        if self.trajectories is not None or self.actions is None:
            return self
        return self._with(self.features, trajectories=simulate(self._simulator, self.actions, show=None))

    def diverse(self, count: int, seed: int = 0) -> Pool:
        """The trajectories that differ most from each other, as a pool.

        Their features are scaled again. `ids` say which they are; where they had none, these are their places
        here.

        Args:
            count: How many at most.
            seed: Of the order in which they are tried.

        Returns:
            The smaller pool, or this one if it has no more than `count`.
        """
        if count >= len(self):
            return self
        rows = np.sort(sample_diverse(self.scaled, count, seed=seed))
        ids = self.ids or range(len(self))
        return self._with(
            self.features[rows],
            trajectories=None if self.trajectories is None else self.trajectories[rows],
            actions=None if self.actions is None else self.actions[rows],
            clips=None if self.clips is None else [self.clips[row] for row in rows],
            ids=[str(ids[row]) for row in rows],
            categories=self.scaling.categories,
            scaling=None,
            labels=None if self.labels is None else self.labels.rows(rows),
        )

    def knowing(self, knowledge: PriorKnowledge) -> Pool:
        """The same pool with this in place of what was known before."""
        changed = copy(self)
        object.__setattr__(changed, "knowledge", self._checked_knowledge(knowledge))
        return changed

    def scored(self, values: npt.ArrayLike, name: str = "score", confidence: float = CONFIDENCE) -> Pool:
        """The same pool with a score of each trajectory, such as a classifier's, as one more feature.

        Before any answer, the reward is a multiple of the score; answers correct that, and say how far it
        can be trusted. Rewards that are learned need the score of a trajectory too.

        Args:
            values: One number for each trajectory; more is better.
            name: Of the feature; if there is one of this name, that is the score.
            confidence: The probability that more of it is better.

        Returns:
            The pool.
        """
        return knowing.scored(self, values, name, confidence)

    def with_feature(self, values: Array, name: str) -> Pool:
        """The same pool with one more feature at the end, a column that no states compute.

        Args:
            values: The feature of each trajectory, (M,).
            name: Of the feature.

        Returns:
            The pool.
        """
        added = Scaling.of(values[:, None], [name])
        known = self.scaling
        scaling = Scaling(
            (*known.names, name),
            (*known.center, *added.center),
            (*known.scale, *added.scale),
            known.categories,
        )
        changed = copy(self)
        changed.__dict__.pop("scaled", None)
        features = np.column_stack([self.features, values])
        features.setflags(write=False)
        knowledge = replace(PriorKnowledge.none(len(scaling.names)), directions=self.knowledge.directions)
        for field, one in {"features": features, "scaling": scaling, "knowledge": knowledge}.items():
            object.__setattr__(changed, field, one)
        spec = self.feature_spec and replace(self.feature_spec, columns=(*self.feature_spec.columns, name))
        object.__setattr__(changed, "feature_spec", spec)
        return changed

    def described_by(self, spec: FeatureSpec | None) -> Pool:
        """The same pool, whose features are computed as this says."""
        changed = copy(self)
        object.__setattr__(changed, "feature_spec", spec)
        return changed

    def labelled(self, labels: Labels | None) -> Pool:
        """The same pool with these labels in place of its own."""
        changed = copy(self)
        object.__setattr__(changed, "labels", _checked_labels(labels, len(self)))
        return changed

    def extended(self, trajectories: Trajectory | Rows) -> Pool:
        """This pool with more trajectories at its end, which are scaled as the others are.

        They are one trajectory or a batch; or, for a pool of features alone, one row of features or several.
        Answers about the pool are answers about the extended one.
        """
        if self.trajectories is None and self.actions is not None:
            return self.simulated().extended(trajectories)
        kind = "clips" if self.clips else "features" if self.trajectories is None else "trajectories"
        if kind == "clips" or isinstance(trajectories, Trajectory) != (kind == "trajectories"):
            raise ValueError(
                f"this pool is of {kind}, and cannot be extended by {type(trajectories).__name__}"
            )
        new = trajectories.features if isinstance(trajectories, Trajectory) else trajectories
        rows = (
            self.scaling.matrix(new) if column_keys(new) is not None else self._rows(cast(npt.ArrayLike, new))
        )
        return self._with(
            np.concatenate([self.features, rows]),
            trajectories=self._joined(trajectories) if isinstance(trajectories, Trajectory) else None,
            ids=None if self.ids is None else _with_more(self.ids, len(rows)),
        )

    def _with(self, features: Array, **changed: Any) -> Pool:
        """A pool of these features that is otherwise like this one."""
        kept = ("ids", "source", "scaling", "feature_spec", "no_video", "labels", "knowledge")
        return Pool(features, self.names, **({name: getattr(self, name) for name in kept} | changed))

    def _checked_knowledge(self, knowledge: PriorKnowledge | None) -> PriorKnowledge:
        """What is known, after checking that it is about these features."""
        wanted = len(self.names)
        if knowledge is None:
            return PriorKnowledge.none(wanted)
        if knowledge.features != wanted:
            raise ValueError(
                f"what is known is about {knowledge.features} features, but the pool has {wanted}"
            )
        for direction in knowledge.directions:
            direction.column(self.names)
        return knowledge

    def _rows(self, features: npt.ArrayLike) -> Array:
        return feature_matrix(np.atleast_2d(np.asarray(features, dtype=float)), self.names)

    def _joined(self, more: Trajectory) -> Trajectory:
        assert self.trajectories is not None
        both = [self.trajectories, more.as_batch()]
        old, new = ((batch.actions.shape[1:], batch.poses.shape[1:]) for batch in both)
        if old != new:
            raise ValueError(
                f"these trajectories are another world's: actions and poses have shapes {new}, "
                f"but those of the pool {old}"
            )
        return Trajectory.join(both)

    def world(self) -> World:
        """The world that the trajectories come from, made again."""
        if self.source is None:
            raise ValueError("this pool was not simulated, so it has no world")
        from prefero import worlds

        return worlds.make(self.source.world, **self.source.options)

    def save(self, path: str | Path) -> None:
        """Save the pool in one `.npz` file."""
        pool_file.write(self, Path(path))

    def to_bytes(self) -> bytes:
        """The content of the pool's file."""
        return pool_file.to_bytes(self)

    @classmethod
    def load(cls, path: str | Path) -> Pool:
        """What `save` wrote; clips are looked for where they were, relative to the file."""
        pool = pool_file.read(cls, Path(path))
        pool._warn_missing_clips()
        return pool

    @classmethod
    def from_bytes(cls, content: bytes, name: str = "this") -> Pool:
        """What `to_bytes` made.

        Args:
            content: The content of a pool's file.
            name: What it is called in errors.

        Returns:
            The pool.

        Raises:
            PoolFileError: If it is not a pool, or not a whole one.
        """
        return pool_file.from_bytes(cls, content, name)


def _checked_labels(labels: Labels | None, count: int) -> Labels | None:
    """The labels, after checking that they are of trajectories of the pool; None if there is none."""
    if labels is None or not len(labels):
        return None
    if not isinstance(labels, Labels):
        raise TypeError(f"labels must be prefero.Labels, but are {type(labels).__name__}: Labels.of(values)")
    outside = [item for item in labels.items if item >= count]
    if outside:
        raise ValueError(
            f"the pool has trajectories 0 to {count - 1}, but {len(outside)} of {len(labels)} labels are of "
            f"others, the first is {outside[0]}: Labels.of(values, items=...) says which each is of"
        )
    return labels


def _different(ids: Sequence[str]) -> tuple[str, ...]:
    """The ids, after checking that no two trajectories have the same."""
    found = tuple(map(str, ids))
    twice = repeated(found)
    if twice:
        raise ValueError(
            f"every trajectory needs an id of its own, but {twice[0]!r} is there more than once: give other "
            "ids, or reset the index of the table"
        )
    return found


def _with_more(ids: Sequence[str], count: int) -> list[str]:
    """The ids with more of them: numbers that are no ids yet."""
    known, found = set(ids), list(ids)
    numbers = (str(number) for number in itertools.count(len(ids)))
    return found + list(itertools.islice((number for number in numbers if number not in known), count))
