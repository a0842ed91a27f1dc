"""A simulated person teaches: the loop of a real one, with the truth known, so that learning can be seen.

task       a pool to ask about, a person, and a diverse set of test trajectories from the same source
accuracy   the share of all pairs of test trajectories for which the predicted answer is the true one
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from prefero import people
from prefero.arrays import Array
from prefero.asking import Purpose
from prefero.features import sample_diverse
from prefero.learner import Learner
from prefero.people import Person
from prefero.questions import Question
from prefero.reward import Reward
from prefero.trajectories import Pool

BUMPY_BOX = 1.7  # bumps lie inside +-1.5: features of a bumpy task fill a box, others are normal


@dataclass(frozen=True, eq=False)
class Task:
    """Something to learn: its person's reward is a function of the pool's scaled features."""

    kind: str
    pool: Pool
    person: Person
    test: Array  # (T, d) raw features


def make_task(
    kind: str,
    *,
    features: int = 2,
    trajectories: int = 500,
    noise: float = 0.1,
    margin: float = 0.0,
    lapses: float = 0.0,
    tests: int = 40,
    seed: int = 0,
) -> Task:
    """A synthetic task: a "linear", "quadratic" or "bumpy" reward of random features, of unit size."""
    if kind not in people.KINDS:
        raise ValueError(f"there is no kind of reward {kind!r}: the kinds are {', '.join(people.KINDS)}")
    for name, value, least in (
        ("features", features, 1),
        ("trajectories", trajectories, 2),
        ("tests", tests, 2),
    ):
        if value < least:
            raise ValueError(f"{name} must be {least} or more, but is {value}")
    rng = np.random.default_rng([seed, *kind.encode(), features])
    pool = Pool(_draw(kind, trajectories, features, rng))
    reward = people.of_unit_size(people.KINDS[kind](features, rng), pool.scaled)
    unseen = _draw(kind, 20 * tests, features, rng)
    test = unseen[sample_diverse(unseen, tests, seed=seed)]
    return Task(kind, pool, Person(reward, noise, margin, lapses), test)


def _draw(kind: str, count: int, features: int, rng: np.random.Generator) -> Array:
    if kind == "bumpy":
        return rng.uniform(-BUMPY_BOX, BUMPY_BOX, (count, features))
    return rng.standard_normal((count, features))


class Step(NamedTuple):
    """After an answer: how many there are, what was asked, and how well the reward predicts."""

    answers: int
    question: Question
    accuracy: float


def teach(
    task: Task,
    learner: Learner,
    questions: int,
    *,
    how: Literal["best", "random"] = "best",
    purpose: Purpose = "learn",
    seed: int = 0,
) -> Iterator[Step]:
    """Let the task's person answer the learner's questions, one step at a time."""
    rng = np.random.default_rng([seed, 1])
    for number in range(1, questions + 1):
        question = learner.ask(purpose, how)
        left, right = task.pool.scaled[question.left], task.pool.scaled[question.right]
        learner.tell(question, task.person.answer(left, right, rng))
        yield Step(number, question, accuracy_of(learner.reward(), task))


def accuracy_of(reward: Reward, task: Task) -> float:
    """The share of all pairs of test trajectories whose true answer the reward predicts."""
    truth = task.person.reward(task.pool.scaling(task.test))
    i, j = np.triu_indices(len(truth), 1)
    a, b = task.test[i], task.test[j]
    lead = reward.predict_proba(a, b) - reward.predict_proba(b, a)  # with a margin they do not add up to 1
    return accuracy(0.5 + 0.5 * lead, truth[i] - truth[j])


def accuracy(probability: Array, difference: Array) -> float:
    """The share of pairs whose better one is predicted with more than half; exactly half counts half."""
    lean = np.sign(probability - 0.5)
    return float(np.mean(np.where(lean == 0, 0.5, lean == np.sign(difference))))
