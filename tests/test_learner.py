"""The learner: asking, telling, skipping and undoing, in any order, and what it does when a fit fails."""

import warnings
from collections import Counter
from itertools import permutations
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from scipy import stats

import reference
from prefero import Answer, Learner, LinearPreference, Pool, PreferenceGP, Question, information_gain
from prefero._support.arrays import Array
from prefero.acquisition.base import Purpose, Strategy
from prefero.acquisition.best_information import BestInformation
from prefero.acquisition.expected_utility import ExpectedUtility
from prefero.acquisition.mutual_information import MutualInformation
from prefero.acquisition.pool_search import best_question
from prefero.kernels import RBF, Anchored
from prefero.learner import AnswerConflict
from prefero.models.learning_progress import likely_accuracy
from prefero.models.solution import ConvergenceError
from prefero.questions import PairChoice

WANTED = np.array([1.0, -0.7])


def pool(rows: int = 12, seed: int = 0) -> Pool:
    return Pool(np.random.default_rng(seed).standard_normal((rows, 2)), ["speed", "distance"])


def quick(**changed: Any) -> PreferenceGP:
    """One Gaussian process with everything fixed: milliseconds a fit."""
    settled = {"kernel": Anchored(RBF(theta=0.4), (0.0, 0.0)), "noise": 0.1, "margin": 0.15, "learn": False}
    return PreferenceGP(**{**settled, **changed})


def learner_of(rows: int = 12, seed: int = 0, **options: Any) -> Learner:
    return Learner(pool(rows), seed=seed, **{"model": quick(), **options})


def choice_of(question: Question, shown: Pool) -> PairChoice:
    """An answer without noise."""
    reward = shown.scaled @ WANTED
    return "left" if reward[question.left] > reward[question.right] else "right"


def taught(questions: int, rows: int = 12, seed: int = 0, **options: Any) -> Learner:
    learner = learner_of(rows, seed, **options)
    for _ in range(questions):
        question = learner.ask()
        learner.tell(question, choice_of(question, learner.pool))
    return learner


def rewards(learner: Learner) -> Array:
    return learner.reward()(learner.pool.features)


def pair(question: Question) -> tuple[int, int]:
    return min(question.left, question.right), max(question.left, question.right)


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
    parts = [reference.Part(1.0, mean, covariance, 0.1)]
    expected, bits = reference.best_pair(reference.pair_bits, parts)
    question = learner.ask()
    assert pair(question) == expected
    assert question.value == pytest.approx(bits, abs=1e-5)


def test_the_question_of_the_largest_expected_utility_has_the_highest_expected_maximum() -> None:
    learner = taught(4, model=quick(margin=0.0))
    mean, covariance = learner.belief()(learner.pool.scaled)
    parts = [reference.Part(1.0, mean, covariance, 0.1)]
    expected, utility = reference.best_pair(reference.pair_utility, parts)
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


# --- the same from the same -------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [None, quick(), LinearPreference(draws=30)], ids=["belief", "GP", "linear"])
def test_the_seed_decides_everything(model: Any) -> None:
    first, again = (taught(6, seed=5, model=model) for _ in range(2))
    assert first.answers == again.answers
    np.testing.assert_array_equal(rewards(first), rewards(again))


def test_a_learner_does_not_touch_the_model_it_was_given() -> None:
    model = quick()
    taught(3, model=model)
    assert not hasattr(model, "posterior_")
    two = [learner_of(model=model) for _ in range(2)]
    two[0].tell(two[0].ask(), "left")
    assert np.allclose(rewards(two[1]), 0.0)


@pytest.mark.parametrize(
    ("model", "seed"), [*((None, seed) for seed in range(3)), *((quick(), seed) for seed in range(8))]
)
def test_rebuilt_from_its_answers_it_asks_the_same_next_question(model: Any, seed: int) -> None:
    learner = taught(5, rows=20, seed=seed, model=model)
    rebuilt = Learner(learner.pool, seed=seed, model=model, answers=learner.answers)
    assert rebuilt.answers == learner.answers
    np.testing.assert_allclose(rewards(rebuilt), rewards(learner), atol=1e-4)
    assert rebuilt.ask() == learner.ask()
    assert rebuilt.ask(strategy="random") == learner.ask(strategy="random")


