"""The cache of simulated pools: used where the source is the same, and never trusted blindly."""

from pathlib import Path
from typing import Any

import pytest

from pools.example_pools import Counting, assert_same_pool, files_in
from prefero import Pool
from prefero.worlds import make


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


@pytest.mark.parametrize("change", [{"seed": 2}, {"count": 41}, {"sampling": "grid", "count": 1024}])
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
    with pytest.warns(UserWarning, match="was not cached: "):
        pool = Pool.simulate("driver", 10)
    assert_same_pool(pool, Pool.simulate("driver", 10, cache=False))


def test_the_variable_moves_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("here", "there"):
        monkeypatch.setenv("PREFERO_CACHE", str(tmp_path / name))
        Pool.simulate("driver", 4)
        assert len(files_in(tmp_path / name)) == 1
