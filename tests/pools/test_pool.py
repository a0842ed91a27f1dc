"""Pools: what they keep and refuse, simulated ones, their files, and the cache."""

import json
import os
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from prefero import Pool
from prefero._support.arrays import Array
from prefero.pools import pool as pool_module
from prefero.pools.pool import PoolFileError, Source
from prefero.trajectories.trajectory import Trajectory
from prefero.worlds import Actions, make
from prefero.worlds.driver import Driver


def normal(rows: int = 8, columns: int = 2) -> Array:
    return np.random.default_rng(0).standard_normal((rows, columns))


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
    with pytest.raises(ValueError, match=f"at least two trajectories to compare, but has {rows}: add more"):
        Pool(normal(rows))


def test_a_pool_of_two_is_enough() -> None:
    np.testing.assert_allclose(np.abs(Pool(normal(2)).scaled), 1.0)


@pytest.mark.parametrize(
    ("features", "names", "message"),
    [
        ([[1.0, np.nan], [2.0, 3.0]], ["a", "b"], "row 0 has nan in column 'b'"),
        ([[1.0, 2.0], [-np.inf, 3.0]], None, "row 1 has -inf in column 0"),
        ([1.0, 2.0], None, r"use features\[:, None\]"),
        ([[1.0, 5.0], [2.0, 5.0]], ["a", "b"], "feature 'b' is 5 for every trajectory"),
        ([[1.0, 5.0], [2.0, 6.0]], ["a", "a"], "must differ from each other"),
        ([[1.0, 5.0], [2.0, 6.0]], ["a"], "there are 2 features, but 1 names"),
    ],
)
def test_bad_features_and_names_are_refused(features: Any, names: list[str] | None, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Pool(features, names)


@pytest.mark.parametrize("index", [-1, 8, 1000])
def test_an_index_out_of_range_is_refused(index: int) -> None:
    with pytest.raises(ValueError, match=f"the pool has trajectories 0 to 7, but this is {index}"):
        Pool(normal()).check_index(index)


@pytest.mark.parametrize("index", [0, 7, np.int64(3)])
def test_an_index_of_the_pool_is_accepted(index: int) -> None:
    shown = Pool(normal())
    shown.check_index(index)
    assert shown.features[index].shape == (2,)


# --- simulated --------------------------------------------------------------------------------------------


class Counting(Driver):
    """A driver that counts its rollouts."""

    def __init__(self, physics: str = "driver 1") -> None:
        super().__init__()
        self.physics = physics
        self.sizes: list[int] = []

    def rollout(self, actions: Any) -> Trajectory:
        self.sizes.append(len(actions))
        return super().rollout(actions)


def trajectories_of(pool: Pool) -> Trajectory:
    assert pool.trajectories is not None
    return pool.trajectories


def assert_same_pool(found: Pool, wanted: Pool) -> None:
    np.testing.assert_array_equal(found.features, wanted.features)
    assert (found.names, found.source, found.scaling) == (wanted.names, wanted.source, wanted.scaling)
    for array in ("actions", "features", "poses"):
        mine, other = (getattr(trajectories_of(pool), array) for pool in (found, wanted))
        assert mine.dtype == other.dtype
        np.testing.assert_array_equal(mine, other)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of the test's own."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("PREFERO_CACHE", str(folder))
    return folder


def files_in(folder: Path) -> list[Path]:
    return sorted(file for file in folder.rglob("*") if file.is_file())


def test_random_actions_are_uniform_in_the_box(cache: Path) -> None:
    pool = Pool.simulate("driver", 2000, seed=3, cache=False)
    actions = trajectories_of(pool).actions
    assert len(pool) == len(actions) == 2000
    assert np.all(np.abs(actions) <= 1.0)
    for column in actions.T:
        assert stats.kstest(column, stats.uniform(-1.0, 2.0).cdf).pvalue > 1e-4
    assert not cache.exists()


def test_a_grid_is_even_and_has_its_corners() -> None:
    pool = Pool.simulate("driver", 1500, how="grid", cache=False)
    assert len(pool) == 1024  # two values of each of ten actions
    rows = set(map(tuple, trajectories_of(pool).actions.tolist()))
    assert rows == set(product([-1.0, 1.0], repeat=10))


@pytest.mark.parametrize(("count", "side"), [(4, 2), (8, 2), (9, 3), (24, 4), (25, 5), (100, 10), (120, 10)])
def test_a_grid_is_the_largest_that_fits(count: int, side: int) -> None:
    box = Actions(("a", "b"), np.array([-1.0, 0.0]), np.array([1.0, 6.0]))
    grid = box.grid(count)
    steps = [np.linspace(-1.0, 1.0, side), np.linspace(0.0, 6.0, side)]
    np.testing.assert_allclose(grid, np.array(list(product(*steps))))


@pytest.mark.parametrize(("actions", "side"), [(3, 5), (5, 3), (6, 7), (10, 3)])
def test_a_grid_of_exactly_so_many_points_is_found(actions: int, side: int) -> None:
    """Roots of whole numbers are rounded: 243 to the power of 1/5 may be just below 3."""
    box = Actions(tuple("abcdefghij"[:actions]), np.zeros(actions), np.ones(actions))
    assert len(box.grid(side**actions)) == side**actions
    assert len(box.grid(side**actions - 1)) == (side - 1) ** actions


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"count": 1}, "two trajectories or more and a seed of 0 or more, not 1 and 0"),
        ({"count": 0}, "two trajectories or more"),
        ({"count": -5}, "two trajectories or more"),
        ({"seed": -1}, "a seed of 0 or more, not 1000 and -1"),
        ({"how": "best"}, "actions are random or grid, but how is 'best'"),
        (
            {"how": "grid"},
            "a grid over 10 actions has at least 1024 points, but 1000 were asked for: ask for",
        ),
    ],
)
def test_impossible_pools_are_not_simulated(options: dict[str, Any], message: str) -> None:
    world = Counting()
    with pytest.raises(ValueError, match=message):
        Pool.simulate(world, **options)
    assert world.sizes == []