@pytest.mark.parametrize("order", [(3, 2, 1, 0), (1, 3, 0, 2)])
@pytest.mark.parametrize("model", [None, quick()], ids=["belief", "GP"])
def test_late_answers_in_any_order_come_to_the_same(order: tuple[int, ...], model: Any) -> None:
    straight, crossed = (learner_of(model=model) for _ in range(2))
    questions = [straight.ask() for _ in range(4)]
    assert [crossed.ask() for _ in range(4)] == questions
    for question in questions:
        straight.tell(question, choice_of(question, straight.pool))
    for number in order:
        crossed.tell(questions[number], choice_of(questions[number], crossed.pool))
        rewards(crossed)  # look in between, too
    assert crossed.answers == straight.answers
    np.testing.assert_allclose(rewards(crossed), rewards(straight), atol=1e-4)
    assert crossed.ask() == straight.ask()


def test_told_twice_alike_is_told_once() -> None:
    learner = taught(2)
    before, answers = rewards(learner), learner.answers
    learner.tell(answers[0].question, answers[0].choice)
    assert learner.answers == answers
    np.testing.assert_array_equal(rewards(learner), before)


def test_told_twice_differently_is_a_conflict_that_changes_nothing() -> None:
    learner = learner_of()
    question = learner.ask()
    learner.tell(question, "left")
    with pytest.raises(AnswerConflict, match=r"was answered 'left' before, and now 'right': undo the first"):
        learner.tell(question, "right")
    assert [answer.choice for answer in learner.answers] == ["left"]


def test_one_number_cannot_stand_for_two_questions() -> None:
    learner = learner_of()
    question = learner.ask()
    other = [i for i in range(12) if i not in (question.left, question.right)]
    stranger = Question(other[0], other[1], number=question.number)
    for _ in range(2):  # while it is open, and when it was answered
        with pytest.raises(ValueError, match=f"{stranger.left} and {stranger.right}"):
            learner.tell(stranger, "left")
        learner.tell(question, "left")
    assert learner.answers == (Answer(question, "left"),)


def test_answers_to_questions_of_ones_own_count_each() -> None:
    learner = learner_of()
    learner.tell(Question(0, 1), "left")
    learner.tell(Question(0, 1), "right")
    assert [answer.question.number for answer in learner.answers] == [1, 2]
    assert learner.ask().number == 3


def test_answers_may_carry_numbers_of_another_session() -> None:
    learner = learner_of()
    learner.tell(Question(3, 4, number=17), "equal")
    learner.tell(Question(1, 2, number=5), "left")
    assert [answer.question.number for answer in learner.answers] == [5, 17]
    assert learner.ask().number == 18


# --- open, skipped, undone --------------------------------------------------------------------------------


@pytest.mark.parametrize("purpose", ["learn", "best"])
def test_open_questions_do_not_repeat_each_other(purpose: Purpose) -> None:
    learner = learner_of(5)
    asked = [learner.ask(purpose) for _ in range(10)]
    assert len({pair(question) for question in asked}) == 10
    with pytest.raises(ValueError, match="nothing is left to ask"):
        learner.ask(purpose)
    assert learner.open_questions == tuple(asked)


def test_an_open_question_changes_what_is_asked_next() -> None:
    """Its likely answer is imagined, so that the next question is not about nearly the same."""
    learner = taught(3, rows=40, acquisition="mutual-information")
    x = learner.pool.scaled
    first, second = learner.ask(), learner.ask()
    bits = information_gain(*learner.belief()(x), 0.1, margin=0.15)
    runner_up = np.argsort(-np.triu(bits, 1), axis=None)[1]
    assert pair(second) != tuple(int(i) for i in np.unravel_index(runner_up, bits.shape))
    assert second.value < first.value


@pytest.mark.parametrize("strategy", ["active", "random"])
def test_skipped_pairs_are_not_asked_again(strategy: Strategy) -> None:
    learner = learner_of(5)
    seen = set()
    for _ in range(10):
        question = learner.ask(strategy=strategy)
        learner.skip(question)
        seen.add(pair(question))
    assert len(seen) == 10
    assert learner.open_questions == ()
    with pytest.raises(ValueError, match="nothing is left to ask"):
        learner.ask(strategy=strategy)


def test_skipping_teaches_nothing_and_is_counted() -> None:
    learner = learner_of()
    learner.skip(learner.ask())
    assert learner.answers == ()
    assert learner.reward().diagnostics["skipped"] == 1
    np.testing.assert_array_equal(rewards(learner), np.zeros(12))


