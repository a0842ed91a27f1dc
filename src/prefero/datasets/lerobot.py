"""LeRobot's datasets on disk, versions 2.x and 3.0, read with pyarrow and PyAV alone.

    meta/info.json             rate (fps), the path templates, and what each column is called
    version 3.0                meta/episodes/*/*.parquet say in which file an episode is, and when in each
                               camera's film; a file holds many episodes
    version 2.x                meta/episodes.jsonl says how long each episode is; each has files of its own

States are all numbers that were observed, one column after the other; actions likewise. Films may be AV1.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from prefero.arrays import Array
from prefero.datasets.base import BadEpisode, Clip, Episode, Recordings, Steps
from prefero.datasets.films import FilmError, frames_of
from prefero.extras import need
from prefero.video import Picture

INFO = Path("meta") / "info.json"
REWARDS = ("next.reward", "reward")
WANTED = ("codebase_version", "fps", "features", "data_path")
NUMBERS = ("float", "int", "uint", "bool")
CLIP = ("chunk_index", "file_index", "from_timestamp", "to_timestamp")  # of an episode, for each camera


@dataclass(frozen=True)
class Place:
    """Where an episode is: its frames' file, how many there are, and its clip for each camera."""

    episode: int
    path: Path
    length: int
    clips: Mapping[str, Clip]


class LeRobot(Recordings):
    """A LeRobot dataset; `camera` says whose films are shown, by its whole name or its end."""

    def __init__(self, folder: str | Path, camera: str | None = None) -> None:
        self.folder = Path(folder)
        self.name = self.folder.resolve().name
        self.info = read_info(self.folder)
        self.seconds = 1.0 / float(self.info["fps"])
        cameras = [key for key, feature in self._features().items() if feature.get("dtype") == "video"]
        self.camera = chosen_camera(cameras, camera)
        self.places = self._places(cameras)
        self.ids = tuple(str(place.episode) for place in self.places)
        self.filmed = self.camera is not None
        self.files = (self.folder / INFO, *sorted({place.path for place in self.places}))
        self.recipe = {"kind": "lerobot", "path": str(self.folder.resolve()), "camera": self.camera}
        self.state_columns = [key for key in self._numeric() if key.startswith("observation")]
        self.action_columns = [key for key in self._numeric() if key.split(".")[0] == "action"]
        if not self.state_columns:
            raise ValueError(f"{folder} observes no numbers: its columns are {', '.join(self._features())}")

    def _features(self) -> dict[str, Any]:
        return dict(self.info["features"])

    def _numeric(self) -> list[str]:
        return [k for k, f in self._features().items() if str(f.get("dtype", "")).startswith(NUMBERS)]

    def _places(self, cameras: Sequence[str]) -> list[Place]:
        version = str(self.info["codebase_version"])
        if version.startswith("v3."):
            return _places_3(self.folder, self.info, cameras)
        if version.startswith("v2."):
            return _places_2(self.folder, self.info, cameras)
        raise ValueError(
            f"{self.folder} is a LeRobot dataset of version {version}, and 2.0, 2.1 and 3.0 are read: "
            "convert it with LeRobot's own tools"
        )

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
        if not place.path.is_file():
            raise BadEpisode(str(place.episode), f"its file {place.path} is missing")
        columns = [
            *self.state_columns,
            *self.action_columns,
            *self._rewards(),
            "frame_index",
            "episode_index",
        ]
        parquet = need("pyarrow.parquet", extra="datasets")
        try:
            there = parquet.read_schema(place.path).names
            missing = [column for column in columns if column not in there]
            if missing:
                raise BadEpisode(str(place.episode), f"its file {place.path} has no column {missing[0]!r}")
            wanted = None if only is None else [("episode_index", "=", only)]
            return parquet.read_table(place.path, columns=columns, filters=wanted)
        except (arrow.ArrowException, OSError) as error:
            raise BadEpisode(
                str(place.episode), f"its file {place.path} is damaged or cut short: {_first_line(error)}"
            ) from error

    def _rewards(self) -> list[str]:
        return [key for key in REWARDS if key in self._numeric()][:1]

    def _episode(self, number: int, table: Any) -> Episode:
        place = self.places[number]
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

    def frames(self, number: int, steps: Steps | None) -> tuple[Iterator[Picture], float]:
        """The camera's pictures of an episode or a part of it."""
        place = self.places[number]
        if self.camera is None:
            raise ValueError(f"{self.name} has no films: its columns are {', '.join(self._features())}")
        if self.camera not in place.clips:
            raise BadEpisode(str(place.episode), f"there is no film of it by {self.camera}")
        clip, (first, last) = place.clips[self.camera], steps or (0, place.length)
        start = clip.start + first * self.seconds
        wanted = frames_of(clip.path, start, start + (last - first) * self.seconds)
        return _all_of(wanted, last - first, clip.path), 1 / self.seconds


def _all_of(frames: Iterator[Picture], count: int, path: Path) -> Iterator[Picture]:
    """The frames, after which there must have been so many; one may be missing at the end."""
    seen = 0
    for frame in frames:
        seen += 1
        yield frame
    if seen < max(count - 1, 1):
        raise FilmError(f"{path} shows {seen} of its {count} frames")


# --- metadata ---------------------------------------------------------------------------------------------


def read_info(folder: Path) -> dict[str, Any]:
    """What a dataset says about itself."""
    path = folder / INFO
    try:
        info = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise ValueError(f"{folder} is no LeRobot dataset: {path} cannot be read ({error})") from error
    missing = [key for key in WANTED if not isinstance(info, dict) or key not in info]
    if missing or not float(info["fps"]) > 0:
        raise ValueError(
            f"{path} is damaged: it does not say {missing[0] if missing else 'a positive fps'!r}"
        )
    return dict(info)


