"""Pictures of trajectories: drawings of flat scenes, and JPEGs of solid ones and of clips."""

import base64
import io
import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

from prefero import Pool
from prefero.pools.pictures import picture
from prefero.rendering.video import save_video


def decoded(element: str) -> np.ndarray:
    data = re.search(r"base64,([^\"]+)", element)
    assert data
    image: np.ndarray = np.asarray(Image.open(io.BytesIO(base64.b64decode(data[1]))))
    return image


def test_a_flat_scene_is_a_drawing_with_its_parts_where_the_motion_ends() -> None:
    pool = Pool.simulate("driver", 4)
    drawing = ElementTree.fromstring(picture(pool, 2))
    scene = pool.world().scene
    x, y, angle = pool.trajectory(2).poses[-1, scene.index(str(scene.main_part))].tolist()
    moved = [one.get("transform", "") for one in drawing.iter() if "translate" in one.get("transform", "")]
    assert f"translate({x:.4g} {y:.4g}) rotate({np.degrees(angle):.4g})" in moved
    left, top, width, height = map(float, drawing.get("viewBox", "").split())
    assert left <= x <= left + width
    assert top <= -y <= top + height


def test_a_solid_scene_is_a_picture() -> None:
    image = decoded(picture(Pool.simulate("golf", 4, sampling="grid"), 1))
    assert image.shape == (200, 300, 3)
    assert np.std(image) > 10


def test_a_clip_is_shown_by_the_frame_in_its_middle_and_a_damaged_one_by_nothing(tmp_path: Path) -> None:
    frames = [np.full((64, 96, 3), 20 * n, dtype=np.uint8) for n in range(9)]
    clip, other = tmp_path / "clip.mp4", tmp_path / "other.mp4"
    for path in (clip, other):
        save_video(path, frames, 10)
    pool = Pool(np.eye(2), clips=[clip, other])
    assert np.mean(decoded(picture(pool, 0, clip))) == pytest.approx(80, abs=8)
    clip.write_bytes(b"no video")
    assert picture(pool, 0, clip) == ""
    assert picture(Pool(np.eye(3)), 0) == ""
