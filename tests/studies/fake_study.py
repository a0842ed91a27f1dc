"""Small studies for tests: a pool, a protocol of fast methods, and simulated participants."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any, TypeVar

import numpy as np
import pytest

from prefero import Learner, Pool
from prefero.pools.displays import display_of
from prefero.studies.computing.compute_slots import ComputeSlots
from prefero.studies.computing.workspace import learner_copy
from prefero.studies.log.event_log import EventLog, Proposal
from prefero.studies.protocol.protocol import Protocol, StudyMethod
from prefero.studies.session import Session
from prefero.studies.storage.store import Participant, Refused, Store, Study, new_secret
from prefero.views.session_state import SessionState
from waiting import TIMEOUT

FAST_METHOD = "RandomGP 1 0.1"  # random questions and fixed hyper-parameters: a millisecond a question
Result = TypeVar("Result")
_numbers = count(1)


def new_key() -> str:
    """A new key for a request."""
    return f"key-{next(_numbers)}"


def features_only(rows: int = 12, seed: int = 0) -> Pool:
    """A pool of features alone."""
    return Pool(np.random.default_rng(seed).standard_normal((rows, 2)), ["speed", "distance"])


def protocol_of(**changed: Any) -> Protocol:
    """A protocol of one fast method's questions and no other stage, but for the changes."""
    plain = {
        "title": "Which is better?",
        "methods": (StudyMethod("Random", FAST_METHOD, 4),),
        "consent": "",
        "instructions": "",
        "practice": False,
    }
    return Protocol(**{**plain, **changed})


def study_of(store: Store, name: str = "one", pool: Pool | None = None, **changed: Any) -> Study:
    """Add a study with that protocol."""
    shown = features_only() if pool is None else pool
    return store.add_study(
        name, "study", protocol_of(**changed).to_json(), shown, display_of(shown), new_secret()
    )


def invited(store: Store, label: str = "P1", study: Study | None = None, seed: int = 5) -> Participant:
    """Add a participant, in a new study unless one is given."""
    return store.invite(study or study_of(store), label, new_secret(), seed)


def learner_of(session: Session, label: str | None = None) -> Learner:
    """What a method of a session, by default the first, has learned so far; computed where learners are."""
    length = session.event_log().length
    found: Learner = session.computing.submit(session.workspace, learner_copy, length, label).result()
    return found


def proposal(number: int = 1, method: str = "Random", **changed: Any) -> Proposal:
    """A question about two trajectories of the pool."""
    items = (number % 12, (number + 1) % 12)
    plain = {"answered": 0, "items": items, "value": 0.5, "unit": "bits", "accuracy": 0.6}
    return Proposal(method=method, **{**plain, **changed})


def ask(store: Store, person: Participant, asked: Proposal | None = None) -> int:
    """The id of the open question, which is recorded now if there is none."""
    log = store.event_log(person)
    if log.open_question is None:
        log = store.add_question(person, log, asked or proposal(len(log.questions) + 1))
    assert log.open_question is not None
    return log.open_question.id


def answer(store: Store, person: Participant, kind: Any = "left", asked: Proposal | None = None) -> int:
    """Record a question and an event of it; the question's id."""
    question = ask(store, person, asked)
    store.add_event(person, question, kind, new_key(), 1.5)
    return question


def answered(log: EventLog) -> list[tuple[int, str]]:
    """The active answers by question."""
    return [(active.asked.id, active.choice) for active in log.answers]


@contextmanager
def refusal(code: str, match: str | None = None) -> Iterator[None]:
    """What is done here is refused with this code."""
    with pytest.raises(Refused, match=match) as refused:
        yield
    assert refused.value.code == code


def in_parallel(count: int, job: Callable[[int], Result]) -> list[Result | BaseException]:
    """Run a job in many threads that start together; the result or the error of each."""
    barrier = threading.Barrier(count)
    found: dict[int, Result | BaseException] = {}

    def run(number: int) -> None:
        barrier.wait()
        try:
            found[number] = job(number)
        except BaseException as error:
            found[number] = error

    threads = [threading.Thread(target=run, args=(number,), daemon=True) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(TIMEOUT)
        assert not thread.is_alive(), "the threads wait for each other"
    return [found[number] for number in range(count)]


# --- sessions ---------------------------------------------------------------------------------------------


class WithoutPreparations(ComputeSlots):
    """Compute slots that skip preparations: nothing is computed before it is needed."""

    def run_when_idle(self, job: Callable[[], None]) -> None:
        """Skip it."""


def wait_for_preparations(slots: ComputeSlots) -> None:
    """Wait until the preparations that were asked for are done."""
    done = threading.Event()
    slots.run_when_idle(done.set)
    assert done.wait(TIMEOUT)


def preferred_choice(pool: Pool, left: int, right: int) -> Any:
    """The answer of a simulated participant who prefers the first feature high and the others low."""
    wanted = np.array([1.0] + [-0.4] * (len(pool.names) - 1))
    better = pool.scaled[left] @ wanted > pool.scaled[right] @ wanted
    return "left" if better else "right"


def respond(session: Session, now: SessionState) -> SessionState:
    """Do what the stage asks for."""
    if now.stage == "compare":
        assert now.question is not None
        choice = preferred_choice(session.pool, *now.question.items)
        return session.answer(now.question.id, choice, new_key(), 2.0)
    done: dict[str, Any] = {}
    if now.stage == "consent":
        done = {"agreed": True}
    elif now.target_scores is not None:
        done = {
            label: now.target_scores.lowest + place for place, label in enumerate(now.target_scores.labels)
        }
    elif now.stage == "practice":
        done = {"choice": "left"}
    elif now.rating is not None:
        number = now.rating.number
        done = {"number": number, "trajectory": now.rating.trajectory, "rating": number}
    return session.submit(now.stage, done, new_key())


def complete_stages(session: Session) -> list[SessionState]:
    """Do everything until the study is done; all states that were shown."""
    shown = [session.state()]
    while shown[-1].stage != "done":
        shown.append(respond(session, shown[-1]))
        assert len(shown) < 200, "it does not end"
    return shown
