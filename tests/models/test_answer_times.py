"""Answer times: moments against quadrature, the law of times, and that meaningless times change nothing."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import ndtr

from prefero import PreferenceGP
from prefero._support.arrays import Array, Indices
from prefero.kernels import Linear
from prefero.models.answer_times import TimeLaw, _timed, fit_law, with_answer_times
from prefero.models.inference import infer
from prefero.models.likelihood import Probit
from prefero.questions import Comparisons

LAW = TimeLaw(1.5, 0.8, 0.3)


def taught(answers: int, seed: int = 0) -> tuple[Array, Indices, Array]:
    """Items, pairs with the winner first, and the differences of rewards."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((40, 2))
    pairs = np.array([rng.choice(40, 2, replace=False) for _ in range(answers)])
    gap = (x[pairs[:, 0]] - x[pairs[:, 1]]) @ [1.0, -0.5]
    return x, np.where((gap > 0)[:, None], pairs, pairs[:, ::-1]), np.abs(gap)


def times(gaps: Array, seed: int = 0) -> Array:
    rng = np.random.default_rng([seed, 1])
    return np.exp(rng.normal(LAW.start - LAW.fall * gaps, LAW.std))


@pytest.mark.parametrize("seconds", [0.8, 4.0, 9.0])
def test_one_answer_has_the_moments_of_quadrature(seconds: float) -> None:
    """d ~ N(0, 2), one answer with noise and a time: EP with one site is exact."""
    data = Comparisons.of(np.array([[1.0, 1.0], [0.0, 0.0]]), [[0, 1]])
    posterior, _ = infer(Linear(), data, Probit(0.3))
    timed = _timed(posterior, np.log([seconds]), LAW)

    def density(d: float, power: int) -> float:
        log_time = -0.5 * ((np.log(seconds) - LAW.start + LAW.fall * abs(d)) / LAW.std) ** 2
        return float(d**power * np.exp(-0.25 * d**2 + log_time) * ndtr(d / (np.sqrt(2.0) * 0.3)))

    mass, first, second = (quad(density, -12, 12, args=(k,), points=[0.0], limit=400)[0] for k in range(3))
    mean, variance = timed.difference(data.winners, data.losers)
    assert mean[0] == pytest.approx(first / mass, abs=0.02)
    assert variance[0] == pytest.approx(second / mass - (first / mass) ** 2, abs=0.03)


def test_the_law_is_found() -> None:
    x, pairs, gaps = taught(120)
    posterior, _ = infer(Linear(), Comparisons.of(x, pairs), Probit(0.1))
    law = fit_law(posterior, np.log(times(gaps)))
    assert law is not None
    assert law.start == pytest.approx(LAW.start, abs=0.2)
    assert law.std == pytest.approx(LAW.std, abs=0.1)
    assert law.fall > 0.3


def test_times_without_meaning_change_nothing() -> None:
    x, pairs, _ = taught(40)
    seconds = np.exp(np.random.default_rng(3).normal(1.0, 0.4, 40))
    model, timed = PreferenceGP().fit(x, pairs), PreferenceGP().fit(x, pairs, seconds=seconds)
    np.testing.assert_array_equal(model.predict(x), timed.predict(x))
    few, _ = infer(Linear(), Comparisons.of(x, pairs[:5]), Probit(0.1))
    assert with_answer_times(few, np.ones(5)) is few


def test_times_tell_how_large_differences_are() -> None:
    x, pairs, gaps = taught(30, 2)
    model, timed = PreferenceGP().fit(x, pairs), PreferenceGP().fit(x, pairs, seconds=times(gaps, 2))
    truth = x @ [1.0, -0.5]
    before, after = (np.corrcoef(m.predict(x), truth)[0, 1] for m in (model, timed))
    assert after >= before - 0.005
    unknown = np.where(np.arange(30) < 3, np.nan, times(gaps, 2))
    assert np.isfinite(PreferenceGP().fit(x, pairs, seconds=unknown).predict(x)).all()


def test_seconds_are_of_every_answer_of_one_person() -> None:
    x, pairs, _ = taught(10)
    with pytest.raises(ValueError, match=r"one number for each answer, shape \(10,\)"):
        PreferenceGP(kernel=Linear()).fit(x, pairs, seconds=[1.0, 2.0])
