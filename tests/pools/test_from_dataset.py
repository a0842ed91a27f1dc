"""Pools from datasets of every kind: the features, the videos and the names of what is asked about."""

from pathlib import Path
from typing import Any

import minari
import numpy as np
import pandas as pd
import pytest
from gymnasium import spaces
from minari.data_collector import EpisodeBuffer

from datasets.slide_environment import Slide
from datasets.write_datasets import (
    LENGTHS,
    LEROBOT,
    colors_in,
    frame_color,
    write_lerobot_3,
    write_video_folder,
)
from prefero import Learner, Pool
from prefero._support.arrays import Array
from prefero.datasets import Episode, FeatureOptions, GymnasiumOptions
from prefero.datasets.formats.gymnasium import GymnasiumDataset

WORDS = ["max", "path-length"]


def learns(pool: Pool) -> None:
    """A person can be asked about it."""
    learner = Learner(pool)
    learner.tell(learner.ask(), "left")
    assert np.isfinite(learner.reward()(pool.features)).all()


def walks(count: int = 20) -> Array:
    return np.cumsum(np.random.default_rng(0).normal(size=(count, 11, 2)), axis=1)


@pytest.mark.parametrize("version", LEROBOT)
def test_a_lerobot_dataset_becomes_a_pool_with_videos(version: str, tmp_path: Path) -> None:
    folder = LEROBOT[version](tmp_path / "arm")
    pool = Pool.from_lerobot(
        folder, FeatureOptions(["mean", "jerk"], jobs=1), camera="top", clip_folder=tmp_path / "clips"
    )
    assert pool.names == ("mean shoulder", "mean elbow", "jerk")
    assert pool.ids == ("0", "1", "2", "3")
    assert pool.clips is not None
    for number, clip in enumerate(pool.clips):
        wanted = [frame_color(number, t) for t in range(LENGTHS[number])]
        np.testing.assert_allclose(colors_in(Path(clip)), wanted, atol=8)
    learns(pool)


def test_windows_of_episodes_become_trajectories(tmp_path: Path) -> None:
    pool = Pool.from_lerobot(
        write_lerobot_3(tmp_path / "arm"),
        FeatureOptions(["mean"], window="0.5s", jobs=1),
        clips="never",
    )
    assert pool.ids is not None
    assert pool.ids[:3] == ("0[0:5]", "0[5:10]", "1[0:5]")
    assert len(pool) == sum(length // 5 for length in LENGTHS)


@pytest.mark.filterwarnings("ignore:`eval_env`", "ignore::UserWarning:minari")
@pytest.mark.parametrize("storage", ["hdf5", "arrow"])
def test_a_minari_dataset_becomes_a_pool(
    storage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    buffers = [
        EpisodeBuffer(
            id=number,
            observations=list(states),
            actions=list(np.zeros((10, 1))),
            rewards=[0.0] * 10,
            terminations=[False] * 10,
            truncations=[False] * 10,
            infos={},
        )
        for number, states in enumerate(walks())
    ]
    box = spaces.Box(-99, 99, (2,), np.float64), spaces.Box(-1, 1, (1,), np.float64)
    made: dict[str, Any] = {"observation_space": box[0], "action_space": box[1], "data_format": storage}
    minari.create_dataset_from_buffers("walks-v0", buffers, **made)
    pool = Pool.from_minari("walks-v0", FeatureOptions(WORDS, jobs=1))
    np.testing.assert_allclose(pool.features[:, :2], walks().max(axis=1))
    learns(pool)


def test_a_folder_of_clips_becomes_a_pool_that_shows_them(tmp_path: Path) -> None:
    pool = Pool.from_video_folder(write_video_folder(tmp_path / "throws"))
    assert pool.names == ("speed", "height")
    assert pool.clips == tuple(str(tmp_path / "throws" / f"throw {n}.mp4") for n in range(5))
    learns(pool)


@pytest.mark.parametrize("kind", ["frame", "mapping", "csv", "parquet", "archive"])
def test_a_table_becomes_a_pool(kind: str, tmp_path: Path) -> None:
    frame = pd.DataFrame({"id": list("abcde"), "speed": [1.0, 2, 3, 5, 8], "height": [3.0, 1, 4, 1, 5]})
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    np.savez(
        tmp_path / "t.npz",
        features=frame[["speed", "height"]],
        names=["speed", "height"],
        ids=frame["id"].to_numpy(dtype=str),
    )
    table = {"frame": frame, "mapping": frame.to_dict("list"), "archive": tmp_path / "t.npz"}
    pool = Pool.from_table(table.get(kind, tmp_path / f"t.{kind}"))
    assert (pool.names, pool.ids) == (("speed", "height"), tuple("abcde"))
    np.testing.assert_array_equal(pool.features, frame[["speed", "height"]])
    learns(pool)


def test_an_archive_of_states_becomes_a_pool_of_what_is_extracted_of_them() -> None:
    def turn(episode: Episode) -> float:
        return float(episode.states[-1] @ episode.states[1])

    pool = Pool.from_table({"states": walks()}, FeatureOptions(["max", turn], jobs=1))
    assert pool.names == ("max state 1", "max state 2", "turn")
    np.testing.assert_allclose(pool.features[:, 2], [w[-1] @ w[1] for w in walks()])


def test_other_states_of_the_same_shape_are_not_mistaken_for_those_that_were_kept() -> None:
    for states in (walks(), 2 * walks()):
        pool = Pool.from_table({"states": states}, FeatureOptions(["final"], cache=True, jobs=1))
        np.testing.assert_allclose(pool.features, states[:, -1])


def test_an_environment_becomes_a_pool_of_videos(tmp_path: Path) -> None:
    pool = Pool.from_gymnasium(
        Slide, FeatureOptions(["final", "jerk"], jobs=1), episodes=6, max_steps=9, clip_folder=tmp_path
    )
    played = GymnasiumDataset(Slide, GymnasiumOptions(episodes=6, max_steps=9))
    assert pool.clips is not None
    for number, clip in enumerate(pool.clips):
        wanted = np.floor(20 * played.episode(number).states[:-1])
        np.testing.assert_allclose(colors_in(Path(clip)), np.tile(wanted, 3), atol=4)
    learns(pool)


def test_a_pool_keeps_what_its_trajectories_are_called(tmp_path: Path) -> None:
    pool = Pool.from_table({"id": ["a", "b"], "speed": [1.0, 2.0]})
    pool.save(tmp_path / "pool.npz")
    assert Pool.load(tmp_path / "pool.npz").ids == ("a", "b")
    assert Pool.from_bytes(pool.to_bytes()).ids == ("a", "b")
    assert Pool([[1.0], [2.0]]).ids is None
    with pytest.raises(ValueError, match=r"2 rows .*3 ids"):
        Pool([[1.0], [2.0]], ids=["a", "b", "c"])


def test_any_dataset_is_recognised(tmp_path: Path) -> None:
    pool = Pool.from_dataset(write_video_folder(tmp_path / "throws"), ["height"], count=3)
    assert (len(pool), pool.names) == (3, ("height",))


def test_constants_are_left_out_with_a_warning() -> None:
    states = walks()
    with pytest.warns(UserWarning, match=r"duration is the same for all.*left out"):
        pool = Pool.from_table({"states": states}, FeatureOptions(["mean", "duration"], jobs=1))
    assert pool.names == ("mean state 1", "mean state 2")
