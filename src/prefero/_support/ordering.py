"""Choices between equals follow a rule: what differs by rounding alone is equal, and the first is taken.

Processors round differently, and so do the kernels that BLAS has for them; an iteration may end a step
earlier. A plain argmax between equals would be decided by that, and a session would ask other questions on
another machine.
"""

import numpy as np

from prefero._support.arrays import Array, Indices

EQUAL = 1e-6  # of the largest value: what differs by less is equal


def first_largest(values: Array, equal: float = EQUAL) -> int:
    """The index of the largest value; of equal ones, the first."""
    top = float(values.max())
    return int(np.argmax(values >= top - equal * _size(values)))


def first_largest_of_rows(values: Array, equal: float = EQUAL) -> Indices:
    """The column of the largest value in each row, (M, N) to (M,); of equal ones, the first."""
    return np.asarray(np.argmax(values >= values.max(axis=1, keepdims=True) - equal * _size(values), axis=1))


def largest_first(values: Array, count: int | None = None, equal: float = EQUAL) -> Indices:
    """The indices of the `count` largest values, or of all, the largest first; equal ones in their order."""
    steps = np.round(np.asarray(values, dtype=float) / (equal * _size(values)))
    places = np.arange(len(steps))
    if count is not None and count < len(steps):
        places = np.flatnonzero(steps >= np.partition(steps, -count)[-count])
    return places[np.argsort(-steps[places], kind="stable")][:count]


def exceeds(value: float, other: float, equal: float = EQUAL) -> bool:
    """Whether a value is larger than another one, and not equal."""
    return value > other + (equal * abs(other) if np.isfinite(other) else 0.0)


def _size(values: Array) -> float:
    """The size of the largest finite value; 1 if there is none but 0."""
    return float(np.max(np.abs(values), where=np.isfinite(values), initial=0.0)) or 1.0
