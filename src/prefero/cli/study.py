"""`prefero study`: studies with many participants, from the protocol to the report."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table

from prefero._support.commands import prefero_command
from prefero.cli.console import check_server, console, say
from prefero.cli.options import AllowHost

if TYPE_CHECKING:
    from prefero.studies.storage.store import Store

study = typer.Typer(help="Run studies with many participants.", no_args_is_help=True)
PORT = 8766

Name = Annotated[str, typer.Argument(help="The study's name.")]
Trust = Annotated[
    bool,
    typer.Option("--trust", help="Run the code that opened files name: environments and policies."),
]
Database = Annotated[str | None, typer.Option(help="The database file, or postgresql://user@host/name.")]


@study.command()
def create(
    name: Name,
    world: Annotated[
        str | None, typer.Option(help="A world or a pool file, instead of the protocol's.")
    ] = None,
    protocol: Annotated[
        str,
        typer.Option(help="A TOML file, or a built-in protocol: paper, paper-and-prefero."),
    ] = "paper",
    participants: Annotated[int, typer.Option(min=0, help="How many participants to invite.")] = 0,
    trust: Trust = False,
    database: Database = None,
) -> None:
    """Create a study and print the experimenter's secret, which is not shown again."""
    check_server()
    from prefero.studies.displays import display_of, targets_of
    from prefero.studies.protocol import read_protocol
    from prefero.studies.start import check_no_code, pool_of, serve_clips
    from prefero.studies.storage.store import new_secret

    store = _store(database)
    plan = read_protocol(protocol)
    what = world or plan.world or plan.pool
    if what is None:
        raise ValueError("the protocol names neither a world nor a pool: give one with --world")
    if world is None and not trust:
        check_no_code(what)
    pool = pool_of(what, plan.trajectories if plan.world else None, trust=trust)
    secret, display = new_secret(), serve_clips(display_of(pool))
    if plan.target_scores and not targets_of(display):
        raise ValueError(f"{what} has no targets to score: set target_scores = false in the protocol")
    made = store.add_study(name, "study", plan.to_json(), pool, display, secret)
    asked = f"{plan.total_questions} questions about {len(pool)} trajectories"
    console.print(f"The study {escape(repr(made.name))} asks {asked}.")
    console.print(f"The experimenter's secret, which is not shown again: [bold]{secret}[/]")
    if participants:
        _invite(store, name, participants)
    console.print(
        f"Next:  {prefero_command('study', 'invite', name, '--participants', '10')}   and   "
        f"{prefero_command('study', 'serve')}",
        soft_wrap=True,
    )


@study.command()
def invite(
    name: Name,
    participants: Annotated[int, typer.Option(min=1, help="How many participants.")] = 1,
    base: Annotated[
        str, typer.Option(help="The server's address as participants see it.")
    ] = f"http://127.0.0.1:{PORT}/",
    database: Database = None,
) -> None:
    """Print a secret link for each new participant; links are not shown again."""
    check_server()
    _invite(_store(database), name, participants, base)


@study.command("list")
def list_studies(database: Database = None) -> None:
    """List the studies of a database and their progress."""
    check_server()
    from prefero.studies.participant_progress import progress_of

    store = _store(database)
    table = Table("study", "kind", "invited", "began", "finished", "created", title=None)
    for known in store.studies():
        progress = progress_of(store, known)
        begun = sum(one.started is not None for one in progress)
        done = sum(one.stage == "done" for one in progress)
        table.add_row(escape(known.name), known.kind, str(len(progress)), str(begun), str(done), known.at)
    console.print(table)


