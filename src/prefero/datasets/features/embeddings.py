"""Embeddings: features that are computed from the states without being designed.

    pca(4)                   the first principal components of whole state trajectories
    random-network(8)        the output of a fixed random network for each state, averaged over time
    encoder(module:function) the user's own encoder of states, (T, s) to (T, k), averaged over time
    steps                    features of single steps, averaged over time (`step_embedding`)

    resampled   (M, SAMPLES * s)   states at evenly spaced times, so that lengths may differ
    scaled                         states with mean 0 and standard deviation 1 over the examples

These are a first step toward features that are learned together with the reward. The first two are fitted on
example episodes; after that they are functions of an episode like any other feature, made of a few arrays
that a file can hold.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Self

import numpy as np

from prefero._support.arrays import Array
from prefero.datasets.episode import BadEpisode, Episode
from prefero.datasets.features.fitted_embedding import FittedEmbedding, checked, units, with_same_states
from prefero.datasets.features.library import Extractor, NamedValues
from prefero.datasets.features.step_embedding import StepEmbedding
from prefero.datasets.features.user_functions import function_name, import_function

SAMPLES = 16
HIDDEN = 64
LAYERS = 2
WORD = re.compile(r"\s*(?:(steps)|(pca|random-network|encoder)\s*\((.*)\))\s*")


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
        if parsed[1]:
            return cls(parsed[1], "")
        kind, inside = parsed[2], parsed[3].strip()
        if kind != "encoder" and not (inside.isdigit() and int(inside) > 0):
            raise ValueError(f"{kind} takes the number of features, as in {kind}(4), not {word!r}")
        return cls(kind, inside)

    @property
    def needs_examples(self) -> bool:
        """Has it to be fitted on examples?"""
        return self.kind != "encoder"

    @property
    def count(self) -> int:
        """The number of features, where it is a choice."""
        return int(self.inside or 0)

    def fit(self, examples: Sequence[Episode]) -> Extractor:
        """What it extracts of an episode, fitted on these examples."""
        if self.kind == "encoder":
            return encoder(import_function(self.inside))
        return FITTED[self.kind].fit(examples, self.count)

    def from_arrays(self, arrays: Mapping[str, Array]) -> "FittedEmbedding":
        """The same, from the arrays of one that was fitted before; an error unless they fit each other."""
        return FITTED[self.kind].from_arrays(arrays, self.count)


# --- principal components ---------------------------------------------------------------------------------


def resample(episode: Episode, samples: int = SAMPLES) -> Array:
    """The states at evenly spaced times from first to last, (samples * s,)."""
    at, known = np.linspace(0.0, 1.0, samples), np.linspace(0.0, 1.0, len(episode.states))
    return np.concatenate([np.interp(at, known, column) for column in episode.states.T])


@dataclass(frozen=True, eq=False)
class PrincipalComponents(FittedEmbedding):
    """The first principal components, whitened: the examples have mean 0 and variance 1 in each.

    center, scale   (SAMPLES * s,)      of resampled states
    axes            (n, SAMPLES * s)    the components
    unit            (n,)                their standard deviations over the examples
    """

    center: Array
    scale: Array
    axes: Array
    unit: Array

    @classmethod
    def fit(cls, examples: Sequence[Episode], count: int) -> Self:
        """The components that vary most over the examples."""
        resampled = np.stack([resample(episode) for episode in with_same_states(examples)])
        center, scale = units(resampled)
        _, sizes, axes = np.linalg.svd((resampled - center) / scale, full_matrices=False)
        rank = int(np.sum(sizes > 1e-9 * max(sizes[0], 1e-300)))
        if count > rank:
            raise ValueError(
                f"{len(examples)} examples of {examples[0].states.shape[1]} states have {rank} principal "
                f"components, but pca({count}) asks for {count}"
            )
        axes = axes[:count] * np.sign(axes[:count].sum(axis=1, keepdims=True) + 1e-12)  # always the same sign
        return cls(center, scale, axes, sizes[:count] / np.sqrt(len(resampled)))

    def __call__(self, episode: Episode) -> NamedValues:
        """Where the episode is along each component."""
        resampled = resample(checked(episode, len(self.center) // SAMPLES))
        place = self.axes @ ((resampled - self.center) / self.scale) / self.unit
        return {f"pca {i + 1}": float(value) for i, value in enumerate(place)}

    def shapes(self, count: int) -> dict[str, tuple[int, ...]]:
        """By the number of states."""
        size = (len(self.center) // SAMPLES * SAMPLES,)
        return {"center": size, "scale": size, "axes": (count, *size), "unit": (count,)}


# --- a random network -------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class RandomNetwork(FittedEmbedding):
    """Fixed random layers with tanh between them, the same for the same number of states.

    center, scale   (s,)     of states
    weights         (W,)     of all layers one after the other: a matrix (a, b) and a bias (b,) each
    """

    center: Array
    scale: Array
    weights: Array

    @classmethod
    def fit(cls, examples: Sequence[Episode], count: int) -> Self:
        """The examples set the units of the states."""
        center, scale = units(np.concatenate([one.states for one in with_same_states(examples)]))
        layers = random_layers(len(center), count)
        return cls(center, scale, np.concatenate([part.ravel() for layer in layers for part in layer]))

    def __call__(self, episode: Episode) -> NamedValues:
        """The mean over time of the last layer."""
        values = (checked(episode, len(self.center)).states - self.center) / self.scale
        for matrix, bias in self._layers():
            values = np.tanh(values @ matrix + bias)
        return {f"random network {i + 1}": float(value) for i, value in enumerate(values.mean(axis=0))}

    def written(self, literal: Callable[[object], str]) -> dict[str, str]:
        """With the matrix and the bias of each layer."""
        layers = ", ".join(f"({literal(matrix)}, {literal(bias)})" for matrix, bias in self._layers())
        return {"center": literal(self.center), "scale": literal(self.scale), "layers": f"[{layers}]"}

    def _layers(self) -> Iterator[tuple[Array, Array]]:
        """The matrix and the bias of each layer; the size of the last follows from the rest."""
        rest, inputs = self.weights, len(self.center)
        for layer in range(LAYERS + 1):
            outputs = HIDDEN if layer < LAYERS else len(rest) // (inputs + 1)
            matrix, rest = rest[: inputs * outputs].reshape(inputs, outputs), rest[inputs * outputs :]
            bias, rest = rest[:outputs], rest[outputs:]
            yield matrix, bias
            inputs = outputs

    def shapes(self, count: int) -> dict[str, tuple[int, ...]]:
        """By the number of states."""
        sizes = [len(self.center), *[HIDDEN] * LAYERS, count]
        weights = sum((a + 1) * b for a, b in pairwise(sizes))
        return {"center": (sizes[0],), "scale": (sizes[0],), "weights": (weights,)}


def random_layers(inputs: int, outputs: int) -> list[tuple[Array, Array]]:
    """Weights and biases that neither saturate the tanh nor leave it linear."""
    rng = np.random.default_rng([inputs, outputs])
    sizes = [inputs, *[HIDDEN] * LAYERS, outputs]
    return [(rng.normal(0.0, 1.5 / np.sqrt(a), (a, b)), rng.normal(0.0, 0.5, b)) for a, b in pairwise(sizes)]


FITTED: dict[str, type[FittedEmbedding]] = {
    "pca": PrincipalComponents,
    "random-network": RandomNetwork,
    "steps": StepEmbedding,
}


# --- the user's own encoder -------------------------------------------------------------------------------


def encoder(function: Callable[[Array], Array]) -> Extractor:
    """The mean over time of a function of the states (T, s): its values are (T, k), or (k,) for the whole."""
    name = function_name(function, "of yours")

    def extract(episode: Episode) -> NamedValues:
        try:
            code = np.asarray(function(episode.states), dtype=float)
        except Exception as error:  # the user's code may fail in any way
            raise BadEpisode(episode.id, f"the encoder {name} fails on its states: {error!r}") from error
        if code.ndim not in (1, 2) or (code.ndim == 2 and len(code) != len(episode.states)):
            raise ValueError(
                f"an encoder must return (T, k) or (k,) for states (T, s), but returned {code.shape} "
                f"for {episode.states.shape}"
            )
        whole = code.mean(axis=0) if code.ndim == 2 else code
        return {f"encoder {i + 1}": float(value) for i, value in enumerate(whole)}

    return extract
