"""`prefero study`: studies with many participants, from the protocol to the report."""

from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from itertools import count as numbers
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

import typer
from rich.markup import escape
from rich.table import Table

from prefero._support.commands import prefero_command
from prefero._support.sentences import capitalize, unwrap
from prefero.cli.console import check_folders, check_report, check_server, console, say
from prefero.cli.databases import open_known_store, open_store, without_password
from prefero.cli.help import Commands
from prefero.cli.options import (
    AllowHost,
    judge_options,
    known_options,
    label_column,
    with_dataset_flags,
    with_flags,
)
from prefero.cli.page import say_if_not_built
from prefero.cli.study_options import (
    LOCAL,
    PORT,
    Base,
    Clips,
    Database,
    Host,
    Https,
    Name,
    Overwrite,
    Participants,
    Port,
    ProtocolName,
    ServerBase,
    TaskDescription,
    Trajectories,
    Trust,
    TrustedProxy,
    What,
    Workers,
)
from prefero.datasets import FeatureOptions, LabelColumn
from prefero.judges.named import Consultation
from prefero.learner.known_options import KnownOptions

if TYPE_CHECKING:
    from prefero.studies.storage.store import Store, Study

study = Commands(help="Run studies with many participants: create, invite, serve, report, export.")


@study.command()
@with_dataset_flags()
@with_flags("judges", judge_options, without=("task_description",))
@with_flags("known", known_options)
@with_flags("labels", label_column)
def create(
    name: Name,
    world: What = None,
    protocol: ProtocolName = "paper",
    participants: Participants = 0,
    trajectories: Trajectories = None,
    task_description: TaskDescription = None,
    base: Base = LOCAL,
    database: Database = None,
    *,
    labels: LabelColumn | None,
    judges: Consultation,
    known: KnownOptions,
    features: FeatureOptions,
    opening: Mapping[str, object],
) -> None:
    """Create a study about a world or your own data, and print the link of the experimenter's page.

    What of the protocol does not apply, such as target scores, is left out.

    For example:

        prefero study create putting --participants 10
        prefero study create grasps --world pick_and_place
    """
    check_server()
    from prefero.studies.create import create_study, subject_of
    from prefero.studies.protocol.protocol import read_protocol
    from prefero.studies.start import opening_options, own_folder

    store, plan = open_store(database, "studies.db"), read_protocol(protocol)
    if task_description is not None:
        plan = replace(plan, task_description=unwrap(task_description))
    what = subject_of(plan, world)
    options, trust = opening_options(what, opening), bool(opening["trust"])
    say(f"Preparing the trajectories of {what}.")
    made = create_study(
        store,
        name,
        plan,
        world,
        trajectories,
        features,
        options,
        trust=trust,
        labels=labels,
        known=known,
        judges=judges,
        say=say,
    )
    say(
        f"The study {name!r} asks {made.protocol.total_questions} questions about {made.trajectories} "
        f"trajectories of {what}."
    )
    if own_folder(what) and (folder := store.display(made.study).get("folder")):
        say(f"Servers of this account may send the videos in {folder} from now on.")
    if made.labels is not None:
        say(f"{made.labels.describe()}; every method learns from them.")
    if made.knowledge is not None:
        say(f"{capitalize(made.knowledge.describe())}; every method learns from them.")
    for left_out in made.left_out:
        say(f"Left out: {left_out}.")
    _say_secret(name, made.secret, base, database)
    if participants:
        _invite(store, made.study, participants, base)
    _say_next(name, base, database, invited=participants > 0)


@study.command("protocol")
def print_protocol(
    name: Annotated[
        str, typer.Argument(help="A built-in protocol (paper, paper-and-prefero), or a protocol file.")
    ] = "paper",
    world: Annotated[
        str | None,
        typer.Option(
            metavar="WHAT", help="Print it for this world, pool file or dataset.", show_default=False
        ),
    ] = None,
) -> None:
    """Print a protocol with comments, to edit and create a study from.

    For example:

        prefero study protocol paper > mine.toml
    """
    from prefero.studies.protocol.protocol import read_protocol
    from prefero.studies.protocol.toml import protocol_toml

    plan = read_protocol(name)
    if world is not None:
        from prefero.studies.create import protocol_for

        plan = protocol_for(plan, world)
    typer.echo(protocol_toml(plan), nl=False)