def test_an_unknown_world_is_refused() -> None:
    with pytest.raises(ValueError, match="there is no world 'moon'"):
        Pool.simulate("moon", 10)


def test_a_simulated_pool_knows_where_it_came_from() -> None:
    pool = Pool.simulate("driver", 20, seed=5)
    assert pool.source == Source("driver", {"features": "plain"}, "driver 1", 20, 5, "random")
    assert pool.names == ("lane distance", "speed", "heading", "car distance")
    np.testing.assert_array_equal(trajectories_of(pool).features, pool.features)


def test_a_pool_makes_its_world_again() -> None:
    pool = Pool.simulate(make("driver", features="shaped"), 5)
    world = pool.world()
    assert world.options == {"features": "shaped"}
    again = world.rollout(trajectories_of(pool).actions)
    np.testing.assert_array_equal(again.features, pool.features)


def test_one_trajectory_of_a_pool() -> None:
    pool = Pool.simulate("driver", 5)
    one = pool.trajectory(3)
    np.testing.assert_array_equal(one.features, pool.features[3])
    np.testing.assert_array_equal(one.poses, trajectories_of(pool).poses[3])
    with pytest.raises(ValueError, match="the pool has trajectories 0 to 4, but this is 5"):
        pool.trajectory(5)


def test_a_pool_of_features_has_no_trajectories_and_no_world() -> None:
    pool = Pool(normal())
    assert pool.trajectories is None
    assert pool.source is None
    with pytest.raises(ValueError, match="this pool has only features"):
        pool.trajectory(0)
    with pytest.raises(ValueError, match="this pool was not simulated, so it has no world"):
        pool.world()


def test_trajectories_must_be_as_many_as_features() -> None:
    few = trajectories_of(Pool.simulate("driver", 4))
    with pytest.raises(ValueError, match="there are 8 rows of features, but 4 trajectories"):
        Pool(normal(8, 4), trajectories=few)


@pytest.mark.parametrize("count", [2, 16, 17, 100, 900])
def test_batches_do_not_change_what_is_simulated(count: int) -> None:
    """Each is as a rollout of all actions at once, drawn by a generator of the same seed."""
    world = Counting()
    pool = Pool.simulate(world, count, seed=6, cache=False)
    actions = np.random.default_rng(6).uniform(-1.0, 1.0, (count, 10))
    np.testing.assert_array_equal(trajectories_of(pool).actions, actions)
    np.testing.assert_allclose(pool.features, Driver().rollout(actions).features, rtol=1e-12, atol=1e-12)
    assert sum(world.sizes) == count
    assert len(world.sizes) <= 50


