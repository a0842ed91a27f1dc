"""The bits of a question against adaptive quadrature, the paper's equation as printed, and the bounds."""

from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from mpmath import mp

import reference
from prefero._support.arrays import Array
from prefero.acquisition.mutual_information import (
    Formula,
    Information,
    Part,
    Utility,
    bits,
    information_gain,
    limits,
)
from prefero.models.likelihood import Probit

GAPS = np.concatenate([[0.0, 1e-3], np.linspace(0.25, 10.0, 14)])  # in units of the noise
SPREADS = np.concatenate([[0.0], np.logspace(-6, 4, 14)])  # in units of its square
NOISES = [0.05, 1.0, 7.0]
MARGINS = [0.01, 0.2, 1.0, 3.0, 10.0]  # in units of the noise


def one(gap: Array, spread: Array, probit: Probit, formula: Formula = "exact") -> Array:
    return np.asarray(bits([Part(1.0, probit)], [gap], [spread], formula))


def grid(noise: float) -> tuple[Array, Array]:
    gap, spread = np.meshgrid(noise * GAPS, noise**2 * SPREADS, indexing="ij")
    return gap.ravel(), spread.ravel()


def judged(gap: Array, spread: Array, noise: float, margin: float = 0.0) -> Array:
    pairs = zip(gap, spread, strict=True)
    return np.array([reference.quadrature_bits(g, s, noise, margin) for g, s in pairs])


# --- two answers ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("noise", NOISES)
def test_bits_equal_quadrature(noise: float) -> None:
    gap, spread = grid(noise)
    found = one(gap, spread, Probit(noise))
    np.testing.assert_allclose(found, judged(gap, spread, noise), rtol=0, atol=1e-6)
    np.testing.assert_allclose(one(-gap, spread, Probit(noise)), found, rtol=0, atol=1e-13)


@pytest.mark.parametrize("noise", NOISES)
def test_houlsby_is_off_by_less_than_three_thousandths_of_a_bit(noise: float) -> None:
    gap, spread = grid(noise)
    found = one(gap, spread, Probit(noise), "houlsby")
    np.testing.assert_allclose(found, judged(gap, spread, noise), rtol=0, atol=0.003)


@pytest.mark.parametrize("noise", NOISES)
def test_paper_is_the_equation_as_printed(noise: float) -> None:
    gap, spread = grid(noise)
    printed = [reference.paper_objective(g, s, noise) for g, s in zip(gap, spread, strict=True)]
    np.testing.assert_allclose(one(gap, spread, Probit(noise), "paper"), printed, rtol=0, atol=1e-12)


def test_the_printed_equation_pays_a_quarter_of_a_bit_for_what_is_known() -> None:
    mean, known = np.array([1.75 * 0.3, 0.0]), np.zeros((2, 2))
    assert information_gain(mean, known, 0.3, "paper")[0, 1] == pytest.approx(0.249, abs=5e-4)
    assert information_gain(mean, known, 0.3)[0, 1] == 0.0
    assert abs(information_gain(mean, known, 0.3, "houlsby")[0, 1]) < 0.003


@given(
    gap=st.floats(-1e6, 1e6),
    spread=st.one_of(st.floats(0.0, 1e12), st.floats(0.0, 1.0)),
    noise=st.floats(1e-3, 1e3),
)
def test_bits_lie_between_0_and_1_and_do_not_care_which_is_which(
    gap: float, spread: float, noise: float
) -> None:
    at, back, s = np.array([gap * noise]), np.array([-gap * noise]), np.array([spread * noise**2])
    found = one(at, s, Probit(noise))
    assert 0.0 <= found[0] <= 1.0
    assert one(back, s, Probit(noise))[0] == pytest.approx(found[0], abs=1e-13)


@given(gap=st.floats(-1e3, 1e3), noise=st.floats(1e-3, 1e3), formula=st.sampled_from(["exact", "houlsby"]))
def test_a_known_difference_brings_nothing(gap: float, noise: float, formula: Formula) -> None:
    found = one(np.array([gap * noise]), np.zeros(1), Probit(noise), formula)
    assert abs(found[0]) <= (0.0 if formula == "exact" else 0.003)


@given(gap=st.floats(0, 20), further=st.floats(0, 5), spread=st.floats(0, 1e4), wider=st.floats(1, 10))
def test_bits_rise_with_the_spread_and_fall_with_the_gap(
    gap: float, further: float, spread: float, wider: float
) -> None:
    gaps, spreads = (
        np.array([gap, gap + further, 0.0, 0.0]),
        np.array([spread, spread, spread, spread * wider]),
    )
    near, far, even, even_wider = one(gaps, spreads, Probit(1.0))
    assert far <= near + 1e-6 <= even + 2e-6
    assert even <= even_wider + 1e-6


