"""Models with an address, played by a server: good, bad, slow and broken ones, and what they are sent."""

import io
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from judges.conformance import check_judge
from judges.judge_servers import (
    LINE,
    WEIGHTS,
    Asked,
    Character,
    JudgeServer,
    Reply,
    adversarial,
    always,
    chat,
    error,
    good,
    says,
    serving,
)
from prefero import Learner, Pool, worlds
from prefero.judges import Budget, JudgedPairs, JudgeError, judge_named, judge_pairs, spread_pairs
from prefero.judges.chat import ANSWER_TOKENS, ChatJudge
from prefero.judges.http_client import retry_after
from prefero.judges.sheets import FRAMES

X = np.random.default_rng(1).normal(size=(40, 3))
POOL = Pool(X, list(WEIGHTS))
REWARD = X @ list(WEIGHTS.values())
PAIRS = spread_pairs(POOL, 12)
TASK = "drive fast and smoothly"
KEY = "sk-a-very-secret-key"


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PREFERO_CACHE", str(tmp_path / "cache"))
    for name in ("PREFERO_JUDGE_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "cache"


@dataclass
class Run:
    """Runs against one server, and the pauses between attempts."""

    server: JudgeServer
    pauses: list[float] = field(default_factory=list)

    def judge(self, timeout: float = 20.0) -> ChatJudge:
        return ChatJudge(f"{self.server.address}/v1", "qwen", TASK, timeout=timeout)

    def __call__(self, pairs: int = len(PAIRS), timeout: float = 20.0, **options: Any) -> JudgedPairs:
        judge = self.judge(timeout)
        return judge_pairs(POOL, judge, PAIRS[:pairs], progress=False, pause=self.pauses.append, **options)


@pytest.fixture
def run() -> Iterator[Callable[[Character], Run]]:
    opened = []

    def start(character: Character) -> Run:
        context = serving(character)
        opened.append(context)
        return Run(context.__enter__())

    yield start
    for context in opened:
        context.__exit__(None, None, None)


Start = Callable[[Character], Run]


# --- what judges say --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("character", "sign"), [(good, 1.0), (adversarial, -1.0)])
def test_judgements_are_what_the_judge_said_of_the_right_trajectories(
    run: Start, character: Character, sign: float
) -> None:
    asked = run(character)
    found = asked()
    assert len(asked.server.asked) == 2 * len(PAIRS) == found.calls
    assert found.consistent == len(PAIRS)
    assert not found.judgements.tied.any()
    gaps = sign * (found.judgements.better - found.judgements.worse) @ list(WEIGHTS.values())
    assert (gaps > 0).all()
    for pair in found.pairs:
        better, worse = (pair.left, pair.right) if pair.choice == "left" else (pair.right, pair.left)
        assert sign * REWARD[better] > sign * REWARD[worse]


@pytest.mark.parametrize("word", ["A", "B"])
def test_a_judge_who_always_says_the_same_place_is_found_out_by_the_other_order(
    run: Start, word: str
) -> None:
    found = run(always(word))()
    assert found.contradicting == len(PAIRS)
    assert found.judgements.tied.all()
    place = "first" if word == "A" else "second"
    said = " ".join(found.describe())
    assert f"shown {place} in over 99% of its choices" in said
    assert "Nothing can be learned" in said


def test_a_lazy_judge_makes_ties(run: Start) -> None:
    found = run(always("equal"))()
    assert found.judgements.tied.all()
    assert (found.consistent, found.contradicting) == (len(PAIRS), 0)


def test_what_a_judge_cannot_say_is_left_out(run: Start) -> None:
    found = run(lambda asked, number: says("unclear") if number < 2 else good(asked, number))()
    assert len(found.pairs) == len(found.judgements) == len(PAIRS) - 2  # each lost one of its orders
    assert found.unsure == 2


def test_the_reason_is_the_description_of_both(run: Start) -> None:
    assert run(good)(1).pairs[0].reason == "A: it goes B: it goes too"


def test_a_learner_with_a_good_judge_knows_the_reward_before_the_first_answer(run: Start) -> None:
    learner = Learner(POOL)
    learner.judge(run(good)().judgements)
    assert np.corrcoef(learner.reward().predict(X), REWARD)[0, 1] > 0.8


def test_it_is_a_judge_as_all_are(run: Start) -> None:
    check_judge(run(good).judge(), POOL)


# --- what is sent -----------------------------------------------------------------------------------------


def test_the_task_the_schema_and_the_features_are_sent(run: Start) -> None:
    asked = run(good)
    asked(1)
    (first, second) = asked.server.asked
    assert first.path == "/v1/chat/completions"
    assert TASK in first.text
    assert first.json["response_format"]["json_schema"]["schema"]["required"] == ["a", "b", "better"]
    left, right = PAIRS[0]
    lines = {name: (float(a), float(b)) for name, a, b in _rows(first)}
    assert lines["speed"] == pytest.approx((X[left, 0], X[right, 0]), abs=0.06)
    swapped = {name: (float(b), float(a)) for name, a, b in _rows(second)}
    assert swapped == lines


def _rows(asked: Asked) -> list[tuple[str, str, str]]:
    return LINE.findall(asked.text)


def test_sheets_are_images_with_as_many_frames_as_promised(run: Start) -> None:
    pool = Pool.simulate(worlds.make("tosser"), 4, progress=False)
    asked = run(always("A"))
    judge_pairs(pool, asked.judge(), [(0, 1)], progress=False)
    first, second = (one.images for one in asked.server.asked)
    assert first == second[::-1]
    assert first[0] != first[1]
    assert f"Motion A: {FRAMES} frames from 0.0 s to 2.0 s." in asked.server.asked[0].text
    with Image.open(io.BytesIO(first[0])) as image:
        image.load()
        pixels = np.asarray(image.convert("L"))
    borders = (pixels == 190).mean(axis=0) > 0.7  # columns of gray outlines, two a frame
    assert borders.sum() == FRAMES  # four frames abreast, in two rows


# --- keys -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["PREFERO_JUDGE_KEY", "OPENAI_API_KEY"])
def test_the_key_is_sent_and_is_nowhere_else(
    run: Start, own_cache: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], name: str
) -> None:
    monkeypatch.setenv(name, KEY)
    asked = run(
        lambda request, number: error(401, f"wrong key {KEY}") if number == 3 else good(request, number)
    )
    judge = asked.judge()
    found = asked(2)
    assert {one.headers["Authorization"] for one in asked.server.asked} == {f"Bearer {KEY}"}
    said = [repr(judge), str(vars(judge).get("key")), judge.sends(POOL, 2), found.stopped, *found.describe()]
    said += [path.read_text(encoding="utf-8") for path in own_cache.rglob("*.json")]
    said += list(capfd.readouterr())
    assert len(list(own_cache.rglob("*.json"))) == 3
    assert not any(KEY in text for text in said)
    assert name in judge.sends(POOL, 2)
    assert "refuses the key (code 401)" in found.stopped


