"""`prefero score` of recorded episodes: in tables, and back in copies of their datasets."""

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import minari
import numpy as np
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from gymnasium import spaces
from minari.data_collector import EpisodeBuffer

from datasets.write_datasets import (
    LENGTHS,
    states_of,
    truncate,
    write_lerobot_2,
    write_lerobot_3,
    write_video_folder,
)
from prefero import Learner, Pool, PreferenceGP, Question, Reward
from prefero._support.arrays import Array
from prefero.datasets import FeatureOptions
from prefero.datasets.features.extraction.extract import extract_features
from prefero.datasets.registry import open_dataset
from prefero.datasets.scores.table import SCORES
from prefero.kernels import Anchored, Linear
from run_here import run_here

Run = Callable[..., int]
NAMES = ["max elbow", "final shoulder"]


def wanted(lengths: tuple[int, ...] = LENGTHS) -> Array:
    """The features of the recorded arm, in the reward's order."""
    walks = [states_of(episode, steps) for episode, steps in enumerate(lengths)]
    return np.array([[walk[:, 1].max(), walk[-1, 0]] for walk in walks])


def taught(names: list[str], features: Array) -> Reward:
    kernel = Anchored(0.5 * Linear(), (0.0,) * len(names))
    learner = Learner(Pool(features, names), model=PreferenceGP(kernel, noise=0.1, learn=False))
    learner.tell(Question(0, 1), "left")
    learner.tell(Question(2, 1), "right")
    return learner.reward()


