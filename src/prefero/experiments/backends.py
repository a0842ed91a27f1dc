"""Executing runs: on this machine or a dask cluster, through joblib; or on a ray cluster."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import Literal, get_args

from prefero._support.commands import pip_command
from prefero._support.optional import MissingExtra, need
from prefero.experiments.results import Results
from prefero.experiments.runs import Rows, Run, execute

Backend = Literal["local", "dask", "ray"]
Finished = tuple[Run, Rows | Exception]
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
RELATIVE_COST = {
    "ActiveLinear": 4.0,
    "Prefero": 4.0,
    "Prefero, best": 4.0,
    "Prefero, mutual information": 4.0,
    "Prefero, random": 2.0,
}


def execute_runs(
    runs: Sequence[Run],
    results: Results,
    *,
    jobs: int = 1,
    backend: Backend = "local",
    address: str | None = None,
    done: Callable[[Run], None] = lambda run: None,  # noqa: ARG005
) -> None:
    """Execute the runs that are missing; every run is saved as soon as it is finished.

    A run that fails does not stop the others: its error is raised when they are finished.
    """
    waiting = sorted(
        results.missing(runs), key=lambda run: -RELATIVE_COST.get(run.method, 1.0) * run.setting.questions
    )
    if not waiting:
        return
    _check(backend)
    simulate_pools(waiting)
    with one_thread_each():
        errors = list(_saved(_finished(waiting, jobs, backend, address), results, done))
    if errors:
        raise errors[0]


def _saved(
    finished: Iterator[Finished], results: Results, done: Callable[[Run], None]
) -> Iterator[Exception]:
    """Save each run as it comes; the errors of those that failed."""
    for run, rows in finished:
        if isinstance(rows, Exception):
            yield rows
        else:
            results.save(run, rows)
            done(run)


def _check(backend: str) -> None:
    """Before any work is done: is there all that it takes?"""
    if backend not in get_args(Backend):
        raise ValueError(f"runs are executed by local, dask or ray, but the backend is {backend!r}")
    for package in ("joblib", "pyarrow"):
        need(package, extra="experiments")
    if backend == "dask":
        need("distributed", extra="cluster")
    if backend == "ray" and find_spec("ray") is None:
        remedy = pip_command(f"pip install {backend}")
        raise MissingExtra(f"this needs the package 'ray', which is not installed: type  {remedy}")


def simulate_pools(runs: Sequence[Run]) -> None:
    """Simulate the pools first, on all cores, so that the runs find them in the cache."""
    first = {(r.setting.world, r.setting.trajectories, r.setting.test_size, r.seed): r for r in runs}
    for run in first.values():
        run.setting.task(run.seed)


def _one(run: Run) -> Finished:
    """An error is a result too: raised in a worker, it would end the others and discard finished runs."""
    try:
        return run, execute(run)
    except Exception as error:
        return run, error


def _finished(runs: Sequence[Run], jobs: int, backend: Backend, address: str | None) -> Iterator[Finished]:
    """Runs as they are finished, in any order."""
    if backend == "ray":
        yield from _by_ray(runs, jobs, address)
    elif backend == "dask":
        with need("distributed", extra="cluster").Client(address):
            yield from _by_joblib(runs, jobs, "dask")
    else:
        yield from _by_joblib(runs, jobs, "loky")


def _by_joblib(runs: Sequence[Run], jobs: int, backend: str) -> Iterator[Finished]:
    joblib = need("joblib", extra="experiments")
    with joblib.parallel_config(backend=backend):
        parallel = joblib.Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)
        yield from parallel(joblib.delayed(_one)(run) for run in runs)


def _by_ray(runs: Sequence[Run], jobs: int, address: str | None) -> Iterator[Finished]:
    """Without joblib, whose way to ray gives no run back before all are finished."""
    ray = import_module("ray")
    here = {"num_cpus": jobs} if address is None else {}
    ray.init(address=address or "local", log_to_driver=False, logging_level="ERROR", **here)
    try:
        executed = ray.remote(_one)
        waiting = [executed.remote(run) for run in runs]
        while waiting:
            finished, waiting = ray.wait(waiting)
            yield from ray.get(finished)
    finally:
        ray.shutdown()


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