def test_a_skipped_question_may_be_answered_after_all() -> None:
    learner = learner_of()
    question = learner.ask()
    learner.skip(question)
    learner.skip(question)
    learner.tell(question, "right")
    assert learner.answers == (Answer(question, "right"),)
    assert learner.reward().diagnostics["skipped"] == 0


def test_a_skip_can_be_taken_back() -> None:
    learner = Learner(pool(), model=quick())
    question = learner.ask()
    learner.skip(question)
    learner.reopen(question)
    assert learner.open_questions == (question,)
    assert learner.reward().diagnostics["skipped"] == 0
    with pytest.raises(ValueError, match="was not skipped"):
        learner.reopen(question)


def test_a_model_without_a_margin_does_not_learn_from_ties() -> None:
    assert Learner(pool(), model=quick()).learns_from_ties
    assert not Learner(pool(), model=quick(margin=0.0)).learns_from_ties


def test_an_answered_question_cannot_be_skipped() -> None:
    learner = taught(1)
    with pytest.raises(AnswerConflict, match="answered already: undo that answer to skip it"):
        learner.skip(learner.answers[0].question)
    assert len(learner.answers) == 1


@pytest.mark.parametrize("model", [None, quick()], ids=["belief", "GP"])
def test_undo_takes_back_the_last_answer_and_opens_its_question(model: Any) -> None:
    learner = taught(4, model=model)
    before = rewards(learner)
    question = learner.ask()
    learner.tell(question, "left")
    rewards(learner)
    assert learner.undo() == Answer(question, "left")
    assert learner.open_questions == (question,)
    np.testing.assert_allclose(rewards(learner), before, atol=1e-4)
    learner.tell(question, "right")
    assert learner.answers[-1] == Answer(question, "right")


def test_undo_goes_back_in_the_order_of_telling() -> None:
    learner = learner_of()
    first, second, third = (learner.ask() for _ in range(3))
    for question in (second, third, first):
        learner.tell(question, "left")
    assert [learner.undo().question for _ in range(3)] == [first, third, second]


def test_there_may_be_nothing_to_undo() -> None:
    with pytest.raises(ValueError, match="there is no answer to take back"):
        learner_of().undo()


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
    with pytest.warns(UserWarning, match="could not be fitted and stays as it was"):
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
    with pytest.raises(TypeError, match=r"needs a prefero.Pool, but got ndarray: Pool\(features\)"):
        Learner(np.zeros((3, 2)))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"purpose": "fun"}, "purpose must be 'learn' or 'best', but is 'fun'"),
        ({"strategy": "worst"}, "strategy must be 'active' or 'random', but is 'worst'"),
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
        (Question(0, 1), "maybe", ValueError, "an answer is 'left', 'right' or 'equal', but this is 'maybe'"),
        (Question(0, 1), "LEFT", ValueError, "an answer is"),
        (Question(0, 1), None, ValueError, "to leave a question unanswered, skip it"),
        (Question(0, 12), "left", ValueError, "the pool has trajectories 0 to 11, but this is 12"),
        (Question(0, 999), "left", ValueError, "the pool has trajectories 0 to 11, but this is 999"),
        ((0, 1), "left", TypeError, r"wanted a question, as ask\(\) returns it"),
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
    with pytest.raises(
        ValueError, match="cannot learn from 'equal', since its margin is 0: give it a positive margin"
    ):
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


# --- anything may happen ----------------------------------------------------------------------------------


