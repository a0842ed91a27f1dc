"""Claims: on curves of our choosing each one holds or does not, as it must."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from experiments.fake_runs import TINY, Remembered, rows_of, save
from prefero._support.arrays import Array
from prefero.experiments.claims import BUDGETS, ORACLE_FACTOR, TOLERANCE, Claim, claims
from prefero.experiments.figures.base import TUNED
from prefero.experiments.figures.curves import CURVES, TITLES
from prefero.experiments.figures.golf import GolfCurves
from prefero.experiments.reproduce import plan_of
from prefero.experiments.results import Results
from prefero.experiments.runs import Run
from prefero.methods import full_name

SCALE = replace(TINY, questions=max(BUDGETS.values()) + 10)
N = SCALE.questions
ACTIVE, RANDOM = full_name("ActiveGP", *TUNED), full_name("RandomGP", *TUNED)
PLAN = plan_of([*CURVES, GolfCurves()], SCALE)
GOLF_GRID = GolfCurves().grid(SCALE).grid("ActiveGP+EP")
TRUTHS = {"linear": "linear", "quadratic": "polynomial"}


def step(low: float, high: float, at: int, length: int = N) -> Array:
    """`low`, and from question `at` on `high`."""
    return np.where(np.arange(1, length + 1) >= at, high, low)


def all_hold(run: Run) -> dict[str, Any]:
    """Curves with which every claim holds."""
    if run.setting.world == "golf":
        worth = {"Prefero, best": 0.95, "Prefero": 0.8, "Prefero, random": 0.6}
        return {
            "accuracy": 0.9 if run.method == "Prefero" else 0.8,
            "best_reward": worth.get(run.method, 0.5),
        }
    accuracy = {"Prefero": 0.99, "Oracle": 0.99, "ActiveLinear": 0.7, RANDOM: 0.6}.get(run.method, 0.8)
    return {"accuracy": accuracy, "log_likelihood": -0.9 if run.method == RANDOM else -0.3}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Results:
    results = Remembered(tmp_path_factory.mktemp("claims"))
    save(results, {run: rows_of(run.setting.questions, **all_hold(run)) for run in PLAN})
    return results


Change = Callable[[Run, Mapping[str, Any]], None]


@pytest.fixture
def change(base: Results) -> Iterator[Change]:
    """Other curves for a run, until the test ends."""
    changed: list[Run] = []

    def to(run: Run, curves: Mapping[str, Any]) -> None:
        n = run.setting.questions
        fitted = {name: np.broadcast_to(values, N)[:n] for name, values in curves.items()}
        save(base, {run: rows_of(n, **{**all_hold(run), **fitted})})
        changed.append(run)

    yield to
    save(base, {run: rows_of(run.setting.questions, **all_hold(run)) for run in changed})


def judged(results: Results) -> dict[str, Claim]:
    found = list(claims(results, SCALE))
    assert len({claim.statement for claim in found}) == len(found)
    return {claim.statement: claim for claim in found}


def claim_that(results: Results, beginning: str) -> Claim:
    (claim,) = [claim for says, claim in judged(results).items() if says.startswith(beginning)]
    return claim


Chosen = Callable[[Run], bool]


def of(world: str, truth: str, *methods: str) -> Chosen:
    """Runs of some methods; with none named, of the paper's on the whole grid."""

    def chosen(run: Run) -> bool:
        here = (run.setting.world, run.setting.truth) == (world, truth)
        return here and (run.method in methods if methods else run.method.startswith("ActiveGP "))

    return chosen


@dataclass(frozen=True)
class Case:
    """A change of the curves, and whether a claim holds then; all other claims hold as before."""

    claim: str
    holds: bool
    chosen: Chosen
    curves: Mapping[str, Any]
    also: tuple[str, ...] = ()  # claims that fail with it

    def __str__(self) -> str:
        numbers = {k: np.round(np.unique(v), 4).tolist() for k, v in self.curves.items()}
        return f"{self.claim}-{'holds' if self.holds else 'fails'}-{numbers}"


