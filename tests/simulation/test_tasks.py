"""Simulated teaching: tasks are what they say, accuracy is a share of pairs, and active questions pay."""

from itertools import combinations, islice
from typing import Any

import numpy as np
import pytest

from prefero import Learner, Pool, PreferenceGP, Question
from prefero._support.arrays import Array
from prefero.kernels import Anchored, Linear, Quadratic
from prefero.pools.simulate import Source
from prefero.simulation.tasks import (
    TEST_SET_SEED,
    Task,
    accuracy_of,
    make_task,
    predicted_fraction,
    teach,
    world_task,
)
from prefero.simulation.test_sets import TestSet
from prefero.simulation.users import REWARD_KINDS
from prefero.worlds import make
from prefero.worlds.golf import Golf

every_kind = pytest.mark.parametrize("kind", REWARD_KINDS)


def quick(features: int = 2) -> PreferenceGP:
    """A model with the right kernel: milliseconds a fit."""
    kernel = Anchored(0.5 * Linear() + 0.2 * Quadratic(), (0.0,) * features)
    return PreferenceGP(kernel=kernel, noise=0.1, margin=0.1, learn=False)


# --- tasks ------------------------------------------------------------------------------------------------


@every_kind
@pytest.mark.parametrize("features", [1, 3])
def test_a_task_has_the_sizes_that_were_asked_for(kind: str, features: int) -> None:
    task = make_task(
        kind, features=features, trajectories=50, test_size=12, noise=0.2, margin=0.3, lapse_rate=0.1
    )
    assert task.kind == kind
    assert task.pool.features.shape == (50, features)
    assert task.test_set.features.shape == (12, features)
    assert (task.user.noise, task.user.margin, task.user.lapse_rate) == (0.2, 0.3, 0.1)


@every_kind
def test_rewards_have_unit_size_over_the_pool(kind: str) -> None:
    task = make_task(kind, trajectories=80, test_size=5)
    assert np.std(task.user.reward(task.pool.scaled)) == pytest.approx(1.0)


