"""How LeRobot is told which reward of Prefero to load, and what a batch holds."""

from dataclasses import dataclass, field

from lerobot.configs.rewards import RewardModelConfig

REWARD, SUCCESS = OUTPUTS = ("reward", "success")


@RewardModelConfig.register_subclass("prefero")
@dataclass
class PreferoConfig(RewardModelConfig):  # type: ignore[misc]
    """A reward learned from preferences, as `Reward.save` or `Reward.push_to_hub` wrote it.

    reward        the reward's file, a folder that has one, or OWNER/NAME of one on the Hub; without it, the
                  one beside this configuration
    state_keys    the observations that the states are made of, one after the other
    action_keys   the actions, likewise
    steps         how many past frames LeRobot's data loader gives beside the current one, itself included
    reward_output       what the model gives for a trajectory: its "reward", or its "success", which is 1 if
                        it is acceptable, and else 0
    success_threshold   the probability of being acceptable above which a trajectory is a success
    """

    reward: str | None = None
    state_keys: list[str] = field(default_factory=lambda: ["observation.state"])
    action_keys: list[str] = field(default_factory=lambda: ["action"])
    steps: int = 1
    reward_output: str = "reward"
    success_threshold: float = 0.5

    def __post_init__(self) -> None:
        """Check the number of frames, and what is wanted of the model."""
        super().__post_init__()
        if self.steps < 1:
            raise ValueError(f"steps is how many frames a reward is computed of, but is {self.steps}")
        if self.reward_output not in OUTPUTS:
            raise ValueError(f"reward_output is {' or '.join(OUTPUTS)}, but is {self.reward_output!r}")
        if not 0.0 <= self.success_threshold <= 1.0:
            raise ValueError(f"success_threshold is a probability, but is {self.success_threshold}")

    @property
    def observation_delta_indices(self) -> list[int]:
        """The frames of an observation, relative to the current one."""
        return list(range(1 - self.steps, 1))

    @property
    def action_delta_indices(self) -> list[int]:
        """The same frames for actions."""
        return self.observation_delta_indices
