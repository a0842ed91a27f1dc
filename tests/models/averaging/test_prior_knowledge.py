"""The model of what was known before the first question, against integrals, draws and known sources."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

from prefero import Pool, Question
from prefero._support.arrays import Array, Indices
from prefero.kernels import RBF, Linear
from prefero.models.averaging.fitter import MixtureFitter
from prefero.models.averaging.reference import Reference
from prefero.models.averaging.score_share import SHARES, ScoreShare
from prefero.models.averaging.source_trust import ABOUT_ANOTHER, SAYS_NOTHING, SourceTrust
from prefero.models.averaging.structures import ModelSettings
from prefero.models.inference.infer import infer
from prefero.models.likelihood.probit import Probit
from prefero.questions import Answer, Comparisons
from prefero.questions.answer import CORRECTION, DEMONSTRATION, DIRECTION, SCORE, SOURCES

RNG = np.random.default_rng(1)
FEATURES = RNG.normal(size=(60, 3))
POOL = Pool(FEATURES, ["speed", "jerk", "reach"])
REWARD = FEATURES @ [1.0, -1.0, 0.3]
W = np.linspace(-8.0, 8.0, 20001)  # a reward w x of one feature, w ~ N(0, 1)


def one_feature(x: Array, lapses: Array, sources: Indices) -> Comparisons:
    """Pairs of x and 0, the first of which is better."""
    better, worse = x[:, None], np.zeros((len(x), 1))
    return Comparisons(better, worse, np.zeros(len(x), bool), sources=sources, lapses=lapses)


def integrals(x: Array, noise: Array, lapses: Array) -> tuple[float, float]:
    """The log evidence and the posterior mean of w."""
    likelihood = norm.pdf(W)
    for one, sigma, lapse in zip(x, noise, lapses, strict=True):
        likelihood *= (1.0 - lapse) * norm.cdf(W * one / (np.sqrt(2.0) * sigma)) + lapse / 2
    total = float(np.sum(likelihood)) * (W[1] - W[0])
    return float(np.log(total)), float(W @ likelihood / np.sum(likelihood))


@pytest.mark.parametrize("answer", [1.0, -1.0], ids=["agrees", "contradicts"])
def test_a_statement_lapses_with_its_own_probability(answer: float) -> None:
    x, lapses = np.array([1.5, answer, answer]), np.array([0.2, np.nan, np.nan])
    sources = np.array([SOURCES.index(DIRECTION), 0, 0])
    fit = infer(Linear(), one_feature(x, lapses, sources), Probit(0.3, lapse=0.02))
    log_evidence, mean = integrals(x, np.full(3, 0.3), np.array([0.2, 0.02, 0.02]))
    assert fit.log_evidence == pytest.approx(log_evidence, abs=0.06)  # EP is approximate with lapses
    assert fit.posterior(np.array([[1.0]]))[0] == pytest.approx(mean, abs=0.03)


def test_a_demonstrator_who_shows_anything_is_right_in_one_of_five_cases() -> None:
    shown = POOL.knowledge.demonstrated(FEATURES[:3]).comparisons(POOL.scaled, POOL.scaling)
    multiples = tuple(1e4 if name == DEMONSTRATION else 1.0 for name in SOURCES)
    fit = infer(RBF(theta=1.0), shown, Probit(0.3, source_noise=multiples))
    assert fit.log_evidence == pytest.approx(3 * np.log(1 / 5), abs=0.03)


def test_half_of_the_statements_at_random_are_right_also_where_there_are_ties() -> None:
    one = one_feature(np.array([1e4]), np.array([0.2]), np.array([SOURCES.index(DIRECTION)]))
    fit = infer(Linear(), one, Probit(0.3, margin=0.2))
    assert np.exp(fit.log_evidence) == pytest.approx(0.5, abs=1e-4)  # either direction, as before any answer


def test_sources_have_a_noise_of_their_own() -> None:
    x, sources = np.array([1.0, 0.7, -0.2]), np.array([SOURCES.index(DEMONSTRATION), 0, 0])
    multiples = tuple(4.0 if name == DEMONSTRATION else 1.0 for name in SOURCES)
    data = one_feature(x, np.full(3, np.nan), sources)
    fit = infer(Linear(), data, Probit(0.3, source_noise=multiples))
    log_evidence, mean = integrals(x, np.array([1.2, 0.3, 0.3]), np.zeros(3))
    assert fit.log_evidence == pytest.approx(log_evidence, abs=0.01)
    assert fit.posterior(np.array([[1.0]]))[0] == pytest.approx(mean, abs=0.01)


# --- trust --------------------------------------------------------------------------------------------------


def answered(count: int, pool: Pool = POOL) -> Comparisons:
    pairs = np.random.default_rng(2).choice(60, (count, 2))
    said = [
        Answer(Question(int(a), int(b)), "left" if REWARD[a] > REWARD[b] else "right")
        for a, b in pairs
        if a != b
    ]
    return Comparisons.from_answers(pool.scaled, said, pool.scaling)


def settings(pool: Pool = POOL) -> ModelSettings:
    return ModelSettings(Reference.of(pool.scaled, pool.scaling), None, None, "ep")


def corrections(sign: float) -> Comparisons:
    first, second = np.random.default_rng(3).normal(size=(2, 8, 3))
    right = (sign * (first - second) @ [1.0, -1.0, 0.3] > 0)[:, None]
    better, worse = np.where(right, first, second), np.where(right, second, first)
    return POOL.knowledge.corrected(better, worse).comparisons(POOL.scaled, POOL.scaling)


def test_trust_follows_the_answers() -> None:
    assert SourceTrust().of(settings(), corrections(1.0)) == {}  # no answer yet
    right = SourceTrust().of(settings(), corrections(1.0).joined(answered(12)))[CORRECTION]
    wrong = SourceTrust().of(settings(), corrections(-1.0).joined(answered(12)))[CORRECTION]
    assert right.probability > 0.9 > 0.15 > wrong.probability
    assert right.multiple <= 2.0
    assert wrong.multiple == SAYS_NOTHING


def test_trust_is_the_prior_where_answers_say_nothing_about_the_source() -> None:
    """Answers that were given at random leave the odds near those before."""
    noisy = ModelSettings(settings().whole, 1e3, 0.0, "ep")
    found = SourceTrust().of(noisy, corrections(1.0).joined(answered(6)))[CORRECTION]
    assert found.probability == pytest.approx(1.0 - ABOUT_ANOTHER, abs=0.01)


def test_what_is_given_up_changes_nothing() -> None:
    alone = MixtureFitter(settings().whole).fit(answered(12))
    fitter = MixtureFitter(settings().whole)
    beside = fitter.fit(corrections(-1.0).joined(answered(12)))
    assert fitter.trust[CORRECTION].multiple == SAYS_NOTHING
    for one, other in zip(alone(POOL.scaled), beside(POOL.scaled), strict=True):
        np.testing.assert_allclose(one, other, atol=0.02)


def test_trust_is_that_of_the_present_share_of_scores() -> None:
    pool = scored(0.0)
    shown = pool.features[np.argsort(REWARD)[-12::3]]
    known = pool.knowledge.demonstrated(shown).comparisons(pool.scaled, pool.scaling)
    data, trust = known.joined(answered(4, pool)), SourceTrust()
    for share in (0.8, 0.0):
        given = replace(settings(pool), scores=(3,), score_share=share)
        assert trust.of(given, data) == SourceTrust().of(given, data)


# --- scores -------------------------------------------------------------------------------------------------


def scored(correlation: float) -> Pool:
    error = np.random.default_rng(4).normal(size=60)
    truth = (REWARD - REWARD.mean()) / REWARD.std()
    score = correlation * truth + np.sqrt(1.0 - correlation**2) * error
    return POOL.scored(score, "success")


@pytest.mark.parametrize(("correlation", "low", "high"), [(1.0, 0.6, 1.0), (0.0, 0.0, 0.35)])
def test_the_share_of_a_score_follows_the_answers(correlation: float, low: float, high: float) -> None:
    pool = scored(correlation)
    known = pool.knowledge.comparisons(pool.scaled, pool.scaling)
    data = known.joined(answered(20, pool))
    share = ScoreShare().of(settings(pool), data)
    assert low <= share <= high
    assert min(SHARES) <= share <= max(SHARES)


@pytest.mark.parametrize("share", [0.0, 0.4])
def test_scores_have_their_share_of_the_prior_variance(share: float) -> None:
    pool = scored(0.0)
    given = ModelSettings(settings(pool).whole, None, None, "ep", scores=(3,), score_share=share)
    kernel = given.anchored(given.reference.unit(RBF(0.2)))
    x = pool.scaled
    rows = np.random.default_rng(5).multivariate_normal(np.zeros(60), kernel(x, x), size=4000, method="eigh")
    assert np.mean(rows.var(axis=1)) == pytest.approx(1.0, abs=0.05)
    moved = x.copy()
    moved[:, 3] += 1.0  # the reward is linear in the score, whatever the other features are
    gaps = kernel(moved, moved) - kernel(moved, x) - kernel(x, moved) + kernel(x, x)
    np.testing.assert_allclose(gaps, gaps[0, 0], atol=1e-9)
    assert gaps[0, 0] == pytest.approx(share * x[:, 3].var() ** -1, rel=0.05)


def test_the_reference_of_some_features_keeps_their_standardization() -> None:
    whole = settings(scored(0.5)).whole
    assert whole.only((0, 1, 2, 3)) is whole
    some = whole.only((0, 2))
    assert some.features == 2
    np.testing.assert_array_equal(some.rows, whole.rows[:, [0, 2]])


def test_scores_are_found_among_the_answers() -> None:
    pool = scored(0.5)
    data = pool.knowledge.comparisons(pool.scaled, pool.scaling)
    assert data.scores == (3,)
    assert data.from_source(SCORE).all()
