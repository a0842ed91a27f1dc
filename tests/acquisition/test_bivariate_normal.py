"""The bivariate normal distribution function, judged by SciPy's own, closed cases and its symmetries."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr
from scipy.stats import multivariate_normal

from prefero._support.arrays import Array
from prefero.acquisition.bivariate_normal import bivariate_normal_cdf

limits = st.floats(-8, 8)
correlations = st.floats(-1, 1)


def phi2(h: float, k: float, r: float) -> float:
    return float(bivariate_normal_cdf(np.array(h), np.array(k), np.array(r)))


@given(limits, limits, st.floats(-0.999999, 0.999999))
def test_it_is_that_of_scipy(h: float, k: float, r: float) -> None:
    judge = multivariate_normal([0, 0], [[1, r], [r, 1]], allow_singular=True).cdf([h, k])
    assert phi2(h, k, r) == pytest.approx(float(judge), abs=1e-10)


@given(limits, limits)
def test_uncorrelated_and_fully_correlated_variables_are_closed_cases(h: float, k: float) -> None:
    assert phi2(h, k, 0.0) == pytest.approx(ndtr(h) * ndtr(k), abs=1e-14)
    assert phi2(h, k, 1.0) == pytest.approx(ndtr(min(h, k)), abs=1e-14)
    assert phi2(h, k, -1.0) == pytest.approx(max(ndtr(h) - ndtr(-k), 0.0), abs=1e-14)


@given(correlations)
def test_at_zero_it_is_an_arcsine(r: float) -> None:
    assert phi2(0.0, 0.0, r) == pytest.approx(0.25 + np.arcsin(r) / (2 * np.pi), abs=1e-10)


@given(limits, limits, correlations)
def test_it_is_symmetric_and_its_four_corners_add_up(h: float, k: float, r: float) -> None:
    assert phi2(h, k, r) == pytest.approx(phi2(k, h, r), abs=1e-14)
    corners = phi2(h, k, r), phi2(-h, k, -r), phi2(h, -k, -r), phi2(-h, -k, r)
    assert sum(corners) == pytest.approx(1.0, abs=1e-12)
    assert corners[0] + corners[1] == pytest.approx(ndtr(k), abs=1e-12)


def test_arrays_broadcast_and_far_limits_are_finite() -> None:
    h: Array = np.array([-np.inf, -1e300, 0.0, 1e300, np.inf])
    both = bivariate_normal_cdf(h[:, None], h[None, :], np.full((5, 5), 0.5))
    assert both.shape == (5, 5)
    np.testing.assert_allclose(both[2], [0, 0, 1 / 3, 0.5, 0.5], atol=1e-14)
