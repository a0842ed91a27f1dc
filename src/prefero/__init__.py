"""Prefero learns a robot's reward function from a person's preferences between trajectories."""

from typing import TYPE_CHECKING, Any

from prefero import kernels
from prefero.acquisition.base import AcquisitionFunction
from prefero.acquisition.functions.expected_utility import ExpectedUtility
from prefero.acquisition.functions.mutual_information import MutualInformation, information_gain
from prefero.acquisition.searches.best_question import best_question
from prefero.learner import Learner
from prefero.models.linear import LinearPreference
from prefero.models.preference_gp import PreferenceGP
from prefero.pools.pool import Pool
from prefero.questions import Answer, Labels, Question
from prefero.rewards.reward import Reward, load_reward
from prefero.trajectories.diversity import sample_diverse

if TYPE_CHECKING:
    from prefero import worlds
    from prefero.datasets.features.extraction.options import FeatureOptions
    from prefero.deploy.compiled.step_reward import StepReward
    from prefero.deploy.planning.plan import plan
    from prefero.deploy.training.gym_wrappers import RewardFromPreferences, VectorRewardFromPreferences
    from prefero.deploy.training.reward_loop import RewardLoop

__version__ = "0.1.0"

__all__ = [
    "AcquisitionFunction",
    "Answer",
    "ExpectedUtility",
    "FeatureOptions",
    "Labels",
    "Learner",
    "LinearPreference",
    "MutualInformation",
    "Pool",
    "PreferenceGP",
    "Question",
    "Reward",
    "RewardFromPreferences",
    "RewardLoop",
    "StepReward",
    "VectorRewardFromPreferences",
    "best_question",
    "information_gain",
    "kernels",
    "load_reward",
    "plan",
    "sample_diverse",
    "worlds",
]


LOAD = 'load_reward("reward.json"), Pool.load("pool.npz") or Learner.load("learner.json")'
MEANT_BY = {  # names that people try first
    **dict.fromkeys(("load", "load_pool", "load_learner"), LOAD),
    "simulate": 'Pool.simulate("driver")',
    "make": 'worlds.make("driver")',
    "open_dataset": "prefero.datasets.open_dataset(path)",
}


def __getattr__(name: str) -> Any:
    """Worlds, datasets, planning and the Gymnasium wrappers are imported when they are first used."""
    from importlib import import_module

    from prefero._support.names import no_attribute
    from prefero._support.optional import need

    if name == "worlds":
        return import_module("prefero.worlds")
    if name == "FeatureOptions":
        return import_module("prefero.datasets.features.extraction.options").FeatureOptions
    if name == "plan":
        return import_module("prefero.deploy.planning.plan").plan
    if name == "StepReward":
        return import_module("prefero.deploy.compiled.step_reward").StepReward
    if name == "RewardLoop":
        need("gymnasium", extra="worlds")
        return import_module("prefero.deploy.training.reward_loop").RewardLoop
    if name in ("RewardFromPreferences", "VectorRewardFromPreferences"):
        need("gymnasium", extra="worlds")
        return getattr(import_module("prefero.deploy.training.gym_wrappers"), name)
    raise no_attribute("module 'prefero'", name, __all__, MEANT_BY)
