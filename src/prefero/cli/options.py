"""Options that several commands have: which dataset is meant, and what is noted of its episodes."""

from pathlib import Path
from typing import Annotated

import typer

from prefero.datasets.features.library import FEATURE_WORDS

Words = Annotated[
    list[str] | None,
    typer.Option(
        "--feature", help=f"What to note, again for more: {', '.join(FEATURE_WORDS)}, or module:function."
    ),
]
Window = Annotated[str | None, typer.Option(help="Cut episodes into windows: '2s', or 50 steps.")]
Stride = Annotated[str | None, typer.Option(help="From one window's start to the next.")]
Logarithms = Annotated[
    list[str] | None, typer.Option(help="A feature to take the logarithm of, again for more.")
]
Drop = Annotated[list[str] | None, typer.Option(help="A feature to leave out, again for more.")]
Like = Annotated[
    str | None,
    typer.Option(help="Another dataset, whose episodes components(n) and network(n) look at first."),
]
SkipBad = Annotated[bool, typer.Option("--skip-bad", help="Leave out episodes that are damaged.")]
Jobs = Annotated[int | None, typer.Option(min=1, help="How many processes work; all cores.")]
Task = Annotated[str | None, typer.Option(help="Only the episodes of this task of a LeRobot dataset.")]
Camera = Annotated[
    str | None, typer.Option(help="Whose films or pictures are shown, by its name; none shows none.")
]
Render = Annotated[bool, typer.Option("--render", help="Let a Minari dataset's environment make films.")]
ClipTable = Annotated[Path | None, typer.Option(help="The table of a folder of clips.")]
Seconds = Annotated[float | None, typer.Option(help="How long a step of a Minari dataset lasts.")]
Episodes = Annotated[int | None, typer.Option(min=1, help="How often an environment is played.")]
Policy = Annotated[
    str | None, typer.Option(help="Who plays it: module:function of an observation; random without.")
]
StepRange = Annotated[int | None, typer.Option(min=1, help="How long it is played at most.")]
Seed = Annotated[int | None, typer.Option(min=0, help="Decides how it is played.")]
