"""Simulated users for `benchmarks.stopping_rule`, and what a posterior claims after their answers.

Their noise is .03 to 1 and their lapse rate 0 to .1; they answer chosen questions and random ones about pools
as users have them. The share is that of a person's answers to all pairs of the pool that are predicted.
"""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import NamedTuple

import numpy as np

from benchmarks.evaluation import learner_for, teach
from benchmarks.rows import Job, Row, seeds_of
from benchmarks.tasks import task_named
from prefero import worlds
from prefero._support.arrays import Array
from prefero.models.learning_progress import AHEAD
from prefero.models.mixture import ENOUGH_ANSWERS
from prefero.models.posterior import Distribution
from prefero.models.predictive_accuracy import accuracy_draws, expected_accuracy
from prefero.pools.pool import Pool
from prefero.simulation.tasks import Task, predicted_share, world_task
from prefero.simulation.test_sets import TestSet
from prefero.simulation.users import SimulatedUser, on_targets, with_unit_std
from prefero.worlds.golf import Golf

ROBOTS, KINDS = ("driver", "tosser"), ("linear", "quadratic")
TASKS = ("heavy-tails", "golf", "bumps", *(f"{world}-{kind}" for world in ROBOTS for kind in KINDS))
TRAJECTORIES = 250  # of each pool, about: a large one takes longer and shows the same
POOLS = 4  # of each robot
NOISES, LAPSES = (0.1, 0.3, 0.03, 1.0), (0.0, 0.05, 0.1)
CHOSEN, RANDOM = "chosen", "random"
STRATEGIES = {CHOSEN: "default", RANDOM: "random"}
AFTER_RANDOM = (5, 10, 20, 25, 40)  # answers to random questions
Runs = dict[tuple[object, ...], list[Row]]


class Person(NamedTuple):
    """How a simulated user errs."""

    noise: float
    lapse_rate: float


def person_of(seed: int) -> Person:
    """Every noise and every lapse rate in turn: twelve seeds in a row have each pair of them once."""
    return Person(NOISES[seed % 4], LAPSES[(seed // 4 + seed) % 3])


def small_task(name: str, seed: int) -> Task:
    """A task about few trajectories, and of a robot about one of a few pools, which are simulated once."""
    world, _, kind = name.partition("-")
    if world == "golf":
        task = golf(seed)
    elif world in ROBOTS:
        pool_seed = seed % POOLS
        task = world_task(
            worlds.make(world),
            kind,
            trajectories=TRAJECTORIES,
            seed=seed,
            pool_seed=pool_seed,
            progress=False,
        )
    else:
        task = _part_of(task_named(name, seed))
    person = person_of(seed)
    return replace(task, user=replace(task.user, noise=person.noise, lapse_rate=person.lapse_rate))


@cache
def _course() -> Golf:
    """Once: it takes seconds to learn how far its shots go."""
    return Golf()


def golf(seed: int) -> Task:
    """Shots on a grid; the reward needs only their features, so that none is simulated."""
    world, rng = _course(), np.random.default_rng([seed, 4])
    pool = Pool.simulate(world, TRAJECTORIES, sampling="grid", when="later", cache=False)
    targets = np.stack([target.position for target in world.targets])
    score = on_targets(targets, 2.0 + rng.permutation(len(targets)).astype(float))
    reward = with_unit_std(
        lambda x: score(world.predict_ball_positions(pool.scaling.inverse(x))), pool.scaled
    )
    test_set = TestSet.of(pool.features[:2], reward(pool.scaled[:2]))  # the share is of the pool's own pairs
    return Task("targets", pool, SimulatedUser(reward), test_set)


def _part_of(task: Task) -> Task:
    """The same task about some of its trajectories."""
    step = len(task.pool) // TRAJECTORIES
    pool, whole, reward = Pool(task.pool.features[::step]), task.pool.scaling, task.user.reward
    own = with_unit_std(lambda x: reward(whole(pool.scaling.inverse(x))), pool.scaled)
    return replace(task, pool=pool, user=replace(task.user, reward=own))


def work(job: Job) -> list[Row]:
    """One simulated user: what the posterior claims, and the truth.

    After each answer from the fifth on; where questions are random, after a few numbers of them.
    """
    task, seed = small_task(job["task"], job["seed"]), job["seed"]
    acquisition, every = STRATEGIES[job["strategy"]], range(ENOUGH_ANSWERS, job["questions"] + 1)
    learner = learner_for(task, seed, acquisition=acquisition)
    numbers = [n for n in AFTER_RANDOM if n in every] if job["strategy"] == RANDOM else every
    return [
        {"answers": answers, "share": predicted_share(learner.reward(), task)}
        | _claims(learner.belief(), task.pool.scaled, answers)
        for answers in teach(task, learner, acquisition, numbers, seed)
    ]


def _claims(belief: Distribution, x: Array, answers: int) -> Row:
    """After every fifth answer all of them, else the expected share alone."""
    if answers % AHEAD:
        return {"claim": expected_accuracy(belief, x), "variance": None, "room": None}
    draws = accuracy_draws(belief, x)
    return {"claim": draws.mean, "variance": draws.variance_of_log_odds, "room": draws.room}


def jobs_of(options: argparse.Namespace) -> list[Job]:
    """One person after the other, so that an interrupted measurement has some of every task."""
    seeds = seeds_of(options)
    return [
        {"label": options.label, "task": task, "strategy": strategy, "questions": options.questions}
        | {"seed": seed}
        for seed in seeds
        for task in options.tasks
        for strategy in options.strategies
    ]


def runs_of(rows: Sequence[Row]) -> Runs:
    """The rows of each person and strategy, in the order of the answers."""
    found: Runs = {}
    for row in sorted(rows, key=lambda row: row["answers"]):
        found.setdefault((row["task"], row["strategy"], row["seed"]), []).append(row)
    return found