class Session(RuleBasedStateMachine):
    """A person who asks, answers, repeats, skips and undoes in any order."""

    @initialize(seed=st.integers(0, 20))
    def begin(self, seed: int) -> None:
        self.learner = learner_of(7, seed)
        self.asked: list[Question] = []
        self.expected: dict[int, str] = {}
        self.skipped = 0

    @precondition(lambda self: len(self.learner.open_questions) + self.skipped < 21)
    @rule(purpose=st.sampled_from([None, "learn", "best"]), strategy=st.sampled_from(["active", "random"]))
    def ask(self, purpose: Purpose | None, strategy: Strategy) -> None:
        self.asked.append(self.learner.ask(purpose, strategy))

    @precondition(lambda self: self.learner.open_questions)
    @rule(data=st.data(), choice=st.sampled_from(["left", "right", "equal"]))
    def tell(self, data: st.DataObject, choice: PairChoice) -> None:
        question = data.draw(st.sampled_from(self.learner.open_questions))
        self.learner.tell(question, choice)
        self.expected[question.number] = choice

    @precondition(lambda self: self.expected)
    @rule(data=st.data(), choice=st.sampled_from(["left", "right", "equal"]))
    def tell_again(self, data: st.DataObject, choice: PairChoice) -> None:
        number = data.draw(st.sampled_from(sorted(self.expected)))
        question = next(question for question in self.asked if question.number == number)
        if choice == self.expected[number]:
            self.learner.tell(question, choice)
        else:
            with pytest.raises(AnswerConflict):
                self.learner.tell(question, choice)

    @precondition(lambda self: self.learner.open_questions)
    @rule(data=st.data())
    def skip(self, data: st.DataObject) -> None:
        self.learner.skip(data.draw(st.sampled_from(self.learner.open_questions)))
        self.skipped += 1

    @precondition(lambda self: self.expected)
    @rule()
    def undo(self) -> None:
        answer = self.learner.undo()
        assert self.expected.pop(answer.question.number) == answer.choice

    @invariant()
    def the_learner_knows_exactly_what_it_was_told(self) -> None:
        told = {answer.question.number: answer.choice for answer in self.learner.answers}
        assert told == self.expected
        assert list(told) == sorted(told)

    @invariant()
    def the_reward_is_finite(self) -> None:
        mean, deviation = self.learner.reward().predict(self.learner.pool.features, return_std=True)
        assert np.isfinite(mean).all()
        assert np.isfinite(deviation).all()


TestSession = Session.TestCase
TestSession.settings = settings(max_examples=15, stateful_step_count=15)


def test_a_fork_goes_its_own_way() -> None:
    learner = Learner(Pool(np.random.default_rng(0).normal(size=(30, 2))), seed=1)
    for _ in range(3):
        learner.tell(learner.ask(), "left")
    before = learner.reward()(learner.pool.features)
    waiting = learner.ask()
    fork = learner.fork()
    assert fork.answers == learner.answers
    assert fork.open_questions == ()
    fork.tell(waiting, "right")
    fork.skip(fork.ask())
    assert not np.allclose(fork.reward()(learner.pool.features), before)
    assert learner.open_questions == (waiting,)
    assert len(learner.answers) == 3
    np.testing.assert_array_equal(learner.reward()(learner.pool.features), before)


# --- what it expects of itself ----------------------------------------------------------------------------


def told(count: int, flipped: int | None = None) -> Learner:
    """Random questions about a linear reward; one answer may be the wrong way round."""
    pool = Pool(np.random.default_rng(2).standard_normal((60, 2)), ["speed", "height"])
    learner, rng = Learner(pool), np.random.default_rng(3)
    for number in range(1, count + 1):
        left, right = (int(i) for i in rng.choice(60, 2, replace=False))
        better = pool.features[left] @ [2.0, -1.0] > pool.features[right] @ [2.0, -1.0]
        learner.tell(Question(left, right), "left" if better != (number == flipped) else "right")
    return learner


def test_progress_is_the_accuracy_of_its_belief_with_an_interval() -> None:
    learner = told(12)
    progress = learner.progress()
    assert progress.answers == 12
    assert progress.accuracy == likely_accuracy(learner.belief(), learner.pool.scaled)
    assert 0.0 < progress.gain < 0.2
    assert 0.5 < progress.low < progress.accuracy < progress.high < 1.0
    assert not progress.is_early
    assert str(progress) == (
        f"it would predict about {progress.accuracy:.0%} of further answers "
        f"(90% sure: between {progress.low:.0%} and {progress.high:.0%}), and {progress.outlook}"
    )


def test_early_progress_claims_nothing() -> None:
    assert told(4).progress().is_early
    assert str(told(1).progress()).startswith("it is too early to say how many further answers")
    assert not told(5).progress().is_early


def test_a_slip_is_the_greatest_surprise() -> None:
    learner = told(25, flipped=5)
    first, *others = learner.surprises()
    assert first.answer.question.number == 5
    assert first.probability < 0.1
    assert [one.probability for one in others] == sorted(one.probability for one in others)
    assert len(learner.surprises(most=1)) == 1


def test_consistent_answers_surprise_nobody() -> None:
    assert told(25).surprises() == []
    assert told(4, flipped=2).surprises() == []  # too early
