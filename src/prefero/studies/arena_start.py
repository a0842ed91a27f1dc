"""How an arena begins or continues, and who judges."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from prefero._support.names import listed
from prefero._support.sentences import unwrap
from prefero.arena.plan import ArenaPlan, check_arena_kind
from prefero.pools.displays import display_of
from prefero.pools.pool import Pool
from prefero.questions.answer_kinds import PAIR, Kind
from prefero.questions.labels import Labels
from prefero.studies.protocol.participant_texts import ARENA_INSTRUCTIONS
from prefero.studies.protocol.protocol import Protocol, arena_protocol
from prefero.studies.storage.clip_folders import remember_folder
from prefero.studies.storage.store import LONGEST, Participant, Refused, Store, Study, new_secret

JUDGE = "judge"


def arena_name(policies: Sequence[str]) -> str:
    """The name of an arena that is given none."""
    return " vs ".join(policies)[:LONGEST]


def begin_arena(
    store: Store,
    name: str,
    policies: Sequence[str] | None,
    read: Callable[[], tuple[Pool, ArenaPlan]],
    judge: str = JUDGE,
    *,
    task_description: str | None = None,
    answers: Kind | None = None,
    labels: str | None = None,
    **settings: Any,
) -> tuple[Study, Participant, bool]:
    """The arena of this name: a new one, or (True) the one that was begun before; and its judge.

    Args:
        store: Where it is.
        name: Of the arena.
        policies: The names that are expected, None if a column has them.
        read: Reads the rollouts, with their labels if there are any.
        judge: Who answers.
        task_description: What to look for; None: as it was, or the usual text.
        answers: What judges are asked; None: as it was, or pairs.
        labels: The name of the labels that `read` brings; None: the arena keeps those that it has.
        **settings: Of the plan, None where they stay as they are.
    """
    changed = {key: value for key, value in settings.items() if value is not None}
    known = name in {study.name for study in store.studies()}
    if known:
        study = store.study(name)
        plan = _known_plan(study, policies)
        if labels is not None and (plan.labels is None or plan.labels.name != labels):
            changed["labels"] = _labels_again(store.pool(study), *read())
        study = _continued(store, study, replace(plan, **changed), task_description, answers)
    else:
        study = _new(store, name, *read(), task_description, answers or PAIR)
    judges = {one.label: one for one in store.participants(study)}
    participant = judges.get(judge) or store.invite(study, judge, new_secret())
    return study, participant, known


def _new(
    store: Store, name: str, pool: Pool, plan: ArenaPlan, task_description: str | None, answers: Kind
) -> Study:
    protocol = arena_protocol(plan, task_description or "", answers)
    for folder in sorted({str(Path(clip).parent) for clip in pool.clips or ()}):
        remember_folder(folder)  # one by one: all that is beside them is not for others
    return store.add_study(name, "study", protocol.to_json(), pool, display_of(pool), new_secret())


def _known_plan(study: Study, policies: Sequence[str] | None) -> ArenaPlan:
    """The plan of an arena; an error if it is about other policies."""
    plan = Protocol.from_json(study.protocol).arena
    if plan is None:
        raise Refused("study-exists", f"{study.name!r} is a study, and not an arena: choose another --name")
    if policies is not None and set(policies) != set(plan.policies):
        raise Refused(
            "another-pool",
            f"the arena {study.name!r} compares {listed(plan.policies)}, and not {listed(tuple(policies))}: "
            "choose another --name",
        )
    return plan


def _labels_again(pool: Pool, read: Pool, plan: ArenaPlan) -> Labels | None:
    """The labels of rollouts that were read again, in the order of the arena's own pool."""
    places = {one: place for place, one in enumerate(read.ids or ())}
    missing = [one for one in pool.ids or () if one not in places]
    if missing:
        raise Refused(
            "another-pool",
            f"labels are added to the same rollouts, but {missing[0]} is not there any more: choose another "
            "--name",
        )
    return None if plan.labels is None else plan.labels.rows([places[one] for one in pool.ids or ()])


def _continued(
    store: Store, study: Study, plan: ArenaPlan, task_description: str | None, answers: Kind | None
) -> Study:
    """The arena with these settings."""
    changes: dict[str, Any] = {"arena": plan.to_json()}
    if answers is not None:
        check_arena_kind(answers)
        changes["answers"] = answers
        if study.protocol["task_description"] in ARENA_INSTRUCTIONS.values():
            changes["task_description"] = ARENA_INSTRUCTIONS[answers]
    if task_description is not None:
        changes["task_description"] = unwrap(task_description)
    return store.change_protocol(study, **changes)
