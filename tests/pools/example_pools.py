"""Random features, a world that counts its rollouts, and a cache for the tests of pools."""

from pathlib import Path
from typing import Any

import numpy as np

from prefero import Pool
from prefero._support.arrays import Array
from prefero.trajectories.trajectory import Trajectory
from prefero.worlds.driver import Driver


def normal(rows: int = 8, columns: int = 2) -> Array:
    return np.random.default_rng(0).standard_normal((rows, columns))


class Counting(Driver):
    """A driver that counts its rollouts."""

    def __init__(self, physics: str = "driver 1") -> None:
        super().__init__()
        self.physics = physics
        self.sizes: list[int] = []

    def rollout(self, actions: Any) -> Trajectory:
        self.sizes.append(len(actions))
        return super().rollout(actions)


def trajectories_of(pool: Pool) -> Trajectory:
    assert pool.trajectories is not None
    return pool.trajectories


def assert_same_pool(found: Pool, wanted: Pool) -> None:
    np.testing.assert_array_equal(found.features, wanted.features)
    assert (found.names, found.source, found.scaling) == (wanted.names, wanted.source, wanted.scaling)
    for array in ("actions", "features", "poses"):
        mine, other = (getattr(trajectories_of(pool), array) for pool in (found, wanted))
        assert mine.dtype == other.dtype
        np.testing.assert_array_equal(mine, other)


def files_in(folder: Path) -> list[Path]:
    return sorted(file for file in folder.rglob("*") if file.is_file())
