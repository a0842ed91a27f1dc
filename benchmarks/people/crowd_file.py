"""Reads a file of many people's answers, and says what is wrong with it.

    features    (M, d)   of the items, numbers
    answers     (N, 4)   person (a number or a name), left and right (items from 0 on), and the choice: 0 or
                         "left", 1 or "right", 2 or "equal"

Numbers may be stored as integers, as floats or as text. Rows that compare an item with itself are left out.
"""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from prefero._support.arrays import Array, Indices

APART = 1e-7  # of a standard deviation, by which items with equal features are made different
WORDS = {"left": 0, "right": 1, "equal": 2}


class Crowd(NamedTuple):
    """What people answered: person, left, right and choice, (N, 4), about items with features (M, d)."""

    features: Array
    answers: Indices

    @property
    def people(self) -> Indices:
        """Their numbers."""
        return np.unique(self.answers[:, 0])


class CrowdFileError(ValueError):
    """A file of answers cannot be used."""


def read(path: Path) -> Crowd:
    """A file; people get numbers from 0 on, and items with equal features stay different items.

    Args:
        path: An NPZ file with the arrays `features` and `answers`.

    Returns:
        The answers.

    Raises:
        CrowdFileError: If the file is not as described above; it says in which row.
    """
    arrays = _arrays(path)
    features = _features(arrays["features"], path)
    answers = _answers(arrays["answers"], len(features), path)
    return Crowd(_apart(features), answers)


def _arrays(path: Path) -> dict[str, npt.NDArray[Any]]:
    try:
        with np.load(path, allow_pickle=False) as file:
            names = list(getattr(file, "files", []))
            missing = [name for name in ("features", "answers") if name not in names]
            if missing:
                raise CrowdFileError(
                    f"{path} needs the arrays 'features' and 'answers', but has {', '.join(names) or 'none'}"
                )
            return {name: file[name] for name in ("features", "answers")}
    except FileNotFoundError:
        raise CrowdFileError(f"there is no file {path}") from None
    except CrowdFileError:
        raise
    except (ValueError, OSError) as error:
        raise CrowdFileError(
            f"{path} cannot be read ({error}): write it with numpy.savez(path, features=..., answers=...), "
            "with arrays of numbers or text, not of objects"
        ) from error


def _features(given: npt.NDArray[Any], path: Path) -> Array:
    try:
        features = np.asarray(given, dtype=float)
    except ValueError as error:
        raise CrowdFileError(f"{path}: features must be numbers, but {error}") from None
    features = features[:, None] if features.ndim == 1 else features
    if features.ndim != 2 or not features.size:
        raise CrowdFileError(f"{path}: features must have the shape (items, features), not {given.shape}")
    bad = np.flatnonzero(~np.isfinite(features).all(axis=1))
    if len(bad):
        raise CrowdFileError(f"{path}: features must be finite, but those of item {bad[0]} are not")
    return features


def _answers(given: npt.NDArray[Any], items: int, path: Path) -> Indices:
    if given.ndim != 2 or given.shape[1] != 4 or not len(given):
        raise CrowdFileError(
            f"{path}: answers must have the shape (answers, 4), for person, left, right and choice, "
            f"not {given.shape}"
        )
    people = np.unique(given[:, 0], return_inverse=True)[1].reshape(-1)
    left, right = (_whole(given[:, column], name, path) for column, name in ((1, "left"), (2, "right")))
    both = np.concatenate([left, right])
    if both.min() < 0 or both.max() >= items:
        row = int(np.argmax((np.minimum(left, right) < 0) | (np.maximum(left, right) >= items)))
        raise CrowdFileError(
            f"{path}: items are numbered from 0 to {items - 1}, as the rows of features, but answer {row} "
            f"is about {left[row]} and {right[row]}"
        )
    choice = _choices(given[:, 3], path)
    rows: Indices = np.column_stack([people, left, right, choice]).astype(np.intp)
    different: Indices = rows[left != right]
    return different


def _whole(column: npt.NDArray[Any], name: str, path: Path) -> Indices:
    """Whole numbers, however they are stored."""
    try:
        numbers = column.astype(float)
    except ValueError:
        numbers = np.full(len(column), np.nan)
        for row, value in enumerate(column.tolist()):
            numbers[row] = float(value) if str(value).strip().lstrip("-").isdigit() else np.nan
    bad = np.flatnonzero(~(np.isfinite(numbers) & (numbers == np.round(numbers))))
    if len(bad):
        raise CrowdFileError(
            f"{path}: {name} must be a whole number, but is {column[bad[0]].item()!r} in answer {bad[0]}"
        )
    return numbers.astype(np.intp)


def _choices(column: npt.NDArray[Any], path: Path) -> Indices:
    if column.dtype.kind in "US":
        column = np.array([WORDS.get(_text(word), _text(word)) for word in column.tolist()], dtype=np.str_)
    numbers = _whole(column, "the choice", path)
    bad = np.flatnonzero((numbers < 0) | (numbers > 2))
    if len(bad):
        raise CrowdFileError(
            f"{path}: the choice is 0 for left, 1 for right or 2 for equal, but answer {bad[0]} has "
            f"{numbers[bad[0]]}"
        )
    return numbers


def _text(word: str | bytes) -> str:
    return (word.decode() if isinstance(word, bytes) else word).strip().lower()


def _apart(features: Array) -> Array:
    """Items with equal features are moved apart by very little."""
    if len(np.unique(features, axis=0)) == len(features):
        return features
    step = APART * np.maximum(features.std(axis=0).max(), 1.0)
    moved = features.copy()
    moved[:, int(np.argmax(features.std(axis=0)))] += step * np.arange(len(features)) / len(features)
    return moved
