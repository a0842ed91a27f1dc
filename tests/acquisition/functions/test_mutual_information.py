"""Mutual information against adaptive quadrature, the paper's equation as printed, and the bounds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import question_reference
from acquisition.mixtures import mixtures
from prefero._support.arrays import Array
from prefero.acquisition.base import Component, PairMoments
from prefero.acquisition.functions.mutual_information import (
    Formula,
    MutualInformation,
    information_gain,
    mutual_information,
)
from prefero.models.likelihood.probit import Probit

GAPS = np.concatenate([[0.0, 1e-3], np.linspace(0.25, 10.0, 14)])  # in units of the noise
VARIANCES = np.concatenate([[0.0], np.logspace(-6, 4, 14)])  # in units of its square
NOISES = [0.05, 1.0, 7.0]
MARGINS = [0.01, 0.2, 1.0, 3.0, 10.0]  # in units of the noise


def pairs(weight: float, probit: Probit, gap: Array, variance: Array) -> PairMoments:
    return PairMoments(weight, probit, gap, np.zeros_like(gap), variance)


def one(gap: Array, variance: Array, probit: Probit, formula: Formula = "exact") -> Array:
    return np.asarray(mutual_information([pairs(1.0, probit, gap, variance)], formula))


def grid(noise: float) -> tuple[Array, Array]:
    gap, variance = np.meshgrid(noise * GAPS, noise**2 * VARIANCES, indexing="ij")
    return gap.ravel(), variance.ravel()


def judged(gap: Array, variance: Array, noise: float, margin: float = 0.0) -> Array:
    pairs = zip(gap, variance, strict=True)
    return np.array([question_reference.quadrature_bits(g, s, noise, margin) for g, s in pairs])


# --- two answers ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("noise", NOISES)
def test_bits_equal_quadrature(noise: float) -> None:
    gap, variance = grid(noise)
    found = one(gap, variance, Probit(noise))
    np.testing.assert_allclose(found, judged(gap, variance, noise), rtol=0, atol=1e-6)
    np.testing.assert_allclose(one(-gap, variance, Probit(noise)), found, rtol=0, atol=1e-13)


@pytest.mark.parametrize("noise", NOISES)
def test_houlsby_is_off_by_less_than_three_thousandths_of_a_bit(noise: float) -> None:
    gap, variance = grid(noise)
    found = one(gap, variance, Probit(noise), "houlsby")
    np.testing.assert_allclose(found, judged(gap, variance, noise), rtol=0, atol=0.003)


@pytest.mark.parametrize("noise", NOISES)
def test_paper_is_the_equation_as_printed(noise: float) -> None:
    gap, variance = grid(noise)
    printed = [question_reference.paper_objective(g, s, noise) for g, s in zip(gap, variance, strict=True)]
    np.testing.assert_allclose(one(gap, variance, Probit(noise), "paper"), printed, rtol=0, atol=1e-12)


def test_the_printed_equation_pays_a_quarter_of_a_bit_for_what_is_known() -> None:
    mean, known = np.array([1.75 * 0.3, 0.0]), np.zeros((2, 2))
    assert information_gain(mean, known, 0.3, "paper")[0, 1] == pytest.approx(0.249, abs=5e-4)
    assert information_gain(mean, known, 0.3)[0, 1] == 0.0
    assert abs(information_gain(mean, known, 0.3, "houlsby")[0, 1]) < 0.003


@given(
    gap=st.floats(-1e6, 1e6),
    variance=st.one_of(st.floats(0.0, 1e12), st.floats(0.0, 1.0)),
    noise=st.floats(1e-3, 1e3),
)
def test_bits_lie_between_0_and_1_and_do_not_care_which_is_which(
    gap: float, variance: float, noise: float
) -> None:
    at, back, s = np.array([gap * noise]), np.array([-gap * noise]), np.array([variance * noise**2])
    found = one(at, s, Probit(noise))
    assert 0.0 <= found[0] <= 1.0
    assert one(back, s, Probit(noise))[0] == pytest.approx(found[0], abs=1e-13)


@given(gap=st.floats(-1e3, 1e3), noise=st.floats(1e-3, 1e3), formula=st.sampled_from(["exact", "houlsby"]))
def test_a_known_difference_brings_nothing(gap: float, noise: float, formula: Formula) -> None:
    found = one(np.array([gap * noise]), np.zeros(1), Probit(noise), formula)
    assert abs(found[0]) <= (0.0 if formula == "exact" else 0.003)


@given(gap=st.floats(0, 20), further=st.floats(0, 5), variance=st.floats(0, 1e4), wider=st.floats(1, 10))
def test_bits_rise_with_the_variance_and_fall_with_the_gap(
    gap: float, further: float, variance: float, wider: float
) -> None:
    gaps, variances = (
        np.array([gap, gap + further, 0.0, 0.0]),
        np.array([variance, variance, variance, variance * wider]),
    )
    near, far, even, even_wider = one(gaps, variances, Probit(1.0))
    assert far <= near + 1e-6 <= even + 2e-6
    assert even <= even_wider + 1e-6


# --- three answers ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("margin", MARGINS)
def test_bits_of_three_answers_equal_quadrature(margin: float) -> None:
    noise = 0.7
    gap, variance = (values[::3] for values in grid(noise))
    gap = np.concatenate([gap, gap + margin * noise])
    variance = np.concatenate([variance, variance])
    found = one(gap, variance, Probit(noise, margin * noise))
    np.testing.assert_allclose(found, judged(gap, variance, noise, margin * noise), rtol=0, atol=1e-6)


@given(
    gap=st.floats(-1e4, 1e4),
    variance=st.floats(0.0, 1e8),
    margin=st.sampled_from(MARGINS),
)
def test_bits_of_three_answers_lie_between_0_and_those_of_three_even_chances(
    gap: float, variance: float, margin: float
) -> None:
    found = one(np.array([gap, -gap]), np.full(2, variance), Probit(1.0, margin))
    assert found[0] == pytest.approx(found[1], abs=1e-9)
    assert (found >= 0).all()
    assert (found <= np.log2(3.0)).all()


def test_a_margin_that_vanishes_leaves_two_answers() -> None:
    gap, variance = grid(1.0)
    np.testing.assert_allclose(
        one(gap, variance, Probit(1.0, 1e-9)), one(gap, variance, Probit(1.0)), atol=1e-6
    )


# --- mixtures ---------------------------------------------------------------------------------------------


MIXTURES: list[list[tuple[float, float, float, float, float]]] = [  # weight, gap, variance, noise, margin
    [(0.5, 1.0, 0.3, 0.5, 0.0), (0.5, -1.0, 0.3, 0.5, 0.0)],
    [(0.2, 0.0, 2.0, 0.1, 0.0), (0.8, 3.0, 0.0, 1.0, 0.0)],
    [(0.3, 0.4, 1.0, 0.2, 0.0), (0.3, -0.2, 0.1, 0.4, 0.0), (0.4, 5.0, 9.0, 2.0, 0.0)],
    [(0.6, 0.4, 1.0, 0.2, 0.3), (0.4, -0.2, 0.1, 0.4, 0.1)],
]


@pytest.mark.parametrize("rows", MIXTURES)
def test_bits_under_a_mixture_equal_quadrature(rows: list[tuple[float, float, float, float, float]]) -> None:
    mixture = [
        pairs(weight, Probit(noise, margin), np.array([gap]), np.array([variance]))
        for weight, gap, variance, noise, margin in rows
    ]
    expected = question_reference.mixture_quadrature_bits(rows)
    assert mutual_information(mixture)[0] == pytest.approx(expected, abs=1e-6)


def test_two_certain_opinions_that_differ_bring_a_whole_bit() -> None:
    opinions = [pairs(0.5, Probit(0.1), np.array([gap]), np.zeros(1)) for gap in (9.0, -9.0)]
    assert mutual_information(opinions)[0] == pytest.approx(1.0, abs=1e-6)


def test_a_mixture_of_the_same_is_the_same() -> None:
    gap, variance = grid(1.0)
    mixed = mutual_information([pairs(weight, Probit(1.0), gap, variance) for weight in (0.3, 0.7)])
    np.testing.assert_allclose(mixed, one(gap, variance, Probit(1.0)), atol=1e-6)


# --- every pair of a few trajectories ---------------------------------------------------------------------


def beliefs(seed: int, count: int = 6) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((count, count))
    return rng.standard_normal(count), root @ root.T


@pytest.mark.parametrize("margin", [0.0, 0.5])
def test_information_gain_is_the_bits_of_every_pair(margin: float) -> None:
    mean, cov = beliefs(0)
    found = information_gain(mean, cov, 0.4, margin=margin)
    component = question_reference.Component(1.0, mean, cov, 0.4, margin)
    expected = [
        [question_reference.pair_bits([component], i, j) if i != j else 0.0 for j in range(6)]
        for i in range(6)
    ]
    np.testing.assert_allclose(found, expected, atol=1e-6)


@pytest.mark.parametrize("margin", [0.0, 0.5])
def test_information_gain_is_symmetric_and_0_for_a_trajectory_against_itself(margin: float) -> None:
    found = information_gain(*beliefs(1), 0.4, margin=margin)
    np.testing.assert_allclose(found, found.T, atol=1e-12)
    np.testing.assert_array_equal(found.diagonal(), 0.0)


def test_only_the_ratio_to_the_noise_matters() -> None:
    mean, cov = beliefs(2)
    here, there = information_gain(mean, cov, 0.4), information_gain(10 * mean, 100 * cov, 4.0)
    np.testing.assert_allclose(here, there, atol=1e-12)


def test_lists_are_welcome() -> None:
    found = information_gain([0.0, 1.0], [[1.0, 0.0], [0.0, 1.0]], 0.5)  # type: ignore[arg-type]
    assert found.shape == (2, 2)


# --- bounds -----------------------------------------------------------------------------------------------


@given(at=mixtures((0.0,)), formula=st.sampled_from(["exact", "houlsby", "paper"]))
def test_no_question_brings_more_than_the_upper_bound(at: list[PairMoments], formula: Formula) -> None:
    acquisition = MutualInformation(formula)
    assert (acquisition.upper_bound(at) >= acquisition.score(at)).all()


@given(at=mixtures((0.0, 0.1, 1.0, 4.0)))
def test_no_question_with_three_answers_brings_more_than_the_upper_bound(at: list[PairMoments]) -> None:
    assert (MutualInformation().upper_bound(at) >= MutualInformation().score(at)).all()


def test_the_upper_bound_holds_on_a_fine_grid() -> None:
    gap, variance = np.meshgrid(np.linspace(0.0, 12.0, 241), np.logspace(-7, 6, 261), indexing="ij")
    at = [pairs(1.0, Probit(1.0), gap, variance)]
    slack = MutualInformation().upper_bound(at) - MutualInformation().score(at)
    assert slack.min() >= 0.0
    assert slack.max() < 0.3  # or it would rule nothing out


@pytest.mark.parametrize("size", [1e2, 1e3, 1e4])
def test_the_upper_bound_holds_where_rewards_are_large_beside_the_noise(size: float) -> None:
    rng = np.random.default_rng(0)
    left = size + rng.uniform(-1, 1, 20_000)
    right = left + 3.0 * rng.standard_normal(20_000)
    at = [PairMoments(1.0, Probit(1.0), left, right, 10 ** rng.uniform(-6, 5, 20_000))]
    assert (MutualInformation().upper_bound(at) >= MutualInformation().score(at)).all()


@given(
    value=st.floats(1e-5, 0.999),
    noise=st.floats(1e-2, 1e2),
    gap=st.floats(0, 5),
    fraction=st.floats(0, 0.999),
)
def test_below_the_least_variance_no_question_reaches_the_value(
    value: float, noise: float, gap: float, fraction: float
) -> None:
    least = MutualInformation().least_variance([Component(1.0, Probit(noise))], value)
    found = one(np.array([0.0, gap * noise]), np.full(2, fraction * least), Probit(noise))
    assert (found < value).all()
    assert one(np.zeros(1), np.full(1, 1.001 * least), Probit(noise))[0] > value - 3e-6  # and it is tight


def test_the_least_variance_is_0_where_it_is_unknown() -> None:
    two, three = Component(1.0, Probit(1.0)), Component(1.0, Probit(1.0, 0.5))
    assert MutualInformation().least_variance([two, two], 0.5) == 0.0
    assert MutualInformation().least_variance([three], 0.5) == 0.0
    assert MutualInformation("paper").least_variance([two], 0.5) == 0.0
    assert MutualInformation().least_variance([two], -np.inf) == 0.0


# --- errors -----------------------------------------------------------------------------------------------


def test_an_unknown_formula_is_refused() -> None:
    with pytest.raises(ValueError, match=r"formula .*exact, houlsby, paper, .*'best'"):
        information_gain(*beliefs(0), 0.1, formula="best")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"formula .*exact, houlsby, paper, .*'fast'"):
        MutualInformation("fast")  # type: ignore[arg-type]


@pytest.mark.parametrize("formula", ["houlsby", "paper"])
def test_three_answers_and_lapses_need_the_exact_formula(formula: Formula) -> None:
    message = f"formula '{formula}' is for two possible answers without lapses: .*, use 'exact'"
    for margin, lapse in ((0.2, 0.0), (0.0, 0.02)):
        with pytest.raises(ValueError, match=message):
            information_gain(*beliefs(0), 0.1, formula=formula, margin=margin, lapse=lapse)


@pytest.mark.parametrize(("mean", "cov"), [((3,), (3, 2)), ((2,), (3, 3)), ((3, 1), (3, 3)), ((), ())])
def test_mean_and_covariance_must_match(mean: tuple[int, ...], cov: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"mean .*\(M,\) and cov \(M, M\)"):
        information_gain(np.zeros(mean), np.zeros(cov), 0.1)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_mean_and_covariance_must_be_finite(bad: float) -> None:
    with pytest.raises(ValueError, match="mean and cov must be finite"):
        information_gain(np.array([bad, 0.0]), np.eye(2), 0.1)
    with pytest.raises(ValueError, match="mean and cov must be finite"):
        information_gain(np.zeros(2), bad * np.ones((2, 2)), 0.1)


def test_noise_and_margin_are_checked() -> None:
    with pytest.raises(ValueError, match="noise must be"):
        information_gain(*beliefs(0), 0.0)
    with pytest.raises(ValueError, match=r"margin must be 0"):
        information_gain(*beliefs(0), 0.1, margin=-1.0)
