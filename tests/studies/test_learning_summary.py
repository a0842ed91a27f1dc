"""The learning summary: numbers against brute force, and hints at their thresholds."""

from itertools import combinations
from typing import get_args

import numpy as np
import pytest

from prefero import Learner, Pool, Question
from prefero._support.arrays import Array
from prefero.questions import Choice
from prefero.studies.event_log import AskedQuestion, EventLog
from prefero.studies.learner_cache import expected_accuracy
from prefero.studies.learning_summary import (
    CURVE,
    MAP,
    MOST_MAPS,
    RANKED,
    FeatureLabel,
    LearningCurvePoint,
    expected_gain,
    feature_curve,
    feature_effects,
    feature_map,
    hint,
    learning_summary,
    likely_gain,
    ranking,
)
from prefero.studies.protocol import StudyMethod
from studies.fake_study import preferred_choice


def pool_of(rows: int = 40, columns: int = 3) -> Pool:
    """Features in very different units, so that confusing raw and scaled ones fails."""
    rng = np.random.default_rng(1)
    features = rng.standard_normal((rows, columns)) * 10.0 ** np.arange(columns) + 5.0
    return Pool(features, [f"feature {place}" for place in range(columns)])


def taught(pool: Pool, answers: int = 6, method: str = "ActiveGP 1 0.1") -> Learner:
    learner = StudyMethod("A", method, 1).learner(pool, 0)
    for _ in range(answers):
        question = learner.ask()
        learner.tell(question, preferred_choice(pool, question.left, question.right))
    return learner


@pytest.fixture(scope="module")
def learner() -> Learner:
    return taught(pool_of())


def reward_at(learner: Learner, features: Array) -> tuple[float, float]:
    """Mean and deviation at one point in the user's units, by the reward's public methods."""
    mean, std = learner.reward().predict(features[None], return_std=True)
    return float(mean[0]), float(std[0])


# --- curves, maps and effects -----------------------------------------------------------------------------


def even(column: Array, count: int) -> Array:
    """Evenly spaced values from the lowest to the highest."""
    low, high = min(column), max(column)
    return np.array([low + (high - low) * place / (count - 1) for place in range(count)])


