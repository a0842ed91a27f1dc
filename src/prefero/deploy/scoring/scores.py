"""What a learned reward says of trajectories: the one way in which every command scores them."""

from prefero._support.arrays import Array
from prefero.datasets.scores.table import Scores
from prefero.models.posterior.standardized import StandardizedRewards
from prefero.rewards.reward import Reward


def score_trajectories(
    reward: Reward, features: Array, standardized: StandardizedRewards | None = None
) -> Scores:
    """The reward of each trajectory, by its features (M, d), as it is and above the average.

    `standardized` knows the average, where these are only some of the scored trajectories.
    """
    mean, std = reward.predict(features, return_std=True)
    above = reward.standardized(features) if standardized is None else standardized(reward.scaling(features))
    return Scores(mean, std, *above)
