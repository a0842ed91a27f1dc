"""Features that were gathered: made fit for a pool, and published."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

import numpy as np

from prefero._support.arrays import Array, Indices
from prefero.datasets.base import Dataset, StepRange, segment_id
from prefero.datasets.features.cache import FeatureRows, publish, write_rows
from prefero.datasets.features.diagnostics import Diagnostic, diagnose, left_out
from prefero.trajectories.diversity import sample_diverse
from prefero.trajectories.features import location_and_scale

LOG = "log "  # what the name of a logarithm begins with


@dataclass(frozen=True, eq=False)
class FeatureTable:
    """Features of a dataset's trajectories, and where each row comes from."""

    dataset: Dataset
    features: Array
    names: tuple[str, ...]
    numbers: tuple[int, ...]
    parts: tuple[StepRange | None, ...]
    steps: Indices | None  # how long each is; None where nobody knows
    left_out: dict[str, str]  # episodes that could not be used, with the reason

    def __len__(self) -> int:
        return len(self.features)

    @property
    def ids(self) -> tuple[str, ...]:
        """What each row is of."""
        return tuple(
            segment_id(self.dataset.ids[n], p) for n, p in zip(self.numbers, self.parts, strict=True)
        )

    def advice(self) -> list[Diagnostic]:
        """What should be mended before anything is asked."""
        return diagnose(self.features, self.names, self.steps)

    def useful(self) -> Self:
        """Without the features that say nothing: constants and copies."""
        return self.without(left_out(self.advice()))

    def without(self, drop: Sequence[str] | set[str]) -> Self:
        """Without these features."""
        self._check(drop)
        kept = [i for i, name in enumerate(self.names) if name not in drop]
        if not kept:
            raise ValueError(
                f"no feature is left: of {', '.join(self.names)} none differs between trajectories, or all "
                "were dropped"
            )
        return replace(self, features=self.features[:, kept], names=tuple(self.names[i] for i in kept))

    def logarithms(self, names: Sequence[str]) -> Self:
        """With the logarithms of these features, which are called log NAME then."""
        self._check(names)
        features = self.features.copy()
        for i, name in enumerate(self.names):
            if name in names:
                features[:, i] = _logarithm(name, features[:, i])
        return replace(
            self, features=features, names=tuple(f"{LOG}{n}" if n in names else n for n in self.names)
        )

    def _check(self, wanted: Sequence[str] | set[str]) -> None:
        unknown = sorted(set(wanted) - set(self.names))
        if unknown:
            raise ValueError(f"there is no feature {unknown[0]!r}: the features are {', '.join(self.names)}")

    def chosen(self, rows: Sequence[int] | Indices) -> Self:
        """Only these rows."""
        return replace(
            self,
            features=self.features[rows],
            numbers=tuple(self.numbers[row] for row in rows),
            parts=tuple(self.parts[row] for row in rows),
            steps=None if self.steps is None else self.steps[rows],
        )

    def diverse(self, count: int, seed: int = 0) -> Self:
        """At most `count` rows, as different from each other as can be."""
        if count >= len(self):
            return self
        centre, scale, varies = location_and_scale(self.features)
        scaled = (self.features - centre) / np.where(varies, scale, 1.0)
        return self.chosen(np.sort(sample_diverse(scaled, count, seed=seed)))

    def publish(self, path: Path) -> None:
        """Write these features to a Parquet file; in the one they were kept in, say that they are used."""
        if self.steps is not None:
            publish(path, self.features, self.names)
            return
        unknown: list[int | None] = [None] * len(self)
        places = list(self.ids), list(self.numbers), list(self.parts), unknown
        rows = FeatureRows(self.names, *places, self.features.tolist(), self.left_out)
        write_rows(path, rows, "", self.dataset.recipe)


def _logarithm(name: str, values: Array) -> Array:
    """Nothing of the other trajectories goes into it, so that it means the same in another dataset."""
    if values.min() <= 0:
        raise ValueError(
            f"{name!r} is {values.min():g} for some, so it has no logarithm: note something that is above 0, "
            "or leave it out"
        )
    return np.log(values)
