"""The measuring tools of the benchmarks, each compared with something that does not depend on its code."""

import re
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from benchmarks import __main__ as command
from benchmarks.evaluation import answer_probabilities, calibration_error, evaluate, learner_for, teach
from benchmarks.learning import acquisition_functions, baselines, calibration
from benchmarks.people import crowd, crowd_file, ratings
from benchmarks.people.judgements import preferred_first
from benchmarks.robots import frame_weights
from benchmarks.rows import Job, Row, RowFile, measure, paired_difference
from benchmarks.tasks import FEATURES, LEVELS, SETS, task_named
from scipy.optimize import minimize

from deploy.rabc_weights import rabc_weights
from prefero._support.arrays import Array
from prefero.simulation.users import SimulatedUser
from systems import ON_LINUX
from waiting import TIMEOUT

ROOT = Path(__file__).resolve().parent.parent
SMALLEST = {  # options with which a benchmark takes a second or two
    "arena": "--runs 1 --policies 2 --kinds even --questions 7",
    "bad_episodes": "--users 1 --answers 2",
    "botorch_comparison": "--users 1 --most 25",
    "calibration": "--people 1 --tasks bumps --questions random --noises 0.1 --lapses 0 --most 5 --rows ROWS",
    "crowd": "--groups 2 --train 3 --shares 0.5 --repeats 1",
    "crowd_time": "--people 8 --groups 0",
    "frame_weights": "--users 1 --answers 2",
    "kinds": "--people 1 --tasks bumps --methods pair auto --seconds 13 --rows ROWS",
    "large_pool_questions": "--pools 200 --answers 3",
    "ratings": "RATINGS --people 1 --methods levels both --rows ROWS",
    "stopping": "--people 1 --tasks bumps --strategies chosen --questions 6 --rows ROWS",
}
COMMAND = re.compile(r"python -m benchmarks[ .]([a-z]\w+)")


def few_differences(seed: int = 0) -> Array:
    rng = np.random.default_rng(seed)
    rows: Array = rng.standard_normal((12, 3)) + np.array([0.5, 0.0, -0.2])
    return rows


@pytest.mark.parametrize("strength", baselines.STRENGTHS)
def test_logistic_weights_maximize_the_penalized_likelihood(strength: float) -> None:
    winning = few_differences()

    def loss(weights: Array) -> float:
        lost = np.log1p(np.exp(-winning @ weights)).sum()
        return float(0.5 * weights @ weights + strength * lost)

    best = minimize(loss, np.zeros(3), tol=1e-10).x
    np.testing.assert_allclose(baselines.logistic_weights(winning, strength), best, atol=1e-4)


def test_weights_of_frames_are_those_that_are_stated_frame_by_frame() -> None:
    rng = np.random.default_rng(0)
    progress = {n: np.cumsum(rng.normal(0.001, 0.004, length)) for n, length in enumerate([30, 80, 61])}
    stated = rabc_weights(progress)
    for number, weights in frame_weights.frame_weights(progress).items():
        np.testing.assert_allclose(weights, stated[number], atol=1e-12)


def test_products_are_those_of_scikit_learn() -> None:
    from sklearn.preprocessing import PolynomialFeatures

    x = few_differences()
    theirs = PolynomialFeatures(2, include_bias=False).fit_transform(x)
    np.testing.assert_allclose(np.sort(baselines.with_products(x), axis=1), np.sort(theirs, axis=1))


def test_the_user_answers_as_often_as_the_probabilities_say() -> None:
    user, rng = SimulatedUser(np.ravel, noise=0.8, lapse_rate=0.3), np.random.default_rng(0)
    answers = [user.answer(np.array([0.7]), np.array([0.0]), rng) == "left" for _ in range(4000)]
    expected = answer_probabilities(user, np.array([0.7]))[0]
    assert np.mean(answers) == pytest.approx(expected, abs=0.025)


def test_calibration_error_is_nothing_for_true_probabilities_and_the_distance_for_others() -> None:
    task = task_named("linear 2", 0, noise=1.0, lapse_rate=0.1)
    true = answer_probabilities(task.user, task.test_set.differences)
    assert calibration_error([evaluate(true, task)]) < 1e-12
    sure = np.where(true > 0.5, 1.0, 0.0)
    expected = float(np.mean(1 - np.maximum(true, 1 - true)))
    assert calibration_error([evaluate(sure, task)]) == pytest.approx(expected)
    assert calibration.bootstrap_error([evaluate(sure, task)]) == pytest.approx(0.0)


