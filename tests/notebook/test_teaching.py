"""What the widget shows of a learner, and what its answers change."""

from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from pydantic import TypeAdapter

from prefero import Learner, Pool, PreferenceGP
from prefero.kernels import RBF
from prefero.notebook.requests import Requests, Response
from prefero.notebook.teaching import Teaching
from prefero.views.displays import Display, TrajectoryDetails
from prefero.views.session_state import SessionState

QUICK = PreferenceGP(RBF(0.5), noise=0.5, margin=0.3)


def small_learner(model: PreferenceGP | None = None) -> Learner:
    features = np.random.default_rng(0).normal(size=(12, 2))
    return Learner(Pool(features, ["speed", "height"]), model=model or QUICK)


class Person:
    """Sends what the browser would send."""

    def __init__(self, learner: Learner, **options: object) -> None:
        chosen = {"questions": 5, "until": None, "purpose": None} | options
        self.learner, self.requests, self.sent = learner, Requests(Teaching(learner, **chosen)), 0  # type: ignore[arg-type]

    def get(self, path: str) -> Response:
        return self.requests.respond("GET", path, None)

    def state(self) -> SessionState:
        return state_in(self.get("/api/session"))

    def post(self, path: str, question: int | None, key: str | None = None, **more: object) -> Response:
        self.sent += 1
        body = {"key": key or f"key-{self.sent}", "question": question, **more}
        return self.requests.respond("POST", path, body)

    def answer(self, kind: str) -> SessionState:
        question = self.state().question
        assert question is not None
        return state_in(self.post("/api/session/events", question.id, kind=kind, seconds=1.0))

    def undo(self) -> SessionState:
        return state_in(self.post("/api/session/undo", self.state().undoable))


def state_in(response: Response) -> SessionState:
    """As the page's types promise it: the server's own model accepts it, with every field."""
    assert response.status == 200, response.body
    assert set(response.body) == {field.name for field in fields(SessionState)}
    return TypeAdapter(SessionState).validate_python(response.body)


def choices_of(learner: Learner) -> list[str]:
    return [answer.choice for answer in learner.answers]


def test_answers_reach_the_learner_of_the_notebook() -> None:
    person = Person(small_learner())
    assert (person.state().answered, person.state().undoable, person.state().accuracy) == (0, None, None)
    for number, kind in enumerate(["left", "right", "equal", "left", "left"], 1):
        assert person.answer(kind).answered == number
    assert choices_of(person.learner) == ["left", "right", "equal", "left", "left"]
    after = person.state()
    assert after.accuracy == pytest.approx(person.learner.progress().accuracy)
    assert (after.total, after.goal, after.can_skip) == (5, None, True)
    asked = [frozenset(answer.question.items) for answer in person.learner.answers]
    assert len(set(asked)) == 5


def test_levels_are_asked_with_words_of_ones_own() -> None:
    words = ["poor", "fair", "fine"]
    person = Person(small_learner(), kind="rate-3", words=words)
    shown = person.state()
    assert (shown.kinds, shown.items, shown.words, shown.choices) == (["rate-3"], 1, words, ["1", "2", "3"])
    assert person.answer("3").answered == 1
    assert choices_of(person.learner) == ["3"]
    with pytest.raises(ValueError, match="has no levels"):
        Person(small_learner(), kind="pair", words=words)


def test_a_question_stays_until_it_is_answered() -> None:
    person = Person(small_learner())
    assert person.state().question == person.state().question
    assert len(person.learner.open_questions) == 1
    assert Person(person.learner).state().question == person.state().question  # the cell was run again


def test_undo_takes_back_answers_and_skips_in_turn() -> None:
    person = Person(small_learner())
    first, second = person.state().question, person.answer("left").question
    third = person.answer("skip").question
    assert second is not None
    assert third is not None
    assert set(third.items) != set(second.items)
    back = person.undo()
    assert (back.question, back.answered) == (second, 1)
    back = person.undo()
    assert (back.question, back.answered, back.undoable) == (first, 0, None)
    assert choices_of(person.learner) == []
    refused = person.post("/api/session/undo", 1)
    assert (refused.status, refused.body["error"]["code"]) == (409, "nothing-to-undo")


