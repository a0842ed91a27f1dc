"""Pools: the trajectories that questions are made of; simulated, kept in files, and found in the cache."""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from prefero._support.arrays import Array
from prefero._support.files import ArchiveError, archive, cache_folder, read_archive, unpack, write_archive
from prefero._support.progress_bar import progress
from prefero.pools.from_dataset import FromDatasets
from prefero.trajectories.features import Scaling, feature_matrix, sample_diverse
from prefero.trajectories.trajectory import Trajectory

if TYPE_CHECKING:
    from prefero.worlds.base import World

KIND, FORMAT = "prefero pool", 1
BATCHES = 50  # steps of the progress bar, at most
LEAST_BATCH = 16

How = Literal["random", "grid"]


class PoolFileError(ArchiveError):
    """A file is not a pool, or not a whole one."""


@dataclass(frozen=True)
class Source:
    """Where simulated trajectories came from: all that it takes to make them again."""

    world: str
    options: dict[str, Any]
    physics: str
    count: int
    seed: int
    how: How

    @property
    def cached(self) -> Path:
        """The place of this pool in the cache."""
        digest = hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()[:16]
        return cache_folder() / "pools" / f"{self.world}-{self.count}-{self.seed}-{digest}.npz"


@dataclass(frozen=True, eq=False, init=False)
class Pool(FromDatasets):
    """The trajectories that questions are made of.

    features       (M, d)   one row a trajectory, in the user's units
    scaled         (M, d)   the same with mean 0 and standard deviation 1, as models see them
    scaling                 what makes them so; a pool that has grown keeps that of its first trajectories
    names          d        names of the features
    trajectories            actions and poses, for replay, if they are known
    clips                   films of the trajectories, one file each, if there are any
    ids                     what each trajectory is called where it comes from, if it is called anything
    source                  the world, its options and the seed, if it was simulated
    """

    features: Array
    scaling: Scaling
    trajectories: Trajectory | None
    clips: tuple[str, ...] | None
    ids: tuple[str, ...] | None
    source: Source | None

    def __init__(
        self,
        features: npt.ArrayLike,
        names: Sequence[str] | None = None,
        *,
        trajectories: Trajectory | None = None,
        clips: Sequence[str | Path] | None = None,
        ids: Sequence[str] | None = None,
        source: Source | None = None,
        scaling: Scaling | None = None,
    ) -> None:
        matrix = feature_matrix(features, names).copy()
        if len(matrix) < 2:
            raise ValueError(
                f"a pool needs at least two trajectories to compare, but has {len(matrix)}: add more rows"
            )
        if trajectories is not None and len(trajectories) != len(matrix):
            raise ValueError(
                f"there are {len(matrix)} rows of features, but {len(trajectories)} trajectories"
            )
        for what, given in (("clips", clips), ("ids", ids)):
            if given is not None and len(given) != len(matrix):
                raise ValueError(f"there are {len(matrix)} rows of features, but {len(given)} {what}")
        matrix.setflags(write=False)
        object.__setattr__(self, "features", matrix)
        object.__setattr__(self, "scaling", scaling or Scaling.of(matrix, names))
        self.scaling(matrix[:1])  # is of these features
        object.__setattr__(self, "trajectories", trajectories)
        object.__setattr__(self, "clips", None if clips is None else tuple(map(str, clips)))
        object.__setattr__(self, "ids", None if ids is None else tuple(map(str, ids)))
        object.__setattr__(self, "source", source)

    @classmethod
    def simulate(
        cls,
        world: World | str,
        count: int = 1000,
        seed: int = 0,
        *,
        how: How = "random",
        cache: bool = True,
        progress: bool | None = None,
    ) -> Pool:
        """`count` trajectories of a world, given or named; the same call makes the same pool.

        Actions are uniformly random, or lie on an even grid of at most `count` points. What was simulated
        once is read from the cache, unless the world is one of your own. `progress` shows a bar or hides it;
        None shows it on a terminal.
        """
        if isinstance(world, str):
            from prefero import worlds

            world = worlds.make(world)
        if how not in get_args(How):
            raise ValueError(f"actions are {' or '.join(get_args(How))}, but how is {how!r}")
        if count < 2 or seed < 0:
            raise ValueError(
                f"a pool has two trajectories or more and a seed of 0 or more, not {count} and {seed}"
            )
        source = Source(world.name, dict(world.options), world.physics, int(count), int(seed), how)
        cache = cache and world.cacheable
        found = _from_cache(cls, source) if cache else None
        if found is not None:
            return found
        pool = cls._simulated(world, source, progress)
        if cache:
            _to_cache(pool, source)
        return pool

    @classmethod
    def _simulated(cls, world: World, source: Source, show: bool | None) -> Pool:
        rng = np.random.default_rng(source.seed)
        if source.how == "grid":
            actions = world.actions.grid(source.count)
        else:
            actions = world.actions.sample(source.count, rng)
        batches = np.array_split(actions, min(BATCHES, -(-len(actions) // LEAST_BATCH)))
        done = []
        with progress(f"simulating {world.name}", len(actions), show) as advance:
            for batch in batches:
                done.append(world.rollout(batch))
                advance(len(batch))
        trajectories = Trajectory.join(done)
        return cls(trajectories.features, world.feature_names, trajectories=trajectories, source=source)

    def __len__(self) -> int:
        return len(self.features)

    @property
    def names(self) -> tuple[str, ...]:
        """The features' names."""
        return self.scaling.names

    @cached_property
    def scaled(self) -> Array:
        """The features in units of their spread over the pool."""
        scaled = self.scaling(self.features)
        scaled.setflags(write=False)
        return scaled

    def check_index(self, index: int) -> None:
        """An error unless `index` is that of a trajectory of this pool."""
        if not 0 <= index < len(self):
            raise ValueError(f"the pool has trajectories 0 to {len(self) - 1}, but this is {index}")

    def trajectory(self, index: int) -> Trajectory:
        """One trajectory, for replay."""
        self.check_index(index)
        if self.trajectories is None:
            raise ValueError(
                "this pool has only features: nothing is known of its trajectories' actions and poses"
            )
        return self.trajectories[index]

    def diverse(self, count: int, seed: int = 0) -> Pool:
        """At most `count` of these trajectories, as different from each other as can be, as a pool.

        Their features are scaled anew. `ids` say which they are; where they had none, these are their places
        here.
        """
        if count >= len(self):
            return self
        rows = np.sort(sample_diverse(self.scaled, count, seed=seed))
        ids = self.ids or range(len(self))
        return Pool(
            self.features[rows],
            self.names,
            trajectories=None if self.trajectories is None else self.trajectories[rows],
            clips=None if self.clips is None else [self.clips[row] for row in rows],
            ids=[str(ids[row]) for row in rows],
            source=self.source,
        )

    def extended(self, trajectories: Trajectory | npt.ArrayLike) -> Pool:
        """This pool with more trajectories at its end, which are scaled as the others are.

        They are one trajectory or a batch; or, for a pool of features alone, one row of features or several.
        Answers about the pool are answers about the extended one.
        """
        kind = "clips" if self.clips else "features" if self.trajectories is None else "trajectories"
        if kind == "clips" or isinstance(trajectories, Trajectory) != (kind == "trajectories"):
            raise ValueError(
                f"this pool is of {kind}, and cannot be extended by {type(trajectories).__name__}"
            )
        new = trajectories.features if isinstance(trajectories, Trajectory) else trajectories
        rows = feature_matrix(np.atleast_2d(np.asarray(new, dtype=float)), self.names)
        return Pool(
            np.concatenate([self.features, rows]),
            self.names,
            trajectories=self._joined(trajectories) if isinstance(trajectories, Trajectory) else None,
            ids=None if self.ids is None else [*self.ids, *(str(len(self) + n) for n in range(len(rows)))],
            source=self.source,
            scaling=self.scaling,
        )

    def _joined(self, more: Trajectory) -> Trajectory:
        assert self.trajectories is not None
        both = [self.trajectories, more.as_batch()]
        old, new = ((batch.actions.shape[1:], batch.poses.shape[1:]) for batch in both)
        if old != new:
            raise ValueError(
                f"these trajectories are another world's: actions and poses have shapes {new}, "
                f"but those of the pool {old}"
            )
        return Trajectory.join(both)

    def world(self) -> World:
        """The world that the trajectories come from, made anew."""
        if self.source is None:
            raise ValueError("this pool was not simulated, so it has no world")
        from prefero import worlds

        return worlds.make(self.source.world, **self.source.options)

    def save(self, path: str | Path) -> None:
        """Keep the pool in one `.npz` file."""
        path = Path(path)
        if path.suffix != ".npz":
            raise ValueError(f"a pool is kept in an .npz file, but the path is {path}")
        header, arrays = self._packed()
        if self.clips is not None:
            header["clips"] = [_seen_from(path.parent, clip) for clip in self.clips]
        write_archive(path, header, arrays)

    def to_bytes(self) -> bytes:
        """The content of the pool's file."""
        return archive(*self._packed())

    def _packed(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        header = {
            "kind": KIND,
            "format": FORMAT,
            "names": list(self.names),
            "scaling": self.scaling.to_json(),
            "source": None if self.source is None else asdict(self.source),
            "clips": self.clips,
            "ids": self.ids,
        }
        arrays: dict[str, npt.NDArray[Any]] = {"features": self.features}
        if self.trajectories is not None:
            arrays |= {"actions": self.trajectories.actions, "poses": self.trajectories.poses}
        return header, arrays

    @classmethod
    def load(cls, path: str | Path) -> Pool:
        """What `save` wrote; clips are looked for where they were, seen from the file."""
        pool = cls._unpacked(lambda: read_archive(Path(path)), str(path))
        if pool.clips is not None:
            folder = Path(path).parent.resolve()
            object.__setattr__(pool, "clips", tuple(str(folder / clip) for clip in pool.clips))
        return pool

    @classmethod
    def from_bytes(cls, content: bytes, name: str = "this") -> Pool:
        """What `to_bytes` made; `name` is for errors."""
        return cls._unpacked(lambda: unpack(content, name), name)

    @classmethod
    def _unpacked(
        cls, read: Callable[[], tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]], path: str
    ) -> Pool:
        try:
            header, arrays = read()
        except ArchiveError as error:
            raise PoolFileError(f"{error}: a pool is what Pool.save writes") from error
        if header.get("kind") != KIND:
            raise PoolFileError(f"{path} is not a pool: a pool is what Pool.save writes")
        if header.get("format") != FORMAT:
            raise PoolFileError(
                f"{path} is a pool of format {header.get('format')}, and this version of Prefero reads "
                f"format {FORMAT}: upgrade Prefero"
            )
        try:
            return cls._from_archive(header, arrays)
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            raise PoolFileError(f"{path} is a damaged pool: {error}") from error

    @classmethod
    def _from_archive(cls, header: dict[str, Any], arrays: dict[str, npt.NDArray[Any]]) -> Pool:
        features, trajectories = arrays["features"], None
        if len(arrays) > 1:
            actions, poses = arrays["actions"], arrays["poses"]
            if not len(features) == len(actions) == len(poses) or poses.ndim != 4:
                shapes = (features.shape, actions.shape, poses.shape)
                raise ValueError(f"features, actions and poses do not fit each other: {shapes}")
            trajectories = Trajectory(actions, features, poses)
        source = None if header["source"] is None else Source(**header["source"])
        scaling = Scaling.from_json(header["scaling"]) if header.get("scaling") else None
        noted = {"clips": header.get("clips"), "ids": header.get("ids")}
        return cls(
            features, header["names"], trajectories=trajectories, source=source, scaling=scaling, **noted
        )


def _seen_from(folder: Path, clip: str) -> str:
    """A clip beside the pool's file or below it moves with it."""
    place = Path(clip).resolve()
    here = folder.resolve()
    return str(place.relative_to(here)) if place.is_relative_to(here) else str(place)


def _from_cache(kind: type[Pool], source: Source) -> Pool | None:
    """The pool, if it was simulated before; a damaged file is as good as none."""
    try:
        pool = kind.load(source.cached)
    except (FileNotFoundError, PoolFileError):
        return None
    return pool if pool.source == source else None


def _to_cache(pool: Pool, source: Source) -> None:
    """A cache that cannot be written (a full disk, a folder of somebody else's) is no reason to fail."""
    try:
        source.cached.parent.mkdir(parents=True, exist_ok=True)
        pool.save(source.cached)
    except OSError as error:
        warnings.warn(f"the pool was not kept for the next time: {error}", stacklevel=3)
