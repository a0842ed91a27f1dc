"""Datasets: trajectories that are read one at a time, in any format.

EpisodeDataset   states and actions, of which features are extracted
DatasetFormat    a dataset that is opened by its path or id; every format is one such class

number           the index of a trajectory in its dataset, from 0; its id is a text
steps            a segment of an episode, or None for the whole of it

Nothing stays in memory: an episode is read when it is asked for, and a clip is cut when it is shown.
"""

import hashlib
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from prefero._support.arrays import Array, Image, Indices
from prefero.datasets.columns import Columns
from prefero.datasets.episode import BadEpisode, Episode, StepRange, segment_id
from prefero.datasets.format_options import DatasetSpec, FormatOptions
from prefero.datasets.media.video_files import VideoError, check_complete, plays_in_browsers
from prefero.datasets.outcomes import Reduction
from prefero.datasets.scores.scores import Advance, EpisodeScores
from prefero.rendering.video import Preset, save_video
from prefero.trajectories.feature_spec import FeatureSpec

# --- what every dataset has -------------------------------------------------------------------------------


class Dataset(ABC):
    """Trajectories by number, each with an id.

    Attributes:
        has_video: Are there videos of the trajectories, or can they be rendered?
        no_video: Why there are none although there could be, with the way out, for the person who compares.
        spec: What opens the dataset again; None for one that lives in memory.
        files: The files whose change makes it another dataset.
        notices: Warnings for the user who opens it.
        send_whole: Whether worker processes are sent the dataset itself, since its spec may not open it
            there.
        origin: Where its features were extracted from, if they were and that is known.
        feature_spec: How its features are computed from episodes, if it has features and that is known.
        clip_preset: Of the encoder of its clips, for which somebody may wait.
        added_columns: Scores of its trajectories from elsewhere, (M,) each, by name; NaN where there is none.
    """

    name: str
    ids: tuple[str, ...]
    has_video: bool = False
    no_video: str = ""
    spec: DatasetSpec | None = None
    files: tuple[Path, ...] = ()
    notices: tuple[str, ...] = ()
    send_whole: bool = False
    origin: "Origin | None" = None
    feature_spec: FeatureSpec | None = None
    clip_preset: ClassVar[Preset] = "veryfast"
    added_columns: Mapping[str, Array] = MappingProxyType({})

    def __len__(self) -> int:
        return len(self.ids)

    def check_number(self, number: int) -> None:
        """An error unless there is a trajectory of this number."""
        if not 0 <= number < len(self):
            raise ValueError(f"{self.name} has episodes 0 to {len(self) - 1}, but this is {number}")

    @property
    def index_files(self) -> tuple[Path, ...]:
        """The files that opening it reads: when one of them changes, it has to be opened again."""
        return self.files

    @property
    def version(self) -> str:
        """A digest that changes when the dataset does."""
        seen = [stat for stat in file_stats(self.files) if stat is not None]
        spec = self.spec and self.spec.to_json()
        about = [spec, self.name, len(self), seen, *self.version_parts()]
        return hashlib.sha256(json.dumps(about, sort_keys=True, default=str).encode()).hexdigest()

    @property
    def cache_name(self) -> str:
        """A name for what is kept of this version of it in Prefero's cache."""
        return f"{file_name(self.name)}-{self.version[:12]}"

    def version_parts(self) -> list[Any]:
        """What else tells it from other datasets, where its spec and its files do not say everything."""
        return []

    def label_column(self, name: str) -> tuple[str, ...] | None:
        """What a column of labels says of each trajectory, such as its policy or its task.

        Args:
            name: Of the column.

        Returns:
            A text for each trajectory; None if the dataset has no such column.
        """
        del name
        return None

    def outcome_column(self, name: str, reduce: Reduction) -> tuple[Any, ...] | None:
        """What a column says of how well each trajectory went, such as its success.

        Args:
            name: Of the column.
            reduce: Makes one value of those of a trajectory's steps, where the column has one for each step.

        Returns:
            A value for each trajectory, None where it is missing; None if the dataset has no such column.
        """
        del reduce
        return self.label_column(name)

    def outcome_names(self) -> tuple[str, ...]:
        """Columns that `outcome_column` reads, for the hint after a misspelt one."""
        return ()

    def score_columns(self) -> Columns:
        """Columns to repeat beside the scores of its trajectories in a table, (M,) each."""
        return {}

    # --- videos -------------------------------------------------------------------------------------------

    def frames(self, number: int, steps: StepRange | None) -> tuple[Iterator[Image], float]:
        """The images of a trajectory or a segment of it.

        Args:
            number: Of the trajectory.
            steps: The first step and the one after the last; None is the whole.

        Returns:
            The images, and how many of them are shown a second.
        """
        del number, steps
        raise ValueError(f"{self.name} has no videos")

    def cut_clip(self, number: int, folder: Path, steps: StepRange | None = None) -> Path:
        """The video of a trajectory or a segment of it, cut into `folder` unless it is there.

        Args:
            number: Of the trajectory.
            folder: The folder for the clip.
            steps: The first step and the one after the last; None is the whole.

        Returns:
            A file that browsers play.
        """
        self.check_number(number)
        if not self.has_video:
            reason = self.no_video or f"{self.ids[number]} cannot be shown"
            raise ValueError(f"{self.name} has no videos: {reason}")
        path = self.clip_path(number, folder, steps)
        if not path.is_file():
            folder.mkdir(parents=True, exist_ok=True)
            try:
                save_video(path, *self.frames(number, steps), preset=self.clip_preset)
            except VideoError as error:
                raise BadEpisode(
                    segment_id(self.ids[number], steps), f"its video is damaged: {error}"
                ) from error
        return path

    def clip_path(self, number: int, folder: Path, steps: StepRange | None = None) -> Path:
        """The file that `cut_clip` returns, before it is cut.

        Args:
            number: Of the trajectory.
            folder: The folder for the clip.
            steps: The first step and the one after the last; None is the whole.

        Returns:
            The file.
        """
        return folder / clip_name(number, steps)

    def check_video(self, number: int) -> None:
        """`BadEpisode` if the video is missing or damaged, as far as a quick look shows."""
        del number


