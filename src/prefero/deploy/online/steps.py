"""Rewards of steps while environments run: the state before each step is kept, and nothing else.

numbers   (d + 1,) or (n, d + 1)    the state before a step, its action and its effort, of one environment
                                    or of n at once
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from prefero._support.arrays import Array
from prefero.deploy.compiled.cautious_steps import CautiousSteps
from prefero.deploy.compiled.step_reward import StepReward
from prefero.deploy.online.spaces import SpaceNumbers


class OnlineSteps:
    """The reward of each step of one environment, or of several at once.

    Args:
        reward: The reward.
        numbers: Takes the numbers out of observations and actions.
        caution: k in mean - k std.
        value: The reward as a function of numbers; None: the mean, or the lower confidence bound.
    """

    def __init__(
        self,
        reward: StepReward,
        numbers: SpaceNumbers,
        caution: float = 0.0,
        value: Callable[[Array], Array] | None = None,
    ) -> None:
        self._reward, self._numbers = reward, numbers
        self._value = value or (CautiousSteps.of(reward, caution) if caution else reward.compiled)
        d, self._states = len(reward.features.effort), len(reward.state_names)
        self._effort = np.array(reward.features.effort[self._states :])
        self._row = np.zeros(d + 1 if numbers.count is None else (numbers.count, d + 1))

    def begin(self, observation: Any, which: Any = ...) -> None:
        """New episodes, of all environments or of those that a mask chooses, from these observations on."""
        numbers = np.asarray(self._numbers.of_states(observation), dtype=float)
        if numbers.shape[-1] != self._states:
            raise ValueError(
                f"the reward is about {self._states} states ({', '.join(self._reward.state_names)}), but an "
                f"observation has {numbers.shape[-1]}"
            )
        self._row[which, : self._states] = numbers if which is ... else numbers[which]

    def __call__(self, action: Any, observation: Any, terminated: Any = False) -> Any:
        """The reward of a step with this action, after which there is this observation, or the end."""
        moved = self._row[..., self._states : -1]
        moved[...] = self._numbers.of_actions(action)
        self._row[..., -1] = (moved * moved) @ self._effort
        reward = self._value(self._row)
        self._row[..., : self._states] = self._numbers.of_states(observation)
        return reward + self._reward.end * terminated if self._reward.horizon else reward
