"""Scores of a dataset's trajectories that exist already: one of its columns, or a table of their ids.

A score that is in a file becomes a column of the dataset that was opened, so that all that reads columns
finds it there.
"""

from collections.abc import Sequence
from copy import copy
from typing import Any

import numpy as np
import numpy.typing as npt

from prefero._support.arrays import Array
from prefero.datasets.base import Dataset
from prefero.datasets.feature_dataset import FeatureDataset
from prefero.datasets.labels import LabelColumn, column_values, ids_and_values, places_of

SCORE_COLUMNS = ("score", "scores", "reward", "probability", "progress")
ALSO = "Scores are also read from a table of ids and scores, --score FILE.csv, or made by a reward's file"


def with_score(dataset: Dataset, score: str) -> tuple[Dataset, str]:
    """A dataset with a score among its columns, and the column's name.

    Args:
        dataset: The dataset.
        score: A column, such as sum(next.reward); or a .csv or .parquet file of ids and scores, FILE or
            FILE:COLUMN.

    Returns:
        The same dataset, or a copy that has the column of the file, and the name.
    """
    column = LabelColumn(score)
    if column.file is None or dataset.outcome_column(score, max) is not None:
        return dataset, score
    name, values = file_scores(column, dataset.ids, dataset.name)
    return with_column(dataset, name, values), name


def with_column(dataset: Dataset, name: str, values: npt.ArrayLike) -> Dataset:
    """A copy of a dataset with a column of numbers, one for each trajectory; NaN where there is none."""
    numbers = np.asarray(values, dtype=float)
    if isinstance(dataset, FeatureDataset):
        if name in dataset.columns:
            raise ValueError(
                f"{dataset.name} has a column {name!r} itself: take that one, --score {name!r}, or give the "
                "column of the file another name"
            )
        return dataset.with_column(name, numbers)
    changed = copy(dataset)
    changed.added_columns = {**dataset.added_columns, name: numbers}
    return changed


def score_values(dataset: Dataset, name: str) -> Array:
    """A score of each trajectory of a dataset, (M,); NaN where there is none.

    Raises:
        ValueError: If the dataset has no such column, or it does not hold numbers.
    """
    if name in dataset.added_columns:
        return dataset.added_columns[name]
    values = column_values(dataset, LabelColumn(name), ALSO)
    assert values is not None  # only those of a file are
    return _numbers(values, name)


def file_scores(column: LabelColumn, ids: Sequence[str], name: str) -> tuple[str, Array]:
    """Scores in a file, by the ids of trajectories.

    Args:
        column: With the file.
        ids: Of the trajectories.
        name: Of the dataset or pool, for messages.

    Returns:
        The name of the file's column, and a score of each trajectory, (M,); NaN where there is none.
    """
    told, found, values = ids_and_values(column, "score", SCORE_COLUMNS)
    rows = places_of(told, ids, column, "score", name)
    scores = np.full(len(ids), np.nan)
    for row, number in zip(rows, _numbers(values, found).tolist(), strict=True):
        if row is not None:
            scores[row] = number
    return found, scores


def _numbers(values: Sequence[Any], name: str) -> Array:
    """Values as numbers; a flag is 0 or 1."""
    try:
        return np.array([np.nan if value is None else float(value) for value in values])
    except (TypeError, ValueError) as error:
        first = next(value for value in values if value is not None)
        raise ValueError(
            f"a score is a number, but {name!r} has {first!r}: texts with an order are labels, --labels"
        ) from error
