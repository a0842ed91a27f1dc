"""LeRobot datasets on disk, versions 2.x and 3.0, read with pyarrow, PyAV and Pillow alone.

States are all observed numbers, one column after the other; actions likewise. A camera's images are in
videos, which may be AV1, or one by one in a column of the frames' table.
"""

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from prefero._support.arrays import Array, Image, Indices
from prefero._support.optional import need
from prefero.datasets.base import DatasetFormat, EpisodeDataset
from prefero.datasets.episode import BadEpisode, Episode, StepRange
from prefero.datasets.format_options import DatasetSpec, FormatOptions, option
from prefero.datasets.formats.lerobot.episode_index import INFO, EpisodeEntry, read_episode_index, read_info
from prefero.datasets.formats.lerobot.labels import (
    episode_columns,
    list_tasks,
    of_task,
    read_labels,
    read_outcomes,
    with_tasks,
)
from prefero.datasets.formats.lerobot.parquet import Unreadable, read_columns, readable
from prefero.datasets.formats.lerobot.videos import check_video, image_column_frames, video_frames
from prefero.datasets.formats.lerobot.write_scores import REWARDS, write_copy
from prefero.datasets.media.images import ALL_CAMERAS, CAMERA_HELP, NO_VIDEO, choose_cameras, joined_views
from prefero.datasets.outcomes import Reduction
from prefero.datasets.scores.scores import Advance, EpisodeScores

NUMERIC = ("float", "int", "uint", "bool")
VIDEO, IMAGE = "video", "image"
DEPTH = ("is_depth_map", "video.is_depth_map")
ORDER = ("episode_index", "frame_index")
RANGE = re.compile(r"\s*(\d+)\s*(?::\s*(\d+))?\s*")


@dataclass(frozen=True, kw_only=True)
class LeRobotOptions(FormatOptions):
    """How a LeRobot dataset is opened.

    Args:
        videos: See `FormatOptions`.
        trust: See `FormatOptions`.
        camera: The cameras whose videos are shown side by side, by their names, separated by commas; "all" is
            all of them, "none" no videos, and without a name it is the first.
        task: Only the episodes of this task.
        episode_range: Only these episodes: "0:50" are the first fifty, "3,7,20:30" two and ten more.
    """

    camera: str | None = option(None, CAMERA_HELP)
    task: str | None = option(None, "Only the episodes of this task.")
    episode_range: str | None = option(None, "Only these episodes: 0:50, or 3,7,20:30.")

    def for_comparing(self) -> "LeRobotOptions":
        """All cameras, unless one is chosen."""
        return replace(super().for_comparing(), camera=self.camera or ALL_CAMERAS)


