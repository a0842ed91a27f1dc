"""PreferenceGP: the paper's model, features in any unit, ties, predictions, and clear refusals."""

from typing import Any

import numpy as np
import pytest

import prefero
import reference
from models.preference_estimators import every_parameter, items, pairs, quick
from prefero import PreferenceGP
from prefero._support.arrays import Array
from prefero.kernels import RBF, Anchored, Linear, Matern
from prefero.models.likelihood.probit import Probit

# --- what it learns ---------------------------------------------------------------------------------------


def test_the_papers_model_in_one_line_is_the_papers_model() -> None:
    x, anchor = items(8), np.array([0.3, 0.4])
    won = pairs(x, 10, noise=0.5)
    model = prefero.PreferenceGP(
        kernel=prefero.kernels.Anchored(prefero.kernels.RBF(theta=1.0), tuple(anchor), mode="condition"),
        noise=0.1,
        learn=False,
        inference="laplace",
    )
    model.fit(x, won)

    def kernel(a: Array, b: Array) -> Array:
        return reference.conditioned_rbf(a, b, 1.0, anchor)

    judge = reference.naive_laplace(kernel, x[won[:, 0]], x[won[:, 1]], np.zeros(10, bool), 0.1)
    new = items(5, seed=7)
    mean, covariance = model.posterior_(new)
    np.testing.assert_allclose(mean, judge(new)[0], atol=1e-6)
    np.testing.assert_allclose(covariance, judge(new)[1], atol=1e-6)
    assert model.log_evidence_ == pytest.approx(judge.log_evidence, abs=1e-6)
    np.testing.assert_allclose(model.posterior_(anchor[None, :])[0], 0.0, atol=1e-12)


@every_parameter
def test_it_learns_to_predict_choices(parameters: dict[str, Any]) -> None:
    x = items(40)
    model = PreferenceGP(**parameters).fit(x, pairs(x, 30))
    won = pairs(x, 100, seed=5, noise=0.0)
    assert np.mean(model.predict_proba(x[won[:, 0]], x[won[:, 1]]) > 0.5 - 0.2 * bool(model.margin)) > 0.85


@pytest.mark.parametrize("unit", [(1e-3, 1e6), (1e6, 1e-3), (1.0, 1e3)])
@pytest.mark.parametrize("offset", [0.0, 3.0])
def test_without_a_kernel_units_do_not_matter(unit: tuple[float, float], offset: float) -> None:
    x = items()
    raw = (x + offset) * unit
    scaled = PreferenceGP().fit(x, pairs(x)).predict_proba(x[:12], x[12:])
    wild = PreferenceGP().fit(raw, pairs(x)).predict_proba(raw[:12], raw[12:])
    np.testing.assert_allclose(wild, scaled, atol=1e-6)


@pytest.mark.parametrize("value", [0.1, 0.7, 1e6 / 3])
def test_a_feature_that_never_varies_counts_for_nothing(value: float) -> None:
    """Rounding may make its standard deviation 1e-17 instead of 0."""
    x = items()
    zero, constant = np.column_stack([x, np.zeros(24)]), np.column_stack([x, np.full(24, value)])
    moved = np.array([0.0, 0.0, 1e-3])
    expected, found = (
        PreferenceGP().fit(rows, pairs(x)).predict_proba(rows[:12] + moved, rows[12:])
        for rows in (zero, constant)
    )
    np.testing.assert_allclose(found, expected, atol=1e-4)


def test_before_any_answer_every_choice_is_a_coin() -> None:
    x = items()
    for model in (PreferenceGP(), quick()):
        np.testing.assert_allclose(model.fit(x, []).predict_proba(x[:12], x[12:]), 0.5)
        np.testing.assert_allclose(model.predict(x), 0.0)


@pytest.mark.parametrize("kernel", [1.0 * RBF(5.0), 1.0 * Linear(), Anchored(2.0 * Matern(0.3), (0.0, 0.0))])
@pytest.mark.parametrize("noise", [None, 0.1])
def test_learning_raises_the_evidence(kernel: Any, noise: float | None) -> None:
    x = items()
    fixed, learned = (
        PreferenceGP(kernel=kernel, noise=noise, learn=learn).fit(x, pairs(x)) for learn in (False, True)
    )
    assert learned.log_evidence_ > fixed.log_evidence_
    assert fixed.kernel_ == kernel
    assert (learned.noise_ == 0.1) == (noise is not None)


def test_learning_does_not_lose_the_evidence_of_a_kernel_in_raw_units() -> None:
    x = items()
    fixed, learned = (
        PreferenceGP(kernel=RBF(theta=3e-7), noise=0.1, learn=learn).fit(1000.0 * x, pairs(x))
        for learn in (False, True)
    )
    assert learned.log_evidence_ >= fixed.log_evidence_ - 0.5


def test_inferences_differ_in_numbers_and_agree_in_order() -> None:
    x = items(40)
    ep, laplace = (quick(inference=i).fit(x, pairs(x, 30)).predict(x) for i in ("ep", "laplace"))
    assert not np.allclose(ep, laplace, atol=1e-3)
    assert np.corrcoef(ep, laplace)[0, 1] > 0.95


# --- ties -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", [None, 1.0 * RBF(0.3)])
def test_ties_teach_a_margin_and_leave_room_for_about_equal(kernel: Any) -> None:
    x = items()
    model = PreferenceGP(kernel=kernel).fit(x, pairs(x), ties=[[0, 1], [2, 3], [4, 5]])
    assert model.margin_ > 0.0
    both = model.predict_proba(x[:12], x[12:]) + model.predict_proba(x[12:], x[:12])
    assert np.all(both < 1.0)


