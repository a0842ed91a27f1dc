"""`prefero simulate`: a simulated user teaches in the terminal."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

import prefero
from prefero._support.sentences import percent, pluralize
from prefero.acquisition.base import Purpose
from prefero.cli.console import check_figure, check_outputs, console, say
from prefero.learner import Learner
from prefero.models.explain.learning_progress import check_goal
from prefero.plots.learning import save_learning
from prefero.simulation.tasks import Task, make_task, predicted_fraction, teach, world_task

Kind = Literal["linear", "quadratic", "bumpy", "targets", "like-people"]
SYNTHETIC = "synthetic"


def simulate(
    world: Annotated[
        str, typer.Argument(help="A world (driver, tosser, golf), or 'synthetic': random features, no robot.")
    ] = SYNTHETIC,
    reward: Annotated[
        Kind,
        typer.Option(
            help="The family of the user's reward; 'targets' is for golf only, and 'like-people' is a user "
            "whose reward, noise and lapses are like those of real people."
        ),
    ] = "quadratic",
    questions: Annotated[int, typer.Option(min=1, help="How many questions the user answers.")] = 40,
    until: Annotated[
        float | None,
        typer.Option(
            metavar="FRACTION",
            help="Stop earlier, when the reward is expected to predict this fraction of the user's answers, "
            "for example 0.9.",
        ),
    ] = None,
    features: Annotated[int, typer.Option(min=1, help="How many features a synthetic trajectory has.")] = 2,
    trajectories: Annotated[int, typer.Option(min=2, help="The size of the pool.")] = 500,
    noise: Annotated[
        float | None,
        typer.Option(
            help="The user's noise; rewards have standard deviation 1. By default 0.1, or a drawn one for "
            "'like-people'."
        ),
    ] = None,
    margin: Annotated[
        float, typer.Option(help="The user answers 'about equal' if the perceived difference is below it.")
    ] = 0.0,
    lapse_rate: Annotated[
        float | None,
        typer.Option(
            help="The probability that the user answers at random. By default 0, or a drawn one for "
            "'like-people'."
        ),
    ] = None,
    purpose: Annotated[
        Purpose, typer.Option(help="Learn the reward everywhere, or find the best trajectory soon.")
    ] = "learn",
    seed: Annotated[
        int, typer.Option(min=0, help="The seed of the reward, the trajectories and the answers.")
    ] = 0,
    out: Annotated[
        Path | None, typer.Option(help="Save a figure of the accuracies to this file (.png, .pdf, .svg).")
    ] = None,
    save: Annotated[Path | None, typer.Option(help="Save the learned reward to this file (.json).")] = None,
) -> None:
    """Simulate a user who teaches a reward, with active and with random questions.

    For example:

        prefero simulate tosser --questions 30 --out learning.png
    """
    check_figure(out)
    check_outputs(out, save)
    goal = until if until is None else check_goal(until)
    made = (
        partial(make_task, reward, features=features)
        if world == SYNTHETIC
        else partial(world_task, prefero.worlds.make(world), reward)
    )
    task = made(trajectories=trajectories, noise=noise, margin=margin, lapse_rate=lapse_rate, seed=seed)
    active, random = Learner(task.pool, seed=seed), Learner(task.pool, seed=seed)
    curves = _teach_both(task, active, random, questions, purpose, goal)
    console.print(_table(curves))
    for line in (*_goal_lines(active, questions, goal), *_closing_lines(task, active)):
        console.print(line)
    if save:
        active.reward().save(save)
        say(f"The reward is in {save}: prefero.load_reward({str(save)!r}) reads it.")
    if out:
        save_learning(out, curves, task, active)
        say(f"The figure is in {out}.")


def _goal_lines(learner: Learner, questions: int, goal: float | None) -> Iterator[str]:
    """Whether the fraction that was wanted is reached."""
    if goal is None:
        return
    progress = learner.progress()
    if progress.reaches(goal):
        asked = f"{progress.answers} of {questions} questions"
        yield f"{percent(goal)} was wanted: it stopped asking after {asked}."
    else:
        yield f"{percent(goal)} was wanted, and is not reached after {pluralize(questions, 'question')}."


def _closing_lines(task: Task, learner: Learner) -> Iterator[str]:
    """What was learned from active questions, beside the truth, which only a simulation knows."""
    reward, progress = learner.reward(), learner.progress()
    yield f"With active questions, {progress}."
    if not progress.is_early:
        yield f"In truth it predicts {percent(predicted_fraction(reward, task))} of the user's answers."
    yield from (statement.sentence for statement in reward.explain(task.pool, whose="the user's"))
    best, true = reward.best(task.pool), task.user.reward(task.pool.scaled)
    worse = (true < true[best.index]).sum() / (len(true) - 1)
    yield (
        f"The trajectory with the largest learned reward is number {best.index}: {best.mean:.1f} ± "
        f"{best.std:.1f} standard deviations (of the reward over the pool) above the average one."
    )
    yield f"The user's reward of it is above that of {worse:.1%} of the others."


def _teach_both(
    task: Task, active: Learner, random: Learner, questions: int, purpose: Purpose, goal: float | None
) -> dict[str, list[float]]:
    """Accuracy after every answer, for active and for random questions, with a progress bar.

    Both end when the active questions have reached the goal.
    """
    columns = (
        TextColumn("teaching a {task.fields[kind]} reward"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("accuracy [bold]{task.fields[active]:.2f}[/] active, {task.fields[random]:.2f} random"),
        TimeRemainingColumn(),
    )
    curves: dict[str, list[float]] = {"active questions": [], "random questions": []}
    with Progress(*columns, console=console) as progress:
        bar = progress.add_task("", total=questions, kind=task.kind, active=0.5, random=0.5)
        actives, randoms = (
            teach(task, active, questions, purpose=purpose, seed=active.seed),
            teach(task, random, questions, strategy="random", seed=random.seed),
        )
        for one, other in zip(actives, randoms, strict=True):
            curves["active questions"].append(one.accuracy)
            curves["random questions"].append(other.accuracy)
            progress.update(bar, advance=1, active=one.accuracy, random=other.accuracy)
            if goal is not None and active.progress().reaches(goal):
                break
    return curves


def _table(curves: dict[str, list[float]]) -> Table:
    """Accuracy at a few numbers of questions."""
    length = len(next(iter(curves.values())))
    at = [n for n in (1, 5, 10, 15, 20, 30, 40, 60, 80, 100, 150, 200) if n < length] + [length]
    table = Table("accuracy after", *(str(n) for n in at), title=None)
    for name, values in curves.items():
        table.add_row(name, *(f"{values[n - 1]:.3f}" for n in at))
    return table
