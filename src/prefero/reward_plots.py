"""Figures of a learned reward, with matplotlib: `Reward.plot` and `Learner.plot`.

    x            (M, d)   scaled features of the trajectories that stand for the pool
    profile               the reward along one feature, all others at their mean

Rewards are drawn as differences from the average trajectory, in standard deviations over x, with a band of
one standard deviation of that difference to both sides: a reward alone is known only up to a constant.
"""

import io
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from prefero._support.arrays import Array, Indices, one_thread
from prefero._support.optional import need
from prefero.models.posterior import Distribution
from prefero.models.standardized import StandardizedRewards, reference_of
from prefero.trajectories.features import Scaling

MOST_PROFILES = 8
VALUES = 61  # along a feature
BEYOND = 2.0  # standard deviations to both sides, where no pool says how far a feature goes
STAND_IN = 300  # trajectories, where there is no pool
COLOR, ACCENT, GREY = "#0b6e99", "#d1662c", "#8a8a8a"
LABEL = "reward (std above average)"


def stand_in(features: int) -> Array:
    """Scaled features of mean 0 and standard deviation 1, in place of a pool that is not there."""
    return np.random.default_rng(0).standard_normal((STAND_IN, features)).clip(-BEYOND, BEYOND)


@one_thread
def plot_reward(belief: Distribution, scaling: Scaling, x: Array) -> Any:
    """The profiles of the features that matter most, as a matplotlib figure."""
    rewards = StandardizedRewards(belief, reference_of(x))
    features = leading_features(rewards, x)
    figure, axes = _grid(len(features))
    for axis, feature in zip(axes, features.tolist(), strict=True):
        draw_profile(axis, rewards, scaling, x, feature)
    _same_height(axes)
    return figure


@one_thread
def plot_learner(
    belief: Distribution,
    scaling: Scaling,
    x: Array,
    compared: Array,
    best: Indices,
    labels: Sequence[str],
) -> Any:
    """The best trajectories with error bars, and the profiles with marks at the compared trajectories."""
    rewards = StandardizedRewards(belief, reference_of(x))
    features = leading_features(rewards, x)
    figure, axes = _grid(1 + len(features))
    draw_best(axes[0], *rewards(x[best]), labels)
    for axis, feature in zip(axes[1:], features.tolist(), strict=True):
        draw_profile(axis, rewards, scaling, x, feature)
        marks = scaling.inverse(compared)[:, feature]
        bottom = axis.get_xaxis_transform()  # of which the second coordinate is 0 at the bottom
        axis.plot(marks, np.zeros(len(marks)), "|", color=ACCENT, markersize=9, transform=bottom)
    _same_height(axes[1:])
    return figure


def leading_features(rewards: StandardizedRewards, x: Array) -> Indices:
    """The features along which the mean reward varies most, in the order of their columns."""
    stds = [float(np.std(rewards(_points(x, feature))[0])) for feature in range(x.shape[1])]
    return np.sort(np.argsort(-np.array(stds), kind="stable")[:MOST_PROFILES])


def draw_profile(axis: Any, rewards: StandardizedRewards, scaling: Scaling, x: Array, feature: int) -> None:
    """The reward along one feature in its own units, with its uncertainty."""
    points = _points(x, feature)
    mean, std = rewards(points)
    values = scaling.inverse(points)[:, feature]
    axis.fill_between(values, mean - std, mean + std, color=COLOR, alpha=0.2, linewidth=0)
    axis.plot(values, mean, color=COLOR, linewidth=2)
    axis.axhline(0.0, color=GREY, linewidth=0.8, linestyle=":")
    axis.set(xlabel=scaling.names[feature], ylabel=LABEL)


def draw_best(axis: Any, mean: Array, std: Array, labels: Sequence[str]) -> None:
    """Rewards of a few trajectories, the best at the top, with error bars."""
    places = np.arange(len(mean))[::-1]
    axis.errorbar(mean, places, xerr=std, fmt="o", color=COLOR, ecolor=COLOR, elinewidth=1.2, capsize=2)
    axis.set_yticks(places, labels=list(labels))
    axis.axvline(0.0, color=GREY, linewidth=0.8, linestyle=":")
    axis.set(xlabel=LABEL, title="the best trajectories")


def _points(x: Array, feature: int) -> Array:
    """Points that differ in one feature only, (VALUES, d)."""
    points = np.tile(x.mean(axis=0), (VALUES, 1))
    points[:, feature] = np.linspace(x[:, feature].min(), x[:, feature].max(), VALUES)
    return points


def _same_height(axes: Any) -> None:
    """One scale for all profiles, so that a feature that matters more looks as if it does."""
    limits = [axis.get_ylim() for axis in axes]
    for axis in axes:
        axis.set_ylim(min(low for low, _ in limits), max(high for _, high in limits))


def _png(figure: Any) -> bytes:
    memory = io.BytesIO()
    figure.savefig(memory, format="png")
    return memory.getvalue()


def _grid(count: int) -> tuple[Any, Any]:
    """A figure that needs no screen, and so many axes in rows of up to three."""
    figures = need("matplotlib.figure", extra="plots")
    columns = 2 if count == 4 else min(count, 3)
    rows = -(-count // columns)
    figure = figures.Figure(figsize=(4.4 * columns, 3.4 * rows), layout="constrained")
    figure._repr_png_ = partial(_png, figure)  # notebooks show it, whether or not pyplot was imported
    axes = np.ravel(figure.subplots(rows, columns, squeeze=False))
    for axis in axes[count:]:
        axis.remove()
    for axis in axes[:count]:
        axis.spines[["top", "right"]].set_visible(False)
    return figure, axes[:count]
