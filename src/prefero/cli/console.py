"""What the commands share: the console, a look at paths before any work is done, and what was left out."""

from collections.abc import Mapping
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from prefero._support.optional import need
from prefero.datasets.base import Dataset

console = Console()
SERVER = ("fastapi", "uvicorn", "sqlalchemy", "alembic", "pyarrow")
PICTURES = (".png", ".pdf", ".svg")
MOST = 5  # episodes that were left out and are named


def check_server() -> None:
    """Before any work is done: is there all that a server takes?"""
    for package in SERVER:
        need(package, extra="server")


def check_paths(out: Path | None, save: Path | None) -> None:
    """Before any work is done: can what it makes be written?"""
    if out and out.suffix.lower() not in PICTURES:
        raise ValueError(f"a picture is one of {', '.join(PICTURES)}, but --out is {out}")
    for path in (out, save):
        if path:
            path.parent.mkdir(parents=True, exist_ok=True)


def check_apart(out: Path, what: str, dataset: Dataset) -> None:
    """Before any work is done: is nothing overwritten that it is made from?"""
    if out.resolve() in {Path(what).resolve(), *(path.resolve() for path in dataset.files)}:
        raise ValueError(f"{out} belongs to {what}, and would be overwritten: choose another --out")


def say_left_out(left_out: Mapping[str, str]) -> None:
    """Name the episodes that could not be used, with the reasons."""
    bad = list(left_out.items())
    for episode, why in bad[:MOST]:
        console.print(f"left out: episode {escape(episode)}: {escape(why)}.", soft_wrap=True, highlight=False)
    if len(bad) > MOST:
        console.print(f"left out: {len(bad) - MOST} more.")
