"""The linear baseline: its draws against a grid over the circle, and manners that all models share."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import question_reference
import reference
from acquisition.searched_pools import score_all
from prefero import LinearPreference, Pool, PreferenceGP
from prefero._support.arrays import Array
from prefero.acquisition.functions.mutual_information import MutualInformation
from prefero.acquisition.searches.best_question import best_question
from prefero.kernels import Linear
from prefero.models.linear import LinearPosterior, effective_sample_size
from prefero.models.preference_gp import NotFittedError, PreferenceModel


def items(rows: int = 20, columns: int = 2, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal((rows, columns))


def pairs(x: Array, number: int, seed: int = 0, noise: float = 0.3) -> Any:
    """Winners and losers of somebody who wants much of the first feature and little of the others."""
    rng = np.random.default_rng(seed)
    want = np.full(x.shape[1], -0.5)
    want[0] = 1.0
    want /= np.linalg.norm(want)
    drawn = np.array([rng.choice(len(x), 2, replace=False) for _ in range(number)], dtype=int).reshape(-1, 2)
    gap = (x[drawn[:, 0]] - x[drawn[:, 1]]) @ want + np.sqrt(2) * noise * rng.standard_normal(number)
    return np.where(gap[:, None] > 0, drawn, drawn[:, ::-1])


def belief_of(model: LinearPreference, x: Array, won: Any, ties: Any = None) -> LinearPosterior:
    belief = model.fit(x, won, ties=ties).posterior_
    assert isinstance(belief, LinearPosterior)
    return belief


# --- the posterior over directions ------------------------------------------------------------------------


@pytest.mark.parametrize("features", [1, 2, 5])
@pytest.mark.parametrize("answers", [0, 1, 12])
def test_directions_have_length_one(features: int, answers: int) -> None:
    x = items(columns=features)
    belief = belief_of(LinearPreference(), x, pairs(x, answers))
    assert belief.weights.shape == (100, features)
    np.testing.assert_allclose(np.linalg.norm(belief.weights, axis=1), 1.0)


def circle(x: Array, won: Any, ties: Any, noise: float, margin: float) -> tuple[Array, Array]:
    """Directions all around, and how likely each is given the answers."""
    angles = np.linspace(-np.pi, np.pi, 7201)[:-1]
    unit = np.column_stack([np.cos(angles), np.sin(angles)])
    both = np.concatenate(
        [np.asarray(won, dtype=int).reshape(-1, 2), np.asarray(ties, dtype=int).reshape(-1, 2)]
    )
    tied = np.arange(len(both)) >= len(won)
    d = unit @ (x[both[:, 0]] - x[both[:, 1]]).T
    log = reference.log_answer_probability(d, np.broadcast_to(tied, d.shape), noise, margin).sum(axis=1)
    weight = np.exp(log - log.max())
    return unit, weight / weight.sum()


@pytest.mark.parametrize("noise", [0.1, 0.5])
@pytest.mark.parametrize(
    ("answers", "ties"), [(1, []), (4, []), (15, []), (4, [[0, 1], [2, 3]]), (0, [[4, 5]])]
)
def test_draws_are_those_of_a_grid_over_the_circle(noise: float, answers: int, ties: Any) -> None:
    x, margin = items(), 0.3 if ties else 0.0
    won = pairs(x, answers)
    unit, weight = circle(x, won, ties, noise, margin)
    belief = LinearPreference(noise, margin, draws=1000, seed=1).fit(x, won, ties=ties).posterior_
    new = items(8, seed=5)
    rewards = unit @ new.T
    mean = weight @ rewards
    deviation = np.sqrt(weight @ (rewards - mean) ** 2)
    error = 5 * deviation / np.sqrt(1000)
    found_mean, found_variance = belief.marginals(new)
    assert np.all(np.abs(found_mean - mean) < error)
    np.testing.assert_allclose(np.sqrt(found_variance), deviation, rtol=0.15)
    chosen = reference.answer_probability(
        rewards[:, :4] - rewards[:, 4:], np.zeros((1, 4), bool), noise, margin
    )
    np.testing.assert_allclose(belief.probability(new[:4], new[4:]), weight @ chosen, atol=0.05)


def test_before_any_answer_directions_point_everywhere_alike() -> None:
    weights = belief_of(LinearPreference(draws=2000), items(columns=3), []).weights
    np.testing.assert_allclose(weights.mean(axis=0), 0.0, atol=0.07)
    np.testing.assert_allclose(weights.T @ weights / 2000, np.eye(3) / 3, atol=0.05)


@pytest.mark.parametrize("features", [2, 6])
@pytest.mark.parametrize("answers", [0, 5, 30])
def test_most_draws_count(features: int, answers: int) -> None:
    x = items(columns=features)
    effective = belief_of(LinearPreference(noise=0.2), x, pairs(x, answers)).effective_sample_size
    assert 50 < effective <= 100


def test_the_effective_sample_size_of_independent_chains_is_all_and_of_stuck_ones_is_their_number() -> None:
    rng = np.random.default_rng(0)
    moving = rng.standard_normal((30, 200, 2))
    assert effective_sample_size(moving) == pytest.approx(6000, rel=0.25)
    stuck = np.broadcast_to(rng.standard_normal((1, 200, 2)), (30, 200, 2))
    assert effective_sample_size(stuck) == pytest.approx(200, rel=0.02)


def test_the_seed_decides_the_draws() -> None:
    x = items()
    first, again, other = (belief_of(LinearPreference(seed=s), x, pairs(x, 5)).weights for s in (3, 3, 4))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_draws_agree_with_ties_at_any_distance() -> None:
    """A tie between trajectories that are far apart says that the direction is across them."""
    x = 40.0 * items()
    near = belief_of(LinearPreference(noise=0.1, margin=0.2), x, [], [[0, 1]]).weights
    across = near @ (x[0] - x[1])
    assert np.abs(across).max() < 2.0
    swapped = belief_of(LinearPreference(noise=0.1, margin=0.2), x, [], [[1, 0]]).weights
    assert np.abs(swapped @ (x[0] - x[1])).max() < 2.0


# --- information ------------------------------------------------------------------------------------------


def brute_bits(belief: Any, a: Array, b: Array) -> float:
    """Entropy of the average answer less the average entropy, straight from the draws."""
    x = belief.weights @ (a - b) / (np.sqrt(2) * belief.probit.noise)
    margin = belief.probit.margin / (np.sqrt(2) * belief.probit.noise)
    each = np.array([question_reference.answer_probabilities(float(v), margin) for v in x])
    remains = np.mean([question_reference.entropy_bits(row) for row in each])
    return float(question_reference.entropy_bits(each.mean(axis=0)) - remains)


@pytest.mark.parametrize("margin", [0.0, 0.2])
def test_information_of_every_pair_is_that_of_the_draws(margin: float) -> None:
    x, pool = items(), items(9, seed=2)
    belief = LinearPreference(margin=margin, draws=40).fit(x, pairs(x, 4)).posterior_
    expected = np.array([[brute_bits(belief, a, b) for b in pool] for a in pool])
    np.testing.assert_allclose(score_all(belief, pool, MutualInformation()), expected, atol=1e-4)
    best = best_question(belief, pool)
    assert best.value == pytest.approx(expected.max(), abs=1e-4)
    assert expected[best.left, best.right] == pytest.approx(expected.max(), abs=1e-4)


# --- manners: one kit, every model ------------------------------------------------------------------------

MODELS: dict[str, Callable[[], Any]] = {
    "LinearPreference": lambda: LinearPreference(noise=0.2, draws=60),
    "PreferenceGP, belief": PreferenceGP,
    "PreferenceGP, kernel": lambda: PreferenceGP(kernel=1.0 * Linear(), noise=0.2, learn=False),
}
every_model = pytest.mark.parametrize("make", MODELS.values(), ids=MODELS.keys())


def fitted(make: Callable[[], Any], answers: int = 12) -> Any:
    x = items()
    return make().fit(x, pairs(x, answers))


@every_model
def test_every_model_is_a_preference_model_that_fit_returns(make: Callable[[], Any]) -> None:
    model, x = make(), items()
    assert isinstance(model, PreferenceModel)
    assert model.fit(x, pairs(x, 3)) is model
    assert model.n_features_in_ == 2
    assert model.noise_ > 0.0
    assert model.margin_ == 0.0


@every_model
def test_every_model_learns_the_direction(make: Callable[[], Any]) -> None:
    x = items(100, seed=4)
    reward = fitted(make, 25).predict(x)
    assert np.corrcoef(reward, x @ np.array([1.0, -0.5]))[0, 1] > 0.9


@every_model
def test_every_models_predictions_agree_with_each_other(make: Callable[[], Any]) -> None:
    model, x = fitted(make), items(6, seed=3)
    mean, covariance = model.predict(x, return_cov=True)
    alone, deviation = model.predict(x, return_std=True)
    np.testing.assert_allclose(model.predict(x), mean, rtol=1e-9)
    np.testing.assert_allclose(alone, mean, rtol=1e-9)
    np.testing.assert_allclose(deviation**2, covariance.diagonal(), rtol=1e-6)
    gap, gap_variance = model.posterior_.difference(x[:3], x[3:])
    away = np.hstack([np.eye(3), -np.eye(3)])
    np.testing.assert_allclose(gap, away @ mean, atol=1e-9)
    np.testing.assert_allclose(gap_variance, (away @ covariance @ away.T).diagonal(), atol=1e-9)


@every_model
def test_every_models_probabilities_are_complementary_and_follow_the_mean(make: Callable[[], Any]) -> None:
    model, x = fitted(make), items(40, seed=3)
    first, second = model.predict_proba(x[:20], x[20:]), model.predict_proba(x[20:], x[:20])
    np.testing.assert_allclose(first + second, 1.0)
    clear = np.abs(first - 0.5) > 0.2
    gap = model.predict(x[:20]) - model.predict(x[20:])
    assert clear.any()
    np.testing.assert_array_equal((first > 0.5)[clear], (gap > 0)[clear])


@every_model
def test_every_models_samples_have_its_moments(make: Callable[[], Any]) -> None:
    model, x = fitted(make), items(4, seed=3)
    drawn = model.sample(x, 4000, seed=1)
    mean, deviation = model.predict(x, return_std=True)
    assert drawn.shape == (4000, 4)
    np.testing.assert_allclose(drawn.mean(axis=0), mean, atol=5 * float(deviation.max()) / np.sqrt(4000))
    np.testing.assert_allclose(drawn.std(axis=0), deviation, rtol=0.2)
    np.testing.assert_array_equal(drawn, model.sample(x, 4000, seed=1))


@every_model
def test_every_models_belief_is_a_mixture(make: Callable[[], Any]) -> None:
    belief, x = fitted(make).posterior_, items(5, seed=3)
    assert sum(weight for weight, _ in belief.components) == pytest.approx(1.0)
    mean = sum(weight * component.project(x)[0] for weight, component in belief.components)
    np.testing.assert_allclose(mean, belief(x)[0], atol=1e-9)


@every_model
def test_every_model_can_be_cloned_and_represented(make: Callable[[], Any]) -> None:
    model = fitted(make)
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert not hasattr(copy, "posterior_")
    assert repr(copy) == repr(model)
    assert repr(model).startswith(type(model).__name__)


@every_model
def test_every_model_says_that_it_is_not_fitted(make: Callable[[], Any]) -> None:
    with pytest.raises(NotFittedError, match="call fit"):
        make().predict(items())
    with pytest.raises(NotFittedError, match="call fit"):
        make().predict_proba(items(), items())


@every_model
def test_every_model_refuses_other_features_and_bad_pairs(make: Callable[[], Any]) -> None:
    with pytest.raises(ValueError, match=r"2 features, .*3"):
        fitted(make).predict(items(columns=3))
    with pytest.raises(ValueError, match=r"pairs .*items 0 to 19"):
        make().fit(items(), [[0, 20]])
    with pytest.raises(ValueError, match="features must be finite"):
        make().fit([[np.nan, 1.0], [1.0, 2.0]], [[0, 1]])


@every_model
def test_every_model_is_asked_by_the_same_search(make: Callable[[], Any]) -> None:
    pool = Pool(items(15, seed=6))
    belief = fitted(make).posterior_
    question = best_question(belief, pool.scaled)
    assert question.value == pytest.approx(
        np.triu(score_all(belief, pool.scaled, MutualInformation()), 1).max(), abs=1e-9
    )


@every_model
def test_every_model_fits_ties_when_it_knows_a_margin(make: Callable[[], Any]) -> None:
    x = items()
    model = make().set_params(margin=0.2).fit(x, pairs(x, 6), ties=[[0, 1], [2, 3]])
    assert model.margin_ == pytest.approx(0.2)
    assert np.all(model.predict_proba(x[:10], x[10:]) + model.predict_proba(x[10:], x[:10]) < 1.0)


def test_ties_without_a_margin_are_refused_with_the_way_out() -> None:
    with pytest.raises(ValueError, match=r"LinearPreference .*positive margin"):
        LinearPreference().fit(items(), [[0, 1]], ties=[[2, 3]])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [({"noise": 0.0}, "noise must be"), ({"margin": -1.0}, "margin must be 0")],
)
def test_bad_parameters_are_refused_at_fit(parameters: dict[str, float], message: str) -> None:
    model = LinearPreference(**parameters)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=message):
        model.fit(items(), [[0, 1]])


@pytest.mark.parametrize("draws", [0, -5])
def test_no_draws_are_no_belief(draws: int) -> None:
    with pytest.raises(ValueError, match="draws"):
        LinearPreference(draws=draws).fit(items(), [[0, 1]])
