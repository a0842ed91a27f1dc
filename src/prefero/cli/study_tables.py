"""Tables of studies in the terminal."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich import box
from rich.markup import escape
from rich.table import Table

from prefero.cli.console import console, say

if TYPE_CHECKING:
    from prefero.plots.user_study import StudyTable
    from prefero.studies.reports.study import StudyReport


def print_report(report: "StudyReport") -> None:
    """What a report says, with the participants whose attention is in doubt."""
    say(report.summary)
    if report.table is None:
        say(report.no_outcomes)
    else:
        print_study_table(report.table)
    if report.table_of_careful is not None:
        say("Without the participants who show signs of carelessness:")
        print_study_table(report.table_of_careful)
    if any(participant.answered for participant in report.participants):
        head, *rows = report.participant_table
        print_table(head, rows)
    for participant in report.careless:
        for sign in participant.careless_signs:
            say(f"{participant.label}, {sign.kind}: {sign.reason}.")


def print_study_table(table: "StudyTable") -> None:
    """What the methods learned, and how to read it."""
    print_table(table.head, table.rows)
    console.print(table.note, markup=False, highlight=False)


def print_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table of texts; the first column names the rows, and is not broken into lines."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for number, name in enumerate(head):
        table.add_column(escape(name), no_wrap=number == 0)
    for row in rows:
        table.add_row(*map(escape, row))
    console.print(table)
