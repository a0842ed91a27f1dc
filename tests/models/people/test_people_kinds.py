"""Several people and every kind of answer: against EP on all answers at once, and against sampling."""

import numpy as np
import pytest

from models.people_reference import dense_covariance
from prefero._support.arrays import Array, Indices
from prefero.models.inference.attempts import expectation_propagation
from prefero.models.inference.solution import WarmStart
from prefero.models.likelihood.probabilities import People, answer_probabilities
from prefero.models.likelihood.regions import layout_of
from prefero.models.likelihood.response_models import Margin, ResponseModel
from prefero.models.people.batches import batches_of
from prefero.models.people.ep import PeopleEP
from prefero.models.people.person_factors import Hyperparameters
from prefero.models.preference_gp import PreferenceGP
from prefero.questions import Answer, Comparisons, Question
from prefero.questions.answer_kinds import Kind, choices_of, items_of

KINDS: dict[str, list[Kind]] = {
    "strengths": ["strength"],
    "best of three": ["best-of-3"],
    "worst of four": ["worst-of-4"],
    "rankings": ["rank-3"],
    "everything": ["pair", "strength", "best-of-3", "worst-of-4", "rank-3"],
}
every_kind = pytest.mark.parametrize("kinds", KINDS.values(), ids=KINDS.keys())
MARGIN = Margin(0.2, fixed=True, beyond=0.6)
NAMES = ("ann", "ben", "cid")


