"""Acquisition functions compared: what is predicted and which trajectory is best, after 5 to 40 questions.

Every function has the same pools and the same simulated users, and the differences to the first one are
paired by user.

    accuracy         the share of held-out pairs whose better trajectory is predicted, without noise
    log_likelihood   of the same pairs
    best             the true reward of the trajectory with the largest posterior mean, from 0 for the worst
                     of the pool to 1 for the best
    good             the fraction of the trajectories shown in the last five questions that are above the
                     median of the pool

The rows of another version of the code are compared by their label: measure with one version and
`--label before`, then with the other and `--label after`, into the same file.
"""

import argparse
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from benchmarks.evaluation import evaluate, learner_for, teach
from benchmarks.rows import (
    Job,
    Row,
    mean_and_error,
    measured,
    paired_difference,
    row_parser,
    seeds_of,
    values,
)
from benchmarks.tasks import TASKS, task_named
from prefero._support.arrays import Array
from prefero.learner import Learner
from prefero.simulation.tasks import Task, predicted_probabilities

CHECKPOINTS = (5, 10, 15, 20, 30, 40)
LAST = 5  # questions, whose trajectories are counted
FUNCTIONS = ("predictive-information", "random", "mutual-information")
MEASURES = {
    "accuracy": "accuracy",
    "log_likelihood": "mean log-likelihood",
    "best": "value of the trajectory reported as best",
    "good": "fraction of the trajectories shown last that are above the median",
}


class Series(NamedTuple):
    """One line of a table and one curve of a panel."""

    label: str
    model: str
    acquisition: str

    def __str__(self) -> str:
        model = "" if self.model == "Prefero" else f"{self.model}, "
        return f"{self.label}: {model}{self.acquisition}"


def work(job: Job, checkpoints: Sequence[int] = CHECKPOINTS) -> list[Row]:
    """One simulated user's answers to one function's questions."""
    task, seed = task_named(job["task"], job["seed"]), job["seed"]
    learner, values = learner_for(task, seed, job["model"], job["acquisition"]), values_of(task)
    return [
        {"answers": answers, "best": float(values[reported(learner)]), "good": shown_good(learner, values)}
        | evaluate(predicted_probabilities(learner.reward(), task.test_set), task)
        for answers in teach(task, learner, job["acquisition"], checkpoints, seed)
    ]


def values_of(task: Task) -> Array:
    """The true reward of each trajectory, from 0 for the worst of the pool to 1 for the best."""
    true = task.user.reward(task.pool.scaled)
    values: Array = (true - true.min()) / (true.max() - true.min())
    return values


def reported(learner: Learner) -> int:
    """The trajectory with the largest posterior mean."""
    return int(np.argmax(learner.belief().marginals(learner.pool.scaled)[0]))


def shown_good(learner: Learner, values: Array) -> float:
    """The fraction of the trajectories of the last questions that are above the median."""
    shown = [answer.question.items for answer in learner.answers[-LAST:]]
    return float(np.mean(values[np.array(shown)] > np.median(values)))


def jobs_of(options: argparse.Namespace) -> list[Job]:
    """One user after the other, so that a comparison that is interrupted has whole pairs."""
    seeds = seeds_of(options)
    return [
        {"label": options.label, "task": task, "model": options.model, "acquisition": function, "seed": seed}
        for seed in seeds
        for task in options.tasks
        for function in options.functions
    ]


def series_of(rows: Sequence[Row]) -> list[Series]:
    """In the order in which they were measured."""
    return list(dict.fromkeys(Series(row["label"], row["model"], row["acquisition"]) for row in rows))


def table(rows: Sequence[Row], task: str, column: str, reference: Series) -> Iterator[str]:
    """Means, and paired differences to the reference with their standard errors."""
    mine = [row for row in rows if row["task"] == task]
    at = [answers for answers in CHECKPOINTS if any(row["answers"] == answers for row in mine)]
    people = len({row["seed"] for row in mine})
    yield f"\n{task}: {MEASURES[column]}, {people} simulated users; in brackets, minus {reference}"
    yield f"{'questions':36s}" + "".join(f"{answers:>22d}" for answers in at)
    for series in series_of(mine):
        cells = (_cell(mine, column, series, reference, answers) for answers in at)
        yield f"{series!s:36s}" + "".join(f"{cell:>22s}" for cell in cells)


def _cell(rows: Sequence[Row], column: str, series: Series, reference: Series, answers: int) -> str:
    own = values(rows, column, answers=answers, **series._asdict())
    mean, _ = mean_and_error(own.values())
    if series == reference:
        return f"{mean:.3f}"
    gain, error = paired_difference(own, values(rows, column, answers=answers, **reference._asdict()))
    return f"{mean:.3f} ({gain:+.3f}±{error:.3f})"


def _parser() -> argparse.ArgumentParser:
    parser = row_parser("acquisition-functions", __doc__, people=20)
    add: Any = parser.add_argument
    add("--tasks", nargs="+", default=list(TASKS), metavar="TASK", help=f"of {', '.join(TASKS)}")
    names = "registered names, names of methods, random, default, or MODULE:CLASS; the first is the reference"
    add("--functions", nargs="+", default=FUNCTIONS, metavar="NAME", help=f"{names} ({' '.join(FUNCTIONS)})")
    add("--model", default="Prefero", help="a method's name; its model learns")
    add("--reference-label", metavar="LABEL", help="differences are to this label's rows")
    add("--measures", nargs="+", choices=MEASURES, default=list(MEASURES), help="what the tables show")
    return parser


def main(argv: Sequence[str] | None = None) -> None:
    options = _parser().parse_args(argv)
    every, seeds = measured(options, jobs_of(options), work).rows, seeds_of(options)
    rows = [row for row in every if row["task"] in options.tasks and row["seed"] in seeds]
    reference = Series(options.reference_label or options.label, options.model, options.functions[0])
    for column in options.measures:
        for task in options.tasks:
            print("\n".join(table(rows, task, column, reference)), flush=True)


if __name__ == "__main__":
    main()
