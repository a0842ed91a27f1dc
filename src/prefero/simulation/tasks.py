"""Teaching by a simulated user: the loop of a real session, with the true reward known.

task       a pool to ask about, a simulated user, and a test set of diverse trajectories from the same source
accuracy   the fraction of the test set's pairs for which the predicted answer is the true one
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import ndtr

from prefero._support.arrays import Array
from prefero._support.names import no_such
from prefero.acquisition.base import Purpose, Strategy
from prefero.acquisition.projection import preference_probabilities
from prefero.learner import Learner
from prefero.models.likelihood.probit import lapsing
from prefero.pools.pool import Pool
from prefero.pools.simulate import Sampling
from prefero.questions import Question
from prefero.rewards.reward import Reward
from prefero.simulation import users
from prefero.simulation.test_sets import TestSet
from prefero.simulation.users import RewardFunction, SimulatedUser
from prefero.trajectories.diversity import sample_diverse

if TYPE_CHECKING:
    from prefero.worlds.base import World

TEST_SET_SEED = 1_000_003  # a test set's pool has the task's seed and this
LIKE_PEOPLE = "like-people"  # the kind of a reward whose user errs as people do, too
SYNTHETIC_KINDS = (*users.REWARD_KINDS, LIKE_PEOPLE)
BUMPY_BOX = 1.7  # bumps lie inside +-1.5: features of a bumpy task fill a box, others are normal


@dataclass(frozen=True, eq=False)
class Task:
    """Something to learn: the user's reward is a function of the pool's scaled features.

    Args:
        kind: Of the reward.
        pool: What questions are about.
        user: Who answers.
        test_set: What the reward is evaluated on.
    """

    kind: str
    pool: Pool
    user: SimulatedUser
    test_set: TestSet


def make_task(
    kind: str,
    *,
    features: int = 2,
    trajectories: int = 500,
    noise: float | None = None,
    margin: float = 0.0,
    lapse_rate: float | None = None,
    test_size: int = 40,
    seed: int = 0,
) -> Task:
    """A synthetic task. See `world_task` for trajectories of a world.

    Args:
        kind: The true reward: "linear", "quadratic", "bumpy", or "like-people" (`SimulatedUser.like_people`);
            it has standard deviation 1 over the pool.
        features: How many; they are normal, or uniform for a bumpy reward.
        trajectories: How many the pool has.
        noise: The user's, the paper's sigma. None: 0.1, or the drawn one of a user like people.
        margin: The user's; 0 gives no ties.
        lapse_rate: The probability of an answer at random. None: 0, or the drawn one of a user like people.
        test_size: How many trajectories the test set has.
        seed: Of everything.

    Returns:
        The task.
    """
    _check(kind, features=features, trajectories=trajectories, test_size=test_size)
    rng = np.random.default_rng([seed, *kind.encode(), features])
    pool = Pool(_draw(kind, trajectories, features, rng))
    user = with_errors(_drawn_user(kind, pool, seed, rng), noise, lapse_rate, margin)
    candidates = _draw(kind, 20 * test_size, features, rng)
    chosen = candidates[sample_diverse(candidates, test_size, seed=seed)]
    return Task(kind, pool, user, TestSet.of(chosen, user.reward(pool.scaling(chosen))))


def world_task(
    world: "World",
    kind: str = "quadratic",
    *,
    trajectories: int = 1000,
    noise: float | None = None,
    margin: float = 0.0,
    lapse_rate: float | None = None,
    test_size: int = 40,
    seed: int = 0,
    sampling: Sampling = "random",
    pool_seed: int | None = None,
    progress: bool | None = None,
) -> Task:
    """A task in a world.

    The test set has the most diverse trajectories of a pool of its own, with random actions and another seed.

    Args:
        world: The world.
        kind: A random reward of the world's features, "linear", "quadratic", "bumpy", or "like-people"
            (`SimulatedUser.like_people`); or in golf "targets".
        trajectories: How many the pool has.
        noise: The user's, the paper's sigma. None: 0.1, or the drawn one of a user like people.
        margin: The user's; 0 gives no ties.
        lapse_rate: The probability of an answer at random. None: 0, or the drawn one of a user like people.
        test_size: How many trajectories the test set has.
        seed: Of the reward, and of the pools unless `pool_seed` is given.
        sampling: Of the pool's actions, "random" or "grid".
        pool_seed: Of both pools.
        progress: Show a progress bar; None shows it on a terminal.

    Returns:
        The task.
    """
    _check(
        kind, (*users.REWARD_KINDS, "targets", LIKE_PEOPLE), trajectories=trajectories, test_size=test_size
    )
    if kind == "targets" and not hasattr(world, "targets"):
        raise ValueError(f"only golf has targets, but the world is {world.name}: choose another reward")
    with_errors(SimulatedUser(np.ravel), noise, lapse_rate, margin)  # refuses before anything is simulated
    rng = np.random.default_rng([seed, *kind.encode(), *world.name.encode()])
    drawn = seed if pool_seed is None else pool_seed
    pool = Pool.simulate(world, trajectories, drawn, sampling=sampling, progress=progress)
    others = max(trajectories, 5 * test_size)
    candidates = Pool.simulate(world, others, drawn + TEST_SET_SEED, progress=progress)
    drawn_user = (
        SimulatedUser(users.with_unit_std(_scores(world, pool, rng), pool.scaled))
        if kind == "targets"
        else _drawn_user(kind, pool, seed, rng)
    )
    user = with_errors(drawn_user, noise, lapse_rate, margin)
    test_set = TestSet.diverse(candidates, lambda x: user.reward(pool.scaling(x)), test_size, seed)
    return Task(kind, pool, user, test_set)


def with_errors(
    user: SimulatedUser, noise: float | None, lapse_rate: float | None, margin: float | None = None
) -> SimulatedUser:
    """The user with another noise, lapse rate and margin; None leaves the user's own."""
    given: dict[str, Any] = {"noise": noise, "lapse_rate": lapse_rate, "margin": margin}
    return replace(user, **{name: value for name, value in given.items() if value is not None})


