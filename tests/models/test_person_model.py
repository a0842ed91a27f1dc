"""One person's reward among others': the same as that person's posterior in the model of everybody."""

import numpy as np
import pytest

from prefero.learner import Learner
from prefero.models.person_model import PersonModel
from prefero.models.preference_gp import PreferenceGP
from prefero.pools.pool import Pool
from prefero.questions import Answer, Comparisons, Question

RNG = np.random.default_rng(4)
POOL = Pool(RNG.standard_normal((20, 2)))
X = POOL.scaled


def answers_of(person: str, count: int, weights: tuple[float, float], seed: int) -> list[Answer]:
    """What somebody with a linear reward and no noise answers to random questions."""
    rng, found = np.random.default_rng(seed), []
    for number in range(1, count + 1):
        left, right = rng.choice(len(X), 2, replace=False).tolist()
        choice = "left" if (X[left] - X[right]) @ weights > 0 else "right"
        found.append(Answer(Question(left, right, number=100 * seed + number), choice, person))
    return found


OTHERS = [*answers_of("Ada", 6, (1.0, 0.2), 1), *answers_of("Ben", 6, (1.0, -0.2), 2)]
OWN = answers_of("", 3, (1.0, 0.0), 3)


def comparisons(answers: list[Answer]) -> Comparisons:
    return Comparisons.from_answers(X, answers, POOL.scaling)


@pytest.fixture(scope="module")
def model() -> PersonModel:
    return PersonModel(comparisons(OTHERS), "me").fit_comparisons(comparisons(OWN), X)


def test_is_the_persons_posterior_in_the_model_of_everybody(model: PersonModel) -> None:
    people = [*(answer.person for answer in OTHERS), *("me" for _ in OWN)]
    pairs = [(row.better, row.worse) for answer in (*OTHERS, *OWN) for row in answer.rows]
    together = PreferenceGP().fit(X, pairs, people=people).people_.person("me")
    mean, covariance = model.posterior_.marginals(X)
    np.testing.assert_allclose(mean, together.marginals(X)[0], atol=1e-6)
    np.testing.assert_allclose(covariance, together.marginals(X)[1], atol=1e-6)


def test_the_others_speak_for_somebody_new() -> None:
    new = PersonModel(comparisons(OTHERS), "me").fit_comparisons(comparisons(OWN)[:0], X)
    assert np.corrcoef(new.posterior_.marginals(X)[0], X[:, 0])[0, 1] > 0.8


def test_one_other_says_nothing_before_the_first_answer() -> None:
    """One person is no group, so that nothing tells what people share."""
    model = PersonModel(comparisons(OTHERS[:6]), "me")
    assert model.fit_comparisons(comparisons(OWN)[:0], X).people_ is None
    np.testing.assert_allclose(model.posterior_.marginals(X)[0], 0.0, atol=1e-9)
    assert model.fit_comparisons(comparisons(OWN), X).people_ is not None


def test_other_kinds_of_answers_are_learned_with_the_others_pairs() -> None:
    ranking = Answer(Question(0, 1, 2, number=1, kind="rank-3"), "1>2>3")
    model = PersonModel(comparisons(OTHERS), "me").fit_comparisons(comparisons([ranking]), X)
    assert model.people_ is not None
    assert model.people_.names == tuple(sorted({*(one.person for one in OTHERS), "me"}))
    assert model.leave_one_out(comparisons([ranking])).shape == (1,)
    first, _, last = model.posterior_.marginals(X[:3])[0] - model.people_.group.marginals(X[:3])[0]
    assert first > last  # relative to what the others say


def test_surprises_are_the_persons_own(model: PersonModel) -> None:
    chances = model.leave_one_out(comparisons(OWN))
    assert chances.shape == (len(OWN),)
    assert np.all((chances > 0) & (chances < 1))
    learner = Learner(POOL, model=model, answers=OWN)
    assert all(surprise.answer in OWN for surprise in learner.surprises())
    assert learner.reward().diagnostics["answers"] == len(OWN)


def test_asks_about_the_group_or_about_the_person(model: PersonModel) -> None:
    learner = Learner(POOL, model=model, answers=OWN)
    own, shared = learner.fork().ask(), learner.fork().ask(person="me", about="group")
    assert own.value > 0
    assert 0 < shared.value < 1


def test_refuses_others_without_a_name_and_doubled_names() -> None:
    with pytest.raises(ValueError, match="names"):
        PersonModel(comparisons(OWN), "me")
    with pytest.raises(ValueError, match="'Ada'"):
        PersonModel(comparisons(OTHERS), "Ada")
