"""Which trajectories are meant, and how a teacher's session begins or goes on."""

from pathlib import Path
from typing import Literal

from prefero import worlds
from prefero.datasets.opening import LOOKED_FOR, kind_of
from prefero.datasets.tables import holds_pool
from prefero.experiments.settings import GOLF_SHOTS
from prefero.pools import Pool
from prefero.studies.displays import display_of
from prefero.studies.protocol import teaching
from prefero.studies.store import Person, Refused, Store, Study, new_secret

TEACHER = "teacher"


def pool_of(what: str, trajectories: int | None = None) -> Pool:
    """A world's name, or the path of a pool: its trajectories, simulated or read."""
    if what in worlds.names():
        how: Literal["grid", "random"] = "grid" if what == "golf" else "random"
        return Pool.simulate(what, trajectories or (GOLF_SHOTS if what == "golf" else 1000), how=how)
    path, kind = Path(what), kind_of(what)
    if path.exists() and (kind is None or (kind == "archive" and holds_pool(path))):
        return Pool.load(path)
    if kind is None:
        raise ValueError(
            f"{what!r} is neither a world ({', '.join(worlds.names())}) nor a file that is there, nor "
            f"{LOOKED_FOR}"
        )
    return Pool.from_dataset(what, count=trajectories, later=True, keep=True)


def begin_teaching(
    store: Store, what: str, name: str | None, questions: int, trajectories: int | None = None
) -> tuple[Study, Person, bool]:
    """The session of this name: a new one, or (True) the one that was begun before."""
    name = name or Path(what).stem
    if name in {study.name for study in store.studies()}:
        study = store.study(name)
        if study.kind != "teach":
            raise Refused("study-exists", f"{name!r} is a study, not a session: choose another --name")
        _check_same(store, study, what)
        people = store.people(study) or [store.invite(study, TEACHER, new_secret(), seed=0)]
        return study, people[0], True
    pool = pool_of(what, trajectories)
    protocol = teaching(what.title() if what in worlds.names() else name, questions)
    study = store.add_study(name, "teach", protocol.to_json(), pool, display_of(pool), new_secret())
    return study, store.invite(study, TEACHER, new_secret(), seed=0), False


def _check_same(store: Store, study: Study, what: str) -> None:
    """Answers are about trajectories by number: those of another pool would mean something else."""
    kept = store.pool(study)
    if what in worlds.names():
        same = kept.source is not None and kept.source.world == what
    else:
        other = pool_of(what)
        same = other.features.shape == kept.features.shape and bool((other.features == kept.features).all())
    if not same:
        raise Refused(
            "another-pool",
            f"the session {study.name!r} was begun with other trajectories: choose another --name",
        )
