"""FeatureDataset: features that are known already, one row a trajectory, and perhaps a video of each."""

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from prefero._support.arrays import Array, Image
from prefero._support.names import listed, no_such
from prefero.datasets.base import Dataset, array_digest, check_whole, playable_path
from prefero.datasets.categories import expanded
from prefero.datasets.columns import Columns, as_label, numbers_of
from prefero.datasets.episode import BadEpisode, StepRange
from prefero.datasets.media.video_files import frame_rate, read_frames
from prefero.datasets.outcomes import Reduction
from prefero.trajectories.categories import Categories


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
    first_row: int = 0  # of some rows of a table: where in it they begin

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

    def outcome_column(self, name: str, reduce: Reduction) -> tuple[Any, ...] | None:
        """The values of a column of the table."""
        del reduce
        values = self.columns.get(name)
        return None if values is None else tuple(values.tolist())

    def outcome_names(self) -> tuple[str, ...]:
        """All columns."""
        return tuple(self.columns)

    def without_column(self, name: str) -> Self:
        """The same trajectories without the features that a column is, or that encode it."""
        coded = {name, *(known for one in self.categories if one.column == name for known in one.names)}
        kept = tuple(known for known in self.names if known not in coded)
        self._check_names(kept)
        return self._changed(
            names=kept,
            categories=tuple(one for one in self.categories if one.column != name),
            found=tuple(one for one in self.found if one.column != name),
            ignored=MappingProxyType({key: text for key, text in self.ignored.items() if key != name}),
            _encoders={key: one for key, one in self._encoders.items() if one.column != name},
        )

    def with_column(self, name: str, values: Array) -> Self:
        """The same trajectories with one more column, which is no feature.

        Args:
            name: Of the column.
            values: A number for each trajectory, (M,).

        Returns:
            The dataset.
        """
        return self._changed(columns={**self.columns, name: values})

    def select(self, names: Sequence[str]) -> Self:
        """The same trajectories with these columns as their features; of a category, all that encode it."""
        chosen = expanded(names, self.categories)
        self._check_names(chosen)
        return self._changed(names=tuple(chosen))

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
        where = f"as in {missing} of {len(self)} rows" if missing > 1 else "in this row only"
        remedy = f"fill it in, or teach without it (--drop {name!r})"
        return f"its feature {name!r} is missing, {where}: {remedy}"

    # --- videos -------------------------------------------------------------------------------------------

    def check_video(self, number: int) -> None:
        """`BadEpisode` unless every frame of the video is there."""
        if self.videos is not None:
            check_whole(self.videos[number], self.ids[number])

    def clip_path(self, number: int, folder: Path, steps: StepRange | None = None) -> Path:
        """The video itself if browsers play it, otherwise a copy in `folder` that they do."""
        return playable_path(self._video(number, steps), number, folder, self.ids[number])

    def frames(self, number: int, steps: StepRange | None) -> tuple[Iterator[Image], float]:
        """All frames of the video."""
        video = self._video(number, steps)
        return read_frames(video), frame_rate(video)

    def _video(self, number: int, steps: StepRange | None) -> Path:
        self.check_number(number)
        if self.videos is None:
            raise ValueError(f"{self.name} has no videos: {self.ids[number]} cannot be shown")
        if steps is not None:
            raise ValueError(f"{self.name} has features and no steps, so a video of it has no segments")
        return self.videos[number]
