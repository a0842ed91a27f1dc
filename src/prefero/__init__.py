"""Prefero learns what a person wants from a robot by asking which of two behaviours they like better."""

from prefero import kernels
from prefero.asking import best_question
from prefero.features import sample_diverse
from prefero.information import information_gain
from prefero.learner import Learner
from prefero.linear import LinearPreference
from prefero.model import PreferenceGP
from prefero.questions import Answer, Question
from prefero.reward import Reward, load_reward
from prefero.trajectories import Pool

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
]
