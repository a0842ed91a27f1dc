"""A world that is simulated in microseconds, and action spaces of any size."""

from typing import Any

import numpy as np

from prefero._support.arrays import Array
from prefero.rendering.scenes import Scene, Window
from prefero.worlds import ActionSpace, Feature, World


def box(low: list[float], high: list[float]) -> ActionSpace:
    return ActionSpace(tuple(f"action {n}" for n in range(len(low))), np.array(low), np.array(high))


class Toy(World):
    """Two actions; the features are a nonlinear map of them, so that no feature is an action."""

    name, physics, horizon, time_step = "toy", "toy 1", 1, 1.0
    options: Any = {}  # noqa: RUF012
    action_space = box([-1.0, 0.0], [1.0, 3.0])
    features = (Feature("sway", "", ""), Feature("reach", "", ""))

    def simulate(self, actions: Array) -> tuple[Array, Array]:
        sway, push = actions.T
        return np.column_stack([np.sin(3 * sway) + push, push * sway]), np.zeros((len(actions), 1, 0, 3))

    @property
    def scene(self) -> Scene:
        return Scene((), Window(0.0, 1.0, 0.0, 1.0), frame_time=1.0)
