"""Minari's datasets: images among the observations are shown, and damage of all kinds is named."""

import json
import shutil
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from gymnasium import spaces

from datasets.formats.minari.test_minari import BOX, buffer, made, slides, somewhere, states_at
from datasets.slide_environment import Slide
from datasets.write_datasets import colors_in, frame_color, solid_image, truncate
from prefero import Pool
from prefero._support.arrays import Array
from prefero.datasets import BadEpisode, FeatureOptions, MinariOptions, extract_features, open_dataset
from prefero.datasets.formats.minari.dataset import MinariDataset
from prefero.datasets.registry import open_spec

__all__ = ["slides", "somewhere"]  # fixtures

FORMATS = ["hdf5", "arrow", "parquet"]
EYE = spaces.Box(0, 255, (48, 64, 3), np.uint8)
LENGTHS = (6, 4)

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


@pytest.fixture(params=FORMATS)
def storage(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def views(episode: int, steps: int, camera: int = 0) -> np.ndarray:
    return np.stack([solid_image(frame_color(episode, t, camera)) for t in range(steps + 1)])


def watched(name: str, storage: str, lengths: tuple[int, ...] = LENGTHS) -> None:
    """An arm with two eyes: colors come last in one, and first in the other."""
    space = spaces.Dict(
        arm=BOX,
        eye=EYE,
        hand=spaces.Dict(eye=spaces.Box(0, 255, (3, 48, 64), np.uint8), open=spaces.Discrete(2)),
    )
    buffers = [
        buffer(
            episode,
            steps,
            observations={
                "arm": states_at(episode, steps),
                "eye": views(episode, steps),
                "hand": {
                    "eye": views(episode, steps, 1).transpose(0, 3, 1, 2),
                    "open": np.arange(steps + 1) % 2,
                },
            },
        )
        for episode, steps in enumerate(lengths)
    ]
    made(name, storage, buffers, observation_space=space)


# --- what is shown ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("camera", "number"), [(None, 0), ("hand.eye", 1)])
def test_images_among_the_observations_are_shown(
    storage: str, tmp_path: Path, camera: str | None, number: int
) -> None:
    watched("arm-v0", storage)
    dataset = open_dataset("arm-v0", MinariOptions(step_seconds=0.1, camera=camera))
    assert isinstance(dataset, MinariDataset)
    assert dataset.has_video
    assert dataset.episode(1).state_names == ("arm 1", "arm 2", "hand.open")
    for episode, steps in enumerate(LENGTHS):  # as many as steps: what was seen when each was decided
        colors = colors_in(dataset.cut_clip(episode, tmp_path / "clips"))
        np.testing.assert_allclose(colors, [frame_color(episode, t, number) for t in range(steps)], atol=8)
    part = colors_in(dataset.cut_clip(0, tmp_path / "clips", (2, 5)))
    np.testing.assert_allclose(part, [frame_color(0, t, number) for t in range(2, 5)], atol=8)
    assert dataset.spec is not None
    assert open_spec(dataset.spec).version == dataset.version


def test_all_cameras_are_shown_side_by_side_to_a_person_who_compares() -> None:
    watched("arm-v0", "hdf5")
    dataset = open_dataset("arm-v0", MinariOptions(step_seconds=0.1).for_comparing())
    images, _ = dataset.frames(0, None)
    seen = next(images)
    assert seen.shape == (48, 128, 3)
    np.testing.assert_allclose(seen[24, [32, 96]], [frame_color(0, 0), frame_color(0, 0, 1)], atol=8)


def test_a_pool_shows_them(tmp_path: Path) -> None:
    watched("arm-v0", "hdf5", (5, 7, 6))
    pool = Pool.from_minari(
        "arm-v0", FeatureOptions(["final(arm 1)"], jobs=1), camera="eye", clip_folder=tmp_path / "clips"
    )
    assert pool.clips is not None
    colors = colors_in(Path(pool.clips[2]))
    np.testing.assert_allclose(colors, [frame_color(2, t, 0) for t in range(6)], atol=8)


def test_one_may_do_without_them() -> None:
    watched("arm-v0", "hdf5")
    assert not open_dataset("arm-v0", MinariOptions(camera="none")).has_video
    with pytest.raises(ValueError, match=r"no camera 'nose'.* eye, hand\.eye"):
        MinariDataset("arm-v0", MinariOptions(camera="nose"))


def test_a_board_of_few_fields_is_no_image(tmp_path: Path) -> None:
    """As those of Minigrid are, 7 x 7: kinds of things, and no colors."""
    space = spaces.Dict(arm=BOX, board=spaces.Box(0, 255, (7, 7, 3), np.uint8))
    seen = {"arm": states_at(0, 3), "board": np.zeros((4, 7, 7, 3), dtype=np.uint8)}
    made("boards-v0", "hdf5", [buffer(0, 3, observations=seen)], observation_space=space)
    dataset = MinariDataset("boards-v0")
    assert not dataset.has_video
    with pytest.raises(ValueError, match="no videos"):
        dataset.cut_clip(0, tmp_path)


def test_images_alone_are_no_numbers(storage: str) -> None:
    made("eyes-v0", storage, [buffer(0, 3, observations=views(0, 3))], observation_space=EYE)
    with pytest.raises(ValueError, match="eyes-v0 observes no numbers"):
        open_dataset("eyes-v0")


# --- spaces -----------------------------------------------------------------------------------------------


def recorded(storage: str, name: str, seen: Any, space: spaces.Space[Any], **more: Any) -> tuple[Array, Any]:
    changes = {"observations": seen} | {key: more.pop(key) for key in ("actions",) if key in more}
    made(name, storage, [buffer(0, 3, **changes)], observation_space=space, **more)
    episode = MinariDataset(name).episode(0)
    return episode.states, episode


def test_whole_numbers_words_and_lists_are_understood(storage: str) -> None:
    kinds = np.array([3, 1, 4, 1])
    states, episode = recorded(
        storage,
        "kinds-v0",
        kinds,
        spaces.Discrete(5),
        actions={"push": np.arange(3.0)[:, None] / 9, "keys": (np.array([2, 0, 1]),)},
        action_space=spaces.Dict(
            push=spaces.Box(-1, 1, (1,), np.float64), keys=spaces.Tuple([spaces.Discrete(3)])
        ),
    )
    assert states.tolist() == [[3], [1], [4], [1]]
    actions = dict(zip(episode.action_names, episode.actions.T.tolist(), strict=True))
    assert actions == {"keys.1": [2, 0, 1], "push": pytest.approx([0, 1 / 9, 2 / 9])}
    several = np.arange(8).reshape(4, 2) % 3
    assert recorded(storage, "many-v0", several, spaces.MultiDiscrete([3, 3]))[0].tolist() == several.tolist()
    said = {"arm": states_at(0, 3), "said": ["left", "right", "left", "up"]}
    states, episode = recorded(storage, "said-v0", said, spaces.Dict(arm=BOX, said=spaces.Text(9)))
    assert episode.state_names == ("arm 1", "arm 2")


@pytest.mark.parametrize("name", ["walks-v0", "mine/walks-v0", "mine/arm/walks-v12"])
def test_names_may_have_several_parts(storage: str, name: str, tmp_path: Path) -> None:
    made(name, storage, [buffer(0, 5), buffer(1, 4)])
    by_id, by_folder = open_dataset(name), open_dataset(tmp_path / "minari" / name)
    assert (by_id.name, by_folder.name) == (name, name)
    assert by_id.version == by_folder.version
    assert open_dataset(f"minari:{name}").ids == ("0", "1")


def test_a_folder_is_found_again_from_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server that cuts a clip may run somewhere else."""
    watched("arm-v0", "hdf5")
    shutil.move(tmp_path / "minari" / "arm-v0", tmp_path / "mine")
    monkeypatch.chdir(tmp_path)
    spec = open_dataset("mine").spec
    assert spec is not None
    monkeypatch.chdir(tmp_path.parent)
    assert open_spec(spec).ids == ("0", "1")


# --- damage -----------------------------------------------------------------------------------------------


def shortened(data: Path, storage: str, episode: int, steps: int) -> None:
    """As if the rest of an episode was never written; its metadata still tell of it."""
    if storage == "hdf5":
        with h5py.File(data / "main_data.hdf5", "a") as file:
            group = file[f"episode_{episode}"]
            for key in ("observations", "actions", "rewards", "terminations", "truncations"):
                values = group[key][: steps + (key == "observations")]
                del group[key]
                group[key] = values
        return
    place = data / str(episode) / "metadata.json"
    about = json.loads(place.read_text(encoding="utf-8"))
    place.write_text(json.dumps(about | {"total_steps": about["total_steps"] + 5 - steps}), encoding="utf-8")


def test_an_episode_that_is_not_as_long_as_is_told_is_named(storage: str, tmp_path: Path) -> None:
    made("walks-v0", storage, [buffer(0, 5), buffer(1, 5), buffer(2, 5)])
    shortened(tmp_path / "minari" / "walks-v0" / "data", storage, 1, 3)
    dataset = MinariDataset("walks-v0")
    with pytest.raises(BadEpisode, match=r"^episode 1: .*\d steps, .* \d of it"):
        dataset.episode(1)
    assert extract_features(dataset, FeatureOptions(["mean"], skip_bad=True, jobs=1)).ids == ("0", "2")


def test_an_episode_without_steps_is_named(tmp_path: Path) -> None:
    made("walks-v0", "hdf5", [buffer(0, 5), buffer(1, 5), buffer(2, 5)])
    data = tmp_path / "minari" / "walks-v0" / "data"
    shortened(data, "hdf5", 1, 0)
    with h5py.File(data / "main_data.hdf5", "a") as file:
        file["episode_1"].attrs["total_steps"] = 0
    found = extract_features(MinariDataset("walks-v0"), FeatureOptions(["mean"], skip_bad=True, jobs=1))
    assert found.skipped == {"1": "it has no steps"}


@pytest.mark.parametrize("storage", ["arrow", "parquet"])
def test_a_file_that_is_cut_short_is_its_episodes_alone(storage: str, tmp_path: Path) -> None:
    made("walks-v0", storage, [buffer(e, 5) for e in range(3)])
    truncate(next((tmp_path / "minari" / "walks-v0" / "data" / "1").glob(f"*.{storage}")))
    dataset = MinariDataset("walks-v0")
    with pytest.raises(BadEpisode, match=r"^episode 1: .*cannot be read .*walks-v0"):
        dataset.episode(1)
    found = extract_features(dataset, FeatureOptions(["mean"], skip_bad=True, jobs=1))
    assert (found.ids, set(found.skipped)) == (("0", "2"), {"1"})


@pytest.mark.parametrize("share", [0.2, 0.6, 0.95])
def test_a_file_of_all_episodes_that_is_cut_short_is_no_crash(share: float, tmp_path: Path) -> None:
    watched("arm-v0", "hdf5", (9, 9, 9))
    truncate(tmp_path / "minari" / "arm-v0" / "data" / "main_data.hdf5", share)
    dataset = MinariDataset("arm-v0")
    assert all(isinstance(found, BadEpisode) for found in dataset.read(range(3)))
    with pytest.raises(BadEpisode, match=r"^episode 2: .*cannot be read"):
        dataset.cut_clip(2, tmp_path / "clips")
    assert list((tmp_path / "clips").iterdir()) == []


@pytest.mark.parametrize(("key", "value"), [("minari_version", "9.9.9"), ("observation_space", "{}")])
def test_a_dataset_of_another_version_is_not_opened(key: str, value: str, tmp_path: Path) -> None:
    made("walks-v0", "hdf5", [buffer(0, 5)])
    place = tmp_path / "minari" / "walks-v0" / "data" / "metadata.json"
    place.write_text(
        json.dumps(json.loads(place.read_text(encoding="utf-8")) | {key: value}), encoding="utf-8"
    )
    with pytest.raises(ValueError, match=r"walks-v0.data .*damaged Minari dataset"):
        MinariDataset("walks-v0")


# --- recovered environments -------------------------------------------------------------------------------


def broken(*_: Any, **__: Any) -> Any:
    raise ZeroDivisionError("the motor")


def test_what_cannot_be_recovered_is_refused_before_anybody_is_asked(
    slides: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made("walks-v0", "hdf5", [buffer(0, 5)])
    with pytest.raises(ValueError, match="environment of walks-v0 cannot be recovered"):
        MinariDataset("walks-v0", MinariOptions(render=True))
    monkeypatch.setattr(Slide, "__init__", broken)
    assert MinariDataset(slides, MinariOptions(trust=True)).step_seconds == 1.0
    with pytest.raises(ValueError, match=r"environment of slides-v0 cannot be recovered: .*the motor"):
        MinariDataset(slides, MinariOptions(render=True))


def test_what_cannot_be_rendered_is_refused_before_anybody_is_asked(
    slides: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Slide, "render", broken)
    with pytest.raises(ValueError, match=r"environment of slides-v0 cannot be rendered: the motor"):
        MinariDataset(slides, MinariOptions(render=True))


@pytest.mark.parametrize("seconds", [-1.0, 0.0, float("inf"), float("nan")])
def test_a_step_that_lasts_no_time_is_refused_at_once(seconds: float, slides: str) -> None:
    with pytest.raises(ValueError, match=r"positive .*step_seconds"):
        MinariDataset(slides, MinariOptions(step_seconds=seconds))


def test_an_environment_that_fails_is_named_with_the_episode(
    slides: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = MinariDataset(slides, MinariOptions(render=True))
    monkeypatch.setattr(Slide, "step", broken)
    with pytest.raises(BadEpisode, match=r"^episode 1: .*environment fails: .*the motor"):
        dataset.cut_clip(1, tmp_path / "clips")
    assert list((tmp_path / "clips").iterdir()) == []
