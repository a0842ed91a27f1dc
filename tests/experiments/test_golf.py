"""GolfCurves: the simulated user study and the curves."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from experiments.fake_runs import TINY, fabricate, rows_of, save
from plots.read_reports import Table, rows_by_method, tables_in
from prefero.experiments.figures.base import Scale
from prefero.experiments.figures.golf import (
    CHECKPOINTS,
    QUESTIONS,
    SIMULATED_USERS,
    STUDY_METHODS,
    GolfCurves,
    GolfStudy,
    golf_setting,
    simulated_study,
    simulated_users,
)
from prefero.experiments.results import Results
from prefero.worlds.golf import Golf as GolfWorld

# --- simulated users --------------------------------------------------------------------------------------


def test_ten_people_teach_every_method(tmp_path: Path) -> None:
    results = Results(tmp_path)
    fabricate(results, GolfStudy().plan(TINY))
    found = simulated_study(results, TINY)
    assert len(found) == SIMULATED_USERS * len(STUDY_METHODS) == 10 * len(STUDY_METHODS)
    assert {(o.participant, o.method) for o in found} == {
        (str(n), m) for n in range(10) for m in STUDY_METHODS
    }
    for run in GolfStudy().plan(TINY):
        assert (run.setting.world, run.setting.truth, run.setting.questions) == ("golf", "targets", 15)
        assert run.setting.trajectories == min(GolfWorld.pool_size, TINY.trajectories)


def test_more_runs_are_more_people_and_other_seeds_other_ones() -> None:
    assert {run.seed for run in simulated_users(replace(TINY, runs=13, first_seed=5), ["Prefero"])} == set(
        range(5, 18)
    )


def test_ratings_are_nine_times_the_share_of_the_best_shot_and_at_least_1(tmp_path: Path) -> None:
    results = Results(tmp_path)
    worth = dict(zip(range(10), [0.0, 0.05, 1 / 9, 0.2, 0.5, 0.77, 0.9, 0.99, 1.0, 0.3], strict=True))
    plan = GolfStudy().plan(TINY)
    save(
        results,
        {run: rows_of(15, best_reward=worth[run.seed], answer_accuracy=run.seed % 6 / 5) for run in plan},
    )
    found = simulated_study(results, TINY)
    for outcome in found:
        share = worth[int(outcome.participant)]
        assert outcome.rating == pytest.approx(1.0 if share < 1 / 9 else 9 * share)
        assert 1.0 <= outcome.rating <= 9.0
        assert outcome.accuracy == int(outcome.participant) % 6 / 5
    table = rows_by_method(GolfStudy().describe(results, TINY))
    assert list(table) == list(STUDY_METHODS)
    assert {cells[3] for cells in table.values()} == {mean_of_ten(list(worth.values()))}


def mean_of_ten(worth: list[float]) -> str:
    ratings = np.maximum(1.0, 9.0 * np.array(worth))
    return f"{ratings.mean():.1f} ± {ratings.std(ddof=1) / 10**0.5:.1f}"


# --- the curves -------------------------------------------------------------------------------------------


def test_golf_is_told_at_some_moments_with_the_best_theta_in_hindsight(tmp_path: Path) -> None:
    scale, results = replace(TINY, questions=31), Results(tmp_path)
    saved = fabricate(results, GolfCurves().plan(scale))
    (table,) = tables_in(GolfCurves().describe(results, scale))
    assert table[0][1:] == [str(n) for n in CHECKPOINTS if n <= 31] == ["5", "10", "15", "30"]
    fixed = {run.method for run in saved} - set(GolfCurves.others)
    final = {
        method: np.mean([rows["accuracy"][-1] for run, rows in saved.items() if run.method == method])
        for method in fixed
    }
    best = max(final, key=lambda method: float(final[method]))
    assert row_of(table, "hindsight")[0] == f"ActiveGP+EP best in hindsight ({best})"
    for label, method in [*((name, name) for name in GolfCurves.others), ("ActiveGP+EP", best)]:
        shown = [rows for run, rows in saved.items() if run.method == method]
        wanted = [
            f"{np.mean([r['accuracy'][n - 1] for r in shown]):.3f} / "
            f"{np.mean([r['best_reward'][n - 1] for r in shown]):.2f}"
            for n in (5, 10, 15, 30)
        ]
        assert row_of(table, label)[1:] == wanted


def row_of(table: Table, label: str) -> list[str]:
    exact = [row for row in table if row[0] == label]
    (row,) = exact or [row for row in table if label in row[0]]
    return row


def test_golf_has_no_more_questions_and_shots_than_the_scale() -> None:
    assert golf_setting(Scale(), QUESTIONS).questions == QUESTIONS
    assert golf_setting(Scale(), QUESTIONS).trajectories == GolfWorld.pool_size
    small = golf_setting(TINY, QUESTIONS)
    assert (small.questions, small.trajectories) == (TINY.questions, TINY.trajectories)
