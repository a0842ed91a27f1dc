"""Small learners that a simulated user teaches without noise."""

from typing import Any

import numpy as np

from prefero import Learner, Pool, PreferenceGP, Question, Reward
from prefero._support.arrays import Array
from prefero.kernels import RBF, Anchored
from prefero.questions import PairChoice

WANTED = np.array([1.0, -0.7])


def pool(rows: int = 12, seed: int = 0) -> Pool:
    return Pool(np.random.default_rng(seed).standard_normal((rows, 2)), ["speed", "distance"])


def quick(**changed: Any) -> PreferenceGP:
    """One Gaussian process with everything fixed: milliseconds a fit."""
    settled = {"kernel": Anchored(RBF(theta=0.4), (0.0, 0.0)), "noise": 0.1, "margin": 0.15, "learn": False}
    return PreferenceGP(**{**settled, **changed})


def learner_of(rows: int = 12, seed: int = 0, **options: Any) -> Learner:
    return Learner(pool(rows), seed=seed, **{"model": quick(), **options})


def choice_of(question: Question, shown: Pool) -> PairChoice:
    """An answer without noise."""
    reward = shown.scaled @ WANTED
    return "left" if reward[question.left] > reward[question.right] else "right"


def taught(questions: int, rows: int = 12, seed: int = 0, **options: Any) -> Learner:
    learner = learner_of(rows, seed, **options)
    for _ in range(questions):
        question = learner.ask()
        learner.tell(question, choice_of(question, learner.pool))
    return learner


def rewards(learner: Learner) -> Array:
    return learner.reward()(learner.pool.features)


def pair(question: Question) -> tuple[int, int]:
    return min(question.left, question.right), max(question.left, question.right)


def reward_of_pairs(shown: Pool, liked: Array) -> Reward:
    """What is learned from answers about 0 and 1, 2 and 3, and so on: better is what is liked more."""
    learner = Learner(shown)
    for left in range(0, len(liked), 2):
        learner.tell(Question(left, left + 1), "left" if liked[left] > liked[left + 1] else "right")
    return learner.reward()
