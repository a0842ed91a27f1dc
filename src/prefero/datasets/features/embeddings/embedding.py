"""Embeddings: features that are computed from states and actions without being designed.

    statistics               means, extremes, changes, ... of every state and action, without redundant ones;
                             statistics(60) keeps 60 at most
    pca(4)                   the first principal components of whole trajectories
    random-network(8)        the output of a fixed random network for each step, averaged over time
    time-contrastive(8)      the same of a network that is trained on the dataset
    moving-objects(3)        where what moves in the episode's video is, how fast and how turned
    image-encoder(FILE, 16)  what a frozen network sees in the frames of the episode's video
    steps                    features of single steps, averaged over time (`steps.py`)
    encoder(module:function) the user's own encoder of states, (T, s) to (T, k), averaged over time

    resampled   (M, SAMPLES * (s + a))   states and actions at evenly spaced times, so that lengths may differ
    scaled                               with mean 0 and standard deviation 1 over the examples

All but the last are fitted on example episodes; after that they are functions of an episode like any other
feature, made of a few arrays that a file can hold.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Self

import numpy as np

from prefero._support.arrays import Array
from prefero.datasets.episode import BadEpisode, Episode
from prefero.datasets.features.embeddings.fitted import (
    FittedEmbedding,
    numbers_in,
    principal_axes,
    sizes_array,
    units,
    with_same_numbers,
)
from prefero.datasets.features.embeddings.image_encoders import ImageFeatures, needs_trust
from prefero.datasets.features.embeddings.moving_objects import OBJECTS, MovingObjects
from prefero.datasets.features.embeddings.networks import RandomNetwork, TimeContrastive
from prefero.datasets.features.embeddings.statistics import MOST, Statistics
from prefero.datasets.features.embeddings.steps import StepEmbedding
from prefero.datasets.features.library.library import (
    EMBEDDINGS,
    Extractor,
    Feature,
    NamedValues,
    extractor_for,
)
from prefero.datasets.features.library.user_functions import function_name, import_function
from prefero.trajectories.feature_spec import Fitted

SAMPLES = 16
IMAGE_FEATURES = 16  # of an image encoder, if their number is not given
KINDS = [word.partition("(")[0] for word in EMBEDDINGS]
OF_VIDEOS = ("moving-objects", "image-encoder")
WORD = re.compile(rf"\s*({'|'.join(KINDS)})\s*(?:\((.*)\))?\s*")


@dataclass(frozen=True, eq=False)
class Embedding:
    """An embedding that was asked for by a word, before it is fitted."""

    kind: str
    inside: str

    @classmethod
    def of(cls, word: str) -> "Embedding | None":
        """None where the word is no embedding."""
        parsed = WORD.fullmatch(word)
        if parsed is None:
            return None
        made = cls(parsed[1], (parsed[2] or "").strip())
        if made.kind == "image-encoder" and not made.source:
            raise ValueError(
                f"{made.kind} takes a file or a model, as in {made.kind}(FILE, 16), not {word!r}"
            )
        if made.needs_examples and not made.count and (made.kind != "steps" or made.inside):
            raise ValueError(f"{made.kind} takes the number of features, as in {made.kind}(4), not {word!r}")
        return made

    @property
    def needs_examples(self) -> bool:
        """Has it to be fitted on examples?"""
        return self.kind != "encoder"

    @property
    def needs_trust(self) -> bool:
        """Does computing it run code that the word names, or download a model?"""
        return self.kind == "encoder" or (self.kind == "image-encoder" and needs_trust(self.source))

    @property
    def of_video(self) -> bool:
        """Is it computed from the video of an episode, and not from its states and actions?"""
        return self.kind in OF_VIDEOS

    @property
    def source(self) -> str:
        """Of an image encoder: its file, or its name."""
        first, _, last = self.inside.rpartition(",")
        return first.strip() if last.strip().isdecimal() else self.inside

    @property
    def count(self) -> int:
        """How many features it has, at most; 0 if that is not said."""
        last = self.inside.rpartition(",")[2].strip()
        default = {"image-encoder": IMAGE_FEATURES}
        if not self.inside:
            default |= {"statistics": MOST, "moving-objects": OBJECTS}
        return int(last) if last.isdecimal() else default.get(self.kind, 0)

    def fit(self, examples: Sequence[Episode]) -> Extractor:
        """What it extracts of an episode, fitted on these examples."""
        if self.kind == "encoder":
            return partial(_encoded, import_function(self.inside))
        if self.kind == "image-encoder":
            return ImageFeatures.fit(self.source, examples, self.count)
        return FITTED[self.kind].fit(examples, self.count)

    def from_arrays(self, arrays: Mapping[str, Array]) -> FittedEmbedding | ImageFeatures:
        """The same, from the arrays of one that was fitted before; an error unless they fit each other."""
        if self.kind == "image-encoder":
            return ImageFeatures.from_arrays(self.source, arrays, self.count)
        return FITTED[self.kind].from_arrays(arrays, self.count)


def extractor_of(feature: Feature, fitted: Fitted, examples: Sequence[Episode] = ()) -> Extractor:
    """What extracts any feature; an embedding that is not among the fitted ones is fitted on the examples."""
    embedding = Embedding.of(feature) if isinstance(feature, str) else None
    if embedding is None:
        return extractor_for(feature)
    known = fitted.get(str(feature))
    return embedding.fit(examples) if known is None else embedding.from_arrays(known)


# --- principal components ---------------------------------------------------------------------------------


def resample(episode: Episode, samples: int = SAMPLES) -> Array:
    """States and actions at evenly spaced times from first to last, (samples * (s + a),)."""
    return np.concatenate([_at_times(values, samples) for values in (episode.states, episode.actions)])


def _at_times(values: Array, samples: int) -> Array:
    at, known = np.linspace(0.0, 1.0, samples), np.linspace(0.0, 1.0, len(values))
    return np.concatenate([np.empty(0), *(np.interp(at, known, column) for column in values.T)])


@dataclass(frozen=True, eq=False)
class PrincipalComponents(FittedEmbedding):
    """The first principal components, whitened: the examples have mean 0 and variance 1 in each.

    sizes           (2,)     how many states and actions there are
    center, scale   (D,)     of resampled states and actions, D = SAMPLES * (s + a)
    axes            (n, D)   the components
    unit            (n,)     their standard deviations over the examples
    """

    sizes: Array
    center: Array
    scale: Array
    axes: Array
    unit: Array

    @classmethod
    def fit(cls, examples: Sequence[Episode], count: int) -> Self:
        """The components that vary most over the examples."""
        resampled = np.stack([resample(episode) for episode in with_same_numbers(examples)])
        sizes = sizes_array(examples[0])
        center, scale = units(resampled)
        axes, singular = principal_axes((resampled - center) / scale)
        rank = int(np.sum(singular > 1e-9 * max(singular[0], 1e-300)))
        if count > rank:
            raise ValueError(
                f"{len(examples)} examples of {int(sizes.sum())} states and actions have {rank} principal "
                f"components, but pca({count}) asks for {count}"
            )
        return cls(sizes, center, scale, axes[:count], singular[:count] / np.sqrt(len(resampled)))

    def features(self, episode: Episode) -> NamedValues:
        """Where the episode is along each component."""
        place = self.axes @ ((resample(episode) - self.center) / self.scale) / self.unit
        return {f"pca {i + 1}": float(value) for i, value in enumerate(place)}

    def shapes(self, count: int) -> dict[str, tuple[int, ...]]:
        """By the numbers of states and actions."""
        size = (SAMPLES * sum(numbers_in(self.sizes)),)
        return {"sizes": (2,), "center": size, "scale": size, "axes": (count, *size), "unit": (count,)}


FITTED: dict[str, type[FittedEmbedding]] = {
    "statistics": Statistics,
    "pca": PrincipalComponents,
    "random-network": RandomNetwork,
    "time-contrastive": TimeContrastive,
    "steps": StepEmbedding,
    "moving-objects": MovingObjects,
}


# --- the user's own encoder -------------------------------------------------------------------------------


def _encoded(function: Callable[[Array], Array], episode: Episode) -> NamedValues:
    """The mean over time of a function of the states (T, s): its values are (T, k), or (k,) for the whole."""
    try:
        code = np.asarray(function(episode.states), dtype=float)
    except Exception as error:  # the user's code may fail in any way
        name = function_name(function, "of yours")
        raise BadEpisode(episode.id, f"the encoder {name} fails on its states: {error!r}") from error
    if code.ndim not in (1, 2) or (code.ndim == 2 and len(code) != len(episode.states)):
        raise ValueError(
            f"an encoder must return (T, k) or (k,) for states (T, s), but returned {code.shape} "
            f"for {episode.states.shape}"
        )
    whole = code.mean(axis=0) if code.ndim == 2 else code
    return {f"encoder {i + 1}": float(value) for i, value in enumerate(whole)}
