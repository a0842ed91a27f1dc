"""Planning and training: what is found is the best there is, and asking about it leads beyond the pool."""

import importlib.util
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import prefero
from prefero import Learner, LinearPreference, Pool, PreferenceGP, Question, Reward
from prefero._support.arrays import Array
from prefero._support.optional import MissingExtra
from prefero.deploy.planning import maximize
from prefero.kernels import RBF, Anchored, Linear, Quadratic
from prefero.rendering.scenes import Scene, Window
from prefero.simulation.tasks import Task, teach, world_task
from prefero.simulation.users import Person
from prefero.trajectories.trajectory import Trajectory
from prefero.worlds import ActionSpace, Feature, World, make


def box(low: list[float], high: list[float]) -> ActionSpace:
    return ActionSpace(tuple(f"action {n}" for n in range(len(low))), np.array(low), np.array(high))


class Toy(World):
    """Two actions; what is noted of them is a bend of the plane, so that no feature is an action."""

    name, physics, horizon, time_step = "toy", "toy 1", 1, 1.0
    options: Any = {}  # noqa: RUF012
    action_space = box([-1.0, 0.0], [1.0, 3.0])
    features = (Feature("sway", "", ""), Feature("reach", "", ""))

    def simulate(self, actions: Array) -> tuple[Array, Array]:
        sway, push = actions.T
        return np.column_stack([np.sin(3 * sway) + push, push * sway]), np.zeros((len(actions), 1, 0, 3))

    @property
    def scene(self) -> Scene:
        return Scene((), Window(0.0, 1.0, 0.0, 1.0), frame_time=1.0)


