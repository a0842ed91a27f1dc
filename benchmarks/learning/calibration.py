"""Calibration of the default model's predictions of a person's answers, with noise and lapses.

    calibration error   mean distance between the predicted probability of an answer and its true one, over
                        ten bins of predictions, for all simulated users of a row together; wanted below 0.02
    log-likelihood      expected mean log probability of the person's answers; wanted above that of a coin,
                        -0.693, from 5 answers on, in every row and for every kind of reward
    questions           "random", or "default": as Prefero asks by default, or another acquisition function

    sureness            mean predicted probability of the likelier answer minus its true one: positive where
                        the model is too sure

The number in brackets is the calibration error's standard deviation over bootstrap samples of the users. With
few users the calibration error is too large by about as much, since chance adds to distances. From a few
answers nobody can tell how noisy a person is, so that a model can then be calibrated for all people together,
but is too sure of the noisy ones and not sure enough of the others. Users of the tasks "people ..." are like
real people, with a noise and a lapse rate of their own: they have one row for each kind of questions.
"""

import argparse
import itertools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from benchmarks.evaluation import COIN, calibration_error, evaluate, learner_for, teach
from benchmarks.rows import Job, Row, mean_and_error, measured, row_parser, seeds_of
from benchmarks.tasks import is_of_people, task_named
from prefero.simulation.tasks import predicted_probabilities

CHECKPOINTS = (5, 10, 20, 30, 50, 100)
CALIBRATED_AFTER = (10, 30, 100)
NOISES = (0.03, 0.1, 0.3, 1.0)
LAPSES = (0.0, 0.05, 0.1)
TASKS = ("linear 5", "quadratic 5", "saturating 5", "heavy-tails", "bumps", "people 3", "people 6")
QUESTIONS = ("random", "default")
WANTED = 0.02
BOOTSTRAPS = 200


class Cell(NamedTuple):
    """A row: how questions are chosen, and how the person answers."""

    questions: str
    noise: float | None = None  # None: the person's own
    lapse_rate: float | None = None

    def __str__(self) -> str:
        if self.noise is None:
            return f"{self.questions:24s} own noise and lapses"
        return f"{self.questions:24s} noise {self.noise:<5g} lapses {self.lapse_rate:<5g}"


def work(job: Job) -> list[Row]:
    """One simulated user's session."""
    seed, questions = job["seed"], job["questions"]
    task = task_named(job["task"], seed, noise=job["noise"], lapse_rate=job["lapse_rate"])
    learner = learner_for(task, seed, acquisition=questions)
    checkpoints = [answers for answers in CHECKPOINTS if answers <= job["most"]]
    return [
        {"answers": answers, **evaluate(predicted_probabilities(learner.reward(), task.test_set), task)}
        for answers in teach(task, learner, questions, checkpoints, seed)
    ]


def bootstrap_error(rows: Sequence[Row], seed: int = 0) -> float:
    """The standard deviation of the calibration error over samples of the users."""
    rng = np.random.default_rng(seed)
    draws = (rng.integers(len(rows), size=len(rows)) for _ in range(BOOTSTRAPS))
    return float(np.std([calibration_error([rows[place] for place in drawn]) for drawn in draws]))


def by_cell(rows: Sequence[Row]) -> dict[Cell, list[Row]]:
    """The rows of every cell, in the order in which they were measured."""
    found: dict[Cell, list[Row]] = {}
    for row in rows:
        found.setdefault(Cell(row["questions"], row["noise"], row["lapse_rate"]), []).append(row)
    return found


def by_errors(cell: Cell) -> tuple[str, float, float]:
    """The order of cells; those with noise and lapses of their own come first."""
    return cell.questions, cell.noise or 0.0, cell.lapse_rate or 0.0


