"""`prefero reproduce`: the paper's experiments."""

import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from prefero._support.engine import Backend
from prefero._support.progress_bar import progress
from prefero.cli.console import check_report, check_server, console, say
from prefero.cli.study_tables import print_study_table

if TYPE_CHECKING:
    from prefero.experiments.runs import Run


def reproduce(
    figure: Annotated[
        list[str] | None,
        typer.Option(help="A figure by its name; repeat it for several; by default all figures."),
    ] = None,
    runs: Annotated[int, typer.Option(min=1, help="How many runs, each with its own seed.")] = 5,
    questions: Annotated[int, typer.Option(min=15, help="How many questions a run has.")] = 200,
    test_size: Annotated[
        int, typer.Option(min=2, help="How many diverse trajectories the test set has.")
    ] = 40,
    seed: Annotated[int, typer.Option(min=0, help="The seed of the first run.")] = 0,
    jobs: Annotated[int, typer.Option(min=1, help="How many runs to execute at once.")] = 2,
    out: Annotated[Path, typer.Option(help="The folder for runs, figures and the report.")] = Path("results"),
    backend: Annotated[Backend, typer.Option(help="Where runs are executed.")] = "local",
    address: Annotated[
        str | None, typer.Option(help="The address of the dask scheduler or the ray cluster.")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Small runs for a first look; the sizes above are ignored.")
    ] = False,
    study: Annotated[
        Path | None,
        typer.Option(help="Compute golf's table from the answers in this folder of an exported study."),
    ] = None,
    names: Annotated[bool, typer.Option("--list", help="List the figures and exit.")] = False,
) -> None:
    """Regenerate the paper's simulation figures and tables; finished runs are not repeated.

    For example:

        prefero reproduce --figure driver-poly --quick
    """
    from prefero.experiments.figures.base import Scale
    from prefero.experiments.reproduce import FIGURES, QUICK, figures_named, plan_of
    from prefero.experiments.reproduce import reproduce as run_and_report
    from prefero.experiments.results import Results

    if names:
        for name, known in FIGURES.items():
            console.print(f"{name:18s} {known.title}", soft_wrap=True)
        return
    check_report()
    if out.exists() and not out.is_dir():
        raise NotADirectoryError(f"{out} is a file: give a folder for the results with --out")
    if study is not None:
        _study_table(study, out)
        return
    chosen = figures_named(figure or [])
    scale = QUICK if quick else Scale(runs=runs, questions=questions, test_size=test_size, first_seed=seed)
    missing = Results(out).missing(plan_of(chosen, scale))
    say(f"{len(missing)} runs to do; finished runs are saved in {out}.")
    command = shlex.join(["prefero", *sys.argv[1:]])
    with _question_progress(missing) as done:
        run_and_report(
            chosen, scale, out, jobs=jobs, backend=backend, address=address, command=command, done=done
        )
    say(f"The report is in {out / 'report.html'} and {out / 'report.md'}.")


@contextmanager
def _question_progress(runs: Sequence["Run"]) -> Iterator[Callable[["Run"], None]]:
    """A bar of the questions of these runs; the function is called with each finished run."""
    with progress("questions of all runs", sum(run.setting.questions for run in runs)) as advance:
        yield lambda run: advance(run.setting.questions)


def _study_table(study: Path, out: Path) -> None:
    check_server()
    from prefero.experiments.study import read_study
    from prefero.plots.user_study import draw_study, study_table

    outcomes = read_study(study)
    out.mkdir(parents=True, exist_ok=True)
    draw_study(outcomes, out / "golf-study.png")
    print_study_table(study_table(outcomes))
    say(f"The figure is in {out / 'golf-study.png'}.")
