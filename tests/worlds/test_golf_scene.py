"""How golf is drawn: its parts where MuJoCo has them, and labels that cover nothing."""

import json

import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from prefero import Pool
from prefero._support.arrays import Array
from prefero.rendering.canvas_3d import Canvas3D
from prefero.rendering.labels import boxes_around, overlap
from prefero.rendering.scenes import Mesh
from prefero.worlds.golf import Golf, Target


@pytest.mark.parametrize("seed", range(4))
def test_moving_parts_are_drawn_where_mujoco_has_them(golf: Golf, seed: int) -> None:
    rng, data = np.random.default_rng(seed), mujoco.MjData(golf.model)
    turn = Rotation.random(random_state=seed).as_quat(scalar_first=True)
    data.qpos[:] = [*rng.uniform(-1.0, 1.0, 2), *rng.uniform(-1.0, 3.0, 3), *turn]
    mujoco.mj_forward(golf.model, data)
    poses = golf.poses(data.qpos.copy())
    assert [part.name for part in golf.scene.moving] == ["forearm", "putter", "ball"]
    for pose, body in zip(poses, ("robot0:forearm_roll_link", "robot0:wrist_flex_link", "ball"), strict=True):
        wanted = golf.model.body(body).id
        np.testing.assert_allclose(pose[:3], data.xpos[wanted], atol=1e-9)
        sign = np.sign(pose[3:] @ data.xquat[wanted])
        np.testing.assert_allclose(sign * pose[3:], data.xquat[wanted], atol=1e-9)


def test_the_part_of_the_putter_is_drawn_around_its_head(golf: Golf) -> None:
    """In the middle of a swing, the vertices of the head's mesh are the corners of MuJoCo's box."""
    data = mujoco.MjData(golf.model)
    data.qpos[:2] = [0.3, 0.2]
    mujoco.mj_forward(golf.model, data)
    head = golf.model.geom("head")
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    corners = data.geom_xpos[head.id] + (signs * head.size) @ data.geom_xmat[head.id].reshape(3, 3).T
    index = golf.scene.index("putter")
    pose = golf.poses(data.qpos.copy())[index]
    turn = Rotation.from_quat(pose[3:], scalar_first=True)
    boxes = [s for s in golf.scene.moving[index].shapes if isinstance(s, Mesh) and len(s.vertices) == 8]
    found = [np.sort(turn.apply(box.vertices) + pose[:3], axis=0) for box in boxes]
    assert sum(np.allclose(places, np.sort(corners, axis=0), atol=1e-9) for places in found) == 1


@pytest.mark.parametrize("width", [720, 360])
def test_every_target_has_its_label_and_none_covers_a_target_or_the_ball(
    golf: Golf, golf_pool: Pool, width: int
) -> None:
    for index in range(0, len(golf_pool), len(golf_pool) // 5):
        poses = golf_pool.trajectory(index).poses.astype(float)
        canvas = Canvas3D(golf.scene, width, 2 * width // 3, poses)
        boxes = [text.get_window_extent().extents for text in canvas.labels]
        assert {text.get_text() for text in canvas.labels} == {target.name for target in golf.targets}
        flipped = [
            [left, 2 * width // 3 - top, right, 2 * width // 3 - low] for left, low, right, top in boxes
        ]
        ball = boxes_around(canvas.rasterizer.pixels_of(poses[:, 2, :3]), 0.01 * width)
        targets = np.array([canvas.rasterizer.pixels_of(target_rim(target)) for target in golf.targets])
        seen = np.concatenate([ball, np.concatenate([targets.min(axis=1), targets.max(axis=1)], axis=1)])
        assert not any(overlap(np.array(box), seen).any() for box in flipped)


def target_rim(target: Target) -> Array:
    turn = np.linspace(0, 2 * np.pi, 33)
    ring = target.position + 0.14 * np.column_stack([np.cos(turn), np.sin(turn)])
    return np.column_stack([ring, np.zeros(33)])


def test_the_drawing_is_small_enough_for_the_browser(golf: Golf, golf_pool: Pool) -> None:
    assert len(json.dumps(golf.scene.to_json(), separators=(",", ":"))) < 500_000
    replay = golf.scene.replay(golf_pool.trajectory(0).poses)
    assert len(json.dumps(replay, separators=(",", ":"))) < 40_000
