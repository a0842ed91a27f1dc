"""Units travel with the model: a pool gives a posterior the features in the units it was fitted with."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prefero import (
    Learner,
    LinearPreference,
    Pool,
    PreferenceGP,
    Question,
    Reward,
    best_question,
    load_reward,
)
from prefero._support.arrays import Array
from prefero.kernels import RBF, Anchored, Linear
from prefero.models.posterior.gaussian import Distribution
from prefero.questions import Comparisons
from prefero.trajectories.features import Scaling

NAMES = ["speed", "distance", "comfort"]
UNITS, OFFSET = np.array([300.0, 0.02, 1.0]), np.array([1000.0, -0.5, 3.0])
MODELS: dict[str, Any] = {
    "model averaging": PreferenceGP(),
    "one kernel": PreferenceGP(kernel=Anchored(RBF(theta=0.3), (0.0, 0.0, 0.0)), noise=0.1, learn=False),
    "learned kernel": PreferenceGP(kernel=1.0 * Linear() + RBF(theta=0.3), noise=0.1),
    "linear samples": LinearPreference(noise=0.2, draws=20),
}
every_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS.keys())


def features(rows: int = 40, seed: int = 0) -> Array:
    """Features of very different units."""
    drawn: Array = np.random.default_rng(seed).standard_normal((rows, 3)) * UNITS + OFFSET
    return drawn


def pairs(x: Array, count: int = 12, seed: int = 1) -> Array:
    """Random pairs, answered by somebody who likes speed and dislikes distance."""
    rng = np.random.default_rng(seed)
    drawn = np.array([rng.choice(len(x), 2, replace=False) for _ in range(count)])
    liked = (x - x.mean(axis=0)) / x.std(axis=0) @ [1.0, -0.5, 0.0]
    won = (liked[drawn[:, 0]] > liked[drawn[:, 1]])[:, None]
    answered: Array = np.where(won, drawn, drawn[:, ::-1])
    return answered


def taught(pool: Pool, model: Any = None, answers: int = 6) -> Learner:
    learner = Learner(pool, model=model, seed=3)
    for _ in range(answers):
        question = learner.ask()
        better = pool.features[question.left, 0] > pool.features[question.right, 0]
        learner.tell(question, "left" if better else "right")
    return learner


def assert_same_question(found: Question, wanted: Question) -> None:
    assert set(found.items) == set(wanted.items)
    assert found.value == pytest.approx(wanted.value, abs=1e-6)


# --- models that were fitted to raw features --------------------------------------------------------------


@every_model
def test_a_model_of_raw_features_asks_the_same_of_a_pool_and_of_its_features(model: Any) -> None:
    x = features()
    posterior = model.fit(x, pairs(x)).posterior_
    assert posterior.scaling is None
    for pool in (Pool(x), Pool(x, NAMES)):
        assert_same_question(best_question(posterior, pool), best_question(posterior, x))
        np.testing.assert_array_equal(pool.features_for(posterior), x)


def test_a_pool_of_another_number_of_features_is_refused() -> None:
    x = features()
    posterior = PreferenceGP().fit(x, pairs(x)).posterior_
    message = r"fitted to 3 features, but the pool has 2 \(feature 0, feature 1\)"
    with pytest.raises(ValueError, match=message):
        best_question(posterior, Pool(x[:, :2]))


# --- a learner's belief, and a reward ---------------------------------------------------------------------


@pytest.mark.parametrize("model", [None, *list(MODELS.values())[1:]], ids=MODELS.keys())
def test_a_learners_belief_asks_the_same_of_the_pool_and_of_its_scaled_features(model: Any) -> None:
    pool = Pool(features(), NAMES)
    belief = taught(pool, model).belief()
    assert belief.scaling == pool.scaling
    assert pool.features_for(belief) is pool.scaled
    assert_same_question(best_question(belief, pool), best_question(belief, pool.scaled))


def test_before_the_first_answer_a_learners_belief_has_its_units() -> None:
    pool = Pool(features(), NAMES)
    assert Learner(pool).belief().scaling == pool.scaling


def test_another_pool_is_scaled_as_the_first_was() -> None:
    """Its own scaling is another, and would change what the model was taught."""
    first, second = Pool(features(), NAMES), Pool(2.0 * features(seed=8)[:25] + 1.0, NAMES)
    belief = taught(first).belief()
    x = first.scaling(second.features)
    np.testing.assert_array_equal(second.features_for(belief), x)
    assert not np.allclose(x, second.scaled)
    assert_same_question(best_question(belief, second), best_question(belief, x))


def test_a_pool_of_other_features_is_refused() -> None:
    belief = taught(Pool(features(), NAMES)).belief()
    message = "wanted the features speed, distance, comfort, but the pool has speed, distance, jerk"
    with pytest.raises(ValueError, match=message):
        best_question(belief, Pool(features(), ["speed", "distance", "jerk"]))


@pytest.mark.parametrize("model", [None, MODELS["one kernel"], MODELS["linear samples"]])
def test_a_saved_reward_keeps_its_units(model: Any, tmp_path: Any) -> None:
    first, second = Pool(features(), NAMES), Pool(3.0 * features(seed=8), NAMES)
    reward = taught(first, model).reward()
    reward.save(tmp_path / "reward.json")
    loaded = load_reward(tmp_path / "reward.json")
    assert loaded.belief.scaling == reward.scaling == first.scaling
    for pool in (first, second):
        assert_same_question(best_question(loaded.belief, pool), best_question(reward.belief, pool))
        np.testing.assert_allclose(reward.rank(pool), np.argsort(-reward(pool.features), kind="stable"))


def test_a_reward_needs_the_units_of_its_features() -> None:
    x = features()
    with pytest.raises(ValueError, match=r"names and scaling .*learn with"):
        Reward(PreferenceGP().fit(x, pairs(x)).posterior_)


def test_refitting_with_another_scaling_forgets_the_old_one() -> None:
    x = features()
    first, second = Scaling.of(x, NAMES), Scaling.of(x, ["a", "b", "c"])
    model, data = PreferenceGP(), Comparisons.of(first(x), pairs(x))
    posteriors: list[Distribution] = []
    for scaling in (first, second, None):
        answers = Comparisons(data.winners, data.losers, data.tied, scaling)
        posteriors.append(model.fit_comparisons(answers).posterior_)
    assert [posterior.scaling for posterior in posteriors] == [first, second, None]


# --- any units --------------------------------------------------------------------------------------------

units = st.lists(st.floats(1e-3, 1e3), min_size=3, max_size=3)
offsets = st.lists(st.floats(-1e3, 1e3), min_size=3, max_size=3)


@settings(max_examples=12)
@given(unit=units, offset=offsets, seed=st.integers(0, 100))
def test_the_units_of_features_never_change_the_question(
    unit: list[float], offset: list[float], seed: int
) -> None:
    x = features(15, seed)
    other = x * unit + offset
    wanted, found = (
        best_question(PreferenceGP(learn=False).fit(z, pairs(x)).posterior_, Pool(z)) for z in (x, other)
    )
    assert found.value == pytest.approx(wanted.value, abs=1e-6)
    assert set(found.items) == set(wanted.items)


@settings(max_examples=8)
@given(unit=units, offset=offsets, seed=st.integers(0, 100))
def test_the_units_of_a_pool_never_change_what_a_learner_asks(
    unit: list[float], offset: list[float], seed: int
) -> None:
    x = features(15, seed)
    here, there = (Learner(Pool(z, NAMES), seed=seed) for z in (x, x * unit + offset))
    for winner, loser in pairs(x, 8).tolist():
        here.tell(Question(winner, loser), "left")
        there.tell(Question(winner, loser), "left")
    assert_same_question(there.ask(), here.ask())
