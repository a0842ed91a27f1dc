"""The cross-entropy method: a search over sequences of discrete actions.

    actions         (A,)      whole numbers, each between its smallest and its largest value
    probabilities   A arrays  of the values of each action, independent of the others; uniform at first
    elite                     the best sequences of a population, to whose frequencies the probabilities move

De Boer, Kroese, Mannor & Rubinstein (2005), "A tutorial on the cross-entropy method". No probability falls
below a small fraction, so that no value is lost for good.
"""

from collections.abc import Callable, Iterator

import numpy as np

from prefero._support.arrays import Array, Indices

POPULATION = 100
ELITE = 0.1  # fraction of a population
RATE = 0.7  # how far probabilities move
LEAST = 0.02  # fraction of the probabilities that stays uniform
START = 0.3  # of the probability is at the start's values at first

Evaluate = Callable[[Array], Array]  # (N, A) -> (N,)


def cross_entropy(
    evaluate: Evaluate, low: Array, high: Array, start: Array, evaluations: int, rng: np.random.Generator
) -> Iterator[tuple[Array, Array]]:
    """Population after population, with their values, until the evaluations are spent."""
    sizes = (high - low).round().astype(int) + 1
    uniform = [np.full(size, 1.0 / size) for size in sizes]
    at_start = _frequencies((start - low)[None], sizes)
    chances = [(1 - START) * u + START * s for u, s in zip(uniform, at_start, strict=True)]
    while evaluations > 0:
        count = min(POPULATION, evaluations)
        drawn = np.stack([rng.choice(len(p), count, p=p) for p in chances], axis=1)
        values = evaluate(low + drawn)
        evaluations -= count
        yield low + drawn, values
        elite = drawn[np.argsort(-values, kind="stable")[: max(int(ELITE * count), 1)]]
        seen = _frequencies(elite, sizes)
        moved = [(1 - RATE) * p + RATE * f for p, f in zip(chances, seen, strict=True)]
        chances = [(1 - LEAST) * p + LEAST * u for p, u in zip(moved, uniform, strict=True)]


def _frequencies(drawn: Array | Indices, sizes: Indices) -> list[Array]:
    """How often each action has each of its values."""
    columns = zip(drawn.T.round().astype(int), sizes, strict=True)
    return [np.bincount(column, minlength=size) / len(column) for column, size in columns]
