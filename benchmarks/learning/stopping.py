"""When to stop: how often the intervals of the progress hold, and what stopping by it saves and costs.

Simulated people with noise .03 to 1 and lapses of 0 to .1 answer questions about pools as users have them,
chosen ones (the default) and random ones; those of the task "people 6" are like real people instead. What is
measured is the share of a person's answers to all pairs of the pool that are predicted, which
`Learner.progress` estimates:

    coverage    how often its 90 % interval holds the share
    gain        what five more answers were expected to add, and what they did add
    rule        stop at the first answer after which a goal is expected to be reached (`--until`), compared
                with stopping after a fixed number of questions

`--fit` prints the numbers of `prefero.models.explain.learning_progress` that suit the measured people best,
and how often the intervals of each task hold if the numbers are fitted to the other tasks. Those of the
package were fitted to seeds 0 to 3 and 1000 to 1003; people with other seeds are new to it.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import brentq, minimize
from scipy.special import logit

from benchmarks.evaluation import learner_for, teach
from benchmarks.rows import Job, Row, labelled, measured, row_parser, seeds_of
from benchmarks.tasks import golf_course, is_of_people, task_named
from prefero import worlds
from prefero._support.arrays import Array, Flags
from prefero.models.explain.learning_progress import AHEAD, CORRECTION, Correction
from prefero.models.explain.predictive_accuracy import accuracy_draws
from prefero.models.posterior.gaussian import Distribution
from prefero.models.posterior.mixture import ENOUGH_ANSWERS
from prefero.pools.pool import Pool
from prefero.simulation.like_people import traits_of
from prefero.simulation.tasks import Task, predicted_fraction, with_errors, world_task
from prefero.simulation.test_sets import TestSet
from prefero.simulation.users import SimulatedUser, on_targets, with_unit_std

ROBOTS, KINDS = ("driver", "tosser"), ("linear", "quadratic")
TASKS = (
    "heavy-tails",
    "golf",
    "bumps",
    *(f"{world}-{kind}" for world in ROBOTS for kind in KINDS),
    "people 6",
)
TRAJECTORIES = 250  # of each pool, about: a large one takes longer and shows the same
POOLS = 4  # of each robot
NOISES, LAPSES = (0.1, 0.3, 0.03, 1.0), (0.0, 0.05, 0.1)
CHOSEN, RANDOM = "chosen", "random"
STRATEGIES = {CHOSEN: "default", RANDOM: "random"}
AFTER_RANDOM = (5, 10, 20, 25, 40)  # answers to random questions
Runs = dict[tuple[object, ...], list[Row]]
GAINS = (0.03, 0.02, 0.01)
GOALS = (0.7, 0.75, 0.8, 0.85, 0.9, 0.95)


# --- the people -----------------------------------------------------------------------------------------


class Person(NamedTuple):
    """How a simulated user errs."""

    noise: float
    lapse_rate: float


def person_of(task: str, seed: int) -> Person:
    """Every noise and every lapse rate in turn: twelve seeds in a row have each pair of them once.

    People who are like real ones have their own.
    """
    if is_of_people(task):
        return Person(*traits_of(seed)[1:])
    return Person(NOISES[seed % 4], LAPSES[(seed // 4 + seed) % 3])


def small_task(name: str, seed: int) -> Task:
    """A task about few trajectories, and of a robot about one of a few pools, which are simulated once."""
    world, _, kind = name.partition("-")
    if world == "golf":
        task = golf(seed)
    elif world in ROBOTS:
        pool_seed = seed % POOLS
        task = world_task(
            worlds.make(world),
            kind,
            trajectories=TRAJECTORIES,
            seed=seed,
            pool_seed=pool_seed,
            progress=False,
        )
    else:
        task = _part_of(task_named(name, seed))
    return replace(task, user=with_errors(task.user, *person_of(name, seed)))


def golf(seed: int) -> Task:
    """Shots on a grid; the reward needs only their features, so that none is simulated."""
    world, rng = golf_course(), np.random.default_rng([seed, 4])
    pool = Pool.simulate(world, TRAJECTORIES, sampling="grid", when="later", cache=False)
    targets = np.stack([target.position for target in world.targets])
    score = on_targets(targets, 2.0 + rng.permutation(len(targets)).astype(float))
    reward = with_unit_std(
        lambda x: score(world.predict_ball_positions(pool.scaling.inverse(x))), pool.scaled
    )
    test_set = TestSet.of(pool.features[:2], reward(pool.scaled[:2]))  # the share is of the pool's own pairs
    return Task("targets", pool, SimulatedUser(reward), test_set)


def _part_of(task: Task) -> Task:
    """The same task about some of its trajectories."""
    step = len(task.pool) // TRAJECTORIES
    pool, whole, reward = Pool(task.pool.features[::step]), task.pool.scaling, task.user.reward
    own = with_unit_std(lambda x: reward(whole(pool.scaling.inverse(x))), pool.scaled)
    return replace(task, pool=pool, user=replace(task.user, reward=own))


def work(job: Job) -> list[Row]:
    """One simulated user: what the posterior claims, and the truth.

    After each answer from the fifth on; where questions are random, after a few numbers of them.
    """
    task, seed = small_task(job["task"], job["seed"]), job["seed"]
    acquisition, every = STRATEGIES[job["strategy"]], range(ENOUGH_ANSWERS, job["questions"] + 1)
    learner = learner_for(task, seed, acquisition=acquisition)
    numbers = [n for n in AFTER_RANDOM if n in every] if job["strategy"] == RANDOM else every
    return [
        {"answers": answers, "share": predicted_fraction(learner.reward(), task)}
        | _claims(learner.belief(), task.pool.scaled, answers)
        for answers in teach(task, learner, acquisition, numbers, seed)
    ]


def _claims(belief: Distribution, x: Array, answers: int) -> Row:
    """The variance after every fifth answer alone, since intervals of successive ones are nearly the same."""
    draws = accuracy_draws(belief, x)
    variance = None if answers % AHEAD else draws.variance_of_log_odds
    return {"claim": draws.mean, "variance": variance, "room": draws.room}


def jobs_of(options: argparse.Namespace) -> list[Job]:
    """One person after the other, so that an interrupted measurement has some of every task."""
    seeds = seeds_of(options)
    return [
        {"label": options.label, "task": task, "strategy": strategy, "questions": options.questions}
        | {"seed": seed}
        for seed in seeds
        for task in options.tasks
        for strategy in options.strategies
    ]


def runs_of(rows: Sequence[Row]) -> Runs:
    """The rows of each person and strategy, in the order of the answers."""
    found: Runs = {}
    for row in sorted(rows, key=lambda row: row["answers"]):
        found.setdefault((row["task"], row["strategy"], row["seed"]), []).append(row)
    return found


# --- the intervals --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Checked:
    """Rows at every fifth answer, as columns: the claims, the truth, and what five more answers brought."""

    answers: Array
    share: Array
    claim: Array
    variance: Array
    room: Array
    brought: Array  # NaN after the last answers

    def only(self, chosen: Flags) -> "Checked":
        return Checked(**{name: column[chosen] for name, column in vars(self).items()})

    @property
    def followed(self) -> "Checked":
        """Those where five more answers were given."""
        return self.only(~np.isnan(self.brought))


def checked(rows: Sequence[Row]) -> Checked:
    at = {(row["task"], row["strategy"], row["seed"], row["answers"]): row["share"] for row in rows}
    later = [at.get((row["task"], row["strategy"], row["seed"], row["answers"] + AHEAD)) for row in rows]
    pairs = zip(rows, later, strict=True)
    brought = np.array([np.nan if after is None else after - row["share"] for row, after in pairs])
    names = ("answers", "share", "claim", "variance", "room")
    columns = {name: np.array([row[name] for row in rows], dtype=float) for name in names}
    return Checked(**columns, brought=brought).only(~np.isnan(columns["variance"]))


def interval_of(correction: Correction, rows: Checked) -> tuple[Array, Array]:
    pairs = zip(rows.claim, rows.variance, strict=True)
    low, high = zip(*(correction.interval(float(claim), float(var)) for claim, var in pairs), strict=True)
    return np.array(low), np.array(high)


def expected_gains(correction: Correction, rows: Checked) -> Array:
    return np.array([correction.gain(int(n), r) for n, r in zip(rows.answers, rows.room, strict=True)])


def coverage_line(name: str, rows: Checked, correction: Correction) -> str:
    """How often the interval holds, its width, the error of the expectation, and the gains."""
    low, high = interval_of(correction, rows)
    expected = np.array([correction.accuracy(float(claim)) for claim in rows.claim])
    gains, brought = expected_gains(correction, rows.followed), rows.followed.brought
    return (
        f"{name:20s}{len(rows.share):7d}{np.mean((low <= rows.share) & (rows.share <= high)):9.2f}"
        f"{np.mean(high - low):8.2f}{np.mean(rows.share):8.3f}{np.mean(expected - rows.share):+9.3f}"
        f"{np.mean(np.abs(expected - rows.share)):8.3f}"
        + (f"{np.mean(gains):10.3f}{np.mean(brought):9.3f}" if len(brought) else "")
    )


COVERAGE_HEAD = (
    f"{'':20s}{'claims':>7s}{'covered':>9s}{'width':>8s}{'share':>8s}{'error':>9s}{'|error|':>8s}"
    f"{'expected':>10s}{'brought':>9s}"
)


def coverage_table(rows: Sequence[Row], correction: Correction) -> Iterator[str]:
    """By the number of answers, task, the person's noise and lapse rate, and who chose the questions."""
    yield COVERAGE_HEAD
    found = checked(rows)
    for name, keys in groups(rows).items():
        for key in dict.fromkeys(sorted(keys)):
            own = found.only(np.array([one == key for one in keys]))
            yield coverage_line(f"{name} {key}".strip(), own, correction)
    yield coverage_line("all", found, correction)


