"""A Robometer server, played by one that reads forms with the parser of the standard library."""

import email
import io
import json
from email.policy import HTTP
from pathlib import Path

import numpy as np
import pytest

from judges.conformance import check_judge
from judges.judge_servers import Asked, Character, Reply, serving
from prefero import Pool, worlds
from prefero._support.arrays import Array
from prefero.judges import JudgeError, judge_named, judge_pairs
from prefero.judges.progress_server import FRAMES, ProgressJudge

TASK = "toss the capsule into the green basket"
Form = dict[str, bytes]


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREFERO_CACHE", str(tmp_path / "cache"))


@pytest.fixture(scope="module")
def pool() -> Pool:
    return Pool.simulate(worlds.make("tosser"), 6, progress=False)


def form(asked: Asked) -> Form:
    """The parts of a form by name, as RFC 7578 has them."""
    head = f"Content-Type: {asked.headers['Content-Type']}\r\n\r\n".encode()
    message = email.message_from_bytes(head + asked.body, policy=HTTP)
    found: Form = {}
    for part in message.iter_parts():
        content = part.get_payload(decode=True)
        assert isinstance(content, bytes)
        found[str(part.get_param("name", header="content-disposition"))] = content
        assert part.get_filename() in (None, f"{part.get_param('name', header='content-disposition')}.npy")
    return found


def frames_of(asked: Asked, place: int) -> Array:
    """What the server makes of a sample: the array that its JSON refers to."""
    parts = form(asked)
    trajectory = json.loads(parts[f"sample_{place}"])["trajectory"]
    return np.asarray(np.load(io.BytesIO(parts[trajectory["frames"]["__numpy_file__"]])))


def scored(asked: Asked, place: int) -> list[float]:
    """Progress in each frame; at its end by the darkness of the last one."""
    frames = frames_of(asked, place)
    return [0.1] * (len(frames) - 1) + [float(frames[-1].mean()) / 255]


def robometer(asked: Asked, _: int) -> Reply:
    progress = [scored(asked, place) for place in (0, 1)]
    return Reply(
        json.dumps({"outputs_preference": None, "outputs_progress": {"progress_pred": progress}}).encode()
    )


def says(first: float, second: float) -> Character:
    answer = {"outputs_progress": {"progress_pred": [[0.0, first], [0.0, second]]}}
    return lambda *_: Reply(json.dumps(answer).encode())


def test_frames_and_the_task_are_sent_as_robometer_reads_them(pool: Pool) -> None:
    with serving(robometer) as server:
        judge = judge_named(f"robometer={server.address}", TASK)
        found = judge_pairs(pool, judge, [(0, 1), (2, 3)], progress=False)
        first = server.asked[0]
        check_judge(judge, pool)
    assert first.path == "/evaluate_batch_npy"
    parts = form(first)
    assert parts["use_frame_steps"] == b"false"
    sample = json.loads(parts["sample_0"])
    frames = frames_of(first, 0)
    assert sample["sample_type"] == "progress"
    assert sample["trajectory"]["task"] == TASK
    assert sample["trajectory"]["frames_shape"] == list(frames.shape)
    assert frames.shape[0] == FRAMES
    assert frames.dtype == np.uint8
    assert found.calls == 2  # a score needs no other order
    assert found.judgements.judge == "robometer"


@pytest.mark.parametrize(
    ("scores", "choice"), [((0.9, 0.2), "left"), ((0.1, 0.2), "right"), ((0.5, 0.51), "equal")]
)
def test_more_progress_at_the_end_is_better(pool: Pool, scores: tuple[float, float], choice: str) -> None:
    with serving(says(*scores)) as server:
        found = judge_pairs(pool, ProgressJudge(server.address, TASK), [(0, 1)], progress=False)
    assert [pair.choice for pair in found.pairs] == [choice]
    assert f"{scores[0]:.2f}" in found.pairs[0].reason


@pytest.mark.parametrize(
    "answer", [b"{}", b"[]", b'{"outputs_progress": {"progress_pred": [[0.1]]}}', b"<html>"]
)
def test_an_answer_without_progress_is_malformed(pool: Pool, answer: bytes) -> None:
    with (
        serving(lambda *_: Reply(answer)) as server,
        pytest.raises(JudgeError, match="1 answers were malformed"),
    ):
        judge_pairs(pool, ProgressJudge(server.address, TASK), [(0, 1)], progress=False)


def test_features_alone_are_nothing_to_see() -> None:
    features = Pool(np.eye(3))
    with pytest.raises(ValueError, match="nothing to see"):
        judge_pairs(features, ProgressJudge("http://127.0.0.1:1", TASK), [(0, 1)], progress=False)
