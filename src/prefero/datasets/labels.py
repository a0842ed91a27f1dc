"""Labels of a dataset's trajectories: read from one of its columns, or from a table by their ids."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prefero._support.names import listed, no_such
from prefero.datasets.base import Dataset
from prefero.datasets.columns import Columns
from prefero.datasets.feature_dataset import FeatureDataset
from prefero.datasets.features.tables.table import FeatureTable
from prefero.datasets.formats.tables import ID_COLUMNS, TABLE_SUFFIXES, id_column, read_table
from prefero.datasets.formats.video_folder import VIDEO_COLUMNS
from prefero.datasets.outcomes import at_end, reduction_of
from prefero.questions.labels import Labels, warn_about

LABEL_COLUMNS = ("label", "labels", "success")
IN_A_TABLE = "Labels are also read from a table of ids and labels, FILE.csv"
SHOWN = 5  # names in a message


@dataclass(frozen=True)
class LabelColumn:
    """Where labels of a dataset's trajectories are, and how they are read.

    Args:
        name: A column of the dataset, such as next.success or sum(next.reward); or a .csv or .parquet file
            with the ids of trajectories and their labels, FILE or FILE:COLUMN.
        levels: How many levels numbers are cut into; see `prefero.Labels.of`.
        order: Of texts, the lowest first.
    """

    name: str
    levels: int | None = None
    order: Sequence[str] = ()

    @classmethod
    def of(cls, given: "LabelColumn | str") -> "LabelColumn":
        """A column by its name, or as it is."""
        return given if isinstance(given, LabelColumn) else cls(given)

    @property
    def file(self) -> tuple[Path, str | None] | None:
        """The file, and the column in it if one is named; None for a column of the dataset."""
        if Path(self.name).suffix.lower() in TABLE_SUFFIXES:
            return Path(self.name), None
        path, _, column = self.name.rpartition(":")
        return (Path(path), column) if Path(path).suffix.lower() in TABLE_SUFFIXES else None

    @property
    def path(self) -> Path:
        """The file; an error if there is none."""
        assert self.file is not None
        return self.file[0]


def without_label(dataset: Dataset, column: LabelColumn) -> Dataset:
    """The dataset without the column of its labels among its features, which would be told by themselves."""
    if not isinstance(dataset, FeatureDataset) or column.name not in dataset.columns:
        return dataset
    try:
        return dataset.without_column(column.name)
    except ValueError as error:
        raise ValueError(f"{dataset.name} has no feature beside its labels, {column.name!r}") from error


def column_labels(dataset: Dataset, column: LabelColumn) -> Labels | None:
    """The labels of all trajectories of a dataset; None if they are in a file, by the ids of trajectories.

    Raises:
        ValueError: If the dataset has no such column, or its values are no labels.
    """
    values = column_values(dataset, column)
    return None if values is None else as_labels(column, values)


def column_values(dataset: Dataset, column: LabelColumn, also: str = IN_A_TABLE) -> tuple[Any, ...] | None:
    """What the column says of each trajectory of a dataset; None if it is in a file.

    Args:
        dataset: The dataset.
        column: The column.
        also: Where else it may be, for the message.

    Returns:
        A value for each trajectory, None where it is missing.

    Raises:
        ValueError: If the dataset has no such column.
    """
    found = dataset.outcome_column(column.name, at_end)
    name, reduce = reduction_of(column.name)
    if found is None and name != column.name:
        found = dataset.outcome_column(name, reduce)
    if found is not None or column.file is not None:
        return found
    known = dataset.outcome_names()
    what = no_such("column", name, known) if known else f"there is no column {name!r}"
    raise ValueError(f"in {dataset.name} {what}. {also}")


def table_labels(table: FeatureTable, known: Labels | None, column: LabelColumn) -> Labels:
    """The labels of the trajectories in a table of features; `known` are those of the whole dataset."""
    if known is None:
        labels = file_labels(column, table.ids, table.dataset.name)
    elif any(table.segments):
        raise ValueError(
            f"{column.name!r} is about whole episodes, and these are windows of them: leave out --window, or "
            "give the windows' own labels in a file of their ids"
        )
    else:
        labels = known.rows(table.numbers)
    _check_some(labels, column, len(table))
    warn_about(labels, table.ids)
    return labels


def _check_some(labels: Labels, column: LabelColumn, trajectories: int) -> None:
    if not len(labels):
        raise ValueError(f"none of the {trajectories} trajectories has a label of {column.name!r}")


def as_labels(column: LabelColumn, values: Sequence[Any], items: Sequence[int] | None = None) -> Labels:
    """The labels that the values of a column are; `items` are the trajectories that they are of."""
    return Labels.of(values, column.name, levels=column.levels, order=column.order, items=items)


# --- labels in a file -------------------------------------------------------------------------------------


def file_labels(column: LabelColumn, ids: Sequence[str], name: str) -> Labels:
    """Labels in a file, by the ids of trajectories; every row is a label, also if an id has several.

    Args:
        column: With the file.
        ids: Of the trajectories.
        name: Of the dataset or pool, for messages.

    Returns:
        The labels, of which some may be of no trajectory here: a warning names them.
    """
    told, _, values = ids_and_values(column, "label", LABEL_COLUMNS)
    found = places_of(told, ids, column, "label", name)
    items = [len(ids) if place is None else place for place in found]  # levels are those of the whole file
    labels = as_labels(column, values, items).rows(range(len(ids)))
    _check_some(labels, column, len(ids))
    return labels


def ids_and_values(column: LabelColumn, what: str, called: Sequence[str]) -> tuple[list[str], str, list[Any]]:
    """What a file says of trajectories.

    Args:
        column: With the file.
        what: It says of one, for messages: "label".
        called: How its column may be called, if there are several.

    Returns:
        The ids, the column's name and its values.
    """
    assert column.file is not None
    path, wanted = column.file
    columns = read_table(path).columns
    id_name = id_column(columns, None, (*ID_COLUMNS, *VIDEO_COLUMNS))
    if id_name is None:
        raise ValueError(
            f"{path} must say which trajectory a {what} is of, in a column called {', '.join(ID_COLUMNS)}; "
            f"its columns are {listed(tuple(columns))}"
        )
    name = _column_name(columns, id_name, wanted, path, what, called)
    return list(map(id_text, columns[id_name].tolist())), name, columns[name].tolist()


def places_of(
    told: Sequence[str], ids: Sequence[str], column: LabelColumn, what: str, name: str
) -> list[int | None]:
    """Where the trajectories that a file tells about are among others; a warning for those that are not.

    Args:
        told: The ids in the file.
        ids: Of the others.
        column: With the file, for messages.
        what: The file says of one, for messages: "label".
        name: Of the others' dataset or pool, for messages.
    """
    places = id_places(ids)
    found = [places.get(one) for one in told]
    unknown = [one for one, place in zip(told, found, strict=True) if place is None]
    if len(unknown) == len(found):
        raise ValueError(
            f"no id in {column.path} is one of {name}: it has {listed(unknown, SHOWN)}, and {name} has "
            f"{listed(tuple(ids), SHOWN)}"
        )
    if unknown:
        warnings.warn(
            f"{len(unknown)} of {len(found)} {what}s in {column.path} are of trajectories that are not asked "
            f"about here, and are not used: {listed(unknown, SHOWN)}",
            stacklevel=5,
        )
    return found


def _column_name(
    columns: Columns, ids: str, wanted: str | None, path: Path, what: str, called: Sequence[str]
) -> str:
    """The column that is wanted: the one that is named, the only one, or one that is called so."""
    if wanted is not None:
        if wanted not in columns:
            raise ValueError(f"in {path} {no_such('column', wanted, tuple(columns))}")
        return wanted
    others = [name for name in columns if name != ids]
    fitting = [name for name in others if name.lower() in called]
    found = others if len(others) == 1 else fitting
    if len(found) != 1:
        raise ValueError(
            f"{path} has several columns that may be the {what}s ({listed(others)}): name one, {path}:COLUMN"
        )
    return found[0]


def id_places(ids: Sequence[str]) -> dict[str, int]:
    """The index of each trajectory by its id; of a video also by its name without the suffix."""
    stems = {Path(one).stem: place for place, one in enumerate(ids)}
    own = {one: place for place, one in enumerate(ids)}
    return (stems if len(stems) == len(ids) else {}) | own


def id_text(value: Any) -> str:
    """An id as a text; a column of whole numbers with gaps holds 3.0 for 3."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