@study.command()
def invite(
    name: Name,
    participants: Annotated[int, typer.Option(min=1, help="How many participants.")] = 1,
    base: Base = LOCAL,
    database: Database = None,
) -> None:
    """Invite participants: print a secret link for each, which is not shown again.

    For example:

        prefero study invite putting --participants 5
    """
    check_server()
    store = open_known_store(database, "studies.db")
    _invite(store, store.study(name), participants, base)


@study.command()
def renew(
    name: Name,
    participant: Annotated[
        str | None,
        typer.Option(
            metavar="LABEL",
            help="Renew the link of this participant (P1, P2, ...) instead of the experimenter's.",
            show_default=False,
        ),
    ] = None,
    base: Base = LOCAL,
    database: Database = None,
) -> None:
    """Print a new link in place of one that was lost or seen by others; the old one no longer works.

    Without --participant it is the experimenter's. No answer is lost.

    For example:

        prefero study renew putting --participant P3
    """
    check_server()
    from prefero.studies.storage.store import new_secret

    store, secret = open_known_store(database, "studies.db"), new_secret()
    known = store.study(name)
    if participant is None:
        store.renew_secret(known, secret)
        _say_secret(name, secret, base, database)
    else:
        store.renew_code(known, participant, secret)
        say(f"{participant}  {_link(base, secret)}")


@study.command("list")
def list_studies(database: Database = None) -> None:
    """List the studies of a database, with the number of participants who began and finished.

    For example:

        prefero study list
    """
    check_server()
    from prefero.studies.reports.participant_progress import progress_of

    store = open_known_store(database, "studies.db")
    studies = store.studies()
    if not studies:
        say(f"There is no study yet:  {prefero_command('study', 'create', 'NAME')}  creates one.")
        return
    table = Table("study", "kind", "invited", "began", "finished", "created", title=None)
    for known in studies:
        try:
            progress = progress_of(store, known)
        except (ValueError, LookupError, TypeError, ArithmeticError) as error:
            say(f"The study {known.name!r} cannot be read: {error}")
            continue
        begun = sum(one.started is not None for one in progress)
        done = sum(one.stage == "done" for one in progress)
        at = known.at[:16].replace("T", " ")
        table.add_row(escape(known.name), known.kind, str(len(progress)), str(begun), str(done), at)
    console.print(table)


@study.command()
def serve(
    host: Host = "127.0.0.1",
    port: Port = PORT,
    base: ServerBase = None,
    allow_host: AllowHost = None,
    trusted_proxy: TrustedProxy = None,
    https: Https = False,
    clips: Clips = None,
    trust: Trust = False,
    workers: Workers = None,
    database: Database = None,
) -> None:
    """Serve all studies of a database until Ctrl+C; several servers may use one PostgreSQL database.

    For example:

        prefero study serve --host 0.0.0.0 --port 8080
    """
    check_server()
    from prefero.server.app import create_app
    from prefero.server.auth import ServerContext
    from prefero.server.serve import address_of, listen, names_of
    from prefero.server.serve import serve as run
    from prefero.studies.computing.study_workers import start_computing

    check_folders(clips or ())
    say_if_not_built()
    outside = urlsplit(base or "")
    names = [*(allow_host or []), *([outside.hostname] if outside.hostname else [])]
    secure, folders = https or outside.scheme == "https", clips or ()
    store = open_store(database, "studies.db")
    with listen(host, port) as taken, closing(start_computing(store, workers)) as computing:
        address = address_of(taken, host)
        _say_served(store, base or address, computing.workers)
        context = ServerContext(
            store, secure=secure, trust=trust, clip_folders=folders, report=say, computing=computing
        )
        app = create_app(context, **names_of(host, names), proxies=trusted_proxy or ())
        run(app, taken, lambda: say(f"Serving at {address}."))
    _say_selections(store)
    console.print("Stopped.")


def _say_selections(store: "Store") -> None:
    """Of each study, whether the best questions were ready in time."""
    from prefero.studies.log.selections import selection_counts, selection_sentence

    for known in store.studies():
        chosen = selection_sentence(selection_counts(map(store.event_log, store.participants(known))))
        if chosen:
            say(f"{known.name}: {chosen}")


def _say_served(store: "Store", base: str, workers: int) -> None:
    known = [one.name for one in store.studies() if one.kind == "study"]
    none = f"none yet;  {prefero_command('study', 'create', 'NAME')}  creates one"
    say(f"Studies: {', '.join(known) or none}.")
    say(f"Participants open their links; experimenters open {_link(base, 'SECRET')}")
    if workers:
        say(f"Questions are computed in {workers} worker process{'es' * (workers != 1)}.")


