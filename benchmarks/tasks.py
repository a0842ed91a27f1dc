"""Tasks that benchmarks share: pools, simulated users and test sets, by name.

    task          a pool, a simulated user, and pairs of other trajectories that the reward is tested on
    seed          of the pool, the reward and the test set: each seed is another simulated user
    noise         of the user, in standard deviations of the reward over the pool
    lapse rate    of the user, the share of answers at random
    people        tasks such as "people 6": normal features, and a user who is like real people, with a
                  reward, a noise and a lapse rate of their own

TASKS are those of the comparison of acquisition functions: robots of the paper, and data as users have it.
FEATURES are kinds of features and rewards of any dimension, for the comparison with plain baselines, and SETS
are regression sets that come with scikit-learn, whose target is the reward. Their test sets, and that of
`heavy-tails`, are drawn like the pool; the others are diverse, as in the experiments.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from importlib import import_module

import numpy as np

from prefero import worlds
from prefero._support.arrays import Array
from prefero._support.names import no_such
from prefero.experiments.settings import Setting
from prefero.pools.pool import Pool
from prefero.simulation.tasks import Task, make_task, with_errors
from prefero.simulation.test_sets import TestSet
from prefero.simulation.users import (
    REWARD_KINDS,
    RewardFunction,
    SimulatedUser,
    linear,
    quadratic,
    with_unit_std,
)
from prefero.trajectories.diversity import sample_diverse
from prefero.worlds.base import World
from prefero.worlds.golf import Golf

Maker = Callable[[int], Task]  # of a seed
Draw = Callable[[int, int, np.random.Generator], Array]  # of rows, columns and a generator
Family = Callable[[int, np.random.Generator], RewardFunction]  # of the number of features

TRAJECTORIES, TEST_SIZE = 500, 60
USEFUL, IRRELEVANT = 2, 30  # of many features
NOISE = 0.1
PEOPLE = "people"
LEVELS = {2: (2,), 5: (2, 3), 10: (5, 5), 20: (5, 5, 5, 5)}  # of the categories, by the number of columns


@cache
def golf_course() -> Golf:
    """Once: it takes seconds to learn how far its shots go."""
    return Golf()


def world_named(name: str) -> World:
    """A world of the paper."""
    return golf_course() if name == "golf" else worlds.make(name)


@cache
def other_trajectories(name: str) -> Array:
    """Features of trajectories of a world that are in no task's pool, (500, d)."""
    return Pool.simulate(world_named(name), TRAJECTORIES, seed=77_000, progress=False).features


def saturating(features: int, rng: np.random.Generator) -> RewardFunction:
    """A sum of one term per feature, each rising or falling between two levels."""
    weights, middles = rng.standard_normal(features), 0.5 * rng.standard_normal(features)
    return lambda x: np.tanh(x - middles) @ weights


