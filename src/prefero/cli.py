"""The command line: parse, one call, print."""

import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

import prefero
from prefero.asking import Purpose
from prefero.extras import MissingExtra
from prefero.files import cache_folder
from prefero.learner import Learner
from prefero.pictures import save_learning
from prefero.pools import Pool
from prefero.simulation import Task, make_task, teach, world_task

if TYPE_CHECKING:
    from prefero.experiments.runs import Run
    from prefero.worlds.base import World

app = typer.Typer(
    help="Learn what a person wants from a robot by asking which of two behaviours they like better.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
console = Console()
PICTURES = (".png", ".pdf", ".svg")

Kind = Literal["linear", "quadratic", "bumpy", "targets"]
View = Literal["clip", "samples", "poisson", "targets"]
SYNTHETIC = "synthetic"
Backend = Literal["local", "dask", "ray"]


def _version(wanted: bool) -> None:
    if wanted:
        console.print(f"prefero {prefero.__version__}")
        raise typer.Exit


@app.callback()
def common(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Learn what a person wants from a robot by asking which of two behaviours they like better."""


@app.command()
def simulate(
    world: Annotated[
        str, typer.Argument(help="A world (driver, tosser, golf), or 'synthetic': random features, no robot.")
    ] = SYNTHETIC,
    reward: Annotated[
        Kind, typer.Option(help="What the person's reward is like; 'targets' is golf's.")
    ] = "quadratic",
    questions: Annotated[int, typer.Option(min=1, help="How many questions the person answers.")] = 40,
    features: Annotated[int, typer.Option(min=1, help="How many features a synthetic trajectory has.")] = 2,
    trajectories: Annotated[int, typer.Option(min=2, help="How many trajectories can be asked about.")] = 500,
    noise: Annotated[
        float, typer.Option(help="The person's noise; rewards have standard deviation 1.")
    ] = 0.1,
    margin: Annotated[float, typer.Option(help="Differences below it are answered 'about equal'.")] = 0.0,
    purpose: Annotated[
        Purpose, typer.Option(help="Learn the reward everywhere, or find the best.")
    ] = "learn",
    seed: Annotated[
        int, typer.Option(min=0, help="Decides the reward, the trajectories and the answers.")
    ] = 0,
    out: Annotated[
        Path | None, typer.Option(help="Save a picture of the learning here (.png, .pdf, .svg).")
    ] = None,
    save: Annotated[Path | None, typer.Option(help="Save the learned reward here (.json).")] = None,
) -> None:
    """A simulated person teaches a reward in the terminal, with chosen questions beside random ones."""
    _check_paths(out, save)
    made = (
        partial(make_task, reward, features=features)
        if world == SYNTHETIC
        else partial(world_task, prefero.worlds.make(world), reward)
    )
    task = made(trajectories=trajectories, noise=noise, margin=margin, seed=seed)
    active, random = Learner(task.pool, seed=seed), Learner(task.pool, seed=seed)
    curves = _teach_both(task, active, random, questions, purpose)
    learned = active.reward()
    console.print(_table(curves))
    best = learned.best(task.pool)
    true = task.person.reward(task.pool.scaled)
    console.print(f"After {questions} chosen question{'s' * (questions > 1)} {learned.describe()}.")
    console.print(
        f"The trajectory it likes best is number {best.index}: "
        f"truly better than {(true < true[best.index]).sum() / (len(true) - 1):.1%} of the others."
    )
    if save:
        learned.save(save)
        console.print(f"The reward is in {save}: prefero.load_reward({str(save)!r}) reads it.")
    if out:
        save_learning(out, curves, task, learned)
        console.print(f"The picture is in {out}.")


@app.command()
def worlds() -> None:
    """List the worlds: what a robot is told there, what is noted of it, and whether it runs here."""
    table = Table("world", "actions", "features", "lasts", "physics", title=None)
    for name in prefero.worlds.names():
        try:
            world = prefero.worlds.make(name)
        except MissingExtra as error:
            table.add_row(name, "", "", "", f"[red]{escape(str(error))}")
            continue
        noted = ", ".join(f"{f.name} ({f.unit})" if f.unit else f.name for f in world.features)
        table.add_row(name, _summary(world.actions.names), noted, f"{world.seconds:g} s", world.physics)
    console.print(table)
    console.print(f"Simulated pools are kept in {cache_folder()}; what is there can be deleted.")


def _summary(names: tuple[str, ...]) -> str:
    return ", ".join(names) if len(names) < 4 else f"{len(names)}: {names[0]}, {names[1]}, ..."


@app.command()
def show(
    world: Annotated[str, typer.Argument(help="A world: driver, tosser or golf.")],
    out: Annotated[
        Path, typer.Option(help="A film (.mp4), a strip or picture (.png, .pdf, .svg), or a replay (.json).")
    ],
    seed: Annotated[int, typer.Option(min=0, help="Decides the random action, or the pool of a view.")] = 0,
    actions: Annotated[
        str | None, typer.Option(help="The action itself instead: numbers with commas between them.")
    ] = None,
    frames: Annotated[int, typer.Option(min=1, help="How many pictures a strip has.")] = 6,
    view: Annotated[
        View,
        typer.Option(
            help="One trajectory, or a picture of many: sample paths, a diverse set, golf's targets."
        ),
    ] = "clip",
) -> None:
    """Show a trajectory of a world, or one of the paper's views of it, in a file."""
    from prefero.showing import check_clip, save_clip

    made = prefero.worlds.make(world)
    out.parent.mkdir(parents=True, exist_ok=True)
    if view != "clip":
        _show_view(view, made, seed, out)
    else:
        check_clip(out)
        action = (
            made.actions.sample(1, np.random.default_rng(seed))[0] if actions is None else _numbers(actions)
        )
        trajectory = made.rollout(action)
        save_clip(out, made, trajectory, frames=frames)
        for feature, value in zip(made.features, trajectory.features, strict=True):
            console.print(f"{feature.name}: {value:.3g} {feature.unit}")
    console.print(f"It is in {out}.")


def _numbers(text: str) -> list[float]:
    try:
        return [float(word) for word in text.split(",")]
    except ValueError as error:
        raise ValueError(f"--actions are numbers with commas between them, but are {text!r}") from error


def _show_view(view: View, world: "World", seed: int, out: Path) -> None:
    from prefero import views
    from prefero.worlds.golf import Golf

    _check_paths(out, None)
    if view == "targets":
        if not isinstance(world, Golf):
            raise ValueError(f"only golf has targets, but the world is {world.name}")
        views.save_targets(out, world)
    elif view == "samples":
        views.check_samples(world)
        views.save_samples(out, world, Pool.simulate(world, 1000, seed), seed=seed)
    else:
        views.save_poisson(out, Pool.simulate(world, 1000, seed), seed=seed)


@app.command()
def reproduce(
    figure: Annotated[
        list[str] | None,
        typer.Option(help="A figure by name, more than once if you like; none: all of them."),
    ] = None,
    runs: Annotated[int, typer.Option(min=1, help="How many runs, each with its own seed.")] = 5,
    questions: Annotated[int, typer.Option(min=15, help="How many questions a run has.")] = 200,
    tests: Annotated[int, typer.Option(min=2, help="How many diverse trajectories an exam has.")] = 40,
    seed: Annotated[int, typer.Option(min=0, help="The first run's seed.")] = 0,
    jobs: Annotated[int, typer.Option(min=1, help="How many runs at once.")] = 2,
    out: Annotated[Path, typer.Option(help="The folder for runs, figures and the report.")] = Path("results"),
    backend: Annotated[Backend, typer.Option(help="Where runs are carried out.")] = "local",
    address: Annotated[str | None, typer.Option(help="Of the dask scheduler or the ray cluster.")] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="A first look: small, whatever the sizes above are.")
    ] = False,
    study: Annotated[
        Path | None,
        typer.Option(help="A study's exported folder: the golf table from real people's answers."),
    ] = None,
    names: Annotated[bool, typer.Option("--list", help="List the figures and end.")] = False,
) -> None:
    """Regenerate the paper's simulation figures and tables; what is done is kept, and not done again."""
    from prefero.experiments.figures import Scale
    from prefero.experiments.reproduce import FIGURES, QUICK, figures_named, plan_of
    from prefero.experiments.reproduce import reproduce as carry_out
    from prefero.experiments.results import Results

    if names:
        for name, known in FIGURES.items():
            console.print(f"{name:18s} {known.title}", soft_wrap=True)
        return
    if study is not None:
        _study_table(study, out)
        return
    chosen = figures_named(figure or [])
    scale = QUICK if quick else Scale(runs=runs, questions=questions, tests=tests, first_seed=seed)
    missing = Results(out).missing(plan_of(chosen, scale))
    console.print(f"{len(missing)} runs to do; what is done is kept in {out}.")
    with _run_progress(missing) as done:
        carry_out(
            chosen,
            scale,
            out,
            jobs=jobs,
            backend=backend,
            address=address,
            command=shlex.join(["prefero", *sys.argv[1:]]),
            done=done,
        )
    console.print(f"The report is in {out / 'report.html'} and {out / 'report.md'}.")


