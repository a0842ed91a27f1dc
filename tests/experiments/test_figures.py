"""Figures: each plans runs that exist, and is drawn and described from the files alone."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from experiments.fake_runs import RIGHT, TINY, Remembered, fabricate, rows_of
from plots.read_reports import tables_in
from prefero import Pool
from prefero.experiments import backends, runs, statistics
from prefero.experiments.figures import calibration
from prefero.experiments.figures.ablations import ABLATIONS, SizeOfTestSet
from prefero.experiments.figures.base import TUNED, TUNING_SEED, Scale, best_in_hindsight
from prefero.experiments.figures.curves import CURVES, Curves
from prefero.experiments.figures.questions_needed import GOALS, SETTINGS, QuestionsNeeded
from prefero.experiments.figures.static import STATIC
from prefero.experiments.reproduce import FIGURES, QUICK, plan_of
from prefero.experiments.results import Results
from prefero.experiments.runs import BINS, Rows, Run
from prefero.experiments.settings import Setting
from prefero.methods import METHODS, full_name
from prefero.simulation.tasks import TEST_SET_SEED

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "experiments.md").read_text(encoding="utf-8")
SCALES = {"paper": Scale(), "quick": QUICK, "least": Scale(runs=1, questions=15, test_size=2), "tiny": TINY}
every_figure = pytest.mark.parametrize("name", FIGURES)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> tuple[Results, dict[Run, Rows]]:
    """The runs of all figures, fabricated."""
    results = Remembered(tmp_path_factory.mktemp("figures"))
    return results, fabricate(results, plan_of(list(FIGURES.values()), TINY))


@pytest.fixture(autouse=True)
def fewer_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the bootstrap: of two runs each way to draw them has a quarter or a half."""
    monkeypatch.setattr(statistics, "DRAWS", 200)


@pytest.fixture
def only_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """No run is executed, and no task is made."""

    def never(*_: Any) -> Any:
        raise AssertionError("a figure is drawn from the files alone")

    for module in (runs, backends):
        monkeypatch.setattr(module, "execute", never)
    monkeypatch.setattr(Setting, "task", never)


def cells(text: str) -> dict[str, list[str]]:
    """The one table of a text, by the first word or words of its rows."""
    (found,) = tables_in(text)
    return {row[0]: row[1:] for row in found}


def curves(saved: dict[Run, Rows], setting: Setting, method: str, column: str = "accuracy") -> Any:
    of = [rows[column] for run, rows in saved.items() if (run.setting, run.method) == (setting, method)]
    assert len(of) == TINY.runs
    return np.array(of, dtype=float)


# --- plans ------------------------------------------------------------------------------------------------


@every_figure
@pytest.mark.parametrize("scale", SCALES)
def test_every_figure_plans_runs_that_can_be_done(name: str, scale: str) -> None:
    plan = FIGURES[name].plan(SCALES[scale])
    assert {run.method for run in plan} <= set(METHODS)
    assert all(run.setting.test_size >= 2 and run.setting.questions >= 1 for run in plan)
    assert all(run.setting.world != "golf" or "Oracle" not in run.method for run in plan)
    assert (plan == []) == (FIGURES[name] in STATIC)


@every_figure
def test_every_method_of_a_figure_has_all_seeds(name: str) -> None:
    seeds: dict[tuple[Setting, str], set[int]] = {}
    for run in FIGURES[name].plan(replace(TINY, runs=11, first_seed=3)):
        seeds.setdefault((run.setting, run.method), set()).add(run.seed)
    assert {tuple(sorted(s)) for s in seeds.values()} <= {tuple(range(3, 14))}


def test_the_figures_are_those_of_the_issue() -> None:
    paper = {f"{world}-{kind}" for world in ("driver", "tosser") for kind in ("linear", "poly", "active")}
    ours = {"questions-needed", "calibration", "formula", "inference", "lapses", "test-set-size"}
    ours |= {"driver-people", "tosser-people"}
    assert set(FIGURES) == paper | {"poisson", "targets"} | ours | {"golf", "golf-study"}
    assert all(figure.name == name and figure.title for name, figure in FIGURES.items())


