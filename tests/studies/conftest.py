"""Small pools, stores in every kind of database, and an exported study."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from prefero import Pool
from prefero.studies.exports.export_import import export_study
from prefero.studies.storage.database import open_database
from prefero.studies.storage.store import Store
from studies import postgres as postgresql
from studies.exported_study import LABELS, live_through
from studies.fake_study import answer, features_only, invited, study_of
from studies.new_sessions import SessionFactory

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


@pytest.fixture(scope="session")
def original(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A study of three participants: one did everything, one just began, one never came."""
    engine = open_database(tmp_path_factory.mktemp("original") / "studies.db")
    store = Store(engine)
    plain = features_only()
    ids = [f'run {row}, "fast"' for row in range(len(plain))]
    study = study_of(store, "golf", Pool(plain.features, plain.names, ids=ids))
    for label in LABELS:
        invited(store, label, study, seed=len(label))
    live_through(store, store.participants(study)[0])
    answer(store, store.participants(study)[1])
    yield store
    engine.dispose()


@pytest.fixture(scope="session")
def exported(original: Store, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that this study is exported to."""
    folder = tmp_path_factory.mktemp("exported") / "golf"
    export_study(original, original.study("golf"), folder)
    return folder


@pytest.fixture
def exported_copy(exported: Path, tmp_path: Path) -> Path:
    """A copy of the folder, to be damaged."""
    return Path(shutil.copytree(exported, tmp_path / "golf"))


@pytest.fixture
def sessions(file_store: Store, pool: Pool) -> Iterator[SessionFactory]:
    """Sessions of new studies in a file."""
    found = SessionFactory(file_store, pool)
    yield found
    found.slots.close()
