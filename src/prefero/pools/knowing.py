"""What is known of a pool's reward before the first question, from what people have at hand.

Each function returns the pool's `PriorKnowledge` with something more in it, after checking that it fits the
pool; `scored` returns a pool with one more feature.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

import numpy as np
import numpy.typing as npt

from prefero._support.frames import Rows, column_keys
from prefero.questions.prior_knowledge import CONFIDENCE, Better, Direction, PriorKnowledge
from prefero.trajectories.features import feature_matrix
from prefero.trajectories.step_features import step_blocks
from prefero.trajectories.trajectory import Trajectory

if TYPE_CHECKING:
    from prefero._support.arrays import Array
    from prefero.pools.pool import Pool

NEARBY = 8  # plans near a demonstration in a world, which could have been shown instead
NEAR = 0.15  # the standard deviation of their actions around the demonstrated ones, in ranges of actions


def demonstrated(pool: Pool, shown: Trajectory | Rows) -> PriorKnowledge:
    """With demonstrations; in a world, plans nearby count as what could have been shown instead."""
    rows = rows_of(pool, shown)
    if not isinstance(shown, Trajectory) or pool.source is None:
        return pool.knowledge.demonstrated(rows)
    return pool.knowledge.demonstrated(rows, _nearby(pool, shown.as_batch()))


def corrected(pool: Pool, better: Trajectory | Rows, worse: Trajectory | Rows) -> PriorKnowledge:
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


def rows_of(pool: Pool, given: Trajectory | Rows) -> Array:
    """Features of trajectories in the pool's units, (n, d)."""
    if isinstance(given, Trajectory):
        given = given.as_batch().features
    if column_keys(given) is not None:
        return pool.scaling.matrix(given)
    return feature_matrix(np.atleast_2d(np.asarray(cast(npt.ArrayLike, given), dtype=float)), pool.names)


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
