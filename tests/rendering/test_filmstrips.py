"""Filmstrips, and drawings where matplotlib is missing or not wanted."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread

from prefero._support.arrays import Array
from prefero._support.optional import MissingExtra
from prefero.rendering.canvas import canvas_for, save_filmstrip
from prefero.rendering.scenes import (
    Scene,
)
from rendering.colored_scenes import (
    RED,
    ROAD,
    SKY,
    at,
    where,
)


def drive(times: int) -> Array:
    return np.column_stack([np.linspace(0.5, 3.5, times), np.full(times, 1.5), np.zeros(times)])[:, None]


def flight(times: int) -> Array:
    return np.stack([at(0, 0, height) for height in np.linspace(0, 0.5, times)])[:, None]


@pytest.mark.parametrize(("scene", "poses"), [(ROAD, drive(21)), (SKY, flight(21))], ids=["2-D", "3-D"])
def test_a_filmstrip_has_as_many_panels_as_asked_for(tmp_path: Path, scene: Scene, poses: Array) -> None:
    save_filmstrip(tmp_path / "filmstrip.png", scene, poses, frames=5)
    image = imread(tmp_path / "filmstrip.png")[..., :3]
    white = (image[len(image) // 4] > 0.99).all(axis=1)
    assert (np.diff(white.astype(int)) == -1).sum() == 5
    assert [file.name for file in tmp_path.iterdir()] == ["filmstrip.png"]


def test_the_car_advances_from_panel_to_panel(tmp_path: Path) -> None:
    save_filmstrip(tmp_path / "filmstrip.png", ROAD, drive(11), frames=3)
    red = where((255 * imread(tmp_path / "filmstrip.png")[..., :3]).astype(np.uint8), RED)
    starts = np.flatnonzero(np.diff(red.any(axis=0).astype(int)) == 1)
    panel = red.shape[1] / 3
    np.testing.assert_allclose(starts / panel, [0.2 / 4, 1 + 1.7 / 4, 2 + 3.2 / 4], atol=0.03)


@pytest.mark.parametrize(("times", "frames", "shown"), [
    (21, 6, ["0.0 s", "0.4 s", "0.8 s", "1.2 s", "1.6 s", "2.0 s"]),
    (21, 1, ["0.0 s"]),
    (3, 6, ["0.0 s", "0.1 s", "0.2 s"]),
])  # fmt: skip
def test_every_panel_has_its_time(tmp_path: Path, times: int, frames: int, shown: list[str]) -> None:
    save_filmstrip(tmp_path / "filmstrip.svg", ROAD, drive(times), frames=frames)
    assert re.findall("<!-- (.*?) -->", (tmp_path / "filmstrip.svg").read_text(encoding="utf-8")) == shown


@pytest.mark.parametrize(("scene", "poses", "images"), [(ROAD, drive(5), False), (SKY, flight(5), True)])
def test_2d_scenes_stay_shapes_in_vector_files(
    tmp_path: Path, scene: Scene, poses: Array, images: bool
) -> None:
    for kind in ("pdf", "svg"):
        save_filmstrip(tmp_path / f"filmstrip.{kind}", scene, poses, frames=3)
    pdf, svg = (
        (tmp_path / "filmstrip.pdf").read_bytes(),
        (tmp_path / "filmstrip.svg").read_text(encoding="utf-8"),
    )
    assert pdf.startswith(b"%PDF-")
    assert (b"/Subtype /Image" in pdf) == images
    assert ("<image" in svg) == images
    assert len(re.findall(r'id="axes_\d+"', svg)) == 3


@pytest.mark.parametrize(("name", "frames"), [("filmstrip.jpg", 6), ("filmstrip", 6), ("filmstrip.png", 0)])
def test_a_filmstrip_that_cannot_be_is_refused(tmp_path: Path, name: str, frames: int) -> None:
    with pytest.raises(ValueError, match=re.escape(".png, .pdf, .svg")):
        save_filmstrip(tmp_path / name, ROAD, drive(5), frames=frames)
    assert list(tmp_path.iterdir()) == []


def test_the_suffix_may_be_in_capitals(tmp_path: Path) -> None:
    save_filmstrip(tmp_path / "FILMSTRIP.PDF", ROAD, drive(2))
    assert (tmp_path / "FILMSTRIP.PDF").read_bytes().startswith(b"%PDF-")


def test_a_filmstrip_of_another_scene_leaves_the_old_file(tmp_path: Path) -> None:
    (tmp_path / "filmstrip.png").write_text("old", encoding="utf-8")
    with pytest.raises(ValueError, match="moving parts"):
        save_filmstrip(tmp_path / "filmstrip.png", ROAD, flight(5))
    assert (tmp_path / "filmstrip.png").read_text(encoding="utf-8") == "old"


@pytest.mark.parametrize(("scene", "module"), [(ROAD, "figure"), (SKY, "figure")], ids=["2-D", "3-D"])
def test_without_matplotlib_the_error_says_what_to_install(
    scene: Scene, module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, f"matplotlib.{module}", None)
    with pytest.raises(MissingExtra, match=r"pip install .*\[plots\]"):
        canvas_for(scene)


def test_matplotlib_is_imported_for_drawing_only_and_pyplot_never() -> None:
    code = (
        "import sys, numpy as np, prefero.rendering.canvas as d, prefero.rendering.video;"
        "from prefero.rendering.scenes import *;"
        "assert not {'matplotlib', 'av'} & set(sys.modules);"
        "d.canvas_for(Scene((), Window(0, 1, 0, 1), 0.1)).render(np.empty((0, 3)));"
        "assert 'matplotlib' in sys.modules and 'matplotlib.pyplot' not in sys.modules"
    )
    assert subprocess.run([sys.executable, "-W", "error", "-c", code], check=False).returncode == 0
