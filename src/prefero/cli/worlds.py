"""`prefero worlds` and `prefero show`: the worlds, and clips of their trajectories."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
import typer
from rich.markup import escape
from rich.table import Table

import prefero
from prefero._support.files import cache_folder
from prefero.cli.console import check_figure, check_outputs, console, say
from prefero.pools.pool import Pool

if TYPE_CHECKING:
    from prefero.worlds.base import World

View = Literal["clip", "samples", "poisson", "targets"]


def worlds() -> None:
    """List the worlds with their actions and features, and whether they run on this machine.

    For example:

        prefero worlds
    """
    table = Table("world", "actions", "features", "lasts", "physics", title=None)
    for name in prefero.worlds.names():
        try:
            world = prefero.worlds.make(name)
        except ImportError as error:  # an extra is missing, or another package's world cannot be loaded
            table.add_row(name, "", "", "", f"[red]{escape(str(error))}")
            continue
        features = ", ".join(f"{f.name} ({f.unit})" if f.unit else f.name for f in world.features)
        table.add_row(
            name, _summary(world.action_space.names), features, f"{world.duration:g} s", world.physics
        )
    console.print(table)
    say(f"Simulated pools are cached in {cache_folder()}, which can be deleted.")


def _summary(names: tuple[str, ...]) -> str:
    return ", ".join(names) if len(names) < 4 else f"{len(names)}: {names[0]}, {names[1]}, ..."


def show(
    world: Annotated[str, typer.Argument(help="A world, by the name that `prefero worlds` lists.")],
    out: Annotated[
        Path,
        typer.Option(help="A video (.mp4), a filmstrip or figure (.png, .pdf, .svg), or a replay (.json)."),
    ],
    seed: Annotated[
        int, typer.Option(min=0, help="The seed of the random actions, or of the pool of a view.")
    ] = 0,
    actions: Annotated[
        str | None, typer.Option(help="The actions instead of random ones: numbers separated by commas.")
    ] = None,
    frames: Annotated[int, typer.Option(min=1, help="The number of images in a filmstrip.")] = 6,
    view: Annotated[
        View,
        typer.Option(
            help="One trajectory, or a figure of many: sample paths, a diverse set, golf's targets."
        ),
    ] = "clip",
) -> None:
    """Save a clip of a trajectory, or one of the paper's figures of a world.

    For example:

        prefero show driver --seed 3 --out driver.mp4
        prefero show golf --view targets --out targets.png
    """
    from prefero.worlds.clips import check_clip, save_clip

    check_clip(out) if view == "clip" else check_figure(out)
    made = prefero.worlds.make(world)
    check_outputs(out)
    if view != "clip":
        _show_view(view, made, seed, out)
    else:
        random = made.action_space.sample(1, np.random.default_rng(seed))[0]
        trajectory = made.rollout(random if actions is None else _numbers(actions))
        save_clip(out, made, trajectory, frames=frames)
        for feature, value in zip(made.features, trajectory.features, strict=True):
            console.print(f"{feature.name}: {value:.3g} {feature.unit}")
    console.print(f"It is in {out}.")


def _numbers(text: str) -> list[float]:
    try:
        return [float(word) for word in text.split(",")]
    except ValueError as error:
        raise ValueError(f"--actions are numbers separated by commas, but are {text!r}") from error


def _show_view(view: View, world: "World", seed: int, out: Path) -> None:
    from prefero.plots import worlds as world_plots
    from prefero.worlds.golf import Golf

    if view == "targets":
        if not isinstance(world, Golf):
            raise ValueError(f"only golf has targets, but the world is {world.name}: choose another --view")
        world_plots.save_targets(out, world)
    elif view == "samples":
        world_plots.check_samples(world)
        world_plots.save_samples(out, world, Pool.simulate(world, 1000, seed), seed=seed)
    else:
        world_plots.save_poisson(out, Pool.simulate(world, 1000, seed), seed=seed)
