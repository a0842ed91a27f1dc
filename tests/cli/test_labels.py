"""`--labels`: commands that learn from labels that exist already, and say what they used."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from prefero import Labels, Pool
from prefero.datasets import LabelColumn
from prefero.studies.create import create_study
from prefero.studies.protocol.protocol import read_protocol
from prefero.studies.start import begin_teaching, taught_reward
from prefero.studies.storage.database import open_database
from prefero.studies.storage.store import Store
from run_here import run_here

pytestmark = pytest.mark.filterwarnings("ignore:.*categories were found")
Run = Callable[..., int]
RNG = np.random.default_rng(0)
FEATURES = RNG.normal(size=(40, 2))
SCORES = FEATURES @ [1.0, -1.0]
SUCCESS = LabelColumn("success")


@pytest.fixture(autouse=True)
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A table of throws, with what is known of them."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PREFERO_DATA", str(tmp_path / "data"))
    grades = np.where(SCORES > 0.5, "good", np.where(SCORES > -0.5, "okay", "bad"))
    rows = zip(FEATURES, SCORES > 0, grades, strict=True)
    lines = [f"t{i},{x[0]},{x[1]},{won if i else ''},{g}" for i, (x, won, g) in enumerate(rows)]
    path = tmp_path / "throws.csv"
    path.write_text("\n".join(["id,speed,height,success,grade", *lines]), encoding="utf-8")
    return path


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    return lambda *words: run_here(monkeypatch, *words)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(open_database(tmp_path / "teach.db"))


FEATURE_WORDS = ("--features", "speed,height")


def test_rank_learns_from_labels_alone(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("rank", "throws.csv", "--labels", "success", *FEATURE_WORDS, "--out", "q.csv", "--worst", "3")
    assert run(*words) == 0
    printed = capsys.readouterr().out
    assert "The reward is learned from 39 labels of success:" in printed
    rows = np.genfromtxt("q.csv", delimiter=",", names=True, dtype=None, encoding="utf-8")
    assert np.corrcoef(rows["quality"], SCORES)[0, 1] > 0.8


def test_score_takes_ordered_texts(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("score", "throws.csv", *FEATURE_WORDS, "--labels", "grade")
    assert run(*words, "--label-order", "bad,okay,good", "--out", "scores.csv") == 0
    assert "40 labels of grade in 3 levels: good (" in capsys.readouterr().out
    rows = np.genfromtxt("scores.csv", delimiter=",", names=True, dtype=None, encoding="utf-8")
    assert np.corrcoef(rows["mean"], SCORES)[0, 1] > 0.9


def test_a_pool_file_has_its_own_labels_or_those_of_a_file(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    Pool(FEATURES, labels=Labels.of(SCORES > 0, "won")).save("pool.npz")
    assert run("score", "pool.npz", "--labels", "won") == 0
    assert "40 labels of won" in capsys.readouterr().out
    Path("some.csv").write_text("id,label\n0,yes\n1,no\n2,yes\n", encoding="utf-8")
    assert run("score", "pool.npz", "--labels", "some.csv") == 0
    assert "3 labels of some.csv: 2 pass, 1 fail" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("score", "throws.csv", "--labels", "sucess"), "did you mean 'success'"),
        (("rank", "throws.csv", "--labels", "grade"), "texts without an order ('bad', 'good', 'okay')"),
        (("rank", "throws.csv", "--label-levels", "3"), "--label-levels is for labels"),
        (("rank", "throws.csv", "--labels", "none.csv"), "none.csv"),
        (("rank", "reward.json", "throws.csv", "--labels", "success"), "but not both"),
        (("teach", "golf", "--labels", "success"), "golf is a world and not a dataset, so --labels does not"),
        (("study", "create", "x", "--world", "throws.csv", "--labels", "success"), "learns from pairs only"),
    ],
)
def test_bad_labels_end_a_command_with_one_line(
    run: Run, capfd: pytest.CaptureFixture[str], words: tuple[str, ...], message: str
) -> None:
    features = FEATURE_WORDS if "golf" not in words else ("--port", "0")
    assert run(*words, *features) == 2
    last = capfd.readouterr().err.strip().splitlines()[-1]
    assert last.startswith("prefero: ")
    assert message in last


# --- sessions and studies ---------------------------------------------------------------------------------


def test_a_session_keeps_its_labels_and_they_are_enough_for_a_reward(store: Store) -> None:
    study, _, known = begin_teaching(store, "throws.csv", None, 5, labels=SUCCESS)
    assert not known
    kept = store.pool(study)
    assert kept.labels is not None
    assert (len(kept.labels), "success" in kept.names) == (39, False)
    reward = taught_reward(store, "throws", "prefero teach throws.csv")
    assert (reward.diagnostics["answers"], reward.diagnostics["labels"]) == (0, 39)
    again, _, known = begin_teaching(store, "throws.csv", None, 5, labels=SUCCESS)
    assert known
    assert store.pool(again).labels == kept.labels


def test_labels_that_come_later_replace_those_of_the_session(store: Store) -> None:
    Path("mine.csv").write_text("id,label\nt3,pass\nt5,fail\n", encoding="utf-8")
    Pool(FEATURES, ids=[f"t{i}" for i in range(40)]).save("pool.npz")
    begin_teaching(store, "pool.npz", None, 5)
    study, _, known = begin_teaching(store, "pool.npz", None, 5, labels=LabelColumn("mine.csv"))
    assert known
    labels = store.pool(study).labels
    assert labels is not None
    assert (labels.items, labels.choices) == ((3, 5), ("pass", "fail"))
    unchanged, _, _ = begin_teaching(store, "pool.npz", None, 5)
    assert store.pool(unchanged).labels == labels


def test_nobody_teaches_under_the_name_of_the_labels(store: Store) -> None:
    with pytest.raises(ValueError, match="choose another --as"):
        begin_teaching(store, "throws.csv", None, 5, person="labels", labels=SUCCESS)
    assert not store.studies()


def test_a_study_has_the_labels_if_its_methods_learn_from_them(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('[[methods]]\nmethod = "Prefero"\nquestions = 3\n', encoding="utf-8")
    made = create_study(store, "s", read_protocol(str(path)), "throws.csv", labels=SUCCESS)
    assert made.labels is not None
    assert store.pool(made.study).labels == made.labels
