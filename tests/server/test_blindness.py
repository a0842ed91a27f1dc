"""A judge of an arena as an attacker: nothing that is sent tells whose a rollout is, or who leads."""

import io
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import av
import httpx
import numpy as np
import pytest

from prefero.arena.sources import RolloutSource, read_rollouts
from prefero.datasets import open_dataset
from prefero.rendering.video import save_video
from prefero.server.app import create_app
from prefero.server.auth import ServerContext, Visitor
from prefero.studies.arena_start import arena_name, begin_arena
from prefero.studies.storage.store import Store, Study, new_secret
from server.served_studies import Client, InvitedStudy, new_key, ok, serving

RECORDED = {"alice_v1": "2021-03-04T05:06:07Z", "bob_v2": "2023-08-09T10:11:12Z"}
MODIFIED = {"alice_v1": 1_614_834_367, "bob_v2": 1_691_575_872}  # the same times, of the files
TELLING = rb"alice|bob_v2|kitchen|camera of|2021-|mar 2021|2023-|aug 2023|x264|lavf"
ROLLOUTS = 3  # of each policy


def record(folder: Path, policy: str) -> Path:
    """Videos whose names, tags, times and modification times say whose they are."""
    folder = folder / policy
    folder.mkdir()
    for number in range(ROLLOUTS):
        plain, video = folder / f"plain-{number}.mp4", folder / f"kitchen-{policy}-{number}.mp4"
        shade = 40 * number + 90 * (policy == "bob_v2")
        save_video(plain, (np.full((32, 48, 3), shade + step, np.uint8) for step in range(6)), 16)
        tag(plain, video, policy)
        plain.unlink()
        os.utime(video, (MODIFIED[policy], MODIFIED[policy]))
    return folder


def tag(plain: Path, video: Path, policy: str) -> None:
    tags = {"title": policy, "comment": f"by {policy}", "creation_time": RECORDED[policy], "run": policy}
    with (
        av.open(str(plain)) as source,
        av.open(str(video), "w", options={"movflags": "use_metadata_tags"}) as target,
    ):
        target.metadata.update(tags)
        stream = target.add_stream_from_template(source.streams.video[0])
        stream.metadata.update({"handler_name": f"camera of {policy}", "creation_time": RECORDED[policy]})
        for packet in source.demux(source.streams.video[0]):
            if packet.size:
                packet.stream = stream
                target.mux(packet)


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREFERO_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PREFERO_DATA", str(tmp_path / "data"))


@pytest.fixture
def arena(store: Store, tmp_path: Path) -> Study:
    """Two policies, whose videos browsers play as they are."""
    folders = [record(tmp_path, policy) for policy in RECORDED]
    sources = [RolloutSource(open_dataset(folder), folder.name) for folder in folders]
    assert [Path(sources[0].dataset.clip_path(0, tmp_path)).parent.name] == ["alice_v1"]
    name = arena_name(list(RECORDED))
    return begin_arena(store, name, None, lambda: read_rollouts(sources, questions=8), "anna")[0]


class Attacker(Client):
    """A judge who keeps every byte that the server sends."""

    def __init__(self, address: str, secret: str) -> None:
        self.seen: list[httpx.Response] = []
        super().__init__(address, secret)

    def get(self, path: str, **headers: str) -> httpx.Response:
        return self._kept(super().get(path, **headers))

    def post(self, path: str, **content: Any) -> httpx.Response:
        return self._kept(super().post(path, **content))

    def _kept(self, response: httpx.Response) -> httpx.Response:
        self.seen.append(response)
        return response

    @property
    def traffic(self) -> bytes:
        """All headers and bodies."""
        return b"\n".join(
            b"\n".join(b": ".join(pair) for pair in one.headers.raw if pair[0] != b"date") + one.content
            for one in self.seen
        )


@pytest.fixture
def judge(store: Store, arena: Study) -> Iterator[Attacker]:
    secret = new_secret()
    store.invite(arena, "P1", secret)
    with serving(create_app(ServerContext(store))) as address, Attacker(address, secret) as client:
        yield client


