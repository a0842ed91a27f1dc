"""The HTTP API route by route, for a teacher's session.

A study's participants are in test_participants.py, what is refused and to whom in test_security.py.
"""

import csv
import io
import json
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow.parquet
import pytest

import plain_http
import prefero
from prefero import Pool
from prefero.server.app import create_app
from prefero.server.auth import SESSION_HEADER, ServerContext
from prefero.server.openapi import openapi
from prefero.studies.storage.database import open_database
from prefero.studies.storage.store import Store
from server.served_studies import (
    Client,
    TeachingSession,
    add_teaching,
    guest_app,
    new_key,
    ok,
    serving,
)

CONTRACT = {
    "GET /api/me",
    "POST /api/enter",
    "POST /api/leave",
    "GET /api/session",
    "GET /api/session/prefetch",
    "POST /api/session/events",
    "POST /api/session/reasons",
    "POST /api/session/undo",
    "POST /api/session/stages",
    "GET /api/display",
    "GET /api/trajectories/{index}",
    "GET /api/trajectories/{index}/signals",
    "GET /api/clips/{index}.mp4",
    "GET /api/clips/{index}/cameras/{camera}.mp4",
    "GET /api/clips/{index}/cameras/{camera}/status",
    "GET /api/clips/{index}/status",
    "GET /api/teaching",
    "GET /api/learning-summary",
    "GET /api/history",
    "POST /api/history",
    "GET /api/reward",
    "GET /api/stopping",
    "POST /api/what-if",
    "GET /api/export/report.html",
    "GET /api/export/everything.zip",
    "GET /api/export/reward.json",
    "GET /api/export/answers.csv",
    "GET /api/export/answers.parquet",
    "GET /api/export/trajectories.csv",
    "GET /api/pool",
    "GET /api/pool/{index}/thumbnail.jpg",
    "POST /api/pool/question",
    "POST /api/pool/question/withdraw",
    "GET /api/annotations",
    "POST /api/annotations",
    "GET /api/progress",
    "GET /api/sessions",
    "POST /api/sessions",
    "POST /api/sessions/open",
    "POST /api/sessions/rename",
    "POST /api/sessions/archive",
    "POST /api/sessions/copy",
    "POST /api/sessions/settings",
    "POST /api/session/rest",
    "GET /api/beginnings/{beginning}",
    "POST /api/beginnings/cancel",
    "POST /api/uploads",
    "POST /api/uploads/chunk",
    "POST /api/uploads/cancel",
    "GET /api/phone",
}
STATE = {
    *(
        "stage",
        "title",
        "text",
        "answered",
        "total",
        "question",
        "choices",
        "kinds",
        "items",
        "words",
        "ties",
    ),
    "reasons",
    *("undoable", "can_skip", "watch_to_end", "target_scores", "rating", "task_description", "own_scores"),
    *("accuracy", "goal", "arena"),
}


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


FILES = {
    "/api/clips/{index}.mp4",
    "/api/clips/{index}/cameras/{camera}.mp4",
    "/api/pool/{index}/thumbnail.jpg",
}
DOWNLOADS = {*FILES, *(path.split()[1] for path in CONTRACT if "/export/" in path)}


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
        "manages": False,
        "version": prefero.__version__,
    }


def test_the_session_state_has_the_contracts_fields(taught: Client) -> None:
    state = taught.session()
    assert set(state) == STATE
    assert set(state["question"]) == {"id", "number", "items", "value", "unit", "kind", "by_hand"}
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
        "words",
        "because",
        "selection",
        "note",
        "tags",
        "seconds",
        "at",
        "deleted",
    }


def test_the_learning_summary_has_the_contracts_shape(taught: Client, driver_pool: Pool) -> None:
    found = ok(taught.get("/api/learning-summary"))
    names = {"answers", "enough_answers", "accuracy", "learning_curve", "expected_gain", "hint", "statements"}
    assert set(found) == {
        *names,
        "features",
        "feature_maps",
        "ranking",
        "worst",
        "sample",
        "question_map",
        "surprises",
        "acceptable",
        "known",
    }
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


def test_what_the_reward_would_be_at_a_place(taught: Client, driver_pool: Pool) -> None:
    found = ok(taught.post("/api/what-if", start=3, values={"speed": 0.1}))
    assert found["values"]["speed"] == pytest.approx(0.1)
    assert set(found["values"]) == set(driver_pool.names)
    assert 0.0 <= found["better_than"]["low"] <= found["better_than"]["high"] <= 1.0
    assert found["nearest"]["id"] == f"drive-{found['nearest']['index']}.mp4"
    refused = taught.post("/api/what-if", values={"sped": 1.0})
    assert (refused.status_code, refused.json()["error"]["code"]) == (422, "bad-place")


def test_nobody_is_told_to_stop_after_a_few_answers(taught: Client) -> None:
    found = ok(taught.get("/api/stopping"))
    assert (found["can_stop"], found["answers"], found["ahead"]) == (False, 5, 5)


def test_everything_is_one_zip_whose_files_are_those_of_the_other_downloads(taught: Client) -> None:
    with zipfile.ZipFile(io.BytesIO(taught.get("/api/export/everything.zip").content)) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    for name in ("reward.json", "answers.csv"):
        assert content[name] == taught.get(f"/api/export/{name}").content
    assert len(pyarrow.parquet.read_table(io.BytesIO(content["answers.parquet"]))) == 5
    assert content["report.html"].startswith(b"<!doctype html>")
    readme = content["README.txt"].decode()
    assert all(name in readme for name in content)


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


def test_a_server_without_the_built_page_says_how_to_build_it(
    store: Store, session: TeachingSession, tmp_path: Path
) -> None:
    with serving(create_app(ServerContext(store, guest=session.visitor), page=tmp_path)) as address:
        found = plain_http.get(address)
    assert found.status_code == 503
    assert "make page" in found.text


def test_a_teacher_is_told_how_to_come_back(store: Store, session: TeachingSession) -> None:
    place = ("prefero teach robot", "answers.db")
    context = ServerContext(store, guest=session.visitor, place=place)
    with serving(create_app(context)) as address, Client(address) as page:
        told = ok(page.get("/api/teaching"))
    assert told == {"command": place[0], "stored_in": place[1], "by_link": False}
