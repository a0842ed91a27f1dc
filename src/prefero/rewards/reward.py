"""The learned reward: its mean and uncertainty for any features, and the best trajectory of a pool."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prefero._support.arrays import Array, Indices
from prefero._support.files import missing_file, write_atomically
from prefero._support.frames import Rows
from prefero._support.names import MOST_SHOWN, HintsAtNames, listed
from prefero._support.ordering import first_largest, largest_first
from prefero.models.explain.explanation import Statement, explain
from prefero.models.posterior.bar import has_bar, probability_acceptable
from prefero.models.posterior.best import probability_of_best
from prefero.models.posterior.draws import Estimate
from prefero.models.posterior.gaussian import Distribution, predict
from prefero.models.posterior.mixture import ENOUGH_ANSWERS, MixturePosterior
from prefero.models.posterior.standardized import StandardizedRewards, reference_of
from prefero.pools.pool import Pool
from prefero.questions.labels import count_evidence
from prefero.rewards import acceptable, card, file, plots
from prefero.rewards.file import RewardFileError, RewardParts
from prefero.trajectories.components import component_ends
from prefero.trajectories.diversity import diverse_best
from prefero.trajectories.feature_spec import FeatureSpec
from prefero.trajectories.features import Scaling, check_same_shape

if TYPE_CHECKING:
    from prefero.datasets import Dataset, FeatureTable
    from prefero.datasets.features.extraction.from_spec import EpisodeFeatures
    from prefero.datasets.features.extraction.options import Features

EXPORT = 'prefero.deploy.export.export_reward(reward, "reward.onnx")'
MEANT_BY = {
    **dict.fromkeys(("score", "mean"), "reward(features)"),
    **dict.fromkeys(("load", "from_json"), 'prefero.load_reward("reward.json")'),
    **dict.fromkeys(("std", "predict_std"), "reward.predict(features, return_std=True)"),
    **dict.fromkeys(("names", "features", "feature_names"), "reward.scaling.names"),
    **dict.fromkeys(("to_onnx", "to_python", "export"), EXPORT),
}
OPEN = 0.5  # probability of being the best below which it is still open which trajectory is


@dataclass(frozen=True)
class BestTrajectory:
    """The trajectory of a pool that maximizes the expected reward.

    Args:
        index: Its place in the pool.
        mean: How far its reward is above that of the pool's average trajectory, in standard deviations of the
            reward over the pool.
        std: How uncertain this difference is, in the same unit.
        id: Its id in its dataset, if it has one.
        probability: That no other trajectory of the pool has a higher reward.
    """

    index: int
    mean: float
    std: float
    id: str | None = None  # in its dataset, or the file name of its clip
    probability: float = 1.0

    @property
    def is_open(self) -> bool:
        """Whether it is more probable that another trajectory is the best."""
        return self.probability < OPEN


@dataclass(frozen=True, eq=False, repr=False)
class Reward(HintsAtNames):
    """A learned reward, as a function of raw features.

    Args:
        belief: The posterior over rewards.
        diagnostics: What is known of the learning, for the file: number of answers, noise, structures.
        feature_spec: How its features are computed from an episode: words, windows, logarithms, and the
            arrays of fitted embeddings; None where that is not known.
    """

    _meant_by = MEANT_BY

    belief: Distribution
    diagnostics: dict[str, Any] = field(default_factory=dict)
    feature_spec: FeatureSpec | None = None

    def __post_init__(self) -> None:
        if self.belief.scaling is None:
            raise ValueError(
                "a reward needs the names and scaling of its features, but this posterior was fitted to an "
                "array: learn with a prefero.Learner, or fit comparisons that have a scaling"
            )

    @property
    def scaling(self) -> Scaling:
        """From raw features to those that the belief is about."""
        assert self.belief.scaling is not None
        return self.belief.scaling

    def __call__(self, features: Rows) -> Array:
        """The expected reward of each row of features, shape (M,)."""
        return self.belief.marginals(self.scaling(features))[0]

    def __repr__(self) -> str:
        return f"Reward(of {listed(self.scaling.names, MOST_SHOWN)}: {self.describe()})"

    def predict(
        self, features: Rows, return_std: bool = False, return_cov: bool = False
    ) -> Array | tuple[Array, Array]:
        """The expected reward of rows of features.

        Args:
            features: (M, d), in your own units; or a pandas frame or any other table, whose columns are found
                by name.
            return_std: Also return the standard deviation, (M,).
            return_cov: Also return the covariance, (M, M).

        Returns:
            The mean (M,), or a pair of the mean and what was asked for.
        """
        return predict(self.belief, self.scaling(features), return_std, return_cov)

    def predict_proba(self, a: Rows, b: Rows) -> Array:
        """P(a preferred to b), row by row.

        Args:
            a: Features, (M, d).
            b: Features of the others, (M, d).

        Returns:
            The probabilities, (M,).
        """
        first, second = self.scaling(a), self.scaling(b)
        check_same_shape(first, second)
        return self.belief.probability(first, second)

    def standardized(self, features: Rows, pool: Pool | None = None) -> tuple[Array, Array]:
        """How far the reward of each row of features is above the average over a pool, and the uncertainty.

        Both (M,) are in standard deviations of the reward over the pool. The uncertainty is that of the
        difference from the average: a reward alone is known only up to a constant.

        Args:
            features: (M, d), in your own units.
            pool: The trajectories that the average is taken over; None takes it over these rows.

        Returns:
            The mean and the standard deviation, (M,) each.
        """
        x = self.scaling(features)
        if pool is None:
            return StandardizedRewards(self.belief, reference_of(x))(x)
        return self._standardizer(pool)(x)

    # --- what is acceptable -------------------------------------------------------------------------------

    @property
    def has_bar(self) -> bool:
        """Whether answers have said what is acceptable: labels, ratings, or "none of these"."""
        return has_bar(self.belief)

    def probability_acceptable(self, features: Rows | Pool) -> Array:
        """P(the reward is above the bar, what the person finds just acceptable).

        Args:
            features: (M, d), in your own units; or a table; or a pool.

        Returns:
            The probabilities, (M,).

        Raises:
            ValueError: If no answer has said what is acceptable.
        """
        acceptable.check_bar(self.belief)
        x = self._features(features) if isinstance(features, Pool) else self.scaling(features)
        return probability_acceptable(self.belief, x)

    def count_acceptable(self, pool: Pool) -> Estimate:
        """How many trajectories of a pool are acceptable: the expected number, and a 90 % interval."""
        acceptable.check_bar(self.belief)
        return acceptable.acceptable_count(self.belief, self._features(pool))

    def bar(self, pool: Pool) -> Estimate:
        """Where the bar lies: how far what is just acceptable is above the average trajectory of a pool.

        It is in the unit of `standardized`, standard deviations of the reward over the pool, with a 90 %
        interval of that difference.

        Args:
            pool: The trajectories that the average is taken over.

        Returns:
            The mean and the interval.

        Raises:
            ValueError: If no answer has said what is acceptable.
        """
        acceptable.check_bar(self.belief)
        return acceptable.standardized_bar(self.belief, self._features(pool))

    @property
    def acceptable_at(self) -> float | None:
        """The expected reward of what is just acceptable, in the unit of `predict`; None if nobody said."""
        return acceptable.bar_moments(self.belief)[0] if self.has_bar else None

    # --- pools --------------------------------------------------------------------------------------------

    def best(self, pool: Pool) -> BestTrajectory:
        """The pool's best trajectory, how far it is above the average one, and how sure that is."""
        x = self._features(pool)
        marginals = self.belief.marginals(x)
        index = first_largest(marginals[0])
        mean, std = self._standardizer(pool)(x[[index]])
        name = None if pool.ids is None else pool.ids[index]
        probability = float(probability_of_best(self.belief, x, marginals)[index])
        return BestTrajectory(index, float(mean[0]), float(std[0]), name, probability)

    def diverse_best(self, pool: Pool, count: int = 9) -> Indices:
        """Different trajectories among the best of a pool, best first; see `prefero.trajectories`.

        Args:
            pool: The trajectories.
            count: How many at most.

        Returns:
            Their indices, best first.
        """
        x = self._features(pool)
        return diverse_best(pool.scaled, self.belief.marginals(x)[0], count)

    def _standardizer(self, pool: Pool) -> StandardizedRewards:
        return StandardizedRewards(self.belief, reference_of(self._features(pool)))

    def _features(self, pool: Pool) -> Array:
        """The features of a pool as the belief takes them."""
        if not isinstance(pool, Pool):
            raise TypeError(
                f"wanted the trajectories as a prefero.Pool, but got {type(pool).__name__}: "
                "Pool(features, names), or for rows of features reward.predict(features)"
            )
        return pool.features_for(self.belief)

    def rank(self, pool: Pool) -> Indices:
        """The pool's trajectories, best first."""
        return largest_first(self.belief.marginals(self._features(pool))[0])

    def extract_features(
        self, dataset: "Dataset | str | Path", features: "Features" = None, *, trust: bool = False
    ) -> "FeatureTable":
        """Compute the features of this reward for every episode of a dataset.

        Args:
            dataset: A dataset, or the path or id of one.
            features: In place of those that the reward's file names, what extracts the features; or
                `FeatureOptions`.
            trust: Import the functions that the reward's file names.

        Returns:
            The features, in the reward's order: `reward(table.features)` are the scores.

        Raises:
            ValueError: If the dataset lacks one of the features.
        """
        from prefero.datasets import extract_for_reward, open_dataset

        opened = open_dataset(dataset) if isinstance(dataset, str | Path) else dataset
        return extract_for_reward(
            opened,
            self.scaling.names,
            features,
            spec=self.feature_spec,
            trust=trust,
            categories=self.scaling.categories,
        )

    def episode_features(self, *, trust: bool = False) -> "EpisodeFeatures":
        """What computes the features of one episode, also of one that is not over yet.

        Args:
            trust: Import the functions that the reward's file names.

        Returns:
            A function of a `prefero.datasets.Episode`.

        Raises:
            ValueError: If the reward does not know how its features are computed.
        """
        from prefero.datasets.features.extraction.from_spec import EpisodeFeatures

        if self.feature_spec is None:
            raise ValueError(
                f"this reward knows the names of its features ({listed(self.scaling.names)}), but not how "
                "they are computed, since it was not taught with a dataset of states: pass a function that "
                "computes them"
            )
        return EpisodeFeatures.of(self.feature_spec, self.scaling, trust=trust)

    def describe(self) -> str:
        """What the reward looks like, in words."""
        if isinstance(self.belief, MixturePosterior):
            answers, labels = (int(self.diagnostics.get(name, 0)) for name in ("answers", "labels"))
            known = labels or "known" in self.diagnostics
            return self.belief.describe(count_evidence(answers, labels) if known else "")
        return f"the reward was learned by {self.diagnostics.get('model', 'a model')}"

    def explain(
        self, pool: Pool, *, whose: str = "your", units: Mapping[str, str] | None = None
    ) -> list[Statement]:
        """What the reward seems to be over a pool: plain sentences, with the meaning of their numbers.

        They are about single features: which matters most, whether a higher value is better, or one in
        between; and about how many trajectories are acceptable, if answers said what is. Of a component of
        an embedding, such as pca 3, they name the trajectories at both of its ends. Nothing is said before
        there are a few answers.

        Args:
            pool: The trajectories.
            whose: Whose reward it is, in the sentences.
            units: Of features, by their names; they are written beside values.

        Returns:
            The sentences with their meanings.
        """
        labels = int(self.diagnostics.get("labels", 0))
        answers = int(self.diagnostics.get("answers", ENOUGH_ANSWERS)) + labels
        x = self._features(pool)
        ends = component_ends(pool.names, pool.features, pool.ids)
        statements = explain(self.belief, x, self.scaling, answers, whose, units or {}, ends)
        if self.has_bar and answers >= ENOUGH_ANSWERS:
            statements.append(acceptable.acceptable_statement(self.belief, x))
        return statements

    def plot(self, pool: Pool | None = None) -> Any:
        """The reward along each feature, as a matplotlib figure: `reward.plot(pool).savefig("reward.png")`.

        All other features are at their mean. Rewards are differences from the average trajectory, with one
        standard deviation to both sides. A line shows what is just acceptable, if answers said what is. At
        most the eight features that matter most are drawn. Below a component of an embedding, such as
        pca 3, are the trajectories in which it is lowest and highest.

        Args:
            pool: Features go as far as they do here, and the average is over it; without one, two standard
                deviations to both sides of the mean.

        Returns:
            A matplotlib figure; it needs the extra `plots`.
        """
        x = plots.stand_in(len(self.scaling.names)) if pool is None else self._features(pool)
        return plots.plot_reward(self.belief, self.scaling, x, pool)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the reward to a JSON file, atomically."""
        write_atomically(Path(path), self.to_json())

    def to_json(self) -> str:
        """The content of the reward's file."""
        return file.to_json(RewardParts(self.belief, self.diagnostics, self.feature_spec))

    def push_to_hub(
        self,
        repository: str,
        *,
        private: bool | None = None,
        commit_message: str = "Add a reward learned with Prefero",
    ) -> str:
        """Upload the reward to the Hugging Face Hub, with a model card; it needs the extra `hub`.

        Args:
            repository: OWNER/NAME of a repository of models, which is made if it is not there.
            private: Whether a new repository is private; None leaves it to your account.
            commit_message: Of the commit.

        Returns:
            The address, `hf://OWNER/NAME`, with which `load_reward` loads it.
        """
        from prefero._support import hub

        name = hub.HubAddress.of(repository, "model").repository
        bar = acceptable.bar_moments(self.belief) if self.has_bar else None
        text = card.model_card(name, self.describe(), self.scaling, self.feature_spec, self.diagnostics, bar)
        files = card.repository_files(self.to_json(), text)
        return hub.push(repository, files, commit_message, private=private)


