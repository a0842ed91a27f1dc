"""`prefero teach`: a person answers questions in the browser."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from prefero import worlds
from prefero._support.commands import prefero_command
from prefero._support.sentences import pluralize
from prefero.acquisition.group_questions import check_about
from prefero.cli.console import check_server, console, say
from prefero.cli.databases import database_or, open_store, shown, without_password
from prefero.cli.options import (
    SERVER,
    SESSION,
    judge_options,
    known_options,
    label_column,
    option,
    typed,
    typed_known,
    typed_labels,
    with_dataset_flags,
    with_flags,
)
from prefero.cli.page import PageOptions, serve_session
from prefero.datasets import FeatureOptions, LabelColumn
from prefero.datasets.registry import describe_formats
from prefero.judges.named import Consultation
from prefero.learner.known_options import KnownOptions
from prefero.models.explain.learning_progress import check_goal
from prefero.models.posterior.mixture import ENOUGH_ANSWERS
from prefero.questions.answer_kinds import MOST_ITEMS, allowed_kinds, examples
from prefero.questions.kinds.base import LEVELS

if TYPE_CHECKING:
    from prefero.studies.storage.store import Participant, Store, Study

What = Annotated[
    str | None,
    typer.Argument(
        help=f"A world ({', '.join(worlds.names())}), a pool file (.npz), or {describe_formats()}; "
        "without it, the page opens with the list of your sessions."
    ),
]

MOST_ANSWERS = 60  # up to which it is worked out what judges were worth, in some seconds each
TEACHER_PATIENCE = 1.0  # seconds that a teacher waits for the best question before a good one is shown


@dataclass(frozen=True)
class TeachingOptions:
    """What a session asks, whom, and where the answers are stored."""

    questions: Annotated[
        int, option(SESSION, "How many questions you plan to answer; you may continue after them.", min=1)
    ] = 30
    until: Annotated[
        float | None,
        option(
            SESSION,
            "Stop asking when the reward is expected to predict this fraction of your answers, for example "
            "0.9; you may continue.",
            metavar="FRACTION",
        ),
    ] = None
    name: Annotated[
        str | None,
        option(
            SESSION,
            "The name of the session, to have several about one world; without WHAT that one continues.",
        ),
    ] = None
    as_: Annotated[
        str | None,
        option(
            SESSION,
            "Who answers, where several people teach in one session: each has their own questions.",
            "--as",
            metavar="NAME",
        ),
    ] = None
    about: Annotated[
        str,
        option(
            SESSION,
            "Where several people teach: ask what tells most about your own reward (person), or about the "
            "reward that all of you share (group).",
            metavar="person|group",
        ),
    ] = "person"
    trajectories: Annotated[
        int | None,
        option(
            SESSION,
            "How many trajectories a new session asks about: simulated, or those that differ most.",
            min=2,
        ),
    ] = None
    database: Annotated[str | None, option(SESSION, "The file of the database, or postgresql://...")] = None
    task_description: Annotated[
        str | None,
        option(SESSION, "What to do, in a sentence that is shown above every question.", metavar="TEXT"),
    ] = None
    answers: Annotated[
        str | None,
        option(
            SESSION,
            f"The kind of answers: {', '.join(examples())}, and so on up to {MOST_ITEMS} trajectories and "
            f"{max(LEVELS)} levels; several, such as 'pair, rate-5', or auto: what tells most for the time "
            "it takes. It can be changed when the session is continued.",
            metavar="KIND",
        ),
    ] = None
    words: Annotated[
        str | None,
        option(
            SESSION,
            "Words for the levels of success or rate-3 to rate-7, the lowest first, such as "
            '"poor, fair, good"; empty: the usual ones.',
            metavar="WORDS",
        ),
    ] = None
    workers: Annotated[
        int | None,
        option(
            SERVER,
            "Compute questions in so many processes of their own, so that the page stays fast while a large "
            "pool is searched; for one person 1 is enough. By default 1 if something is known before the "
            "first question, which takes longer to learn from, and otherwise 0.",
            min=0,
        ),
    ] = None

    def check(self) -> None:
        """An error, before any work is done, if one of them makes no sense."""
        if self.until is not None:
            check_goal(self.until)
        if self.answers is not None:
            allowed_kinds(self.answers)  # an error if there is none
        check_about(self.about)

    @property
    def typed_again(self) -> dict[str, object]:
        """Those that the command which continues the session has too."""
        about = None if self.about == "person" else self.about
        database = without_password(self.database)
        return {"until": self.until, "name": self.name, "as": self.as_, "about": about, "database": database}


@with_dataset_flags()
@with_flags("judges", judge_options, without=("task_description",))
@with_flags("known", known_options)
@with_flags("labels", label_column)
@with_flags("page", PageOptions)
@with_flags("session", TeachingOptions)
def teach(
    what: What = None,
    *,
    session: TeachingOptions,
    page: PageOptions,
    labels: LabelColumn | None,
    judges: Consultation,
    known: KnownOptions,
    features: FeatureOptions,
    opening: Mapping[str, object],
) -> None:
    """Teach a robot what you want by answering questions in the browser; a session can be resumed.

    For example:

        prefero teach
        prefero teach golf
        prefero teach pick_and_place --features final,path-length,duration
        prefero teach pick_and_place --labels next.success
        prefero teach pick_and_place --demonstrations shown --prefer lower:jerk
        prefero teach folder_of_videos --task-description "Which throw is better?"
        prefero teach driver --answers rate-5
        prefero teach driver --judge http://localhost:8000/v1#qwen
        prefero teach CartPole-v1 --policy mine:policy --episodes 50
    """
    check_server()
    session.check()
    from prefero.server.auth import Visitor
    from prefero.server.session_manager import SessionManager
    from prefero.studies.computing.study_workers import start_computing
    from prefero.studies.start import own_folder
    from prefero.studies.storage.log_rows import now

    with page.listen() as listener:
        where, trust, since = database_or(session.database, "teach.db"), bool(opening["trust"]), now()
        store = open_store(where, "teach.db")
        others = {**session.typed_again, **typed_labels(labels), **opening}
        words = [*typed(features, others), *typed_known(known)]
        begun = _begin(store, what, session, labels, judges, known, features, opening)
        again = _continuing(what, None if begun is None else begun[0], words, session)
        manager = SessionManager(store, again, shown(where), session.about)
        context = {"trust": trust, "report": say, "about": session.about, "manager": manager}
        clips = [manager.uploads.folder, *(own_folder(what) if what is not None else [])]
        knows = begun is not None and bool(store.pool(begun[0]).knowledge)
        workers = int(knows) if session.workers is None else session.workers
        with closing(manager), closing(start_computing(store, workers, TEACHER_PATIENCE)) as computing:
            context |= {"computing": computing, "clip_folders": clips}
            visitor = Visitor("teacher", None, None) if begun is None else Visitor("teacher", *begun)
            serve_session(listener, page, store, visitor, context)
    _say_stopped(store, begun, since, again)


def _begin(
    store: "Store",
    what: str | None,
    session: TeachingOptions,
    labels: LabelColumn | None,
    judges: Consultation,
    known: KnownOptions,
    features: FeatureOptions,
    opening: Mapping[str, object],
) -> "tuple[Study, Participant] | None":
    """The session that the command names, begun or continued; None if it names none."""
    from prefero.studies.protocol.protocol import Protocol
    from prefero.studies.start import begin_teaching, continues_alone, opening_options, own_folder
    from prefero.studies.teaching_sessions import check_about_group

    trust = bool(opening["trust"])
    if what is None:
        _check_without_argument(session, bool(judges), labels, known, features, opening)
        if session.name is None:
            where = shown(database_or(session.database, "teach.db"))
            console.print(f"Your sessions are stored in {escape(where)}.", soft_wrap=True)
            return None
    alone = what is None or continues_alone(store, what, session.name)
    study, participant, before = begin_teaching(
        store,
        what,
        session.name,
        session.questions,
        session.trajectories,
        features,
        None if alone or what is None else opening_options(what, opening),
        trust=trust,
        task_description=session.task_description,
        person=session.as_,
        answers=session.answers,
        labels=labels,
        known=known,
        words=None if session.words is None else session.words.split(",") if session.words else (),
        goal=session.until,
    )
    check_about_group(session.about, Protocol.from_json(study.protocol))
    study = _ask_judges(store, study, judges, trust)
    _say_begun(store, database_or(session.database, "teach.db"), study, participant if before else None)
    _say_others(store, study, participant)
    if store.display(study)["kind"] == "clips" and not trust and what is not None:
        _say_folders(own_folder(what))
    return study, participant


def _check_without_argument(
    session: TeachingOptions,
    judges: bool,
    labels: LabelColumn | None,
    known: KnownOptions,
    features: FeatureOptions,
    opening: Mapping[str, object],
) -> None:
    """An error if something was given about trajectories, but not which ones."""
    new = session.name is None and (
        any((session.until, session.as_, session.trajectories, session.task_description))
        or session.answers is not None
        or session.words is not None
    )
    about = [bool(value) for name, value in opening.items() if name != "trust"]
    if new or judges or labels is not None or known or features.changed() or any(about):
        raise ValueError(
            "these options are about trajectories, and none are named: name a world or a dataset, "
            f"as in  {prefero_command('teach', 'golf')}  , or choose on the page"
        )


def _continuing(
    what: str | None, begun: "Study | None", words: Sequence[str], session: TeachingOptions
) -> "Callable[[Study | None], str]":
    """The command that continues a session: as it was typed, or else by its name."""

    def again(study: "Study | None") -> str:
        if study is not None and begun is not None and (study.id, study.name) == (begun.id, begun.name):
            return prefero_command("teach", *([] if what is None else [what]), *words)
        named = [] if study is None else ["--name", study.name]
        database = without_password(session.database)
        return prefero_command("teach", *named, *([] if database is None else ["--database", database]))

    return again


def _say_stopped(
    store: "Store",
    begun: "tuple[Study, Participant] | None",
    since: str,
    again: "Callable[[Study | None], str]",
) -> None:
    """What was learned in each session that was answered in, and how each is continued."""
    from prefero.studies.teaching_sessions import taught_since

    taught = taught_since(store, since)
    if begun is not None and begun[0].id not in {study.id for study, _ in taught}:
        taught = [(next(one for one in store.studies() if one.id == begun[0].id), begun[1]), *taught]
    with suppress(KeyboardInterrupt):
        for study, participant in taught:
            if len(taught) > 1:
                say(f"The session {study.name!r}:")
            _say_learned(store, study, participant)
            _say_together(store, study)
            _say_worth(store, study, participant)
    studies: list[Study | None] = [study for study, _ in taught]
    for one in studies or [None]:
        console.print(f"Stopped. To continue:  {escape(again(one))}", soft_wrap=True)


def _say_begun(store: "Store", where: str, study: "Study", known: "Participant | None") -> None:
    """Where answers are stored, after how many a known teacher continues, and what to do."""
    from prefero.studies.protocol.protocol import Protocol
    from prefero.studies.session import task_description

    console.print(f"Your answers are stored in {escape(shown(where))}.", soft_wrap=True)
    if known is not None:
        done = len(store.event_log(known).answers)
        answers = f"{done} answer{'s' * (done != 1)}"
        console.print(f"The session {escape(repr(study.name))} continues after {answers}.")
    if (labels := store.pool(study).labels) is not None:
        say(f"{labels.describe()}; they count from the first question on.")
    if knowledge := store.pool(study).knowledge:
        say(f"Known before the first question: {knowledge.describe()}.")
    say(f"What to do: {task_description(Protocol.from_json(study.protocol), store.display(study))}")


def _say_folders(folders: Sequence[Path]) -> None:
    """Whose videos are shown although the pool's file may be somebody else's."""
    for folder in folders:
        say(f"Videos in {folder} can be shown as long as this command runs.")


def _say_others(store: "Store", study: "Study", participant: "Participant") -> None:
    """Whose answers tell something about this person's reward too."""
    from prefero.studies.asking.group import other_teachers

    others = other_teachers(store, study, participant)
    if others is not None:
        names = sorted({answer.person for answer in others.answers})
        many = pluralize(len(others.answers), "answer")
        say(f"It begins with what {', '.join(names)} taught ({many}); yours count more as they come.")


