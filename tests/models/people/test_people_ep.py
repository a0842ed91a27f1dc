"""Many people at once: against a dense Gaussian process on (features, person), and against sampling."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.people_reference import Sampled, answers_of_people, dense_covariance, no_ties
from prefero._support.arrays import Array, Flags, Indices
from prefero.models.inference.attempts import expectation_propagation
from prefero.models.inference.solution import Solution, WarmStart
from prefero.models.likelihood.probit import Probit
from prefero.models.likelihood.regions import pairs_layout
from prefero.models.likelihood.response_models import Margin, ResponseModel
from prefero.models.people.batches import batches_of
from prefero.models.people.ep import PeopleEP
from prefero.models.people.person_factors import Hyperparameters

RESPONSE_MODELS = {ResponseModel(0.1): 0.5, ResponseModel(0.6): 0.3, ResponseModel(1.0, 1.0): 0.2}


def problem(people: int = 6, answers: int = 42, items: int = 12, seed: int = 0) -> tuple[Array, Indices]:
    """Differences of basis functions, and who answered; some have many answers, some none or one."""
    rng = np.random.default_rng(seed)
    phi = rng.standard_normal((items, 5)) * [1.0, 0.8, 0.6, 0.4, 0.2]
    pairs = np.array([rng.choice(items, 2, replace=False) for _ in range(answers)])
    return phi[pairs[:, 0]] - phi[pairs[:, 1]], np.sort(rng.integers(0, people, answers) ** 2 // people)


def fitted(
    A: Array,
    people: Indices,
    share: float,
    response_models: dict[ResponseModel, float],
    tied: Flags | None = None,
    margin: float = 0.0,
) -> PeopleEP:
    r = A.shape[1]
    hyper = Hyperparameters(
        np.sqrt(share) * np.eye(r),
        (1.0 - share) * np.eye(r),
        tuple(response_models),
        np.array(list(response_models.values())),
        Margin(margin),
    )
    layout = pairs_layout(no_ties(A) if tied is None else tied)
    ep = PeopleEP(batches_of(A, layout, people, len(response_models)), hyper)
    assert ep.run(1e-8, 300) < 300
    return ep


def dense(A: Array, people: Indices, share: float, probit: Probit, tied: Flags) -> tuple[Array, Solution]:
    """EP on all answers at once: the posterior mean of the differences, and the solution."""
    values, vectors = np.linalg.eigh(dense_covariance(A, people, share))
    basis = vectors * np.sqrt(np.maximum(values, 0.0))
    solution = expectation_propagation(basis, pairs_layout(tied), probit, WarmStart.zeros(len(A)), 1e-10)
    return basis @ solution.u_mean, solution


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("ties", [0, 6])
def test_with_one_response_model_it_is_ep_on_all_answers(share: float, ties: int) -> None:
    A, people = problem()
    tied = np.arange(len(A)) % 7 < ties / 6
    margin = 0.5 if ties else 0.0
    ep = fitted(A, people, share, {ResponseModel(0.2): 1.0}, tied, margin)
    mean, solution = dense(A, people, share, Probit(0.2, 0.2 * margin), tied)
    assert ep.log_evidence == pytest.approx(solution.log_evidence, abs=1e-6)
    for person, weights in ep.people():
        rows = people == person
        np.testing.assert_allclose(A[rows] @ weights.at(0)[0], mean[rows], atol=1e-6)


def test_with_one_response_model_variances_are_those_of_ep_on_all_answers() -> None:
    A, people = problem()
    ep = fitted(A, people, 0.4, {ResponseModel(0.2): 1.0})
    _, solution = dense(A, people, 0.4, Probit(0.2), no_ties(A))
    C = dense_covariance(A, people, 0.4)
    after = C - C @ np.linalg.inv(C + np.diag(1.0 / solution.W)) @ C
    for person, weights in ep.people():
        rows = people == person
        np.testing.assert_allclose(
            weights.differences(A[rows])[1][0], after.diagonal()[rows], rtol=1e-5, atol=1e-7
        )


def test_response_models_agree_with_sampling() -> None:
    """Three people with five answers each, of whom one contradicts the others."""
    rng = np.random.default_rng(3)
    A, people = rng.standard_normal((15, 2)), np.repeat(np.arange(3), 5)
    A = np.where((A @ [1.0, 0.5] > 0)[:, None], A, -A)
    A[10:13] *= -1.0
    ep, exact = fitted(A, people, 0.6, RESPONSE_MODELS), Sampled(A, people, 0.6, RESPONSE_MODELS, 100_000)
    assert ep.log_evidence == pytest.approx(exact.log_evidence, abs=0.1)
    np.testing.assert_allclose(ep.mu, exact.group_mean, atol=0.06)
    for person, weights in ep.people():
        np.testing.assert_allclose(weights.weights, exact.response_models[person], atol=0.03)
        means = np.array([weights.at(k)[0] for k in range(3)])
        np.testing.assert_allclose(weights.weights @ means, exact.person_mean(person), atol=0.06)
        variances = np.array([weights.at(k)[1].diagonal() for k in range(3)])
        total = weights.weights @ (variances + (means - weights.weights @ means) ** 2)
        np.testing.assert_allclose(total, exact.person_variance(person), rtol=0.15, atol=0.02)


@settings(max_examples=4, deadline=None)
@given(seed=st.integers(0, 10_000), share=st.floats(0.0, 1.0))
def test_names_order_and_signs_do_not_matter(seed: int, share: float) -> None:
    A, people = problem(4, 20, 8, seed)
    rng = np.random.default_rng(seed)
    order, names = rng.permutation(len(A)), rng.permutation(10)
    ep, other = (
        fitted(A, people, share, RESPONSE_MODELS),
        fitted(-A[order], names[people[order]], share, RESPONSE_MODELS),
    )
    assert other.log_evidence == pytest.approx(ep.log_evidence, abs=1e-5)
    np.testing.assert_allclose(other.mu, -ep.mu, atol=1e-5)
    np.testing.assert_allclose(other.V, ep.V, atol=1e-5)
    renamed = dict(other.people())
    for person, weights in ep.people():
        np.testing.assert_allclose(renamed[names[person]].weights, weights.weights, atol=1e-5)


@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_answers_of_the_careless_count_for_nothing(seed: int) -> None:
    A, people = problem(4, 20, 8, seed)
    ep = fitted(A, people, 0.5, {ResponseModel(0.2): 1e-12, ResponseModel(1.0, 1.0): 1.0})
    np.testing.assert_allclose(ep.mu, 0.0, atol=1e-6)
    np.testing.assert_allclose(ep.V, 0.5 * np.eye(5), atol=1e-6)
    assert ep.log_evidence == pytest.approx(len(A) * np.log(0.5), abs=1e-6)


def test_a_newcomer_is_like_the_group_and_less_certain() -> None:
    A, people = problem()
    ep = fitted(A, people, 0.6, RESPONSE_MODELS)
    new = ep.newcomer
    np.testing.assert_allclose(new.at(0)[0], ep.mu)
    np.testing.assert_allclose(new.at(0)[1], ep.V + 0.4 * np.eye(5))
    np.testing.assert_allclose(new.weights, ep.hyper.chances)


def test_the_statistics_of_people_are_the_moments_of_their_own_weights() -> None:
    """With one response model: E[w_p w_p.T] from the dense posterior of (w_g, w_1, ..., w_P)."""
    A, people = problem(3, 15)
    ep = fitted(A, people, 0.5, {ResponseModel(0.3): 1.0})
    second, known = ep.own_statistics
    S = ep.hyper.own
    _, solution = dense(A, people, 0.5, Probit(0.3), no_ties(A))
    total = np.zeros((5, 5))
    for person in np.unique(people):
        X = np.hstack([np.sqrt(0.5) * A, np.sqrt(0.5) * A * (people == person)[:, None]])
        rest = 0.5 * (A @ A.T) * ((people[:, None] == people) & (people != person))
        noise = np.linalg.inv(np.diag(1.0 / solution.W) + rest)
        covariance = np.linalg.inv(np.eye(10) + X.T @ noise @ X)
        mean = covariance @ X.T @ noise @ (solution.shift / solution.W)
        own = mean[5:] * np.sqrt(0.5)
        total += np.outer(own, own) + 0.5 * covariance[5:, 5:]
    count = len(np.unique(people))
    np.testing.assert_allclose(count * S + S @ (second - known) @ S, total, atol=1e-5)


def test_batches_hold_every_answer_once() -> None:
    _, pairs, who = answers_of_people(40, 3, 8, 2, 0)
    A, people = pairs.astype(float), np.concatenate([who[:60], who[:60]])
    batches = batches_of(A, pairs_layout(no_ties(A)), people, 3)
    numbers = [answers.numbers for batch in batches for answers in batch.answers]
    assert sorted(n for some in numbers for n in some[some >= 0].tolist()) == list(range(len(A)))
    for batch in batches:
        for person, own in zip(batch.people, batch.answers[0].numbers, strict=True):
            assert set(own[own >= 0]) == set(np.flatnonzero(people == person))
