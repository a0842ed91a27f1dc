"""A learner with several people: who is asked what, whose reward it is, and what its files keep."""

from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import ndtr

from prefero import Learner, LinearPreference, Pool, PreferenceGP, load_reward
from prefero._support.arrays import Array
from prefero.acquisition.functions.group_information import group_information
from prefero.acquisition.group_questions import best_group_question
from prefero.kernels import Linear
from prefero.models.likelihood.response_models import ResponseModel
from prefero.questions import Question
from prefero.simulation.users import SimulatedUser

PEOPLE = ("ann", "ben", "eve")
WEIGHTS = {"ann": (1.0, 0.3), "ben": (1.0, -0.3), "eve": (0.8, 0.8)}


def pool() -> Pool:
    return Pool(np.random.default_rng(0).standard_normal((25, 2)), ["speed", "distance"])


def linear(person: str) -> SimulatedUser:
    weights = np.array(WEIGHTS[person])
    return SimulatedUser(lambda x: x @ weights, noise=0.05)


def taught(answers: int = 6) -> Learner:
    """A learner of a fixed kernel, whom three people have answered random questions."""
    learner, rng = Learner(pool(), model=PreferenceGP(kernel=Linear(), noise=0.1)), np.random.default_rng(1)
    x = learner.pool.scaled
    for _ in range(answers):
        for person in PEOPLE:
            left, right = rng.choice(len(x), 2, replace=False).tolist()
            learner.tell(Question(left, right), linear(person).answer(x[left], x[right], rng), person=person)
    return learner


@pytest.fixture(scope="module")
def learner() -> Learner:
    return taught()


def test_the_person_who_was_asked_is_the_person_who_answers(learner: Learner) -> None:
    assert learner.people == PEOPLE
    other = learner.fork()
    other.tell(other.ask(strategy="random", person="zoe"), "left")
    assert [answer.person for answer in other.answers[-2:]] == ["eve", "zoe"]


def test_everybody_has_a_reward_and_the_group_has_one(learner: Learner) -> None:
    x = learner.pool.features
    truth = {person: learner.pool.scaled @ WEIGHTS[person] for person in PEOPLE}
    for person in PEOPLE:
        reward = learner.reward(person)
        assert np.corrcoef(reward(x), truth[person])[0, 1] > 0.7
        assert reward.diagnostics["person"] == person
        assert reward.diagnostics["answers"] == 6
    assert learner.reward().diagnostics["answers"] == 18
    together = np.mean([truth[person] for person in PEOPLE], axis=0)
    assert np.corrcoef(learner.reward()(x), together)[0, 1] > 0.9
    assert learner.reward("somebody new").diagnostics["answers"] == 0


@pytest.mark.parametrize("person", ["ann", None])
def test_rewards_of_people_are_saved(learner: Learner, person: str | None, tmp_path: Path) -> None:
    reward, x = learner.reward(person), learner.pool.features
    reward.save(tmp_path / "reward.json")
    loaded = load_reward(tmp_path / "reward.json")
    for got, wanted in zip(
        loaded.predict(x, return_std=True), reward.predict(x, return_std=True), strict=True
    ):
        np.testing.assert_allclose(got, wanted, atol=1e-6)
    np.testing.assert_allclose(loaded.predict_proba(x[:5], x[5:10]), reward.predict_proba(x[:5], x[5:10]))
    assert loaded.diagnostics == reward.diagnostics


def test_a_learner_file_keeps_who_said_what(tmp_path: Path) -> None:
    before = taught(2)
    before.save(tmp_path / "learner.json")
    after = Learner.load(tmp_path / "learner.json")
    assert after.answers == before.answers
    assert after.ask(person="ben") == before.ask(person="ben")


def test_questions_are_for_a_person_or_for_the_group(learner: Learner) -> None:
    asked = learner.fork()
    own, shared = asked.ask(person="ann"), asked.ask(person="ann", about="group")
    assert own.items != shared.items
    assert 0 < shared.value < 1
    with pytest.raises(ValueError, match=r"'person' or .*'group'"):
        asked.ask(person="ann", about="everybody")  # type: ignore[call-overload]


def test_a_question_about_the_group_is_refused_where_it_would_be_another_one(learner: Learner) -> None:
    asked = learner.fork()
    for purpose, kind in (("best", "pair"), (None, "strength"), (None, "best-of-3")):
        with pytest.raises(ValueError, match=r"'group' .*most informative pair"):
            asked.ask(purpose, kind=kind, person="ann", about="group")  # type: ignore[call-overload]
    assert asked.open_questions == ()


