"""What a learned reward says of trajectories: the one way in which every command scores them."""

from prefero._support.arrays import Array
from prefero.datasets.scores.table import Scores
from prefero.models.posterior.standardized import StandardizedRewards
from prefero.rewards.reward import Reward


def score_trajectories(
    reward: Reward, features: Array, standardized: StandardizedRewards | None = None
) -> Scores:
    """The reward of each trajectory, by its features (M, d), as it is and above the average.

    Where answers said what is acceptable, also the probability of that.

    `standardized` knows the average, where these are only some of the scored trajectories.
    """
    mean, std = reward.predict(features, return_std=True)
    above = reward.standardized(features) if standardized is None else standardized(reward.scaling(features))
    probability = reward.probability_acceptable(features) if reward.has_bar else None
    return Scores(mean, std, *above, acceptable=probability)
