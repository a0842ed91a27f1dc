"""`prefero score` and `prefero export`: what a reward says of trajectories, and files that say it."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.csv
import pyarrow.parquet
import pytest

from prefero import Learner, Pool, PreferenceGP, Question, Reward
from prefero._support.arrays import Array
from prefero.datasets.scores.table import SCORES
from prefero.kernels import Anchored, Linear, Quadratic
from run_here import run_here

NAMES = ["speed", "distance"]
WIDE = {"COLUMNS": "200", "TERM": "dumb", "NO_COLOR": "1"}


def rows(count: int = 12, seed: int = 0) -> Array:
    return np.random.default_rng(seed).normal(size=(count, 2)) * [3.0, 0.5] + [1.0, 0.0]


@pytest.fixture(scope="module")
def reward() -> Reward:
    kernel = Anchored(0.5 * Linear() + 0.2 * Quadratic(), (0.0, 0.0))
    learner = Learner(Pool(rows(), NAMES), model=PreferenceGP(kernel, noise=0.1, learn=False))
    for left in range(5):
        learner.tell(Question(left, left + 5), "left")
    return learner.reward()


@pytest.fixture
def folder(reward: Reward, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with a reward in it."""
    reward.save(tmp_path / "reward.json")
    monkeypatch.chdir(tmp_path)
    for name, value in WIDE.items():
        monkeypatch.setenv(name, value)
    return tmp_path


def table_of(features: Array, **more: Any) -> Any:
    columns = dict(zip(NAMES, features.T, strict=True))
    return pyarrow.table({**more, **columns})


def read(path: Path) -> Any:
    return pyarrow.csv.read_csv(path) if path.suffix == ".csv" else pyarrow.parquet.read_table(path)


def check(scores: Any, reward: Reward, features: Array) -> None:
    mean, std = reward.predict(features, return_std=True)
    np.testing.assert_allclose(scores["mean"].to_numpy(), mean, rtol=1e-12)
    np.testing.assert_allclose(scores["std"].to_numpy(), std, rtol=1e-12)
    page = reward.standardized(features, Pool(features, reward.scaling.names))
    for name, wanted in zip(("standardized", "standardized_std"), page, strict=True):
        np.testing.assert_allclose(scores[name].to_numpy(), wanted, rtol=1e-9, atol=1e-9)


# --- score ------------------------------------------------------------------------------------------------


def write_pool(path: Path, features: Array) -> None:
    Pool(features, NAMES).save(path)


def write_arrays(path: Path, features: Array) -> None:
    np.savez(path, features=features)


def write_named_arrays(path: Path, features: Array) -> None:
    np.savez(path, features=features[:, ::-1], names=np.array(NAMES[::-1]))


def write_csv(path: Path, features: Array) -> None:
    pyarrow.csv.write_csv(table_of(features), path)


def write_parquet(path: Path, features: Array) -> None:
    pyarrow.parquet.write_table(table_of(features).select(NAMES[::-1]), path)


