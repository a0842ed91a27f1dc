"""Reproducing the paper: plan the runs of figures, execute them, draw from the saved rows, and report."""

from collections.abc import Callable, Sequence
from pathlib import Path

from prefero._support.engine import Backend
from prefero._support.names import no_such
from prefero.experiments.backends import execute_runs
from prefero.experiments.figures.ablations import ABLATIONS
from prefero.experiments.figures.base import Figure, Scale
from prefero.experiments.figures.calibration import Calibration
from prefero.experiments.figures.curves import CURVES
from prefero.experiments.figures.golf import GOLF
from prefero.experiments.figures.questions_needed import QuestionsNeeded
from prefero.experiments.figures.static import STATIC
from prefero.experiments.report import write_report
from prefero.experiments.results import Results
from prefero.experiments.runs import Run

FIGURES: dict[str, Figure] = {
    figure.name: figure for figure in [*CURVES, *STATIC, QuestionsNeeded(), Calibration(), *ABLATIONS, *GOLF]
}
QUICK = Scale(runs=2, questions=30, trajectories=150, test_size=20, thetas=(0.01, 1.0), sigmas=(0.03,))


def figures_named(names: Sequence[str]) -> list[Figure]:
    """These figures, or all if none is named."""
    unknown = [name for name in names if name not in FIGURES]
    if unknown:
        raise ValueError(no_such("figure", unknown[0], tuple(FIGURES)))
    return [FIGURES[name] for name in dict.fromkeys(names)] or list(FIGURES.values())


def plan_of(figures: Sequence[Figure], scale: Scale) -> list[Run]:
    """All runs that the figures need, each once."""
    return list(dict.fromkeys(run for figure in figures for run in figure.plan(scale)))


def reproduce(
    figures: Sequence[Figure],
    scale: Scale,
    folder: Path,
    *,
    jobs: int = 1,
    backend: Backend = "local",
    address: str | None = None,
    command: str = "prefero reproduce",
    done: Callable[[Run], None] = lambda run: None,  # noqa: ARG005
) -> None:
    """Run what is missing, then draw every figure and write the report."""
    results, plan = Results(folder), plan_of(figures, scale)
    folder.mkdir(parents=True, exist_ok=True)
    execute_runs(plan, results, jobs=jobs, backend=backend, address=address, done=done)
    for figure in figures:
        figure.draw(results, scale, folder / f"{figure.name}.png")
    if plan:
        results.export(plan, folder / "results.parquet")
    write_report(figures, results, scale, folder, command, whole=len(figures) == len(FIGURES))
