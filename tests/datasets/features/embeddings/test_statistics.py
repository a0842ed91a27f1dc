"""The default features: their formulas by other code, and their thinning by scikit-learn."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.linear_model import LinearRegression

from prefero import FeatureOptions, Learner, Pool, Question, load_reward
from prefero._support.arrays import Array
from prefero.datasets import Episode, extract_features, open_dataset
from prefero.datasets.features.embeddings.statistics import (
    REDUNDANT,
    Statistics,
    candidates,
    left_out,
    order_in_common,
    step_labels,
    thinned,
)
from prefero.deploy.export import export_reward

SECONDS = 0.1


def walk(number: int, steps: int = 20) -> Episode:
    rng = np.random.default_rng(number)
    states = np.cumsum(rng.normal(size=(steps + 1, 2)), axis=0)
    return Episode(str(number), states, rng.normal(size=(steps, 1)), None, SECONDS, ("x", "y"), ("push",))


def test_every_statistic_is_what_its_name_says() -> None:
    one, center = walk(3), np.array([0.5, -1.0, 0.2])
    found = candidates(one, center)
    x, push, time = one.states[:-1, 0], one.actions[:, 0], SECONDS * np.arange(20)
    assert found["mean x"] == pytest.approx(sum(x) / 20)
    assert found["mean square x"] == pytest.approx(np.var(x) + (np.mean(x) - 0.5) ** 2)
    assert found["mean square action push"] == pytest.approx(np.var(push) + (np.mean(push) - 0.2) ** 2)
    assert found["trend action push"] == pytest.approx(np.polyfit(time, push, 1)[0])
    changes = [abs(b - a) for a, b in pairwise(one.states[:, 1])]
    assert found["mean rate y"] == pytest.approx(sum(changes) / 20 / SECONDS)
    assert (found["first x"], found["final x"]) == (one.states[0, 0], one.states[-1, 0])
    assert (found["min x"], found["max action push"]) == (sorted(x)[0], sorted(push)[-1])
    assert found["control effort"] == pytest.approx(SECONDS * np.dot(push, push))
    assert found["duration"] == pytest.approx(2.0)


@given(st.integers(1, 4))
def test_all_are_defined_from_the_first_step_on(steps: int) -> None:
    one = Episode("a", np.ones((steps, 2)), np.ones((steps, 1)))
    assert all(np.isfinite(value) for value in candidates(one, np.zeros(3)).values())


def test_what_is_explained_agrees_with_least_squares() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 5))
    rows = np.column_stack([rows, rows @ [1, 1, 0, 0, 0] + 0.01 * rng.normal(size=60), np.full(60, 3.0)])
    rows = np.column_stack([rows, rows[:, 2] + 0.5 * rng.normal(size=60)])
    explained, closest, kept = thinned(rows)
    assert kept.tolist() == [1, 1, 1, 1, 1, 0, 0, 1]
    for column in (1, 4, 5, 7):
        before = np.flatnonzero(kept[:column])
        r2 = LinearRegression().fit(rows[:, before], rows[:, column]).score(rows[:, before], rows[:, column])
        adjusted = 1 - (1 - r2) * 59 / (59 - len(before))
        assert explained[column] == pytest.approx(max(adjusted, 0.0), abs=1e-9)
    assert closest[7] == 2
    assert explained[6] == 1


def test_what_a_linear_function_orders_otherwise_is_kept() -> None:
    """Those at the goal and the others: who is at the goal explains nearly all, but not who is ahead."""
    rng = np.random.default_rng(0)
    at_goal = np.where(rng.random(400) < 0.3, 10.0, -10.0)
    first, last = at_goal + 0.4 * rng.normal(size=(2, 400))
    explained, closest, kept = thinned(np.column_stack([first, last, first - last, -at_goal]))
    assert LinearRegression().fit(first[:, None], last).score(first[:, None], last) > 0.99 > REDUNDANT
    assert explained[1] == pytest.approx(stats.spearmanr(first, last).statistic ** 2)
    assert kept.tolist() == [1, 1, 0, 0]
    assert closest[1] == 0


@given(st.integers(0, 30))
def test_order_in_common_is_the_rank_correlation_of_scipy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, noise = rng.normal(size=(2, 40))
    assert order_in_common(a, a + noise) == pytest.approx(stats.spearmanr(a, a + noise).statistic ** 2)
    level = np.sign(a)
    assert order_in_common(level, level + 0.1 * np.tanh(noise)) == 1.0  # whatever the order within a level


def test_no_more_than_the_examples_can_tell_apart_are_kept() -> None:
    rows = np.random.default_rng(0).normal(size=(6, 40))
    assert 1 <= thinned(rows)[2].sum() <= 5
    assert thinned(np.random.default_rng(0).normal(size=(90, 40)), most=7)[2].sum() == 7


def test_no_kept_statistic_is_redundant_and_every_other_one_is() -> None:
    fitted = Statistics.fit([walk(i) for i in range(200)])
    kept = fitted.kept.astype(bool)
    assert np.all(fitted.explained[kept] < REDUNDANT)
    assert np.all(fitted.explained[~kept] >= REDUNDANT)
    lines = list(left_out(fitted, ("x", "y"), ("push",)))
    assert any(line.startswith("the same for all trajectories: duration") for line in lines)
    again = Statistics.from_arrays(fitted.arrays(), 300)
    assert again(walk(7)) == fitted(walk(7))


def test_a_joint_that_is_a_state_and_an_action_has_two_names() -> None:
    assert step_labels(("elbow", "action wrist"), ("elbow", "wrist", "action 1")) == [
        "elbow",
        "action wrist",
        "action elbow",
        "action action wrist",
        "action 1",
    ]


@pytest.fixture
def walks(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    states: Array = np.cumsum(rng.normal(size=(30, 15, 2)), axis=1)
    np.savez(
        tmp_path / "walks.npz", states=states, actions=rng.normal(size=(30, 14, 1)), step_seconds=SECONDS
    )
    return tmp_path / "walks.npz"


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_they_are_the_default_and_a_file_is_all_that_a_reward_needs(walks: Path, tmp_path: Path) -> None:
    learner = Learner(Pool.from_table(walks))
    assert "mean state 1" in learner.pool.scaling.names
    learner.tell(Question(0, 1), "left")
    learner.reward().save(tmp_path / "reward.json")
    reward, dataset = load_reward(tmp_path / "reward.json"), open_dataset(walks)
    table = reward.extract_features(dataset)
    assert np.allclose(table.features, learner.pool.features)
    episode = dataset.episode(3)  # type: ignore[attr-defined]
    of_prefix = reward.episode_features()
    for steps in (1, 2, 14):
        assert np.isfinite(of_prefix(episode.segment((0, steps)))).all()
    assert np.allclose(of_prefix(episode), table.features[3])
    export_reward(reward, tmp_path / "r.py")
    code: dict[str, object] = {}
    exec((tmp_path / "r.py").read_text(encoding="utf-8"), code)
    made = code["features"](episode.states, episode.actions, SECONDS)  # type: ignore[operator]
    assert np.allclose(made, table.features[3], rtol=1e-12)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_table_says_what_was_left_out(walks: Path) -> None:
    table = extract_features(open_dataset(walks), FeatureOptions())
    assert any("duration" in line for line in table.left_out())
    few = extract_features(open_dataset(walks), FeatureOptions("statistics(3)"))
    assert len(few.names) == 3
    assert any(line.startswith("beyond the first 3: ") for line in few.left_out())
    assert extract_features(open_dataset(walks), FeatureOptions("mean")).left_out() == []
