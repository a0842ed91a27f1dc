"""What the learned reward says of a place that a person sets with sliders, which need not be a trajectory.

place     values of the features as a person sees them: numbers, and the places of categories' levels
row       (1, d)   the same place as scaled features
nearest            the trajectory of the pool at the smallest Euclidean distance in scaled features
far                whether the nearest trajectory is so far away that the reward is extrapolated: farther
                   than `FAR` times the distance to the nearest neighbor that 95 % of the pool's
                   trajectories keep within
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from prefero._support.arrays import Array, one_thread
from prefero._support.names import no_such
from prefero.learner import Learner
from prefero.models.posterior.draws import Estimate, draw_rewards, interval
from prefero.models.posterior.standardized import reference_of, reference_rows
from prefero.pools.displays import variable_values
from prefero.pools.pool import Pool
from prefero.rewards.reward import Reward
from prefero.studies.log.event_log import EventLog
from prefero.trajectories.categories import Variable

FAR, USUAL = 1.5, 0.95
DRAWS = 400  # of the reward: fewer than for a report, since a person drags a slider meanwhile
LARGEST = 1e6  # standard deviations from the mean, beyond which a value is a mistake


class PlaceError(ValueError):
    """A place has a feature that there is not, or a value that the feature cannot have."""


@dataclass(frozen=True)
class NearestTrajectory:
    """The trajectory that is most like a place, with its own reward and features."""

    index: int
    id: str | None
    mean: float
    std: float
    values: dict[str, float]


@dataclass(frozen=True)
class WhatIf:
    """The reward at a place, in standard deviations above the average trajectory.

    values        of all features at the place, by name
    better_than   the fraction of the pool's trajectories with a lower reward, with a 90 % interval
    far           whether nothing in the pool is like it, so that the reward is extrapolated
    """

    values: dict[str, float]
    mean: float
    std: float
    better_than: Estimate
    nearest: NearestTrajectory
    far: bool


@one_thread
def what_if(learner: Learner, _: EventLog, start: int | None, changed: Mapping[str, float]) -> WhatIf:
    """The reward at the place of a trajectory, or of the average one, after some values were changed."""
    pool, reward = learner.pool, learner.reward()
    features = place_of(pool, start, changed)
    row = pool.scaling(features)
    mean, std = reward.standardized(features, pool)
    distances = np.linalg.norm(pool.scaled - row, axis=1)
    return WhatIf(
        values={one.name: float(one.values(features)[0]) for one in pool.scaling.variables},
        mean=float(mean[0]),
        std=float(std[0]),
        better_than=fraction_below(reward, pool, features),
        nearest=_nearest(reward, pool, int(np.argmin(distances))),
        far=bool(distances.min() > FAR * usual_distance(pool)),
    )


def place_of(pool: Pool, start: int | None, changed: Mapping[str, float]) -> Array:
    """The features of a place, (1, d)."""
    known = {variable.name: variable for variable in pool.scaling.variables}
    for name in changed:
        if name not in known:
            raise PlaceError(no_such("feature", name, tuple(known)))
    if start is not None and start >= len(pool):
        raise PlaceError(f"there are trajectories 0 to {len(pool) - 1}, but the start is {start}")
    row = pool.features[[start]].copy() if start is not None else average_features(pool)
    for name, value in changed.items():
        _set(row, known[name], value, pool)
    return row


def average_features(pool: Pool) -> Array:
    """The mean of each number, and the level that most trajectories have of each category, (1, d)."""
    row: Array = pool.features.mean(axis=0, keepdims=True)
    for variable in pool.scaling.variables:
        if variable.categories is not None:
            _set(row, variable, float(np.argmax(variable.counts(pool.features))), pool)
    return row


def _set(row: Array, variable: Variable, value: float, pool: Pool) -> None:
    columns = list(variable.features)
    if variable.categories is None:
        scale, center = pool.scaling.scale[columns[0]], pool.scaling.center[columns[0]]
        if not abs(value - center) <= LARGEST * scale:
            raise PlaceError(f"{variable.name!r} must be a number near those of the pool, but is {value!r}")
        row[:, columns] = value
        return
    levels = variable.categories.levels
    if value not in range(len(levels)):
        raise PlaceError(f"{variable.name!r} has the levels 0 to {len(levels) - 1}, but is {value!r}")
    row[:, columns] = variable.level_features()[int(value)]


def fraction_below(reward: Reward, pool: Pool, features: Array) -> Estimate:
    """Which fraction of the pool has a lower reward than this place: the expectation, and a 90 % interval."""
    x = np.concatenate([reference_of(pool.features_for(reward.belief)), reward.scaling(features)])
    draws = draw_rewards(reward.belief, x, DRAWS)
    below = np.mean(draws.rewards[:, :-1] < draws.rewards[:, -1:], axis=1)
    mean = float(below @ draws.weights)
    low, high = interval(below, draws.weights)
    return Estimate(mean, min(low, mean), max(high, mean))


@lru_cache(4)
def usual_distance(pool: Pool) -> float:
    """The distance to its nearest neighbor that 95 % of the pool's trajectories do not exceed."""
    rows = reference_rows(len(pool))
    nearest = [_to_nearest_other(pool.scaled, row) for row in rows.tolist()]
    return float(np.quantile(nearest, USUAL))


def _to_nearest_other(x: Array, row: int) -> float:
    distances = np.linalg.norm(x - x[row], axis=1)
    distances[row] = np.inf
    return float(distances.min())


def _nearest(reward: Reward, pool: Pool, index: int) -> NearestTrajectory:
    mean, std = reward.standardized(pool.features[[index]], pool)
    name = None if pool.ids is None else pool.ids[index]
    return NearestTrajectory(index, name, float(mean[0]), float(std[0]), variable_values(pool, index))
