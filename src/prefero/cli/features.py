"""`prefero features`: what can be noted of a dataset's trajectories, before anybody is asked."""

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from prefero.cli.console import check_apart, check_paths, console, say_left_out
from prefero.cli.options import (
    Camera,
    ClipTable,
    Drop,
    Episodes,
    Jobs,
    Like,
    Logarithms,
    Policy,
    Render,
    Seconds,
    Seed,
    SkipBad,
    StepRange,
    Stride,
    Task,
    Window,
    Words,
)
from prefero.datasets.features.embeddings import Embedding
from prefero.datasets.features.extract import extract_features
from prefero.datasets.features.library import extractor_for
from prefero.datasets.features.summary import save_histograms, summary
from prefero.datasets.features.table import FeatureTable
from prefero.datasets.features.windows import Windows
from prefero.datasets.registry import open_dataset

OUT = Path("features.parquet")


def features(
    dataset: Annotated[
        str,
        typer.Argument(
            help="A LeRobot or Minari dataset, clips with a table, a table, an .npz, or an environment."
        ),
    ],
    feature: Words = None,
    window: Window = None,
    stride: Stride = None,
    like: Like = None,
    drop: Drop = None,
    log: Logarithms = None,
    skip_bad: SkipBad = False,
    out: Annotated[Path, typer.Option(help="Keep the features here (.parquet).")] = OUT,
    picture: Annotated[
        Path | None, typer.Option(help="Save their histograms here (.png, .pdf, .svg).")
    ] = None,
    jobs: Jobs = None,
    task: Task = None,
    camera: Camera = None,
    render: Render = False,
    table: ClipTable = None,
    seconds: Seconds = None,
    episodes: Episodes = None,
    policy: Policy = None,
    steps: StepRange = None,
    seed: Seed = None,
) -> None:
    """Note features of a dataset's trajectories, keep them, and say what is wrong with them."""
    check_paths(picture, out)
    windows = Windows.maybe(window, stride)
    _check(feature or [])
    played = {"episodes": episodes, "policy": policy, "steps": steps, "seed": seed}
    shown: dict[str, Any] = {"task": task, "camera": camera, "render": render}
    options: dict[str, Any] = {"table": table, "seconds": seconds, **shown}
    opened = open_dataset(dataset, **options, **played)
    check_apart(out, dataset, opened)
    found = extract_features(
        opened,
        feature,
        windows=windows,
        like=None if like is None else open_dataset(like),
        skip_bad=skip_bad,
        keep=out,
        jobs=jobs,
    )
    found = found.without(drop or [])
    found = found.logarithms(log) if log else found
    _say(found)
    if picture:
        save_histograms(picture, found)
        console.print(f"The histograms are in {picture}.", soft_wrap=True, markup=False)
    found.useful().publish(out)
    again = shlex.join(["prefero", "teach", str(out)])
    console.print(
        f"The features are in {out}. To be asked about them:  {again}", soft_wrap=True, markup=False
    )


def _check(wanted: list[str]) -> None:
    """Before any work is done: are there such features?"""
    for word in wanted:
        if Embedding.of(word) is None:
            extractor_for(word)


def _say(found: FeatureTable) -> None:
    what = "windows" if any(found.parts) else "trajectories"
    console.print(f"{escape(found.dataset.name)}: {len(found)} {what}, {len(found.names)} features.")
    table = Table("feature", "lowest", "median", "highest", "histogram", "", title=None)
    for line in summary(found):
        numbers = (f"{value:.4g}" for value in (line.low, line.median, line.high))
        table.add_row(escape(line.name), *numbers, line.histogram, f"[yellow]{line.trouble}[/]")
    console.print(table)
    for advice in found.advice():
        console.print(f"[yellow]{advice.kind}[/]: {escape(advice.words)}.", soft_wrap=True, highlight=False)
    say_left_out(found.left_out)
