"""What one visitor can take from the others: requests, guesses, connections, computing."""

import asyncio
import http.client
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import httpx
import pytest

import plain_http
from event_loops import run_in_own_loop
from prefero.server import connections
from prefero.server.app import create_app
from prefero.server.auth import ServerContext
from prefero.server.middleware import concurrency_limit, rate_limit
from prefero.server.middleware.concurrency_limit import ConcurrencyLimit
from prefero.server.serve import listen, names_of
from prefero.studies.session import Session
from prefero.studies.storage.store import Store, new_secret
from server.served_studies import Client, InvitedStudy, error_of, ok, serving
from waiting import TIMEOUT, wait_until

TOO_MANY = (429, "too-many-requests")


def guesses(address: str, count: int, **headers: str) -> list[int]:
    """The status of each of so many requests with cookies that are nobody's."""
    found = []
    with plain_http.Client(base_url=address) as client:
        for _ in range(count):
            cookie = {"cookie": f"prefero={new_secret()}"}
            found.append(client.get("/api/session", headers=headers | cookie).status_code)
    return found


# --- secrets ----------------------------------------------------------------------------------------------


def test_guesses_by_cookie_are_limited_as_in_the_entry_form(
    store: Store, invited: InvitedStudy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rate_limit, "SIGN_IN_RATE", 1e-6)  # none more, however slow the machine is
    with (
        serving(create_app(ServerContext(store))) as address,
        Client(address, invited.codes[0]) as participant,
    ):
        burst = int(rate_limit.SIGN_IN_BURST)
        assert guesses(address, burst + 20) == [403] * burst + [429] * 20
        with plain_http.Client(base_url=address) as form:
            assert error_of(form.post("/api/enter", json={"secret": invited.codes[1]})) == TOO_MANY
        assert participant.session()["stage"] == "consent"  # who is known is not refused


def test_junk_cookies_do_not_lift_the_limit_of_an_address(
    store: Store, invited: InvitedStudy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rate_limit, "RATE", 0.02)
    monkeypatch.setattr(rate_limit, "BURST", 5.0)
    with serving(create_app(ServerContext(store))) as address:
        assert guesses(address, 8) == [403] * 5 + [429] * 3
        with Client(address, invited.codes[0]) as participant:
            ok(participant.get("/api/session"))


def test_an_entry_that_is_no_guess_costs_nothing(
    store: Store, invited: InvitedStudy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rate_limit, "SIGN_IN_RATE", 0.01)
    monkeypatch.setattr(rate_limit, "SIGN_IN_BURST", 3.0)
    with serving(create_app(ServerContext(store))) as address, plain_http.Client(base_url=address) as form:
        entries = [form.post("/api/enter", json={"secret": invited.codes[0]}) for _ in range(10)]
    assert [entry.status_code for entry in entries] == [200] * 10


@pytest.mark.parametrize("proxies", [(), ("127.0.0.1",)])
def test_the_forwarded_address_counts_only_if_the_proxy_is_trusted(
    proxies: tuple[str, ...], store: Store, invited: InvitedStudy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rate_limit, "SIGN_IN_RATE", 0.01)
    monkeypatch.setattr(rate_limit, "SIGN_IN_BURST", 3.0)
    with serving(create_app(ServerContext(store), proxies=proxies)) as address:
        found = [guesses(address, 1, **{"x-forwarded-for": f"10.9.9.{n}, 10.0.0.1"})[0] for n in range(5)]
        assert found == [403] * 3 + [429] * 2  # the part that the visitor wrote does not count
        with plain_http.Client(base_url=address, headers={"x-forwarded-for": "10.0.0.2"}) as honest:
            entered = honest.post("/api/enter", json={"secret": invited.codes[0]}).status_code
    assert entered == (200 if proxies else 429)


@pytest.mark.parametrize(
    ("client", "forwarded", "found"),
    [
        ("10.0.0.1", "1.2.3.4", "10.0.0.1"),
        ("127.0.0.1", "6.6.6.6, 1.2.3.4", "1.2.3.4"),
        ("127.0.0.1", "1.2.3.4, 127.0.0.1", "1.2.3.4"),
        ("127.0.0.1", "", "127.0.0.1"),
        ("2001:db8:1:2:3:4:5:6", "", "2001:db8:1:2::/64"),
        ("::ffff:1.2.3.4", "", "1.2.3.4"),
    ],
)
def test_the_address_of_a_request(client: str, forwarded: str, found: str) -> None:
    headers = [(b"x-forwarded-for", forwarded.encode())] if forwarded else []
    scope = {"client": (client, 1), "headers": headers}
    assert rate_limit.address_of(scope, frozenset({"127.0.0.1"})) == found


# --- names ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("host", "status"),
    [("192.168.1.7:8766", 200), ("[fe80::1]:8766", 200), ("LAB.example", 200), ("evil.example", 421)],
)
def test_a_server_for_other_machines_checks_the_host(
    host: str, status: int, store: Store, invited: InvitedStudy
) -> None:
    assert invited.codes
    app = create_app(ServerContext(store), **names_of("0.0.0.0", ["lab.example"]))
    with serving(app) as address:
        assert plain_http.get(f"{address}/api/me", headers={"host": host}).status_code == status
        own = plain_http.get(f"{address}/api/me", headers={"host": socket.gethostname()})
    assert own.status_code == 200