@pytest.fixture
def reward(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Reward:
    """A reward in the working folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "minari"))
    made = taught(NAMES, wanted())
    made.save("reward.json")
    return made


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    """`prefero score reward.json ...` in this process; its exit code."""
    return lambda *words: run_here(monkeypatch, "score", "reward.json", *words)


def test_episodes_are_extracted_scored_and_given_their_scores(
    reward: Reward, run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_lerobot_3(tmp_path / "arm", cameras=())
    assert run("arm", "--out", "scores.parquet", "--copy-to", "scored", "--jobs", "1") == 0
    said = capsys.readouterr().out
    assert "4 trajectories were scored" in said
    assert "extracted of all states: max, final." in said
    assert "in scored." in said
    scores = pq.read_table("scores.parquet")
    assert scores.column_names == ["trajectory", *SCORES]
    assert scores["trajectory"].to_pylist() == [0, 1, 2, 3]
    mean, std = reward.predict(wanted(), return_std=True)
    np.testing.assert_allclose(scores["mean"].to_numpy(), mean, atol=1e-5)
    np.testing.assert_allclose(scores["std"].to_numpy(), std, atol=1e-5)
    frames = pq.read_table(tmp_path / "scored" / "data")
    which = frames["episode_index"].to_numpy()
    np.testing.assert_allclose(frames["prefero.mean"].to_numpy(), scores["mean"].to_numpy()[which], rtol=1e-6)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["arm", "reward.json", "scored", "scores.parquet"]


def test_kept_features_are_scored_and_the_scores_go_where_they_come_from(
    reward: Reward, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_lerobot_2(tmp_path / "arm", cameras=())
    command = ["features", "arm", "--features", "final", "--features", "max", "--jobs", "1"]
    assert run_here(monkeypatch, *command) == 0
    assert run("features.parquet", "--out", "s.csv", "--copy-to", "scored", "--replace-reward") == 0
    scores = pyarrow.csv.read_csv("s.csv")
    kept = ["episode", "number", "first", "last", "steps", "final elbow", "max shoulder"]
    assert scores.column_names == [*kept, *SCORES]
    np.testing.assert_allclose(scores["mean"].to_numpy(), reward(wanted()), atol=1e-5)
    paths = sorted((tmp_path / "scored" / "data").rglob("*.parquet"))
    sums = [pq.read_table(path)["next.reward"].to_numpy().sum() for path in paths]
    np.testing.assert_allclose(sums, reward(wanted()), atol=1e-5)


def test_damaged_episodes_are_skipped_when_asked_and_videos_do_not_matter(
    reward: Reward, run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_lerobot_2(tmp_path / "arm")
    truncate(next(folder.rglob("episode_000001.parquet")))
    shutil.rmtree(folder / "videos")
    assert run("arm", "--copy-to", "scored", "--jobs", "1") == 2
    said = capsys.readouterr().err
    assert said.startswith("prefero: episode 1: its file ")
    assert said.count("\n") == 1
    assert not (tmp_path / "scored").exists()
    assert run("arm", "--out", "s.csv", "--copy-to", "scored", "--skip-bad", "--jobs", "1") == 0
    assert "left out: episode 1: its file" in capsys.readouterr().out
    scores = pyarrow.csv.read_csv("s.csv")
    assert scores["trajectory"].to_pylist() == [0, 2, 3]
    np.testing.assert_allclose(scores["mean"].to_numpy(), reward(wanted()[[0, 2, 3]]), atol=1e-5)
    assert run("arm", "--copy-to", "again", "--skip-bad", "--replace-reward", "--jobs", "1") == 2
    assert "episode 1: it has no score" in capsys.readouterr().err
    assert not (tmp_path / "again").exists()


def test_one_task_is_scored_and_the_others_have_no_scores(
    reward: Reward, run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_lerobot_2(tmp_path / "arm", cameras=())
    lines = [
        {"episode_index": e, "tasks": ["push" if e % 2 else "lift"], "length": n}
        for e, n in enumerate(LENGTHS)
    ]
    (folder / "meta" / "episodes.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    assert run("arm", "--task", "push", "--out", "s.csv", "--copy-to", "scored", "--jobs", "1") == 0
    scores = pyarrow.csv.read_csv("s.csv")
    assert scores["trajectory"].to_pylist() == [1, 3]
    paths = sorted((tmp_path / "scored" / "data").rglob("*.parquet"))
    firsts = [pq.read_table(path)["prefero.mean"][0].as_py() for path in paths]
    np.testing.assert_allclose(firsts, np.where([0, 1, 0, 1], reward(wanted()), np.nan), atol=1e-5)
    assert run("arm", "--task", "push", "--copy-to", "again", "--replace-reward", "--jobs", "1") == 2
    assert "episode 0: it has no score" in capsys.readouterr().err


def test_windows_are_scored_into_tables_only(
    reward: Reward, run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_lerobot_3(tmp_path / "arm", cameras=())
    assert run("arm", "--window", "0.5s", "--stride", "4", "--out", "s.parquet", "--jobs", "1") == 0
    scores = pq.read_table("s.parquet")
    assert scores.column_names == ["trajectory", "episode", "first", "last", *SCORES]
    assert [column[2].as_py() for column in scores.columns[:4]] == ["1[0:5]", 1, 0, 5]
    part = states_of(1, 15)[:5]
    np.testing.assert_allclose(
        scores["mean"][2].as_py(), reward([[part[:, 1].max(), part[-1, 0]]])[0], atol=1e-5
    )
    capsys.readouterr()
    shutil.rmtree(tmp_path / "arm" / "data")  # which nobody gets to read
    assert run("arm", "--window", "0.5s", "--copy-to", "scored", "--jobs", "1") == 2
    assert "prefero: scores of windows" in capsys.readouterr().err


def test_features_of_the_users_own_must_be_given(run: Run, tmp_path: Path, reward: Reward) -> None:
    del reward
    (tmp_path / "mine.py").write_text("def turns(episode): return len(episode) % 7\n", encoding="utf-8")
    write_lerobot_3(tmp_path / "arm", cameras=())
    own = taught(["turns"], np.array([[n % 7.0] for n in LENGTHS]))
    own.save("reward.json")
    assert run("arm", "--jobs", "1") == 2
    assert run("arm", "--features", "mine:turns", "--out", "s.csv", "--jobs", "1") == 0
    scores = pyarrow.csv.read_csv("s.csv")["mean"].to_numpy()
    np.testing.assert_allclose(scores, own(np.array([[n % 7.0] for n in LENGTHS])))


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_minari_dataset_is_scored_by_its_id(run: Run, tmp_path: Path, reward: Reward) -> None:
    del reward
    box = spaces.Box(-99, 99, (2,), np.float64)
    walks = [
        np.cumsum(np.random.default_rng(e).normal(size=(n + 1, 2)), axis=0) for e, n in enumerate((6, 5, 8))
    ]
    buffers = [
        EpisodeBuffer(
            id=number,
            observations=walk,
            actions=np.diff(walk, axis=0),
            rewards=np.zeros(len(walk) - 1),
            terminations=np.zeros(len(walk) - 1, dtype=bool),
            truncations=np.zeros(len(walk) - 1, dtype=bool),
            infos={},
        )
        for number, walk in enumerate(walks)
    ]
    minari.create_dataset_from_buffers("mine/walks-v0", buffers, observation_space=box, action_space=box)
    features = np.array([[len(walk) - 1] for walk in walks]) * 0.5
    own = taught(["duration"], features)
    own.save("reward.json")
    into = str(tmp_path / "minari" / "mine" / "walks-v1")
    assert (
        run("mine/walks-v0", "--step-seconds", "0.5", "--copy-to", into, "--replace-reward", "--jobs", "1")
        == 0
    )
    scored = minari.load_dataset("mine/walks-v1")
    np.testing.assert_allclose([episode.rewards.sum() for episode in scored], own(features))


def test_a_policy_is_scored(run: Run, tmp_path: Path, reward: Reward) -> None:
    del reward
    (tmp_path / "player.py").write_text("def left(observation): return 0\n", encoding="utf-8")
    taught(["duration"], np.array([[0.1], [0.5], [0.9]])).save("reward.json")
    words = ["CartPole-v1", "--policy", "player:left", "--episodes", "3", "--max-steps", "4", "--seed", "1"]
    assert run(*words, "--out", "s.csv", "--jobs", "1") == 0
    scores = pyarrow.csv.read_csv("s.csv")
    assert scores["trajectory"].to_pylist() == [0, 1, 2]
    assert len(set(scores["mean"].to_pylist())) == 1  # all last four steps


def test_a_missing_package_is_named(
    run: Run,
    reward: Reward,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    del reward
    Pool(wanted(), NAMES).save(tmp_path / "pool.npz")
    write_lerobot_3(tmp_path / "arm", cameras=())
    capsys.readouterr()
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert run("pool.npz") == 0
    for words in (["pool.npz", "--out", "s.parquet"], ["arm"]):
        assert run(*words) == 2
        assert "[datasets]'" in capsys.readouterr().err


def test_an_embedding_looks_at_what_the_reward_was_taught_with(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A part of a dataset, scored by itself, has the scores that it has in the whole."""
    monkeypatch.chdir(tmp_path)
    walks = np.random.default_rng(0).standard_normal((12, 9, 2)).cumsum(axis=1)
    np.savez("whole.npz", states=walks)
    np.savez("part.npz", states=walks[:5])
    word = "pca(2)"
    pool = Pool.from_table("whole.npz", [word])
    made = taught(list(pool.names), pool.features)
    made.save("reward.json")
    assert run("part.npz", "--features", word, "--fit-embeddings-on", "whole.npz", "--out", "scores.csv") == 0
    assert "--fit-embeddings-on" not in capsys.readouterr().out
    found = pyarrow.csv.read_csv("scores.csv")["mean"].to_numpy()
    np.testing.assert_allclose(found, made(pool.features)[:5], atol=1e-9)
    assert run("part.npz", "--features", word, "--out", "alone.csv") == 0
    assert "Name those with --fit-embeddings-on" in capsys.readouterr().out
    assert not np.allclose(pyarrow.csv.read_csv("alone.csv")["mean"].to_numpy(), found, atol=1e-3)


def test_windows_that_were_kept_are_called_windows(
    reward: Reward, run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As if they were cut now."""
    del reward
    write_lerobot_3(tmp_path / "arm", cameras=())
    found = extract_features(
        open_dataset("arm"), FeatureOptions(["max", "final"], window=5, cache="kept.parquet", jobs=1)
    )
    found.save(Path("kept.parquet"))
    assert run("kept.parquet", "--out", "kept.csv") == 0
    assert f"{len(found)} windows were scored" in capsys.readouterr().out
    assert run("arm", "--window", "5", "--out", "now.csv", "--jobs", "1") == 0
    kept, now = (pyarrow.csv.read_csv(name) for name in ("kept.csv", "now.csv"))
    assert kept["trajectory"].to_pylist() == now["trajectory"].to_pylist() == list(found.ids)
    np.testing.assert_allclose(kept["mean"].to_numpy(), now["mean"].to_numpy(), atol=1e-9)


def test_the_table_of_clips_is_not_overwritten_and_its_logarithms_are_implied(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write_video_folder(tmp_path / "throws", 4)
    table = tmp_path / "throws" / "features.csv"
    columns = pyarrow.csv.read_csv(table)
    speed = columns["speed"].to_numpy() + 1.0
    pyarrow.csv.write_csv(columns.set_column(columns.column_names.index("speed"), "speed", [speed]), table)
    made = taught(["log(speed)"], np.log(speed)[:, None])
    made.save("reward.json")
    before = table.read_bytes()
    assert run("throws", "--out", "throws/features.csv") == 2
    assert "would be overwritten" in capsys.readouterr().err
    assert table.read_bytes() == before
    assert run("throws", "--out", "scores.csv") == 0
    found = pyarrow.csv.read_csv("scores.csv")["mean"].to_numpy()
    np.testing.assert_allclose(found, made(np.log(speed)[:, None]), atol=1e-9)


# --- progress files for LeRobot ---------------------------------------------------------------------------


def test_the_progress_of_every_frame_is_the_reward_up_to_it(
    reward: Reward, run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_lerobot_3(tmp_path / "arm", cameras=())
    assert run("arm", "--rabc", "out/progress.parquet", "--progress", "prefix", "--jobs", "1") == 0
    said = capsys.readouterr().out
    assert "The progress of a frame is the reward of its episode so far: as asked for." in said
    assert "sample_weighting.progress_path out/progress.parquet" in said
    table = pq.read_table("out/progress.parquet")
    kinds = {"index": "int64", "episode_index": "int64", "frame_index": "int64", "progress_sparse": "float"}
    assert {field.name: str(field.type) for field in table.schema} == kinds
    total = sum(LENGTHS)
    assert table["index"].to_pylist() == list(range(total))
    assert table["episode_index"].to_pylist() == [e for e, steps in enumerate(LENGTHS) for _ in range(steps)]
    assert table["frame_index"].to_pylist() == [t for steps in LENGTHS for t in range(steps)]
    walks = [states_of(episode, steps).astype(np.float32) for episode, steps in enumerate(LENGTHS)]
    rows = [[walk[: t + 1, 1].max(), walk[t, 0]] for walk in walks for t in range(len(walk))]
    expected = reward(np.array(rows, dtype=float))
    scaled = (expected - expected.min()) / (expected.max() - expected.min())
    np.testing.assert_allclose(table["progress_sparse"].to_numpy(), scaled, atol=1e-6)


def test_the_progress_of_good_episodes_rises_and_that_of_the_others_falls(
    reward: Reward, run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_lerobot_3(tmp_path / "arm", cameras=())
    words = ("--rabc", "progress.parquet", "--progress", "quality", "--cut", "0.5", "--jobs", "1")
    assert run("arm", *words) == 0
    assert "The progress of a frame is a ramp by the quality of its episode" in capsys.readouterr().out
    table = pq.read_table("progress.parquet")
    progress, episode = table["progress_sparse"].to_numpy(), table["episode_index"].to_numpy()
    grown = [float(np.ptp(np.sign(np.diff(progress[episode == e])))) for e in range(len(LENGTHS))]
    assert grown == [0.0] * len(LENGTHS)  # a ramp
    rises = [progress[episode == e][-1] > 0.5 for e in range(len(LENGTHS))]
    best, worst = np.argmax(reward(wanted())), np.argmin(reward(wanted()))
    assert (rises[best], rises[worst]) == (True, False)
    assert run("arm", "--rabc", "progress.parquet", "--jobs", "1") == 0
    assert "the reward of an episode so far grows in" in capsys.readouterr().out


def test_episodes_without_a_reward_have_no_progress(reward: Reward, run: Run, tmp_path: Path) -> None:
    write_lerobot_2(tmp_path / "arm", cameras=())
    truncate(next((tmp_path / "arm").rglob("episode_000001.parquet")))
    assert run("arm", "--rabc", "progress.parquet", "--skip-bad", "--jobs", "1") == 0
    table = pq.read_table("progress.parquet")
    assert set(table["episode_index"].to_pylist()) == {0, 2, 3}
    assert table["index"].to_pylist()[LENGTHS[0]] == LENGTHS[0] + LENGTHS[1]
    del reward


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("arm", "--rabc", "progress.csv"), "progress is written as .parquet"),
        (("arm", "--cut", "0.2"), "--progress and --cut are for the progress of frames"),
        (("arm", "--rabc", "p.parquet", "--cut", "2"), "the cut is a quality between 0 and 1, but is 2"),
        (("walks.npz", "--rabc", "progress.parquet"), "--rabc is for LeRobot datasets, and walks is none"),
    ],
)
def test_what_has_no_progress_is_said(
    words: tuple[str, ...],
    message: str,
    reward: Reward,
    run: Run,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    write_lerobot_3(tmp_path / "arm", cameras=())
    np.savez(tmp_path / "walks.npz", states=np.zeros((3, 5, 2)), state_names=["shoulder", "elbow"])
    assert run(*words) == 2
    assert message in capsys.readouterr().err
    del reward