def look_around(judge: Attacker) -> None:
    """Every path that the server documents, with good and bad values."""
    paths = ok(judge.get("/api/openapi.json"))["paths"]
    del paths["/api/leave"]
    for index in ("0", "3", "99", "x"):
        for path, methods in paths.items():
            place = path.replace("{index}", index)
            for method in methods:
                judge.get(place) if method == "get" else judge.post(place, key=new_key(), question=1)
    judge.get("/api/session", **{"x-prefero-session": "another"})


def test_nothing_that_is_sent_says_whose_a_rollout_is(
    no_rate_limit: None, judge: Attacker, arena: Study, tmp_path: Path
) -> None:
    del no_rate_limit
    recorded = b"".join(path.read_bytes() for path in tmp_path.rglob("*kitchen*.mp4"))
    assert {one.lower() for one in re.findall(TELLING, recorded, re.IGNORECASE)} >= {b"alice", b"x264"}
    look_around(judge)
    state = judge.session()
    while state["stage"] == "compare":
        for item in state["question"]["items"]:
            judge.get(f"/api/clips/{item}/status")
            check_clip(judge.get(f"/api/clips/{item}.mp4"))
        judge.get("/api/session/prefetch")
        state = ok(judge.answer("left"))
    look_around(judge)
    assert state["arena"] == {"answers": 8, "questions": 8, "result": None}
    found = re.findall(rb".{0,60}(?:" + TELLING + rb").{0,60}", judge.traffic, re.IGNORECASE)
    assert found == []
    assert arena.name.encode() == b"alice_v1 vs bob_v2"


def check_clip(response: httpx.Response) -> None:
    """It is a whole video without tags, and headers that are the same for all clips of its size."""
    assert response.headers["last-modified"] == "Thu, 01 Jan 1970 00:00:00 GMT"
    with av.open(io.BytesIO(response.content), "r") as video:
        assert set(video.metadata) <= {"major_brand", "minor_version", "compatible_brands"}
        assert video.streams.video[0].metadata == {"language": "und", "handler_name": "VideoHandler"}
        assert len(list(video.decode(video=0))) == 6


def test_nothing_that_is_shown_depends_on_who_leads(judge: Attacker) -> None:
    """With a probability, a judge would answer, see whether it rose, and undo."""
    for _ in range(3):
        judge.answer("left")
    shown = []
    for choice in ("left", "right", "equal"):
        state = ok(judge.answer(choice))
        shown.append({key: value for key, value in state.items() if key not in ("question", "undoable")})
        assert set(state["question"]) == {"id", "number", "items", "value", "unit", "kind", "by_hand"}
        assert (state["question"]["value"], state["question"]["unit"]) == (None, None)
        ok(judge.undo())
    assert shown[0] == shown[1] == shown[2]


def test_who_runs_the_arena_sees_its_result_and_goes_on(store: Store, arena: Study) -> None:
    visitor = Visitor("participant", arena, store.participants(arena)[0])
    context = ServerContext(store, guest=visitor, arena_report="prefero arena report")
    secret = new_secret()
    store.invite(arena, "P1", secret)
    with (
        serving(create_app(context)) as address,
        Client(address) as runs_it,
        Client(address, secret) as other,
    ):
        state: dict[str, Any] = runs_it.session()
        while state["arena"]["result"] is None:
            assert state["stage"] == "compare"
            state = ok(runs_it.answer("left"))
        result = state["arena"]["result"]
        assert {row["policy"] for row in result["standings"]} == set(RECORDED)
        assert result["report"] == "prefero arena report"
        answered = state["answered"]
        assert ok(runs_it.answer("left"))["answered"] == answered + 1
        invited = other.session()
        assert (invited["stage"], invited["arena"]["result"]) == ("done", None)
        assert "alice" not in str(invited)


def test_participants_of_a_study_see_neither_its_name_nor_its_methods(
    store: Store, invited: InvitedStudy, no_rate_limit: None
) -> None:
    del no_rate_limit
    with serving(create_app(ServerContext(store))) as address, Attacker(address, invited.codes[0]) as judge:
        look_around(judge)
        judge.submit("consent", agreed=True)
        judge.submit("instructions")
        judge.submit("practice", choice="left")
        for _ in range(7):
            judge.answer("left")
        look_around(judge)
        assert judge.session()["stage"] == "rate"
        assert not re.findall(rb"walks|RandomGP|ActiveGP|\"Random\"|\"Active\"", judge.traffic)
