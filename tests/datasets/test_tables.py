"""Tables: what becomes a feature, what an id, and what is refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from prefero.datasets import BadEpisode, FeatureDataset, FeatureOptions, extract_features, open_dataset
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
        ({"speed": [1.0], "who": ["x"]}, {}, "column 'who' does not hold numbers: choose the columns"),
        ({"speed": [1.0]}, {"features": ["weight"]}, "known already: choose among speed, not 'weight'"),
        ({"speed": [1.0]}, {"ids": "who"}, "no column 'who': the columns are speed"),
        ({"id": ["a"]}, {}, "no columns of features"),
        ({"episode": [1, 1], "x": [1.0, 2.0]}, {}, r"'1' more than once: .* \.npz archive with states"),
        (7, {}, "a table is a pandas frame, .* but this is int"),
    ],
)
def test_a_table_that_makes_no_sense_is_refused(table: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        extract_features(table_in_memory(table, options.get("ids")), options.get("features"))


def test_a_missing_number_is_named_with_its_row() -> None:
    holes = FRAME.assign(speed=[1.0, None, 3.0])
    with pytest.raises(BadEpisode, match=r"episode b: its feature 'speed' is nan.*--skip-bad"):
        extract_features(table_in_memory(holes))
    found = extract_features(table_in_memory(holes), FeatureOptions(skip_bad=True))
    assert (found.ids, found.skipped) == (("a", "c"), {"b": "its feature 'speed' is nan"})


def test_a_table_without_rows_says_so(tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("id,speed\n", encoding="utf-8")
    with pytest.raises(ValueError, match="mine has no trajectory that can be used: it has no rows"):
        extract_features(open_dataset(tmp_path / "mine.csv"))


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".npz"])
def test_a_damaged_file_is_named(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"mine{suffix}"
    path.write_bytes(b"PAR1 or PK, but not really \x00\xff,\n1,2,3\n4")
    with pytest.raises(ValueError, match=rf"mine{suffix} is damaged or is no"):
        open_dataset(path)


def test_a_column_of_texts_matters_only_if_it_is_a_feature() -> None:
    found = table_in_memory({"task": ["lift", "push"], "speed": [1.0, 2.0]})
    assert found.select(["speed"]).features.tolist() == [[1.0], [2.0]]
    with pytest.raises(ValueError, match="column 'task' does not hold numbers"):
        _ = found.features


def test_tables_in_memory_are_told_apart_by_all_that_they_hold() -> None:
    others = (FRAME.assign(speed=[1.0, 2.0, 4.0]), FRAME.assign(id=["a", "b", "d"]), FRAME[["id", "speed"]])
    versions = {in_memory(frame).version for frame in (FRAME, *others)}
    assert len(versions) == 4
    assert in_memory(FRAME.copy()).version in versions
