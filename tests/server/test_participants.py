"""A study over HTTP: the participants' stages, what is refused, and what the experimenter sees."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from prefero import Pool
from prefero.server.app import create_app
from prefero.server.auth import ServerContext
from prefero.studies.protocol.protocol import Protocol, StudyMethod
from prefero.studies.storage.store import Store
from server.served_studies import (
    FAST_STUDY,
    JSON,
    Client,
    InvitedStudy,
    SharedServer,
    add_study,
    complete_stages,
    error_of,
    new_key,
    ok,
    rated,
    serving,
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
def golfer(store: Store, golf_pool: Pool) -> Iterator[Client]:
    """A participant who scores golf's targets."""
    invited = add_study(store, golf_pool, replace(FAST_STUDY, target_scores=True))
    with serving(create_app(ServerContext(store))) as address, Client(address, invited.codes[0]) as page:
        yield page


def test_a_participant_goes_through_all_stages(golfer: Client) -> None:
    for now, then in pairwise(
        ["consent", "instructions", "target_scores", "practice", "compare", "rate", "done"]
    ):
        assert golfer.session()["stage"] == now
        complete_stages(golfer, until=then)
    last = golfer.session()
    assert (last["text"], last["answered"], last["total"]) == ("Thank you!", 7, 7)
    assert last["question"] is last["rating"] is None
    assert (last["undoable"], last["can_skip"]) == (None, False)


def test_every_stage_has_what_its_page_needs(golfer: Client, golf_pool: Pool) -> None:
    assert golfer.session()["text"] == FAST_STUDY.consent
    assert complete_stages(golfer, until="instructions")["text"] == FAST_STUDY.instructions
    scores = complete_stages(golfer, until="target_scores")["target_scores"]
    assert (len(scores["labels"]), scores["lowest"], scores["highest"]) == (8, 2, 9)
    assert all(len(color) == 7 and color[0] == "#" for color in scores["colors"])
    assert complete_stages(golfer, until="practice")["question"]["id"] == 0
    first = complete_stages(golfer, until="compare")
    assert first["choices"] == ["left", "right"]
    assert set(first["question"]["items"]) <= set(range(len(golf_pool)))
    rating = complete_stages(golfer, until="rate")["rating"]
    assert (rating["number"], rating["total"], rating["lowest"], rating["highest"]) == (1, 2, 1, 9)


