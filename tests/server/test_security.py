"""Who may do what, and which requests are accepted, one test a rule. Responses are in test_responses.py."""

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

import plain_http
from prefero import Pool
from prefero.server.app import create_app
from prefero.server.auth import SESSION_HEADER, ServerContext
from prefero.server.middleware import rate_limit
from prefero.studies.storage.database import open_database
from prefero.studies.storage.store import Store, new_secret
from server.run_commands import RunningCommand
from server.served_studies import (
    FAST_TEACHING,
    JSON,
    Client,
    InvitedStudy,
    SharedServer,
    TeachingSession,
    add_teaching,
    complete_stages,
    error_of,
    guest_app,
    new_key,
    ok,
    serving,
)

FORBIDDEN = (403, "unknown-secret")
ANSWER = {"key": "12345678", "question": 1, "kind": "left"}
CHANGE = {"key": "12345678", "question": 1, "kind": "delete"}
SESSION: list[tuple[str, dict[str, Any] | None]] = [
    ("/api/session", None),
    ("/api/session/prefetch", None),
    ("/api/session/events", ANSWER),
    ("/api/session/undo", {"key": "12345678", "question": 1}),
    ("/api/session/reasons", {"key": "12345678", "question": 1, "feature": "speed"}),
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
    ("/api/trajectories/0/signals", None),
    ("/api/export/reward.json", None),
    ("/api/export/answers.csv", None),
    ("/api/export/answers.parquet", None),
    ("/api/export/trajectories.csv", None),
    ("/api/pool", None),
    ("/api/pool/0/thumbnail.jpg", None),
    ("/api/pool/question", {"key": "12345678", "items": [0, 1]}),
    ("/api/pool/question/withdraw", {"key": "12345678", "question": 1}),
    ("/api/annotations", None),
    ("/api/annotations", {"key": "12345678", "trajectory": 0, "kind": "tag", "text": "collision"}),
]
WATCHING: list[tuple[str, dict[str, Any] | None]] = [("/api/progress", None)]


def asked(page: Client, path: str, body: dict[str, Any] | None) -> httpx.Response:
    return page.get(path) if body is None else page.post(path, **body)


def rows(file: Path) -> list[tuple[Any, ...]]:
    """All events and stage events."""
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
    address: str, invited: InvitedStudy, session: TeachingSession, store: Store, file: Path
) -> None:
    for secret in (*invited.codes, invited.secret, session.token):
        with Client(address, secret) as page:
            page.get("/api/session")
    store.engine.dispose()
    kept = b"".join(path.read_bytes() for path in file.parent.glob(f"{file.name}*"))
    assert hashlib.sha256(invited.codes[0].encode()).hexdigest().encode() in kept  # it is the right file
    for secret in (*invited.codes, invited.secret, session.token):
        assert secret.encode() not in kept


