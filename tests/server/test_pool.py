"""The pool as the teacher's page gets it: pages of trajectories, questions by hand, notes and tags, files."""

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet
import pytest

from datasets.write_datasets import write_lerobot_3
from prefero import Pool, load_reward
from prefero.datasets.media.images import decode_image
from prefero.datasets.media.video_files import read_frames
from prefero.models.posterior.mixture import ENOUGH_ANSWERS
from prefero.studies.start import begin_teaching
from prefero.studies.storage.database import open_database
from prefero.studies.storage.store import Store
from server.served_studies import (
    FAST_TEACHING,
    Client,
    TeachingSession,
    add_teaching,
    error_of,
    guest_app,
    new_key,
    ok,
    serving,
)


@pytest.fixture(scope="module")
def page(driver_pool: Pool, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """A session with five answers; trajectory 3 has a note, and 3 and 5 have tags."""
    store = Store(open_database(tmp_path_factory.mktemp("pool") / "teach.db"))
    app = guest_app(store, add_teaching(store, driver_pool, FAST_TEACHING))
    with serving(app) as address, Client(address) as page:
        for _ in range(ENOUGH_ANSWERS):
            ok(page.answer("left"))
        annotate(page, "note", "Almost hit the curb", trajectory=3)
        annotate(page, "tag", "collision", trajectory=3)
        annotate(page, "tag", "Collision", trajectory=5)
        annotate(page, "tag", "slow", trajectory=5)
        yield page
    store.engine.dispose()


def annotate(page: Client, kind: str, text: str, **about: int) -> dict[str, Any]:
    return ok(page.post("/api/annotations", key=new_key(), kind=kind, text=text, **about))


def listed(page: Client, query: str = "") -> dict[str, Any]:
    return ok(page.get(f"/api/pool?{query}"))


def indices(page: Client, query: str = "") -> list[int]:
    return [one["index"] for one in listed(page, query)["trajectories"]]


def test_a_page_has_what_the_cards_show(page: Client, driver_pool: Pool) -> None:
    found = listed(page)
    assert (found["total"], found["matching"], found["answers"]) == (12, 12, ENOUGH_ANSWERS)
    assert found["sizes"] == [2]
    third = found["trajectories"][3]
    assert (third["index"], third["id"]) == (3, "drive-3.mp4")
    assert (third["note"], third["tags"]) == ("Almost hit the curb", ["collision"])
    assert third["features"] == dict(zip(driver_pool.names, driver_pool.features[3].tolist(), strict=True))
    assert found["tags"] == [{"tag": "collision", "count": 2}, {"tag": "slow", "count": 1}]
    assert [one["low"] for one in found["features"]] == driver_pool.features.min(axis=0).tolist()


def test_it_is_sorted_by_reward_uncertainty_features_id_and_how_often_it_was_shown(page: Client) -> None:
    rows = {one["index"]: one for one in listed(page)["trajectories"]}
    for sort, key in [("reward", "mean"), ("std", "std"), ("shown", "shown")]:
        values = [rows[index][key] for index in indices(page, f"sort={sort}&descending=true")]
        assert values == sorted(values, reverse=True), sort
        assert len(set(values)) > 1
        assert indices(page, f"sort={sort}") != indices(page, f"sort={sort}&descending=true")
    name = listed(page)["features"][1]["name"]
    values = [rows[index]["features"][name] for index in indices(page, "sort=feature&feature=1")]
    assert values == sorted(values)
    assert indices(page, "sort=id") == list(range(12))  # drive-10 comes after drive-9
    assert indices(page, "sort=id&descending=true") == list(range(11, -1, -1))


def test_the_rewards_are_those_of_the_downloaded_reward(
    page: Client, driver_pool: Pool, tmp_path: Path
) -> None:
    (tmp_path / "reward.json").write_bytes(page.get("/api/export/reward.json").content)
    mean, std = load_reward(tmp_path / "reward.json").standardized(driver_pool.features, driver_pool)
    found = listed(page)["trajectories"]
    np.testing.assert_allclose([one["mean"] for one in found], mean, rtol=1e-6)
    np.testing.assert_allclose([one["std"] for one in found], std, rtol=1e-6)


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("text=CURB", [3]),
        ("text=drive-1", [1, 10, 11]),
        ("text=7", [7]),
        ("text=no.+7", [7]),
        ("text=slow", [5]),
        ("tag=COLLISION", [3, 5]),
        ("tag=coll", []),
        ("text=nothing+like+it", []),
        ("offset=10&limit=5", [10, 11]),
        ("tag=collision&descending=true", [5, 3]),
    ],
)
def test_it_is_filtered_by_text_and_tag_and_cut_into_pages(
    page: Client, query: str, wanted: list[int]
) -> None:
    assert indices(page, query) == wanted


