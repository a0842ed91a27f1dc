"""What judges see: sheets of frames of scenes and videos, and tables of features."""

import io
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image as Pillow

from datasets.write_datasets import frame_color, write_lerobot_3
from prefero import Pool, worlds
from prefero._support.arrays import Image
from prefero._support.optional import MissingExtra
from prefero.datasets import open_dataset
from prefero.judges.sheets import FRAMES, MOST_KEPT, TrajectoryViews, _spread
from prefero.rendering.video import save_video

RATE = 10.0


def gray(count: int) -> Iterator[Image]:
    """Images of which each is as bright as its place."""
    return (np.full((48, 64, 3), place % 256, dtype=np.uint8) for place in range(count))


@pytest.mark.parametrize("count", [1, 2, 7, 8, 9, 64, 65, 66, 129, 1000])
def test_frames_of_a_video_are_evenly_spaced_from_first_to_last(count: int) -> None:
    frames = _spread(gray(count), RATE, FRAMES)
    times = np.array([frame.seconds for frame in frames])
    assert len(frames) == min(count, FRAMES)
    assert (times[0], times[-1]) == (0.0, pytest.approx((count - 1) / RATE))
    if count >= FRAMES:
        wanted = np.linspace(0.0, times[-1], FRAMES)
        assert np.abs(times - wanted).max() <= max(0.5, 2.0 * count / MOST_KEPT) / RATE
    assert [int(frame.image[0, 0, 0]) for frame in frames] == [round(t * RATE) % 256 for t in times]
    assert _spread(gray(0), RATE, FRAMES) == []


def test_a_sheet_of_a_video_shows_its_frames_in_their_order(tmp_path: Path) -> None:
    for name in ("a", "b"):
        save_video(tmp_path / f"{name}.mp4", (np.tile(one // 2 * 30, (2, 2, 1)) for one in gray(16)), RATE)
    pool = Pool(np.arange(4.0).reshape(2, 2), clips=[tmp_path / "a.mp4", tmp_path / "b.mp4"])
    sheet = TrajectoryViews(pool).sheet(0)
    assert (sheet.kind, sheet.frames, sheet.seconds) == ("jpeg", FRAMES, 1.5)
    with Pillow.open(io.BytesIO(sheet.content)) as image:
        assert image.size == sheet.size
        pixels = np.asarray(image.convert("L"), dtype=float)
    height, width = pixels.shape
    middles = [
        pixels[round(height * y), round(width * x)] for y in (0.3, 0.8) for x in (0.13, 0.37, 0.62, 0.87)
    ]
    assert np.all(np.diff(middles) > 15.0)


def test_episodes_of_a_dataset_show_their_videos_which_are_cut_for_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PREFERO_CACHE", str(tmp_path / "cache"))
    dataset = open_dataset(write_lerobot_3(tmp_path / "picks", [12, 30]))
    pool = Pool.from_dataset(dataset, ["max"], clips="later")
    for episode in (0, 1):
        frames = TrajectoryViews(pool).frames(episode)
        assert len(frames) == FRAMES
        shown = [
            frame.image[:, : frame.image.shape[1] // 2].mean(axis=(0, 1)) for frame in (frames[0], frames[-1])
        ]
        last = (12, 30)[episode] - 1
        wanted = [frame_color(episode, place) for place in (0, last)]
        assert np.allclose(shown, wanted, atol=12)


@pytest.mark.parametrize("name", ["driver", "tosser"])
def test_scenes_are_drawn_with_the_paths_so_far(name: str) -> None:
    world = worlds.make(name)
    views = TrajectoryViews(Pool.simulate(world, 3, progress=False))
    frames = views.frames(1)
    assert [frame.seconds for frame in frames] == pytest.approx(
        np.linspace(0.0, world.duration, FRAMES), abs=0.06
    )
    sheet = views.sheet(1)
    assert (sheet.kind, sheet.frames) == ("png", FRAMES)
    assert views.sheet(1) is sheet  # a pair is shown in both orders
    assert f"the motion of {world.subject}" in views.explanation


def test_a_missing_package_is_named_with_the_line_to_type(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    views = TrajectoryViews(Pool.simulate(worlds.make("driver"), 3, progress=False))
    with pytest.raises(MissingExtra, match=r"'PIL'.*pip install.*\[datasets\]"):
        views.sheet(0)


def test_a_table_has_both_columns_and_what_is_usual() -> None:
    rng = np.random.default_rng(0)
    columns = {"speed": rng.normal(10.0, 2.0, 60), "surface": np.array(["sand", "grass", "ice"] * 20)}
    with pytest.warns(UserWarning, match="surface"):
        pool = Pool.from_table(columns)
    head, speed, surface = TrajectoryViews(pool).table(0, 4).splitlines()
    assert head == "feature: A | B | usual"
    numbers = [float(one) for one in speed.partition(": ")[2].replace(" to ", " | ").split(" | ")]
    wanted = [*columns["speed"][[0, 4]], *np.quantile(columns["speed"], [0.1, 0.9])]
    assert numbers == pytest.approx(wanted, abs=0.1)
    assert surface.startswith("surface: sand | grass | one of ")


def test_features_alone_have_no_frames() -> None:
    pool = Pool(np.random.default_rng(0).normal(size=(5, 2)))
    assert not TrajectoryViews(pool).has_images
    with pytest.raises(ValueError, match="nothing to see"):
        TrajectoryViews(pool).frames(0)
