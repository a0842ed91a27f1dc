"""Extraction on all cores, the feature cache, and tables of features afterwards."""

import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from prefero import Pool
from prefero.datasets import (
    BadEpisode,
    DatasetSpec,
    Episode,
    EpisodeDataset,
    FeatureDataset,
    FeatureOptions,
    FeatureTable,
    extract_features,
    open_dataset,
)
from prefero.datasets.columns import matrix_columns
from prefero.datasets.features.tables.cache import cache_path
from prefero.datasets.features.tables.summary import bars, save_histograms, summarize
from prefero.datasets.formats.archives import ArchiveDataset


def walks(count: int = 80, steps: int = 12, **more: Any) -> ArchiveDataset:
    rng = np.random.default_rng(3)
    states = np.cumsum(rng.normal(size=(count, steps + 1, 2)), axis=1)
    arrays = {
        "states": states,
        "actions": rng.normal(size=(count, steps, 1)),
        "state_names": np.array(["x", "y"]),
    }
    return ArchiveDataset("walks", arrays | more)


class Counted(EpisodeDataset):
    """Episodes that count how often they are read, of which some are damaged, or end the process."""

    def __init__(self, bad: Iterable[int] = (), interrupted_at: int | None = None) -> None:
        self.name, self.ids = "counted", tuple(map(str, range(80)))
        self.spec = DatasetSpec("counted", "counted", {})
        self.bad, self.interrupted_at, self.seen = set(bad), interrupted_at, list[int]()

    def episode(self, number: int) -> Episode:
        if number == self.interrupted_at:
            raise KeyboardInterrupt
        self.seen.append(number)
        if number in self.bad:
            raise BadEpisode(str(number), "it is torn")
        return Episode(str(number), np.full((4, 1), float(number)), np.zeros((3, 1)))


# --- extraction -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("named", [True, False])
def test_several_processes_find_what_one_finds(named: bool, tmp_path: Path) -> None:
    np.savez(tmp_path / "walks.npz", states=walks().states)
    dataset = open_dataset(tmp_path / "walks.npz")
    if not named:
        dataset.spec = None  # then the dataset itself is sent to the workers
    words = ["mean", "path-length", "pca(2)", "random-network(3)"]
    one, several = (extract_features(dataset, FeatureOptions(words, jobs=jobs)) for jobs in (1, 2))
    np.testing.assert_array_equal(one.features, several.features)
    assert one.names == several.names
    assert one.ids == several.ids == tuple(map(str, range(80)))


def test_features_are_those_of_the_episodes_in_their_order() -> None:
    dataset = walks()
    found = extract_features(dataset, FeatureOptions(["final", "duration"], jobs=1))
    np.testing.assert_array_equal(found.features[:, :2], dataset.states[:, -1])
    assert found.names == ("final x", "final y", "duration")
    assert found.steps is not None
    assert set(found.steps.tolist()) == {12}


def test_windows_become_rows_of_their_own() -> None:
    dataset = walks(3, lengths=np.array([12, 4, 9]))
    found = extract_features(dataset, FeatureOptions(["final"], window=5, stride=3, jobs=1))
    assert found.ids == ("0[0:5]", "0[3:8]", "0[6:11]", "2[0:5]", "2[3:8]")
    np.testing.assert_array_equal(found.features[1], dataset.states[0, 8])
    assert found.skipped == {"1": "its 4 steps are fewer than a window has"}


def test_a_damaged_episode_stops_everything_or_is_left_out() -> None:
    with pytest.raises(BadEpisode, match=r"^episode 33: it is torn.* --skip-bad"):
        extract_features(Counted(bad=[33, 70]), FeatureOptions(["mean"], jobs=1))
    found = extract_features(Counted(bad=[33, 70]), FeatureOptions(["mean"], skip_bad=True, jobs=1))
    assert found.skipped == {"33": "it is torn", "70": "it is torn"}
    assert found.features[:, 0].tolist() == [n for n in range(80) if n not in (33, 70)]


