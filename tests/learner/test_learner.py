"""The learner: asking and telling, what is refused, and what it does when a fit fails."""

import warnings
from collections import Counter
from collections.abc import Sequence
from itertools import permutations
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from scipy import stats

import question_reference
from prefero import Answer, Learner, LinearPreference, PreferenceGP, Question, information_gain
from prefero.acquisition import ACQUISITION_FUNCTIONS, PairMoments, PredictiveInformation, fraction_better
from prefero.acquisition.functions.best_information import BestInformation
from prefero.acquisition.functions.expected_utility import ExpectedUtility
from prefero.acquisition.functions.mutual_information import MutualInformation
from prefero.acquisition.searches.best_question import best_question
from prefero.models.inference.solution import ConvergenceError
from prefero.questions.answer_kinds import Kind, choices_of
from taught_learners import WANTED, choice_of, learner_of, pair, pool, quick, rewards, taught

# --- asking and telling -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "model", [None, quick(), LinearPreference(noise=0.2, draws=30)], ids=["belief", "GP", "linear"]
)
def test_a_learner_learns(model: Any) -> None:
    learner = taught(12, model=model)
    assert stats.spearmanr(rewards(learner), learner.pool.scaled @ WANTED).statistic > 0.9


def test_questions_are_numbered_and_say_what_they_bring() -> None:
    learner = learner_of()
    asked = [learner.ask() for _ in range(3)]
    assert [question.number for question in asked] == [1, 2, 3]
    assert learner.open_questions == tuple(asked)
    assert all(0.0 < question.value <= 1.6 for question in asked)


def test_an_answer_closes_its_question() -> None:
    learner = learner_of()
    first, second = learner.ask(), learner.ask()
    learner.tell(first, "left")
    assert learner.open_questions == (second,)
    assert learner.answers == (Answer(first, "left"),)


def test_the_question_of_the_largest_mutual_information_is_the_most_informative_one() -> None:
    learner = taught(2, rows=6, model=quick(margin=0.0), acquisition="mutual-information")
    mean, covariance = learner.belief()(learner.pool.scaled)
    components = [question_reference.Component(1.0, mean, covariance, 0.1)]
    expected, bits = question_reference.best_pair(question_reference.pair_bits, components)
    question = learner.ask()
    assert pair(question) == expected
    assert question.value == pytest.approx(bits, abs=1e-5)


def test_the_question_of_the_largest_expected_utility_has_the_highest_expected_maximum() -> None:
    learner = taught(4, model=quick(margin=0.0))
    mean, covariance = learner.belief()(learner.pool.scaled)
    components = [question_reference.Component(1.0, mean, covariance, 0.1)]
    expected, utility = question_reference.best_pair(question_reference.pair_utility, components)
    learner.acquisition = ExpectedUtility()
    question = learner.ask()
    assert pair(question) == expected
    assert question.value == pytest.approx(utility, abs=1e-9)
    assert question.unit == "utility"


def test_the_question_for_the_best_tells_most_about_which_is_best() -> None:
    learner = taught(4, model=quick(margin=0.0))
    chosen = best_question(learner.belief(), learner.pool, acquisition=BestInformation())
    question = learner.ask(purpose="best")
    assert pair(question) == chosen.items
    assert question.value == pytest.approx(chosen.value, abs=1e-9)
    assert question.unit == "bits"


@pytest.mark.parametrize("formula", ["houlsby", "paper"])
def test_other_formulas_can_be_asked_for(formula: Literal["houlsby", "paper"]) -> None:
    learner = taught(3, model=quick(margin=0.0), acquisition=MutualInformation(formula))
    mean, covariance = learner.belief()(learner.pool.scaled)
    values = np.triu(information_gain(mean, covariance, 0.1, formula), 1)
    question = learner.ask()
    assert pair(question) == tuple(np.argwhere(values >= values.max() - 1e-10)[0])
    exact = information_gain(mean, covariance, 0.1)[pair(question)]
    assert question.value == pytest.approx(exact, abs=1e-9)
    assert question.unit == "bits"


# --- models, acquisition functions and kinds of answers that go together ----------------------------------

MODELS: dict[str, Any] = {
    "default": PreferenceGP(),
    "noise": PreferenceGP(noise=0.1, learn=False),
    "kernel": quick(margin=None),
    "margin": quick(margin=0.1),
    "lapse": quick(margin=None, lapse=0.05),
    "no margin": quick(margin=0.0),
    "laplace": quick(margin=None, inference="laplace"),
    "linear": LinearPreference(draws=20),
    "linear, margin": LinearPreference(draws=20, margin=0.1),
    "linear, lapse": LinearPreference(draws=20, lapse=0.05),
}
ANSWERED_OTHERWISE = {"default", "margin", "lapse", "linear, margin", "linear, lapse"}
PAIRS_ONLY = {"laplace", "linear", "linear, margin", "linear, lapse"}


