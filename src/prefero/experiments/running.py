"""Carrying out runs: on the cores of this machine, or on a cluster, through joblib."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal

from prefero.experiments.results import Results
from prefero.experiments.runs import Rows, Run, play
from prefero.extras import need

Backend = Literal["local", "dask", "ray"]
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
COST = {"ActiveLinear": 4.0, "Prefero": 3.0, "Prefero, best": 3.0, "Prefero, random": 2.0}  # relative times


def carry_out(
    runs: Sequence[Run],
    results: Results,
    *,
    jobs: int = 1,
    backend: Backend = "local",
    address: str | None = None,
    done: Callable[[Run], None] = lambda run: None,  # noqa: ARG005
) -> None:
    """Do what is not done yet; every run is kept as soon as it is finished."""
    waiting = sorted(
        results.missing(runs), key=lambda run: -COST.get(run.method, 1.0) * run.setting.questions
    )
    if not waiting:
        return
    prepare(waiting)
    joblib = need("joblib", extra="experiments")
    with _where(backend, address):
        parallel = joblib.Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)
        for run, rows in parallel(joblib.delayed(_one)(run) for run in waiting):
            results.save(run, rows)
            done(run)


def prepare(runs: Sequence[Run]) -> None:
    """Simulate the pools first, on all cores, so that the runs find them in the cache."""
    for world in dict.fromkeys((run.setting.world, run.setting.trajectories, run.seed) for run in runs):
        run = next(r for r in runs if (r.setting.world, r.setting.trajectories, r.seed) == world)
        run.setting.task(run.seed)


def _one(run: Run) -> tuple[Run, Rows]:
    return run, play(run)


@contextmanager
def _where(backend: Backend, address: str | None) -> Iterator[None]:
    """One BLAS thread a worker: at these sizes two are slower than one."""
    before = {name: os.environ.get(name) for name in THREADS}
    os.environ.update(dict.fromkeys(THREADS, "1"))
    joblib = need("joblib", extra="experiments")
    try:
        with (
            _client(backend, address),
            joblib.parallel_config(backend="loky" if backend == "local" else backend),
        ):
            yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextmanager
def _client(backend: Backend, address: str | None) -> Iterator[Any]:
    if backend == "local":
        yield None
    elif backend == "dask":
        with need("distributed", extra="cluster").Client(address) as client:
            yield client
    elif backend == "ray":
        ray = need("ray", extra="cluster")
        ray.init(address=address)
        need("ray.util.joblib", extra="cluster").register_ray()
        try:
            yield ray
        finally:
            ray.shutdown()
    else:
        raise ValueError(f"runs are carried out by local, dask or ray, but the backend is {backend!r}")
