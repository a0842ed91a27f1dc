"""The file of a pool: one `.npz` archive of features and trajectories, with a JSON header."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from prefero._support.commands import upgrade_command
from prefero._support.files import (
    HEADER,
    ArchiveError,
    from_archive,
    read_archive,
    to_archive,
    write_archive,
)
from prefero.pools.simulate import Source
from prefero.questions.labels import Labels
from prefero.questions.prior_knowledge import PriorKnowledge
from prefero.trajectories.feature_spec import spec_from_json, spec_to_json
from prefero.trajectories.features import Scaling
from prefero.trajectories.trajectory import Trajectory

if TYPE_CHECKING:
    from prefero.pools.pool import Pool

KIND, FORMAT = "prefero pool", 1

Header = dict[str, Any]
Arrays = dict[str, npt.NDArray[Any]]
P = TypeVar("P", bound="Pool")


class PoolFileError(ArchiveError):
    """A file is not a pool, or not a whole one."""


def is_pool_file(path: Path) -> bool:
    """Is this file a pool, and not another `.npz` archive? A damaged one may be."""
    if path.suffix != ".npz" or not path.is_file():
        return False
    try:
        with zipfile.ZipFile(path) as content:
            return f"{HEADER}.npy" in content.namelist()
    except (OSError, zipfile.BadZipFile):
        return True


def write(pool: Pool, path: Path) -> None:
    """Write a pool to an `.npz` file; paths of clips are relative to it where they can be."""
    if path.suffix != ".npz":
        raise ValueError(f"a pool is saved in an .npz file, but the path is {path}")
    header, arrays = _pack(pool)
    if pool.clips is not None:
        header["clips"] = [_relative(clip, path.parent) for clip in pool.clips]
    write_archive(path, header, arrays)


def read(kind: type[P], path: Path) -> P:
    """What `write` wrote; clips are looked for where they were, relative to the file."""

    def absolute(clip: str) -> str:
        return str(path.parent.resolve() / clip)

    return _checked(kind, lambda: read_archive(path), str(path), absolute)


def to_bytes(pool: Pool) -> bytes:
    """The content of a pool's file."""
    return to_archive(*_pack(pool))


def from_bytes(kind: type[P], content: bytes, name: str) -> P:
    """What `to_bytes` made; `name` is for errors."""
    return _checked(kind, lambda: from_archive(content, name), name, str)


def to_json(pool: Pool, folder: Path) -> dict[str, Any]:
    """A pool as JSON values, for a file in this folder; arrays with their shapes, which lists may lose."""
    header, arrays = _pack(pool)
    if pool.clips is not None:
        header["clips"] = [_relative(clip, folder) for clip in pool.clips]
    values = {name: {"shape": a.shape, "values": a.ravel().tolist()} for name, a in arrays.items()}
    return {**header, "arrays": values}


def from_json(kind: type[P], values: dict[str, Any], folder: Path) -> P:
    """What `to_json` made."""

    def read() -> tuple[Header, Arrays]:
        flat = {name: np.array(a["values"], dtype=float) for name, a in values["arrays"].items()}
        return values, {name: flat[name].reshape(a["shape"]) for name, a in values["arrays"].items()}

    return _checked(kind, read, "the pool", lambda clip: str(folder.resolve() / clip))


def _pack(pool: Pool) -> tuple[Header, Arrays]:
    header = {
        "kind": KIND,
        "format": FORMAT,
        "scaling": pool.scaling.to_json(),
        "source": None if pool.source is None else asdict(pool.source),
        "clips": pool.clips,
        "ids": pool.ids,
        "no_video": pool.no_video,
        "feature_spec": spec_to_json(pool.feature_spec),
        "labels": None if pool.labels is None else pool.labels.to_json(),
        "knowledge": pool.knowledge.to_json() if pool.knowledge else None,
    }
    arrays: Arrays = {"features": pool.features}
    if pool.actions is not None:
        arrays["actions"] = pool.actions
    if pool.trajectories is not None:
        arrays["poses"] = pool.trajectories.poses
    return header, arrays


def _checked(
    kind: type[P], read: Callable[[], tuple[Header, Arrays]], path: str, place: Callable[[str], str]
) -> P:
    try:
        header, arrays = read()
    except ArchiveError as error:
        raise PoolFileError(f"{error}: a pool is what Pool.save writes") from error
    if header.get("kind") != KIND:
        raise PoolFileError(f"{path} is not a pool: a pool is what Pool.save writes")
    if header.get("format") != FORMAT:
        raise PoolFileError(
            f"{path} is a pool of format {header.get('format')}, and this version of Prefero reads "
            f"format {FORMAT}: upgrade with  {upgrade_command()}"
        )
    try:
        return _unpack(kind, header, arrays, place)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise PoolFileError(f"{path} is a damaged pool: {error}") from error


def _unpack(kind: type[P], header: Header, arrays: Arrays, place: Callable[[str], str]) -> P:
    features, clips = arrays["features"], header["clips"]
    scaling = Scaling.from_json(header["scaling"])
    return kind(
        features,
        scaling.names,
        trajectories=_trajectories(features, arrays) if "poses" in arrays else None,
        actions=arrays.get("actions"),
        clips=None if clips is None else [place(clip) for clip in clips],
        ids=header["ids"],
        no_video=str(header["no_video"]),
        source=None if header["source"] is None else Source(**header["source"]),
        scaling=scaling,
        feature_spec=spec_from_json(header.get("feature_spec")),
        labels=None if header.get("labels") is None else Labels.from_json(header["labels"]),
        knowledge=None if header.get("knowledge") is None else PriorKnowledge.from_json(header["knowledge"]),
    )


def _trajectories(features: npt.NDArray[Any], arrays: Arrays) -> Trajectory:
    actions, poses = arrays["actions"], arrays["poses"]
    if not len(features) == len(actions) == len(poses) or poses.ndim != 4:
        shapes = (features.shape, actions.shape, poses.shape)
        raise ValueError(f"features, actions and poses do not fit each other: {shapes}")
    return Trajectory(actions, features, poses)


def _relative(clip: str, folder: Path) -> str:
    """The path of a clip, relative to the pool's file if it is beside or below it: both can be moved."""
    place, here = Path(clip).resolve(), folder.resolve()
    return str(place.relative_to(here)) if place.is_relative_to(here) else str(place)
