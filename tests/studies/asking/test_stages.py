"""The stages of a study: one list, and everything that follows it."""

import re
from typing import Any, get_args

import pytest

from prefero.questions.answer_kinds import ANSWER_KINDS, choices_of
from prefero.server.models import WORDS, StageSubmission
from prefero.server.openapi import openapi
from prefero.studies.asking.stage_rules import RULES, stage_of, unrated_methods
from prefero.studies.log.event_log import AskedQuestion, Event, EventKind, EventLog, StageEvent
from prefero.studies.protocol.protocol import Protocol, StudyMethod
from prefero.studies.storage import schema
from prefero.views.session_state import SessionState
from prefero.views.stages import STAGES, SUBMITTED_STAGES, SubmittedStage
from studies.fake_study import FAST_METHOD, protocol_of

ALL = protocol_of(
    methods=(StudyMethod("A", FAST_METHOD, 2), StudyMethod("B", FAST_METHOD, 1)),
    consent="Do you?",
    instructions="Do.",
    target_scores=True,
    practice=True,
    rate=True,
)


def log_of(
    *rows: tuple[str, int, int, EventKind], done: tuple[tuple[SubmittedStage, str], ...] = ()
) -> EventLog:
    """Questions as (method, left, right) with the answer to each, and the stages that were submitted."""
    return EventLog(
        tuple(
            AskedQuestion(0, row[0], row[1:3], id=n, number=n, based_on=n - 1, at="")
            for n, row in enumerate(rows, 1)
        ),
        tuple(Event(n, n, 0, row[3], str(n), None, "") for n, row in enumerate(rows, 1)),
        tuple(StageEvent(n, stage, item, {}, str(n), "") for n, (stage, item) in enumerate(done, 1)),
    )


# --- one list ---------------------------------------------------------------------------------------------


def constraint(table: str, name: str) -> str:
    checks = schema.metadata.tables[table].constraints
    return next(str(one.sqltext) for one in checks if one.name == name)  # type: ignore[attr-defined]


def test_every_stage_has_a_rule_in_the_order_of_the_list() -> None:
    assert tuple(RULES) == STAGES
    assert set(SUBMITTED_STAGES) == set(STAGES) - {"compare", "done"}


def test_the_database_the_routes_and_the_page_follow_the_list_of_stages() -> None:
    assert constraint("stage_events", "ck_stage_events_stage_known") == f"stage IN {SUBMITTED_STAGES!r}"
    assert get_args(StageSubmission.model_fields["stage"].annotation) == SUBMITTED_STAGES
    assert get_args(SessionState.__annotations__["stage"]) == STAGES
    schemas = openapi()["components"]["schemas"]
    assert schemas["SessionState"]["properties"]["stage"]["enum"] == list(STAGES)
    assert schemas["StageSubmission"]["properties"]["stage"]["enum"] == list(SUBMITTED_STAGES)


def test_the_database_the_routes_and_the_page_follow_the_kinds_of_answers() -> None:
    assert constraint("events", "ck_events_kind_known") == "kind <> ''"
    assert constraint("questions", "ck_questions_kind_known") == "kind <> ''"
    words = {word for kind in ANSWER_KINDS for word in choices_of(kind)}
    assert all(re.match(WORDS, word) for word in (*words, "skip"))
    assert max(map(len, (*words, *ANSWER_KINDS))) <= (schema.WORD.length or 0)
    assert not any(re.match(WORDS, word) for word in ("undo", "delete", "restore", "1>", "8", "left-"))
    schemas = openapi()["components"]["schemas"]
    assert schemas["AnswerOrSkip"]["properties"]["kind"]["pattern"] == WORDS
    for name in ("PastAnswer", "ShownQuestion"):  # the types of the page are the same with more kinds
        assert schemas[name]["properties"]["kind"] == {"title": "Kind", "type": "string"}


# --- which one is due -------------------------------------------------------------------------------------

DONE: Any = (("consent", ""), ("instructions", ""), ("target_scores", ""), ("practice", ""))
ANSWERS: Any = (("A", 1, 2, "left"), ("B", 3, 4, "left"), ("A", 5, 6, "right"))


@pytest.mark.parametrize(
    ("log", "stage"),
    [
        (log_of(), "consent"),
        (log_of(done=DONE[:1]), "instructions"),
        (log_of(done=DONE[:2]), "target_scores"),
        (log_of(done=DONE[:3]), "practice"),
        (log_of(done=DONE), "compare"),
        (log_of(*ANSWERS[:2], done=DONE), "compare"),
        (log_of(*ANSWERS[:2], ("A", 5, 6, "skip"), done=DONE), "compare"),
        (log_of(*ANSWERS, done=DONE), "rate"),
        (log_of(*ANSWERS, done=(*DONE, ("rate", "B"))), "rate"),
        (log_of(*ANSWERS, done=(*DONE, ("rate", "B"), ("rate", "A"))), "done"),
        (log_of(done=DONE[1:]), "consent"),
    ],
)
def test_the_stage_is_the_first_that_is_due(log: EventLog, stage: str) -> None:
    assert stage_of(log, ALL) == stage


@pytest.mark.parametrize("missing", ["consent", "instructions", "target_scores", "practice"])
def test_a_stage_that_the_protocol_leaves_out_is_never_due(missing: str) -> None:
    changed: dict[str, Any] = {missing: "" if missing in ("consent", "instructions") else False}
    protocol = Protocol(**{**vars(ALL), **changed})
    stages = tuple(stage for stage in DONE if stage[0] != missing)
    for count in range(len(stages)):
        assert stage_of(log_of(done=stages[:count]), protocol) == stages[count][0]
    assert stage_of(log_of(done=stages), protocol) == "compare"


def test_without_ratings_the_last_answer_is_the_end_and_without_an_end_there_is_none() -> None:
    plain = protocol_of(methods=ALL.methods)
    assert stage_of(log_of(*ANSWERS), plain) == "done"
    assert stage_of(log_of(*ANSWERS), Protocol(**{**vars(plain), "open_ended": True})) == "compare"


def test_unrated_methods_are_listed_in_the_protocols_order() -> None:
    assert unrated_methods(log_of(), ALL) == ["A", "B"]
    assert unrated_methods(log_of(done=(("rate", "A"),)), ALL) == ["B"]
    assert unrated_methods(log_of(done=(("rate", "B"), ("rate", "A"))), ALL) == []
