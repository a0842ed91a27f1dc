"""MuJoCo rollouts: one model, many trajectories at once on all cores.

start      (N, S)      initial states: time, positions, velocities
controls   (N, T, U)   the motors' controls at every step
states     (N, T, S)   the state after every step
"""

from types import ModuleType
from typing import Any

import numpy as np

from prefero._support.arrays import Array
from prefero._support.optional import need
from prefero._support.systems import usable_cores


def engine() -> ModuleType:
    """The module `mujoco`, or an error that says how to install it."""
    return need("mujoco", extra="worlds")


def version() -> str:
    """The version of MuJoCo: rollouts are bitwise repeatable within a version, not across versions."""
    return f"mujoco {engine().__version__}"


def state_size(model: Any) -> int:
    """The number of values in a state."""
    return int(engine().mj_stateSize(model, engine().mjtState.mjSTATE_FULLPHYSICS))


def rollout(model: Any, start: Array, controls: Array) -> Array:
    """The states of all trajectories, simulated on all cores."""
    module = need("mujoco.rollout", extra="worlds")
    data = [engine().MjData(model) for _ in range(min(usable_cores(), len(start)))]
    states, _ = module.rollout(model, data, start, controls)
    return np.asarray(states)
