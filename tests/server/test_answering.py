"""Answers over the HTTP API: sent twice, undone, skipped, deleted, and refused while the database cannot."""

import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import event

from prefero import Pool
from prefero.studies.storage import database
from prefero.studies.storage.database import open_database
from prefero.studies.storage.store import Store
from server.served_studies import (
    FAST_TEACHING,
    Client,
    TeachingSession,
    add_teaching,
    error_of,
    guest_app,
    in_parallel,
    new_key,
    ok,
    serving,
)
from waiting import wait_until


def count(file: Path, table: str = "events") -> int:
    """The number of rows, as another program reads them."""
    connection = sqlite3.connect(file)
    found: int = connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
    connection.close()
    return found


# --- answers ----------------------------------------------------------------------------------------------


def test_the_same_key_twice_is_one_answer(teacher: Client, file: Path) -> None:
    question, key = teacher.session()["question"]["id"], new_key()
    first, again = (ok(teacher.answer("left", question, key)) for _ in range(2))
    assert first == again
    assert (first["answered"], count(file)) == (1, 1)
    taken = new_key()
    first, again = (ok(teacher.undo(taken, question)) for _ in range(2))
    assert first == again
    assert (first["answered"], first["question"]["id"], count(file)) == (0, question, 2)


def test_a_repeated_key_does_not_change_the_recorded_answer(teacher: Client, file: Path) -> None:
    question, key = teacher.session()["question"]["id"], new_key()
    ok(teacher.answer("left", question, key))
    ok(teacher.answer("right", question, key))
    assert [row["choice"] for row in teacher.history()] == ["left"]
    assert count(file) == 1


def test_a_reason_is_named_changed_taken_back_and_downloaded(learning_teacher: Client, file: Path) -> None:
    teacher = learning_teacher
    offered = ok(teacher.answer("left"))["reasons"]
    first, second = (one["feature"] for one in offered["reasons"][:2])

    def named(feature: str | None, key: str) -> str | None:
        body = {"key": key, "question": offered["question"], "feature": feature}
        found: str | None = ok(teacher.post("/api/session/reasons", **body))["reasons"]["named"]
        return found

    key, open_question = new_key(), teacher.session()["question"]
    sent = [(first, key), (first, key), (first, new_key()), (None, new_key()), (second, new_key())]
    assert [named(feature, one) for feature, one in sent] == [first, first, first, None, second]
    assert teacher.session()["question"] == open_question
    assert count(file, "reasons") == 3
    assert [row["because"] for row in teacher.history()] == [second]
    assert teacher.get("/api/export/answers.csv").text.splitlines()[1].split(",").count(second) == 1
    ok(teacher.undo())
    assert teacher.session()["reasons"] is None
    late = teacher.post("/api/session/reasons", key=new_key(), question=offered["question"], feature=first)
    assert error_of(late) == (409, "not-answered")


def test_a_double_click_is_one_answer(teacher: Client, file: Path) -> None:
    question, key = teacher.session()["question"]["id"], new_key()
    both = in_parallel(*[lambda: teacher.answer("left", question, key)] * 2)
    assert [response.status_code for response in both] == [200, 200]
    assert both[0].json() == both[1].json()
    assert count(file) == 1


def test_of_two_windows_that_answer_in_parallel_one_gets_a_conflict(teacher: Client, file: Path) -> None:
    question = teacher.session()["question"]["id"]
    both = in_parallel(lambda: teacher.answer("left", question), lambda: teacher.answer("right", question))
    assert sorted(response.status_code for response in both) == [200, 409]
    lost = next(response for response in both if response.status_code == 409)
    assert error_of(lost) == (409, "already-answered")
    won = next(response for response in both if response.status_code == 200)
    assert teacher.session() == won.json()
    assert count(file) == 1


def test_a_second_tab_sees_what_the_first_did(teacher: Client, file: Path) -> None:
    with Client(str(teacher.http.base_url)) as other:
        seen = other.session()
        assert seen == teacher.session()
        moved = ok(teacher.answer("left"))
        assert error_of(other.answer("right", seen["question"]["id"])) == (409, "already-answered")
        assert other.session() == moved
        assert ok(other.answer("right")) == teacher.session()
    assert count(file) == 2


def test_answers_can_be_undone_back_to_the_first(learning_teacher: Client) -> None:
    choices = ("left", "skip", "equal")
    seen = [
        learning_teacher.session()["question"],
        *(ok(learning_teacher.answer(choice))["question"] for choice in choices),
    ]
    for question, done in zip(reversed(seen[:-1]), (1, 1, 0), strict=True):
        state = ok(learning_teacher.undo())
        assert (state["question"], state["answered"]) == (question, done)
    assert state["undoable"] is None
    assert error_of(learning_teacher.undo()) == (409, "nothing-to-undo")
    assert error_of(learning_teacher.answer("left", seen[-1]["id"])) == (409, "already-answered")


def test_a_skipped_pair_is_not_asked_again_and_does_not_count(teacher: Client) -> None:
    first = teacher.session()["question"]
    state = ok(teacher.answer("skip"))
    pairs = [set(state["question"]["items"])]
    assert (state["answered"], state["undoable"]) == (0, first["id"])
    for _ in range(3):
        question = ok(teacher.answer("left"))["question"]
        pairs.append(set(question["items"]))
    assert set(first["items"]) not in pairs
    assert ok(teacher.get("/api/learning-summary"))["answers"] == 3


