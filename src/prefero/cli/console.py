"""What the commands share: the console, checks before any work is done, and lists of skipped episodes."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from rich.console import Console, ConsoleOptions, RenderableType
from rich.markup import escape
from rich.segment import Segment

from prefero._support.files import missing_folder
from prefero._support.optional import need
from prefero._support.text import printable


class PlainConsole(Console):
    """A console that prints names from files as they are: characters that a terminal obeys are escaped."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        """The text and its styles; only the styles may hold commands for the terminal."""
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else printable(text), style, control)


console = PlainConsole()
SERVER = ("fastapi", "uvicorn", "sqlalchemy", "alembic", "pyarrow")
FIGURES = (".png", ".pdf", ".svg")
MOST_NAMED = 5  # skipped episodes that are listed, at most


def check_server() -> None:
    """An error, before any work is done, if a package is missing that the server needs."""
    for package in SERVER:
        need(package, extra="server")


def check_paths(figure: Path | None, other: Path | None) -> None:
    """An error, before any work is done, if these files cannot be written; their folders are made."""
    if figure and figure.suffix.lower() not in FIGURES:
        raise ValueError(f"a figure is saved as {', '.join(FIGURES)}, but the path is {figure}")
    for path in (figure, other):
        if path:
            path.parent.mkdir(parents=True, exist_ok=True)


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
