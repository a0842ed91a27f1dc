"""Golf: the study's table by hand, the paper's numbers beside it."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from experiments.fabricated import TINY, Table, fabricate, rows_of, save, tables_in
from prefero.experiments.figures.base import Scale
from prefero.experiments.figures.golf import (
    MOMENTS,
    PEOPLE,
    QUESTIONS,
    STUDIED,
    Golf,
    GolfStudy,
    Outcome,
    draw_study,
    golf_setting,
    people,
    simulated_study,
    study_table,
)
from prefero.experiments.results import Results
from prefero.experiments.settings import GOLF_SHOTS

# In the paper: accuracy and rating of ActiveGP, ActiveLinear and RandomGP.
PRINTED = {"ActiveGP": ("0.74", "6.9"), "ActiveLinear": ("0.62", "3.4"), "RandomGP": ("0.62", "5.1")}


# --- the table --------------------------------------------------------------------------------------------

ACCURACY = {  # of five people, in the order of their names
    "ActiveGP": [0.90, 0.80, 0.75, 0.62, 1.00],
    "RandomGP": [0.60, 0.81, 0.70, 0.40, 0.55],
    "Prefero": [0.90, 0.80, 0.75, 0.62, 1.00],
}
RATING = {
    "ActiveGP": [7.0, 9.0, 5.0, 6.5, 8.0],
    "RandomGP": [4.0, 5.0, 4.5, 1.0, 9.5],
    "Prefero": [8.0, 9.9, 5.8, 7.2, 8.6],
}
NAMES = ["ann", "bob", "cid", "dora", "eve"]
# Signed ranks of the differences to ActiveGP, and in how many of 32 ways their sum is as far out:
# RandomGP's accuracy -4, +1, -2, -3, -5: sums up to 1 are {} and {1}; its rating -3, -4, -1, -5, +2: sums up
# to 2 are {}, {1}, {2}; Prefero's rating all positive: {} alone.
P_ACCURACY = {"RandomGP": 2 * 2 / 32, "Prefero": 1.0}
P_RATING = {"RandomGP": 2 * 3 / 32, "Prefero": 2 * 1 / 32}


def outcomes() -> list[Outcome]:
    """Method by method, and people in another order each time."""
    found = []
    for turn, method in enumerate(ACCURACY):
        of = list(zip(NAMES, ACCURACY[method], RATING[method], strict=True))
        found += [Outcome(name, method, a, r) for name, a, r in [*of[turn:], *of[:turn]]]
    return found


@pytest.fixture
def study() -> dict[str, list[str]]:
    """Cells by method: accuracy here and printed, p, rating here and printed, p."""
    return by_method(study_table(outcomes()))


def by_method(text: str) -> dict[str, list[str]]:
    (table,) = tables_in(text)
    assert {len(row) for row in table} == {7}
    return {row[0]: row[1:] for row in table[1:]}


def mean_and_error(values: list[float], digits: int) -> str:
    mean = sum(values) / 5
    error = (sum((v - mean) ** 2 for v in values) / 4 / 5) ** 0.5
    return f"{mean:.{digits}f} ± {error:.{digits}f}"


def test_means_and_standard_errors_are_by_hand(study: dict[str, list[str]]) -> None:
    assert list(study) == list(ACCURACY)
    for method, cells in study.items():
        assert cells[0] == mean_and_error(ACCURACY[method], 2)
        assert cells[3] == mean_and_error(RATING[method], 1)
    assert study["ActiveGP"][0] == "0.81 ± 0.06"


def test_p_values_are_by_hand_and_person_by_person(study: dict[str, list[str]]) -> None:
    assert (study["ActiveGP"][2], study["ActiveGP"][5]) == ("", "")
    for method in ("RandomGP", "Prefero"):
        assert study[method][2] == f"{P_ACCURACY[method]:.3f}"
        assert study[method][5] == f"{P_RATING[method]:.3f}"


def test_the_papers_numbers_are_printed_beside(study: dict[str, list[str]]) -> None:
    for method, (accuracy, rating) in PRINTED.items():
        if method in study:
            assert study[method][1].startswith(f"{accuracy} ± ")
            assert study[method][4].startswith(f"{rating} ± ")
    assert (study["Prefero"][1], study["Prefero"][4]) == ("", "")


def test_without_active_gp_there_is_nothing_to_test_against() -> None:
    table = by_method(study_table([o for o in outcomes() if o.method != "ActiveGP"]))
    assert [(cells[2], cells[5]) for cells in table.values()] == [("", "")] * 2


def test_people_are_never_compared_with_others() -> None:
    """Bob taught only one of the methods, and Fred only the other: both are left out of the tests."""
    taught = [o for o in outcomes() if o.method != "Prefero" and (o.person, o.method) != ("bob", "RandomGP")]
    taught.append(Outcome("fred", "RandomGP", 0.2, 3.0))
    both = [o for o in taught if o.person not in ("bob", "fred")]
    found, wanted = (by_method(study_table(people))["RandomGP"] for people in (taught, both))
    assert (found[2], found[5]) == (wanted[2], wanted[5])


@pytest.mark.parametrize("method", ["a|b", "<b>"])
def test_strange_names_of_methods_do_not_break_the_table(method: str) -> None:
    assert list(by_method(study_table([Outcome("ann", method, 0.5, 5.0)]))) == [method]


@pytest.mark.parametrize("kept", [["ann"], NAMES])
def test_the_study_is_drawn(kept: list[str], tmp_path: Path) -> None:
    draw_study([o for o in outcomes() if o.person in kept], tmp_path / "study.png")
    with Image.open(tmp_path / "study.png") as picture:
        picture.load()
        assert picture.format == "PNG"


# --- simulated people -------------------------------------------------------------------------------------


def test_ten_people_teach_every_method(tmp_path: Path) -> None:
    results = Results(tmp_path)
    fabricate(results, GolfStudy().plan(TINY))
    found = simulated_study(results, TINY)
    assert len(found) == PEOPLE * len(STUDIED) == 10 * len(STUDIED)
    assert {(o.person, o.method) for o in found} == {(str(n), m) for n in range(10) for m in STUDIED}
    for run in GolfStudy().plan(TINY):
        assert (run.setting.world, run.setting.truth, run.setting.questions) == ("golf", "targets", 15)
        assert run.setting.trajectories == min(GOLF_SHOTS, TINY.trajectories)


def test_more_runs_are_more_people_and_other_seeds_other_ones() -> None:
    assert {run.seed for run in people(replace(TINY, runs=13, first_seed=5), ["Prefero"])} == set(
        range(5, 18)
    )


def test_ratings_are_nine_times_the_share_of_the_best_shot_and_at_least_1(tmp_path: Path) -> None:
    results = Results(tmp_path)
    worth = dict(zip(range(10), [0.0, 0.05, 1 / 9, 0.2, 0.5, 0.77, 0.9, 0.99, 1.0, 0.3], strict=True))
    plan = GolfStudy().plan(TINY)
    save(results, {run: rows_of(15, best=worth[run.seed], test=run.seed % 6 / 5) for run in plan})
    found = simulated_study(results, TINY)
    for outcome in found:
        share = worth[int(outcome.person)]
        assert outcome.rating == pytest.approx(1.0 if share < 1 / 9 else 9 * share)
        assert 1.0 <= outcome.rating <= 9.0
        assert outcome.accuracy == int(outcome.person) % 6 / 5
    table = by_method(GolfStudy().tell(results, TINY))
    assert list(table) == list(STUDIED)
    assert {cells[3] for cells in table.values()} == {mean_of_ten(list(worth.values()))}


def mean_of_ten(worth: list[float]) -> str:
    ratings = np.maximum(1.0, 9.0 * np.array(worth))
    return f"{ratings.mean():.1f} ± {ratings.std(ddof=1) / 10**0.5:.1f}"


# --- the curves -------------------------------------------------------------------------------------------


def test_golf_is_told_at_some_moments_with_the_best_theta_in_hindsight(tmp_path: Path) -> None:
    scale, results = replace(TINY, questions=31), Results(tmp_path)
    saved = fabricate(results, Golf().plan(scale))
    (table,) = tables_in(Golf().tell(results, scale))
    assert table[0][1:] == [str(n) for n in MOMENTS if n <= 31] == ["5", "10", "15", "30"]
    fixed = {run.method for run in saved} - set(Golf.others)
    final = {
        method: np.mean([rows["accuracy"][-1] for run, rows in saved.items() if run.method == method])
        for method in fixed
    }
    best = max(final, key=lambda method: float(final[method]))
    assert row_of(table, "hindsight")[0] == f"ActiveGP+EP best in hindsight ({best})"
    for label, method in [*((name, name) for name in Golf.others), ("ActiveGP+EP", best)]:
        shown = [rows for run, rows in saved.items() if run.method == method]
        wanted = [
            f"{np.mean([r['accuracy'][n - 1] for r in shown]):.3f} / "
            f"{np.mean([r['best'][n - 1] for r in shown]):.2f}"
            for n in (5, 10, 15, 30)
        ]
        assert row_of(table, label)[1:] == wanted


def row_of(table: Table, label: str) -> list[str]:
    exact = [row for row in table if row[0] == label]
    (row,) = exact or [row for row in table if label in row[0]]
    return row


def test_golf_has_no_more_questions_and_shots_than_the_scale() -> None:
    assert golf_setting(Scale(), QUESTIONS).questions == QUESTIONS
    assert golf_setting(Scale(), QUESTIONS).trajectories == GOLF_SHOTS
    small = golf_setting(TINY, QUESTIONS)
    assert (small.questions, small.trajectories) == (TINY.questions, TINY.trajectories)