def test_it_is_filtered_by_ranges_and_by_what_was_shown(page: Client, driver_pool: Pool) -> None:
    values = driver_pool.features[:, 1]
    low, high = np.sort(values)[[2, 8]]
    inside = np.flatnonzero((values >= low) & (values <= high)).tolist()
    assert indices(page, f"between=1:{float(low)}:{float(high)}") == inside
    assert indices(page, f"between=1:{float(low)}:&between=0::{driver_pool.features[:, 0].max()}") == (
        np.flatnonzero(values >= low).tolist()
    )
    shown, never = set(indices(page, "shown=shown")), set(indices(page, "shown=never"))
    asked = {item for answer in page.history() for item in answer["items"]}
    asked |= set(ok(page.get("/api/session"))["question"]["items"])
    assert (shown, never) == (asked, set(range(12)) - asked)


@pytest.mark.parametrize(
    ("query", "status", "code"),
    [
        ("limit=101", 422, "invalid"),
        ("sort=size", 422, "invalid"),
        ("between=1:a:b", 422, "invalid"),
        ("between=99:0:1", 422, "bad-feature"),
        ("sort=feature&feature=99", 422, "bad-feature"),
        ("colour=red", 422, "invalid"),
    ],
)
def test_bad_searches_are_refused(page: Client, query: str, status: int, code: str) -> None:
    assert error_of(page.get(f"/api/pool?{query}")) == (status, code)


def test_before_there_are_enough_answers_there_are_no_rewards(store: Store, pool: Pool) -> None:
    app = guest_app(store, add_teaching(store, pool, FAST_TEACHING))
    with serving(app) as address, Client(address) as page:
        found = listed(page, "sort=reward&descending=true")
        assert [one["mean"] for one in found["trajectories"]] == [None] * 12
        assert (found["answers"], found["enough_answers"]) == (0, ENOUGH_ANSWERS)
        assert found["trajectories"][0]["id"] is None


def test_chosen_trajectories_are_asked_about_and_annotated_and_exported(
    store: Store, session: TeachingSession
) -> None:
    with serving(guest_app(store, session)) as address, Client(address) as page:
        before = ok(page.get("/api/session"))["question"]
        state = ok(page.post("/api/pool/question", key=new_key(), items=[7, 2]))
        assert (state["question"]["items"], state["question"]["by_hand"]) == ([7, 2], True)
        back = ok(page.post("/api/pool/question/withdraw", key=new_key(), question=state["question"]["id"]))
        assert back["question"]["items"] == before["items"]
        asked = ok(page.post("/api/pool/question", key=new_key(), items=[7, 2]))["question"]["id"]
        annotate(page, "tag", "collision", question=asked)
        annotate(page, "note", "=1+1", question=asked)
        ok(page.answer("right"))
        (past,) = page.history()
        assert (past["selection"], past["tags"], past["note"]) == ("by-hand", ["collision"], "=1+1")
        (row,) = csv.DictReader(io.StringIO(page.get("/api/export/answers.csv").text))
        assert (row["selection"], json.loads(row["tags"])) == ("by-hand", ["collision"])
        table = pyarrow.parquet.read_table(io.BytesIO(page.get("/api/export/answers.parquet").content))
        (parquet,) = table.to_pylist()
        assert (parquet["tags"], parquet["note"]) == (["collision"], "=1+1")
        found = ok(page.get("/api/annotations"))
        assert found["questions"] == [{"of": asked, "note": "=1+1", "tags": ["collision"]}]
        assert found["trajectories"] == []


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"items": [1]}, "bad-items"),
        ({"items": [1, 1]}, "bad-items"),
        ({"items": [1, 99]}, "no-trajectory"),
        ({"items": []}, "invalid"),
        ({"items": [1, -2]}, "invalid"),
    ],
)
def test_what_cannot_be_asked_is_refused(page: Client, body: dict[str, Any], code: str) -> None:
    assert error_of(page.post("/api/pool/question", key=new_key(), **body))[1] == code


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"kind": "tag", "text": " ", "trajectory": 0}, "bad-annotation"),
        ({"kind": "tag", "text": "x" * 41, "trajectory": 0}, "bad-annotation"),
        ({"kind": "note", "text": "x" * 2001, "trajectory": 0}, "bad-annotation"),
        ({"kind": "note", "text": "x", "trajectory": 99}, "no-trajectory"),
        ({"kind": "note", "text": "x", "question": 10**6}, "no-question"),
        ({"kind": "note", "text": "x"}, "invalid"),
        ({"kind": "note", "text": "x", "trajectory": 0, "question": 1}, "invalid"),
        ({"kind": "remark", "text": "x", "trajectory": 0}, "invalid"),
    ],
)
def test_what_cannot_be_noted_is_refused(page: Client, body: dict[str, Any], code: str) -> None:
    assert error_of(page.post("/api/annotations", key=new_key(), **body))[1] == code


