"""What can be learned from: every kind of answer of one person and of several, by EP; the rest is refused."""

from typing import Literal

import numpy as np
import pytest

from prefero import Learner, LinearPreference, Pool, PreferenceGP
from prefero.kernels import RBF
from prefero.learner.beliefs import Model
from prefero.questions.answer_kinds import ANSWER_KINDS, Kind, choices_of

POOL = Pool(np.random.default_rng(4).standard_normal((14, 2)))
ONE_KERNEL = PreferenceGP(RBF(theta=0.3), noise=0.3, learn=False)  # which takes less time than the mixture
SEVERAL = ("ann", "ben", "ann", "ben")
people = pytest.mark.parametrize("names", [("",) * 4, SEVERAL], ids=["one person", "several people"])


@people
@pytest.mark.parametrize("kind", ANSWER_KINDS.names())
def test_every_kind_is_learned_from_by_ep(kind: Kind, names: tuple[str, ...]) -> None:
    learner = Learner(POOL, model=ONE_KERNEL, acquisition="mutual-information")
    for number, name in enumerate(names):
        strategy: Literal["active", "random"] = "active" if number == 0 else "random"
        question = learner.ask(kind=kind, person=name, strategy=strategy)
        learner.tell(question, choices_of(kind, ties=False)[number % 2], person=name)
    for person in {name or None for name in names} | {None}:
        mean, std = learner.reward(person=person).predict(POOL.features, return_std=True)
        assert np.isfinite(mean).all()
        assert (std > 0).any()
    assert learner.surprises() is not None
    learner.undo()
    assert np.isfinite(learner.reward()(POOL.features)).all()


def test_kinds_are_learned_from_together_by_several_people() -> None:
    learner = Learner(POOL)
    for number, kind in enumerate(("pair", "strength", "best-of-3", "worst-of-3", "rank-3", "pair")):
        question = learner.ask(kind=kind, strategy="random")
        learner.tell(question, choices_of(kind)[0], person=SEVERAL[number % 2])
    assert set(learner.people) == {"ann", "ben"}
    assert np.isfinite(learner.reward(person="ben")(POOL.features)).all()


@pytest.mark.parametrize("model", [PreferenceGP(inference="laplace"), LinearPreference()], ids=repr)
@pytest.mark.parametrize("kind", [kind for kind in ANSWER_KINDS if kind != "pair"])
def test_laplace_and_the_linear_baseline_refuse_other_kinds_than_pairs(model: Model, kind: Kind) -> None:
    learner = Learner(POOL, model=model, acquisition="mutual-information")
    with pytest.raises(ValueError, match=f"learns from pairs, not from '{kind}'.*inference='ep'"):
        learner.ask(kind=kind)


def test_laplace_refuses_the_answer_of_another_person() -> None:
    learner = Learner(POOL, model=PreferenceGP(inference="laplace"))
    learner.tell(learner.ask(), "left", person="ann")
    with pytest.raises(ValueError, match=r"one person, here 'ann', but 'ben'.*inference='ep'"):
        learner.tell(learner.ask(), "left", person="ben")
    assert len(learner.answers) == 1
