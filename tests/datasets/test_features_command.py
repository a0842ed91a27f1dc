"""`prefero features`, run as a user runs it: in a process of its own."""

import re
import subprocess
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from datasets.write_datasets import truncate, write_lerobot_2, write_lerobot_3
from run_here import run_here
from run_prefero import run_prefero


def run(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return run_prefero("features", *words, "--jobs", "1", folder=folder)


def output_of(*words: str, folder: Path) -> str:
    done = run(*words, folder=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_features_are_summed_up_kept_drawn_and_complained_about(tmp_path: Path) -> None:
    write_lerobot_3(tmp_path / "arm", lengths=tuple(range(8, 38)), cameras=())
    (tmp_path / "mine.py").write_text("def answer(episode): return 42.0\n", encoding="utf-8")
    words = [
        "--features",
        "max",
        "--features",
        "control-effort",
        "--features",
        "mine:answer",
        "--figure",
        "new/look.png",
    ]
    out = output_of("arm", *words, folder=tmp_path)
    assert "arm: 30 trajectories, 4 features." in out
    assert any("max shoulder" in line and "█" in line for line in out.splitlines())
    assert "constant: answer is the same for all" in out
    assert re.search(r"unequal-length: .*8 to 37 steps.*control effort", out)
    assert re.search(r"To teach with them:  \S*prefero teach features.parquet", out)
    assert (tmp_path / "new" / "look.png").read_bytes().startswith(b"\x89PNG")
    table = pq.read_table(tmp_path / "features.parquet")
    assert table.column_names[-4:] == ["max shoulder", "max elbow", "control effort", "answer"]


def test_what_the_advice_says_can_be_typed(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    speed, force = rng.normal(size=200), rng.lognormal(0, 3, 200)
    rows = zip(speed, speed + 0.01 * rng.normal(size=200), force, strict=True)
    lines = ["speed,pace,force", *(f"{a},{b},{c}" for a, b, c in rows)]
    (tmp_path / "throws.csv").write_text("\n".join(lines), encoding="utf-8")
    out = output_of("throws.csv", folder=tmp_path)
    assert "--drop 'pace'" in out
    assert "--log-transform 'force'" in out
    out = output_of("throws.csv", "--drop", "pace", "--log-transform", "force", folder=tmp_path)
    assert "log(force)" in out
    assert "--drop" not in out
    assert "--log-transform" not in out


def test_windows_are_cut_and_damage_is_skipped_when_asked(tmp_path: Path) -> None:
    folder = write_lerobot_2(tmp_path / "arm", cameras=())
    truncate(next(folder.rglob("episode_000001.parquet")))
    done = run("arm", "--window", "0.5s", "--stride", "2", folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("prefero: episode 1: its file ")
    assert done.stderr.count("\n") == 1
    out = output_of("arm", "--window", "0.5s", "--stride", "2", "--skip-bad", folder=tmp_path)
    assert "15 windows" in out
    assert "left out: episode 1: its file" in out


def test_an_environment_is_played(tmp_path: Path) -> None:
    out = output_of("CartPole-v1", "--episodes", "5", "--seed", "2", "--max-steps", "9", folder=tmp_path)
    assert "CartPole-v1: 5 trajectories" in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["CartPole-v1", "--features", "speed"], "there is no feature 'speed': the features are mean"),
        (["CartPole-v1", "--window", "soon"], "a length is a number of steps"),
        (["CartPole-v1", "--table", "t.csv"], "has no option 'table'"),
        (["CartPole-v1", "--figure", "look.doc"], "a figure is saved as"),
        (["CartPole-v1", "--out", "features.csv"], "features are kept in a .parquet file"),
    ],
)
def test_what_cannot_be_is_one_line(
    words: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_here(monkeypatch, "features", *words) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("prefero: ")
    assert message in said.err
    assert said.err.count("\n") == 1


def test_what_is_no_dataset_is_told_what_a_dataset_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_here(monkeypatch, "features", "nowhere") == 2
    said = capsys.readouterr().err
    assert said.startswith("prefero: no such file or dataset: 'nowhere'.\nA dataset is one of\n  a LeRobot")
    assert "Traceback" not in said


def test_columns_of_a_table_are_chosen_by_name_and_texts_are_named(tmp_path: Path) -> None:
    rows = "run,operator,speed,energy\nr1,anna,0.5,2\nr2,bo,0.7,3.5\nr3,anna,0.1,1.5\n"
    (tmp_path / "runs.csv").write_text(rows, encoding="utf-8")
    done = run("runs.csv", folder=tmp_path)
    assert re.search(r"runs: not features.*operator \('anna'\); --f", done.stderr)
    assert "runs: 3 trajectories, 2 features." in done.stdout
    done = run("runs.csv", "--features", "energy", "--log-transform", "energy", folder=tmp_path)
    assert done.stderr == ""
    kept = pq.read_table(tmp_path / "features.parquet").to_pydict()
    assert kept["episode"] == ["r1", "r2", "r3"]
    np.testing.assert_allclose(kept["log(energy)"], np.log([2, 3.5, 1.5]))


@pytest.mark.parametrize("what", ["t.parquet", "table:t.parquet"])
def test_nothing_that_it_reads_is_overwritten(what: str, tmp_path: Path) -> None:
    pq.write_table(pa.table({"id": [1, 2, 3], "a": [2.0, 3.0, 5.0]}), tmp_path / "t.parquet")
    before = (tmp_path / "t.parquet").read_bytes()
    done = run(what, "--out", "t.parquet", folder=tmp_path)
    assert done.returncode == 2
    assert f"t.parquet belongs to {what}, and would be overwritten" in done.stderr
    assert (tmp_path / "t.parquet").read_bytes() == before