def test_the_likelihood_of_answers_is_largest_for_true_probabilities() -> None:
    task = task_named("saturating 2", 3, noise=0.5, lapse_rate=0.05)
    true = answer_probabilities(task.user, task.test_set.differences)
    best = evaluate(true, task)["answer_log_likelihood"]
    entropy = -np.mean(true * np.log(true) + (1 - true) * np.log(1 - true))
    assert best == pytest.approx(-entropy)
    assert evaluate(0.9 * true + 0.05, task)["answer_log_likelihood"] < best


@pytest.mark.parametrize("name", [*(f"{kind} 5" for kind in FEATURES), *SETS, "bumps", "people 6"])
def test_rewards_have_unit_deviation_and_every_test_pair_a_better_one(name: str) -> None:
    task = task_named(name, 1)
    assert np.std(task.user.reward(task.pool.scaled)) == pytest.approx(1.0)
    assert np.all(task.test_set.differences != 0)


def test_a_set_has_its_targets_as_rewards() -> None:
    from sklearn.datasets import load_diabetes

    task, (rows, target) = task_named("diabetes", 2), load_diabetes(return_X_y=True)
    places = [int(np.flatnonzero((rows == row).all(axis=1))[0]) for row in task.pool.features[:20]]
    rewards = task.user.reward(task.pool.scaled[:20])
    unit = np.ptp(target[places]) / np.ptp(rewards)
    np.testing.assert_allclose(unit * np.diff(rewards), np.diff(target[places]))


@pytest.mark.parametrize("columns", LEVELS)
def test_one_hot_features_are_categories(columns: int) -> None:
    features = task_named(f"one-hot {columns}", 0).pool.features
    assert set(np.unique(features)) == {0.0, 1.0}
    np.testing.assert_array_equal(features.sum(axis=1), len(LEVELS[columns]))


def test_an_unknown_task_is_named_with_those_that_exist() -> None:
    with pytest.raises(ValueError, match=r"no task 'golff'.*heavy-tails"):
        task_named("golff", 0)


def test_a_measurement_continues_where_it_was_interrupted(tmp_path: Path) -> None:
    done: list[int] = []

    def work(job: Job) -> list[Row]:
        if job["seed"] == 2 and len(done) == 2:
            raise KeyboardInterrupt
        done.append(job["seed"])
        return [{"answers": 5, "accuracy": job["seed"] / 10}]

    wanted = [{"label": "now", "seed": seed} for seed in range(4)]
    with pytest.raises(KeyboardInterrupt):
        measure(RowFile(tmp_path / "rows.parquet"), wanted, work, 1, "users")
    done.append(-1)
    file = RowFile(tmp_path / "rows.parquet")
    measure(file, wanted, work, 1, "users")
    assert done == [0, 1, -1, 2, 3]
    assert [row["accuracy"] for row in RowFile(file.path).rows] == [0.0, 0.1, 0.2, 0.3]
    assert file.missing([{"label": "after", "seed": 0}]) != []


def test_paired_differences_are_of_the_seeds_that_both_have() -> None:
    mean, error = paired_difference({0: 0.5, 1: 0.9, 2: 0.7}, {0: 0.4, 1: 0.6, 3: 0.1})
    assert mean == pytest.approx(0.2)
    assert error == pytest.approx(0.1)


def test_a_row_is_behind_only_if_chance_does_not_explain_it() -> None:
    def row(difference: float, error: float) -> baselines.Comparison:
        return baselines.Comparison(baselines.QUICK[0], 5, 0.8, "linear C=1", 0.9, difference, error)

    assert row(-0.03, 0.01).is_behind
    assert not row(-0.03, 0.02).is_behind
    assert not row(-0.019, 0.001).is_behind