@every_figure
def test_every_figure_is_documented(name: str) -> None:
    assert f"`{name}`" in PAGE


def test_every_method_is_documented() -> None:
    families = {re.sub(r" [\d.]+ [\d.]+$", "", method) for method in METHODS}
    assert [family for family in families if f"`{family}`" not in PAGE] == []


def test_what_was_chosen_was_chosen_on_other_seeds() -> None:
    assert full_name("ActiveGP", *TUNED) in METHODS
    assert max(Scale().seeds) < TUNING_SEED


# --- pictures and tables ----------------------------------------------------------------------------------


@every_figure
@pytest.mark.usefixtures("only_files")
def test_every_figure_is_drawn_from_the_files_alone(
    name: str, saved: tuple[Results, Any], tmp_path: Path
) -> None:
    FIGURES[name].draw(saved[0], TINY, tmp_path / f"{name}.png")
    with Image.open(tmp_path / f"{name}.png") as picture:
        picture.load()
        assert picture.format == "PNG"
        assert min(picture.size) > 200
        colors = picture.convert("RGB").getcolors(2**24)
    assert colors is not None
    assert len(colors) > 10
    assert [path.name for path in tmp_path.iterdir()] == [f"{name}.png"]


@every_figure
@pytest.mark.usefixtures("only_files")
def test_every_figure_is_told_from_the_files_alone(name: str, saved: tuple[Results, Any]) -> None:
    text = FIGURES[name].describe(saved[0], TINY)
    found = tables_in(text)
    assert bool(found) == (FIGURES[name] not in STATIC)
    for rows in found:
        assert len(rows) > 1
        assert len({len(row) for row in rows}) == 1
        assert all("nan" not in cell and "None" not in cell for row in rows for cell in row)
    assert text.endswith("\n")


@pytest.mark.parametrize("figure", CURVES, ids=lambda figure: figure.name)
def test_the_table_of_curves_is_by_hand(figure: Curves, saved: tuple[Results, dict[Run, Rows]]) -> None:
    results, made = saved
    setting = figure.setting(TINY)
    shown = {name: name for name in figure.others}
    for method in figure.paper:
        theta, sigma = TUNED
        shown[f"{method} tuned (theta {theta:g}, sigma {sigma:g})"] = full_name(method, *TUNED)
        grid = [full_name(method, t, s) for t in TINY.thetas for s in TINY.sigmas]
        best = max(grid, key=lambda name: float(curves(made, setting, name)[:, -1].mean()))
        words = best.split(" ")
        shown[f"{method} best in hindsight (theta {words[1]}, sigma {words[2]})"] = best
    head, *rows = tables_in(figure.describe(results, TINY))[0]
    assert head[1:-2] == ["5", "10", "16"]
    assert [row[0] for row in rows] == list(shown)
    first = curves(made, setting, "Prefero").mean(axis=1)
    for row, method in zip(rows, shown.values(), strict=True):
        accuracy, likelihood = (
            curves(made, setting, method, column) for column in ("accuracy", "log_likelihood")
        )
        assert row[1:-2] == [f"{accuracy[:, n - 1].mean():.3f}" for n in (5, 10, 16)]
        assert row[-2] == f"{likelihood[:, -1].mean():.3f}"
        area = accuracy.mean(axis=1)
        same_sign = len(set(np.sign(area - first))) == 1  # of two runs: both ranks on one side, or not
        assert row[-1] == ("" if method == "Prefero" else "0.500" if same_sign else "1.000")


@pytest.mark.parametrize("figure", ABLATIONS, ids=lambda figure: figure.name)
def test_the_table_of_a_variation_is_by_hand(figure: Any, saved: tuple[Results, dict[Run, Rows]]) -> None:
    results, made = saved
    head, *rows = tables_in(figure.describe(results, TINY))[0]
    at = [int(n) for n in head[2:]]
    assert at
    assert max(at) <= TINY.questions
    wanted = [
        [title, label, *(f"{curves(made, setting, method)[:, n - 1].mean():.3f}" for n in at)]
        for title, (setting, methods) in figure.panels(TINY).items()
        for label, method in methods.items()
    ]
    assert rows == wanted