def calibration_table(rows: Sequence[Row]) -> Iterator[str]:
    """The calibration error of every cell; those above what is wanted are marked."""
    yield f"\ncalibration error after ... answers, ! where it is above {WANTED}, and sureness"
    yield f"{'':50s}" + "".join(f"{answers:>30d}" for answers in CALIBRATED_AFTER)
    found = by_cell(rows)
    each: dict[object, list[Row]] = {cell: found[cell] for cell in sorted(found, key=by_errors)}
    chosen = [row for row in rows if row["noise"] is not None]
    for questions in dict.fromkeys(row["questions"] for row in chosen):
        each[f"{questions:24s} all with a given noise"] = [r for r in chosen if r["questions"] == questions]
    for name, mine in each.items():
        cells = (_calibration([r for r in mine if r["answers"] == answers]) for answers in CALIBRATED_AFTER)
        yield f"{name!s:50s}" + "".join(f"{text:>30s}" for text in cells)


def _calibration(rows: Sequence[Row]) -> str:
    if not rows:
        return ""
    error, (sure, chance) = calibration_error(rows), mean_and_error(map(sureness, rows))
    mark = "!" if error > WANTED else " "
    return f"{error:.3f} ({bootstrap_error(rows):.3f}){mark} {sure:+.3f}±{chance:.3f}"


def sureness(row: Row) -> float:
    """How much too sure the predictions of one session are on the mean; negative: not sure enough."""
    total = np.sum(row["bin_predicted"]) - np.sum(row["bin_right"])
    return float(total / np.sum(row["bin_counts"]))


def likelihood_table(rows: Sequence[Row]) -> Iterator[str]:
    """The mean log-likelihood of every cell and task; those below that of a coin are marked."""
    yield f"\nmean log-likelihood of the person's answers; ! where it is below that of a coin, {COIN:.3f}"
    at = sorted({row["answers"] for row in rows})
    yield f"{'':66s}" + "".join(f"{answers:>16d}" for answers in at)
    for cell, mine in sorted(by_cell(rows).items(), key=lambda item: by_errors(item[0])):
        for task in dict.fromkeys(row["task"] for row in mine):
            cells = (_likelihood([r for r in mine if r["answers"] == n and r["task"] == task]) for n in at)
            yield f"{cell!s:50s}{task:16s}" + "".join(f"{text:>16s}" for text in cells)


def _likelihood(rows: Sequence[Row]) -> str:
    if not rows:
        return ""
    mean, error = mean_and_error(row["answer_log_likelihood"] for row in rows)
    return f"{mean:.3f}±{error:.3f}{'!' if mean < COIN else ' '}"


def jobs_of(options: argparse.Namespace) -> list[Job]:
    """One user after the other, in every row."""
    errors = list(itertools.product(options.noises, options.lapses))
    sessions = [
        (task, Cell(questions, *error))
        for questions in options.questions
        for task in options.tasks
        for error in ([(None, None)] if is_of_people(task) else errors)
    ]
    shared = {"label": options.label, "most": options.most}
    return [
        {**shared, "task": task, **cell._asdict(), "seed": seed}
        for seed in seeds_of(options)
        for task, cell in sessions
    ]


def _parser() -> argparse.ArgumentParser:
    parser = row_parser("calibration", __doc__, people=8)
    add: Any = parser.add_argument
    add("--most", type=int, default=CHECKPOINTS[-1], choices=CHECKPOINTS, help="answers of each session")
    add("--tasks", nargs="+", default=list(TASKS), metavar="TASK", help=f"default: {', '.join(TASKS)}")
    add("--noises", nargs="+", type=float, default=NOISES, metavar="NOISE", help="of the answers")
    add("--lapses", nargs="+", type=float, default=LAPSES, metavar="RATE", help="lapse rates")
    add("--questions", nargs="+", default=QUESTIONS, metavar="NAME", help="random, default, or a function")
    return parser


def main(argv: Sequence[str] | None = None) -> None:
    options = _parser().parse_args(argv)
    wanted = jobs_of(options)
    rows = measured(options, wanted, work).of(wanted)
    print("\n".join([*calibration_table(rows), *likelihood_table(rows)]))


if __name__ == "__main__":
    main()
