"""Plans of discrete actions: as good as trying all of them."""

from itertools import product
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Discrete, MultiDiscrete

from prefero import Pool, plan
from prefero._support.arrays import Array
from prefero.deploy.planning.plan import maximize
from prefero.worlds.base import ActionSpace
from prefero.worlds.gymnasium_world import GymnasiumWorld
from taught_learners import reward_of_pairs

LENGTH = 6


class Steps(gymnasium.Env[Any, Any]):
    """On a line: a choice goes back, stays, or goes on; with two choices, the second doubles the first."""

    observation_space = gymnasium.spaces.Box(-99.0, 99.0, (2,), np.float64)

    def __init__(self, space: Any) -> None:
        self.action_space = space

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        self.state = np.zeros(2)
        return self.state.copy(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        assert self.action_space.contains(action)
        move, *double = np.ravel(action).tolist()
        self.state = self.state + np.array([(move - 1) * (1 + sum(double)), float(move == 1)])
        return self.state.copy(), 0.0, False, False, {}


SPACES: dict[str, Any] = {"one choice": lambda: Discrete(3), "two choices": lambda: MultiDiscrete([3, 2])}


def world_of(kind: str, segments: int = 3) -> GymnasiumWorld:
    def last(observations: Array, _: Array) -> Array:
        return np.asarray(observations[-1])

    return GymnasiumWorld(
        lambda **_: Steps(SPACES[kind]()), last, ["place", "waits"], max_steps=LENGTH, segments=segments
    )


def all_actions(space: ActionSpace) -> Array:
    ranges = [np.arange(low, high + 1) for low, high in zip(space.low, space.high, strict=True)]
    return np.array(list(product(*ranges)))


@pytest.mark.parametrize("kind", SPACES)
def test_a_plan_is_as_good_as_the_best_of_all_sequences(kind: str) -> None:
    world = world_of(kind)
    pool = Pool.simulate(world, 30, cache=False, progress=False)
    reward = reward_of_pairs(pool, pool.features[:20] @ [0.5, 1.0])
    found = plan(reward, world, evaluations=600, progress=False)
    best = reward(world.rollout(all_actions(world.action_space)).features).max()
    assert found.mean == pytest.approx(best)
    assert np.array_equal(found.actions, found.actions.round())
    started = plan(reward, world, pool, evaluations=1, progress=False)
    assert started.mean >= reward(pool.features).max() - 1e-9  # never worse than its start


def test_the_search_finds_a_sequence_among_very_many() -> None:
    space = ActionSpace(tuple(f"a{i}" for i in range(20)), np.zeros(20), np.full(20, 4.0), discrete=True)
    wanted = np.random.default_rng(0).integers(0, 5, 20)

    def right(actions: Array) -> Array:
        return np.asarray((actions == wanted).mean(axis=1))

    found = maximize(right, space, np.zeros(20), evaluations=4000, progress=False)
    assert found.value >= 0.95  # of 5^20 sequences


def test_choices_are_whole_numbers() -> None:
    space = world_of("two choices", segments=1).action_space
    drawn = space.sample(200, np.random.default_rng(0))
    assert set(map(tuple, drawn.tolist())) == {(a, b) for a in (0.0, 1.0, 2.0) for b in (0.0, 1.0)}
    with pytest.raises(ValueError, match="whole numbers"):
        space.check([0.5, 1.0])
    with pytest.raises(ValueError, match="no even grid"):
        space.grid(100)


def test_a_progress_bar_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    space = ActionSpace(("a",), np.zeros(1), np.ones(1), discrete=True)
    maximize(lambda actions: actions[:, 0], space, [0.0], evaluations=50, progress=True)
    shown = capsys.readouterr()
    assert "planning" in shown.err + shown.out
