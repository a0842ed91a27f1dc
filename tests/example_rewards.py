"""Rewards of every kind of model, for the tests of rewards and of their files."""

from functools import cache
from typing import Any

import numpy as np
import pytest

from prefero import Learner, LinearPreference, Pool, PreferenceGP, Reward
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


@cache
def example_rewards() -> dict[str, Reward]:
    made = {name: learn(model) for name, model in MODELS.items()}
    return {**made, "ties": learn(None, ties=True), "nothing yet": learn(MODELS["sum"], 0)}


every_reward = pytest.mark.parametrize("name", [*MODELS, "ties", "nothing yet"])


def new(rows: int = 7) -> Array:
    return pool(rows, seed=4).features
