"""Datasets: trajectories that are read one at a time, in any format.

EpisodeDataset   states and actions, of which features are extracted
FeatureDataset   features that are known already, one row a trajectory
DatasetFormat    a dataset that is opened by its path or id; every format is one such class
FormatOptions    how a dataset is opened; a format extends it by options of its own
DatasetSpec      format, path and options: what opens the same dataset again

number           the index of a trajectory in its dataset, from 0; its id is a text
steps            a segment of an episode, or None for the whole of it

Nothing stays in memory: an episode is read when it is asked for, and a clip is cut when it is shown.
"""

import hashlib
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Literal, Self, TypeVar

import numpy as np
import numpy.typing as npt

from prefero._support.arrays import Array, Image, Indices
from prefero._support.names import listed, no_such
from prefero.datasets.episode import BadEpisode, Episode, StepRange, segment_id
from prefero.datasets.media.video_files import (
    VideoError,
    check_complete,
    frame_rate,
    plays_in_browsers,
    read_frames,
)
from prefero.datasets.scores.scores import Advance, EpisodeScores
from prefero.rendering.video import save_video
from prefero.trajectories.categories import Categories
from prefero.trajectories.feature_spec import FeatureSpec

Columns = dict[str, npt.NDArray[Any]]
T = TypeVar("T")


# --- how a dataset is opened ------------------------------------------------------------------------------


def option(default: T, help: str, *, minimum: int | None = None) -> T:
    """A field of a format's options that the command line offers as a flag.

    Args:
        default: Its default.
        help: What the help says.
        minimum: The smallest number that is allowed.

    Returns:
        The field of a dataclass.
    """
    made: T = field(default=default, metadata={"help": help, "minimum": minimum})
    return made


@dataclass(frozen=True, kw_only=True)
class FormatOptions:
    """How a dataset is opened. A format with more options extends this class; `option` makes a field a flag.

    Args:
        videos: "use" has them shown, "check" also counts an episode whose video is damaged as a bad one, and
            "ignore" opens the dataset as if it had none.
        trust: Whether code may run that the dataset names: environments and policies.
    """

    videos: Literal["use", "check", "ignore"] = "use"
    trust: bool = option(False, "Run the code that the opened file names: environments and policies.")

    def for_comparing(self) -> Self:
        """For a person who compares: a question whose video cannot be shown has no answer."""
        return replace(self, videos="check") if self.videos == "use" else self


@dataclass(frozen=True)
class DatasetSpec:
    """What opens a dataset again; it can be written as JSON.

    Args:
        format: The name of its format.
        path: Its path or id.
        options: The options, as JSON has them.
    """

    format: str
    path: str
    options: Mapping[str, Any]

    @classmethod
    def of(cls, format_name: str, path: str | Path, options: FormatOptions) -> "DatasetSpec":
        """With the options as JSON has them: texts for paths, lists for tuples. Trust is never stored.

        Args:
            format_name: The name of its format.
            path: Its path or id.
            options: The options.

        Returns:
            What opens it again.
        """
        values = {name: value for name, value in asdict(options).items() if name != "trust"}
        return cls(format_name, str(path), json.loads(json.dumps(values, default=str)))

    def to_json(self) -> dict[str, Any]:
        """As a JSON object."""
        return asdict(self)


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
        stats = [path.stat() for path in self.files if path.exists()]
        seen = [(stat.st_size, stat.st_mtime_ns) for stat in stats]
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

    def score_columns(self) -> Columns:
        """Columns to repeat beside the scores of its trajectories in a table, (M,) each."""
        return {}

    # --- videos -------------------------------------------------------------------------------------------

    @abstractmethod
    def cut_clip(self, number: int, folder: Path, steps: StepRange | None = None) -> Path:
        """The video of a trajectory or a segment of it, cut unless it exists.

        Args:
            number: Of the trajectory.
            folder: The folder for the clip.
            steps: The first step and the one after the last; None is the whole.

        Returns:
            A file that browsers play.
        """

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
    @abstractmethod
    def open(cls, path: str, options: FormatOptions) -> Dataset:
        """Open the dataset.

        Args:
            path: Its path or id.
            options: Of `options_type`.

        Returns:
            The dataset.
        """

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
    """A name as part of a file's name."""
    return re.sub(r"[^\w.-]+", "-", name)


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