def quick(features: int) -> PreferenceGP:
    """A model that knows the family: milliseconds a fit."""
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
def test_the_top_of_a_hill_is_found_inside_the_bounds_or_on_them(
    top: list[float], wanted: list[float]
) -> None:
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
def test_what_is_tried_is_in_bounds_counted_and_never_beaten_by_the_start(
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


def test_a_search_that_has_settled_begins_anew_elsewhere() -> None:
    """Two peaks: from the foot of the lower one, a single climb ends there."""

    def score(a: Array) -> Array:
        low, high = (np.exp(-np.sum((a - top) ** 2, axis=1) / 0.2) for top in ([0.8, 0.8], [-0.8, -0.8]))
        both: Array = low + 2.0 * high
        return both

    actions = box([-1.0, -1.0], [1.0, 1.0])
    found = maximize(score, actions, [0.7, 0.7], evaluations=3000)
    np.testing.assert_allclose(found.actions, [-0.8, -0.8], atol=1e-2)


def test_the_seed_decides_and_numpys_own_numbers_are_left_alone() -> None:
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
        (lambda a: a, {}, "one finite value for each of 1 actions"),
        (lambda a: a[:, 0] * np.nan, {}, "one finite value for each of 1 actions, but got"),
        (lambda a: a[:, 0], {"evaluations": 0}, "1 evaluation or more"),
        (lambda a: a[:, 0], {"seed": -1}, "a seed of 0 or more"),
        (lambda a: a[:, 0], {"start": [0.0, 5.0]}, "'action 1' must be between 0 and 3, but is 5"),
        (lambda a: a[:, 0], {"start": [0.0]}, "an action has 2 numbers"),
    ],
)
def test_impossible_searches_are_refused(score: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        maximize(score, Toy.action_space, **{"start": [0.0, 1.0], **options})


def test_without_the_package_its_name_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cma", None)
    with pytest.raises(MissingExtra, match=r"pip install 'prefero\[plan\]'"):
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


def test_a_plan_is_a_trajectory_of_its_world_with_what_the_reward_says_of_it() -> None:
    reward, pool = toy_reward()
    plan = prefero.plan(reward, Toy(), pool, evaluations=50)
    again = Toy().rollout(plan.actions)
    np.testing.assert_array_equal(plan.trajectory.features, again.features)
    np.testing.assert_array_equal(plan.trajectory.actions, plan.actions)
    mean, std = reward.predict(again.features[None], return_std=True)
    assert (plan.mean, plan.std) == pytest.approx((mean[0], std[0]))


def test_a_plan_starts_from_the_pools_best_and_is_never_worse() -> None:
    reward, pool = toy_reward()
    plan = prefero.plan(reward, Toy(), pool, evaluations=1)
    best = reward.best(pool)
    np.testing.assert_array_equal(plan.actions, pool.trajectory(best.index).actions)
    assert plan.mean == pytest.approx(best.mean)


def test_without_a_pool_a_plan_is_found_too() -> None:
    reward, pool = toy_reward()
    assert prefero.plan(reward, Toy(), evaluations=600).mean == pytest.approx(
        prefero.plan(reward, Toy(), pool).mean, abs=1e-2
    )
    assert prefero.plan(reward, Toy(), evaluations=1).actions.shape == (2,)


def test_caution_prefers_what_is_known() -> None:
    reward, pool = toy_reward(PreferenceGP(Anchored(RBF(0.3), (0.0, 0.0)), noise=0.1, learn=False), 6)
    bold, careful = (prefero.plan(reward, Toy(), pool, caution=caution) for caution in (0.0, 3.0))
    assert careful.std < bold.std
    assert careful.mean < bold.mean


@pytest.mark.parametrize(
    ("world", "pool", "options", "message"),
    [
        ("driver", None, {}, "features sway, reach, but the world driver has lane distance"),
        (Toy(), Pool.simulate("driver", 5, progress=False), {}, "but the pool has lane distance"),
        (Toy(), Pool(np.eye(2), ["sway", "reach"]), {}, "only features, so there are no actions"),
        (Toy(), None, {"caution": -1.0}, "caution is a number of standard deviations, 0 or more, but is -1"),
        (Toy(), None, {"evaluations": 0}, "1 evaluation or more"),
        ("mars", None, {}, "there is no world 'mars'"),
    ],
)
def test_impossible_plans_are_refused(world: Any, pool: Any, options: dict[str, Any], message: str) -> None:
    reward, _ = toy_reward(answers=2)
    with pytest.raises(ValueError, match=message):
        prefero.plan(reward, world, pool, **options)


def true_reward(task: Task, features: Array) -> Array:
    return task.person.reward(task.pool.scaling(np.atleast_2d(features)))


@pytest.mark.parametrize("seed", [1, 5])
def test_on_driver_the_plan_truly_beats_the_pools_best(seed: int) -> None:
    task = world_task(make("driver"), "quadratic", trajectories=150, tests=4, seed=seed, progress=False)
    learner = Learner(task.pool, seed=seed)
    list(teach(task, learner, 40, seed=seed))
    plan = prefero.plan(learner.reward(), "driver", task.pool, evaluations=800)
    best = true_reward(task, task.pool.features).max()
    assert true_reward(task, plan.trajectory.features)[0] > best + 0.5  # in the pool's standard deviations


# --- asking while planning --------------------------------------------------------------------------------


def told(learner: Learner, answers: int = 6) -> Learner:
    for _ in range(answers):
        question = learner.ask()
        learner.tell(question, "left" if question.left > question.right else "right")
    return learner


def test_a_pool_grows_at_its_end_and_keeps_its_scaling() -> None:
    pool = Pool.simulate(Toy(), 20, progress=False)
    more = Toy().rollout([[1.0, 3.0], [-1.0, 0.0]])
    grown = pool.extended(more)
    assert (len(grown), grown.names, grown.scaling, grown.source) == (
        22,
        pool.names,
        pool.scaling,
        pool.source,
    )
    np.testing.assert_array_equal(grown.scaled[:20], pool.scaled)
    np.testing.assert_allclose(
        grown.scaled[20:], (more.features - pool.features.mean(0)) / pool.features.std(0)
    )
    np.testing.assert_array_equal(grown.trajectory(21).actions, [-1.0, 0.0])
    np.testing.assert_array_equal(pool.extended(more[1]).features, grown.features[[*range(20), 21]])
    assert len(pool) == 20


def test_a_grown_pool_is_the_same_from_its_file(tmp_path: Any) -> None:
    grown = Pool.simulate(Toy(), 20, progress=False).extended(Toy().rollout([1.0, 3.0]))
    grown.save(tmp_path / "pool.npz")
    for again in (Pool.load(tmp_path / "pool.npz"), Pool.from_bytes(grown.to_bytes())):
        assert again.scaling == grown.scaling
        np.testing.assert_array_equal(again.scaled, grown.scaled)


def test_a_pool_of_features_alone_grows_by_rows() -> None:
    pool = Pool([[0.0, 1.0], [2.0, 5.0]], ["speed", "distance"])
    np.testing.assert_array_equal(pool.extended([4.0, 9.0]).scaled[2], [3.0, 3.0])
    np.testing.assert_array_equal(pool.extended([[4.0, 9.0]] * 3).features[4], [4.0, 9.0])


@pytest.mark.parametrize(
    ("pool", "more", "message"),
    [
        (Pool(np.eye(2)), Toy().rollout([0.0, 0.0]), "of features, and cannot be extended by Trajectory"),
        (
            Pool.simulate(Toy(), 3, progress=False),
            [0.0, 0.0],
            "of trajectories, and cannot be extended by list",
        ),
        (Pool(np.eye(2), clips=["a.mp4", "b.mp4"]), [0.0, 0.0], "of clips, and cannot be extended by list"),
        (Pool(np.eye(2), ["a", "b"]), [0.0, np.nan], "must be finite, but row 0 has nan in column 'b'"),
        (Pool(np.eye(2)), [0.0, 0.0, 0.0], "there are 3 features, but 2 names"),
        (
            Pool.simulate(Toy(), 3, progress=False),
            Trajectory(np.zeros(5), np.zeros(2), np.zeros((1, 0, 3))),
            r"another world.s: actions and poses have shapes \(\(5,\)",
        ),
    ],
)
def test_what_does_not_fit_a_pool_is_not_added(pool: Pool, more: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pool.extended(more)


@pytest.mark.parametrize("model", [quick(2), LinearPreference(noise=0.2, draws=20)], ids=["GP", "linear"])
def test_growing_changes_neither_answers_nor_belief(model: Any) -> None:
    learner = told(Learner(Pool.simulate(Toy(), 20, progress=False), model=model))
    before, answers = learner.reward(), learner.answers
    indices = learner.add(Toy().rollout([[1.0, 3.0], [-1.0, 3.0]]))
    assert indices.tolist() == [20, 21]
    assert learner.answers == answers
    x = learner.pool.features
    np.testing.assert_array_equal(learner.reward()(x), before(x))
    rebuilt = Learner(learner.pool, model=model, answers=answers)
    np.testing.assert_allclose(rebuilt.reward()(x), before(x), atol=1e-9)


def test_a_new_trajectory_can_be_asked_about() -> None:
    learner = told(Learner(Pool(np.random.default_rng(0).normal(size=(20, 2))), model=quick(2)))
    (index,) = learner.add([9.0, -9.0]).tolist()  # far from all others, so little is known of it
    question = learner.ask()
    assert index in (question.left, question.right)
    learner.tell(question, "left")
    learner.tell(Question(index, 3), "right")
    assert len(learner.answers) == 8


def test_a_fork_does_not_grow_with_its_origin() -> None:
    learner = told(Learner(Pool.simulate(Toy(), 20, progress=False), model=quick(2)))
    other = learner.fork()
    learner.add(Toy().rollout([1.0, 3.0]))
    assert (len(learner.pool), len(other.pool)) == (21, 20)


def true_reward_of_the_plan(seed: int, grow: bool) -> float:
    """After 30 answers about driver, of a plan for somebody who likes to drive straight and fast, as no
    random trajectory does; `grow`: the plan so far is added before every question.
    """
    world, pool = make("driver"), Pool.simulate("driver", 150, seed, progress=False)
    wanted = pool.scaling(world.rollout(np.tile([0.0, 0.8], 5)).features[None])
    person = Person(lambda x: -np.linalg.norm(x - wanted, axis=1), noise=0.1)
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


# --- training instead of planning -------------------------------------------------------------------------


def test_a_policy_trained_on_what_was_taught_drives_better_than_the_pool() -> None:
    pytest.importorskip("stable_baselines3")
    place = Path(__file__).parent.parent.parent / "examples" / "train.py"
    specification = importlib.util.spec_from_file_location("train", place)
    assert specification is not None
    assert specification.loader is not None
    example = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(example)
    task = example.world_task(make("driver"), "quadratic", trajectories=150, tests=4, seed=4, progress=False)
    learned = example.taught(task, 40, quick(4))
    features = example.driven(example.trained(learned, 2500), learned)
    assert true_reward(task, features)[0] > true_reward(task, task.pool.features).max() + 0.5
