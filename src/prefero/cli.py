"""The command line: parse, one call, print."""

from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

import prefero
from prefero.asking import Purpose
from prefero.learner import Learner
from prefero.pictures import save_learning
from prefero.simulation import Task, make_task, teach

app = typer.Typer(
    help="Learn what a person wants from a robot by asking which of two behaviours they like better.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
console = Console()
PICTURES = (".png", ".pdf", ".svg")

Kind = Literal["linear", "quadratic", "bumpy"]


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
    kind: Annotated[Kind, typer.Argument(help="What the simulated person's reward is like.")] = "quadratic",
    questions: Annotated[int, typer.Option(min=1, help="How many questions the person answers.")] = 40,
    features: Annotated[int, typer.Option(min=1, help="How many features a trajectory has.")] = 2,
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
    task = make_task(
        kind,
        features=features,
        trajectories=trajectories,
        noise=noise,
        margin=margin,
        seed=seed,
    )
    active, random = Learner(task.pool, seed=seed), Learner(task.pool, seed=seed)
    curves = _teach_both(task, active, random, questions, purpose)
    reward = active.reward()
    console.print(_table(curves))
    best = reward.best(task.pool)
    true = task.person.reward(task.pool.scaled)
    console.print(f"After {questions} chosen question{'s' * (questions > 1)} {reward.describe()}.")
    console.print(
        f"The trajectory it likes best is number {best.index}: "
        f"truly better than {(true < true[best.index]).sum() / (len(true) - 1):.1%} of the others."
    )
    if save:
        reward.save(save)
        console.print(f"The reward is in {save}: prefero.load_reward({str(save)!r}) reads it.")
    if out:
        save_learning(out, curves, task, reward)
        console.print(f"The picture is in {out}.")


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
