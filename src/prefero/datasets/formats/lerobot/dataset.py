"""LeRobot's datasets on disk, versions 2.x and 3.0, read with pyarrow, PyAV and Pillow alone.

States are all numbers that were observed, one column after the other; actions likewise. A camera's pictures
are in films, which may be AV1, or one by one in a column of the frames.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from prefero._support.arrays import Array, Image
from prefero._support.optional import need
from prefero.datasets.base import BadEpisode, Episode, EpisodeDataset, StepRange
from prefero.datasets.formats.lerobot.episode_index import INFO as INFO
from prefero.datasets.formats.lerobot.episode_index import Place, read_episode_index, read_info
from prefero.datasets.formats.lerobot.tasks import listed, of_task, with_tasks
from prefero.datasets.formats.lerobot.videos import check_video, image_column_frames, video_frames
from prefero.datasets.media.images import choose_camera
from prefero.datasets.media.video_files import damage_message

REWARDS = ("next.reward", "reward")
NUMBERS = ("float", "int", "uint", "bool")
FILMS, PICTURES = "video", "image"
DEPTH = ("is_depth_map", "video.is_depth_map")
ORDER = ("episode_index", "frame_index")


class LeRobot(EpisodeDataset):
    """A LeRobot dataset, or one task of it.

    `camera` says whose pictures are shown, by its whole name or its end, and "none" that none are. If they
    will be `shown`, an episode whose film is damaged is as bad as one whose numbers are.
    """

    def __init__(
        self,
        folder: str | Path,
        camera: str | None = None,
        task: str | None = None,
        *,
        shown: bool = False,
    ) -> None:
        self.folder, self.shown = Path(folder), shown
        self.name = self.folder.resolve().name
        self.info = read_info(self.folder)
        self.seconds = 1.0 / float(self.info["fps"])
        self.state_columns = [key for key in self._numeric() if key.startswith("observation")]
        self.action_columns = [key for key in self._numeric() if key.split(".")[0] == "action"]
        if not self.state_columns:
            raise ValueError(f"{folder} observes no numbers: its columns are {', '.join(self._features())}")
        places = with_tasks(self.folder, read_episode_index(self.folder, self.info, self._cameras(FILMS)))
        self.task, self.places = of_task(places, task)
        self.ids = tuple(str(place.episode) for place in self.places)
        self.camera = choose_camera(self._cameras(FILMS, PICTURES), camera)
        lost = self._without_films()
        self.remarks = (*self._counted(places), *self._several_tasks(), *lost)
        self.camera = None if lost else self.camera
        self.has_video = self.camera is not None
        self.recipe = {
            "kind": "lerobot",
            "path": str(self.folder.resolve()),
            "camera": camera if self.camera is None else self.camera,
            "task": self.task,
            "shown": shown,
        }
        self.files = (self.folder / INFO, *sorted({place.path for place in self.places} | self._films()))

    def _features(self) -> dict[str, Any]:
        return dict(self.info["features"])

    def _numeric(self) -> list[str]:
        return [k for k, f in self._features().items() if str(f.get("dtype", "")).startswith(NUMBERS)]

    def _cameras(self, *kinds: str) -> list[str]:
        """The cameras whose pictures are kept so; those that see colors first."""
        cameras = {key: about for key, about in self._features().items() if about.get("dtype") in kinds}
        return sorted(cameras, key=lambda key: _is_depth(cameras[key]))

    def _has_films(self) -> bool:
        """Are the chosen camera's pictures in films?"""
        return self.camera is not None and self._features()[self.camera]["dtype"] == FILMS

    def _films(self) -> set[Path]:
        """All films of the chosen camera."""
        camera = self.camera or ""
        return {place.clips[camera].path for place in self.places if camera in place.clips}

    # --- remarks ------------------------------------------------------------------------------------------

    def _counted(self, places: Sequence[Place]) -> list[str]:
        total = self.info.get("total_episodes")
        if not isinstance(total, int) or total == len(places):
            return []
        return [f"{self.folder / INFO} speaks of {total} episodes, but {len(places)} are listed and used"]

    def _several_tasks(self) -> list[str]:
        if self.task is not None or len({frozenset(place.tasks) for place in self.places}) < 2:
            return []
        return [
            f"episodes of different tasks are compared in {self.name}: {listed(self.places)}. Choose one of "
            "them with --task (task=...)"
        ]

    def _without_films(self) -> list[str]:
        """Who took the numbers alone from elsewhere can do without films."""
        if not self._has_films() or any(film.is_file() for film in self._films()):
            return []
        return [f"no film of {self.camera} is in {self.folder}: episodes are shown by their features"]

    # --- frames -------------------------------------------------------------------------------------------

    def episode(self, number: int) -> Episode:
        """Read one episode's numbers; its film stays where it is."""
        self.check_number(number)
        return self._episode(number, self._table(number, only=self.places[number].episode))

    def read(self, numbers: Iterable[int]) -> Iterator[Episode | BadEpisode]:
        """Several episodes; a file that holds many of them is read once for those that follow each other."""
        path, table = None, None
        for number in numbers:
            try:
                if table is None or self.places[number].path != path:
                    path, table = self.places[number].path, None
                    table = self._table(number)
                yield self._episode(number, table)
            except BadEpisode as error:
                yield error

    def _table(self, number: int, only: int | None = None) -> Any:
        """The numbers in an episode's file: of all its episodes, or of this one only."""
        place, arrow = self.places[number], need("pyarrow", extra="datasets")
        if place.trouble:
            raise BadEpisode(str(place.episode), place.trouble)
        if not place.path.is_file():
            raise BadEpisode(str(place.episode), f"its file {place.path} is missing")
        columns = [*self.state_columns, *self.action_columns, *self._rewards(), *ORDER]
        pictures = [self.camera] if self.camera and self.shown and not self._has_films() else []
        parquet = need("pyarrow.parquet", extra="datasets")
        try:
            there = parquet.read_schema(place.path).names
            missing = [column for column in (*columns, *pictures) if column not in there]
            if missing:
                raise BadEpisode(str(place.episode), f"its file {place.path} has no column {missing[0]!r}")
            wanted = None if only is None else [("episode_index", "=", only)]
            return parquet.read_table(place.path, columns=columns, filters=wanted)
        except (arrow.ArrowException, OSError) as error:
            raise BadEpisode(str(place.episode), f"its file {damage_message(place.path, error)}") from error

    def _rewards(self) -> list[str]:
        return [key for key in REWARDS if key in self._numeric()][:1]

    def _episode(self, number: int, table: Any) -> Episode:
        place = self.places[number]
        if place.trouble:
            raise BadEpisode(str(place.episode), place.trouble)
        rows = np.flatnonzero(table["episode_index"].to_numpy() == place.episode)
        if len(rows) != place.length:
            raise BadEpisode(
                str(place.episode),
                f"it should have {place.length} frames, but {place.path} holds {len(rows)} of it",
            )
        if not place.length:
            raise BadEpisode(str(place.episode), "it has no steps")
        mine = table.take(rows)
        if not np.array_equal(mine["frame_index"].to_numpy(), np.arange(place.length)):
            raise BadEpisode(str(place.episode), "its frames are not in their order")
        if self.shown:
            self.check_video(number)
        rewards = [_matrix(place, mine, key)[:, 0] for key in self._rewards()]
        return Episode(
            str(place.episode),
            self._joined(place, mine, self.state_columns),
            self._joined(place, mine, self.action_columns),
            rewards[0] if rewards else None,
            self.seconds,
            self._names(self.state_columns),
            self._names(self.action_columns),
            place.clips.get(self.camera or ""),
        )

    def _joined(self, place: Place, table: Any, columns: Sequence[str]) -> Array:
        parts = [_matrix(place, table, column) for column in columns]
        joined: Array = np.concatenate(parts, axis=1) if parts else np.zeros((len(table), 0))
        return joined

    def _names(self, columns: Sequence[str]) -> tuple[str, ...]:
        return distinct([name for key in columns for name in column_names(key, self._features()[key])])

    # --- films --------------------------------------------------------------------------------------------

    def check_video(self, number: int) -> None:
        """An error that names the episode unless its film is there, and long enough."""
        if self.camera is not None and self._has_films():
            check_video(self.places[number], self.camera, self.seconds)

    def frames(self, number: int, steps: StepRange | None) -> tuple[Iterator[Image], float]:
        """The camera's pictures of an episode or a part of it."""
        place = self.places[number]
        if self.camera is None:
            raise ValueError(f"{self.name} has no films: its columns are {', '.join(self._features())}")
        first, last = steps or (0, place.length)
        if self._has_films():
            pictures = video_frames(place, self.camera, self.seconds, first, last)
        else:
            pictures = image_column_frames(self.folder, place, self.camera, first, last)
        return pictures, 1 / self.seconds


