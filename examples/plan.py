"""A simulated user teaches a car, the car plans, and the user is asked about its plans too."""

import numpy as np
from numpy.typing import NDArray

import prefero
from prefero.simulation.users import SimulatedUser

Array = NDArray[np.float64]


def main(questions: int = 24, trajectories: int = 300) -> None:
    world, rng = prefero.worlds.make("driver"), np.random.default_rng(0)
    pool = prefero.Pool.simulate(world, trajectories)
    wanted = pool.scaling(world.rollout(np.tile([0.0, 0.8], 5)).features[None])  # straight on, and fast
    user = SimulatedUser(lambda x: -np.linalg.norm(x - wanted, axis=1), noise=0.1)

    def true(features: Array) -> float:
        return float(user.reward(pool.scaling(np.atleast_2d(features))).max())

    print(f"The best of {trajectories} random trajectories has a true reward of {true(pool.features):.2f}.")
    learner = prefero.Learner(pool)
    for number in range(1, questions + 1):
        question = learner.ask("best")
        left, right = learner.pool.scaled[[question.left, question.right]]
        learner.tell(question, user.answer(left, right, rng))
        if number % 4 == 0:
            plan = prefero.plan(learner.reward(), world, learner.pool, evaluations=800)
            worth = true(plan.trajectory.features)
            print(
                f"After {number:2d} answers the plan has a true reward of {worth:.2f}; "
                f"the standard deviation of its learned reward is {plan.std:.2f}."
            )
            learner.add(plan.trajectory)  # so that it can be asked about


if __name__ == "__main__":
    main()
