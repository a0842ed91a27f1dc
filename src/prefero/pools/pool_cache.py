"""The cache of simulated pools: a pool is simulated once, and read from a file from then on."""

from __future__ import annotations

import hashlib
import json
import warnings
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from prefero._support.files import cache_folder
from prefero.pools import pool_file
from prefero.pools.pool_file import PoolFileError

if TYPE_CHECKING:
    from prefero.pools.pool import Pool
    from prefero.pools.simulate import Source


def path_of(source: Source) -> Path:
    """The place of a simulated pool in the cache."""
    digest = hashlib.sha256(json.dumps(asdict(source), sort_keys=True).encode()).hexdigest()[:16]
    return cache_folder() / "pools" / f"{source.world}-{source.count}-{source.seed}-{digest}.npz"


def find(kind: type[Pool], source: Source) -> Pool | None:
    """The pool, if it was simulated before; a damaged file counts as none."""
    try:
        pool = pool_file.read(kind, path_of(source))
    except (FileNotFoundError, PoolFileError):
        return None
    return pool if pool.source == source else None


def store(pool: Pool, source: Source) -> None:
    """Keep a pool for the next time; a cache that cannot be written is a warning, not an error."""
    path = path_of(source)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        pool_file.write(pool, path)
    except OSError as error:
        warnings.warn(f"the simulated pool was not cached: {error}", stacklevel=4)
