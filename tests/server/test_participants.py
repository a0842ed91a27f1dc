"""A study over HTTP: what participants go through, what they are refused, and what the experimenter sees."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from prefero import Pool
from prefero.server.app import create_app
from prefero.server.auth import ServerContext
from prefero.studies.protocol import Protocol, StudyMethod
from prefero.studies.storage.store import Store
from server.served_studies import (
    JSON,
    QUICK,
    Crowd,
    Lasting,
    Page,
    go_through,
    invite,
    new_key,
    problem,
    served,
    well,
)

TWICE = Protocol(
    title="Twice",
    methods=(StudyMethod("Random", "RandomGP 1 0.1", 4),),
    consent="",
    instructions="",
    practice=False,
    retests=1,
)


@pytest.fixture
def golfer(store: Store, shots: Pool) -> Iterator[Page]:
    """A participant who is to give scores to golf's targets."""
    crowd = invite(store, shots, replace(QUICK, target_scores=True))
    with served(create_app(ServerContext(store))) as address, Page(address, crowd.codes[0]) as page:
        yield page


def test_a_participant_is_led_through_the_whole_study(golfer: Page) -> None:
    for now, then in pairwise(
        ["consent", "instructions", "target_scores", "practice", "compare", "rate", "done"]
    ):
        assert golfer.session()["stage"] == now
        go_through(golfer, until=then)
    last = golfer.session()
    assert (last["text"], last["answered"], last["total"]) == ("Thank you!", 7, 7)
    assert last["question"] is last["rating"] is None
    assert last["can_undo"] is last["can_skip"] is False


def test_every_stage_has_what_its_page_needs(golfer: Page, shots: Pool) -> None:
    assert golfer.session()["text"] == QUICK.consent
    assert go_through(golfer, until="instructions")["text"] == QUICK.instructions
    scores = go_through(golfer, until="target_scores")["target_scores"]
    assert (len(scores["labels"]), scores["lowest"], scores["highest"]) == (8, 2, 9)
    assert all(len(color) == 7 and color[0] == "#" for color in scores["colors"])
    assert go_through(golfer, until="practice")["question"]["id"] == 0
    first = go_through(golfer, until="compare")
    assert first["choices"] == ["left", "right"]
    assert set(first["question"]["items"]) <= set(range(len(shots)))
    rating = go_through(golfer, until="rate")["rating"]
    assert (rating["number"], rating["total"], rating["lowest"], rating["highest"]) == (1, 2, 1, 9)


@pytest.mark.parametrize(
    ("stage", "wrong"),
    [
        ("consent", [({}, (422, "no-consent")), ({"agreed": "yes"}, (422, "no-consent"))]),
        (
            "practice",
            [({"choice": "equal"}, (422, "bad-choice")), ({"choice": ["left"]}, (422, "bad-choice"))],
        ),
        (
            "rate",
            [
                ({"rating": 5, "trajectory": -1}, (409, "wrong-stage")),
                ({"rating": 10}, (422, "bad-rating")),
                ({"rating": "9"}, (422, "bad-rating")),
                ({"rating": True}, (422, "bad-rating")),
            ],
        ),
    ],
)
def test_a_step_that_is_not_done_right_is_refused_and_stays_to_do(
    participant: Page, stage: str, wrong: list[tuple[dict[str, Any], tuple[int, str]]]
) -> None:
    state = go_through(participant, until=stage)
    for data, refused in wrong:
        data = {"trajectory": state["rating"]["trajectory"]} | data if stage == "rate" else data
        sent = participant.post("/api/session/stages", key=new_key(), stage=stage, data=data)
        assert problem(sent) == refused
        assert participant.session() == state


def test_targets_get_whole_numbers_of_their_own(golfer: Page) -> None:
    state = go_through(golfer, until="target_scores")
    labels = state["target_scores"]["labels"]
    good = {label: 2 + place for place, label in enumerate(labels)}
    for wrong in (
        {},
        dict.fromkeys(labels, 2),
        good | {labels[0]: 2.0},
        good | {labels[-1]: 10},
        good | {labels[0]: 1},
        good | {labels[0]: True},
        good | {"one more": 9},
        {label: good[label] for label in labels[1:]},
    ):
        sent = golfer.post("/api/session/stages", key=new_key(), stage="target_scores", data=wrong)
        assert problem(sent) == (422, "bad-scores")
    assert golfer.session() == state
    assert golfer.step("target_scores", **good)["stage"] == "practice"