@every_kind
def test_the_seed_decides_the_task(kind: str) -> None:
    first, again, other = (make_task(kind, trajectories=20, test_size=5, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.pool.features, again.pool.features)
    np.testing.assert_array_equal(first.test_set.features, again.test_set.features)
    np.testing.assert_array_equal(
        first.user.reward(first.test_set.features), again.user.reward(first.test_set.features)
    )
    assert not np.array_equal(first.pool.features, other.pool.features)


def test_test_trajectories_are_diverse_and_not_those_of_the_pool() -> None:
    task = make_task("linear", trajectories=60, test_size=20)
    apart = [float(np.linalg.norm(a - b)) for a, b in combinations(task.test_set.features, 2)]
    assert min(apart) > 0.3
    assert not set(map(tuple, task.test_set.features.tolist())) & set(map(tuple, task.pool.features.tolist()))


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("wavy", {}, "no kind of reward 'wavy': .*linear, quadratic, bumpy"),
        ("linear", {"features": 0}, "features must be .*0"),
        ("linear", {"trajectories": 1}, "trajectories must be .*1"),
        ("linear", {"test_size": 1}, "test_size must be .*1"),
        ("linear", {"noise": 0.0}, "noise must be"),
        ("linear", {"margin": -1.0}, "margin must be 0"),
        ("linear", {"lapse_rate": 2.0}, "lapse_rate is"),
    ],
)
def test_impossible_tasks_are_refused(kind: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_task(kind, **options)


# --- tasks in worlds --------------------------------------------------------------------------------------


def source_of(pool: Pool) -> Source:
    assert pool.source is not None
    return pool.source


@pytest.mark.parametrize(
    ("world", "kind"), [("driver", "linear"), ("driver", "bumpy"), ("tosser", "quadratic")]
)
def test_a_task_in_a_world_has_the_sizes_that_were_asked_for(world: str, kind: str) -> None:
    task = world_task(
        make(world), kind, trajectories=30, test_size=6, noise=0.2, margin=0.3, lapse_rate=0.1, seed=2
    )
    assert task.kind == kind
    assert task.pool.names == make(world).feature_names
    assert task.test_set.features.shape == (6, len(task.pool.names))
    assert len(task.test_set.differences) == 15
    assert (task.user.noise, task.user.margin, task.user.lapse_rate) == (0.2, 0.3, 0.1)
    assert np.std(task.user.reward(task.pool.scaled)) == pytest.approx(1.0)
    assert source_of(task.pool) == Source(world, make(world).options, make(world).physics, 30, 2, "random")  # type: ignore[arg-type]


def test_the_test_set_of_a_world_is_from_a_pool_of_its_own() -> None:
    task = world_task(make("driver"), trajectories=200, test_size=30, seed=1)
    asked, tested = (set(map(tuple, x.tolist())) for x in (task.pool.features, task.test_set.features))
    assert not asked & tested
    unseen = Pool.simulate("driver", 200, 1 + TEST_SET_SEED)
    assert tested <= set(map(tuple, unseen.features.tolist()))
    apart = [float(np.linalg.norm(a - b)) for a, b in combinations(unseen.scaling(task.test_set.features), 2)]
    random = [float(np.linalg.norm(a - b)) for a, b in combinations(unseen.scaled[:30], 2)]
    assert min(apart) > 2 * min(random)


def test_the_true_answers_in_a_world_are_those_of_its_person() -> None:
    task = world_task(make("driver"), "quadratic", trajectories=50, test_size=7)
    truth = task.user.reward(task.pool.scaling(task.test_set.features))
    wanted = [truth[i] - truth[j] for i, j in combinations(range(7), 2)]
    np.testing.assert_allclose(task.test_set.differences, wanted)


def test_the_seed_decides_a_task_in_a_world() -> None:
    first, again, other = (
        world_task(make("driver"), trajectories=20, test_size=5, seed=s) for s in (1, 1, 2)
    )
    np.testing.assert_array_equal(first.test_set.differences, again.test_set.differences)
    assert not np.array_equal(first.pool.features, other.pool.features)
    x = first.pool.scaled
    assert not np.allclose(first.user.reward(x), other.user.reward(x))


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("wavy", {}, "no kind of reward 'wavy': .*linear, quadratic, bumpy, targets"),
        ("linear", {"trajectories": 1}, "trajectories must be .*1"),
        ("linear", {"test_size": 1}, "test_size must be .*1"),
        (
            "targets",
            {"trajectories": 10, "test_size": 2},
            "only golf has targets, .*driver",
        ),
    ],
)
def test_impossible_tasks_in_a_world_are_refused(kind: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        world_task(make("driver"), kind, **options)


@pytest.mark.parametrize(
    ("kind", "options"), [("targets", {}), ("linear", {"noise": 0.0}), ("linear", {"lapse_rate": 2.0})]
)
def test_an_impossible_task_is_refused_before_anything_is_simulated(
    kind: str, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:

    def simulate(*_: Any, **__: Any) -> Pool:
        raise RuntimeError("this takes a minute")

    monkeypatch.setattr(Pool, "simulate", simulate)
    with pytest.raises(ValueError, match=r"only golf has targets|noise must be|lapse_rate is"):
        world_task(make("driver"), kind, **options)


def test_in_golf_every_target_has_a_score_of_its_own(golf: Golf) -> None:
    """Worth of the shots that land on the middles: 2, 3, ... 9 in some order, but for their unit."""
    task = world_task(golf, "targets", trajectories=12, test_size=4)
    speeds = np.linspace(0.6, 2.2, 801)
    reach = np.hypot(*golf.predict_ball_positions(np.column_stack([speeds, np.zeros(801)])).T)
    shots = [[speeds[np.argmin(np.abs(reach - t.distance))], t.angle] for t in golf.targets]
    worth = task.user.reward(task.pool.scaling(shots))
    np.testing.assert_allclose(np.sort(worth) * 9 / worth.max(), np.arange(2.0, 10.0), rtol=0.03)
    assert task.kind == "targets"
    assert source_of(task.pool).world == "golf"


# --- accuracy ---------------------------------------------------------------------------------------------


def pairs_of(difference: Array) -> TestSet:
    return TestSet(np.zeros((2, 1)), np.zeros((len(difference), 2), dtype=np.intp), difference)


def test_accuracy_is_the_share_of_pairs_whose_better_one_is_predicted() -> None:
    rng = np.random.default_rng(0)
    probability, difference = rng.random(50), rng.standard_normal(50)
    right = [(p > 0.5) == (d > 0) for p, d in zip(probability, difference, strict=True)]
    assert pairs_of(difference).accuracy(probability) == pytest.approx(np.mean(right))


def test_a_coin_counts_half() -> None:
    difference = np.array([1.0, 2.0, -3.0])
    assert pairs_of(difference).accuracy(np.full(3, 0.5)) == 0.5
    assert pairs_of(difference).accuracy(np.array([0.9, 0.5, 0.1])) == pytest.approx(2.5 / 3)


def test_accuracy_of_a_reward_is_by_hand_over_all_pairs() -> None:
    task = make_task("linear", trajectories=30, test_size=6)
    learner = Learner(task.pool, model=quick())
    list(teach(task, learner, 3))
    reward, truth = learner.reward(), task.user.reward(task.pool.scaling(task.test_set.features))
    right = [
        (reward.predict_proba(task.test_set.features[[i]], task.test_set.features[[j]])[0] > 0.5)
        == (truth[i] > truth[j])
        for i, j in combinations(range(6), 2)
    ]
    assert accuracy_of(reward, task) == pytest.approx(np.mean(right))


# --- teaching ---------------------------------------------------------------------------------------------


def test_every_step_is_a_question_answered() -> None:
    task = make_task("quadratic", trajectories=30, test_size=8)
    learner = Learner(task.pool, model=quick())
    steps = list(teach(task, learner, 6))
    assert [step.answers for step in steps] == [1, 2, 3, 4, 5, 6]
    assert [step.question for step in steps] == [answer.question for answer in learner.answers]
    assert steps[-1].accuracy == accuracy_of(learner.reward(), task)


def test_teaching_goes_one_step_at_a_time() -> None:
    task = make_task("linear", trajectories=30, test_size=8)
    learner = Learner(task.pool, model=quick())
    assert len(list(islice(teach(task, learner, 100), 3))) == 3
    assert len(learner.answers) == 3


@pytest.mark.parametrize("strategy", ["active", "random"])
def test_the_seed_decides_the_lesson(strategy: Any) -> None:
    task = make_task("linear", trajectories=30, test_size=8, noise=1.0)
    lessons = []
    for seed in (1, 1, 2):
        learner = Learner(task.pool, model=quick())
        list(teach(task, learner, 8, strategy=strategy, seed=seed))
        lessons.append(learner.answers)
    assert lessons[0] == lessons[1] != lessons[2]


def test_a_user_with_a_margin_teaches_with_ties() -> None:
    task = make_task("linear", trajectories=30, test_size=8, margin=1.0)
    learner = Learner(task.pool, model=quick())
    list(teach(task, learner, 12, strategy="random"))
    assert 0 < learner.reward().diagnostics["ties"] < 12


def test_a_linear_reward_is_learned_soon() -> None:
    task = make_task("linear", trajectories=60, test_size=30)
    curve = [step.accuracy for step in teach(task, Learner(task.pool), 8)]
    assert curve[0] < 0.8
    assert curve[-1] > 0.95


def active_accuracy(task: Task, seed: int, questions: int) -> float:
    learner = Learner(task.pool, seed=seed, model=PreferenceGP(noise=0.1))
    *_, last = teach(task, learner, questions, seed=seed)
    return last.accuracy


def random_accuracy(task: Task, seed: int, questions: int) -> float:
    rng, x = np.random.default_rng(seed), task.pool.scaled
    learner = Learner(task.pool, model=PreferenceGP(noise=0.1))
    for _ in range(questions):
        left, right = (int(n) for n in rng.choice(len(x), 2, replace=False))
        learner.tell(Question(left, right), task.user.answer(x[left], x[right], rng))
    return accuracy_of(learner.reward(), task)


def test_chosen_questions_teach_more_than_random_ones() -> None:
    tasks = [make_task("quadratic", trajectories=100, test_size=30, seed=seed) for seed in range(3)]
    active = [active_accuracy(task, seed, 25) for seed, task in enumerate(tasks)]
    random = [random_accuracy(task, seed, 25) for seed, task in enumerate(tasks)]
    assert np.mean(active) > np.mean(random) + 0.03
    assert np.mean(active) > 0.93


def test_asking_for_the_best_finds_a_good_trajectory_soon() -> None:
    shares = []
    for seed in range(4):
        task = make_task("quadratic", trajectories=60, test_size=5, seed=seed)
        learner = Learner(task.pool, seed=seed, model=quick())
        list(teach(task, learner, 8, purpose="best", seed=seed))
        true = task.user.reward(task.pool.scaled)
        shares.append(np.mean(true <= true[learner.reward().best(task.pool).index]))
    assert np.mean(shares) > 0.95


def test_with_a_margin_the_likelier_of_both_choices_is_predicted() -> None:
    task = make_task("linear", trajectories=60, test_size=12, margin=1.0)
    learner = Learner(task.pool, model=PreferenceGP(1.0 * Linear(), noise=0.1, margin=1.0, learn=False))
    list(teach(task, learner, 15))
    reward, truth = learner.reward(), task.user.reward(task.pool.scaling(task.test_set.features))
    right = [
        (reward(task.test_set.features)[i] > reward(task.test_set.features)[j]) == (truth[i] > truth[j])
        for i, j in combinations(range(12), 2)
    ]
    assert accuracy_of(reward, task) == pytest.approx(np.mean(right))


def test_the_predicted_fraction_is_that_of_answers() -> None:
    """The judge: the user answers every pair twelve times, and the answers as predicted are counted."""
    task = make_task("linear", trajectories=25, noise=0.3, lapse_rate=0.1, seed=2)
    learner = Learner(task.pool, seed=0)
    list(teach(task, learner, 4))
    reward, x, rng = learner.reward(), task.pool.scaled, np.random.default_rng(0)
    right = []
    for i in range(25):
        for j in range(i):
            first = reward.predict_proba(task.pool.features[[i]], task.pool.features[[j]])[0] > 0.5
            right += [(task.user.answer(x[i], x[j], rng) == "left") == first for _ in range(12)]
    assert predicted_fraction(reward, task) == pytest.approx(np.mean(right), abs=0.03)
