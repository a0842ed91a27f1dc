"""When to stop: how often the intervals of the progress hold, and what stopping by it saves and costs.

Simulated people with noise .03 to 1 and lapses of 0 to .1 answer questions about pools as users have them,
chosen ones (the default) and random ones. What is measured is the share of a person's answers to all pairs of
the pool that are predicted, which `Learner.progress` estimates:

    coverage    how often its 90 % interval holds the share
    gain        what five more answers were expected to add, and what they did add
    rule        stop at the first answer after which a goal is expected to be reached (`--until`), beside
                stopping after a fixed number of questions

`--fit` prints the numbers of `prefero.models.learning_progress` that suit the measured people best, and how
often the intervals of each task hold if the numbers are fitted to the other tasks. Those of the package were
fitted to seeds 0 to 3 and 1000 to 1003; people with other seeds are new to it.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.rows import Row, measured, row_parser, seeds_of
from benchmarks.stopping_intervals import (
    COVERAGE_HEAD,
    Checked,
    checked,
    coverage_table,
    expected_gains,
    fit,
    held_out,
    interval_of,
)
from benchmarks.stopping_people import CHOSEN, RANDOM, STRATEGIES, TASKS, Runs, jobs_of, runs_of, work
from prefero.models.learning_progress import CORRECTION, Correction
from prefero.plots.style import new_figure, save_figure, style_axis

COLORS = {CHOSEN: "#0b6e99", RANDOM: "#b8860b"}
GAINS = (0.03, 0.02, 0.01)
GOALS = (0.7, 0.75, 0.8, 0.85, 0.9, 0.95)


# --- the rule ---------------------------------------------------------------------------------------------


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


# --- the picture ------------------------------------------------------------------------------------------


def draw(path: Path, rows: Sequence[Row], chosen: Runs, correction: Correction) -> None:
    """Coverage by the number of answers, gains, and the rule beside fixed numbers."""
    figure, (covered, gains, rule) = new_figure(3, width=4.4, height=3.8)
    for strategy, color in COLORS.items():
        mine = [row for row in rows if row["strategy"] == strategy]
        if mine:
            _draw_coverage(covered, checked(mine), correction, strategy, color)
            _draw_gains(gains, checked(mine), correction, strategy, color)
    if chosen:
        _draw_rule(rule, chosen, correction)
    covered.axhspan(0.85, 0.95, color="#dddddd", zorder=0)
    style_axis(covered, xlabel="answers", ylabel="90 % intervals that hold", title="The interval")
    covered.set_ylim(0.5, 1.0)
    gains.plot([0, 0.1], [0, 0.1], color="#888888", linewidth=1)
    style_axis(gains, xlabel="expected of five more answers", ylabel="brought by them", title="The gain")
    style_axis(rule, xlabel="questions on average", ylabel="share of answers predicted", title="The rule")
    for axis in (covered, gains, rule):
        axis.legend(frameon=False, fontsize=8)
    path.parent.mkdir(parents=True, exist_ok=True)
    save_figure(figure, path)


def _draw_coverage(axis: Any, rows: Checked, correction: Correction, label: str, color: str) -> None:
    numbers = np.unique(rows.answers)
    low, high = interval_of(correction, rows)
    inside = (low <= rows.share) & (rows.share <= high)
    means = [inside[rows.answers == n].mean() for n in numbers]
    axis.plot(numbers, means, "o-", color=color, label=f"{label} questions")


def _draw_gains(axis: Any, rows: Checked, correction: Correction, label: str, color: str) -> None:
    """Means of fifths of the expected gains, with standard errors."""
    rows = rows.followed
    expected = expected_gains(correction, rows)
    parts = np.array_split(np.argsort(expected), 5)
    x = [expected[part].mean() for part in parts]
    y = [rows.brought[part].mean() for part in parts]
    error = [rows.brought[part].std() / np.sqrt(len(part)) for part in parts]
    axis.errorbar(x, y, error, fmt="o", color=color, capsize=2, label=f"{label} questions")


def _draw_rule(axis: Any, runs: Runs, correction: Correction) -> None:
    fixed = fixed_curve(runs)
    axis.plot(
        [one.questions for one in fixed], [one.share for one in fixed], color="#888888", label="fixed number"
    )
    for least, marker, color in (("until", "o", "#0b6e99"), ("gain", "s", "#d1662c")):
        some = [one for one in rules(runs, correction) if one.name.startswith(least)]
        label = "until a share is expected" if least == "until" else "until the gain is small"
        axis.plot([o.questions for o in some], [o.share for o in some], marker, color=color, label=label)
        for one in some:
            place = (one.questions, one.share)
            offset = (4, -9) if least == "until" else (-8, 6)  # so that the two rules' labels do not meet
            axis.annotate(one.name.split()[-1], place, xytext=offset, textcoords="offset points", fontsize=7)


# --- the command ------------------------------------------------------------------------------------------


def _parser() -> argparse.ArgumentParser:
    parser = row_parser("stopping-rule", __doc__, people=12)
    parser.set_defaults(first_seed=4)
    parser.add_argument("--tasks", nargs="+", default=list(TASKS), metavar="TASK", help="which tasks")
    parser.add_argument("--questions", type=int, default=40, help="of each person, at most (default: 40)")
    parser.add_argument(
        "--strategies", nargs="+", default=list(STRATEGIES), choices=STRATEGIES, help="who chooses questions"
    )
    parser.add_argument("--fit", action="store_true", help="print the correction that suits these people")
    parser.add_argument("--out", type=Path, default=Path("results/stopping-rule.png"), help="the figure")
    return parser


def main(argv: Sequence[str] | None = None) -> None:
    options = _parser().parse_args(argv)
    every, seeds = measured(options, jobs_of(options), work).rows, seeds_of(options)
    rows = [row for row in every if row["seed"] in seeds and row["label"] == options.label]
    if options.fit:
        print(fit(checked(rows)), "\neach task, fitted to the others", sep="\n")
        print("\n".join([COVERAGE_HEAD, *held_out(rows)]), end="\n\n")
    print("\n".join(coverage_table(rows, CORRECTION)))
    runs = runs_of([r for r in rows if r["strategy"] == CHOSEN and r["questions"] == options.questions])
    if runs:
        print(f"\nchosen questions, {len(runs)} people")
        print("\n".join(rule_table(runs, CORRECTION)))
    draw(options.out, rows, runs, CORRECTION)
    print(f"\nsaved {options.out} and {options.rows}")


if __name__ == "__main__":
    main()
