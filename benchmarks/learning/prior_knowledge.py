"""What is known before the first question: what it saves, and what it costs if it is wrong.

Simulated users answer chosen questions, beginning with nothing, or with one source of what is known already:

    demonstrations  five trajectories from outside the pool, each the best of many as the demonstrator sees
                    them: "good", "clumsy" and "poor" demonstrators see fewer and err more; an "adversarial"
                    one shows the worst
    corrections     five pairs in which a person did better than a policy, or ("adversarial") worse
    direction       of the feature that matters most: right, or ("wrong") the other way round
    score           a column that correlates so much with the true reward; -.9 is adversarial
    judge           answers 60 pairs first. So many of its answers are right, and its errors are of taste: it
                    has another reward, of the same kind, that agrees so often; 10 % is adversarial
    both            good demonstrations, and a judge of 75 %

Measured are the accuracy on the test set's pairs after some numbers of answers, and after how many answers
it first is .85 and .9. Each row of the table is compared with the same users who begin with nothing.
"Trusted" is how often `Learner.sources` trusts the source after the last answer. `--figure` draws some
conditions.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq

from benchmarks.evaluation import random_pair
from benchmarks.rows import Job, Row, labelled, mean_and_error, measured, row_parser, seeds_of
from benchmarks.tasks import other_trajectories, world_named
from prefero._support.arrays import Array
from prefero._support.optional import need
from prefero.learner import Learner
from prefero.questions.prior_knowledge import Judgements
from prefero.simulation.tasks import Task, accuracy_of, world_task
from prefero.simulation.users import REWARD_KINDS, SimulatedUser, with_unit_std

TASKS = ("driver-linear", "driver-quadratic", "tosser-linear", "tosser-quadratic", "golf-targets")
TRAJECTORIES, POOLS = 500, 4
AT = (0, 5, 10, 15, 20)
GOALS = (0.85, 0.9)
NOTHING, BOTH = "nothing", "demonstrations good, judge 0.75"


class Demonstrator(NamedTuple):
    """Shows the best of some trajectories, seen with noise; in units of the reward."""

    seen: int
    noise: float
    sign: float = 1.0


DEMONSTRATORS = {
    "good": Demonstrator(200, 0.1),
    "clumsy": Demonstrator(30, 0.5),
    "poor": Demonstrator(6, 1.0),
    "adversarial": Demonstrator(200, 0.1, -1.0),
}
DEMONSTRATIONS, CORRECTIONS, JUDGED = 5, 5, 60
CORRECTED = {"right": 1.0, "adversarial": -1.0}
DIRECTIONS = {"right": 1.0, "wrong": -1.0}
SCORES = (0.0, 0.5, 0.9, -0.9)
JUDGES = (0.6, 0.75, 0.9, 0.1)
CONDITIONS = (
    NOTHING,
    *(f"demonstrations {name}" for name in DEMONSTRATORS),
    *(f"corrections {name}" for name in CORRECTED),
    *(f"direction {name}" for name in DIRECTIONS),
    *(f"score {correlation:g}" for correlation in SCORES),
    *(f"judge {accuracy:g}" for accuracy in JUDGES),
    BOTH,
)
DRAWN = (NOTHING, "demonstrations good", "judge 0.75", BOTH)


# --- the users ----------------------------------------------------------------------------------------------


def task_of(name: str, seed: int) -> Task:
    """A robot of the paper; a few pools, which are simulated once."""
    world, _, kind = name.partition("-")
    return world_task(
        world_named(world),
        kind,
        trajectories=TRAJECTORIES,
        seed=seed,
        pool_seed=seed % POOLS,
        progress=False,
    )


def with_score(task: Task, correlation: float, rng: np.random.Generator) -> Task:
    """The task with a score as one more feature, of the pool and of the test set; the reward ignores it."""
    features, test = task.pool.features, task.test_set.features
    reward, scaling = task.user.reward, task.pool.scaling
    truth = reward(scaling(np.concatenate([features, test])))
    error = np.sqrt(1.0 - correlation**2) * rng.standard_normal(len(truth))
    score = correlation * (truth - truth.mean()) / truth.std() + error
    pool = task.pool.scored(score[: len(features)], "score")
    user = replace(task.user, reward=lambda x: reward(x[:, :-1]))
    wider = replace(task.test_set, features=np.column_stack([test, score[len(features) :]]))
    return replace(task, pool=pool, user=user, test_set=wider)


# --- what is known ------------------------------------------------------------------------------------------


def learner_with(task: Task, name: str, condition: str, seed: int) -> tuple[Task, Learner]:
    """A learner that knows what the condition says, and the task, which has one more feature with a score."""
    rng = np.random.default_rng([seed, 5, *condition.encode()])
    if condition.startswith("score "):
        task = with_score(task, float(condition.removeprefix("score ")), rng)
    learner = Learner(task.pool, seed=seed)
    for one in condition.split(", "):
        tell_what_is_known(learner, task, name, one, rng)
    return task, learner


def tell_what_is_known(
    learner: Learner, task: Task, name: str, condition: str, rng: np.random.Generator
) -> None:
    """From one source; a score is in the pool already."""
    source, _, how = condition.partition(" ")
    telling: dict[str, Callable[[], None]] = {
        "demonstrations": lambda: demonstrate(learner, task, name, DEMONSTRATORS[how], rng),
        "corrections": lambda: correct(learner, task, CORRECTED[how], rng),
        "direction": lambda: direct(learner, task, DIRECTIONS[how]),
        "judge": lambda: let_judge(learner, task, float(how), rng),
    }
    if source in telling:
        telling[source]()


def demonstrate(learner: Learner, task: Task, name: str, who: Demonstrator, rng: np.random.Generator) -> None:
    """Demonstrations, each the best of different trajectories."""
    rows = other_trajectories(name.partition("-")[0])
    seen = who.sign * task.user.reward(task.pool.scaling(rows))
    for _ in range(DEMONSTRATIONS):
        some = rng.choice(len(rows), who.seen, replace=False)
        impressions = seen[some] + who.noise * rng.standard_normal(who.seen)
        learner.demonstrate(rows[some[np.argmax(impressions)]])


def correct(learner: Learner, task: Task, sign: float, rng: np.random.Generator) -> None:
    """What a person did instead of what a policy did; a policy is worse in most of its places."""
    for _ in range(CORRECTIONS):
        pair = rng.choice(len(task.pool), 2, replace=False)
        order = np.argsort(sign * task.user.reward(task.pool.scaled[pair]))
        worse, better = task.pool.features[pair[order]]
        learner.prefer(better, worse)


def direct(learner: Learner, task: Task, sign: float) -> None:
    """The direction of the feature that goes along with the reward most."""
    truth = task.user.reward(task.pool.scaled)
    along = np.array([np.corrcoef(column, truth)[0, 1] for column in task.pool.scaled.T])
    most = int(np.argmax(np.abs(along)))
    learner.know(task.pool.names[most], "higher" if sign * along[most] > 0 else "lower")


def let_judge(learner: Learner, task: Task, accuracy: float, rng: np.random.Generator) -> None:
    """A judge's answers to random pairs."""
    user, pairs = judge_like(task, accuracy, rng), np.empty((JUDGED, 2), dtype=np.intp)
    for number in range(JUDGED):
        question = random_pair(task, rng)
        left, right = task.pool.scaled[[question.left, question.right]]
        pair = question.left, question.right
        pairs[number] = pair if user.answer(left, right, rng) == "left" else pair[::-1]
    better, worse = task.pool.features[pairs.T]
    learner.judge(Judgements("a model", better, worse, np.zeros(JUDGED, dtype=bool)))