@study.command()
def serve(
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 selects a free one.")] = PORT,
    allow_host: AllowHost = None,
    trusted_proxy: Annotated[
        list[str] | None,
        typer.Option(
            help="The address of a proxy that sends the participants' own addresses (X-Forwarded-For), for "
            "which limits hold then; may be given more than once."
        ),
    ] = None,
    https: Annotated[
        bool,
        typer.Option(
            "--https",
            help="Participants reach it over HTTPS through a proxy; cookies are sent over HTTPS alone.",
        ),
    ] = False,
    clips: Annotated[
        list[Path] | None,
        typer.Option(help="A folder whose videos may be sent, if the study was made elsewhere."),
    ] = None,
    trust: Trust = False,
    database: Database = None,
) -> None:
    """Serve all studies of a database; several servers may share a PostgreSQL database."""
    check_server()
    from prefero.server.app import create_app
    from prefero.server.auth import ServerContext
    from prefero.server.serve import address_of, listen, names_of
    from prefero.server.serve import serve as run

    store = _store(database)
    taken = listen(host, port)
    with taken:
        address = address_of(taken, host)
        known = [one.name for one in store.studies() if one.kind == "study"]
        console.print(f"Studies: {', '.join(map(escape, known)) or 'none yet; create one'}.")
        console.print(f"Participants open their links; experimenters open {address}#SECRET", soft_wrap=True)
        context = ServerContext(store, secure=https, trust=trust, clip_folders=clips or (), report=say)
        app = create_app(context, **names_of(host, allow_host or ()), proxies=trusted_proxy or ())
        run(app, taken, lambda: console.print("Serving."))
    console.print("Stopped.")


@study.command()
def report(
    name: Name,
    out: Annotated[Path | None, typer.Option(help="The folder; by default NAME-report.")] = None,
    database: Database = None,
) -> None:
    """Write the paper's table and figure from real answers, with times, sides and attention: HTML and CSV."""
    check_server()
    from prefero.plots.user_study import study_table
    from prefero.studies.report import write_study_report

    store = _store(database)
    folder = out or Path(f"{name}-report")
    outcomes = write_study_report(store, store.study(name), folder)
    if outcomes:
        console.print(escape(study_table(outcomes)), soft_wrap=True)
    console.print(f"The report is in {escape(str(folder / 'report.html'))}.", soft_wrap=True)


@study.command()
def export(
    name: Name,
    out: Annotated[Path | None, typer.Option(help="The folder; by default NAME.")] = None,
    database: Database = None,
) -> None:
    """Write a study as a folder of files that other programs can read."""
    check_server()
    from prefero.studies.export_import import export_study

    store = _store(database)
    folder = out or Path(name)
    export_study(store, store.study(name), folder)
    console.print(f"The study is in {escape(str(folder))}.", soft_wrap=True)


@study.command("import")
def import_folder(
    folder: Annotated[Path, typer.Argument(help="A folder that `prefero study export` wrote.")],
    name: Annotated[str | None, typer.Option(help="A new name for the study.")] = None,
    into: Annotated[str | None, typer.Option(help="Add its participants to this study instead.")] = None,
    prefix: Annotated[str, typer.Option(help="A prefix for the participants' labels.")] = "",
    database: Database = None,
) -> None:
    """Read such a folder as a new study, or into another to merge the two."""
    check_server()
    from prefero.studies.export_import import import_study
    from prefero.studies.storage.store import new_secret

    store, secret = _store(database), new_secret()
    made = import_study(store, folder, secret, name=name, into=into, prefix=prefix)
    console.print(f"{escape(str(folder))} is in the study {escape(repr(made.name))} now.", soft_wrap=True)
    if into is None:
        console.print(f"The experimenter's secret, which is not shown again: [bold]{secret}[/]")


def _store(database: str | None) -> "Store":
    from prefero._support.files import data_folder
    from prefero.studies.storage.database import open_database
    from prefero.studies.storage.store import Store

    return Store(open_database(database or data_folder() / "studies.db"))


def _invite(store: "Store", name: str, count: int, base: str = f"http://127.0.0.1:{PORT}/") -> None:
    from prefero.studies.storage.store import new_secret

    known = store.study(name)
    first = len(store.participants(known)) + 1
    console.print("Links, one for each participant, which are not shown again:")
    for number in range(first, first + count):
        code = new_secret()
        store.invite(known, f"P{number}", code)
        console.print(f"P{number}  {base.rstrip('/')}/#{code}", soft_wrap=True, highlight=False)
