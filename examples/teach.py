"""A simulated user teaches a reward: the ten lines of the README, with answers that are not always right."""

import numpy as np
from numpy.typing import NDArray

import prefero
from prefero.simulation.users import SimulatedUser

Array = NDArray[np.float64]


def true_reward(features: Array) -> Array:
    """The user's reward: much distance, and a speed near the middle. Prefero never sees this."""
    wanted: Array = features[:, 1] - features[:, 0] ** 2
    return wanted


def main(questions: int = 15) -> None:
    rng = np.random.default_rng(0)
    user = SimulatedUser(true_reward, noise=0.1, margin=0.1)  # margin: closer than this is "about equal"
    pool = prefero.Pool(rng.normal(size=(200, 2)), names=["speed", "distance"])
    learner = prefero.Learner(pool, seed=0)
    for _ in range(questions):
        question = learner.ask()
        left, right = pool.features[question.left], pool.features[question.right]
        choice = user.answer(left, right, rng)
        learner.tell(question, choice)
        print(f"{question.left:3d} or {question.right:3d}? {choice:5s}  {question.value:.2f} bits expected")
    reward = learner.reward()
    best, true = reward.best(pool), true_reward(pool.features)
    print(f"{reward.describe()}.")
    above = np.count_nonzero(true > true[best.index])
    print(f"It likes trajectory {best.index} best; {above} of the {len(pool)} are better.")


if __name__ == "__main__":
    main()
