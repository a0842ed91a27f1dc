"""Rewards of steps while environments run: the state before each step is kept, and nothing else.

step     (d,) or (n, d)    the state before a step and its action, of one environment or of n at once
"""

from typing import Any

import numpy as np

from prefero._support.arrays import Array
from prefero.deploy.compiled.step_reward import StepReward
from prefero.deploy.online.spaces import SpaceNumbers


class OnlineSteps:
    """The reward of each step of one environment, or of several at once."""

    def __init__(self, reward: StepReward, numbers: SpaceNumbers, caution: float = 0.0) -> None:
        self._reward, self._numbers, self._caution = reward, numbers, caution
        d, self._states = len(reward.features.center), len(reward.state_names)
        self._steps = np.zeros(d if numbers.count is None else (numbers.count, d))
        self._mean = reward.compiled

    def begin(self, observation: Any, which: Any = ...) -> None:
        """New episodes, of all environments or of those that a mask chooses, from these observations on."""
        numbers = np.asarray(self._numbers.of_states(observation), dtype=float)
        if numbers.shape[-1] != self._states:
            raise ValueError(
                f"the reward is about {self._states} states ({', '.join(self._reward.state_names)}), but an "
                f"observation has {numbers.shape[-1]}"
            )
        self._steps[which, : self._states] = numbers if which is ... else numbers[which]

    def __call__(self, action: Any, observation: Any) -> Any:
        """The reward of a step with this action, after which there is this observation."""
        self._steps[..., self._states :] = self._numbers.of_actions(action)
        reward = self._mean(self._steps) if not self._caution else self._cautious()
        self._steps[..., : self._states] = self._numbers.of_states(observation)
        return reward

    def _cautious(self) -> Any:
        steps = np.atleast_2d(self._steps)
        mean, std = self._reward.predict(steps[:, : self._states], steps[:, self._states :])
        bound: Array = mean - self._caution * std
        return bound if self._steps.ndim == 2 else bound[0]