# --- three answers ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("margin", MARGINS)
def test_bits_of_three_answers_equal_quadrature(margin: float) -> None:
    noise = 0.7
    gap, spread = (values[::3] for values in grid(noise))
    gap = np.concatenate([gap, gap + margin * noise])
    spread = np.concatenate([spread, spread])
    found = one(gap, spread, Probit(noise, margin * noise))
    np.testing.assert_allclose(found, judged(gap, spread, noise, margin * noise), rtol=0, atol=1e-6)


@given(
    gap=st.floats(-1e4, 1e4),
    spread=st.floats(0.0, 1e8),
    margin=st.sampled_from(MARGINS),
)
def test_bits_of_three_answers_lie_between_0_and_those_of_three_even_chances(
    gap: float, spread: float, margin: float
) -> None:
    found = one(np.array([gap, -gap]), np.full(2, spread), Probit(1.0, margin))
    assert found[0] == pytest.approx(found[1], abs=1e-9)
    assert (found >= 0).all()
    assert (found <= np.log2(3.0)).all()


def test_a_margin_that_vanishes_leaves_two_answers() -> None:
    gap, spread = grid(1.0)
    np.testing.assert_allclose(one(gap, spread, Probit(1.0, 1e-9)), one(gap, spread, Probit(1.0)), atol=1e-6)


# --- mixtures ---------------------------------------------------------------------------------------------


MIXTURES: list[list[tuple[float, float, float, float, float]]] = [  # weight, gap, spread, noise, margin
    [(0.5, 1.0, 0.3, 0.5, 0.0), (0.5, -1.0, 0.3, 0.5, 0.0)],
    [(0.2, 0.0, 2.0, 0.1, 0.0), (0.8, 3.0, 0.0, 1.0, 0.0)],
    [(0.3, 0.4, 1.0, 0.2, 0.0), (0.3, -0.2, 0.1, 0.4, 0.0), (0.4, 5.0, 9.0, 2.0, 0.0)],
    [(0.6, 0.4, 1.0, 0.2, 0.3), (0.4, -0.2, 0.1, 0.4, 0.1)],
]


@pytest.mark.parametrize("rows", MIXTURES)
def test_bits_under_a_mixture_equal_quadrature(rows: list[tuple[float, float, float, float, float]]) -> None:
    parts = [Part(weight, Probit(noise, margin)) for weight, _, _, noise, margin in rows]
    gaps, spreads = [np.array([row[1]]) for row in rows], [np.array([row[2]]) for row in rows]
    assert bits(parts, gaps, spreads)[0] == pytest.approx(reference.mixture_quadrature_bits(rows), abs=1e-6)


def test_two_certain_opinions_that_differ_bring_a_whole_bit() -> None:
    parts = [Part(0.5, Probit(0.1)), Part(0.5, Probit(0.1))]
    gaps, known = [np.array([9.0]), np.array([-9.0])], [np.zeros(1), np.zeros(1)]
    assert bits(parts, gaps, known)[0] == pytest.approx(1.0, abs=1e-6)


def test_a_mixture_of_the_same_is_the_same() -> None:
    gap, spread = grid(1.0)
    parts = [Part(0.3, Probit(1.0)), Part(0.7, Probit(1.0))]
    mixed = bits(parts, [gap, gap], [spread, spread])
    np.testing.assert_allclose(mixed, one(gap, spread, Probit(1.0)), atol=1e-6)


# --- every pair of a few trajectories ---------------------------------------------------------------------


def beliefs(seed: int, count: int = 6) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((count, count))
    return rng.standard_normal(count), root @ root.T


@pytest.mark.parametrize("margin", [0.0, 0.5])
def test_information_gain_is_the_bits_of_every_pair(margin: float) -> None:
    mean, cov = beliefs(0)
    found = information_gain(mean, cov, 0.4, margin=margin)
    part = reference.Part(1.0, mean, cov, 0.4, margin)
    expected = [[reference.pair_bits([part], i, j) if i != j else 0.0 for j in range(6)] for i in range(6)]
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


