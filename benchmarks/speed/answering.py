"""The time from an answer to the next question over HTTP, and its processor time, for many people at once.

    settled     earlier answers are those of a person, to questions that were chosen
    unsettled   earlier answers are at random, so that many structures stay possible
    ties        20 features, and three in ten answers are "about equal"

A real server (`prefero study serve`) runs in a process of its own, with its workers. It starts as after a
restart: everybody has answered before, and has a question open. Processor time and
memory are those of all its processes, on Linux; the clients' are not counted.
"""

import argparse
import math
import os
import re
import secrets
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import httpx
import numpy as np

from benchmarks.speed.process_tree import PROC, Usage, processes_below, usage
from prefero._support.arrays import Array
from prefero.learner import Learner
from prefero.pools.displays import display_of
from prefero.pools.pool import Pool
from prefero.questions import Answer, Question
from prefero.server.auth import SESSION_HEADER
from prefero.studies.log.event_log import SELECTIONS, Proposal
from prefero.studies.protocol.protocol import teaching_protocol
from prefero.studies.start import pool_of
from prefero.studies.storage.database import open_database
from prefero.studies.storage.store import Participant, Store, new_secret

SCENARIOS = ("settled", "unsettled", "ties")
MARGIN = 0.55  # standard deviations of the reward's differences that look equal: three in ten answers
NOISE = 0.1
SAMPLE_SECONDS = 5.0  # between two looks at the memory


@dataclass(frozen=True)
class Scenario:
    """What people are asked about, and how they answer."""

    name: str
    pool: Pool
    truth: Array  # (M,) the rewards of the trajectories, with standard deviation 1

    @classmethod
    def named(cls, name: str, trajectories: int) -> "Scenario":
        if name == "ties":
            rng = np.random.default_rng(0)
            pool = Pool(rng.standard_normal((trajectories, 20)))
            truth = pool.scaled @ rng.standard_normal(20)
        else:
            pool = pool_of("driver", trajectories)
            weights = np.linspace(1.0, -1.0, pool.scaled.shape[1])
            truth = pool.scaled @ weights + pool.scaled[:, 0] ** 2
        return cls(name, pool, truth / truth.std())

    def answer(self, items: Sequence[int], rng: np.random.Generator) -> str:
        """A person's answer to a question."""
        lead = self.truth[items[0]] - self.truth[items[1]] + NOISE * rng.standard_normal()
        if self.name == "ties" and abs(lead) < MARGIN:
            return "equal"
        return "left" if lead > 0 else "right"

    def earlier(self, count: int) -> list[Answer]:
        """Answers that everybody has given before; questions are chosen where answers are a person's."""
        learner, rng = Learner(self.pool, seed=0), np.random.default_rng(0)
        for number in range(count):
            pair = rng.choice(len(self.pool), 2, replace=False)
            question = (
                learner.ask() if self.name == "settled" else Question(*pair.tolist(), number=number + 1)
            )
            random_choice = "left" if rng.random() < 0.5 else "right"
            choice = random_choice if self.name == "unsettled" else self.answer(question.items, rng)
            learner.tell(question, choice)
        return list(learner.answers)


@dataclass
class Measured:
    """What one run has found."""

    seconds: list[float] = field(default_factory=list)  # from an answer to the next question
    server: float = math.nan  # processor seconds for an answer
    workers: float = math.nan
    memory: list[float] = field(default_factory=list)  # MB, every few seconds
    selections: Counter[str] = field(default_factory=Counter)
    first_question: float = math.nan  # seconds from the start of the server's process

    def row(self) -> str:
        """For the table."""
        ms = [1e3 * value for value in (np.median(self.seconds), *np.percentile(self.seconds, [99, 100]))]
        total = max(self.selections.total(), 1)
        chosen = "".join(f"{100 * self.selections[word] / total:7.1f}" for word in SELECTIONS)
        memory = [f"{value:4.0f}" for value in (self.memory[0], self.memory[-1], max(self.memory))]
        return (
            f"{len(self.seconds):7d}  {ms[0]:6.0f}  {ms[1]:6.0f}  {ms[2]:6.0f}  {1e3 * self.server:6.0f}  "
            f"{1e3 * self.workers:7.0f}{chosen}  {self.first_question:5.2f}  {' '.join(memory)}"
        )


HEADER = """\
times in ms; server, workers: processor ms an answer; best, quick, random: percent of the questions;
first: seconds from start to question; memory in MB
scenario  before people  answers  median    99th     max  server  workers   best  quick random  first  memory\
"""


def invite(store: Store, scenario: Scenario, people: int, before: list[Answer]) -> list[str]:
    """A study with people who have given the same answers before; their codes."""
    protocol = replace(teaching_protocol("Answering", 1000), ties=scenario.name == "ties").to_json()
    display, codes = display_of(scenario.pool), [new_secret() for _ in range(people)]
    study = store.add_study("answering", "study", protocol, scenario.pool, display, new_secret())
    for number, code in enumerate(codes):
        _answer_before(store, store.invite(study, f"P{number}", code, seed=number), before)
    return codes


def _answer_before(store: Store, person: Participant, answers: list[Answer]) -> None:
    """The answers, and the question that the person looked at when the last server was stopped."""
    log = store.event_log(person)
    for answered, answer in enumerate(answers):
        log = store.add_question(person, log, Proposal(answered, "Prefero", answer.question.items))
        assert log.open_question is not None
        log = store.add_event(person, log.open_question.id, answer.choice, secrets.token_hex(8), 1.0)
    store.add_question(person, log, Proposal(len(answers), "Prefero", (0, 1)))


