"""A simulated person teaches a reward: the ten lines of the README, with somebody who errs now and then."""

import numpy as np

import prefero
from prefero._support.arrays import Array
from prefero.simulation.users import SimulatedUser


def wish(features: Array) -> Array:
    """What the person has in mind: much distance, and a speed near the middle. Prefero never sees this."""
    wanted: Array = features[:, 1] - features[:, 0] ** 2
    return wanted


def main(questions: int = 15) -> None:
    rng = np.random.default_rng(0)
    person = SimulatedUser(wish, noise=0.1, margin=0.1)  # margin: closer than this is "about equal"
    pool = prefero.Pool(rng.normal(size=(200, 2)), names=["speed", "distance"])
    learner = prefero.Learner(pool, seed=0)
    for _ in range(questions):
        question = learner.ask()
        left, right = pool.features[question.left], pool.features[question.right]
        choice = person.answer(left, right, rng)
        learner.tell(question, choice)
        print(f"{question.left:3d} or {question.right:3d}? {choice:5s}  {question.value:.2f} bits expected")
    reward = learner.reward()
    best, true = reward.best(pool), wish(pool.features)
    print(f"{reward.describe()}.")
    above = np.count_nonzero(true > true[best.index])
    print(f"It likes trajectory {best.index} best; truly, {above} of the {len(pool)} are better.")


if __name__ == "__main__":
    main()
