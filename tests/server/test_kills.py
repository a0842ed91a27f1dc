"""Nothing is lost: servers are killed at any moment, again and again, while several people answer.

The people do as the page does: what they say has a key, and is sent again under that key until it is
acknowledged. What they remember in the end is what the file holds, no more, no less, and in order.
A soak kills hundreds of them.
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
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import numpy as np
import pytest

from prefero import Pool
from prefero.studies.compute_slots import ComputeSlots
from prefero.studies.displays import display_of
from prefero.studies.protocol import Protocol, StudyMethod
from prefero.studies.session import Session
from prefero.studies.storage.database import open_database
from prefero.studies.storage.store import Store, new_secret
from server.run_commands import WIDE
from server.served_studies import new_key
from soak import repetitions
from systems import posix_only

pytestmark = posix_only
KILLS = repetitions(short=25, long=300)
PEOPLE = 3
ENDLESS = Protocol(
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
    """Somebody who answers as long as they are wanted, and remembers what was acknowledged."""

    address: str
    code: str
    wanted: threading.Event
    moods: random.Random
    keys: list[str] = field(default_factory=list)
    standing: list[tuple[int, str]] = field(default_factory=list)
    lost: int = 0
    failure: Exception | None = None

    def live(self) -> None:
        try:
            with httpx.Client(base_url=self.address, cookies={"prefero": self.code}, timeout=20) as http:
                state = self._until_heard(http, "GET", "/api/session", None)
                while self.wanted.is_set():
                    state = self._say(http, state["question"]["id"])
        except Exception as failure:  # a thread's error is nobody's unless it is handed on
            self.failure = failure

    def _say(self, http: httpx.Client, question: int) -> dict[str, dict[str, int]]:
        """An answer, a skip, or that the last one is taken back; then it is acknowledged and remembered."""
        key, choice = new_key(), self.moods.choices(["left", "right", "skip", "undo"], [10, 10, 1, 3])[0]
        if choice == "undo" and self.standing:
            state = self._until_heard(http, "POST", "/api/session/undo", {"key": key})
            self.standing.pop()
        else:
            choice = "left" if choice == "undo" else choice
            said = {"key": key, "question": question, "kind": choice, "seconds": 0.5}
            state = self._until_heard(http, "POST", "/api/session/events", said)
            self.standing.append((question, choice))
        self.keys.append(key)
        return state

    def _until_heard(
        self, http: httpx.Client, method: str, path: str, said: dict[str, object] | None
    ) -> dict[str, dict[str, int]]:
        while True:
            try:
                response = http.request(method, path, json=said)
            except httpx.TransportError:
                self.lost += 1
                time.sleep(0.02)
                continue
            if response.status_code == 200:
                found: dict[str, dict[str, int]] = response.json()
                return found
            assert response.status_code in (429, 503), response.text  # the page waits then
            time.sleep(0.05)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        port: int = found.getsockname()[1]
        return port


@pytest.fixture(scope="module")
def survived(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[AnsweringClient]]:
    """A file that was answered into by several people while its servers were killed."""
    file = tmp_path_factory.mktemp("killed") / "answers.db"
    store = Store(open_database(file))
    pool = Pool(np.random.default_rng(0).normal(size=(20, 2)), ["speed", "distance"])
    study = store.add_study("walks", "study", ENDLESS.to_json(), pool, display_of(pool), new_secret())
    codes = [new_secret() for _ in range(PEOPLE)]
    for number, code in enumerate(codes):
        store.invite(study, f"P{number}", code, seed=number)
    store.engine.dispose()
    wanted, port = threading.Event(), free_port()
    wanted.set()
    people = [
        AnsweringClient(f"http://127.0.0.1:{port}", code, wanted, random.Random(number))
        for number, code in enumerate(codes)
    ]
    command = [
        sys.executable,
        str(Path(__file__).with_name("kill_servers.py")),
        str(file),
        str(port),
        str(KILLS),
    ]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8", env=os.environ | WIDE
    )
    with process:
        threads = [threading.Thread(target=person.live) for person in people]
        for thread in threads:
            thread.start()
        assert process.stdout is not None
        told = process.stdout.readline()
        wanted.clear()
        for thread in threads:
            thread.join()
        process.communicate()
    assert told == "all are dead but the last\n"
    return file, people


def test_the_people_never_met_an_error(survived: tuple[Path, list[AnsweringClient]]) -> None:
    assert [person.failure for person in survived[1]] == [None] * PEOPLE


def test_the_servers_died_while_people_were_answering(survived: tuple[Path, list[AnsweringClient]]) -> None:
    """Or nothing would have been tried: requests were cut off, and answers went on between the kills."""
    assert min(person.lost for person in survived[1]) > KILLS / 4
    assert sum(len(person.keys) for person in survived[1]) > KILLS / 4


def test_what_was_acknowledged_is_there_once(survived: tuple[Path, list[AnsweringClient]]) -> None:
    file, people = survived
    connection = sqlite3.connect(file)
    kept = Counter(key for (key,) in connection.execute("SELECT key FROM events"))
    connection.close()
    acknowledged = Counter(key for person in people for key in person.keys)
    assert kept == acknowledged
    assert max(kept.values()) == 1


def test_no_question_was_answered_twice(survived: tuple[Path, list[AnsweringClient]]) -> None:
    """ComputeSlots of a question go to and fro: said, taken back, said again."""
    connection = sqlite3.connect(survived[0])
    rows = connection.execute("SELECT question, kind FROM events ORDER BY id").fetchall()
    connection.close()
    slots: dict[int, list[bool]] = {}
    for question, said in rows:
        slots.setdefault(question, []).append(said == "undo")
    assert all(turn == [bool(place % 2) for place in range(len(turn))] for turn in slots.values())


def test_the_file_is_whole(survived: tuple[Path, list[AnsweringClient]]) -> None:
    connection = sqlite3.connect(survived[0])
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    connection.close()


def test_every_learner_is_rebuilt_from_what_its_person_remembers(
    survived: tuple[Path, list[AnsweringClient]],
) -> None:
    file, people = survived
    store, slots = Store(open_database(file)), ComputeSlots()
    study = store.study("walks")
    for person, remembered in zip(store.participants(study), people, strict=True):
        log = store.event_log(person)
        live = [(answer.asked.id, answer.choice) for answer in log.answers]
        assert live == [(question, said) for question, said in remembered.standing if said != "skip"]
        learner = Session(store, study, person, slots).learner()
        own = [said for question, said in live if log.by_id[question].method == "Random"]
        assert [answer.choice for answer in learner.answers] == own
        assert np.isfinite(learner.reward()(store.pool(study).features)).all()
    slots.close()
    store.engine.dispose()
