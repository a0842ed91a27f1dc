"""The HTTP API route by route, for a teacher's session.

A study's participants are in test_participants.py, what is refused and to whom in test_security.py.
"""

import csv
import io
import json
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pyarrow.parquet
import pytest
from sqlalchemy import event

import prefero
from prefero import Pool
from prefero.server.app import create_app
from prefero.server.auth import SESSION_HEADER, ServerContext
from prefero.server.openapi import openapi
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

CONTRACT = {
    "GET /api/me",
    "POST /api/enter",
    "POST /api/leave",
    "GET /api/session",
    "GET /api/session/prefetch",
    "POST /api/session/events",
    "POST /api/session/undo",
    "POST /api/session/stages",
    "GET /api/display",
    "GET /api/trajectories/{index}",
    "GET /api/clips/{index}.mp4",
    "GET /api/clips/{index}/status",
    "GET /api/teaching",
    "GET /api/learning-summary",
    "GET /api/history",
    "POST /api/history",
    "GET /api/reward",
    "GET /api/export/reward.json",
    "GET /api/export/answers.csv",
    "GET /api/export/answers.parquet",
    "GET /api/progress",
}
STATE = {
    *("stage", "title", "text", "answered", "total", "question", "choices", "answers", "ties"),
    *("undoable", "can_skip", "target_scores", "rating", "task_description", "own_scores"),
    *("accuracy", "goal", "arena"),
}


def count(file: Path, table: str = "events") -> int:
    """The number of rows, as another program reads them."""
    connection = sqlite3.connect(file)
    found: int = connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
    connection.close()
    return found


# --- a whole session --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def taught(driver_pool: Pool, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """A session in a world with five active answers, one skip, one undone answer and one deleted one."""
    store = Store(open_database(tmp_path_factory.mktemp("taught") / "teach.db"))
    with serving(guest_app(store, add_teaching(store, driver_pool))) as address, Client(address) as page:
        for choice in ("left", "right", "equal", "skip", "left", "right", "left"):
            ok(page.answer(choice))
        ok(page.undo())
        ok(page.answer("right"))
        third = page.history()[2]
        ok(page.post("/api/history", key=new_key(), question=third["question"], kind="delete"))
        yield page
    store.engine.dispose()


def test_the_app_has_the_routes_of_the_contract_and_no_others(teacher: Client) -> None:
    paths = ok(teacher.get("/api/openapi.json"))["paths"]
    assert {f"{method.upper()} {path}" for path, ways in paths.items() for method in ways} == CONTRACT


DOWNLOADS = {"/api/clips/{index}.mp4", *(path.split()[1] for path in CONTRACT if "/export/" in path)}


def test_every_endpoint_but_the_downloads_returns_a_named_type_whose_fields_are_all_typed() -> None:
    document = openapi()
    for path, ways in document["paths"].items():
        for operation in ways.values():
            returned = operation["responses"]["200"].get("content", {}).get("application/json", {})
            schema = returned.get("schema", {})
            assert ("$ref" in schema or "discriminator" in schema) == (path not in DOWNLOADS), path
    for name, schema in document["components"]["schemas"].items():
        assert schema.get("properties"), f"{name} has no fields"
        for field, kind in schema["properties"].items():
            free = {"additionalProperties": True, "title": "Data", "type": "object"}
            assert (set(kind) & {"type", "$ref", "anyOf", "discriminator", "const"}) != set(), (name, field)
            assert kind.get("additionalProperties") is not True or kind == free, (name, field)


def test_the_openapi_document_is_printed_as_it_is_served(teacher: Client) -> None:
    command = [sys.executable, "-m", "prefero.server.openapi"]
    printed = subprocess.run(command, capture_output=True, encoding="utf-8", check=True).stdout
    assert json.loads(printed) == ok(teacher.get("/api/openapi.json"))


def test_on_a_loopback_address_a_visitor_without_a_secret_is_the_teacher(taught: Client) -> None:
    assert ok(taught.get("/api/me")) == {
        "role": "teacher",
        "study": "robot",
        "session": taught.http.headers[SESSION_HEADER],
        "version": prefero.__version__,
    }