def test_the_best_baseline_of_a_row_is_compared(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    cell, methods = baselines.QUICK[0], (baselines.DEFAULT, *baselines.BASELINES)
    shared = {"label": "now", **cell._asdict()}
    measured = dict.fromkeys(("log_likelihood", "answer_log_likelihood"), -0.5)
    file = RowFile(tmp_path / "rows.parquet")
    for seed in range(3):
        for answers in baselines.CHECKPOINTS:
            for place, method in enumerate(methods):
                value = 0.8 + 0.01 * place + 0.001 * seed
                job = {**shared, "seed": seed, "answers": answers, "method": method}
                file.rows.append({**job, "accuracy": value, **measured})
    file.save()
    baselines.main(["--quick", "--table", "--rows", str(file.path), "--measures", "accuracy"])
    text = capsys.readouterr().out
    assert "products C=10 0.861, difference -0.060±0.000" in text
    assert "two standard errors: 5 of 5" in text


def test_a_simulated_user_teaches_up_to_every_checkpoint() -> None:
    task = task_named("linear 2", 0)
    learner = learner_for(task, 0, acquisition="random")
    assert [(n, len(learner.answers)) for n in teach(task, learner, "random", (2, 5), 0)] == [(2, 2), (5, 5)]
    winners, losers = baselines.answered_rows(learner)
    rewards = task.user.reward(winners) - task.user.reward(losers)
    assert np.mean(rewards > 0) >= 0.8


def test_tables_show_every_function() -> None:
    shared = {"label": "now", "model": "Prefero", "task": "bumps", "answers": 5, "log_likelihood": -0.5}
    rows = [
        {**shared, "acquisition": name, "seed": seed, "accuracy": 0.6 + place / 10}
        for place, name in enumerate(("mutual-information", "random"))
        for seed in range(2)
    ]
    first, second = acquisition_functions.series_of(rows)
    lines = list(acquisition_functions.table(rows, "bumps", "accuracy", first))
    assert lines[-1].split() == ["now:", "random", "0.700", "(+0.100±0.000)"]
    assert str(second) == "now: random"


def test_the_value_of_a_reported_trajectory_is_its_place_between_the_worst_and_the_best() -> None:
    task = task_named("linear 2", 3)
    values, true = acquisition_functions.values_of(task), task.user.reward(task.pool.scaled)
    assert (values.min(), values.max()) == (0.0, 1.0)
    np.testing.assert_allclose(np.diff(values) * np.ptp(true), np.diff(true))
    learner = learner_for(task, 3, "Oracle", "random")
    for _ in teach(task, learner, "random", (8,), 3):
        assert acquisition_functions.reported(learner) == learner.reward().best(task.pool).index


def test_crowds_are_split_without_overlap_and_orders_do_not_contradict_themselves() -> None:
    people = crowd.orders(6, 12, 0)
    assert len(people.answers) == 6 * 45
    data = crowd.split(people, 4, 5, 7, seed=1)
    rows = [{tuple(row) for row in part.tolist()} for part in (data.learned, data.tested)]
    assert [len(some) for some in rows] == [4 * 5, 4 * 7]
    assert not rows[0] & rows[1]
    for person in people.people:
        pairs = preferred_first(people.answers[people.answers[:, 0] == person])
        items, wins = np.unique(pairs[:, 0], return_counts=True)
        assert sorted(wins.tolist()) == list(range(1, 10))
        assert len(items) == 9
    groups = crowd.simulated(0.5, 3, 4, 0)
    assert len(groups.learned) == 12
    assert len(groups.tested) == 3 * crowd.HELD_OUT


def test_items_with_equal_features_stay_different(tmp_path: Path) -> None:
    features = np.array([[1.0, 2.0], [1.0, 2.0], [3.0, 0.0]])
    np.savez(tmp_path / "crowd.npz", features=features, answers=np.array([[0, 0, 1, 0], [1, 1, 2, 2]]))
    read = crowd_file.read(tmp_path / "crowd.npz")
    assert len(np.unique(read.features, axis=0)) == 3
    np.testing.assert_allclose(read.features, features, atol=1e-6)
    np.testing.assert_array_equal(preferred_first(read.answers), [[0, 1], [1, 2]])


def test_a_crowds_file_may_have_names_text_and_words(tmp_path: Path) -> None:
    features = np.column_stack([np.arange(4.0), np.ones(4)])
    rows = [
        ["ann", "0", "1", "left"],
        ["ben", "1", "2", "equal"],
        ["ann", "3", "0", "1"],
        ["ben", "2", "2", "0"],
    ]
    np.savez(tmp_path / "text.npz", features=features[:, 0].astype(np.int32), answers=np.array(rows))
    read = crowd_file.read(tmp_path / "text.npz")
    np.testing.assert_array_equal(read.answers, [[0, 0, 1, 0], [1, 1, 2, 2], [0, 3, 0, 1]])
    assert read.features.shape == (4, 1)
    numbers = np.array([[70.0, 0.0, 1.0, 0.0], [8.0, 1.0, 2.0, 1.0]])
    np.savez(tmp_path / "numbers.npz", features=features, answers=numbers)
    np.testing.assert_array_equal(
        crowd_file.read(tmp_path / "numbers.npz").answers, [[1, 0, 1, 0], [0, 1, 2, 1]]
    )


@pytest.mark.parametrize(
    ("features", "answers", "said"),
    [
        (np.eye(3), np.zeros((2, 3)), "shape .answers, 4."),
        (np.eye(3), [[0, 1, 3, 0]], "0 to 2, .* answer 0 .*1 and 3"),
        (np.eye(3), [[0, 1, 2, 3]], "0 for left, 1 for right or 2 for equal, .*3"),
        (np.eye(3), [[0, 0.5, 2, 0]], "left must be a whole number, .*0.5 in answer 0"),
        (np.eye(3), [["a", "0", "1", "first"]], "choice must be a whole number, .*'first'"),
        (np.full((3, 1), np.nan), [[0, 1, 2, 0]], "item 0 "),
    ],
)
def test_a_bad_file_of_a_crowd_says_what_is_wrong(
    features: Array, answers: list[list[object]], said: str, tmp_path: Path
) -> None:
    np.savez(tmp_path / "bad.npz", features=features, answers=np.array(answers))
    with pytest.raises(crowd_file.CrowdFileError, match=said):
        crowd_file.read(tmp_path / "bad.npz")


def test_a_crowds_file_needs_both_arrays_and_enough_answers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    np.savez(tmp_path / "half.npz", features=np.eye(3))
    with pytest.raises(crowd_file.CrowdFileError, match="arrays 'features' and 'answers'"):
        crowd_file.read(tmp_path / "half.npz")
    with pytest.raises(crowd_file.CrowdFileError, match="no file"):
        crowd_file.read(tmp_path / "none.npz")
    np.savez(tmp_path / "few.npz", features=np.eye(3), answers=np.array([[0, 0, 1, 0], [1, 1, 2, 0]]))
    with pytest.raises(SystemExit):
        crowd.main([str(tmp_path / "few.npz")])
    said = capsys.readouterr()
    assert "20 pairs each: left out" in said.out
    assert "give a smaller --train" in said.err


def test_every_command_of_the_documentation_runs_a_benchmark_that_exists() -> None:
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]  # those in results are of other commits
    named = {name for page in pages for name in COMMAND.findall(page.read_text(encoding="utf-8"))}
    assert named <= set(command.benchmarks())
    assert {"answering", "arena", "stopping"} <= named