def _is_depth(feature: Mapping[str, Any]) -> bool:
    told = {**(feature.get("video_info") or {}), **(feature.get("info") or {})}
    return any(told.get(key) for key in DEPTH)


# --- numbers ----------------------------------------------------------------------------------------------


def column_names(key: str, feature: Mapping[str, Any]) -> list[str]:
    """What the numbers of a column are called: as the dataset says, or by the column and a number."""
    size = int(np.prod(feature.get("shape") or [1]))
    names = feature.get("names")
    if isinstance(names, dict):  # {"motors": [...]}, or the place of each
        listed = next((value for value in names.values() if isinstance(value, list)), None)
        names = list(names) if listed is None else listed
    if isinstance(names, list) and len(names) == size and size > 1:
        return [str(name) for name in names]
    short = key.removeprefix("observation.")
    return [short] if size == 1 else [f"{short} {i + 1}" for i in range(size)]


def distinct(names: Sequence[str]) -> tuple[str, ...]:
    """The same names, with a number after those that come again."""
    made: dict[str, None] = {}
    for name in names:
        numbered = (name if i == 1 else f"{name} ({i})" for i in count(1))
        made[next(other for other in numbered if other not in made)] = None
    return tuple(made)


def _matrix(place: Place, table: Any, column: str) -> Array:
    """A column of numbers, or of lists of them, or of lists of lists, as (T, n)."""
    values = table[column].combine_chunks()
    try:
        return _flat(values).reshape(len(values), -1)
    except (TypeError, ValueError) as error:
        raise BadEpisode(
            str(place.episode), f"its {column} are not numbers, or not equally many at every step"
        ) from error


def _flat(values: Any) -> Array:
    """All numbers one after the other, from lists that are equally long."""
    types = need("pyarrow", extra="datasets").types
    if not (types.is_list(values.type) or types.is_fixed_size_list(values.type)):
        return np.asarray(values.to_numpy(zero_copy_only=False), dtype=float)
    lengths = need("pyarrow.compute", extra="datasets").list_value_length(values)
    if values.null_count or len(lengths.unique()) > 1:
        raise ValueError("lists of unequal lengths")
    return _flat(values.flatten())