def judge_like(task: Task, accuracy: float, rng: np.random.Generator) -> SimulatedUser:
    """Somebody whose taste agrees with the user's in so many pairs."""
    x, own = task.pool.scaled, task.user.reward
    kind = task.kind if task.kind in REWARD_KINDS else "bumpy"
    other = with_unit_std(REWARD_KINDS[kind](x.shape[1], rng), x)
    sign, wanted = (1.0, accuracy) if accuracy >= 0.5 else (-1.0, 1.0 - accuracy)
    mine, theirs = own(x), other(x)
    agrees = np.corrcoef(mine, theirs)[0, 1]
    residual = theirs - agrees * mine  # no part of the user's reward, so that mixing always moves agreement

    def mixed(share: float) -> Array:
        blend: Array = share * mine + np.sqrt(1.0 - share**2) * residual / residual.std()
        return blend

    def excess(share: float) -> float:
        return _agreement(mine, mixed(share)) - wanted

    share = float(brentq(excess, 0.0, 1.0)) if excess(0.0) < 0 else 0.0
    scale = np.sqrt(1.0 - share**2) / residual.std()
    return SimulatedUser(
        lambda z: sign * (share * own(z) + scale * (other(z) - agrees * own(z))), task.user.noise
    )


def _agreement(one: Array, other: Array) -> float:
    first, second = np.random.default_rng(0).integers(len(one), size=(2, 4000))
    return float(np.mean((one[first] > one[second]) == (other[first] > other[second])))


# --- the sessions -------------------------------------------------------------------------------------------


def work(job: Job) -> list[Row]:
    """One simulated user: the accuracy after each number of answers."""
    task, learner = learner_with(
        task_of(job["task"], job["seed"]), job["task"], job["condition"], job["seed"]
    )
    rng = np.random.default_rng([job["seed"], 1])
    found = [{"answers": 0, "accuracy": accuracy_of(learner.reward(), task)}]
    for number in range(1, job["questions"] + 1):
        question = learner.ask()
        left, right = task.pool.scaled[[question.left, question.right]]
        learner.tell(question, task.user.answer(left, right, rng))
        found.append({"answers": number, "accuracy": accuracy_of(learner.reward(), task)})
    trusted = float(all(source.trusted for source in learner.sources()))
    return [row | {"trusted": trusted} for row in found]