class LargestVariance:
    """An acquisition function of a user's own."""

    unit = "reward squared"

    def score(self, pairs: Sequence[PairMoments]) -> Any:
        return sum(part.weight * part.gap_variance for part in pairs)


FUNCTIONS: dict[str, Any] = {
    **{name: name for name in ACQUISITION_FUNCTIONS},
    "paper": MutualInformation("paper"),
    "houlsby": MutualInformation("houlsby"),
    "own": LargestVariance(),
}


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("model", MODELS)
def test_a_model_and_an_acquisition_function_go_together_or_it_says_so_when_made(
    model: str, function: str, tmp_path: Path
) -> None:
    together = {"model": MODELS[model], "acquisition": FUNCTIONS[function]}
    if function in ("paper", "houlsby") and model in ANSWERED_OTHERWISE:
        with pytest.raises(ValueError, match=f"'{function}' is for two possible answers"):
            Learner(pool(6), **together)
        Learner(pool(6)).save(tmp_path / "learner.json")
        with pytest.raises(ValueError, match=f"'{function}' is for two possible answers"):
            Learner.load(tmp_path / "learner.json", **together)
        return
    learner = Learner(pool(5), **together)
    learner.tell(Question(0, 1), "left")
    if learner.learns_from_ties:
        learner.tell(Question(1, 2), "equal")
    else:
        with pytest.raises(ValueError, match="margin"):
            learner.tell(Question(1, 2), "equal")
    assert learner.ask().unit == learner.acquisition.unit


@pytest.mark.parametrize("kind", ["strength", "best-of-3", "rank-3"])
@pytest.mark.parametrize("model", sorted(PAIRS_ONLY))
def test_a_model_of_pairs_is_not_asked_or_told_of_other_kinds(model: str, kind: Kind) -> None:
    learner = Learner(pool(6), model=MODELS[model])
    with pytest.raises(ValueError, match=f"pairs, not from '{kind}'"):
        learner.ask(kind=kind)
    question = Question(0, 1, 2, kind=kind) if kind != "strength" else Question(0, 1, kind=kind)
    with pytest.raises(ValueError, match=f"pairs, not from '{kind}'"):
        learner.tell(question, choices_of(kind)[0])
    assert not learner.answers
    assert not learner.open_questions


@pytest.mark.parametrize("function", [LargestVariance(), MutualInformation("paper")], ids=["own", "paper"])
def test_a_function_that_scores_pairs_is_never_replaced(function: Any) -> None:
    learner = learner_of(6, model=quick(margin=0.0, strong_margin=0.5), acquisition=function)
    plain, strong = learner.fork().ask(), learner.fork().ask(kind="strength")
    assert (strong.items, strong.unit) == (plain.items, function.unit)
    for kind in ("best-of-3", "worst-of-4", "rank-3"):
        with pytest.raises(ValueError, match=f"scores pairs, not '{kind}'"):
            learner.ask(kind=kind)
        with pytest.raises(ValueError, match=f"scores pairs, not '{kind}'"):
            learner.ask(kind=kind, count=2)
        assert len(learner.fork().ask(kind=kind, strategy="random").items) > 2


def test_the_value_of_a_question_about_strength_is_the_own_functions() -> None:
    learner = learner_of(6, acquisition=LargestVariance())
    learner.tell(learner.ask(), "left")
    covariance = learner.belief()(learner.pool.scaled)[1]
    question = learner.ask(kind="strength")
    left, right = question.items
    variance = covariance[left, left] + covariance[right, right] - 2 * covariance[left, right]
    assert question.value == pytest.approx(variance)


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("BALD", MutualInformation()),
        ("bald", MutualInformation()),
        ("Epig", PredictiveInformation()),
        ("EUBO", ExpectedUtility()),
    ],
)
def test_acquisition_functions_have_the_fields_abbreviations(name: str, function: Any) -> None:
    learner = learner_of(acquisition=name)
    assert learner.acquisition == function
    belief = learner.belief()
    assert best_question(belief, learner.pool, acquisition=name).unit == function.unit
    assert 0 <= fraction_better(belief, learner.pool, Question(0, 1), acquisition=name) <= 1


def test_sides_are_left_to_chance() -> None:
    sides = Counter((q := learner_of(seed=seed).ask()).left < q.right for seed in range(60))
    assert 15 < sides[True] < 45


def test_random_questions_are_uniform_over_pairs_and_sides() -> None:
    asked = [learner_of(4, seed).ask(strategy="random") for seed in range(600)]
    counted = Counter((question.left, question.right) for question in asked)
    assert set(counted) == set(permutations(range(4), 2))
    assert stats.chisquare(list(counted.values())).pvalue > 1e-3


def test_random_questions_of_one_learner_do_not_follow_a_pattern() -> None:
    learner = learner_of(4, model=quick(noise=1.0))
    counted: Counter[tuple[int, int]] = Counter()
    for _ in range(90):
        question = learner.ask(strategy="random")
        counted[pair(question)] += 1
        learner.tell(question, choice_of(question, learner.pool))
    assert stats.chisquare([counted[i, j] for i in range(4) for j in range(i + 1, 4)]).pvalue > 1e-3


