"""The command line: parse, one call, print."""

from typing import Annotated

import typer

import prefero
from prefero.cli.arena import arena
from prefero.cli.console import console
from prefero.cli.export import export
from prefero.cli.features import features
from prefero.cli.help import Commands, SuggestingGroup
from prefero.cli.judge import judge
from prefero.cli.pairs import pairs
from prefero.cli.push import push
from prefero.cli.rank import rank
from prefero.cli.report import report
from prefero.cli.reproduce import reproduce
from prefero.cli.rerun import rerun
from prefero.cli.score import score
from prefero.cli.simulate import simulate
from prefero.cli.study import study
from prefero.cli.teach import teach
from prefero.cli.worlds import show, worlds

app = Commands(
    cls=SuggestingGroup,
    help="Learn a robot's reward function from a person's preferences between trajectories.",
    add_completion=False,
    pretty_exceptions_enable=False,
)
commands = (
    teach,
    judge,
    features,
    score,
    rank,
    report,
    rerun,
    pairs,
    export,
    push,
    simulate,
    worlds,
    show,
    reproduce,
)
for command in commands:
    app.command()(command)
app.add_typer(study, name="study")
app.add_typer(arena, name="arena")


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
    """Learn a robot's reward function from a person's preferences between trajectories."""
