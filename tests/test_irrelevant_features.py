"""More features than questions: irrelevant features cost accuracy, but not the use of the model."""

import numpy as np
from benchmarks.tasks import USEFUL, task_with_irrelevant_features

from prefero.experiments.settings import Setting
from prefero.learner import Learner
from prefero.methods import THETAS, full_name, method_named
from prefero.simulation.tasks import accuracy_of

FOURTEEN = 14
FIXED = full_name("ActiveGP", min(THETAS), 0.1)  # of all thetas the best where features are many


def accuracy(method: str, irrelevant: int, seed: int, questions: int = 30) -> float:
    """For a linear reward, on the test set after so many answers."""
    task, known = task_with_irrelevant_features("linear", irrelevant, seed), method_named(method)
    model = known.model(Setting("synthetic", "linear"), task.pool.scaled)
    learner = Learner(task.pool, seed=seed, model=model, acquisition=known.acquisition)
    rng = np.random.default_rng([seed, 1])
    for _ in range(questions):
        question = learner.ask(strategy=known.strategy)
        left, right = task.pool.scaled[[question.left, question.right]]
        learner.tell(question, task.user.answer(left, right, rng))
    return accuracy_of(learner.reward(), task)


def test_the_reward_and_the_test_set_depend_on_the_useful_features_alone() -> None:
    task = task_with_irrelevant_features("quadratic", 6, seed=0)
    assert task.pool.features.shape == (500, 8)
    other = task.pool.scaled.copy()
    other[:, USEFUL:] = 7.0
    np.testing.assert_array_equal(task.user.reward(other), task.user.reward(task.pool.scaled))
    assert np.ptp(task.test_set.features[:, 0]) > 4


def test_with_fourteen_irrelevant_features_thirty_answers_still_teach() -> None:
    users = 2
    mine = [accuracy("Prefero", FOURTEEN, seed) for seed in range(users)]
    fixed = [accuracy(FIXED, FOURTEEN, seed) for seed in range(users)]
    assert min(mine) > 0.9
    assert np.mean(mine) >= np.mean(fixed)
