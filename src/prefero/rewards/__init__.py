"""Learned rewards: the reward itself, its file, its figures and its card on the Hugging Face Hub."""

from prefero.rewards.file import RewardFileError
from prefero.rewards.reward import Reward, load_reward

__all__ = ["Reward", "RewardFileError", "load_reward"]