@pytest.mark.parametrize(
    ("stage", "wrong"),
    [
        ("consent", [({}, (422, "no-consent")), ({"agreed": "yes"}, (422, "no-consent"))]),
        (
            "practice",
            [({"choice": "equal"}, (422, "no-ties")), ({"choice": ["left"]}, (422, "bad-choice"))],
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
def test_an_invalid_submission_is_refused_and_the_stage_stays(
    participant: Client, stage: str, wrong: list[tuple[dict[str, Any], tuple[int, str]]]
) -> None:
    state = complete_stages(participant, until=stage)
    for data, refused in wrong:
        data = rated(state, 5) | data if stage == "rate" else data
        sent = participant.post("/api/session/stages", key=new_key(), stage=stage, data=data)
        assert error_of(sent) == refused
        assert participant.session() == state


def test_targets_get_different_whole_numbers(golfer: Client) -> None:
    state = complete_stages(golfer, until="target_scores")
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
        assert error_of(sent) == (422, "bad-scores")
    assert golfer.session() == state
    assert golfer.submit("target_scores", **good)["stage"] == "practice"


def test_a_stage_is_submitted_once_whatever_the_key(participant: Client) -> None:
    message = {"key": new_key(), "stage": "consent", "data": {"agreed": True}}
    first, again = (ok(participant.post("/api/session/stages", **message)) for _ in range(2))
    assert first == again
    assert first["stage"] == "instructions"
    other = participant.post("/api/session/stages", **{**message, "key": new_key()})
    assert error_of(other) == (409, "wrong-stage")


def test_a_participant_sees_nothing_of_the_model(participant: Client) -> None:
    state = complete_stages(participant, until="compare")
    assert set(state["question"]) == {"id", "number", "items", "value", "unit", "kind", "by_hand"}
    assert state["question"]["by_hand"] is False
    assert state["question"]["value"] is state["question"]["unit"] is None
    assert set(ok(participant.get("/api/session/prefetch"))) == {"trajectories", "complete"}
    assert state["accuracy"] is state["goal"] is None
    told = participant.get("/api/session").text + participant.get("/api/trajectories/0").text
    assert [word for word in ("Random", "Active", "method", "bits", "mean") if word in told] == []


def test_about_equal_is_refused_where_the_methods_cannot_learn_from_it(participant: Client) -> None:
    state = complete_stages(participant, until="compare")
    assert error_of(participant.answer("equal")) == (422, "no-ties")
    assert participant.session() == state


def test_an_answer_cannot_be_undone_once_a_rating_is_given(participant: Client) -> None:
    """The page offers no undo then; a request must not change what the ratings are about."""
    state = complete_stages(participant, until="rate")
    participant.submit("rate", **rated(state, 3))
    before = participant.session()
    assert before["undoable"] is None
    assert error_of(participant.undo()) == (409, "nothing-to-undo")
    assert participant.session() == before


@pytest.mark.usefixtures("no_rate_limit")
def test_retest_questions_can_be_skipped_any_number_of_times(store: Store, pool: Pool) -> None:
    invited = add_study(store, pool, TWICE)
    with serving(create_app(ServerContext(store))) as address, Client(address, invited.codes[0]) as page:
        plan = TWICE.schedule(invited.participants[0].seed)
        for _ in range(plan.index("retest")):
            ok(page.answer("left"))
        for _ in range(12):
            sent = page.answer("skip")
            assert sent.status_code < 500, sent.text
        assert complete_stages(page)["stage"] == "done"


def test_two_participants_are_asked_and_counted_separately(
    address: str, invited: InvitedStudy, participant: Client
) -> None:
    with Client(address, invited.codes[1]) as other:
        complete_stages(participant)
        assert other.session()["stage"] == "consent"
        first = complete_stages(other, until="compare")
        assert first["answered"] == 0
        assert ok(other.answer("right"))["answered"] == 1
    assert participant.session()["answered"] == 7


# --- the experimenter -------------------------------------------------------------------------------------


def test_the_experimenter_sees_every_participants_progress(participant: Client, experimenter: Client) -> None:
    nobody = ok(experimenter.get("/api/progress"))
    assert set(nobody) == {"study", "title", "participants", "finished", "invited"}
    assert (nobody["study"], nobody["title"], nobody["finished"], nobody["invited"]) == (
        *("walks", "Walks"),
        *(0, 2),
    )
    assert [row["stage"] for row in nobody["participants"]] == [None, None]
    assert {row["started"] for row in nobody["participants"]} == {None}
    complete_stages(participant, until="compare")
    ok(participant.answer("left"))
    ok(participant.answer("right"))
    row = ok(experimenter.get("/api/progress"))["participants"][0]
    assert (row["label"], row["stage"], row["answered"], row["total"]) == ("P1", "compare", 2, 7)
    assert (row["median_seconds"], row["left_fraction"], row["retest_agreement"]) == (1.25, 0.5, None)
    assert row["careless_signs"] == []
    assert row["started"] <= row["last_seen"]
    complete_stages(participant)
    found = ok(experimenter.get("/api/progress"))
    assert (found["finished"], found["participants"][0]["stage"]) == (1, "done")
    assert found["participants"][0]["retest_agreement"] in (0.0, 1.0)


def test_a_renewed_link_continues_the_session_and_the_old_one_ends(
    address: str, invited: InvitedStudy, participant: Client, store: Store
) -> None:
    """While the server runs, and has the session in memory."""
    complete_stages(participant, until="compare")
    ok(participant.answer("left"))
    code = new_key()
    store.renew_code(invited.study, "P1", code)
    assert error_of(participant.get("/api/session")) == (403, "unknown-secret")
    with Client(address, code) as again:
        assert again.session()["answered"] == 1
        assert ok(again.answer("right"))["answered"] == 2


def test_after_signing_out_a_visitor_has_no_role(participant: Client, invited: InvitedStudy) -> None:
    assert ok(participant.get("/api/me"))["role"] == "participant"
    gone = ok(participant.post("/api/leave"))
    assert (gone["role"], gone["study"]) == (None, None)
    assert ok(participant.get("/api/me")) == gone
    assert error_of(participant.get("/api/session")) == (403, "unknown-secret")
    back = ok(participant.post("/api/enter", secret=invited.codes[0]))
    assert (back["role"], back["study"]) == ("participant", None)  # its name may tell too much


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
        ("/api/session/reasons", {"key": "12345678", "question": 1}),
        ("/api/session/reasons", {"key": "12345678", "question": 1, "feature": ""}),
        ("/api/session/stages", {"key": "12345678", "stage": "compare", "data": {}}),
        ("/api/session/stages", {"key": "12345678", "stage": "consent", "data": []}),
        ("/api/enter", {"secret": "a"}),
        ("/api/enter", {"secret": "not a link's"}),
    ],
)
def test_an_invalid_body_is_refused(shared: SharedServer, path: str, body: Any) -> None:
    assert error_of(shared.participant.http.post(path, json=body)) == (422, "invalid")


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
def test_malformed_json_is_refused(shared: SharedServer, content: bytes) -> None:
    sent = shared.participant.http.post("/api/session/events", content=content, headers=JSON)
    assert error_of(sent) in [(422, "invalid"), (400, "http")]


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
def test_a_missing_route_or_trajectory_is_reported(
    shared: SharedServer, method: str, path: str, refused: tuple[int, str]
) -> None:
    sent = shared.participant.http.request(method, path, json={} if method != "GET" else None)
    assert error_of(sent) == refused


def test_a_question_that_was_never_asked_cannot_be_answered(participant: Client) -> None:
    complete_stages(participant, until="compare")
    assert error_of(participant.answer("left", question=999)) == (404, "no-question")


def test_an_internal_error_has_the_form_of_all_errors(
    participant: Client, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says nothing of the exception, and has the security headers."""

    def fail(*_: object) -> None:
        raise RuntimeError("a secret thought")

    monkeypatch.setattr(store, "event_log", fail)
    found = participant.get("/api/session")
    assert found.status_code == 500
    assert "secret thought" not in found.text
    assert "content-security-policy" in found.headers
    error_of(found)
