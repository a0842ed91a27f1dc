"""Showing one trajectory: as a film, as a strip of pictures, or as a replay for the browser."""

import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from prefero._support.files import write_whole
from prefero.rendering.canvas import canvas_for, save_filmstrip
from prefero.rendering.video import save_video
from prefero.trajectories.trajectory import Trajectory
from prefero.worlds.base import Filmed, World
from prefero.worlds.mujoco.renderer import NoRenderer

RATE = 25.0  # frames a second
WIDTH, HEIGHT = 640, 480
STRIPS = (".png", ".pdf", ".svg")
CLIPS = (".mp4", *STRIPS, ".json")

Frame = npt.NDArray[np.uint8]


def check_clip(path: Path) -> None:
    """An error unless the path says what kind of file is wanted."""
    if path.suffix.lower() not in CLIPS:
        raise ValueError(f"a clip is one of {', '.join(CLIPS)}, but the path is {path}")


def save_clip(path: Path, world: World, trajectory: Trajectory, *, frames: int = 6) -> None:
    """A film (.mp4), a strip of `frames` pictures (.png, .pdf, .svg) or a replay (.json)."""
    check_clip(path)
    kind = path.suffix.lower()
    if not world.scene.parts and kind != ".mp4":
        raise ValueError(f"{world.name} has no drawing, only films: save an .mp4 instead of {path.name}")
    if kind == ".mp4":
        save_video(path, film(world, trajectory), _rate_of(world))
    elif kind == ".json":
        write_whole(path, json.dumps(replay(world, trajectory)))
    else:
        save_filmstrip(path, world.scene, trajectory.poses, frames=frames)


def film(world: World, trajectory: Trajectory) -> Iterator[Frame]:
    """Frames of a trajectory: the world's own where it has a renderer, drawn from its scene otherwise."""
    if isinstance(world, Filmed):
        try:
            yield from world.film(trajectory.actions, RATE, WIDTH, HEIGHT)
        except NoRenderer as error:
            warnings.warn(f"{error}; the film is drawn without, which is slower and plainer", stacklevel=2)
        else:
            return
    canvas = canvas_for(world.scene, WIDTH, HEIGHT)
    for pose in world.scene.resample(trajectory.poses.astype(float), RATE):
        yield canvas.render(pose)


def _rate_of(world: World) -> float:
    """Worlds without a drawing of ours are filmed at their own rate."""
    return RATE if world.scene.parts else 1 / world.time_step


def replay(world: World, trajectory: Trajectory) -> dict[str, Any]:
    """All that the browser needs to play a trajectory."""
    return {
        "world": world.name,
        "features": dict(zip(world.feature_names, trajectory.features.tolist(), strict=True)),
        "scene": world.scene.to_json(),
        "replay": world.scene.replay(trajectory.poses),
    }