class DatasetFormat(Dataset):
    """A dataset format: a class that recognizes paths or ids and opens them.

    Attributes:
        format_name: Its name in the registry, as in lerobot:PATH.
        description: What it opens, for help and errors: "a LeRobot dataset (a folder with meta/info.json)".
        options_type: Its options; its fields made by `option` are flags of the command line.
    """

    format_name: ClassVar[str]
    description: ClassVar[str]
    options_type: ClassVar[type[FormatOptions]] = FormatOptions

    @classmethod
    @abstractmethod
    def recognizes(cls, path: str) -> bool:
        """Is this the path or the id of a dataset of this format?"""

    @classmethod
    def known_ids(cls) -> Iterable[str]:
        """Ids that can be opened, for the hint after a misspelt one; none where there are only paths."""
        return ()

    @classmethod
    def open(cls, path: str, options: FormatOptions) -> Dataset:
        """Open the dataset. A format whose class takes a path and options need not write this.

        Args:
            path: Its path or id.
            options: Of `options_type`.

        Returns:
            The dataset.
        """
        return cls(path, options)  # type: ignore[call-arg]  # a format has a constructor of its own

    @classmethod
    def code_run(cls, path: str, options: FormatOptions) -> str:
        """The code that opening a dataset runs, in words; empty if it is only read.

        Code that only runs with `options.trust` does not count.

        Args:
            path: Its path or id.
            options: Of `options_type`.

        Returns:
            The words.
        """
        del path, options
        return ""


def file_name(name: str) -> str:
    """A name as it can be in a file's name."""
    return re.sub(r"[^\w.-]+", "-", name)


def file_stats(paths: Iterable[Path]) -> list[tuple[int, int] | None]:
    """The size and the time of each file, which tell when it has changed; None for one that is missing."""
    return [_file_stat(path) for path in paths]


def _file_stat(path: Path) -> tuple[int, int] | None:
    try:
        stat = path.stat()
    except OSError:
        return None
    return stat.st_size, stat.st_mtime_ns


