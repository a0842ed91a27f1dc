"""One run: a simulated person teaches one method, and what it has learned is examined after every answer.

accuracy         the share of the exam's pairs whose better one is predicted
log_likelihood   the mean log probability of the exam's true answers
best             the true reward of the trajectory it likes best: 0 the worst of the pool, 1 the best
test             the share right of five random questions that the person answered, noise and all
bins, hits       calibration: how many of the exam's predictions were about this sure, and how many right
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
from prefero.reward import Reward
from prefero.simulation.tasks import Task, predicted
from prefero.simulation.test_sets import Exam

VERSION = 1  # raised when the same run may give other numbers
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


def play(run: Run) -> Rows:
    """Teach, and examine after every answer; one row a question."""
    task, method = run.setting.task(run.seed), method_named(run.method)
    model = method.model(run.setting, task.pool.scaled)
    learner = Learner(task.pool, seed=run.seed, model=model, acquisition=method.acquisition)
    rng = np.random.default_rng([run.seed, 1])
    truth = task.person.reward(task.pool.scaled)
    rows: Rows = {}
    for number in range(1, run.setting.questions + 1):
        question = learner.ask(strategy=method.strategy)
        sides = task.pool.scaled[[question.left, question.right]]
        choice = task.person.answer(sides[0], sides[1], rng)
        learner.tell(question, choice)
        row = {"question": number, "left": question.left, "right": question.right, "choice": choice}
        for name, value in (row | _examined(learner.reward(), task, truth, run.seed, number)).items():
            rows.setdefault(name, []).append(value)
    return rows


def _examined(reward: Reward, task: Task, truth: Array, seed: int, number: int) -> dict[str, Any]:
    chances = predicted(reward, task.exam)
    found: dict[str, Any] = {
        "accuracy": task.exam.accuracy(chances),
        "log_likelihood": task.exam.log_likelihood(chances),
        "best": None,
        "test": None,
        "bins": None,
        "hits": None,
    }
    if number % BEST_EVERY == 0:
        score = truth[reward.best(task.pool).index]
        found["best"] = float((score - truth.min()) / (truth.max() - truth.min()))
    if number == TEST_AFTER:
        found["test"] = tested(reward, task, seed)
    if number in CALIBRATED_AFTER:
        found["bins"], found["hits"] = calibration(chances, task.exam)
    return found


def tested(reward: Reward, task: Task, seed: int) -> float:
    """The share of a few random questions whose answer is foretold; the same ones for every method."""
    rng = np.random.default_rng([seed, 2])
    hits = []
    for _ in range(TEST_QUESTIONS):
        i, j = rng.choice(len(task.pool), 2, replace=False)
        choice = task.person.answer(task.pool.scaled[i], task.pool.scaled[j], rng)
        a, b = task.pool.features[[i]], task.pool.features[[j]]
        left, right = float(reward.predict_proba(a, b)[0]), float(reward.predict_proba(b, a)[0])
        hits.append(("left" if left > right else "right") == choice)
    return float(np.mean(hits))


def calibration(chances: Array, exam: Exam) -> tuple[list[int], list[int]]:
    """How many predictions were this sure, from a half to 1 in ten steps, and how many of them right."""
    sure = np.maximum(chances, 1 - chances)
    right = np.sign(chances - 0.5) == np.sign(exam.differences)
    place = np.clip(np.digitize(sure, BINS) - 1, 0, len(BINS) - 2)
    size = len(BINS) - 1
    return np.bincount(place, minlength=size).tolist(), np.bincount(place[right], minlength=size).tolist()
