"""Responses: the security headers of all of them, and no file but those that are meant."""

import asyncio
from contextlib import suppress
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from unittest.mock import AsyncMock

import httpx
import numpy as np
import pytest

from event_loops import run_in_own_loop
from prefero import Pool
from prefero.pools.displays import display_of
from prefero.server.app import PAGE
from prefero.server.middleware.internal_errors import InternalErrors
from prefero.studies.protocol.protocol import teaching_protocol
from prefero.studies.storage.clip_folders import remember_folder
from prefero.studies.storage.store import Store, new_secret
from server.served_studies import JSON, Client, TeachingSession, add_teaching, error_of, guest_app, serving
from systems import posix_only

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "media-src 'self'; connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'"
)


@pytest.fixture
def answers(page_client: Client) -> dict[str, httpx.Response]:
    """A response of every kind."""
    http = page_client.http
    return {
        "page": http.get("/"),
        "script": http.get("/assets/page.js"),
        "api": http.get("/api/me"),
        "session": http.get("/api/session"),
        "schema": http.get("/api/openapi.json"),
        "missing": http.get("/nothing"),
        "invalid": http.post("/api/session/events", json={}),
        "refused": http.post("/api/session/undo", json={"key": "12345678", "question": 1}),
        "forbidden": http.get("/api/progress"),
        "not json": http.post("/api/session/undo", content=b"x"),
        "too large": http.post("/api/session/undo", content=b"x" * 70_000, headers=JSON),
        "other host": http.get("/api/me", headers={"host": "evil.example"}),
        "other method": http.request("PATCH", "/api/me", json={}),
    }


def test_every_response_has_the_security_headers(answers: dict[str, httpx.Response]) -> None:
    for name, found in answers.items():
        assert found.headers.get_list("content-security-policy") == [POLICY], name
        assert found.headers["x-content-type-options"] == "nosniff", name
        assert found.headers["referrer-policy"] == "no-referrer", name
    assert {found.status_code for found in answers.values()} >= {200, 403, 404, 405, 409, 413, 415, 421, 422}


def test_private_responses_are_not_cached(answers: dict[str, httpx.Response]) -> None:
    for name in ("api", "session", "forbidden", "refused"):
        assert answers[name].headers["cache-control"] == "no-store", name


class Strict(HTMLParser):
    """Collects what the content security policy would block."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._in = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._in = tag
        for name, value in attrs:
            if name.startswith("on") or name == "style":
                self.found.append(f"<{tag} {name}>")
            if name in ("src", "href") and (value or "").lower().startswith(("http", "//", "javascript")):
                self.found.append(f"<{tag} {name}={value}>")

    def handle_endtag(self, _: str) -> None:
        self._in = ""

    def handle_data(self, data: str) -> None:
        if self._in in ("script", "style") and data.strip():
            self.found.append(f"<{self._in}> {data[:40]}")


def test_the_built_page_has_nothing_that_the_policy_forbids() -> None:
    pages = sorted(PAGE.rglob("*.html"))
    assert pages, "the page is not built: type  make page"
    for page in pages:
        strict = Strict()
        strict.feed(page.read_text(encoding="utf-8"))
        assert strict.found == [], page.name


@pytest.mark.parametrize(
    "path",
    [
        "/../private.mp4",
        "/assets/../../private.mp4",
        "/%2e%2e/private.mp4",
        "/..%2fprivate.mp4",
        "/%2e%2e%2fprivate.mp4",
        "/assets/..%2f..%2fprivate.mp4",
        "/..%5cprivate.mp4",
        "//private.mp4",
        "/link.txt",
        "/assets/%00",
    ],
)
def test_no_path_leads_out_of_the_pages_folder(page_client: Client, path: str) -> None:
    # the client would tidy the path before it sends it, so it is given as it shall be sent
    found = page_client.http.get(page_client.http.base_url.copy_with(raw_path=path.encode()))
    assert "nobody" not in found.text
    assert error_of(found)[0] == 404


@pytest.fixture
def clips(tmp_path: Path) -> list[Path]:
    """Two clips in a folder, beside which lies a private file."""
    (tmp_path / "private.mp4").write_text("nobody's business", encoding="utf-8")
    (tmp_path / "clips").mkdir()
    found = [tmp_path / "clips" / f"{number}.mp4" for number in range(2)]
    for clip in found:
        clip.write_bytes(b"video")
    return found


def lead_out(clip: Path) -> None:
    clip.unlink()
    clip.symlink_to(clip.parent.parent / "private.mp4")


@posix_only
def test_a_clip_that_became_a_link_out_of_its_folder_is_not_served(store: Store, clips: list[Path]) -> None:
    session = add_teaching(store, Pool(np.eye(2), ["a", "b"], clips=clips))
    remember_folder(clips[0].parent)
    lead_out(clips[1])
    with serving(guest_app(store, session)) as address, Client(address) as page:
        assert page.get("/api/clips/0.mp4").content == b"video"
        assert error_of(page.get("/api/clips/1.mp4")) == (404, "no-trajectory")


@posix_only
def test_a_clip_that_was_a_link_out_of_its_folder_is_not_served(store: Store, clips: list[Path]) -> None:
    """Such a pool may also be refused."""
    lead_out(clips[1])
    with suppress(ValueError):
        session = add_teaching(store, Pool(np.eye(2), ["a", "b"], clips=clips))
        with serving(guest_app(store, session)) as address, Client(address) as page:
            assert "nobody" not in page.get("/api/clips/1.mp4").text


def test_a_clip_that_is_not_in_the_studys_folder_is_not_served(store: Store, clips: list[Path]) -> None:
    folder = clips[0].parent
    outside = [folder / ".." / "private.mp4", folder.parent / "private.mp4"]
    pool = Pool(np.eye(2), ["a", "b"], clips=outside)
    display = display_of(pool) | {"folder": str(folder)}
    study = store.add_study(
        "out", "teach", teaching_protocol("Out", 3).to_json(), pool, display, new_secret()
    )
    session = TeachingSession(study, store.invite(study, "teacher", new_secret()), "")
    with serving(guest_app(store, session)) as address, Client(address) as page:
        for number in range(2):
            assert error_of(page.get(f"/api/clips/{number}.mp4")) == (404, "no-trajectory")


# --- requests that end otherwise --------------------------------------------------------------------------


async def _cancelled(*_: object) -> None:
    raise asyncio.CancelledError("timeout graceful shutdown exceeded")


async def _failing(*_: object) -> None:
    raise KeyError("a fault")


@pytest.mark.parametrize(("app", "status"), [(_cancelled, 503), (_failing, 500)])
def test_a_request_that_does_not_end_by_itself_is_answered(app: Any, status: int) -> None:
    """What a server that stops does not wait for is no fault that a person should read about."""
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    run_in_own_loop(lambda: InternalErrors(app)({"type": "http"}, AsyncMock(), send))
    assert [message["type"] for message in sent] == ["http.response.start", "http.response.body"]
    assert sent[0]["status"] == status
