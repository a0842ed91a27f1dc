"""Features as a spec describes them: computed from episodes anywhere, without the dataset that taught them.

A spec may come from somebody else's file, and name functions and models on the network. None of them is
imported or downloaded unless this process named it itself, or the user trusts the file.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from prefero._support.arrays import Array
from prefero._support.names import listed, no_such
from prefero.datasets.episode import Episode, StepRange
from prefero.datasets.features.embeddings.embedding import Embedding, extractor_of
from prefero.datasets.features.embeddings.fitted import FittedEmbedding
from prefero.datasets.features.embeddings.image_encoders import ImageFeatures, is_downloaded
from prefero.datasets.features.extraction.options import FeatureOptions
from prefero.datasets.features.extraction.windows import Windows
from prefero.datasets.features.library.library import Extractor, Feature, features_of
from prefero.datasets.features.library.user_functions import function_name, module_name
from prefero.datasets.registry import Untrusted
from prefero.trajectories.feature_spec import FeatureSpec
from prefero.trajectories.features import Scaling, log_name

LOWEST = 6.0  # a logarithm of 0 is so many standard deviations below the mean


# --- from options to a spec -------------------------------------------------------------------------------


def seen_in(episode: Episode) -> FeatureSpec:
    """Which states, actions and times an episode has, and within which bounds."""
    both = (episode.states, episode.actions)
    least, largest = (np.concatenate([find(values, axis=0) for values in both]) for find in (np.min, np.max))
    return FeatureSpec(
        state_names=episode.state_names,
        action_names=episode.action_names,
        step_seconds=episode.step_seconds,
        bounds=np.array([least, largest]),
    )


def describe_features(seen: FeatureSpec, options: FeatureOptions, made: Sequence[Extractor]) -> FeatureSpec:
    """The spec of what these extractors compute, one for each of the options' features.

    `seen` says which states, actions and times the episodes have.
    """
    words = [word_for(feature) for feature in options.features]
    pairs = zip(words, made, strict=True)
    windows = options.windows
    described = replace(
        seen,
        words=tuple(words),
        window=None if windows is None else str(windows.length),
        stride=None if windows is None else str(windows.stride),
        fitted={
            word: one.arrays() for word, one in pairs if isinstance(one, FittedEmbedding | ImageFeatures)
        },
    )
    return with_functions(described, options.features)


def with_functions(spec: FeatureSpec, features: Sequence[Feature]) -> FeatureSpec:
    """The same spec with the functions among its features, and the words of code that this process named."""
    named = [one for one in features if callable(one) or needs_trust(one)]
    return replace(spec, functions={word_for(one): one if callable(one) else None for one in named})


def word_for(feature: Feature) -> str:
    """The word of a feature; for a function, `module:function`, or `:function` where no module has it."""
    if isinstance(feature, str):
        return feature
    return f"{module_name(feature)}:{function_name(feature, 'feature')}"


def needs_trust(word: str) -> bool:
    """Does computing its feature run code that the word names, or download a model?"""
    embedding = Embedding.of(word)
    return ":" in word.partition("(")[0] if embedding is None else embedding.needs_trust


def _place(word: str) -> str:
    """The `module:function`, or the file, that a word names."""
    embedding = Embedding.of(word)
    return word if embedding is None else embedding.source


# --- from a spec to features ------------------------------------------------------------------------------


def extractors_from(spec: FeatureSpec, *, trust: bool = False) -> list[Extractor]:
    """What computes the features of a spec; `Untrusted` if that runs or fetches what nobody has allowed."""
    for word in spec.words:
        embedding = Embedding.of(word)
        if embedding is not None and embedding.needs_examples and word not in spec.fitted:
            raise ValueError(
                f"{word} was fitted to other episodes, but its arrays are missing: save the reward again"
            )
    return [extractor_of(feature, spec.fitted) for feature in features_in(spec, trust=trust)]


def features_in(spec: FeatureSpec, *, trust: bool = False) -> list[Feature]:
    """The features of a spec as options take them: words, and functions that no module has."""
    return [_allowed(word, spec, trust) if needs_trust(word) else word for word in spec.words]


def _allowed(word: str, spec: FeatureSpec, trust: bool) -> Feature:
    """A word that names code, if this process named it or the user trusts it; or its function."""
    function = spec.functions.get(word)
    if word.startswith(":"):
        if function is None:
            raise ValueError(
                f"the reward was taught with a function {word[1:]!r} that no module has, so no file can name "
                "it: give the features again (features=, --features)"
            )
        return function
    if word not in spec.functions and not trust:
        place = _place(word)
        raise Untrusted(
            f"that would {'download' if is_downloaded(place) else 'run'} {place!r}, which computes a feature "
            "of the reward: add --trust (trust=True) if you trust its file, or give the features yourself "
            "with --features"
        )
    return word


@dataclass(frozen=True, eq=False)
class EpisodeFeatures:
    """Computes the features of a reward for single episodes, also while they are not over yet.

    Args:
        spec: How they are computed.
        scaling: Of the reward: the names of its features, and their usual range.
        extractors: One for each word of the spec.
    """

    spec: FeatureSpec
    scaling: Scaling
    extractors: Sequence[Extractor]

    @classmethod
    def of(cls, spec: FeatureSpec, scaling: Scaling, *, trust: bool = False) -> "EpisodeFeatures":
        """With what the spec names; `Untrusted` if that is code that nobody has allowed.

        Args:
            spec: How the features are computed.
            scaling: Of the reward.
            trust: Import the functions that the spec names.

        Returns:
            What computes the features.
        """
        if spec.columns:
            raise ValueError(
                f"the reward is a function of {listed(spec.columns)} too, which is a column of a dataset and "
                "not computed of states and actions: teach without --score for a reward of these alone"
            )
        return cls(spec, scaling, extractors_from(spec, trust=trust))

    def __call__(self, episode: Episode) -> Array:
        """The features of an episode, in the reward's order, (d,)."""
        found = features_of(self.extractors, episode)
        for name in self.spec.log_transform:
            if name in found:
                found[log_name(name)] = self._logarithm(log_name(name), found.pop(name))
        encoded = self.scaling.encoded({name: np.array([value]) for name, value in found.items()})
        found |= {name: float(values[0]) for name, values in encoded.items()}
        missing = [name for name in self.scaling.names if name not in found]
        if missing:
            raise ValueError(
                f"the reward is a function of {missing[0]!r}, but this episode has other features: "
                f"{no_such('feature', missing[0], tuple(found))}"
            )
        return np.array([found[name] for name in self.scaling.names])

    def _logarithm(self, name: str, value: float) -> float:
        """Of a number that is still 0 at the beginning of an episode, a value far below the usual ones."""
        if value > 0 or name not in self.scaling.names:
            return float(np.log(value)) if value > 0 else 0.0
        column = self.scaling.names.index(name)
        return self.scaling.center[column] - LOWEST * self.scaling.scale[column]

    def segments(self, episode: Episode, steps: int) -> list[StepRange]:
        """The segments of an episode's first steps that the reward is about: whole windows of it, or all.

        Steps that are fewer than a window are one segment too.

        Args:
            episode: The episode.
            steps: How many steps of it.

        Returns:
            The first step of each segment, and the one after its last.
        """
        windows = Windows.maybe(self.spec.window, self.spec.stride)
        begun: StepRange = (0, steps)
        return [begun] if windows is None else list(windows.segments(episode.segment(begun))) or [begun]
