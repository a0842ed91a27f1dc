"""Reasons of answers: what is offered, what they state, and what is learned from them."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm

from prefero import Answer, Learner, Pool, PreferenceGP, Question
from prefero.kernels import Linear
from prefero.learner.asked_questions import AnswerConflict
from prefero.learner.reasons import MOST, ONCE, confidence, offered_reasons, statement, with_reasons
from prefero.models.averaging.reference import Reference
from prefero.models.averaging.source_trust import CHECKED, SourceTrust
from prefero.models.averaging.structures import ModelSettings
from prefero.models.inference.infer import infer
from prefero.models.likelihood.probit import Probit
from prefero.questions.answer import REASON

RNG = np.random.default_rng(1)
FEATURES = RNG.normal(size=(60, 3)) * [1.0, 5.0, 0.1]
POOL = Pool(FEATURES, ["speed", "jerk", "reach"])
WEIGHTS = np.array([1.0, -1.0, 0.3])
REWARD = POOL.scaled @ WEIGHTS
W = np.linspace(-8.0, 8.0, 4001)


def truthful(left: int, right: int, because: str = "") -> Answer:
    return Answer(Question(left, right), "left" if REWARD[left] > REWARD[right] else "right", because=because)


def named(sign: float, count: int, seed: int = 2) -> list[Answer]:
    """Truthful answers, and as reasons the features that speak most for them, or with -1 against them."""
    found = []
    for number in range(1, count + 1):
        left, right = np.random.default_rng([seed, number]).choice(60, 2, replace=False)
        answer = truthful(int(left), int(right))
        better, worse = POOL.scaled[list(answer.chosen_pair or ())]
        speaks = sign * (better - worse) * WEIGHTS
        answer = replace(answer, question=answer.question.numbered(number))
        found.append(replace(answer, because=POOL.names[int(np.argmax(speaks))] if speaks.max() > 0 else ""))
    return found


def accuracy(learner: Learner) -> float:
    pairs = np.random.default_rng(3).choice(60, (2000, 2))
    mean = learner.belief()(POOL.scaled)[0]
    return float(
        np.mean((mean[pairs[:, 0]] > mean[pairs[:, 1]]) == (REWARD[pairs[:, 0]] > REWARD[pairs[:, 1]]))
    )


# --- what is offered ----------------------------------------------------------------------------------------


def test_the_largest_differences_in_standard_deviations_are_offered() -> None:
    answer = truthful(0, 1)
    better, worse = FEATURES[list(answer.chosen_pair or ())]
    gaps = np.abs(better - worse) / FEATURES.std(axis=0)
    offered = offered_reasons(answer, POOL)
    assert [one.feature for one in offered] == [POOL.names[i] for i in np.argsort(-gaps)]
    up = dict(zip(POOL.names, better > worse, strict=True))
    assert all((one.better == "higher") == up[one.feature] for one in offered)


def test_what_means_nothing_to_a_person_is_not_offered() -> None:
    rows = np.random.default_rng(4).normal(size=(20, 4))
    pool = Pool(rows, ["pca 3", "speed", "mean x of object 2", "jerk"]).scored(rows[:, 0], "score")
    offered = offered_reasons(Answer(Question(0, 1), "left"), pool)
    assert {one.feature for one in offered} == {"speed", "jerk"}
    assert offered_reasons(Answer(Question(0, 1), "equal"), pool) == ()
    assert offered_reasons(Answer(Question(0, 1, 2, kind="best-of-3"), "2"), pool) == ()


# --- what they state ----------------------------------------------------------------------------------------


def test_a_statement_is_about_one_feature_at_the_place_of_the_pair() -> None:
    answer = truthful(0, 1, "jerk")
    better, worse = statement(answer, POOL)
    np.testing.assert_array_equal(better[[0, 2]], worse[[0, 2]])
    chosen, other = POOL.scaled[list(answer.chosen_pair or ())]
    assert (better[1], worse[1]) == (chosen[1], other[1])
    np.testing.assert_allclose((better + worse) / 2, (chosen + other) / 2)


def test_reasons_of_one_feature_err_together() -> None:
    odds = [np.log(confidence(n) / (1 - confidence(n))) * n for n in (1, 2, 3, 10)]
    assert confidence(1) == confidence(2) == pytest.approx(ONCE)
    np.testing.assert_allclose(odds[2:], np.log(MOST / (1 - MOST)))
    data = with_reasons((), [truthful(0, 1, "jerk"), truthful(2, 3)], POOL)
    assert data.from_source(REASON).tolist() == [True, False, False]
    assert data.lapses is not None
    assert data.lapses[0] == pytest.approx(2 * (1 - ONCE))


def test_inference_with_a_reason_is_the_integral() -> None:
    pool = Pool(np.array([[0.0], [1.0], [-0.7]]), ["speed"])
    answers = [Answer(Question(0, 1), "right", because="speed"), Answer(Question(1, 2), "right")]
    data = with_reasons((), answers, pool)
    x = (data.winners - data.losers)[:, 0]
    likelihood = norm.pdf(W)
    for gap, lapse in zip(x, (2 * (1 - ONCE), 0.0, 0.0), strict=True):
        likelihood *= (1 - lapse) * norm.cdf(W * gap / (np.sqrt(2) * 0.5)) + lapse / 2
    fit = infer(Linear(), data, Probit(0.5))
    mean = float(W @ likelihood / likelihood.sum())
    assert fit.posterior(np.array([[1.0]]))[0] == pytest.approx(mean, abs=0.03)


# --- what is learned from them ------------------------------------------------------------------------------


def test_truthful_reasons_help_and_wrong_ones_are_given_up() -> None:
    plain = Learner(POOL, answers=[replace(one, because="") for one in named(1.0, 20)])
    wrong = Learner(POOL, answers=named(-1.0, 20))
    few, helped = (Learner(POOL, answers=some) for some in (list(plain.answers[:4]), named(1.0, 4)))
    assert accuracy(helped) > accuracy(few)
    assert accuracy(wrong) > accuracy(plain) - 0.02


def test_the_answers_say_whether_reasons_are_trusted() -> None:
    assert REASON in CHECKED
    settings = ModelSettings(Reference.of(POOL.scaled, POOL.scaling), None, None, "ep")
    trust = [SourceTrust().of(settings, with_reasons((), named(s, 14), POOL))[REASON] for s in (1.0, -1.0)]
    assert [one.is_kept for one in trust] == [True, False]


def test_a_reason_is_told_changed_taken_back_and_undone() -> None:
    learner = Learner(POOL)
    question = learner.ask(strategy="random")
    learner.tell(question, "left")
    before = learner.belief()(POOL.scaled)[0]
    for because, kept in (("jerk", "jerk"), (None, "jerk"), ("speed", "speed"), ("", "")):
        learner.tell(question, "left", because=because)
        assert [one.because for one in learner.answers] == [kept]
        assert np.array_equal(learner.belief()(POOL.scaled)[0], before) == (kept == "")
    learner.tell(question, "left", because="jerk")
    with pytest.raises(AnswerConflict):
        learner.tell(question, "right", because="jerk")
    assert learner.undo().because == "jerk"
    learner.tell(question, "right")
    assert learner.answers[0].because == ""


def test_reasons_of_several_people_are_their_own() -> None:
    answers = [replace(one, person=name) for one, name in zip(named(1.0, 6), "ababab", strict=True)]
    data = with_reasons((), answers, POOL)
    assert data.people is not None
    assert data.people[data.from_source(REASON)].tolist() == [one.person for one in answers if one.because]
    learner = Learner(POOL, answers=answers)
    assert learner.belief("a")(POOL.scaled)[0].shape == (60,)


def test_a_file_keeps_reasons(tmp_path: Path) -> None:
    learner = Learner(POOL, answers=named(1.0, 4))
    learner.save(tmp_path / "learner.json")
    assert Learner.load(tmp_path / "learner.json").answers == learner.answers


@pytest.mark.parametrize(
    ("choice", "because", "message"),
    [
        ("left", "jrk", r"no feature 'jrk' that could be a reason. Did you mean 'jerk'\?|no feature 'jrk'"),
        ("equal", "jerk", "prefers none: leave because='jerk' out"),
        ("left", "flat", "'flat' is 2 in both trajectories, so it is no reason"),
    ],
)
def test_errors(choice: str, because: str, message: str) -> None:
    pool = Pool(np.column_stack([FEATURES, np.where(np.arange(60) < 2, 2.0, 1.0)]), [*POOL.names, "flat"])
    with pytest.raises(ValueError, match=message):
        Learner(pool).tell(Question(0, 1), choice, because=because)
    with pytest.raises(ValueError, match="not from reasons: leave because out"):
        Learner(pool, model=PreferenceGP(inference="laplace")).tell(Question(0, 1), "left", because="jerk")
