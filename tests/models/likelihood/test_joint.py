"""The likelihood of answers of every kind: regions, probabilities, derivatives."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.joint_reference import box_probability, word_of
from prefero._support.arrays import Array
from prefero.models.likelihood.factors import factors_of
from prefero.models.likelihood.joint import region_probability
from prefero.models.likelihood.probabilities import People, answer_probabilities
from prefero.models.likelihood.probit import Probit
from prefero.models.likelihood.regions import bounds_of, layout_of
from prefero.questions import Answer, Comparisons, Question
from prefero.questions.answer_kinds import ANSWER_KINDS, Kind, choices_of, items_of, kind_named
from prefero.questions.kinds.base import MARGIN, STRONG

PERSON = Probit(0.4, 0.25, 0.0, 0.8)
RNG = np.random.default_rng(0)
SMALL: list[Kind] = ["pair", "strength", "best-of-3", "worst-of-3", "rank-3"]


def likelihood_of(
    answer: Answer, probit: Probit, mean: Array, covariance: Array
) -> tuple[float, Array, Array, Array]:
    """log P and its derivatives, where the rewards of the question's items are normal."""
    items = answer.question.items
    data = Comparisons.from_answers(np.eye(max(items) + 1), [answer])
    D = data.winners - data.losers
    (factors,) = factors_of(layout_of(data), [probit])
    m, V = D @ mean, D @ covariance @ D.T
    cavity = (m[None], V[0]) if len(m) == 1 else (m[None, None], V[None, None])  # one row: numbers
    found, by_margins = factors.tilted(*cavity), factors.by_bounds(*cavity)[0, [MARGIN, STRONG]]
    return float(found.log[0, 0]), np.ravel(found.gradient), found.curvature.reshape(V.shape), by_margins


def answers_to(kind: Kind, ties: bool = True) -> list[Answer]:
    question = Question(*range(items_of(kind)), kind=kind)
    return [Answer(question, choice) for choice in choices_of(kind, ties)]


def random_covariance(size: int, rng: np.random.Generator) -> Array:
    root = rng.standard_normal((size, size))
    covariance: Array = 0.4 * root @ root.T
    return covariance


def exact(answer: Answer, probit: Probit, mean: Array, covariance: Array) -> float:
    """P(answer) as a sum of SciPy's integrals over the regions."""
    items = len(mean)
    data = Comparisons.from_answers(np.eye(items), [answer])
    D, batch = data.winners - data.losers, layout_of(data).batches[0]
    noisy = D @ (covariance + probit.noise**2 * np.eye(items)) @ D.T
    bounds = bounds_of(probit)
    return sum(
        box_probability(bounds[low], bounds[high], A @ D @ mean, A @ noisy @ A.T)
        for A, low, high in zip(batch.A, batch.low, batch.high, strict=True)
    )


@pytest.mark.parametrize("kind", SMALL)
@pytest.mark.parametrize("margin", [0.0, 0.25])
def test_the_exact_probabilities_of_all_answers_add_up_to_one(kind: Kind, margin: float) -> None:
    mean, covariance = RNG.standard_normal(items_of(kind)), random_covariance(items_of(kind), RNG)
    probit = Probit(0.4, margin, 0.0, 0.8)
    total = sum(exact(answer, probit, mean, covariance) for answer in answers_to(kind, margin > 0))
    assert total == pytest.approx(1.0, abs=2e-5)


@pytest.mark.parametrize("kind", [*SMALL, "best-of-4", "rank-4"])
def test_given_the_rewards_the_probabilities_are_shares_of_impressions(kind: Kind) -> None:
    rng, rewards = np.random.default_rng(1), np.array([0.5, 0.1, 0.4, -0.2])[: items_of(kind)]
    people = People(*(np.array([v]) for v in (PERSON.noise, PERSON.margin, PERSON.strong_margin, 0.0)))
    found = answer_probabilities(rewards[None], kind, people, ties=True)[0]
    impressions = rewards + PERSON.noise * rng.standard_normal((20_000, len(rewards)))
    said = [word_of(row, kind_named(kind).form, PERSON.margin, PERSON.strong_margin) for row in impressions]
    choices, counts = np.unique(said, return_counts=True)
    fractions = dict(zip(choices, counts / len(said), strict=True))
    for choice, probability in zip(choices_of(kind), found, strict=True):
        assert probability == pytest.approx(fractions.get(choice, 0.0), abs=0.016)
    assert found.sum() == pytest.approx(1.0, abs=1e-4)