def test_the_trajectories_are_a_table(page: Client, driver_pool: Pool) -> None:
    rows = list(csv.DictReader(io.StringIO(page.get("/api/export/trajectories.csv").text)))
    names = list(driver_pool.names)
    assert list(rows[0]) == ["index", "id", *names, "shown", "reward", "std", "acceptable", "tags", "note"]
    assert [[float(row[name]) for name in names] for row in rows] == driver_pool.features.tolist()
    cards = listed(page)["trajectories"]
    assert [float(row["reward"]) for row in rows] == [one["mean"] for one in cards]
    assert [row["acceptable"] for row in rows] == [""] * 12
    assert (json.loads(rows[3]["tags"]), rows[3]["note"]) == (["collision"], "Almost hit the curb")
    assert (rows[4]["tags"], rows[4]["note"]) == ("", "")


@pytest.mark.filterwarnings("ignore:episodes have", "ignore:.* are strongly correlated")
def test_a_clip_that_is_not_cut_has_a_thumbnail_and_is_still_not_cut(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PREFERO_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PREFERO_DATA", str(tmp_path / "data"))
    study, person, _ = begin_teaching(store, str(write_lerobot_3(tmp_path / "arm")), None, 30)
    clips = store.pool(study).clips
    assert clips is not None
    with serving(guest_app(store, TeachingSession(study, person, ""))) as address, Client(address) as page:
        found = page.get("/api/pool/1/thumbnail.jpg")
        assert (found.status_code, found.headers["content-type"]) == (200, "image/jpeg")
        assert not Path(clips[1]).exists()
        page.get("/api/clips/1.mp4")
        again = page.get("/api/pool/1/thumbnail.jpg")
        assert Path(clips[1]).exists()
        assert error_of(page.get("/api/pool/999/thumbnail.jpg")) == (404, "no-trajectory")
    first, cut = (decode_image(one.content, "it").astype(float) for one in (found, again))
    assert first.shape == cut.shape
    middle = np.array(list(read_frames(Path(clips[1]))), dtype=float)
    assert min(abs(frame - cut).mean() for frame in middle) < 8


def test_a_solid_scene_has_thumbnails(
    store: Store, golf_pool: Pool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PREFERO_CACHE", str(tmp_path / "cache"))
    app = guest_app(store, add_teaching(store, golf_pool, FAST_TEACHING))
    with serving(app) as address, Client(address) as page:
        files = [page.get(f"/api/pool/{index}/thumbnail.jpg").content for index in (0, 8)]
    images = [decode_image(one, "it") for one in files]
    assert [image.shape for image in images] == [(200, 300, 3)] * 2
    assert (images[0] != images[1]).any()
    assert all(image.std() > 10 for image in images)  # not one color
