"""Reproducing: plan, run what is missing, draw, report; and again without doing anything twice."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pyarrow import parquet

from experiments.fake_runs import TINY, fabricate
from plots.read_reports import tables_in
from prefero.experiments import backends
from prefero.experiments.figures.base import TUNED, Figure
from prefero.experiments.reproduce import FIGURES, QUICK, figures_named, plan_of, reproduce
from prefero.experiments.results import Results
from prefero.experiments.runs import Run
from prefero.methods import full_name

SCALE = replace(TINY, runs=1, questions=15, thetas=TINY.thetas[:1])
FIGURE = FIGURES["driver-active"]


# --- names and plans --------------------------------------------------------------------------------------


def test_figures_are_found_by_name_and_all_without_one() -> None:
    assert figures_named(["golf", "poisson"]) == [FIGURES["golf"], FIGURES["poisson"]]
    assert figures_named([]) == list(FIGURES.values())


def test_a_figure_that_is_named_twice_is_there_once() -> None:
    assert figures_named(["golf", "poisson", "golf"]) == [FIGURES["golf"], FIGURES["poisson"]]


def test_an_unknown_figure_is_answered_with_those_there_are() -> None:
    with pytest.raises(ValueError, match=r"no figure 'moon': .*driver-linear, driver-poly, "):
        figures_named(["golf", "moon", "sun"])


def test_runs_that_figures_share_are_planned_once() -> None:
    figures = figures_named(["driver-linear", "calibration", "questions-needed"])
    plan = plan_of(figures, TINY)
    assert len(set(plan)) == len(plan) < sum(len(figure.plan(TINY)) for figure in figures)
    assert set(plan) == {run for figure in figures for run in figure.plan(TINY)}


def test_a_quick_look_is_smaller_in_everything() -> None:
    paper = type(QUICK)()
    for size in ("runs", "questions", "trajectories", "test_size"):
        assert getattr(QUICK, size) < getattr(paper, size)
    everything = list(FIGURES.values())
    assert asked(plan_of(everything, QUICK)) < asked(plan_of(everything, paper)) / 10


def asked(plan: Iterable[Run]) -> int:
    return sum(run.setting.questions for run in plan)


# --- a real one -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One run of every method, taught in earnest."""
    made = tmp_path_factory.mktemp("reproduced") / "new" / "results"
    reported: list[Run] = []
    reproduce([FIGURE], SCALE, made, command="prefero reproduce --tiny", done=reported.append)
    assert sorted(run.key for run in reported) == sorted(run.key for run in set(FIGURE.plan(SCALE)))
    return made


def test_there_are_runs_a_picture_a_table_and_two_reports(folder: Path) -> None:
    found = {path.name for path in folder.iterdir()}
    assert found == {"runs", "driver-active.png", "results.parquet", "report.md", "report.html"}
    plan = set(FIGURE.plan(SCALE))
    assert {path.stem for path in (folder / "runs").iterdir()} == {run.key for run in plan}
    assert (folder / "driver-active.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")


def test_the_table_holds_every_question_of_every_run(folder: Path) -> None:
    rows = parquet.read_table(folder / "results.parquet").to_pylist()
    plan = set(FIGURE.plan(SCALE))
    assert {(row["method"], row["seed"], row["question"]) for row in rows} == {
        (run.method, run.seed, n) for run in plan for n in range(1, 16)
    }
    assert len(rows) == 15 * len(plan)
    assert {row["world"] for row in rows} == {"driver"}


def test_the_report_tells_what_the_table_holds(folder: Path) -> None:
    rows = parquet.read_table(folder / "results.parquet").to_pylist()
    (table,) = tables_in((folder / "report.md").read_text(encoding="utf-8"))
    reported = {row[0].partition(" (")[0]: row[1:4] for row in table[1:]}
    for label, method in {
        "Prefero": "Prefero",
        "Prefero, random": "Prefero, random",
        "ActiveGP tuned": full_name("ActiveGP", *TUNED),
        "RandomGP tuned": full_name("RandomGP", *TUNED),
    }.items():
        of = [
            [r["accuracy"] for r in rows if (r["method"], r["question"]) == (method, n)] for n in (5, 10, 15)
        ]
        assert reported[label] == [f"{np.mean(values):.3f}" for values in of]
    assert "`prefero reproduce --tiny`" in (folder / "report.md").read_text(encoding="utf-8")
    assert "hold" not in (folder / "report.md").read_text(encoding="utf-8")  # claims need all figures


def test_the_second_call_does_nothing_new(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def execute(run: Run) -> Any:
        raise AssertionError(f"{run} was done before")

    def task(*_: Any) -> Any:
        raise AssertionError("nothing is to be simulated")

    monkeypatch.setattr(backends, "execute", execute)
    monkeypatch.setattr("prefero.experiments.settings.Setting.task", task)
    before = {path: path.stat().st_mtime_ns for path in (folder / "runs").iterdir()}
    report, table = (
        (folder / "report.md").read_text(encoding="utf-8"),
        (folder / "results.parquet").read_bytes(),
    )
    reported: list[Run] = []
    reproduce([FIGURE], SCALE, folder, command="prefero reproduce --tiny", done=reported.append)
    assert reported == []
    assert {path: path.stat().st_mtime_ns for path in (folder / "runs").iterdir()} == before
    assert (folder / "report.md").read_text(encoding="utf-8") == report
    assert (folder / "results.parquet").read_bytes() == table


def test_more_runs_do_only_what_is_new(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    executed: list[Run] = []

    def execute(run: Run) -> Any:
        executed.append(run)
        raise KeyboardInterrupt

    monkeypatch.setattr(backends, "execute", execute)
    with pytest.raises(KeyboardInterrupt):
        reproduce([FIGURE], replace(SCALE, runs=2), folder)
    assert [run.seed for run in executed] == [1]


# --- from fabricated runs ---------------------------------------------------------------------------------


class Still(Figure):
    """A figure of the runs of another, drawn in no time."""

    def __init__(self, of: Figure) -> None:
        self.of, self.name, self.title = of, of.name, of.title

    def plan(self, scale: Any) -> list[Run]:
        return self.of.plan(scale)

    def draw(self, results: Results, scale: Any, path: Path) -> None:  # noqa: ARG002
        path.write_bytes(b"a picture")

    def describe(self, results: Results, scale: Any) -> str:  # noqa: ARG002
        return "It stands still.\n"


@pytest.fixture
def all_done(tmp_path: Path) -> Path:
    fabricate(Results(tmp_path), plan_of(list(FIGURES.values()), TINY))
    return tmp_path


def test_all_figures_together_are_judged_and_one_that_is_missing_is_no_reason_to_judge(
    all_done: Path,
) -> None:
    stills: list[Figure] = [Still(figure) for figure in FIGURES.values()]
    reproduce(stills, TINY, all_done)
    assert "## What holds, and what does not" in (all_done / "report.md").read_text(encoding="utf-8")
    reproduce(stills[1:], TINY, all_done)
    assert "## What holds, and what does not" not in (all_done / "report.md").read_text(encoding="utf-8")


def test_a_figure_without_runs_makes_no_table(tmp_path: Path) -> None:
    reproduce([Still(FIGURES["poisson"])], TINY, tmp_path / "out")
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"poisson.png", "report.md", "report.html"}
