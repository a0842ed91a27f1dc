"""The paper's claims and ours, each put to the runs and answered in a sentence."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from prefero._support.arrays import Array
from prefero._support.statistics import paired_test
from prefero.experiments.figures.base import CHOSEN, Scale, curves_of, hindsight
from prefero.experiments.figures.curves import TITLES
from prefero.experiments.figures.golf import MOMENTS, QUESTIONS, Golf, golf_setting
from prefero.experiments.results import Results
from prefero.experiments.settings import Setting
from prefero.experiments.statistics import questions_to
from prefero.methods import named

TRUTHS = {"linear": "linear", "quadratic": "polynomial"}
WITHIN = {  # questions in which Prefero should reach what the paper's method, at its best, has at the end
    ("tosser", "quadratic"): 20,
    ("tosser", "linear"): 15,
    ("driver", "quadratic"): 45,
    ("driver", "linear"): 20,
}
CLOSE = 0.01
ALLOWED = 1.3


class Claim(NamedTuple):
    """A sentence, whether it holds here, and the numbers."""

    says: str
    holds: bool
    evidence: str

    def __str__(self) -> str:
        return f"**{'Holds' if self.holds else 'Does not hold'}**: {self.says}. {self.evidence}"


class Evidence:
    """Curves by name, for one scale."""

    def __init__(self, results: Results, scale: Scale) -> None:
        self.results, self.scale = results, scale

    def setting(self, world: str, truth: str) -> Setting:
        """What is taught."""
        return self.scale.setting(world, truth)

    def curves(self, world: str, truth: str, method: str, column: str = "accuracy") -> Array:
        """(runs, questions); "hindsight" is the paper's method with its best theta and sigma."""
        setting = self.setting(world, truth)
        if method == "hindsight":
            method = hindsight(self.results, self.scale, setting, "ActiveGP")
        return curves_of(self.results, self.scale, setting, method, column)


def claims(results: Results, scale: Scale) -> Iterator[Claim]:
    """All of them."""
    evidence = Evidence(results, scale)
    for world, title in TITLES.items():
        yield _active_beats_random(evidence, world, title)
        yield _gp_beats_linear(evidence, world, title)
        yield _gp_reaches_linear(evidence, world, title)
    for (world, truth), questions in WITHIN.items():
        yield _prefero_is_sooner(evidence, world, truth, questions)
        yield _prefero_is_near_the_limit(evidence, world, truth)
    for world, title in TITLES.items():
        yield _prefero_is_as_good_as_linear(evidence, world, title)
    yield from _golf(results, scale)


def _active_beats_random(evidence: Evidence, world: str, title: str) -> Claim:
    pairs = {}
    for column in ("accuracy", "log_likelihood"):
        curves = [
            evidence.curves(world, "quadratic", named(method, *CHOSEN), column).mean(axis=1)
            for method in ("ActiveGP", "RandomGP")
        ]
        pairs[column] = (curves[0].mean(), curves[1].mean(), paired_test(*curves))
    holds = all(active > random for active, random, _ in pairs.values())
    numbers = "; ".join(
        f"{column.replace('_', '-')} {active:.3f} against {random:.3f} (p = {p:.3f})"
        for column, (active, random, p) in pairs.items()
    )
    return Claim(
        f"{title}, polynomial: chosen questions beat random ones for the paper's GP",
        holds,
        f"Mean over all questions: {numbers}.",
    )


def _gp_beats_linear(evidence: Evidence, world: str, title: str) -> Claim:
    gp = evidence.curves(world, "quadratic", named("ActiveGP", *CHOSEN))[:, -1]
    linear = evidence.curves(world, "quadratic", "ActiveLinear")[:, -1]
    return Claim(
        f"{title}, polynomial: the paper's GP ends above the linear model",
        bool(gp.mean() > linear.mean()),
        f"After {evidence.scale.questions}: {gp.mean():.3f} against {linear.mean():.3f} "
        f"(p = {paired_test(gp, linear):.3f}); standard deviations {gp.std():.3f} and {linear.std():.3f}.",
    )


