"""Executing runs: on this machine or on a cluster; every run is saved as soon as it is finished."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from prefero._support.engine import Backend, Engine
from prefero._support.optional import need
from prefero.experiments.results import Results
from prefero.experiments.runs import Rows, Run, execute

Finished = tuple[Run, Rows | Exception]
RELATIVE_COST = {
    "ActiveLinear": 4.0,
    "Prefero": 4.0,
    "Prefero, best": 4.0,
    "Prefero, good ones": 4.0,
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
    engine = Engine(backend, address, jobs, extra="experiments")
    engine.check()
    need("pyarrow", extra="experiments")
    simulate_pools(waiting)
    errors = list(_saved(engine.map(_one, waiting, ordered=False), results, done))
    if errors:
        raise errors[0]


def _saved(
    finished: Iterable[Finished], results: Results, done: Callable[[Run], None]
) -> Iterator[Exception]:
    """Save each run as it comes; the errors of those that failed."""
    for run, rows in finished:
        if isinstance(rows, Exception):
            yield rows
        else:
            results.save(run, rows)
            done(run)


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
