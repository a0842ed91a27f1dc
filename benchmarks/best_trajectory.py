"""The best trajectory with few questions: acquisition functions compared by what they find.

After 5 to 30 answers the trajectory with the largest posterior mean is reported as best. Its value is its
true reward as a share: 0 is the worst trajectory of the pool, 1 the best. Every function has the same pools
and the same simulated users, and the differences to the first one are paired by user.
"""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.acquisition_functions import jobs_of
from benchmarks.evaluation import learner_for, teach
from benchmarks.rows import (
    Job,
    Row,
    add_functions,
    mean_and_error,
    measured,
    paired_difference,
    row_parser,
    values,
)
from benchmarks.tasks import task_named
from prefero._support.arrays import Array
from prefero.learner import Learner
from prefero.plots.style import new_figure, save_figure, style_axis
from prefero.simulation.tasks import Task

TASKS = ("golf-400", "bumps", "driver-linear", "driver-quadratic", "heavy-tails")
FUNCTIONS = ("expected-utility", "knowledge-gradient", "thompson-duel", "best-information", "random")
CHECKPOINTS = (5, 10, 15, 20, 30)
COLORS = ("#0b6e99", "#b8860b", "#a0337a", "#2e8b57", "#8a8a8a", "#d1662c")


def work(job: Job, checkpoints: Sequence[int] = CHECKPOINTS) -> list[Row]:
    """One simulated user's answers to one function's questions."""
    task, seed = task_named(job["task"], job["seed"]), job["seed"]
    learner, shares = learner_for(task, seed, job["model"], job["acquisition"]), shares_of_best(task)
    return [
        {"answers": answers, "value": float(shares[reported(learner)])}
        for answers in teach(task, learner, job["acquisition"], checkpoints, seed)
    ]


def shares_of_best(task: Task) -> Array:
    """The true reward of each trajectory, from 0 for the worst of the pool to 1 for the best."""
    true = task.user.reward(task.pool.scaled)
    shares: Array = (true - true.min()) / (true.max() - true.min())
    return shares


def reported(learner: Learner) -> int:
    """The trajectory with the largest posterior mean."""
    return int(np.argmax(learner.belief().marginals(learner.pool.scaled)[0]))


def functions_of(rows: Sequence[Row]) -> list[str]:
    """In the order in which they were measured."""
    return list(dict.fromkeys(row["acquisition"] for row in rows))


def table(rows: Sequence[Row], task: str, reference: str) -> Iterator[str]:
    """Means, and paired differences to the reference with their standard errors."""
    mine = [row for row in rows if row["task"] == task]
    at = sorted({row["answers"] for row in mine})
    people = len({row["seed"] for row in mine})
    yield f"\n{task}: value of what is reported, {people} simulated users; in brackets, minus {reference}"
    yield f"{'questions':24s}" + "".join(f"{answers:>22d}" for answers in at)
    for function in functions_of(mine):
        yield f"{function:24s}" + "".join(f"{_cell(mine, function, reference, n):>22s}" for n in at)


def _cell(rows: Sequence[Row], function: str, reference: str, answers: int) -> str:
    own = values(rows, "value", answers=answers, acquisition=function)
    mean, _ = mean_and_error(own.values())
    if function == reference:
        return f"{mean:.3f}"
    gain, error = paired_difference(own, values(rows, "value", answers=answers, acquisition=reference))
    return f"{mean:.3f} ({gain:+.3f}±{error:.3f})"


def draw(path: Path, rows: Sequence[Row], tasks: Sequence[str]) -> None:
    """A panel for each task, means with standard errors."""
    figure, axes = new_figure(len(tasks), width=2.9)
    for axis, task in zip(axes, tasks, strict=True):
        _draw(axis, [row for row in rows if row["task"] == task])
        style_axis(axis, xlabel="questions", title=task)
    axes[0].set_ylabel("value of the reported trajectory")
    handles = axes[0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside lower center", ncols=len(handles[0]), frameon=False, fontsize=8)
    path.parent.mkdir(parents=True, exist_ok=True)
    save_figure(figure, path)


def _draw(axis: Any, rows: Sequence[Row]) -> None:
    at = sorted({row["answers"] for row in rows})
    for place, function in enumerate(functions_of(rows)):
        found = [mean_and_error(values(rows, "value", answers=n, acquisition=function).values()) for n in at]
        means, errors = zip(*found, strict=True)
        color = COLORS[place % len(COLORS)]
        axis.errorbar(at, means, errors, color=color, linewidth=1.6, capsize=2, label=function)


def _parser() -> argparse.ArgumentParser:
    parser = row_parser("best-trajectory", __doc__, people=20)
    add = parser.add_argument
    add("--tasks", nargs="+", default=list(TASKS), metavar="TASK", help=f"of {', '.join(TASKS)}, and others")
    add_functions(parser, FUNCTIONS)
    add("--out", type=Path, default=Path("results/best-trajectory.png"), help="where the plot goes")
    return parser


def main(argv: Sequence[str] | None = None) -> None:
    options = _parser().parse_args(argv)
    wanted = jobs_of(options)
    rows = measured(options, wanted, work).of(wanted)
    tasks = [task for task in options.tasks if any(row["task"] == task for row in rows)]
    for task in tasks:
        print("\n".join(table(rows, task, options.functions[0])), flush=True)
    draw(options.out, rows, tasks)
    print(f"\nsaved {options.out} and {options.rows}")


if __name__ == "__main__":
    main()
