"""Who may do what, and what is let in: one test a rule. What is sent is in test_going_out.py."""

import hashlib
import hmac
import math
import socket
import sqlite3
from collections import Counter
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any

import httpx
import pytest

from prefero.server.app import create_app
from prefero.server.auth import ServerContext
from prefero.server.middleware import rate_limit
from prefero.studies.storage.store import Store, new_secret
from server.run_commands import Running
from server.served_studies import (
    JSON,
    Crowd,
    Lasting,
    Page,
    Teaching,
    go_through,
    guest_app,
    new_key,
    problem,
    served,
    well,
)

FORBIDDEN = (403, "unknown-secret")
ANSWER = {"key": "12345678", "question": 1, "kind": "left"}
CHANGE = {"key": "12345678", "question": 1, "kind": "delete"}
SESSION: list[tuple[str, dict[str, Any] | None]] = [
    ("/api/session", None),
    ("/api/session/prefetch", None),
    ("/api/session/events", ANSWER),
    ("/api/session/undo", {"key": "12345678"}),
    ("/api/session/stages", {"key": "12345678", "stage": "consent", "data": {"agreed": True}}),
]
SHOWN: list[tuple[str, dict[str, Any] | None]] = [
    ("/api/display", None),
    ("/api/trajectories/0", None),
    ("/api/clips/0.mp4", None),
]
TEACHING: list[tuple[str, dict[str, Any] | None]] = [
    ("/api/learning-summary", None),
    ("/api/history", None),
    ("/api/history", CHANGE),
    ("/api/reward", None),
    ("/api/export/reward.json", None),
    ("/api/export/answers.csv", None),
    ("/api/export/answers.parquet", None),
]
WATCHING: list[tuple[str, dict[str, Any] | None]] = [("/api/progress", None)]


def asked(page: Page, path: str, body: dict[str, Any] | None) -> httpx.Response:
    return page.get(path) if body is None else page.post(path, **body)


def rows(file: Path) -> list[tuple[Any, ...]]:
    """Everything that anybody said or did."""
    connection = sqlite3.connect(file)
    found = [
        row for name in ("events", "stage_events") for row in connection.execute(f"SELECT * FROM {name}")
    ]
    connection.close()
    return found


# --- secrets ----------------------------------------------------------------------------------------------


def test_secrets_cannot_be_guessed() -> None:
    codes = [new_secret() for _ in range(2000)]
    assert len(set(codes)) == len(codes)
    bits = 0.0
    for letters in zip(*codes, strict=True):  # every letter is as likely as any other
        shares = [count / len(codes) for count in Counter(letters).values()]
        bits -= sum(share * math.log2(share) for share in shares)
    assert bits > 128


def test_the_database_holds_no_secret(
    address: str, crowd: Crowd, session: Teaching, store: Store, file: Path
) -> None:
    for secret in (*crowd.codes, crowd.secret, session.token):
        with Page(address, secret) as page:
            page.get("/api/session")
    store.engine.dispose()
    kept = b"".join(path.read_bytes() for path in file.parent.glob(f"{file.name}*"))
    assert hashlib.sha256(crowd.codes[0].encode()).hexdigest().encode() in kept  # it is the right file
    for secret in (*crowd.codes, crowd.secret, session.token):
        assert secret.encode() not in kept