def jobs_of(options: argparse.Namespace) -> list[Job]:
    return [
        {"label": options.label, "task": task, "condition": condition, "questions": options.questions}
        | {"seed": seed}
        for seed in seeds_of(options)
        for task in options.tasks
        for condition in options.conditions
    ]


# --- the table ----------------------------------------------------------------------------------------------


def table(rows: Sequence[Row], questions: int) -> Iterator[str]:
    """The mean accuracy of each condition, and how it differs from beginning with nothing."""
    at = [number for number in AT if number <= questions]
    head = "".join(f"{f'after {number}':>10s}" for number in at)
    yield (
        f"{'':28s}{head}"
        + "".join(f"{f'until {goal:g}':>12s}" for goal in GOALS)
        + f"{'last - nothing':>20s}{'trusted':>9s}"
    )
    curves = curves_of(rows)
    for condition in dict.fromkeys(condition for condition, _ in curves):
        own = {key: curve for (name, key), curve in curves.items() if name == condition}
        plain = {key: curves[NOTHING, key] for key in own if (NOTHING, key) in curves}
        means = np.mean([[curve[number] for number in at] for curve in own.values()], axis=0)
        until = [np.mean([first_at(curve, goal) for curve in own.values()]) for goal in GOALS]
        gain, error = mean_and_error(own[key][at[-1]] - plain[key][at[-1]] for key in plain)
        yield (
            f"{condition:28s}"
            + "".join(f"{mean:10.3f}" for mean in means)
            + "".join(f"{number:12.1f}" for number in until)
            + f"{gain:+12.3f} +-{error:.3f}"
            + f"{_trusted(rows, condition):9.2f}"
        )


def _trusted(rows: Sequence[Row], condition: str) -> float:
    """The fraction of users at whose end all sources are trusted."""
    return float(np.mean([row["trusted"] for row in rows if row["condition"] == condition]))


def draw(rows: Sequence[Row], path: Path) -> None:
    """The mean accuracies of the same users under some conditions, with standard errors."""
    figure, axes = need("matplotlib.pyplot", extra="plots").subplots(figsize=(7, 4), layout="constrained")
    curves = curves_of(rows)
    users = [user for name, user in curves if name == NOTHING and all((one, user) in curves for one in DRAWN)]
    for condition, words in zip(
        DRAWN, ("nothing", "five demonstrations", "a judge of 75 %", "both"), strict=True
    ):
        each = np.array([curves[condition, user] for user in users])
        mean, error = each.mean(axis=0), each.std(axis=0, ddof=1) / np.sqrt(len(each))
        axes.plot(mean, label=words)
        axes.fill_between(np.arange(len(mean)), mean - error, mean + error, alpha=0.2, linewidth=0)
    axes.set(xlabel="answers of the person", ylabel="accuracy", ylim=(0.45, 1.0), xlim=(0, each.shape[1] - 1))
    axes.set_xticks(np.arange(0, each.shape[1], 5))
    axes.legend(title="known before the first question", loc="lower right")
    figure.savefig(path, dpi=120)


def curves_of(rows: Sequence[Row]) -> dict[tuple[str, tuple[str, int]], Array]:
    """Accuracies by condition and user, after 0, 1, 2, ... answers."""
    found: dict[tuple[str, tuple[str, int]], list[tuple[int, float]]] = {}
    for row in rows:
        key = row["condition"], (row["task"], row["seed"])
        found.setdefault(key, []).append((row["answers"], row["accuracy"]))
    return {key: np.array([accuracy for _, accuracy in sorted(pairs)]) for key, pairs in found.items()}


def first_at(curve: Array, goal: float) -> int:
    """The number of answers after which the goal is first reached; one more than all if it is not."""
    reached = np.flatnonzero(curve >= goal)
    return int(reached[0]) if len(reached) else len(curve)


def main(argv: Sequence[str] | None = None) -> None:
    parser = row_parser("prior_knowledge", __doc__, people=4)
    parser.add_argument("--tasks", nargs="+", default=list(TASKS), choices=TASKS, metavar="TASK")
    parser.add_argument("--conditions", nargs="+", default=list(CONDITIONS), metavar="CONDITION")
    parser.add_argument("--questions", type=int, default=20, help="of each user (default: 20)")
    parser.add_argument("--figure", type=Path, help="draw the accuracies, of all tasks together")
    options = parser.parse_args(argv)
    rows = labelled(options, measured(options, jobs_of(options), work).rows)
    if options.figure is not None:
        draw(rows, options.figure)
    for task in dict.fromkeys(row["task"] for row in rows):
        print(f"\n{task}", *table([row for row in rows if row["task"] == task], options.questions), sep="\n")
    print("\nall tasks", *table(rows, options.questions), sep="\n")


if __name__ == "__main__":
    main()
