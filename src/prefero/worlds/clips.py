"""Clips of one trajectory: a video, a filmstrip, or a replay for the browser."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from prefero._support.arrays import Image
from prefero._support.files import write_atomically
from prefero.rendering.canvas import IMAGE_SUFFIXES, render_poses, save_filmstrip
from prefero.rendering.video import save_video
from prefero.trajectories.trajectory import Trajectory
from prefero.worlds.base import RendersVideo, World

FPS = 25.0
WIDTH, HEIGHT = 720, 480
HOLD = 0.8  # seconds for which a video shows its last frame
CLIP_SUFFIXES = (".mp4", *IMAGE_SUFFIXES, ".json")


def check_clip(path: Path) -> None:
    """Raise an error unless the path's suffix is one that `save_clip` writes."""
    if path.suffix.lower() not in CLIP_SUFFIXES:
        raise ValueError(f"a clip is one of {', '.join(CLIP_SUFFIXES)}, but the path is {path}")


def save_clip(path: str | Path, world: World, trajectory: Trajectory, *, frames: int = 6) -> None:
    """Save a clip of a trajectory.

    Args:
        path: A video (.mp4), a filmstrip (.png, .pdf, .svg) or a replay for the browser (.json).
        world: The world.
        trajectory: One trajectory of it.
        frames: How many images a filmstrip has.
    """
    path = Path(path)
    check_clip(path)
    kind = path.suffix.lower()
    if not world.scene.parts and kind != ".mp4":
        raise ValueError(f"{world.name} has no scene to draw: save a video (.mp4) instead of {path.name}")
    if kind == ".mp4":
        save_video(path, render_video(world, trajectory), _fps_of(world))
    elif kind == ".json":
        write_atomically(path, json.dumps(replay(world, trajectory)))
    else:
        save_filmstrip(path, world.scene, trajectory.poses, frames=frames)


def render_video(world: World, trajectory: Trajectory) -> Iterator[Image]:
    """Frames of a trajectory: the world's own where it renders them, drawn from its scene otherwise.

    The last frame is held for a moment, since players repeat a video at once.
    """
    frame = None
    for frame in _moving_frames(world, trajectory):
        yield frame
    if frame is not None:
        yield from [frame] * round(HOLD * _fps_of(world))


def _moving_frames(world: World, trajectory: Trajectory) -> Iterator[Image]:
    if isinstance(world, RendersVideo):
        return world.render_video(trajectory.actions, FPS, WIDTH, HEIGHT)
    poses = world.scene.resample(trajectory.poses.astype(float), FPS)
    return render_poses(world.scene, poses, WIDTH, HEIGHT)


def _fps_of(world: World) -> float:
    """A world without a scene renders one frame per step."""
    return FPS if world.scene.parts else 1 / world.time_step


def replay(world: World, trajectory: Trajectory) -> dict[str, Any]:
    """All that the browser needs to play a trajectory.

    Args:
        world: The world.
        trajectory: One trajectory of it.

    Returns:
        What `save_clip` writes as JSON.
    """
    return {
        "world": world.name,
        "features": dict(zip(world.feature_names, trajectory.features.tolist(), strict=True)),
        "scene": world.scene.to_json(),
        "replay": world.scene.replay(trajectory.poses),
    }
