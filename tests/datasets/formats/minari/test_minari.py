"""Minari's datasets, made with Minari itself in both storages, and damaged."""

import shutil
from pathlib import Path
from typing import Any

import gymnasium
import minari
import numpy as np
import pytest
from gymnasium import spaces
from minari.data_collector import EpisodeBuffer

from datasets.slide_environment import Slide
from datasets.write_datasets import colors_in
from prefero.datasets import (
    BadEpisode,
    Episode,
    FeatureOptions,
    MinariOptions,
    extract_features,
    open_dataset,
)
from prefero.datasets.formats.minari.dataset import MinariDataset
from prefero.datasets.formats.observations import side_by_side

FORMATS = ["hdf5", "arrow"]
BOX, BUTTON = spaces.Box(-9, 9, (2,), np.float64), spaces.Box(-1, 1, (1,), np.float64)


@pytest.fixture(autouse=True)
def somewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where Minari keeps its datasets, in these tests."""
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "minari"))


def states_at(episode: int, steps: int) -> np.ndarray:
    return np.cumsum(np.random.default_rng(episode).uniform(-0.1, 0.1, (steps + 1, 2)), axis=0)


def buffer(episode: int, steps: int, **changes: Any) -> EpisodeBuffer:
    given: dict[str, Any] = {
        "observations": states_at(episode, steps),
        "actions": np.full((steps, 1), 0.1 * episode),
        "rewards": np.arange(steps, dtype=float),
        "terminations": np.zeros(steps, dtype=bool),
        "truncations": np.zeros(steps, dtype=bool),
        "infos": {},
    }
    return EpisodeBuffer(id=episode, **(given | changes))


def made(name: str, storage: str, buffers: list[EpisodeBuffer], **spaces_of: Any) -> Any:
    given = {"observation_space": BOX, "action_space": BUTTON} | spaces_of
    return minari.create_dataset_from_buffers(name, buffers, data_format=storage, **given)


@pytest.mark.filterwarnings("ignore::UserWarning")
class TestStorages:
    """The same of both storages."""

    @pytest.fixture(params=FORMATS)
    def storage(self, request: pytest.FixtureRequest) -> str:
        return str(request.param)

    def test_every_episode_is_read_as_it_was_written(self, storage: str) -> None:
        lengths = (7, 4, 9)
        made("mine/walks-v0", storage, [buffer(e, n) for e, n in enumerate(lengths)])
        dataset = open_dataset("mine/walks-v0", MinariOptions(step_seconds=0.05))
        assert isinstance(dataset, MinariDataset)
        assert (dataset.name, dataset.ids) == ("mine/walks-v0", ("0", "1", "2"))
        for number, steps in enumerate(lengths):
            episode = dataset.episode(number)
            np.testing.assert_allclose(episode.states, states_at(number, steps))
            np.testing.assert_allclose(episode.actions, np.full((steps, 1), 0.1 * number))
            assert episode.rewards is not None
            assert episode.rewards.tolist() == list(range(steps))
            assert episode.duration == pytest.approx(steps / 20)
        found = extract_features(dataset, FeatureOptions(["final", "return"], jobs=1))
        assert found.names == ("final state 1", "final state 2", "return")

    def test_a_folder_will_do_wherever_it_is(self, storage: str, tmp_path: Path) -> None:
        made("walks-v0", storage, [buffer(0, 5), buffer(1, 5)])
        folder = Path(shutil.move(tmp_path / "minari" / "walks-v0", tmp_path / "elsewhere"))
        for place in (folder, folder / "data"):
            assert open_dataset(place).ids == ("0", "1")

    def test_an_episode_that_is_gone_or_no_number_is_named_and_the_rest_used(
        self, storage: str, tmp_path: Path
    ) -> None:
        odd = np.where(np.arange(12).reshape(6, 2) == 7, np.nan, 1.0)
        made("walks-v0", storage, [buffer(0, 5), buffer(1, 5, observations=odd), buffer(2, 5), buffer(3, 5)])
        lose_episode(tmp_path / "minari" / "walks-v0" / "data", storage, 2)
        dataset = open_dataset("walks-v0")
        assert isinstance(dataset, MinariDataset)
        with pytest.raises(BadEpisode, match=r"^episode 1: .*not finite: nan at step 3, column 1"):
            dataset.episode(1)
        with pytest.raises(BadEpisode, match=r"^episode 2: .*cannot be read"):
            dataset.episode(2)
        found = extract_features(dataset, FeatureOptions(["mean"], skip_bad=True, jobs=1))
        assert (found.ids, set(found.skipped)) == (("0", "3"), {"1", "2"})

    def test_dictionaries_and_tuples_are_put_side_by_side_and_images_left_out(self, storage: str) -> None:
        space = spaces.Dict(
            arm=BOX, eye=spaces.Box(0, 255, (8, 8, 3), np.uint8), hand=spaces.Tuple([spaces.Discrete(4)])
        )
        seen = {
            "arm": states_at(0, 3),
            "eye": np.zeros((4, 8, 8, 3), dtype=np.uint8),
            "hand": (np.array([0, 1, 2, 3]),),
        }
        made("hands-v0", storage, [buffer(0, 3, observations=seen)], observation_space=space)
        episode = MinariDataset("hands-v0").episode(0)
        assert episode.state_names == ("arm 1", "arm 2", "hand.1")
        np.testing.assert_array_equal(episode.states[:, 2], [0, 1, 2, 3])


def lose_episode(data: Path, storage: str, episode: int) -> None:
    if storage == "arrow":
        shutil.rmtree(data / str(episode))
        return
    import h5py

    with h5py.File(data / "main_data.hdf5", "a") as file:
        del file[f"episode_{episode}"]


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_truncated_file_is_named(tmp_path: Path) -> None:
    made("walks-v0", "hdf5", [buffer(e, 5) for e in range(3)])
    path = tmp_path / "minari" / "walks-v0" / "data" / "main_data.hdf5"
    path.write_bytes(path.read_bytes()[:2000])
    with pytest.raises(BadEpisode, match=r"^episode 0: .*cannot be read"):
        extract_features(MinariDataset("walks-v0"), FeatureOptions(["mean"], jobs=1))
    (path.parent / "metadata.json").write_text('{"data_format": "hdf5"}', encoding="utf-8")
    with pytest.raises(ValueError, match="damaged Minari dataset"):
        MinariDataset("walks-v0")


def test_what_is_not_there_is_not_downloaded() -> None:
    with pytest.raises(ValueError, match=r"Minari dataset .*minari download ID"):
        MinariDataset("D4RL/door/human-v2")


def test_names_say_where_a_number_comes_from() -> None:
    values, names = side_by_side({"a": np.zeros((5, 2, 2)), "b": (np.ones(5), np.ones((5, 1)))}, "state")
    assert values.shape == (5, 6)
    assert names == ("a 1", "a 2", "a 3", "a 4", "b.1", "b.2")
    assert side_by_side(np.zeros((5, 1)), "state")[1] == ("state 1",)


# --- videos -----------------------------------------------------------------------------------------------


@pytest.fixture
def slides() -> str:
    """Two episodes of Slide, recorded by hand."""
    name = "Slide-v0"
    gymnasium.registry.pop(name, None)
    gymnasium.register(name, "datasets.slide_environment:Slide", max_episode_steps=50)
    buffers, env = [], Slide()
    for episode in range(2):
        actions = np.full((6, 1), 0.5 + 0.25 * episode, dtype=np.float32)
        seen = [env.reset(seed=episode)[0], *(env.step(action)[0] for action in actions)]
        given = {"observations": np.stack(seen), "actions": actions, "seed": episode}
        buffers.append(buffer(episode, 6, **given))
    minari.create_dataset_from_buffers("slides-v0", buffers, env=gymnasium.make(name))
    return "slides-v0"


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_recovered_environment_plays_the_recorded_actions_for_the_camera(
    slides: str, tmp_path: Path
) -> None:
    dataset = MinariDataset(slides, MinariOptions(render=True))
    assert dataset.step_seconds == pytest.approx(1 / 20)  # the environment says so
    for number in range(2):
        episode = dataset.episode(number)
        assert isinstance(episode, Episode)
        wanted = np.floor(20 * episode.states[:-1])
        np.testing.assert_allclose(colors_in(dataset.cut_clip(number, tmp_path)), np.tile(wanted, 3), atol=4)
    part = colors_in(dataset.cut_clip(1, tmp_path, (2, 4)))
    np.testing.assert_allclose(part, np.tile(np.floor(20 * dataset.episode(1).states[2:4]), 3), atol=4)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_an_environment_that_goes_another_way_is_not_rendered(
    slides: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Slide, "drift", 0.1)
    with pytest.raises(BadEpisode, match=r"^episode 0: .*differs .*at step 1"):
        MinariDataset(slides, MinariOptions(render=True)).cut_clip(0, tmp_path / "clips")
    assert list((tmp_path / "clips").iterdir()) == []


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_without_rendering_there_is_no_video(slides: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"no videos: .*render=True"):
        MinariDataset(slides).cut_clip(0, tmp_path)
