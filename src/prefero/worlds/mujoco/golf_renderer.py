"""`python -m prefero.worlds.mujoco.golf_renderer SPEED ANGLE FPS WIDTH HEIGHT`: frames of a shot, as bytes.

The shot is simulated again, which gives the same shot to the last bit, and rendered with MuJoCo. Green and
targets are added to a second model, so that the simulated model is unchanged. The ball leaves a trail, and a
ring marks where it stops.
"""

import sys
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from prefero.worlds.golf import CAMERA, COURSE, GREEN, ROUGH, STEPS, TARGET_RADIUS, TARGETS, Golf
from prefero.worlds.mujoco import fetch
from prefero.worlds.mujoco.rollout import engine, rollout

BALL_SIZE = 1.6  # the ball is drawn this much larger than it is, so that it is seen from the camera
LINE, LINE_RADIUS = "#f4f4f0", 0.008  # trail and ring
TRAIL_POINTS = 12  # every line costs time, and the ball rolls almost straight
_turn = np.linspace(0, 2 * np.pi, 17)
RING = 0.1 * np.column_stack([np.cos(_turn), np.sin(_turn), np.zeros(17)])


def main() -> None:
    """Write every frame."""
    speed, angle, fps = (float(word) for word in sys.argv[1:4])
    width, height = (int(word) for word in sys.argv[4:6])
    for frame in frames(speed, angle, fps, width, height):
        sys.stdout.buffer.write(frame.tobytes())


def frames(speed: float, angle: float, fps: float, width: int, height: int) -> Iterator[Any]:
    """Frames of one shot."""
    mujoco, golf = engine(), Golf()
    model = fetch.build(lambda spec: _add_course(spec, width, height))
    data = mujoco.MjData(model)
    renderer = mujoco.Renderer(model, height, width)
    for flag in (mujoco.mjtRndFlag.mjRND_REFLECTION, mujoco.mjtRndFlag.mjRND_SHADOW):
        renderer.scene.flags[flag] = False  # ten times faster where there is no GPU
    actions = np.array([[speed, angle]])
    states = np.concatenate(
        [golf.start(actions), rollout(golf.model, golf.start(actions), golf.controls(actions))[0]]
    )
    steps = np.arange(0, STEPS + 1, 1 / (fps * fetch.TIME_STEP)).astype(int)
    joints = states[steps, 1 : 1 + model.nq]
    arrival = golf.scene.arrival(golf.poses(joints))
    for index, qpos in enumerate(joints):
        data.qpos[:] = qpos
        mujoco.mj_forward(model, data)
        renderer.update_scene(data, _camera(mujoco))
        past = np.unique(np.linspace(0, index, TRAIL_POINTS).astype(int))
        _add_line(renderer.scene, joints[past, -7:-4])
        if index >= arrival:
            _add_line(renderer.scene, qpos[-7:-4] + RING)
        yield renderer.render()
    renderer.close()


def _add_line(scene: Any, points: Any) -> None:
    """Draw a line through points (T, 3): the ball's trail, or the ring around it."""
    mujoco, kind = engine(), engine().mjtGeom.mjGEOM_CAPSULE
    color = np.array(_rgba(LINE), np.float32)
    for start, end in pairwise(points):
        geom = scene.geoms[scene.ngeom]
        mujoco.mjv_initGeom(geom, kind, np.zeros(3), np.zeros(3), np.eye(3).ravel(), color)
        mujoco.mjv_connector(geom, kind, LINE_RADIUS, start, end)
        scene.ngeom += 1


def _camera(mujoco: Any) -> Any:
    camera = mujoco.MjvCamera()
    forward = np.subtract(CAMERA.target, CAMERA.eye)
    camera.lookat, camera.distance = CAMERA.target, np.linalg.norm(forward)
    camera.azimuth = np.rad2deg(np.arctan2(forward[1], forward[0]))
    camera.elevation = np.rad2deg(np.arcsin(forward[2] / camera.distance))
    return camera


def _add_course(spec: Any, width: int, height: int) -> None:
    kinds, ground = engine().mjtGeom, spec.worldbody
    spec.visual.global_.offwidth, spec.visual.global_.offheight = width, height
    spec.visual.global_.fovy = CAMERA.fov
    spec.visual.headlight.ambient, spec.visual.headlight.diffuse = [0.45] * 3, [0.35] * 3
    spec.geom("ball").size = BALL_SIZE * np.array(spec.geom("ball").size)
    spec.geom("floor").rgba, spec.geom("floor").size = _rgba(ROUGH), [40, 40, 0.1]
    x0, x1, y0, y1 = COURSE
    ground.add_light(pos=[1.5, -1, 4], dir=[0.1, 0.3, -1], diffuse=[0.45] * 3, type=1)
    ground.add_geom(
        type=kinds.mjGEOM_BOX,
        pos=[(x0 + x1) / 2, (y0 + y1) / 2, 0],
        size=[(x1 - x0) / 2, (y1 - y0) / 2, 0.001],
        rgba=_rgba(GREEN),
        **fetch.NO_CONTACT,
    )
    for target in TARGETS:
        ground.add_geom(
            type=kinds.mjGEOM_CYLINDER,
            pos=[*target.position, 0],
            size=[TARGET_RADIUS, 0.002, 0],
            rgba=_rgba(target.color),
            **fetch.NO_CONTACT,
        )


def _rgba(color: str) -> list[float]:
    return [*(int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)), 1.0]


if __name__ == "__main__":
    main()
