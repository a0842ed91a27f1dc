"""`prefero report`: what was taught in a session, as one HTML file."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from prefero._support.commands import prefero_command
from prefero._support.files import write_atomically
from prefero._support.names import no_such
from prefero._support.sentences import pluralize
from prefero.cli.console import check_outputs, check_server, say
from prefero.cli.databases import open_known_store

if TYPE_CHECKING:
    from prefero.studies.storage.store import Participant, Store, Study


def report(
    name: Annotated[
        str | None,
        typer.Argument(help="The session's name; by default the newest.", show_default=False),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Where to write it; by default NAME-report.html.", show_default=False
        ),
    ] = None,
    as_: Annotated[
        str | None,
        typer.Option(
            "--as",
            metavar="NAME",
            help="Whose answers, where several people taught; by default who gave most.",
        ),
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file if it is there.")] = False,
    database: Annotated[
        str | None,
        typer.Option(
            help="The file of the database, or postgresql://... By default teach.db in Prefero's data folder."
        ),
    ] = None,
) -> None:
    """Write a report of what a person taught on the page: one HTML file that needs no network.

    `prefero study report` and `prefero arena report` are those of studies and arenas.

    For example:

        prefero report
        prefero report golf --out golf.html
    """
    check_server()
    store = open_known_store(database, "teach.db")
    study = _session_named(store, name)
    file = out or Path(f"{study.name.replace(' ', '-')}-report.html")
    if file.suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"the report is a web page, FILE.html, but the path is {file}")
    if file.exists() and not overwrite:
        raise FileExistsError(f"{file} is there already: add --overwrite, or choose another --out")
    check_outputs(file)
    write_atomically(file, _report_of(store, study, _person(store, study, as_)))
    say(f"The report is in {file}.")


def _session_named(store: "Store", name: str | None) -> "Study":
    """The teaching session of this name, or the newest."""
    sessions = {study.name: study for study in store.studies() if study.kind == "teach"}
    if not sessions:
        raise ValueError(f"nothing was taught yet:  {prefero_command('teach', 'golf')}  begins a session")
    if name is not None and name not in sessions:
        raise ValueError(no_such("session", name, tuple(sessions)))
    return sessions[name or list(sessions)[-1]]


def _person(store: "Store", study: "Study", label: str | None) -> "Participant":
    """Who is meant, or who has given the most answers."""
    people = {one.label: one for one in store.participants(study)}
    if label is not None and label not in people:
        raise ValueError(no_such("teacher", label, tuple(people)))
    if label is not None:
        return people[label]
    return max(people.values(), key=lambda one: len(store.event_log(one).answers))


def _report_of(store: "Store", study: "Study", participant: "Participant") -> str:
    from prefero.studies.asking.group import taught_learner
    from prefero.studies.protocol.protocol import Protocol
    from prefero.studies.reports.learning_summary import labels_of, summary_of
    from prefero.studies.reports.session_report import session_report
    from prefero.studies.session import task_description

    log, display = store.event_log(participant), store.display(study)
    say(f"The session {study.name!r} has {pluralize(len(log.answers), 'answer')}.")
    summary = summary_of(taught_learner(store, study, participant), log, labels_of(display))
    protocol, pool = Protocol.from_json(study.protocol), store.pool(study)
    shown = partial(_picture, store, study)
    return session_report(pool, protocol, task_description(protocol, display), log, summary, shown).html()


def _picture(store: "Store", study: "Study", index: int) -> str:
    """A picture of a trajectory; its clip is not made for it, since that may run code."""
    from prefero.pools.pictures import picture

    pool = store.pool(study)
    clip = None if pool.clips is None else Path(pool.clips[index])
    return picture(pool, index, clip if clip is not None and clip.is_file() else None)
