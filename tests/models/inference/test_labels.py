"""Labels and "none of these": the bar is an item, so that everything is a comparison."""

import numpy as np
import pytest
from scipy.stats import norm

from prefero import PreferenceGP
from prefero._support.arrays import Array
from prefero.kernels import RBF, Anchored, Kernel, Linear, Selected, WithBar
from prefero.models.inference import low_rank
from prefero.models.inference.evidence import fit_hyperparameters, log_evidence
from prefero.models.inference.infer import infer
from prefero.models.likelihood import cut_points
from prefero.models.likelihood.probabilities import People, answer_probabilities
from prefero.models.likelihood.probit import Probit
from prefero.models.posterior.bar import probability_acceptable
from prefero.questions import Answer, Comparisons, Question
from prefero.questions.answer_kinds import Kind, choices_of, kind_named
from prefero.questions.comparisons import bar_features
from prefero.questions.kinds.base import LEVELS, TYPICAL_CUT_POINTS, bound_values

X = np.random.default_rng(0).standard_normal((9, 2))
ANCHOR = (0.1, -0.3)
KERNEL = WithBar(Anchored(RBF(theta=0.4), ANCHOR), variance=1.7)
# the same prior without a row for the bar: an indicator is one feature more, and the bar lies at the anchor
INDICATED = Anchored(Selected(RBF(theta=0.4), (0, 1)), (*ANCHOR, 0.0)) + 1.7 * Selected(Linear(), (2,))
WITH_BAR = np.vstack([np.column_stack([X, np.zeros(9)]), [*ANCHOR, 1.0]])
BAR = 9
PROBIT = Probit(0.3, 0.25)
CUTS = np.array(PROBIT.cut_points)


def assert_same(labels: list[Answer], pairs: list[Answer]) -> None:
    """Both say the same about all rewards and about the bar."""
    probit = Probit(0.3)  # without a margin: a label is never tied
    one = infer(KERNEL, Comparisons.from_answers(X, labels), probit, tolerance=1e-12)
    other = infer(INDICATED, Comparisons.from_answers(WITH_BAR, pairs), probit, tolerance=1e-12)
    assert one.log_evidence == pytest.approx(other.log_evidence, abs=1e-10)
    rows = np.vstack([X, bar_features(2)])
    for found, wanted in zip(one.posterior(rows), other.posterior(WITH_BAR), strict=True):
        np.testing.assert_allclose(found, wanted, atol=1e-10)


def test_two_levels_are_pairs_with_the_bar() -> None:
    said = {0: True, 3: False, 5: True, 8: True, 2: False}
    pairs = [Answer.preferred(*((item, BAR) if good else (BAR, item))) for item, good in said.items()]
    assert_same([Answer.label(*one) for one in said.items()], pairs)


def test_the_best_or_none_is_the_best_of_one_more() -> None:
    chosen = Answer(Question(1, 4, 6, kind="best-or-none-3"), "2")
    none = Answer(Question(0, 2, 7, kind="best-or-none-3"), "none")
    best = [Answer.best_of([1, 4, 6, BAR], best=4), Answer.best_of([0, 2, 7, BAR], best=BAR)]
    assert_same([chosen, none], best)


@pytest.mark.parametrize("level", range(1, 6))
def test_a_rating_has_the_posterior_of_quadrature(level: int) -> None:
    """One rating of one trajectory: its distance from the bar is one normal variable."""
    fit = infer(KERNEL, Comparisons.from_answers(X, [Answer.label(3, level, 5)]), PROBIT, tolerance=1e-12)
    variance = float(KERNEL.diagonal(X[[3]])[0]) + 1.7
    d = np.linspace(-12.0, 12.0, 40_001)
    ends = np.concatenate([[-np.inf], CUTS[cut_points.cuts_of(5)], [np.inf]])
    said = norm.cdf(ends[level] - d, scale=PROBIT.scale) - norm.cdf(ends[level - 1] - d, scale=PROBIT.scale)
    weights = said * norm.pdf(d, scale=np.sqrt(variance))
    total = weights.sum() * (d[1] - d[0])
    mean = weights @ d / weights.sum()
    mean_found, variance_found = fit.posterior.difference(X[[3]], bar_features(2))
    assert fit.log_evidence == pytest.approx(np.log(total), abs=1e-8)
    assert mean_found[0] == pytest.approx(mean, abs=1e-8)
    assert variance_found[0] == pytest.approx(weights @ (d - mean) ** 2 / weights.sum(), abs=1e-8)