class LeRobotDataset(EpisodeDataset, DatasetFormat):
    """A LeRobot dataset, or one task of it.

    `cameras` are those whose images are shown, side by side if there are several; the option names them by
    their whole names or the ends of them. With videos="check", an episode whose video is damaged is a bad
    episode, like one whose numbers are.
    """

    format_name = "lerobot"
    description = "a LeRobot dataset (a folder with meta/info.json)"
    options_type = LeRobotOptions
    root: Path

    def __init__(self, folder: str | Path, options: LeRobotOptions | None = None) -> None:
        self.root, self.options = Path(folder), options or LeRobotOptions()
        self.name = self.root.resolve().name
        self.info = read_info(self.root)
        self.step_seconds = 1.0 / float(self.info["fps"])
        self.state_columns = [key for key in self._numeric() if key.startswith("observation")]
        self.action_columns = [key for key in self._numeric() if key.split(".")[0] == "action"]
        if not self.state_columns:
            raise ValueError(f"{folder} observes no numbers: its columns are {', '.join(self._features())}")
        entries = with_tasks(self.root, read_episode_index(self.root, self.info, self._cameras(VIDEO)))
        self.task, chosen = of_task(entries, self.options.task)
        self.entries = in_range(chosen, self.options.episode_range)
        self.ids = tuple(str(entry.episode) for entry in self.entries)
        self._open_videos(entries)
        known = replace(self.options, camera=",".join(self.cameras) or self.options.camera, task=self.task)
        self.spec = DatasetSpec.of("lerobot", self.root.resolve(), known)
        paths = {entry.path for entry in self.entries} | self._video_paths(*self.cameras)
        self.files = (self.root / INFO, *sorted(paths))

    @classmethod
    def recognizes(cls, path: str) -> bool:
        """A folder with meta/info.json."""
        return (Path(path) / INFO).is_file()

    @property
    def index_files(self) -> tuple[Path, ...]:
        """The metadata; in version 3.0, where a file has many episodes, also the files of the frames."""
        shared = len({entry.path for entry in self.entries}) < len(self.entries)
        frames = {entry.path for entry in self.entries} if shared else set()
        return (*sorted(path for path in (self.root / "meta").rglob("*") if path.is_file()), *sorted(frames))

    # --- columns ------------------------------------------------------------------------------------------

    def _features(self) -> dict[str, Any]:
        return dict(self.info["features"])

    def _numeric(self) -> list[str]:
        return [k for k, f in self._features().items() if str(f.get("dtype", "")).startswith(NUMERIC)]

    def _rewards(self) -> list[str]:
        return [key for key in REWARDS if key in self._numeric()][:1]

    def _cameras(self, *kinds: str) -> list[str]:
        """The cameras whose images are stored so; those that see colors first."""
        cameras = {key: about for key, about in self._features().items() if about.get("dtype") in kinds}
        return sorted(cameras, key=lambda key: _is_depth(cameras[key]))

    # --- cameras and notices ------------------------------------------------------------------------------

    def _open_videos(self, entries: Sequence[EpisodeEntry]) -> None:
        """Choose the cameras; those without videos are not shown, which a notice says."""
        wanted = NO_VIDEO if self.options.videos == "ignore" else self.options.camera
        known, colored = self._cameras(VIDEO, IMAGE), self._colored_cameras()
        chosen = choose_cameras(known, wanted, colored)
        missing = [camera for camera in chosen if self._is_missing(camera)]
        self.cameras = tuple(camera for camera in chosen if camera not in missing)
        self.notices = (*self._count_notice(entries), *self._task_notice(), *self._missing_notice(missing))
        self.has_video = bool(self.cameras)
        self.no_video = "" if self.cameras else "; ".join(self._missing_notice(missing))

    def _colored_cameras(self) -> list[str]:
        return [key for key in self._cameras(VIDEO, IMAGE) if not _is_depth(self._features()[key])]

    def _in_videos(self, camera: str) -> bool:
        """Are the images of a camera in videos?"""
        return bool(self._features()[camera]["dtype"] == VIDEO)

    def _video_paths(self, *cameras: str) -> set[Path]:
        """All videos of these cameras."""
        return {e.videos[camera].path for e in self.entries for camera in cameras if camera in e.videos}

    def _is_missing(self, camera: str) -> bool:
        """A dataset may have been copied without its videos."""
        return self._in_videos(camera) and not any(path.is_file() for path in self._video_paths(camera))

    def _missing_notice(self, missing: Sequence[str]) -> list[str]:
        if not missing:
            return []
        instead = "the other cameras are shown" if self.cameras else "episodes are shown by their features"
        return [f"no video of {', '.join(missing)} is in {self.root}: {instead}"]

    def _count_notice(self, entries: Sequence[EpisodeEntry]) -> list[str]:
        total = self.info.get("total_episodes")
        if not isinstance(total, int) or total == len(entries):
            return []
        return [f"{self.root / INFO} counts {total} episodes, but {len(entries)} are listed and used"]

    def _task_notice(self) -> list[str]:
        if self.task is not None or len({frozenset(entry.tasks) for entry in self.entries}) < 2:
            return []
        return [
            f"episodes of different tasks are compared in {self.name}: {list_tasks(self.entries)}. Choose "
            "one of them with --task (task=...)"
        ]

    # --- episodes -----------------------------------------------------------------------------------------

    def episode(self, number: int) -> Episode:
        """Read the numbers of one episode; its video is read when it is shown."""
        self.check_number(number)
        return self._episode(number, self._table(number, only=self.entries[number].episode))

    def read(self, numbers: Iterable[int]) -> Iterator[Episode | BadEpisode]:
        """Several episodes; a file that holds many of them is read once for those that follow each other."""
        path, table = None, None
        for number in numbers:
            try:
                if table is None or self.entries[number].path != path:
                    path, table = self.entries[number].path, None
                    table = self._table(number)
                yield self._episode(number, table)
            except BadEpisode as error:
                yield error

    def _table(self, number: int, only: int | None = None) -> Any:
        """The numbers in an episode's file: of all its episodes, or of this one only."""
        entry = self.entries[number]
        if entry.problem:
            raise BadEpisode(str(entry.episode), entry.problem)
        columns = [*self.state_columns, *self.action_columns, *self._rewards(), *ORDER]
        checked = self.cameras if self.options.videos == "check" else ()
        images = [camera for camera in checked if not self._in_videos(camera)]
        wanted = None if only is None else [("episode_index", "=", only)]
        try:
            with readable(entry.path, images):
                return read_columns(entry.path, columns, filters=wanted)
        except Unreadable as error:
            raise BadEpisode(str(entry.episode), f"its file {error}") from error

    def _episode(self, number: int, table: Any) -> Episode:
        entry = self.entries[number]
        mine = _frames_of(entry, table)
        if self.options.videos == "check":
            self.check_video(number)
        rewards = [_matrix(entry, mine, key)[:, 0] for key in self._rewards()]
        return Episode(
            str(entry.episode),
            _joined(entry, mine, self.state_columns),
            _joined(entry, mine, self.action_columns),
            rewards[0] if rewards else None,
            self.step_seconds,
            self._names(self.state_columns),
            self._names(self.action_columns),
            next((entry.videos[camera] for camera in self.cameras if camera in entry.videos), None),
        )

    def frame_indices(self, number: int) -> Indices:
        """The numbers of an episode's frames in the dataset, as its files have them."""
        entry = self.entries[number]
        mine = [("episode_index", "=", entry.episode)]
        frames = _frames_of(entry, read_columns(entry.path, ["index", *ORDER], filters=mine))
        return np.asarray(frames["index"].to_numpy(), dtype=np.int64)

    def deletion_command(self, numbers: Iterable[int]) -> str | None:
        """`lerobot-edit-dataset` with the indices of these episodes."""
        indices = sorted(self.entries[number].episode for number in numbers)
        operation = f'--operation.type delete_episodes --operation.episode_indices "{indices}"'
        return f"lerobot-edit-dataset {self._place_for_lerobot()} {operation}"

    def _place_for_lerobot(self) -> str:
        """The options of LeRobot's editor that name this dataset, and a folder beside it for the result.

        Without `--new_root` the result would be in LeRobot's cache, under the name of the folder.
        """
        root = self.root if self.root.name else self.root.resolve()  # "." has no name
        places = {"repo_id": root.name, "root": root, "new_root": root.with_name(f"{root.name}_cleaned")}
        return " ".join(f"--{option} {shlex.quote(str(place))}" for option, place in places.items())

    def _names(self, columns: Sequence[str]) -> tuple[str, ...]:
        return distinct([name for key in columns for name in column_names(key, self._features()[key])])

    def label_column(self, name: str) -> tuple[str, ...] | None:
        """What a column of the episodes' or the frames' tables says of each episode; "task": its task."""
        if name == "task":
            return tuple(", ".join(entry.tasks) for entry in self.entries)
        return read_labels(self.root, self.entries, name)

    def outcome_column(self, name: str, reduce: Reduction) -> tuple[Any, ...] | None:
        """A column of the episodes' tables, or of the frames', such as next.success."""
        return read_outcomes(self.root, self.entries, name, reduce)

    def outcome_names(self) -> tuple[str, ...]:
        """The columns of frames and of episodes, without images."""
        images = self._cameras(VIDEO, IMAGE)
        frames = [name for name in self._features() if name not in images]
        return tuple(dict.fromkeys([*frames, *episode_columns(self.root)]))

    # --- videos -------------------------------------------------------------------------------------------

    def check_video(self, number: int) -> None:
        """`BadEpisode` unless the videos are there, and long enough."""
        for camera in self.cameras:
            if self._in_videos(camera):
                check_video(self.entries[number], camera, self.step_seconds)

    def frames(self, number: int, steps: StepRange | None) -> tuple[Iterator[Image], float]:
        """The cameras' images of an episode or a segment of it."""
        entry = self.entries[number]
        views = [self._view(entry, camera, *(steps or (0, entry.length))) for camera in self.cameras]
        return joined_views(views), 1 / self.step_seconds

    def _view(self, entry: EpisodeEntry, camera: str, first: int, last: int) -> Iterator[Image]:
        if self._in_videos(camera):
            return video_frames(entry, camera, self.step_seconds, first, last)
        return image_column_frames(self.root, entry, camera, first, last)

    # --- scores -------------------------------------------------------------------------------------------

    def write_scores(self, scores: EpisodeScores, folder: Path, final_path: Path, advance: Advance) -> None:
        """Write a copy with the scores as columns of the frames."""
        del final_path
        write_copy(self.root, self.info, self.entries, scores, folder, advance)