def test_a_model_of_one_reward_has_no_reward_of_each_person() -> None:
    learner = Learner(pool(), model=LinearPreference(draws=20))
    learner.tell(learner.ask(person="ann"), "left")
    assert learner.reward("ann").diagnostics["person"] == "ann"  # only she has answered
    learner.tell(learner.ask(person="ben"), "right")
    assert learner.ask(person="ann").number == 3
    assert "person" not in learner.reward().diagnostics
    for method in (learner.reward, learner.belief):
        with pytest.raises(ValueError, match="one reward from everybody's answers"):
            method("ann")
    for nobody in (learner.people_belief, learner.plot_agreement):
        with pytest.raises(ValueError, match="one reward from everybody's answers"):
            nobody()


def test_several_questions_at_once_are_for_anybody(learner: Learner) -> None:
    for whom in ({"person": "ann"}, {"about": "group"}):
        with pytest.raises(ValueError, match="leave out person and about"):
            learner.fork().ask(count=2, **whom)  # type: ignore[call-overload]


def test_whom_prefers_the_one_whose_answer_tells_most(learner: Learner) -> None:
    people, x = learner.people_belief(), learner.pool.scaled
    bits = {name: best_group_question(people, name, x).value for name in (*PEOPLE, "new")}
    assert learner.whom([*PEOPLE, "new"]) == max(bits, key=lambda name: bits[name])
    with pytest.raises(ValueError, match="got none"):
        learner.whom([])


def test_group_information_agrees_with_quadrature(learner: Learner) -> None:
    """I(answer; d_g) by integrating over d_g, from the joint Gaussian of both kinds of weights."""
    people, x = learner.people_belief(), learner.pool.scaled
    pairs = np.array([[0, 1], [2, 7], [4, 9]])
    bits = group_information(people, "ben", x, pairs)
    exact = np.zeros(3)
    for place, (a, b) in enumerate(pairs):
        probability, within = 0.0, 0.0
        for fit in people.fits:
            weights, row = people.weights_of(fit, "ben"), (fit.basis(x[[a]]) - fit.basis(x[[b]]))[0]
            group = weights.prior - fit.ep.hyper.own
            joint = np.block([[group, group], [group, weights.prior]])
            A = np.hstack([np.zeros_like(weights.A), weights.A])
            for k, response in enumerate(fit.ep.hyper.response_models):
                mean = np.concatenate([weights.mu, weights.mu]) + joint @ A.T @ weights.q[k]
                after = joint - joint @ A.T @ weights.Q[k] @ A @ joint
                both = np.zeros((2, 2 * len(row)))
                both[0, : len(row)] = both[1, len(row) :] = row
                chance, entropy = _integrated(response, both @ mean, both @ after @ both.T)
                probability += fit.weight * weights.weights[k] * chance
                within += fit.weight * weights.weights[k] * entropy
        exact[place] = _entropy(probability) - within
    np.testing.assert_allclose(bits, exact, atol=1e-4)


def _entropy(p: float) -> float:
    return float(-p * np.log2(p) - (1 - p) * np.log2(1 - p))


def _integrated(response: ResponseModel, mean: Array, covariance: Array) -> tuple[float, float]:
    """P(first preferred), and E[entropy given d_g], by quadrature."""
    if response.is_careless:
        return 0.5, 1.0
    std = np.sqrt(covariance[0, 0])
    slope = covariance[0, 1] / covariance[0, 0]
    rest = np.sqrt(covariance[1, 1] - slope * covariance[0, 1] + 2 * response.noise**2)

    def chance(z: float) -> float:
        return float((1 - response.lapse) * ndtr((mean[1] + slope * std * z) / rest) + response.lapse / 2)

    def density(z: float) -> float:
        return float(np.exp(-0.5 * z**2) / np.sqrt(2 * np.pi))

    first = quad(lambda z: chance(z) * density(z), -8, 8, limit=200)[0]
    second = quad(lambda z: _entropy(np.clip(chance(z), 1e-300, 1 - 1e-16)) * density(z), -8, 8, limit=200)[0]
    return first, second


def test_surprises_are_found_among_all_people() -> None:
    learner = taught(12)
    x = learner.pool.scaled
    order = np.argsort(x @ WEIGHTS["ben"])
    learner.tell(Question(int(order[0]), int(order[-1])), "left", person="ben")
    found = learner.surprises()
    assert found[0].answer.person == "ben"
    assert found[0].probability < 0.25


def test_people_need_names(learner: Learner) -> None:
    alone = Learner(pool())
    alone.tell(Question(0, 1), "left", person="ann")
    with pytest.raises(ValueError, match="at least two names"):
        alone.people_belief()
    assert alone.whom(["ann", "ben"]) == "ben"
    assert learner.fork().people == PEOPLE


def test_agreement_is_drawn(learner: Learner) -> None:
    figure = learner.plot_agreement()
    assert sorted(label.get_text() for label in figure.axes[0].get_yticklabels()) == list(PEOPLE)
