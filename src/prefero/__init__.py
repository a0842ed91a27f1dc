"""Prefero learns what a person wants from a robot by asking which of two behaviours they like better."""

from typing import TYPE_CHECKING, Any

from prefero import kernels
from prefero.asking import best_question
from prefero.features import sample_diverse
from prefero.information import information_gain
from prefero.learner import Learner
from prefero.linear import LinearPreference
from prefero.model import PreferenceGP
from prefero.pools import Pool
from prefero.questions import Answer, Question
from prefero.reward import Reward, load_reward

if TYPE_CHECKING:
    from prefero import worlds
    from prefero.wrapping import RewardFromPreferences, VectorRewardFromPreferences

__version__ = "0.1.0"

__all__ = [
    "Answer",
    "Learner",
    "LinearPreference",
    "Pool",
    "PreferenceGP",
    "Question",
    "Reward",
    "RewardFromPreferences",
    "VectorRewardFromPreferences",
    "best_question",
    "information_gain",
    "kernels",
    "load_reward",
    "sample_diverse",
    "worlds",
]


def __getattr__(name: str) -> Any:
    """The worlds and the wrappers are imported when they are first used: they bring Gymnasium."""
    from importlib import import_module

    from prefero.extras import need

    if name == "worlds":
        return import_module("prefero.worlds")
    if name in ("RewardFromPreferences", "VectorRewardFromPreferences"):
        need("gymnasium", extra="worlds")
        return getattr(import_module("prefero.wrapping"), name)
    raise AttributeError(f"module 'prefero' has no attribute {name!r}")
