"""The paper's claims and Prefero's, each checked against the runs and answered in a sentence."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from prefero._support.arrays import Array
from prefero._support.statistics import paired_test
from prefero.experiments.figures.base import TUNED, Scale, best_in_hindsight, curves_of
from prefero.experiments.figures.curves import TITLES
from prefero.experiments.figures.golf import CHECKPOINTS, QUESTIONS, GolfCurves, golf_setting
from prefero.experiments.results import Results
from prefero.experiments.statistics import questions_to_reach
from prefero.methods import full_name

FAMILIES = {"linear": "linear", "quadratic": "polynomial"}
BUDGETS = {  # questions in which Prefero should reach what the paper's method, at its best, has at the end
    ("tosser", "quadratic"): 20,
    ("tosser", "linear"): 15,
    ("driver", "quadratic"): 45,
    ("driver", "linear"): 20,
}
TOLERANCE = 0.01
ORACLE_FACTOR = 1.3


class Claim(NamedTuple):
    """A sentence, whether it holds here, and the numbers."""

    statement: str
    holds: bool
    evidence: str

    def __str__(self) -> str:
        return f"**{'Holds' if self.holds else 'Does not hold'}**: {self.statement}. {self.evidence}"


class RunCurves:
    """The curves of the runs of one scale, by world, reward and method."""

    def __init__(self, results: Results, scale: Scale) -> None:
        self.results, self.scale = results, scale

    def curves(self, world: str, truth: str, method: str, column: str = "accuracy") -> Array:
        """(runs, questions); "hindsight" is the paper's method with its best theta and sigma."""
        setting = self.scale.setting(world, truth)
        if method == "hindsight":
            method = best_in_hindsight(self.results, self.scale, setting, "ActiveGP")
        return curves_of(self.results, self.scale, setting, method, column)


def claims(results: Results, scale: Scale) -> Iterator[Claim]:
    """All of them."""
    runs = RunCurves(results, scale)
    for world, title in TITLES.items():
        yield _active_beats_random(runs, world, title)
        yield _gp_beats_linear(runs, world, title)
        yield _gp_reaches_linear(runs, world, title)
    for (world, truth), questions in BUDGETS.items():
        yield _prefero_is_sooner(runs, world, truth, questions)
        yield _prefero_is_near_the_oracle(runs, world, truth)
    for world, title in TITLES.items():
        yield _prefero_is_as_good_as_linear(runs, world, title)
    yield from _golf(results, scale)


def _active_beats_random(runs: RunCurves, world: str, title: str) -> Claim:
    pairs = {}
    for column in ("accuracy", "log_likelihood"):
        curves = [
            runs.curves(world, "quadratic", full_name(method, *TUNED), column).mean(axis=1)
            for method in ("ActiveGP", "RandomGP")
        ]
        pairs[column] = (curves[0].mean(), curves[1].mean(), paired_test(*curves))
    holds = all(active > random for active, random, _ in pairs.values())
    numbers = "; ".join(
        f"{column.replace('_', '-')} {active:.3f} against {random:.3f} (p = {p:.3f})"
        for column, (active, random, p) in pairs.items()
    )
    return Claim(
        f"{title}, polynomial: active questions beat random ones for the paper's GP",
        holds,
        f"Mean over all questions: {numbers}.",
    )


def _gp_beats_linear(runs: RunCurves, world: str, title: str) -> Claim:
    gp = runs.curves(world, "quadratic", full_name("ActiveGP", *TUNED))[:, -1]
    linear = runs.curves(world, "quadratic", "ActiveLinear")[:, -1]
    return Claim(
        f"{title}, polynomial: the paper's GP ends above the linear model",
        bool(gp.mean() > linear.mean()),
        f"After {runs.scale.questions}: {gp.mean():.3f} against {linear.mean():.3f} "
        f"(p = {paired_test(gp, linear):.3f}); standard deviations {gp.std():.3f} and {linear.std():.3f}.",
    )


