"""Recordings of questions, read back by Rerun itself: entities, times, rewards and their bands, the layout.

Rerun is large, and installed for `make heavy`; without it only what needs no Rerun is tested.
"""

import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from datasets.write_datasets import FPS, write_lerobot_3, write_video_folder
from prefero import FeatureOptions, Learner, Pool, Question, Reward, StepReward
from prefero._support.arrays import Array
from prefero._support.optional import MissingExtra
from prefero.datasets import EpisodeDataset, open_dataset
from prefero.deploy.recording.rerun_file import record_question
from run_here import run_here

LENGTHS = (9, 12, 7, 10)
EPISODES, SECONDS = 8, 0.1


def taught(pool: Pool) -> Reward:
    learner = Learner(pool)
    for left, right in ((0, 1), (2, 3), (1, 3)):
        learner.tell(Question(left, right), "left")
    return learner.reward()


def walks(path: Path, steps: int = 12) -> Path:
    """States and actions without videos."""
    rng = np.random.default_rng(0)
    states = np.cumsum(rng.normal(size=(EPISODES, steps, 2)), axis=1)
    actions = rng.normal(size=(EPISODES, steps, 1))
    names = np.array(["x", "y"])
    np.savez(path, states=states, actions=actions, step_seconds=np.array(SECONDS), state_names=names)
    return path


def episodes_in(path: Path) -> EpisodeDataset:
    dataset = open_dataset(path)
    assert isinstance(dataset, EpisodeDataset)
    return dataset


class Column(NamedTuple):
    """What an entity has over time."""

    seconds: Array
    values: Any


class Recording:
    """A recording as Rerun reads it."""

    def __init__(self, path: Path) -> None:
        reader = pytest.importorskip("rerun.chunk").RrdReader(path)
        self.blueprints = reader.blueprints()
        self.chunks = list(reader.stream())
        self.layout = list(reader.stream(store=self.blueprints[0]))
        self.entities = {chunk.entity_path for chunk in self.chunks} - {"/__properties"}

    def over_time(self, entity: str, component: str = "Scalars:scalars") -> Column:
        (chunk,) = (one for one in self.chunks if one.entity_path == entity and not one.is_static)
        assert chunk.timeline_names == ["time"]
        batch = chunk.to_record_batch()
        nanoseconds = np.array(batch.column("time").to_numpy(zero_copy_only=False), dtype="int64")
        return Column(nanoseconds * 1e-9, np.array(batch.column(component).to_pylist()))

    def static(self, entity: str, component: str) -> Any:
        static = (one for one in self.chunks if one.entity_path == entity and one.is_static)
        batches = [chunk.to_record_batch() for chunk in static]
        (found,) = (
            batch.column(component).to_pylist() for batch in batches if component in batch.schema.names
        )
        return found[0]

    def in_layout(self, component: str) -> list[Any]:
        """The values of a component of all views and panels with which the viewer opens."""
        batches = [chunk.to_record_batch() for chunk in self.layout]
        columns = [batch.column(component) for batch in batches if component in batch.schema.names]
        return [one for column in columns for values in column.to_pylist() for one in values or ()]

    def titles(self) -> list[str]:
        return self.in_layout("ViewBlueprint:display_name")


def band(mean: Array, std: Array) -> Any:
    return pytest.approx(np.stack([mean - std, mean, mean + std], axis=1), abs=1e-9)


@pytest.fixture
def rerun() -> Any:
    return import_module("rerun") if "PREFERO_HEAVY" in os.environ else pytest.importorskip("rerun")


# --- what the recording holds -----------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:episodes have")
@pytest.mark.usefixtures("rerun")
def test_episodes_have_their_clips_and_numbers_in_seconds(tmp_path: Path) -> None:
    dataset = episodes_in(write_lerobot_3(tmp_path / "arm", LENGTHS))
    reward = taught(Pool.from_dataset(dataset, clips="never"))
    record_question(reward, dataset, Question(1, 2), tmp_path / "question.rrd")
    found = Recording(tmp_path / "question.rrd")
    what = ("video", "reward", "states", "actions", "features")
    assert found.entities == {f"/{side}/{one}" for side in ("left", "right") for one in what}
    for side, number in (("left", 1), ("right", 2)):
        episode = dataset.episode(number)
        frames = found.over_time(f"/{side}/video", "VideoFrameReference:timestamp")
        assert frames.seconds == pytest.approx(np.arange(LENGTHS[number]) / FPS, abs=1e-3)
        assert frames.values[:, 0] * 1e-9 == pytest.approx(frames.seconds)
        clip = dataset.cut_clip(number, tmp_path / "clips").read_bytes()
        assert bytes(found.static(f"/{side}/video", "AssetVideo:blob")[0]) == clip
        for one in ("states", "actions"):
            column = found.over_time(f"/{side}/{one}")
            assert column.seconds == pytest.approx(np.arange(LENGTHS[number]) / FPS)
            assert column.values == pytest.approx(getattr(episode, one))
        names = found.static(f"/{side}/states", "SeriesLines:names")
        assert tuple(names) == episode.state_names
    assert {"left: 1", "right: 2", "left: states", "right: actions"} <= set(found.titles())
    longest = round((LENGTHS[1] - 1) / FPS * 1e9)
    ranges = found.in_layout("TimeAxis:view_range")
    assert (
        ranges == [{"start": 0, "end": pytest.approx(longest, abs=1e6)}] * 7
    )  # three a side, and the reward
    assert found.in_layout("TimePanelBlueprint:timeline") == ["time"]


