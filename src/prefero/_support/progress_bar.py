"""A progress bar for long work, if the output is a terminal."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from prefero._support.optional import need
from prefero._support.text import one_line

Advance = Callable[[int], None]
Report = Callable[[str, int, int], None]  # what is done, how much of it, of how much


def _silent(_: int) -> None:
    """Show nothing."""


_REPORTS: list[Report] = []  # of this process: one, or none


def report_progress(report: Report) -> None:
    """Call this in place of showing a bar, from now on: somebody else shows what this process does."""
    _REPORTS[:] = [report]


@contextmanager
def progress(text: str, total: int, show: bool | None = None) -> Iterator[Advance]:
    """A bar on the error stream; without a word (None) only on a terminal, and only if rich is installed."""
    if _REPORTS:
        yield _reported(text, total, _REPORTS[0])
        return
    if show is None:
        show = sys.stderr.isatty() and find_spec("rich") is not None
    if not show:
        yield _silent
        return
    rich, console = need("rich.progress", extra="cli"), need("rich.console", extra="cli")
    columns = (
        rich.TextColumn("{task.description}", markup=False),
        rich.BarColumn(),
        rich.MofNCompleteColumn(),
        rich.TimeRemainingColumn(),
    )
    with rich.Progress(*columns, console=console.Console(stderr=True)) as bar:
        task = bar.add_task(one_line(text), total=total)
        yield lambda done: bar.update(task, advance=done)


def _reported(text: str, total: int, report: Report) -> Advance:
    """Reports how much is done by now."""
    done = 0

    def advance(more: int) -> None:
        nonlocal done
        done += more
        report(one_line(text), done, total)

    advance(0)
    return advance
