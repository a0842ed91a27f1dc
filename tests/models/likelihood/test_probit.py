"""The likelihood against arithmetic with many digits, and what holds for every difference and margin."""

from functools import cache

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prefero._support.arrays import Array, Flags
from prefero.models.likelihood.probit import Probit

SIZES = (0.0, 1e-6, 1e-3, 0.1, 0.5, 1.0, 2.0, 5.0, 9.0, 20.0, 37.0, 45.0, 52.0, 60.0, 66.0, 70.0, 71.0, 80.0)
LARGE = (100.0, 300.0, 1e3, 1e4, 1e5, 1e6)
DIFFERENCES = tuple(sign * size for size in SIZES + LARGE for sign in (1.0, -1.0))  # in units of the noise
MARGINS = (1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0, 1000.0)  # in units of the noise
NOISES = (1.0, 0.03)
RELATIVE = 1e-6
SMALLEST = 1e-300  # below it a double loses digits
ORDERS = {"log": 0, "gradient": 1, "curvature": 2, "third": 3}
SIGNS = {"log": 1, "gradient": 1, "curvature": -1, "third": 1}
# Beside the relative error, in units of the noise: where a tie is in the middle both of these are nearly 0
ROUNDING = {"log": 0.0, "gradient": 1e-15, "curvature": 0.0, "third": 1e-12}


# --- the judge: log P(answer) with many digits, differentiated numerically --------------------------------


def upper_tail(x: mp.mpf) -> mp.mpf:
    return mp.erfc(x / mp.sqrt(2)) / 2


def log_choice(d: mp.mpf, margin: mp.mpf) -> mp.mpf:
    """log Phi((d - margin) / sqrt(2)), for noise 1."""
    z = (d - margin) / mp.sqrt(2)
    return mp.log1p(-upper_tail(z)) if z > 0 else mp.log(upper_tail(-z))


def log_tie(d: mp.mpf, margin: mp.mpf) -> mp.mpf:
    """log of P(d + v within the margin), for noise 1."""
    near, far = (abs(d) - margin) / mp.sqrt(2), (abs(d) + margin) / mp.sqrt(2)
    outside = upper_tail(-near) + upper_tail(far)
    return mp.log1p(-outside) if outside < 0.5 else mp.log(upper_tail(near) - upper_tail(far))


@cache
def judged(tied: bool, d: float, margin: float, order: int, by_margin: int = 0) -> mp.mpf:
    """The derivative of log P by d (`order` times) and by the margin (0 times or once), for noise 1."""
    if tied and d < 0:
        return (-1) ** order * judged(tied, -d, margin, order, by_margin)
    function = log_tie if tied else log_choice
    with mp.workdps(24):  # which mpmath multiplies for every derivative that it takes
        at = mp.mpf(d), mp.mpf(margin)
        return mp.diff(function, at, (order, by_margin)) if order or by_margin else function(*at)


def close(found: float, true: mp.mpf, rounding: float) -> bool:
    return bool(abs(mp.mpf(found) - true) <= RELATIVE * abs(true) + rounding + SMALLEST)


def misses(found: Array, true: list[mp.mpf], rounding: float) -> list[str]:
    """Where the found numbers are not the true ones, for a person to read."""
    rows = zip(DIFFERENCES, found, true, strict=True)
    return [f"at {d:g}: {f!r}, not {mp.nstr(t, 12)}" for d, f, t in rows if not close(float(f), t, rounding)]


def flags(tied: bool) -> Flags:
    return np.full(len(DIFFERENCES), tied)


# --- values and derivatives -------------------------------------------------------------------------------


with_ties = [(tied, margin) for tied in (False, True) for margin in MARGINS]
every_answer = pytest.mark.parametrize(("tied", "margin"), [(False, 0.0), *with_ties])
every_answer_with_a_margin = pytest.mark.parametrize(("tied", "margin"), with_ties)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("name", ORDERS)
@every_answer
def test_log_probability_and_derivatives_are_right_in_both_tails(
    tied: bool, margin: float, name: str, noise: float
) -> None:
    found = getattr(Probit(noise, margin * noise)(noise * np.array(DIFFERENCES), flags(tied)), name)
    true = [SIGNS[name] * judged(tied, d, margin, ORDERS[name]) for d in DIFFERENCES]
    assert misses(found * noise ** ORDERS[name], true, ROUNDING[name]) == []


@pytest.mark.parametrize("name", ["log", "gradient", "curvature"])
@every_answer_with_a_margin
def test_derivatives_by_the_margin_are_right_in_both_tails(tied: bool, margin: float, name: str) -> None:
    found = getattr(Probit(1.0, margin).by_margin(np.array(DIFFERENCES), flags(tied)), name)
    true = [SIGNS[name] * judged(tied, d, margin, ORDERS[name], by_margin=1) for d in DIFFERENCES]
    assert misses(found, true, 1e-10) == []