# --- connections ------------------------------------------------------------------------------------------


HALVES = {
    "nothing": b"",
    "headers": b"GET /api/me HTTP/1.1\r\nHost: 127.0.0.1\r\n",
    "body": b"POST /api/enter HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    b"Content-Length: 50\r\n\r\n{",
}


@pytest.fixture
def half_open() -> Iterator[Any]:
    """A function that opens so many connections, each with a part of a request."""
    with ExitStack() as stack:

        def opened(address: str, half: bytes, count: int) -> list[socket.socket]:
            url = httpx.URL(address)
            made = []
            for _ in range(count):
                one = stack.enter_context(socket.create_connection((url.host, url.port or 80), timeout=20))
                one.sendall(half)
                made.append(one)
            return made

        yield opened


def is_closed(connection: socket.socket) -> bool:
    try:
        return connection.recv(1000) == b""
    except ConnectionResetError:
        return True


@pytest.mark.parametrize("half", HALVES.values(), ids=HALVES)
def test_a_request_that_is_not_completed_is_closed(
    half: bytes, shared_address: str, half_open: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "REQUEST_SECONDS", 0.2)
    for connection in half_open(shared_address, half, 5):
        assert is_closed(connection)


def test_a_second_request_on_a_connection_has_the_same_time(
    shared_address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "REQUEST_SECONDS", 0.2)
    url = httpx.URL(shared_address)
    client = http.client.HTTPConnection(url.host, url.port, timeout=20)
    client.request("GET", "/api/me")
    client.getresponse().read()
    client.sock.sendall(HALVES["headers"])
    assert is_closed(client.sock)
    client.close()


def test_half_open_connections_keep_nobody_out(
    shared_address: str, half_open: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = httpx.URL(shared_address)
    found: list[connections.OpenConnections] = SEEN
    monkeypatch.setattr(found[-1], "most", 20)
    opened = half_open(shared_address, HALVES["headers"], 60)
    assert plain_http.get(f"http://127.0.0.1:{url.port}/api/me", timeout=20).status_code == 200
    wait_until(lambda: len(found[-1]) <= 20, "the closing of the oldest connections")
    assert is_closed(opened[0])


SEEN: list[connections.OpenConnections] = []


@pytest.fixture(scope="module")
def shared_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server that the tests of connections share."""
    from prefero.server import serve
    from prefero.studies.storage.database import open_database

    store = Store(open_database(tmp_path_factory.mktemp("limits") / "answers.db"))

    def counted() -> connections.OpenConnections:
        SEEN.append(connections.OpenConnections())
        return SEEN[-1]

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(serve, "OpenConnections", counted)
        with serving(create_app(ServerContext(store))) as address:
            yield address
    store.engine.dispose()


def test_the_port_of_a_server_that_was_just_killed_is_free() -> None:
    """The system needs a moment for it, so a taken port is tried again."""
    first = listen("127.0.0.1", 0)
    port = first.getsockname()[1]
    killed = threading.Timer(0.3, first.close)
    killed.start()
    with listen("127.0.0.1", port) as second:
        assert second.getsockname()[1] == port
    killed.join()


# --- computing --------------------------------------------------------------------------------------------


def test_one_persons_requests_wait_for_each_other_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(concurrency_limit, "AT_ONCE", 2)
    monkeypatch.setattr(concurrency_limit, "WAITING", 3)
    done: list[str] = []

    async def run() -> None:
        gate = asyncio.Event()

        async def app(scope: Any, _: Any, __: Any) -> None:
            if scope["prefero.visitor"] == "greedy":
                await gate.wait()
            done.append(scope["name"])

        limit, sent = ConcurrencyLimit(app), []

        async def send(message: Any) -> None:
            sent.append(message.get("status"))

        def request(person: str, name: str) -> Any:
            scope = {"type": "http", "path": "/api/session", "prefero.visitor": person, "name": name}
            return asyncio.create_task(limit(scope, None, send))  # type: ignore[arg-type]

        greedy = [request("greedy", str(n)) for n in range(6)]
        await asyncio.sleep(0)
        await request("honest", "honest")
        assert done == ["honest"]
        assert sent[0] == 429  # the sixth: two run, three wait
        gate.set()
        await asyncio.gather(*greedy)
        assert not limit._limits

    run_in_own_loop(run)
    assert done == ["honest", "0", "1", "2", "3", "4"]


def test_a_session_that_takes_long_to_make_keeps_nobody_waiting(
    store: Store, invited: InvitedStudy, monkeypatch: pytest.MonkeyPatch
) -> None:
    from prefero.server import auth

    context, blocked = ServerContext(store), threading.Event()
    slow, fast = (context.owner(code) for code in invited.codes)
    assert slow is not None
    assert fast is not None

    def session(store: Any, study: Any, participant: Any, slots: Any, **options: Any) -> Any:
        if participant == slow.participant:
            blocked.wait(TIMEOUT)
        return Session(store, study, participant, slots, **options)

    monkeypatch.setattr(auth, "Session", session)
    thread = threading.Thread(target=context.session, args=(slow,))
    thread.start()
    assert context.session(fast).participant == fast.participant
    blocked.set()
    thread.join()
    context.computing.close()
