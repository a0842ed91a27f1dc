"""Where a LeRobot dataset keeps its episodes; versions 2.x and 3.0.

meta/info.json             rate (fps), the path templates, and what each column is called
version 3.0                meta/episodes/*/*.parquet say in which file an episode is, and when in each
                           camera's film; a file holds many episodes
version 2.x                meta/episodes.jsonl says how long each episode is; each has files of its own
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from prefero._support.optional import need
from prefero.datasets.base import Clip
from prefero.datasets.media.video_files import damage_message

INFO = Path("meta") / "info.json"
WANTED = ("codebase_version", "fps", "features", "data_path")
CLIP = ("chunk_index", "file_index", "from_timestamp", "to_timestamp")  # of an episode, for each camera

Info = Mapping[str, Any]


@dataclass(frozen=True)
class Place:
    """Where an episode is: its frames' file, how many there are, and its clip for each camera with films."""

    episode: int
    path: Path
    length: int
    clips: Mapping[str, Clip] = field(default_factory=dict)
    tasks: tuple[str, ...] = ()
    trouble: str = ""  # why it cannot be used, if that is known already


def read_info(folder: Path) -> dict[str, Any]:
    """What a dataset says about itself."""
    path = folder / INFO
    try:
        info = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ValueError(f"{folder} is no LeRobot dataset: {path} cannot be read ({error})") from error
    missing = [key for key in WANTED if not isinstance(info, dict) or key not in info]
    if missing:
        raise ValueError(f"{path} is damaged: it does not say {missing[0]!r}")
    rate, features = info["fps"], info["features"]
    if not isinstance(rate, int | float) or not 0 < rate < math.inf:
        raise ValueError(f"{path} is damaged: fps is a positive number, but here {rate!r}")
    if not isinstance(features, dict) or not all(isinstance(about, dict) for about in features.values()):
        raise ValueError(f"{path} is damaged: its features do not say what each column is")
    return dict(info)


def read_episode_index(folder: Path, info: Info, films: Sequence[str]) -> list[Place]:
    """All episodes in their order; `films` are the cameras that have any."""
    version = str(info["codebase_version"])
    if version.startswith("v3."):
        found = _places_3(folder, info, films)
    elif version.startswith("v2."):
        found = _places_2(folder, info, films)
    else:
        raise ValueError(
            f"{folder} is a LeRobot dataset of version {version}, and 2.0, 2.1 and 3.0 are read: "
            "convert it with LeRobot's own tools"
        )
    places: dict[int, Place] = {}
    for place in found:
        known = places.setdefault(place.episode, place)
        if known != place:
            places[place.episode] = replace(known, trouble="it is listed more than once, and not alike")
    return [places[episode] for episode in sorted(places)]


def _filled(folder: Path, info: Info, key: str, where: dict[str, Any]) -> Path:
    """A path template of the dataset's, filled in."""
    template = info.get(key)
    try:
        if not isinstance(template, str):
            raise ValueError("it is no text")
        return folder / template.format(**where)
    except (KeyError, IndexError, ValueError) as error:
        raise ValueError(f"{folder / INFO} has a {key} that cannot be filled in: {template!r}") from error


# --- version 3.0 ------------------------------------------------------------------------------------------


def _places_3(folder: Path, info: Info, films: Sequence[str]) -> list[Place]:
    files = sorted((folder / "meta" / "episodes").glob("*/*.parquet"))
    if not files:
        raise ValueError(f"{folder} is incomplete: meta/episodes holds no Parquet file")
    listed = [_place_3(folder, info, films, row) for path in files for row in _rows(path, films)]
    return _found(folder, info, listed)


def _rows(path: Path, films: Sequence[str]) -> list[dict[str, Any]]:
    needed = ["episode_index", "length", "data/chunk_index", "data/file_index"]
    wanted = ["tasks", *(f"videos/{camera}/{what}" for camera in films for what in CLIP)]
    arrow, parquet = need("pyarrow", extra="datasets"), need("pyarrow.parquet", extra="datasets")
    try:
        there = parquet.read_schema(path).names
        missing = [column for column in needed if column not in there]
        if missing:
            raise ValueError(f"{path} has no column {missing[0]!r}: it is damaged, or of another version")
        columns = [*needed, *(column for column in wanted if column in there)]
        rows = parquet.read_table(path, columns=columns).to_pylist()
    except (arrow.ArrowException, OSError) as error:
        raise ValueError(damage_message(path, error)) from error
    if any(whole(row["episode_index"]) is None for row in rows):
        raise ValueError(f"{path} is damaged: it has rows that do not say which episode they are about")
    return list(rows)