def test_a_step_is_done_once_by_its_key_and_once_in_all(participant: Page) -> None:
    message = {"key": new_key(), "stage": "consent", "data": {"agreed": True}}
    first, again = (well(participant.post("/api/session/stages", **message)) for _ in range(2))
    assert first == again
    assert first["stage"] == "instructions"
    other = participant.post("/api/session/stages", **{**message, "key": new_key()})
    assert problem(other) == (409, "wrong-stage")


def test_nothing_of_the_model_is_told_to_a_participant(participant: Page) -> None:
    state = go_through(participant, until="compare")
    assert set(state["question"]) == {"id", "number", "items", "value", "unit"}
    assert state["question"]["value"] is state["question"]["unit"] is None
    assert set(well(participant.get("/api/session/prefetch"))) == {"trajectories", "complete"}
    told = participant.get("/api/session").text + participant.get("/api/trajectories/0").text
    assert [word for word in ("Random", "Active", "method", "bits", "accuracy", "mean") if word in told] == []


def test_about_equal_is_no_answer_where_the_methods_know_none(participant: Page) -> None:
    state = go_through(participant, until="compare")
    assert problem(participant.answer("equal")) == (422, "no-ties")
    assert participant.session() == state


def test_an_answer_cannot_be_taken_back_once_what_was_learned_is_rated(participant: Page) -> None:
    """The page offers no undo then; a request of its own must not unmake what the ratings are about."""
    state = go_through(participant, until="rate")
    participant.step("rate", trajectory=state["rating"]["trajectory"], rating=3)
    before = participant.session()
    assert before["can_undo"] is False
    assert problem(participant.post("/api/session/undo", key=new_key())) == (409, "nothing-to-undo")
    assert participant.session() == before


@pytest.mark.usefixtures("patient")
def test_questions_asked_again_can_be_skipped_as_often_as_one_likes(store: Store, pool: Pool) -> None:
    crowd = invite(store, pool, TWICE)
    with served(create_app(ServerContext(store))) as address, Page(address, crowd.codes[0]) as page:
        plan = TWICE.schedule(crowd.people[0].seed)
        for _ in range(plan.index("retest")):
            well(page.answer("left"))
        for _ in range(12):
            sent = page.answer("skip")
            assert sent.status_code < 500, sent.text
        assert go_through(page)["stage"] == "done"


def test_two_people_are_asked_and_counted_apart(address: str, crowd: Crowd, participant: Page) -> None:
    with Page(address, crowd.codes[1]) as other:
        go_through(participant)
        assert other.session()["stage"] == "consent"
        first = go_through(other, until="compare")
        assert first["answered"] == 0
        assert well(other.answer("right"))["answered"] == 1
    assert participant.session()["answered"] == 7


# --- the experimenter -------------------------------------------------------------------------------------


def test_the_experimenter_sees_how_far_everybody_is(participant: Page, experimenter: Page) -> None:
    nobody = well(experimenter.get("/api/progress"))
    assert set(nobody) == {"study", "title", "participants", "finished", "invited"}
    assert (nobody["study"], nobody["title"], nobody["finished"], nobody["invited"]) == (
        *("walks", "Walks"),
        *(0, 2),
    )
    assert [row["stage"] for row in nobody["participants"]] == [None, None]
    assert {row["started"] for row in nobody["participants"]} == {None}
    go_through(participant, until="compare")
    well(participant.answer("left"))
    well(participant.answer("right"))
    row = well(experimenter.get("/api/progress"))["participants"][0]
    assert (row["label"], row["stage"], row["answered"], row["total"]) == ("P1", "compare", 2, 7)
    assert (row["median_seconds"], row["left_share"], row["retest_agreement"]) == (1.25, 0.5, None)
    assert row["started"] <= row["last_seen"]
    go_through(participant)
    found = well(experimenter.get("/api/progress"))
    assert (found["finished"], found["participants"][0]["stage"]) == (1, "done")
    assert found["participants"][0]["retest_agreement"] in (0.0, 1.0)


