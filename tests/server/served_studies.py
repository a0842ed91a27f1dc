"""Visitors of a server that really serves, over sockets: they do what the page does, without the page."""

import threading
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, Self

import httpx
import uvicorn
from fastapi import FastAPI

from prefero import Pool
from prefero.server.app import create_app
from prefero.server.auth import ServerContext, Visitor
from prefero.server.serve import listen
from prefero.studies.displays import display_of
from prefero.studies.protocol import Protocol, StudyMethod, teaching_protocol
from prefero.studies.storage.store import Participant, Store, Study, new_secret

JSON = {"content-type": "application/json"}
QUICK = Protocol(
    title="Walks",
    methods=(StudyMethod("Random", "RandomGP 1 0.1", 3), StudyMethod("Active", "ActiveGP 1 0.1", 2)),
    consent="Do you agree?\n\nYou may stop at any time.",
    instructions="Say which you like better.",
    thanks="Thank you!",
    tests=1,
    retests=1,
    rate=True,
)
# what a teacher is asked by a method that learns in no time, for tests that are about something else
HASTY = replace(
    teaching_protocol("Robot", 30), methods=(StudyMethod("Random", "RandomGP 1 0.1", 30),), ties=False
)


def new_key() -> str:
    return str(uuid.uuid4())


@contextmanager
def served(app: FastAPI) -> Iterator[str]:
    """The application on a port of its own; its address."""
    taken = listen("127.0.0.1", 0)
    server = uvicorn.Server(uvicorn.Config(app, log_level="critical", access_log=False))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [taken]})
    thread.start()
    try:
        while not server.started:
            time.sleep(0.005)
        yield f"http://127.0.0.1:{taken.getsockname()[1]}"
    finally:
        server.should_exit = server.force_exit = True
        thread.join()
        taken.close()
        app.state.context.slots.close()


class Page:
    """Somebody in a browser: the cookie is kept, and every message has a key of its own."""

    def __init__(self, address: str, secret: str | None = None) -> None:
        self.http = httpx.Client(base_url=address, timeout=30)
        if secret is not None:
            assert self.post("/api/enter", secret=secret).status_code == 200

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.http.close()

    def get(self, path: str, **headers: str) -> httpx.Response:
        return self.http.get(path, headers=headers)

    def post(self, path: str, **content: Any) -> httpx.Response:
        return self.http.post(path, json=content)

    def session(self) -> dict[str, Any]:
        return well(self.get("/api/session"))

    def answer(self, choice: str, question: int | None = None, key: str | None = None) -> httpx.Response:
        """To the question that is open, unless another is given."""
        question = self.session()["question"]["id"] if question is None else question
        return self.post(
            "/api/session/events", key=key or new_key(), question=question, kind=choice, seconds=1.25
        )

    def step(self, stage: str, **data: Any) -> dict[str, Any]:
        return well(self.post("/api/session/stages", key=new_key(), stage=stage, data=data))

    def history(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = well(self.get("/api/history"))["answers"]
        return found


def well(response: httpx.Response) -> dict[str, Any]:
    """What came back, if all is well."""
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.json()
    return found


def problem(response: httpx.Response) -> tuple[int, str]:
    """The status and the code of an error, which has the form that every error has."""
    assert response.headers["content-type"].startswith("application/json"), response.text
    body = response.json()
    assert set(body) == {"error"}
    assert set(body["error"]) == {"code", "message"}
    assert len(body["error"]["message"]) > 5
    return response.status_code, body["error"]["code"]


def at_once(*calls: Callable[[], httpx.Response]) -> list[httpx.Response]:
    """Requests that start together; their answers, in order."""
    gate = threading.Barrier(len(calls))

    def run(call: Callable[[], httpx.Response]) -> httpx.Response:
        gate.wait()
        return call()

    with ThreadPoolExecutor(len(calls)) as threads:
        return list(threads.map(run, calls))


@dataclass(frozen=True)
class Teaching:
    """One teacher's session, and the secret that opens it where a guest is not let in."""

    study: Study
    person: Participant
    token: str

    @property
    def visitor(self) -> Visitor:
        return Visitor("teacher", self.study, self.person)


@dataclass(frozen=True)
class Crowd:
    """A study with two participants: their codes, and the experimenter's secret."""

    study: Study
    people: tuple[Participant, Participant]
    codes: tuple[str, str]
    secret: str


class Lasting(NamedTuple):
    """A server that a module's tests share, since all that they send is refused: it enters everybody once."""

    file: Path
    nobody: Page
    participant: Page
    experimenter: Page


def begin(store: Store, pool: Pool, protocol: Protocol | None = None, name: str = "robot") -> Teaching:
    protocol = protocol or teaching_protocol("Robot", 30)
    study = store.add_study(name, "teach", protocol.to_json(), pool, display_of(pool), new_secret())
    return Teaching(study, store.invite(study, "teacher", new_secret(), seed=0), new_secret())


def invite(store: Store, pool: Pool, protocol: Protocol = QUICK, name: str = "walks") -> Crowd:
    codes, secret = (new_secret(), new_secret()), new_secret()
    study = store.add_study(name, "study", protocol.to_json(), pool, display_of(pool), secret)
    first, second = (store.invite(study, f"P{i}", code, seed=i) for i, code in enumerate(codes, 1))
    return Crowd(study, (first, second), codes, secret)


def guest_app(store: Store, session: Teaching, page: Path | None = None) -> FastAPI:
    """As `prefero teach` makes it on a machine's own address."""
    context = ServerContext(store, guest=session.visitor)
    return create_app(context) if page is None else create_app(context, page=page)


def go_through(page: Page, until: str = "done") -> dict[str, Any]:
    """A participant who always prefers A does all that is asked, until a stage is reached."""
    state = page.session()
    while state["stage"] != until:
        match state["stage"]:
            case "consent":
                state = page.step("consent", agreed=True)
            case "instructions":
                state = page.step("instructions")
            case "target_scores":
                labels = state["target_scores"]["labels"]
                state = page.step("target_scores", **{label: 2 + i for i, label in enumerate(labels)})
            case "practice":
                state = page.step("practice", choice="left")
            case "compare":
                state = well(page.answer("left", state["question"]["id"]))
            case "rate":
                state = page.step("rate", trajectory=state["rating"]["trajectory"], rating=7)
            case _:
                raise AssertionError(f"{state['stage']} came before {until}")
    return state
