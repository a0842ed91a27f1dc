"""The teaching sessions of a database: what a list says of them, and what their teacher changes.

A session is renamed, archived, restored, copied, and given other settings; nothing of it is deleted.
An archived one is only put away: its answers stay, and it can be continued.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from prefero._support.sentences import unwrap
from prefero.acquisition.group_questions import check_group_question
from prefero.methods import method_named
from prefero.models.explain.learning_progress import check_goal
from prefero.questions.answer_kinds import Kind, allowed_kinds, kind_named
from prefero.questions.kinds.label import own_words
from prefero.studies.protocol.protocol import MOST_QUESTIONS, Protocol
from prefero.studies.storage.store import LONGEST, Participant, Refused, Store, Study, new_secret


@dataclass(frozen=True)
class Teacher:
    """A person who teaches in a session; `session` is the name by which requests are about it."""

    label: str
    session: str
    answers: int


@dataclass(frozen=True)
class TeachingSettings:
    """What can be changed without losing an answer.

    answers     the kind of answers: "pair", "rate-5", several as in "pair, rate-5", or "auto"
    questions   how many the teacher plans to answer
    words       those for the levels of a label, the lowest first; empty: the usual ones
    goal        the fraction of predicted answers at which the page stops asking; null: it does not
    """

    task_description: str
    answers: Kind
    questions: int
    words: tuple[str, ...]
    goal: float | None


@dataclass(frozen=True)
class TeachingSession:
    """A line of the list.

    shown   how trajectories are shown: as a scene, as clips, or by their features
    used    when it was answered last, or begun
    """

    name: str
    title: str
    task_description: str
    settings: TeachingSettings
    trajectories: int
    shown: str
    answers: int
    people: list[Teacher]
    used: str
    archived: bool


def teaching_sessions(store: Store) -> list[TeachingSession]:
    """All of them, also archived ones; that which was used last comes first."""
    found = [_listed(store, study) for study in store.studies() if study.kind == "teach"]
    return sorted(found, key=lambda one: one.used, reverse=True)


def _listed(store: Store, study: Study) -> TeachingSession:
    facts, settings = store.pool_facts(study), settings_of(study)
    logs = [(one, store.event_log(one)) for one in store.participants(study)]
    times = [log.events[-1].at for _, log in logs if log.events]
    return TeachingSession(
        name=study.name,
        title=str(study.protocol["title"]),
        task_description=settings.task_description or facts.task_description,
        settings=settings,
        trajectories=facts.count,
        shown=facts.kind,
        answers=sum(len(log.answers) for _, log in logs),
        people=[Teacher(one.label, one.session, len(log.answers)) for one, log in logs],
        used=max([study.at, *times]),
        archived=study.archived is not None,
    )


def taught_since(store: Store, time: str) -> list[tuple[Study, Participant]]:
    """The sessions in which somebody has answered since then, and who; the last one first."""
    found = []
    for study in (one for one in store.studies() if one.kind == "teach"):
        for participant in store.participants(study):
            events = store.event_log(participant).events
            if events and events[-1].at >= time:
                found.append((events[-1].at, study, participant))
    ordered = sorted(found, key=lambda row: row[0], reverse=True)
    return [(study, participant) for _, study, participant in ordered]


def teaching_session(store: Store, name: str) -> Study:
    """The teaching session of this name; a study is none."""
    study = store.study(name)
    if study.kind != "teach":
        raise Refused("no-study", f"{name!r} is a study, and no teaching session")
    return study


def first_teacher(store: Store, study: Study) -> Participant:
    """Who taught in it first."""
    return store.participants(study)[0]


def check_about_group(about: str, protocol: Protocol) -> None:
    """An error if a session asks for other answers than questions about the group have."""
    acquisition = method_named(protocol.methods[0].method).acquisition
    for kind in protocol.kinds:
        check_group_question(about, acquisition, kind)


def free_name(store: Store, wanted: str) -> str:
    """This name, or with a number if it is taken."""
    taken = {study.name for study in store.studies()}
    wanted = "".join(letter for letter in wanted if letter.isprintable()).strip()[: LONGEST - 5] or "session"
    names = (wanted if number == 1 else f"{wanted} {number}" for number in range(1, len(taken) + 2))
    return next(name for name in names if name not in taken)


def copy_session(store: Store, name: str, new: str, *, answers: bool) -> Study:
    """A session with the same trajectories and settings, and if wanted with the same answers."""
    return store.copy(teaching_session(store, name), new, new_secret(), answers=answers)


def settings_of(study: Study) -> TeachingSettings:
    """The present ones."""
    protocol = Protocol.from_json(study.protocol)
    return TeachingSettings(
        protocol.task_description,
        protocol.answers,
        protocol.total_questions,
        protocol.level_words,
        protocol.goal,
    )


def change_settings(store: Store, study: Study, settings: TeachingSettings) -> Study:
    """The session with these settings from the next question on; an error if they make no sense."""
    changes = setting_changes(study.protocol, settings)
    return store.change_protocol(study, **changes) if changes else study


def setting_changes(protocol: Mapping[str, Any], settings: TeachingSettings) -> dict[str, Any]:
    """What of a protocol changes; words that do not fit another kind of answers are the usual ones again."""
    if settings.goal is not None:
        check_goal(settings.goal)
    if not 1 <= settings.questions <= MOST_QUESTIONS:
        raise ValueError(f"plan 1 to {MOST_QUESTIONS:,} questions, not {settings.questions}")
    present = Protocol.from_json(protocol)
    wanted = replace(
        present,
        task_description=unwrap(settings.task_description).strip(),
        answers=settings.answers,
        level_words=_fitting(settings, present),
        methods=tuple(replace(method, questions=settings.questions) for method in present.methods),
        goal=settings.goal,
    )
    before, after = present.to_json(), wanted.to_json()
    return {name: value for name, value in after.items() if value != before[name]}


def _fitting(settings: TeachingSettings, present: Protocol) -> tuple[str, ...]:
    """The words, unless they are the former ones, and those of another kind of answers."""
    if settings.words != present.level_words or settings.answers == present.answers:
        return settings.words
    try:
        return own_words(settings.words, [kind_named(kind) for kind in allowed_kinds(settings.answers)])
    except ValueError:
        return ()
