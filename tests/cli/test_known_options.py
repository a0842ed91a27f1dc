"""What is known before the first question, on the command line: read from files, learned from, and said."""

import runpy
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from datasets.test_labels import add_frame_column
from datasets.write_datasets import LEROBOT
from prefero import FeatureOptions, Learner, Pool
from prefero.cli.options import known_options, typed_known
from prefero.learner.known_options import KnownOptions
from prefero.pools.knowing import NEARBY
from prefero.questions.prior_knowledge import Direction
from prefero.studies.create import create_study
from prefero.studies.protocol.protocol import read_protocol
from prefero.studies.start import begin_teaching, pool_of, taught_reward
from prefero.studies.storage.database import open_database
from prefero.studies.storage.store import Store
from run_here import run_here
from studies.fake_study import refusal

pytestmark = pytest.mark.filterwarnings(
    "ignore:episodes have", "ignore:.* are strongly correlated", "ignore:.*heavy"
)
Run = Callable[..., int]
RNG = np.random.default_rng(0)
FEATURES = RNG.normal(size=(40, 3))
REWARD = FEATURES @ [1.0, -1.5, 0.3]
NAMES = ["speed", "jerk", "reach"]
FEATURE_WORDS = ("--features", "speed,jerk,reach")
OPTIONS = FeatureOptions(NAMES)
LENGTHS = tuple(range(20, 32))


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table of throws, and what is known of them."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PREFERO_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("PREFERO_CACHE", str(tmp_path / "cache"))
    rows = [f"t{i},{x[0]},{x[1]},{x[2]},{r}" for i, (x, r) in enumerate(zip(FEATURES, REWARD, strict=True))]
    write("throws.csv", "id,speed,jerk,reach,progress", *rows)
    write("shown.csv", "id,speed,jerk,reach", *(f"d{i},1.{i},-1.5,0.2" for i in range(5)))
    write("scores.csv", "id,classifier", *(f"t{i},{r}" for i, r in enumerate(REWARD)))
    best, worst = np.argsort(-REWARD)[:4], np.argsort(REWARD)[:4]
    write("pairs.csv", "better,worse", *(f"t{a},t{b}" for a, b in zip(best, worst, strict=True)))
    write("best.txt", *(f"t{one}" for one in best))


def write(name: str, *lines: str) -> None:
    Path(name).write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    return lambda *words: run_here(monkeypatch, *words)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(open_database(tmp_path / "teach.db"))


# --- what commands learn ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--demonstrations", "shown.csv"), "5 demonstrations."),
        (("--demonstrations", "best.txt"), "4 demonstrations."),
        (("--corrections", "pairs.csv"), "4 corrections."),
        (
            ("--prefer", "lower:jerk", "--prefer", "higher:speed:0.8"),
            "lower jerk is better (90% sure), higher speed",
        ),
        (("--score", "scores.csv"), "higher classifier is better (90% sure)."),
        (("--score", "progress"), "higher progress is better (90% sure)."),
    ],
)
def test_rank_learns_from_it_alone(
    run: Run, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], said: str
) -> None:
    assert run("rank", "throws.csv", *FEATURE_WORDS, *words, "--out", "q.csv", "--worst", "3") == 0
    assert f"The reward is learned from {said}" in capsys.readouterr().out
    rows = np.genfromtxt("q.csv", delimiter=",", names=True, dtype=None, encoding="utf-8")
    assert np.corrcoef(rows["quality"], REWARD)[0, 1] > 0.6


def test_a_table_of_other_columns_is_no_list_of_ids(run: Run, capfd: pytest.CaptureFixture[str]) -> None:
    write("notes.csv", "id,operator,minutes", *(f"t{i},ann,{i}" for i in range(4)))
    assert run("rank", "throws.csv", *FEATURE_WORDS, "--demonstrations", "notes.csv") == 2
    assert "nothing can be learned from the demonstrations in notes.csv" in capfd.readouterr().err