def test_the_probability_of_being_acceptable_is_a_fraction_of_draws() -> None:
    answers = [Answer.label(0, True), Answer.label(4, 2, 5), Answer.preferred(4, 6), Answer.label(7, False)]
    posterior = infer(KERNEL, Comparisons.from_answers(X, answers), Probit(0.3)).posterior
    draws = posterior.sample(np.vstack([X, bar_features(2)]), 40_000, np.random.default_rng(1))
    above = np.mean(draws[:, :-1] > draws[:, -1:], axis=0)
    np.testing.assert_allclose(probability_acceptable(posterior, X), above, atol=0.01)


NONE_KINDS: list[Kind] = ["pair-or-none", "best-or-none-3", "rank-or-none-3", "success", "rate-4", "rate-7"]


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("kind", NONE_KINDS)
def test_probabilities_are_fractions_of_impressions(kind: Kind, ties: bool) -> None:
    asked, rng = kind_named(kind), np.random.default_rng(2)
    rewards = np.array([0.5, 0.1, 0.4, 0.2])[: asked.places]
    margin = 0.25 if ties else 0.0
    people = People(np.array([0.4]), np.array([margin]), np.array([0.8]), np.array([0.0]))
    found = answer_probabilities(rewards[None], kind, people, ties)[0]
    seen = rewards + 0.4 * rng.standard_normal((20_000, asked.places))
    bounds, counts = bound_values(margin, 0.8), dict.fromkeys(choices_of(kind, ties), 0)
    for choice in counts:
        for region in asked.regions(choice):
            gaps = np.array([seen[:, better] - seen[:, worse] for better, worse, *_ in region])
            low, high = (np.array([bounds[one[at]] for one in region])[:, None] for at in (2, 3))
            counts[choice] += int(np.sum(np.all((gaps > low) & (gaps < high), axis=0)))
    fractions = np.array(list(counts.values())) / len(seen)
    assert fractions.sum() == pytest.approx(1.0)  # regions are disjoint, and leave nothing out
    np.testing.assert_allclose(found, fractions, atol=0.012)
    assert found.sum() == pytest.approx(1.0, abs=2e-4)