def load_reward(path: str | os.PathLike[str], names: Sequence[str] | None = None) -> Reward:
    """Read a reward file.

    Args:
        path: The JSON file that `Reward.save` wrote; a folder with a `reward.json` in it; or OWNER/NAME on
            the Hugging Face Hub, to which `Reward.push_to_hub` uploaded it, with `hf://` before it or not.
        names: The names of the features that you have; a reward of others is refused.

    Returns:
        The reward.

    Raises:
        RewardFileError: If it is not a reward file, or is of other features.
    """
    reward = Reward(*file.read(_reward_file(str(path))))
    if names is not None and tuple(names) != reward.scaling.names:
        raise RewardFileError(
            f"{path} has the features {listed(reward.scaling.names)}, but wanted {listed(names)}"
        )
    return reward


SOURCES = ": Reward.save writes a reward, and so does the page, under Finish"


def _reward_file(place: str) -> Path:
    """The file of a reward, which a folder may hold; one on the Hub is downloaded."""
    from prefero._support.hub import PREFIX, HubAddress, HubError, HubSnapshot

    path = Path(place)
    if path.is_dir():
        if not (path / card.REWARD).exists():
            raise RewardFileError(f"the folder {place} has no {card.REWARD}: {file.REMEDY}")
        return path / card.REWARD
    if place.startswith(PREFIX):
        return HubSnapshot.open(HubAddress.of(place, "model")).fetch(card.REWARD)
    if path.exists():
        return path
    if path.suffix == ".json" or not HubAddress.fits(place):
        raise FileNotFoundError(f"{missing_file(path)}{SOURCES}")
    try:
        return _reward_file(f"{PREFIX}{place}")
    except HubError as error:
        raise HubError(f"there is no file or folder {place}, and {error}") from error
