"""Requests of the page, changed at random: none gives an error of the server, and every refusal has its form.

A request is changed in its method, path, headers, JSON or bytes. Some are sent as bytes that are no HTTP.
"""

import http.client
import json
import random
import socket
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from prefero import Pool
from prefero.server.app import create_app
from prefero.server.auth import SESSION_HEADER, ServerContext
from prefero.server.middleware import rate_limit
from prefero.studies.storage.database import open_database
from prefero.studies.storage.store import Store
from server.served_studies import FAST_TEACHING, Client, add_study, add_teaching, complete_stages, serving
from soak import repetitions

BLOCKS = 10
REQUESTS = repetitions("requests", short=400, long=100_000)
RAW = 0.05  # the share of requests that are changed as bytes
TEMPLATES: list[tuple[str, str, Any]] = [
    ("GET", "/api/me", None),
    ("POST", "/api/enter", {"secret": "A" * 24}),
    ("POST", "/api/leave", {}),
    ("GET", "/api/session", None),
    ("GET", "/api/session/prefetch", None),
    ("POST", "/api/session/events", {"key": "k" * 12, "question": 1, "kind": "left", "seconds": 1.5}),
    ("POST", "/api/session/undo", {"key": "k" * 12, "question": 1}),
    ("POST", "/api/session/reasons", {"key": "k" * 12, "question": 1, "feature": "speed"}),
    ("POST", "/api/session/stages", {"key": "k" * 12, "stage": "consent", "data": {"agreed": True}}),
    ("GET", "/api/display", None),
    ("GET", "/api/trajectories/3", None),
    ("GET", "/api/trajectories/3/signals", None),
    ("GET", "/api/clips/0.mp4", None),
    ("GET", "/api/clips/0/status", None),
    ("GET", "/api/history", None),
    ("POST", "/api/history", {"key": "k" * 12, "question": 1, "kind": "delete"}),
    ("GET", "/api/pool?sort=feature&feature=1&between=0:-1:2&text=1&tag=x&shown=any&limit=5", None),
    ("GET", "/api/pool/3/thumbnail.jpg", None),
    ("POST", "/api/pool/question", {"key": "k" * 12, "items": [1, 2]}),
    ("POST", "/api/pool/question/withdraw", {"key": "k" * 12, "question": 1}),
    ("POST", "/api/annotations", {"key": "k" * 12, "trajectory": 1, "kind": "tag", "text": "collision"}),
    ("GET", "/api/annotations", None),
    ("GET", "/api/export/trajectories.csv", None),
    ("GET", "/api/progress", None),
    ("GET", "/api/export/answers.csv", None),
    ("GET", "/", None),
]
HOSTILE: list[Any] = [
    *(None, True, -1, 0, 2**31, 2**63, 10**30, 1e308, -0.0, "", "\x00", "a" * 5000, "../../etc/passwd"),
    *("left", "skip", "undo", "consent", "rate", "equal", [], {}, [[]], {"a": 1}, "ünïcödé", "\u202e", "'"),
]
METHODS = ["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "TRACE"]


class Target:
    """A server without rate limits, and the cookies and session names of its visitors."""

    def __init__(self, address: str, visitors: list[tuple[str, str]]) -> None:
        self.host, _, port = address.removeprefix("http://").partition(":")
        self.port, self.visitors = int(port), visitors


@pytest.fixture(scope="module")
def target(pool: Pool, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    store = Store(open_database(tmp_path_factory.mktemp("mutated") / "answers.db"))
    invited, session = add_study(store, pool), add_teaching(store, pool, FAST_TEACHING)
    with pytest.MonkeyPatch.context() as patched:
        for name in ("BURST", "SIGN_IN_BURST", "ADDRESS_BURST"):
            patched.setattr(rate_limit, name, 1e12)
        with serving(create_app(ServerContext(store, token=(session.token, session.visitor)))) as address:
            with Client(address, invited.codes[0]) as page:
                complete_stages(page, until="compare")
            secrets = [invited.codes[0], invited.codes[1], invited.secret, session.token, "A" * 24]
            yield Target(address, [(secret, name_of(address, secret)) for secret in secrets])
    store.engine.dispose()


def name_of(address: str, secret: str) -> str:
    with Client(address) as page:
        page.http.cookies.set("prefero", secret)
        return str(page.get("/api/me").json().get("session") or "")


def changed(value: Any, rng: random.Random) -> Any:
    """JSON with one part replaced, removed or added."""
    if not isinstance(value, dict) or rng.random() < 0.1:
        return rng.choice(HOSTILE)
    found = dict(value)
    name = rng.choice([*found, "more"])
    if rng.random() < 0.2:
        found.pop(name, None)
    elif isinstance(found.get(name), dict) and rng.random() < 0.5:
        found[name] = changed(found[name], rng)
    else:
        found[name] = rng.choice(HOSTILE)
    return found


def changed_path(path: str, rng: random.Random) -> str:
    parts = [
        "..",
        "%2e%2e",
        "%00",
        "-1",
        "99999999999999999999",
        "3.mp4",
        "%F0%9F%98%80",
        "a" * 3000,
        "?x=%zz",
        "//",
    ]
    return path + "/" + rng.choice(parts) if rng.random() < 0.5 else path.replace("3", rng.choice(parts))


def changed_bytes(content: bytes, rng: random.Random) -> bytes:
    made = bytearray(content)
    for _ in range(rng.randint(1, 8)):
        place = rng.randrange(len(made))
        made[place] = rng.randrange(256)
    return bytes(made[: rng.randint(1, len(made))] if rng.random() < 0.2 else made)


def request(target: Target, rng: random.Random) -> tuple[str, str, bytes | None, dict[str, str]]:
    """A request that was changed in one way or more."""
    method, path, body = rng.choice(TEMPLATES)
    secret, session = rng.choice(target.visitors)
    headers = {"Cookie": f"prefero={secret}", SESSION_HEADER: session, "Content-Type": "application/json"}
    kinds = set(rng.choices(["body", "path", "method", "headers", "nothing"], [6, 1, 1, 2, 1], k=2))
    if "path" in kinds:
        path = changed_path(path, rng)
    if "method" in kinds:
        method = rng.choice(METHODS)
    if "headers" in kinds:
        name = rng.choice([*headers, "Range", "Origin", "Host", "X-Forwarded-For", "If-Modified-Since"])
        headers[name] = rng.choice(
            ["", "bytes=0-", "bytes=9-1", "null", "a" * 3000, "\xff", "127.0.0.1", "x;y=z"]
        )
    content = None if body is None else json.dumps(changed(body, rng) if "body" in kinds else body).encode()
    if content is not None and rng.random() < 0.1:
        content = changed_bytes(content, rng)
    return method, path, content, headers


def send(connection: http.client.HTTPConnection, asked: tuple[Any, ...]) -> int:
    """The status of the response, which is checked."""
    method, path, content, headers = asked
    connection.request(method, path, content, headers)
    response = connection.getresponse()
    body = response.read()
    assert response.status < 500, (asked, response.status, body)
    if response.status >= 400 and body and path.startswith("/api/") and method != "HEAD":
        assert set(json.loads(body)) == {"error"}, (asked, body)
    return response.status


def send_raw(target: Target, asked: tuple[Any, ...], rng: random.Random) -> int:
    """The same as bytes, some of which are changed: what is no HTTP is closed or refused."""
    method, path, content, headers = asked
    lines = [f"{method} {path[:500]} HTTP/1.1", "Host: 127.0.0.1", *(f"{n}: {v}" for n, v in headers.items())]
    lines += [f"Content-Length: {len(content or b'')}", "Connection: close", "", ""]
    message = changed_bytes("\r\n".join(lines).encode("latin-1", "replace") + (content or b""), rng)
    with socket.create_connection((target.host, target.port), timeout=20) as connection:
        connection.sendall(message)
        connection.shutdown(socket.SHUT_WR)
        found = b""
        try:
            while part := connection.recv(65536):
                found += part
        except ConnectionResetError:
            return 0
    status = int(found.split(b" ", 2)[1]) if found.startswith(b"HTTP/") else 0
    assert status < 500 or status == 505, (message, found)
    return status


@pytest.mark.parametrize("block", range(BLOCKS))
def test_no_changed_request_gives_an_error_of_the_server(block: int, target: Target) -> None:
    rng, seen = random.Random(block), Counter[int]()
    connection = http.client.HTTPConnection(target.host, target.port, timeout=30)
    for _ in range(REQUESTS // BLOCKS):
        asked = request(target, rng)
        if rng.random() < RAW:
            seen[send_raw(target, asked, rng)] += 1
        else:
            seen[send(connection, asked)] += 1
    connection.close()
    print(f"{sum(seen.values())} requests: {dict(sorted(seen.items()))}")
    assert seen[200]