def test_curves_are_the_reward_along_one_feature_with_the_others_at_their_mean(learner: Learner) -> None:
    pool = learner.pool
    middle = pool.features.mean(axis=0)
    for place in range(3):
        curve = feature_curve(learner.reward(), pool, place)
        xs = [point.x for point in curve]
        assert len(xs) == CURVE
        np.testing.assert_allclose(np.array(xs), even(pool.features[:, place], CURVE))
        for point in curve[:: CURVE // 4]:
            at = middle.copy()
            at[place] = point.x
            mean, std = reward_at(learner, at)
            assert point.mean == pytest.approx(mean, abs=1e-9)
            assert point.high - point.mean == pytest.approx(std, abs=1e-7)
            assert point.mean - point.low == pytest.approx(std, abs=1e-7)


def test_maps_are_the_reward_at_their_points(learner: Learner) -> None:
    pool = learner.pool
    found = feature_map(learner.reward(), pool, 0, 2)
    assert (found.x, found.y) == ("feature 0", "feature 2")
    for side, place in (("xs", 0), ("ys", 2)):
        np.testing.assert_allclose(getattr(found, side), even(pool.features[:, place], MAP))
    mean, std = np.array(found.mean), np.array(found.std)
    assert mean.shape == std.shape == (MAP, MAP)
    for row, column in [(0, 0), (0, MAP - 1), (MAP - 1, 0), (7, 19), (19, 7)]:
        at = pool.features.mean(axis=0)
        at[0], at[2] = found.xs[column], found.ys[row]
        assert (mean[row, column], std[row, column]) == pytest.approx(reward_at(learner, at), abs=1e-7)


def test_effects_are_shares_of_the_deviations_of_one_feature_alone(learner: Learner) -> None:
    pool = learner.pool
    deviations = []
    for place in range(3):
        rewards = []
        for row in pool.features:
            at = pool.features.mean(axis=0)
            at[place] = row[place]
            rewards.append(reward_at(learner, at)[0])
        deviations.append(np.std(rewards))
    effects = feature_effects(learner.reward(), pool)
    np.testing.assert_allclose(effects, np.array(deviations) / np.sum(deviations), atol=1e-9)
    assert sum(effects) == pytest.approx(1.0)
    assert min(effects) >= 0.0


def test_before_the_first_answer_no_feature_has_an_effect() -> None:
    learner = taught(pool_of(), answers=0)
    assert feature_effects(learner.reward(), learner.pool) == [0.0, 0.0, 0.0]


def test_the_feature_that_matters_has_the_largest_effect() -> None:
    effects = feature_effects(taught(pool_of(), answers=10).reward(), pool_of())
    assert np.argmax(effects) == 0


# --- accuracy and gain ------------------------------------------------------------------------------------


def test_the_gain_is_the_expectation_over_both_answers(learner: Learner) -> None:
    question = learner.fork().ask()
    now = expected_accuracy(learner.belief(), learner.pool)
    x = learner.pool.features
    chance = float(learner.reward().predict_proba(x[[question.left]], x[[question.right]])[0])
    after, choices = [], get_args(Choice)
    for choice in choices[:2]:
        other = StudyMethod("A", "ActiveGP 1 0.1", 1).learner(learner.pool, 0)
        for answer in learner.answers:
            other.tell(answer.question, answer.choice)
        other.tell(question, choice)
        after.append(expected_accuracy(other.belief(), learner.pool))
    wanted = chance * after[0] + (1 - chance) * after[1] - now
    assert expected_gain(learner, question, now) == pytest.approx(wanted, abs=1e-8)
    assert wanted > 0
    assert len(learner.answers) == 6


@pytest.mark.parametrize(
    ("answers", "accuracy", "gain", "words"),
    [
        (0, 0.5, 0.2, "Nothing is known yet. The first answers tell the most."),
        (
            1,
            0.612,
            0.0,
            "It expects to predict 61% of your answers, but this estimate is not reliable yet after 1",
        ),
        (4, 0.8, 0.001, "but this estimate is not reliable yet after 4 of them. Continue."),
        (
            8,
            0.8,
            0.009999,
            "80% of your answers, and five more answers would add hardly anything. You may stop",
        ),
        (7, 0.8, 0.05, "but this estimate is not reliable yet after 7 of them. Continue."),
        (8, 0.8, 0.01, "80% of your answers. Five more answers are likely to add about 1.0 points."),
        (30, 0.954, 0.0123, "95% of your answers. Five more answers are likely to add about 1.2 points."),
    ],
)
def test_the_hint_says_in_words_whether_to_go_on(
    answers: int, accuracy: float, gain: float, words: str
) -> None:
    assert words in hint(answers, accuracy, gain)


# --- all of it --------------------------------------------------------------------------------------------


def labels(pool: Pool) -> list[FeatureLabel]:
    return [FeatureLabel(name, "m/s") for name in pool.names]


def asked(number: int, answered: int, accuracy: float | None) -> AskedQuestion:
    return AskedQuestion(number, number, 0, answered, "A", (0, 1), None, None, accuracy, "")


def test_the_ranking_is_by_the_reward(learner: Learner) -> None:
    pool = learner.pool
    rewards = learner.reward()(pool.features)
    found = ranking(learner.reward(), pool)
    assert [row.index for row in found] == np.argsort(-rewards).tolist()[:RANKED]
    assert [row.rank for row in found] == list(range(1, RANKED + 1))
    for row in found[::8]:
        assert (row.mean, row.std) == pytest.approx(reward_at(learner, pool.features[row.index]), abs=1e-7)
        assert list(row.features.values()) == pool.features[row.index].tolist()
        assert tuple(row.features) == pool.names


def test_a_small_pool_is_ranked_as_a_whole() -> None:
    small = taught(pool_of(5), answers=2)
    assert len(ranking(small.reward(), small.pool)) == 5


def test_the_summary_holds_all_parts(learner: Learner) -> None:
    pool, question = learner.pool, learner.fork().ask()
    log = EventLog((asked(1, 0, 0.5), asked(2, 1, 0.6), asked(3, 1, 0.62), asked(4, 2, None)))
    found = learning_summary(log, learner, labels(pool), question)
    accuracy = expected_accuracy(learner.belief(), pool)
    assert found.answers == 6
    assert found.accuracy == accuracy
    assert found.learning_curve == [
        LearningCurvePoint(0, 0.5),
        LearningCurvePoint(1, 0.62),
        LearningCurvePoint(6, accuracy),
    ]
    assert found.expected_gain == pytest.approx(5 * expected_gain(learner, question, accuracy))
    assert found.hint == hint(6, accuracy, found.expected_gain)
    assert found.description.lower() == learner.reward().describe().lower() + "."
    assert found.description.startswith("The reward was learned by")
    assert [(f.name, f.unit) for f in found.features] == [(name, "m/s") for name in pool.names]
    assert [f.effect for f in found.features] == feature_effects(learner.reward(), pool)
    assert found.best == found.ranking[0].index
    assert {(p.x, p.y) for p in found.feature_maps} == set(combinations(pool.names, 2))


def test_without_a_question_no_gain_is_expected(learner: Learner) -> None:
    assert learning_summary(EventLog(), learner, labels(learner.pool), None).expected_gain == 0.0


def test_a_gain_is_never_a_loss(learner: Learner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("prefero.studies.learning_summary.expected_gain", lambda *_: -0.1)
    assert learning_summary(EventLog(), learner, labels(learner.pool), Question(0, 1)).expected_gain == 0.0


def test_of_many_features_the_pairs_that_matter_most_are_mapped() -> None:
    learner = taught(pool_of(30, 6), answers=8)
    found = learning_summary(EventLog(), learner, labels(learner.pool), None)
    effects = {feature.name: feature.effect for feature in found.features}
    shown = [effects[pair.x] + effects[pair.y] for pair in found.feature_maps]
    every = sorted((effects[a] + effects[b] for a, b in combinations(effects, 2)), reverse=True)
    assert len(every) == 15
    np.testing.assert_allclose(shown, every[:MOST_MAPS])


def test_the_belief_over_structures_can_be_looked_into_as_well() -> None:
    learner = taught(pool_of(12, 2), answers=3, method="Prefero")
    found = learning_summary(EventLog(), learner, labels(learner.pool), learner.fork().ask())
    assert found.description.lower() == learner.reward().describe().lower() + "."
    assert sum(feature.effect for feature in found.features) == pytest.approx(1.0)
    assert 0.5 < found.accuracy <= 1.0


def test_the_gain_is_the_larger_of_the_expected_and_half_of_the_past_one() -> None:
    rising = [LearningCurvePoint(n, 0.5 + 0.02 * n) for n in range(11)]
    assert likely_gain(rising, 0.001) == pytest.approx(0.05)
    assert likely_gain(rising, 0.03) == pytest.approx(0.15)
    falling = [LearningCurvePoint(n, 0.9 - 0.02 * n) for n in range(11)]
    assert likely_gain(falling, -0.1) == 0.0
    assert likely_gain(rising[:3], 0.0) == 0.0  # five answers ago there was nothing
