"""The person who runs the server lists, begins, renames, archives and copies sessions; nobody else does."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
import zxingcpp

from prefero import Pool
from prefero.rendering.video import save_video
from prefero.server.app import create_app
from prefero.server.auth import SESSION_HEADER, ServerContext, Visitor
from prefero.server.qr_code import qr_rows, qr_text
from prefero.server.session_manager import SessionManager
from prefero.studies.storage.store import Store
from server.served_studies import (
    FAST_TEACHING,
    Client,
    TeachingSession,
    add_study,
    add_teaching,
    error_of,
    new_key,
    ok,
    serving,
)
from waiting import wait_until

LINK = "http://192.168.1.20:8765/"
ROUTES: tuple[tuple[str, dict[str, Any] | None], ...] = (
    ("/api/sessions", None),
    ("/api/phone", None),
    ("/api/beginnings/0123456789abcdef", None),
    ("/api/sessions", {"world": "driver"}),
    ("/api/sessions/open", {"name": "robot"}),
    ("/api/sessions/rename", {"name": "robot", "new": "mine"}),
    ("/api/sessions/archive", {"name": "robot", "archived": True}),
    ("/api/sessions/copy", {"name": "robot", "new": "mine", "answers": True}),
    ("/api/session/rest", {}),
    ("/api/beginnings/cancel", {"beginning": "0123456789abcdef"}),
    ("/api/uploads", {"files": [{"name": "a.csv", "size": 3}]}),
    ("/api/uploads/cancel", {"upload": "0" * 32}),
)


@pytest.fixture
def manager(store: Store) -> Iterator[SessionManager]:
    found = SessionManager(store, lambda study: f"prefero teach --name {study and study.name}", "answers.db")
    yield found
    found.close()


@pytest.fixture
def runner(store: Store, session: TeachingSession, manager: SessionManager) -> Iterator[Client]:
    """Who runs the server, as a guest of this machine."""
    context = ServerContext(store, guest=session.visitor, manager=manager)
    with serving(create_app(context)) as address, Client(address) as client:
        yield client


def sessions(client: Client) -> dict[str, dict[str, Any]]:
    return {one["name"]: one for one in ok(client.get("/api/sessions"))["sessions"]}


def open_session(client: Client, name: str) -> None:
    client.http.headers[SESSION_HEADER] = ok(client.post("/api/sessions/open", name=name))["session"]


# --- who may ----------------------------------------------------------------------------------------------


def test_only_who_runs_the_server_may(
    store: Store, session: TeachingSession, manager: SessionManager
) -> None:
    """Not participants, experimenters, visitors without a secret, or teachers with a link of their own."""
    invited = add_study(store, store.pool(session.study))
    code = "an-invited-teacher"
    store.invite(session.study, "Ben", code)
    context = ServerContext(store, token=(session.token, session.visitor), manager=manager)
    with serving(create_app(context)) as address:
        for secret in (None, invited.codes[0], invited.secret, code):
            with Client(address, secret) as client:
                assert ok(client.get("/api/me"))["manages"] is False
                for path, body in ROUTES:
                    answer = client.get(path) if body is None else client.post(path, **body)
                    assert error_of(answer) == (403, "unknown-secret"), (secret, path)
                assert chunk(client, "0" * 32, 0, 0, b"x").status_code == 403
                client.http.headers[SESSION_HEADER] = session.participant.session
                assert client.get("/api/session").status_code in (403, 409)
        with Client(address, session.token) as client:
            assert ok(client.get("/api/me"))["manages"] is True
            assert list(sessions(client)) == ["robot"]
    assert [study.name for study in store.studies()] == ["robot", "walks"]


def test_pages_of_other_sites_may_not(runner: Client) -> None:
    elsewhere = {"origin": "http://evil.example"}
    for path, body in ROUTES:
        if body is not None:
            answer = runner.http.post(path, json=body, headers=elsewhere)
            assert error_of(answer) == (403, "foreign-page")
    for kind in ("text/plain", "multipart/form-data", "application/json"):  # what forms can send, and more
        sent = runner.http.post("/api/uploads/chunk", content=b"x", headers={"content-type": kind})
        assert error_of(sent) == (415, "not-json")
    bytes_elsewhere = elsewhere | {"content-type": "application/octet-stream"}
    sent = runner.http.post("/api/uploads/chunk", content=b"x", headers=bytes_elsewhere)
    assert error_of(sent) == (403, "foreign-page")
    as_bytes = {"content-type": "application/octet-stream"}
    assert error_of(runner.http.post("/api/sessions", content=b"{}", headers=as_bytes)) == (415, "not-json")
    assert list(sessions(runner)) == ["robot"]


# --- several sessions -------------------------------------------------------------------------------------


def test_two_windows_answer_in_two_sessions(runner: Client, store: Store, pool: Pool) -> None:
    other = add_teaching(store, pool, FAST_TEACHING, name="other")
    ok(runner.answer("left"))
    runner.http.headers[SESSION_HEADER] = other.participant.session
    assert ok(runner.get("/api/me"))["study"] == "other"
    for _ in range(2):
        ok(runner.answer("right"))
    assert [one["answers"] for one in sessions(runner).values()] == [2, 1]
    # what a browser loads by itself names the session in the query
    del runner.http.headers[SESSION_HEADER]
    rows = [
        runner.get(f"/api/export/answers.csv?session={name}").text.count("\n") for name in sessions_of(runner)
    ]
    assert rows == [3, 2]
    assert error_of(runner.post("/api/session/undo", key=new_key(), question=1)) == (409, "another-session")
    unknown = runner.get("/api/session", **{SESSION_HEADER: "0" * 16})
    assert error_of(unknown) == (409, "another-session")
    assert error_of(runner.get("/api/display?session=0")) == (409, "another-session")


def sessions_of(client: Client) -> list[str]:
    return [one["people"][0]["session"] for one in sessions(client).values()]


def test_without_a_session_there_is_the_list(store: Store, pool: Pool, manager: SessionManager) -> None:
    add_teaching(store, pool, FAST_TEACHING)
    context = ServerContext(store, guest=Visitor("teacher", None, None), manager=manager)
    with serving(create_app(context)) as address, Client(address) as client:
        me = ok(client.get("/api/me"))
        assert (me["role"], me["session"], me["manages"]) == ("teacher", None, True)
        for path in ("/api/session", "/api/display", "/api/history"):
            assert error_of(client.get(path)) == (409, "no-session")
        open_session(client, "robot")
        assert ok(client.answer("left"))["answered"] == 1
        assert ok(client.get("/api/teaching"))["command"] == "prefero teach --name robot"


def test_a_session_that_nobody_looks_at_is_forgotten(runner: Client) -> None:
    state = runner.session()
    ok(runner.post("/api/session/rest"))
    assert runner.session() == state  # taken up again from the database


# --- names, copies, archive and settings ------------------------------------------------------------------


def test_rename_archive_and_copy(runner: Client) -> None:
    ok(runner.answer("left"))
    ok(runner.post("/api/sessions/rename", name="robot", new="Which walk?"))
    assert runner.session()["answered"] == 1  # the window goes on
    ok(runner.post("/api/sessions/copy", name="Which walk?", new="copy", answers=True))
    ok(runner.post("/api/sessions/copy", name="copy", new="empty", answers=False))
    taken = runner.post("/api/sessions/copy", name="copy", new="empty", answers=False)
    assert error_of(taken) == (409, "study-exists")
    assert {name: one["answers"] for name, one in sessions(runner).items()} == {
        "Which walk?": 1,
        "copy": 1,
        "empty": 0,
    }
    ok(runner.post("/api/sessions/archive", name="Which walk?", archived=True))
    assert sessions(runner)["Which walk?"]["archived"] is True
    assert ok(runner.answer("left"))["answered"] == 2  # it can be continued
    ok(runner.post("/api/sessions/archive", name="Which walk?", archived=False))
    assert sessions(runner)["Which walk?"]["archived"] is False
    assert error_of(runner.post("/api/sessions/rename", name="copy", new="a\tb")) == (422, "bad-name")
    assert error_of(runner.post("/api/sessions/open", name="none"))[0] == 404


def test_settings_are_effective_at_once(store: Store, pool: Pool, manager: SessionManager) -> None:
    session = add_teaching(store, pool)
    context = ServerContext(store, guest=session.visitor, manager=manager)
    with serving(create_app(context)) as address, Client(address) as page:
        pair = page.session()["question"]
        settings = {"task_description": "Be calm.", "answers": "rate-3", "questions": 5, "goal": 0.9}
        words = ["poor", "fair", "good"]
        ok(page.post("/api/sessions/settings", name="robot", words=words, **settings))
        state = page.session()
        assert (state["question"]["kind"], state["words"], state["total"]) == ("rate-3", words, 5)
        assert (state["task_description"], state["goal"]) == ("Be calm.", 0.9)
        # another window still shows the pair
        assert error_of(page.answer("left", pair["id"])) == (409, "already-answered")
        wrong = settings | {"answers": "rate-99"}
        sent = page.post("/api/sessions/settings", name="robot", words=[], **wrong)
        assert error_of(sent) == (422, "bad-settings")
        assert page.session()["kinds"] == ["rate-3"]


# --- files ------------------------------------------------------------------------------------------------


def chunk(client: Client, upload: str, number: int, offset: int, content: bytes) -> httpx.Response:
    return client.http.post(
        f"/api/uploads/chunk?upload={upload}&number={number}&offset={offset}",
        content=content,
        headers={"content-type": "application/octet-stream"},
    )


def upload(client: Client, files: dict[str, bytes]) -> str:
    listed = [{"name": name, "size": len(content)} for name, content in files.items()]
    found = ok(client.post("/api/uploads", files=listed))
    for number, content in enumerate(files.values()):
        for offset in range(0, len(content), found["chunk"]):
            ok(chunk(client, found["id"], number, offset, content[offset : offset + found["chunk"]]))
    name: str = found["id"]
    return name


def begin(client: Client, **what: Any) -> dict[str, Any]:
    state = ok(client.post("/api/sessions", **what))

    def ended() -> bool:
        time.sleep(0.1)  # as the page, which the server lets ask no faster than some times a second
        state.update(ok(client.get(f"/api/beginnings/{state['id']}")))
        return bool(state["stage"] != "working")

    wait_until(ended, "the session's beginning")
    return state


def table(rows: int = 12) -> bytes:
    values = np.random.default_rng(0).normal(size=(rows, 2)).round(3)
    lines = ["id,speed,height", *(f"walk {n},{a},{b}" for n, (a, b) in enumerate(values))]
    return "\n".join(lines).encode() + b"\n"


def test_a_session_begins_with_a_table(runner: Client, manager: SessionManager) -> None:
    found = upload(runner, {"../walks.CSV": table()})
    state = begin(runner, upload=found)
    assert (state["stage"], state["name"]) == ("begun", "walks")
    open_session(runner, "walks")
    assert runner.session()["question"]["items"]
    assert sessions(runner)["walks"]["trajectories"] == 12
    assert [path.name for path in (manager.uploads.folder / found).iterdir()] == ["walks.csv"]


def test_a_session_begins_with_videos(runner: Client, tmp_path: Path) -> None:
    for number in range(3):
        frames = (np.full((48, 64, 3), 60 * number + 2 * t, dtype=np.uint8) for t in range(12))
        save_video(tmp_path / f"{number}.mp4", frames, 10.0)
    files = {f"walk {n}.mp4": (tmp_path / f"{n}.mp4").read_bytes() for n in range(3)}
    state = begin(runner, upload=upload(runner, files), name="My walks")
    assert (state["stage"], state["problem"]) == ("begun", "")
    open_session(runner, "My walks")
    item = runner.session()["question"]["items"][0]
    del runner.http.headers[SESSION_HEADER]
    own = sessions(runner)["My walks"]["people"][0]["session"]
    video = runner.get(f"/api/clips/{item}.mp4?session={own}")
    assert (video.status_code, video.headers["content-type"]) == (200, "video/mp4")


def test_files_that_cannot_be_read_are_named_and_deleted(runner: Client, manager: SessionManager) -> None:
    state = begin(runner, upload=upload(runner, {"a.mp4": b"no video", "b.mp4": b"nor this"}))
    assert state["stage"] == "failed"
    assert "a.mp4" in state["problem"]
    assert str(manager.uploads.folder) not in state["problem"]
    assert "--skip-bad" not in state["problem"]  # the page has no options
    assert "drop the others without it" in state["problem"]
    wait_until(lambda: not any(manager.uploads.folder.iterdir()), "the files' end")
    assert list(sessions(runner)) == ["robot"]


def test_a_session_begins_with_a_world(runner: Client) -> None:
    assert {one["name"] for one in ok(runner.get("/api/sessions"))["worlds"]} >= {"driver", "golf"}
    state = begin(runner, world="driver", trajectories=12, task_description="Stay left.")
    assert (state["stage"], state["name"]) == ("begun", "driver")
    open_session(runner, "driver")
    assert runner.session()["task_description"] == "Stay left."
    for wrong in ({"world": "nowhere"}, {}, {"world": "driver", "upload": "0" * 32}):
        assert error_of(runner.post("/api/sessions", **wrong)) == (422, "bad-session")
    taken = runner.post("/api/sessions", world="driver", name="driver")
    assert error_of(taken) == (409, "study-exists")


# --- the phone --------------------------------------------------------------------------------------------


def test_the_code_for_the_phone_leads_to_the_page(runner: Client, manager: SessionManager) -> None:
    found = ok(runner.get("/api/phone"))
    assert (found["link"], found["rows"]) == (None, [])
    assert found["command"] == "prefero teach --name robot --host 0.0.0.0"
    manager.link = lambda session: f"{LINK}?session={session}#a-token"
    found = ok(runner.get("/api/phone"))
    assert found["link"] == f"{LINK}?session={runner.http.headers[SESSION_HEADER]}#a-token"
    assert decoded(np.array([[int(one) for one in row] for row in found["rows"]])) == found["link"]
    assert qr_rows(found["link"]) == found["rows"]


def test_the_code_in_the_terminal_leads_there_too() -> None:
    """Each letter is two squares, one above the other; light on the terminal's ground."""
    above, below = {"█": 1, "▀": 1}, {"█": 1, "▄": 1}
    lines = [line for line in plain(qr_text(LINK)).split("\n") if line.strip()]
    light = [[half.get(letter, 0) for letter in line] for line in lines for half in (above, below)]
    assert decoded(1 - np.array(light)) == LINK


def plain(text: str) -> str:
    return text.replace("\x1b[0m", "").replace("\x1b[7m", "")


def decoded(dark: np.ndarray[Any, Any]) -> str:
    """What another program reads in the code."""
    picture = 255 * (1 - np.pad(dark, 4).repeat(8, axis=0).repeat(8, axis=1)).astype(np.uint8)
    (found,) = zxingcpp.read_barcodes(np.ascontiguousarray(picture))
    text: str = found.text
    return text