@pytest.mark.parametrize("show", [None, True, False])
def test_progress_goes_to_the_total_and_changes_nothing(
    show: bool | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[Any] = []

    @contextmanager
    def recorded(text: str, total: int, show: bool | None) -> Iterator[Callable[[int], None]]:
        told.append((text, total, show))
        yield told.append

    wanted = Pool.simulate("driver", 100, cache=False, progress=False)
    monkeypatch.setattr(pool_module, "progress", recorded)
    pool = Pool.simulate("driver", 100, cache=False, progress=show)
    (text, total, shown), *steps = told
    assert (text, total, shown) == ("simulating driver", 100, show)
    assert sum(steps) == 100
    assert len(steps) > 3
    assert_same_pool(pool, wanted)


# --- files ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("world", ["driver", "tosser"])
def test_a_pool_survives_a_file(world: str, tmp_path: Path) -> None:
    pool = Pool.simulate(world, 12, seed=2)
    pool.save(tmp_path / "pool.npz")
    assert_same_pool(Pool.load(tmp_path / "pool.npz"), pool)
    assert_same_pool(Pool.load(str(tmp_path / "pool.npz")), pool)
    assert [file.name for file in tmp_path.iterdir()] == ["pool.npz"]


def test_a_pool_of_features_survives_a_file(tmp_path: Path) -> None:
    pool = Pool(normal() * 1e-3, names=["größe", "speed"])
    pool.save(tmp_path / "pool.npz")
    again = Pool.load(tmp_path / "pool.npz")
    np.testing.assert_array_equal(again.features, pool.features)
    np.testing.assert_array_equal(again.scaled, pool.scaled)
    assert (again.names, again.trajectories, again.source) == (("größe", "speed"), None, None)


def test_a_pools_file_holds_no_pickles(tmp_path: Path) -> None:
    Pool.simulate("driver", 4).save(tmp_path / "pool.npz")
    with np.load(tmp_path / "pool.npz", allow_pickle=False) as file:
        assert {name: file[name].dtype.kind for name in file.files} == {
            "header": "u",
            "features": "f",
            "actions": "f",
            "poses": "f",
        }
        header = json.loads(file["header"].tobytes())
    assert header["kind"] == "prefero pool"
    assert header["format"] == 1
    assert set(header["source"]) == {"world", "options", "physics", "count", "seed", "how"}


@pytest.mark.parametrize("name", ["pool", "pool.txt", "pool.json"])
def test_a_pool_is_only_saved_as_npz(name: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"a pool is kept in an \.npz file, but the path is"):
        Pool(normal()).save(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_missing_file_is_missing(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Pool.load(tmp_path / "pool.npz")


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """A small pool in a file."""
    path = tmp_path / "pool.npz"
    Pool.simulate("driver", 3, cache=False).save(path)
    return path


def refused(path: Path, *words: str) -> None:
    with pytest.raises(PoolFileError) as caught:
        Pool.load(path)
    assert isinstance(caught.value, ValueError)
    assert str(path) in str(caught.value)
    for word in words:
        assert word in str(caught.value)


def test_a_file_that_was_cut_off_is_refused(saved: Path) -> None:
    content = saved.read_bytes()
    for length in [0, 1, 3, 4, 30, *range(100, len(content), 251), len(content) - 1]:
        saved.write_bytes(content[:length])
        refused(saved, "damaged or is another kind of file", "a pool is what Pool.save writes")


def test_a_flipped_byte_in_the_middle_is_noticed(saved: Path) -> None:
    content = bytearray(saved.read_bytes())
    content[len(content) // 2] ^= 0xFF
    saved.write_bytes(content)
    refused(saved, "damaged")


def outcome(path: Path, wanted: Pool) -> str:
    """What becomes of a file that may be damaged."""
    try:
        assert_same_pool(Pool.load(path), wanted)
    except PoolFileError:
        return "refused"
    except AssertionError:
        return "another pool"
    except Exception as error:
        return repr(error)
    return "the same pool"


def test_any_flipped_bit_is_noticed_or_does_no_harm(saved: Path) -> None:
    """Some bytes of a zip file, such as its dates, mean nothing to us; its end is the table of contents."""
    wanted, content, rng = Pool.load(saved), saved.read_bytes(), np.random.default_rng(0)
    tail = np.repeat(np.arange(len(content) - 300, len(content)), 2)
    found: Counter[str] = Counter()
    for place in [*range(0, len(content), 11), *tail]:
        changed = bytearray(content)
        changed[place] ^= 1 << int(rng.integers(8))
        saved.write_bytes(changed)
        found[outcome(saved, wanted)] += 1
    assert set(found) == {"refused", "the same pool"}
    assert found["refused"] > found["the same pool"]


@pytest.mark.parametrize("content", [b"", b"hello\n", b"PK\x03\x04 and no more", b"\x80\x04K\x01.", b"{}"])
def test_a_file_that_is_no_archive_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "pool.npz").write_bytes(content)
    refused(tmp_path / "pool.npz", "damaged or is another kind of file")


def test_a_folder_is_refused(tmp_path: Path) -> None:
    refused(tmp_path)


def test_a_single_array_is_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "array.npy", normal())
    refused(tmp_path / "array.npy", "another kind of file")


def test_a_zip_file_of_something_else_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "pool.npz", "w") as file:
        file.writestr("readme.txt", "hello")
    refused(tmp_path / "pool.npz", "another kind of file")


def test_somebody_elses_arrays_are_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "pool.npz", features=normal(), weights=np.ones(3))
    refused(tmp_path / "pool.npz", "another kind of file")


