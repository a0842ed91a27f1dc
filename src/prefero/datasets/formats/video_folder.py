"""A folder of films (MP4), with a table that notes the features of each.

The table is the one CSV or Parquet file in the folder, or any that is named. Its column clip, file, film,
video or path says which film a row is about; without one, its id does, and the film is ID.mp4.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from prefero.datasets.base import FeatureDataset
from prefero.datasets.formats.tables import IDS, TABLES, columns_of, id_column, numbers_in, read_table

CLIPS = ("clip", "file", "film", "video", "path")


def find_table(folder: Path) -> Path:
    """The table in a folder of clips; there must be one and no more."""
    found = sorted(path for path in folder.iterdir() if path.suffix.lower() in TABLES)
    if len(found) != 1:
        there = ", ".join(path.name for path in found) or "none"
        raise ValueError(
            f"{folder} should hold one table of features (.csv or .parquet), but there is {there}: "
            "say which with --table"
        )
    return found[0]


def clips_dataset(
    folder: str | Path, table: Any = None, features: Sequence[str] | None = None, *, clip: str | None = None
) -> FeatureDataset:
    """Films in a folder with the features that a table notes: all its numbers, or the named ones."""
    folder = Path(folder)
    if not folder.is_dir():
        raise ValueError(f"the folder of clips {folder} is not there")
    place = table if table is not None else find_table(folder)
    from_file = isinstance(place, str | Path)
    columns = read_table(Path(place))[0] if from_file else columns_of(place)
    which = id_column(columns, clip, CLIPS) or id_column(columns, None)
    if which is None:
        raise ValueError(
            f"the table must say which film a row is about, in a column called {', '.join((*CLIPS, *IDS))}; "
            f"its columns are {', '.join(columns)}"
        )
    films = tuple(_film(folder, str(value)) for value in columns[which].tolist())
    label = id_column(columns, None)
    ids = tuple(map(str, columns[label].tolist())) if label else tuple(film.name for film in films)
    chosen = list(features or (c for c in columns if c not in (which, label)))
    recipe = {
        "kind": "clips",
        "path": str(folder.resolve()),
        "table": str(Path(place).resolve()) if from_file else None,
        "features": features,
        "clip": clip,
    }
    matrix = numbers_in(columns, chosen)
    return FeatureDataset(
        folder.resolve().name, matrix, tuple(chosen), ids, films, recipe=recipe if from_file else None
    )


def _film(folder: Path, name: str) -> Path:
    path = folder / name
    return path if path.suffix else path.with_suffix(".mp4")