def test_secrets_are_compared_in_constant_time(
    address: str, crowd: Crowd, session: Teaching, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is this comparison that decides: where it says no, the right secret opens nothing."""
    honest, compared = hmac.compare_digest, []

    def counting(first: Any, second: Any) -> bool:
        compared.append((first, second))
        return False

    with httpx.Client(base_url=address) as client:
        for secret in (crowd.codes[0], crowd.secret, session.token):
            monkeypatch.setattr(hmac, "compare_digest", counting)
            assert problem(client.post("/api/enter", json={"secret": secret})) == FORBIDDEN
            digest = hashlib.sha256(secret.encode()).hexdigest()
            assert (digest, digest) in compared
            monkeypatch.setattr(hmac, "compare_digest", honest)
            assert client.post("/api/enter", json={"secret": secret}).status_code == 200


@pytest.mark.parametrize("wrong", ["A" * 24, "short678", "-" * 128])
def test_a_wrong_secret_opens_nothing_and_leaves_no_cookie(address: str, wrong: str) -> None:
    found = httpx.post(f"{address}/api/enter", json={"secret": wrong})
    assert problem(found) == FORBIDDEN
    assert "set-cookie" not in found.headers


def test_a_wrong_secret_is_refused_where_a_guest_is_let_in_too(teacher: Page) -> None:
    found = teacher.post("/api/enter", secret="A" * 24)
    assert problem(found) == FORBIDDEN
    assert "set-cookie" not in found.headers


def test_a_stale_cookie_does_not_keep_the_guest_out(teacher: Page) -> None:
    """Browsers send the cookie of another Prefero on this machine, whatever its port."""
    teacher.http.cookies.set("prefero", "A" * 24)
    assert well(teacher.get("/api/me"))["role"] == "teacher"


def test_the_server_writes_no_secret_down(store: Store, crowd: Crowd, file: Path, tmp_path: Path) -> None:
    """Not when it starts, not of requests that are right, wrong or broken, and not of errors of our own."""
    secrets = [*crowd.codes, crowd.secret, new_secret()]
    assert store.studies()
    with Running(tmp_path, "study", "serve", "--database", str(file), "--port", "0") as server:
        address = server.wait_for(r"experimenters by (http://\S+)/#SECRET")[1]
        server.wait_for("Serving")
        with Page(address) as page:
            for secret in secrets:
                page.post("/api/enter", secret=secret)
                page.post("/api/enter", secret=secret, more=secret)
                page.post("/api/session/undo", key=secret)
                page.get(f"/{secret}?secret={secret}")
            host, _, port = address.removeprefix("http://").partition(":")
            with socket.create_connection((host, int(port)), timeout=10) as broken:
                broken.sendall(f"GET /#{secrets[0]} {secrets[0]}\r\n\r\n".encode())
                assert b"400" in broken.recv(1000)
            connection = sqlite3.connect(file)
            with connection:
                connection.execute("UPDATE studies SET protocol = 'damaged'")
            connection.close()
        for secret in secrets[:3]:
            assert httpx.post(f"{address}/api/enter", json={"secret": secret}).status_code == 500
        server.stop()
        assert "Traceback" in server.said  # what went wrong is written down, who was there is not
        assert [secret for secret in secrets if secret in server.said] == []


@pytest.mark.parametrize("https", [False, True])
def test_the_cookie_is_kept_from_scripts_and_from_other_sites(
    store: Store, crowd: Crowd, https: bool
) -> None:
    with served(create_app(ServerContext(store, secure=https))) as address:
        found = httpx.post(f"{address}/api/enter", json={"secret": crowd.codes[0]})
    (cookie,) = SimpleCookie(found.headers["set-cookie"]).values()
    assert cookie["httponly"] is True
    assert cookie["samesite"].lower() == "lax"
    assert bool(cookie["secure"]) is https
    assert (cookie["path"], cookie["domain"]) == ("/", "")


# --- roles ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("path", "body"), [*SESSION, *SHOWN, *TEACHING, *WATCHING])
def test_nobody_comes_in_without_a_secret(lasting: Lasting, path: str, body: dict[str, Any] | None) -> None:
    assert problem(asked(lasting.nobody, path, body)) == FORBIDDEN
    assert well(lasting.nobody.get("/api/me"))["role"] is None


@pytest.mark.parametrize(("path", "body"), [*TEACHING, *WATCHING])
def test_a_participant_sees_nothing_of_what_was_learned(
    lasting: Lasting, path: str, body: dict[str, Any] | None
) -> None:
    assert problem(asked(lasting.participant, path, body)) == FORBIDDEN
    assert well(lasting.participant.get("/api/me"))["role"] == "participant"


@pytest.mark.parametrize(("path", "body"), [*SESSION, *TEACHING])
def test_an_experimenter_watches_and_answers_nothing(
    lasting: Lasting, path: str, body: dict[str, Any] | None
) -> None:
    before = rows(lasting.file)
    assert problem(asked(lasting.experimenter, path, body)) == FORBIDDEN
    assert rows(lasting.file) == before
    assert well(lasting.experimenter.get("/api/progress"))["invited"] == 2


def test_a_teacher_is_no_experimenter(address: str, session: Teaching) -> None:
    with Page(address, session.token) as page:
        assert well(page.get("/api/me"))["role"] == "teacher"
        assert problem(page.get("/api/progress")) == FORBIDDEN


def test_the_question_of_somebody_else_cannot_be_answered(
    address: str, crowd: Crowd, participant: Page, file: Path
) -> None:
    with Page(address, crowd.codes[1]) as other:
        go_through(other, until="compare")
        theirs, mine = other.session(), go_through(participant, until="compare")
        before = rows(file)
        refused = participant.answer("left", theirs["question"]["id"])
        assert problem(refused) == (404, "no-question")
        assert rows(file) == before
        assert (other.session(), participant.session()) == (theirs, mine)
        well(other.answer("left"))
        assert problem(participant.post("/api/session/undo", key=new_key())) == (409, "nothing-to-undo")
        assert other.session()["answered"] == 1


def test_the_same_key_of_two_people_is_two_answers(
    address: str, crowd: Crowd, participant: Page, file: Path
) -> None:
    with Page(address, crowd.codes[1]) as other:
        for page in (participant, other):
            go_through(page, until="compare")
            assert well(page.answer("left", key="the-same-key"))["answered"] == 1
    assert sum("the-same-key" in row for row in rows(file)) == 2


# --- what comes in ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_over_64_kilobytes_is_refused(teacher: Page, chunked: bool, file: Path) -> None:
    content = b" " * (64 * 1024 + 1)
    body = iter([content[:40_000], content[40_000:]]) if chunked else content
    found = teacher.http.post("/api/session/events", content=body, headers=JSON)
    assert problem(found) == (413, "too-large")
    assert rows(file) == []


@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_of_64_kilobytes_is_read(teacher: Page, chunked: bool) -> None:
    content = b'{"key": "12345678"}'.ljust(64 * 1024)
    body = iter([content[:40_000], content[40_000:]]) if chunked else content
    found = teacher.http.post("/api/session/undo", content=body, headers=JSON)
    assert problem(found) == (409, "nothing-to-undo")


def test_too_many_requests_have_to_wait(
    teacher: Page, monkeypatch: pytest.MonkeyPatch, store: Store, session: Teaching
) -> None:
    monkeypatch.setattr(rate_limit, "RATE", 0.02)
    monkeypatch.setattr(rate_limit, "BURST", 5.0)
    with served(guest_app(store, session)) as address, Page(address) as page:
        found = [page.get("/api/me") for _ in range(8)]
        assert [response.status_code for response in found] == [200] * 5 + [429] * 3
        assert problem(found[-1]) == (429, "too-many-requests")
        assert 30 <= int(found[-1].headers["retry-after"]) <= 50
        neighbour = httpx.Client(transport=httpx.HTTPTransport(local_address="127.0.0.2"), base_url=address)
        with neighbour:
            assert neighbour.get("/api/me").status_code == 200
    assert well(teacher.get("/api/me"))["role"] == "teacher"


def test_tries_of_a_secret_are_few(address: str, crowd: Crowd) -> None:
    with httpx.Client(base_url=address) as client:
        codes = [client.post("/api/enter", json={"secret": new_secret()}).status_code for _ in range(120)]
        assert 1 <= codes.count(403) <= 90
        assert codes.count(403) + codes.count(429) == 120
        last = client.post("/api/enter", json={"secret": crowd.codes[0]})
        assert problem(last) == (429, "too-many-requests")
        assert int(last.headers["retry-after"]) >= 1


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:8765", 200),
        ("localhost", 200),
        ("[::1]:8765", 200),
        ("lab.example", 200),
        ("evil.example", 421),
        ("127.0.0.1.evil.example", 421),
        ("evil.example:127.0.0.1", 421),
        ("", 421),
    ],
)
def test_a_name_that_is_not_ours_is_refused(store: Store, session: Teaching, host: str, status: int) -> None:
    """A page of somebody else's, whose name leads to this machine, would read with the guest's eyes."""
    app = create_app(ServerContext(store, guest=session.visitor), hosts=["lab.example"])
    with served(app) as address:
        found = httpx.get(f"{address}/api/session", headers={"host": host})
    assert found.status_code == status
    if status != 200:
        assert problem(found) == (421, "unknown-host")


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1", "http://localhost"])
def test_a_page_of_somebody_elses_cannot_write(teacher: Page, origin: str, file: Path) -> None:
    question = teacher.session()["question"]["id"]
    answer = {"key": new_key(), "question": question, "kind": "left"}
    found = teacher.http.post("/api/session/events", json=answer, headers={"origin": origin})
    assert problem(found) == (403, "foreign-page")
    assert rows(file) == []
    own = str(teacher.http.base_url).rstrip("/")
    assert (
        well(teacher.http.post("/api/session/events", json=answer, headers={"origin": own}))["answered"] == 1
    )


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "", None]
)
def test_what_a_form_can_send_is_refused(teacher: Page, kind: str | None, file: Path) -> None:
    question = teacher.session()["question"]["id"]
    content = f'{{"key": "12345678", "question": {question}, "kind": "left"}}'.encode()
    headers = {} if kind is None else {"content-type": kind}
    found = teacher.http.post("/api/session/events", content=content, headers=headers)
    assert problem(found) == (415, "not-json")
    assert rows(file) == []