def _ask_judges(store: "Store", study: "Study", judges: Consultation, trust: bool) -> "Study":
    """The session with what judges say, who are asked now; nothing is sent unless some are named."""
    from prefero.studies.protocol.protocol import Protocol
    from prefero.studies.session import task_description
    from prefero.studies.start import with_judgements

    if not judges:
        return study
    task = task_description(Protocol.from_json(study.protocol), store.display(study))
    found = judges.about(task).found(store.pool(study), say, trust=trust)
    return with_judgements(store, study, [one.judgements for one in found])


def _say_learned(store: "Store", study: "Study", participant: "Participant") -> None:
    """What was learned, in a few lines; nothing before the first answer."""
    from prefero.studies.asking.group import taught_learner
    from prefero.studies.reports.learning_summary import closing_sentences, labels_of

    if store.event_log(participant).answers:
        learner = taught_learner(store, study, participant)
        for sentence in closing_sentences(learner, labels_of(store.display(study))):
            say(sentence)


def _say_worth(store: "Store", study: "Study", participant: "Participant") -> None:
    """How many of the person's answers each judge has saved; that takes seconds, so it comes last."""
    from prefero.studies.asking.group import other_teachers, taught_learner
    from prefero.studies.reports.learning_summary import worth_sentence

    judges = [one.judge for one in store.pool(study).knowledge.judgements]
    if not judges or other_teachers(store, study, participant) is not None:
        return
    learner = taught_learner(store, study, participant)
    if not ENOUGH_ANSWERS <= len(learner.answers) <= MOST_ANSWERS:
        return
    say("Working out how many answers each judge has saved; Ctrl+C skips that.")
    for name in judges:
        say(worth_sentence(learner, name))


def _say_together(store: "Store", study: "Study") -> None:
    """What several people have in common, in a few lines."""
    from prefero.studies.asking.group import group_summary, together_sentences

    summary = group_summary(store, study)
    for sentence in together_sentences(summary) if summary is not None else []:
        say(sentence)
