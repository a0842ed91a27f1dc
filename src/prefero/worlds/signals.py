"""Signals of a trajectory in a scene: where each moving part is, and how fast the main one moves."""

import numpy as np

from prefero._support.arrays import Array
from prefero.rendering.scenes import Scene
from prefero.trajectories.signals import Signal

AXES = ("x", "y", "z")


def scene_signals(scene: Scene, poses: Array, unit: str) -> list[Signal]:
    """The signals of poses (T, P, 3 or 7), with lengths in this unit; without rotations in space."""
    times = scene.frame_time * np.arange(len(poses), dtype=float)
    found = []
    if scene.main_part is not None:
        path = poses[:, scene.index(scene.main_part), : 2 if scene.is_2d else 3]
        found.append(Signal(f"{scene.main_part} speed", unit and f"{unit}/s", times, _speed(path, times)))
    for part, moved in zip(scene.moving, np.moveaxis(poses, 1, 0), strict=True):
        axes = AXES[:2] if scene.is_2d else AXES
        found += [Signal(f"{part.name} {axis}", unit, times, moved[:, i]) for i, axis in enumerate(axes)]
        if scene.is_2d:
            found.append(Signal(f"{part.name} angle", "rad", times, moved[:, 2]))
    return found


def _speed(path: Array, times: Array) -> Array:
    """By central differences, (T, 2 or 3) -> (T,)."""
    if len(path) < 2:
        return np.zeros(len(path))
    speed: Array = np.linalg.norm(np.gradient(path.astype(float), times, axis=0), axis=1)
    return speed
