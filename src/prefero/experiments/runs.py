"""One run: a simulated user teaches one method, and the learned reward is evaluated after every answer.

accuracy          the fraction of the test set's pairs whose better one is predicted
log_likelihood    the mean log probability of the test set's true answers
best_reward       the true reward of the trajectory it likes best: 0 the worst of the pool, 1 the best
answer_accuracy   the fraction predicted of five random questions that the user answered, with noise
bin_counts        calibration: how many of the test set's predictions had a probability in each bin
bin_correct       and how many of those were right
"""

import hashlib
import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from prefero._support.arrays import Array
from prefero.experiments.settings import Setting
from prefero.learner import Learner
from prefero.methods import method_named
from prefero.rewards.reward import Reward
from prefero.simulation.tasks import Task, predicted_probabilities
from prefero.simulation.test_sets import TestSet

VERSION = 2  # raised when the same run may give other numbers
BEST_EVERY = 5
CALIBRATED_AFTER = (10, 30, 100)
TEST_AFTER, TEST_QUESTIONS = 15, 5  # as in the paper's user study
BINS = np.linspace(0.5, 1.0, 11)

Rows = dict[str, list[Any]]


@dataclass(frozen=True)
class Run:
    """A setting, a method and a seed: what it takes to do it again."""

    setting: Setting
    method: str
    seed: int

    def to_json(self) -> dict[str, Any]:
        """Plain values for a file."""
        return {**self.setting.to_json(), "method": self.method, "seed": self.seed, "version": VERSION}

    @property
    def key(self) -> str:
        """A name for its file: any change of the configuration is another name."""
        text = json.dumps(self.to_json(), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:20]


def execute(run: Run) -> Rows:
    """Teach, and evaluate after every answer; one row a question."""
    task, method = run.setting.task(run.seed), method_named(run.method)
    model = method.model(run.setting, task.pool.scaled)
    learner = Learner(task.pool, seed=run.seed, model=model, acquisition=method.acquisition)
    rng = np.random.default_rng([run.seed, 1])
    truth = task.user.reward(task.pool.scaled)
    rows: Rows = {}
    for number in range(1, run.setting.questions + 1):
        question = learner.ask(strategy=method.strategy)
        left, right = task.pool.scaled[[question.left, question.right]]
        choice = task.user.answer(left, right, rng)
        learner.tell(question, choice)
        row = {"question": number, "left": question.left, "right": question.right, "choice": choice}
        for name, value in (row | _evaluate(learner.reward(), task, truth, run.seed, number)).items():
            rows.setdefault(name, []).append(value)
    return rows


def _evaluate(reward: Reward, task: Task, truth: Array, seed: int, number: int) -> dict[str, Any]:
    probability = predicted_probabilities(reward, task.test_set)
    found: dict[str, Any] = {
        "accuracy": task.test_set.accuracy(probability),
        "log_likelihood": task.test_set.log_likelihood(probability),
        "best_reward": None,
        "answer_accuracy": None,
        "bin_counts": None,
        "bin_correct": None,
    }
    if number % BEST_EVERY == 0:
        score = truth[reward.best(task.pool).index]
        found["best_reward"] = float((score - truth.min()) / (truth.max() - truth.min()))
    if number == TEST_AFTER:
        found["answer_accuracy"] = answer_accuracy(reward, task, seed)
    if number in CALIBRATED_AFTER:
        found["bin_counts"], found["bin_correct"] = calibration(probability, task.test_set)
    return found


def answer_accuracy(reward: Reward, task: Task, seed: int) -> float:
    """The fraction of a few random questions whose answer is predicted; the same ones for every method."""
    rng = np.random.default_rng([seed, 2])
    correct = []
    for _ in range(TEST_QUESTIONS):
        i, j = rng.choice(len(task.pool), 2, replace=False)
        choice = task.user.answer(task.pool.scaled[i], task.pool.scaled[j], rng)
        a, b = task.pool.features[[i]], task.pool.features[[j]]
        left, right = float(reward.predict_proba(a, b)[0]), float(reward.predict_proba(b, a)[0])
        correct.append(("left" if left > right else "right") == choice)
    return float(np.mean(correct))


def calibration(probability: Array, test_set: TestSet) -> tuple[list[int], list[int]]:
    """How many predictions had each probability, from a half to 1 in ten bins, and how many were right."""
    confidence = np.maximum(probability, 1 - probability)
    right = np.sign(probability - 0.5) == np.sign(test_set.differences)
    place = np.clip(np.digitize(confidence, BINS) - 1, 0, len(BINS) - 2)
    size = len(BINS) - 1
    return np.bincount(place, minlength=size).tolist(), np.bincount(place[right], minlength=size).tolist()