def in_range(entries: list[EpisodeEntry], wanted: str | None) -> list[EpisodeEntry]:
    """The episodes whose numbers are in ranges such as "0:50,60"; an error if there is none."""
    if wanted is None:
        return entries
    ranges = [RANGE.fullmatch(text) for text in wanted.split(",")]
    pairs = [(int(one[1]), int(one[2] or int(one[1]) + 1)) for one in ranges if one is not None]
    chosen = [entry for entry in entries if any(low <= entry.episode < high for low, high in pairs)]
    if len(pairs) < len(ranges) or not chosen:
        there = f"0:{entries[-1].episode + 1}" if entries else "none"
        raise ValueError(f"episodes are chosen as in 0:50 or 3,7,20:30 out of {there}, but got {wanted!r}")
    return chosen


def _is_depth(feature: Mapping[str, Any]) -> bool:
    about = {**(feature.get("video_info") or {}), **(feature.get("info") or {})}
    return any(about.get(key) for key in DEPTH)


# --- frames -----------------------------------------------------------------------------------------------


def _frames_of(entry: EpisodeEntry, table: Any) -> Any:
    """The rows of an episode, complete and in their order."""
    if entry.problem:
        raise BadEpisode(str(entry.episode), entry.problem)
    rows = np.flatnonzero(table["episode_index"].to_numpy() == entry.episode)
    if len(rows) != entry.length:
        raise BadEpisode(
            str(entry.episode),
            f"it should have {entry.length} frames, but {entry.path} has {len(rows)} of it",
        )
    if not entry.length:
        raise BadEpisode(str(entry.episode), "it has no steps")
    mine = table.take(rows)
    if not np.array_equal(mine["frame_index"].to_numpy(), np.arange(entry.length)):
        raise BadEpisode(str(entry.episode), "its frames are not in their order")
    return mine


