"""`prefero judge`, and `--judge` of other commands: what they send, print and write, and what is learned."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from judges.judge_servers import WEIGHTS, JudgeServer, good, serving
from prefero import Answer, Learner, Pool, Question, load_reward
from prefero.questions.prior_knowledge import Judgements
from prefero.studies.reports.learning_summary import worth_sentence
from prefero.studies.start import begin_teaching, with_judgements
from prefero.studies.storage.database import open_database
from prefero.studies.storage.store import Store
from run_here import run_here
from server.run_commands import RunningCommand
from server.served_studies import Client, ok

X = np.random.default_rng(1).normal(size=(30, 3))
REWARD = X @ list(WEIGHTS.values())
KEY = "sk-a-very-secret-key"
TASTE = "No person has said whether the taste of qwen is yours: answer some questions to find out."
PROTOCOL = '[[methods]]\nmethod = "Prefero"\nquestions = 3\n'
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
    assert "The reward in reward.json is learned from 12 judgements of qwen." in lines
    assert TASTE in lines
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


# --- rank and score ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["rank", "score"])
def test_a_judge_alone_gives_a_reward_that_is_called_its_taste(
    run: Run, server: JudgeServer, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    assert run(command, *typed(server), "--out", "all.csv") == 0
    printed = capsys.readouterr().out
    assert printed.startswith(f"12 pairs, as features in a table, and the task go to {server.address}/v1")
    assert printed.index("The reward is learned from 12 judgements of qwen.") < printed.index(TASTE)
    assert KEY not in printed
    rows = np.genfromtxt("all.csv", delimiter=",", names=True, dtype=None, encoding="utf-8")
    assert np.corrcoef(rows["mean"], REWARD)[0, 1] > 0.7


def test_a_judge_is_learned_from_beside_what_else_is_known(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("said.csv").write_text("left,right,choice\n1,2,left\n3,4,equal\n", encoding="utf-8")
    Path("won.csv").write_text("id,won\n" + "".join(f"{n},{r > 0}\n" for n, r in enumerate(REWARD)), "utf-8")
    words = ("--prefer", "lower:jerk", "--labels", "won.csv", "--score", "speed", "--judge", "said.csv")
    assert run("score", "pool.npz", *words) == 0
    printed = capsys.readouterr().out
    assert "lower jerk is better (90% sure), 2 judgements of said." in printed
    assert TASTE.replace("qwen", "said") in printed


def test_a_session_without_answers_has_the_taste_of_its_judge(
    run: Run, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = Store(open_database(folder / "teach.db"))
    study, *_ = begin_teaching(store, "pool.npz", None, 5)
    with_judgements(store, study, [Judgements("qwen", X[:5], X[5:10], np.zeros(5, dtype=bool))])
    assert run("score", "pool.npz", "--database", "teach.db") == 0
    assert TASTE in capsys.readouterr().out


def test_no_judge_is_asked_if_a_reward_is_given(
    run: Run, server: JudgeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("rank", "reward.json", *typed(server)) == 2
    assert "give a reward, reward.json, or what one is learned from, --judge" in capsys.readouterr().err
    assert not server.asked


# --- studies ----------------------------------------------------------------------------------------------


def test_a_study_begins_with_what_a_judge_says(
    run: Run, server: JudgeServer, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("mine.toml").write_text(PROTOCOL, encoding="utf-8")
    what, *words = typed(server, 6)
    create = ("study", "create", "walks", "--world", what, *words)
    assert run(*create) == 2  # the paper's protocol
    assert "'ActiveGP' learns from answers alone, not from judges" in capsys.readouterr().err
    assert not server.asked
    assert run(*create, "--protocol", "mine.toml") == 0
    printed = capsys.readouterr().out
    assert printed.index("go to http://127.0.0.1") < printed.index("qwen judged 6 of 6 pairs")
    assert "6 judgements of qwen; every method learns from them." in printed
    assert "fast and smooth" in server.asked[0].text
    store = Store(open_database(folder / "data" / "studies.db"))
    study = store.study("walks")
    assert [len(one) for one in store.pool(study).knowledge.judgements] == [6]
    assert study.protocol["task_description"] == "fast and smooth"


def test_no_study_is_left_if_a_judge_cannot_be_asked(
    run: Run, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("mine.toml").write_text(PROTOCOL, encoding="utf-8")
    Path("mine.py").write_text("def broken(left, right):\n    raise ValueError\n", encoding="utf-8")
    words = ("--world", "pool.npz", "--protocol", "mine.toml", "--judge", "mine:broken")
    assert run("study", "create", "walks", *words) == 2
    assert "mine:broken fails about" in capsys.readouterr().err
    assert Store(open_database(folder / "data" / "studies.db")).studies() == []


def test_no_participant_is_called_like_a_judge(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    Path("mine.toml").write_text(PROTOCOL, encoding="utf-8")
    Path("said.csv").write_text("left,right,choice,judge\n1,2,left,P2\n", encoding="utf-8")
    words = ("--world", "pool.npz", "--protocol", "mine.toml", "--judge", "said.csv")
    assert run("study", "create", "walks", *words, "--participants", "3") == 0
    assert re.findall(r"^(P\d)  http", capsys.readouterr().out, flags=re.MULTILINE) == ["P1", "P3", "P4"]


# --- worth ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("worth", "said"),
    [
        (0, "qwen has saved no answer: without it, your answers alone would tell as much."),
        (2, "qwen was worth 2 answers: with it, 3 answers would have told as much as all 5 without it."),
        (4, "qwen was worth 4 answers: with it, 1 answer would have told as much as all 5 without it."),
        (5, "qwen was worth 5 answers: alone, it tells as much as all 5 without it."),
    ],
)
def test_what_a_judge_was_worth_is_said_in_a_sentence(
    monkeypatch: pytest.MonkeyPatch, worth: int, said: str
) -> None:
    learner = Learner(Pool(X), answers=[Answer(Question(one, one + 1), "left") for one in range(5)])
    monkeypatch.setattr(learner, "worth_in_answers", lambda *_: worth)
    assert worth_sentence(learner, "qwen") == said