def _place_3(folder: Path, info: Info, films: Sequence[str], row: dict[str, Any]) -> Place:
    episode, length = int(row["episode_index"]), whole(row["length"])
    where = {key: whole(row[f"data/{key}"]) for key in ("chunk_index", "file_index")}
    if length is None or None in where.values():
        return Place(episode, folder / "data", 0, trouble="meta/episodes does not say where it is")
    clips = {camera: clip for camera in films if (clip := _clip(folder, info, camera, row)) is not None}
    path = _filled(folder, info, "data_path", where)
    return Place(episode, path, length, clips, _words(row.get("tasks")))


def _clip(folder: Path, info: Info, camera: str, row: dict[str, Any]) -> Clip | None:
    """A camera's clip of an episode; none where its film was never made."""
    chunk, file, start, end = (row.get(f"videos/{camera}/{what}") for what in CLIP)
    where = {"video_key": camera, "chunk_index": whole(chunk), "file_index": whole(file)}
    if None in where.values() or start is None or end is None or not 0 <= start <= end:
        return None
    return Clip(_filled(folder, info, "video_path", where), float(start), float(end))


def _found(folder: Path, info: Info, places: list[Place]) -> list[Place]:
    """The episodes in the files that hold them.

    LeRobot reads all files, whatever the metadata say, and its converter from version 2.1 is known to list
    the first episode of a file in the one before.
    """
    spans = {path: _spans(path) for path in {place.path for place in places}}
    astray = [place for place in places if not place.trouble and not _holds(spans[place.path], place)]
    if not astray:
        return places
    top = Path(str(info["data_path"])).parts[0]
    spans |= {path: _spans(path) for path in sorted((folder / top).rglob("*.parquet")) if path not in spans}
    moved = {}
    for place in astray:
        other = next((path for path, there in spans.items() if there and _holds(there, place)), place.path)
        moved[place.episode] = replace(place, path=other)
    return [moved.get(place.episode, place) for place in places]


def _spans(path: Path) -> list[tuple[int, int]] | None:
    """The first and the last episode in each part of a file, by its footer; None if that does not say."""
    arrow, parquet = need("pyarrow", extra="datasets"), need("pyarrow.parquet", extra="datasets")
    if not path.is_file():
        return []
    try:
        about = parquet.read_metadata(path)
        column = about.schema.names.index("episode_index")
        seen = [about.row_group(group).column(column).statistics for group in range(about.num_row_groups)]
        return [(one.min, one.max) for one in seen]
    except (arrow.ArrowException, OSError, ValueError, AttributeError):
        return None


def _holds(spans: list[tuple[int, int]] | None, place: Place) -> bool:
    """May the file hold the episode? One that does not say may."""
    return spans is None or any(low <= place.episode <= high for low, high in spans)


def whole(value: Any) -> int | None:
    """A number that may have become a fraction in other hands; None if it is not there."""
    return int(value) if isinstance(value, int | float) and math.isfinite(value) else None


# --- version 2.x ------------------------------------------------------------------------------------------


def _places_2(folder: Path, info: Info, films: Sequence[str]) -> list[Place]:
    path = folder / "meta" / "episodes.jsonl"
    try:
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
        known = [(int(row["episode_index"]), int(row["length"]), _words(row.get("tasks"))) for row in lines]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{path} is missing or damaged: {error!r}") from error
    chunk_size = int(info.get("chunks_size") or 1000)
    places = []
    for episode, length, tasks in known:
        where = {"episode_index": episode, "episode_chunk": episode // chunk_size}
        clips = {c: Clip(_filled(folder, info, "video_path", {"video_key": c, **where})) for c in films}
        places.append(Place(episode, _filled(folder, info, "data_path", where), length, clips, tasks))
    return places


def _words(tasks: Any) -> tuple[str, ...]:
    """An episode's tasks: a list of texts, or one alone."""
    several = tasks if isinstance(tasks, list) else [] if tasks is None else [tasks]
    return tuple(str(task) for task in several)
