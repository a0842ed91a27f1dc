"""Which episodes are bad: how each compares with the others, with the uncertainty of the learned reward.

    quality        (M,)   the expected fraction of the other episodes that are worse, from 0 (the worst) to 1
    among_worst    (M,)   the probability that an episode is among the worst `count`

Both are computed from joint draws of the rewards, so that what the reward does not know yet counts. Unusual
episodes are worse a priori, as far as the answers leave it open (`unusual_prior`). Of a large dataset, an
episode is compared with some of the others, drawn at random.
"""

from dataclasses import dataclass, replace

import numpy as np

from prefero._support.arrays import Array, Indices, as_probabilities
from prefero.datasets.scores.table import Scores
from prefero.deploy.scoring.scores import score_trajectories
from prefero.deploy.scoring.unusual_prior import unusual_shift
from prefero.models.posterior.draws import Draws, draw_rewards
from prefero.rewards.reward import Reward
from prefero.trajectories.unusualness import Unusualness, unusualness

MOST_JOINT = 1000  # episodes whose rewards are drawn together; the time grows with their cube
REFERENCE = 500  # of a larger dataset, the episodes that all are compared with


@dataclass(frozen=True, eq=False)
class EpisodeQuality(Scores):
    """How each of M episodes compares with the others.

    Args:
        mean: The expected reward, (M,).
        std: Its standard deviation, (M,).
        standardized: The expected reward above the average episode, as `Reward.standardized` has it, (M,).
        standardized_std: Its standard deviation, (M,).
        quality: The expected fraction of the others that are worse, (M,).
        among_worst: The probability of being among the worst `count`, (M,).
        count: Which episodes count as the worst: so many.
        unusual: How unusual each is by its features, and why.
        shift: What is added to the expected reward of each since unusual episodes are worse a priori, (M,).
        acceptable: The probability of being acceptable, (M,); None where nobody said what is.
    """

    quality: Array
    among_worst: Array
    count: int
    unusual: Unusualness
    shift: Array

    @property
    def order(self) -> Indices:
        """The episodes by their expected reward, with what unusualness changes of it; worst first."""
        return np.argsort(-(self.mean + self.shift), kind="stable")[::-1]


def rate_episodes(
    reward: Reward, features: Array, count: int = 20, *, prior: bool = True, seed: int = 0
) -> EpisodeQuality:
    """How each episode compares with the others, by a learned reward.

    Args:
        reward: The reward.
        features: Of the episodes, (M, d), in the reward's order: `reward.extract_features(dataset).features`.
        count: How many episodes count as the worst.
        prior: Whether unusual episodes are worse a priori; the answers overrule this.
        seed: Of the draws.

    Returns:
        The quality of each.
    """
    if len(features) < 2:
        raise ValueError(
            f"episodes are compared with each other, so there must be two or more, not {len(features)}"
        )
    count = min(count, len(features))
    x = reward.scaling(features)
    fraction = count / len(x)
    quality, among = np.zeros(len(x)), np.zeros(len(x))
    unusual = unusualness(x)
    shift = unusual_shift(reward.belief, x, unusual.values) if prior else np.zeros(len(x))
    for rows, reference in _comparisons(len(x), seed):
        drawn = np.union1d(reference, rows)  # each once, so that an episode is never worse than itself
        draws = draw_rewards(reward.belief, x[drawn], seed=seed)
        draws = replace(draws, rewards=draws.rewards + shift[drawn])
        at = np.searchsorted(drawn, reference), np.searchsorted(drawn, rows)
        quality[rows], among[rows] = _compared(draws, *at, fraction)
    scores = score_trajectories(reward, features)
    return EpisodeQuality(
        **vars(scores), quality=quality, among_worst=among, count=count, unusual=unusual, shift=shift
    )


def _comparisons(episodes: int, seed: int) -> list[tuple[Indices, Indices]]:
    """Episodes, and those that they are compared with: all of them, or so many that draws are quick."""
    every = np.arange(episodes)
    if episodes <= MOST_JOINT:
        return [(every, every)]
    reference = np.sort(np.random.default_rng(seed).choice(episodes, REFERENCE, replace=False))
    step = MOST_JOINT - REFERENCE
    return [(every[start : start + step], reference) for start in range(0, episodes, step)]


def _compared(draws: Draws, reference: Indices, rows: Indices, fraction: float) -> tuple[Array, Array]:
    """The expected fraction of the reference that is worse than each row; how probably it is this small."""
    others, own = np.sort(draws.rewards[:, reference], axis=1), draws.rewards[:, rows]
    worse = np.stack([np.searchsorted(line, values) for line, values in zip(others, own, strict=True)])
    compared = len(reference) - np.isin(rows, reference)  # with all but itself
    expected = as_probabilities(draws.weights @ (worse / compared))
    among = as_probabilities(draws.weights @ (worse < fraction * len(reference) - 1e-9))
    return expected, among
