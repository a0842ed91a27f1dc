"""A folder of videos (.mp4) with a table of features of each.

The table is the one CSV or Parquet file in the folder, or any that is given. Its column video, clip, file or
path says which video a row is of; without one, its id does, and the video is ID.mp4.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from prefero._support.files import missing_file
from prefero.datasets.base import DatasetFormat, DatasetSpec, FeatureDataset, FormatOptions, option
from prefero.datasets.formats.tables import (
    ID_COLUMNS,
    TABLE_SUFFIXES,
    columns_of,
    feature_columns,
    id_column,
    read_table,
)

VIDEO_COLUMNS = ("video", "clip", "file", "path")


@dataclass(frozen=True, kw_only=True)
class VideoFolderOptions(FormatOptions):
    """How a folder of videos is opened.

    Args:
        videos: See `FormatOptions`.
        trust: See `FormatOptions`.
        table: The table of features, if not the one in the folder.
        video_column: The table's column of the videos.
    """

    table: str | None = option(None, "The table of features, if not the one in the folder.")
    video_column: str | None = option(None, "The table's column of the videos; video, clip, file or path.")


class VideoFolder(FeatureDataset, DatasetFormat):
    """Videos in a folder with the features in a table."""

    format_name = "video-folder"
    description = "a folder of videos (.mp4) with a table"
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
        columns = columns_of(table) if path is None else read_table(path)[0]
        column = id_column(columns, options.video_column, VIDEO_COLUMNS) or id_column(columns, None)
        if column is None:
            raise ValueError(
                "the table must say which video a row is of, in a column called "
                f"{', '.join((*VIDEO_COLUMNS, *ID_COLUMNS))}; its columns are {', '.join(columns)}"
            )
        videos = tuple(_video(folder, str(value)) for value in columns[column].tolist())
        label = id_column(columns, None)
        ids = map(str, columns[label].tolist()) if label else (video.name for video in videos)
        names, ignored = feature_columns(columns, without=(column, label))
        shown = None if options.videos == "ignore" else videos
        super().__init__(folder.resolve().name, columns, tuple(ids), names=names, videos=shown)
        self.ignored = ignored
        if path is not None:
            options = replace(options, table=str(path.resolve()))
            self.spec = DatasetSpec.of("video-folder", folder.resolve(), options)
            self.files = (folder.resolve(), path.resolve(), *self.files)

    @classmethod
    def recognizes(cls, path: str) -> bool:
        """A folder with a video in it."""
        folder = Path(path)
        return folder.is_dir() and any(inside.suffix.lower() == ".mp4" for inside in folder.iterdir())

    @classmethod
    def open(cls, path: str, options: FormatOptions) -> "VideoFolder":
        """Read the table; videos are read when they are shown."""
        assert isinstance(options, VideoFolderOptions)
        return cls(path, options)

    @property
    def index_files(self) -> tuple[Path, ...]:
        """The table alone: videos are found by their names."""
        return self.files[1:2] if self.spec else self.files


def find_table(folder: Path) -> Path:
    """The table in a folder of videos; there must be exactly one."""
    found = sorted(path for path in folder.iterdir() if path.suffix.lower() in TABLE_SUFFIXES)
    if len(found) != 1:
        there = ", ".join(path.name for path in found) or "none"
        raise ValueError(
            f"{folder} should hold one table of features (.csv or .parquet), but there is {there}: "
            "name one with --table"
        )
    return found[0]


def _video(folder: Path, name: str) -> Path:
    path = folder / name
    return path if path.suffix else path.with_suffix(".mp4")
