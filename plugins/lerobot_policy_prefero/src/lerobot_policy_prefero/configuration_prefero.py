"""How LeRobot is told which reward of Prefero to load, and what a batch holds."""

from dataclasses import dataclass, field

from lerobot.configs.rewards import RewardModelConfig


@RewardModelConfig.register_subclass("prefero")
@dataclass
class PreferoConfig(RewardModelConfig):  # type: ignore[misc]
    """A reward learned from preferences, as `Reward.save` or `Reward.push_to_hub` wrote it.

    reward        the reward's file, a folder that has one, or OWNER/NAME of one on the Hub; without it, the
                  one beside this configuration
    state_keys    the observations that the states are made of, one after the other
    action_keys   the actions, likewise
    steps         how many past frames LeRobot's data loader gives beside the current one, itself included
    """

    reward: str | None = None
    state_keys: list[str] = field(default_factory=lambda: ["observation.state"])
    action_keys: list[str] = field(default_factory=lambda: ["action"])
    steps: int = 1

    def __post_init__(self) -> None:
        """Check the number of frames."""
        super().__post_init__()
        if self.steps < 1:
            raise ValueError(f"steps is how many frames a reward is computed of, but is {self.steps}")

    @property
    def observation_delta_indices(self) -> list[int]:
        """The frames of an observation, relative to the current one."""
        return list(range(1 - self.steps, 1))

    @property
    def action_delta_indices(self) -> list[int]:
        """The same frames for actions."""
        return self.observation_delta_indices
