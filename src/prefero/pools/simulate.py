"""Simulated trajectories: rollouts of a world with random actions, or with actions on a grid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from prefero._support.progress_bar import progress
from prefero.trajectories.trajectory import Trajectory

if TYPE_CHECKING:
    from prefero._support.arrays import Array
    from prefero.worlds.base import World

MAX_BATCHES = 50  # steps of the progress bar
MIN_BATCH = 16  # trajectories

Sampling = Literal["random", "grid"]


@dataclass(frozen=True)
class Source:
    """Where simulated trajectories come from: all that is needed to simulate them again.

    Args:
        world: The name of the world.
        options: The options that it was made with.
        physics: The version of its dynamics.
        count: How many trajectories.
        seed: Of the random actions.
        sampling: "random" or "grid".
    """

    world: str
    options: dict[str, Any]
    physics: str
    count: int
    seed: int
    sampling: Sampling

    @classmethod
    def of(cls, world: World, count: int, seed: int, sampling: Sampling) -> Source:
        """The source of `count` trajectories of a world.

        Args:
            world: The world.
            count: How many trajectories.
            seed: Of the random actions.
            sampling: "random" or "grid".

        Returns:
            The source.
        """
        if sampling not in get_args(Sampling):
            raise ValueError(f"sampling must be 'random' or 'grid', but is {sampling!r}")
        if count < 2 or seed < 0:
            raise ValueError(
                f"a pool has two trajectories or more and a seed of 0 or more, not {count} and {seed}"
            )
        return cls(world.name, dict(world.options), world.physics, int(count), int(seed), sampling)


def simulate(world: World, actions: Array, show: bool | None) -> Trajectory:
    """The trajectories of actions (N, A), as one batch, with a progress bar unless `show` is False."""
    batches = np.array_split(actions, min(MAX_BATCHES, -(-len(actions) // MIN_BATCH)))
    done = []
    with progress(f"simulating {world.name}", len(actions), show) as advance:
        for batch in batches:
            done.append(world.rollout(batch))
            advance(len(batch))
    return Trajectory.join(done)


def actions_of(world: World, source: Source) -> Array:
    """The actions that a source draws, (N, A)."""
    if source.sampling == "grid":
        return world.action_space.grid(source.count)
    return world.action_space.sample(source.count, np.random.default_rng(source.seed))
