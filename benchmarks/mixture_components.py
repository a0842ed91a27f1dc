"""The mixture's leading components against all of its candidates: how far P(a preferred) differs.

The default model predicts with a few candidates that stand for all, so that asking stays fast. Here every
candidate takes part, however little it weighs, and the predictions of both for the pairs of the test set are
compared. Wanted: nowhere more than 0.02 apart.
"""

from collections.abc import Sequence
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.evaluation import learner_for, teach
from benchmarks.rows import Job, Row, measured, row_parser, seeds_of
from benchmarks.tasks import TASKS, task_named
from prefero.learner import Learner
from prefero.models import mixture_fitter
from prefero.models.mixture import MixturePosterior
from prefero.simulation.tasks import predicted_probabilities

CHECKPOINTS = (5, 10, 20, 40)
CHOSEN = ("heavy-tails", "bumps", "driver-linear", "driver-quadratic", "many-features-quadratic")
WANTED = 0.02
SIZES = ("components", "candidates")
EVERY: dict[str, Any] = {"MAX_COMPONENTS": 10_000, "NEGLIGIBLE": 1e-12}


def full_mixture(learner: Learner) -> Learner:
    """The same answers, with every candidate in the mixture."""
    with patch.multiple(mixture_fitter, **EVERY):
        full = Learner(learner.pool, seed=learner.seed, answers=learner.answers)
        full.belief()
    return full


def components(learner: Learner) -> int:
    belief = learner.belief()
    return len(belief.components) if isinstance(belief, MixturePosterior) else 1


def work(job: Job) -> list[Row]:
    """One simulated user's answers to random questions."""
    task, seed = task_named(job["task"], job["seed"]), job["seed"]
    learner = learner_for(task, seed)
    rows: list[Row] = []
    for answers in teach(task, learner, "random", CHECKPOINTS, seed):
        full = full_mixture(learner)
        leading, every = (predicted_probabilities(one.reward(), task.test_set) for one in (learner, full))
        apart = np.abs(leading - every)
        sizes = {"components": components(learner), "candidates": components(full)}
        found = {"mean": apart.mean(), "share": np.mean(apart > WANTED), "largest": apart.max()}
        rows.append({"answers": answers, **sizes, **{name: float(value) for name, value in found.items()}})
    return rows


def table(rows: Sequence[Row]) -> None:
    """The mean and the largest difference of every task and number of answers; the share that is too far."""
    head = "".join(f"{name:>12s}" for name in (*SIZES, "mean", f"over {WANTED}", "largest"))
    print(f"{'task':26s}{'answers':>8s}{head}")
    for task in dict.fromkeys(row["task"] for row in rows):
        for answers in CHECKPOINTS:
            mine = [row for row in rows if row["task"] == task and row["answers"] == answers]
            sizes = "".join(f"{np.mean([row[name] for row in mine]):12.1f}" for name in SIZES)
            mean, share = (np.mean([row[name] for row in mine]) for name in ("mean", "share"))
            largest = max(row["largest"] for row in mine)
            verdict = "" if largest <= WANTED else f"   wanted {WANTED}: NO"
            print(f"{task:26s}{answers:8d}{sizes}{mean:12.4f}{share:12.1%}{largest:12.4f}{verdict}")


def main(argv: Sequence[str] | None = None) -> None:
    parser = row_parser("mixture-components", __doc__, people=4)
    parser.add_argument(
        "--tasks", nargs="+", default=list(CHOSEN), metavar="TASK", help=f"of {', '.join(TASKS)}"
    )
    options = parser.parse_args(argv)
    seeds = seeds_of(options)
    wanted = [{"label": options.label, "task": t, "seed": s} for s in seeds for t in options.tasks]
    table(measured(options, wanted, work).of(wanted))


if __name__ == "__main__":
    main()
