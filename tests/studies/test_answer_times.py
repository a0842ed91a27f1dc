"""Answer times of studies and sessions: learners that learn from them, and what is refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from prefero import Learner, Pool, Question
from prefero._support.arrays import Array
from prefero.simulation.test_sets import accuracy_on_answers
from prefero.studies.event_log import AskedQuestion, Event, EventLog
from prefero.studies.learner_cache import LearnerCache
from prefero.studies.protocol import TEST, Protocol, StudyMethod
from prefero.studies.report import accuracy_of
from prefero.studies.start import begin_teaching
from prefero.studies.storage.store import Proposal, Refused, Store
from studies.fake_study import answer, features_only, invited, protocol_of, study_of

METHODS = (StudyMethod("A", "ActiveGP+EP 1 0.1", 30),)
TIMED: dict[str, Any] = {"methods": METHODS, "answer_times": True}


def log_of(pool: Pool, count: int = 20, method: str = "A") -> EventLog:
    """Answers of a person who takes longer the closer two trajectories are."""
    rng, value = np.random.default_rng(2), pool.scaled @ [1.0, -0.5]
    questions, events = [], []
    for n in range(1, count + 1):
        a, b = rng.choice(len(pool), 2, replace=False).tolist()
        gap = value[a] - value[b]
        seconds = float(np.exp(rng.normal(1.5 - abs(gap), 0.2)))
        questions.append(AskedQuestion(n, n, n - 1, n - 1, method, (a, b), None, None, None, ""))
        events.append(Event(n, n, 0, "left" if gap > 0 else "right", str(n), seconds, ""))
    return EventLog(tuple(questions), tuple(events))


def with_last_time(log: EventLog, seconds: float | None) -> EventLog:
    *before, last = log.events
    return EventLog(log.questions, (*before, Event(**{**vars(last), "seconds": seconds})))


def by_hand(pool: Pool, log: EventLog, answer_times: bool = True) -> Learner:
    learner = METHODS[0].learner(pool, 0, answer_times=answer_times)
    for asked, event in zip(log.questions, log.events, strict=True):
        learner.tell(Question(*asked.items, number=asked.number), event.kind, seconds=event.seconds)
    return learner


def rewards(learner: Learner) -> Array:
    return learner.belief().marginals(learner.pool.scaled)[0]


@pytest.fixture(scope="module")
def pool() -> Pool:
    return features_only(20)


def test_learners_of_a_study_learn_from_times_if_the_protocol_says_so(pool: Pool) -> None:
    log = log_of(pool)
    for answer_times in (True, False):
        cache = LearnerCache(pool, protocol_of(methods=METHODS, answer_times=answer_times), 3)
        wanted = by_hand(pool, log, answer_times)
        np.testing.assert_allclose(rewards(cache.learner("A", log)), rewards(wanted), rtol=1e-6)
    assert np.abs(rewards(by_hand(pool, log)) - rewards(by_hand(pool, log, False))).max() > 0.01


def test_an_answer_in_another_time_is_another_learner(pool: Pool) -> None:
    cache, log = LearnerCache(pool, protocol_of(**TIMED), 3), log_of(pool)
    slow = with_last_time(log, 60.0)
    assert cache.learner("A", log) is not cache.learner("A", slow)
    np.testing.assert_allclose(rewards(cache.learner("A", slow)), rewards(by_hand(pool, slow)), rtol=1e-6)
    plain = LearnerCache(pool, protocol_of(methods=METHODS), 3)
    assert plain.learner("A", log) is plain.learner("A", slow)


def test_the_next_question_can_be_computed_before_the_time_of_the_answer_is_known(pool: Pool) -> None:
    log = log_of(pool)
    supposed, slow, earlier = with_last_time(log, None), with_last_time(log, 60.0), with_last_time(log, 0.0)
    assert log.state == supposed.state == slow.state == earlier.state
    cache = LearnerCache(pool, protocol_of(**TIMED), 3)
    found = cache.next_question("A", supposed)
    assert all(cache.has_next("A", after) for after in (log, slow))
    assert cache.next_question("A", log) is found
    first = log.events[0]
    changed = EventLog(log.questions, (Event(**{**vars(first), "seconds": 60.0}), *log.events[1:]))
    assert changed.state != log.state
    assert not cache.has_next("A", changed)


def test_a_report_counts_what_is_learned_with_times(pool: Pool) -> None:
    learned, tested = log_of(pool), log_of(pool, 30, TEST)
    n = len(learned.questions)
    moved = [AskedQuestion(**{**vars(a), "id": a.id + n, "number": a.number + n}) for a in tested.questions]
    told = [Event(**{**vars(e), "id": e.id + n, "question": e.question + n}) for e in tested.events]
    log = EventLog((*learned.questions, *moved), (*learned.events, *told))
    tests = [active.answer for active in log.answers[n:]]
    wanted = accuracy_on_answers(by_hand(pool, learned).reward(), pool, tests)
    assert accuracy_of(pool, protocol_of(**TIMED), log, "A") == wanted


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"answers": "rank-3"}, "from answers about pairs, not from 'rank-3'"),
        ({"methods": (StudyMethod("A", "ActiveGP", 5),)}, "'ActiveGP' cannot learn from answer times"),
        (
            {"methods": (StudyMethod("A", "ActiveLinear", 5),)},
            "'ActiveLinear' cannot learn from",
        ),
    ],
)
def test_a_protocol_with_times_needs_pairs_and_methods_that_learn_from_them(
    changed: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        protocol_of(**{**TIMED, **changed})


def test_a_session_learns_from_times_from_when_it_is_told_to(file_store: Store, tmp_path: Path) -> None:
    path = tmp_path / "mine.npz"
    features_only().save(path)
    times = [
        Protocol.from_json(begin_teaching(file_store, str(path), None, 5, answer_times=given)[0].protocol)
        for given in (None, True, None, False)
    ]
    assert [protocol.answer_times for protocol in times] == [False, True, True, False]


def test_a_session_of_several_people_or_of_rankings_does_not(file_store: Store, tmp_path: Path) -> None:
    path = tmp_path / "mine.npz"
    features_only().save(path)
    begin_teaching(file_store, str(path), "ours", 5, person="anna", answer_times=True)
    with pytest.raises(Refused, match=r"but anna teaches in 'ours' too: continue it with --no-answer-times"):
        begin_teaching(file_store, str(path), "ours", 5, person="ben")
    with pytest.raises(ValueError, match="not from 'rank-3'"):
        begin_teaching(file_store, str(path), "ours", 5, person="anna", answers="rank-3")
    assert len(file_store.participants(file_store.study("ours"))) == 1
    _, person, _ = begin_teaching(file_store, str(path), "ranked", 5, answers="rank-3")
    answer(file_store, person, "1>2>3", Proposal(0, "Prefero", (0, 1, 2), kind="rank-3"))
    with pytest.raises(Refused, match="'ranked' has answers of the kind rank-3"):
        begin_teaching(file_store, str(path), "ranked", 5, answers="pair", answer_times=True)


def test_the_recorded_seconds_reach_the_learner(file_store: Store) -> None:
    study = study_of(file_store, "one", **TIMED)
    person = invited(file_store, "P1", study)
    answer(file_store, person, "left", Proposal(0, "A", (0, 1)))
    cache = LearnerCache(file_store.pool(study), Protocol.from_json(study.protocol), 3)
    assert [one.seconds for one in cache.learner("A", file_store.event_log(person)).answers] == [1.5]
