"""`prefero rank`: the worst and the best episodes, in the terminal, in pictures and in files."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from pyarrow.csv import read_csv

from datasets.write_datasets import states_of, write_lerobot_3
from prefero import Learner, Pool, PreferenceGP, Question, Reward
from prefero.datasets import open_dataset
from prefero.datasets.scores.table import SCORES
from prefero.kernels import Anchored, Linear
from prefero.studies.log.event_log import Proposal
from prefero.studies.start import begin_teaching
from prefero.studies.storage.database import open_database
from prefero.studies.storage.store import Store
from run_here import run_here

LENGTHS = (8, 9, 7, 10, 8, 6)
WORDS = ["max(elbow)", "final(shoulder)"]
Run = Callable[..., int]
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PREFERO_DATA", str(tmp_path / "data"))
    return lambda *words: run_here(monkeypatch, "rank", *words, "--jobs", "1")


def taught(pool: Pool) -> Reward:
    """The higher the elbow, the better."""
    model = PreferenceGP(Anchored(Linear(), (0.0,) * len(pool.names)), noise=0.1, learn=False)
    learner, heights = Learner(pool, model=model), pool.features[:, 0]
    for left, right in [(0, 1), (2, 3), (4, 5), (1, 4), (0, 5)]:
        learner.tell(Question(left, right), "left" if heights[left] > heights[right] else "right")
    return learner.reward()


def test_the_worst_are_listed_pictured_and_written(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_lerobot_3(tmp_path / "arm", LENGTHS)
    reward = taught(Pool.from_lerobot("arm", WORDS, clips="never"))
    reward.save("reward.json")
    words = ("--worst", "2", "--best", "1")
    assert (
        run(
            "reward.json",
            "arm",
            *words,
            "--picture",
            "worst.svg",
            "--out",
            "quality.parquet",
            "--copy-to",
            "rated",
        )
        == 0
    )
    said = capsys.readouterr().out
    order = np.argsort([states_of(e, n)[:, 1].max() for e, n in enumerate(LENGTHS)])
    rows = [line.split("│") for line in said.splitlines() if "worst " in line or "best 1" in line]
    listed = [cells[2].strip() for cells in rows if len(cells) > 3 and cells[2].strip().isdigit()]
    assert listed == [str(order[0]), str(order[1]), str(order[-1])]
    assert "About 2 of the 2" in said
    table = pq.read_table("quality.parquet")
    added = ["quality", "among_worst", "unusualness", "unusual_because"]
    assert table.column_names == ["trajectory", *SCORES, *added]
    assert all(text.startswith(("max elbow ", "final shoulder ")) for text in table[added[-1]].to_pylist())
    worst = sorted(order[:2].tolist())
    assert f'delete_episodes --operation.episode_indices "{worst}"' in said
    assert np.argsort(table["quality"].to_numpy())[:2].tolist() == order[:2].tolist()
    frames = pq.read_table(min(Path("rated/data").rglob("*.parquet")))
    np.testing.assert_allclose(frames["prefero.quality"][0].as_py(), table["quality"][0].as_py(), rtol=1e-6)
    assert "prefero.quality" in open_dataset("rated").info["features"]  # type: ignore[attr-defined]
    assert Path("worst.svg").read_text(encoding="utf-8").count("<image") == 3 * 6


@pytest.mark.parametrize("kind", ["states", "features"])
def test_pictures_show_numbers_where_there_are_no_videos(run: Run, kind: str) -> None:
    rng = np.random.default_rng(0)
    if kind == "states":
        np.savez("walks.npz", states=np.cumsum(rng.normal(size=(6, 9, 2)), axis=1), state_names=["x", "y"])
        what, words = "walks.npz", ["final", "max(x)"]
    else:
        np.savez("features.npz", features=rng.normal(size=(6, 3)))
        what, words = "features.npz", None
    taught(Pool.from_dataset(what, words, clips="never")).save("reward.json")
    assert run("reward.json", what, "--worst", "2", "--best", "2", "--picture", "p.svg") == 0
    assert Path("p.svg").read_text(encoding="utf-8").count("<image") == 0


def test_the_answers_of_a_session_are_enough_for_a_ranking_and_for_pairs(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_lerobot_3(tmp_path / "arm", LENGTHS, cameras=())
    assert run("arm", "--name", "arm") == 2
    assert "no session 'arm'" in capsys.readouterr().err
    assert run("arm", "--worst", "2", "--out", "unusual.csv") == 0
    said = capsys.readouterr().out
    assert "Nobody has said what is good" in said
    assert "To remove the 2 most unusual episodes" in said
    assert run("arm", "--worst", str(len(LENGTHS))) == 0
    assert "To remove" not in capsys.readouterr().out  # nothing would be left
    store = Store(open_database(tmp_path / "data" / "teach.db"))
    study, person, _ = begin_teaching(store, str(folder), None, 30)
    assert run("arm", "--name", "arm") == 2
    assert "'arm' has no answers" in capsys.readouterr().err
    assert run("arm", "--acceptable", "0.5") == 2
    assert "--acceptable needs a reward" in capsys.readouterr().err
    pool = store.pool(study)
    longest = int(np.argmax(pool.features[:, pool.names.index("duration")]))
    for number, other in enumerate(n for n in range(3) if n != longest):
        proposed = Proposal(number, "Prefero", (longest, other), 0.5, "bits")
        log = store.add_question(person, store.event_log(person), proposed)
        assert log.open_question is not None
        store.add_event(person, log.open_question.id, "left", f"key {number}", 1.0)
    store.engine.dispose()
    assert run("arm", "--worst", "2") == 0
    ranked = capsys.readouterr().out
    assert "6 episodes were compared" in ranked
    assert run_here(monkeypatch, "score", "arm", "--jobs", "1") == 0
    assert printed(capsys.readouterr().out)[-1][1:] == printed(ranked)[0][1:5:3]  # the worst and its reward
    assert run_here(monkeypatch, "pairs", "arm") == 0
    assert "3 pairs, of 1 person" in capsys.readouterr().out
    rows = [json.loads(line) for line in Path("pairs.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [(row["left"]["id"], row["who"]) for row in rows] == [(str(longest), "teacher")] * 3


def printed(text: str) -> list[list[str]]:
    """The cells of the rows of a table in the terminal."""
    rows = [line.strip("│ ").split("│") for line in text.splitlines() if line.startswith("│")]
    return [[cell.strip() for cell in row] for row in rows]


def test_rank_and_score_give_the_same_rewards_and_without_unusual_ones_the_same_order(
    run: Run, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = np.random.default_rng(3)
    features = rng.normal(size=(9, 3))
    features[[7, 8]] = features[[0, 1]]  # equal rewards, whose order must not depend on the command
    pool = Pool(features, ["a", "b", "c"])
    pool.save("pool.npz")
    learner, true = Learner(pool), features @ [1.0, -0.5, 0.2]
    for left, right in [(0, 1), (2, 3), (4, 5), (1, 6), (3, 5), (2, 6)]:
        learner.tell(Question(left, right), "left" if true[left] > true[right] else "right")
    reward = learner.reward()
    reward.save("reward.json")
    assert run("reward.json", "pool.npz", "--worst", "4", "--best", "5", "--out", "ranked.parquet") == 0
    ranked = {row[0]: (row[1], row[4]) for row in printed(capsys.readouterr().out)}
    assert run_here(monkeypatch, "score", "reward.json", "pool.npz", "--out", "scored.parquet") == 0
    scored = {row[0]: (row[1], row[-1]) for row in printed(capsys.readouterr().out)}
    best = {f"best {place}": scored[str(place)] for place in range(1, 6)}
    assert {name: cells for name, cells in ranked.items() if name in best} == best
    assert ranked["worst 1"] == scored["9"]
    order = reward.rank(pool).tolist()
    listed = [ranked[f"best {n}"][0] for n in range(1, 6)] + [
        ranked[f"worst {n}"][0] for n in range(4, 0, -1)
    ]
    assert listed == [str(row) for row in order]
    tables = pq.read_table("ranked.parquet"), pq.read_table("scored.parquet")
    for name in ("trajectory", *SCORES):
        np.testing.assert_array_equal(tables[0][name].to_numpy(), tables[1][name].to_numpy())
    mean, std = reward.standardized(features, pool)
    assert ranked["best 1"][1] == f"{mean[order[0]]:.2f} ± {std[order[0]]:.2f}"
    assert reward.best(pool).index == order[0]


def test_without_a_reward_the_most_unusual_episodes_are_listed_with_the_reason(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    features = np.random.default_rng(0).normal(size=(40, 3))
    features[7] = [0.0, -9.0, 0.0]
    Pool(features, ["reach", "height", "effort"]).save("walks.npz")
    words = ("--worst", "3", "--best", "2", "--out", "unusual.parquet", "--picture", "unusual.svg")
    assert run("walks.npz", *words) == 0
    said = capsys.readouterr().out
    assert "40 episodes were compared by how unusual they are" in said
    assert "prefero teach walks.npz" in said
    assert "lerobot-edit-dataset" not in said
    table = pq.read_table("unusual.parquet")
    assert table.column_names == ["trajectory", "unusualness", "unusual_because"]
    assert printed(said)[0][:2] == ["unusual 1", "7"]
    assert printed(said)[0][2].endswith("height")
    value = table["unusualness"][7].as_py()
    reason = f"height {value:.1f} times the usual deviation below the others"
    assert table["unusual_because"][7].as_py() == reason
    assert f"The most unusual of these is 7: {reason}." in said


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["reward.json"], "The reward comes first, then the dataset:"),
        (["walks.npz", "reward.json"], "reward.json walks.npz"),
        (["reward.json", "driver"], "driver is a world, without trajectories: give a pool of it"),
        (["driver"], "prefero.Pool.simulate('driver', 100).save('driver.npz')"),
        (["reward.json", "walks.npz", "more.npz"], "give one reward and one dataset, but these are 3"),
    ],
)
@pytest.mark.parametrize("command", ["rank", "score"])
def test_the_reward_comes_before_the_dataset(
    command: str,
    words: list[str],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run_here(monkeypatch, command, *words) == 2
    assert message in capsys.readouterr().err


# --- what is acceptable -----------------------------------------------------------------------------------


def labelled(pool: Pool) -> Reward:
    """Elbows above the middle are acceptable."""
    learner, heights = Learner(pool), pool.features[:, 0]
    for item in range(len(pool)):
        learner.tell(Question(item, kind="success"), "pass" if heights[item] > np.median(heights) else "fail")
    return learner.reward()


def test_only_what_is_acceptable_is_ranked_and_the_probability_is_in_every_table(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_lerobot_3(tmp_path / "arm", LENGTHS)
    reward = labelled(Pool.from_lerobot("arm", WORDS, clips="never"))
    reward.save("reward.json")
    probabilities = reward.probability_acceptable(reward.extract_features("arm").features)
    wanted = np.flatnonzero(probabilities >= 0.5).tolist()
    assert 0 < len(wanted) < len(LENGTHS)
    words = ("--acceptable", "0.5", "--out", "some.csv", "--copy-to", "rated", "--picture", "some.svg")
    assert run("reward.json", "arm", *words) == 0
    said = capsys.readouterr().out
    assert (
        f"{len(wanted)} of {len(LENGTHS)} episodes are acceptable with a probability of at least 0.5" in said
    )
    rows = [line.split("│") for line in said.splitlines() if "│ worst " in line or "│ best " in line]
    assert sorted(int(cells[2]) for cells in rows) == wanted
    written = read_csv("some.csv").to_pydict()
    assert written["trajectory"] == wanted
    np.testing.assert_allclose(written["acceptable"], probabilities[wanted], rtol=1e-9)
    frames = pq.read_table(min(Path("rated/data").rglob("*.parquet")))  # all episodes are in the copy
    np.testing.assert_allclose(frames["prefero.acceptable"][0].as_py(), probabilities[0], rtol=1e-6)
    assert Path("some.svg").exists()


def test_where_nothing_is_acceptable_enough_that_is_said(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    pool = Pool(np.random.default_rng(0).normal(size=(8, 1)), ["elbow"])
    pool.save("pool.npz")
    labelled(pool).save("reward.json")
    assert run("reward.json", "pool.npz", "--acceptable", "1", "--out", "none.csv") == 0
    said = capsys.readouterr().out
    assert "0 of 8 episodes are acceptable" in said
    assert "│" not in said
    [head] = Path("none.csv").read_text(encoding="utf-8").splitlines()
    assert "acceptable" in head.split(",")


def test_a_reward_that_knows_no_bar_cannot_say_what_is_acceptable(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    pool = Pool(np.random.default_rng(0).normal(size=(8, 1)), ["elbow"])
    pool.save("pool.npz")
    taught(pool).save("reward.json")
    assert run("reward.json", "pool.npz", "--acceptable", "0.8") == 2
    said = capsys.readouterr().err
    assert "nobody has said what is acceptable" in said
    assert "--answers rate-5" in said
    assert "Traceback" not in said