def groups(rows: Sequence[Row]) -> dict[str, list[Any]]:
    """What the rows with a whole claim are grouped by, a list of keys each."""
    whole = [row for row in rows if row["variance"] is not None]
    people = [person_of(row["task"], row["seed"]) for row in whole]
    return {
        "answers": [row["answers"] for row in whole],
        "": [row["task"] for row in whole],
        "noise": [person.noise for person in people],
        "lapses": [person.lapse_rate for person in people],
        "questions": [row["strategy"] for row in whole],
    }


def fit(rows: Checked) -> Correction:
    """The correction under which the shares of these people are most probable, and the gains fit best."""
    z, claimed = logit(rows.share), logit(rows.claim)

    def loss(free: Array) -> float:
        variance = np.exp(2 * free[2]) * rows.variance + np.exp(2 * free[3])
        return float(np.mean((z - free[0] - free[1] * claimed) ** 2 / variance + np.log(variance)))

    shift, slope, stretch, extra = minimize(loss, [0.0, 1.0, 0.0, -1.0], method="Nelder-Mead").x
    return Correction(
        float(shift), float(slope), float(np.exp(stretch)), float(np.exp(extra)), rate_of(rows.followed)
    )


def rate_of(rows: Checked) -> float:
    """The rate with which the expected gains add up to those that five answers brought."""

    def missing(rate: float) -> float:
        return float(np.sum(expected_gains(Correction(0, 1, 1, 0, rate), rows)) - np.sum(rows.brought))

    least, most = 0.01, 3.0
    if missing(least) > 0 or missing(most) < 0:
        return least if missing(least) > 0 else most
    return float(brentq(missing, least, most, xtol=1e-3))


