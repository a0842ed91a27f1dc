"""Answer times of studies and sessions are recorded; questions and learners do not depend on them."""

from pathlib import Path
from typing import Any

import pytest

from prefero.studies.asking.learner_cache import LearnerCache
from prefero.studies.log.event_log import Event, EventLog, Proposal
from prefero.studies.protocol.protocol import PAPER, Protocol, StudyMethod
from prefero.studies.protocol.toml import protocol_toml
from prefero.studies.storage.store import Store
from studies.fake_study import answer, features_only, invited, protocol_of, study_of

METHODS = (StudyMethod("A", "ActiveGP+EP 1 0.1", 30),)


def with_time(log: EventLog, seconds: float | None) -> EventLog:
    *before, last = log.events
    return EventLog(log.questions, (*before, Event(**{**vars(last), "seconds": seconds})))


def test_the_next_question_does_not_depend_on_times(file_store: Store) -> None:
    """So that it can be computed before the answer is given."""
    person = invited(file_store, "P1", study_of(file_store, "one", methods=METHODS))
    answer(file_store, person, "left", Proposal(0, "A", (0, 1)))
    log = file_store.event_log(person)
    assert [active.seconds for active in log.answers] == [1.5]
    cache, slow = LearnerCache(features_only(20), protocol_of(methods=METHODS), 3), with_time(log, 60.0)
    assert log.state == slow.state == with_time(log, None).state
    assert cache.next_question("A", slow) is cache.next_question("A", log)
    assert cache.learner("A", slow) is cache.learner("A", log)


@pytest.mark.parametrize("changed", [{}, {"answers": "rank-3"}])
@pytest.mark.parametrize("answer_times", [True, False])
def test_stored_protocols_that_name_answer_times_are_read_without(
    changed: dict[str, Any], answer_times: bool
) -> None:
    protocol = protocol_of(methods=METHODS, **changed)
    assert Protocol.from_json(protocol.to_json() | {"answer_times": answer_times}) == protocol


def test_a_protocol_file_cannot_ask_to_learn_from_times(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(f"answer_times = false\n{protocol_toml(PAPER)}", encoding="utf-8")
    assert Protocol.from_toml(path) == PAPER
    path.write_text(f"answer_times = true\n{protocol_toml(PAPER)}", encoding="utf-8")
    with pytest.raises(ValueError, match="leave answer_times out"):
        Protocol.from_toml(path)


def test_times_decide_between_several_kinds_but_that_of_the_last_answer(file_store: Store) -> None:
    """It is not known where the next question is computed before the answer."""
    protocol = protocol_of(methods=METHODS, answers="pair, rate-5")
    person = invited(file_store, "P1", study_of(file_store, "one", methods=METHODS, answers="pair, rate-5"))
    for number in range(8):
        kind, items = ("pair", (number, number + 9)) if number % 2 else ("rate-5", (number,))
        answer(file_store, person, "left" if kind == "pair" else "3", Proposal(number, "A", items, kind=kind))
    log = file_store.event_log(person)

    def asked(rated: float, compared: float, last: float | None) -> str:
        events = [
            Event(**{**vars(e), "seconds": compared if n % 2 else rated}) for n, e in enumerate(log.events)
        ]
        timed = with_time(EventLog(log.questions, tuple(events)), last)
        return LearnerCache(features_only(20), protocol, 3).next_question("A", timed).question.kind

    assert asked(60.0, 1.0, 1.0) == asked(60.0, 1.0, None) == "pair"
    assert asked(1.0, 60.0, 60.0) == asked(1.0, 60.0, None) == "rate-5"
