"""Pools: the trajectories that questions are about; simulated, read from datasets or files, and cached."""

from prefero.pools.pool import Pool
from prefero.pools.pool_file import PoolFileError
from prefero.pools.simulate import Source

__all__ = ["Pool", "PoolFileError", "Source"]
