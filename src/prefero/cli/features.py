"""`prefero features`: what can be noted of a dataset's trajectories, before anybody is asked."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from prefero.cli.common import check_paths, console
from prefero.datasets.embeddings import Embedding
from prefero.datasets.gathering import Gathered, gather
from prefero.datasets.library import LIBRARY, Windows, note_for
from prefero.datasets.opening import open_dataset
from prefero.datasets.summary import save_histograms, summary

OUT = Path("features.parquet")
MOST = 5  # episodes that were left out and are named


def features(
    dataset: Annotated[
        str,
        typer.Argument(
            help="A LeRobot or Minari dataset, clips with a table, a table, an .npz, or an environment."
        ),
    ],
    feature: Annotated[
        list[str] | None,
        typer.Option(help=f"What to note, again for more: {', '.join(LIBRARY)}, or module:function."),
    ] = None,
    window: Annotated[str | None, typer.Option(help="Cut episodes into windows: '2s', or 50 steps.")] = None,
    stride: Annotated[str | None, typer.Option(help="From one window's start to the next.")] = None,
    drop: Annotated[list[str] | None, typer.Option(help="A feature to leave out, again for more.")] = None,
    log: Annotated[
        list[str] | None, typer.Option(help="A feature to take the logarithm of, again for more.")
    ] = None,
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Leave out episodes that are damaged.")
    ] = False,
    out: Annotated[Path, typer.Option(help="Keep the features here (.parquet).")] = OUT,
    picture: Annotated[
        Path | None, typer.Option(help="Save their histograms here (.png, .pdf, .svg).")
    ] = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="How many processes work; all cores.")] = None,
    camera: Annotated[str | None, typer.Option(help="Whose films of a LeRobot dataset are shown.")] = None,
    render: Annotated[
        bool, typer.Option("--render", help="Let a Minari dataset's environment make films.")
    ] = False,
    table: Annotated[Path | None, typer.Option(help="The table of a folder of clips.")] = None,
    seconds: Annotated[float | None, typer.Option(help="How long a step of a Minari dataset lasts.")] = None,
    episodes: Annotated[int | None, typer.Option(min=1, help="How often an environment is played.")] = None,
    policy: Annotated[
        str | None, typer.Option(help="Who plays it: module:function of an observation; random without.")
    ] = None,
    steps: Annotated[int | None, typer.Option(min=1, help="How long it is played at most.")] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Decides how it is played.")] = None,
) -> None:
    """Note features of a dataset's trajectories, keep them, and say what is wrong with them."""
    check_paths(picture, out)
    if Path(dataset).resolve() == out.resolve():
        raise ValueError(f"{dataset} would be overwritten by what is noted of it: choose another --out")
    windows = None if window is None else Windows.of(window, stride)
    _check(feature or [])
    played = {"episodes": episodes, "policy": policy, "steps": steps, "seed": seed}
    options: dict[str, Any] = {"camera": camera, "render": render, "table": table, "seconds": seconds}
    found = gather(
        open_dataset(dataset, **options, **played),
        feature,
        windows=windows,
        skip_bad=skip_bad,
        keep=out,
        jobs=jobs,
    )
    found = found.without(drop or [])
    found = found.logarithms(log) if log else found
    _say(found)
    if picture:
        save_histograms(picture, found)
        console.print(f"The histograms are in {picture}.")
    found.useful().publish(out)
    console.print(f"The features are in {out}: prefero.Pool.from_table({str(out)!r}) reads them.")


def _check(wanted: list[str]) -> None:
    """Before any work is done: are there such features?"""
    for word in wanted:
        if Embedding.of(word) is None:
            note_for(word)


def _say(found: Gathered) -> None:
    what = "windows" if any(found.parts) else "trajectories"
    console.print(f"{escape(found.dataset.name)}: {len(found)} {what}, {len(found.names)} features.")
    table = Table("feature", "lowest", "median", "highest", "histogram", "", title=None)
    for line in summary(found):
        numbers = (f"{value:.4g}" for value in (line.low, line.median, line.high))
        table.add_row(escape(line.name), *numbers, line.histogram, f"[yellow]{line.trouble}[/]")
    console.print(table)
    for advice in found.advice():
        console.print(f"[yellow]{advice.kind}[/]: {escape(advice.words)}.", soft_wrap=True, highlight=False)
    bad = list(found.left_out.items())
    for episode, why in bad[:MOST]:
        console.print(f"left out: episode {escape(episode)}: {escape(why)}.", soft_wrap=True, highlight=False)
    if len(bad) > MOST:
        console.print(f"left out: {len(bad) - MOST} more.")