CASES: list[Case] = []
for world, title in TITLES.items():
    active = f"{title}, polynomial: active questions beat random ones"
    beats = f"{title}, polynomial: the paper's GP ends above the linear model"
    reaches = f"{title}, linear: the paper's GP reaches the linear model"
    linear = f"{title}, linear: from 10 questions on Prefero is never behind ActiveLinear"
    CASES += [
        Case(active, False, of(world, "quadratic", RANDOM), {"accuracy": 0.85, "log_likelihood": -0.9}),
        Case(active, False, of(world, "quadratic", RANDOM), {"accuracy": 0.6, "log_likelihood": -0.2}),
        Case(active, True, of(world, "quadratic", RANDOM), {"accuracy": step(0.6, 0.99, N)}),
        Case(beats, False, of(world, "quadratic", "ActiveLinear"), {"accuracy": 0.81}),
        Case(beats, True, of(world, "quadratic", "ActiveLinear"), {"accuracy": step(0.99, 0.79, N)}),
        Case(reaches, False, of(world, "linear", "ActiveLinear"), {"accuracy": 0.8 + 2.2 * TOLERANCE}),
        Case(reaches, True, of(world, "linear", "ActiveLinear"), {"accuracy": 0.8 + 1.8 * TOLERANCE}),
        Case(
            linear,
            False,
            of(world, "linear", "ActiveLinear"),
            {"accuracy": step(0.99 + 1.2 * TOLERANCE, 0.8, 11)},
        ),
        Case(linear, True, of(world, "linear", "ActiveLinear"), {"accuracy": step(1.0, 0.8, 10)}),
        Case(
            linear,
            True,
            of(world, "linear", "ActiveLinear"),
            {"accuracy": step(0.99 + 0.8 * TOLERANCE, 0.8, N)},
        ),
    ]
for (world, truth), questions in BUDGETS.items():
    name = f"{TITLES[world]}, {TRUTHS[truth]}"
    soon = f"{name}: Prefero has within {questions} questions"
    limit = f"{name}: to reach 0.95 Prefero needs at most {ORACLE_FACTOR:g} times"
    CASES += [
        Case(soon, True, of(world, truth), {"accuracy": step(0.99, 0.8, N)}),
        Case(soon, False, of(world, truth), {"accuracy": step(0.8, 0.995, N)}),
        Case(soon, True, of(world, truth, "Prefero"), {"accuracy": step(0.79, 0.99, questions)}, (limit,)),
        Case(
            soon, False, of(world, truth, "Prefero"), {"accuracy": step(0.79, 0.99, questions + 1)}, (limit,)
        ),
        Case(limit, False, of(world, truth, "Prefero"), {"accuracy": step(0.9, 0.96, 2)}),
        Case(limit, False, of(world, truth, "Prefero"), {"accuracy": 0.94}),
        Case(limit, False, of(world, truth, "Prefero", "Oracle"), {"accuracy": 0.94}),
        Case(limit, True, of(world, truth, "Oracle"), {"accuracy": 0.94}),
        Case(limit, True, of(world, truth, "Prefero", "Oracle"), {"accuracy": step(0.9, 0.96, N)}),
    ]