@study.command()
def report(
    name: Name,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Where to write it; by default NAME-report.", show_default=False),
    ] = None,
    overwrite: Overwrite = False,
    database: Database = None,
) -> None:
    """Write a report (HTML, Markdown, CSV) of what the methods learned and how participants answered.

    It can be written at any time, and flags participants who show signs of carelessness.

    For example:

        prefero study report putting
    """
    check_server()
    check_report()
    from prefero.cli.study_tables import print_report
    from prefero.studies.reports.study import write_study_report

    store = open_known_store(database, "studies.db")
    folder = out or Path(f"{name}-report")
    print_report(write_study_report(store, store.study(name), folder, overwrite))
    say(f"The report is in {folder / 'report.html'}.")


@study.command()
def export(
    name: Name,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Where to write it; by default NAME.", show_default=False),
    ] = None,
    overwrite: Overwrite = False,
    database: Database = None,
) -> None:
    """Write a study as a folder of files (CSV, JSON, NPZ) that other programs can read.

    `prefero study import` reads it again, here or elsewhere.

    For example:

        prefero study export putting --out putting-answers
    """
    check_server()
    from prefero.studies.exports.export_import import export_study

    store = open_known_store(database, "studies.db")
    folder = out or Path(name)
    export_study(store, store.study(name), folder, overwrite)
    say(f"The study is in {folder}.")


@study.command("import")
def import_folder(
    folder: Annotated[Path, typer.Argument(help="A folder that `prefero study export` wrote.")],
    name: Annotated[
        str | None, typer.Option(metavar="TEXT", help="A new name for the study.", show_default=False)
    ] = None,
    into: Annotated[
        str | None,
        typer.Option(metavar="STUDY", help="Add its participants to this study instead.", show_default=False),
    ] = None,
    prefix: Annotated[
        str,
        typer.Option(
            metavar="TEXT", help="A prefix for the participants' labels, as two studies may both have a P1."
        ),
    ] = "",
    base: Base = LOCAL,
    database: Database = None,
) -> None:
    """Read an exported study as a new study, or into another one to merge the two.

    For example:

        prefero study import putting-answers --name putting-2
    """
    check_server()
    from prefero.studies.exports.export_import import import_study
    from prefero.studies.storage.store import new_secret

    store, secret = open_store(database, "studies.db"), new_secret()
    made = import_study(store, folder, secret, name=name, into=into, prefix=prefix)
    say(f"{folder} is in the study {made.name!r} now.")
    if into is None:
        _say_secret(made.name, secret, base, database)


def _link(base: str, secret: str) -> str:
    return f"{base.rstrip('/')}/#{secret}"


def _say_secret(name: str, secret: str, base: str, database: str | None) -> None:
    say(f"The experimenter's page, by a link that is not shown again:  {_link(base, secret)}")
    renewed = prefero_command("study", "renew", name, *_same(base, database))
    say(f"Keep it; if it is lost,  {renewed}  prints another.")


def _say_next(name: str, base: str, database: str | None, *, invited: bool) -> None:
    """The commands that follow."""
    same = _same(base, database)
    invite = prefero_command("study", "invite", name, "--participants", "10", *same)
    serve = prefero_command("study", "serve", *_listening_at(base), *same)
    say(f"Next:  {serve}" if invited else f"Next:  {invite}  and  {serve}")


def _same(base: str, database: str | None) -> list[str]:
    """The options that the next commands have in common with this one."""
    kept = without_password(database)
    return [*(["--base", base] if base != LOCAL else []), *(["--database", kept] if kept else [])]


def _listening_at(base: str) -> list[str]:
    """The options of a server that links with this base reach; behind HTTPS, a proxy passes them on."""
    from prefero.server.serve import is_loopback

    address = urlsplit(base)
    if address.scheme == "https" or base == LOCAL:
        return []
    host = address.hostname or ""
    interface = host if is_loopback(host) else "::" if ":" in host else "0.0.0.0"
    return ["--host", interface, "--port", str(address.port or 80)]


def _invite(store: "Store", known: "Study", count: int, base: str) -> None:
    from prefero.studies.storage.store import new_secret

    labels = {participant.label for participant in store.participants(known)}
    taken = labels | {one.judge for one in store.pool(known).knowledge.judgements}
    free = (label for label in map("P{}".format, numbers(len(labels) + 1)) if label not in taken)
    say("Links, one for each participant, which are not shown again:")
    for label in islice(free, count):
        code = new_secret()
        store.invite(known, label, code)
        say(f"{label}  {_link(base, code)}")
