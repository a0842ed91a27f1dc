"""Planning: the search finds the maximum, plans are optimal, and asking about plans improves them."""

import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import prefero
from prefero import Learner, LinearPreference, Pool, PreferenceGP, Reward
from prefero._support.arrays import Array
from prefero._support.optional import MissingExtra
from prefero.deploy.planning.plan import maximize
from prefero.kernels import RBF, Anchored, Linear, Quadratic
from prefero.simulation.tasks import Task, teach, world_task
from prefero.simulation.users import SimulatedUser
from prefero.worlds import make
from worlds.toy_world import Toy, box


def quick(features: int) -> PreferenceGP:
    """A model with a fixed kernel, which is fitted in milliseconds."""
    kernel = Anchored(0.5 * Linear() + 0.2 * Quadratic(), (0.0,) * features)
    return PreferenceGP(kernel=kernel, noise=0.1, learn=False)


def toy_reward(model: Any = None, answers: int = 12) -> tuple[Reward, Pool]:
    pool = Pool.simulate(Toy(), 60, progress=False)
    learner = Learner(pool, model=model or quick(2))
    likes = pool.scaled[:, 0] - pool.scaled[:, 1] ** 2
    for _ in range(answers):
        question = learner.ask()
        learner.tell(question, "left" if likes[question.left] > likes[question.right] else "right")
    return learner.reward(), pool


def lower_bound(reward: Reward, features: Array, caution: float) -> Array:
    mean, std = reward.predict(features, return_std=True)
    bound: Array = mean - caution * std
    return bound


# --- the search -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("top", "wanted"), [([0.3, 4.0, -2.0], [0.3, 4.0, -2.0]), ([7.0, -9.0, -2.0], [1.0, 0.0, -2.0])]
)
def test_the_maximum_is_found_inside_the_bounds_or_on_them(top: list[float], wanted: list[float]) -> None:
    actions = box([-1.0, 0.0, -3.0], [1.0, 10.0, 3.0])
    found = maximize(lambda a: -np.sum((a - top) ** 2, axis=1), actions, [0.0, 1.0, 0.0], evaluations=1500)
    np.testing.assert_allclose(found.actions, wanted, atol=2e-2)
    assert found.value == pytest.approx(-np.sum((np.array(wanted) - top) ** 2), abs=1e-2)


def test_a_single_action_can_be_searched() -> None:
    found = maximize(lambda a: np.cos(a[:, 0] - 0.7), box([-3.0], [3.0]), [-2.0], evaluations=300)
    assert found.actions.shape == (1,)
    assert found.actions[0] == pytest.approx(0.7, abs=1e-2)


def test_a_fixed_action_stays_as_it_is() -> None:
    found = maximize(lambda a: -((a[:, 1] - 0.3) ** 2), box([2.0, -1.0], [2.0, 1.0]), [2, 0], evaluations=200)
    np.testing.assert_allclose(found.actions, [2.0, 0.3], atol=1e-2)


@settings(max_examples=25)
@given(
    st.integers(1, 4),
    st.integers(1, 60),
    st.integers(0, 5),
    st.sampled_from([np.sin, np.abs, np.zeros_like, np.floor]),
)
def test_evaluations_are_in_bounds_and_counted_and_the_best_is_returned(
    size: int, evaluations: int, seed: int, wave: Any
) -> None:
    actions, tried = box([-2.0] * size, [0.5] * size), []
    start = actions.sample(1, np.random.default_rng(seed))[0]

    def score(batch: Array) -> Array:
        tried.append(batch)
        scores: Array = wave(5 * batch).sum(axis=1)
        return scores

    found = maximize(score, actions, start, evaluations=evaluations, seed=seed)
    every = np.concatenate(tried)
    assert len(every) == evaluations
    assert np.all((every >= actions.low) & (every <= actions.high))
    np.testing.assert_array_equal(every[0], start)
    assert found.value == max(wave(5 * every).sum(axis=1))
    assert found.value == wave(5 * found.actions).sum()


