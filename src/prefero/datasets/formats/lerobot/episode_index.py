"""The index of a LeRobot dataset: where each episode is; versions 2.x and 3.0.

meta/info.json             frame rate (fps), path templates, and what each column is called
version 3.0                meta/episodes/*/*.parquet say in which file an episode is, and in which span of
                           each camera's video; a file holds many episodes
version 2.x                meta/episodes.jsonl says how long each episode is; each has files of its own
"""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from prefero._support.files import inside
from prefero._support.optional import need
from prefero.datasets.episode import VideoSpan
from prefero.datasets.formats.lerobot.parquet import read_columns

INFO = Path("meta") / "info.json"
WANTED = ("codebase_version", "fps", "features", "data_path")
SPAN = ("chunk_index", "file_index", "from_timestamp", "to_timestamp")  # of an episode, for each camera

Info = Mapping[str, Any]


@dataclass(frozen=True)
class EpisodeEntry:
    """Where an episode is: the file of its frames, how many there are, and each camera's video span."""

    episode: int
    path: Path
    length: int
    videos: Mapping[str, VideoSpan] = field(default_factory=dict)
    tasks: tuple[str, ...] = ()
    problem: str = ""  # why it cannot be used, if that is known already


def read_info(folder: Path) -> dict[str, Any]:
    """The content of meta/info.json, checked."""
    path = folder / INFO
    try:
        info = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ValueError(f"{folder} is no LeRobot dataset: {path} cannot be read ({error})") from error
    missing = [key for key in WANTED if not isinstance(info, dict) or key not in info]
    if missing:
        raise ValueError(f"{path} is damaged: it has no {missing[0]!r}")
    for key in ("data_path", "video_path"):
        parts = Path(str(info.get(key) or ".")).parts
        if ".." in parts or Path(*parts).is_absolute():
            raise ValueError(f"{path} has a {key} that leads out of the dataset: {info[key]!r}")
    rate, features = info["fps"], info["features"]
    if not isinstance(rate, int | float) or not 0 < rate < math.inf:
        raise ValueError(f"{path} is damaged: fps is a positive number, but here {rate!r}")
    if not isinstance(features, dict) or not all(isinstance(about, dict) for about in features.values()):
        raise ValueError(f"{path} is damaged: its features do not describe each column")
    return dict(info)


def read_episode_index(folder: Path, info: Info, cameras: Sequence[str]) -> list[EpisodeEntry]:
    """All episodes in their order; `cameras` are those that have videos."""
    version = str(info["codebase_version"])
    if version.startswith("v3."):
        found = _entries_3(folder, info, cameras)
    elif version.startswith("v2."):
        found = _entries_2(folder, info, cameras)
    else:
        raise ValueError(
            f"{folder} is a LeRobot dataset of version {version}, and 2.0, 2.1 and 3.0 are read: "
            "convert it with LeRobot's own tools"
        )
    entries: dict[int, EpisodeEntry] = {}
    for entry in found:
        known = entries.setdefault(entry.episode, entry)
        if known != entry:
            entries[entry.episode] = replace(known, problem="it is listed twice, with different data")
    return [entries[episode] for episode in sorted(entries)]


def _filled(folder: Path, info: Info, key: str, where: dict[str, Any]) -> Path:
    """A path of the dataset, from its template."""
    template = info.get(key)
    try:
        if not isinstance(template, str):
            raise ValueError("it is not a text")
        filled = template.format(**where)
    except (KeyError, IndexError, ValueError, AttributeError) as error:
        raise ValueError(f"{folder / INFO} has a {key} that cannot be filled in: {template!r}") from error
    if ".." in Path(filled).parts:
        raise ValueError(f"{folder / INFO} has a {key} that leads elsewhere: {template!r}")
    return inside(folder, filled, "a file")


# --- version 3.0 ------------------------------------------------------------------------------------------


def _entries_3(folder: Path, info: Info, cameras: Sequence[str]) -> list[EpisodeEntry]:
    files = sorted((folder / "meta" / "episodes").glob("*/*.parquet"))
    if not files:
        raise ValueError(f"{folder} is incomplete: meta/episodes holds no Parquet file")
    listed = [_entry_3(folder, info, cameras, row) for path in files for row in _rows(path, cameras)]
    return _in_their_files(folder, info, listed)


def _rows(path: Path, cameras: Sequence[str]) -> list[dict[str, Any]]:
    needed = ["episode_index", "length", "data/chunk_index", "data/file_index"]
    wanted = ["tasks", *(f"videos/{camera}/{what}" for camera in cameras for what in SPAN)]
    rows = read_columns(path, needed, wanted).to_pylist()
    if any(as_integer(row["episode_index"]) is None for row in rows):
        raise ValueError(f"{path} is damaged: it has rows without an episode")
    return list(rows)


