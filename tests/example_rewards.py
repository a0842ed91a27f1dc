"""Rewards of every kind of model, for the tests of rewards and of their files."""

from functools import cache
from typing import Any

import numpy as np
import pytest

from prefero import Learner, LinearPreference, Pool, PreferenceGP, Question, Reward
from prefero._support.arrays import Array
from prefero.kernels import RBF, Anchored, Linear, Matern

NAMES = ["speed", "distance"]
MODELS: dict[str, Any] = {
    "belief": None,
    "paper": PreferenceGP(
        kernel=Anchored(RBF(theta=1.0), (0.0, 0.0), mode="condition"),
        noise=0.1,
        learn=False,
        inference="laplace",
    ),
    "sum": PreferenceGP(
        kernel=0.5 * Linear() + 2.0 * Matern(lengthscale=(1.0, 3.0), nu=1.5), noise=0.1, learn=False
    ),
    "linear": LinearPreference(noise=0.2, draws=25),
}


def pool(rows: int = 15, seed: int = 0) -> Pool:
    features = np.random.default_rng(seed).standard_normal((rows, 2)) * [10.0, 0.1] + [5.0, 0.0]
    return Pool(features, NAMES)


def learn(model: Any, answers: int = 6, ties: bool = False) -> Reward:
    learner = Learner(pool(), model=model)
    for number in range(answers):
        question = learner.ask()
        better = learner.pool.scaled[question.left, 0] > learner.pool.scaled[question.right, 0]
        learner.tell(question, "equal" if ties and number % 3 == 2 else "left" if better else "right")
    return learner.reward()


def learn_labels(model: Any = None, answers: int = 6) -> Reward:
    """What is acceptable: a scaled speed above 0.3, said in labels, ratings and comparisons."""
    learner = Learner(pool(), model=model)
    for number in range(answers):
        above = learner.pool.scaled[:, 0] - 0.3
        if number % 3 == 2:
            shown = [number, number + 3, number + 6]
            best = max(shown, key=lambda item: above[item])
            word = str(shown.index(best) + 1) if above[best] > 0 else "none"
            learner.tell(Question(*shown, kind="best-or-none-3"), word)
        elif number % 3 == 1:
            level = 1 + int(np.digitize(above[number], [-0.9, -0.3, 0.3, 0.9]))
            learner.tell(Question(number, kind="rate-5"), str(level))
        else:
            learner.tell(Question(number, kind="success"), "pass" if above[number] > 0 else "fail")
    return learner.reward()


@cache
def example_rewards() -> dict[str, Reward]:
    made = {name: learn(model) for name, model in MODELS.items()}
    others = {
        "ties": learn(None, ties=True),
        "labels": learn_labels(),
        "nothing yet": learn(MODELS["sum"], 0),
    }
    return made | others


every_reward = pytest.mark.parametrize("name", [*MODELS, "ties", "labels", "nothing yet"])


def new(rows: int = 7) -> Array:
    return pool(rows, seed=4).features
