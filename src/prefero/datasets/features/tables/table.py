"""The table of extracted features: one row a trajectory; prepared for a pool, and saved."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

import numpy as np

from prefero._support.arrays import Array, Indices
from prefero._support.names import no_such
from prefero.datasets.base import Dataset
from prefero.datasets.categories import one_hot
from prefero.datasets.episode import StepRange, segment_id
from prefero.datasets.features.embeddings.embedding import Embedding
from prefero.datasets.features.embeddings.statistics import Statistics, left_out
from prefero.datasets.features.tables.cache import FeatureRows, choose_features, write_rows
from prefero.datasets.features.tables.diagnostics import Diagnostic, diagnose, redundant
from prefero.datasets.features.tables.findings import find
from prefero.trajectories.categories import Categories, Variable, variables_of
from prefero.trajectories.diversity import sample_diverse
from prefero.trajectories.feature_spec import FeatureSpec
from prefero.trajectories.features import location_and_scale, log_name


@dataclass(frozen=True, eq=False)
class FeatureTable:
    """Features of a dataset's trajectories, and which trajectory each row is of.

    Args:
        dataset: The dataset.
        features: (M, d).
        names: Of the d features.
        numbers: Which episode of the dataset each row is of.
        segments: Which steps of it; None for the whole episode.
        steps: How many steps, (M,); None where that is not known.
        skipped: Episodes that have no row, with the reason.
        cached_in: The file in which the feature cache keeps them, if any.
        spec: How the features are computed from an episode, where that is known.
        categories: The columns of categories that some of the features encode.
    """

    dataset: Dataset
    features: Array
    names: tuple[str, ...]
    numbers: tuple[int, ...]
    segments: tuple[StepRange | None, ...]
    steps: Indices | None
    skipped: dict[str, str]
    cached_in: Path | None = None
    spec: FeatureSpec | None = None
    categories: tuple[Categories, ...] = ()

    def __len__(self) -> int:
        return len(self.features)

    @property
    def ids(self) -> tuple[str, ...]:
        """The id of each row's trajectory."""
        pairs = zip(self.numbers, self.segments, strict=True)
        return tuple(segment_id(self.dataset.ids[number], segment) for number, segment in pairs)

    def diagnostics(self) -> list[Diagnostic]:
        """What should be mended before questions are asked about these trajectories."""
        return diagnose(self.features, self.names, self.steps, self.categories)

    def findings(self) -> list[Diagnostic]:
        """What is remarkable about the features, and what the model does about it."""
        return find(self.features, self.names, self.categories)

    def left_out(self) -> list[str]:
        """Which statistics were left out because they are redundant, and why; nothing for other features."""
        spec = self.spec
        if spec is None:
            return []
        pairs = ((Embedding.of(word), arrays) for word, arrays in spec.fitted.items())
        made = [one.from_arrays(arrays) for one, arrays in pairs if one is not None]
        names = spec.state_names, spec.action_names
        return [line for one in made if isinstance(one, Statistics) for line in left_out(one, *names)]

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The features as people see them: the features of one category are one variable."""
        return variables_of(self.names, self.categories)

    # --- other features -----------------------------------------------------------------------------------

    def without_redundant(self) -> Self:
        """Without the features that no answer can tell anything about: constants and duplicates."""
        return self.without(redundant(self.diagnostics()))

    def without(self, names: Sequence[str] | set[str]) -> Self:
        """Without these features."""
        self._check(names)
        kept = [i for i, name in enumerate(self.names) if name not in names]
        if not kept:
            raise ValueError(
                f"no feature is left: all of {', '.join(self.names)} were dropped, or are the same for every "
                "trajectory"
            )
        names = tuple(self.names[i] for i in kept)
        categories = tuple(one for one in self.categories if set(one.names) & set(names))
        return replace(self, features=self.features[:, kept], names=names, categories=categories)

    def one_hot(self, name: str) -> Categories:
        """The categories that a feature's numbers stand for."""
        self._check([name])
        return one_hot(name, self.features[:, self.names.index(name)])

    def with_categories(self, categories: Sequence[Categories]) -> Self:
        """With features of numbers encoded as categories."""
        table = self
        for one in categories:
            place = table.names.index(one.column)
            values = table.features[:, place].tolist()
            one.check(values)
            columns = [table.features[:, :place], one.encode(values), table.features[:, place + 1 :]]
            table = replace(
                table,
                features=np.concatenate(columns, axis=1),
                names=(*table.names[:place], *one.names, *table.names[place + 1 :]),
                categories=(*table.categories, one),
            )
        return table

    def log_transformed(self, names: Sequence[str]) -> Self:
        """With the logarithms of these features, which are then called log(NAME)."""
        self._check(names)
        features = self.features.copy()
        for i, name in enumerate(self.names):
            if name in names:
                features[:, i] = _logarithm(name, features[:, i])
        spec = self.spec and replace(self.spec, log_transform=(*self.spec.log_transform, *names))
        renamed = tuple(log_name(n) if n in names else n for n in self.names)
        return replace(self, features=features, names=renamed, spec=spec)

    def _check(self, wanted: Sequence[str] | set[str]) -> None:
        unknown = sorted(set(wanted) - set(self.names))
        if unknown:
            raise ValueError(no_such("feature", unknown[0], self.names))

    # --- other rows ---------------------------------------------------------------------------------------

    def rows(self, rows: Sequence[int] | Indices) -> Self:
        """Only these rows."""
        return replace(
            self,
            features=self.features[rows],
            numbers=tuple(self.numbers[row] for row in rows),
            segments=tuple(self.segments[row] for row in rows),
            steps=None if self.steps is None else self.steps[rows],
        )

    def diverse(self, count: int, seed: int = 0) -> Self:
        """Rows as different from each other as can be, by Poisson-disk sampling.

        Args:
            count: How many at most.
            seed: Of the order in which they are tried.

        Returns:
            The smaller table.
        """
        if count >= len(self):
            return self
        center, scale, varies = location_and_scale(self.features)
        scaled = (self.features - center) / np.where(varies, scale, 1.0)
        return self.rows(np.sort(sample_diverse(scaled, count, seed=seed)))

    def at_origin(self) -> Self:
        """The same rows of the dataset that the features were once extracted from, where that is known.

        Where the number of steps was not kept, none is known.
        """
        origin = self.dataset.origin
        if origin is None:
            return self
        steps = [origin.steps[number] for number in self.numbers]
        return replace(
            self,
            dataset=origin.dataset,
            numbers=tuple(origin.numbers[number] for number in self.numbers),
            segments=tuple(origin.segments[number] for number in self.numbers),
            steps=None if None in steps else np.array(steps, dtype=np.intp),
        )

    # --- files --------------------------------------------------------------------------------------------

    def save(self, path: str | Path) -> None:
        """Write these features to a Parquet file; in the file that they are cached in, choose them."""
        path = Path(path)
        if self.cached_in is not None and path.resolve() == self.cached_in.resolve():
            choose_features(path, self.features, self.names, self.spec, self.categories)
            return
        steps: list[int | None] = [None] * len(self) if self.steps is None else self.steps.tolist()
        ids = [self.dataset.ids[number] for number in self.numbers]
        places = list(self.numbers), list(self.segments), steps
        rows = FeatureRows(self.names, ids, *places, self.features.tolist(), self.skipped, spec=self.spec)
        write_rows(path, rows, "", self.dataset.spec, self.categories)


def _logarithm(name: str, values: Array) -> Array:
    """It does not depend on the other trajectories, so that it means the same in another dataset."""
    if values.min() <= 0:
        raise ValueError(
            f"{name!r} has values down to {values.min():g}, and only positive numbers have a logarithm: "
            "extract a positive feature instead, or leave this one as it is"
        )
    return np.log(values)
