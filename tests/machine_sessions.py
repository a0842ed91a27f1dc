"""Sessions of a simulated user, printed question by question; run in processes with other arithmetic.

python tests/machine_sessions.py 30
"""

import json
import sys

import numpy as np

from prefero import Learner, Pool

FUNCTIONS = ("predictive-information", "mutual-information")


def pool() -> Pool:
    """Small numbers: many trajectories are equal, and many more are equally far from each other."""
    return Pool(np.random.default_rng(5).integers(0, 3, size=(27, 3)).astype(float))


def questions(acquisition: str, count: int) -> list[tuple[int, ...]]:
    """The questions of a session whose answers are rather noisy."""
    learner, rng, asked = Learner(pool(), acquisition=acquisition), np.random.default_rng(2), []
    weights = np.random.default_rng(1).standard_normal(3)
    truth = learner.pool.scaled @ weights + (learner.pool.scaled @ weights[::-1]) ** 2 / 3
    for _ in range(count):
        question = learner.ask()
        asked.append(question.items)
        left = truth[question.left] - truth[question.right] + 0.3 * rng.standard_normal() > 0
        learner.tell(question, "left" if left else "right")
    return asked


if __name__ == "__main__":
    print(json.dumps({function: questions(function, int(sys.argv[1])) for function in FUNCTIONS}))
