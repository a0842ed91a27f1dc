"""Figures of worlds, checked by what is on them before they are saved."""

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.patches import Circle
from matplotlib.path import Path as Outline

from prefero import Pool
from prefero._support.arrays import Array
from prefero.plots import worlds as world_plots
from prefero.plots.style import save_figure
from prefero.plots.worlds import save_poisson, save_samples, save_targets
from prefero.worlds import make
from prefero.worlds.golf import Golf


@pytest.fixture
def axis(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The axes of every figure that is saved."""
    seen: list[Any] = []

    def watched(figure: Any, path: Path) -> None:
        seen.extend(figure.axes)
        save_figure(figure, path)

    monkeypatch.setattr(world_plots, "save_figure", watched)
    return seen


def is_png(path: Path) -> bool:
    return path.read_bytes().startswith(b"\x89PNG") and path.stat().st_size > 5_000


def closest(features: Array) -> float:
    return min(float(np.linalg.norm(a - b)) for a, b in combinations(features, 2))


# --- sample trajectories ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "part"), [("driver", 0), ("tosser", 1)])
def test_samples_are_paths_of_diverse_trajectories(
    name: str, part: int, tmp_path: Path, axis: list[Any]
) -> None:
    world, pool = make(name), Pool.simulate(name, 40)
    save_samples(tmp_path / "samples.png", world, pool, count=3)
    assert is_png(tmp_path / "samples.png")
    lines = [line.get_xydata() for line in axis[0].lines]
    assert len(lines) == 3
    assert pool.trajectories is not None
    known = pool.trajectories.poses[:, :, part, :2]
    rows = [next(row for row, path in enumerate(known) if np.allclose(path, line)) for line in lines]
    assert len(set(rows)) == 3
    assert closest(pool.scaled[rows]) > np.median(
        [closest(pool.scaled[some]) for some in np.random.default_rng(0).integers(0, 40, (50, 3))]
    )


@pytest.mark.parametrize("name", ["driver", "tosser"])
def test_every_path_is_inside_the_figure(name: str, tmp_path: Path, axis: list[Any]) -> None:
    save_samples(tmp_path / "samples.png", make(name), Pool.simulate(name, 40), count=5)
    (left, right), (bottom, top) = axis[0].get_xlim(), axis[0].get_ylim()
    places = np.concatenate([line.get_xydata() for line in axis[0].lines])
    assert np.all((places >= [left, bottom]) & (places <= [right, top]))
    assert axis[0].get_aspect() == 1.0


def test_more_samples_than_colors_are_drawn(tmp_path: Path, axis: list[Any]) -> None:
    save_samples(tmp_path / "samples.png", make("driver"), Pool.simulate("driver", 40), count=12)
    assert len(axis[0].lines) == 12


def test_samples_are_of_2d_worlds(golf: Golf, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"2-D worlds .*golf"):
        save_samples(tmp_path / "samples.png", golf, Pool.simulate("driver", 40))
    assert list(tmp_path.iterdir()) == []


def test_samples_need_poses(tmp_path: Path) -> None:
    pool = Pool(np.random.default_rng(0).standard_normal((20, 4)))
    with pytest.raises(ValueError, match="only features"):
        save_samples(tmp_path / "samples.png", make("driver"), pool)


# --- a diverse set ----------------------------------------------------------------------------------------


def test_the_poisson_figure_has_the_pool_and_both_choices(tmp_path: Path, axis: list[Any]) -> None:
    pool = Pool.simulate("driver", 300)
    save_poisson(tmp_path / "poisson.png", pool, count=20)
    assert is_png(tmp_path / "poisson.png")
    everything, uniform, diverse = (np.asarray(c.get_offsets()) for c in axis[0].collections)
    np.testing.assert_allclose(everything, pool.features[:, :2])
    known = set(map(tuple, np.round(pool.features[:, :2], 9).tolist()))
    for chosen in (uniform, diverse):
        assert len(set(map(tuple, np.round(chosen, 9).tolist()))) == 20
        assert set(map(tuple, np.round(chosen, 9).tolist())) <= known
    assert (axis[0].get_xlabel(), axis[0].get_ylabel()) == ("lane distance (m)", "speed (m/s)")
    words = [text.get_text() for text in axis[0].get_legend().get_texts()]
    assert words == ["all 300 trajectories", "20 uniformly random", "20 by Poisson disk"]


def test_the_poisson_choice_covers_more_than_chance(tmp_path: Path, axis: list[Any]) -> None:
    pool = Pool(np.random.default_rng(3).standard_normal((300, 2)))
    save_poisson(tmp_path / "poisson.png", pool, count=20)
    _, uniform, diverse = (np.asarray(c.get_offsets()) for c in axis[0].collections)
    assert closest(diverse) > 3 * closest(uniform)


def test_the_seed_decides_both_choices(tmp_path: Path, axis: list[Any]) -> None:
    pool = Pool.simulate("driver", 100)
    for seed in (1, 1, 2):
        save_poisson(tmp_path / "poisson.png", pool, count=5, seed=seed)
    for place in (1, 2):
        first, again, other = (np.asarray(a.collections[place].get_offsets()) for a in axis)
        np.testing.assert_array_equal(first, again)
        assert not np.array_equal(first, other)


def test_one_feature_cannot_be_drawn_as_two(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="two features"):
        save_poisson(tmp_path / "poisson.png", Pool(np.arange(30.0)[:, None]))


# --- golf's targets ---------------------------------------------------------------------------------------


def test_the_top_view_shows_targets_reach_and_linear_maxima(
    golf: Golf, tmp_path: Path, axis: list[Any]
) -> None:
    save_targets(tmp_path / "targets.png", golf)
    assert is_png(tmp_path / "targets.png")
    discs = [patch for patch in axis[0].patches if isinstance(patch, Circle)]
    assert [disc.radius for disc in discs] == [0.14] * 8
    np.testing.assert_allclose([disc.center for disc in discs], [target.position for target in golf.targets])
    assert [text.get_text() for text in axis[0].texts] == [target.name for target in golf.targets]
    lines = {line.get_label(): line.get_xydata() for line in axis[0].lines}
    np.testing.assert_allclose(lines["tee"], [[0.0, 0.0]])
    far, near = np.hypot(*lines["highest linear rewards"].T).round(2)[[-1, 0]]
    assert len(lines["highest linear rewards"]) == 4
    assert far > 3.5 > 0.5 > near


def test_the_reachable_area_is_that_of_simulated_shots(golf: Golf, tmp_path: Path, axis: list[Any]) -> None:
    save_targets(tmp_path / "targets.png", golf)
    (area,) = (patch for patch in axis[0].patches if not isinstance(patch, Circle))
    outline = Outline(area.get_xy())
    played = golf.ball_positions(
        golf.rollout([[0.65, -34.0], [0.65, 34.0], [1.4, 0.0], [2.15, -34.0], [2.15, 34.0]])
    )
    assert outline.contains_points(played).all()
    assert outline.contains_points([target.position for target in golf.targets]).all()
    assert not outline.contains_points([[0.0, 0.0], [4.5, 0.0], [2.0, 2.0], [2.0, -2.0]]).any()


@pytest.mark.parametrize("suffix", ["pdf", "svg"])
def test_views_are_saved_for_papers_too(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"poisson.{suffix}"
    save_poisson(path, Pool.simulate("driver", 50), count=5)
    assert path.read_bytes().startswith({"pdf": b"%PDF", "svg": b"<?xml"}[suffix])
