"""What all commands use: the console, checks before any work is done, and lists of skipped episodes."""

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from rich.console import Console, ConsoleOptions, RenderableType
from rich.markup import escape
from rich.segment import Segment

from prefero._support.files import missing_folder
from prefero._support.optional import need, need_writer
from prefero._support.text import printable


class PlainConsole(Console):
    """A console that prints names from files as they are: characters that a terminal obeys are escaped."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        """The text and its styles; only the styles may hold commands for the terminal."""
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else printable(text), style, control)


console = PlainConsole()
SERVER = ("fastapi", "uvicorn", "sqlalchemy", "alembic", "pyarrow", "segno")
FIGURES = (".png", ".pdf", ".svg")
MOST_NAMED = 5  # skipped episodes that are listed, at most


def check_server() -> None:
    """An error, before any work is done, if a package is missing that the server needs."""
    for package in SERVER:
        need(package, extra="server")


def check_figure(figure: Path | None) -> None:
    """An error, before any work is done, if a figure cannot have this path."""
    if figure and figure.suffix.lower() not in FIGURES:
        raise ValueError(f"a figure is saved as {', '.join(FIGURES)}, but the path is {figure}")


def check_outputs(*paths: Path | None) -> None:
    """An error, before any work is done, if these files cannot be written; their folders are made."""
    for path in filter(None, paths):
        need_writer(path)
        if path.is_dir():
            raise IsADirectoryError(f"{path} is a folder: give a file, such as {path / 'NAME'}{path.suffix}")
        path.parent.mkdir(parents=True, exist_ok=True)
        if not os.access(path.parent, os.W_OK):
            raise PermissionError(f"{path} cannot be written, since the folder {path.parent} is read-only")


def check_report() -> None:
    """An error, before any work is done, if the package is missing that draws a report's figures."""
    need("matplotlib", extra="plots")


def check_folders(folders: Iterable[Path]) -> None:
    """An error, before any work is done, if one of these folders is not there."""
    for folder in folders:
        if not folder.is_dir():
            raise missing_folder(folder)


def check_apart(out: Path, what: str, files: Iterable[Path] = ()) -> None:
    """An error, before any work is done, if a file of the dataset would be overwritten."""
    if out.resolve() in {Path(what).resolve(), *(path.resolve() for path in files)}:
        raise ValueError(f"{out} belongs to {what}, and would be overwritten: choose another --out")


def say(text: str) -> None:
    """Print a text as it is, on one line of any length."""
    console.print(text, soft_wrap=True, markup=False, highlight=False)


def say_skipped(skipped: Mapping[str, str]) -> None:
    """List the episodes that were skipped, with the reasons."""
    listed = list(skipped.items())
    for episode, reason in listed[:MOST_NAMED]:
        console.print(
            f"left out: episode {escape(episode)}: {escape(reason)}.", soft_wrap=True, highlight=False
        )
    if len(listed) > MOST_NAMED:
        console.print(f"left out: {len(listed) - MOST_NAMED} more.")
