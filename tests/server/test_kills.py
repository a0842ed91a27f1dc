"""Nothing is lost: servers are killed at any moment, again and again, while several clients answer.

The clients do as the page does: every request has a key, and is sent again under that key until it is
acknowledged. In the end the database holds what was acknowledged, no more, no less, and in order.
A soak kills a thousand servers over each kind of database.
"""

import os
import random
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import numpy as np
import pytest

import plain_http
from prefero import Pool
from prefero.pools.displays import display_of
from prefero.server.auth import SESSION_HEADER
from prefero.studies.computing.compute_slots import ComputeSlots
from prefero.studies.protocol.protocol import Protocol, StudyMethod
from prefero.studies.session import Session
from prefero.studies.storage.database import open_database
from prefero.studies.storage.store import Store, new_secret
from run_prefero import ONE_THREAD
from server.served_studies import new_key
from soak import SOAK, repetitions
from studies import postgres
from studies.fake_study import learner_of
from systems import posix_only

pytestmark = posix_only
KILLS = repetitions("kills", short=25, long=1000)
CLIENTS = 3
ALL_KILLED = "all servers but the last were killed\n"
OPEN_ENDED = Protocol(
    title="Walks",
    methods=(StudyMethod("Random", "RandomGP 1 0.1", 100),),
    tests=200,  # no method learns from these, so they cost little
    consent="",
    instructions="",
    practice=False,
    open_ended=True,
)


@dataclass
class AnsweringClient:
    """A client that answers until it is stopped, and remembers what was acknowledged."""

    address: str
    code: str
    going: threading.Event
    served: threading.Event  # there is a server, or another will come
    rng: random.Random
    events: int  # a pipe that is told of every acknowledged event
    keys: list[str] = field(default_factory=list)
    active: list[tuple[int, str]] = field(default_factory=list)
    lost: int = 0
    failure: Exception | None = None

    def run(self) -> None:
        try:
            with plain_http.Client(base_url=self.address, cookies={"prefero": self.code}, timeout=20) as http:
                me: Any = self._send_until_acknowledged(http, "GET", "/api/me", None)
                http.headers[SESSION_HEADER] = me["session"]
                state = self._send_until_acknowledged(http, "GET", "/api/session", None)
                while self.going.is_set():
                    state = self._act(http, state["question"]["id"])
        except Exception as failure:  # which would otherwise end with its thread
            self.failure = failure

    def _act(self, http: httpx.Client, question: int) -> dict[str, dict[str, int]]:
        """Answer, skip or undo; then remember it as acknowledged."""
        key, choice = new_key(), self.rng.choices(["left", "right", "skip", "undo"], [10, 10, 1, 3])[0]
        if choice == "undo" and self.active:
            state = self._send_until_acknowledged(
                http, "POST", "/api/session/undo", {"key": key, "question": self.active[-1][0]}
            )
            self.active.pop()
        else:
            choice = "left" if choice == "undo" else choice
            body = {"key": key, "question": question, "kind": choice, "seconds": 0.5}
            state = self._send_until_acknowledged(http, "POST", "/api/session/events", body)
            self.active.append((question, choice))
        self.keys.append(key)
        os.write(self.events, b".")
        return state

    def _send_until_acknowledged(
        self, http: httpx.Client, method: str, path: str, body: dict[str, object] | None
    ) -> dict[str, dict[str, int]]:
        while self.served.is_set():
            try:
                response = http.request(method, path, json=body)
            except httpx.TransportError:
                self.lost += 1
                time.sleep(0.02)
                continue
            if response.status_code == 200:
                found: dict[str, dict[str, int]] = response.json()
                return found
            assert response.status_code in (429, 503), response.text  # the page waits then
            time.sleep(0.05)
        raise ConnectionError("no server is left")


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        port: int = found.getsockname()[1]
        return port


class Survived(NamedTuple):
    """A database that several clients answered into while its servers were killed, and the clients."""

    database: str
    clients: list[AnsweringClient]

    def rows(self, columns: str, table: str, order: str = "id") -> list[Any]:
        engine = open_database(self.database)
        with engine.connect() as connection:
            found = connection.exec_driver_sql(f"SELECT {columns} FROM {table} ORDER BY {order}").fetchall()
        engine.dispose()
        return list(found)


