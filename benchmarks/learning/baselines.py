"""The default model beside plain logistic regression, with random questions and people who err.

    default    Prefero's default model
    linear     ridge logistic regression on differences of standardized features
    products   the same with the features' squares and products
    C          the regressions' inverse strength of regularization: 0.1, 1 and 10

All methods get the same answers to the same random questions. A row is a kind of features and reward with a
number of features, or a regression set of scikit-learn; a noise of the answers; and a lapse rate. It is
flagged where the default is behind the best baseline of the row, known in hindsight, by more than 0.02 and by
two standard errors of the difference, which is paired by simulated user.
"""

import argparse
import itertools
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit

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
from benchmarks.tasks import FEATURES, SETS, task_named
from prefero._support.arrays import Array
from prefero.learner import Learner
from prefero.simulation.tasks import Task, predicted_probabilities

CHECKPOINTS = (5, 10, 20, 40, 80)
NOISES = (0.03, 0.1, 0.3, 0.5, 1.0, 2.0)
LAPSES = (0.0, 0.05, 0.1)
SIZES = (2, 5, 10, 20)
STRENGTHS = (0.1, 1.0, 10.0)
DEFAULT = "default"
BASELINES = tuple(f"{kind} C={strength:g}" for kind in ("linear", "products") for strength in STRENGTHS)
ALLOWED = 0.02
MEASURES = {
    "accuracy": "accuracy",
    "answer_log_likelihood": "mean log-likelihood of the person's answers",
    "log_likelihood": "mean log-likelihood of the true preference",
}


class Cell(NamedTuple):
    """A row of the comparison: features and reward, and how the person answers."""

    task: str
    noise: float
    lapse_rate: float

    def __str__(self) -> str:
        return f"{self.task:16s} noise {self.noise:<5g} lapses {self.lapse_rate:<5g}"


TASKS = (*(f"{kind} {d}" for kind, d in itertools.product(FEATURES, SIZES)), *SETS)
QUICK = (
    *(Cell(f"{kind} 5", 0.1, 0.0) for kind in FEATURES),
    *(Cell(f"linear {d}", 0.1, 0.0) for d in (2, 10, 20)),
    *(Cell(f"quadratic {d}", 0.1, 0.0) for d in (2, 10)),
    *(Cell(task, 0.1, 0.0) for task in ("sparse 20", "saturating 10", "clustered 10", "one-hot 10")),
    *(Cell("linear 5", noise, 0.0) for noise in NOISES if noise != 0.1),
    *(Cell("linear 5", 0.1, lapse_rate) for lapse_rate in LAPSES[1:]),
    *(Cell("quadratic 5", noise, 0.0) for noise in (0.5, 1.0)),
    Cell("quadratic 5", 0.1, 0.1),
    *(Cell(task, 1.0, 0.0) for task in ("linear 20", "saturating 5", "one-hot 5", "sparse 10", "diabetes")),
    Cell("sparse 10", 0.1, 0.1),
    *(Cell(task, 0.1, 0.0) for task in ("diabetes", "linnerud-waist", "friedman1", "friedman2")),
)


def cells(options: argparse.Namespace) -> list[Cell]:
    """The rows that were chosen."""
    every: Sequence[Cell] = QUICK
    if not options.quick:
        every = [Cell(*one) for one in itertools.product(TASKS, NOISES, LAPSES)]
    return [
        cell
        for cell in every
        if cell.task in (options.tasks or TASKS)
        and cell.noise in (options.noises or NOISES)
        and cell.lapse_rate in (options.lapses or LAPSES)
    ]


def work(job: Job) -> list[Row]:
    """All methods' predictions from one simulated user's answers."""
    seed = job["seed"]
    task = task_named(job["task"], seed, noise=job["noise"], lapse_rate=job["lapse_rate"])
    learner = learner_for(task, seed)
    return [
        {"answers": answers, "method": method, **evaluate(probability, task)}
        for answers in teach(task, learner, "random", CHECKPOINTS, seed)
        for method, probability in predictions(task, learner)
    ]