def test_secrets_are_compared_in_constant_time(
    address: str, invited: InvitedStudy, session: TeachingSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """This comparison decides: if it says no, the right secret is refused."""
    honest, compared = hmac.compare_digest, []

    def counting(first: Any, second: Any) -> bool:
        compared.append((first, second))
        return False

    with plain_http.Client(base_url=address) as client:
        for secret in (invited.codes[0], invited.secret, session.token):
            monkeypatch.setattr(hmac, "compare_digest", counting)
            assert error_of(client.post("/api/enter", json={"secret": secret})) == FORBIDDEN
            digest = hashlib.sha256(secret.encode()).hexdigest()
            assert (digest, digest) in compared
            monkeypatch.setattr(hmac, "compare_digest", honest)
            assert client.post("/api/enter", json={"secret": secret}).status_code == 200


@pytest.mark.parametrize("wrong", ["A" * 24, "short678", "-" * 128])
def test_a_wrong_secret_opens_nothing_and_leaves_no_cookie(address: str, wrong: str) -> None:
    found = plain_http.post(f"{address}/api/enter", json={"secret": wrong})
    assert error_of(found) == FORBIDDEN
    assert "set-cookie" not in found.headers


def test_a_wrong_secret_is_refused_where_a_guest_is_let_in_too(teacher: Client) -> None:
    found = teacher.post("/api/enter", secret="A" * 24)
    assert error_of(found) == FORBIDDEN
    assert "set-cookie" not in found.headers


def test_a_stale_cookie_does_not_keep_the_guest_out(teacher: Client) -> None:
    """A browser sends the cookie of another Prefero on this machine, whatever its port."""
    teacher.http.cookies.set("prefero", "A" * 24)
    assert ok(teacher.get("/api/me"))["role"] == "teacher"


def test_the_server_logs_no_secret(store: Store, invited: InvitedStudy, file: Path, tmp_path: Path) -> None:
    """Neither at the start, nor for valid, invalid or broken requests, nor for internal errors."""
    secrets = [*invited.codes, invited.secret, new_secret()]
    assert store.studies()
    words = ["study", "serve", "--workers", "0", "--database", str(file), "--port", "0"]
    with RunningCommand(tmp_path, *words) as server:
        address = server.wait_for(r"experimenters open (http://\S+)/#SECRET")[1]
        server.wait_for("Serving")
        with Client(address) as page:
            for secret in secrets:
                page.post("/api/enter", secret=secret)
                page.post("/api/enter", secret=secret, more=secret)
                page.post("/api/session/undo", key=secret, question=1)
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
            assert plain_http.post(f"{address}/api/enter", json={"secret": secret}).status_code == 500
        server.stop()
        assert "Traceback" in server.output  # what went wrong is written down, who was there is not
        assert [secret for secret in secrets if secret in server.output] == []


@pytest.mark.parametrize("https", [False, True])
def test_the_cookie_is_kept_from_scripts_and_from_other_sites(
    store: Store, invited: InvitedStudy, https: bool
) -> None:
    with serving(create_app(ServerContext(store, secure=https))) as address:
        found = plain_http.post(f"{address}/api/enter", json={"secret": invited.codes[0]})
    (cookie,) = SimpleCookie(found.headers["set-cookie"]).values()
    assert cookie["httponly"] is True
    assert cookie["samesite"].lower() == "lax"
    assert bool(cookie["secure"]) is https
    assert (cookie["path"], cookie["domain"]) == ("/", "")


# --- roles ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("path", "body"), [*SESSION, *SHOWN, *TEACHING, *WATCHING])
def test_every_endpoint_needs_a_secret(shared: SharedServer, path: str, body: dict[str, Any] | None) -> None:
    assert error_of(asked(shared.nobody, path, body)) == FORBIDDEN
    assert ok(shared.nobody.get("/api/me"))["role"] is None


@pytest.mark.parametrize(("path", "body"), [*TEACHING, *WATCHING])
def test_a_participant_sees_nothing_of_what_was_learned(
    shared: SharedServer, path: str, body: dict[str, Any] | None
) -> None:
    assert error_of(asked(shared.participant, path, body)) == FORBIDDEN
    assert ok(shared.participant.get("/api/me"))["role"] == "participant"


@pytest.mark.parametrize(("path", "body"), [*SESSION, *TEACHING])
def test_an_experimenter_watches_and_answers_nothing(
    shared: SharedServer, path: str, body: dict[str, Any] | None
) -> None:
    before = rows(shared.file)
    assert error_of(asked(shared.experimenter, path, body)) == FORBIDDEN
    assert rows(shared.file) == before
    assert ok(shared.experimenter.get("/api/progress"))["invited"] == 2


def test_a_teacher_is_no_experimenter(address: str, session: TeachingSession) -> None:
    with Client(address, session.token) as page:
        assert ok(page.get("/api/me"))["role"] == "teacher"
        assert error_of(page.get("/api/progress")) == FORBIDDEN


def test_another_participants_question_cannot_be_answered(
    address: str, invited: InvitedStudy, participant: Client, file: Path
) -> None:
    with Client(address, invited.codes[1]) as other:
        complete_stages(other, until="compare")
        theirs, mine = other.session(), complete_stages(participant, until="compare")
        before = rows(file)
        refused = participant.answer("left", theirs["question"]["id"])
        assert error_of(refused) == (404, "no-question")
        assert rows(file) == before
        assert (other.session(), participant.session()) == (theirs, mine)
        ok(other.answer("left"))
        assert error_of(participant.undo()) == (409, "nothing-to-undo")
        assert other.session()["answered"] == 1


def test_the_same_key_of_two_participants_is_two_answers(
    address: str, invited: InvitedStudy, participant: Client, file: Path
) -> None:
    with Client(address, invited.codes[1]) as other:
        for page in (participant, other):
            complete_stages(page, until="compare")
            assert ok(page.answer("left", key="the-same-key"))["answered"] == 1
    assert sum("the-same-key" in row for row in rows(file)) == 2


# --- what comes in ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_over_64_kilobytes_is_refused(teacher: Client, chunked: bool, file: Path) -> None:
    content = b" " * (64 * 1024 + 1)
    body = iter([content[:40_000], content[40_000:]]) if chunked else content
    found = teacher.http.post("/api/session/events", content=body, headers=JSON)
    assert error_of(found) == (413, "too-large")
    assert rows(file) == []


@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_of_64_kilobytes_is_read(teacher: Client, chunked: bool) -> None:
    content = b'{"key": "12345678", "question": 1}'.ljust(64 * 1024)
    body = iter([content[:40_000], content[40_000:]]) if chunked else content
    found = teacher.http.post("/api/session/undo", content=body, headers=JSON)
    assert error_of(found) == (409, "nothing-to-undo")


def test_too_many_requests_have_to_wait(
    teacher: Client, monkeypatch: pytest.MonkeyPatch, store: Store, session: TeachingSession
) -> None:
    monkeypatch.setattr(rate_limit, "RATE", 0.02)
    monkeypatch.setattr(rate_limit, "BURST", 5.0)
    with serving(guest_app(store, session)) as address, Client(address) as page:
        found = [page.get("/api/me") for _ in range(7)]  # after the one that asked for the session's name
        assert [response.status_code for response in found] == [200] * 4 + [429] * 3
        assert error_of(found[-1]) == (429, "too-many-requests")
        assert 30 <= int(found[-1].headers["retry-after"]) <= 50
        neighbour = httpx.Client(transport=httpx.HTTPTransport(local_address="127.0.0.2"), base_url=address)
        with neighbour:
            assert neighbour.get("/api/me").status_code == 200
    assert ok(teacher.get("/api/me"))["role"] == "teacher"


def test_attempts_to_guess_a_secret_are_limited(address: str, invited: InvitedStudy) -> None:
    with plain_http.Client(base_url=address) as client:
        codes = [client.post("/api/enter", json={"secret": new_secret()}).status_code for _ in range(120)]
        assert 1 <= codes.count(403) <= 90
        assert codes.count(403) + codes.count(429) == 120
        last = client.post("/api/enter", json={"secret": invited.codes[0]})
        assert error_of(last) == (429, "too-many-requests")
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
def test_a_request_for_another_host_is_refused(
    store: Store, session: TeachingSession, host: str, status: int
) -> None:
    """Another site whose name leads to this machine could otherwise read as the guest."""
    app = create_app(ServerContext(store, guest=session.visitor), hosts=["lab.example"])
    with serving(app) as address:
        found = plain_http.get(f"{address}/api/session", headers={"host": host})
    assert found.status_code == status
    if status != 200:
        assert error_of(found) == (421, "unknown-host")


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1", "http://localhost"])
def test_a_page_of_another_site_cannot_write(teacher: Client, origin: str, file: Path) -> None:
    question = teacher.session()["question"]["id"]
    answer = {"key": new_key(), "question": question, "kind": "left"}
    found = teacher.http.post("/api/session/events", json=answer, headers={"origin": origin})
    assert error_of(found) == (403, "foreign-page")
    assert rows(file) == []
    own = str(teacher.http.base_url).rstrip("/")
    assert ok(teacher.http.post("/api/session/events", json=answer, headers={"origin": own}))["answered"] == 1


SCHEMES: list[tuple[bool, list[str], str | None, str, int]] = [
    # secure, trusted proxies, X-Forwarded-Proto, the origin's scheme, status
    (True, [], None, "https", 200),
    (True, [], None, "http", 403),
    (False, [], None, "http", 200),
    (False, [], None, "https", 403),
    (False, [], "https", "https", 403),  # said by nobody who is trusted
    (False, ["127.0.0.1"], "https", "https", 200),
    (False, ["127.0.0.1"], "https", "http", 403),
    (True, ["127.0.0.1"], "http", "http", 200),
]


@pytest.mark.parametrize(("secure", "proxies", "forwarded", "scheme", "status"), SCHEMES)
def test_a_page_of_another_scheme_is_another_site(
    store: Store, secure: bool, proxies: list[str], forwarded: str | None, scheme: str, status: int
) -> None:
    app = create_app(ServerContext(store, secure=secure), hosts=["lab.example"], proxies=proxies)
    headers = {"host": "lab.example", "origin": f"{scheme}://lab.example"}
    headers |= {} if forwarded is None else {"x-forwarded-proto": forwarded}
    with serving(app) as address:
        found = plain_http.post(f"{address}/api/leave", json={}, headers=headers)
    assert found.status_code == status
    if (secure, scheme, status) == (False, "https", 403):
        assert "--base https://... or --https" in found.text


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "", None]
)
def test_content_types_that_a_form_can_send_are_refused(
    teacher: Client, kind: str | None, file: Path
) -> None:
    question = teacher.session()["question"]["id"]
    content = f'{{"key": "12345678", "question": {question}, "kind": "left"}}'.encode()
    headers = {} if kind is None else {"content-type": kind}
    found = teacher.http.post("/api/session/events", content=content, headers=headers)
    assert error_of(found) == (415, "not-json")
    assert rows(file) == []


