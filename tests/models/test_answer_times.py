"""Answer times: moments against quadrature, the law of times, and that meaningless times change nothing."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import ndtr

from prefero import Answer, PreferenceGP
from prefero._support.arrays import Array, Indices
from prefero.kernels import Linear
from prefero.models import low_rank
from prefero.models.answer_times import TimeLaw, _timed, fit_law, with_answer_times
from prefero.models.inference import infer
from prefero.models.likelihood import Probit
from prefero.models.posterior import Posterior
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
    model, timed = (PreferenceGP(Linear(), noise=0.1, learn=False) for _ in range(2))
    np.testing.assert_array_equal(
        model.fit(x, pairs).predict(x), timed.fit(x, pairs, seconds=seconds).predict(x)
    )
    few, _ = infer(Linear(), Comparisons.of(x, pairs[:5]), Probit(0.1))
    assert with_answer_times(few, np.ones(5)) == (few, None)


def test_times_tell_how_large_differences_are() -> None:
    x, pairs, gaps = taught(30, 2)
    model, timed = PreferenceGP().fit(x, pairs), PreferenceGP().fit(x, pairs, seconds=times(gaps, 2))
    truth = x @ [1.0, -0.5]
    before, after = (np.corrcoef(m.predict(x), truth)[0, 1] for m in (model, timed))
    assert after >= before - 0.005
    unknown = np.where(np.arange(30) < 3, np.nan, times(gaps, 2))
    assert np.isfinite(PreferenceGP(Linear(), learn=False).fit(x, pairs, seconds=unknown).predict(x)).all()


@pytest.mark.parametrize(
    ("seconds", "message"),
    [
        ([1.0, 2.0], r"one number for each answer, shape \(10,\), but are \(2,\)"),
        ([1.0] * 9 + [-2.0], r"positive, or nan where a time is not known, but number 9 is -2"),
        ([1.0] * 3 + [0.0] * 7, r"but number 3 is 0"),
        ([np.inf] + [1.0] * 9, r"but number 0 is inf"),
    ],
)
def test_seconds_are_positive_numbers_of_every_answer(seconds: list[float], message: str) -> None:
    x, pairs, _ = taught(10)
    with pytest.raises(ValueError, match=message):
        PreferenceGP(kernel=Linear()).fit(x, pairs, seconds=seconds)
    with pytest.raises(ValueError, match=message):
        PreferenceGP(kernel=Linear()).fit(x, pairs, answers=[Answer.preferred(0, 1)], seconds=seconds)


def test_what_has_no_times_is_refused() -> None:
    x, pairs, gaps = taught(10)
    seconds = times(gaps)
    with pytest.raises(ValueError, match=r"not with 'laplace'.*inference='ep'"):
        PreferenceGP(Linear(), inference="laplace").fit(x, pairs, seconds=seconds)
    with pytest.raises(ValueError, match="but several people answered"):
        PreferenceGP(Linear()).fit(x, pairs, people=[0, 1] * 5, seconds=seconds)
    with pytest.raises(ValueError, match="some are of other kinds"):
        PreferenceGP(Linear()).fit(x, pairs, answers=[Answer.best_of([0, 1, 2], 1)], seconds=seconds)


def test_answers_have_times_of_their_own() -> None:
    """Half of the answers as pairs with seconds, half as answers; left out where none are asked for."""
    x, pairs, gaps = taught(60)
    seconds = times(gaps)
    others = [
        replace(Answer.preferred(*pair), seconds=time)
        for pair, time in zip(pairs[30:].tolist(), seconds[30:].tolist(), strict=True)
    ]
    model = PreferenceGP(Linear(), noise=0.1, learn=False)
    whole = model.fit(x, pairs, seconds=seconds).predict(x)
    assert model.time_law_ is not None
    np.testing.assert_array_equal(
        model.fit(x, pairs[:30], answers=others, seconds=seconds[:30]).predict(x), whole
    )
    plain = model.fit(x, pairs[:30], answers=others)
    assert plain.time_law_ is None
    np.testing.assert_array_equal(plain.predict(x), model.fit(x, pairs).predict(x))


def test_very_many_answers_have_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a basis of bounded rank the posterior is nearly the same as without it."""
    x, pairs, gaps = taught(60)
    model = PreferenceGP(Linear(), noise=0.1, learn=False)
    exact = model.fit(x, pairs, seconds=times(gaps)).predict(x)
    monkeypatch.setattr(low_rank, "FROM", 10)
    np.testing.assert_allclose(model.fit(x, pairs, seconds=times(gaps)).predict(x), exact, rtol=0.02)
    assert isinstance(model.posterior_, Posterior)
    assert isinstance(model.posterior_.cholesky, low_rank.LowRank)
