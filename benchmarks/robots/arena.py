"""How many comparisons an arena of seven policies takes to know their order, chosen and in a round robin.

even      strengths at equal distances, `--gap`: by default each policy wins 73% of comparisons with the next
normal    standard normal strengths, drawn again if two are nearer than 0.2 (58%), which nobody could tell
prior     normal strengths of a random standard deviation, however near: for the calibration of the stated 95%

needed    after so many answers the named order is right in 95% of the runs, and stays so
stopped   the arenas that ended with 95%: after how many answers, and in how many what they say is right
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed

from prefero._support.arrays import Array
from prefero.arena.arena import ArenaStrategy
from prefero.arena.plan import Goal
from prefero.arena.simulate import JudgeModel, SimulatedPolicies, simulate_arena

GAP, NEAREST = 0.6, 0.2
SURE = 0.98  # a run ends when the order is known so surely: it hardly changes afterwards
STRATEGIES: tuple[ArenaStrategy, ...] = ("active", "round-robin")


@dataclass(frozen=True)
class Run:
    """One simulated arena: whether the named order was right after so many answers, and when it stopped."""

    answers: tuple[int, ...]
    right: tuple[bool, ...]
    stopped: int | None  # None: 95% was not reached
    right_when_stopped: bool


def strengths(kind: str, count: int, rng: np.random.Generator, gap: float = GAP) -> Array:
    """True strengths of policies."""
    if kind == "even":
        return gap * rng.permutation(count).astype(float)
    std = 1.0 if kind == "normal" else float(np.exp(rng.uniform(np.log(0.25), np.log(2.0))))
    while True:
        drawn = std * rng.standard_normal(count)
        if kind == "prior" or np.diff(np.sort(drawn)).min() >= NEAREST:
            return drawn


def run(
    kind: str,
    count: int,
    strategy: ArenaStrategy,
    seed: int,
    *,
    goal: Goal = "order",
    judges: JudgeModel = "thurstone",
    margin: float = 0.0,
    questions: int = 600,
    gap: float = GAP,
    every: int = 1,
    until: float = SURE,
) -> Run:
    """Simulate an arena until its order is known with `until`."""
    true = strengths(kind, count, np.random.default_rng([seed, 2]), gap)
    policies = SimulatedPolicies(true, judges, margin)
    answers, right, stopped, right_then = [], [], None, False
    for standings in simulate_arena(
        policies, strategy, goal=goal, questions=questions, every=every, seed=seed
    ):
        answers.append(standings.answers)
        right.append(policies.is_right(standings))
        if stopped is None and standings.is_decided:
            stopped, right_then = standings.answers, right[-1]
        if stopped is not None and standings.confidence >= until:
            break
    return Run(tuple(answers), tuple(right), stopped, right_then)


def needed(runs: Sequence[Run], questions: int, share: float = 0.95) -> int | None:
    """The number of answers from which on the named order is right in this share of the runs."""
    right = np.zeros((len(runs), questions + 1), dtype=bool)
    for row, one in zip(right, runs, strict=True):
        for place, answers in enumerate(one.answers):
            row[answers:] = one.right[place]
    enough = right.mean(axis=0) >= share
    last_short = int(np.flatnonzero(~enough)[-1])
    return None if last_short == questions else last_short + 1


def report(name: str, runs: Sequence[Run], questions: int) -> None:
    """One line of the table."""
    ended = [one for one in runs if one.stopped is not None]
    right = sum(one.right_when_stopped for one in ended)
    counts = [one.stopped or 0 for one in ended] or [0]
    print(
        f"{name:24s} needed {needed(runs, questions) or f'over {questions}'!s:>9}   stopped {len(ended)} of "
        f"{len(runs)}, after {np.mean(counts):.0f} on average (median {np.median(counts):.0f}), "
        f"right in {right} ({right / max(len(ended), 1):.1%})",
        flush=True,
    )


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks arena",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--policies", type=int, default=7)
    parser.add_argument("--kinds", default="even,normal,prior")
    parser.add_argument("--strategies", default=",".join(STRATEGIES))
    parser.add_argument("--goal", default="order", choices=("order", "best"))
    parser.add_argument("--judges", default="thurstone", choices=("thurstone", "bradley-terry"))
    parser.add_argument("--margin", type=float, default=0.0, help="of ties")
    parser.add_argument("--gap", type=float, default=GAP, help="between strengths at equal distances")
    parser.add_argument("--every", type=int, default=1, help="look after so many answers")
    parser.add_argument(
        "--until", type=float, default=SURE, help="go on after the end, until it is known so surely"
    )
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--questions", type=int, default=600, help="the largest number of answers")
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args(argv)
    for kind in given.kinds.split(","):
        for strategy in given.strategies.split(","):
            work = (
                delayed(run)(
                    kind,
                    given.policies,
                    strategy,
                    seed,
                    goal=given.goal,
                    judges=given.judges,
                    margin=given.margin,
                    questions=given.questions,
                    gap=given.gap,
                    every=given.every,
                    until=given.until,
                )
                for seed in range(given.first_seed, given.first_seed + given.runs)
            )
            report(f"{kind}, {strategy}", Parallel(n_jobs=given.jobs)(work), given.questions)


if __name__ == "__main__":
    main()