@pytest.fixture(scope="module", params=["sqlite", "postgresql"] if SOAK else ["sqlite"])
def survived(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Survived]:
    with ExitStack() as stack:
        if request.param == "sqlite":
            yield survive(str(tmp_path_factory.mktemp("killed") / "answers.db"))
        else:
            yield survive(stack.enter_context(stack.enter_context(postgres.running()).database()))


def survive(database: str) -> Survived:
    """Answer while servers are killed."""
    store = Store(open_database(database))
    pool = Pool(np.random.default_rng(0).normal(size=(20, 2)), ["speed", "distance"])
    study = store.add_study("walks", "study", OPEN_ENDED.to_json(), pool, display_of(pool), new_secret())
    codes = [new_secret() for _ in range(CLIENTS)]
    for number, code in enumerate(codes):
        store.invite(study, f"P{number}", code, seed=number)
    store.engine.dispose()
    clients = answer_while_servers_are_killed(database, codes)
    return Survived(database, clients)


def answer_while_servers_are_killed(database: str, codes: list[str]) -> list[AnsweringClient]:
    """One client a code; each has stopped."""
    port, going, served = free_port(), threading.Event(), threading.Event()
    going.set()
    served.set()
    with killing_servers(database, port) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        address, events = f"http://127.0.0.1:{port}", process.stdin.fileno()
        clients = [
            AnsweringClient(address, code, going, served, random.Random(number), events)
            for number, code in enumerate(codes)
        ]
        threads = [threading.Thread(target=client.run) for client in clients]
        for thread in threads:
            thread.start()
        printed = process.stdout.readline()
        going.clear()
        if printed != ALL_KILLED:
            served.clear()
        for thread in threads:
            thread.join()
        process.communicate()
    assert printed == ALL_KILLED, [client.failure for client in clients]
    return clients


def killing_servers(database: str, port: int) -> subprocess.Popen[str]:
    script = Path(__file__).with_name("kill_servers.py")
    return subprocess.Popen(
        [sys.executable, str(script), database, str(port), str(KILLS)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
        env=os.environ | ONE_THREAD,
    )


def test_no_client_met_an_error(survived: Survived) -> None:
    assert [client.failure for client in survived.clients] == [None] * CLIENTS


def test_the_servers_were_killed_while_clients_were_answering(survived: Survived) -> None:
    """Otherwise the test would show nothing: requests were cut off, and answers went on between the kills."""
    sent = sum(len(client.keys) for client in survived.clients)
    print(f"{KILLS} kills, {sent} events, {sum(client.lost for client in survived.clients)} requests cut off")
    assert min(client.lost for client in survived.clients) > KILLS / 4
    assert sent > KILLS


def test_every_acknowledged_event_is_recorded_once(survived: Survived) -> None:
    kept = Counter(key for (key,) in survived.rows("key", "events"))
    assert kept == Counter(key for client in survived.clients for key in client.keys)
    assert max(kept.values()) == 1


def test_no_question_was_answered_twice(survived: Survived) -> None:
    """The events of a question alternate: answered, undone, answered again."""
    undone: dict[int, list[bool]] = {}
    for question, kind in survived.rows("question, kind", "events"):
        undone.setdefault(question, []).append(kind == "undo")
    assert all(flags == [bool(place % 2) for place in range(len(flags))] for flags in undone.values())


def test_the_database_is_not_damaged(survived: Survived) -> None:
    if "://" in survived.database:
        assert survived.rows("count(*)", "events", "1")
        return
    connection = sqlite3.connect(survived.database)
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    connection.close()


def test_every_learner_is_rebuilt_from_what_its_client_remembers(survived: Survived) -> None:
    store, slots = Store(open_database(survived.database)), ComputeSlots()
    study = store.study("walks")
    for person, remembered in zip(store.participants(study), survived.clients, strict=True):
        log = store.event_log(person)
        answers = [(answer.asked.id, answer.choice) for answer in log.answers]
        assert answers == [(question, kind) for question, kind in remembered.active if kind != "skip"]
        learner = learner_of(Session(store, study, person, slots))
        own = [kind for question, kind in answers if log.by_id[question].method == "Random"]
        assert [answer.choice for answer in learner.answers] == own
        assert np.isfinite(learner.reward()(store.pool(study).features)).all()
    slots.close()
    store.engine.dispose()