def _gp_reaches_linear(runs: RunCurves, world: str, title: str) -> Claim:
    gp = runs.curves(world, "linear", full_name("ActiveGP", *TUNED))[:, -1].mean()
    linear = runs.curves(world, "linear", "ActiveLinear")[:, -1].mean()
    return Claim(
        f"{title}, linear: the paper's GP reaches the linear model",
        bool(gp > linear - 2 * TOLERANCE),
        f"After {runs.scale.questions}: {gp:.3f} against {linear:.3f}.",
    )


def _prefero_is_sooner(runs: RunCurves, world: str, truth: str, wanted: int) -> Claim:
    goal = runs.curves(world, truth, "hindsight")[:, -1].mean()
    found = questions_to_reach(runs.curves(world, truth, "Prefero").mean(axis=0), goal)
    return Claim(
        f"{TITLES[world]}, {FAMILIES[truth]}: Prefero has within {wanted} questions what the paper's method, "
        f"with theta and sigma best in hindsight, has after {runs.scale.questions}",
        found <= wanted,
        f"That is {goal:.3f}, which Prefero has "
        + (f"after {found:.0f}." if np.isfinite(found) else "not reached."),
    )


def _prefero_is_near_the_oracle(runs: RunCurves, world: str, truth: str) -> Claim:
    prefero, oracle = (
        questions_to_reach(runs.curves(world, truth, method).mean(axis=0), 0.95)
        for method in ("Prefero", "Oracle")
    )
    return Claim(
        f"{TITLES[world]}, {FAMILIES[truth]}: to reach 0.95 Prefero needs at most {ORACLE_FACTOR:g} times "
        "the questions of the oracle, which is told the reward's family and the noise",
        prefero <= ORACLE_FACTOR * oracle and bool(np.isfinite(prefero)),
        f"{_words(prefero)} against {_words(oracle)}.",
    )


def _words(questions: float) -> str:
    return f"{questions:.0f}" if np.isfinite(questions) else "not reached"


def _prefero_is_as_good_as_linear(runs: RunCurves, world: str, title: str) -> Claim:
    lag = runs.curves(world, "linear", "ActiveLinear") - runs.curves(world, "linear", "Prefero")
    worst = lag.mean(axis=0)[9:]
    return Claim(
        f"{title}, linear: from 10 questions on Prefero is never behind ActiveLinear by over {TOLERANCE:g}",
        bool(worst.max() <= TOLERANCE),
        f"At worst by {worst.max():.3f}, after {int(worst.argmax()) + 10}.",
    )


def _golf(results: Results, scale: Scale) -> Iterator[Claim]:
    setting, shown = golf_setting(scale, QUESTIONS), GolfCurves().shown(results, scale)
    at = [n for n in CHECKPOINTS if n >= 15 and n <= setting.questions]
    fixed = curves_of(results, scale, setting, shown["ActiveGP+EP best in hindsight"], "accuracy").mean(
        axis=0
    )
    prefero = curves_of(results, scale, setting, "Prefero", "accuracy").mean(axis=0)
    lags = {n: float(fixed[n - 1] - prefero[n - 1]) for n in at}
    yield Claim(
        f"Golf: Prefero is not behind the fixed theta best in hindsight by more than {TOLERANCE:g}",
        max(lags.values()) <= TOLERANCE,
        "; ".join(f"after {n}: behind by {lag:.3f}" for n, lag in lags.items()) + ".",
    )
    worth = {
        method: curves_of(results, scale, setting, method, "best_reward")[:, 14].mean()
        for method in ("Prefero, best", "Prefero", "Prefero, random")
    }
    yield Claim(
        "Golf: after 15 questions that look for the best shot, the one found is better than after questions "
        "that learn the reward everywhere, or random ones",
        worth["Prefero, best"] > max(worth["Prefero"], worth["Prefero, random"]),
        "; ".join(f"{method}: {value:.2f}" for method, value in worth.items()) + " of the best possible.",
    )