@pytest.mark.usefixtures("rerun")
def test_the_reward_of_beginnings_is_the_models(tmp_path: Path) -> None:
    path = walks(tmp_path / "walks.npz")
    reward = taught(Pool.from_table(path, FeatureOptions(["path-length", "final(x)"])))
    dataset = episodes_in(path)
    record_question(reward, dataset, (3, 5), tmp_path / "question.rrd")
    found = Recording(tmp_path / "question.rrd")
    assert "/left/video" not in found.entities
    for side, number in (("left", 3), ("right", 5)):
        states = dataset.episode(number).states
        lengths = [
            np.linalg.norm(np.diff(states[:n], axis=0), axis=1).sum() for n in range(1, len(states) + 1)
        ]
        rows = {"path length": np.array(lengths), "final x": states[:, 0]}
        features = np.stack([rows[name] for name in reward.scaling.names], axis=1)
        column = found.over_time(f"/{side}/reward")
        assert column.seconds == pytest.approx(SECONDS * np.arange(len(states)))
        assert column.values == band(*reward.predict(features, return_std=True))
        assert found.over_time(f"/{side}/features").values == pytest.approx(reward.scaling(features))
        assert found.static(f"/{side}/reward", "SeriesLines:names")[1] == f"{side} mean"
    assert "reward of the beginning up to each step: mean ± 1 std" in found.titles()


@pytest.mark.usefixtures("rerun")
def test_the_band_of_windows_is_that_of_their_mean(tmp_path: Path) -> None:
    options = FeatureOptions(["path-length", "final(x)"], window=5, stride=3)
    path = walks(tmp_path / "walks.npz")
    reward, dataset = taught(Pool.from_table(path, options)), episodes_in(path)
    record_question(reward, dataset, (0, 1), tmp_path / "question.rrd")
    values = Recording(tmp_path / "question.rrd").over_time("/left/reward").values
    windows = [dataset.episode(0).segment(steps) for steps in ((0, 5), (3, 8), (6, 11))]
    rows = np.array([reward.episode_features()(one) for one in windows])
    drawn = reward.belief.sample(reward.scaling(rows), 100_000, np.random.default_rng(0)).mean(axis=1)
    assert values[10, 1] == pytest.approx(drawn.mean(), abs=0.02)
    assert (values[10, 2] - values[10, 0]) / 2 == pytest.approx(drawn.std(), rel=0.02)


@pytest.mark.usefixtures("rerun")
def test_a_reward_of_steps_is_recorded_for_each_step(tmp_path: Path) -> None:
    path = walks(tmp_path / "walks.npz")
    reward, dataset = taught(Pool.from_table(path, ["steps"])), episodes_in(path)
    record_question(reward, dataset, (0, 1), tmp_path / "question.rrd")
    found = Recording(tmp_path / "question.rrd")
    for side, number in (("left", 0), ("right", 1)):
        episode = dataset.episode(number)
        predicted = StepReward.of(reward).predict(episode.states, episode.actions)
        assert found.over_time(f"/{side}/reward").values == band(*predicted)
    assert found.entities == {
        f"/{side}/{one}" for side in ("left", "right") for one in ("reward", "states", "actions")
    }


