"""How an exported Python file computes features: its code, besides the functions of the features themselves.

The constants in capitals are empty here, and filled in a file.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from prefero._support.arrays import Array

NAMES: tuple[str, ...] = ()
STATES: tuple[str, ...] = ()
ACTIONS: tuple[str, ...] = ()
LOGARITHMS: tuple[str, ...] = ()
STEP_SECONDS = 1.0
FEATURES: list[Callable[[Any], Mapping[str, float]]] = []
CONSTANTS = ("NAMES", "STATES", "ACTIONS", "LOGARITHMS", "STEP_SECONDS", "FEATURES")


class Trajectory:
    """States (T, s) or (T + 1, s), actions (T, a), and perhaps rewards (T,); it may have ended early."""

    def __init__(
        self, states: Any, actions: Any, step_seconds: float, rewards: Any, terminated: bool
    ) -> None:
        self.terminated = terminated
        self.states, self.actions = np.asarray(states, dtype=float), np.asarray(actions, dtype=float)
        self.rewards = None if rewards is None else np.asarray(rewards, dtype=float)
        self.step_seconds, self.state_names, self.action_names = step_seconds, STATES, ACTIONS
        if self.states.ndim != 2 or self.states.shape[1] != len(STATES):
            raise ValueError(f"wanted states (T, {len(STATES)}) of {STATES}, but got {self.states.shape}")


def features(
    states: Any,
    actions: Any,
    step_seconds: float | None = None,
    rewards: Any = None,
    terminated: bool = False,
) -> Array:
    """The features of a trajectory, (d,), in the order of NAMES: predict([features(...)]) is its reward."""
    seconds = STEP_SECONDS if step_seconds is None else step_seconds
    t = Trajectory(states, actions, seconds, rewards, terminated)
    found = {name: value for compute in FEATURES for name, value in compute(t).items()}
    found.update({f"log({name})": np.log(found[name]) for name in LOGARITHMS})
    return np.array([found[name] for name in NAMES], dtype=float)
