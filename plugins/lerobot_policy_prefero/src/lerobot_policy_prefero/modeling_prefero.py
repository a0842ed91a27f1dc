"""A reward learned with Prefero as a reward model of LeRobot."""

from pathlib import Path
from typing import Any, Self

import torch
from lerobot.configs.rewards import RewardModelConfig
from lerobot.rewards.pretrained import PreTrainedRewardModel

from lerobot_policy_prefero.batches import episodes_in
from lerobot_policy_prefero.configuration_prefero import PreferoConfig
from prefero import Reward, load_reward
from prefero.deploy.online.prefix_rewards import PrefixRewards

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

    def compute_reward(self, batch: dict[str, Any]) -> torch.Tensor:
        """The learned reward of each trajectory, (B,): of its frames so far, (B, T, n), or of one, (B, n)."""
        about = self.config
        episodes = episodes_in(
            batch, self.prefixes.features.spec, about.state_keys, about.action_keys, about.steps
        )
        values = [self.prefixes.whole(episode) for episode in episodes]
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