def predictions(task: Task, learner: Learner) -> Iterator[tuple[str, Array]]:
    """Of every method, for the pairs of the test set."""
    yield DEFAULT, predicted_probabilities(learner.reward(), task.test_set)
    winners, losers = answered_rows(learner)
    first, second = (task.pool.scaling(side) for side in task.test_set.sides)
    for products in (False, True):
        trained = differences(winners, losers, products)
        tested = differences(first, second, products)
        for strength in STRENGTHS:
            name = f"{'products' if products else 'linear'} C={strength:g}"
            yield name, expit(tested @ logistic_weights(trained, strength))


def answered_rows(learner: Learner) -> tuple[Array, Array]:
    """Scaled features of the preferred and of the other trajectory of every answer."""
    pairs = [(a.question.left, a.question.right, a.choice == "left") for a in learner.answers]
    winners, losers = zip(*((a, b) if left else (b, a) for a, b, left in pairs), strict=True)
    return learner.pool.scaled[list(winners)], learner.pool.scaled[list(losers)]


def differences(a: Array, b: Array, products: bool) -> Array:
    """Differences of features, with those of their squares and products if wanted."""
    return with_products(a) - with_products(b) if products else a - b


def with_products(x: Array) -> Array:
    """The features, their squares, and the products of two of them."""
    first, second = np.triu_indices(x.shape[1])
    return np.hstack([x, x[:, first] * x[:, second]])


def logistic_weights(winning: Array, strength: float) -> Array:
    """Ridge logistic regression without intercept, on differences of features from winner to loser.

    Scikit-learn wants both classes, so every answer is given from both sides with half its weight, which is
    the same objective.
    """
    model = import_module("sklearn.linear_model").LogisticRegression(
        C=strength, fit_intercept=False, solver="newton-cholesky", tol=1e-8
    )
    both, won = np.vstack([winning, -winning]), np.repeat([1, 0], len(winning))
    weights: Array = model.fit(both, won, sample_weight=np.full(len(won), 0.5)).coef_[0]
    return weights


class Comparison(NamedTuple):
    """The default beside the best baseline of a row after some answers."""

    cell: Cell
    answers: int
    mean: float
    best: str
    best_mean: float
    difference: float
    error: float

    @property
    def is_behind(self) -> bool:
        return self.difference < -ALLOWED and self.difference < -2 * self.error

    def __str__(self) -> str:
        return (
            f"{self.cell} after {self.answers:2d}: {self.mean:.3f}, {self.best} {self.best_mean:.3f}, "
            f"difference {self.difference:+.3f}±{self.error:.3f}"
        )


def compare(rows: Sequence[Row], cell: Cell, answers: int, column: str) -> Comparison:
    """The best baseline is the one with the best mean."""
    mine = [row for row in rows if row["answers"] == answers]
    found = {method: values(mine, column, method=method) for method in (DEFAULT, *BASELINES)}
    means = {method: mean_and_error(one.values())[0] for method, one in found.items()}
    best = max(BASELINES, key=lambda name: means[name])
    gap = paired_difference(found[DEFAULT], found[best])
    return Comparison(cell, answers, means[DEFAULT], best, means[best], *gap)


def comparisons(rows: Sequence[Row], column: str) -> list[list[Comparison]]:
    """For every cell that was measured, one for each number of answers."""
    return [
        [compare(mine, cell, answers, column) for answers in CHECKPOINTS]
        for cell, mine in by_cell(rows).items()
    ]


def table(found: Sequence[Sequence[Comparison]], column: str) -> Iterator[str]:
    """A line for each row: the default, minus the best baseline; flags and means below."""
    yield f"\n{MEASURES[column]} of the default, and minus the best baseline of each row"
    yield f"{'answers':42s}" + "".join(f"{answers:>22d}" for answers in CHECKPOINTS)
    for line in found:
        cells = (f"{c.mean:.3f} {c.difference:+.3f}±{c.error:.3f}{'!' if c.is_behind else ' '}" for c in line)
        yield f"{line[0].cell!s:42s}" + "".join(f"{cell:>22s}" for cell in cells)
    every = np.array([[[c.mean, c.difference] for c in line] for line in found])
    means = (f"{mean:.3f} {difference:+.3f}       " for mean, difference in every.mean(axis=0))
    yield f"{f'mean of {len(found)} rows':42s}" + "".join(f"{cell:>22s}" for cell in means)
    behind = [c for line in found for c in line if c.is_behind]
    count = f"{len(behind)} of {len(found) * len(CHECKPOINTS)}"
    yield f"behind the best baseline by more than {ALLOWED} and two standard errors: {count}"
    yield from (f"  {c}" for c in sorted(behind, key=lambda c: c.difference))