def test_the_session_state_has_the_contracts_fields(taught: Client) -> None:
    state = taught.session()
    assert set(state) == STATE
    assert set(state["question"]) == {"id", "number", "items", "value", "unit", "kind"}
    assert (state["question"]["number"], state["question"]["unit"]) == (10, "bits")
    assert 0.0 < state["question"]["value"] <= 1.0
    assert (state["stage"], state["title"], state["answered"], state["total"]) == (
        "compare",
        "Robot",
        5,
        30,
    )
    assert state["choices"] == ["left", "right", "equal"]
    assert (state["undoable"] is not None, state["can_skip"]) == (True, True)
    assert state["text"] is state["target_scores"] is state["rating"] is None


def test_the_history_holds_every_answer(taught: Client) -> None:
    rows = taught.history()
    assert [row["choice"] for row in rows] == ["left", "right", "equal", "left", "right", "right"]
    assert [row["deleted"] for row in rows] == [False, False, True, False, False, False]
    assert [row["number"] for row in rows] == [1, 2, 3, 4, 5, 6]
    assert {row["seconds"] for row in rows} == {1.25}
    assert all(row["at"].endswith("Z") and len(set(row["items"])) == 2 for row in rows)
    assert set(rows[0]) == {"question", "number", "kind", "items", "ids", "choice"} | {
        "seconds",
        "at",
        "deleted",
    }


def test_the_learning_summary_has_the_contracts_shape(taught: Client, driver_pool: Pool) -> None:
    found = ok(taught.get("/api/learning-summary"))
    names = {"answers", "enough_answers", "accuracy", "learning_curve", "expected_gain", "hint", "statements"}
    assert set(found) == {*names, "features", "feature_maps", "ranking", "question_map", "surprises"}
    assert found["answers"] == 5
    assert 0.0 <= found["accuracy"]["low"] < found["accuracy"]["mean"] < found["accuracy"]["high"] <= 1.0
    assert found["expected_gain"] >= 0.0
    assert found["hint"].endswith(".")
    assert all(set(statement) == {"sentence", "meaning"} for statement in found["statements"])
    assert all(set(row) == {"answers", "accuracy"} for row in found["learning_curve"])
    assert [f["name"] for f in found["features"]] == list(driver_pool.names)
    assert {f["unit"] for f in found["features"]} > {"m", "m/s"}
    assert sum(f["effect"]["mean"] for f in found["features"]) == pytest.approx(1.0)
    for feature in found["features"]:
        assert all(p["low"] <= p["mean"] <= p["high"] for p in feature["curve"])
        assert [p["x"] for p in feature["curve"]] == sorted(p["x"] for p in feature["curve"])
    for pair in found["feature_maps"]:
        shape = (len(pair["ys"]), len(pair["xs"]))
        assert np.shape(pair["mean"]) == np.shape(pair["std"]) == shape
        assert {pair["x"], pair["y"]} < set(driver_pool.names)
    means = [row["mean"] for row in found["ranking"]]
    assert means == sorted(means, reverse=True)
    best = found["ranking"][0]
    assert (best["rank"], len({row["index"] for row in found["ranking"]})) == (1, 9)
    features = dict(zip(driver_pool.names, driver_pool.features[best["index"]], strict=True))
    assert best["features"] == pytest.approx(features)
    assert best["id"] == f"drive-{best['index']}.mp4"
    answered = [row for row in taught.history() if not row["deleted"]]
    shown = found["question_map"]["pairs"]
    assert [(p["question"], p["number"]) for p in shown] == [(r["question"], r["number"]) for r in answered]


def test_the_learning_curve_ends_at_the_active_answers(taught: Client) -> None:
    """Six were given and one was deleted, so the point after six is not shown, nor are those before five."""
    found = ok(taught.get("/api/learning-summary"))
    (last,) = found["learning_curve"]
    assert last == {"answers": 5, "accuracy": found["accuracy"]["mean"]}


