"""`prefero teach`: a person answers questions in the browser."""

import socket
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from prefero._support.commands import prefero_command
from prefero.cli.console import check_server, console, say
from prefero.cli.options import SERVER, SESSION, AllowHost, typed, with_dataset_flags
from prefero.datasets import FeatureOptions
from prefero.datasets.registry import describe_formats
from prefero.models.learning_progress import check_goal
from prefero.questions.answer_kinds import checked_kind

if TYPE_CHECKING:
    from prefero.server.auth import Visitor
    from prefero.studies.storage.store import Participant, Store, Study

PORT = 8765

What = Annotated[str, typer.Argument(help=f"A world, a pool file (.npz), or {describe_formats()}.")]


def option(panel: str, help: str, **more: Any) -> Any:
    """An option under a heading of the help."""
    return typer.Option(rich_help_panel=panel, help=help, **more)


Questions = Annotated[
    int, option(SESSION, "How many questions you plan to answer; you may continue after them.", min=1)
]
Until = Annotated[
    float | None,
    option(
        SESSION,
        "Stop asking when the reward is expected to predict this share of your answers, for example 0.9; "
        "you may continue.",
        metavar="SHARE",
    ),
]
Name = Annotated[str | None, option(SESSION, "The name of the session, to have several about one world.")]
As = Annotated[
    str | None,
    typer.Option(
        "--as",
        rich_help_panel=SESSION,
        help="Who answers, where several people teach in one session: each has their own questions.",
        metavar="NAME",
    ),
]
Trajectories = Annotated[
    int | None,
    option(
        SESSION,
        "How many trajectories a new session asks about: simulated, or those that differ most.",
        min=2,
    ),
]
Database = Annotated[str | None, option(SESSION, "The file of the database, or postgresql://...")]
TaskDescription = Annotated[
    str | None,
    option(SESSION, "What to do, in a sentence that is shown above every question.", metavar="TEXT"),
]
Answers = Annotated[
    str | None,
    option(
        SESSION,
        "The kind of answers: pair, strength, best-of-3, worst-of-3, rank-3, and so on up to 5 trajectories; "
        "it can be changed when the session is continued.",
        metavar="KIND",
    ),
]
Host = Annotated[
    str, option(SERVER, "The address to listen on; other machines need the token that is printed.")
]
Port = Annotated[int, option(SERVER, "The port; 0 selects a free one.", min=0, max=65535)]
Browser = Annotated[bool, option(SERVER, "Open the browser.")]


@with_dataset_flags()
def teach(
    what: What,
    questions: Questions = 30,
    until: Until = None,
    name: Name = None,
    as_: As = None,
    trajectories: Trajectories = None,
    database: Database = None,
    task_description: TaskDescription = None,
    answers: Answers = None,
    host: Host = "127.0.0.1",
    allow_host: AllowHost = None,
    port: Port = PORT,
    browser: Browser = True,
    *,
    features: FeatureOptions,
    opening: Mapping[str, object],
) -> None:
    """Teach a robot what you want by answering questions in the browser; a session can be resumed."""
    check_server()
    until = until if until is None else check_goal(until)
    kind = None if answers is None else checked_kind(answers)
    from prefero._support.files import data_folder
    from prefero.server.auth import Visitor
    from prefero.server.serve import listen, names_of
    from prefero.studies.protocol import Protocol
    from prefero.studies.session import task_description as task_description_of
    from prefero.studies.start import begin_teaching, continues_alone, opening_options
    from prefero.studies.storage.database import open_database
    from prefero.studies.storage.store import Store

    taken = listen(host, port)
    with taken:
        where = database or str(data_folder() / "teach.db")
        store = Store(open_database(where))
        alone, trust = continues_alone(store, what, name), bool(opening["trust"])
        options = None if alone else opening_options(what, opening)
        study, participant, known = begin_teaching(
            store,
            what,
            name,
            questions,
            trajectories,
            features,
            options,
            trust=trust,
            task_description=task_description,
            person=as_,
            answers=kind,
        )
        _say(where, study.name, len(store.event_log(participant).answers) if known else None)
        say(f"What to do: {task_description_of(Protocol.from_json(study.protocol), store.display(study))}")
        session = {"until": until, "name": name, "as": as_, "database": _without_password(database)}
        again = prefero_command("teach", what, *typed(features, {**session, **opening}))
        place, names = (again, _kept(where)), names_of(host, allow_host or [])
        context = {"trust": trust, "place": place, "goal": until, "report": say}
        serve_session(taken, host, store, Visitor("teacher", study, participant), browser, context, names)
    with suppress(KeyboardInterrupt):
        _say_learned(store, study, participant)
        _say_together(store, study)
    console.print(f"Stopped. To continue:  {escape(again)}", soft_wrap=True)


def _without_password(database: str | None) -> str | None:
    """A database's file; not its address, which may hold a password that a terminal should not show."""
    return database if database and "://" not in database else None


def _say_learned(store: "Store", study: "Study", participant: "Participant") -> None:
    """What was learned, in a few lines; nothing before the first answer."""
    from prefero.studies.displays import labels_of
    from prefero.studies.learner_cache import LearnerCache
    from prefero.studies.learning_summary import closing_sentences
    from prefero.studies.protocol import Protocol

    protocol, log = Protocol.from_json(study.protocol), store.event_log(participant)
    cache = LearnerCache(store.pool(study), protocol, participant.seed)
    learner = cache.learner(protocol.methods[0].label, log)
    for sentence in closing_sentences(learner, labels_of(store.display(study))) if log.answers else []:
        console.print(sentence, soft_wrap=True, markup=False, highlight=False)


def _say_together(store: "Store", study: "Study") -> None:
    """What several people have in common, in a few lines."""
    from prefero.studies.group import group_summary, together_sentences

    summary = group_summary(store, study)
    for sentence in together_sentences(summary) if summary is not None else []:
        console.print(sentence, soft_wrap=True, markup=False, highlight=False)


def serve_session(
    taken: socket.socket,
    host: str,
    store: "Store",
    visitor: "Visitor",
    browser: bool,
    context_of: Mapping[str, Any],
    names: dict[str, Any],
) -> None:
    """Serve until Ctrl+C; without a token on this machine, with one for others."""
    from prefero.server.app import create_app
    from prefero.server.auth import ServerContext
    from prefero.server.serve import address_of, is_loopback, open_browser, serve
    from prefero.studies.storage.store import new_secret

    address = address_of(taken, host)
    if is_loopback(host):
        context = ServerContext(store, guest=visitor, **context_of)
    else:
        token = new_secret()
        context = ServerContext(store, token=(token, visitor), **context_of)
        address += f"#{token}"

    def ready() -> None:
        opened = browser and open_browser(address)
        what = "The page is open in your browser" if opened else "Open this page in a browser"
        console.print(f"{what}: [bold]{address}[/]", soft_wrap=True)
        console.print("Press Ctrl+C here to stop; your answers stay stored.")

    serve(create_app(context, **names), taken, ready)


def _say(where: str, name: str, done: int | None) -> None:
    console.print(f"Your answers are stored in {escape(_kept(where))}.", soft_wrap=True)
    if done is not None:
        console.print(f"The session {escape(repr(name))} continues after {done} answer{'s' * (done != 1)}.")


def _kept(where: str) -> str:
    """Where answers are stored; the address of a database may hold a password."""
    return str(Path(where)) if "://" not in where else "the database"