def _drawn_user(kind: str, pool: Pool, seed: int, rng: np.random.Generator) -> SimulatedUser:
    if kind == LIKE_PEOPLE:
        return SimulatedUser.like_people(seed, pool)
    reward = users.REWARD_KINDS[kind](pool.scaled.shape[1], rng)
    return SimulatedUser(users.with_unit_std(reward, pool.scaled))


def _scores(world: "World", pool: Pool, rng: np.random.Generator) -> RewardFunction:
    """Distinct scores from 2 up for golf's targets, as in the paper's study, of scaled features."""
    from prefero.worlds.golf import Golf

    assert isinstance(world, Golf)
    targets = np.stack([target.position for target in world.targets])
    worth = users.on_targets(targets, 2.0 + rng.permutation(len(targets)).astype(float))
    return lambda x: worth(world.predict_ball_positions(pool.scaling.inverse(x)))


def _check(kind: str, kinds: Iterable[str] = SYNTHETIC_KINDS, **sizes: int) -> None:
    if kind not in kinds:
        raise ValueError(no_such("kind of reward", kind, tuple(kinds), "kinds"))
    least = {"features": 1, "trajectories": 2, "test_size": 2}
    for name, value in sizes.items():
        if value < least[name]:
            raise ValueError(f"{name} must be {least[name]} or more, but is {value}")


def _draw(kind: str, count: int, features: int, rng: np.random.Generator) -> Array:
    if kind == "bumpy":
        return rng.uniform(-BUMPY_BOX, BUMPY_BOX, (count, features))
    return rng.standard_normal((count, features))


class Evaluation(NamedTuple):
    """How good the reward is after an answer.

    Args:
        answers: How many there are.
        question: What was asked.
        accuracy: On the test set.
    """

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
) -> Iterator[Evaluation]:
    """Let the task's user answer the learner's questions.

    Args:
        task: The task.
        learner: Of the task's pool.
        questions: How many.
        strategy: "active" or "random"; see `Learner.ask`.
        purpose: See `Learner.ask`.
        seed: Of the user's noise.

    Returns:
        An evaluation after each answer.
    """
    rng = np.random.default_rng([seed, 1])
    for number in range(1, questions + 1):
        question = learner.ask(purpose, strategy)
        left, right = task.pool.scaled[question.left], task.pool.scaled[question.right]
        learner.tell(question, task.user.answer(left, right, rng))
        yield Evaluation(number, question, accuracy_of(learner.reward(), task))


def accuracy_of(reward: Reward, task: Task) -> float:
    """The fraction of the test set's pairs whose true answer the reward predicts.

    Args:
        reward: The reward.
        task: The task.

    Returns:
        The accuracy, from 0 to 1.
    """
    return task.test_set.accuracy(predicted_probabilities(reward, task.test_set))


def predicted_fraction(reward: Reward, task: Task) -> float:
    """The fraction of the user's answers to all pairs of the pool that the reward predicts.

    The user's noise and lapses count, and the user has to choose: what `Learner.progress` estimates.
    """
    matrix = preference_probabilities(reward.belief, task.pool.features_for(reward.belief))
    true = task.user.reward(task.pool.scaled)
    lead = np.sign(matrix - matrix.T) * (true[:, None] - true)
    predicted = ndtr(lead / (np.sqrt(2.0) * task.user.noise))[np.triu_indices(len(true), 1)].mean()
    return float(lapsing(predicted, task.user.lapse_rate))


def predicted_probabilities(reward: Reward, test_set: TestSet) -> Array:
    """The probability, for every pair of a test set, that its first trajectory is the better one."""
    first, second = test_set.pairs.T
    matrix = preference_probabilities(reward.belief, reward.scaling(test_set.features))
    lead: Array = matrix[first, second] - matrix[second, first]  # with a margin they add up to less than 1
    return 0.5 + 0.5 * lead