def _entry_3(folder: Path, info: Info, cameras: Sequence[str], row: dict[str, Any]) -> EpisodeEntry:
    episode, length = int(row["episode_index"]), as_integer(row["length"])
    where = {key: as_integer(row[f"data/{key}"]) for key in ("chunk_index", "file_index")}
    if length is None or None in where.values():
        return EpisodeEntry(episode, folder / "data", 0, problem="meta/episodes does not say where it is")
    found = {camera: _video_span(folder, info, camera, row) for camera in cameras}
    spans = {camera: span for camera, span in found.items() if span is not None}
    path = _filled(folder, info, "data_path", where)
    return EpisodeEntry(episode, path, length, spans, _texts(row.get("tasks")))


def _video_span(folder: Path, info: Info, camera: str, row: dict[str, Any]) -> VideoSpan | None:
    """The span of a camera's video that shows an episode; None where there is none."""
    chunk, file, start, end = (row.get(f"videos/{camera}/{what}") for what in SPAN)
    where = {"video_key": camera, "chunk_index": as_integer(chunk), "file_index": as_integer(file)}
    if None in where.values() or start is None or end is None or not 0 <= start <= end:
        return None
    return VideoSpan(_filled(folder, info, "video_path", where), float(start), float(end))


def _in_their_files(folder: Path, info: Info, entries: list[EpisodeEntry]) -> list[EpisodeEntry]:
    """The entries, with the files that hold the episodes.

    LeRobot reads all files, also those that the metadata do not name, and its converter from version 2.1 is
    known to list the first episode of a file in the file before it.
    """
    ranges = {path: _episode_ranges(path) for path in {entry.path for entry in entries}}
    astray = [entry for entry in entries if not entry.problem and not _holds(ranges[entry.path], entry)]
    if not astray:
        return entries
    top = Path(str(info["data_path"])).parts[0]
    ranges |= {
        path: _episode_ranges(path)
        for path in sorted((folder / top).rglob("*.parquet"))
        if path not in ranges
    }
    moved = {}
    for entry in astray:
        other = next((path for path, there in ranges.items() if there and _holds(there, entry)), entry.path)
        moved[entry.episode] = replace(entry, path=other)
    return [moved.get(entry.episode, entry) for entry in entries]


def find_episode(entry: EpisodeEntry, paths: Iterable[Path]) -> EpisodeEntry:
    """The entry with the first of these files that may hold the episode; as it is if none does."""
    there = (path for path in paths if _holds(_episode_ranges(path), entry))
    return replace(entry, path=next(there, entry.path))


def _episode_ranges(path: Path) -> list[tuple[int, int]] | None:
    """The first and the last episode of each row group of a file, by its footer; None if it does not say."""
    arrow, parquet = need("pyarrow", extra="datasets"), need("pyarrow.parquet", extra="datasets")
    if not path.is_file():
        return []
    try:
        about = parquet.read_metadata(path)
        column = about.schema.names.index("episode_index")
        statistics = [
            about.row_group(group).column(column).statistics for group in range(about.num_row_groups)
        ]
        return [(one.min, one.max) for one in statistics]
    except (arrow.ArrowException, OSError, ValueError, AttributeError):
        return None


def _holds(ranges: list[tuple[int, int]] | None, entry: EpisodeEntry) -> bool:
    """May a file hold the episode? One that does not say may."""
    return ranges is None or any(low <= entry.episode <= high for low, high in ranges)


def as_integer(value: Any) -> int | None:
    """An integer that another program may have written as a float; None if it is missing."""
    return int(value) if isinstance(value, int | float) and math.isfinite(value) else None


# --- version 2.x ------------------------------------------------------------------------------------------


def _entries_2(folder: Path, info: Info, cameras: Sequence[str]) -> list[EpisodeEntry]:
    path = folder / "meta" / "episodes.jsonl"
    try:
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
        known = [(int(row["episode_index"]), int(row["length"]), _texts(row.get("tasks"))) for row in lines]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{path} is missing or damaged: {error!r}") from error
    chunk_size = int(info.get("chunks_size") or 1000)
    entries = []
    for episode, length, tasks in known:
        where = {"episode_index": episode, "episode_chunk": episode // chunk_size}
        spans = {
            c: VideoSpan(_filled(folder, info, "video_path", {"video_key": c, **where})) for c in cameras
        }
        entries.append(EpisodeEntry(episode, _filled(folder, info, "data_path", where), length, spans, tasks))
    return entries


def _texts(tasks: Any) -> tuple[str, ...]:
    """The tasks of an episode, which may be a list of texts or one text."""
    several = tasks if isinstance(tasks, list) else [] if tasks is None else [tasks]
    return tuple(str(task) for task in several)
