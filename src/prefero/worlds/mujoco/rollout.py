"""MuJoCo, for the worlds that need it: one model, many rollouts at once on all cores.

start      (N, S)      states to begin from: time, positions, velocities
controls   (N, T, U)   what the motors are told at every step
states     (N, T, S)   after every step
"""

from types import ModuleType
from typing import Any

import numpy as np

from prefero._support.arrays import Array
from prefero._support.optional import need
from prefero._support.systems import usable_cores


def engine() -> ModuleType:
    """The physics engine, or an error that says how to install it."""
    return need("mujoco", extra="worlds")


def version() -> str:
    """Rollouts repeat to the last bit within a version of MuJoCo, and not across versions."""
    return f"mujoco {engine().__version__}"


def state_size(model: Any) -> int:
    """How many numbers a state has."""
    return int(engine().mj_stateSize(model, engine().mjtState.mjSTATE_FULLPHYSICS))


def run(model: Any, start: Array, controls: Array) -> Array:
    """All rollouts, on all cores."""
    rollout = need("mujoco.rollout", extra="worlds").rollout
    data = [engine().MjData(model) for _ in range(min(usable_cores(), len(start)))]
    states, _ = rollout(model, data, start, controls)
    return np.asarray(states)
