"""A folder of videos, with a table of features of each or without one.

The table is the one CSV or Parquet file in the folder, or any that is given. Its column video, clip, file or
path says which video a row is of; without one, its id does, and the video is ID.mp4, or ID.mov, and so on.
Without a table, features are extracted of what the videos show; see `videos_alone`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from prefero._support.files import contents, inside, missing_file
from prefero.datasets.base import Dataset, DatasetFormat
from prefero.datasets.feature_dataset import FeatureDataset
from prefero.datasets.format_options import DatasetSpec, FormatOptions, option
from prefero.datasets.formats.tables import (
    ID_COLUMNS,
    TABLE_SUFFIXES,
    FeatureColumns,
    TableRead,
    columns_of,
    declared_in,
    id_column,
    read_table,
)
from prefero.datasets.formats.videos_alone import VideoEpisodes
from prefero.datasets.media.frame_states import KINDS
from prefero.datasets.media.video_files import SUFFIXES, videos_in

NO_TABLE = "none"
VIDEO_COLUMNS = ("video", "clip", "file", "path")


@dataclass(frozen=True, kw_only=True)
class VideoFolderOptions(FormatOptions):
    """How a folder of videos is opened.

    Args:
        videos: See `FormatOptions`.
        trust: See `FormatOptions`.
        table: The table of features, if not the one in the folder; "none" for features of the frames.
        frame_states: Without a table, what is measured in every frame: "statistics" or "pixels".
        video_column: The table's column of the videos.
    """

    table: str | None = option(
        None, "The table of features, if not the one in the folder; none for features of the frames."
    )
    frame_states: str | None = option(
        None,
        f"Without a table, what is measured in every frame: {' or '.join(KINDS)}; by default {KINDS[0]}.",
    )
    video_column: str | None = option(
        None, "The table's column of the videos; by default video, clip, file or path."
    )


class VideoFolder(FeatureDataset, DatasetFormat):
    """Videos in a folder with the features in a table."""

    format_name = "video-folder"
    description = f"a folder of videos ({', '.join(SUFFIXES)}), with a table or without"
    options_type = VideoFolderOptions

    def __init__(
        self,
        folder: str | Path,
        options: VideoFolderOptions | None = None,
        *,
        table: Mapping[str, Any] | Any = None,
    ) -> None:
        """`table` is one in memory, instead of the file in the folder or in the options."""
        folder, options = Path(folder), options or VideoFolderOptions()
        if not folder.is_dir():
            raise missing_file(folder)
        path = Path(options.table or find_table(folder)) if table is None else None
        columns, about, declared, _ = (
            TableRead(columns_of(table), None, declared_in(table)) if path is None else read_table(path)
        )
        column = id_column(columns, options.video_column, VIDEO_COLUMNS) or id_column(columns, None)
        if column is None:
            raise ValueError(
                "the table must say which video a row is of, in a column called "
                f"{', '.join((*VIDEO_COLUMNS, *ID_COLUMNS))}; its columns are {', '.join(columns)}"
            )
        known = {video.stem: video.name for video in videos_in(folder)}
        videos = tuple(_video(folder, str(value), known) for value in columns[column].tolist())
        label = id_column(columns, None)
        ids = map(str, columns[label].tolist()) if label else (video.name for video in videos)
        found = FeatureColumns.of(columns, declared, about, without=(column, label))
        shown = None if options.videos == "ignore" else videos
        name, encoded = folder.resolve().name, found.encoded
        super().__init__(name, columns, tuple(ids), names=found.names, videos=shown, categories=encoded)
        found.describe(self)
        if path is not None:
            options = replace(options, table=str(path.resolve()))
            self.spec = DatasetSpec.of("video-folder", folder.resolve(), options)
            self.files = (folder.resolve(), path.resolve(), *self.files)

    @classmethod
    def recognizes(cls, path: str) -> bool:
        """A folder with a video in it."""
        return Path(path).is_dir() and bool(videos_in(Path(path)))

    @classmethod
    def open(cls, path: str, options: FormatOptions) -> Dataset:
        """Read the table, if there is one; videos are read when they are shown, or when there is none."""
        assert isinstance(options, VideoFolderOptions)
        folder = Path(path)
        if not folder.is_dir():
            raise missing_file(folder)
        has_table = bool(tables_in(folder)) if options.table is None else options.table != NO_TABLE
        return cls(folder, options) if has_table else _alone(folder.resolve(), options)

    @property
    def index_files(self) -> tuple[Path, ...]:
        """The table alone: videos are found by their names."""
        return self.files[1:2] if self.spec else self.files


def _alone(folder: Path, options: VideoFolderOptions) -> VideoEpisodes:
    kind = options.frame_states or KINDS[0]
    if kind not in KINDS:
        raise ValueError(f"the states of frames are {' or '.join(KINDS)}, but these are {kind!r}")
    videos = videos_in(folder)
    if len(videos) < 2:
        raise ValueError(
            f"{folder} should hold two videos or more to compare, but it holds {contents(folder)}"
        )
    found = VideoEpisodes(folder.name, videos, kind, has_video=options.videos != "ignore")
    found.files = (folder, *videos)
    found.spec = DatasetSpec.of(VideoFolder.format_name, folder, replace(options, table=NO_TABLE))
    return found


def tables_in(folder: Path) -> list[Path]:
    """The tables in a folder."""
    return sorted(path for path in folder.iterdir() if path.suffix.lower() in TABLE_SUFFIXES)


def find_table(folder: Path) -> Path:
    """The table in a folder of videos; there must be exactly one."""
    found = tables_in(folder)
    if len(found) != 1:
        there = ", ".join(path.name for path in found) or "none"
        raise ValueError(
            f"{folder} should hold one table of features (.csv or .parquet), but there is {there}: "
            "name one with --table, or extract features of the videos themselves with --table none"
        )
    return found[0]


def _video(folder: Path, name: str, known: Mapping[str, str]) -> Path:
    """The video of this name; `known` are the names of those in the folder by the names without a suffix."""
    path = inside(folder, name, "a video")
    if path.is_file() or (path.suffix and name not in known):
        return path
    return inside(folder, known.get(name, f"{name}{SUFFIXES[0]}"), "a video")
