"""Training with stable-baselines3, as `RewardLoop` wants it; it needs the extra `train`."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from prefero.deploy.reward_loop import StepRewards

POLICY, BUFFER = "policy.zip", "replay-buffer.pkl"  # stable-baselines3's own files


class Sb3Trainer:
    """Trains with an algorithm of stable-baselines3; the replay buffer of an off-policy one is relabelled.

    Args:
        make: Makes the algorithm for an environment, for example
            `lambda env: SAC("MlpPolicy", env, learning_starts=0)`.
    """

    model: Any

    def __init__(self, make: Callable[[gymnasium.Env[Any, Any]], Any]) -> None:
        self._make = make

    def start(self, env: gymnasium.Env[Any, Any]) -> None:
        """Make the algorithm."""
        self.model = self._make(env)

    def train(self, steps: int) -> None:
        """Learn for so many more steps."""
        self.model.learn(steps, reset_num_timesteps=False)

    def relabel(self, rewards: StepRewards) -> None:
        """Compute the rewards in the replay buffer again, where there is one."""
        buffer = getattr(self.model, "replay_buffer", None)
        if buffer is None or not buffer.size():
            return
        size = buffer.size()
        observations, actions = buffer.observations[:size], buffer.actions[:size]
        flat = (observations.reshape(-1, observations.shape[-1]), actions.reshape(-1, actions.shape[-1]))
        states, moved = np.asarray(flat[0], dtype=float), self.model.policy.unscale_action(flat[1])
        buffer.rewards[:size] = rewards(states, moved).reshape(buffer.rewards[:size].shape)

    def save(self, folder: Path) -> None:
        """The policy and the replay buffer, in stable-baselines3's files."""
        self.model.save(folder / POLICY)
        if getattr(self.model, "replay_buffer", None) is not None:
            self.model.save_replay_buffer(folder / BUFFER)

    def load(self, folder: Path) -> None:
        """The same again; a replay buffer is a pickle, so that only a folder of your own is to be loaded."""
        self.model = type(self.model).load(folder / POLICY, env=self.model.get_env())
        if (folder / BUFFER).is_file():
            self.model.load_replay_buffer(folder / BUFFER)
