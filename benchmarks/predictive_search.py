"""The search for the question of largest predictive information: how near the maximum, and how long it takes.

share    value of the question found, over the largest value of all questions (small pools, every pair scored)
time     beside the exact search for the largest mutual information in the same pool of 1000 trajectories
"""

import argparse
from collections.abc import Sequence

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.timing import row, seconds
from prefero._support.arrays import Array
from prefero.acquisition.pool_search import best_question
from prefero.acquisition.predictive_information import PredictiveInformation
from prefero.learner import Learner
from prefero.models.posterior import Distribution
from prefero.simulation.tasks import make_task

PREDICTIVE = PredictiveInformation()
KINDS = ("linear", "quadratic", "bumpy")


def learned(kind: str, trajectories: int, answers: int, seed: int) -> tuple[Distribution, Array]:
    """A belief after answers to random questions, and the pool."""
    task, rng = make_task(kind, trajectories=trajectories, seed=seed), np.random.default_rng(seed)
    learner = Learner(task.pool, seed=seed)
    for _ in range(answers):
        question = learner.ask(strategy="random")
        left, right = task.pool.scaled[question.left], task.pool.scaled[question.right]
        learner.tell(question, task.user.answer(left, right, rng))
    return learner.belief(), task.pool.scaled


def share_of_maximum(kind: str, trajectories: int, answers: int, seed: int) -> float:
    """How much of the best question's value the search finds."""
    belief, x = learned(kind, trajectories, answers, seed)
    every = np.column_stack(np.triu_indices(len(x), 1))
    most = float(PREDICTIVE.score_questions(belief, x, every).max())
    found = best_question(belief, x, acquisition=PREDICTIVE).value
    return (found or 0.0) / most


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument(
        "--runs", type=int, default=5, help="pools for each kind of reward and number of answers"
    )
    parser.add_argument("--trajectories", type=int, default=150, help="in the small pools")
    options = parser.parse_args(argv)
    with threadpool_limits(limits=1):
        for kind in KINDS:
            for answers in (0, 5, 20):
                shares = [
                    share_of_maximum(kind, options.trajectories, answers, s) for s in range(options.runs)
                ]
                print(
                    f"{kind:10s} after {answers:2d} answers: the search finds {np.mean(shares):.3f} of the "
                    f"maximum, at least {min(shares):.3f}",
                    flush=True,
                )
        for kind in KINDS:
            belief, x = learned(kind, 1000, 20, 0)
            unit, taken = seconds(
                lambda belief=belief, x=x: best_question(belief, x),  # type: ignore[misc]
                lambda belief=belief, x=x: best_question(belief, x, acquisition=PREDICTIVE),  # type: ignore[misc]
                repeats=5,
            )
            print(f"\n{kind} reward, pool of 1000, 20 answers, {len(belief.components)} components")
            print(row("mutual information", unit, unit))
            print(row("predictive information", taken, unit, 4.0))


if __name__ == "__main__":
    main()
