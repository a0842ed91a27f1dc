"""The learned reward of an episode that is not over yet: of its first step, of its first two, and so on.

    prefix     the first t steps of an episode
    segments   the steps of a prefix that the reward is about: the prefix itself; for a reward that was taught
               with windows, the whole windows in it, or the prefix while it is shorter than one

The reward of a prefix is the mean of the rewards of its segments. Its features are computed as the reward's
file says, so that nothing else is needed.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from prefero._support.arrays import Array
from prefero.datasets.episode import Episode, StepRange
from prefero.datasets.features.extraction.from_spec import EpisodeFeatures
from prefero.deploy.compiled.compiled_reward import lower_bound_of
from prefero.models.posterior.bar import probability_mean_acceptable
from prefero.rewards.acceptable import check_bar
from prefero.rewards.reward import Reward


@dataclass(frozen=True, eq=False)
class PrefixRewards:
    """Computes the learned reward of episodes and of their prefixes.

    Args:
        reward: The reward.
        features: What computes its features.
        caution: k in mean - k std, the lower confidence bound.
    """

    reward: Reward
    features: EpisodeFeatures
    caution: float = 0.0

    @classmethod
    def of(cls, reward: Reward, *, caution: float = 0.0, trust: bool = False) -> "PrefixRewards":
        """For a reward that knows how its features are computed.

        Args:
            reward: The reward.
            caution: k in mean - k std.
            trust: Import the functions that the reward's file names.

        Returns:
            What computes its values for episodes.
        """
        return cls(reward, reward.episode_features(trust=trust), caution)

    @cached_property
    def _value(self) -> Callable[[Array], Array]:
        return lower_bound_of(self.reward, self.caution)

    def __call__(self, episode: Episode) -> Array:
        """The rewards of all prefixes, (T,): the last one is that of the whole episode."""
        return self._of_prefixes(episode, range(1, len(episode) + 1))

    def predict(self, episode: Episode) -> tuple[Array, Array, Array]:
        """The features of all prefixes, their expected rewards, and the standard deviations of these.

        Args:
            episode: The episode.

        Returns:
            The features (T, d), of several segments their mean; the means and the standard deviations, (T,).
        """
        rows, prefixes = self._rows(episode, range(1, len(episode) + 1))
        features = np.stack([rows[places].mean(axis=0) for places in prefixes])
        if len(rows) == len(prefixes) and all(len(places) == 1 for places in prefixes):
            return features, *self.reward.predict(features, return_std=True)
        mean, covariance = self.reward.predict(rows, return_cov=True)
        variances = np.array([covariance[np.ix_(places, places)].mean() for places in prefixes])
        means = np.array([mean[places].mean() for places in prefixes])
        return features, means, np.sqrt(np.maximum(variances, 0.0))

    def whole(self, episode: Episode) -> float:
        """The reward of the whole episode, as far as it goes."""
        return float(self._of_prefixes(episode, range(len(episode), len(episode) + 1))[0])

    def acceptable(self, episode: Episode) -> float:
        """The probability that the whole episode, as far as it goes, is acceptable.

        Args:
            episode: The episode.

        Returns:
            P(its reward is above the bar, what is just acceptable).

        Raises:
            ValueError: If no answer has said what is acceptable.
        """
        check_bar(self.reward.belief)
        segments = self.features.segments(episode, len(episode))
        rows = np.stack([self.features(episode.segment(segment)) for segment in segments])
        return probability_mean_acceptable(self.reward.belief, self.reward.scaling(rows))

    def _of_prefixes(self, episode: Episode, lengths: range) -> Array:
        rows, prefixes = self._rows(episode, lengths)
        values = self._value(rows)
        return np.array([values[places].mean() for places in prefixes])

    def _rows(self, episode: Episode, lengths: range) -> tuple[Array, list[list[int]]]:
        """The features of all segments of these prefixes, (S, d), and which of them each prefix has.

        Every segment is computed once, though many prefixes may have it.
        """
        prefixes = [self.features.segments(episode, steps) for steps in lengths]
        distinct: dict[StepRange, int] = {}
        for segment in (segment for segments in prefixes for segment in segments):
            distinct.setdefault(segment, len(distinct))
        rows = np.stack([self.features(episode.segment(segment)) for segment in distinct])
        return rows, [[distinct[segment] for segment in segments] for segments in prefixes]