def ratings_file(folder: Path) -> Path:
    """Scores of two people, who rate how large the first of two features is; one has rated too little."""
    rng, path = np.random.default_rng(0), folder / "ratings.npz"
    x = rng.standard_normal((420, 2))
    scores = np.clip(50 + 25 * x[:, 0], 0, 100)
    rows = [(0, scene, scores[scene]) for scene in range(410)] + [(1, scene, 50.0) for scene in range(20)]
    np.savez(path, features=x, ratings=np.array(rows))
    return path


def test_ratings_are_levels_pairs_and_successes_of_the_same_scenes(tmp_path: Path) -> None:
    path = ratings_file(tmp_path)
    assert ratings.people_of(path) == [0]
    one = ratings.ratings_of(path, 0, seed=1)
    assert len(one.learned) == 410 - ratings.TESTED
    np.testing.assert_array_equal(one.levels, 1 + np.minimum(one.scores // 20, 4))
    rng = np.random.default_rng(2)
    for answer in one.answers("pairs", 20, rng):
        winner, loser = answer.pair
        assert one.scores[winner] >= one.scores[loser]
    both = one.answers("both", 30, rng)
    assert sum(len(answer.question.items) for answer in both) == 30
    assert ratings.ordered(one.scores, one, rng) == 1.0
    assert ratings.ordered(-one.scores, one, rng) == 0.0


@pytest.mark.parametrize("name", SMALLEST)
def test_a_benchmark_runs_at_its_smallest_size(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = SMALLEST[name].replace("ROWS", str(tmp_path / "rows.parquet")).split()
    words = [str(ratings_file(tmp_path)) if word == "RATINGS" else word for word in words]
    import_module(command.benchmarks()[name].module).main(words)
    assert capsys.readouterr().out


@pytest.mark.skipif(not ON_LINUX, reason="the page is tested in a browser on Linux")
def test_the_time_until_clips_move_is_measured_in_a_browser(capfd: pytest.CaptureFixture[str]) -> None:
    """In a process of its own, since only one Playwright can run in each."""
    small = ["--subjects", "driver", "--trajectories", "12", "--answers", "2", "--look", "0"]
    assert command.main(["page_latency", *small]) == 0
    said = capfd.readouterr().out
    assert "first pair" in said
    [request, *others, total] = [float(line.split()[1]) for line in said.splitlines()[-5:]]
    assert min(others) >= 0
    assert request <= total < 1000 * TIMEOUT


def test_a_benchmark_is_run_by_name_with_its_own_options(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[list[str]] = []

    def run(words: list[str], **_: object) -> SimpleNamespace:
        ran.append(words[1:])
        return SimpleNamespace(returncode=len(ran) > 1)

    monkeypatch.setattr("subprocess.run", run)
    assert command.main(["arena", "--runs", "3", "--help"]) == 0
    assert command.main([]) == 1
    module = command.benchmarks()["arena"].module
    assert ran[0] == ["-m", module, "--runs", "3", "--help"]
    assert [words[1].rpartition(".")[2] for words in ran[1:]] == list(command.SHORT)
    with pytest.raises(SystemExit):
        command.main(["arenas"])