# --- utility ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("a", "b", "spread"), [(0.0, 0.0, 1.0), (1.0, -0.5, 0.3), (-2.0, -1.5, 4.0), (3.0, 3.0, 0.0)]
)
def test_utility_is_the_mean_of_the_better_one(a: float, b: float, spread: float) -> None:
    part = [Part(1.0, Probit(0.3))]
    found = Utility().score(part, [np.array([a])], [np.array([b])], [np.array([spread])])[0]
    sampled = reference.sampled_utility(a, b, spread, np.random.default_rng(0), 200_000)
    assert found == pytest.approx(sampled, abs=0.01 * np.sqrt(spread) + 1e-12)


def test_utility_of_a_mixture_is_its_mean() -> None:
    parts = [Part(0.25, Probit(0.3)), Part(0.75, Probit(0.1))]
    a, b, spread = (
        [np.array([1.0]), np.array([-1.0])],
        [np.zeros(1), np.ones(1)],
        [np.ones(1), np.full(1, 0.5)],
    )
    alone = [
        Utility().score([Part(1.0, p.probit)], [x], [y], [s])[0]
        for p, x, y, s in zip(parts, a, b, spread, strict=True)
    ]
    assert Utility().score(parts, a, b, spread)[0] == pytest.approx(0.25 * alone[0] + 0.75 * alone[1])


@pytest.mark.parametrize("size", [1.0, 1e5, 1e9])
def test_utility_of_what_is_known_is_the_larger_reward(size: float) -> None:
    part, known = [Part(1.0, Probit(0.3))], [np.zeros(3)]
    a, b = size * np.array([1.0, -1.0, 2.0]), size * np.array([-1.0, 1.0, 2.0])
    np.testing.assert_allclose(Utility().score(part, [a], [b], known), np.maximum(a, b), rtol=1e-12)


# --- bounds -----------------------------------------------------------------------------------------------


class Pairs(NamedTuple):
    """Questions under a mixture."""

    parts: list[Part]
    left: list[Array]
    right: list[Array]
    spread: list[Array]


@st.composite
def questions(draw: st.DrawFn, margins: tuple[float, ...]) -> Pairs:
    count, length = draw(st.integers(1, 3)), 12
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    weights = rng.dirichlet(np.ones(count)) if count > 1 else np.ones(1)
    noise = 10 ** draw(st.floats(-3, 2))
    probits = [Probit(noise * f, noise * f * draw(st.sampled_from(margins))) for f in (1.0, 0.5, 3.0)[:count]]
    centre, far = draw(st.floats(-100, 100)), 10 ** draw(st.floats(-3, 2))
    left = [noise * (centre + far * rng.standard_normal(length)) for _ in range(count)]
    right = [noise * (centre + far * rng.standard_normal(length)) for _ in range(count)]
    spread = [noise**2 * 10 ** rng.uniform(-6, 5, length) * rng.integers(0, 2, length) for _ in range(count)]
    parts = [Part(float(w), probit) for w, probit in zip(weights, probits, strict=True)]
    return Pairs(parts, left, right, spread)


@given(at=questions((0.0,)), formula=st.sampled_from(["exact", "houlsby", "paper"]))
def test_no_question_brings_more_than_the_ceiling(at: Pairs, formula: Formula) -> None:
    criterion = Information(formula)
    assert (criterion.ceiling(*at) >= criterion.score(*at)).all()


@given(at=questions((0.0, 0.1, 1.0, 4.0)))
def test_no_question_with_three_answers_brings_more_than_the_ceiling(at: Pairs) -> None:
    assert (Information().ceiling(*at) >= Information().score(*at)).all()


@given(at=questions((0.0, 1.0)))
def test_no_question_is_worth_more_than_the_ceiling(at: Pairs) -> None:
    size = max(float(np.abs(m).max()) for m in at.left + at.right)
    assert (Utility().ceiling(*at) >= Utility().score(*at) - 1e-13 * size).all()


def test_the_ceiling_holds_on_a_fine_grid() -> None:
    gap, spread = np.meshgrid(np.linspace(0.0, 12.0, 241), np.logspace(-7, 6, 261), indexing="ij")
    at = Pairs([Part(1.0, Probit(1.0))], [gap], [np.zeros_like(gap)], [spread])
    slack = Information().ceiling(*at) - Information().score(*at)
    assert slack.min() >= 0.0
    assert slack.max() < 0.3  # or it would rule nothing out


@pytest.mark.parametrize("size", [1e2, 1e3, 1e4])
def test_the_ceiling_holds_where_rewards_are_large_beside_the_noise(size: float) -> None:
    rng = np.random.default_rng(0)
    left = size + rng.uniform(-1, 1, 20_000)
    right = left + 3.0 * rng.standard_normal(20_000)
    at = Pairs([Part(1.0, Probit(1.0))], [left], [right], [10 ** rng.uniform(-6, 5, 20_000)])
    assert (Information().ceiling(*at) >= Information().score(*at)).all()