def method_means(rows: Sequence[Row], column: str) -> Iterator[str]:
    """Each method's mean over all rows."""
    yield f"\n{MEASURES[column]} over all rows"
    for method in (DEFAULT, *BASELINES):
        cells = (
            np.mean([row[column] for row in rows if row["method"] == method and row["answers"] == answers])
            for answers in CHECKPOINTS
        )
        yield f"{method:42s}" + "".join(f"{cell:22.3f}" for cell in cells)


def label_table(rows: Sequence[Row], label: str, against: str, column: str) -> Iterator[str]:
    """The default under one label minus the default under another, paired by simulated user."""
    yield f"\n{MEASURES[column]} of the default, {label} minus {against}"
    found = by_cell([row for row in rows if row["method"] == DEFAULT])
    shared = {c: mine for c, mine in found.items() if {label, against} <= {row["label"] for row in mine}}
    lines = {cell: _gaps(mine, label, against, column) for cell, mine in shared.items()}
    for cell, gaps in lines.items():
        yield f"{cell!s:42s}" + "".join(f"{f'{gap:+.3f}±{error:.3f}':>22s}" for gap, error in gaps)
    means = np.mean([[gap for gap, _ in gaps] for gaps in lines.values()], axis=0) if lines else []
    yield f"{f'mean of {len(lines)} rows':42s}" + "".join(f"{mean:>+16.3f}      " for mean in means)


def _gaps(rows: Sequence[Row], label: str, against: str, column: str) -> list[tuple[float, float]]:
    at = ([row for row in rows if row["answers"] == answers] for answers in CHECKPOINTS)
    return [
        paired_difference(values(mine, column, label=label), values(mine, column, label=against))
        for mine in at
    ]


def by_cell(rows: Sequence[Row]) -> dict[Cell, list[Row]]:
    """The rows of every cell, in the order in which they were measured."""
    found: dict[Cell, list[Row]] = {}
    for row in rows:
        found.setdefault(Cell(row["task"], row["noise"], row["lapse_rate"]), []).append(row)
    return found


def _parser() -> argparse.ArgumentParser:
    parser = row_parser("baselines", __doc__, people=20)
    add: Any = parser.add_argument
    add("--quick", action="store_true", help=f"{len(QUICK)} of {len(TASKS) * len(NOISES) * len(LAPSES)} rows")
    add("--tasks", nargs="+", choices=TASKS, metavar="TASK", help=f"only these of: {', '.join(TASKS)}")
    add("--noises", nargs="+", type=float, choices=NOISES, metavar="NOISE", help="only these noises")
    add("--lapses", nargs="+", type=float, choices=LAPSES, metavar="RATE", help="only these lapse rates")
    add("--against", metavar="LABEL", help="show the default minus that of another label, too")
    shown = list(MEASURES)[:2]
    add("--measures", nargs="+", choices=MEASURES, default=shown, help="what the tables show")
    return parser


def main(argv: Sequence[str] | None = None) -> None:
    options = _parser().parse_args(argv)
    chosen, seeds = cells(options), seeds_of(options)
    wanted = [{"label": options.label, **cell._asdict(), "seed": seed} for seed in seeds for cell in chosen]
    every = [row for row in measured(options, wanted, work).rows if row["seed"] in seeds]
    every = [row for row in every if Cell(row["task"], row["noise"], row["lapse_rate"]) in chosen]
    rows = [row for row in every if row["label"] == options.label]
    for column in options.measures:
        print("\n".join(table(comparisons(rows, column), column)))
        print("\n".join(method_means(rows, column)))
        if options.against:
            print("\n".join(label_table(every, options.label, options.against, column)))


if __name__ == "__main__":
    main()
