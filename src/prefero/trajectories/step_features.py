"""Features of single steps, whose means over time are the features of a trajectory.

    steps        (n, d)    the state and the action of each step, side by side
    effort       (n,)      the sum of the squared actions of each step, each in its own unit
    numbers      (n, d+1)  the steps and their effort
    z            (n, d+1)  the same, standardized over examples
    y            (n, k)    z itself, or its first principal components where z has many columns
    block                  some of the features, with one meaning; models take blocks of them

    linear       z
    quadratic    the products of two of y, each pair once
    curves       cosines and sines of each of y alone, for sums of smooth functions of one number each
    rbf L        cosines and sines of random projections of y: random Fourier features (Rahimi & Recht, 2007)
                 of an RBF kernel with the lengthscale L sqrt(k)
    end          1, and 0: what a step adds to "how long it lasted", and to "it ended"

If the reward of a trajectory is the mean over time of g(state, action), and g is a Gaussian process whose
kernel is the product of such features, then the reward is linear in the means of the features, and its kernel
is the mean of the kernels of steps. Only the RBF kernel of steps is approximated.

Where trajectories may end early, as by a fall, all of them are judged over the same number of steps, the
horizon: their features are sums over the steps that there were, divided by the horizon, so that all that is
missing after an end counts as 0. The block `end` then has what the trajectory lasted, as a fraction of the
horizon, and whether it ended.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from prefero._support.arrays import Array

LINEAR, QUADRATIC, CURVES, RBF, END = "linear", "quadratic", "curves", "rbf", "end"
NAME = re.compile(r"steps (.+) \d+")


@dataclass(frozen=True, eq=False)
class StepArrays:
    """The arrays that define features of steps, and the features; see `StepFeatures`."""

    center: Array
    scale: Array
    axes: Array
    curve_frequencies: Array
    frequencies: Array
    lengthscales: Array
    effort: Array
    horizon: Array

    def values(self, steps: Array) -> Array:
        """The features of steps (n, d), (n, D)."""
        z = (self.numbers(steps) - self.center) / self.scale
        y = z @ self.axes.T
        end = np.tile([1.0, 0.0], (len(z), 1)) if self.horizon[0] else np.empty((len(z), 0))
        return np.concatenate([z, self._products(y), self._waves(y), end], axis=1)

    def numbers(self, steps: Array) -> Array:
        """Steps (n, d) and their effort, (n, d + 1)."""
        return np.concatenate([steps, (steps**2 @ self.effort)[:, None]], axis=1)

    def of_trajectory(self, steps: Array, ended: bool) -> Array:
        """The features of a trajectory with these steps, which perhaps ended early, (D,)."""
        values = self.values(steps)
        if not self.horizon[0]:
            return np.asarray(values.mean(axis=0))
        total: Array = values.sum(axis=0) / self.horizon[0]
        total[-1] = ended
        return total

    @property
    def waves(self) -> Array:
        """The frequencies of all cosines and sines, as functions of y, (W, k): curves, then lengthscales."""
        k = len(self.axes)
        curves = np.concatenate([frequency * np.eye(k) for frequency in self.curve_frequencies])
        return np.concatenate([curves, *(self.frequencies / (s * np.sqrt(k)) for s in self.lengthscales)])

    @property
    def amplitudes(self) -> Array:
        """Of the waves, (W,): so that each number's curves, and each RBF kernel, have variance 1."""
        curves, rbf = len(self.curve_frequencies), len(self.frequencies)
        return np.concatenate(
            [
                np.full(curves * len(self.axes), 1 / np.sqrt(max(curves, 1))),
                np.full(rbf * len(self.lengthscales), 1 / np.sqrt(max(rbf, 1))),
            ]
        )

    @property
    def blocks(self) -> dict[str, int]:
        """The number of features in each block, in their order."""
        d, k = len(self.center), len(self.axes)
        sizes = {LINEAR: d, QUADRATIC: k * (k + 1) // 2, CURVES: 2 * k * len(self.curve_frequencies)}
        sizes |= {f"{RBF} {scale:g}": 2 * len(self.frequencies) for scale in self.lengthscales.tolist()}
        return sizes | ({END: 2} if self.horizon[0] else {})

    @property
    def names(self) -> tuple[str, ...]:
        """Of the D features."""
        return tuple(
            f"steps {block} {number + 1}" for block, size in self.blocks.items() for number in range(size)
        )

    @staticmethod
    def _products(y: Array) -> Array:
        first, second = np.triu_indices(y.shape[1])
        return y[:, first] * y[:, second]

    def _waves(self, y: Array) -> Array:
        """A cosine and a sine of each wave, beside each other, so that blocks are contiguous."""
        phases = y @ self.waves.T
        both = np.stack([np.cos(phases), np.sin(phases)], axis=2) * self.amplitudes[:, None]
        return both.reshape(len(y), -1)


@dataclass(frozen=True, eq=False)
class StepFeatures(StepArrays):
    """The features of steps, as a function of steps.

    Args:
        center: The mean of each number of a step, (d + 1,).
        scale: Its standard deviation, (d + 1,).
        axes: From z to y, (k, d + 1).
        curve_frequencies: Of the curves, (C,).
        frequencies: Of the random projections with lengthscale 1, (F, k).
        lengthscales: In units of sqrt(k), (L,).
        effort: What the square of each number of a step adds to the effort, (d,); 0 for states.
        horizon: The number of steps over which trajectories are judged that may end early; 0 where none does,
            (1,).
    """

    def __call__(self, steps: Array) -> Array:
        """The features of steps (n, d), (n, D)."""
        return self.values(steps)


def block_of(name: str) -> str | None:
    """The block that a feature is in, by its name; None for one that is not of steps."""
    parsed = NAME.fullmatch(name)
    return None if parsed is None else parsed[1]


def step_blocks(names: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """The columns of each block of step features among these names."""
    blocks: dict[str, list[int]] = {}
    for column, name in enumerate(names):
        block = block_of(name)
        if block is not None:
            blocks.setdefault(block, []).append(column)
    return {block: tuple(columns) for block, columns in blocks.items()}
