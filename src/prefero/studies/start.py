"""Which trajectories are meant, and how a teacher's session begins or goes on."""

import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from prefero import worlds
from prefero.datasets.base import BadEpisode
from prefero.datasets.formats.tables import holds_pool
from prefero.datasets.registry import LOOKED_FOR, kind_and_place, open_dataset
from prefero.pools.pool import Pool
from prefero.studies.displays import display_of
from prefero.studies.protocol import teaching
from prefero.studies.storage.store import Person, Refused, Store, Study, new_secret

TEACHER = "teacher"
ASKED = 4000  # of one's own trajectories at most: so many pairs are looked through in a second or two
ALL = 2**63
NOTING = ("features", "window", "stride", "drop", "log", "skip_bad")  # how a dataset's trajectories are noted


def pool_of(
    what: str,
    trajectories: int | None = None,
    **how: Any,
) -> Pool:
    """A world's name, the path of a pool, or a dataset: its trajectories, simulated or read.

    `how` is what `prefero.datasets.bring` takes (`NOTING`), and what opens a dataset of its kind.
    """
    told = {name: value for name, value in how.items() if value}
    if what in worlds.names():
        _check_none(told, what, "a world")
        world = worlds.make(what)
        return Pool.simulate(world, trajectories or world.pool_size, sampling=world.pool_sampling)
    path, (kind, _) = Path(what), kind_and_place(what)
    if path.is_file() and path.suffix == ".npz" and (kind is None or holds_pool(path)):
        _check_none(told, what, "a pool")
        pool = Pool.load(path)
        _say_few(len(pool), trajectories)
        return pool.diverse(trajectories or ASKED)
    if kind is None:
        raise ValueError(
            f"{what!r} is neither a world ({', '.join(worlds.names())}) nor a pool's file (.npz) nor "
            f"{LOOKED_FOR}"
        )
    noting = {name: value for name, value in told.items() if name in NOTING}
    opening = {name: value for name, value in how.items() if name not in NOTING}
    shown = {"shown": True} if kind == "lerobot" else {}
    dataset = open_dataset(what, **(shown | opening))
    _say_few(len(dataset), trajectories)
    return Pool.from_dataset(dataset, count=trajectories or ASKED, later=True, keep=True, **noting)


def _say_few(there: int, trajectories: int | None) -> None:
    if trajectories is None and there > ASKED:
        warnings.warn(
            f"there are {there:,} trajectories: the {ASKED:,} that differ most are asked about, so that "
            "questions come at once; --trajectories says how many",
            stacklevel=3,
        )


def _check_none(options: Iterable[str], what: str, kind: str) -> None:
    for name in options:
        option = name.replace("features", "feature").replace("_", "-")
        raise ValueError(f"{what} is {kind} and no dataset, so --{option} has no meaning")


def begin_teaching(
    store: Store, what: str, name: str | None, questions: int, trajectories: int | None = None, **how: Any
) -> tuple[Study, Person, bool]:
    """The session of this name: a new one, or (True) the one that was begun before; see `pool_of`."""
    name = name or Path(what).stem
    if name in {study.name for study in store.studies()}:
        study = store.study(name)
        if study.kind != "teach":
            raise Refused("study-exists", f"{name!r} is a study, not a session: choose another --name")
        _check_same(store, study, what, how)
        people = store.people(study) or [store.invite(study, TEACHER, new_secret(), seed=0)]
        return study, people[0], True
    pool = pool_of(what, trajectories, **how)
    protocol = teaching(what.title() if what in worlds.names() else name, questions)
    study = store.add_study(name, "teach", protocol.to_json(), pool, display_of(pool), new_secret())
    return study, store.invite(study, TEACHER, new_secret(), seed=0), False


def _check_same(store: Store, study: Study, what: str, how: dict[str, Any]) -> None:
    """Answers are about trajectories by number: those of another pool would mean something else."""
    kept = store.pool(study)
    if what in worlds.names():
        same = kept.source is not None and kept.source.world == what
    else:
        same = _is_part(kept, _as_before(what, how))
    if not same:
        raise Refused(
            "another-pool",
            f"the session {study.name!r} was begun with other trajectories: choose another --name",
        )


def _as_before(what: str, how: dict[str, Any]) -> Pool:
    """The trajectories there are now; a film that was lost since is no reason not to go on."""
    try:
        return pool_of(what, ALL, **how)
    except BadEpisode:
        if kind_and_place(what)[0] != "lerobot":
            raise
        return pool_of(what, ALL, **how, shown=False)


def _is_part(kept: Pool, other: Pool) -> bool:
    """Are all trajectories among the others, and the same? Those that were left out may be there again."""
    if kept.features.shape == other.features.shape and bool((kept.features == other.features).all()):
        return True
    if kept.ids is None or not set(kept.names) <= set(other.names):
        return False
    row = {trajectory: number for number, trajectory in enumerate(other.ids or map(str, range(len(other))))}
    if not set(kept.ids) <= set(row):
        return False
    columns = [other.names.index(name) for name in kept.names]
    return bool((other.features[[row[i] for i in kept.ids]][:, columns] == kept.features).all())
