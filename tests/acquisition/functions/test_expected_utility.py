"""The expected utility of the best option against sampling and in the limits."""

import numpy as np
import pytest
from hypothesis import given

import question_reference
from acquisition.mixtures import mixtures
from prefero.acquisition.base import PairMoments
from prefero.acquisition.functions.expected_utility import ExpectedUtility
from prefero.models.likelihood.probit import Probit


@pytest.mark.parametrize(
    ("a", "b", "variance"), [(0.0, 0.0, 1.0), (1.0, -0.5, 0.3), (-2.0, -1.5, 4.0), (3.0, 3.0, 0.0)]
)
def test_it_is_the_mean_of_the_better_one(a: float, b: float, variance: float) -> None:
    pairs = PairMoments(1.0, Probit(0.3), np.array([a]), np.array([b]), np.array([variance]))
    sampled = question_reference.sampled_utility(a, b, variance, np.random.default_rng(0), 200_000)
    assert ExpectedUtility().score([pairs])[0] == pytest.approx(sampled, abs=0.01 * np.sqrt(variance) + 1e-12)


def test_under_a_mixture_it_is_the_mean() -> None:
    def pairs(weight: float, which: int) -> PairMoments:
        left, right, variance = ([1.0, -1.0], [0.0, 1.0], [1.0, 0.5])
        moments = (np.array([values[which]]) for values in (left, right, variance))
        return PairMoments(weight, Probit((0.3, 0.1)[which]), *moments)

    alone = [ExpectedUtility().score([pairs(1.0, which)])[0] for which in (0, 1)]
    both = ExpectedUtility().score([pairs(0.25, 0), pairs(0.75, 1)])[0]
    assert both == pytest.approx(0.25 * alone[0] + 0.75 * alone[1])


@pytest.mark.parametrize("size", [1.0, 1e5, 1e9])
def test_of_what_is_known_it_is_the_larger_reward(size: float) -> None:
    a, b = size * np.array([1.0, -1.0, 2.0]), size * np.array([-1.0, 1.0, 2.0])
    known = PairMoments(1.0, Probit(0.3), a, b, np.zeros(3))
    np.testing.assert_allclose(ExpectedUtility().score([known]), np.maximum(a, b), rtol=1e-12)


@given(at=mixtures((0.0, 1.0)))
def test_no_question_is_worth_more_than_the_upper_bound(at: list[PairMoments]) -> None:
    size = max(
        float(np.abs(values).max()) for component in at for values in (component.left, component.right)
    )
    assert (ExpectedUtility().upper_bound(at) >= ExpectedUtility().score(at) - 1e-13 * size).all()