@pytest.mark.parametrize("tied", [False, True], ids=["choice", "tie"])
def test_an_uncertain_difference_is_as_good_as_more_noise(tied: bool) -> None:
    d, variance = np.array(DIFFERENCES), 0.7
    uncertain, noisier = Probit(1.0, 0.4), Probit(np.sqrt(1.0 + 0.5 * variance), 0.4)
    gap_variance = np.full(len(d), variance)
    for found, expected in zip(uncertain(d, flags(tied), gap_variance), noisier(d, flags(tied)), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-300)
    by_margin = uncertain.by_margin(d, flags(tied), gap_variance), noisier.by_margin(d, flags(tied))
    np.testing.assert_allclose(by_margin[0].log, by_margin[1].log, rtol=1e-10, atol=1e-300)


def test_ties_and_choices_may_be_mixed() -> None:
    d, tied = np.array(DIFFERENCES), np.arange(len(DIFFERENCES)) % 3 == 0
    probit = Probit(0.5, 0.8)
    pairs = zip(probit(d, tied), probit(d, flags(True)), probit(d, flags(False)), strict=True)
    for mixed, ties, choices in pairs:
        np.testing.assert_array_equal(mixed, np.where(tied, ties, choices))


def test_the_noise_is_the_sigma_of_the_paper() -> None:
    from_call = np.exp(Probit(0.3)(np.array([0.5]), np.array([False])).log[0])
    assert from_call == pytest.approx(float(mp.ncdf(mp.mpf(0.5) / (mp.sqrt(2) * mp.mpf(0.3)))), rel=1e-14)
    assert Probit(0.3).scale == pytest.approx(np.sqrt(2) * 0.3, rel=1e-15)


# --- properties -------------------------------------------------------------------------------------------

noises = st.floats(1e-3, 1e3)
multiples = st.one_of(st.floats(-1e6, 1e6), st.floats(-100, 100), st.sampled_from(DIFFERENCES))
margins = st.one_of(st.floats(1e-3, 1e3), st.floats(0.1, 10.0))


@given(noise=noises, multiple=multiples, margin=margins, tied=st.booleans())
def test_everything_is_finite_and_log_concave(
    noise: float, multiple: float, margin: float, tied: bool
) -> None:
    at = Probit(noise, margin * noise)(np.array([multiple * noise]), np.array([tied]))
    assert all(np.isfinite(value).all() for value in at)
    assert at.log[0] <= 0
    assert at.curvature[0] >= 0
    assert at.curvature[0] * (2 * noise**2) <= 1 + 1e-9  # a truncated normal is narrower than the normal
    moves = Probit(noise, margin * noise).by_margin(np.array([multiple * noise]), np.array([tied]))
    assert all(np.isfinite(value).all() for value in moves)


@given(noise=noises, multiple=multiples, margin=margins, variance=st.floats(0.0, 1e4))
def test_the_three_answers_share_the_whole_probability(
    noise: float, multiple: float, margin: float, variance: float
) -> None:
    probit, d, gap_variance = Probit(noise, margin * noise), np.array([multiple * noise]), variance * noise**2
    left, right = (np.exp(probit(side, np.array([False]), gap_variance).log[0]) for side in (d, -d))
    equal = np.exp(probit(d, np.array([True]), gap_variance).log[0])
    assert left + right + equal == pytest.approx(1.0, abs=1e-12)
    first, second = probit.probabilities(d, gap_variance)
    assert (first[0], second[0]) == pytest.approx((left, right), abs=1e-13)


@given(noise=noises, multiple=multiples, margin=margins)
def test_a_tie_does_not_care_which_is_which(noise: float, multiple: float, margin: float) -> None:
    probit, d, tied = Probit(noise, margin * noise), np.array([multiple * noise]), np.array([True])
    here, there = probit(d, tied), probit(-d, tied)
    for found, expected in zip(here, there, strict=True):
        assert abs(found[0]) == pytest.approx(abs(expected[0]), rel=1e-15)
    assert here.gradient[0] * noise * np.sign(multiple) <= 1e-12  # it pulls to the middle


@given(multiple=multiples, margin=margins)
def test_more_difference_makes_the_choice_likelier(multiple: float, margin: float) -> None:
    probit, chosen = Probit(1.0, margin), np.array([False])
    assert probit(np.array([multiple]), chosen).gradient[0] >= 0
    assert probit.by_margin(np.array([multiple]), np.array([True])).log[0] >= 0  # a wider margin, more ties


def test_no_answers_have_no_likelihood() -> None:
    at = Probit(1.0, 0.5)(np.empty(0), np.empty(0, dtype=bool))
    assert all(value.shape == (0,) for value in at)


# --- errors -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [0.0, -1.0, np.nan, np.inf])
def test_noise_must_be_positive(bad: float) -> None:
    with pytest.raises(ValueError, match=r"noise must be .*positive"):
        Probit(bad)


@pytest.mark.parametrize("bad", [-0.1, np.nan, np.inf])
def test_a_margin_must_not_be_negative(bad: float) -> None:
    with pytest.raises(ValueError, match=r"margin must be 0"):
        Probit(1.0, bad)
