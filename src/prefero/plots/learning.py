"""Figures of learning, with matplotlib; saved to files, since there may be no screen."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from prefero._support.arrays import Array
from prefero.learner import Learner
from prefero.plots.style import new_figure, save_figure
from prefero.pools.pool import Pool
from prefero.questions import Answer
from prefero.simulation.tasks import Task

ACTIVE, RANDOM, GREY = "#0b6e99", "#d1662c", "#8a8a8a"


def save_learning(path: Path, curves: dict[str, list[float]], task: Task, learner: Learner) -> None:
    """Accuracy against questions; for two features also both rewards, and where the questions were asked."""
    flat = len(task.pool.names) == 2
    figure, axes = new_figure(3 if flat else 1)
    for (name, values), color in zip(curves.items(), (ACTIVE, RANDOM), strict=False):
        axes[0].plot(range(1, len(values) + 1), values, color=color, label=name, linewidth=2)
    axes[0].axhline(0.5, color=GREY, linewidth=1, linestyle=":")
    axes[0].set(xlabel="questions answered", ylabel="accuracy on new pairs", ylim=(0.45, 1.01))
    axes[0].xaxis.get_major_locator().set_params(integer=True)
    axes[0].set_title(f"learning a {task.kind} reward")
    axes[0].legend(frameon=False, loc="lower right")
    axes[0].spines[["top", "right"]].set_visible(False)
    if flat:
        _reward_maps(axes[1:], task, learner)
    save_figure(figure, path)


def _reward_maps(axes: Any, task: Task, learner: Learner, size: int = 120) -> None:
    pool, reward = task.pool, learner.reward()
    low, high = pool.features.min(axis=0), pool.features.max(axis=0)
    low, high = low - 0.05 * (high - low), high + 0.05 * (high - low)
    across, up = np.meshgrid(np.linspace(low[0], high[0], size), np.linspace(low[1], high[1], size))
    grid = np.column_stack([across.ravel(), up.ravel()])
    truth, learned = task.user.reward(pool.scaling(grid)), reward(grid)
    for axis, title, values in (
        (axes[0], "the user's reward", truth),
        (axes[1], "the learned reward and the questions", learned),
    ):
        axis.contourf(across, up, _ranks(values).reshape(size, size), levels=20, cmap="viridis")
        axis.set(title=title, xlabel=pool.names[0], ylabel=pool.names[1])
    _draw_questions(axes[1], pool, learner.answers)
    _draw_best(axes[1], pool, reward.best(pool).index)


def _draw_questions(axis: Any, pool: Pool, answers: Sequence[Answer]) -> None:
    """A line from the preferred to the other trajectory, with a dot at the preferred one."""
    for left, right, choice in (pair for answer in answers for pair in answer.pairs):
        ends = pool.features[[left, right]]
        axis.plot(*ends.T, color="white", linewidth=0.8, alpha=0.7)
        if choice != "equal":
            axis.plot(*ends[int(choice == "right")], marker="o", color="white", markersize=3.5, alpha=0.9)


def _draw_best(axis: Any, pool: Pool, best: int) -> None:
    star = {"marker": "*", "color": "white", "markersize": 16, "markeredgecolor": "black"}
    axis.plot(*pool.features[best], clip_on=False, **star)


def _ranks(values: Array) -> Array:
    """Only the order of rewards can be learned from comparisons, so only the order is drawn."""
    return np.argsort(np.argsort(values, kind="stable"), kind="stable") / max(len(values) - 1, 1)
