"""A reward learned with Prefero as a reward model of LeRobot."""

from pathlib import Path
from typing import Any, Self

import torch
from lerobot.configs.rewards import RewardModelConfig
from lerobot.rewards.pretrained import PreTrainedRewardModel

from lerobot_policy_prefero.batches import episodes_in
from lerobot_policy_prefero.configuration_prefero import SUCCESS, PreferoConfig
from prefero import Reward, load_reward
from prefero.datasets import Episode
from prefero.deploy.online.prefix_rewards import PrefixRewards
from prefero.rewards.acceptable import check_bar

REWARD_FILE = "reward.json"


class PreferoRewardModel(PreTrainedRewardModel):  # type: ignore[misc]
    """Computes the learned reward of trajectories; it is taught with Prefero, and not trained by LeRobot."""

    name = "prefero"
    config_class = PreferoConfig

    def __init__(self, config: PreferoConfig, reward: Reward | None = None, **_: Any) -> None:
        super().__init__(config)
        if reward is None:
            if config.reward is None:
                raise ValueError(
                    "which reward? --reward_model.reward=FILE.json, a folder that has one, or OWNER/NAME of "
                    "one on the Hub"
                )
            reward = load_reward(config.reward)
        self.reward = reward
        self.prefixes = PrefixRewards.of(self.reward)
        if config.reward_output == SUCCESS:
            check_bar(self.reward.belief)

    def compute_reward(self, batch: dict[str, Any]) -> torch.Tensor:
        """The learned reward of each trajectory, (B,): of its frames so far, (B, T, n), or of one, (B, n).

        With reward_output "success" it is 1 for those that are acceptable, and 0 for others.
        """
        if self.config.reward_output == SUCCESS:
            return self.predict_reward(batch)
        return self._tensor([self.prefixes.whole(episode) for episode in self._episodes(batch)])

    def predict_reward(self, batch: dict[str, Any], threshold: float | None = None) -> torch.Tensor:
        """Whether each trajectory is a success, 1 or 0, (B,): as LeRobot's reward classifier says it.

        The threshold is a probability; None takes the configuration's success_threshold.
        """
        least = self.config.success_threshold if threshold is None else threshold
        return self._tensor([float(p > least) for p in self._acceptable(batch)])

    def predict_success(self, batch: dict[str, Any]) -> torch.Tensor:
        """The probability that each trajectory is acceptable, (B,)."""
        return self._tensor(self._acceptable(batch))

    def _acceptable(self, batch: dict[str, Any]) -> list[float]:
        return [self.prefixes.acceptable(episode) for episode in self._episodes(batch)]

    def _episodes(self, batch: dict[str, Any]) -> list[Episode]:
        about, spec = self.config, self.prefixes.features.spec
        return episodes_in(batch, spec, about.state_keys, about.action_keys, about.steps)

    def _tensor(self, values: list[float]) -> torch.Tensor:
        return torch.as_tensor(values, dtype=torch.float32, device=self.config.device)

    def _save_pretrained(self, save_directory: Path) -> None:
        """Write the configuration and the reward's file, which needs no weights beside it."""
        self.config._save_pretrained(save_directory)
        self.reward.save(save_directory / REWARD_FILE)

    @classmethod
    def from_pretrained(
        cls,
        pretrained_name_or_path: str | Path,
        *,
        config: RewardModelConfig | None = None,
        revision: str | None = None,
        **kwargs: Any,
    ) -> Self:
        """A reward in a folder, or in a repository of models on the Hub."""
        place = str(pretrained_name_or_path)
        config = config or RewardModelConfig.from_pretrained(place, revision=revision)
        if not isinstance(config, PreferoConfig):
            raise TypeError(f"{place} is a reward model of the type {config.type}, and not prefero")
        at = "" if revision is None or Path(place).is_dir() else f"@{revision}"
        model = cls(config, reward=load_reward(f"{place}{at}"), **kwargs)
        model.to(config.device)
        model.eval()
        return model
