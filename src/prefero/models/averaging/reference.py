"""What a pool tells about rewards before any answer: how far features reach, and so how far rewards vary.

    features     (M, d)   trajectories that stand for the pool, in the units of the answers
    rows         (R, d)   some of them, standardized: mean 0 and standard deviation 1
    varies                how much a reward with a given prior varies over the rows, in expectation: the
                          mean of its prior variances, minus the prior variance of its mean

Every candidate of the default model is scaled to vary by 1 over the pool, so that the same noise means the
same to all of them. Where a feature has heavy tails, some candidates look at compressed features.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from prefero._support.arrays import Array
from prefero._support.pairs import mixed_pairs
from prefero.kernels import Kernel, Standardized, Warped
from prefero.models.averaging.thresholds import Thresholds
from prefero.trajectories.categories import Categories, variables_of
from prefero.trajectories.features import Scaling
from prefero.trajectories.step_features import step_blocks

ROWS = 1000  # at most: of a larger pool, so many trajectories evenly spaced
EVERY = 4  # the variance of a reward's mean is found with every fourth of them
FAR = 4.0  # a value this many robust standard deviations from the median makes a feature heavy-tailed
NORMAL_QUARTILES = 1.349  # standard deviations between the quartiles of a normal distribution
UNCHANGED = 1e-9  # a standardization closer than this to none is none


@dataclass(frozen=True, eq=False)
class Reference:
    """Trajectories that stand for a pool, and the standardization of its features.

    Args:
        rows: Standardized features, (R, d).
        standardization: Of the features of answers; None: they are standardized already.
        names: Of the features, where they are known.
        categories: The columns of categories that some of the features encode: these have a common scale and
            no tails.
    """

    rows: Array
    standardization: Scaling | None = None
    names: tuple[str, ...] | None = None
    categories: tuple[Categories, ...] = ()

    @classmethod
    def of(cls, features: Array, known: Scaling | None = None) -> Self:
        """Of the features of a pool, in the units of the answers; `known` has their names and categories."""
        names, categories = (None, ()) if known is None else (known.names, known.categories)
        scaling = Scaling.of(features, names, categories, allow_constant=True)
        rows = scaling(features[:: max(1, -(-len(features) // ROWS))])
        return cls(rows, None if _is_identity(scaling) else scaling, names, categories)

    @classmethod
    def normal(cls, features: int) -> Self:
        """Of a pool that is not known: its features are independent and normal."""
        rows = np.random.default_rng(0).standard_normal((ROWS, features))
        return cls((rows - rows.mean(axis=0)) / rows.std(axis=0))

    def only(self, columns: tuple[int, ...]) -> "Reference":
        """Of some of the features, standardized as they are here."""
        if len(columns) == self.features:
            return self
        names = None if self.names is None else tuple(self.names[column] for column in columns)
        return Reference(self.rows[:, list(columns)], names=names, categories=self.categories)

    @property
    def features(self) -> int:
        """The number of features."""
        return int(self.rows.shape[1])

    @property
    def step_blocks(self) -> dict[str, tuple[int, ...]]:
        """The columns of each block of step features; none where a reward is not one of steps."""
        return step_blocks(self.names or ())

    def pairs(self, count: int) -> tuple[Array, Array]:
        """Pairs of trajectories that stand for all, in the units of the answers: (count, d) each."""
        if len(self.rows) < 2:
            return self._given(self.rows[:0]), self._given(self.rows[:0])
        first, second = mixed_pairs(self.rows, count, np.random.default_rng(1)).T
        return self._given(self.rows[first]), self._given(self.rows[second])

    def _given(self, rows: Array) -> Array:
        by = self.standardization
        return rows if by is None else rows * np.array(by.scale) + np.array(by.center)

    def varies(self, kernel: Kernel) -> float:
        """The expected variance over the rows of a reward with this prior."""
        variances = float(np.mean(kernel.diagonal(self.rows)))
        return variances - float(np.mean(kernel(self.rows[::EVERY], self.rows)))

    def unit(self, kernel: Kernel) -> Kernel:
        """The kernel, scaled so that its reward varies by 1; as it is, where its reward does not vary."""
        varies = self.varies(kernel)
        return 1.0 / varies * kernel if varies > UNCHANGED else kernel

    def standardized(self, kernel: Kernel) -> Kernel:
        """A kernel of standardized features as one of the features that answers are about."""
        by = self.standardization
        return kernel if by is None else Standardized(kernel, by.center, by.scale)

    @cached_property
    def thresholds(self) -> Thresholds:
        """Where a reward may step."""
        return Thresholds.of(self.rows)

    @property
    def has_heavy_tails(self) -> bool:
        """Whether some feature has values far from its median."""
        center, scale = self._robust
        far = np.any(np.abs(self.rows - center) > FAR * scale, axis=0)
        if self.names is not None:
            for variable in variables_of(self.names, self.categories):
                far[list(variable.features)] &= variable.categories is None
        return bool(far.any())

    def warped(self, kernel: Kernel) -> Kernel:
        """A kernel of compressed features, standardized again, as one of standardized features."""
        center, scale = self._robust
        compressed = np.arcsinh((self.rows - center) / scale)
        by = Scaling.of(compressed, self.names, self.categories, allow_constant=True)
        return Warped(Standardized(kernel, by.center, by.scale), tuple(center), tuple(scale))

    @property
    def _robust(self) -> tuple[Array, Array]:
        """The median of each feature, and the standard deviation of a normal one with its quartiles.

        A feature that is the same for most trajectories has equal quartiles: its standard deviation is taken.
        """
        low, median, high = np.quantile(self.rows, [0.25, 0.5, 0.75], axis=0)
        scale = (high - low) / NORMAL_QUARTILES
        return median, np.where(scale > UNCHANGED, scale, 1.0)


def _is_identity(scaling: Scaling) -> bool:
    off = np.abs(np.concatenate([scaling.center, np.subtract(scaling.scale, 1.0)]))
    return bool(np.all(off < UNCHANGED))
