"""Reasons beside answers: what truthful ones save, and what wrong ones cost.

Simulated users answer chosen questions, and then name one of the three features that they are offered:

    none      nothing is named
    truthful  the feature that speaks most for the better one, if one does
    random    any of the three
    wrong     the feature that speaks most against it, if one does, so that its direction is the wrong one

A feature speaks for a trajectory by how much the reward of the other one rises with its value, averaged over
both. Measured is the accuracy on the test set's pairs, with the same users as `prior_knowledge`.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from benchmarks.learning.prior_knowledge import TASKS, jobs_of, task_of
from benchmarks.rows import Job, Row, labelled, mean_and_error, measured, row_parser
from prefero._support.arrays import Array
from prefero.learner import Learner
from prefero.learner.reasons import offered_reasons
from prefero.questions import Answer
from prefero.simulation.tasks import Task, accuracy_of

CONDITIONS = ("none", "truthful", "random", "wrong")
AT = (5, 10, 15, 20)


def reason(task: Task, answer: Answer, condition: str, rng: np.random.Generator) -> str:
    """The feature that a user names; "" for none."""
    offered = [one.feature for one in offered_reasons(answer, task.pool)]
    if condition == "none" or not offered:
        return ""
    if condition == "random":
        return str(rng.choice(offered))
    sign = 1.0 if condition == "truthful" else -1.0
    speaks = [sign * speaks_for(task, answer, task.pool.names.index(name)) for name in offered]
    return offered[int(np.argmax(speaks))] if max(speaks) > 0 else ""


def speaks_for(task: Task, answer: Answer, feature: int) -> float:
    """How much a feature alone makes the chosen trajectory better."""
    assert answer.chosen_pair is not None
    both: Array = task.pool.scaled[list(answer.chosen_pair)]
    exchanged = both.copy()
    exchanged[:, feature] = both[::-1, feature]
    (better, worse), (spoiled, improved) = task.user.reward(both), task.user.reward(exchanged)
    return float(better - spoiled + improved - worse) / 2


def work(job: Job) -> list[Row]:
    """One simulated user: the accuracy after some numbers of answers."""
    task = task_of(job["task"], job["seed"])
    learner, rng = Learner(task.pool, seed=job["seed"]), np.random.default_rng([job["seed"], 1])
    naming, found = np.random.default_rng([job["seed"], 2]), []
    for number in range(1, job["questions"] + 1):
        question = learner.ask()
        left, right = task.pool.scaled[[question.left, question.right]]
        answer = Answer(question, task.user.answer(left, right, rng))
        because = reason(task, answer, job["condition"], naming)
        learner.tell(question, answer.choice, because=because)
        if number in AT:
            accuracy = accuracy_of(learner.reward(), task)
            found.append({"answers": number, "accuracy": accuracy, "because": because})
    return found


def table(rows: Sequence[Row]) -> Iterator[str]:
    """The mean accuracy of each condition, and how it differs from that without reasons."""
    yield f"{'':12s}" + "".join(f"{f'after {number}':>26s}" for number in AT)
    accuracy = {(row["condition"], row["answers"], row["task"], row["seed"]): row["accuracy"] for row in rows}
    users = sorted({(row["task"], row["seed"]) for row in rows})
    for condition in dict.fromkeys(row["condition"] for row in rows):
        cells = []
        for number in sorted({row["answers"] for row in rows}):
            own = [accuracy[condition, number, *user] for user in users]
            gain, error = mean_and_error(
                one - accuracy["none", number, *user] for one, user in zip(own, users, strict=True)
            )
            cells.append(f"{np.mean(own):10.3f} {gain:+.3f} +-{error:.3f}")
        yield f"{condition:12s}" + "".join(f"{cell:>26s}" for cell in cells)


def main(argv: Sequence[str] | None = None) -> None:
    parser = row_parser("reasons", __doc__, people=8)
    parser.add_argument("--tasks", nargs="+", default=list(TASKS[:4]), choices=TASKS, metavar="TASK")
    parser.add_argument("--conditions", nargs="+", default=list(CONDITIONS), choices=CONDITIONS)
    parser.add_argument("--questions", type=int, default=20, help="of each user (default: 20)")
    options = parser.parse_args(argv)
    rows = labelled(options, measured(options, jobs_of(options), work).rows)
    for task in options.tasks:
        print(f"\n{task}", *table([row for row in rows if row["task"] == task]), sep="\n")
    print("\nall tasks", *table(rows), sep="\n")


if __name__ == "__main__":
    main()