GOLF_BEHIND, GOLF_BEST = (
    "Golf: Prefero is not behind the fixed theta",
    "Golf: after 15 questions that look for the best shot",
)
CASES += [
    Case(GOLF_BEHIND, False, of("golf", "targets", GOLF_GRID[0]), {"accuracy": 0.9 + 1.2 * TOLERANCE}),
    Case(GOLF_BEHIND, True, of("golf", "targets", GOLF_GRID[0]), {"accuracy": 0.9 + 0.8 * TOLERANCE}),
    Case(
        GOLF_BEHIND,
        False,
        of("golf", "targets", "Prefero"),
        {"accuracy": step(0.7, 0.9, 16), "best_reward": 0.8},
    ),
    Case(
        GOLF_BEHIND,
        True,
        of("golf", "targets", "Prefero"),
        {"accuracy": step(0.5, 0.9, 15), "best_reward": 0.8},
    ),
    Case(GOLF_BEST, False, of("golf", "targets", "Prefero, best"), {"best_reward": 0.75}),
    Case(GOLF_BEST, False, of("golf", "targets", "Prefero"), {"accuracy": 0.9, "best_reward": 0.96}),
    Case(GOLF_BEST, False, of("golf", "targets", "Prefero, random"), {"best_reward": 0.97}),
    Case(GOLF_BEST, True, of("golf", "targets", "Prefero, best"), {"best_reward": step(0.0, 0.85, 15)}),
]


def test_there_are_curves_with_which_everything_holds(base: Results) -> None:
    found = judged(base)
    assert [says for says, claim in found.items() if not claim.holds] == []
    assert len(found) == 3 * 2 + 2 * 4 + 2 + 2


def test_every_claim_is_judged_both_ways(base: Results) -> None:
    for says in judged(base):
        assert {case.holds for case in CASES if says.startswith(case.claim)} == {True, False}, says


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_claim_holds_or_does_not_as_it_must_and_no_other_changes(
    case: Case, base: Results, change: Change
) -> None:
    changed = [run for run in PLAN if case.chosen(run)]
    assert changed
    for run in changed:
        change(run, case.curves)
    found = judged(base)
    (claim,) = [claim for says, claim in found.items() if says.startswith(case.claim)]
    assert claim.holds == case.holds, claim
    assert str(claim).startswith("**Holds**: " if case.holds else "**Does not hold**: ")
    failed = [says for says, other in found.items() if not other.holds]
    assert [says for says in failed if not says.startswith((case.claim, *case.also))] == []


@pytest.mark.parametrize(
    ("needed", "holds"), [(int(ORACLE_FACTOR * 10), True), (int(ORACLE_FACTOR * 10) + 1, False)]
)
def test_the_limit_is_a_multiple_of_what_the_oracle_needs(
    needed: int, holds: bool, base: Results, change: Change
) -> None:
    for run in PLAN:
        if of("tosser", "quadratic", "Prefero", "Oracle")(run):
            at = needed if run.method == "Prefero" else 10
            change(run, {"accuracy": step(0.9, 0.96, at)})
    claim = claim_that(base, "Tosser, polynomial: to reach 0.95")
    assert claim.holds == holds
    assert claim.evidence == f"{needed} against 10."


def test_means_over_the_runs_decide_and_not_single_ones(base: Results, change: Change) -> None:
    for run in PLAN:
        if of("driver", "quadratic", "ActiveLinear")(run):
            change(run, {"accuracy": (0.99, 0.55)[run.seed]})
    claim = claim_that(base, "Driver, polynomial: the paper's GP ends")
    assert claim.holds
    assert f"After {N}: 0.800 against 0.770" in claim.evidence


def test_the_evidence_is_in_numbers(base: Results) -> None:
    active, golf = (
        claim_that(base, beginning).evidence
        for beginning in ("Driver, polynomial: active questions", "Golf: after 15 questions")
    )
    assert "accuracy 0.800 against 0.600 (p = 0.500)" in active
    assert "log-likelihood -0.300 against -0.900 (p = 0.500)" in active
    assert "Prefero, best: 0.95; Prefero: 0.80; Prefero, random: 0.60" in golf
    assert all(any(c.isdigit() for c in claim.evidence) for claim in judged(base).values())


def test_every_sentence_can_be_read_where_nothing_was_reached(base: Results, change: Change) -> None:
    """No "inf" and no "nan" in plain words."""
    for run in PLAN:
        if run.method in ("Prefero", "Oracle"):
            change(run, {"accuracy": 0.6})
    words = " ".join(str(claim) for claim in judged(base).values()).replace(".", " ").split()
    assert not {"inf", "nan"} & set(words)
