"""PreferenceGP as an estimator of scikit-learn: parameters, clones, copies, and what a fit leaves behind."""

import pickle
from copy import deepcopy
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from models.preference_estimators import every_parameter, items, pairs, quick
from prefero import PreferenceGP, kernels
from prefero._support.arrays import Array
from prefero.kernels import RBF, Linear
from prefero.models.preference_gp import NotFittedError
from prefero.questions.comparisons import comparisons_of


@every_parameter
def test_the_constructor_keeps_what_it_is_given_untouched(parameters: dict[str, Any]) -> None:
    model = PreferenceGP(**parameters)
    assert all(getattr(model, name) is value for name, value in parameters.items())


@every_parameter
def test_get_params_names_every_parameter_of_the_constructor(parameters: dict[str, Any]) -> None:
    defaults = {
        "kernel": None,
        "noise": None,
        "margin": None,
        "learn": True,
        "inference": "ep",
        "lapse": None,
        "strong_margin": None,
    }
    assert PreferenceGP(**parameters).get_params() == {**defaults, **parameters}


@every_parameter
def test_scikit_learn_can_clone_it(parameters: dict[str, Any]) -> None:
    model = PreferenceGP(**parameters)
    copy = clone(model)
    assert type(copy) is PreferenceGP
    assert copy is not model
    assert copy.get_params() == model.get_params()
    assert all(getattr(model, name) is value for name, value in parameters.items())


def test_a_clone_of_a_fitted_model_is_not_fitted() -> None:
    x = items()
    copy = clone(quick().fit(x, pairs(x)))
    assert not hasattr(copy, "posterior_")
    np.testing.assert_array_equal(copy.fit(x, pairs(x)).predict(x), quick().fit(x, pairs(x)).predict(x))


def test_fitting_changes_no_parameter() -> None:
    x, model = items(), PreferenceGP(kernel=1.0 * RBF())
    before = model.get_params()
    model.fit(x, pairs(x))
    assert model.get_params() == before
    assert model.kernel_ != before["kernel"]


def test_set_params_changes_what_the_next_fit_does() -> None:
    x, model = items(), quick()
    assert model.set_params(noise=2.0, kernel=1.0 * Linear()) is model
    expected = PreferenceGP(kernel=1.0 * Linear(), noise=2.0, learn=False).fit(x, pairs(x)).predict(x)
    np.testing.assert_array_equal(model.fit(x, pairs(x)).predict(x), expected)


def test_set_params_names_the_parameters_there_are() -> None:
    with pytest.raises(ValueError, match=r"no parameter 'nois': .*kernel, noise, margin"):
        PreferenceGP().set_params(nois=1.0)


@every_parameter
def test_the_representation_makes_the_same_model(parameters: dict[str, Any]) -> None:
    model = PreferenceGP(**parameters)
    again = eval(repr(model), {"PreferenceGP": PreferenceGP, **vars(kernels)})
    assert again.get_params() == model.get_params()
    assert repr(PreferenceGP()) == "PreferenceGP()"


@pytest.mark.parametrize(
    "use",
    [
        lambda model: model.predict(items()),
        lambda model: model.predict_proba(items(), items()),
        lambda model: model.sample(items()),
        lambda model: model.posterior_,
        lambda model: model.log_evidence_,
    ],
    ids=["predict", "predict_proba", "sample", "posterior_", "log_evidence_"],
)
def test_a_model_that_is_not_fitted_says_so(use: Any) -> None:
    with pytest.raises(NotFittedError, match=r"call fit\(items, pairs\) first") as error:
        use(PreferenceGP())
    assert isinstance(error.value, ValueError)
    assert isinstance(error.value, AttributeError)


def test_an_attribute_that_never_was_is_an_ordinary_error() -> None:
    with pytest.raises(AttributeError, match="PreferenceGP has no attribute 'predikt'") as error:
        _ = PreferenceGP().predikt
    assert not isinstance(error.value, NotFittedError)


@every_parameter
def test_fit_returns_the_model_with_what_it_learned(parameters: dict[str, Any]) -> None:
    x, model = items(), PreferenceGP(**parameters)
    assert model.fit(x, pairs(x)) is model
    assert model.n_features_in_ == 2
    assert model.log_evidence_ == model.posterior_.log_evidence < 0.0
    assert (model.noise_, model.margin_) == (model.posterior_.probit.noise, model.posterior_.probit.margin)
    assert hasattr(model, "structures_") == (model.kernel is None)
    assert hasattr(model, "kernel_") == (model.kernel is not None)


def test_a_second_fit_leaves_no_trace_of_the_first() -> None:
    x, y = items(), items(seed=1)
    for model in (PreferenceGP(), PreferenceGP(kernel=1.0 * RBF(), noise=0.1)):
        expected = clone(model).fit(y, pairs(y)).predict_proba(x[:9], x[9:18])
        model.fit(x, pairs(x)).fit(y, pairs(y))
        np.testing.assert_allclose(model.predict_proba(x[:9], x[9:18]), expected, atol=1e-9)


def test_a_copied_model_goes_its_own_way() -> None:
    """Copies share what was fitted, so a fit must change neither the copy's nor the original's arrays."""
    x = items(12)
    data = comparisons_of(x, [(i, (i + 5) % 12) for i in range(12)], None, None, ())

    def fitted(model: PreferenceGP, count: int) -> Array:
        return np.array(model.fit_comparisons(data.first(count), x).posterior_.marginals(x))

    model = PreferenceGP()
    fitted(model, 8)
    before = pickle.dumps(model)
    copied = deepcopy(model)
    for count in (12, 6, 9):
        np.testing.assert_allclose(fitted(copied, count), fitted(PreferenceGP(), count), atol=1e-6)
    assert pickle.dumps(model) == before
    np.testing.assert_allclose(fitted(model, 9), fitted(copied, 9), atol=1e-6)


def test_a_fitted_model_keeps_the_sites_of_its_candidates_and_no_large_arrays() -> None:
    x = items(12)
    data = comparisons_of(x, [(i, (i + 5) % 12) for i in range(12)], None, None, ())
    model = PreferenceGP().fit_comparisons(data, x)
    before = np.array(model.posterior_.marginals(x))
    kept = model._fitter._average._last.values()
    assert len(kept) > len(model.posterior_.components)
    assert all(last.solution.W.shape == (12,) for last in kept)
    assert not any(last.solution.factor.size or last.solution.cavities for last in kept)
    again = model.fit_comparisons(data, x)
    np.testing.assert_allclose(np.array(again.posterior_.marginals(x)), before, atol=1e-6)
