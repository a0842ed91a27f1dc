"""Carrying out runs: what is done is kept, and where it is done changes no number."""

import os
import re
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from experiments.fake_runs import learned
from prefero._support.engine import THREADS
from prefero._support.optional import MissingExtra
from prefero.datasets import FeatureOptions, extract_features, open_dataset
from prefero.experiments import backends, settings
from prefero.experiments.backends import execute_runs, simulate_pools
from prefero.experiments.figures.base import TUNED
from prefero.experiments.results import Results
from prefero.experiments.runs import Rows, Run
from prefero.experiments.settings import Setting
from prefero.methods import full_name
from prefero.pools.simulate import simulate
from prefero.trajectories.trajectory import Trajectory

SETTING = Setting("driver", "quadratic", trajectories=20, test_size=4, questions=6)
METHODS = ["Oracle", full_name("ActiveGP", *TUNED), full_name("RandomGP", *TUNED)]
RUNS = [Run(SETTING, method, seed) for method in METHODS for seed in (0, 1)]


@pytest.fixture
def results(tmp_path: Path) -> Results:
    return Results(tmp_path)


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """The same runs, one after the other, in this process."""
    results = Results(tmp_path_factory.mktemp("here"))
    execute_runs(RUNS, results)
    return results


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """The address of the scheduler of two workers in processes of their own."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as started:
        yield started.scheduler_address


class CountedRuns:
    """Counts the runs, and fails at one of them."""

    def __init__(self, fail_at: int = 0, error: BaseException | None = None) -> None:
        self.runs: list[Run] = []
        self.fail_at, self.error = fail_at, error

    def __call__(self, run: Run) -> Rows:
        self.runs.append(run)
        if self.error is not None and len(self.runs) == self.fail_at:
            raise self.error
        return learned(run)


# --- what is done is kept ---------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [SystemExit(1), KeyboardInterrupt()])
def test_an_interrupted_command_keeps_what_is_finished_and_goes_on_from_there(
    error: BaseException, results: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = CountedRuns(4, error)
    monkeypatch.setattr(backends, "execute", first)
    with pytest.raises(type(error)):
        execute_runs(RUNS, results)
    assert set(RUNS) - set(results.missing(RUNS)) == set(first.runs[:3])
    second = CountedRuns()
    monkeypatch.setattr(backends, "execute", second)
    execute_runs(RUNS, results)
    assert results.missing(RUNS) == []
    assert sorted(run.key for run in second.runs) == sorted(
        run.key for run in set(RUNS) - set(first.runs[:3])
    )
    execute_runs(RUNS, results)
    assert len(second.runs) == 3


def test_every_run_is_kept_before_the_next_one_begins(
    results: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    left: list[int] = []

    def execute(run: Run) -> Rows:
        left.append(len(results.missing(RUNS)))
        return learned(run)

    monkeypatch.setattr(backends, "execute", execute)
    execute_runs(RUNS, results)
    assert left == [6, 5, 4, 3, 2, 1]


def test_each_run_is_reported_once_and_after_it_was_kept(
    results: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    reported: list[Run] = []

    def done(run: Run) -> None:
        assert results.path(run).is_file()
        reported.append(run)

    monkeypatch.setattr(backends, "execute", CountedRuns())
    results.save(RUNS[0], learned(RUNS[0]))
    execute_runs([*RUNS, *RUNS], results, done=done)
    assert sorted(run.key for run in reported) == sorted(run.key for run in RUNS[1:])


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_run_that_fails_does_not_stop_the_others(results: Results, jobs: int) -> None:
    """The longest are done first, so the impossible one is among the first."""
    impossible = Run(replace(SETTING, questions=99), "Magic", 0)
    with pytest.raises(ValueError, match="no method 'Magic'"):
        execute_runs([*RUNS, impossible], results, jobs=jobs)
    assert results.missing(RUNS) == []


# --- where it is done -------------------------------------------------------------------------------------


def numbers(results: Results) -> list[Rows]:
    return [results.rows(run) for run in RUNS]


def test_two_at_once_give_the_same_numbers(here: Results, results: Results) -> None:
    execute_runs(RUNS, results, jobs=2)
    assert numbers(results) == numbers(here)


def test_a_dask_cluster_gives_the_same_numbers(
    here: Results, results: Results, cluster: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two workers in processes of their own, found by the scheduler's address."""
    monkeypatch.setattr(backends, "execute", None)  # nothing runs here
    execute_runs(RUNS, results, backend="dask", address=cluster)
    assert numbers(results) == numbers(here)