def write(path: Path, header: Any, **arrays: Any) -> None:
    """An archive with any header."""
    content = header if isinstance(header, bytes) else json.dumps(header).encode()
    np.savez(path, header=np.frombuffer(content, dtype=np.uint8), **arrays)


GOOD: dict[str, Any] = {"kind": "prefero pool", "format": 1, "names": ["a", "b"], "source": None}


@pytest.mark.parametrize(
    ("header", "words"),
    [
        (b"not json", "damaged or is another kind of file"),
        (b"\xff\xfe", "damaged or is another kind of file"),
        ([1, 2], "its header is no JSON object"),
        ("pool", "its header is no JSON object"),
        ({}, "is not a pool"),
        ({**GOOD, "kind": "prefero session"}, "is not a pool: a pool is what Pool.save writes"),
        ({**GOOD, "format": 2}, "of format 2, and this version of Prefero reads format 1: upgrade Prefero"),
        ({**GOOD, "format": None}, "of format None"),
        ({**GOOD, "names": ["a"]}, "is a damaged pool: there are 2 features, but 1 names"),
        ({**GOOD, "names": ["a", "a"]}, "is a damaged pool"),
        ({**GOOD, "names": 3}, "is a damaged pool"),
        ({**GOOD, "source": {"world": "driver"}}, "is a damaged pool"),
        ({**GOOD, "source": "driver"}, "is a damaged pool"),
        ({key: GOOD[key] for key in ("kind", "format", "names")}, "is a damaged pool"),
        ({key: GOOD[key] for key in ("kind", "format", "source")}, "is a damaged pool"),
    ],
)
def test_headers_that_are_not_a_pools_are_refused(header: Any, words: str, tmp_path: Path) -> None:
    write(tmp_path / "pool.npz", header, features=normal())
    refused(tmp_path / "pool.npz", words)


ACTIONS, POSES = np.zeros((8, 3)), np.zeros((8, 4, 2, 3), dtype=np.float32)


@pytest.mark.parametrize(
    "arrays",
    [
        {},
        {"actions": ACTIONS, "poses": POSES},
        {"features": normal(), "actions": ACTIONS},
        {"features": normal(), "poses": POSES},
        {"features": normal(), "actions": ACTIONS[:7], "poses": POSES},
        {"features": normal(), "actions": ACTIONS, "poses": POSES[:7]},
        {"features": normal(7), "actions": ACTIONS, "poses": POSES},
        {"features": normal(), "actions": ACTIONS, "poses": POSES[0]},
        {"features": normal(), "actions": np.array(3.0), "poses": POSES},
        {"features": normal(1)},
        {"features": normal()[:, 0]},
        {"features": np.full((8, 2), np.nan)},
        {"features": np.array([["fast", "slow"]] * 8)},
    ],
    ids=lambda arrays: " ".join(f"{name} {value.shape}" for name, value in arrays.items()) or "nothing",
)
def test_arrays_that_are_missing_or_do_not_fit_are_refused(arrays: dict[str, Any], tmp_path: Path) -> None:
    write(tmp_path / "pool.npz", GOOD, **arrays)
    refused(tmp_path / "pool.npz", "is a damaged pool")


class Harm:
    """What a stranger's pickle might do."""

    def __reduce__(self) -> tuple[Any, ...]:
        return (exec, ("import os; os.environ['PREFERO_HARMED'] = 'yes'",))


@pytest.mark.parametrize("array", ["features", "header"])
def test_pickles_are_refused_and_not_run(array: str, tmp_path: Path) -> None:
    arrays: dict[str, Any] = {"header": np.frombuffer(json.dumps(GOOD).encode(), dtype=np.uint8)}
    arrays |= {"features": normal(), array: np.array([[Harm(), 1.0]], dtype=object)}
    np.savez(tmp_path / "pool.npz", **arrays)
    refused(tmp_path / "pool.npz", "damaged or is another kind of file")
    assert "PREFERO_HARMED" not in os.environ


