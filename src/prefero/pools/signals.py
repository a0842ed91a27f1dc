"""Signals of a pool's trajectories: the poses of a world, or the states and actions of a dataset's episodes.

A pool of a dataset has no states of its own. The plan of its clips says which episode each shows, which is
read when it is asked for.
"""

from functools import cached_property, lru_cache
from pathlib import Path
from threading import Lock

import numpy as np

from prefero._support.arrays import Array
from prefero.datasets.episode import Episode
from prefero.datasets.media.clips import planned_episode
from prefero.pools.displays import feature_ranges, variable_values
from prefero.pools.pool import Pool
from prefero.trajectories.signals import Signal
from prefero.views import displays
from prefero.views.displays import TrajectorySignals
from prefero.worlds.base import World

MOST_POINTS = 200  # of a signal: a chart is hardly wider
MOST_SIGNALS = 64  # of a trajectory: nobody looks through the numbers of an embedding
REMEMBERED = 32  # trajectories: the page keeps those that it has
DIGITS = 7  # that are significant, as many as the numbers of most datasets have


class PoolSignals:
    """The signals of one pool, each trajectory read once; `trust` allows code that a plan of clips names."""

    def __init__(self, pool: Pool, *, trust: bool = False) -> None:
        self._pool, self._trust = pool, trust
        self._lock = Lock()  # a dataset may read one episode at a time only
        self.of = lru_cache(REMEMBERED)(self._of)

    def _of(self, index: int) -> TrajectorySignals:
        """Those of one trajectory, for the page, none where nothing is known; and any error of a dataset."""
        self._pool.check_index(index)
        with self._lock:
            found = self._read(index)
        return TrajectorySignals(
            signals=[_as_json(signal.thinned(MOST_POINTS)) for signal in found[:MOST_SIGNALS]],
            left_out=max(len(found) - MOST_SIGNALS, 0),
            ranges=self._ranges,
            values=variable_values(self._pool, index),
            deviations=self._deviations,
        )

    def _read(self, index: int) -> list[Signal]:
        pool = self._pool
        if pool.source is not None:
            return [] if pool.actions is None else self._world.signals(pool.trajectory(index))
        if pool.clips is None:
            return []
        episode = planned_episode(Path(pool.clips[index]).resolve(), trust=self._trust)
        return [] if episode is None else episode_signals(episode)

    @cached_property
    def _world(self) -> World:
        return self._pool.world()

    @cached_property
    def _ranges(self) -> list[displays.FeatureRange]:
        units = {one.name: one.unit for one in self._world.features} if self._pool.source else {}
        return feature_ranges(self._pool, units)

    @cached_property
    def _deviations(self) -> dict[str, float]:
        numbers = [one for one in self._pool.scaling.variables if one.categories is None]
        return {one.name: float(one.values(self._pool.features).std()) for one in numbers}


def episode_signals(episode: Episode) -> list[Signal]:
    """States, actions and rewards of an episode by their names."""
    actions = [f"{name} (action)" if name in episode.state_names else name for name in episode.action_names]
    found = _columns(episode, episode.state_names, episode.states)
    found += _columns(episode, actions, episode.actions)
    return (
        found if episode.rewards is None else found + _columns(episode, ["reward"], episode.rewards[:, None])
    )


def _columns(episode: Episode, names: list[str] | tuple[str, ...], values: Array) -> list[Signal]:
    times = episode.step_seconds * np.arange(len(values), dtype=float)
    return [Signal(name, "", times, column) for name, column in zip(names, values.T, strict=True)]


def _as_json(signal: Signal) -> displays.Signal:
    return displays.Signal(signal.name, signal.unit, _rounded(signal.times), _rounded(signal.values))


def _rounded(values: Array) -> list[float]:
    return [float(f"{value:.{DIGITS}g}") for value in values.tolist()]