def column_names(key: str, feature: Mapping[str, Any]) -> list[str]:
    """The names of a column's numbers: as the dataset gives them, or by the column and a number."""
    size = int(np.prod(feature.get("shape") or [1]))
    names = feature.get("names")
    if isinstance(names, dict):  # {"motors": [...]}, or the index of each
        listed = next((value for value in names.values() if isinstance(value, list)), None)
        names = list(names) if listed is None else listed
    if isinstance(names, list) and len(names) == size and size > 1:
        return [str(name) for name in names]
    short = key.removeprefix("observation.")
    return [short] if size == 1 else [f"{short} {i + 1}" for i in range(size)]


def distinct(names: Sequence[str]) -> tuple[str, ...]:
    """The same names, with a number after those that occur again."""
    made: dict[str, None] = {}
    for name in names:
        numbered = (name if i == 1 else f"{name} ({i})" for i in count(1))
        made[next(other for other in numbered if other not in made)] = None
    return tuple(made)


def _joined(entry: EpisodeEntry, table: Any, columns: Sequence[str]) -> Array:
    matrices = [_matrix(entry, table, column) for column in columns]
    joined: Array = np.concatenate(matrices, axis=1) if matrices else np.zeros((len(table), 0))
    return joined


def _matrix(entry: EpisodeEntry, table: Any, column: str) -> Array:
    """A column of numbers, or of lists of them, or of lists of lists, as (T, n)."""
    values = table[column].combine_chunks()
    try:
        return _flat(values).reshape(len(values), -1)
    except (TypeError, ValueError) as error:
        raise BadEpisode(
            str(entry.episode), f"its {column} are not numbers, or not equally many at every step"
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