# --- the cache --------------------------------------------------------------------------------------------


def test_the_second_time_nothing_is_simulated(cache: Path) -> None:
    first, second = Counting(), Counting()
    pool = Pool.simulate(first, 40, seed=1)
    again = Pool.simulate(second, 40, seed=1)
    assert sum(first.sizes) == 40
    assert second.sizes == []
    assert_same_pool(again, pool)
    (file,) = files_in(cache)
    assert file.parent == cache / "pools"
    assert_same_pool(Pool.load(file), pool)


@pytest.mark.parametrize("change", [{"seed": 2}, {"count": 41}, {"how": "grid", "count": 1024}])
def test_another_pool_is_not_taken_for_this_one(cache: Path, change: dict[str, Any]) -> None:
    Pool.simulate(Counting(), 40, seed=1)
    world = Counting()
    Pool.simulate(world, **{"count": 40, "seed": 1, **change})
    assert world.sizes
    assert len(files_in(cache)) == 2


def test_other_options_make_another_pool(cache: Path) -> None:
    plain, shaped = (Pool.simulate(make("driver", features=which), 10) for which in ("plain", "shaped"))
    assert plain.names != shaped.names
    assert len(files_in(cache)) == 2


@pytest.mark.usefixtures("cache")
def test_other_physics_miss_the_cache() -> None:
    Pool.simulate(Counting(), 10)
    newer = Counting(physics="driver 2")
    pool = Pool.simulate(newer, 10)
    assert sum(newer.sizes) == 10
    assert pool.source is not None
    assert pool.source.physics == "driver 2"


@pytest.mark.parametrize("damage", [b"", b"rubbish", None])
def test_a_damaged_file_in_the_cache_is_simulated_again(cache: Path, damage: bytes | None) -> None:
    pool = Pool.simulate(Counting(), 10)
    (file,) = files_in(cache)
    content = file.read_bytes()
    file.write_bytes(content[: len(content) // 2] if damage is None else damage)
    world = Counting()
    assert_same_pool(Pool.simulate(world, 10), pool)
    assert sum(world.sizes) == 10
    assert file.read_bytes() == content


def test_another_pool_under_the_same_name_is_not_believed(cache: Path) -> None:
    pool = Pool.simulate(Counting(), 10)
    (file,) = files_in(cache)
    Pool.simulate("driver", 10, seed=9, cache=False).save(file)
    assert_same_pool(Pool.simulate(Counting(), 10), pool)


def test_without_a_cache_nothing_is_read_or_kept(cache: Path) -> None:
    Pool.simulate("driver", 10)
    kept = files_in(cache)
    world = Counting()
    Pool.simulate(world, 10, cache=False)
    Pool.simulate(world, 11, cache=False)
    assert sum(world.sizes) == 21
    assert files_in(cache) == kept


def test_a_cache_that_cannot_be_written_is_only_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("not a folder", encoding="utf-8")
    monkeypatch.setenv("PREFERO_CACHE", str(tmp_path / "file"))
    with pytest.warns(UserWarning, match="the pool was not kept for the next time: "):
        pool = Pool.simulate("driver", 10)
    assert_same_pool(pool, Pool.simulate("driver", 10, cache=False))


def test_the_variable_moves_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("here", "there"):
        monkeypatch.setenv("PREFERO_CACHE", str(tmp_path / name))
        Pool.simulate("driver", 4)
        assert len(files_in(tmp_path / name)) == 1


# --- clips ------------------------------------------------------------------------------------------------


def test_clips_are_one_for_each_trajectory() -> None:
    with pytest.raises(ValueError, match="2 rows of features, but 1 clips"):
        Pool([[1.0], [2.0]], clips=["a.mp4"])


def test_clips_beside_the_file_move_with_it(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    elsewhere = tmp_path / "elsewhere.mp4"
    Pool([[1.0], [2.0]], clips=[tmp_path / "here" / "a.mp4", elsewhere]).save(tmp_path / "here" / "p.npz")
    (tmp_path / "here").rename(tmp_path / "there")
    clips = Pool.load(tmp_path / "there" / "p.npz").clips
    assert clips == (str(tmp_path.resolve() / "there" / "a.mp4"), str(elsewhere.resolve()))


def test_a_pool_is_the_same_as_bytes() -> None:
    pool = Pool([[1.0, 2.0], [3.0, 5.0]], names=["a", "b"], clips=["x.mp4", "y.mp4"])
    again = Pool.from_bytes(pool.to_bytes())
    assert again.names == pool.names
    assert again.clips == pool.clips
    assert np.array_equal(again.features, pool.features)


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
