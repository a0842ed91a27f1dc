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
from server.served_studies import Crowd, Lasting, Page, Teaching, begin, guest_app, invite, served
from systems import ON_WINDOWS


@pytest.fixture(scope="session")
def pool() -> Pool:
    """Twelve trajectories of which only two features are known: learning from them is quick."""
    return Pool(np.random.default_rng(0).normal(size=(12, 2)), ["speed", "distance"])


@pytest.fixture(scope="session")
def driver_pool() -> Pool:
    return Pool.simulate("driver", 12, progress=False)


@pytest.fixture(scope="session")
def shots() -> Pool:
    """Golf, whose targets people give scores to."""
    return Pool.simulate("golf", 9, sampling="grid", progress=False)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "answers.db"


@pytest.fixture(scope="session")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database in which nothing is kept yet: a copy of it is quicker made than another one."""
    file = tmp_path_factory.mktemp("empty") / "answers.db"
    open_database(file).dispose()
    return file


@pytest.fixture
def store(file: Path, empty: Path) -> Iterator[Store]:
    copyfile(empty, file)
    store = Store(open_database(file))
    yield store
    store.engine.dispose()


@pytest.fixture
def session(store: Store, pool: Pool) -> Teaching:
    return begin(store, pool)


@pytest.fixture
def crowd(store: Store, pool: Pool) -> Crowd:
    return invite(store, pool)


@pytest.fixture
def teacher(store: Store, session: Teaching) -> Iterator[Page]:
    """The guest of a server that only this machine can reach."""
    with served(guest_app(store, session)) as address, Page(address) as page:
        yield page


@pytest.fixture
def address(store: Store, crowd: Crowd, session: Teaching) -> Iterator[str]:
    """A server that lets nobody in without a secret: a participant's, an experimenter's or the teacher's."""
    assert crowd.study != session.study
    with served(create_app(ServerContext(store, token=(session.token, session.visitor)))) as address:
        yield address


@pytest.fixture(scope="module")
def lasting(pool: Pool, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lasting]:
    file = tmp_path_factory.mktemp("lasting") / "answers.db"
    store = Store(open_database(file))
    crowd = invite(store, pool)
    with served(create_app(ServerContext(store))) as address, ExitStack() as stack:
        secrets = (None, crowd.codes[0], crowd.secret)
        yield Lasting(file, *(stack.enter_context(Page(address, secret)) for secret in secrets))
    store.engine.dispose()


@pytest.fixture
def participant(address: str, crowd: Crowd) -> Iterator[Page]:
    with Page(address, crowd.codes[0]) as page:
        yield page


@pytest.fixture
def experimenter(address: str, crowd: Crowd) -> Iterator[Page]:
    with Page(address, crowd.secret) as page:
        yield page


@pytest.fixture
def paged(store: Store, pool: Pool, tmp_path: Path) -> Iterator[Page]:
    """A built page of ours, with a file beside its folder that is nobody's business."""
    built = tmp_path / "built"
    (built / "assets").mkdir(parents=True)
    (built / "index.html").write_text("<!doctype html><title>Prefero</title>", encoding="utf-8")
    (built / "assets" / "page.js").write_text("document.title = 'Prefero'", encoding="utf-8")
    (tmp_path / "private.txt").write_text("nobody's business", encoding="utf-8")
    if not ON_WINDOWS:  # where only administrators may make links
        (built / "link.txt").symlink_to(tmp_path / "private.txt")
    context = ServerContext(store, guest=begin(store, pool).visitor)
    with served(create_app(context, page=built)) as address, Page(address) as page:
        yield page


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests that send requests faster than any person: the rate limit never refuses."""
    monkeypatch.setattr(rate_limit, "BURST", 1e9)
    monkeypatch.setattr(rate_limit, "SIGN_IN_BURST", 1e9)