def answers_of(kinds: list[Kind], count: int, seed: int = 0, ties: bool = True) -> tuple[Array, list[Answer]]:
    """Items of three features, and answers of three people with related rewards to random questions."""
    rng = np.random.default_rng(seed)
    x, common = rng.standard_normal((9, 3)), rng.standard_normal(3)
    rewards = {name: x @ (0.8 * common + 0.6 * rng.standard_normal(3)) for name in NAMES}
    how = People(*(np.array([value]) for value in (0.4, MARGIN.size if ties else 0.0, 0.8, 0.0)))
    found = []
    for number in range(count):
        kind, name = kinds[number % len(kinds)], NAMES[int(rng.integers(3) ** 2 // 2)]
        items = rng.choice(9, items_of(kind), replace=False).tolist()
        chances = np.maximum(answer_probabilities(rewards[name][None, items], kind, how, ties)[0], 0.0)
        choice = rng.choice(choices_of(kind, ties), p=chances / chances.sum())
        found.append(Answer(Question(*items, kind=kind), str(choice), name))
    return x, found


def fitted(
    data: Comparisons, response_models: dict[ResponseModel, float], share: float
) -> tuple[PeopleEP, Indices]:
    """EP of the people, whose basis functions are the features."""
    assert data.people is not None
    numbers = np.unique(data.people, return_inverse=True)[1].astype(np.intp)
    A, r = data.winners - data.losers, data.winners.shape[1]
    own, chances = (1.0 - share) * np.eye(r), np.array(list(response_models.values()))
    hyper = Hyperparameters(np.sqrt(share) * np.eye(r), own, tuple(response_models), chances, MARGIN)
    ep = PeopleEP(batches_of(A, layout_of(data), numbers, len(response_models)), hyper)
    assert ep.run(1e-8, 400) < 400
    return ep, numbers


@every_kind
@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_with_one_response_model_it_is_ep_on_all_answers(kinds: list[Kind], share: float) -> None:
    # with ties in rankings likelihoods are not log-concave: sites of people are bounded, and others not
    data = Comparisons.from_answers(*answers_of(kinds, 15, ties=False))
    ep, numbers = fitted(data, {ResponseModel(0.4): 1.0}, share)
    A = data.winners - data.losers
    values, vectors = np.linalg.eigh(dense_covariance(A, numbers, share))
    basis = vectors * np.sqrt(np.maximum(values, 0.0))
    probit, nothing = MARGIN.probit(ResponseModel(0.4)), WarmStart.zeros(len(data))
    wanted = expectation_propagation(basis, layout_of(data), probit, nothing, 1e-10)
    assert ep.log_evidence == pytest.approx(wanted.log_evidence, abs=1e-6)
    everybody = dict(ep.people())
    found = [everybody[person].differences(A[[row]])[0][0, 0] for row, person in enumerate(numbers.tolist())]
    np.testing.assert_allclose(found, basis @ wanted.u_mean, atol=1e-6)


@pytest.mark.parametrize("kinds", [KINDS[name] for name in ("strengths", "best of three", "everything")])
def test_sampling_finds_the_same_rewards_and_levels(kinds: list[Kind]) -> None:
    """The judge weights draws of all rewards by the probabilities of the answers, found by quadrature."""
    x, answers = answers_of(kinds, 6, seed=3)
    data, share, draws = Comparisons.from_answers(x, answers), 0.5, 20_000
    response_models = {ResponseModel(0.3): 0.5, ResponseModel(0.9): 0.3, ResponseModel(1.0, 1.0): 0.2}
    ep, _ = fitted(data, response_models, share)
    rng, names = np.random.default_rng(1), sorted({answer.person for answer in answers})
    group = np.sqrt(share) * rng.standard_normal((draws, 1, 3))
    weights_of = group + np.sqrt(1.0 - share) * rng.standard_normal((draws, len(names), 3))
    each = np.ones((draws, len(names), len(response_models)))
    for answer in answers:
        person, kind = names.index(answer.person), answer.question.kind
        place = choices_of(kind).index(answer.choice)
        for k, response in enumerate(response_models):
            probit = (
                MARGIN.probit(response) if not response.is_careless else MARGIN.probit(ResponseModel(1.0))
            )
            how = (probit.noise, probit.margin, probit.strong_margin, response.lapse)
            people = People(*(np.full(draws, value) for value in how))
            rewards = weights_of[:, person] @ x[list(answer.question.items)].T
            each[:, person, k] *= answer_probabilities(rewards, kind, people, ties=True)[:, place]
    by_person = each @ np.array(list(response_models.values()))
    weights = by_person.prod(axis=1)
    # the probability of an answer about several items is itself an approximation
    assert ep.log_evidence == pytest.approx(float(np.log(weights.mean())), abs=0.05 * len(answers))
    weights /= weights.sum()
    given = each * np.array(list(response_models.values())) / by_person[..., None]
    for person, found in ep.people():
        mean = weights @ weights_of[:, person]
        std = np.sqrt(weights @ (weights_of[:, person] - mean) ** 2)
        average = sum(w * found.at(k)[0] for k, w in enumerate(found.weights))
        assert np.max(np.abs(average - mean) / std) < 0.2
        np.testing.assert_allclose(found.weights, weights @ given[:, person], atol=0.05)


@every_kind
def test_people_are_told_apart_by_every_kind_of_answer(kinds: list[Kind]) -> None:
    rng = np.random.default_rng(0)
    x, answers = rng.standard_normal((20, 2)), []
    rewards = {"ann": 2.0 * x[:, 0], "ben": -2.0 * x[:, 0] + x[:, 1]}
    how = People(*(np.array([value]) for value in (0.2, 0.2, 0.8, 0.0)))
    for number in range(24):
        kind, name = kinds[number % len(kinds)], ("ann", "ben")[number % 2]
        items = rng.choice(20, items_of(kind), replace=False).tolist()
        chances = answer_probabilities(rewards[name][None, items], kind, how, ties=True)[0]
        answers.append(Answer(Question(*items, kind=kind), choices_of(kind)[int(np.argmax(chances))], name))
    model = PreferenceGP().fit(x, np.empty((0, 2), dtype=int), answers=answers)
    for name, reward in rewards.items():
        assert np.corrcoef(model.people_.person(name).marginals(x)[0], reward)[0, 1] > 0.8
    surprises = model.people_.leave_one_out(Comparisons.from_answers(x, answers))
    assert surprises.shape == (24,)
    assert 0.3 < surprises.mean() <= 1.0
