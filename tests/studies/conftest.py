"""What the tests of studies share: small pools, and every database that a store may be kept in."""

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
    """Where a database may be, for a store or a server to make: nothing is there yet."""
    with _place(request, tmp_path) as where:
        yield where


@pytest.fixture
def store(database: str) -> Iterator[Store]:
    """An empty store in each kind of database."""
    engine = open_database(database)
    yield Store(engine)
    engine.dispose()


@pytest.fixture(scope="module", params=KINDS)
def lasting_store(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Store]:
    """One that a module's tests share, since they leave nothing in it."""
    with _place(request, tmp_path_factory.mktemp("lasting")) as where:
        engine = open_database(where)
        yield Store(engine)
        engine.dispose()


@contextmanager
def _place(request: pytest.FixtureRequest, folder: Path) -> Iterator[str]:
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