@pytest.mark.parametrize("out", ["scores.csv", "new/scores.parquet"])
@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("pool.npz", write_pool),
        ("arrays.npz", write_arrays),
        ("named.npz", write_named_arrays),
        ("table.csv", write_csv),
        ("table.parquet", write_parquet),
    ],
)
def test_every_trajectory_of_a_file_gets_its_mean_and_deviation(
    folder: Path, reward: Reward, name: str, write: Any, out: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    features = rows(9, seed=5)
    write(folder / name, features)
    assert run_here(monkeypatch, "score", "reward.json", name, "--out", out) == 0
    scores = read(folder / out)
    assert scores.column_names == ["trajectory", *SCORES]
    assert scores["trajectory"].to_pylist() == list(range(9))
    check(scores, reward, features)


@pytest.mark.parametrize("out", ["scores.csv", "scores.parquet"])
def test_scores_of_a_reward_taught_with_labels_say_what_is_acceptable(
    folder: Path, out: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    learner = Learner(Pool(rows(), NAMES))
    for item, (speed, _) in enumerate(rows()):
        learner.tell(Question(item, kind="success"), "pass" if speed > 1.0 else "fail")
    reward, features = learner.reward(), rows(9, seed=5)
    reward.save(folder / "labels.json")
    write_csv(folder / "table.csv", features)
    assert run_here(monkeypatch, "score", "labels.json", "table.csv", "--out", out) == 0
    scores = read(folder / out)
    assert scores.column_names == ["trajectory", *SCORES, "acceptable"]
    check(scores, reward, features)
    wanted = reward.probability_acceptable(features)
    np.testing.assert_allclose(scores["acceptable"].to_numpy(), wanted, rtol=1e-9)
    assert "acceptable" in capsys.readouterr().out


def test_a_column_of_the_same_name_is_kept_where_nobody_said_what_is_acceptable(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = table_of(rows(4), acceptable=[1, 0, 0, 1])
    pyarrow.csv.write_csv(table, folder / "table.csv")
    assert run_here(monkeypatch, "score", "reward.json", "table.csv", "--out", "scores.csv") == 0
    assert read(folder / "scores.csv")["acceptable"].to_pylist() == [1, 0, 0, 1]


def test_what_else_a_table_says_of_its_trajectories_is_kept(
    folder: Path, reward: Reward, monkeypatch: pytest.MonkeyPatch
) -> None:
    features, who = rows(4, seed=2), ["a", "b", "c", "d"]
    table = table_of(features, episode=who, mean=[9.0] * 4, weight=[1, 2, 3, 4])
    pyarrow.parquet.write_table(table, folder / "table.parquet")
    assert run_here(monkeypatch, "score", "reward.json", "table.parquet", "--out", "s.csv") == 0
    scores = read(folder / "s.csv")
    assert scores.column_names == ["episode", "weight", "index", *SCORES]
    assert scores["episode"].to_pylist() == who
    check(scores, reward, features)


def test_scores_name_each_trajectory_by_its_id_beside_its_index(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = ["task,run,distance,speed", "lift,r1,2,1", "lift,r2,,3", "push,r3,4,5"]
    (folder / "runs.csv").write_text("\n".join(lines), encoding="utf-8")
    clips = [folder / f"clip{number}.mp4" for number in range(3)]
    for clip in clips:
        clip.touch()
    Pool(rows(3), ["speed", "distance"], clips=clips).save(folder / "pool.npz")
    wanted = {"runs.csv": (["r1", "r3"], [0, 2]), "pool.npz": ([clip.name for clip in clips], [0, 1, 2])}
    for name, (ids, indices) in wanted.items():
        words = ["score", "reward.json", name, "--out", "s.csv", "--features", "speed,distance", "--skip-bad"]
        assert run_here(monkeypatch, *words) == 0
        scores = read(folder / "s.csv")
        assert (scores["trajectory"].to_pylist(), scores["index"].to_pylist()) == (ids, indices)
        said = capsys.readouterr().out
        assert all(one in said for one in ids)


def test_a_table_may_hold_words_and_other_numbers_and_rows_that_cannot_be_used(
    folder: Path, reward: Reward, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "table.csv").write_text(
        "task,distance,height,speed\nlift,2,,1\nlift,,5,3\npush,4,6,5\n", encoding="utf-8"
    )
    words = ["score", "reward.json", "table.csv", "--out", "s.csv", "--skip-bad"]
    assert run_here(monkeypatch, *words) == 0
    assert "episode 1: its feature 'distance' is missing" in capsys.readouterr().out
    scores = read(folder / "s.csv")
    assert scores.column_names == ["trajectory", "task", "height", *SCORES]
    assert scores["trajectory"].to_pylist() == [0, 2]
    assert scores["task"].to_pylist() == ["lift", "push"]
    check(scores, reward, np.array([[1.0, 2.0], [5.0, 4.0]]))


def test_a_pool_that_knows_what_its_trajectories_are_called_says_so(
    folder: Path, reward: Reward, monkeypatch: pytest.MonkeyPatch
) -> None:
    features = rows(3, seed=1)
    Pool(features[:, ::-1], NAMES[::-1], ids=["x", "007", "z"]).save(folder / "pool.npz")
    assert run_here(monkeypatch, "score", "reward.json", "pool.npz", "--out", "s.parquet") == 0
    scores = read(folder / "s.parquet")
    assert scores["trajectory"].to_pylist() == ["x", "007", "z"]
    check(scores, reward, features)


def test_a_table_is_not_overwritten_by_its_scores(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_csv(folder / "table.csv", rows(3))
    before = (folder / "table.csv").read_bytes()
    assert run_here(monkeypatch, "score", "reward.json", "table.csv", "--out", "./table.csv") == 2
    assert "would be overwritten" in capsys.readouterr().err
    assert (folder / "table.csv").read_bytes() == before


def test_features_far_from_all_that_was_taught_are_remarked_on(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_pool(folder / "near.npz", rows(9, seed=5))
    write_pool(folder / "far.npz", rows(9, seed=5) * [1.0, 100.0])
    assert run_here(monkeypatch, "score", "reward.json", "near.npz") == 0
    assert "half of these" not in capsys.readouterr().out
    assert run_here(monkeypatch, "score", "reward.json", "far.npz") == 0
    said = capsys.readouterr().out
    assert "more than 6 standard deviations" in said
    assert "speed: half of these" not in said


def test_the_best_and_the_worst_are_shown(
    folder: Path, reward: Reward, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    features = rows(40, seed=3)
    write_pool(folder / "pool.npz", features)
    assert run_here(monkeypatch, "score", "reward.json", "pool.npz") == 0
    shown = capsys.readouterr().out
    order = np.argsort(-reward(features)).tolist()
    ranks = [[int(word) for word in line.split("│")[1:3]] for line in shown.splitlines() if "│" in line]
    assert ranks == [*([n + 1, order[n]] for n in range(5)), [40, order[-1]]]
    assert "40 trajectories were scored" in shown
    assert sorted(path.name for path in folder.iterdir()) == ["pool.npz", "reward.json"]


def damage(path: Path, features: Array) -> None:
    kept = {".parquet": write_parquet, ".npz": write_pool}[path.suffix]
    kept(path, features)
    path.write_bytes(path.read_bytes()[:-30])


def text(content: str) -> Any:
    return lambda path, _: path.write_text(content, encoding="utf-8")


def write_twice(path: Path, features: Array) -> None:
    pyarrow.parquet.write_table(pyarrow.table([*features.T, features[:, 0]], [*NAMES, "speed"]), path)


@pytest.mark.parametrize(
    ("name", "write", "message"),
    [
        (
            "table.csv",
            text("speed,way\n1,2\n"),
            "the reward is a function of speed, distance, but table has speed, way: add a column 'distance'",
        ),
        ("table.csv", text("speed,distance\n"), "table has no trajectory that can be used"),
        ("table.csv", text("speed,distance,speed\n1,2,3\n"), "table.csv has more than one column 'speed'"),
        ("table.parquet", write_twice, "table.parquet has more than one column 'speed'"),
        ("table.csv", text("speed,distance\n1,2\n3,\n"), "episode 1: its feature 'distance' is missing"),
        ("table.csv", text("speed,distance\n1,fast\n"), "column 'distance' does not hold numbers"),
        ("table.csv", text("speed,distance\n1\n2,3\n"), "table.csv is damaged or is no table"),
        ("table.parquet", damage, "table.parquet is damaged or is no table"),
        ("pool.npz", damage, "pool.npz is damaged or is another kind of file"),
        (
            "pool.npz",
            lambda path, x: np.savez(path, rewards=x),
            "features or states, but this one has rewards",
        ),
        (
            "pool.npz",
            lambda path, x: np.savez(path, features=x[:, :1]),
            "the reward is a function of speed, distance, but pool has feature 1: add a column 'speed'",
        ),
        (
            "pool.npz",
            lambda path, x: np.savez(path, features=x[0]),
            "features have shape (trajectories, features)",
        ),
        (
            "pool.npz",
            lambda path, x: Pool(x, ["a", "speed"]).save(path),
            "the reward is a function of speed, distance, but pool has a, speed: add a column 'distance'",
        ),
        ("there.csv", lambda *_: None, "prefero: no such file: there.csv"),
    ],
)
def test_files_that_cannot_be_scored_are_refused_in_one_line(
    folder: Path,
    name: str,
    write: Any,
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    write(folder / name, rows(3))
    assert run_here(monkeypatch, "score", "reward.json", name, "--out", "scores.csv") == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.startswith("prefero: ")
    assert said.count("\n") == 1
    assert not (folder / "scores.csv").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["score", "reward.json", "pool.npz", "--out", "s.xlsx"], "scores are written as .parquet or .csv"),
        (["score", "nothing.json", "pool.npz"], "nothing.json"),
        (["score", "reward.json", "pool.npz", "--replace-reward"], "give its folder, --copy-to FOLDER"),
        (
            ["score", "reward.json", "pool.npz", "--copy-to", "copy"],
            "pool cannot be copied with scores, which only these formats can: lerobot, hub, minari",
        ),
        (["score", "reward.json", "pool.npz", "--window", "2s"], "has features and no steps"),
        (
            ["score", "reward.json", "CartPole-v1"],
            "no word of the library extracts 'speed': give what extracts each",
        ),
        (
            ["score", "reward.json", "CartPole-v1", "--features", "jerk"],
            "CartPole-v1 has jerk: give what extracts",
        ),
        (["export", "reward.json", "--out", "reward.txt"], "is exported as one of .py, .onnx"),
        (["export", "reward.json", "--out", "reward.py", "--out", "reward"], "but the path is reward"),
        (["export", "nothing.json", "--out", "reward.py"], "nothing.json"),
    ],
)
def test_impossible_commands_are_refused_in_one_line(
    folder: Path,
    words: list[str],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    write_pool(folder / "pool.npz", rows(3))
    assert run_here(monkeypatch, *words) == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1
    assert sorted(path.name for path in folder.iterdir()) == ["pool.npz", "reward.json"]


# --- export -----------------------------------------------------------------------------------------------


def test_export_writes_what_runs_without_prefero(folder: Path, reward: Reward) -> None:
    """As a user types it, in a process of its own."""
    words = ["export", "reward.json", "--out", "robot/reward.py", "--out", "robot/reward.onnx"]
    done = subprocess.run(
        [sys.executable, "-m", "prefero", *words],
        capture_output=True,
        encoding="utf-8",
        env=os.environ,
        check=True,
    )
    assert done.stdout.splitlines() == [
        f"The reward of speed, distance is in robot/reward.{kind}." for kind in ("py", "onnx")
    ]
    x, names = rows(6, seed=8), {}  # type: ignore[var-annotated]
    exec((folder / "robot" / "reward.py").read_text(encoding="utf-8"), names)
    session = pytest.importorskip("onnxruntime").InferenceSession(
        folder / "robot" / "reward.onnx", providers=["CPUExecutionProvider"]
    )
    wanted = reward.predict(x, return_std=True)
    np.testing.assert_allclose(names["predict"](x), wanted, atol=1e-6)
    np.testing.assert_allclose(session.run(None, {"features": x}), wanted, atol=1e-6)


def test_export_lists_only_the_first_of_very_many_features(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    features = np.random.default_rng(0).normal(size=(8, 30))
    learner = Learner(Pool(features), model=PreferenceGP(Linear(), noise=0.1, learn=False))
    learner.tell(Question(0, 1), "left")
    learner.reward().save(folder / "many.json")
    assert run_here(monkeypatch, "export", "many.json", "--out", "many.py") == 0
    assert "feature 19, and 10 more is in many.py." in capsys.readouterr().out