def array_digest(values: npt.ArrayLike) -> str:
    """A digest of an array of numbers or texts."""
    array = np.ascontiguousarray(values)
    written = array.ravel().data if array.dtype.kind in "fiub" else repr(array.tolist()).encode()
    digest = hashlib.sha256(f"{array.dtype.str} {array.shape} ".encode())
    digest.update(written)
    return digest.hexdigest()


# --- episodes ---------------------------------------------------------------------------------------------


class EpisodeDataset(Dataset):
    """A dataset of states and actions, of which features are extracted.

    Attributes:
        root: The folder that holds the dataset, where there is one; a copy with scores is a copy of it.
        batch_size: How many episodes a worker reads in one go; fewer where one takes long.
        reading: What is done to an episode to have it, for the progress bar.
        default_features: Words of the features that are extracted by default; none: those of the library.
    """

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

    def frames(self, number: int, steps: StepRange | None) -> tuple[Iterator[Image], float]:
        """The images of an episode or a segment of it.

        Args:
            number: Of the episode.
            steps: The first step and the one after the last; None is the whole.

        Returns:
            The images, and how many of them are shown a second.
        """
        del steps
        raise ValueError(f"{self.name} has no videos: {self.ids[number]} cannot be shown")

    def cut_clip(self, number: int, folder: Path, steps: StepRange | None = None) -> Path:
        """The video of an episode or a segment of it, cut into `folder` unless it is there."""
        self.check_number(number)
        path = self.clip_path(number, folder, steps)
        if not path.is_file():
            folder.mkdir(parents=True, exist_ok=True)
            try:
                save_video(path, *self.frames(number, steps))
            except VideoError as error:
                raise BadEpisode(
                    segment_id(self.ids[number], steps), f"its video is damaged: {error}"
                ) from error
        return path

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


# --- features ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Origin:
    """The dataset that features were extracted from: which episode and steps of it each row is of."""

    dataset: Dataset
    numbers: tuple[int, ...]
    segments: tuple[StepRange | None, ...]
    steps: tuple[int | None, ...]  # how long each was; None where that is not known


