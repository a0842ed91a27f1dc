"""Pools: what they contain and refuse, their trajectories and clips, and diverse subsets."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pools.example_pools import normal, trajectories_of
from prefero import Learner, Pool, Question
from prefero._support.arrays import Array


def test_a_pool_keeps_features_names_and_scaled_features() -> None:
    features = normal() * 100.0
    pool = Pool(features, names=["speed", "distance"])
    assert len(pool) == 8
    assert pool.names == ("speed", "distance")
    np.testing.assert_array_equal(pool.features, features)
    np.testing.assert_allclose(pool.scaled, (features - features.mean(0)) / features.std(0))


def test_a_pool_is_not_changed_by_what_happens_to_the_array_it_was_made_from() -> None:
    features = normal()
    pool = Pool(features)
    features[:] = 0.0
    assert np.all(pool.features.std(axis=0) > 0.1)


@pytest.mark.parametrize("array", ["features", "scaled"])
def test_a_pool_cannot_be_written_to(array: str) -> None:
    with pytest.raises(ValueError, match="read-only"):
        getattr(Pool(normal()), array)[0, 0] = 1.0


@pytest.mark.parametrize("rows", [0, 1])
def test_a_pool_needs_two_trajectories(rows: int) -> None:
    with pytest.raises(ValueError, match=f"two trajectories .*{rows}"):
        Pool(normal(rows))


def test_a_pool_of_two_is_enough() -> None:
    np.testing.assert_allclose(np.abs(Pool(normal(2)).scaled), 1.0)


@pytest.mark.parametrize(
    ("features", "names", "message"),
    [
        ([[1.0, np.nan], [2.0, 3.0]], ["a", "b"], "row 0 has nan in column 'b'"),
        ([[1.0, 2.0], [-np.inf, 3.0]], None, "row 1 has -inf in column 0"),
        ([1.0, 2.0], None, r"use features\[:, None\]"),
        ([[1.0, 5.0], [2.0, 5.0]], ["a", "b"], "'b' is 5 for every trajectory"),
        ([[1.0, 5.0], [2.0, 6.0]], ["a", "a"], "must differ"),
        ([[1.0, 5.0], [2.0, 6.0]], ["a"], "2 features, .*1 names"),
    ],
)
def test_bad_features_and_names_are_refused(features: Any, names: list[str] | None, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Pool(features, names)


@pytest.mark.parametrize("index", [-1, 8, 1000])
def test_an_index_out_of_range_is_refused(index: int) -> None:
    with pytest.raises(ValueError, match=f"trajectories 0 to 7, .*{index}"):
        Pool(normal()).check_index(index)


@pytest.mark.parametrize("index", [0, 7, np.int64(3)])
def test_an_index_of_the_pool_is_accepted(index: int) -> None:
    shown = Pool(normal())
    shown.check_index(index)
    assert shown.features[index].shape == (2,)


def test_one_trajectory_of_a_pool() -> None:
    pool = Pool.simulate("driver", 5)
    one = pool.trajectory(3)
    np.testing.assert_array_equal(one.features, pool.features[3])
    np.testing.assert_array_equal(one.poses, trajectories_of(pool).poses[3])
    with pytest.raises(ValueError, match=r"trajectories 0 to 4, .*5"):
        pool.trajectory(5)


def test_a_pool_of_features_has_no_trajectories_and_no_world() -> None:
    pool = Pool(normal())
    assert pool.trajectories is None
    assert pool.source is None
    with pytest.raises(ValueError, match="only features"):
        pool.trajectory(0)
    with pytest.raises(ValueError, match="not simulated"):
        pool.world()


def test_trajectories_must_be_as_many_as_features() -> None:
    few = trajectories_of(Pool.simulate("driver", 4))
    with pytest.raises(ValueError, match=r"8 rows .*4 trajectories"):
        Pool(normal(8, 4), trajectories=few)


# --- clips ------------------------------------------------------------------------------------------------


def test_clips_are_one_for_each_trajectory() -> None:
    with pytest.raises(ValueError, match=r"2 rows .*1 clips"):
        Pool([[1.0], [2.0]], clips=["a.mp4"])


def test_missing_clips_are_said_when_a_pool_is_made_and_when_it_is_opened(tmp_path: Path) -> None:
    clips = [tmp_path / "a.mp4", tmp_path / "b.mp4"]
    clips[0].touch()
    with pytest.warns(UserWarning, match=r"1 of 2 clips are missing, .*b\.mp4"):
        pool = Pool([[1.0], [2.0]], clips=clips)
    pool.save(tmp_path / "pool.npz")
    with pytest.warns(UserWarning, match="1 of 2 clips are missing"):
        Pool.load(tmp_path / "pool.npz")
    clips[1].touch()
    Pool.load(tmp_path / "pool.npz")


# --- ids --------------------------------------------------------------------------------------------------


def test_two_trajectories_with_one_id_are_refused() -> None:
    with pytest.raises(ValueError, match="'a' is there more than once"):
        Pool([[1.0], [2.0], [3.0]], ids=["a", "b", "a"])


# --- fewer ------------------------------------------------------------------------------------------------


def test_a_diverse_pool_is_of_the_same_trajectories_farther_apart() -> None:
    pool = Pool.simulate("driver", 60)
    fewer = pool.diverse(12)
    assert len(fewer) == 12
    assert fewer.ids is not None
    rows = [int(row) for row in fewer.ids]
    assert sorted(set(rows)) == rows
    np.testing.assert_array_equal(fewer.features, pool.features[rows])
    np.testing.assert_array_equal(fewer.trajectory(3).poses, pool.trajectory(rows[3]).poses)
    assert fewer.world().name == "driver"

    def closest(x: Array) -> float:
        apart = np.linalg.norm(x[:, None] - x, axis=-1)
        return float(apart[~np.eye(len(x), dtype=bool)].min())

    assert closest(pool.scaled[rows]) > 2 * closest(pool.scaled[:12])


def test_a_pool_that_is_small_enough_stays_as_it_is() -> None:
    pool = Pool([[0.0], [1.0], [5.0]], ids=["a", "b", "c"])
    assert pool.diverse(3) is pool
    assert set(pool.diverse(2).ids or ()) < {"a", "b", "c"}


@pytest.mark.filterwarnings("ignore:.* clips are missing")
def test_clips_name_the_trajectories_that_have_no_ids(tmp_path: Path) -> None:
    clips = [tmp_path / "a.mp4", tmp_path / "b.mp4"]
    assert Pool([[1.0], [2.0]], clips=clips).ids == ("a.mp4", "b.mp4")
    assert Pool([[1.0], [2.0]], clips=clips, ids=["x", "y"]).ids == ("x", "y")
    same_names = [tmp_path / "left" / "1.mp4", tmp_path / "right" / "1.mp4"]
    assert Pool([[1.0], [2.0]], clips=same_names).ids == ("left/1.mp4", "right/1.mp4")


def test_the_best_trajectory_has_its_id() -> None:
    learner = Learner(Pool([[0.0], [1.0], [5.0]], ids=["a", "b", "c"]))
    learner.tell(Question(2, 0), "left")
    best = learner.reward().best(learner.pool)
    assert best.id == "abc"[best.index]
    assert learner.pool.ids_of([2, 0]) == ["c", "a"]
    bare = Pool([[0.0], [1.0], [5.0]])
    assert learner.reward().best(Pool(bare.features, learner.pool.names)).id is None
    assert bare.ids_of([0]) is None


# --- frames -----------------------------------------------------------------------------------------------

RUNS = pd.DataFrame(
    {"operator": ["anna", "bo", "anna"], "speed": [0.5, 0.7, 0.1], "energy": [2, 3, 5]},
    index=["r1", "r2", "r3"],
)


def test_a_pool_of_a_frame_keeps_column_names_and_index() -> None:
    with pytest.warns(UserWarning, match=r"not features.*: operator \('anna'\); names="):
        pool = Pool(RUNS)
    assert (pool.names, pool.ids) == (("speed", "energy"), ("r1", "r2", "r3"))
    np.testing.assert_array_equal(pool.features, RUNS[["speed", "energy"]])
    assert Pool(RUNS, ["energy", "speed"]).names == ("energy", "speed")
    assert Pool(RUNS, ["energy"], ids=["x", "y", "z"]).ids == ("x", "y", "z")
    assert Pool(RUNS[["speed"]].reset_index(drop=True)).ids is None
    assert Pool({"speed": [1.0, 2.0], "run": ["a", "b"]}).ids == ("a", "b")
    with pytest.raises(ValueError, match="no column 'sped'; did you mean 'speed'"):
        Pool(RUNS, ["sped"])


def test_a_pool_is_extended_by_the_names_of_columns() -> None:
    pool = Pool(RUNS, ["speed", "energy"])
    more = pool.extended(RUNS.assign(speed=9.0)[["energy", "speed"]])
    np.testing.assert_array_equal(more.features[3:], [[9, 2], [9, 3], [9, 5]])


@pytest.mark.filterwarnings("ignore:.* clips are missing")
def test_a_pool_is_one_line() -> None:
    assert repr(Pool(RUNS[["speed"]])) == "Pool(3 trajectories; 1 feature: speed)"
    many = Pool(normal(9, 8), clips=[f"{row}.mp4" for row in range(9)])
    named = ", ".join(f"feature {i}" for i in range(6))
    assert repr(many) == f"Pool(9 trajectories, with clips; 8 features: {named}, and 2 more)"


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("from_pandas", r"use Pool\.from_table\(table\)"),
        ("from_csv", r"use Pool\.from_table\(\"FILE\"\)"),
        ("from_videos", r"use Pool\.from_video_folder"),
        ("from_numpy", r"use Pool\(features, names\)"),
        ("from_minary", "did you mean 'from_minari'"),
    ],
)
def test_a_name_that_people_guess_is_hinted_at(name: str, hint: str) -> None:
    assert not hasattr(Pool, name)
    for owner in (Pool, Pool(normal(3, 2))):
        with pytest.raises(AttributeError, match=f"Pool has no attribute '{name}'.*{hint}"):
            getattr(owner, name)
