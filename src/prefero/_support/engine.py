"""Where independent pieces of work are done: in processes of this machine, or on a dask or ray cluster."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Literal, TypeVar, get_args

from prefero._support.commands import pip_command
from prefero._support.optional import MissingExtra, need

Backend = Literal["local", "dask", "ray"]
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

Piece = TypeVar("Piece")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Engine:
    """A backend, and the address of its cluster.

    backend   "local", "dask" or "ray"
    address   of the dask scheduler or the ray cluster; None begins one on this machine
    jobs      how many processes of this machine work; a cluster has its own number
    extra     what brings joblib, for an error if it is missing
    """

    backend: Backend = "local"
    address: str | None = None
    jobs: int = 1
    extra: str = "datasets"

    def __post_init__(self) -> None:
        if self.backend not in get_args(Backend):
            raise ValueError(f"work is executed by local, dask or ray, but the backend is {self.backend!r}")
        if self.backend == "local" and self.address is not None:
            raise ValueError(
                f"an address, here {self.address!r}, is that of a cluster: say which with --backend dask "
                "or --backend ray"
            )

    @property
    def is_here(self) -> bool:
        """Whether all work is done by this very process."""
        return self.backend == "local" and self.jobs == 1

    def check(self) -> None:
        """An error, before any work is done, if a package is missing."""
        if self.backend == "ray" and find_spec("ray") is None:
            remedy = pip_command(f"pip install {self.backend}")
            raise MissingExtra(f"this needs the package 'ray', which is not installed: type  {remedy}")
        if self.backend == "dask":
            need("distributed", extra="cluster")
        if self.backend != "ray":
            need("joblib", extra=self.extra)

    def map(
        self, work: Callable[[Piece], Result], pieces: Sequence[Piece], *, ordered: bool = True
    ) -> Iterator[Result]:
        """What `work` makes of each piece, in their order or as they are finished; one BLAS thread each."""
        self.check()
        with one_thread_each():
            if self.backend == "ray":
                yield from _by_ray(self, work, pieces, ordered=ordered)
            else:
                yield from _by_joblib(self, work, pieces, ordered=ordered)


def _by_joblib(
    engine: Engine, work: Callable[[Piece], Result], pieces: Sequence[Piece], *, ordered: bool
) -> Iterator[Result]:
    joblib = need("joblib", extra=engine.extra)
    with ExitStack() as cluster:
        if engine.backend == "dask":
            cluster.enter_context(need("distributed", extra="cluster").Client(engine.address))
        cluster.enter_context(joblib.parallel_config(backend="dask" if engine.backend == "dask" else "loky"))
        kind = "generator" if ordered else "generator_unordered"
        parallel = joblib.Parallel(n_jobs=engine.jobs, return_as=kind, batch_size=1)
        yield from parallel(joblib.delayed(work)(piece) for piece in pieces)


def _by_ray(
    engine: Engine, work: Callable[[Piece], Result], pieces: Sequence[Piece], *, ordered: bool
) -> Iterator[Result]:
    """Without joblib, whose way to ray gives no result back before all are finished."""
    ray = import_module("ray")
    here = {"num_cpus": engine.jobs} if engine.address is None else {}
    ray.init(address=engine.address or "local", log_to_driver=False, logging_level="ERROR", **here)
    try:
        executed = ray.remote(work)
        yield from _collected(ray, [executed.remote(piece) for piece in pieces], ordered=ordered)
    finally:
        ray.shutdown()


def _collected(ray: Any, waiting: list[Any], *, ordered: bool) -> Iterator[Any]:
    if ordered:
        yield from map(ray.get, waiting)
    while waiting and not ordered:
        finished, waiting = ray.wait(waiting)
        yield from ray.get(finished)


@contextmanager
def one_thread_each() -> Iterator[None]:
    """One BLAS thread a worker: at these sizes two are slower than one."""
    before = {name: os.environ.get(name) for name in THREADS}
    os.environ.update(dict.fromkeys(THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