def test_a_repeated_request_changes_nothing() -> None:
    person = Person(small_learner())
    question = person.state().question
    assert question is not None
    sent = [
        person.post("/api/session/events", question.id, key="the-same", kind="left", seconds=1) for _ in "ab"
    ]
    assert sent[0] == sent[1]
    assert choices_of(person.learner) == ["left"]
    assert [answer.seconds for answer in person.learner.answers] == [1.0]


def test_a_question_that_a_cell_answered_is_not_answered_again() -> None:
    person = Person(small_learner())
    person.state()
    (question,) = person.learner.open_questions
    person.learner.tell(question, "right")
    refused = person.post("/api/session/events", question.number, kind="left", seconds=1)
    assert (refused.status, refused.body["error"]["code"]) == (409, "already-answered")
    assert choices_of(person.learner) == ["right"]


def test_every_answer_is_saved_if_the_learner_has_a_file(tmp_path: Path) -> None:
    person = Person(small_learner())
    person.answer("left")
    assert person.learner.file is None
    person.learner.save(tmp_path / "learner.json")
    person.answer("right")
    person.answer("skip")
    assert choices_of(Learner.load(tmp_path / "learner.json")) == ["left", "right"]
    person.undo()
    shown = person.undo()
    again = Learner.load(tmp_path / "learner.json")
    assert choices_of(again) == ["left"]
    assert Person(again).state().question == shown.question  # the session goes on where it was


def test_an_answer_that_could_not_be_saved_is_saved_at_the_next_try(tmp_path: Path) -> None:
    person, folder = Person(small_learner()), tmp_path / "gone"
    folder.mkdir()
    person.learner.save(folder / "learner.json")
    (folder / "learner.json").unlink()
    folder.rmdir()
    folder.write_text("a file is in the way", encoding="utf-8")
    question = person.state().question
    assert question is not None
    sent: dict[str, object] = {"question": question.id, "key": "one", "kind": "left", "seconds": 1}
    failed = person.requests.respond("POST", "/api/session/events", sent)
    assert failed.status == 500
    assert "could not be saved" in failed.body["error"]["message"]
    assert choices_of(person.learner) == ["left"]
    folder.unlink()
    folder.mkdir()
    assert state_in(person.requests.respond("POST", "/api/session/events", sent)).answered == 1
    assert choices_of(Learner.load(folder / "learner.json")) == ["left"]


def test_without_a_margin_there_is_no_equal() -> None:
    person = Person(small_learner(PreferenceGP(RBF(0.5), noise=0.5, margin=0.0)))
    assert person.state().choices == ["left", "right"]


def test_features_scenes_and_clips_are_shown_as_on_the_page(driver_pool: Pool, tmp_path: Path) -> None:
    features = small_learner().pool
    videos = [tmp_path / f"{number}.mp4" for number in range(12)]
    for video in videos:
        video.write_bytes(video.name.encode())
    clips = Pool(features.features, ["speed", "height"], clips=videos)
    for kind, pool in (("features", features), ("scene", driver_pool), ("clips", clips)):
        person = Person(Learner(pool, model=QUICK))
        shown = person.get("/api/display").body
        assert (TypeAdapter(Display).validate_python(shown).kind, "folder" in shown) == (kind, False)
        one = TypeAdapter(TrajectoryDetails).validate_python(person.get("/api/trajectories/3").body)
        assert (one.replay is not None) == (kind == "scene")
    assert person.get("/api/clips/3.mp4").file == b"3.mp4"
    assert person.get("/api/clips/3/status").body["state"] in ("ready", "failed")  # these are no real videos
    assert person.get("/api/clips/12.mp4").status == 404


@pytest.mark.parametrize("path", ["/api/clips/0.mp4", "/api/trajectories/99", "/api/me"])
def test_what_is_not_there_is_told(path: str) -> None:
    refused = Person(small_learner()).get(path)
    assert refused.status == 404
    assert refused.body["error"]["message"]


def test_impossible_plans_are_refused() -> None:
    with pytest.raises(ValueError, match="one question or more"):
        Person(small_learner(), questions=0)
    with pytest.raises(ValueError, match="between"):
        Person(small_learner(), until=1.5)