def chosen_camera(cameras: Sequence[str], wanted: str | None) -> str | None:
    """The camera that was named, or the first."""
    if wanted is None:
        return cameras[0] if cameras else None
    fitting = [key for key in cameras if key == wanted or key.endswith(f".{wanted}")]
    if len(fitting) != 1:
        raise ValueError(f"there is no camera {wanted!r}: the cameras are {', '.join(cameras) or 'none'}")
    return fitting[0]


def column_names(key: str, feature: Mapping[str, Any]) -> list[str]:
    """What the numbers of a column are called: as the dataset says, or by the column and a number."""
    size = int(np.prod(feature.get("shape") or [1]))
    names = feature.get("names")
    if isinstance(names, dict):
        names = next((value for value in names.values() if isinstance(value, list)), None)
    if isinstance(names, list) and len(names) == size and size > 1:
        return [str(name) for name in names]
    short = key.removeprefix("observation.")
    return [short] if size == 1 else [f"{short} {i + 1}" for i in range(size)]


def distinct(names: Sequence[str]) -> tuple[str, ...]:
    """The same names, with a number after those that come again."""
    seen: dict[str, int] = {}
    made = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        made.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return tuple(made)


def _places_3(folder: Path, info: dict[str, Any], cameras: Sequence[str]) -> list[Place]:
    files = sorted((folder / "meta" / "episodes").glob("*/*.parquet"))
    if not files:
        raise ValueError(f"{folder} is incomplete: meta/episodes holds no Parquet file")
    rows = [row for path in files for row in _rows(path, cameras)]
    return sorted((_place_3(folder, info, cameras, row) for row in rows), key=lambda place: place.episode)


def _rows(path: Path, cameras: Sequence[str]) -> list[dict[str, Any]]:
    arrow, parquet = need("pyarrow", extra="datasets"), need("pyarrow.parquet", extra="datasets")
    wanted = ["episode_index", "length", "data/chunk_index", "data/file_index"]
    wanted += [f"videos/{camera}/{what}" for camera in cameras for what in CLIP]
    try:
        there = parquet.read_schema(path).names
        missing = [column for column in wanted if column not in there]
        if missing:
            raise ValueError(f"{path} has no column {missing[0]!r}: it is damaged, or of another version")
        return list(parquet.read_table(path, columns=wanted).to_pylist())
    except (arrow.ArrowException, OSError) as error:
        raise ValueError(f"{path} is damaged or cut short: {_first_line(error)}") from error


def _place_3(folder: Path, info: dict[str, Any], cameras: Sequence[str], row: dict[str, Any]) -> Place:
    clips = {}
    for camera in cameras:
        chunk, file, start, end = (row[f"videos/{camera}/{what}"] for what in CLIP)
        if start is not None:
            where = {"video_key": camera, "chunk_index": chunk, "file_index": file}
            clips[camera] = Clip(_filled(folder, info, "video_path", where), float(start), float(end))
    where = {"chunk_index": row["data/chunk_index"], "file_index": row["data/file_index"]}
    return Place(row["episode_index"], _filled(folder, info, "data_path", where), row["length"], clips)


def _filled(folder: Path, info: dict[str, Any], key: str, where: dict[str, Any]) -> Path:
    """A path template of the dataset's, filled in."""
    try:
        return folder / str(info[key]).format(**where)
    except (KeyError, IndexError, ValueError) as error:
        raise ValueError(
            f"{folder / INFO} has a {key} that cannot be filled in: {info.get(key)!r}"
        ) from error


def _places_2(folder: Path, info: dict[str, Any], cameras: Sequence[str]) -> list[Place]:
    path = folder / "meta" / "episodes.jsonl"
    try:
        lines = [json.loads(line) for line in path.read_text().splitlines() if line.strip()]
        known = [(int(line["episode_index"]), int(line["length"])) for line in lines]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is missing or damaged: {error!r}") from error
    chunk_size = int(info.get("chunks_size") or 1000)
    places = []
    for episode, length in sorted(known):
        where = {"episode_index": episode, "episode_chunk": episode // chunk_size}
        clips = {c: Clip(_filled(folder, info, "video_path", {"video_key": c, **where})) for c in cameras}
        places.append(Place(episode, _filled(folder, info, "data_path", where), length, clips))
    return places


def _matrix(place: Place, table: Any, column: str) -> Array:
    """A column of numbers, or of lists of equally many numbers, as (T, n)."""
    values = table[column].combine_chunks()
    flat = values.flatten() if hasattr(values, "flatten") else values
    try:
        if len(values) and np.unique(_sizes(values)).size == 1 and not values.null_count:
            numbers: Array = np.asarray(flat.to_numpy(zero_copy_only=False), dtype=float)
            return numbers.reshape(len(values), -1)
        return np.asarray(values.to_pylist(), dtype=float).reshape(len(values), -1)
    except (TypeError, ValueError) as error:
        raise BadEpisode(
            str(place.episode), f"its {column} are not numbers, or not equally many at every step"
        ) from error


def _sizes(values: Any) -> Any:
    """How many numbers each entry of a column has."""
    if not hasattr(values, "flatten"):
        return np.ones(len(values))
    return need("pyarrow.compute", extra="datasets").list_value_length(values).to_numpy(zero_copy_only=False)


def _first_line(error: BaseException) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
