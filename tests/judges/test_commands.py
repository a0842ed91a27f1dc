"""`prefero judge`, and `prefero teach --judge`: what they send, print and write, and what is learned."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from judges.judge_servers import WEIGHTS, JudgeServer, good, serving
from prefero import Answer, Learner, Pool, Question, load_reward
from prefero.studies.reports.learning_summary import worth_sentence
from prefero.studies.start import begin_teaching
from prefero.studies.storage.database import open_database
from prefero.studies.storage.store import Store
from run_here import run_here
from server.run_commands import RunningCommand
from server.served_studies import Client, ok

X = np.random.default_rng(1).normal(size=(30, 3))
REWARD = X @ list(WEIGHTS.values())
KEY = "sk-a-very-secret-key"
Run = Callable[..., int]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PREFERO_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("PREFERO_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PREFERO_JUDGE_KEY", KEY)
    Pool(X, list(WEIGHTS)).save("pool.npz")
    return tmp_path


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    return lambda *words: run_here(monkeypatch, *words)


@pytest.fixture
def server() -> Iterator[JudgeServer]:
    with serving(good) as opened:
        yield opened


def typed(server: JudgeServer, pairs: int = 12) -> tuple[str, ...]:
    task = ("--task-description", "fast and smooth")
    return "pool.npz", "--judge", f"{server.address}/v1#qwen", "--pairs", str(pairs), *task


def test_labels_without_a_person(
    run: Run, server: JudgeServer, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("judge", *typed(server), "--reward", "reward.json") == 0
    printed = capsys.readouterr().out
    lines = printed.splitlines()
    assert lines[0] == (
        f"12 pairs, as features in a table, and the task go to {server.address}/v1, model qwen, with the key "
        "in PREFERO_JUDGE_KEY; each pair in both orders."
    )
    assert "qwen judged 12 of 12 pairs: 12 with a better one, 0 about equal." in lines
    assert "24 calls, 2,400 tokens." in lines
    assert "is the taste of qwen, from 12 judgements. No person has said whether that is yours" in printed
    rows = [json.loads(line) for line in Path("judgements.jsonl").read_text(encoding="utf-8").splitlines()]
    for row in rows:
        left, right = (REWARD[int(row[side])] for side in ("left", "right"))
        assert row["choice"] == ("left" if left > right else "right")
    assert np.corrcoef(load_reward("reward.json").predict(X), REWARD)[0, 1] > 0.7
    assert not any(
        KEY in path.read_text(encoding="utf-8", errors="ignore")
        for path in folder.rglob("*")
        if path.is_file()
    )
    assert KEY not in printed


def test_a_file_of_judgements_is_a_judge_again(
    run: Run, server: JudgeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("judge", *typed(server)) == 0
    asked = len(server.asked)
    assert run("judge", "pool.npz", "--judge", "judgements.jsonl", "--out", "again.csv") == 0
    assert len(server.asked) == asked
    assert "To teach with them:" in capsys.readouterr().out
    assert len(Path("again.csv").read_text(encoding="utf-8").splitlines()) == 13


def test_a_budget_ends_a_run_and_the_next_one_continues_it(
    run: Run, server: JudgeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("judge", *typed(server), "--budget-calls", "9") == 0
    assert len(server.asked) == 9
    assert "Not all pairs were judged: the budget of 9 calls is spent." in capsys.readouterr().out
    assert run("judge", *typed(server)) == 0
    assert len(server.asked) == 24
    assert "15 calls, 1,500 tokens; 9 answers of earlier runs were kept." in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "name a judge: --judge http://HOST/v1#MODEL"),
        (
            ("--judge", "http://127.0.0.1:1/v1#m"),
            "m must be told what makes a trajectory better: --task-descr",
        ),
        (("--judge", "nobody"), "there is no judge 'nobody'"),
        (("--judge", "gone.csv"), "no such file: gone.csv"),
        (("--judge", "mine:best"), "'mine:best' was not found"),
        (("--judge", "x.csv", "--out", "./x.csv"), "x.csv belongs to x.csv, and would be overwritten"),
        (("--judge", "x.jsonl", "--out", "x.txt"), "judgements are written as .jsonl or .csv"),
    ],
)
def test_what_is_missing_is_said_before_anything_is_sent(
    run: Run, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], said: str
) -> None:
    assert run("judge", "pool.npz", *words) == 2
    told = capsys.readouterr().err
    assert said in told
    assert len(told.splitlines()) == 1


def test_a_session_begins_with_what_a_judge_says(server: JudgeServer, folder: Path) -> None:
    with RunningCommand(folder, "teach", *typed(server, 6), "--port", "0") as running:
        with Client(running.address()) as page:
            left, right = page.session()["question"]["items"]
            ok(page.answer("left" if REWARD[left] > REWARD[right] else "right"))
        assert running.stop() == 0
    printed = running.output
    assert printed.index("go to http://127.0.0.1") < printed.index("What to do: fast and smooth")
    assert "6 judgements of qwen" in printed
    assert KEY not in printed
    assert len(server.asked) == 12
    store = Store(open_database(folder / "teach.db"))
    study, _, known = begin_teaching(store, "pool.npz", None, 30)  # continues with them
    (judgements,) = store.pool(study).knowledge.judgements
    assert (known, judgements.judge, len(judgements)) == (True, "qwen", 6)


def test_nobody_judges_the_session_that_they_teach(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    Path("said.csv").write_text("left,right,choice,judge\n1,2,left,teacher\n", encoding="utf-8")
    assert run("teach", "pool.npz", "--port", "0", "--judge", "said.csv") == 2
    assert "'teacher' teaches in this session: choose another name" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("worth", "said"),
    [
        (0, "qwen has saved no answer: without it, your answers alone would tell as much."),
        (2, "qwen was worth 2 answers: with it, 3 answers would have told as much as all 5 without it."),
        (4, "qwen was worth 4 answers: with it, 1 answer would have told as much as all 5 without it."),
        (5, "qwen was worth 5 answers: with it, none would have told as much as all 5 without it."),
    ],
)
def test_what_a_judge_was_worth_is_said_in_a_sentence(
    monkeypatch: pytest.MonkeyPatch, worth: int, said: str
) -> None:
    learner = Learner(Pool(X), answers=[Answer(Question(one, one + 1), "left") for one in range(5)])
    monkeypatch.setattr(learner, "worth_in_answers", lambda *_: worth)
    assert worth_sentence(learner, "qwen") == said
