"""Opening a dataset, whatever it is: by a path or an id that is recognised, or by a recipe that was kept."""

import inspect
import json
import warnings
from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from prefero._support.optional import need
from prefero.datasets.base import Dataset, FeatureDataset, StepRange
from prefero.datasets.formats.gymnasium import Gymnasium
from prefero.datasets.formats.lerobot.dataset import INFO, LeRobot
from prefero.datasets.formats.minari.dataset import Minari, data_folder, local_folder
from prefero.datasets.formats.tables import TABLES, archive_dataset, parts_in, read_table, table_dataset
from prefero.datasets.formats.video_folder import clips_dataset


class Revisited(FeatureDataset):
    """Features that `prefero features` kept, with the films of the dataset that they are of."""

    def __init__(
        self, kept: FeatureDataset, source: Dataset, numbers: list[int], parts: list[StepRange | None]
    ) -> None:
        super().__init__(kept.name, kept.features, kept.names, kept.ids, recipe=kept.recipe)
        self.source, self.numbers, self.parts, self.has_video = source, numbers, parts, source.has_video

    def check_video(self, number: int) -> None:
        """Is the dataset's own film still there?"""
        self.source.check_video(self.numbers[number])

    def clip_path(self, number: int, folder: Path, steps: StepRange | None = None) -> Path:
        """Where the dataset's own clip is."""
        del steps
        return self.source.clip_path(self.numbers[number], folder, self.parts[number])

    def cut_clip(self, number: int, folder: Path, steps: StepRange | None = None) -> Path:
        """The dataset's own clip of what the row is about."""
        del steps
        return self.source.cut_clip(self.numbers[number], folder, self.parts[number])


def table_file(
    path: str | Path, features: Sequence[str] | None = None, *, ids: str | None = None
) -> FeatureDataset:
    """A table; one of ours goes on showing the films of its dataset, where that still is."""
    kept = table_dataset(path, features, ids=ids)
    columns, about = read_table(Path(path))
    if about is None or about["recipe"] is None:
        return kept
    try:
        source = open_recipe(about["recipe"])
    except (ValueError, OSError) as error:
        warnings.warn(f"there are features in {path}, but no films: {error}", stacklevel=2)
        return kept
    numbers = columns["number"].tolist()
    if [source.ids[n] if n < len(source) else None for n in numbers] != columns["episode"].tolist():
        changed = f"{source.name} has changed since they were noted, so that its films are not shown"
        warnings.warn(f"there are features in {path}, but {changed}: note them again", stacklevel=2)
        return kept
    return Revisited(kept, source, numbers, parts_in(columns))


KINDS: dict[str, Callable[..., Dataset]] = {
    "lerobot": LeRobot,
    "minari": Minari,
    "clips": clips_dataset,
    "table": table_file,
    "archive": archive_dataset,
    "gymnasium": Gymnasium,
}
LOOKED_FOR = (
    "a LeRobot dataset (a folder with meta/info.json), a Minari dataset (a folder with data/metadata.json, "
    "or the id of one on this machine), a folder of .mp4 clips with a table, a table (.csv, .parquet), a "
    "NumPy archive (.npz) and the id of a Gymnasium environment"
)


def open_dataset(what: str | Path, **options: Any) -> Dataset:
    """A dataset by its path or id; KIND:WHAT says which kind it is, where that is not to be guessed.

    Options are those of its kind: camera (LeRobot, Minari), task (LeRobot), render and seconds (Minari),
    table (clips), and episodes, policy, steps and seed (Gymnasium).
    """
    kind, place = kind_and_place(what)
    if kind is None:
        raise ValueError(f"{place!r} is none of what was looked for: {LOOKED_FOR}")
    return _opened(kind, place, options)


def kind_and_place(what: str | Path) -> tuple[str | None, str]:
    """What kind of dataset this is, said as KIND:WHAT or recognised, and where it is."""
    kind, _, rest = str(what).partition(":")
    return (kind, rest) if kind in KINDS and rest else (kind_of(what), str(what))


def _opened(kind: str, what: str, options: dict[str, Any]) -> Dataset:
    given = {name: value for name, value in options.items() if value is not None and value is not False}
    known = list(inspect.signature(KINDS[kind]).parameters)[1:]
    foreign = [name for name in given if name not in known]
    if foreign:
        raise ValueError(
            f"{what} is opened as {kind}, which has no option {foreign[0]!r}: it has {', '.join(known)}"
        )
    dataset = KINDS[kind](what, **given)
    for remark in dataset.remarks:
        warnings.warn(remark, stacklevel=3)
    return dataset


def kind_of(what: str | Path) -> str | None:
    """What kind of dataset a path or an id is."""
    path = Path(what)
    if path.is_dir():
        return _kind_of_folder(path)
    if path.is_file():
        return "archive" if path.suffix == ".npz" else "table" if path.suffix.lower() in TABLES else None
    return _kind_of_id(str(what))


def _kind_of_folder(folder: Path) -> str | None:
    if (folder / INFO).is_file():
        return "lerobot"
    if data_folder(folder) is not None:
        return "minari"
    return "clips" if any(path.suffix.lower() == ".mp4" for path in folder.iterdir()) else None


def _kind_of_id(name: str) -> str | None:
    """Minari's datasets on this machine come before Gymnasium's environments."""
    if find_spec("minari") is not None and local_folder(name) is not None:
        return "minari"
    if find_spec("gymnasium") is not None and name in need("gymnasium", extra="worlds").registry:
        return "gymnasium"
    return None


def for_workers(dataset: Dataset, cores: int) -> Dataset | str:
    """What other processes are sent: words that open it there, since a large dataset is long to send."""
    return dataset if cores == 1 or dataset.recipe is None else json.dumps([dataset.recipe, dataset.version])


def in_worker(sent: Dataset | str) -> Dataset:
    """The dataset that was sent."""
    return _opened_once(sent) if isinstance(sent, str) else sent


@lru_cache(maxsize=1)
def _opened_once(sent: str) -> Dataset:
    """Once for each version: a worker may live longer than the dataset stays as it is."""
    recipe, _ = json.loads(sent)
    return open_recipe(recipe)


def open_recipe(recipe: dict[str, Any]) -> Dataset:
    """A dataset that was open before."""
    options = {key: value for key, value in recipe.items() if key not in ("kind", "path")}
    return KINDS[recipe["kind"]](recipe["path"], **options)