def test_a_dask_cluster_extracts_the_same_features(cluster: str, tmp_path: Path) -> None:
    """It is the same engine: the workers open the dataset by its path, and the cache resumes."""
    rng = np.random.default_rng(0)
    states = rng.normal(size=(12, 9, 2)).cumsum(axis=1)
    np.savez(tmp_path / "walks.npz", states=states, actions=rng.normal(size=(12, 8, 1)))
    dataset = open_dataset(tmp_path / "walks.npz")
    dataset.send_whole = False
    words, cache = ["mean", "path-length"], tmp_path / "features.parquet"
    there = extract_features(dataset, FeatureOptions(words, backend="dask", address=cluster, cache=cache))
    here = extract_features(dataset, FeatureOptions(words, jobs=1))
    assert there.names == here.names
    np.testing.assert_array_equal(there.features, here.features)
    again = extract_features(dataset, FeatureOptions(words, cache=cache))  # with no cluster
    np.testing.assert_array_equal(again.features, here.features)


def test_a_ray_cluster_gives_the_same_numbers(
    here: Results, results: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ray weighs much, so it is tried where it is installed."""
    pytest.importorskip("ray")
    monkeypatch.setattr(backends, "execute", None)  # nothing runs here
    execute_runs(RUNS, results, jobs=2, backend="ray")
    assert numbers(results) == numbers(here)


def test_pools_are_simulated_before_the_runs_so_that_these_find_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Those of the test sets as well, which have sizes of their own."""
    both = [replace(SETTING, trajectories=21, test_size=test_size) for test_size in (4, 12)]
    runs = [Run(setting, METHODS[0], seed) for setting in both for seed in (5, 6)]
    simulate_pools(runs)
    settings._task.cache_clear()

    unprepared: list[Any] = []

    def simulated(world: Any, source: Any, show: Any) -> Trajectory:
        unprepared.append(source)
        return simulate(world, source, show)

    monkeypatch.setattr("prefero.pools.pool.simulate", simulated)
    for run in runs:
        run.setting.task(run.seed)
    assert unprepared == []


# --- the environment --------------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", ["local", "abacus"])
@pytest.mark.parametrize("before", [None, "3"])
def test_the_environment_is_left_as_it_was(
    backend: Any, before: str | None, results: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One thread a worker while it lasts, whether it ends well or not."""
    for name in THREADS:
        monkeypatch.delenv(name, raising=False)
        if before is not None:
            monkeypatch.setenv(name, before)
    during: list[str | None] = []

    def execute(run: Run) -> Rows:
        during.extend(os.environ.get(name) for name in THREADS)
        return learned(run)

    monkeypatch.setattr(backends, "execute", execute)
    if backend == "local":
        execute_runs(RUNS[:1], results, backend=backend)
        assert during == ["1"] * len(THREADS)
    else:
        with pytest.raises(ValueError, match="abacus"):
            execute_runs(RUNS[:1], results, backend=backend)
    assert [os.environ.get(name) for name in THREADS] == [before] * len(THREADS)


# --- what cannot be done ----------------------------------------------------------------------------------


def uninstall(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == package]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, package, None)


def brings(extra: str, package: str) -> bool:
    """Whether installing Prefero with this extra installs the package."""
    project = tomllib.loads(
        (Path(__file__).resolve().parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    )["project"]
    return any(package in requirement for requirement in project["optional-dependencies"][extra])


NEEDED = [("joblib", "local"), ("pyarrow", "local"), ("distributed", "dask"), ("ray", "ray")]


@pytest.mark.parametrize(("package", "backend"), NEEDED)
def test_a_missing_package_is_named_with_what_brings_it(
    package: str, backend: Any, results: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    uninstall(package, monkeypatch)
    monkeypatch.setattr(backends, "execute", learned)
    with pytest.raises(MissingExtra, match=f"needs the package '{package}'") as caught:
        execute_runs(RUNS, results, backend=backend)
    extra = re.search(r"\[(\w+)\]'$", str(caught.value))
    assert brings(extra[1], package) if extra else str(caught.value).endswith(f"pip install {package}")


@pytest.mark.parametrize(("package", "backend"), [*NEEDED, ("none", "abacus")])
def test_what_cannot_be_done_is_said_before_any_work(
    package: str, backend: Any, results: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Simulating and playing take minutes."""
    work: list[str] = []
    uninstall(package, monkeypatch)
    monkeypatch.setattr(Setting, "task", lambda *_: work.append("simulated"))
    monkeypatch.setattr(backends, "execute", CountedRuns(1, AssertionError("it was run")))
    with pytest.raises((ValueError, MissingExtra), match=r"executed by|needs the package"):
        execute_runs(RUNS, results, backend=backend)
    assert work == []


def test_an_unknown_backend_is_answered_with_those_there_are(results: Results) -> None:
    with pytest.raises(ValueError, match=r"local, dask or ray, .*'abacus'"):
        execute_runs(RUNS, results, backend="abacus")  # type: ignore[arg-type]


def test_nothing_is_needed_where_nothing_is_to_do(results: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    results.save(RUNS[0], learned(RUNS[0]))
    monkeypatch.setitem(sys.modules, "joblib", None)
    execute_runs(RUNS[:1], results)
    assert results.missing(RUNS[:1]) == []
