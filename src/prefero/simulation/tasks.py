"""A simulated person teaches: the loop of a real one, with the truth known, so that learning can be seen.

task       a pool to ask about, a person, and an exam of diverse trajectories from the same source
accuracy   the share of the exam's pairs for which the predicted answer is the true one
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from prefero._support.arrays import Array
from prefero.acquisition.base import Purpose, Strategy
from prefero.acquisition.projection import preference_probabilities
from prefero.learner import Learner
from prefero.pools.pool import Pool
from prefero.pools.simulate import Sampling
from prefero.questions import Question
from prefero.reward import Reward
from prefero.simulation import users
from prefero.simulation.test_sets import Exam
from prefero.simulation.users import Person, RewardFunction
from prefero.trajectories.diversity import sample_diverse

if TYPE_CHECKING:
    from prefero.worlds.base import World

EXAM_SEED = 1_000_003  # an exam's pool has the task's seed and this
BUMPY_BOX = 1.7  # bumps lie inside +-1.5: features of a bumpy task fill a box, others are normal


@dataclass(frozen=True, eq=False)
class Task:
    """Something to learn: its person's reward is a function of the pool's scaled features."""

    kind: str
    pool: Pool
    person: Person
    exam: Exam


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
    """A synthetic task: a "linear", "quadratic" or "bumpy" reward of random features, of unit size.

    With `features` columns that are normal, or for a bumpy reward uniform. See `world_task` for real ones.
    """
    _check(kind, features=features, trajectories=trajectories, tests=tests)
    rng = np.random.default_rng([seed, *kind.encode(), features])
    pool = Pool(_draw(kind, trajectories, features, rng))
    reward = users.of_unit_size(users.KINDS[kind](features, rng), pool.scaled)
    unseen = _draw(kind, 20 * tests, features, rng)
    chosen = unseen[sample_diverse(unseen, tests, seed=seed)]
    exam = Exam.of(chosen, reward(pool.scaling(chosen)))
    return Task(kind, pool, Person(reward, noise, margin, lapses), exam)


def world_task(
    world: "World",
    kind: str = "quadratic",
    *,
    trajectories: int = 1000,
    noise: float = 0.1,
    margin: float = 0.0,
    lapses: float = 0.0,
    tests: int = 40,
    seed: int = 0,
    sampling: Sampling = "random",
    pool_seed: int | None = None,
    progress: bool | None = None,
) -> Task:
    """A task in a world: its person likes the features by a random reward, or in golf has scores for targets.

    The exam's trajectories are the most diverse of a pool of their own, with random actions and another seed.
    `pool_seed`, if it is given, decides both pools instead of `seed`; `sampling` decides the first's actions.
    """
    _check(kind, (*users.KINDS, "targets"), trajectories=trajectories, tests=tests)
    if kind == "targets" and not hasattr(world, "targets"):
        raise ValueError(f"only golf has targets, but the world is {world.name}: choose another reward")
    Person(np.ravel, noise, margin, lapses)  # refuses before anything is simulated
    rng = np.random.default_rng([seed, *kind.encode(), *world.name.encode()])
    drawn = seed if pool_seed is None else pool_seed
    pool = Pool.simulate(world, trajectories, drawn, sampling=sampling, progress=progress)
    unseen = Pool.simulate(world, max(trajectories, 5 * tests), drawn + EXAM_SEED, progress=progress)
    wish = _scores(world, pool, rng) if kind == "targets" else users.KINDS[kind](len(world.features), rng)
    reward = users.of_unit_size(wish, pool.scaled)
    exam = Exam.diverse(unseen, lambda x: reward(pool.scaling(x)), tests, seed)
    return Task(kind, pool, Person(reward, noise, margin, lapses), exam)


def _scores(world: "World", pool: Pool, rng: np.random.Generator) -> RewardFunction:
    """Distinct scores from 2 up for golf's targets, as in the paper's study, of scaled features."""
    from prefero.worlds.golf import Golf

    assert isinstance(world, Golf)
    targets = np.stack([target.position for target in world.targets])
    worth = users.on_targets(targets, 2.0 + rng.permutation(len(targets)).astype(float))
    return lambda x: worth(world.predict_ball_positions(pool.scaling.inverse(x)))


def _check(kind: str, kinds: Iterable[str] = users.KINDS, **sizes: int) -> None:
    if kind not in kinds:
        raise ValueError(f"there is no kind of reward {kind!r}: the kinds are {', '.join(kinds)}")
    least = {"features": 1, "trajectories": 2, "tests": 2}
    for name, value in sizes.items():
        if value < least[name]:
            raise ValueError(f"{name} must be {least[name]} or more, but is {value}")


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
    strategy: Strategy = "active",
    purpose: Purpose | None = None,
    seed: int = 0,
) -> Iterator[Step]:
    """Let the task's person answer the learner's questions, one step at a time."""
    rng = np.random.default_rng([seed, 1])
    for number in range(1, questions + 1):
        question = learner.ask(purpose, strategy)
        left, right = task.pool.scaled[question.left], task.pool.scaled[question.right]
        learner.tell(question, task.person.answer(left, right, rng))
        yield Step(number, question, accuracy_of(learner.reward(), task))


def accuracy_of(reward: Reward, task: Task) -> float:
    """The share of the exam's pairs whose true answer the reward predicts."""
    return task.exam.accuracy(predicted(reward, task.exam))


def predicted(reward: Reward, exam: Exam) -> Array:
    """The probability, for every pair of the exam, that its first trajectory is the better one."""
    first, second = exam.pairs.T
    chances = preference_probabilities(reward.belief, reward.scaling(exam.features))
    lead: Array = chances[first, second] - chances[second, first]  # with a margin they add up to less than 1
    return 0.5 + 0.5 * lead