def held_out(rows: Sequence[Row]) -> Iterator[str]:
    """Each task with a correction that was fitted to the people of the other tasks."""
    for task in dict.fromkeys(row["task"] for row in rows):
        others = fit(checked([row for row in rows if row["task"] != task]))
        yield coverage_line(task, checked([row for row in rows if row["task"] == task]), others)


# --- the rule -------------------------------------------------------------------------------------------


class Stopped(NamedTuple):
    """What a rule does on average over people.

    questions   asked, all of them where the rule does not stop
    share       of answers predicted at the end
    stopped     the part of the people that the rule stopped
    then, last  their share when they were stopped, and after all questions
    """

    name: str
    questions: float
    share: float
    stopped: float
    then: float
    last: float


def stop_at_goal(runs: Runs, goal: float, correction: Correction) -> Stopped:
    """At the first answer with this expected accuracy."""
    return stop(f"until {goal:g}", runs, lambda row: correction.accuracy(row["claim"]) >= goal)


def stop_at_gain(runs: Runs, least: float, correction: Correction) -> Stopped:
    """When five more answers are expected to add less than this; looked at after every fifth answer."""

    def small(row: Row) -> bool:
        return row["room"] is not None and correction.gain(row["answers"], row["room"]) < least

    return stop(f"gain below {least:g}", runs, small)


