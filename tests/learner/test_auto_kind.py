"""ask(kind="auto"): the kind of question whose answer tells most for the time that it takes the person."""

import numpy as np
import pytest

from prefero import Learner, Pool, PreferenceGP
from prefero.kernels import RBF
from prefero.learner.question_chooser import CALM
from prefero.questions.answer_times import AnswerTimes
from prefero.simulation.users import SimulatedUser

X = np.random.default_rng(5).standard_normal((60, 2))
POOL = Pool(X)


def learner() -> Learner:
    return Learner(POOL, model=PreferenceGP(RBF(0.3), noise=0.2, learn=False))


def test_the_question_has_the_largest_value_per_second() -> None:
    one, user, rng = learner(), SimulatedUser(lambda x: x[:, 0], noise=0.2), np.random.default_rng(0)
    for _ in range(4):
        fork = one.fork()
        each = {kind: fork.ask(kind=kind).value for kind in ("pair", "rate-5")}
        last = one.answers[-1].question.kind if one.answers else ""
        times = AnswerTimes.of(one.answers)
        rates = {k: v / times.expected(k) * (CALM if k == last else 1.0) for k, v in each.items()}
        question = one.ask(kind="auto")
        assert question.kind == max(rates, key=lambda kind: rates[kind])
        one.tell(question, user.answer_question(question, X, rng), seconds=5.0)


def test_who_rates_slowly_is_asked_to_compare_and_the_other_way_round() -> None:
    for slow, quick in (("rate-5", "pair"), ("pair", "rate-5")):
        one = learner()
        for kind, seconds in ((slow, 60.0), (quick, 1.0)):
            for _ in range(6):
                question = one.ask(kind=kind, strategy="random")
                one.tell(question, "1" if kind == "rate-5" else "left", seconds=seconds)
        assert one.ask(kind=["pair", "rate-5"]).kind == quick


def test_random_questions_are_of_all_kinds() -> None:
    one = learner()
    kinds = {one.ask(kind=("pair", "success"), strategy="random").kind for _ in range(20)}
    assert kinds == {"pair", "success"}


def test_several_questions_at_once_are_of_one_kind() -> None:
    with pytest.raises(ValueError, match=r"of one kind, not 'auto'"):
        learner().ask(kind="auto", count=3)


def test_a_kind_without_questions_leaves_the_others() -> None:
    one = Learner(Pool(X[:3]), model=PreferenceGP(RBF(0.3), noise=0.2, learn=False))
    for _ in range(3):
        one.skip(one.ask(kind="success"))
    assert one.ask(kind=["success", "pair"]).kind == "pair"
    with pytest.raises(ValueError, match="nothing is left to ask"):
        one.ask(kind="success")
