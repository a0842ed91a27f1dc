"""Results: every run in its own file, whole or not at all, and all of them in one table."""

import dataclasses
import json
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import prefero
from experiments.fake_runs import RIGHT, fabricate, learned, rows_of
from prefero.experiments.results import METADATA, Results
from prefero.experiments.runs import VERSION, Run
from prefero.experiments.settings import Setting

SETTING = Setting("driver", "linear", trajectories=24, test_size=6, questions=16)
RUNS = [Run(SETTING, method, seed) for method in ("Prefero", "Oracle") for seed in (0, 1)]


@pytest.fixture
def results(tmp_path: Path) -> Results:
    return Results(tmp_path)


# --- one run ----------------------------------------------------------------------------------------------


def test_a_run_comes_back_as_it_was(results: Results) -> None:
    saved = fabricate(results, RUNS)
    assert len({tuple(rows["accuracy"]) for rows in saved.values()}) == len(RUNS)
    for run in RUNS:
        assert results.rows(run) == saved[run]


def test_a_file_says_what_it_is_of(results: Results) -> None:
    results.save(RUNS[1], learned(RUNS[1]))
    about = json.loads(parquet.read_schema(results.path(RUNS[1])).metadata[METADATA])
    assert about == {
        **SETTING.to_json(),
        "method": "Prefero",
        "seed": 1,
        "version": VERSION,
        "prefero": prefero.__version__,
    }


def test_a_run_that_was_not_done_is_named(results: Results) -> None:
    with pytest.raises(FileNotFoundError, match=r"Prefero in driver with seed 0 .*\.parquet"):
        results.rows(RUNS[0])


def test_what_is_missing_is_what_was_not_saved_each_once(results: Results) -> None:
    assert results.missing([*RUNS, RUNS[0]]) == RUNS
    results.save(RUNS[1], learned(RUNS[1]))
    assert results.missing(iter([*RUNS, *RUNS])) == [RUNS[0], RUNS[2], RUNS[3]]


def test_a_changed_configuration_is_another_run(results: Results) -> None:
    results.save(RUNS[0], learned(RUNS[0]))
    changed = Run(dataclasses.replace(SETTING, noise=0.2), RUNS[0].method, RUNS[0].seed)
    assert results.missing([changed]) == [changed]


def test_curves_have_a_row_for_each_run_and_no_number_where_nothing_was_measured(results: Results) -> None:
    saved = fabricate(results, RUNS)
    np.testing.assert_array_equal(results.curves(RUNS, "accuracy"), [saved[run]["accuracy"] for run in RUNS])
    best = results.curves(RUNS[:2], "best_reward")
    assert best.shape == (2, 16)
    assert np.flatnonzero(np.isfinite(best[0])).tolist() == [4, 9, 14]


# --- what goes wrong --------------------------------------------------------------------------------------


def test_an_interrupted_write_leaves_nothing(results: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    def replace(*_: Any) -> None:
        raise OSError("the disk is gone")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", replace)
        with pytest.raises(OSError, match="the disk is gone"):
            results.save(RUNS[0], learned(RUNS[0]))
    assert [path for path in results.folder.rglob("*") if path.is_file()] == []
    assert results.missing(RUNS) == RUNS


def test_an_interrupted_write_leaves_the_old_file(results: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    def replace(*_: Any) -> None:
        raise KeyboardInterrupt

    saved = fabricate(results, RUNS[:1])
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", replace)
        with pytest.raises(KeyboardInterrupt):
            results.save(RUNS[0], rows_of(16))
    assert results.rows(RUNS[0]) == saved[RUNS[0]]
    assert len(list(results.folder.rglob("*.parquet*"))) == 1


@pytest.mark.parametrize("kept", [0, 4, 300, -1])
def test_a_damaged_file_is_as_good_as_none_or_is_named_with_the_way_out(results: Results, kept: int) -> None:
    results.save(RUNS[0], learned(RUNS[0]))
    path = results.path(RUNS[0])
    path.write_bytes(path.read_bytes()[:kept])
    if results.missing(RUNS[:1]):
        return
    with pytest.raises(ValueError, match=path.name) as caught:
        results.rows(RUNS[0])
    assert re.search(r"(?i)\b(delete|remove)\b", str(caught.value))


# --- all of them ------------------------------------------------------------------------------------------


@pytest.fixture
def exported(results: Results) -> tuple[pa.Table, dict[Run, Any]]:
    """Runs of several lengths, kinds and seeds, one of them named twice."""
    short = Run(dataclasses.replace(SETTING, questions=4, lapse_rate=0.1), "Oracle", 7)
    golf = Run(dataclasses.replace(SETTING, world="golf", truth="targets", questions=31), "Prefero, best", 2)
    runs = [*RUNS, short, golf]
    saved = fabricate(results, runs)
    fabricate(results, [Run(SETTING, "ActiveLinear", 0)])  # there, but not asked for
    path = results.folder / "results.parquet"
    results.export([*runs, RUNS[0]], path)
    return parquet.read_table(path), saved


def test_the_table_has_all_rows_of_the_runs_with_their_configuration(
    exported: tuple[pa.Table, dict[Run, Any]],
) -> None:
    table, saved = exported
    found = table.to_pylist()
    wanted = [
        {**run.to_json(), **dict(zip(rows, values, strict=True))}
        for run, rows in saved.items()
        for values in zip(*rows.values(), strict=True)
    ]
    assert found == wanted
    assert len(found) == 4 * 16 + 4 + 31


def test_the_columns_of_the_table_have_their_types(exported: tuple[pa.Table, dict[Run, Any]]) -> None:
    table, _ = exported
    kinds = {
        "world truth method choice": "string",
        "noise lapse_rate margin accuracy log_likelihood best_reward answer_accuracy": "double",
        "trajectories test_size questions seed version question left": "int64",
        f"bin_counts {RIGHT}": "list<int64>",
    }
    wanted = {name: kind for names, kind in kinds.items() for name in names.split()}
    found = {field.name: plain(field.type) for field in table.schema}
    assert found == {**dict.fromkeys(table.column_names, "int64"), **wanted}
    assert table.column_names[:2] == ["world", "truth"]


def plain(kind: Any) -> str:
    """A dictionary is only a way to keep strings."""
    if pa.types.is_dictionary(kind):
        return str(kind.value_type)
    return f"list<{kind.value_type}>" if pa.types.is_list(kind) else str(kind)


def test_a_table_of_one_run_is_a_table(results: Results) -> None:
    fabricate(results, RUNS[:1])
    results.export(RUNS[:1], results.folder / "one.parquet")
    assert parquet.read_table(results.folder / "one.parquet")["seed"].to_pylist() == [0] * 16


def test_a_table_of_runs_that_were_not_done_is_refused(results: Results) -> None:
    with pytest.raises(FileNotFoundError, match="parquet"):
        results.export(RUNS, results.folder / "none.parquet")
    assert not (results.folder / "none.parquet").exists()
