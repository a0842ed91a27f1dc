"""Small pools, a store in a file, and servers over it with a teacher, participants and an experimenter."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from shutil import copyfile

import numpy as np
import pytest

from prefero import Pool
from prefero.server.app import create_app
from prefero.server.auth import ServerContext
from prefero.server.middleware import rate_limit
from prefero.studies.storage.database import open_database
from prefero.studies.storage.store import Store
from server.served_studies import (
    FAST_TEACHING,
    Client,
    InvitedStudy,
    SharedServer,
    TeachingSession,
    add_study,
    add_teaching,
    guest_app,
    serving,
)
from systems import ON_WINDOWS


@pytest.fixture(scope="session")
def pool() -> Pool:
    """Twelve trajectories with two features, which are learned fast."""
    return Pool(np.random.default_rng(0).normal(size=(12, 2)), ["speed", "distance"])


@pytest.fixture(scope="session")
def driver_pool() -> Pool:
    """Twelve drives, each with an id, as trajectories of a dataset have one."""
    made = Pool.simulate("driver", 12, progress=False)
    ids = [f"drive-{index}.mp4" for index in range(len(made))]
    return Pool(made.features, made.names, trajectories=made.trajectories, ids=ids, source=made.source)


@pytest.fixture(scope="session")
def golf_pool() -> Pool:
    """Golf, whose targets participants score."""
    return Pool.simulate("golf", 9, sampling="grid", progress=False)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "answers.db"


@pytest.fixture(scope="session")
def empty_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated database without rows: copying it is faster than migrating another one."""
    file = tmp_path_factory.mktemp("empty") / "answers.db"
    open_database(file).dispose()
    return file


@pytest.fixture
def store(file: Path, empty_database: Path) -> Iterator[Store]:
    copyfile(empty_database, file)
    store = Store(open_database(file))
    yield store
    store.engine.dispose()


@pytest.fixture
def session(store: Store, pool: Pool) -> TeachingSession:
    """Random questions; most tests of the server are not about learning."""
    return add_teaching(store, pool, FAST_TEACHING)


@pytest.fixture
def learning_session(store: Store, pool: Pool) -> TeachingSession:
    """The default model learns, and chooses the questions; about equal is an answer."""
    return add_teaching(store, pool)


@pytest.fixture
def invited(store: Store, pool: Pool) -> InvitedStudy:
    return add_study(store, pool)


@pytest.fixture
def teacher(store: Store, session: TeachingSession) -> Iterator[Client]:
    """A teacher as the guest of a server that only this machine can reach."""
    with serving(guest_app(store, session)) as address, Client(address) as client:
        yield client


@pytest.fixture
def learning_teacher(store: Store, learning_session: TeachingSession) -> Iterator[Client]:
    with serving(guest_app(store, learning_session)) as address, Client(address) as client:
        yield client


@pytest.fixture
def address(store: Store, invited: InvitedStudy, session: TeachingSession) -> Iterator[str]:
    """The address of a server without a guest: every visitor needs a secret."""
    assert invited.study != session.study
    with serving(create_app(ServerContext(store, token=(session.token, session.visitor)))) as address:
        yield address


@pytest.fixture(scope="module")
def shared(pool: Pool, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedServer]:
    file = tmp_path_factory.mktemp("shared") / "answers.db"
    store = Store(open_database(file))
    invited = add_study(store, pool)
    with serving(create_app(ServerContext(store))) as address, ExitStack() as stack:
        secrets = (None, invited.codes[0], invited.secret)
        yield SharedServer(file, *(stack.enter_context(Client(address, secret)) for secret in secrets))
    store.engine.dispose()


@pytest.fixture
def participant(address: str, invited: InvitedStudy) -> Iterator[Client]:
    with Client(address, invited.codes[0]) as client:
        yield client


@pytest.fixture
def experimenter(address: str, invited: InvitedStudy) -> Iterator[Client]:
    with Client(address, invited.secret) as client:
        yield client


@pytest.fixture
def page_client(store: Store, pool: Pool, tmp_path: Path) -> Iterator[Client]:
    """A client of a server with a built page, beside whose folder lies a private file."""
    built = tmp_path / "built"
    (built / "assets").mkdir(parents=True)
    (built / "index.html").write_text("<!doctype html><title>Prefero</title>", encoding="utf-8")
    (built / "assets" / "page.js").write_text("document.title = 'Prefero'", encoding="utf-8")
    (tmp_path / "private.txt").write_text("private content", encoding="utf-8")
    if not ON_WINDOWS:  # where only administrators may make links
        (built / "link.txt").symlink_to(tmp_path / "private.txt")
    context = ServerContext(store, guest=add_teaching(store, pool).visitor)
    with serving(create_app(context, page=built)) as address, Client(address) as client:
        yield client


@pytest.fixture
def no_rate_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests that send requests faster than any person: the rate limit never refuses."""
    monkeypatch.setattr(rate_limit, "BURST", 1e9)
    monkeypatch.setattr(rate_limit, "SIGN_IN_BURST", 1e9)
