"""Bayesian model averaging: weights, descriptions, the mixture and its symmetries, and ties."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp, ndtr

from models.answers_of_known_rewards import RIGHT, answers, first, fresh, grid, order, places, turned
from prefero._support.sentences import percent
from prefero.models.averaging.fitter import MixtureFitter
from prefero.models.averaging.reference import Reference
from prefero.models.averaging.structures import GRID
from prefero.models.inference.infer import infer
from prefero.models.likelihood.probit import Probit
from prefero.models.posterior.mixture import MixturePosterior
from prefero.models.posterior.structure_names import LABELS
from prefero.questions import Comparisons

# --- weights ----------------------------------------------------------------------------------------------


def prior_weights() -> dict[str, float]:
    """The prior weight of each structure, summed over its candidates."""
    weights = dict.fromkeys(GRID, 0.0)
    for candidate in grid():
        weights[candidate.structure] += float(np.exp(candidate.log_prior))
    return weights


@pytest.mark.rounding
def test_before_any_answer_the_structures_have_their_prior_weights() -> None:
    assert sum(prior_weights().values()) == pytest.approx(1.0)
    assert prior_weights() == pytest.approx(GRID)
    assert fresh(Comparisons.none(2)).structures == pytest.approx(prior_weights())


@pytest.mark.parametrize("kind", RIGHT)
@pytest.mark.parametrize("number", [0, 1, 7, 40])
def test_weights_add_up_to_1(kind: str, number: int) -> None:
    belief = fresh(first(answers(kind, 60), number))
    assert sum(weight for weight, _ in belief.components) == pytest.approx(1.0)
    assert sum(belief.structures.values()) == pytest.approx(1.0)
    assert min(weight for weight, _ in belief.components) > 0.0


@pytest.mark.parametrize("kind", RIGHT)
def test_weights_are_prior_times_evidence_of_every_candidate(kind: str) -> None:
    data = first(answers(kind, 60), 9)
    logs = np.array(
        [
            m.log_prior + infer(m.kernel, data, Probit(m.noise, lapse=m.lapse)).posterior.log_evidence
            for m in grid()
        ]
    )
    belief = fresh(data)
    assert belief.log_evidence == pytest.approx(logsumexp(logs), abs=2e-3)
    weights = np.exp(logs - logsumexp(logs))
    for structure in GRID:
        expected = sum(s for s, m in zip(weights, grid(), strict=True) if m.structure == structure)
        assert belief.structures[structure] == pytest.approx(expected, abs=2e-3)


@pytest.mark.rounding
@pytest.mark.parametrize("kind", RIGHT)
def test_the_few_components_that_are_kept_stand_for_all(kind: str) -> None:
    data = first(answers(kind, 60), 9)
    every = [(m.log_prior, infer(m.kernel, data, Probit(m.noise, lapse=m.lapse)).posterior) for m in grid()]
    logs = np.array([log_prior + posterior.log_evidence for log_prior, posterior in every])
    weights = np.exp(logs - logsumexp(logs))
    whole = sum(
        weight * posterior.probability(*places())
        for weight, (_, posterior) in zip(weights, every, strict=True)
    )
    assert len(fresh(data).components) <= 10 < len(every)
    apart = np.abs(fresh(data).probability(*places()) - np.asarray(whole))
    assert apart.max() < 0.04
    assert apart.mean() < 0.01


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("kind", RIGHT)
def test_the_right_structure_gains_weight(kind: str, seed: int) -> None:
    data, fitter = answers(kind, 60, seed), MixtureFitter(Reference.normal(2))
    few, many = (
        sum(fitter.fit(first(data, number)).structures.get(s, 0.0) for s in RIGHT[kind]) for number in (5, 60)
    )
    assert many > max(few, 0.7)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("linear", "the reward seems linear ("),
        ("quadratic", "the reward seems quadratic: linear with a curve ("),
        ("bumpy", "the reward seems smooth, of no simple form ("),
    ],
)
def test_the_mixture_says_in_words_what_the_reward_looks_like(kind: str, words: str) -> None:
    belief = fresh(answers(kind, 60))
    assert belief.describe().startswith(words)
    assert belief.describe().endswith(f"({percent(max(belief.structures.values()))} sure)")


def test_an_undecided_mixture_says_so() -> None:
    undecided = fresh(answers("linear", 5))
    words = undecided.describe()
    assert words.startswith("the reward's form is still open (")
    for structure, weight in undecided.structures.items():
        assert (f"{LABELS[structure]} {percent(weight)}" in words) == (weight >= 0.05)


@pytest.mark.parametrize("count", [0, 1, 4])
def test_nothing_is_claimed_from_the_prior(count: int) -> None:
    words = fresh(first(answers("linear", 60), count)).describe()
    wanted = f"after {count} answer{'s' * (count != 1)}"
    assert words == f"it is too early to say what the reward looks like, {wanted}"


def test_a_feature_that_does_not_matter_is_noticed() -> None:
    rng = np.random.default_rng(0)
    items = rng.uniform(-2, 2, (60, 2))
    reward = np.sin(3 * items[:, 0] + 0.8 * items[:, 1])  # no sum of functions of one feature each
    pairs = np.array([rng.choice(60, 2, replace=False) for _ in range(60)])
    better = reward[pairs[:, 0]] > reward[pairs[:, 1]]
    belief = fresh(Comparisons.of(items, np.where(better[:, None], pairs, pairs[:, ::-1])))
    assert order(belief)[0] == "ard"
    assert "some features matter more than others" in belief.describe()


# --- the mixture ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def mixed() -> MixturePosterior:
    """A mixture of many components."""
    belief = fresh(first(answers("quadratic", 60), 12))
    assert len(belief.components) > 4
    return belief


def test_mean_and_covariance_are_those_of_the_mixture(mixed: MixturePosterior) -> None:
    x = places(6)[0]
    weights = np.array([weight for weight, _ in mixed.components])
    means, covariances = (np.array(one) for one in zip(*(p(x) for _, p in mixed.components), strict=True))
    mean = weights @ means
    second = np.einsum("k,kij->ij", weights, covariances + means[:, :, None] * means[:, None, :])
    np.testing.assert_allclose(mixed(x)[0], mean, rtol=1e-12)
    np.testing.assert_allclose(mixed(x)[1], second - np.outer(mean, mean), atol=1e-9 * second.max())


def test_marginals_are_the_diagonal_and_differences_follow_from_the_covariance(
    mixed: MixturePosterior,
) -> None:
    a, b = places(5)
    mean, covariance = mixed(np.concatenate([a, b]))
    np.testing.assert_allclose(mixed.marginals(a)[0], mean[:5], rtol=1e-9)
    np.testing.assert_allclose(mixed.marginals(a)[1], covariance.diagonal()[:5], rtol=1e-9)
    gap, gap_variance = mixed.difference(a, b)
    away = np.hstack([np.eye(5), -np.eye(5)])
    np.testing.assert_allclose(gap, away @ mean, rtol=1e-9)
    np.testing.assert_allclose(gap_variance, (away @ covariance @ away.T).diagonal(), rtol=1e-7)


def test_probability_is_the_average_over_the_components(mixed: MixturePosterior) -> None:
    a, b = places()
    components = [
        (weight, component.probit, *component.difference(a, b)) for weight, component in mixed.components
    ]
    expected = sum(
        w * ((1.0 - p.lapse) * ndtr(gap / np.sqrt(2.0 * p.noise**2 + gap_variance)) + 0.5 * p.lapse)
        for w, p, gap, gap_variance in components
    )
    np.testing.assert_allclose(mixed.probability(a, b), expected, rtol=1e-12)
    np.testing.assert_allclose(mixed.probability(b, a), 1.0 - expected, rtol=1e-9)


def test_samples_have_the_moments_of_the_mixture(mixed: MixturePosterior) -> None:
    x, draws = places(4)[0], 40_000
    sampled = mixed.sample(x, draws, np.random.default_rng(0))
    mean, covariance = mixed(x)
    deviation = np.sqrt(covariance.diagonal())
    assert sampled.shape == (draws, 4)
    np.testing.assert_allclose(sampled.mean(axis=0) / deviation, mean / deviation, atol=5 / np.sqrt(draws))
    scaled = np.cov(sampled.T) / np.outer(deviation, deviation)
    np.testing.assert_allclose(scaled, covariance / np.outer(deviation, deviation), atol=0.1)


def test_samples_come_in_no_order_of_their_components(mixed: MixturePosterior) -> None:
    x = np.array([[4.0, 4.0]])
    sampled = mixed.sample(x, 20_000, np.random.default_rng(1))[:, 0]
    spreads = [np.std(some) for some in np.split(sampled, 10)]
    assert max(spreads) < 1.5 * min(spreads)


@pytest.mark.parametrize("draws", [0, 1, 3])
def test_as_many_samples_come_as_were_asked_for(mixed: MixturePosterior, draws: int) -> None:
    assert mixed.sample(places(4)[0], draws, np.random.default_rng(0)).shape == (draws, 4)


# --- symmetries -------------------------------------------------------------------------------------------


@pytest.mark.rounding
@settings(max_examples=5)
@given(st.integers(0, 50), st.integers(1, 8))
def test_swapping_every_answer_negates_the_mean_and_keeps_the_weights(seed: int, number: int) -> None:
    data = first(answers("quadratic", 12, seed), number)
    belief, mirrored = fresh(data), fresh(turned(data, *range(number)))
    x, _ = places()
    np.testing.assert_allclose(mirrored.marginals(x)[0], -belief.marginals(x)[0], atol=1e-3)
    np.testing.assert_allclose(mirrored.marginals(x)[1], belief.marginals(x)[1], rtol=1e-3)
    for structure, weight in belief.structures.items():
        assert mirrored.structures[structure] == pytest.approx(weight, abs=1e-4)


def test_the_noise_is_averaged_over_unless_it_is_given(mixed: MixturePosterior) -> None:
    noises = np.array([component.probit.noise for _, component in mixed.components])
    assert len(set(noises)) > 1
    assert mixed.probit.noise == pytest.approx(
        sum(w * n for (w, _), n in zip(mixed.components, noises, strict=True))
    )
    given = MixtureFitter(Reference.normal(2), noise=0.2).fit(first(answers("quadratic", 60), 25))
    assert {component.probit.noise for _, component in given.components} == {0.2}
    assert given.probit.noise == pytest.approx(0.2)


def test_a_noisy_person_is_believed_to_be_noisier() -> None:
    steady, coin = answers("linear", 60), turned(answers("linear", 60), *range(0, 60, 3))
    assert fresh(coin).probit.noise > 1.5 * fresh(steady).probit.noise


def test_laplace_gives_a_mixture_too() -> None:
    data = answers("linear", 60)
    belief = MixtureFitter(Reference.normal(2), inference="laplace").fit(data)
    assert np.mean(belief.probability(data.winners, data.losers) > 0.5) > 0.9
    assert order(belief)[0] in {"linear", "linear+rbf"}


def test_with_one_feature_there_is_no_ard_kernel() -> None:
    data = answers("linear", 30)
    line = Comparisons(data.winners[:, :1], data.losers[:, :1], data.tied)
    assert set(MixtureFitter(Reference.normal(1)).fit(line).structures) == set(GRID)


# --- ties -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("margin", [0.2, 0.6])
def test_ties_teach_the_margin(margin: float) -> None:
    """Simulated rewards have unit size, as the model's have."""
    assert 0.5 * margin < fresh(answers("linear", 50, margin=margin)).probit.margin < 2.0 * margin


def test_without_ties_there_is_no_margin() -> None:
    assert fresh(answers("linear", 20)).probit.margin == 0.0


def test_a_given_margin_is_kept() -> None:
    belief = MixtureFitter(Reference.normal(2), margin=0.3).fit(answers("linear", 15, margin=0.4))
    assert {component.probit.margin for _, component in belief.components} == {0.3}


def test_ties_without_a_margin_are_refused() -> None:
    with pytest.raises(ValueError, match="margin is 0"):
        MixtureFitter(Reference.normal(2), margin=0.0).fit(answers("linear", 15, margin=0.4))