def test_all_of_it_is_learned_together_and_beside_labels(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    write("won.csv", "id,won", *(f"t{i},{r > 0}" for i, r in enumerate(REWARD)))
    known = ("--score", "scores.csv", "--corrections", "pairs.csv", "--demonstrations", "best.txt")
    words = (*known, "--prefer", "lower:jerk", "--labels", "won.csv")
    assert run("score", "throws.csv", *FEATURE_WORDS, *words, "--out", "s.csv") == 0
    said = capsys.readouterr().out
    assert "and 4 demonstrations, 4 corrections, higher classifier is better (90% sure), lower jerk" in said
    rows = np.genfromtxt("s.csv", delimiter=",", names=True, dtype=None, encoding="utf-8")
    assert np.corrcoef(rows["mean"], REWARD)[0, 1] > 0.9


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("--prefer", "lower:jerks"),
            "no feature 'jerks'; did you mean 'jerk'? The features are: speed, jerk",
        ),
        (("--prefer", "less:jerk"), "written as lower:FEATURE or higher:FEATURE"),
        (("--prefer", "lower:jerk:0.4"), "between 0.5 and 1, but is 0.4"),
        (("--score", "clasifier"), "no column 'clasifier'"),
        (
            ("--demonstrations", "scores.csv"),
            "demonstrations in scores.csv: the reward is a function of speed",
        ),
        (
            ("--corrections", "scores.csv"),
            "columns called better and worse, but scores.csv has id, classifier",
        ),
        (("--corrections", "throws.csv"), "called better and worse"),
        (("--prefer", "lower:jerk", "--prefer", "higher:jerk"), "names 'jerk' more than once"),
        (
            ("--score", "scores.csv", "--prefer", "lower:classifier"),
            "more of the score 'classifier' is better already",
        ),
    ],
)
def test_what_makes_no_sense_ends_a_command_with_one_line(
    run: Run, capfd: pytest.CaptureFixture[str], words: tuple[str, ...], message: str
) -> None:
    if words[1] == "scores.csv" and words[0] == "--demonstrations":
        Path("scores.csv").write_text("classifier\n0.1\n0.2\n", encoding="utf-8")
    assert run("rank", "throws.csv", *FEATURE_WORDS, *words) == 2
    last = capfd.readouterr().err.strip().splitlines()[-1]
    assert last.startswith("prefero: ")
    assert message in last


def test_a_reward_is_not_learned_from_it_if_one_is_given(run: Run, capfd: pytest.CaptureFixture[str]) -> None:
    assert run("rank", "reward.json", "throws.csv", "--prefer", "lower:jerk") == 2
    assert "give a reward, reward.json, or what one is learned from, --prefer" in capfd.readouterr().err


def test_the_words_of_a_command_line_say_the_same() -> None:
    known = KnownOptions("a folder", "pairs.csv", (Direction("jerk", "lower", 0.8), Direction("a:b")), "prob")
    words = list(typed_known(known))
    given = {flag: [w for f, w in pairwise(words) if f == flag] for flag in words}
    again = known_options(
        demonstrations=given["--demonstrations"][0],
        corrections=given["--corrections"][0],
        prefer=given["--prefer"],
        score=given["--score"][0],
    )
    assert again == known
    assert not known_options()


# --- datasets, pools and worlds ---------------------------------------------------------------------------


def lerobot(folder: str) -> Path:
    return LEROBOT["v3.0"](Path(folder), lengths=LENGTHS, cameras=())


def test_episodes_of_another_dataset_are_demonstrations_with_the_same_features() -> None:
    LEROBOT["v3.0"](Path("shown"), lengths=(20, 21), cameras=())
    pool = pool_of(str(lerobot("arm")), known=KnownOptions(demonstrations="shown"))
    np.testing.assert_allclose(pool.knowledge.demonstrations, pool.features[:2])  # they are those of arm