@given(
    value=st.floats(1e-5, 0.999), noise=st.floats(1e-2, 1e2), gap=st.floats(0, 5), share=st.floats(0, 0.999)
)
def test_below_the_least_spread_no_question_reaches_the_value(
    value: float, noise: float, gap: float, share: float
) -> None:
    parts = [Part(1.0, Probit(noise))]
    least = Information().least_spread(parts, value)
    found = one(np.array([0.0, gap * noise]), np.full(2, share * least), Probit(noise))
    assert (found < value).all()
    assert one(np.zeros(1), np.full(1, 1.001 * least), Probit(noise))[0] > value - 3e-6  # and it is tight


def test_the_least_spread_is_0_where_it_is_unknown() -> None:
    part, tie = Part(1.0, Probit(1.0)), Part(1.0, Probit(1.0, 0.5))
    assert Information().least_spread([part, part], 0.5) == 0.0
    assert Information().least_spread([tie], 0.5) == 0.0
    assert Information("paper").least_spread([part], 0.5) == 0.0
    assert Information().least_spread([part], -np.inf) == 0.0
    assert Utility().least_spread([part], 0.5) == 0.0


# --- errors -----------------------------------------------------------------------------------------------


def test_an_unknown_formula_is_refused() -> None:
    with pytest.raises(ValueError, match="formula must be one of exact, houlsby, paper, but is 'best'"):
        information_gain(*beliefs(0), 0.1, formula="best")  # type: ignore[arg-type]


@pytest.mark.parametrize("formula", ["houlsby", "paper"])
def test_three_answers_need_the_exact_formula(formula: Formula) -> None:
    with pytest.raises(
        ValueError, match=f"formula '{formula}' knows only two answers: with a margin, use 'exact'"
    ):
        information_gain(*beliefs(0), 0.1, formula=formula, margin=0.2)


@pytest.mark.parametrize(("mean", "cov"), [((3,), (3, 2)), ((2,), (3, 3)), ((3, 1), (3, 3)), ((), ())])
def test_mean_and_covariance_must_match(mean: tuple[int, ...], cov: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"mean must have shape \(M,\) and cov \(M, M\), but they have"):
        information_gain(np.zeros(mean), np.zeros(cov), 0.1)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_mean_and_covariance_must_be_finite(bad: float) -> None:
    with pytest.raises(ValueError, match="mean and cov must be finite, but have nan or infinite entries"):
        information_gain(np.array([bad, 0.0]), np.eye(2), 0.1)
    with pytest.raises(ValueError, match="mean and cov must be finite, but have nan or infinite entries"):
        information_gain(np.zeros(2), bad * np.ones((2, 2)), 0.1)


def test_noise_and_margin_are_checked() -> None:
    with pytest.raises(ValueError, match="noise must be a positive number"):
        information_gain(*beliefs(0), 0.0)
    with pytest.raises(ValueError, match=r"margin must be 0 \(no ties\) or positive"):
        information_gain(*beliefs(0), 0.1, margin=-1.0)


# --- whatever the distribution ----------------------------------------------------------------------------


@given(
    x=arrays(float, st.integers(1, 6), elements=st.floats(-8, 8)),
    shares=arrays(float, 6, elements=st.floats(0.01, 1)),
)
def test_no_distribution_of_the_difference_brings_more_bits_than_its_moments_allow(
    x: Array, shares: Array
) -> None:
    weights = shares[: len(x)] / shares[: len(x)].sum()
    p = np.array([float(mp.ncdf(v)) for v in x])
    found = float(_binary_entropy(weights @ p) - weights @ _binary_entropy(p))
    mean = weights @ x
    variance = weights @ (x - mean) ** 2
    allowed = limits(found)
    assert variance >= allowed.least_variance
    assert mean**2 <= allowed.farthest * (1 + variance)


def test_the_limits_rule_something_out() -> None:
    half = limits(0.5)
    assert half.least_variance == pytest.approx(1.0, abs=1e-5)  # log2(1 + 1) / 2
    assert half.farthest == pytest.approx(1 / 0.1100278 - 1, rel=1e-4)  # the entropy of 0.11 is a half
    assert limits(0.0) == (-np.inf, np.inf)


def _binary_entropy(p: Any) -> Any:
    q = np.clip(p, 1e-300, 1 - 1e-16)
    return -q * np.log2(q) - (1 - q) * np.log2(1 - q)
