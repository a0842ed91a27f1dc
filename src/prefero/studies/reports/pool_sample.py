"""Trajectories that stand for a pool in charts, and all that a question has shown, with their rewards."""

from dataclasses import dataclass

import numpy as np

from prefero._support.arrays import Array, Indices
from prefero.models.posterior.standardized import reference_rows
from prefero.pools.pool import Pool
from prefero.rewards.reward import Reward
from prefero.studies.log.event_log import EventLog

MOST, LEAST = 400, 100  # trajectories
MOST_VALUES = 12_000  # of features, in all: the page gets every one
DIGITS = 6


@dataclass(frozen=True)
class PoolSample:
    """Some trajectories of a pool, in the order of their indices.

    ids      null where the pool has none
    mean     of their rewards, in standard deviations above the average trajectory; none while it is too early
    std      of the uncertainty of the same
    values   of each feature, by its name; of a category, the places of its levels
    """

    items: list[int]
    ids: list[str] | None
    mean: list[float]
    std: list[float]
    values: dict[str, list[float]]


def pool_sample(pool: Pool, log: EventLog, reward: Reward | None) -> PoolSample:
    """What stands for a pool, and everything that was judged; without a reward, no rewards."""
    rows = sampled_rows(pool, log)
    moments = (np.empty(0), np.empty(0)) if reward is None else reward.standardized(pool.features[rows], pool)
    mean, std = moments
    return PoolSample(
        rows.tolist(),
        pool.ids_of(rows.tolist()),
        _short(mean),
        _short(std),
        {variable.name: _short(variable.values(pool.features[rows])) for variable in pool.scaling.variables},
    )


def sampled_rows(pool: Pool, log: EventLog) -> Indices:
    """Fewer trajectories where there are many features."""
    count = min(MOST, max(LEAST, MOST_VALUES // max(len(pool.scaling.variables), 1)))
    judged = [item for answer in log.answers for item in answer.asked.items]
    return np.union1d(reference_rows(len(pool), count), np.array(judged, dtype=np.intp))


def _short(values: Array) -> list[float]:
    """Rounded, since a chart shows no more."""
    return [float(f"{value:.{DIGITS}g}") for value in values.tolist()]
