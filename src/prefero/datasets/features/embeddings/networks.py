"""Networks that describe every step of an episode by a few numbers, which are averaged over time.

random-network(8)      fixed random weights
time-contrastive(8)    weights trained such that steps close in time are close to each other (needs torch)

steps      (T, s + a)  the states and actions of every step, with mean 0 and standard deviation 1 over the
                       examples
weights    (W,)        of all layers one after the other: a matrix (a, b) and a bias (b,) each; tanh
                       follows every layer
"""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np

from prefero._support.arrays import Array
from prefero._support.optional import need
from prefero._support.progress_bar import progress
from prefero.datasets.episode import Episode
from prefero.datasets.features.embeddings.fitted import (
    FittedEmbedding,
    numbers_in,
    sizes_array,
    steps_of,
    units,
    with_same_numbers,
)
from prefero.datasets.features.library.library import NamedValues

HIDDEN = 64
LAYERS = 2
EPOCH_STEPS, EPOCHS = 20, 30  # of the training: 600 steps of gradient descent
BATCH = 256  # pairs of steps that are close in time
CLOSE = 0.1  # of the length of an episode, at most that far apart
TEMPERATURE = 0.2
LEARNING_RATE = 1e-3

Layer = tuple[Array, Array]


@dataclass(frozen=True, eq=False)
class StepNetwork(FittedEmbedding):
    """A network of every step, averaged over time.

    sizes           (2,)     how many states and actions there are
    center, scale   (s + a,) of the steps
    weights         (W,)     of all layers
    """

    sizes: Array
    center: Array
    scale: Array
    weights: Array
    name: ClassVar[str]

    @classmethod
    def fit(cls, examples: Sequence[Episode], count: int) -> Self:
        """The examples set the units of the steps."""
        sizes = sizes_array(with_same_numbers(examples)[0])
        steps = [steps_of(one) for one in examples]
        center, scale = units(np.concatenate(steps))
        layers = cls.layers_for([(one - center) / scale for one in steps], count)
        weights = np.concatenate([array.ravel() for layer in layers for array in layer])
        return cls(sizes, center, scale, weights)

    @classmethod
    @abstractmethod
    def layers_for(cls, steps: Sequence[Array], count: int) -> list[Layer]:
        """The layers, for the scaled steps of the examples."""

    def features(self, episode: Episode) -> NamedValues:
        """The mean over time of the last layer."""
        values = (steps_of(episode) - self.center) / self.scale
        for matrix, bias in self._layers():
            values = np.tanh(values @ matrix + bias)
        return {f"{self.name} {i + 1}": float(value) for i, value in enumerate(values.mean(axis=0))}

    def _layers(self) -> Iterator[Layer]:
        """The matrix and the bias of each layer; the size of the last follows from the rest."""
        rest, inputs = self.weights, len(self.center)
        for layer in range(LAYERS + 1):
            outputs = HIDDEN if layer < LAYERS else len(rest) // (inputs + 1)
            matrix, rest = rest[: inputs * outputs].reshape(inputs, outputs), rest[inputs * outputs :]
            bias, rest = rest[:outputs], rest[outputs:]
            yield matrix, bias
            inputs = outputs

    def shapes(self, count: int) -> dict[str, tuple[int, ...]]:
        """By the numbers of states and actions."""
        inputs = sum(numbers_in(self.sizes))
        weights = sum((a + 1) * b for a, b in pairwise(layer_sizes(inputs, count)))
        return {"sizes": (2,), "center": (inputs,), "scale": (inputs,), "weights": (weights,)}


def layer_sizes(inputs: int, outputs: int) -> list[int]:
    """Of the inputs, the hidden layers and the outputs."""
    return [inputs, *[HIDDEN] * LAYERS, outputs]


class RandomNetwork(StepNetwork):
    """Fixed random layers, the same for the same numbers of states, actions and features."""

    name = "random network"

    @classmethod
    def layers_for(cls, steps: Sequence[Array], count: int) -> list[Layer]:
        """Weights and biases that neither saturate the tanh nor leave it linear."""
        return random_layers(steps[0].shape[1], count)


def random_layers(inputs: int, outputs: int) -> list[Layer]:
    """Layers whose weights are drawn with a seed that depends on their sizes only."""
    rng = np.random.default_rng([inputs, outputs])
    sizes = pairwise(layer_sizes(inputs, outputs))
    return [(rng.normal(0.0, 1.5 / np.sqrt(a), (a, b)), rng.normal(0.0, 0.5, b)) for a, b in sizes]


class TimeContrastive(StepNetwork):
    """Layers trained such that steps of one episode that are close in time are close to each other.

    The loss is InfoNCE: of the partners in a batch, each step has to find its own.
    """

    name = "time contrastive"

    @classmethod
    def layers_for(cls, steps: Sequence[Array], count: int) -> list[Layer]:
        """By Adam, from the layers of the random network; the same examples give the same layers."""
        torch = need("torch", extra="embeddings")
        start = random_layers(steps[0].shape[1], count)
        layers = [tuple(torch.tensor(array, requires_grad=True) for array in layer) for layer in start]
        optimizer = torch.optim.Adam([tensor for layer in layers for tensor in layer], lr=LEARNING_RATE)
        rng = np.random.default_rng(0)
        with progress("training the time-contrastive embedding", EPOCHS) as advance:
            for _ in range(EPOCHS):
                for _ in range(EPOCH_STEPS):
                    optimizer.zero_grad()
                    contrastive_loss(torch, layers, *close_pairs(steps, rng)).backward()
                    optimizer.step()
                advance(1)
        return [(matrix.detach().numpy(), bias.detach().numpy()) for matrix, bias in layers]


def close_pairs(steps: Sequence[Array], rng: np.random.Generator) -> tuple[Array, Array]:
    """Random steps (BATCH, s + a), and for each another one of the same episode that is close in time."""
    episodes = rng.integers(len(steps), size=BATCH)
    pairs = []
    for one in (steps[episode] for episode in episodes.tolist()):
        first, reach = int(rng.integers(len(one))), max(1, round(CLOSE * len(one)))
        second = np.clip(first + int(rng.integers(1, reach + 1)) * rng.choice([-1, 1]), 0, len(one) - 1)
        pairs.append((one[first], one[second]))
    a, b = zip(*pairs, strict=True)
    return np.array(a), np.array(b)


def contrastive_loss(torch: Any, layers: Sequence[tuple[Any, Any]], first: Array, second: Array) -> Any:
    """The mean over the batch of -log P(the partner is the right one)."""

    def embed(steps: Array) -> Any:
        values = torch.as_tensor(steps)
        for matrix, bias in layers:
            values = torch.tanh(values @ matrix + bias)
        return torch.nn.functional.normalize(values, dim=1)

    similarities = embed(first) @ embed(second).T / TEMPERATURE
    return torch.nn.functional.cross_entropy(similarities, torch.arange(len(first)))