# --- another session --------------------------------------------------------------------------------------

ANOTHER = (409, "another-session")


def test_what_one_participant_did_is_not_stored_as_anothers(
    address: str, invited: InvitedStudy, file: Path
) -> None:
    """Two links in one browser: the second cookie replaces the first, whose page is still open."""
    with Client(address, invited.codes[0]) as browser:
        first = browser.http.headers[SESSION_HEADER]
        ok(browser.post("/api/enter", secret=invited.codes[1]))
        consent = browser.post("/api/session/stages", key=new_key(), stage="consent", data={"agreed": True})
        assert error_of(consent) == ANOTHER
        assert "signed in as P2 of 'Walks' now" in consent.json()["error"]["message"]
        assert error_of(browser.get("/api/session")) == ANOTHER
        assert rows(file) == []
        assert ok(browser.get("/api/me"))["session"] != first


def test_a_request_that_names_no_session_changes_nothing(teacher: Client, file: Path) -> None:
    question = teacher.session()["question"]["id"]
    del teacher.http.headers[SESSION_HEADER]
    assert error_of(teacher.answer("left", question)) == ANOTHER
    assert rows(file) == []


def test_what_was_kept_for_one_teaching_session_does_not_change_another(
    teacher: Client, pool: Pool, tmp_path: Path
) -> None:
    """Sessions of two databases have the same ids of people and questions, but other names."""
    ok(teacher.answer("left"))
    kept = {"key": new_key(), "question": teacher.session()["undoable"]}
    other = Store(open_database(tmp_path / "other.db"))
    with serving(guest_app(other, add_teaching(other, pool, FAST_TEACHING))) as address:
        with Client(address) as page:
            ok(page.answer("left"))
            assert page.session()["undoable"] == kept["question"]
            page.http.headers[SESSION_HEADER] = teacher.http.headers[SESSION_HEADER]
            assert error_of(page.http.post("/api/session/undo", json=kept)) == ANOTHER
        with Client(address) as page:
            assert page.session()["answered"] == 1
    other.engine.dispose()
    assert ok(teacher.http.post("/api/session/undo", json=kept))["answered"] == 0


def test_an_undo_takes_back_the_answer_that_it_names_and_no_other(teacher: Client) -> None:
    first = teacher.session()["question"]["id"]
    for choice in ("left", "right"):
        ok(teacher.answer(choice))
    assert error_of(teacher.undo(question=first)) == (409, "nothing-to-undo")
    assert teacher.session()["answered"] == 2
