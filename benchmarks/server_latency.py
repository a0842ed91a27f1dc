"""The time from an answer to the next question, over HTTP, with 1, 8 and 32 participants of one server."""

import argparse
import os
import secrets
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import httpx
import numpy as np

from prefero._support.arrays import Array
from prefero.learner import Learner
from prefero.pools.displays import display_of
from prefero.pools.pool import Pool
from prefero.questions import Answer
from prefero.server.app import create_app
from prefero.server.auth import ServerContext
from prefero.server.middleware.rate_limit import TokenBuckets
from prefero.server.serve import listen, serve
from prefero.studies.protocol import teaching_protocol
from prefero.studies.start import pool_of
from prefero.studies.storage.database import open_database
from prefero.studies.storage.store import Proposal, Store, new_secret

WANTED = 0.3  # seconds


def session(pool: Pool, truth: Array, count: int) -> list[Answer]:
    """The first answers of a session: active questions, and a user with little noise."""
    learner, rng = Learner(pool, seed=0), np.random.default_rng(0)
    for _ in range(count):
        question = learner.ask()
        lead = truth[question.left] - truth[question.right] + 0.1 * rng.standard_normal()
        learner.tell(question, "left" if lead > 0 else "right")
    return list(learner.answers)


def answers_before(store: Store, codes: list[str], answers: list[Answer]) -> None:
    """All participants have given the same answers already."""
    for code in codes:
        found = store.owner_of(code)
        assert found is not None
        assert found[1] is not None
        log = store.event_log(found[1])
        for answered, answer in enumerate(answers):
            log = store.add_question(found[1], log, Proposal(answered, "Prefero", answer.question.items))
            assert log.open_question is not None
            log = store.add_event(found[1], log.open_question.id, answer.choice, secrets.token_hex(8), 1.0)


def participant(
    address: str,
    code: str,
    truth: Array,
    answers: int,
    think: float,
    times: list[float],
    ready: threading.Barrier,
) -> None:
    """Looks for a while, about `think` seconds, and answers."""
    rng = np.random.default_rng()
    with httpx.Client(base_url=address, timeout=120) as client:
        me = client.post("/api/enter", json={"secret": code}).raise_for_status().json()
        client.headers["x-prefero-session"] = me["session"]
        state = client.get("/api/session").raise_for_status().json()
        ready.wait()  # after a restart all answers are learned anew, once
        for _ in range(answers):
            time.sleep(float(rng.uniform(0.5, 1.5)) * think)
            question = state["question"]
            left, right = question["items"]
            choice = "left" if truth[left] > truth[right] else "right"
            sent = {"key": secrets.token_hex(8), "question": question["id"], "kind": choice, "seconds": 1.0}
            start = time.perf_counter()
            state = client.post("/api/session/events", json=sent).raise_for_status().json()
            times.append(time.perf_counter() - start)


def measure(
    participants: int, pool: Pool, truth: Array, before: list[Answer], answers: int, think: float
) -> list[float]:
    times: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        store = Store(open_database(Path(folder) / "bench.db"))
        codes = [new_secret() for _ in range(participants)]
        for number, code in enumerate(codes):
            study = store.add_study(
                f"{number}",
                "teach",
                teaching_protocol("Driver", 30).to_json(),
                pool,
                display_of(pool),
                new_secret(),
            )
            store.invite(study, "teacher", code, seed=number)
        answers_before(store, codes, before)
        app, taken = create_app(ServerContext(store)), listen("127.0.0.1", 0)
        address = f"http://127.0.0.1:{taken.getsockname()[1]}"
        threading.Thread(target=serve, args=(app, taken), daemon=True).start()
        ready = threading.Barrier(participants)
        workers = [
            threading.Thread(target=participant, args=(address, code, truth, answers, think, times, ready))
            for code in codes
        ]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    return times


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--participants", type=int, nargs="+", default=[1, 8, 32])
    parser.add_argument("--before", type=int, nargs="+", default=[0, 200], help="answers given before")
    parser.add_argument("--answers", type=int, default=15, help="answers of each participant")
    parser.add_argument("--think", type=float, default=5.0, help="seconds a participant looks, on average")
    parser.add_argument("--trajectories", type=int, default=1000)
    options = parser.parse_args(argv)
    TokenBuckets.wait = lambda self, visitor: 0.0  # type: ignore[method-assign]  # noqa: ARG005  all come from one address
    print(f"pool of {options.trajectories}, {options.think:g} s between answers, {os.cpu_count()} cores")
    print("participants  answers before  median ms  99th percentile ms  (wanted below 300)")
    pool = pool_of("driver", options.trajectories)
    truth = pool.scaled @ np.linspace(1.0, -1.0, pool.scaled.shape[1]) + pool.scaled[:, 0] ** 2
    for before in options.before:
        known = session(pool, truth / truth.std(), before)
        for participants in options.participants:
            times = measure(participants, pool, truth, known, options.answers, options.think)
            median, late = 1e3 * np.median(times), 1e3 * np.percentile(times, 99)
            print(f"{participants:12d}  {before:14d}  {median:9.0f}  {late:18.0f}", flush=True)


if __name__ == "__main__":
    main()
