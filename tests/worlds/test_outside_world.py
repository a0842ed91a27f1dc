"""A world of another package: nothing in Prefero names it, and everything that works with worlds finds it."""

import json
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from typer.testing import CliRunner

import prefero
from prefero import Learner, Pool
from prefero.cli import app
from prefero.pools.displays import display_of
from prefero.simulation.tasks import teach, world_task
from prefero.worlds import make, names
from prefero.worlds.clips import save_clip
from support.install_package import install_package
from worlds.conformance import check_world

MODULE = '''
"""A puck on a rail: pushed twice, slowed by friction."""

import numpy as np

from prefero.rendering.scenes import Capsule, Part, Scene, Window, rectangle
from prefero.worlds import ActionSpace, Feature, World


class Puck(World):
    name = "puck"
    physics = "puck 1"
    action_space = ActionSpace(("first push", "second push"), np.full(2, -1.0), np.full(2, 1.0))
    features = (Feature("end", "m", "where it ends"), Feature("effort", "", "mean size of the pushes"))
    horizon, time_step = 20, 0.1

    def __init__(self, friction: float = 0.1) -> None:
        self.options = {"friction": friction}
        self.friction = friction

    @property
    def scene(self):
        return Scene(
            (
                Part("rail", (rectangle(-3.0, 3.0, -0.1, 0.0, "#888888"),)),
                Part("puck", (Capsule((0.0, 0.1), (0.0, 0.1), 0.1, "#cc3333"),), moves=True, trail=True),
            ),
            Window(-3.0, 3.0, -1.0, 1.0),
            frame_time=0.1,
            main_part="puck",
        )

    def simulate(self, actions):
        place, speed = np.zeros((2, len(actions)))
        places = [place]
        for step in range(self.horizon):
            speed = (1 - self.friction) * speed + 0.1 * actions[:, step // 10]
            place = place + self.time_step * speed
            places.append(place)
        poses = np.zeros((len(actions), self.horizon + 1, 1, 3))
        poses[:, :, 0, 0] = np.stack(places, axis=1)
        return np.column_stack([place, np.abs(actions).mean(axis=1)]), poses
'''


@pytest.fixture(autouse=True)
def puck_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install_package(
        tmp_path / "site", monkeypatch, "puck_world", MODULE, {"prefero.worlds": {"puck": "puck_world:Puck"}}
    )
    commands = import_module("prefero.cli.worlds")
    monkeypatch.setattr(commands, "console", Console(width=200))  # no cell of a table is folded


def printed(*arguments: str) -> str:
    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_it_is_made_by_name_with_options_and_keeps_every_promise() -> None:
    assert names() == ("driver", "tosser", "golf", "puck")
    assert type(make("puck")).__module__ == "puck_world"
    slow, fast = (make("puck", friction=friction).rollout([1.0, 1.0]).features[0] for friction in (0.5, 0.1))
    assert slow < fast
    check_world(make("puck"))
    with pytest.raises(ValueError, match=r"puck .*'wind'; .*friction"):
        make("puck", wind=3.0)


def test_it_is_simulated_into_a_pool_that_finds_it_again(tmp_path: Path) -> None:
    Pool.simulate(make("puck", friction=0.3), 12, seed=2, progress=False).save(tmp_path / "pool.npz")
    pool = Pool.load(tmp_path / "pool.npz")
    again = pool.world().rollout(pool.trajectory(5).actions)
    np.testing.assert_array_equal(again.features, pool.features[5])
    assert pool.names == ("end", "effort")


def test_it_is_shown(tmp_path: Path) -> None:
    world = make("puck")
    trajectory = world.rollout([0.5, -1.0])
    for suffix in ("png", "mp4", "json"):
        save_clip(tmp_path / f"clip.{suffix}", world, trajectory)
        assert (tmp_path / f"clip.{suffix}").stat().st_size > 100
    display = display_of(Pool.simulate("puck", 10, progress=False))
    assert "puck" in json.dumps(display)


def test_a_simulated_user_teaches_it_and_the_reward_plans_in_it() -> None:
    task = world_task(make("puck"), "linear", trajectories=60, test_size=10, seed=1, progress=False)
    learner = Learner(task.pool, seed=1)
    *_, last = teach(task, learner, 12, seed=1)
    assert last.accuracy > 0.8
    plan = prefero.plan(learner.reward(), "puck", task.pool, evaluations=30, progress=False)
    assert plan.mean >= learner.reward()(task.pool.features).max() - 1e-9


def test_a_package_that_cannot_be_loaded_does_not_hide_the_other_worlds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, points = "raise RuntimeError('no licence')", {"prefero.worlds": {"moon": "moon_world:Moon"}}
    install_package(tmp_path / "more", monkeypatch, "moon_world", code, points)
    listed = " ".join(printed("worlds").split())
    assert "RuntimeError: no licence" in listed
    assert "puck 1" in listed


def test_the_command_line_knows_it(tmp_path: Path) -> None:
    listed = next(line for line in printed("worlds").splitlines() if " puck " in line)
    assert "first push, second push" in listed
    assert "end (m), effort" in listed
    printed("show", "puck", "--out", str(tmp_path / "puck.png"), "--frames", "2")
    assert (tmp_path / "puck.png").read_bytes().startswith(b"\x89PNG")
    printed("show", "puck", "--view", "samples", "--out", str(tmp_path / "samples.png"))
    assert "accuracy" in printed("simulate", "puck", "--questions", "2", "--trajectories", "30")
