"""Observations and actions as Gymnasium has them: arrays, or dictionaries and tuples of arrays.

sequence    values over time, an array (T, ...) or a dictionary or tuple of such arrays
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from prefero._support.arrays import Array


def side_by_side(sequence: Any, kind: str) -> tuple[Array, tuple[str, ...]]:
    """All numbers of a sequence as columns (T, n), with their names; images are left out."""
    columns: list[Array] = []
    names: list[str] = []
    for name, inside in leaves(sequence):
        array = np.asarray(inside)
        image = array.dtype == np.uint8 and array.ndim > 2
        if array.dtype.kind in "fiub" and not image:
            columns.append(array.reshape(len(array), int(np.prod(array.shape[1:]))).astype(float))
            names += _numbered(name or kind, columns[-1].shape[1], alone=bool(name))
    return (np.concatenate(columns, axis=1) if columns else np.zeros((0, 0))), tuple(names)


def _numbered(name: str, count: int, *, alone: bool) -> list[str]:
    """A name for each of several numbers; a single one may have the name itself."""
    return [name] if alone and count == 1 else [f"{name} {i + 1}" for i in range(count)]


def leaves(values: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Every array, or every space, in dictionaries and tuples, with the keys that lead to it."""
    inside = getattr(values, "spaces", values)
    if isinstance(inside, Mapping):
        pairs: Iterable[tuple[str, Any]] = ((str(key), value) for key, value in inside.items())
    elif isinstance(inside, tuple):
        pairs = ((str(i + 1), value) for i, value in enumerate(inside))
    else:
        yield name, values
        return
    for key, value in pairs:
        yield from leaves(value, f"{name}.{key}" if name else key)


def is_numeric(space: Any) -> bool:
    """Are the values of this space states? Bytes with two sides or more are images."""
    shape, dtype = space.shape, np.dtype(space.dtype or object)
    return shape is not None and dtype.kind in "fiub" and not (dtype == np.uint8 and len(shape) > 1)


def stack(values: list[Any]) -> Any:
    """Values of several steps as a sequence, the step as first axis."""
    if isinstance(values[0], Mapping):
        return {key: stack([value[key] for value in values]) for key in values[0]}
    if isinstance(values[0], tuple):
        return tuple(stack(list(inside)) for inside in zip(*values, strict=True))
    return np.stack([np.asarray(value) for value in values])


def at_step(sequence: Any, step: int) -> Any:
    """The value of one step."""
    if isinstance(sequence, Mapping):
        return {key: at_step(inside, step) for key, inside in sequence.items()}
    if isinstance(sequence, tuple):
        return tuple(at_step(inside, step) for inside in sequence)
    return sequence[step]


def copied(value: Any) -> Any:
    """A copy, since some environments return the same array at every step."""
    if isinstance(value, Mapping):
        return {key: copied(inside) for key, inside in value.items()}
    return tuple(map(copied, value)) if isinstance(value, tuple) else np.array(value)


def structured(space: Any, arrays: Mapping[str, Any], name: str = "") -> Any:
    """The arrays that `leaves` found, in the dictionaries and tuples of this space again."""
    inside = getattr(space, "spaces", None)
    if inside is None:
        return arrays[name]
    prefix = f"{name}." if name else ""
    if isinstance(inside, Mapping):
        return {key: structured(one, arrays, f"{prefix}{key}") for key, one in inside.items()}
    return tuple(structured(one, arrays, f"{prefix}{i + 1}") for i, one in enumerate(inside))
