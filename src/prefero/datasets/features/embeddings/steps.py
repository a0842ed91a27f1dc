"""The embedding `steps`: means over time of features of single steps, for rewards that are means over time.

The examples set the units of states and actions, and the principal components where there are many. Random
projections are quasi-random, a scrambled Sobol sequence, and the same for the same number of components.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from scipy.special import ndtri

from prefero._support.arrays import Array
from prefero.datasets.episode import BadEpisode, Episode
from prefero.datasets.features.embeddings.fitted import (
    FittedEmbedding,
    principal_axes,
    steps_of,
    units,
    with_same_numbers,
)
from prefero.datasets.features.library.library import NamedValues
from prefero.trajectories.step_features import StepArrays, StepFeatures

MOST_COMPONENTS = 32  # of steps with more numbers, so many principal components
MOST_STEPS = 20_000  # of the examples, evenly spaced, for the units and the components
LENGTHSCALES = (0.5, 1.0, 2.0)  # times sqrt(k); two typical steps are sqrt(2 k) apart
FREQUENCIES = 64  # a power of two, as Sobol sequences want it
CURVE_FREQUENCIES = 3


@dataclass(frozen=True, eq=False)
class StepEmbedding(FittedEmbedding, StepArrays):
    """Means over time of `StepFeatures`, with the same arrays."""

    @classmethod
    def fit(cls, examples: Sequence[Episode], count: int, horizon: int = 0) -> Self:
        """The units of the examples' steps; `count` is not a choice here."""
        del count
        steps = np.concatenate([steps_of(one) for one in with_same_numbers(examples)])
        steps = steps[:: max(1, len(steps) // MOST_STEPS)]
        effort = units(steps)[1] ** -2.0
        effort[: examples[0].states.shape[1]] = 0.0
        numbers = np.concatenate([steps, (steps**2 @ effort)[:, None]], axis=1)
        center, scale = units(numbers)
        axes = _axes((numbers - center) / scale)
        curves = (np.arange(CURVE_FREQUENCIES) + 0.5) / CURVE_FREQUENCIES
        return cls(
            center,
            scale,
            axes,
            ndtri(0.5 + 0.5 * curves),  # quantiles of |normal|: of an RBF kernel with lengthscale 1
            projections(len(axes)),
            np.array(LENGTHSCALES),
            effort,
            np.array([float(horizon)]),
        )

    @cached_property
    def of_steps(self) -> StepFeatures:
        """The function of steps."""
        return StepFeatures(**self.arrays())

    def check(self, episode: Episode) -> None:
        """An error unless its steps have as many numbers as those of the examples."""
        size = steps_of(episode).shape[1]
        if size != len(self.effort):
            raise BadEpisode(
                episode.id, f"its steps have {size} states and actions, but the examples' {len(self.effort)}"
            )

    def features(self, episode: Episode) -> NamedValues:
        """The means of all features over the episode's steps; with a horizon, sums divided by it."""
        values = self.of_trajectory(steps_of(episode), episode.terminated)
        return dict(zip(self.names, values.tolist(), strict=True))

    def shapes(self, count: int) -> dict[str, tuple[int, ...]]:
        """By the numbers of a step, its components, and the frequencies."""
        del count
        d, k = len(self.center), len(self.axes)
        return {
            "center": (d,),
            "scale": (d,),
            "axes": (k, d),
            "curve_frequencies": (len(self.curve_frequencies),),
            "frequencies": (len(self.frequencies), k),
            "lengthscales": (len(self.lengthscales),),
            "effort": (d - 1,),
            "horizon": (1,),
        }


def _axes(z: Array) -> Array:
    """The first principal components of standardized steps, or all axes where they are few."""
    if z.shape[1] <= MOST_COMPONENTS:
        return np.eye(z.shape[1])
    axes, _ = principal_axes(z)
    return axes[:MOST_COMPONENTS]


def projections(components: int) -> Array:
    """Frequencies of random Fourier features with lengthscale 1, (F, k): normal, and evenly spread."""
    from scipy.stats import qmc  # slow to import, and seldom needed

    sobol = qmc.Sobol(components, rng=np.random.default_rng(0))
    return np.asarray(ndtri(np.clip(sobol.random(FREQUENCIES), 1e-6, 1 - 1e-6)))
