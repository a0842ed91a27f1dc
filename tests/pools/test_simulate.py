"""Simulated pools: random and grid actions, their source, batches and progress."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from pools.example_pools import Counting, assert_same_pool, trajectories_of
from prefero import Pool
from prefero._support.arrays import Array
from prefero.pools import simulate
from prefero.pools.simulate import Source
from prefero.worlds import ActionSpace, make
from prefero.worlds.driver import Driver


def test_random_actions_are_uniform_in_the_box(cache: Path) -> None:
    pool = Pool.simulate("driver", 2000, seed=3, cache=False)
    actions = trajectories_of(pool).actions
    assert len(pool) == len(actions) == 2000
    assert np.all(np.abs(actions) <= 1.0)
    for column in actions.T:
        assert stats.kstest(column, stats.uniform(-1.0, 2.0).cdf).pvalue > 1e-4
    assert not cache.exists()


def test_a_grid_is_even_and_has_its_corners() -> None:
    pool = Pool.simulate("driver", 1500, sampling="grid", cache=False)
    assert len(pool) == 1024  # two values of each of ten actions
    rows = set(map(tuple, trajectories_of(pool).actions.tolist()))
    assert rows == set(product([-1.0, 1.0], repeat=10))


@pytest.mark.parametrize(("count", "side"), [(4, 2), (8, 2), (9, 3), (24, 4), (25, 5), (100, 10), (120, 10)])
def test_a_grid_is_the_largest_that_fits(count: int, side: int) -> None:
    box = ActionSpace(("a", "b"), np.array([-1.0, 0.0]), np.array([1.0, 6.0]))
    grid = box.grid(count)
    steps = [np.linspace(-1.0, 1.0, side), np.linspace(0.0, 6.0, side)]
    np.testing.assert_allclose(grid, np.array(list(product(*steps))))


@pytest.mark.parametrize(("actions", "side"), [(3, 5), (5, 3), (6, 7), (10, 3)])
def test_a_grid_of_exactly_so_many_points_is_found(actions: int, side: int) -> None:
    """Roots of whole numbers are rounded: 243 to the power of 1/5 may be just below 3."""
    box = ActionSpace(tuple("abcdefghij"[:actions]), np.zeros(actions), np.ones(actions))
    assert len(box.grid(side**actions)) == side**actions
    assert len(box.grid(side**actions - 1)) == (side - 1) ** actions


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"count": 1}, "two trajectories .*not 1 and 0"),
        ({"count": 0}, "two trajectories or more"),
        ({"count": -5}, "two trajectories or more"),
        ({"seed": -1}, "a seed of 0 or more, .*-1"),
        ({"sampling": "best"}, "sampling must be 'random' or 'grid', .*'best'"),
        (
            {"sampling": "grid"},
            "10 actions .*1024 points, .*1000",
        ),
    ],
)
def test_impossible_pools_are_not_simulated(options: dict[str, Any], message: str) -> None:
    world = Counting()
    with pytest.raises(ValueError, match=message):
        Pool.simulate(world, **options)
    assert world.sizes == []


def test_an_unknown_world_is_refused() -> None:
    with pytest.raises(ValueError, match="no world 'moon'"):
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
    monkeypatch.setattr(simulate, "progress", recorded)
    pool = Pool.simulate("driver", 100, cache=False, progress=show)
    (text, total, shown), *steps = told
    assert (text, total, shown) == ("simulating driver", 100, show)
    assert sum(steps) == 100
    assert len(steps) > 3
    assert_same_pool(pool, wanted)


# --- simulated when shown ---------------------------------------------------------------------------------


class Shots(Counting):
    """A driver whose features are its first two actions, as golf's are its actions."""

    def __init__(self) -> None:
        super().__init__()
        self.features = self.features[:2]

    def features_of(self, actions: Array) -> Array:
        return actions[:, :2].copy()

    def simulate(self, actions: Array) -> tuple[Array, Array]:
        return self.features_of(actions), super().simulate(actions)[1]


@pytest.fixture
def shots(monkeypatch: pytest.MonkeyPatch) -> Shots:
    world = Shots()
    monkeypatch.setattr(Pool, "world", lambda _: world)
    return world


def test_a_pool_for_later_is_the_same_pool_and_simulates_only_what_is_shown(shots: Shots) -> None:
    later = Pool.simulate(shots, 20, seed=2, when="later", cache=False)
    assert shots.sizes == []
    now = Pool.simulate(shots, 20, seed=2, cache=False)
    assert_same_pool(later.simulated(), now)
    shots.sizes.clear()
    np.testing.assert_array_equal(later.trajectory(3).poses, now.trajectory(3).poses)
    assert len(shots.sizes) == 1


def test_a_world_that_must_be_simulated_for_its_features_is_simulated_at_once() -> None:
    world = Counting()
    pool = Pool.simulate(world, 20, when="later", cache=False)
    assert sum(world.sizes) == 20
    assert pool.simulated() is pool


def test_a_pool_for_later_is_saved_selected_and_extended_like_any_other(shots: Shots, tmp_path: Path) -> None:
    later, now = (Pool.simulate(shots, 20, when=when, cache=False) for when in ("later", "now"))
    later.save(tmp_path / "pool.npz")
    assert shots.sizes.count(20) <= 1  # saving simulates nothing
    read = Pool.load(tmp_path / "pool.npz")
    assert read.trajectories is None
    assert_same_pool(read.simulated(), now)
    chosen = read.diverse(5)
    assert chosen.ids == now.diverse(5).ids
    np.testing.assert_array_equal(chosen.trajectory(4).poses, now.diverse(5).trajectory(4).poses)
    more = now.trajectory(7)
    assert_same_pool(read.extended(more), now.extended(more))


def test_another_version_of_the_physics_is_a_warning(shots: Shots) -> None:
    pool = Pool.simulate(shots, 6, when="later", cache=False)
    shots.physics = "driver 2"
    with pytest.warns(UserWarning, match=r"driver 1, .*driver 2"):
        pool.trajectory(0)