class FeatureDataset(Dataset):
    """A dataset whose features are known already, and perhaps a video of each trajectory.

    `ignored` are the columns that are no features, since they hold no numbers, with an example of what they
    hold; `names_given` is False if the features have no names and are only numbered. `categories` are the
    columns of categories that some of the features encode, and `found` those of them that nobody declared.

    Args:
        name: Of the dataset.
        columns: By name, (M,) each.
        ids: Of the trajectories.
        names: Which of the columns are the features.
        videos: One file a trajectory, if there are any.
        categories: Of the features that the columns hold already encoded.
    """

    names_given: bool = True
    ignored: Mapping[str, str] = MappingProxyType({})
    found: tuple[Categories, ...] = ()

    def __init__(
        self,
        name: str,
        columns: Mapping[str, npt.ArrayLike],
        ids: Sequence[str],
        *,
        names: Sequence[str] | None = None,
        videos: tuple[Path, ...] | None = None,
        categories: Sequence[Categories] = (),
    ) -> None:
        self.name, self.ids, self.categories = name, tuple(ids), tuple(categories)
        self._encoders: dict[str, Categories] = {}  # by feature: the category whose column it is computed of
        self.columns: Columns = {key: np.asarray(values) for key, values in columns.items()}
        self.names = tuple(self.columns if names is None else names)
        self.videos, self.has_video, self.files = videos, videos is not None, videos or ()
        self._check_names(self.names)

    @cached_property
    def features(self) -> Array:
        """The features, (M, d); NaN where a value is missing. An error if a column does not hold numbers."""
        encoded: dict[str, Array] = {}
        for one in {encoder.column: encoder for encoder in self._encoders.values()}.values():
            columns = one.encode(self.columns[one.column].tolist()).T
            encoded |= dict(zip(one.names, columns, strict=True))
        return np.column_stack(
            [
                encoded[name] if name in self._encoders else numbers_of(name, self.columns[name])
                for name in self.names
            ]
        )

    def label_column(self, name: str) -> tuple[str, ...] | None:
        """The values of a column of the table as texts."""
        values = self.columns.get(name)
        return None if values is None else tuple(map(as_label, values.tolist()))

    def select(self, names: Sequence[str]) -> Self:
        """The same trajectories with these columns as their features; of a category, all that encode it."""
        chosen = self.expanded(names)
        self._check_names(chosen)
        return self._changed(names=tuple(chosen))

    def expanded(self, names: Sequence[str]) -> list[str]:
        """These names; in place of a category's column, the features that encode it."""
        by_column = {one.column: one.names for one in self.categories}
        return list(dict.fromkeys(f for name in names for f in by_column.get(name, (name,))))

    @property
    def encoded_categories(self) -> list[Categories]:
        """The categories that columns of numbers encode already, as in a file of features."""
        return [one for one in self.categories if not set(one.names) & set(self._encoders)]

    def with_categories(self, categories: Sequence[Categories]) -> Self:
        """The same trajectories with these columns encoded as categories, in place of what they were."""
        changed = self
        for one in categories:
            changed = changed._with_category(one)
        return changed

    def values_of(self, column: str) -> npt.NDArray[Any]:
        """The values of one column, or an error that names the nearest."""
        if column not in self.columns:
            raise ValueError(f"in {self.name} {no_such('column', column, tuple(self.columns))}")
        return self.columns[column]

    def encode(self, categories: Sequence[Categories]) -> None:
        """Encode these columns as categories in this dataset itself, which is being opened."""
        vars(self).update(vars(self.with_categories(categories)))

    def _with_category(self, one: Categories) -> Self:
        self.values_of(one.column)  # which is an error if there is no such column
        others = tuple(known for known in self.categories if known.column != one.column)
        before = {one.column, *(n for known in self.categories if known not in others for n in known.names)}
        first = next((place for place, name in enumerate(self.names) if name in before), len(self.names))
        kept = [name for name in self.names if name not in before]
        names = (*kept[:first], *one.names, *kept[first:])
        encoders = {name: known for name, known in self._encoders.items() if known.column != one.column}
        encoders |= dict.fromkeys(one.names, one)
        ignored = {name: example for name, example in self.ignored.items() if name != one.column}
        return self._changed(
            names=names, categories=(*others, one), _encoders=encoders, ignored=MappingProxyType(ignored)
        )

    def renamed(self, names: Sequence[str]) -> Self:
        """The same features under other names."""
        pairs = zip(names, (self.columns[old] for old in self.names), strict=True)
        return self._changed(columns=dict(pairs), names=tuple(names), names_given=True)

    def without_videos(self) -> Self:
        """The same trajectories as if there were no videos of them, so that none is checked."""
        return self._changed(videos=None, has_video=False)

    def _changed(self, **changes: Any) -> Self:
        changed = copy(self)
        vars(changed).pop("features", None)
        vars(changed).update(changes)
        return changed

    def _check_names(self, names: Sequence[str]) -> None:
        unknown = [name for name in names if name not in self.columns and name not in self._encoders]
        if unknown or not names:
            if unknown:
                raise ValueError(f"in {self.name} {no_such('column', unknown[0], tuple(self.columns))}")
            raise ValueError(
                f"{self.name} has no columns of numbers: its columns are {listed(tuple(self.columns))}"
            )

    def version_parts(self) -> list[Any]:
        """The numbers themselves, unless a spec says where they are."""
        if self.spec:
            return []
        sources = [self._encoders[name].column if name in self._encoders else name for name in self.names]
        columns = [array_digest(self.columns[name]) for name in sources]
        return [columns, self.names, self.ids, [str(path.resolve()) for path in self.videos or ()]]

    def check(self, number: int) -> None:
        """`BadEpisode` if a feature of a trajectory is missing, or its video is damaged."""
        bad = np.flatnonzero(~np.isfinite(self.features[number]))
        if len(bad):
            raise BadEpisode(self.ids[number], self._problem(number, self.names[bad[0]]))
        if self.has_video:
            self.check_video(number)

    def _problem(self, number: int, name: str) -> str:
        """Why a feature of a trajectory is no finite number."""
        if name in self._encoders:
            one = self._encoders[name]
            return one.problem_with(self.columns[one.column].tolist()[number])
        value, place = self.features[number, self.names.index(name)], self.names.index(name)
        if not np.isnan(value):
            return f"its feature {name!r} is {value}"
        missing = int(np.isnan(self.features[:, place]).sum())
        share = f"as in {missing} of {len(self)} rows" if missing > 1 else "in this row only"
        remedy = f"fill it in, or teach without it (--drop {name!r})"
        return f"its feature {name!r} is missing, {share}: {remedy}"

    # --- videos -------------------------------------------------------------------------------------------

    def check_video(self, number: int) -> None:
        """`BadEpisode` unless every frame of the video is there."""
        if self.videos is not None:
            try:
                check_complete(self.videos[number])
            except VideoError as error:
                raise BadEpisode(self.ids[number], str(error)) from error

    def clip_path(self, number: int, folder: Path, steps: StepRange | None = None) -> Path:
        """The video itself if browsers play it, otherwise a copy in `folder` that they do."""
        return playable_path(self._video(number, steps), number, folder, self.ids[number])

    def cut_clip(self, number: int, folder: Path, steps: StepRange | None = None) -> Path:
        """The video itself, or the copy, which is made unless it is there."""
        path, video = self.clip_path(number, folder, steps), self._video(number, steps)
        if not path.is_file():
            folder.mkdir(parents=True, exist_ok=True)
            try:
                save_video(path, read_frames(video), frame_rate(video))
            except VideoError as error:
                raise BadEpisode(self.ids[number], str(error)) from error
        return path

    def _video(self, number: int, steps: StepRange | None) -> Path:
        self.check_number(number)
        if self.videos is None:
            raise ValueError(f"{self.name} has no videos: {self.ids[number]} cannot be shown")
        if steps is not None:
            raise ValueError(f"{self.name} has features and no steps, so a video of it has no segments")
        return self.videos[number]


