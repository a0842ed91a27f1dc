"""Rewards of steps while environments run: the state before each step is kept, and nothing else.

step     (d,) or (n, d)    the state before a step and its action, of one environment or of n at once
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from prefero._support.arrays import Array
from prefero.datasets.formats.observations import leaves, side_by_side, stack
from prefero.deploy.compiled.step_reward import StepReward

Numbers = Callable[[Any], Any]  # from an observation or an action to its numbers, (s,) or (n, s)


class OnlineSteps:
    """The reward of each step of one environment, or of `count` at once, with these spaces each."""

    def __init__(
        self, reward: StepReward, observations: Any, actions: Any, count: int | None, caution: float = 0.0
    ) -> None:
        self._reward, self._caution = reward, caution
        self._of_observation = numbers_of_space(observations, "state", alone=count is None)
        self._of_action = numbers_of_space(actions, "action", alone=count is None)
        d, self._states = len(reward.features.center), len(reward.state_names)
        self._steps = np.zeros(d if count is None else (count, d))
        self._mean = reward.compiled

    def begin(self, observation: Any, which: Any = ...) -> None:
        """New episodes, of all environments or of those that a mask chooses, from these observations on."""
        numbers = np.asarray(self._of_observation(observation), dtype=float)
        if numbers.shape[-1] != self._states:
            raise ValueError(
                f"the reward is about {self._states} states ({', '.join(self._reward.state_names)}), but an "
                f"observation has {numbers.shape[-1]}"
            )
        self._steps[which, : self._states] = numbers if which is ... else numbers[which]

    def __call__(self, action: Any, observation: Any) -> Any:
        """The reward of a step with this action, after which there is this observation."""
        self._steps[..., self._states :] = self._of_action(action)
        reward = self._mean(self._steps) if not self._caution else self._cautious()
        self._steps[..., : self._states] = self._of_observation(observation)
        return reward

    def _cautious(self) -> Any:
        steps = np.atleast_2d(self._steps)
        mean, std = self._reward.predict(steps[:, : self._states], steps[:, self._states :])
        bound: Array = mean - self._caution * std
        return bound if self._steps.ndim == 2 else bound[0]


def numbers_of_space(space: Any, kind: str, *, alone: bool) -> Numbers:
    """What takes the numbers of a "state" or an "action" out of a space's values; one axis stays as it is.

    The values are those of one environment `alone`, or of several at once.
    """
    found = list(leaves(space))
    if len(found) == 1 and not found[0][0] and len(space.shape or ()) == 1:
        return _as_it_is
    return partial(_of_one if alone else _of_several, kind)


def _as_it_is(value: Any) -> Any:
    return value


def _of_one(kind: str, value: Any) -> Array:
    numbers: Array = side_by_side(stack([value]), kind)[0][0]
    return numbers


def _of_several(kind: str, values: Any) -> Array:
    return side_by_side(values, kind)[0]
