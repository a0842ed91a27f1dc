"""Tables: what becomes a feature, what an id, and what is refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from prefero import Pool
from prefero.datasets import BadEpisode, FeatureDataset, FeatureOptions, extract_features, open_dataset
from prefero.datasets.features.extraction.options import join_words, split_words
from prefero.datasets.formats.archives import in_memory
from prefero.datasets.formats.tables import table_in_memory

FRAME = pd.DataFrame({"id": ["a", "b", "c"], "speed": [1.0, 2.0, 3.0], "height": [4, 6, 5]})


def written(kind: str, folder: Path) -> Any:
    path = folder / f"throws.{kind}"
    if kind == "csv":
        FRAME.to_csv(path, index=False)
    elif kind == "parquet":
        pq.write_table(pa.Table.from_pandas(FRAME, preserve_index=False), path)
    return {"frame": FRAME, "mapping": FRAME.to_dict("list")}.get(kind, path)


@pytest.mark.parametrize("kind", ["csv", "parquet", "frame", "mapping"])
def test_every_column_of_numbers_is_a_feature_and_the_ids_are_none(kind: str, tmp_path: Path) -> None:
    table = written(kind, tmp_path)
    found = open_dataset(table) if isinstance(table, Path) else table_in_memory(table)
    assert isinstance(found, FeatureDataset)
    assert (found.names, found.ids) == (("speed", "height"), ("a", "b", "c"))
    np.testing.assert_array_equal(found.features, [[1, 4], [2, 6], [3, 5]])


def test_columns_can_be_chosen_and_the_ids_named() -> None:
    found = table_in_memory(FRAME.rename(columns={"id": "who"}), ids="who").select(["height"])
    assert (found.names, found.ids) == (("height",), ("a", "b", "c"))
    assert found.features.tolist() == [[4.0], [6.0], [5.0]]


def test_rows_without_ids_are_numbered() -> None:
    assert table_in_memory({"speed": [3.0, 4.0]}).ids == ("0", "1")


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        ({"speed": [1.0], "who": ["x"]}, {"features": "speed,who"}, "'who' .*two different values"),
        ({"speed": [1.0]}, {"features": ["sped"]}, "no column 'sped'; did you mean 'speed'"),
        ({"speed": [1.0]}, {"ids": "who"}, "no column 'who': .*speed"),
        ({"id": ["a"], "who": ["b"]}, {}, "no columns of numbers: .*id, who"),
        ({"episode": [1, 1], "x": [1.0, 2.0]}, {}, r"'1' more than once: .* \.npz archive with states"),
        (7, {}, "a pandas frame, .*int"),
    ],
)
def test_a_table_that_makes_no_sense_is_refused(table: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        extract_features(table_in_memory(table, options.get("ids")), options.get("features"))


def test_a_missing_number_is_named_with_its_row() -> None:
    holes = FRAME.assign(speed=[1.0, None, 3.0])
    said = "its feature 'speed' is missing, in this row only: fill it in, or teach without it"
    with pytest.raises(BadEpisode, match=rf"episode b: {said}.*--skip-bad"):
        extract_features(table_in_memory(holes))
    found = extract_features(table_in_memory(holes), FeatureOptions(skip_bad=True))
    assert (found.ids, found.skipped) == (("a", "c"), {"b": f"{said} (--drop 'speed')"})
    holes = FRAME.assign(speed=[None, None, 3.0])
    with pytest.raises(BadEpisode, match=r"'speed' is missing, .*2 of 3 rows"):
        extract_features(table_in_memory(holes))


def test_a_table_without_rows_says_so(tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("id,speed\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"mine .*no rows"):
        extract_features(open_dataset(tmp_path / "mine.csv"))


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".npz"])
def test_a_damaged_file_is_named(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"mine{suffix}"
    path.write_bytes(b"PAR1 or PK, but not really \x00\xff,\n1,2,3\n4")
    with pytest.raises(ValueError, match=rf"mine{suffix} is damaged"):
        open_dataset(path)


# --- tables with texts ------------------------------------------------------------------------------------

RUNS = """run,operator,speed,energy,date,success,notes
r1,anna,0.5,2.0,2026-01-01,true,
r2,bo,0.7,3.5,2026-01-02,false,
r3,anna,0.1,1.5,2026-01-03,true,
"""
TEXTS = r"not features.*: operator \('anna'\), date \(.*2026-01-01.*\), notes \(empty\); --features A,B,C"


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    path = tmp_path / "runs.csv"
    path.write_text(RUNS, encoding="utf-8")
    return path


def test_columns_without_numbers_are_left_out_with_a_line_that_names_them(runs: Path) -> None:
    with pytest.warns(UserWarning, match=TEXTS):
        found = extract_features(open_dataset(runs))
    assert (found.names, found.ids) == (("speed", "energy", "success"), ("r1", "r2", "r3"))
    frame = pd.read_csv(runs, parse_dates=["date"])
    with pytest.warns(UserWarning, match=TEXTS):
        in_frame = extract_features(table_in_memory(frame))
    np.testing.assert_array_equal(in_frame.features, found.features)
    assert in_frame.ids == found.ids


def test_chosen_columns_need_no_line(runs: Path) -> None:
    for chosen in ("energy,speed", ["energy", "speed"], ("energy", "speed")):
        assert extract_features(open_dataset(runs), chosen).names == ("energy", "speed")
        assert Pool.from_table(runs, chosen).names == ("energy", "speed")


def test_a_column_without_numbers_can_be_dropped(runs: Path) -> None:
    with pytest.warns(UserWarning, match=r"operator \('anna'\), date \(.*\); --features A,B,C"):
        found = extract_features(open_dataset(runs), FeatureOptions(drop="notes,energy"))
    assert found.names == ("speed", "success")


def test_the_ids_are_a_named_column_else_the_index_else_texts_that_differ() -> None:
    columns = {"operator": ["anna", "bo", "anna"], "run": ["r1", "r2", "r3"], "speed": [1.0, 2.0, 3.0]}
    frame = pd.DataFrame(columns)
    assert table_in_memory(frame).ids == ("r1", "r2", "r3")
    assert table_in_memory(frame.assign(id=[7, 8, 9])).ids == ("7", "8", "9")
    assert table_in_memory(frame.assign(u=[5, 4, 3]), ids="u").ids == ("5", "4", "3")
    assert table_in_memory(frame.set_index("run")).ids == ("r1", "r2", "r3")
    assert table_in_memory(frame.set_index(["run", "operator"])).ids == ("r1/anna", "r2/bo", "r3/anna")
    assert table_in_memory(frame.set_index("operator")[["speed"]]).ids == ("0", "1", "2")  # anna is twice
    assert table_in_memory(pa.table(columns)).ids == ("r1", "r2", "r3")


def test_numbers_with_gaps_are_numbers_in_any_kind_of_column() -> None:
    gaps = pd.DataFrame({"speed": pd.array([1, None, 3], dtype="Int64"), "height": ["1.5", "2", "3"]})
    found = table_in_memory(gaps)
    np.testing.assert_array_equal(found.features, [[1, 1.5], [np.nan, 2], [3, 3]])


def test_words_are_split_at_commas_outside_of_brackets_and_quotes() -> None:
    text = 'speed, max(x, y),"size, total",goal(x=0.3, y=max(1, 2)),'
    words = ("speed", "max(x, y)", "size, total", "goal(x=0.3, y=max(1, 2))")
    assert split_words(text) == words
    assert split_words(join_words(words)) == words
    assert FeatureOptions(text).features == words
    assert FeatureOptions(["size, total"]).features == ("size, total",)


def test_tables_in_memory_are_told_apart_by_all_that_they_hold() -> None:
    others = (FRAME.assign(speed=[1.0, 2.0, 4.0]), FRAME.assign(id=["a", "b", "d"]), FRAME[["id", "speed"]])
    versions = {in_memory(frame).version for frame in (FRAME, *others)}
    assert len(versions) == 4
    assert in_memory(FRAME.copy()).version in versions
