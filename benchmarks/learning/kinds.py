"""Kinds of questions by the time that they take: what pairs, labels and "auto" teach in so many seconds.

    seconds    of an answer: `prefero.questions.answer_times.usual_seconds`, the law that "auto" begins with
    cost       processor time of choosing questions and of fitting, relative to that of pairs in the same run

Simulated users answer for three minutes, which is 30 pairs. The table has the accuracy after one third, two
thirds and all of the time, and when each method first reaches what pairs reach at the end, as means over
tasks and users.
"""

import argparse
import time
from collections.abc import Sequence

import numpy as np

from benchmarks.rows import Job, Row, labelled, mean_and_error, measured, row_parser, seeds_of
from benchmarks.tasks import TASKS, task_named
from prefero import Learner
from prefero._support.arrays import Array
from prefero.plots.tables import markdown_table
from prefero.questions.answer_times import usual_seconds
from prefero.simulation.tasks import accuracy_of

LONG = 180.0  # seconds
EVERY = 6.0  # seconds: how often accuracies are compared
METHODS = ("pair", "success", "rate-5", "auto")
SHOWN = ("people 3", "people 6")


def work(job: Job) -> list[Row]:
    """One user, asked by one method, answer by answer."""
    task, rng = task_named(job["task"], job["seed"]), np.random.default_rng([job["seed"], 29])
    learner, clock, rows, cost = Learner(task.pool, seed=job["seed"]), 0.0, [], 0.0
    while clock < job["seconds"]:
        started = time.process_time()
        question = learner.ask(kind=job["method"])
        cost += time.process_time() - started
        seconds = usual_seconds(question.kind)
        clock += seconds
        learner.tell(question, task.user.answer_question(question, task.pool.scaled, rng), seconds=seconds)
        accuracy = accuracy_of(learner.reward(), task)
        rows.append({"clock": clock, "accuracy": accuracy, "kind": question.kind, "cost": cost})
    return rows


def curve(rows: Sequence[Row], times: Array) -> Array:
    """The accuracy of one user at these times."""
    found = np.interp(times, [row["clock"] for row in rows], [row["accuracy"] for row in rows])
    return np.asarray(found)


def table(rows: Sequence[Row], options: argparse.Namespace) -> str:
    """A row for each method."""
    times = np.arange(2 * EVERY, options.seconds + 0.5 * EVERY, EVERY)
    users = [(task, seed) for task in options.tasks for seed in seeds_of(options)]

    def own(method: str, task: str, seed: int) -> list[Row]:
        return [row for row in rows if (row["method"], row["task"], row["seed"]) == (method, task, seed)]

    curves = {one: np.array([curve(own(one, *user), times) for user in users]) for one in options.methods}
    costs = {
        one: np.mean([own(one, *user)[-1]["cost"] / len(own(one, *user)) for user in users])
        for one in options.methods
    }
    goal = float(curves["pair"].mean(axis=0)[-1])
    lines = []
    for one, each in curves.items():
        reached = np.flatnonzero(each.mean(axis=0) >= goal)
        places = (len(times) * np.array([1, 2, 3]) // 3 - 1).tolist()
        shown = [_with_error(each[:, place]) for place in places]
        when = f"{times[reached[0]]:.0f} s" if len(reached) else "not reached"
        fraction = np.mean([row["kind"] == "pair" for row in rows if row["method"] == one])
        lines.append([one, *shown, when, f"{fraction:.2f}", f"{costs[one] / costs['pair']:.2f}"])
    head = "asked", "1/3", "2/3", "end", "pairs' last accuracy after", "of which pairs", "cost of a question"
    return markdown_table(head, lines)


def _with_error(values: Array) -> str:
    mean, error = mean_and_error(values)
    return f"{mean:.3f} +- {error:.3f}"


def main(argv: Sequence[str] | None = None) -> None:
    parser = row_parser("kinds", __doc__, people=6)
    parser.add_argument("--tasks", nargs="+", default=SHOWN, help=f"of {', '.join(TASKS)}, people N, ...")
    parser.add_argument("--methods", nargs="+", default=METHODS, help='kinds; "pair,success" asks for both')
    parser.add_argument("--seconds", type=float, default=LONG, help=f"of every user (default: {LONG:.0f})")
    options = parser.parse_args(argv)
    jobs: list[Job] = [
        {"label": options.label, "task": task, "seed": seed, "method": method, "seconds": options.seconds}
        for task in options.tasks
        for seed in seeds_of(options)
        for method in options.methods
    ]
    file = measured(options, jobs, work)
    print(table(labelled(options, file.rows), options))


if __name__ == "__main__":
    main()