def as_label(value: object) -> str:
    """A value of a column of labels as a text; "" where it is missing."""
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, list | tuple | np.ndarray):
        return ", ".join(map(as_label, value))
    return "" if value is None else str(value)


def matrix_columns(features: Array, names: Sequence[str]) -> Columns:
    """The columns of a matrix of features (M, d), by their names."""
    if len(set(names)) != len(names) or len(names) != features.shape[1]:
        raise ValueError(f"{features.shape[1]} features need as many different names, but have {list(names)}")
    return dict(zip(names, features.T, strict=True))


def numbers_of(name: str, values: npt.NDArray[Any]) -> Array:
    """A column as numbers, or an error that says what it holds instead."""
    numbers = as_numbers(values)
    if numbers is None:
        raise ValueError(
            f"column {name!r} does not hold numbers ({example_of(values)}): choose the columns that are "
            "features, without it"
        )
    return numbers


def as_numbers(values: npt.NDArray[Any]) -> Array | None:
    """A column as numbers, NaN where a value is missing; None if it holds texts, dates or anything else."""
    if values.dtype.kind in "fiub":
        return values.astype(float)
    if values.dtype.kind in "mM":
        return None
    try:
        return np.asarray([np.nan if _is_missing(value) else value for value in values.tolist()], dtype=float)
    except (TypeError, ValueError):
        return None


def example_of(values: npt.NDArray[Any]) -> str:
    """The first value of a column that is not a number, for a message; "empty" if there is none."""
    for value in values.tolist() if values.dtype.kind not in "mM" else values.astype(str).tolist():
        if not _is_missing(value) and as_numbers(np.array([value], dtype=object)) is None:
            return repr(value) if isinstance(value, str) else str(value)
    return "empty"


def _is_missing(value: object) -> bool:
    return value is None or type(value).__name__ == "NAType"  # which pandas has in columns with gaps