def test_skipping_every_pair_of_a_pool_is_possible(store: Store) -> None:
    """Two trajectories make one question; its skip can still be undone."""
    session = add_teaching(store, Pool(np.eye(2), ["a", "b"]))
    with serving(guest_app(store, session)) as address, Client(address) as page:
        question = page.session()["question"]["id"]
        answers = [page.answer("skip", question), page.get("/api/session"), page.get("/api/learning-summary")]
        assert [response.status_code for response in answers if response.status_code >= 500] == []
        assert ok(page.undo())["question"]["id"] == question


def test_an_answer_can_be_deleted_and_restored(teacher: Client, file: Path) -> None:
    for choice in ("left", "right"):
        ok(teacher.answer(choice))
    first, key = teacher.history()[0]["question"], new_key()
    for _ in range(2):  # the same key twice is once
        state = ok(teacher.post("/api/history", key=key, question=first, kind="delete"))
    assert (state["answered"], count(file)) == (1, 3)
    assert [row["deleted"] for row in teacher.history()] == [True, False]
    assert ok(teacher.get("/api/learning-summary"))["answers"] == 1
    again = {"key": new_key(), "question": first}
    assert error_of(teacher.post("/api/history", **again, kind="delete")) == (409, "not-answered")
    assert ok(teacher.post("/api/history", **again, kind="restore"))["answered"] == 2
    assert [row["deleted"] for row in teacher.history()] == [False, False]
    again["key"] = new_key()
    assert error_of(teacher.post("/api/history", **again, kind="restore")) == (409, "not-deleted")
    assert ok(teacher.get("/api/learning-summary"))["answers"] == 2


def test_an_older_answer_can_be_given_again(teacher: Client) -> None:
    for choice in ("left", "right"):
        ok(teacher.answer(choice))
    first = teacher.history()[0]
    state = ok(teacher.post("/api/history", key=new_key(), question=first["question"], kind="undo"))
    assert (state["answered"], state["question"]["id"]) == (1, first["question"])
    assert state["question"]["items"] == first["items"]
    ok(teacher.answer("right"))
    assert [row["choice"] for row in teacher.history()] == ["right", "right"]


def test_before_there_are_enough_answers_the_reward_has_no_best_trajectory(teacher: Client) -> None:
    ok(teacher.answer("left"))
    early = ok(teacher.get("/api/reward"))
    assert early["best"] is None
    assert "too early" in early["statements"][0]["sentence"]
    assert ok(teacher.get("/api/learning-summary"))["accuracy"] is None


def test_the_next_trajectories_can_be_prefetched_before_the_answer(teacher: Client) -> None:
    teacher.session()

    def complete() -> dict[str, Any] | None:
        found = ok(teacher.get("/api/session/prefetch"))
        return found if found["complete"] else None

    coming = wait_until(complete, "the preparation of the next questions")
    assert coming is not None
    for choice in ("left", "right"):  # "equal" is prepared for those who have said it before
        question = ok(teacher.answer(choice))["question"]
        assert set(question["items"]) <= set(coming["trajectories"])
        ok(teacher.undo())


def test_another_server_over_the_same_file_goes_on_where_this_one_was(
    learning_teacher: Client, store: Store, learning_session: TeachingSession
) -> None:
    for choice in ("left", "equal", "skip"):
        ok(learning_teacher.answer(choice))
    with serving(guest_app(store, learning_session)) as address, Client(address) as later:
        assert later.session() == learning_teacher.session()
        assert later.history() == learning_teacher.history()
        first, second = (ok(page.get("/api/learning-summary")) for page in (learning_teacher, later))
        assert first == second


# --- when the database cannot ----------------------------------------------------------------------------


def test_an_answer_refused_by_a_locked_database_can_be_sent_again(
    tmp_path: Path, pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "WAIT", 0.05)
    store = Store(open_database(tmp_path / "locked.db"))
    with serving(guest_app(store, add_teaching(store, pool))) as address, Client(address) as page:
        question, key = page.session()["question"]["id"], new_key()
        other = sqlite3.connect(tmp_path / "locked.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        refused = page.answer("left", question, key)
        assert error_of(refused) == (503, "locked")
        assert refused.headers["retry-after"] == "1"
        other.execute("ROLLBACK")
        other.close()
        assert count(tmp_path / "locked.db") == 0
        assert ok(page.answer("left", question, key))["answered"] == 1
    store.engine.dispose()


def test_a_full_disk_is_reported_and_no_earlier_answer_is_lost(store: Store, pool: Pool) -> None:
    with (
        serving(guest_app(store, add_teaching(store, pool, FAST_TEACHING))) as address,
        Client(address) as page,
    ):
        question, keys = page.session()["question"]["id"], [new_key()]
        store.engine.dispose()
        event.listen(store.engine, "connect", _no_more_pages)
        while (sent := page.answer("left", question, keys[-1])).status_code == 200 and len(keys) < 100:
            question = sent.json()["question"]["id"]
            keys.append(new_key())
        assert error_of(sent) == (503, "disk-full")
        assert error_of(page.answer("left", question, keys[-1])) == (503, "disk-full")
        event.remove(store.engine, "connect", _no_more_pages)
        store.engine.dispose()
        assert ok(page.answer("left", question, keys[-1]))["answered"] == len(keys)


def _no_more_pages(connection: sqlite3.Connection, _: object) -> None:
    """Let SQLite refuse one more page, as it does on a full disk."""
    connection.execute("PRAGMA max_page_count = 1")
