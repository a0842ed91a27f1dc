"""Acquisition functions compared: accuracy and log-likelihood after 5 to 40 questions, on many pools.

Every function has the same pools and the same simulated users, and the differences to the first one are
paired by user. Accuracy is the share of held-out pairs whose better trajectory is predicted, without noise;
the log-likelihood is of the same pairs. The rows of another version of the code are compared by their label:
measure with one version and `--label before`, then with the other and `--label after`, into the same file.
"""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.evaluation import evaluate, learner_for, teach
from benchmarks.rows import (
    Job,
    Row,
    add_functions,
    mean_and_error,
    measured,
    paired_difference,
    row_parser,
    seeds_of,
    values,
)
from benchmarks.tasks import TASKS, task_named
from prefero.plots.style import new_figure, save_figure, style_axis
from prefero.simulation.tasks import predicted_probabilities

CHECKPOINTS = (5, 10, 15, 20, 30, 40)
SHOWN = (5, 10, 15, 20, 40)
FUNCTIONS = ("mutual-information", "random", "predictive-information")
MEASURES = {"accuracy": "accuracy", "log_likelihood": "mean log-likelihood"}
COLORS = ("#0b6e99", "#b8860b", "#a0337a", "#2e8b57", "#d1662c", "#222222", "#6b3fa0")


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
    learner = learner_for(task, seed, job["model"], job["acquisition"])
    return [
        {"answers": answers, **evaluate(predicted_probabilities(learner.reward(), task.test_set), task)}
        for answers in teach(task, learner, job["acquisition"], checkpoints, seed)
    ]


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
    at = [answers for answers in SHOWN if any(row["answers"] == answers for row in mine)]
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


def draw(path: Path, rows: Sequence[Row], tasks: Sequence[str]) -> None:
    """Accuracy above, log-likelihood below; a panel for each task, means with standard errors."""
    figure, _ = new_figure(len(tasks), width=2.9, height=5.6)
    figure.clear()
    axes = figure.subplots(len(MEASURES), len(tasks), squeeze=False, sharex=True)
    for line, (column, label) in zip(axes, MEASURES.items(), strict=True):
        for axis, task in zip(line, tasks, strict=True):
            _draw(axis, [row for row in rows if row["task"] == task], column)
            style_axis(axis, **({"title": task} if column == "accuracy" else {"xlabel": "questions"}))
        line[0].set_ylabel(label)
    handles = axes[0][0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside lower center", ncols=3, frameon=False, fontsize=8)
    path.parent.mkdir(parents=True, exist_ok=True)
    save_figure(figure, path)


def _draw(axis: Any, rows: Sequence[Row], column: str) -> None:
    at = sorted({row["answers"] for row in rows})
    for place, series in enumerate(series_of(rows)):
        found = [mean_and_error(values(rows, column, answers=n, **series._asdict()).values()) for n in at]
        means, errors = zip(*found, strict=True)
        color = COLORS[place % len(COLORS)]
        axis.errorbar(at, means, errors, color=color, linewidth=1.6, capsize=2, label=str(series))


def _parser() -> argparse.ArgumentParser:
    parser = row_parser("acquisition-functions", __doc__, people=20)
    parser.add_argument(
        "--tasks", nargs="+", default=list(TASKS), metavar="TASK", help=f"of {', '.join(TASKS)}"
    )
    add_functions(parser, FUNCTIONS)
    parser.add_argument("--reference-label", metavar="LABEL", help="differences are to this label's rows")
    parser.add_argument(
        "--out", type=Path, default=Path("results/acquisition-functions.png"), help="where the plot goes"
    )
    return parser


def main(argv: Sequence[str] | None = None) -> None:
    options = _parser().parse_args(argv)
    every, seeds = measured(options, jobs_of(options), work).rows, seeds_of(options)
    rows = [row for row in every if row["task"] in options.tasks and row["seed"] in seeds]
    reference = Series(options.reference_label or options.label, options.model, options.functions[0])
    tasks = [task for task in options.tasks if any(row["task"] == task for row in rows)]
    for column in MEASURES:
        for task in tasks:
            print("\n".join(table(rows, task, column, reference)), flush=True)
    draw(options.out, rows, tasks)
    print(f"\nsaved {options.out} and {options.rows}")


if __name__ == "__main__":
    main()