def clip_name(number: int, steps: StepRange | None = None) -> str:
    """The name of a clip's file."""
    segment = "" if steps is None else f"-{steps[0]:06d}-{steps[1]:06d}"
    return f"{number:06d}{segment}.mp4"


def playable_path(video: Path, number: int, folder: Path, name: str) -> Path:
    """A video itself if browsers play it, otherwise the path of a copy that they do; `name` is for errors."""
    try:
        return video if plays_in_browsers(video) else folder / clip_name(number)
    except VideoError as error:
        raise BadEpisode(name, str(error)) from error


def check_whole(video: Path, name: str) -> None:
    """`BadEpisode` unless every frame of a video is there; `name` is that of its episode."""
    try:
        check_complete(video)
    except VideoError as error:
        raise BadEpisode(name, str(error)) from error


def array_digest(values: npt.ArrayLike) -> str:
    """A digest of an array of numbers or texts."""
    array = np.ascontiguousarray(values)
    written = array.ravel().data if array.dtype.kind in "fiub" else repr(array.tolist()).encode()
    digest = hashlib.sha256(f"{array.dtype.str} {array.shape} ".encode())
    digest.update(written)
    return digest.hexdigest()


@dataclass(frozen=True)
class Origin:
    """The dataset that features were extracted from: which episode and steps of it each row is of."""

    dataset: Dataset
    numbers: tuple[int, ...]
    segments: tuple[StepRange | None, ...]
    steps: tuple[int | None, ...]  # how long each was; None where that is not known


# --- episodes ---------------------------------------------------------------------------------------------


class EpisodeDataset(Dataset):
    """A dataset of states and actions, of which features are extracted.

    Attributes:
        root: The folder that holds the dataset, where there is one; a copy with scores is a copy of it.
        batch_size: How many episodes a worker reads in one go; fewer where one takes long.
        reading: What is done to an episode to have it, for the progress bar.
        default_features: Words of the features that are extracted by default; none: those of the library.
        wrappers: Of an environment: the names of its wrappers that change observations or actions.
    """

    wrappers: tuple[str, ...] = ()
    root: Path | None = None
    batch_size: int = 32
    reading: str = "reading"
    default_features: tuple[str, ...] = ()

    @abstractmethod
    def episode(self, number: int) -> Episode:
        """Read one episode; `BadEpisode` if it cannot be used."""

    def read(self, numbers: Iterable[int]) -> Iterator[Episode | BadEpisode]:
        """Read several episodes, one after the other; the error in place of one that cannot be used."""
        for number in numbers:
            try:
                yield self.episode(number)
            except BadEpisode as error:
                yield error

    def frame_indices(self, number: int) -> Indices:
        """The numbers, in the whole dataset, of an episode's frames, (T,), where the format numbers them.

        Args:
            number: Of the episode.

        Returns:
            The numbers.
        """
        del number
        raise ValueError(f"progress files are for LeRobot datasets, and {self.name} is none")

    def deletion_command(self, numbers: Iterable[int]) -> str | None:
        """The command of the format's own tools that removes these episodes; None if there is none.

        Args:
            numbers: Of the episodes.

        Returns:
            The command, ready to paste into a shell.
        """
        del numbers
        return None

    # --- scores -------------------------------------------------------------------------------------------

    @classmethod
    def writes_scores(cls) -> bool:
        """Can scores be written into a copy of such a dataset?"""
        return cls.write_scores is not EpisodeDataset.write_scores

    def check_score_copy(self, folder: Path) -> None:
        """An error, before any work is done, if a copy with scores cannot have this path."""
        del folder

    def write_scores(self, scores: EpisodeScores, folder: Path, final_path: Path, advance: Advance) -> None:
        """Write a copy of the dataset with the scores.

        Args:
            scores: The scores, by episode.
            folder: An empty folder.
            final_path: The path that the folder gets when all is written.
            advance: Is called with 1 for every file.
        """
        del scores, folder, final_path, advance
        raise ValueError(f"scores cannot be written into a copy of {self.name}")