def stop_at_number(runs: Runs, number: int) -> Stopped:
    return stop(f"after {number}", runs, lambda row: row["answers"] == number)


def stop(name: str, runs: Runs, stops: Callable[[Row], bool]) -> Stopped:
    """Everybody stops at the first answer after which the rule says so, or after the last question."""
    found = [(next((row for row in run if stops(row)), None), run[-1]) for run in runs.values()]
    ends = [row or last for row, last in found]
    early = [(row["share"], last["share"]) for row, last in found if row is not None]
    then, last = np.mean(early, axis=0) if early else (np.nan, np.nan)
    questions, share = (float(np.mean([row[column] for row in ends])) for column in ("answers", "share"))
    return Stopped(name, questions, share, len(early) / len(found), float(then), float(last))


def fixed_curve(runs: Runs) -> list[Stopped]:
    """Stopping after each number of questions."""
    numbers = [row["answers"] for row in next(iter(runs.values()))]
    return [stop_at_number(runs, number) for number in numbers]


RULE_HEAD = (
    f"{'rule':18s}{'questions':>11s}{'saved':>8s}{'share':>8s}{'lost':>8s}{'fixed':>8s}{'better by':>11s}"
    f"{'stopped':>9s}{'then':>8s}{'last':>8s}"
)


def rule_table(runs: Runs, correction: Correction) -> Iterator[str]:
    """Each rule beside stopping everybody after the same average number of questions."""
    fixed = fixed_curve(runs)
    at, shares = [one.questions for one in fixed], [one.share for one in fixed]
    end = fixed[-1]
    yield RULE_HEAD
    for one in [*rules(runs, correction), end]:
        same = float(np.interp(one.questions, at, shares))
        yield (
            f"{one.name:18s}{one.questions:11.1f}{end.questions - one.questions:8.1f}{one.share:8.3f}"
            f"{end.share - one.share:8.3f}{same:8.3f}{one.share - same:+11.3f}"
            f"{one.stopped:9.2f}{one.then:8.3f}{one.last:8.3f}"
        )


def rules(runs: Runs, correction: Correction) -> list[Stopped]:
    by_goal = [stop_at_goal(runs, goal, correction) for goal in GOALS]
    return [*by_goal, *(stop_at_gain(runs, least, correction) for least in GAINS)]


# --- the command ------------------------------------------------------------------------------------------


def _parser() -> argparse.ArgumentParser:
    parser = row_parser("stopping", __doc__, people=12)
    parser.set_defaults(first_seed=4)
    parser.add_argument("--tasks", nargs="+", default=list(TASKS), metavar="TASK", help="which tasks")
    parser.add_argument("--questions", type=int, default=40, help="of each person, at most (default: 40)")
    parser.add_argument(
        "--strategies", nargs="+", default=list(STRATEGIES), choices=STRATEGIES, help="who chooses questions"
    )
    parser.add_argument("--fit", action="store_true", help="print the correction that suits these people")
    return parser


def main(argv: Sequence[str] | None = None) -> None:
    options = _parser().parse_args(argv)
    rows = labelled(options, measured(options, jobs_of(options), work).rows)
    if options.fit:
        print(fit(checked(rows)), "\neach task, fitted to the others", sep="\n")
        print("\n".join([COVERAGE_HEAD, *held_out(rows)]), end="\n\n")
    print("\n".join(coverage_table(rows, CORRECTION)))
    runs = runs_of([r for r in rows if r["strategy"] == CHOSEN and r["questions"] == options.questions])
    if runs:
        print(f"\nchosen questions, {len(runs)} people")
        print("\n".join(rule_table(runs, CORRECTION)))


if __name__ == "__main__":
    main()
