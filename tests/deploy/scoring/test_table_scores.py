"""A large table is scored a block at a time, with the result of scoring it at once."""

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from prefero import Learner, Pool, PreferenceGP, Question, Reward
from prefero.datasets.formats import table_chunks
from prefero.datasets.formats.table_chunks import TableChunks
from prefero.kernels import RBF
from run_here import run_here

COUNT = 400  # more than stand for all when the reward is standardized


@pytest.fixture
def reward(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Reward:
    """A reward in the working folder, where tables are written too."""
    monkeypatch.chdir(tmp_path)
    pool = Pool(np.random.default_rng(1).normal(size=(20, 2)), ["speed", "height"])
    learner = Learner(pool, model=PreferenceGP(RBF(1.0), noise=0.1, learn=False))
    learner.tell(Question(0, 1), "left")
    learner.tell(Question(2, 3), "right")
    made = learner.reward()
    made.save("reward.json")
    return made


def frame(**columns: object) -> pd.DataFrame:
    rng = np.random.default_rng(2)
    return pd.DataFrame({"height": rng.normal(size=COUNT), "speed": rng.normal(size=COUNT), **columns})


def written(table: pd.DataFrame, name: str) -> str:
    if name.endswith(".csv"):
        table.to_csv(name, index=False)
    else:
        table.to_parquet(name, index=False, row_group_size=64)
    return name


def read(name: str) -> pd.DataFrame:
    return pd.read_csv(name) if name.endswith(".csv") else pq.read_table(name).to_pandas()


def in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_chunks, "ROWS", 30)
    monkeypatch.setattr(table_chunks, "CSV_BYTES", 2048)


@pytest.mark.usefixtures("reward")
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize(
    "columns",
    [
        {},
        {"id": [f"shot {n}" for n in range(COUNT)]},
        {"note": [None, "soft"] * (COUNT // 2), "tries": [*range(COUNT - 1), None]},
    ],
    ids=["no ids", "ids", "gaps"],
)
def test_blocks_give_what_the_whole_table_gives(
    suffix: str,
    columns: dict[str, object],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    table = written(frame(**columns), f"table.{suffix}")
    assert run_here(monkeypatch, "score", "reward.json", table, "--out", f"whole.{suffix}") == 0
    whole = capsys.readouterr().out
    in_blocks(monkeypatch)
    assert TableChunks.of(Path(table)).is_large
    assert run_here(monkeypatch, "score", "reward.json", table, "--out", f"blocks.{suffix}") == 0
    assert capsys.readouterr().out.replace("blocks.", "whole.") == whole
    pd.testing.assert_frame_equal(
        read(f"blocks.{suffix}"), read(f"whole.{suffix}"), check_dtype=False, rtol=0, atol=1e-12
    )


@pytest.mark.usefixtures("reward")
def test_no_rows_but_those_of_one_block_are_read_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    table = Path(written(frame(), "table.parquet"))
    in_blocks(monkeypatch)
    parts = [(part.first_row, len(part), part.ids[0]) for part in TableChunks.of(table)]
    assert {size for _, size, _ in parts} <= set(range(1, 31))
    assert [first for first, _, _ in parts] == np.cumsum([0, *(size for _, size, _ in parts)])[:-1].tolist()
    assert all(name == str(first) for first, _, name in parts)


@pytest.mark.usefixtures("reward")
def test_some_rows_of_a_table_are_those_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    table = frame()
    in_blocks(monkeypatch)
    taken = TableChunks.of(Path(written(table, "table.parquet"))).take(np.array([3, 31, 32, 399]))
    np.testing.assert_array_equal(taken.features, table.iloc[[3, 31, 32, 399]].to_numpy())


@pytest.mark.usefixtures("reward")
def test_a_bad_row_late_in_a_table_leaves_no_file(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = frame()
    broken.loc[390, "speed"] = np.nan
    table = written(broken, "table.parquet")
    in_blocks(monkeypatch)
    assert run_here(monkeypatch, "score", "reward.json", table, "--out", "scores.parquet") == 2
    assert "episode 390: its feature 'speed' is missing" in capsys.readouterr().err
    assert not list(Path().glob("*scores*"))
    assert run_here(monkeypatch, "score", "reward.json", table, "--out", "scores.parquet", "--skip-bad") == 0
    assert "left out: episode 390" in capsys.readouterr().out
    assert len(read("scores.parquet")) == COUNT - 1
    assert list(read("scores.parquet")["trajectory"].tail(2)) == [398, 399]


@pytest.mark.usefixtures("reward")
def test_a_table_does_not_overwrite_itself(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    table = written(frame(), "table.parquet")
    in_blocks(monkeypatch)
    assert run_here(monkeypatch, "score", "reward.json", table, "--out", table) == 2
    assert "would be overwritten" in capsys.readouterr().err