@pytest.mark.parametrize("levels", LEVELS)
def test_cut_points_and_gaps_are_each_other(levels: int) -> None:
    rng = np.random.default_rng(levels)
    gaps = rng.uniform(0.2, 1.0, levels - 2)
    cuts = cut_points.with_gaps(TYPICAL_CUT_POINTS, levels, gaps)[cut_points.cuts_of(levels)]
    np.testing.assert_allclose(np.diff(cuts), gaps)
    # the bar is the middle cut point, or the middle of the middle level
    assert cuts[(levels - 2) // 2] + cuts[(levels - 1) // 2] == pytest.approx(0.0)
    np.testing.assert_allclose(cut_points.gaps_of(TYPICAL_CUT_POINTS, levels), 3.0 / levels)


MIXED = [
    *(Answer.label(item, 1 + item % 5, 5) for item in range(9)),
    *(Answer.label(item, item % 3 == 0) for item in range(0, 9, 2)),
    *(Answer.preferred(a, b) for a, b in ((0, 1), (4, 2), (7, 8))),
    Answer(Question(1, 5), "equal"),
]


@pytest.mark.parametrize("lapse", [0.0, 0.1])
@pytest.mark.parametrize("many", [False, True])
def test_the_evidence_has_the_gradient_of_finite_differences(
    lapse: float, many: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if many:  # in a basis of bounded rank, which here has full rank
        monkeypatch.setattr(low_rank, "FROM", 2)
    data = Comparisons.from_answers(X, MIXED)

    def value(shift: Array | float = 0.0, scale: float = 1.0, theta: float = 0.4) -> float:
        probit = Probit(0.3 * scale, 0.25, lapse, cut_points=tuple(CUTS + shift))
        kernel = WithBar(Anchored(RBF(theta), ANCHOR), variance=1.7)
        return log_evidence(kernel, data, probit).value

    found, h = log_evidence(KERNEL, data, Probit(0.3, 0.25, lapse, cut_points=tuple(CUTS))), 1e-4
    steps = [h * np.eye(len(CUTS))[cut] for cut in range(5, 9)]  # of five levels
    wanted = [(value(step) - value(-step)) / (2 * h) for step in steps]
    tolerance = 2e-3 if many else 2e-5  # pivots are fixed only in the gradient
    np.testing.assert_allclose(found.cut_gradient[5:9], wanted, atol=tolerance)
    assert not found.cut_gradient[:5].any()
    by_noise = (value(scale=np.exp(h)) - value(scale=np.exp(-h))) / (2 * h)
    by_theta = (value(theta=0.4 * np.exp(h)) - value(theta=0.4 * np.exp(-h))) / (2 * h)
    assert found.noise_gradient == pytest.approx(by_noise, abs=tolerance)
    assert found.kernel_gradient[0] == pytest.approx(by_theta, abs=tolerance)


def test_cut_points_are_learned_by_the_evidence() -> None:
    rng, x = np.random.default_rng(3), np.random.default_rng(4).standard_normal((150, 1))
    ends = np.array([-1.2, -0.2, 0.4, 0.6])
    level = 1 + np.searchsorted(ends, x[:, 0] - 0.3 + 0.1 * np.sqrt(2) * rng.standard_normal(150))
    data = Comparisons.from_answers(x, [Answer.label(i, int(one), 5) for i, one in enumerate(level)])
    kernel: Kernel = WithBar(Linear())
    fit = fit_hyperparameters(kernel, data, Probit(0.1), learn_kernel=False, learn_cut_points=(5,))
    posterior = infer(kernel, data, fit.probit).posterior
    slope, bar = (float(posterior(row)[0][0]) for row in (np.ones((1, 1)), bar_features(1)))
    learned = (np.array(fit.probit.cut_points)[cut_points.cuts_of(5)] + bar) / slope
    np.testing.assert_allclose(learned, ends + 0.3, atol=0.1)


def test_labels_have_the_noise_of_their_source() -> None:
    data = Comparisons.from_answers(X, [Answer(Question(2, kind="success"), "pass", source="labels")])
    doubled = infer(KERNEL, data, Probit(0.3, source_noise=(1.0, 2.0)))
    plain = Comparisons.from_answers(X, [Answer.label(2, True)])
    wanted = infer(KERNEL, plain, Probit(0.6))
    np.testing.assert_allclose(doubled.posterior(X)[0], wanted.posterior(X)[0], atol=1e-8)
    assert doubled.log_evidence == pytest.approx(wanted.log_evidence)


def test_labels_of_different_levels_imply_pairs() -> None:
    answers = [
        *(Answer.label(item, level, 5) for item, level in ((0, 2), (1, 5), (2, 2), (3, 4), (4, 2))),
        Answer.label(5, True),
        Answer.preferred(7, 8),
        Answer(Question(6, 2), "equal"),
        Answer(Question(1, 3, 8, kind="best-or-none-3"), "1"),
    ]
    pairs = Comparisons.from_answers(X, answers).as_pairs()
    found = {
        tuple(np.flatnonzero((row == X).all(axis=1))[0] for row in both)
        for both in zip(pairs.winners, pairs.losers, strict=True)
    }
    assert found == {(7, 8), (1, 3), (1, 8), (3, 0), (1, 2)}
    assert not pairs.has_bar
    assert not pairs.has_ties


def test_labels_select_among_many_features() -> None:
    rng = np.random.default_rng(6)
    x = rng.standard_normal((200, 30))
    answers = [Answer.label(item, bool(x[item, 4] > 0.2)) for item in range(60)]
    model = PreferenceGP().fit(x, answers=answers)
    rewards = np.asarray(model.predict(x[60:]))
    assert np.corrcoef(rewards, x[60:, 4])[0, 1] > 0.75
