"""What is known of a pool's reward before the first question, from what people have at hand.

Each function returns the pool's `PriorKnowledge` with something more in it, after checking that it fits the
pool; `scored` returns a pool with one more feature.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, TypeGuard, cast

import numpy as np
import numpy.typing as npt

from prefero._support.frames import Rows, column_keys
from prefero._support.names import listed
from prefero.datasets.base import Dataset, EpisodeDataset
from prefero.datasets.columns import matrix_columns
from prefero.datasets.episode import Episode
from prefero.questions.prior_knowledge import CONFIDENCE, Better, Direction, PriorKnowledge
from prefero.trajectories.features import feature_matrix
from prefero.trajectories.step_features import step_blocks
from prefero.trajectories.trajectory import Trajectory

if TYPE_CHECKING:
    from prefero._support.arrays import Array
    from prefero.datasets import EpisodeFeatures
    from prefero.pools.pool import Pool

NEARBY = 2  # plans near a demonstration in a world, which could have been shown instead
NEAR = 0.15  # the standard deviation of their actions around the demonstrated ones, in ranges of actions


Shown: TypeAlias = "Trajectory | Rows | Pool | Dataset | Episode | Path | str"  # that has a pool's features


def demonstrated(pool: Pool, shown: Shown) -> PriorKnowledge:
    """With demonstrations; in a world, plans nearby count as what could have been shown instead."""
    shown = _played(pool, shown)
    rows = rows_of(pool, shown)
    _warn_about_units(pool, rows, "demonstrations")
    if not isinstance(shown, Trajectory) or pool.source is None:
        return pool.knowledge.demonstrated(rows)
    return pool.knowledge.demonstrated(rows, _nearby(pool, shown.as_batch()))


def corrected(pool: Pool, better: Shown, worse: Shown) -> PriorKnowledge:
    """With corrections, row by row."""
    did, instead_of = rows_of(pool, better), rows_of(pool, worse)
    if len(did) != len(instead_of):
        raise ValueError(
            f"each correction is better than one other trajectory, but there are {len(did)} better and "
            f"{len(instead_of)} worse ones"
        )
    same = np.flatnonzero(np.all(did == instead_of, axis=1))
    if len(same):
        raise ValueError(
            f"correction {same[0]} has the same features as what it corrects, so nothing can be learned from "
            "it: leave it out"
        )
    _warn_about_units(pool, np.concatenate([did, instead_of]), "corrections")
    return pool.knowledge.corrected(did, instead_of)


def directed(
    pool: Pool, feature: str, better: Better, confidence: float = CONFIDENCE, is_score: bool = False
) -> PriorKnowledge:
    """With the statement that more of a feature is better, or less."""
    direction = Direction(feature, better, confidence, is_score)
    direction.column(pool.names)  # an error if there is none
    return pool.knowledge.directed(direction)


def scored(pool: Pool, values: npt.ArrayLike, name: str, confidence: float) -> Pool:
    """A pool with a score of each trajectory as one more feature."""
    column = np.asarray(values, dtype=float)
    if column.shape != (len(pool),):
        raise ValueError(
            f"a score is one number for each of the {len(pool)} trajectories, but has shape {column.shape}"
        )
    if not np.isfinite(column).all():
        missing = int(np.flatnonzero(~np.isfinite(column))[0])
        raise ValueError(
            f"the score {name!r} must be a finite number, but that of trajectory {missing} is "
            f"{column[missing]}: leave out trajectories without a score"
        )
    if np.all(column == column[0]):
        raise ValueError(f"the score {name!r} is {column[0]:g} for every trajectory, so it says nothing")
    if name in pool.names:
        if not np.array_equal(column, pool.features[:, pool.names.index(name)]):
            raise ValueError(
                f"the pool has a feature {name!r} with other values: give the score another name, "
                "with name='...'"
            )
        return pool.knowing(directed(pool, name, "higher", confidence, is_score=True))
    if step_blocks(pool.names):
        raise ValueError(
            "a reward of steps has no place for a score of whole trajectories: take other features than "
            "'steps'"
        )
    if replace(pool.knowledge, directions=()):
        raise ValueError(
            "demonstrations, corrections and judgements have no value of this score: add the score first"
        )
    wider = pool.with_feature(column, name)
    return wider.knowing(directed(wider, name, "higher", confidence, is_score=True))


def rows_of(pool: Pool, given: Shown) -> Array:
    """Features of trajectories in the pool's units, (n, d).

    Args:
        pool: The pool, whose features are computed of episodes and datasets.
        given: Trajectories of the pool's world, rows of features or a table of them, an episode, or a
            dataset or the path of one.
    """
    if isinstance(given, Dataset | str | Path):
        return dataset_features(pool, given)
    if isinstance(given, Episode):
        return _episode_features(pool)(given)[None]
    if _is_pool(given):
        return pool.scaling.matrix(matrix_columns(given.features, given.names))
    if isinstance(given, Trajectory):
        given = given.as_batch().features
        unscored = [name for name in pool.knowledge.scores if pool.names.index(name) >= given.shape[1]]
        if unscored:
            raise ValueError(
                f"these trajectories have no score {unscored[0]!r}, which is a feature of the pool: give "
                "rows of features with it"
            )
    if column_keys(given) is not None:
        return pool.scaling.matrix(cast(Rows, given))
    return feature_matrix(np.atleast_2d(np.asarray(cast(npt.ArrayLike, given), dtype=float)), pool.names)


def _warn_about_units(pool: Pool, rows: Array, what: str) -> None:
    """Nothing that far away can be compared with the pool; other units are the usual reason."""
    from prefero.datasets.features.extraction.match_reward import FAR, far_features

    far = far_features(rows, pool.scaling) if len(rows) else []
    if far:
        warnings.warn(
            f"half of the {what} are more than {FAR:g} standard deviations away from the mean of the pool in "
            f"{listed(far)}: are they in the same units?",
            stacklevel=4,
        )


def _is_pool(given: Shown) -> TypeGuard[Pool]:
    from prefero.pools.pool import Pool

    return isinstance(given, Pool)


def _played(pool: Pool, shown: Shown) -> Shown:
    """Of a pool of the same world the trajectories; an error if it is of another one."""
    if not _is_pool(shown) or pool.source is None or shown.source is None:
        return shown
    if shown.source.world != pool.source.world:
        raise ValueError(
            f"what is shown are trajectories of {shown.source.world}, but the pool has those of "
            f"{pool.source.world}"
        )
    whole = shown.simulated().trajectories
    assert whole is not None  # of a world
    return whole


def dataset_features(
    pool: Pool, dataset: Dataset | str | Path, *, trust: bool = False, skip_bad: bool = False
) -> Array:
    """The pool's features of every episode of a dataset.

    Args:
        pool: The pool.
        dataset: The dataset, or its path or id.
        trust: Run the code that the pool's own file names.
        skip_bad: Leave out bad episodes instead of stopping.

    Returns:
        The features, (n, d).
    """
    from prefero.datasets import FeatureOptions, extract_for_reward, open_dataset

    opened = open_dataset(dataset) if isinstance(dataset, str | Path) else dataset
    spec, categories = pool.feature_spec, pool.scaling.categories
    options = FeatureOptions(skip_bad=skip_bad)
    table = extract_for_reward(opened, pool.names, options, spec=spec, trust=trust, categories=categories)
    return table.features


def _episode_features(pool: Pool, trust: bool = False) -> EpisodeFeatures:
    """What computes the pool's features of an episode."""
    from prefero.datasets import EpisodeFeatures

    if pool.feature_spec is None:
        raise ValueError(
            f"nothing says how the features of this pool ({listed(pool.names)}) are computed of an episode, "
            "since it was not made from a dataset of states: give a table of features for demonstrations, "
            "or of ids, better and worse, for corrections"
        )
    return EpisodeFeatures.of(pool.feature_spec, pool.scaling, trust=trust)