def _gp_reaches_linear(evidence: Evidence, world: str, title: str) -> Claim:
    gp = evidence.curves(world, "linear", named("ActiveGP", *CHOSEN))[:, -1].mean()
    linear = evidence.curves(world, "linear", "ActiveLinear")[:, -1].mean()
    return Claim(
        f"{title}, linear: the paper's GP reaches the linear model",
        bool(gp > linear - 2 * CLOSE),
        f"After {evidence.scale.questions}: {gp:.3f} against {linear:.3f}.",
    )


def _prefero_is_sooner(evidence: Evidence, world: str, truth: str, wanted: int) -> Claim:
    goal = evidence.curves(world, truth, "hindsight")[:, -1].mean()
    found = questions_to(evidence.curves(world, truth, "Prefero").mean(axis=0), goal)
    return Claim(
        f"{TITLES[world]}, {TRUTHS[truth]}: Prefero has within {wanted} questions what the paper's method, "
        f"with theta and sigma best in hindsight, has after {evidence.scale.questions}",
        found <= wanted,
        f"That is {goal:.3f}, which Prefero has "
        + (f"after {found:.0f}." if np.isfinite(found) else "not reached."),
    )


def _prefero_is_near_the_limit(evidence: Evidence, world: str, truth: str) -> Claim:
    prefero, knows = (
        questions_to(evidence.curves(world, truth, method).mean(axis=0), 0.95)
        for method in ("Prefero", "Knows")
    )
    return Claim(
        f"{TITLES[world]}, {TRUTHS[truth]}: to reach 0.95 Prefero needs at most {ALLOWED:g} times the "
        "questions of a model that knows the family",
        prefero <= ALLOWED * knows and bool(np.isfinite(prefero)),
        f"{_words(prefero)} against {_words(knows)}.",
    )


def _words(questions: float) -> str:
    return f"{questions:.0f}" if np.isfinite(questions) else "not reached"


def _prefero_is_as_good_as_linear(evidence: Evidence, world: str, title: str) -> Claim:
    lag = evidence.curves(world, "linear", "ActiveLinear") - evidence.curves(world, "linear", "Prefero")
    worst = lag.mean(axis=0)[9:]
    return Claim(
        f"{title}, linear: from 10 questions on Prefero is never behind ActiveLinear by over {CLOSE:g}",
        bool(worst.max() <= CLOSE),
        f"At worst by {worst.max():.3f}, after {int(worst.argmax()) + 10}.",
    )


def _golf(results: Results, scale: Scale) -> Iterator[Claim]:
    setting, shown = golf_setting(scale, QUESTIONS), Golf().shown(results, scale)
    at = [n for n in MOMENTS if n >= 15 and n <= setting.questions]
    fixed = curves_of(results, scale, setting, shown["ActiveGP+EP best in hindsight"], "accuracy").mean(
        axis=0
    )
    prefero = curves_of(results, scale, setting, "Prefero", "accuracy").mean(axis=0)
    lags = {n: float(fixed[n - 1] - prefero[n - 1]) for n in at}
    yield Claim(
        f"Golf: Prefero is not behind the fixed theta best in hindsight by more than {CLOSE:g}",
        max(lags.values()) <= CLOSE,
        "; ".join(f"after {n}: behind by {lag:.3f}" for n, lag in lags.items()) + ".",
    )
    worth = {
        method: curves_of(results, scale, setting, method, "best")[:, 14].mean()
        for method in ("Prefero, best", "Prefero", "Prefero, random")
    }
    yield Claim(
        "Golf: after 15 questions for the best shot, that shot is better than after questions for "
        "information or random ones",
        worth["Prefero, best"] > max(worth["Prefero"], worth["Prefero, random"]),
        "; ".join(f"{method}: {value:.2f}" for method, value in worth.items()) + " of the best possible.",
    )