def sparse(features: int, rng: np.random.Generator) -> RewardFunction:
    """Linear in a quarter of the features, at least one; the others do not matter."""
    weights = rng.standard_normal(features)
    weights[rng.permutation(features)[max(1, (features + 3) // 4) :]] = 0.0
    return lambda x: x @ weights


def normal(count: int, features: int, rng: np.random.Generator) -> Array:
    return rng.standard_normal((count, features))


def student_t(count: int, features: int, rng: np.random.Generator) -> Array:
    """Heavy tails: three degrees of freedom, so that a few trajectories are extreme."""
    return rng.standard_t(3, (count, features))


def clustered(count: int, features: int, rng: np.random.Generator) -> Array:
    """Five clusters that hardly overlap, with gaps between them."""
    middles = 2.0 * rng.standard_normal((5, features))
    return middles[rng.integers(5, size=count)] + 0.3 * rng.standard_normal((count, features))


def one_hot(count: int, features: int, rng: np.random.Generator) -> Array:
    """Categories, a column of 0 and 1 for each level."""
    if features not in LEVELS:
        raise ValueError(f"one-hot features have {', '.join(map(str, LEVELS))} columns, not {features}")
    drawn = [np.eye(levels)[rng.integers(levels, size=count)] for levels in LEVELS[features]]
    return np.hstack(drawn)


FEATURES: dict[str, tuple[Draw, Family]] = {
    "linear": (normal, linear),
    "quadratic": (normal, quadratic),
    "sparse": (normal, sparse),
    "saturating": (normal, saturating),
    "heavy-tailed": (student_t, saturating),
    "clustered": (clustered, linear),
    "one-hot": (one_hot, linear),
}


def drawn_task(kind: str, features: int, seed: int, trajectories: int = TRAJECTORIES) -> Task:
    """A pool and a test set from one distribution; the reward is a function of the features as drawn."""
    draw, family = FEATURES[kind]
    rng = np.random.default_rng([seed, features, *kind.encode()])
    rows, reward = draw(trajectories + TEST_SIZE, features, rng), family(features, rng)
    return _task(kind, rows[:trajectories], rows[trajectories:], reward)


def people_task(features: int, seed: int) -> Task:
    """A user like real people, and normal features; the test set is drawn like the pool."""
    rng = np.random.default_rng([seed, features, *PEOPLE.encode()])
    pool, others = Pool(normal(TRAJECTORIES, features, rng)), normal(TEST_SIZE, features, rng)
    user = SimulatedUser.like_people(seed, pool)
    return Task(PEOPLE, pool, user, TestSet.of(others, user.reward(pool.scaling(others))))


def is_of_people(name: str) -> bool:
    """Whether the task of this name has users with a noise and a lapse rate of their own."""
    kind, _, number = name.partition(" ")
    return kind == PEOPLE and number.isdigit()


def _task(kind: str, rows: Array, others: Array, reward: RewardFunction) -> Task:
    pool = Pool(rows)
    unit = with_unit_std(lambda x: reward(pool.scaling.inverse(x)), pool.scaled)
    test_set = _without_ties(TestSet.of(others, unit(pool.scaling(others))))
    return Task(kind, pool, SimulatedUser(unit, NOISE), test_set)


def _without_ties(test_set: TestSet) -> TestSet:
    """Pairs of equal reward have no better one, so that nothing can be right about them."""
    differ = np.abs(test_set.differences) > 1e-12
    return TestSet(test_set.features, test_set.pairs[differ], test_set.differences[differ])


def _diabetes() -> tuple[Array, Array]:
    rows, target = import_module("sklearn.datasets").load_diabetes(return_X_y=True)
    return rows, target


def _linnerud(column: int) -> tuple[Array, Array]:
    rows, targets = import_module("sklearn.datasets").load_linnerud(return_X_y=True)
    return rows, targets[:, column]


def _friedman(number: int) -> tuple[Array, Array]:
    make = getattr(import_module("sklearn.datasets"), f"make_friedman{number}")
    rows, target = make(n_samples=TRAJECTORIES, random_state=number)
    return rows, target


SETS: dict[str, Callable[[], tuple[Array, Array]]] = {
    "diabetes": _diabetes,
    **{f"linnerud-{n}": partial(_linnerud, place) for place, n in enumerate(("weight", "waist", "pulse"))},
    **{f"friedman{n}": partial(_friedman, n) for n in (1, 2, 3)},
}


def set_task(name: str, seed: int) -> Task:
    """A regression set: its target is the reward; a part of its rows, at most a third, is for the test."""
    rows, target = SETS[name]()
    order = np.random.default_rng([seed, *name.encode()]).permutation(len(rows))
    tested = order[: min(TEST_SIZE, len(rows) // 3)]
    return _task(name, rows[order[len(tested) :]], rows[tested], _of_rows(rows, target))


def _of_rows(rows: Array, target: Array) -> RewardFunction:
    """The target of the row that is meant: the nearest in standardized features."""
    center, scale = rows.mean(axis=0), rows.std(axis=0)
    known = (rows - center) / scale

    def reward(x: Array) -> Array:
        squared = np.sum((((x - center) / scale)[:, None, :] - known) ** 2, axis=2)
        found: Array = target[squared.argmin(axis=1)]
        return found

    return reward


def task_with_irrelevant_features(kind: str, irrelevant: int, seed: int, test_size: int = 40) -> Task:
    """A reward of two features among others; the trajectories of the test set differ in what matters."""
    rng = np.random.default_rng([seed, *kind.encode()])
    features = rng.standard_normal((TRAJECTORIES + 20 * test_size, USEFUL))
    relevant = REWARD_KINDS[kind](USEFUL, rng)
    rows = np.column_stack([features, rng.standard_normal((len(features), irrelevant))])
    pool, unseen = Pool(rows[:TRAJECTORIES]), rows[TRAJECTORIES:]
    reward = with_unit_std(lambda x: relevant(x[:, :USEFUL]), pool.scaled)
    chosen = unseen[sample_diverse(unseen[:, :USEFUL], test_size, seed=seed)]
    return Task(kind, pool, SimulatedUser(reward, NOISE), TestSet.of(chosen, reward(pool.scaling(chosen))))


def _world(world: str, truth: str, lapse_rate: float = 0.0, trajectories: int = 1000) -> Maker:
    return Setting(world, truth, lapse_rate=lapse_rate, trajectories=trajectories).task


TASKS: dict[str, Maker] = {
    "heavy-tails": lambda seed: drawn_task("heavy-tailed", 4, seed),
    "golf": _world("golf", "targets"),
    "golf-400": _world("golf", "targets", trajectories=400),
    "bumps": lambda seed: make_task("bumpy", features=2, seed=seed),
    "driver-linear": _world("driver", "linear"),
    "driver-quadratic": _world("driver", "quadratic"),
    "tosser-linear": _world("tosser", "linear"),
    "tosser-quadratic": _world("tosser", "quadratic"),
    "many-features-linear": partial(task_with_irrelevant_features, "linear", IRRELEVANT),
    "many-features-quadratic": partial(task_with_irrelevant_features, "quadratic", IRRELEVANT),
    "lapses-0.1": _world("tosser", "quadratic", 0.1),
    "lapses-0.2": _world("tosser", "quadratic", 0.2),
}


def task_named(name: str, seed: int, *, noise: float | None = None, lapse_rate: float | None = None) -> Task:
    """A task of TASKS, of SETS, or of people or FEATURES with a number of features, such as "linear 5".

    Args:
        name: Its name.
        seed: Of all that is random in it.
        noise: Of the user; None leaves the task's own, 0.1 but for people.
        lapse_rate: Of the user; None leaves the task's own.

    Returns:
        The task.
    """
    task = _maker(name)(seed)
    return replace(task, user=with_errors(task.user, noise, lapse_rate))


def _maker(name: str) -> Maker:
    kind, _, number = name.partition(" ")
    if kind in FEATURES and number.isdigit():
        return partial(drawn_task, kind, int(number))
    if is_of_people(name):
        return partial(people_task, int(number))
    if name in SETS:
        return partial(set_task, name)
    if name in TASKS:
        return TASKS[name]
    drawn = (f"{kind} 5" for kind in (*FEATURES, PEOPLE))
    raise ValueError(no_such("task", name, (*TASKS, *SETS, *drawn), "tasks"))