def takeovers_in(
    pool: Pool, dataset: Dataset, *, trust: bool = False, skip_bad: bool = False
) -> tuple[Array, Array]:
    """Features of what people did where they took over from a policy, and of what it did before.

    A score of whole episodes says nothing of their parts, which are taken to have the same.

    Args:
        pool: The pool, whose features are computed.
        dataset: It says of each step whether a person acted; see `prefero.datasets.takeovers`.
        trust: Run the code that the pool's own file names.
        skip_bad: Leave out bad episodes instead of stopping.

    Returns:
        Both, (c, d).
    """
    from prefero.datasets.takeovers import takeover_features

    if not isinstance(dataset, EpisodeDataset):
        raise ValueError(
            f"{dataset.name} has no steps in which a person could take over: give a dataset of states and "
            "actions, or a table of ids, FILE.csv with the columns better and worse"
        )
    spec, scaling = pool.feature_spec, pool.scaling
    own = [place for place, name in enumerate(pool.names) if spec is None or name not in spec.columns]
    parts = pool.described_by(spec and replace(spec, columns=()))
    features = replace(_episode_features(parts, trust), scaling=scaling.some(own))
    both = takeover_features(dataset, features, skip_bad)
    whole = [np.tile(scaling.center, (len(rows), 1)) for rows in both]
    for wide, rows in zip(whole, both, strict=True):
        wide[:, own] = rows
    return whole[0], whole[1]


def _nearby(pool: Pool, shown: Trajectory) -> Array:
    """Features of plans near each of some trajectories, (n, m, d)."""
    world, rng = pool.world(), np.random.default_rng(len(pool.knowledge.demonstrations))
    space = world.action_space
    if space.discrete:
        return np.empty((len(shown), 0, len(pool.names)))
    noise = rng.normal(size=(len(shown), NEARBY, len(space))) * NEAR * (space.high - space.low)
    actions = np.clip(shown.actions[:, None] + noise, space.low, space.high)
    features = world.rollout(actions.reshape(-1, len(space))).features
    return features.reshape(len(shown), NEARBY, -1)