@pytest.mark.usefixtures("rerun")
def test_a_world_is_rendered_and_its_reward_is_that_of_the_whole_trajectory(tmp_path: Path) -> None:
    pool = Pool.simulate("driver", 8)
    reward = taught(pool)
    record_question(reward, pool, Question(2, 4, 6), tmp_path / "question.rrd")
    found = Recording(tmp_path / "question.rrd")
    mean, std = reward.predict(pool.features, return_std=True)
    for option, number in enumerate((2, 4, 6), 1):
        column = found.over_time(f"/option_{option}/reward")
        assert column.values == band(mean[[number, number]], std[[number, number]])
        states = found.over_time(f"/option_{option}/states")
        poses = pool.trajectory(number).poses
        assert states.values == pytest.approx(poses.reshape(len(poses), -1))
        frames = found.over_time(f"/option_{option}/video", "VideoFrameReference:timestamp").seconds
        assert column.seconds == pytest.approx([0.0, frames[-1]], abs=1e-6)
        assert frames[-1] > pool.world().duration
    assert "reward of the whole trajectory: mean ± 1 std" in found.titles()


@pytest.mark.usefixtures("rerun")
def test_a_table_of_features_has_the_videos_of_its_folder(tmp_path: Path) -> None:
    folder = write_video_folder(tmp_path / "videos")
    dataset = open_dataset(folder)
    reward = taught(Pool.from_dataset(dataset, clips="never"))
    record_question(reward, dataset, (0, 2), tmp_path / "question.rrd")
    found = Recording(tmp_path / "question.rrd")
    features = reward.extract_features(dataset).features
    assert found.over_time("/right/reward").values[:1] == band(
        *reward.predict(features[[2]], return_std=True)
    )
    assert found.entities == {
        f"/{side}/{one}" for side in ("left", "right") for one in ("video", "reward", "features")
    }


@pytest.mark.usefixtures("rerun")
def test_the_features_of_a_file_are_those_of_its_episodes(tmp_path: Path) -> None:
    dataset = episodes_in(walks(tmp_path / "walks.npz"))
    options = FeatureOptions(["path-length", "final(x)"], window=6)
    reward = taught(Pool.from_dataset(dataset, options))
    reward.extract_features(dataset).save(tmp_path / "features.parquet")
    table = open_dataset(tmp_path / "features.parquet")
    record_question(reward, table, (0, 3), tmp_path / "question.rrd")
    found, segment = Recording(tmp_path / "question.rrd"), dataset.episode(1).segment((6, 12))
    assert found.over_time("/right/states").values == pytest.approx(segment.states)
    row = reward.episode_features()(segment)[None]
    assert found.over_time("/right/reward").values[-1:] == band(*reward.predict(row, return_std=True))


# --- the command ------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("rerun")
def test_the_command_finds_trajectories_by_ids_and_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    pool = Pool(np.random.default_rng(0).normal(size=(4, 2)), ["speed", "jerk"], ids=["a", "b", "c", "1"])
    taught(pool).save("reward.json")
    pool.save("pool.npz")
    assert run_here(monkeypatch, "rerun", "reward.json", "pool.npz", "--question", "1, b") == 0
    assert "The recording is in question.rrd" in capsys.readouterr().out
    mean, std = taught(pool).predict(pool.features, return_std=True)
    found = Recording(Path("question.rrd"))
    for side, number in (("left", 3), ("right", 1)):  # the id comes before the number
        column = found.over_time(f"/{side}/reward")
        assert column.values == band(mean[[number, number]], std[[number, number]])
        assert column.seconds[1] > 0  # a line, and not a point
    before = Path("question.rrd").read_bytes()
    assert run_here(monkeypatch, "rerun", "reward.json", "pool.npz", "--question", "1,d") == 2
    assert "there is no trajectory 'd'" in capsys.readouterr().err
    assert (
        run_here(monkeypatch, "rerun", "reward.json", "pool.npz", "--question", "1,2", "--out", "q.mp4") == 2
    )
    assert "a recording is saved as .rrd" in capsys.readouterr().err
    assert Path("question.rrd").read_bytes() == before


@pytest.mark.usefixtures("rerun")
def test_a_clip_that_is_no_video_is_an_error_and_nothing_is_written(tmp_path: Path) -> None:
    clips = [tmp_path / f"{number}.mp4" for number in range(4)]
    for clip in clips:
        clip.write_bytes(b"no video")
    pool = Pool(np.random.default_rng(0).normal(size=(4, 2)), clips=clips)
    with pytest.raises(ValueError, match=r"the clip of 1\.mp4 is no MP4 file"):
        record_question(taught(pool), pool, (1, 2), tmp_path / "question.rrd")
    assert sorted(tmp_path.iterdir()) == sorted(clips)


def test_without_rerun_an_error_names_the_line_to_type(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "rerun", None)
    pool = Pool(np.random.default_rng(0).normal(size=(4, 2)))
    with pytest.raises(MissingExtra, match=r"'rerun', which is not installed: type  .*\[rerun\]"):
        record_question(taught(pool), pool, (0, 1), tmp_path / "question.rrd")