def test_who_left_is_nobody_until_they_come_again(participant: Page, crowd: Crowd) -> None:
    assert well(participant.get("/api/me"))["role"] == "participant"
    gone = well(participant.post("/api/leave"))
    assert (gone["role"], gone["study"]) == (None, None)
    assert well(participant.get("/api/me")) == gone
    assert problem(participant.get("/api/session")) == (403, "unknown-secret")
    back = well(participant.post("/api/enter", secret=crowd.codes[0]))
    assert (back["role"], back["study"]) == ("participant", "walks")


# --- what nobody should send ------------------------------------------------------------------------------


GOOD = {"key": "12345678", "question": 1, "kind": "left", "seconds": 1.0}


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/api/session/events", {}),
        ("/api/session/events", [GOOD]),
        ("/api/session/events", GOOD | {"more": 1}),
        ("/api/session/events", GOOD | {"key": "short"}),
        ("/api/session/events", GOOD | {"key": "with space"}),
        ("/api/session/events", GOOD | {"key": "k" * 65}),
        ("/api/session/events", GOOD | {"question": "1"}),
        ("/api/session/events", GOOD | {"question": 0}),
        ("/api/session/events", GOOD | {"question": 2**40}),
        ("/api/session/events", GOOD | {"question": 1.5}),
        ("/api/session/events", GOOD | {"kind": "undo"}),
        ("/api/session/events", GOOD | {"seconds": -1}),
        ("/api/session/events", GOOD | {"seconds": 1e9}),
        ("/api/session/undo", {}),
        ("/api/session/stages", {"key": "12345678", "stage": "compare", "data": {}}),
        ("/api/session/stages", {"key": "12345678", "stage": "consent", "data": []}),
        ("/api/enter", {"secret": "a"}),
        ("/api/enter", {"secret": "not a link's"}),
    ],
)
def test_what_has_not_the_form_is_refused_in_words(lasting: Lasting, path: str, body: Any) -> None:
    assert problem(lasting.participant.http.post(path, json=body)) == (422, "invalid")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b"[" * 60_000,
        b'{"key": "12345678", "question": ' + b"9" * 5000 + b', "kind": "left"}',
        b'{"key": "12345678", "question": 1, "kind": "left", "seconds": NaN}',
        b'{"key": "12345678", "question": 1, "kind": "left", "\\ud800": 1}',
        b'{"key": "12345678", "question": 1, "kind": "\\ud800"}',
    ],
)
def test_what_is_hardly_json_is_refused_in_words(lasting: Lasting, content: bytes) -> None:
    sent = lasting.participant.http.post("/api/session/events", content=content, headers=JSON)
    assert problem(sent) in [(422, "invalid"), (400, "http")]


@pytest.mark.parametrize(
    ("method", "path", "refused"),
    [
        ("GET", "/api/nothing", (404, "http")),
        ("GET", "/api/trajectories/12", (404, "no-trajectory")),
        ("GET", "/api/trajectories/-1", (422, "invalid")),
        ("GET", "/api/trajectories/first", (422, "invalid")),
        ("GET", "/api/trajectories/99999999999999999999", (422, "invalid")),
        ("GET", "/api/clips/0.mp4", (404, "no-trajectory")),
        ("GET", "/api/clips/0.avi", (404, "http")),
        ("DELETE", "/api/session", (405, "http")),
        ("PUT", "/api/session/events", (405, "http")),
        ("POST", "/api/me", (405, "http")),
    ],
)
def test_what_is_not_there_is_said_in_words(
    lasting: Lasting, method: str, path: str, refused: tuple[int, str]
) -> None:
    sent = lasting.participant.http.request(method, path, json={} if method != "GET" else None)
    assert problem(sent) == refused


def test_a_question_that_was_never_asked_cannot_be_answered(participant: Page) -> None:
    go_through(participant, until="compare")
    assert problem(participant.answer("left", question=999)) == (404, "no-question")


def test_an_error_of_ours_has_the_form_too(
    participant: Page, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody is meant to see one; who does is told in the same words and with the same strict headers."""

    def fail(*_: object) -> None:
        raise RuntimeError("a secret thought")

    monkeypatch.setattr(store, "event_log", fail)
    found = participant.get("/api/session")
    assert found.status_code == 500
    assert "secret thought" not in found.text
    assert "content-security-policy" in found.headers
    problem(found)