def test_a_dataset_of_nothing_but_damage_says_why() -> None:
    why = (
        r"counted has no episode that can be used: 0: it is torn; 1: it is torn; 2: it is torn; and 77 more$"
    )
    with pytest.raises(ValueError, match=why):
        extract_features(Counted(bad=range(80)), FeatureOptions(["mean"], skip_bad=True, jobs=1))


def test_what_others_say_ends_in_no_second_full_stop() -> None:
    torn = BadEpisode("3", "it is no parquet file.")
    assert str(torn) == "episode 3: it is no parquet file"
    assert str(torn.with_skip_hint()).startswith("episode 3: it is no parquet file. Use --skip")


def test_user_code_that_fails_is_named_with_the_episode_and_may_be_skipped() -> None:
    def boom(episode: Episode) -> float:
        return 1.0 / (int(episode.id) - 33)

    with pytest.raises(BadEpisode, match=r"^episode 33: boom fails: ZeroDivisionError\(.*--skip-bad"):
        extract_features(Counted(), FeatureOptions([boom], jobs=1))
    found = extract_features(Counted(), FeatureOptions([boom], skip_bad=True, jobs=1))
    assert (len(found), list(found.skipped)) == (79, ["33"])


def test_features_that_differ_between_episodes_are_refused() -> None:
    def odd(episode: Episode) -> dict[str, float]:
        return {"a" if episode.id == "50" else "b": 1.0}

    with pytest.raises(ValueError, match=r"same features.* 50 are a"):
        extract_features(walks(), FeatureOptions([odd], jobs=1))
    with pytest.raises(ValueError, match=r"feature .*'steps'"):
        extract_features(walks(), FeatureOptions([lambda _: {"steps": 1.0}], jobs=1))


# --- the feature cache ------------------------------------------------------------------------------------


def test_batches_finished_before_an_interruption_are_not_extracted_again(tmp_path: Path) -> None:
    path = tmp_path / "features.parquet"
    warned = pytest.warns(UserWarning, match=r"features\.parquet are kept")
    with warned, pytest.raises(KeyboardInterrupt):
        extract_features(Counted(interrupted_at=70), FeatureOptions(["mean"], cache=path, jobs=1))
    assert not path.exists()
    again = Counted()
    found = extract_features(again, FeatureOptions(["mean"], cache=path, jobs=1))
    assert again.seen == list(range(64, 80))  # two whole batches were kept
    assert found.features[:, 0].tolist() == list(range(80))
    assert [file.name for file in tmp_path.iterdir()] == ["features.parquet"]


def test_what_is_finished_is_read_and_what_has_changed_is_done_again(tmp_path: Path) -> None:
    path = tmp_path / "features.parquet"
    first = extract_features(Counted(), FeatureOptions(["mean"], cache=path, jobs=1))
    idle = Counted()
    np.testing.assert_array_equal(
        extract_features(idle, FeatureOptions(["mean"], cache=path, jobs=1)).features, first.features
    )
    assert idle.seen == []
    busy = Counted()
    assert extract_features(busy, FeatureOptions(["mean", "final"], cache=path, jobs=1)).names == (
        "mean state 1",
        "final state 1",
    )
    assert busy.seen == list(range(80))


def test_an_edited_user_function_is_another_feature(tmp_path: Path) -> None:
    path, own = tmp_path / "features.parquet", tmp_path / "own.py"
    for factor in (1.0, 3.0):
        own.write_text(f"def scaled(episode): return {factor} * episode.states[0, 0]\n", encoding="utf-8")
        found = extract_features(Counted(), FeatureOptions([f"{own}:scaled"], cache=path, jobs=1))
        assert found.features[7, 0] == 7 * factor


def test_closures_are_extracted_again(tmp_path: Path) -> None:
    def times(factor: float) -> Any:
        return lambda episode: {"scaled": factor * episode.states[0, 0]}

    path = tmp_path / "features.parquet"
    for factor in (1.0, 3.0):
        found = extract_features(Counted(), FeatureOptions([times(factor)], cache=path, jobs=1))
        assert found.features[7, 0] == 7 * factor


