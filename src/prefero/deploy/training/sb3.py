"""Training with stable-baselines3, as `RewardLoop` wants it; it needs the extra `train`."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from prefero.deploy.training.policy_trainer import StepRewards

POLICY, BUFFER = "policy.zip", "replay-buffer.npz"
STORED = ("observations", "next_observations", "actions", "rewards", "dones", "timeouts")


class Sb3Trainer:
    """Trains with an algorithm of stable-baselines3; the replay buffer of an off-policy one is relabelled.

    An on-policy one, such as PPO, takes whole rollouts: what it took too many is taken off the next steps.

    Args:
        make: Makes the algorithm for an environment, for example
            `lambda env: SAC("MlpPolicy", env, learning_starts=0)`.
    """

    model: Any

    def __init__(self, make: Callable[[gymnasium.Env[Any, Any]], Any]) -> None:
        self._make = make
        self._until = 0  # the number of steps that were asked for so far

    def start(self, env: gymnasium.Env[Any, Any]) -> None:
        """Make the algorithm."""
        self.model = self._make(env)
        self._until = self.model.num_timesteps

    def train(self, steps: int) -> None:
        """Learn for so many more steps."""
        self._until += steps
        left = self._until - self.model.num_timesteps
        if left > 0:
            self.model.learn(left, reset_num_timesteps=False)

    def relabel(self, rewards: StepRewards) -> None:
        """Compute the rewards in the replay buffer again, where there is one."""
        buffer = getattr(self.model, "replay_buffer", None)
        if buffer is None or not buffer.size():
            return
        size = buffer.size()
        observations, actions = buffer.observations[:size], buffer.actions[:size]
        flat = (observations.reshape(-1, observations.shape[-1]), actions.reshape(-1, actions.shape[-1]))
        states, moved = np.asarray(flat[0], dtype=float), self.model.policy.unscale_action(flat[1])
        ended = (buffer.dones[:size] * (1 - buffer.timeouts[:size])).ravel() > 0
        buffer.rewards[:size] = rewards(states, moved, ended).reshape(buffer.rewards[:size].shape)

    def save(self, folder: Path) -> None:
        """The policy in stable-baselines3's own file, and the replay buffer as arrays."""
        self.model.save(folder / POLICY)
        buffer = getattr(self.model, "replay_buffer", None)
        if buffer is not None:
            arrays = {name: getattr(buffer, name)[: buffer.size()] for name in STORED}
            np.savez_compressed(folder / BUFFER, allow_pickle=False, position=buffer.pos, **arrays)

    def load(self, folder: Path) -> None:
        """The same again. The policy's file may contain code, so load only what you stored yourself."""
        self.model = type(self.model).load(folder / POLICY, env=self.model.get_env())
        self._until = self.model.num_timesteps
        buffer = getattr(self.model, "replay_buffer", None)
        if buffer is None or not (folder / BUFFER).is_file():
            return
        with np.load(folder / BUFFER, allow_pickle=False) as kept:
            for name in STORED:
                getattr(buffer, name)[: len(kept[name])] = kept[name]
            buffer.pos = int(kept["position"])
            buffer.full = len(kept["rewards"]) == buffer.buffer_size
