"""The plan of an arena: what it refuses, and that it survives JSON."""

import json
from typing import Any

import pytest

from prefero.arena import Arena, ArenaPlan
from prefero.questions import Question

PLAN = ArenaPlan(("A", "B"), (0, 1, 1), ("x", "x", "x"), ("1", "1", ""), "best", 0.9, 40)


def test_a_plan_survives_json() -> None:
    assert ArenaPlan.from_json(json.loads(json.dumps(PLAN.to_json()))) == PLAN


def test_questions_grow_with_the_policies_unless_they_are_said() -> None:
    assert ArenaPlan.of_policies("ABC").questions == 180
    assert PLAN.questions == 40


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"policies": ("A",), "policy_of": (0, 0, 0)}, "2 to 50 policies"),
        ({"policies": ("A", "A")}, "a name of its own"),
        ({"policies": ("A", "")}, "a name of 1 to 200 letters"),
        ({"policy_of": (0, 0, 0)}, "every policy needs a rollout"),
        ({"policy_of": (0, 1, 2)}, "every rollout a policy"),
        ({"tasks": ("x",)}, "3 rollouts, but 1 tasks"),
        ({"tasks": ("x", "y", "y")}, "two policies .*same task"),
        ({"goal": "worst"}, "goal .*order or best"),
        ({"confidence": 0.5}, "between 0.5 and 1"),
        ({"confidence": float("nan")}, "between 0.5 and 1"),
        ({"questions": -1}, "one question or more"),
    ],
)
def test_a_plan_that_makes_no_sense_is_refused(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ArenaPlan(**{**PLAN.to_json(), **changed})


@pytest.mark.parametrize(
    "document",
    [
        [],
        {"policies": ["A", "B"]},
        {**PLAN.to_json(), "unknown": 1},
        {**PLAN.to_json(), "policies": "AB"},
        {**PLAN.to_json(), "policy_of": [0, 1, True]},
        {**PLAN.to_json(), "confidence": "0.95"},
        {**PLAN.to_json(), "questions": 1e9},
    ],
)
def test_a_strangers_document_is_refused(document: Any) -> None:
    with pytest.raises(ValueError, match="arena"):
        ArenaPlan.from_json(document)


def test_an_answer_about_one_policy_says_nothing() -> None:
    with pytest.raises(ValueError, match="both are rollouts of B"):
        Arena(PLAN).tell(Question(1, 2), "left")
    with pytest.raises(ValueError, match="trajectories 0 to 2"):
        Arena(PLAN).tell(Question(0, 3), "left")
