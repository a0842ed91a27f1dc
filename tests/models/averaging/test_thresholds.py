"""Soft thresholds: what they are, and that they are found where a reward steps, and hardly elsewhere."""

import numpy as np
import pytest

from prefero._support.arrays import Array
from prefero.models.averaging import searched_structures
from prefero.models.averaging.feature_selection import FeatureSelection, feature_relevance
from prefero.models.averaging.fitter import MixtureFitter
from prefero.models.averaging.reference import Reference
from prefero.models.averaging.searched_structures import search_relevant, search_thresholds
from prefero.models.averaging.structures import Margins, ModelSettings
from prefero.models.averaging.thresholds import QUANTILES, WIDTH, Thresholds
from prefero.questions import Comparisons

GOAL, GOAL_AT = 4, 1.2  # the feature, and its value
NOISES = {0.1: 0.7, 0.5: 0.3}


def pool(features: int, count: int = 400) -> Array:
    """Trajectories, of which a fifth reach a goal along a feature, if there are so many."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((count, features))
    if features > GOAL:
        x[:, GOAL] = np.where(rng.random(count) < 0.2, 1.5 + 0.1 * x[:, GOAL], np.minimum(x[:, GOAL], 1.2))
    return x


def with_bonus(x: Array) -> Array:
    """An effort that costs, and a bonus at the goal."""
    return -x[:, 1] + 20.0 * (x[:, GOAL] > GOAL_AT)


def answers(x: Array, rewards: Array, count: int, seed: int = 0) -> Comparisons:
    pairs = np.random.default_rng(seed).choice(len(x), (count, 2))
    first, second = np.where((rewards[pairs[:, 0]] > rewards[pairs[:, 1]])[:, None], pairs, pairs[:, ::-1]).T
    return Comparisons(x[first], x[second], np.zeros(count, dtype=bool))


def settings(x: Array) -> ModelSettings:
    return ModelSettings(Reference.of(x), None, None, "ep")


def test_steps_are_hyperbolic_tangents_of_unit_variance() -> None:
    rows = pool(3)
    found = Thresholds.of(rows)
    assert found.columns.tolist() == [c for c in range(3) for _ in QUANTILES]
    assert found.values == pytest.approx(np.quantile(rows, QUANTILES, axis=0).T.ravel())
    by_hand = np.tanh((rows[:, 1] - np.quantile(rows[:, 1], QUANTILES[3])) / WIDTH)
    by_hand = (by_hand - np.mean(by_hand)) / np.std(by_hand)
    assert found.steps(rows)[:, len(QUANTILES) + 3] == pytest.approx(by_hand)


def test_two_values_have_no_threshold_between_them_and_equal_thresholds_are_one() -> None:
    rows = np.column_stack([np.zeros(100), np.arange(100) % 2, np.repeat([0.0, 1.0, 2.0], [80, 10, 10])])
    found = Thresholds.of(rows)
    assert found.columns.tolist() == [2, 2]
    assert found.values.tolist() == [0.0, 2.0]


def test_the_kernel_is_that_of_independent_weights_of_the_steps() -> None:
    rows, other = pool(3), pool(3, 7) + 0.5
    found = Thresholds.of(rows)
    relevance = np.where(np.arange(len(found.columns)) % 4 == 1, 0.3, 0.0)
    expected = (found.steps(other) * relevance) @ found.steps(rows).T
    np.testing.assert_allclose(found.kernel(relevance)(other, rows), expected, rtol=1e-9, atol=1e-12)


def test_a_bonus_is_found_by_the_threshold_next_to_it() -> None:
    x = pool(8)
    rows = Reference.of(x).rows
    thresholds = Thresholds.of(rows)
    data = answers(rows, with_bonus(x), 60)
    found = feature_relevance(data.winners, data.losers, NOISES, thresholds)
    best = int(np.argmax(found.steps))
    assert thresholds.columns[best] == GOAL
    assert found.steps.sum() > 0.3
    assert np.argmax(found.smooth) == 1
    assert found.smooth.sum() + found.steps.sum() == pytest.approx(1.0)


def test_many_negligible_steps_make_no_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    x = pool(120)
    count = len(Reference.of(x).thresholds.columns)
    found = FeatureSelection(0.7 * np.eye(120)[0], np.full(count, 0.3 / count), 0.0)
    monkeypatch.setattr(searched_structures, "feature_relevance", lambda *_: found)
    assert search_thresholds(settings(x), answers(x, x[:, 0], 5), Margins()) == []


def test_a_linear_reward_has_hardly_a_threshold() -> None:
    x = Reference.of(pool(8)).rows
    data = answers(x, x @ [1, -1, 0.5, 0, 0, 0, 0, 0], 60)
    belief = MixtureFitter(Reference.of(x)).fit(data)
    assert belief.structures.get("threshold", 0.0) < 0.1
    few = answers(x, x[:, 0], 5)
    assert {one.structure for one in search_thresholds(settings(x), few, Margins())} <= {"threshold"}


@pytest.mark.parametrize("features", [10, 30])
def test_a_bonus_is_learned_better_than_without_thresholds(
    features: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = pool(features)
    rewards, data = with_bonus(x), answers(x, with_bonus(x), 60)
    first, second = np.random.default_rng(5).choice(len(x), (2, 500))

    def accuracy() -> float:
        belief = MixtureFitter(Reference.of(x)).fit(data)
        sure = belief.probability(x[first], x[second]) > 0.5
        return float(np.mean(sure == (rewards[first] > rewards[second])))

    found = accuracy()
    nothing = Thresholds(np.zeros(0, dtype=int), *np.zeros((3, 0)))
    monkeypatch.setattr(Thresholds, "of", lambda _: nothing)
    assert found > accuracy() + 0.02


def test_among_many_features_the_steps_share_what_the_search_costs() -> None:
    x = pool(30)
    found = search_relevant(settings(x), answers(x, with_bonus(x), 40), Margins())
    assert [one.structure for one in found].count("threshold") == len(found) // 4
    known = ModelSettings(Reference.of(x), 0.3, None, "ep")
    assert len(search_relevant(known, answers(x, with_bonus(x), 40), Margins())) == 4