@pytest.mark.parametrize("kind", ["best-of-3", "worst-of-3", "rank-3"])
def test_given_the_rewards_the_probabilities_equal_another_librarys(kind: Kind) -> None:
    rewards, nothing = np.array([0.3, -0.2, 0.6]), np.zeros((3, 3))
    people = People(*(np.array([v]) for v in (0.4, 0.25, 0.8, 0.0)))
    found = answer_probabilities(rewards[None], kind, people, ties=True)[0]
    for answer, probability in zip(answers_to(kind), found, strict=True):
        assert probability == pytest.approx(exact(answer, PERSON, rewards, nothing), abs=2e-5)


@pytest.mark.parametrize("kind", ANSWER_KINDS.names())
def test_people_who_only_lapse_give_every_answer_equally_often(kind: Kind) -> None:
    if kind in ("rank-5", "rank-or-none-5"):
        return  # 541 answers take a second
    people = People(*(np.array([v]) for v in (0.4, 0.25, 0.8, 1.0)))
    found = answer_probabilities(np.zeros((1, kind_named(kind).places)), kind, people, ties=True)
    assert found == pytest.approx(1.0 / len(choices_of(kind)))
    (batch,) = layout_of(Comparisons.from_answers(np.eye(5), answers_to(kind)[:1])).batches
    np.testing.assert_array_equal(batch.answers, [[len(choices_of(kind, ties)) for ties in (False, True)]])


@pytest.mark.parametrize("kind", ["best-of-3", "rank-3"])
def test_the_probability_under_uncertain_rewards_is_near_the_exact_integral(kind: Kind) -> None:
    errors = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        mean, covariance = 0.7 * rng.standard_normal(3), random_covariance(3, rng)
        for answer in answers_to(kind):
            log = likelihood_of(answer, PERSON, mean, covariance)[0]
            errors.append(np.exp(log) - exact(answer, PERSON, mean, covariance))
    assert np.abs(errors).max() < 0.02  # what docs/maths.md states
    assert np.sqrt(np.mean(np.square(errors))) < 0.006


@settings(max_examples=15)
@given(st.sampled_from(SMALL), st.integers(0, 100), st.sampled_from([0.0, 0.1]))
def test_gradients_equal_finite_differences(kind: Kind, seed: int, lapse: float) -> None:
    rng = np.random.default_rng(seed)
    answer = answers_to(kind)[int(rng.integers(len(choices_of(kind))))]
    items, probit = items_of(kind), Probit(0.4, 0.25, lapse, 0.8)
    mean, covariance = 0.7 * rng.standard_normal(items), random_covariance(items, rng)
    data = Comparisons.from_answers(np.eye(items), [answer])
    D = data.winners - data.losers
    _, gradient, _, by_margins = likelihood_of(answer, probit, mean, covariance)
    for item in range(items):
        step = 1e-5 * np.eye(items)[item]
        up, down = (likelihood_of(answer, probit, mean + s * step, covariance)[0] for s in (1, -1))
        assert (gradient @ D)[item] == pytest.approx((up - down) / 2e-5, abs=2e-5)
    wider = [Probit(0.4, 0.25 + s * 1e-5, lapse, 0.8) for s in (1, -1)]
    up, down = (likelihood_of(answer, one, mean, covariance)[0] for one in wider)
    assert by_margins[0] == pytest.approx((up - down) / 2e-5, abs=2e-5)


def test_the_noise_of_rows_is_that_of_impressions_that_they_share() -> None:
    for kind in ("best-of-4", "worst-of-4", "rank-4"):
        answer = Answer(Question(0, 1, 2, 3, kind=kind), choices_of(kind, ties=False)[1])
        data = Comparisons.from_answers(np.eye(4), [answer])
        D = data.winners - data.losers
        np.testing.assert_allclose(layout_of(data).batches[0].noise[0], D @ D.T)


def test_a_ranking_is_the_product_of_its_constraints() -> None:
    rng, covariance = np.random.default_rng(3), random_covariance(4, np.random.default_rng(4))
    rewards = rng.multivariate_normal(np.zeros(4), covariance, 100_000)
    u = rewards + 0.4 * rng.standard_normal(rewards.shape)
    all_hold = np.prod([u[:, a] > u[:, b] for a, b in ((2, 0), (0, 3), (3, 1))], axis=0)
    log = likelihood_of(Answer.ranking([2, 0, 3, 1]), Probit(0.4), np.zeros(4), covariance)[0]
    assert np.exp(log) == pytest.approx(all_hold.mean(), abs=0.006)


def test_far_from_an_answer_nothing_overflows() -> None:
    low, high = np.full((1, 3), 60.0), np.full((1, 3), np.inf)
    found, _, _ = region_probability(low, high, np.eye(3)[None])
    assert np.all(np.isfinite(found.log))
    assert np.all(np.isfinite(found.curvature))
