"""Figures of a learned reward, with matplotlib: `Reward.plot`, `Learner.plot` and `Learner.plot_agreement`.

    x            (M, d)   scaled features of the trajectories that stand for the pool
    profile               the reward along one feature, all others at their mean

Rewards are drawn as differences from the average trajectory, in standard deviations over x, with a band of
one standard deviation of that difference to both sides: a reward alone is known only up to a constant. A line
shows the bar, what is just acceptable, if answers said what is.
"""

import io
import textwrap
from collections.abc import Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from prefero._support.arrays import Array, Image, Indices, one_thread
from prefero._support.names import shortened, shortened_apart
from prefero._support.optional import need
from prefero._support.ordering import largest_first
from prefero.datasets.media.video_files import VideoError, read_frames
from prefero.models.explain.profiles import level_points
from prefero.models.posterior.bar import has_bar
from prefero.models.posterior.gaussian import Distribution
from prefero.models.posterior.standardized import StandardizedRewards, reference_of
from prefero.pools.pool import Pool
from prefero.questions.comparisons import bar_features
from prefero.trajectories.categories import Variable
from prefero.trajectories.components import component_ends
from prefero.trajectories.features import Scaling

MOST_PROFILES = 8
MOST_NAMES = 40  # of people beside a matrix
LEAST_CELLS, LETTER = 2.8, 0.075  # inches: a matrix, and a letter of the names beside it
LINE = 52  # letters below an axis
VALUES = 61  # along a feature
BEYOND = 2.0  # standard deviations to both sides, where no pool says how far a feature goes
STAND_IN = 300  # trajectories, where there is no pool
COLOR, ACCENT, GREY = "#0b6e99", "#d1662c", "#8a8a8a"
LABEL = "reward (std above average)"
ACCEPTABLE = "just acceptable"
THUMBNAIL = 0.42  # of the width of an axis: a trajectory at an end of a component


def stand_in(features: int) -> Array:
    """Scaled features of mean 0 and standard deviation 1, in place of a pool that is not there."""
    return np.random.default_rng(0).standard_normal((STAND_IN, features)).clip(-BEYOND, BEYOND)


@one_thread
def plot_reward(belief: Distribution, scaling: Scaling, x: Array, pool: Pool | None = None) -> Any:
    """The profiles of the features that matter most, as a matplotlib figure."""
    rewards = StandardizedRewards(belief, reference_of(x))
    variables = leading_variables(rewards, scaling, x)
    figure, axes = _grid(len(variables))
    for axis, variable in zip(axes, variables, strict=True):
        draw_profile(axis, rewards, scaling, x, variable)
    _same_height(axes)
    _name_bar(axes[0])
    draw_ends(axes, variables, pool)
    return figure


@one_thread
def plot_learner(
    belief: Distribution,
    scaling: Scaling,
    x: Array,
    compared: Array,
    best: Indices,
    labels: Sequence[str],
    pool: Pool | None = None,
) -> Any:
    """The best trajectories with error bars, and the profiles with marks at the compared trajectories."""
    rewards = StandardizedRewards(belief, reference_of(x))
    variables = leading_variables(rewards, scaling, x)
    figure, axes = _grid(1 + len(variables))
    draw_best(axes[0], *rewards(x[best]), [shortened(label) for label in labels])
    draw_bar(axes[0].axvline, rewards)
    _name_bar(axes[0])
    for axis, variable in zip(axes[1:], variables, strict=True):
        draw_profile(axis, rewards, scaling, x, variable)
        marks = variable.values(scaling.inverse(compared))
        bottom = axis.get_xaxis_transform()  # of which the second coordinate is 0 at the bottom
        axis.plot(marks, np.zeros(len(marks)), "|", color=ACCENT, markersize=9, transform=bottom)
    _same_height(axes[1:])
    draw_ends(axes[1:], variables, pool)
    return figure


def plot_profiles(names: Sequence[str], profiles: Sequence[tuple[Array, Array, Array]], label: str) -> Any:
    """Values, means and standard deviations along each name, as a matplotlib figure with one scale."""
    figure, axes = _grid(len(names))
    for axis, name, (values, mean, std) in zip(axes, names, profiles, strict=True):
        draw_band(axis, values, mean, std)
        axis.axhline(0.0, color=GREY, linewidth=0.8, linestyle=":")
        axis.set(xlabel=textwrap.fill(name, LINE), ylabel=label)
    _same_height(axes)
    return figure


def draw_band(axis: Any, values: Array, mean: Array, std: Array) -> None:
    """A curve with one standard deviation to both sides."""
    axis.fill_between(values, mean - std, mean + std, color=COLOR, alpha=0.2, linewidth=0)
    axis.plot(values, mean, color=COLOR, linewidth=2)


def leading_variables(rewards: StandardizedRewards, scaling: Scaling, x: Array) -> list[Variable]:
    """The variables along which the mean reward varies most, in their order."""
    variables = scaling.variables
    if not variables:
        raise ValueError(
            "the features of steps mean nothing alone: prefero.StepReward.of(reward).plot() draws the reward "
            "along states and actions"
        )
    stds = [float(np.std(rewards(_points(x, variable, scaling))[0])) for variable in variables]
    chosen = np.sort(largest_first(np.array(stds), MOST_PROFILES))
    return [variables[place] for place in chosen.tolist()]


