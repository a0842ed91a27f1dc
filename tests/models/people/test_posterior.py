"""The model of many people as users meet it: shares, limits, people's rewards, and how they answer."""

import numpy as np
import pytest

from models.people_reference import answers_of_people
from prefero._support.arrays import Array, Indices
from prefero.kernels import RBF, Anchored, ItemEffects, Linear
from prefero.models.inference.infer import infer
from prefero.models.likelihood.probit import Probit
from prefero.models.people.basis_functions import BasisFunctions
from prefero.models.people.candidates import SHARES, KernelCandidate
from prefero.models.people.fitter import LearningPolicy, milestone
from prefero.models.preference_gp import PreferenceGP
from prefero.questions import Answer, Comparisons, Question


@pytest.fixture(scope="module")
def group() -> tuple[Array, Indices, Indices, PreferenceGP]:
    """Twelve people, of whom the last answers at random."""
    x, pairs, who = answers_of_people(12, 20, 15, 2, seed=5, share=0.7)
    rng = np.random.default_rng(0)
    careless = (who == 11) & (rng.random(len(who)) < 0.5)
    pairs = np.where(careless[:, None], pairs[:, ::-1], pairs)
    return x, pairs, who, PreferenceGP().fit(x, pairs, people=who)


def test_one_person_alone_is_the_model_without_people() -> None:
    x, pairs, _ = answers_of_people(1, 12, 10, 2, seed=1)
    alone, named = PreferenceGP().fit(x, pairs), PreferenceGP().fit(x, pairs, people=["ann"] * 12)
    np.testing.assert_array_equal(alone.predict(x), named.predict(x))
    assert alone.log_evidence_ == named.log_evidence_
    assert not hasattr(named, "people_")


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_the_limits_are_one_model_each_and_one_model_for_all(
    share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a fixed kernel and noise: what `infer` says to a person's answers, or to everybody's."""
    x, pairs, who = answers_of_people(3, 8, 10, 2, seed=2)
    for name in ("SHARES", "TYPICAL_SHARE"):
        value = {share: 1.0} if name == "SHARES" else share
        monkeypatch.setattr(f"prefero.models.people.fitter.{name}", value)
    monkeypatch.setattr("prefero.models.people.candidates.SHARES", {share: 1.0})
    firm = LearningPolicy(own_prior=1e12, own_prior_of_function=0.0)
    monkeypatch.setattr("prefero.models.people.fitter.LEARNING", firm)
    monkeypatch.setattr("prefero.models.people.candidates.RESPONSE_MODELS", {})
    kernel = RBF(0.3)
    model = PreferenceGP(kernel=kernel, noise=0.2).fit(x, pairs, people=who)
    for person in range(3):
        rows = np.full(len(who), True) if share else who == person
        posterior = infer(Anchored(kernel, (0.0, 0.0)), Comparisons.of(x, pairs[rows]), Probit(0.2)).posterior
        given = model.people_.probability([str(person)] * 5, x[:5], x[5:10])
        np.testing.assert_allclose(given, posterior.probability(x[:5], x[5:10]), atol=2e-3)


def test_a_person_is_the_same_alone_and_among_many(
    group: tuple[Array, Indices, Indices, PreferenceGP],
) -> None:
    """`person` has Gaussians for questions and files; `probability` is computed without them."""
    x, _, _, model = group
    for name in ("3", "nobody"):
        alone = model.people_.person(name).probability(x[:7], x[7:14])
        np.testing.assert_allclose(alone, model.people_.probability([name] * 7, x[:7], x[7:14]), atol=5e-3)


def test_the_group_is_what_people_share(group: tuple[Array, Indices, Indices, PreferenceGP]) -> None:
    x, _, _, model = group
    people = np.array([model.people_.person(str(p)).marginals(x)[0] for p in range(11)])
    assert np.corrcoef(people.mean(axis=0), model.predict(x))[0, 1] > 0.95
    assert 0.2 < model.people_.share < 1.0
    assert model.people_.group.answers == 240


def test_somebody_careless_is_found(group: tuple[Array, Indices, Indices, PreferenceGP]) -> None:
    *_, model = group
    styles = [model.people_.style(str(person)) for person in range(12)]
    assert styles[11].careless > 0.5 > 5 * max(style.careless for style in styles[:11])
    assert all(style.low <= style.noise <= style.high and style.answers == 20 for style in styles)


def test_agreement_is_a_matrix_of_shares(group: tuple[Array, Indices, Indices, PreferenceGP]) -> None:
    x, _, _, model = group
    agreement = model.people_.agreement(x)
    np.testing.assert_array_equal(agreement, agreement.T)
    np.testing.assert_array_equal(agreement.diagonal(), 1.0)
    assert np.all((agreement >= 0) & (agreement <= 1))
    assert agreement[:11, :11].mean() > 0.6
    assert agreement[11, :11].mean() < agreement[:11, :11].mean()


def test_people_are_named_for_every_answer() -> None:
    x, pairs, who = answers_of_people(2, 3, 5, 2, seed=0)
    with pytest.raises(ValueError, match="5 names for 6 answers"):
        PreferenceGP().fit(x, pairs, people=who[:5])
    with pytest.raises(ValueError, match="inference='ep'"):
        PreferenceGP(inference="laplace").fit(x, pairs, people=who)


def test_ties_are_learned_from() -> None:
    x, pairs, who = answers_of_people(4, 8, 8, 2, seed=3)
    model = PreferenceGP(kernel=Linear(), noise=0.1).fit(x, pairs[:24], pairs[24:], people=who)
    assert model.margin_ > 0
    sides = model.predict_proba(x[:4], x[4:]), model.predict_proba(x[4:], x[:4])
    assert np.all(sides[0] + sides[1] < 1)


def test_comparisons_keep_who_answered() -> None:
    answers = [Answer(Question(0, 1), "left", "ann"), Answer(Question(1, 2), "right", "ben")]
    data = Comparisons.from_answers(np.eye(3), answers)
    assert data.people is not None
    assert data.people.tolist() == ["ann", "ben"]
    assert data.has_people
    assert not data[1:].has_people
    assert Comparisons.from_answers(np.eye(3), [Answer(Question(0, 1), "left")]).people is None


def test_basis_functions_have_the_covariance_of_the_kernel() -> None:
    x = np.random.default_rng(0).standard_normal((30, 2))
    kernel = Anchored(RBF(0.4), (0.0, 0.0)) + 0.5 * ItemEffects(tuple(map(tuple, x[:10].tolist())))
    basis = BasisFunctions.of(kernel, x, 40)
    np.testing.assert_allclose(basis(x) @ basis(x).T, kernel(x, x), atol=1e-6)
    few = BasisFunctions.of(kernel, x, 12)
    assert len(few) == 12
    np.testing.assert_allclose(few(few.points) @ few(few.points).T, kernel(few.points, few.points), atol=1e-8)
    np.testing.assert_allclose(np.sum(few(x) ** 2, axis=1) + few.left_over(x), kernel.diagonal(x), atol=1e-9)
    assert len(BasisFunctions.of(Linear(), x, 12)) == 2


def test_candidates_are_chosen_at_milestones() -> None:
    assert [milestone(n) for n in (3, 10, 12, 13, 20)] == [3, 10, 10, 13, 17]
    assert sum(SHARES.values()) == pytest.approx(1.0)
    assert KernelCandidate("linear", Linear(), 0.0).shared(0.5).share == 0.5
