"""How an arena begins or continues, and who judges."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from prefero._support.names import listed
from prefero._support.sentences import unwrap
from prefero.arena.plan import ArenaPlan
from prefero.pools.displays import display_of
from prefero.pools.pool import Pool
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
    **settings: Any,
) -> tuple[Study, Participant, bool]:
    """The arena of this name: a new one, or (True) the one that was begun before; and its judge.

    `policies` are the names that are expected, None if a column has them. `read` reads the rollouts of a new
    arena; `settings` are those of the plan, None where they stay as they are.
    """
    changed = {key: value for key, value in settings.items() if value is not None}
    known = name in {study.name for study in store.studies()}
    if known:
        study = _continued(store, store.study(name), policies, changed, task_description)
    else:
        study = _new(store, name, *read(), task_description)
    judges = {one.label: one for one in store.participants(study)}
    participant = judges.get(judge) or store.invite(study, judge, new_secret())
    return study, participant, known


def _new(store: Store, name: str, pool: Pool, plan: ArenaPlan, task_description: str | None) -> Study:
    protocol = arena_protocol(plan, task_description or "")
    for folder in sorted({str(Path(clip).parent) for clip in pool.clips or ()}):
        remember_folder(folder)  # one by one: all that is beside them is not for others
    return store.add_study(name, "study", protocol.to_json(), pool, display_of(pool), new_secret())


def _continued(
    store: Store,
    study: Study,
    policies: Sequence[str] | None,
    settings: dict[str, Any],
    task_description: str | None,
) -> Study:
    """The arena with these settings; an error if it is about other policies."""
    plan = Protocol.from_json(study.protocol).arena
    if plan is None:
        raise Refused("study-exists", f"{study.name!r} is a study, and not an arena: choose another --name")
    if policies is not None and set(policies) != set(plan.policies):
        raise Refused(
            "another-pool",
            f"the arena {study.name!r} compares {listed(plan.policies)}, and not {listed(tuple(policies))}: "
            "choose another --name",
        )
    changes: dict[str, Any] = {"arena": replace(plan, **settings).to_json()}
    if task_description is not None:
        changes["task_description"] = unwrap(task_description)
    return store.change_protocol(study, **changes)
