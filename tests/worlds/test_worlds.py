"""Every world keeps the promises of the conformance kit, and is found by its name."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.envs.classic_control import PendulumEnv

from prefero._support.arrays import Array
from prefero.worlds import REGISTRY, World, from_gymnasium, make, names, register
from worlds.conformance import PROMISES, Case, Promise, case_of


def pendulum_features(observations: Array, actions: Array) -> list[float]:
    return [float(observations[:, 0].mean()), float((actions**2).mean())]


def pendulum(
    max_steps: int = 20,
    segments: int = 4,
    seed: int = 2,
    feature_names: tuple[str, ...] = ("height", "effort"),
) -> World:
    return from_gymnasium(
        PendulumEnv,
        pendulum_features,
        feature_names,
        max_steps=max_steps,
        segments=segments,
        seed=seed,
        name="pendulum",
        task_description="Decide how the pendulum should swing, and judge the swings by that.",
        subject="the pendulum",
    )


class Row(NamedTuple):
    """A world, and how its batches compare with single rollouts: to the last bit, or to rounding."""

    make: Callable[[], World]
    rollouts: int = 6
    rounding: float = 0.0


ROWS = {
    "driver plain": Row(lambda: make("driver"), rounding=1e-12),
    "driver shaped": Row(lambda: make("driver", features="shaped"), rounding=1e-12),
    "tosser": Row(lambda: make("tosser")),
    "tosser with all features": Row(
        lambda: make("tosser", features=["range", "flips", "altitude", "basket distance"])
    ),
    "golf": Row(lambda: make("golf"), rollouts=3),
    "pendulum": Row(lambda: make("pendulum")),
}


@pytest.fixture(scope="module", autouse=True)
def own_worlds() -> Iterator[None]:
    register("pendulum", pendulum)
    yield
    REGISTRY.unregister("pendulum")


@pytest.fixture(scope="module", params=ROWS)
def case(request: pytest.FixtureRequest) -> Case:
    row = ROWS[request.param]
    return case_of(row.make(), rollouts=row.rollouts, rounding=row.rounding)


@pytest.mark.parametrize("check", PROMISES, ids=lambda check: check.__name__)
def test_a_world_keeps_its_promise(case: Case, check: Promise) -> None:
    check(case)


# --- making worlds ----------------------------------------------------------------------------------------


def test_the_built_in_worlds_are_known() -> None:
    assert names()[:3] == ("driver", "tosser", "golf")


@pytest.mark.parametrize("name", ["", "Driver", "prefero/Driver-v0", "moon"])
def test_an_unknown_world_is_refused_with_those_there_are(name: str) -> None:
    with pytest.raises(ValueError, match=rf"no world '{name}'.*driver, tosser, golf"):
        make(name)


@pytest.mark.parametrize(
    ("name", "known"),
    [("driver", "features"), ("tosser", "features"), ("golf", "none"), ("pendulum", "max_steps")],
)
def test_an_unknown_option_is_refused_with_those_there_are(name: str, known: str) -> None:
    with pytest.raises(ValueError, match=rf"{name} .*'wind'; .*{known}"):
        make(name, wind=3.0)


@pytest.mark.parametrize(
    ("name", "features", "message"),
    [
        ("driver", "pretty", "plain and shaped, .*'pretty'"),
        ("driver", ["speed"], r"plain and shaped, .*\['speed'\]"),
        (
            "tosser",
            ["range", "beauty"],
            "no feature 'beauty': .*range, flips, alt",
        ),
        ("tosser", ["range", "range"], r"\['range', 'range'\]: .*each once"),
        ("tosser", [], r"\[\]: .*one or more"),
    ],
)
def test_features_that_there_are_not_are_refused(name: str, features: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make(name, features=features)


@pytest.mark.parametrize("name", ["", "driver", "tosser", "golf"])
def test_a_world_is_registered_under_a_new_name(name: str) -> None:
    with pytest.raises(ValueError, match=f"new name, .*'{name}'"):
        register(name, pendulum)


def test_a_registered_world_is_made_by_name_and_with_options() -> None:
    assert "pendulum" in names()
    assert len(make("pendulum").action_space) == 4
    assert len(make("pendulum", segments=2).action_space) == 2


def test_a_name_may_be_registered_again() -> None:
    register("pendulum", lambda: pendulum(max_steps=30))
    assert make("pendulum").horizon == 30
    register("pendulum", pendulum)
    assert make("pendulum").horizon == 20


def test_the_pendulum_is_driven_through_its_own_space() -> None:
    assert isinstance(PendulumEnv().action_space, spaces.Box)
    np.testing.assert_array_equal(make("pendulum").action_space.high, np.full(4, 2.0))