def test_a_search_that_has_converged_restarts_elsewhere() -> None:
    """Two peaks: a single run from the lower one would end there."""

    def score(a: Array) -> Array:
        low, high = (np.exp(-np.sum((a - top) ** 2, axis=1) / 0.2) for top in ([0.8, 0.8], [-0.8, -0.8]))
        both: Array = low + 2.0 * high
        return both

    actions = box([-1.0, -1.0], [1.0, 1.0])
    found = maximize(score, actions, [0.7, 0.7], evaluations=3000)
    np.testing.assert_allclose(found.actions, [-0.8, -0.8], atol=1e-2)


def test_the_seed_decides_and_numpys_global_state_is_unchanged() -> None:
    def found(seed: int) -> Array:
        return maximize(
            lambda a: np.sin(9 * a).sum(axis=1), Toy.action_space, [0, 1], evaluations=60, seed=seed
        )[0]

    before = np.random.get_state()[1].copy()  # type: ignore[index] # noqa: NPY002
    np.testing.assert_array_equal(found(1), found(1))
    assert not np.array_equal(found(1), found(2))
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # type: ignore[index] # noqa: NPY002


@pytest.mark.parametrize(
    ("score", "options", "message"),
    [
        (lambda a: a, {}, "one finite value .*1 actions"),
        (lambda a: a[:, 0] * np.nan, {}, "one finite value .*1 actions"),
        (lambda a: a[:, 0], {"evaluations": 0}, "1 evaluation or more"),
        (lambda a: a[:, 0], {"seed": -1}, "a seed of 0 or more"),
        (lambda a: a[:, 0], {"start": [0.0, 5.0]}, "'action 1' must be between 0 and 3, but is 5"),
        (lambda a: a[:, 0], {"start": [0.0]}, "an action has 2 numbers"),
    ],
)
def test_impossible_searches_are_refused(score: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        maximize(score, Toy.action_space, **{"start": [0.0, 1.0], **options})


def test_without_cma_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cma", None)
    with pytest.raises(MissingExtra, match=r"pip install .*\[plan\]"):
        maximize(lambda a: a[:, 0], Toy.action_space, [0.0, 1.0])


# --- plans ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("caution", [0.0, 2.0])
@pytest.mark.parametrize("model", [None, LinearPreference(noise=0.2, draws=30)], ids=["GP", "linear"])
def test_no_action_of_a_fine_grid_is_better_than_the_plan(caution: float, model: Any) -> None:
    reward, pool = toy_reward(model)
    plan = prefero.plan(reward, Toy(), pool, caution=caution, evaluations=600)
    grid = Toy().rollout(Toy.action_space.grid(40_000)).features
    best = lower_bound(reward, grid, caution).max()
    assert lower_bound(reward, plan.trajectory.features[None], caution)[0] > best - 1e-3
    assert plan.mean - caution * plan.std > best - 1e-3


def test_a_plan_has_its_trajectory_and_the_reward_of_it() -> None:
    reward, pool = toy_reward()
    plan = prefero.plan(reward, Toy(), pool, evaluations=50)
    again = Toy().rollout(plan.actions)
    np.testing.assert_array_equal(plan.trajectory.features, again.features)
    np.testing.assert_array_equal(plan.trajectory.actions, plan.actions)
    mean, std = reward.predict(again.features[None], return_std=True)
    assert (plan.mean, plan.std) == pytest.approx((mean[0], std[0]))


def test_a_plan_starts_from_the_pools_best_trajectory() -> None:
    reward, pool = toy_reward()
    plan = prefero.plan(reward, Toy(), pool, evaluations=1)
    best = reward.best(pool)
    np.testing.assert_array_equal(plan.actions, pool.trajectory(best.index).actions)
    assert plan.mean == pytest.approx(reward(pool.features)[best.index])


def test_a_plan_needs_no_pool() -> None:
    reward, pool = toy_reward()
    assert prefero.plan(reward, Toy(), evaluations=600).mean == pytest.approx(
        prefero.plan(reward, Toy(), pool).mean, abs=1e-2
    )
    assert prefero.plan(reward, Toy(), evaluations=1).actions.shape == (2,)


def test_caution_lowers_the_uncertainty_of_the_plan() -> None:
    reward, pool = toy_reward(PreferenceGP(Anchored(RBF(0.3), (0.0, 0.0)), noise=0.1, learn=False), 6)
    bold, careful = (prefero.plan(reward, Toy(), pool, caution=caution) for caution in (0.0, 3.0))
    assert careful.std < bold.std
    assert careful.mean < bold.mean


@pytest.mark.parametrize(
    ("world", "pool", "options", "message"),
    [
        ("driver", None, {}, "sway, reach, .*driver has lane distance"),
        (Toy(), Pool.simulate("driver", 5, progress=False), {}, "pool has lane distance"),
        (Toy(), Pool(np.eye(2), ["sway", "reach"]), {}, "only features"),
        (Toy(), None, {"caution": -1.0}, "caution .*-1"),
        (Toy(), None, {"evaluations": 0}, "1 evaluation or more"),
        ("mars", None, {}, "no world 'mars'"),
    ],
)
def test_impossible_plans_are_refused(world: Any, pool: Any, options: dict[str, Any], message: str) -> None:
    reward, _ = toy_reward(answers=2)
    with pytest.raises(ValueError, match=message):
        prefero.plan(reward, world, pool, **options)


def true_reward(task: Task, features: Array) -> Array:
    return task.user.reward(task.pool.scaling(np.atleast_2d(features)))


@pytest.mark.parametrize("seed", [1, 5])
def test_on_driver_the_plan_beats_the_pools_best_under_the_true_reward(seed: int) -> None:
    task = world_task(make("driver"), "quadratic", trajectories=150, test_size=4, seed=seed, progress=False)
    learner = Learner(task.pool, seed=seed)
    list(teach(task, learner, 40, seed=seed))
    plan = prefero.plan(learner.reward(), "driver", task.pool, evaluations=800)
    best = true_reward(task, task.pool.features).max()
    assert true_reward(task, plan.trajectory.features)[0] > best + 0.5  # in the pool's standard deviations


# --- asking while planning --------------------------------------------------------------------------------


def true_reward_of_the_plan(seed: int, grow: bool) -> float:
    """After 30 answers about driver, of a plan for somebody who likes to drive straight and fast, as no
    random trajectory does; `grow`: the plan so far is added before every question.
    """
    world, pool = make("driver"), Pool.simulate("driver", 150, seed, progress=False)
    wanted = pool.scaling(world.rollout(np.tile([0.0, 0.8], 5)).features[None])
    person = SimulatedUser(lambda x: -np.linalg.norm(x - wanted, axis=1), noise=0.1)
    model = PreferenceGP(Anchored(RBF(0.1), (0.0,) * 4), noise=0.1, learn=False)
    learner, rng = Learner(pool, seed=seed, model=model), np.random.default_rng(seed)
    for number in range(30):
        if grow and number:
            learner.add(
                prefero.plan(learner.reward(), world, learner.pool, evaluations=120, seed=number).trajectory
            )
        question, x = learner.ask("best"), learner.pool.scaled
        learner.tell(question, person.answer(x[question.left], x[question.right], rng))
    plan = prefero.plan(learner.reward(), world, learner.pool, evaluations=600)
    return float(person.reward(pool.scaling(plan.trajectory.features[None]))[0])


def test_asking_about_plans_leads_to_better_plans() -> None:
    with_plans, without = (
        [true_reward_of_the_plan(seed, grow) for seed in range(3)] for grow in (True, False)
    )
    assert np.mean(with_plans) > np.mean(without) + 0.2
