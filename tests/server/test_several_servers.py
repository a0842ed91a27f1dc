"""Several servers, each with workers, share one PostgreSQL; a participant may be sent to any of them."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import psycopg
import pytest

from prefero import Pool
from prefero.studies.storage.database import open_database
from prefero.studies.storage.store import Store
from server.run_commands import RunningCommand
from server.served_studies import (
    Client,
    InvitedStudy,
    add_study,
    complete_stages,
    error_of,
    in_parallel,
    new_key,
    ok,
)
from studies import postgres


@pytest.fixture
def url() -> Iterator[str]:
    with postgres.running() as server, server.database() as url:
        yield url


@pytest.fixture
def invited(url: str, pool: Pool) -> InvitedStudy:
    engine = open_database(url)
    made = add_study(Store(engine), pool)
    engine.dispose()
    return made


@pytest.fixture
def servers(url: str, invited: InvitedStudy, tmp_path: Path) -> Iterator[list[tuple[RunningCommand, str]]]:
    """Two servers with their addresses."""
    assert invited.codes
    with ExitStack() as stack:
        folders = [tmp_path / name for name in ("one", "two")]
        for folder in folders:
            folder.mkdir()
        words = ["study", "serve", "--port", "0", "--workers", "2", "--database", url]
        started = [stack.enter_context(RunningCommand(folder, *words)) for folder in folders]
        addresses = [server.wait_for(r"experimenters open (http://\S+)/#SECRET")[1] for server in started]
        for server in started:
            server.wait_for("computed in 2 worker processes")
            server.wait_for("Serving")
        yield list(zip(started, addresses, strict=True))


def kept(url: str) -> list[tuple[str, str]]:
    with psycopg.connect(url) as connection:
        return connection.execute("SELECT key, kind FROM events ORDER BY id").fetchall()


def both(pages: list[Client], question: int, keys: list[str]) -> list[httpx.Response]:
    """Answer the question at both servers in parallel."""
    first, second = pages
    return in_parallel(
        lambda: first.answer("left", question, keys[0]), lambda: second.answer("left", question, keys[1])
    )


def test_a_participant_can_be_served_by_either_of_two_servers(
    servers: list[tuple[RunningCommand, str]], invited: InvitedStudy, url: str
) -> None:
    keys = []
    with ExitStack() as stack:
        pages = [stack.enter_context(Client(address, invited.codes[0])) for _, address in servers]
        here, there = pages
        assert complete_stages(here, until="compare") == there.session()
        for number in range(2):
            here, there = there, here
            keys.append(new_key())
            state = ok(here.answer("right", key=keys[-1]))
            assert state["answered"] == number + 1
            assert there.session() == state

        question = state["question"]["id"]
        keys.append(new_key())
        first, second = (ok(found) for found in both(pages, question, [keys[-1]] * 2))
        assert first == second
        assert first["answered"] == 3

        question, rivals = first["question"]["id"], [new_key(), new_key()]
        found = both(pages, question, rivals)
        assert sorted(response.status_code for response in found) == [200, 409]
        loser = found[0].status_code == 200
        assert error_of(found[loser]) == (409, "already-answered")
        keys.append(rivals[not loser])
        assert here.session() == there.session()

        servers[0][0].process.kill()  # the other one goes on with all that this one was told
        last = pages[1]
        assert last.session()["answered"] == 4
        assert complete_stages(last)["stage"] == "done"
    rows = kept(url)
    assert [key for key, _ in rows[:4]] == keys
    assert len(rows) == len({key for key, _ in rows}) == 7
    for server, _ in servers:
        assert "Traceback" not in server.output