# --- failures ---------------------------------------------------------------------------------------------


def breaks(*_: Any, **__: Any) -> Any:
    raise ConvergenceError("the model has gone astray")


@pytest.mark.parametrize("error", [ConvergenceError("astray"), np.linalg.LinAlgError("singular")])
def test_a_failed_fit_keeps_the_last_good_belief_and_warns_once(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    learner = taught(3)
    good = rewards(learner)

    def fails(*_: Any, **__: Any) -> Any:
        raise error

    monkeypatch.setattr(PreferenceGP, "fit_comparisons", fails)
    learner.tell(learner.answers[0].question, learner.answers[0].choice)
    learner.tell(Question(0, 1), "left")
    with pytest.warns(UserWarning, match="could not be fitted"):
        np.testing.assert_array_equal(rewards(learner), good)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(3):
            learner.tell(learner.ask(), "right")
        np.testing.assert_array_equal(rewards(learner), good)
    assert len(learner.answers) == 7


def test_after_a_failed_fit_the_next_good_one_knows_every_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    learner = taught(3)
    rewards(learner)
    learner.tell(Question(0, 1), "left")
    with monkeypatch.context() as patch:
        patch.setattr(PreferenceGP, "fit_comparisons", breaks)
        with pytest.warns(UserWarning, match="stays as it was"):
            learner.reward()
    learner.tell(Question(2, 3), "left")
    rebuilt = Learner(learner.pool, model=quick(), answers=learner.answers)
    np.testing.assert_allclose(rewards(learner), rewards(rebuilt), atol=1e-6)


# --- refusals ---------------------------------------------------------------------------------------------


def test_a_learner_needs_a_pool() -> None:
    with pytest.raises(TypeError, match=r"needs a prefero.Pool, .*ndarray"):
        Learner(np.zeros((3, 2)))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"purpose": "fun"}, "purpose .*'learn' or 'best', .*'fun'"),
        ({"strategy": "worst"}, "strategy .*'active' or 'random', .*'worst'"),
    ],
)
def test_what_cannot_be_asked_is_refused_and_changes_nothing(options: dict[str, Any], message: str) -> None:
    learner = learner_of()
    with pytest.raises(ValueError, match=message):
        learner.ask(**options)
    assert learner.open_questions == ()
    assert learner.ask().number == 1


@pytest.mark.parametrize(
    ("question", "choice", "kind", "message"),
    [
        (Question(0, 1), "maybe", ValueError, "'left', 'right' or 'equal', .*'maybe'"),
        (Question(0, 1), "LEFT", ValueError, "an answer is"),
        (Question(0, 1), None, ValueError, "skip it"),
        (Question(0, 12), "left", ValueError, "trajectories 0 to 11, .*12"),
        (Question(0, 999), "left", ValueError, "trajectories 0 to 11, .*999"),
        ((0, 1), "left", TypeError, r"wanted a question, .*ask\(\)"),
        (None, "left", TypeError, "wanted a question"),
    ],
)
def test_bad_answers_are_refused_and_change_nothing(
    question: Any, choice: Any, kind: type[Exception], message: str
) -> None:
    learner = taught(1)
    open_before, answers_before = learner.open_questions, learner.answers
    with pytest.raises(kind, match=message):
        learner.tell(question, choice)
    assert (learner.open_questions, learner.answers) == (open_before, answers_before)


@pytest.mark.parametrize("model", [quick(margin=0.0), LinearPreference()], ids=["GP", "linear"])
def test_a_model_that_knows_no_equal_is_not_told_it(model: Any) -> None:
    learner = learner_of(model=model)
    question = learner.ask()
    with pytest.raises(ValueError, match=r"cannot learn from 'equal', .*positive margin"):
        learner.tell(question, "equal")
    assert learner.open_questions == (question,)
    learner.tell(question, "left")
    assert np.isfinite(rewards(learner)).all()


def test_its_representation_says_how_far_it_is() -> None:
    assert repr(taught(2)).startswith("Learner(12 trajectories, 2 answers, PreferenceGP(")


def test_bad_answers_of_an_earlier_session_are_refused() -> None:
    with pytest.raises(ValueError, match="trajectories 0 to 11"):
        Learner(pool(), answers=[Answer(Question(0, 50), "left")])


def test_the_diagnostics_count() -> None:
    learner = learner_of(seed=3)
    for choice in ("left", "equal", "right"):
        learner.tell(learner.ask(), choice)
    found = learner.reward().diagnostics
    assert {"answers": 3, "ties": 1, "skipped": 0, "seed": 3, "trajectories": 12}.items() <= found.items()
    assert found["model"] == repr(quick())
    assert (found["noise"], found["margin"]) == (0.1, 0.15)
