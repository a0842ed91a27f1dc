"""Tables, archives and folders of clips: what becomes a feature, what an id, and what is refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from datasets.recorded import clips, colors_in, cut_short, shade
from prefero.datasets import BadEpisode, FeatureDataset, extract_features, open_dataset
from prefero.datasets.formats.tables import Arrays, archive_dataset, holds_pool, in_memory, table_dataset
from prefero.datasets.formats.video_folder import clips_dataset

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
    found = table_dataset(written(kind, tmp_path))
    assert (found.names, found.ids) == (("speed", "height"), ("a", "b", "c"))
    np.testing.assert_array_equal(found.features, [[1, 4], [2, 6], [3, 5]])


def test_columns_can_be_chosen_and_the_ids_named() -> None:
    found = table_dataset(FRAME.rename(columns={"id": "who"}), ["height"], ids="who")
    assert (found.names, found.ids) == (("height",), ("a", "b", "c"))


def test_rows_without_ids_are_numbered() -> None:
    assert table_dataset({"speed": [3.0, 4.0]}).ids == ("0", "1")


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        ({"speed": [1.0], "who": ["x"]}, {}, "column 'who' does not hold numbers: name the columns"),
        ({"speed": [1.0]}, {"features": ["weight"]}, "no column 'weight': the columns are speed"),
        ({"speed": [1.0]}, {"ids": "who"}, "no column 'who': the columns are speed"),
        ({"id": ["a"]}, {}, "no columns of features"),
        ({"episode": [1, 1], "x": [1.0, 2.0]}, {}, r"'1' more than once: .* \.npz archive with states"),
        (7, {}, "a table is a pandas frame, .* but this is int"),
    ],
)
def test_a_table_that_makes_no_sense_is_refused(table: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        table_dataset(table, **options)


def test_a_missing_number_is_named_with_its_row() -> None:
    holes = FRAME.assign(speed=[1.0, None, 3.0])
    with pytest.raises(BadEpisode, match=r"episode b: its feature 'speed' is nan.*--skip-bad"):
        extract_features(table_dataset(holes))
    found = extract_features(table_dataset(holes), skip_bad=True)
    assert (found.ids, found.left_out) == (("a", "c"), {"b": "its feature 'speed' is nan"})


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


# --- archives ---------------------------------------------------------------------------------------------


def states(count: int = 3, steps: int = 6) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    return {"states": rng.normal(size=(count, steps + 1, 2)), "actions": rng.normal(size=(count, steps, 1))}


def test_an_archive_of_features_keeps_names_and_ids(tmp_path: Path) -> None:
    path = tmp_path / "mine.npz"
    np.savez(path, features=np.arange(6.0).reshape(3, 2), names=["u", "v"], ids=["a", "b", "c"])
    found = open_dataset(path)
    assert isinstance(found, FeatureDataset)
    assert (found.name, found.names, found.ids) == ("mine", ("u", "v"), ("a", "b", "c"))
    assert extract_features(found, ["v"]).features.tolist() == [[1.0], [3.0], [5.0]]


def test_an_archive_of_states_is_a_dataset_of_episodes(tmp_path: Path) -> None:
    path, made = tmp_path / "mine.npz", states()
    np.savez(path, **made, rewards=np.ones((3, 6)), seconds=0.5, lengths=[6, 3, 5], state_names=["x", "y"])
    found = open_dataset(path)
    assert isinstance(found, Arrays)
    second = found.episode(1)
    np.testing.assert_array_equal(second.states, made["states"][1, :4])
    np.testing.assert_array_equal(second.actions, made["actions"][1, :3])
    assert (second.duration, second.state_names) == (1.5, ("x", "y"))
    assert extract_features(found, ["return", "duration"], jobs=1).features.tolist() == [
        [6, 3.0],
        [3, 1.5],
        [5, 2.5],
    ]


def test_states_alone_will_do() -> None:
    found = in_memory({"states": np.zeros((2, 5, 3))})
    assert isinstance(found, Arrays)
    assert (len(found.episode(0)), found.episode(0).actions.shape) == (5, (5, 0))


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"poses": np.zeros(3)}, "holds features or states, but this one holds poses"),
        ({"features": np.zeros(3)}, r"shape \(trajectories, features\), but these have \(3,\)"),
        ({"features": np.zeros((3, 2)), "names": ["a"]}, "have 1 names and 3 ids"),
        ({"states": np.zeros((3, 2))}, "numbers of shape"),
        ({"states": np.array([[["a"]]])}, "numbers of shape"),
        (states() | {"lengths": [6, 6]}, "states of 3 episodes, but lengths of 2"),
        (states() | {"actions": np.zeros((2, 6, 1))}, "states of 3 episodes, but actions of 2"),
        (states() | {"seconds": -1.0}, r"a step lasts a positive time, but archive says -1\.0 s"),
    ],
)
def test_an_archive_that_makes_no_sense_is_refused(arrays: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        archive_dataset(arrays)


def test_a_length_beyond_the_arrays_is_the_episodes_fault() -> None:
    with pytest.raises(BadEpisode, match="episode 1: its length is 9, but the arrays have 6 steps"):
        Arrays("mine", states() | {"lengths": np.array([6, 9, 6])}).episode(1)


@pytest.mark.parametrize("key", ["states", "actions", "rewards", "lengths", "seconds", "ids", "state_names"])
def test_arrays_in_memory_are_told_apart_by_all_that_they_hold(key: str) -> None:
    made = states() | {"rewards": np.ones((3, 6)), "lengths": np.array([6, 6, 6]), "seconds": 0.5}
    made |= {"ids": np.array(["a", "b", "c"]), "state_names": np.array(["x", "y"])}
    there = np.asarray(made[key])
    other = made | {key: there * 0.5 if there.dtype.kind in "fi" else np.char.add(there, "+")}
    assert in_memory(made).version == in_memory(dict(made)).version
    assert in_memory(made).version != in_memory(other).version


def test_tables_in_memory_are_told_apart_by_all_that_they_hold() -> None:
    others = (FRAME.assign(speed=[1.0, 2.0, 4.0]), FRAME.assign(id=["a", "b", "d"]), FRAME[["id", "speed"]])
    versions = {in_memory(frame).version for frame in (FRAME, *others)}
    assert len(versions) == 4
    assert in_memory(FRAME.copy()).version in versions


def test_an_archive_may_hold_no_code(tmp_path: Path) -> None:
    np.savez(tmp_path / "bad.npz", features=np.array([object()]))
    with pytest.raises(ValueError, match="damaged or is no NumPy archive"):
        open_dataset(tmp_path / "bad.npz")


def test_a_pool_is_told_from_an_archive(tmp_path: Path) -> None:
    np.savez(tmp_path / "archive.npz", features=np.zeros((2, 2)))
    np.savez(tmp_path / "pool.npz", header=np.zeros(3), features=np.zeros((2, 2)))
    assert not holds_pool(tmp_path / "archive.npz")
    assert holds_pool(tmp_path / "pool.npz")
    with pytest.raises(ValueError, match=r"is a pool of Prefero's own: Pool\.load reads it"):
        open_dataset(tmp_path / "pool.npz")


# --- clips ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return clips(tmp_path_factory.mktemp("clips") / "throws")


def test_a_folder_of_clips_has_features_films_and_ids(folder: Path) -> None:
    found = open_dataset(folder)
    assert isinstance(found, FeatureDataset)
    assert (found.name, found.names, found.ids[1]) == ("throws", ("speed", "height"), "throw 1.mp4")
    assert extract_features(found).features[2].tolist() == [3.0, 4.0]


def test_a_film_that_browsers_play_is_shown_as_it_is(folder: Path, tmp_path: Path) -> None:
    found = clips_dataset(folder)
    assert found.cut_clip(1, tmp_path) == folder / "throw 1.mp4"
    assert list(tmp_path.iterdir()) == []


def test_another_film_is_copied_into_one_that_they_play(tmp_path: Path) -> None:
    found = clips_dataset(clips(tmp_path / "old", count=2, codec="mpeg4"))
    path = found.cut_clip(1, tmp_path / "new")
    assert path == tmp_path / "new" / "000001.mp4"
    np.testing.assert_allclose(colors_in(path), [shade(1, t) for t in range(6)], atol=12)


def test_a_table_elsewhere_may_name_films_without_their_suffix(folder: Path) -> None:
    found = clips_dataset(folder, pd.DataFrame({"id": ["throw 3", "throw 0"], "fun": [1.0, 2.0]}))
    assert found.films == (folder / "throw 3.mp4", folder / "throw 0.mp4")
    assert found.ids == ("throw 3", "throw 0")


def test_missing_and_damaged_films_are_named(tmp_path: Path) -> None:
    folder = clips(tmp_path / "throws")
    (folder / "throw 1.mp4").unlink()
    cut_short(folder / "throw 3.mp4", 0.6)
    with pytest.raises(BadEpisode, match=r"^episode throw 1.mp4: the film .* is missing"):
        extract_features(clips_dataset(folder))
    found = extract_features(clips_dataset(folder), skip_bad=True)
    assert found.ids == ("throw 0.mp4", "throw 2.mp4", "throw 4.mp4")
    assert "cut short" in found.left_out["throw 3.mp4"]


def test_a_folder_needs_one_table_that_says_which_film_is_which(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(
        ValueError, match=r"should hold one table .*, but there is none: say which with --table"
    ):
        clips_dataset(tmp_path)
    with pytest.raises(ValueError, match="must say which film a row is about"):
        clips_dataset(folder, {"speed": [1.0]})
    with pytest.raises(ValueError, match="is not there"):
        clips_dataset(tmp_path / "nowhere")