def test_a_tie_draws_two_rewards_together() -> None:
    x, close = items(), quick(margin=0.1)
    before, after = (
        close.fit(x, pairs(x, 5), ties=ties).posterior_.difference(x[:1], x[1:2]) for ties in (None, [[0, 1]])
    )
    assert abs(after[0][0]) < abs(before[0][0])
    assert after[1][0] < before[1][0]


def test_a_margin_that_is_given_is_kept() -> None:
    x = items()
    model = PreferenceGP(kernel=1.0 * RBF(), noise=0.1, margin=0.4).fit(x, pairs(x), ties=[[0, 1]])
    assert (model.noise_, model.margin_) == (0.1, 0.4)
    assert quick().fit(x, pairs(x)).margin_ == 0.0


@pytest.mark.parametrize("kernel", [None, 1.0 * RBF(0.3)])
def test_ties_are_impossible_with_a_margin_of_zero(kernel: Any) -> None:
    with pytest.raises(ValueError, match="positive margin"):
        PreferenceGP(kernel=kernel, margin=0.0).fit(items(), [[0, 1]], ties=[[2, 3]])


# --- predictions ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", [None, 1.0 * RBF(0.3)])
def test_mean_deviation_and_covariance_agree(kernel: Any) -> None:
    x, new = items(), items(6, seed=3)
    model = PreferenceGP(kernel=kernel).fit(x, pairs(x))
    mean, covariance = model.predict(new, return_cov=True)
    alone, deviation = model.predict(new, return_std=True)
    np.testing.assert_allclose(model.predict(new), mean, rtol=1e-9)
    np.testing.assert_allclose(alone, mean, rtol=1e-9)
    np.testing.assert_allclose(deviation**2, covariance.diagonal(), rtol=1e-6)
    np.testing.assert_allclose(covariance, covariance.T, atol=1e-12)
    assert np.linalg.eigvalsh(covariance).min() > -1e-9


def test_probabilities_follow_the_noise_convention() -> None:
    x = items()
    model = quick(noise=0.4).fit(x, pairs(x))
    gap, gap_variance = model.posterior_.difference(x[:12], x[12:])
    expected = Probit(0.4).probabilities(gap, gap_variance)[0]
    np.testing.assert_allclose(model.predict_proba(x[:12], x[12:]), expected)
    np.testing.assert_allclose(model.predict_proba(x, x), 0.5)


def test_samples_are_decided_by_their_seed() -> None:
    x = items()
    model = quick().fit(x, pairs(x))
    drawn = model.sample(x, 500, seed=1)
    assert drawn.shape == (500, 24)
    np.testing.assert_array_equal(drawn, model.sample(x, 500, seed=1))
    assert not np.array_equal(drawn, model.sample(x, 500, seed=2))
    mean, deviation = model.predict(x, return_std=True)
    np.testing.assert_allclose(drawn.mean(axis=0), mean, atol=5 * float(np.max(deviation)) / np.sqrt(500))


# --- refusals ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kernel": "rbf"}, "kernel must be .*'rbf'"),
        ({"noise": -1.0}, "noise must be"),
        ({"noise": 0.0}, "noise must be"),
        ({"noise": np.nan}, "noise must be"),
        ({"margin": -0.1}, "margin must be 0"),
        ({"inference": "mcmc"}, "inference must be 'ep' or 'laplace', .*'mcmc'"),
    ],
)
def test_bad_parameters_are_refused_at_fit(parameters: dict[str, Any], message: str) -> None:
    model = PreferenceGP(**parameters)
    with pytest.raises(ValueError, match=message):
        model.fit(items(), [[0, 1]])


@pytest.mark.parametrize(
    ("rows", "won", "message"),
    [
        ([[0.0, np.nan], [1.0, 2.0]], [[0, 1]], "row 0 has nan"),
        ([0.0, 1.0], [[0, 1]], "shape"),
        (items(), [[0, 24]], "pairs .*items 0 to 23"),
        (items(), [[0, -1]], "pairs .*items 0 to 23"),
        (items(), [[3, 3]], "compares item 3 with itself"),
        (items(), [[0.5, 1.0]], "pairs must be an"),
        (items(), [0, 1], "pairs must be an"),
    ],
)
def test_bad_items_and_pairs_are_refused(rows: Any, won: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        PreferenceGP().fit(rows, won)


def test_bad_ties_are_called_ties() -> None:
    with pytest.raises(ValueError, match="ties must point at items"):
        PreferenceGP().fit(items(), [[0, 1]], ties=[[0, 99]])


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda model: model.predict(items(4, 3)), "2 features, .*3"),
        (lambda model: model.predict([[np.inf, 0.0]]), "features must be finite"),
        (lambda model: model.predict([1.0, 2.0]), r"use features\[:, None\]"),
        (lambda model: model.predict_proba(items(3), items(4)), r"shapes \(3, 2\) and \(4, 2\)"),
        (lambda model: model.predict(items(), True, True), "standard deviation or for the covariance"),
        (lambda model: model.sample(items(4, 1)), "2 features, .*1"),
    ],
)
def test_bad_questions_to_a_model_are_refused(use: Any, message: str) -> None:
    model = quick().fit(items(), pairs(items()))
    with pytest.raises(ValueError, match=message):
        use(model)