def test_a_key_that_a_server_repeats_is_blotted_out(
    run: Start, own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PREFERO_JUDGE_KEY", KEY)
    echoes = [error(400, KEY), error(429, KEY, Retry_After="1"), chat({"a": KEY, "b": "", "better": "A"})]
    asked = run(lambda _, number: echoes[number] if number < 3 else error(307, Location=f"http://x/{KEY}"))
    asked.judge()
    with pytest.raises(JudgeError, match="redirects to http://x/\\*\\*\\*") as found:
        asked(1)
    kept = [path.read_text(encoding="utf-8") for path in own_cache.rglob("*.json")]
    assert len(kept) == 1
    assert not any(KEY in text for text in (*kept, str(found.value), str(found.value.__cause__)))


@pytest.mark.parametrize("key", ["two words", "two\nlines", "schlüssel"])
def test_a_key_that_is_none_is_refused_without_being_shown(monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    monkeypatch.setenv("PREFERO_JUDGE_KEY", key)
    with pytest.raises(ValueError, match="PREFERO_JUDGE_KEY has characters that no key has") as found:
        ChatJudge("https://example.org/v1", "m", TASK)
    assert key not in str(found.value)


def test_a_key_for_openai_is_not_sent_where_others_can_read_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert "without a key" in ChatJudge("http://example.org/v1", "m", TASK).sends(POOL, 1)
    assert "OPENAI_API_KEY" in ChatJudge("https://example.org/v1", "m", TASK).sends(POOL, 1)
    monkeypatch.setenv("PREFERO_JUDGE_KEY", "k")
    assert "PREFERO_JUDGE_KEY, unencrypted" in ChatJudge("http://example.org/v1", "m", TASK).sends(POOL, 1)


def test_redirects_are_not_followed(run: Start) -> None:
    other = run(good)
    there = f"{other.server.address}/v1/chat/completions"
    asked = run(lambda *_: error(307, Location=there))
    with pytest.raises(JudgeError, match="redirects to"):
        asked(1)
    assert other.server.asked == []


# --- trouble ----------------------------------------------------------------------------------------------


def test_pauses_as_long_as_a_server_asks_for(run: Start) -> None:
    asked = run(lambda request, number: error(429, Retry_After="7") if number == 0 else good(request, number))
    assert len(asked(1).pairs) == 1
    assert asked.pauses == [7.0]


def test_a_date_after_which_to_ask_again_is_understood() -> None:
    headers: Any = {"Retry-After": "Fri, 01 Jan 2100 00:00:00 GMT"}
    assert (retry_after(headers) or 0.0) > 1e8
    assert retry_after({"Retry-After": "1.5"}) == 1.5  # type: ignore[arg-type]
    assert retry_after({"Retry-After": "soon"}) is None  # type: ignore[arg-type]


def test_longer_and_longer_pauses_before_giving_up_in_words(run: Start) -> None:
    asked = run(lambda *_: error(503))
    with pytest.raises(JudgeError, match=r"after 5 attempts, 127\.0\.0\.1:\d+ is not ready \(code 503\)"):
        asked(1)
    assert asked.pauses == [1.0, 2.0, 4.0, 8.0]
    assert len(asked.server.asked) == 5


def test_an_endless_pause_is_not_waited_for(run: Start) -> None:
    asked = run(lambda *_: error(429, Retry_After="86400"))
    with pytest.raises(JudgeError, match="wants a pause of 86400 s: try later"):
        asked(1)
    assert asked.pauses == []


def test_a_slow_server_is_asked_again(run: Start) -> None:
    asked = run(lambda request, number: Reply(good(request, number).body, delay=0.6 if number == 0 else 0.0))
    begun = time.monotonic()
    assert len(asked(1, timeout=0.2).pairs) == 1
    assert time.monotonic() - begun < 5.0
    assert len(asked.server.asked) == 3


BROKEN = {
    "no JSON": Reply(b"<html>busy</html>"),
    "another shape": Reply(b'{"answer": "A"}'),
    "no choice": Reply(b'{"choices": []}'),
    "a list": Reply(b"[1, 2]"),
    "prose": chat("I like the first one."),
    "another word": says("the first"),
    "a JSON list": chat("[1]"),
}


@pytest.mark.parametrize("reply", BROKEN.values(), ids=BROKEN)
def test_malformed_answers_are_counted_and_left_out(run: Start, reply: Reply) -> None:
    found = run(lambda asked, number: reply if number == 1 else good(asked, number))(3)
    assert (len(found.pairs), found.malformed) == (2, 1)
    assert "1 malformed" in " ".join(found.describe())


def test_a_server_that_only_says_nonsense_is_left_alone(run: Start) -> None:
    asked = run(lambda *_: BROKEN["prose"])
    with pytest.raises(JudgeError, match="10 answers one after the other that say nothing"):
        asked()
    assert len(asked.server.asked) == 10


def test_an_answer_whose_connection_breaks_is_asked_for_again(run: Start) -> None:
    asked = run(lambda request, number: Reply(good(request, number).body, sent=20 if number == 0 else None))
    found = asked(1)
    assert (len(found.pairs), found.malformed, found.calls) == (1, 0, 3)


@pytest.mark.parametrize("reply", [chat(""), chat('{"a": "it drives', reason="length")], ids=["empty", "cut"])
def test_an_empty_answer_gets_more_room(run: Start, reply: Reply) -> None:
    asked = run(
        lambda request, number: (
            reply if request.json["max_tokens"] < 3 * ANSWER_TOKENS else good(request, number)
        )
    )
    assert len(asked(2).pairs) == 2
    limits = [one.json["max_tokens"] for one in asked.server.asked]
    assert limits == [ANSWER_TOKENS, *[4 * ANSWER_TOKENS] * 4]


def test_answers_that_stay_empty_are_malformed(run: Start) -> None:
    asked = run(lambda *_: chat(""))
    with pytest.raises(JudgeError, match="malformed"):
        asked(2)


@pytest.mark.parametrize("part", ["response_format", "temperature", "max_tokens"])
def test_a_part_that_a_server_refuses_is_left_out_from_then_on(run: Start, part: str) -> None:
    def character(asked: Asked, number: int) -> Reply:
        return error(400, f"{part} is not supported") if part in asked.json else good(asked, number)

    asked = run(character)
    assert len(asked(2).pairs) == 2
    assert [part in one.json for one in asked.server.asked] == [True, False, False, False, False]
    assert ("max_completion_tokens" in asked.server.asked[-1].json) == (part == "max_tokens")


def test_thoughts_and_fences_around_the_answer_are_skipped(run: Start) -> None:
    text = '<think>{"better": "B"}</think>\n```json\n{"a": "x", "b": "y", "better": "a"}\n```'
    assert run(lambda *_: chat(text))(1).contradicting == 1


def test_a_model_that_is_not_there_is_an_error_in_the_servers_words(run: Start) -> None:
    asked = run(lambda *_: error(404, "The model `qwen` does not exist."))
    with pytest.raises(JudgeError, match=r"\(code 404\).*does not exist"):
        asked()
    assert len(asked.server.asked) == 1


def test_an_address_that_lacks_its_end_is_hinted_at(run: Start) -> None:
    judge = ChatJudge(run(lambda *_: error(404, "Not Found")).server.address, "qwen", TASK)
    with pytest.raises(JudgeError, match=r"most addresses end in /v1, as in http://127.0.0.1:\d+/v1#qwen"):
        judge_pairs(POOL, judge, PAIRS, progress=False)


def test_one_pair_that_a_server_refuses_is_left_out(run: Start) -> None:
    found = run(lambda asked, number: error(400, "harmful") if number == 2 else good(asked, number))(3)
    assert (len(found.pairs), found.malformed, found.stopped) == (2, 1, "")


def test_nobody_there_is_an_error_in_words() -> None:
    with serving(good) as server:
        address = server.address
    pauses: list[float] = []
    with pytest.raises(JudgeError, match=r"after 5 attempts, .* does not respond"):
        judge_pairs(POOL, ChatJudge(address, "m", TASK), PAIRS, progress=False, pause=pauses.append)


# --- budgets and the cache --------------------------------------------------------------------------------


@pytest.mark.parametrize("calls", [1, 2, 7, 24, 30])
def test_a_budget_of_calls_holds_exactly(run: Start, calls: int) -> None:
    asked = run(lambda request, number: error(500) if number == 1 else good(request, number))
    if calls < 3:
        with pytest.raises(JudgeError, match="the budget of"):
            asked(budget=Budget(calls=calls))
    else:
        found = asked(budget=Budget(calls=calls))
        assert found.calls == len(asked.server.asked)
        assert bool(found.stopped) == (calls < 25)
    assert len(asked.server.asked) == min(calls, 25)


def test_a_budget_of_tokens_is_never_exceeded(run: Start) -> None:
    asked = run(lambda _, number: chat({"better": "A"}, tokens=900 + number))
    judge = asked.judge()
    judge.digest(POOL, *PAIRS[0])
    assert judge.expected_tokens > 1000  # the estimate is cautious, as the answers may be long
    found = asked(budget=Budget(tokens=9000))
    assert found.tokens == sum(900 + number for number in range(found.calls))
    assert 9000 - judge.expected_tokens < found.tokens <= 9000
    assert "of the budget of 9,000 tokens" in found.stopped


def test_a_second_run_asks_nothing(run: Start) -> None:
    asked = run(good)
    first, second = asked(), asked()
    assert len(asked.server.asked) == 2 * len(PAIRS)
    assert (second.calls, second.remembered) == (0, 2 * len(PAIRS))
    assert np.array_equal(first.judgements.better, second.judgements.better)
    assert [pair.reason for pair in first.pairs] == [pair.reason for pair in second.pairs]


def test_a_run_whose_server_dies_continues_with_what_is_missing(run: Start) -> None:
    dies = [9]
    asked = run(lambda request, number: error(500) if number >= dies[0] else good(request, number))
    broken = asked()
    assert len(broken.pairs) == 4  # of the fifth pair one order is missing
    assert "after 5 attempts" in broken.stopped
    dies[0] = 10**9
    before = len(asked.server.asked)
    whole = asked()
    assert len(asked.server.asked) - before == 2 * len(PAIRS) - 9 == whole.calls
    assert whole.stopped == ""
    assert len(whole.pairs) == len(PAIRS)


def test_another_task_model_or_trajectory_is_asked_anew(run: Start) -> None:
    asked = run(good)
    address = f"{asked.server.address}/v1"
    others = [
        ChatJudge(address, "qwen", TASK),
        ChatJudge(address, "other", TASK),
        ChatJudge(address, "qwen", "x"),
    ]
    for judge in [*others, *others]:
        judge_pairs(POOL, judge, PAIRS[:1], progress=False)
    moved = Pool(X + 0.5, list(WEIGHTS))
    judge_pairs(moved, others[0], PAIRS[:1], progress=False)
    assert len(asked.server.asked) == 8


def test_a_damaged_answer_in_the_cache_is_asked_for_again(run: Start, own_cache: Path) -> None:
    asked = run(good)
    asked(1)
    place = next(own_cache.rglob("judges/*.json"))
    place.write_text(place.read_text(encoding="utf-8")[:10], encoding="utf-8")
    assert asked(1).calls == 1
    assert json.loads(place.read_text(encoding="utf-8"))["choice"] in ("left", "right")


def test_a_name_that_is_taken_is_refused_before_anything_is_asked(run: Start) -> None:
    asked = run(good)
    with pytest.raises(ValueError, match="a judge needs a name of its own"):
        judge_pairs(POOL, ChatJudge(asked.server.address, "judge", TASK), PAIRS, progress=False)
    assert asked.server.asked == []


@pytest.mark.parametrize(
    ("typed", "task", "words"),
    [
        ("http://host/v1", TASK, "name the model"),
        ("http://host/v1#m", "", "--task-description"),
        ("http://me:secret@host/v1#m", TASK, "PREFERO_JUDGE_KEY"),
        ("https:///v1#m", TASK, "http://HOST"),
        ("gpt", TASK, "there is no judge 'gpt'"),
    ],
)
def test_what_cannot_be_a_judge_is_an_error_with_the_way_out(typed: str, task: str, words: str) -> None:
    with pytest.raises(ValueError, match=words) as found:
        judge_named(typed, task)
    assert "secret" not in str(found.value)
