"""`prefero teach`: a person answers questions in the browser."""

from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from prefero import worlds
from prefero._support.commands import prefero_command
from prefero._support.sentences import pluralize
from prefero.acquisition.group_questions import check_about, check_group_question
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
    from prefero.learner import Learner
    from prefero.studies.storage.store import Participant, Store, Study

What = Annotated[
    str,
    typer.Argument(
        help=f"A world ({', '.join(worlds.names())}), a pool file (.npz), or {describe_formats()}."
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
        str | None, option(SESSION, "The name of the session, to have several about one world.")
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
    what: What,
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
    from prefero.studies.computing.study_workers import start_computing
    from prefero.studies.start import begin_teaching, continues_alone, opening_options, own_folder

    with page.listen() as listener:
        where, trust = database_or(session.database, "teach.db"), bool(opening["trust"])
        store = open_store(where, "teach.db")
        alone = continues_alone(store, what, session.name)
        study, participant, before = begin_teaching(
            store,
            what,
            session.name,
            session.questions,
            session.trajectories,
            features,
            None if alone else opening_options(what, opening),
            trust=trust,
            task_description=session.task_description,
            person=session.as_,
            answers=session.answers,
            labels=labels,
            known=known,
            words=None if session.words is None else session.words.split(",") if session.words else (),
        )
        _check_about(session.about, study)
        study = _ask_judges(store, study, judges, trust)
        _say_begun(store, where, study, participant if before else None)
        _say_others(store, study, participant)
        if store.display(study)["kind"] == "clips" and not trust:
            _say_folders(own_folder(what))
        others = {**session.typed_again, **typed_labels(labels), **opening}
        again = prefero_command("teach", what, *typed(features, others), *typed_known(known))
        context = {"trust": trust, "place": (again, shown(where)), "goal": session.until, "report": say}
        workers = int(bool(store.pool(study).knowledge)) if session.workers is None else session.workers
        with closing(start_computing(store, workers, TEACHER_PATIENCE)) as computing:
            context |= {"about": session.about, "computing": computing, "clip_folders": own_folder(what)}
            serve_session(listener, page, store, Visitor("teacher", study, participant), context)
    with suppress(KeyboardInterrupt):
        _say_learned(store, study, participant)
        _say_together(store, study)
        _say_worth(store, study, participant)
    console.print(f"Stopped. To continue:  {escape(again)}", soft_wrap=True)


def _check_about(about: str, study: "Study") -> None:
    """An error if a session asks for other answers than questions about the group have."""
    from prefero.methods import method_named
    from prefero.studies.protocol.protocol import Protocol

    protocol = Protocol.from_json(study.protocol)
    acquisition = method_named(protocol.methods[0].method).acquisition
    for kind in protocol.kinds:
        check_group_question(about, acquisition, kind)


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
    from prefero.studies.reports.learning_summary import closing_sentences, labels_of

    if store.event_log(participant).answers:
        learner = _learner(store, study, participant)
        for sentence in closing_sentences(learner, labels_of(store.display(study))):
            say(sentence)


def _say_worth(store: "Store", study: "Study", participant: "Participant") -> None:
    """How many of the person's answers each judge has saved; that takes seconds, so it comes last."""
    from prefero.studies.asking.group import other_teachers
    from prefero.studies.reports.learning_summary import worth_sentence

    judges = [one.judge for one in store.pool(study).knowledge.judgements]
    if not judges or other_teachers(store, study, participant) is not None:
        return
    learner = _learner(store, study, participant)
    if not ENOUGH_ANSWERS <= len(learner.answers) <= MOST_ANSWERS:
        return
    say("Working out how many answers each judge has saved; Ctrl+C skips that.")
    for name in judges:
        say(worth_sentence(learner, name))


def _learner(store: "Store", study: "Study", participant: "Participant") -> "Learner":
    """The learner of this person's answers."""
    from prefero.studies.asking.group import other_teachers
    from prefero.studies.asking.learner_cache import LearnerCache
    from prefero.studies.protocol.protocol import Protocol

    protocol, log = Protocol.from_json(study.protocol), store.event_log(participant)
    others = other_teachers(store, study, participant)
    cache = LearnerCache(store.pool(study), protocol, participant.seed, others)
    return cache.learner(protocol.methods[0].label, log)


def _say_together(store: "Store", study: "Study") -> None:
    """What several people have in common, in a few lines."""
    from prefero.studies.asking.group import group_summary, together_sentences

    summary = group_summary(store, study)
    for sentence in together_sentences(summary) if summary is not None else []:
        say(sentence)