def test_a_function_of_states_is_not_the_same_as_a_function_of_an_episode(tmp_path: Path) -> None:
    path, own = tmp_path / "features.parquet", tmp_path / "own.py"
    own.write_text("def size(given): return [len(getattr(given, 'states', given))]\n", encoding="utf-8")
    names = [
        extract_features(Counted(), FeatureOptions([word], cache=path, jobs=1)).names
        for word in (f"encoder({own}:size)", f"{own}:size")
    ]
    assert names == [("encoder 1",), ("size",)]


def test_with_skip_bad_the_damage_is_remembered(tmp_path: Path) -> None:
    path = tmp_path / "features.parquet"
    extract_features(Counted(bad=[5]), FeatureOptions(["mean"], skip_bad=True, cache=path, jobs=1))
    assert extract_features(
        Counted(bad=[5]), FeatureOptions(["mean"], skip_bad=True, cache=path, jobs=1)
    ).skipped == {"5": "it is torn"}
    with pytest.raises(BadEpisode, match=r"^episode 5"):
        extract_features(Counted(bad=[5]), FeatureOptions(["mean"], cache=path, jobs=1))


def test_a_damaged_file_of_features_is_written_anew(tmp_path: Path) -> None:
    path = tmp_path / "features.parquet"
    path.write_bytes(b"PAR1 and nothing more")
    assert len(extract_features(Counted(), FeatureOptions(["mean"], cache=path, jobs=1))) == 80
    assert pq.read_table(path).num_rows == 80
    with pytest.raises(ValueError, match=r"\.parquet file"):
        extract_features(Counted(), FeatureOptions(["mean"], cache=tmp_path / "features.csv"))
    with pytest.raises(ValueError, match=r"\.parquet file"):
        extract_features(dataset_of(np.eye(2), ("a", "b")), FeatureOptions(cache=tmp_path / "features.csv"))


# --- tables of features -----------------------------------------------------------------------------------


def dataset_of(features: Any, names: tuple[str, ...]) -> FeatureDataset:
    matrix = np.asarray(features, dtype=float)
    return FeatureDataset("mine", matrix_columns(matrix, names), tuple(map(str, range(len(matrix)))))


def table_of(features: Any, names: tuple[str, ...]) -> FeatureTable:
    return extract_features(dataset_of(features, names))


def test_constants_and_duplicates_are_left_out_with_a_warning() -> None:
    speed = np.random.default_rng(0).normal(size=50)
    found = table_of(np.column_stack([speed, np.ones(50), -2 * speed]), ("speed", "one", "back"))
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        assert Pool.from_dataset(found.dataset).names == ("speed",)
    assert [str(one.message).split(",")[0] for one in warned] == [
        "one is the same for all trajectories",
        "back is speed in other units: back is left out",
    ]


def test_a_logarithm_removes_heavy_tails_and_has_a_name_of_its_own() -> None:
    wild = np.random.default_rng(0).lognormal(0, 3, 400)
    found = table_of(wild[:, None], ("control effort",))
    assert [one.kind for one in found.diagnostics()] == ["heavy-tailed"]
    tame = found.log_transformed(["control effort"])
    assert (tame.names, tame.diagnostics()) == (("log(control effort)",), [])
    assert np.array_equal(np.argsort(tame.features[:, 0]), np.argsort(wild))
    fewer = table_of(wild[:7, None], ("control effort",)).log_transformed(["control effort"])
    np.testing.assert_array_equal(fewer.features, tame.features[:7])  # means the same in another dataset
    with pytest.raises(ValueError, match="'a' has values down to 0"):
        table_of([[0.0], [2.0]], ("a",)).log_transformed(["a"])
    with pytest.raises(ValueError, match=r"no feature 'b'.* control effort"):
        found.without(["b"])
    with pytest.raises(ValueError, match="no feature is left"):
        found.without(["control effort"])