def test_the_downloaded_reward_is_the_one_that_was_learned(
    taught: Client, driver_pool: Pool, tmp_path: Path
) -> None:
    download = taught.get("/api/export/reward.json")
    assert download.headers["content-disposition"] == 'attachment; filename="reward.json"'
    (tmp_path / "reward.json").write_bytes(download.content)
    reward = prefero.load_reward(tmp_path / "reward.json", names=driver_pool.names)
    assert reward.diagnostics["answers"] == 5
    best, told = reward.best(driver_pool), ok(taught.get("/api/reward"))
    assert (told["best"]["index"], told["best"]["id"]) == (best.index, f"drive-{best.index}.mp4")
    assert (told["best"]["mean"], told["best"]["std"]) == pytest.approx((best.mean, best.std))
    assert told["answers"] == 5
    sentences = [statement.sentence for statement in reward.explain(driver_pool)]
    assert len(told["statements"]) == len(sentences)
    assert told["statements"][0]["sentence"][:20] == sentences[0][:20]


def test_the_active_answers_are_downloaded_as_csv_and_as_parquet(taught: Client) -> None:
    kept = [row for row in taught.history() if not row["deleted"]]
    text = taught.get("/api/export/answers.csv")
    assert text.headers["content-type"].startswith("text/csv")
    rows = list(csv.DictReader(io.StringIO(text.text)))
    names = ["question", "choice", "seconds", "at"]
    assert [[row[name] for name in names] for row in rows] == [[str(row[n]) for n in names] for row in kept]
    assert [[int(item) for item in row["items"].split()] for row in rows] == [row["items"] for row in kept]
    assert [json.loads(row["ids"]) for row in rows] == [row["ids"] for row in kept]
    assert all(row["ids"] == [f"drive-{item}.mp4" for item in row["items"]] for row in kept)
    names += ["items", "ids"]
    table = pyarrow.parquet.read_table(io.BytesIO(taught.get("/api/export/answers.parquet").content))
    assert [[row[n] for n in names] for row in table.to_pylist()] == [[r[n] for n in names] for r in kept]
    assert table.column_names == list(rows[0])


def test_the_python_of_the_last_page_runs_as_it_is(taught: Client, tmp_path: Path) -> None:
    (tmp_path / "reward.json").write_bytes(taught.get("/api/export/reward.json").content)
    code = ok(taught.get("/api/reward"))["python"]
    assert 8 <= len(code.splitlines()) <= 12
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=tmp_path,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Reward(of lane distance")
    assert len(done.stdout.splitlines()) >= 4


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


def test_answers_can_be_undone_back_to_the_first(teacher: Client) -> None:
    choices = ("left", "skip", "equal")
    seen = [teacher.session()["question"], *(ok(teacher.answer(choice))["question"] for choice in choices)]
    for question, done in zip(reversed(seen[:-1]), (1, 1, 0), strict=True):
        state = ok(teacher.undo())
        assert (state["question"], state["answered"]) == (question, done)
    assert state["undoable"] is None
    assert error_of(teacher.undo()) == (409, "nothing-to-undo")
    assert error_of(teacher.answer("left", seen[-1]["id"])) == (409, "already-answered")


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
    teacher: Client, store: Store, session: TeachingSession
) -> None:
    for choice in ("left", "equal", "skip"):
        ok(teacher.answer(choice))
    with serving(guest_app(store, session)) as address, Client(address) as later:
        assert later.session() == teacher.session()
        assert later.history() == teacher.history()
        first, second = (ok(page.get("/api/learning-summary")) for page in (teacher, later))
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


def test_a_server_without_the_built_page_says_how_to_build_it(
    store: Store, session: TeachingSession, tmp_path: Path
) -> None:
    with serving(create_app(ServerContext(store, guest=session.visitor), page=tmp_path)) as address:
        found = httpx.get(address)
    assert found.status_code == 503
    assert "make page" in found.text


def test_a_teacher_is_told_how_to_come_back(store: Store, session: TeachingSession) -> None:
    place = ("prefero teach robot", "answers.db")
    context = ServerContext(store, guest=session.visitor, place=place)
    with serving(create_app(context)) as address, Client(address) as page:
        told = ok(page.get("/api/teaching"))
    assert told == {"command": place[0], "stored_in": place[1], "by_link": False}