def test_takeovers_in_a_dataset_are_corrections(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    add_frame_column(lerobot("rollout"), "intervention", lambda episode, frame: episode < 5 and frame >= 10)
    words = ("--window", "5", "--corrections", "rollout")
    assert run("rank", str(lerobot("arm")), *words, "--worst", "2") == 0
    assert "learned from 5 corrections." in capsys.readouterr().out


@pytest.mark.parametrize("score", ["sum(next.reward)", "success.csv", "reward.json"])
def test_a_score_of_a_dataset_is_there_when_it_is_scored_later(
    run: Run, capfd: pytest.CaptureFixture[str], store: Store, score: str
) -> None:
    folder = str(lerobot("arm"))
    write("success.csv", "id,success", *(f"{i},{0.1 * i}" for i in range(len(LENGTHS))))
    Learner(pool_of(folder)).reward().save("reward.json")
    if score == "reward.json":
        learner = Learner(pool_of(folder))
        learner.tell(learner.ask(), "left")
        learner.reward().save("reward.json")
    study, *_ = begin_teaching(store, folder, "s", 5, known=KnownOptions(score=score))
    pool = store.pool(study)
    name = {"success.csv": "success", "reward.json": "reward"}.get(score, score)
    assert (pool.names[-1], pool.knowledge.scores) == (name, (name,))
    assert pool.feature_spec is not None
    reward = taught_reward(store, "s", "prefero teach arm")
    reward.save("learned.json")
    if score == "sum(next.reward)":
        assert run("score", "learned.json", folder, "--out", "all.csv") == 0
    else:
        assert run("score", "learned.json", folder) == 2
        assert f"the reward needs the score {name!r} of each episode, but in arm" in capfd.readouterr().err
        assert run("score", "learned.json", folder, "--score", score, "--out", "all.csv") == 0
        session = ("--name", "s", "--database", "teach.db")
        assert run("score", folder, *session, "--score", score, "--out", "taught.csv") == 0
        assert Path("taught.csv").read_text("utf-8") == Path("all.csv").read_text("utf-8")
    rows = np.genfromtxt("all.csv", delimiter=",", names=True, dtype=None, encoding="utf-8")
    np.testing.assert_allclose(rows["mean"], reward(pool.features), atol=1e-6)
    with pytest.raises(ValueError, match="is a column of a dataset and not computed of states"):
        reward.episode_features()
    assert run("export", "learned.json", "--out", "reward.py") == 0
    exported = runpy.run_path("reward.py")
    np.testing.assert_allclose(exported["predict"](pool.features)[0], reward(pool.features), atol=1e-6)


def test_a_score_of_episodes_is_none_of_windows() -> None:
    known = KnownOptions(score="sum(next.reward)")
    with pytest.raises(ValueError, match=r"about whole episodes, and these are windows.*--window"):
        pool_of(str(lerobot("arm")), features=FeatureOptions(window=5), known=known)


def test_a_pool_file_takes_all_of_it_by_its_ids_and_features() -> None:
    Pool(FEATURES, NAMES, ids=[f"t{i}" for i in range(40)]).save("pool.npz")
    Pool(FEATURES[:3], ["reach", "speed", "jerk"]).save("shown.npz")
    known = KnownOptions("shown.npz", "pairs.csv", (Direction("jerk", "lower"),), "speed")
    pool = pool_of("pool.npz", known=known)
    assert pool.knowledge.describe().startswith("3 demonstrations, 4 corrections, higher speed")
    np.testing.assert_array_equal(pool.knowledge.demonstrations, FEATURES[:3][:, [1, 2, 0]])
    assert pool_of("pool.npz", known=KnownOptions(score="scores.csv")).names[-1] == "classifier"
    with pytest.raises(ValueError, match=r"pool.npz has no column 'next.reward'"):
        pool_of("pool.npz", known=KnownOptions(score="next.reward"))


def test_demonstrations_in_a_world_are_played_there() -> None:
    shown = Pool.simulate("driver", 3, seed=7, progress=False)
    shown.save("shown.npz")
    assert shown.actions is not None
    np.savez("actions.npz", actions=shown.actions)
    for file in ("shown.npz", "actions.npz"):
        pool = pool_of("driver", 30, known=KnownOptions(file))
        np.testing.assert_allclose(pool.knowledge.demonstrations, shown.features)
        assert pool.knowledge.nearby.shape[:2] == (3, NEARBY)
    Pool.simulate("tosser", 3, progress=False).save("other.npz")
    with pytest.raises(ValueError, match="are trajectories of tosser, but the pool has those of driver"):
        pool_of("driver", 30, known=KnownOptions("other.npz"))
    np.savez("actions.npz", moves=shown.actions)
    with pytest.raises(ValueError, match=r"must have an array 'actions' .* but it has moves \(3, 10\)"):
        pool_of("driver", 30, known=KnownOptions("actions.npz"))
    with pytest.raises(FileNotFoundError, match=r"no such file: .*gone\.npz"):
        pool_of("driver", 30, known=KnownOptions("gone.npz"))


def test_a_reward_can_score_a_world() -> None:
    learner = Learner(Pool.simulate("driver", 30, progress=False))
    learner.tell(learner.ask(), "left")
    learner.reward().save("mine.json")
    pool = pool_of("driver", 30, known=KnownOptions(score="mine.json"))
    np.testing.assert_allclose(pool.features[:, -1], learner.reward()(pool.features[:, :-1]))
    assert pool.knowledge.scores == ("mine",)


# --- sessions and studies ---------------------------------------------------------------------------------


ALL = KnownOptions("shown.csv", "pairs.csv", (Direction("jerk", "lower"),))


def test_a_session_keeps_it_and_it_is_enough_for_a_reward(store: Store) -> None:
    study, _, known = begin_teaching(store, "throws.csv", None, 5, None, OPTIONS, known=ALL)
    assert not known
    kept = store.pool(study)
    assert kept.knowledge.describe() == "5 demonstrations, 4 corrections, lower jerk is better (90% sure)"
    reward = taught_reward(store, "throws", "prefero teach throws.csv")
    assert (reward.diagnostics["answers"], reward.diagnostics["known"]) == (0, kept.knowledge.describe())
    assert np.corrcoef(reward(kept.features), REWARD)[0, 1] > 0.7
    again, _, known = begin_teaching(store, "throws.csv", None, 5, None, OPTIONS, known=ALL)
    assert known
    assert store.pool(again).knowledge.to_json() == kept.knowledge.to_json()


def test_what_is_known_later_replaces_what_was_and_nothing_leaves_it(store: Store) -> None:
    begin_teaching(store, "throws.csv", None, 5, None, OPTIONS, known=ALL)
    later = KnownOptions(directions=(Direction("speed"),))
    study, *_ = begin_teaching(store, "throws.csv", None, 5, None, OPTIONS, known=later)
    assert store.pool(study).knowledge.describe() == "higher speed is better (90% sure)"
    study, *_ = begin_teaching(store, "throws.csv", None, 5, None, OPTIONS)
    assert store.pool(study).knowledge.describe() == "higher speed is better (90% sure)"


def test_a_session_in_a_world_can_know_more_later(store: Store) -> None:
    begin_teaching(store, "driver", None, 5, 30)
    Pool.simulate("driver", 2, seed=7, progress=False).save("shown.npz")
    study, *_ = begin_teaching(store, "driver", None, 5, known=KnownOptions("shown.npz"))
    assert store.pool(study).knowledge.describe() == "2 demonstrations"


def test_a_score_stays_and_a_new_one_begins_another_session(store: Store) -> None:
    score = KnownOptions(score="scores.csv")
    begin_teaching(store, "throws.csv", "scored", 5, None, OPTIONS, known=score)
    more = KnownOptions(directions=(Direction("jerk", "lower"),))
    study, *_ = begin_teaching(store, "throws.csv", "scored", 5, None, OPTIONS, known=more)
    known = store.pool(study).knowledge
    assert known.describe() == "higher classifier is better (90% sure), lower jerk is better (90% sure)"
    assert known.scores == ("classifier",)
    begin_teaching(store, "throws.csv", "plain", 5, None, OPTIONS)
    with refusal("another-pool", "the score 'classifier' is a feature, .* 'plain' was begun without it"):
        begin_teaching(store, "throws.csv", "plain", 5, None, OPTIONS, known=score)


def test_a_study_knows_it_if_its_methods_learn_from_it(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('[[methods]]\nmethod = "Prefero"\nquestions = 3\n', encoding="utf-8")
    made = create_study(store, "s", read_protocol(str(path)), "throws.csv", None, OPTIONS, known=ALL)
    assert made.knowledge is not None
    assert store.pool(made.study).knowledge.describe() == made.knowledge.describe()
    with pytest.raises(ValueError, match="learns from answers alone, not from 5 demonstrations"):
        create_study(store, "paper", read_protocol("paper"), "throws.csv", None, OPTIONS, known=ALL)
    assert [study.name for study in store.studies()] == ["s"]


def test_what_people_stopped_in_rollouts_is_worse_afterwards() -> None:
    """The policy trembles before each takeover, and the person moves smoothly."""
    folder = lerobot("rollout")
    add_frame_column(folder, "intervention", lambda _, frame: frame >= 12)
    rng = np.random.default_rng(3)
    for path in (folder / "data").rglob("*.parquet"):
        table = pq.read_table(path)
        trembling = (np.array(table["frame_index"]) < 12)[:, None] * rng.normal(size=(len(table), 2)) * 0.2
        states = pa.array((np.stack(table["observation.state"].to_numpy()) + trembling).tolist())
        place = table.schema.get_field_index("observation.state")
        pq.write_table(table.set_column(place, "observation.state", states), path)
    options = FeatureOptions(["mean", "jerk"], window=6)
    pool = pool_of(str(lerobot("arm")), features=options, known=KnownOptions(corrections="rollout"))
    assert len(pool.knowledge.better) == len(LENGTHS)
    jerk = pool.names.index("jerk")
    typical = np.tile(np.median(pool.features, axis=0), (2, 1))
    typical[:, jerk] = np.quantile(pool.features[:, jerk], [0.1, 0.9])
    smooth, trembling = Learner(pool).reward()(typical)
    assert smooth > trembling