def _study_table(study: Path, out: Path) -> None:
    from prefero.experiments.golf import draw_study, study_table
    from prefero.experiments.study import read_study

    outcomes = read_study(study)
    out.mkdir(parents=True, exist_ok=True)
    draw_study(outcomes, out / "golf-study.png")
    console.print(study_table(outcomes), soft_wrap=True)
    console.print(f"The picture is in {out / 'golf-study.png'}.")


@contextmanager
def _run_progress(missing: Sequence["Run"]) -> Iterator[Callable[["Run"], None]]:
    """Runs and questions done, and the time that is left, by questions."""
    columns = (
        TextColumn("runs {task.fields[runs]}/{task.fields[all]}, questions"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("[dim]{task.fields[last]}"),
    )
    finished = 0
    with Progress(*columns, console=console) as progress:
        total = sum(run.setting.questions for run in missing)
        bar = progress.add_task("", total=total, runs=0, all=len(missing), last="")

        def done(run: "Run") -> None:
            nonlocal finished
            finished += 1
            last = f"{run.setting.world} {run.setting.truth}, {run.method}"
            progress.update(bar, advance=run.setting.questions, runs=finished, last=last)

        yield done


def _check_paths(out: Path | None, save: Path | None) -> None:
    """Before any work is done: can what it makes be written?"""
    if out and out.suffix.lower() not in PICTURES:
        raise ValueError(f"a picture is one of {', '.join(PICTURES)}, but --out is {out}")
    for path in (out, save):
        if path:
            path.parent.mkdir(parents=True, exist_ok=True)


def _teach_both(
    task: Task, active: Learner, random: Learner, questions: int, purpose: Purpose
) -> dict[str, list[float]]:
    """Accuracy after every answer, for chosen and for random questions, with a progress bar."""
    columns = (
        TextColumn("teaching a {task.fields[kind]} reward"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("accuracy [bold]{task.fields[active]:.2f}[/] chosen, {task.fields[random]:.2f} random"),
        TimeRemainingColumn(),
    )
    curves: dict[str, list[float]] = {"chosen questions": [], "random questions": []}
    with Progress(*columns, console=console) as progress:
        bar = progress.add_task("", total=questions, kind=task.kind, active=0.5, random=0.5)
        chosen, others = (
            teach(task, active, questions, purpose=purpose, seed=active.seed),
            teach(task, random, questions, how="random", seed=random.seed),
        )
        for one, other in zip(chosen, others, strict=True):
            curves["chosen questions"].append(one.accuracy)
            curves["random questions"].append(other.accuracy)
            progress.update(bar, advance=1, active=one.accuracy, random=other.accuracy)
    return curves


def _table(curves: dict[str, list[float]]) -> Table:
    """Accuracy at a few numbers of questions."""
    length = len(next(iter(curves.values())))
    at = [n for n in (1, 5, 10, 15, 20, 30, 40, 60, 80, 100, 150, 200) if n < length] + [length]
    table = Table("accuracy after", *(str(n) for n in at), title=None)
    for name, values in curves.items():
        table.add_row(name, *(f"{values[n - 1]:.3f}" for n in at))
    return table