def test_a_diverse_choice_spans_what_all_span() -> None:
    rng = np.random.default_rng(0)
    found = table_of(rng.normal(size=(300, 2)) * [1.0, 1000.0], ("a", "b"))
    few = found.diverse(30)
    assert len(few) == len(set(few.ids)) == 30
    assert np.all(np.ptp(few.features, axis=0) > 0.7 * np.ptp(found.features, axis=0))
    assert found.diverse(500) is found
    for row, number in enumerate(few.numbers):
        np.testing.assert_array_equal(few.features[row], found.features[number])


def test_known_features_can_be_chosen_but_not_extracted() -> None:
    found = dataset_of(np.eye(3), ("a", "b", "c"))
    assert extract_features(found, ["c", "a"]).features.tolist() == [[0, 1], [0, 0], [1, 0]]
    with pytest.raises(ValueError, match=r"no column 'mean'.* a, b, c"):
        extract_features(found, ["mean"])
    with pytest.raises(ValueError, match="cut into windows"):
        extract_features(found, FeatureOptions(window=3))


def test_saved_features_are_read_again_with_those_that_are_to_be_used(tmp_path: Path) -> None:
    path, kept = tmp_path / "walks.npz", tmp_path / "features.parquet"
    np.savez(path, states=walks().states)
    found = extract_features(
        open_dataset(path), FeatureOptions(["max", "duration"], window=6, cache=kept, jobs=1)
    )
    used = found.without_redundant()
    used.save(kept)
    again = open_dataset(kept)
    assert isinstance(again, FeatureDataset)
    assert again.origin is not None
    assert (again.names, again.ids) == (used.names, used.ids) == (("max state 1", "max state 2"), found.ids)
    np.testing.assert_array_equal(extract_features(again).features, used.features)
    # the file still knows all that was extracted, so nothing is computed again
    assert (
        extract_features(open_dataset(path), FeatureOptions(["max", "duration"], window=6, cache=kept)).names
        == found.names
    )


def test_a_pool_of_a_dataset_warns_of_skipped_episodes() -> None:
    with pytest.warns(UserWarning, match=r"1 of 80 .*left out: 5: it is torn"):
        found = Pool.from_dataset(Counted(bad=[5]), FeatureOptions(["mean"], skip_bad=True, jobs=1))
    assert found.clips is None
    assert found.ids is not None
    assert (len(found.ids), found.features.shape, found.names) == (79, (79, 1), ("mean state 1",))


def test_features_may_be_cached() -> None:
    first, again = Counted(), Counted()
    for dataset in (first, again):
        Pool.from_dataset(dataset, FeatureOptions(["mean"], cache=True, jobs=1))
    assert (len(first.seen), again.seen) == (80, [])
    assert cache_path(again).is_file()


# --- the summary ------------------------------------------------------------------------------------------


def test_the_summary_has_a_line_for_each_feature_with_its_problems() -> None:
    rng = np.random.default_rng(0)
    found = table_of(np.column_stack([rng.normal(size=100), np.ones(100)]), ("a", "b"))
    first, second = summarize(found)
    assert (first.name, first.problems, second.problems) == ("a", "", "constant")
    values = found.features[:, 0]
    assert first.range == (values.min(), np.median(values), values.max())


def test_a_histogram_in_a_line_is_as_high_as_the_counts() -> None:
    assert bars(np.array([8, 4, 0, 1])) == "█▄ ▁"


def test_the_figure_shows_every_feature(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = []
    monkeypatch.setattr(
        "prefero.datasets.features.tables.summary._draw", lambda _, line, *__: drawn.append(line.name)
    )
    found = table_of(np.random.default_rng(0).normal(size=(60, 7)), tuple("abcdefg"))
    save_histograms(tmp_path / "features.png", found)
    assert drawn == list("abcdefg")
    assert (tmp_path / "features.png").read_bytes().startswith(b"\x89PNG")
