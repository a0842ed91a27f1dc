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

__version__ = "0.1.0"

__all__ = [
    "Answer",
    "Learner",
    "LinearPreference",
    "Pool",
    "PreferenceGP",
    "Question",
    "Reward",
    "best_question",
    "information_gain",
    "kernels",
    "load_reward",
    "sample_diverse",
    "worlds",
]


def __getattr__(name: str) -> Any:
    """`prefero.worlds` is imported when it is first used: it brings Gymnasium, where that is installed."""
    if name == "worlds":
        from importlib import import_module

        return import_module("prefero.worlds")
    raise AttributeError(f"module 'prefero' has no attribute {name!r}")
