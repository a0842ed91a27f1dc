"""Features that nobody thought of: what the states themselves have in common, by name.

    components(4)            the principal components of whole courses: how episodes differ most
    network(8)               a random network's view of each state, averaged over time
    encoder(module:function) one's own encoder of states, (T, s) to (T, k), averaged over time

    courses     (M, MOMENTS * s)   states at evenly spaced moments, so that lengths may differ
    scaled                         states with mean 0 and standard deviation 1 over the examples

These are a first step toward features that are learned together with the reward. The first two look at some
examples before they note anything; after that they are functions of an episode like any other.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from prefero._support.arrays import Array
from prefero.datasets.base import BadEpisode, Episode
from prefero.datasets.features.library import FEATURE_WORDS, Extractor, NamedValues
from prefero.datasets.features.user_functions import function_name, import_function
from prefero.trajectories.features import location_and_scale

__all__ = ["FEATURE_WORDS", "Embedding", "components", "course", "encoder", "network", "random_layers"]

MOMENTS = 16
HIDDEN = 64
LAYERS = 2
SHAPE = re.compile(r"\s*(components|network|encoder)\s*\((.*)\)\s*")


@dataclass(frozen=True, eq=False)
class Embedding:
    """An embedding that was asked for in words, before it has seen any example."""

    kind: str
    inside: str

    @classmethod
    def of(cls, words: str) -> "Embedding | None":
        """None where the words are no embedding."""
        parsed = SHAPE.fullmatch(words)
        if parsed is None:
            return None
        if parsed[1] != "encoder" and not (parsed[2].strip().isdigit() and int(parsed[2]) > 0):
            raise ValueError(
                f"{parsed[1]} takes how many numbers are wanted, as in {parsed[1]}(4), not {words!r}"
            )
        return cls(parsed[1], parsed[2].strip())

    @property
    def looks_first(self) -> bool:
        """Does it need examples?"""
        return self.kind != "encoder"

    def after(self, examples: Sequence[Episode]) -> Extractor:
        """What it notes of an episode, having seen these examples."""
        if self.kind == "encoder":
            return encoder(import_function(self.inside))
        return {"components": components, "network": network}[self.kind](examples, int(self.inside))


# --- principal components ---------------------------------------------------------------------------------


def course(episode: Episode, moments: int = MOMENTS) -> Array:
    """The states at evenly spaced moments from first to last, (moments * s,)."""
    at, known = np.linspace(0.0, 1.0, moments), np.linspace(0.0, 1.0, len(episode.states))
    return np.concatenate([np.interp(at, known, column) for column in episode.states.T])


def components(examples: Sequence[Episode], count: int) -> Extractor:
    """The `count` directions in which courses differ most; each example has mean 0 and variance 1 there."""
    courses = np.stack([course(episode) for episode in _alike(examples)])
    centre, scale = _units(courses)
    _, sizes, axes = np.linalg.svd((courses - centre) / scale, full_matrices=False)
    rank = int(np.sum(sizes > 1e-9 * max(sizes[0], 1e-300)))
    if count > rank:
        raise ValueError(
            f"{len(examples)} examples of {examples[0].states.shape[1]} states differ in {rank} directions, "
            f"but components({count}) asks for {count}"
        )
    axes = axes[:count] * np.sign(axes[:count].sum(axis=1, keepdims=True) + 1e-12)  # the same way every time
    unit = sizes[:count] / np.sqrt(len(courses))

    def extract(episode: Episode) -> NamedValues:
        place = axes @ ((course(_same(episode, examples[0])) - centre) / scale) / unit
        return {f"component {i + 1}": float(value) for i, value in enumerate(place)}

    return extract


# --- a random network -------------------------------------------------------------------------------------


def network(examples: Sequence[Episode], count: int) -> Extractor:
    """Fixed random layers with tanh between them; always the same ones for the same number of states."""
    centre, scale = _units(np.concatenate([episode.states for episode in _alike(examples)]))
    layers = random_layers(examples[0].states.shape[1], count)

    def extract(episode: Episode) -> NamedValues:
        seen = (_same(episode, examples[0]).states - centre) / scale
        for weights, shift in layers:
            seen = np.tanh(seen @ weights + shift)
        return {f"network {i + 1}": float(value) for i, value in enumerate(seen.mean(axis=0))}

    return extract


def random_layers(inputs: int, outputs: int) -> list[tuple[Array, Array]]:
    """Weights and shifts that neither saturate the tanh nor leave it linear."""
    rng = np.random.default_rng([inputs, outputs])
    sizes = [inputs, *[HIDDEN] * LAYERS, outputs]
    return [(rng.normal(0.0, 1.5 / np.sqrt(a), (a, b)), rng.normal(0.0, 0.5, b)) for a, b in pairwise(sizes)]


# --- an encoder of one's own ------------------------------------------------------------------------------


def encoder(function: Callable[[Array], Array]) -> Extractor:
    """The mean over time of what a function makes of states (T, s): (T, k), or (k,) for the whole."""
    name = function_name(function, "of yours")

    def extract(episode: Episode) -> NamedValues:
        try:
            code = np.asarray(function(episode.states), dtype=float)
        except Exception as error:  # code of others fails in ways of its own
            raise BadEpisode(episode.id, f"the encoder {name} fails on its states: {error!r}") from error
        if code.ndim not in (1, 2) or (code.ndim == 2 and len(code) != len(episode.states)):
            raise ValueError(
                f"an encoder makes (T, k) or (k,) of states (T, s), but made {code.shape} "
                f"of {episode.states.shape}"
            )
        whole = code.mean(axis=0) if code.ndim == 2 else code
        return {f"encoded {i + 1}": float(value) for i, value in enumerate(whole)}

    return extract


# --- examples ---------------------------------------------------------------------------------------------


def _alike(examples: Sequence[Episode]) -> Sequence[Episode]:
    if len(examples) < 2:
        raise ValueError(f"an embedding needs two examples or more, but there are {len(examples)}")
    return [_same(episode, examples[0]) for episode in examples]


def _same(episode: Episode, example: Episode) -> Episode:
    wanted, count = example.states.shape[1], episode.states.shape[1]
    if count != wanted:
        raise BadEpisode(episode.id, f"it has {count} states, but the examples have {wanted}")
    return episode


def _units(values: Array) -> tuple[Array, Array]:
    centre, scale, varies = location_and_scale(values)
    return centre, np.where(varies, scale, 1.0)
