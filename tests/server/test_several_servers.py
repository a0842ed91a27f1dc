"""Several servers share one PostgreSQL: a person may be sent to any of them, and it makes no difference."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import psycopg
import pytest

from prefero import Pool
from prefero.studies.storage.database import open_database
from prefero.studies.storage.store import Store
from server.run_commands import Running
from server.served_studies import Crowd, Page, at_once, go_through, invite, new_key, problem, well
from studies import postgres


@pytest.fixture
def url() -> Iterator[str]:
    with postgres.running() as server, server.database() as url:
        yield url


@pytest.fixture
def crowd(url: str, pool: Pool) -> Crowd:
    engine = open_database(url)
    made = invite(Store(engine), pool)
    engine.dispose()
    return made


@pytest.fixture
def servers(url: str, crowd: Crowd, tmp_path: Path) -> Iterator[list[tuple[Running, str]]]:
    """Two, with their addresses."""
    assert crowd.codes
    with ExitStack() as stack:
        folders = [tmp_path / name for name in ("one", "two")]
        for folder in folders:
            folder.mkdir()
        words = ["study", "serve", "--port", "0", "--database", url]
        started = [stack.enter_context(Running(folder, *words)) for folder in folders]
        addresses = [server.wait_for(r"experimenters by (http://\S+)/#SECRET")[1] for server in started]
        for server in started:
            server.wait_for("Serving")
        yield list(zip(started, addresses, strict=True))


def kept(url: str) -> list[tuple[str, str]]:
    with psycopg.connect(url) as connection:
        return connection.execute("SELECT key, kind FROM events ORDER BY id").fetchall()


def both(pages: list[Page], question: int, keys: list[str]) -> list[httpx.Response]:
    """The question is answered at both servers at once."""
    first, second = pages
    return at_once(
        lambda: first.answer("left", question, keys[0]), lambda: second.answer("left", question, keys[1])
    )


def test_a_person_who_is_sent_from_server_to_server_notices_nothing(
    servers: list[tuple[Running, str]], crowd: Crowd, url: str
) -> None:
    keys = []
    with ExitStack() as stack:
        pages = [stack.enter_context(Page(address, crowd.codes[0])) for _, address in servers]
        here, there = pages
        assert go_through(here, until="compare") == there.session()
        for number in range(2):
            here, there = there, here
            keys.append(new_key())
            state = well(here.answer("right", key=keys[-1]))
            assert state["answered"] == number + 1
            assert there.session() == state

        question = state["question"]["id"]
        keys.append(new_key())
        first, second = (well(found) for found in both(pages, question, [keys[-1]] * 2))
        assert first == second
        assert first["answered"] == 3

        question, rivals = first["question"]["id"], [new_key(), new_key()]
        found = both(pages, question, rivals)
        assert sorted(response.status_code for response in found) == [200, 409]
        loser = found[0].status_code == 200
        assert problem(found[loser]) == (409, "already-answered")
        keys.append(rivals[not loser])
        assert here.session() == there.session()

        servers[0][0].process.kill()  # the other one goes on with all that this one was told
        last = pages[1]
        assert last.session()["answered"] == 4
        assert go_through(last)["stage"] == "done"
    rows = kept(url)
    assert [key for key, _ in rows[:4]] == keys
    assert len(rows) == len({key for key, _ in rows}) == 7
    for server, _ in servers:
        assert "Traceback" not in server.said