class PersonWhoAnswers(threading.Thread):
    """Looks at every question for some seconds, and answers it."""

    def __init__(
        self, number: int, address: str, code: str, scenario: Scenario, answers: int, think: float
    ) -> None:
        super().__init__(daemon=True)
        self.scenario, self.answers, self.think = scenario, answers, think
        self.rng, self.seconds = np.random.default_rng(number), list[float]()
        # every person has an address of their own: limits on requests hold for each
        headers = {"x-forwarded-for": f"10.0.{number // 250}.{1 + number % 250}"}
        # the server closes connections that are idle for 5 seconds: one that it is just closing fails
        limits = httpx.Limits(keepalive_expiry=1.0)
        self.client = httpx.Client(base_url=address, timeout=300, headers=headers, limits=limits)
        me = self.client.post("/api/enter", json={"secret": code}).raise_for_status().json()
        self.client.headers[SESSION_HEADER] = me["session"]

    def first_question(self) -> None:
        """Open the page."""
        self.state = self.client.get("/api/session").raise_for_status().json()

    def run(self) -> None:
        """Answer."""
        time.sleep(float(self.rng.uniform(0.0, self.think)))
        for _ in range(self.answers):
            time.sleep(float(self.rng.uniform(0.5, 1.5)) * self.think)
            question = self.state["question"]
            sent = {
                "key": secrets.token_hex(8),
                "question": question["id"],
                "kind": self.scenario.answer(question["items"], self.rng),
                "seconds": 1.0,
            }
            start = time.perf_counter()
            self.state = self.client.post("/api/session/events", json=sent).raise_for_status().json()
            self.seconds.append(time.perf_counter() - start)


@contextmanager
def running_server(database: Path, workers: int | None) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The server's process, and its address."""
    words = ["study", "serve", "--port", "0", "--trusted-proxy", "127.0.0.1", "--database", str(database)]
    words += [] if workers is None else ["--workers", str(workers)]
    command = [sys.executable, "-m", "prefero", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, encoding="utf-8") as server:
        try:
            assert server.stdout is not None
            printed = iter(server.stdout)
            found = next(hit for line in printed if (hit := re.search(r"Serving at (http://\S+)/\.", line)))
            yield server, found[1]
        finally:
            server.terminate()


def _used(server: int) -> tuple[Usage, Usage]:
    """Of the server itself, and of its workers."""
    if not PROC.is_dir():
        return Usage(math.nan, math.nan), Usage(math.nan, math.nan)
    one, *others = processes_below(server)
    return usage([one]), usage(others)


def measure(
    scenario: Scenario, people: int, before: list[Answer], answers: int, think: float, workers: int | None
) -> Measured:
    """Start a server, and let people answer."""
    found = Measured()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        database = Path(folder) / "bench.db"
        store = Store(open_database(database))
        codes = invite(store, scenario, people, before)
        began = time.perf_counter()
        with running_server(database, workers) as (server, address):
            persons = [
                PersonWhoAnswers(number, address, code, scenario, answers, think)
                for number, code in enumerate(codes)
            ]
            persons[0].first_question()
            found.first_question = time.perf_counter() - began
            for person in persons[1:]:
                person.first_question()
            _answer_all(persons, server.pid, found)
        for participant in store.participants(store.study("answering")):
            asked = store.event_log(participant).questions[len(before) + 1 :]
            found.selections.update(one.selection for one in asked)
        store.engine.dispose()
    return found


def _answer_all(persons: list[PersonWhoAnswers], server: int, found: Measured) -> None:
    """All answer; processor time and memory are those of the server meanwhile."""
    before = _used(server)
    for person in persons:
        person.start()
    while any(person.is_alive() for person in persons):
        persons[0].join(SAMPLE_SECONDS)
        next((person for person in persons if person.is_alive()), persons[0]).join(SAMPLE_SECONDS)
        found.memory.append(sum(part.memory for part in _used(server)))
    after = _used(server)
    found.seconds = [value for person in persons for value in person.seconds]
    spent = [late.seconds - early.seconds for early, late in zip(before, after, strict=True)]
    found.server, found.workers = (value / len(found.seconds) for value in spent)


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--people", type=int, nargs="+", default=[8, 32, 100])
    parser.add_argument("--scenarios", nargs="+", choices=SCENARIOS, default=["settled", "unsettled"])
    parser.add_argument("--before", type=int, default=200, help="answers that everybody has given before")
    parser.add_argument("--answers", type=int, default=600, help="of all people together, at least 3 of each")
    parser.add_argument("--think", type=float, default=5.0, help="seconds between a person's answers")
    parser.add_argument("--trajectories", type=int, default=1000)
    parser.add_argument("--workers", type=int, help="of the server; by default one a core")
    options = parser.parse_args(argv)
    print(f"pool of {options.trajectories}, {options.think:g} s between answers, {os.cpu_count()} cores")
    print("wanted (median / 99th): 8 people 100 / 300 ms, 32 people 150 / 600, 100 people 300 / 1500")
    print(HEADER, flush=True)
    for name in options.scenarios:
        scenario = Scenario.named(name, options.trajectories)
        before = scenario.earlier(options.before)
        for people in options.people:
            each = max(3, math.ceil(options.answers / people))
            found = measure(scenario, people, before, each, options.think, options.workers)
            print(f"{name:9s}  {options.before:6d}  {people:6d} {found.row()}", flush=True)


if __name__ == "__main__":
    main()
