"""Pretended studies: a small pool, a protocol of quick methods, and people who know what they want."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any, TypeVar

import numpy as np
import pytest

from prefero import Pool
from prefero.studies.compute_slots import ComputeSlots
from prefero.studies.displays import display_of
from prefero.studies.event_log import EventLog
from prefero.studies.protocol import Protocol, StudyMethod
from prefero.studies.session import Session
from prefero.studies.session_state import SessionState
from prefero.studies.storage.store import Participant, Proposal, Refused, Store, Study, new_secret

QUICK = "RandomGP 1 0.1"  # nothing to fit, nothing to search: a millisecond a question
PATIENCE = 60.0  # seconds, after which something waits for ever
Result = TypeVar("Result")
_numbers = count(1)


def new_key() -> str:
    """A sender's own name for what it sends."""
    return f"key-{next(_numbers)}"


def features_only(rows: int = 12, seed: int = 0) -> Pool:
    """Two features, and nothing else."""
    return Pool(np.random.default_rng(seed).standard_normal((rows, 2)), ["speed", "distance"])


def protocol_of(**changed: Any) -> Protocol:
    """One quick method, and nothing but its questions."""
    plain = {
        "title": "Which is better?",
        "methods": (StudyMethod("Random", QUICK, 4),),
        "consent": "",
        "instructions": "",
        "practice": False,
    }
    return Protocol(**{**plain, **changed})


def study_of(store: Store, name: str = "one", pool: Pool | None = None, **changed: Any) -> Study:
    """A study with that protocol."""
    shown = features_only() if pool is None else pool
    return store.add_study(
        name, "study", protocol_of(**changed).to_json(), shown, display_of(shown), new_secret()
    )


def invited(store: Store, label: str = "P1", study: Study | None = None, seed: int = 5) -> Participant:
    """Somebody, in a study that is made for them unless there is one."""
    return store.invite(study or study_of(store), label, new_secret(), seed)


def proposal(number: int = 1, method: str = "Random", **changed: Any) -> Proposal:
    """Any question about the pool."""
    items = (number % 12, (number + 1) % 12)
    plain = {"answered": 0, "items": items, "value": 0.5, "unit": "bits", "accuracy": 0.6}
    return Proposal(method=method, **{**plain, **changed})


def ask(store: Store, person: Participant, asked: Proposal | None = None) -> int:
    """The id of the question that waits; asked now, if there is none."""
    log = store.event_log(person)
    if log.open_question is None:
        log = store.add_question(person, log, asked or proposal(len(log.questions) + 1))
    assert log.open_question is not None
    return log.open_question.id


def answer(store: Store, person: Participant, said: Any = "left", asked: Proposal | None = None) -> int:
    """Ask, and say this to it; the question's id."""
    question = ask(store, person, asked)
    store.add_event(person, question, said, new_key(), 1.5)
    return question


def answered(log: EventLog) -> list[tuple[int, str]]:
    """The answers in force, by question."""
    return [(live.asked.id, live.choice) for live in log.answers]


@contextmanager
def refusal(code: str, match: str | None = None) -> Iterator[None]:
    """What happens here is refused, with this code."""
    with pytest.raises(Refused, match=match) as refused:
        yield
    assert refused.value.code == code


def at_once(count: int, job: Callable[[int], Result]) -> list[Result | BaseException]:
    """Run a job in many threads that start together; what each of them came to."""
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
        thread.join(PATIENCE)
        assert not thread.is_alive(), "they wait for each other"
    return [found[number] for number in range(count)]


# --- sessions ---------------------------------------------------------------------------------------------


class WithoutPreparations(ComputeSlots):
    """Nothing is computed before it is needed."""

    def run_when_idle(self, job: Callable[[], None]) -> None:
        """It is not done."""


def wait_for(slots: ComputeSlots) -> None:
    """Until all that was to be prepared is."""
    done = threading.Event()
    slots.run_when_idle(done.set)
    assert done.wait(PATIENCE)


def preferred_choice(pool: Pool, left: int, right: int) -> Any:
    """What somebody says who likes the first feature high and the others low, without any noise."""
    wanted = np.array([1.0] + [-0.4] * (len(pool.names) - 1))
    better = pool.scaled[left] @ wanted > pool.scaled[right] @ wanted
    return "left" if better else "right"


def react(session: Session, now: SessionState) -> SessionState:
    """Do what the page asks for, whatever it is."""
    if now.stage == "compare":
        assert now.question is not None
        said = preferred_choice(session.pool, *now.question.items)
        return session.answer(now.question.id, said, new_key(), 2.0)
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
        done = {"trajectory": now.rating.trajectory, "rating": now.rating.number}
    return session.submit(now.stage, done, new_key())


def go_through(session: Session) -> list[SessionState]:
    """From wherever the person is to the end: all that was shown."""
    shown = [session.state()]
    while shown[-1].stage != "done":
        shown.append(react(session, shown[-1]))
        assert len(shown) < 200, "it does not end"
    return shown
