"""Small pools, and stores in every kind of database."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from prefero import Pool
from prefero.studies.storage.database import open_database
from prefero.studies.storage.store import Store
from studies import postgres as postgresql
from studies.fake_study import features_only

KINDS = ["sqlite", "postgresql"]


@pytest.fixture(scope="session")
def postgres() -> Iterator[postgresql.Server]:
    """One server for all tests; without PostgreSQL they fail, and say what to install."""
    with postgresql.running() as server:
        yield server


@pytest.fixture(params=KINDS)
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The path or URL of a database that does not exist yet."""
    with _new_database(request, tmp_path) as where:
        yield where


@pytest.fixture
def store(database: str) -> Iterator[Store]:
    """An empty store in each kind of database."""
    engine = open_database(database)
    yield Store(engine)
    engine.dispose()


@pytest.fixture(scope="module", params=KINDS)
def shared_store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A store that a module's tests share, since they leave nothing in it."""
    with _new_database(request, tmp_path_factory.mktemp("shared")) as where:
        engine = open_database(where)
        yield Store(engine)
        engine.dispose()


@contextmanager
def _new_database(request: pytest.FixtureRequest, folder: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield str(folder / "studies.db")
    else:
        server: postgresql.Server = request.getfixturevalue("postgres")
        with server.database() as url:
            yield url


@pytest.fixture
def file_store(tmp_path: Path) -> Iterator[Store]:
    """An empty store in a file, for what has nothing to do with the kind of database."""
    engine = open_database(tmp_path / "studies.db")
    yield Store(engine)
    engine.dispose()


@pytest.fixture(scope="session")
def pool() -> Pool:
    """Features only."""
    return features_only()


@pytest.fixture(scope="session")
def driver_pool() -> Pool:
    """Simulated drives, which can be replayed."""
    return Pool.simulate("driver", 60, progress=False)
