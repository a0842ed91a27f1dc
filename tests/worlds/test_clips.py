"""Clips: videos that can be played, filmstrips that show the trajectory, replays with all of its poses."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import av
import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from matplotlib.image import imread

from prefero._support.arrays import Array
from prefero.trajectories.trajectory import Trajectory
from prefero.worlds import World, from_gymnasium, make
from prefero.worlds.clips import HOLD, check_clip, render_video, replay, save_clip
from prefero.worlds.golf import Golf

WORLDS_2D = ["driver", "tosser"]


class Lamp(gymnasium.Env[Any, Any]):
    """A lamp whose brightness is what it is told; it renders itself."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 8}  # noqa: RUF012
    action_space = spaces.Box(0.0, 1.0, (1,), dtype=np.float64)
    observation_space = spaces.Box(0.0, 1.0, (1,), dtype=np.float64)

    def __init__(self, render_mode: str | None = None) -> None:
        self.render_mode = render_mode

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        self.light = np.zeros(1)
        return self.light, {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.light = np.asarray(action)
        return self.light, 0.0, False, False, {}

    def render(self) -> Any:
        return np.full((32, 48, 3), round(255 * self.light[0]), dtype=np.uint8)


def lamp() -> World:
    return from_gymnasium(Lamp, lambda o, a: [o.mean(), a.max()], ["mean", "most"], max_steps=6, segments=3)


def random_trajectory(world: World, seed: int = 3) -> Trajectory:
    return world.rollout(world.action_space.sample(1, np.random.default_rng(seed))[0])


def image_in(path: Path) -> Array:
    return np.round(255 * np.asarray(imread(path))[..., :3])


def count_colors(image: Any) -> int:
    return len(np.unique(image.astype(int) @ [65536, 256, 1]))


# --- kinds of files ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["a.mp4", "a.png", "a.pdf", "a.svg", "a.json", "b.PNG", "b.Mp4"])
def test_these_are_clips(name: str) -> None:
    check_clip(Path(name))


@pytest.mark.parametrize("name", ["a.gif", "a", "a.mp4.txt", "png", ".png"])
def test_other_files_are_refused_and_not_written(name: str, tmp_path: Path) -> None:
    driver = make("driver")
    with pytest.raises(ValueError, match=r"\.mp4, \.png, \.pdf, \.svg, \.json"):
        save_clip(tmp_path / name, driver, random_trajectory(driver))
    assert list(tmp_path.iterdir()) == []


# --- filmstrips -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*WORLDS_2D, "golf"])
def test_a_filmstrip_shows_the_trajectory(name: str, tmp_path: Path) -> None:
    world = make(name)
    save_clip(tmp_path / "filmstrip.png", world, random_trajectory(world), frames=3)
    image = image_in(tmp_path / "filmstrip.png")
    assert image.shape[1] > 1.5 * image.shape[0]
    assert count_colors(image) > 20


def test_a_filmstrip_has_as_many_images_as_asked_for(tmp_path: Path) -> None:
    driver = make("driver")
    widths = []
    for frames in (1, 2, 4):
        save_clip(tmp_path / "filmstrip.png", driver, random_trajectory(driver), frames=frames)
        widths.append(image_in(tmp_path / "filmstrip.png").shape[1])
    assert widths[2] - widths[1] == pytest.approx(2 * (widths[1] - widths[0]), abs=3)


@pytest.mark.parametrize(
    ("suffix", "start"), [(".png", b"\x89PNG"), (".pdf", b"%PDF"), (".svg", b"<?xml"), (".PNG", b"\x89PNG")]
)
def test_the_suffix_decides_the_format_of_a_filmstrip(suffix: str, start: bytes, tmp_path: Path) -> None:
    driver = make("driver")
    path = tmp_path / f"filmstrip{suffix}"
    save_clip(path, driver, random_trajectory(driver), frames=2)
    assert path.read_bytes().startswith(start)


def test_other_trajectories_give_other_filmstrips(tmp_path: Path) -> None:
    driver = make("driver")
    for seed in (1, 2):
        save_clip(tmp_path / f"{seed}.png", driver, random_trajectory(driver, seed), frames=2)
    assert (tmp_path / "1.png").read_bytes() != (tmp_path / "2.png").read_bytes()


def test_a_world_without_a_scene_is_saved_as_video_only(tmp_path: Path) -> None:
    world = lamp()
    with pytest.raises(ValueError, match=r"\.mp4"):
        save_clip(tmp_path / "filmstrip.png", world, random_trajectory(world))


# --- videos -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "seconds"), [("driver", 5.0), ("tosser", 2.0)])
def test_a_video_has_25_frames_per_second_and_moves(name: str, seconds: float) -> None:
    world = make(name)
    frames = list(render_video(world, random_trajectory(world)))
    assert len(frames) == round(25 * seconds) + 1 + round(25 * HOLD)
    assert all(np.array_equal(frame, frames[-1]) for frame in frames[-round(25 * HOLD) :])
    assert {(frame.shape, str(frame.dtype)) for frame in frames} == {((480, 720, 3), "uint8")}
    assert not np.array_equal(frames[0], frames[len(frames) // 2])


def test_a_video_is_played_at_its_frame_rate(tmp_path: Path) -> None:
    world = make("tosser")
    save_clip(tmp_path / "video.mp4", world, random_trajectory(world))
    with av.open(tmp_path / "video.mp4") as container:
        stream = container.streams.video[0]
        assert (stream.width, stream.height, stream.frames) == (720, 480, 51 + round(25 * HOLD))
        assert stream.average_rate == 25


def test_a_gymnasium_world_is_rendered_by_its_environment_at_its_own_rate(tmp_path: Path) -> None:
    world = lamp()
    save_clip(tmp_path / "video.mp4", world, world.rollout([0.2, 0.5, 1.0]))
    with av.open(tmp_path / "video.mp4") as container:
        stream = container.streams.video[0]
        assert (stream.width, stream.height) == (48, 32)
        assert stream.average_rate == 8
        light = [frame.to_ndarray(format="rgb24").mean() for frame in container.decode(stream)]
    np.testing.assert_allclose(light, [0, 51, 51, 128, 128, 255, 255, *[255] * round(8 * HOLD)], atol=6)


def test_golf_is_drawn_from_its_scene(golf: Golf) -> None:
    frames = render_video(golf, random_trajectory(golf))
    first, *later = [next(frames) for _ in range(9)]
    assert first.shape == (480, 720, 3)
    assert count_colors(first) > 100
    assert not np.array_equal(first, later[-1])


def test_a_world_that_renders_its_own_video_is_asked_for_it(
    golf: Golf, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []

    def rendered(*arguments: Any) -> Iterator[Array]:
        asked.append(arguments)
        return iter([np.zeros((2, 2, 3))] * 4)

    monkeypatch.setattr(golf, "render_video", rendered, raising=False)
    shot = random_trajectory(golf)
    assert len(list(render_video(golf, shot))) == 4 + round(25 * HOLD)
    (actions, rate, width, height) = asked[0]
    np.testing.assert_array_equal(actions, shot.actions)
    assert (rate, width, height) == (25.0, 720, 480)


# --- replays ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*WORLDS_2D, "golf"])
def test_a_replay_has_all_that_a_browser_needs(name: str, tmp_path: Path) -> None:
    world = make(name)
    shown = random_trajectory(world)
    save_clip(tmp_path / "clip.json", world, shown)
    found = json.loads(
        (tmp_path / "clip.json").read_text(encoding="utf-8"), parse_constant=lambda word: pytest.fail(word)
    )
    assert set(found) == {"world", "features", "scene", "replay"}
    assert found["world"] == name
    assert found["features"] == dict(zip(world.feature_names, shown.features.tolist(), strict=True))
    assert found["scene"] == json.loads(json.dumps(world.scene.to_json()))
    np.testing.assert_allclose(found["replay"]["poses"], shown.poses, atol=1e-4)
    assert found["replay"]["frame_time"] == world.scene.frame_time


def test_a_replay_of_a_world_without_a_scene_has_its_features() -> None:
    world = lamp()
    found = replay(world, world.rollout([0.0, 0.5, 1.0]))
    assert found["features"]["most"] == 1.0
    assert found["scene"]["parts"] == []
    json.dumps(found, allow_nan=False)
