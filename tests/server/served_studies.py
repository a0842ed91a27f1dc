"""Studies on a real server over sockets, and clients that send what the page sends."""

import threading
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

import plain_http
from prefero import Pool
from prefero.pools.displays import display_of
from prefero.server.app import create_app
from prefero.server.auth import SESSION_HEADER, ServerContext, Visitor
from prefero.server.serve import configuration, listen
from prefero.studies.protocol.protocol import Protocol, StudyMethod, teaching_protocol
from prefero.studies.storage.store import Participant, Store, Study, new_secret
from waiting import wait_until

JSON = {"content-type": "application/json"}
FAST_STUDY = Protocol(
    title="Walks",
    methods=(StudyMethod("Random", "RandomGP 1 0.1", 3), StudyMethod("Active", "ActiveGP 1 0.1", 2)),
    consent="Do you agree?\n\nYou may stop at any time.",
    instructions="Say which you like better.",
    thanks="Thank you!",
    tests=1,
    retests=1,
    rate=True,
)
# random questions, which need no computing, for tests that are not about learning
FAST_TEACHING = replace(
    teaching_protocol("Robot", 30), methods=(StudyMethod("Random", "RandomGP 1 0.1", 30),), ties=False
)


def new_key() -> str:
    return str(uuid.uuid4())


@contextmanager
def serving(app: FastAPI) -> Iterator[str]:
    """Serve an application on a free port; its address."""
    taken = listen("127.0.0.1", 0)
    config = configuration(app)
    config.log_level = "critical"
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [taken]})
    thread.start()
    try:
        wait_until(lambda: server.started, "the server's start")
        yield f"http://127.0.0.1:{taken.getsockname()[1]}"
    finally:
        server.should_exit = server.force_exit = True
        thread.join()
        taken.close()
        app.state.context.computing.close()


class Client:
    """An HTTP client that keeps its cookie and gives every request a new key, as the page does."""

    def __init__(self, address: str, secret: str | None = None) -> None:
        self.http = plain_http.Client(base_url=address, timeout=30)
        if secret is not None:
            assert self.post("/api/enter", secret=secret).status_code == 200
        self.http.headers[SESSION_HEADER] = self.get("/api/me").json().get("session") or ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.http.close()

    def get(self, path: str, **headers: str) -> httpx.Response:
        return self.http.get(path, headers=headers)

    def post(self, path: str, **content: Any) -> httpx.Response:
        return self.http.post(path, json=content)

    def session(self) -> dict[str, Any]:
        return ok(self.get("/api/session"))

    def answer(self, choice: str, question: int | None = None, key: str | None = None) -> httpx.Response:
        """Answer the open question, or another one."""
        question = self.session()["question"]["id"] if question is None else question
        return self.post(
            "/api/session/events", key=key or new_key(), question=question, kind=choice, seconds=1.25
        )

    def undo(self, key: str | None = None, question: int | None = None) -> httpx.Response:
        """Undo the last answer, or that of another question."""
        question = question or self.session()["undoable"] or 1
        return self.post("/api/session/undo", key=key or new_key(), question=question)

    def submit(self, stage: str, **data: Any) -> dict[str, Any]:
        return ok(self.post("/api/session/stages", key=new_key(), stage=stage, data=data))

    def history(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = ok(self.get("/api/history"))["answers"]
        return found


def rated(state: dict[str, Any], rating: int) -> dict[str, int]:
    """What the page sends of a rating."""
    return {name: state["rating"][name] for name in ("number", "trajectory")} | {"rating": rating}


def ok(response: httpx.Response) -> dict[str, Any]:
    """The body of a response with status 200."""
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.json()
    return found


def error_of(response: httpx.Response) -> tuple[int, str]:
    """The status and the code of an error, after checking that its body has the form of all errors."""
    assert response.headers["content-type"].startswith("application/json"), response.text
    body = response.json()
    assert set(body) == {"error"}
    assert set(body["error"]) == {"code", "message"}
    assert len(body["error"]["message"]) > 5
    return response.status_code, body["error"]["code"]


def in_parallel(*calls: Callable[[], httpx.Response]) -> list[httpx.Response]:
    """Send requests that start together; their responses, in order."""
    gate = threading.Barrier(len(calls))

    def run(call: Callable[[], httpx.Response]) -> httpx.Response:
        gate.wait()
        return call()

    with ThreadPoolExecutor(len(calls)) as threads:
        return list(threads.map(run, calls))


@dataclass(frozen=True)
class TeachingSession:
    """A teacher's session, and the token for a server without a guest."""

    study: Study
    participant: Participant
    token: str

    @property
    def visitor(self) -> Visitor:
        return Visitor("teacher", self.study, self.participant)


@dataclass(frozen=True)
class InvitedStudy:
    """A study with two participants: their codes, and the experimenter's secret."""

    study: Study
    participants: tuple[Participant, Participant]
    codes: tuple[str, str]
    secret: str


class SharedServer(NamedTuple):
    """Signed-in clients of a server that a module's tests share; its database file."""

    file: Path
    nobody: Client
    participant: Client
    experimenter: Client


def add_teaching(
    store: Store, pool: Pool, protocol: Protocol | None = None, name: str = "robot"
) -> TeachingSession:
    protocol = protocol or teaching_protocol("Robot", 30)
    study = store.add_study(name, "teach", protocol.to_json(), pool, display_of(pool), new_secret())
    return TeachingSession(study, store.invite(study, "teacher", new_secret(), seed=0), new_secret())


def add_study(store: Store, pool: Pool, protocol: Protocol = FAST_STUDY, name: str = "walks") -> InvitedStudy:
    codes, secret = (new_secret(), new_secret()), new_secret()
    study = store.add_study(name, "study", protocol.to_json(), pool, display_of(pool), secret)
    first, second = (store.invite(study, f"P{i}", code, seed=i) for i, code in enumerate(codes, 1))
    return InvitedStudy(study, (first, second), codes, secret)


def guest_app(store: Store, session: TeachingSession, page: Path | None = None) -> FastAPI:
    """The application as `prefero teach` serves it on a loopback address."""
    context = ServerContext(store, guest=session.visitor)
    return create_app(context) if page is None else create_app(context, page=page)


def complete_stages(client: Client, until: str = "done") -> dict[str, Any]:
    """Do everything that the stages ask for, always choosing the left, until a stage is reached."""
    state = client.session()
    while state["stage"] != until:
        match state["stage"]:
            case "consent":
                state = client.submit("consent", agreed=True)
            case "instructions":
                state = client.submit("instructions")
            case "target_scores":
                labels = state["target_scores"]["labels"]
                state = client.submit("target_scores", **{label: 2 + i for i, label in enumerate(labels)})
            case "practice":
                state = client.submit("practice", choice="left")
            case "compare":
                state = ok(client.answer("left", state["question"]["id"]))
            case "rate":
                state = client.submit("rate", **rated(state, 7))
            case _:
                raise AssertionError(f"{state['stage']} came before {until}")
    return state