def draw_profile(
    axis: Any, rewards: StandardizedRewards, scaling: Scaling, x: Array, variable: Variable
) -> None:
    """The reward along one variable in its own units, with its uncertainty; of a category, at its levels."""
    points = _points(x, variable, scaling)
    mean, std = rewards(points)
    values = variable.values(scaling.inverse(points))
    if variable.categories is not None:
        axis.errorbar(values, mean, yerr=std, fmt="o", color=COLOR, elinewidth=1.2, capsize=2)
        axis.set_xticks(values, labels=[shortened(level, 12) for level in variable.categories.levels])
        axis.set_xlim(-0.5, len(values) - 0.5)
    else:
        draw_band(axis, values, mean, std)
    axis.axhline(0.0, color=GREY, linewidth=0.8, linestyle=":")
    draw_bar(axis.axhline, rewards)
    axis.set(xlabel=textwrap.fill(variable.name, LINE), ylabel=LABEL)


def draw_ends(axes: Sequence[Any], variables: Sequence[Variable], pool: Pool | None) -> None:
    """Below components of embeddings, the trajectories at both ends: names, and frames if there are any."""
    if pool is None:
        return
    ends = component_ends(pool.names, pool.features, pool.ids)
    for axis, variable in zip(axes, variables, strict=True):
        if (one := ends.get(variable.name)) is not None:
            for left, index, label in ((0.0, one.low, one.low_id), (1 - THUMBNAIL, one.high, one.high_id)):
                _draw_end(axis.inset_axes((left, -0.9, THUMBNAIL, 0.5)), pool, index, label)


def _draw_end(axis: Any, pool: Pool, index: int, label: str) -> None:
    frame = None if pool.clips is None else middle_frame(Path(pool.clips[index]))
    if frame is not None:
        axis.imshow(frame)
    axis.set_title(shortened(label, 22), fontsize=8, color=GREY)
    axis.set(xticks=[], yticks=[])
    axis.spines[:].set_visible(False)


def middle_frame(clip: Path) -> Image | None:
    """The frame in the middle of a clip; None if it is not there yet, or nothing here reads it."""
    if find_spec("av") is None or not clip.is_file():
        return None
    try:
        frames = list(read_frames(clip))
    except VideoError:
        return None
    return frames[len(frames) // 2] if frames else None


def draw_bar(line: Any, rewards: StandardizedRewards) -> None:
    """What is just acceptable, as a line of an axis, if answers said what is."""
    if has_bar(rewards.belief):
        mean, _ = rewards(bar_features(rewards.belief.n_features))
        line(mean[0], color=ACCENT, linewidth=1.2, linestyle="--", label=ACCEPTABLE)


def draw_best(axis: Any, mean: Array, std: Array, labels: Sequence[str]) -> None:
    """Rewards of a few trajectories, the best at the top, with error bars."""
    places = np.arange(len(mean))[::-1]
    axis.errorbar(mean, places, xerr=std, fmt="o", color=COLOR, ecolor=COLOR, elinewidth=1.2, capsize=2)
    axis.set_yticks(places, labels=list(labels))
    axis.axvline(0.0, color=GREY, linewidth=0.8, linestyle=":")
    axis.set(xlabel=LABEL, title="the best trajectories")


def _points(x: Array, variable: Variable, scaling: Scaling) -> Array:
    """Points that differ in one variable only, (VALUES, d), or a category's levels."""
    if variable.categories is not None:
        return level_points(x.mean(axis=0), variable, scaling)
    feature = variable.features[0]
    points = np.tile(x.mean(axis=0), (VALUES, 1))
    points[:, feature] = np.linspace(x[:, feature].min(), x[:, feature].max(), VALUES)
    return points


def _name_bar(axis: Any) -> None:
    """A legend that says what the line of the bar is, where there is one."""
    if any(line.get_label() == ACCEPTABLE for line in axis.lines):
        axis.legend(frameon=False, fontsize=8)


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


def plot_agreement(agreement: Array, names: Sequence[str]) -> Any:
    """A matrix of people, those alike side by side, as a matplotlib figure."""
    figures = need("matplotlib.figure", extra="plots")
    order = alike_order(agreement)
    labels = shortened_apart([names[place] for place in order])
    if len(names) > MOST_NAMES:
        labels = []
    cells = min(max(0.32 * len(names), LEAST_CELLS), 8.0)
    beside = 0.5 + LETTER * max(map(len, labels), default=0)
    figure = figures.Figure(figsize=(cells + beside + 1.2, cells + beside), layout="constrained")
    axis = figure.subplots()
    image = axis.imshow(agreement[np.ix_(order, order)], vmin=0.0, vmax=1.0, cmap="BrBG")
    if labels:
        axis.set_xticks(range(len(names)), labels, rotation=90, fontsize=8)
        axis.set_yticks(range(len(names)), labels, fontsize=8)
    else:
        axis.set(xlabel=f"{len(names)} people", ylabel="the same people")
    bar = figure.colorbar(image, ax=axis, shrink=0.8)
    bar.set_label("fraction of pairs on which\nthey probably agree")
    bar.ax.axhline(0.5, color="black", linewidth=1)
    return figure


def alike_order(agreement: Array) -> Indices:
    """People in an order in which those who agree are side by side (hierarchical clustering)."""
    if len(agreement) < 3:
        return np.arange(len(agreement))
    from scipy.cluster.hierarchy import leaves_list, linkage  # takes a while to import

    upper = 1.0 - agreement[np.triu_indices(len(agreement), 1)]
    order: Indices = leaves_list(linkage(upper, "average", optimal_ordering=len(agreement) <= MOST_NAMES))
    return order.astype(np.intp)
