"""The average of candidates: weights by prior times evidence, and which candidates are fitted again."""

from collections.abc import Mapping

import numpy as np
import pytest

from models.answer_problems import problem
from prefero.kernels import Linear
from prefero.models.averaging.model_average import Averaged, ModelAverage, normalized_weights
from prefero.models.inference.fit import Fit
from prefero.models.inference.infer import infer
from prefero.models.inference.solution import ConvergenceError
from prefero.models.likelihood.probit import Probit
from prefero.questions import Comparisons

DATA = problem(3, choices=40).data
LOG_PRIORS = {0.001: np.log(0.2), 0.1: np.log(0.5), 1.0: np.log(0.2), 1000.0: np.log(0.1)}  # by the noise
NEGLIGIBLE = 1e-3


class Fitter:
    """Fits candidates, and remembers which."""

    def __init__(self) -> None:
        self.average: ModelAverage[float] = ModelAverage(NEGLIGIBLE)
        self.fitted: list[float] = []

    def fit(
        self, count: int, settings: str = "", data: Comparisons = DATA, continued: bool = True
    ) -> Averaged[float]:
        self.fitted = []
        self.average.begin(count, settings, continued)
        return self.average.over(LOG_PRIORS, lambda keys: self._fits(keys, data[:count]))

    def _fits(self, keys: list[float], data: Comparisons) -> Mapping[float, Fit]:
        self.fitted += keys
        starts = {key: self.average.start(key, len(data)) for key in keys}
        return {key: infer(Linear(), data, Probit(key), start=starts[key], tolerance=1e-9) for key in keys}


def evidence(noise: float, count: int) -> float:
    return infer(Linear(), DATA[:count], Probit(noise), tolerance=1e-9).log_evidence


@pytest.mark.parametrize("count", [0, 5, 40])
def test_weights_are_prior_times_evidence(count: int) -> None:
    averaged = Fitter().fit(count)
    joint = {noise: np.exp(log_prior + evidence(noise, count)) for noise, log_prior in LOG_PRIORS.items()}
    kept = {noise: value for noise, value in joint.items() if value >= NEGLIGIBLE * max(joint.values())}
    assert list(averaged.weights) == list(averaged.fits) == list(kept)
    wanted = [value / sum(kept.values()) for value in kept.values()]
    np.testing.assert_allclose(list(averaged.weights.values()), wanted, rtol=1e-6)
    assert averaged.log_evidence == pytest.approx(np.log(sum(kept.values())), abs=1e-6)


def test_negligible_candidates_are_not_fitted_again_and_the_average_stays_the_same() -> None:
    continued = Fitter()
    for count in range(41):
        averaged = continued.fit(count)
    assert set(averaged.weights) <= set(continued.fitted) < set(LOG_PRIORS)
    np.testing.assert_allclose(
        list(averaged.weights.values()), list(Fitter().fit(40).weights.values()), rtol=1e-6
    )


@pytest.mark.parametrize("why", ["other answers", "other settings", "taken back", "forgotten"])
def test_bounds_hold_only_while_answers_are_added(why: str) -> None:
    fitter = Fitter()
    fitter.fit(40)
    if why == "taken back":
        fitter.fit(39)
    elif why == "forgotten":
        fitter.average.forget(lambda noise: noise > 0)
        fitter.fit(40)
    else:
        fitter.fit(40, "others" if why == "other settings" else "", continued=why != "other answers")
    assert sorted(fitter.fitted) == sorted(LOG_PRIORS)


def test_a_copy_goes_its_own_way() -> None:
    fitter, other = Fitter(), Fitter()
    fitter.fit(40)
    other.average = fitter.average.copy()
    other.fit(20)
    fitter.fit(40)
    assert len(fitter.fitted) < len(other.fitted) == len(LOG_PRIORS)


def test_candidates_that_do_not_converge_are_left_out() -> None:
    average: ModelAverage[float] = ModelAverage(NEGLIGIBLE)
    fits = {0.1: infer(Linear(), DATA, Probit(0.1)), 1.0: None}
    average.begin(len(DATA), None, False)
    assert average.over({0.1: -1.0, 1.0: 0.0}, lambda keys: {key: fits[key] for key in keys}).weights == {
        0.1: 1.0
    }
    with pytest.raises(ConvergenceError):
        average.over({1.0: 0.0}, lambda keys: dict.fromkeys(keys))


def test_normalized_weights_leave_out_what_is_negligible() -> None:
    weights, total = normalized_weights({"a": -1000.0, "b": -1000.0 + np.log(3.0), "c": -1010.0}, 0.01)
    assert weights == pytest.approx({"a": 0.25, "b": 0.75})
    assert total == pytest.approx(-1000.0 + np.log(4.0))
