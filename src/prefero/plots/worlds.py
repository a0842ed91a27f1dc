"""Figures of worlds: sample trajectories, a diverse set of a pool, and golf's targets."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from prefero._support.arrays import Array
from prefero._support.optional import need
from prefero.plots.style import new_figure, save_figure
from prefero.pools.pool import Pool
from prefero.rendering.canvas_2d import draw_2d, draw_path
from prefero.trajectories.diversity import sample_diverse

if TYPE_CHECKING:
    from prefero.worlds.base import World
    from prefero.worlds.golf import Golf

PATH_COLORS = ("#d1662c", "#0b6e99", "#6b3fa0", "#2e8b57", "#b8860b")
ALL, DIVERSE, UNIFORM = "#b5b5b5", "#e07b1a", "#2c62c9"


def save_samples(path: Path, world: World, pool: Pool, *, count: int = 4, seed: int = 0) -> None:
    """Diverse trajectories of a 2-D world: the final scenes, and the paths of the main part."""
    part = check_samples(world)
    chosen = [pool.trajectory(int(i)).poses for i in sample_diverse(pool.scaled, count, seed=seed)]
    figure, axes = new_figure(1, width=6.4 if _is_wide(world) else 4.0, height=4.2)
    for poses, color in zip(chosen, PATH_COLORS * count, strict=False):
        draw_path(axes[0], world.scene, poses, part, color)
    draw_2d(axes[0], world.scene, chosen[0][-1])
    for poses in chosen[1:]:
        draw_2d(axes[0], world.scene, poses[-1], alpha=0.35)
    _fit(axes[0], np.concatenate([poses[:, world.scene.index(part), :2] for poses in chosen]), world)
    axes[0].set(title=f"{count} trajectories of {world.name}", xticks=[], yticks=[])
    save_figure(figure, path)


def check_samples(world: World) -> str:
    """The part of a world whose path is drawn, or an error if sample trajectories cannot be drawn."""
    scene = world.scene
    if scene.main_part is None or not scene.is_2d:
        raise ValueError(
            f"samples are drawn of 2-D worlds that have a main part, as driver and tosser, "
            f"but the world is {world.name}"
        )
    return scene.main_part


def _is_wide(world: World) -> bool:
    window: Any = world.scene.view
    return bool(window.right - window.left > window.top - window.bottom)


def _fit(axis: Any, positions: Array, world: World) -> None:
    """Set the limits to the window, widened so that every path is inside."""
    window: Any = world.scene.view
    low, high = positions.min(axis=0) - 0.15, positions.max(axis=0) + 0.15
    if window.follow is None:
        low, high = (
            np.minimum(low, [window.left, window.bottom]),
            np.maximum(high, [window.right, window.top]),
        )
    axis.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal")


def save_poisson(path: Path, pool: Pool, *, count: int = 20, seed: int = 0) -> None:
    """The first two features of a pool: all trajectories, a diverse subset, and a random subset."""
    if len(pool.names) < 2:
        raise ValueError(f"this figure needs two features, but the pool has only {pool.names[0]!r}")
    x, y = pool.features[:, 0], pool.features[:, 1]
    diverse = sample_diverse(pool.scaled, count, seed=seed)
    uniform = np.random.default_rng(seed).choice(len(pool), count, replace=False)
    figure, axes = new_figure(1, width=5.6, height=4.2)
    axes[0].scatter(x, y, s=7, color=ALL, label=f"all {len(pool)} trajectories")
    axes[0].scatter(
        x[uniform], y[uniform], s=34, color=UNIFORM, marker="^", label=f"{count} uniformly random"
    )
    axes[0].scatter(x[diverse], y[diverse], s=34, color=DIVERSE, label=f"{count} by Poisson disk")
    xlabel, ylabel = _labels(pool)[:2]
    axes[0].set(xlabel=xlabel, ylabel=ylabel)
    axes[0].legend(frameon=False)
    axes[0].spines[["top", "right"]].set_visible(False)
    save_figure(figure, path)


def _labels(pool: Pool) -> list[str]:
    """The names of the features, with the units that the pool's world gives them."""
    known = () if pool.source is None else pool.world().features
    units = {feature.name: feature.unit for feature in known}
    return [f"{name} ({unit})" if (unit := units.get(name)) else name for name in pool.names]


def save_targets(path: Path, golf: Golf) -> None:
    """Golf from above: the reachable area, the targets, and the maxima of linear rewards."""
    patches = need("matplotlib.patches", extra="plots")
    figure, axes = new_figure(1, width=6.4, height=5.4)
    axis = axes[0]
    axis.fill(
        *golf.predict_ball_positions(_boundary(golf)).T, color="#dbe9f4", label="where the ball can rest"
    )
    for target in golf.targets:
        axis.add_patch(patches.Circle(target.position, golf.target_radius, color=target.color))
        axis.annotate(target.name, target.position, xytext=(0, 12), textcoords="offset points", ha="center")
    corners = golf.predict_ball_positions(golf.action_space.grid(4))
    axis.plot(
        *corners.T, "x", color="#1f5fbf", markersize=11, markeredgewidth=2.5, label="highest linear rewards"
    )
    axis.plot(0, 0, "o", color="black", markersize=6, label="tee")
    axis.set(xlabel="meters ahead", ylabel="meters to the left", aspect="equal")
    axis.legend(frameon=False, loc="upper left")
    axis.spines[["top", "right"]].set_visible(False)
    save_figure(figure, path)


def _boundary(golf: Golf, steps: int = 30) -> Array:
    """Actions along the boundary of the action space."""
    (slow, right), (fast, left) = golf.action_space.low, golf.action_space.high
    speeds, angles = np.linspace(slow, fast, steps), np.linspace(right, left, steps)
    sides = [
        (speeds, np.full(steps, right)),
        (np.full(steps, fast), angles),
        (speeds[::-1], np.full(steps, left)),
        (np.full(steps, slow), angles[::-1]),
    ]
    return np.concatenate([np.column_stack(side) for side in sides])
