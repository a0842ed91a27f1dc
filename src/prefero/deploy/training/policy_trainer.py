"""What `RewardLoop` and the trainer of a policy want of each other: rewards of steps, and training."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import gymnasium
import numpy as np

from prefero._support.arrays import Array, Flags
from prefero.deploy.compiled.step_reward import StepReward
from prefero.deploy.online.spaces import SpaceNumbers
from prefero.deploy.online.steps import OnlineSteps


class StepRewards(Protocol):
    """Rewards of steps, (n,)."""

    def __call__(self, states: Array, actions: Array, terminated: Flags | None = None) -> Array:
        """Of states (n, s) before the steps, actions (n, a), and which steps ended their episodes (n,)."""


class PolicyTrainer(Protocol):
    """What trains a policy: `prefero.deploy.training.sb3.Sb3Trainer`, or one of your own."""

    def start(self, env: gymnasium.Env[Any, Any]) -> None:
        """Take the environment to train in; its reward changes when more is learned."""

    def train(self, steps: int) -> None:
        """Train for so many steps of the environment."""

    def relabel(self, rewards: StepRewards) -> None:
        """Compute the rewards of stored steps again; nothing to do where none are stored."""

    def save(self, folder: Path) -> None:
        """Store all that is needed to go on."""

    def load(self, folder: Path) -> None:
        """Go on from what `save` stored, after `start`."""


class RewardedSteps(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Gives the reward that was learned last; 0 before there is one."""

    steps: OnlineSteps | None = None
    _observation: Any = None

    def use(self, reward: StepReward, bound: Callable[[Array], Array], scale: float) -> None:
        """Give this bound of a reward from the next step on, multiplied by the scale."""
        numbers = SpaceNumbers(self.observation_space, self.action_space, None)
        self.steps, self.scale = OnlineSteps(reward, numbers, value=bound), scale
        if self._observation is not None:
            self.steps.begin(self._observation)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        """Start a new episode."""
        observation, info = super().reset(seed=seed, options=options)
        self._observation = np.array(observation)
        if self.steps is not None:
            self.steps.begin(observation)
        return observation, info

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """One step, with the learned reward; the environment's own is in the info."""
        observation, original, terminated, truncated, info = self.env.step(action)
        reward = 0.0
        if self.steps is not None:
            reward = self.scale * float(self.steps(action, observation, terminated))
        self._observation = np.array(observation)
        return observation, reward, terminated, truncated, {**info, "original_reward": original}