def test_the_table_of_calibration_is_by_hand(saved: tuple[Results, dict[Run, Rows]]) -> None:
    results, made = saved
    found = cells(FIGURES["calibration"].describe(results, TINY))
    assert found.pop("calibration error after") == ["10"]
    assert list(found) == list(calibration.LABELS)
    plan = set(FIGURES["calibration"].plan(TINY))
    for label, (cell,) in found.items():
        of = [rows for run, rows in made.items() if run in plan and run.method == calibration.LABELS[label]]
        bins, right = (np.sum([rows[column][9] for rows in of], axis=0) for column in ("bin_counts", RIGHT))
        off = sum(
            int(bins[k]) * abs(int(right[k]) / int(bins[k]) - (0.525 + 0.05 * k))
            for k in range(len(BINS) - 1)
        )
        assert cell == f"{off / int(bins.sum()):.3f}"


def test_the_table_of_questions_needed_is_by_hand(saved: tuple[Results, dict[Run, Rows]]) -> None:
    """Of two runs the interval is from the better to the worse, or as far as their mean."""
    results, made = saved
    found = tables_in(QuestionsNeeded().describe(results, TINY))
    assert len(found) == len(SETTINGS)
    for figure, (_, *rows) in zip(SETTINGS, found, strict=True):
        assert [row[0] for row in rows] == list(figure.shown(results, TINY))
        for row in rows:
            both = curves(made, figure.setting(TINY), figure.shown(results, TINY)[row[0]])
            for goal, cell in zip(GOALS, row[1:], strict=True):
                drawn = sorted(first(c, goal) for c in (both[0], both[1], both.mean(axis=0)))
                assert (
                    cell
                    == f"{count(first(both.mean(axis=0), goal))} ({count(drawn[0])} to {count(drawn[2])})"
                )


def first(curve: Any, goal: float) -> float:
    return next((n for n, value in enumerate(curve, 1) if value >= goal), np.inf)


def count(number: float) -> str:
    return f"{number:.0f}" if np.isfinite(number) else "more"


def test_a_table_of_curves_at_the_papers_size_has_a_column_for_200() -> None:
    assert Scale().questions == 200
    assert (Scale().runs, Scale().trajectories) == (5, 1000)


# --- the best in hindsight --------------------------------------------------------------------------------


@pytest.mark.parametrize("best", [0, 1])
def test_the_best_in_hindsight_is_the_best_at_the_end_over_all_runs(best: int, tmp_path: Path) -> None:
    """Neither the best on the way, nor the best of a single run."""
    results, setting = Results(tmp_path), TINY.setting("driver", "linear")
    names = TINY.grid("ActiveGP")
    assert len(names) == 2
    ends = {names[best]: (0.80, 0.80), names[1 - best]: (0.95, 0.60)}
    for name, values in ends.items():
        for seed, end in enumerate(values):
            way = np.full(TINY.questions, 0.5 if name == names[best] else 0.99)
            way[-1] = end
            results.save(Run(setting, name, seed), rows_of(TINY.questions, accuracy=way))
    assert best_in_hindsight(results, TINY, setting, "ActiveGP") == names[best]


# --- the size of the test set -----------------------------------------------------------------------------

SHARES = {"half": 1 / 2, "a third": 1 / 3, "a quarter": 1 / 4, "a fifth": 1 / 5}


def test_the_last_test_set_holds_the_share_of_the_candidates_that_the_note_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    candidates: list[int] = []

    def simulate(_: Any, count: int, seed: int, **__: Any) -> Pool:
        if seed >= TEST_SET_SEED:
            candidates.append(count)
        return Pool(np.random.default_rng(seed).standard_normal((count, 2)), ["a", "b"])

    monkeypatch.setattr(Pool, "simulate", simulate)
    *_, (setting, _methods) = SizeOfTestSet().panels(TINY).values()
    task = setting.task(987)
    (share,) = [
        share for words, share in SHARES.items() if f"{words} of all candidates" in SizeOfTestSet.note
    ]
    assert len(task.test_set.features) == pytest.approx(share * candidates[0], abs=1)
