"""Creating a study: its protocol is adapted to the trajectories that it asks about.

What a protocol has that does not apply to the world or the data, such as golf's target scores, is left out,
and the creator is told so.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from prefero import worlds
from prefero.datasets import FeatureOptions, FormatOptions, LabelColumn
from prefero.judges.named import Consultation
from prefero.learner.known_options import KnownOptions
from prefero.pools.displays import display_of, targets_of
from prefero.pools.pool import Pool
from prefero.questions import Labels
from prefero.questions.prior_knowledge import PriorKnowledge
from prefero.studies.asking.stage_rules import HIGHEST_SCORE, LOWEST_SCORE
from prefero.studies.protocol.protocol import Protocol
from prefero.studies.session import task_description
from prefero.studies.start import check_no_code, pool_of, serve_clips
from prefero.studies.storage.store import Refused, Store, Study, new_secret

MOST_TARGETS = HIGHEST_SCORE - LOWEST_SCORE + 1  # each has a different score


@dataclass(frozen=True)
class CreatedStudy:
    """A new study.

    secret     opens the experimenter's page; it is not stored
    left_out   what of the protocol does not apply, with the reasons
    labels     what the dataset said already
    knowledge  what else is known before the first question
    """

    study: Study
    secret: str
    protocol: Protocol
    trajectories: int
    left_out: tuple[str, ...]
    labels: Labels | None = None
    knowledge: PriorKnowledge | None = None


def create_study(
    store: Store,
    name: str,
    protocol: Protocol,
    what: str | None = None,
    trajectories: int | None = None,
    features: FeatureOptions | None = None,
    opening: FormatOptions | None = None,
    *,
    trust: bool = False,
    labels: LabelColumn | None = None,
    known: KnownOptions | None = None,
    judges: Consultation | None = None,
    say: Callable[[str], None] = print,
) -> CreatedStudy:
    """Add a study with this protocol about a world, a pool or a dataset, by default the protocol's own.

    Without `trust`, no code is run that a file names: see `pool_of` and `check_no_code`. `labels` are what
    the dataset says already; every method learns from them, from what else is `known`, and from what `judges`
    say, who are asked before the study is stored; `say` gets what is sent to them where.
    """
    if name in {study.name for study in store.studies()}:  # before anything is simulated
        raise Refused("study-exists", f"there is already a study {name!r}: choose another name")
    given, what = what, subject_of(protocol, what)
    if given is None and not trust:
        check_no_code(what)
    trajectories = trajectories or protocol.trajectories
    pool = pool_of(what, trajectories, features, opening, trust=trust, labels=labels, known=known)
    _check_methods(protocol, pool, bool(judges))
    display, secret = serve_clips(display_of(pool)), new_secret()
    adapted, left_out = adapt_protocol(about(protocol, what, trajectories), targets_of(display))
    if adapted.pool is not None and Path(adapted.pool).exists():  # exports are published, with the name alone
        adapted = replace(adapted, pool=Path(adapted.pool).resolve().name)
    if judges:
        found = judges.about(task_description(adapted, display)).found(pool, say, trust=trust)
        pool = pool.knowing(pool.knowledge.judged(*(one.judgements for one in found)))
    study = store.add_study(name, "study", adapted.to_json(), pool, display, secret)
    return CreatedStudy(study, secret, adapted, len(pool), left_out, pool.labels, pool.knowledge or None)


def _check_methods(protocol: Protocol, pool: Pool, judged: bool) -> None:
    """An error if a method cannot learn from the pool's labels, what else is known, or judges."""
    plain = [method.method for method in protocol.methods if not method.accepts_all_kinds]
    if plain and pool.labels is not None:
        raise ValueError(
            f"{plain[0]!r} learns from pairs only, not from the labels of {pool.labels.name!r}: choose a "
            "protocol without it, or leave out the labels"
        )
    if plain and (pool.knowledge or judged):
        known = pool.knowledge.describe() if pool.knowledge else "judges"
        raise ValueError(
            f"{plain[0]!r} learns from answers alone, not from {known}: "
            "choose a protocol without it, or leave that out"
        )


def subject_of(protocol: Protocol, what: str | None) -> str:
    """What the study is about: a world's name, or a path or an id."""
    found = what or protocol.world or protocol.pool
    if found is None:
        raise ValueError("the protocol names neither a world nor a pool: give one with --world")
    return found


def about(protocol: Protocol, what: str, trajectories: int | None = None) -> Protocol:
    """The protocol for this world or these data."""
    is_world = what in worlds.names()
    return replace(
        protocol,
        title=protocol.title or (what.title() if is_world else Path(what).stem),
        world=what if is_world else None,
        pool=None if is_world else what,
        trajectories=trajectories or protocol.trajectories,
    )


def protocol_for(protocol: Protocol, what: str) -> Protocol:
    """The protocol to edit for a world or data, of which nothing is simulated or read."""
    scene = {"scene": worlds.make(what).scene.to_json()} if what in worlds.names() else {}
    return adapt_protocol(about(protocol, what), targets_of(scene))[0]


def adapt_protocol(protocol: Protocol, targets: list[dict[str, Any]]) -> tuple[Protocol, tuple[str, ...]]:
    """The protocol without what does not apply, and what that is, with the reasons."""
    if not protocol.target_scores or 0 < len(targets) <= MOST_TARGETS:
        return protocol, ()
    what = protocol.world or protocol.pool
    number = f"{len(targets)} targets, and there are {MOST_TARGETS} scores" if targets else "no targets"
    return replace(protocol, target_scores=False), (f"target_scores, because {what} has {number}",)
