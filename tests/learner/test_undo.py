"""Open, skipped and undone questions of a learner, one by one and in any sequence."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from prefero import Answer, Learner, PreferenceGP, Question, information_gain
from prefero.acquisition.base import Purpose, Strategy
from prefero.learner import AnswerConflict
from prefero.questions import PairChoice
from prefero.questions.answer_kinds import Kind, choices_of
from taught_learners import learner_of, pair, pool, quick, rewards, taught

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
    with pytest.raises(AnswerConflict, match="answered already: undo"):
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


@pytest.mark.parametrize("kind", ["pair", "strength", "best-of-3", "worst-of-3", "rank-3"])
def test_a_learner_whose_only_answer_was_undone_knows_nothing_and_learns_again(
    kind: Kind, tmp_path: Path
) -> None:
    learner = Learner(pool(), model=PreferenceGP(noise=0.3, learn=False))
    question = learner.ask(strategy="random", kind=kind)
    learner.tell(question, choices_of(kind)[0])
    once = rewards(learner)
    fork = learner.fork()
    learner.save(tmp_path / "learner.json")
    for each in (learner, fork, Learner.load(tmp_path / "learner.json")):
        np.testing.assert_allclose(rewards(each), once, atol=1e-4)
        each.undo()
        np.testing.assert_array_equal(rewards(each), np.zeros(12))
        each.tell(question, choices_of(kind)[0])
        np.testing.assert_allclose(rewards(each), once, atol=1e-4)


@pytest.mark.parametrize("people", [("ann",), ("ann", "ben")])
def test_undo_of_everybodys_only_answers(people: tuple[str, ...]) -> None:
    """Of one person, or of two, whose answers leave the joint model one after the other."""
    learner = Learner(pool(), model=PreferenceGP(noise=0.3, learn=False))
    for person in people:
        learner.tell(learner.ask(strategy="random"), "left", person=person, seconds=2.0)
        rewards(learner)
    while learner.answers:
        learner.undo()
        rewards(learner)
    np.testing.assert_array_equal(rewards(learner), np.zeros(12))


def test_undo_goes_back_in_the_order_of_telling() -> None:
    learner = learner_of()
    first, second, third = (learner.ask() for _ in range(3))
    for question in (second, third, first):
        learner.tell(question, "left")
    assert [learner.undo().question for _ in range(3)] == [first, third, second]


def test_there_may_be_nothing_to_undo() -> None:
    with pytest.raises(ValueError, match="no answer to take back"):
        learner_of().undo()


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
