"""Learner: active preference learning with ask and tell.

What a learner believes depends on its answers alone, so it is rebuilt from them:
`Learner(pool, answers=...)`.
"""

import os
from collections.abc import Iterable, Sequence
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, overload

import numpy as np

from prefero._support.arrays import Indices
from prefero._support.frames import Rows
from prefero._support.names import HintsAtNames, listed
from prefero._support.optional import need
from prefero.acquisition.base import (
    PURPOSES,
    AnyAcquisitionFunction,
    Purpose,
    Strategy,
    acquisition_for,
    acquisition_named,
    check_strategy,
)
from prefero.acquisition.group_questions import About, check_about, check_group_question
from prefero.learner import learner_file
from prefero.learner.asked_questions import AskedQuestions
from prefero.learner.beliefs import Beliefs, Model, diagnostics_of
from prefero.learner.learner_file import LearnerFileError, LearnerState
from prefero.learner.question_chooser import QuestionChooser, most_informative_person
from prefero.learner.sources import KnownSource, known_source, worth_in_answers
from prefero.learner.surprises import Surprise, surprises_among
from prefero.models.explain.learning_progress import STEADY, Progress, progress_of
from prefero.models.people.posterior import PeoplePosterior
from prefero.models.posterior.gaussian import Distribution
from prefero.models.posterior.mixture import ENOUGH_ANSWERS
from prefero.models.preference_gp import PreferenceGP
from prefero.pools import knowing
from prefero.pools.pool import Pool
from prefero.questions import Answer, Question
from prefero.questions.answer import SOURCES
from prefero.questions.answer_kinds import Kind, allowed_kinds
from prefero.questions.answer_times import AnswerTimes
from prefero.questions.labels import count_evidence
from prefero.questions.prior_knowledge import CONFIDENCE, Better, Judgements, PriorKnowledge
from prefero.rewards.plots import plot_agreement, plot_learner
from prefero.rewards.reward import Reward
from prefero.trajectories.trajectory import Trajectory

if TYPE_CHECKING:
    from prefero.notebook.widget import LearnerWidget

REMEMBERED = 2 * STEADY  # progresses that are not computed again: a rule looks at those of the last answers
TELL, REWARD = 'learner.tell(question, "left")', "learner.reward()"
MEANT_BY = {
    **dict.fromkeys(("answer", "fit", "update"), TELL),
    **dict.fromkeys(("query", "suggest", "next_question", "question"), "learner.ask()"),
    **dict.fromkeys(("predict", "score"), f"{REWARD}.predict(features)"),
    **dict.fromkeys(("best", "rank"), f"{REWARD}.best(learner.pool)"),
    **dict.fromkeys(("posterior", "model"), "learner.belief()"),
    **dict.fromkeys(("done", "should_stop"), "learner.can_stop()"),
    "export": 'learner.save("learner.json")',
}


class Learner(HintsAtNames):
    """Asks the best questions about a pool, and learns the reward from the answers.

    Args:
        pool: The trajectories. It learns from the pool's labels too, from the first question on.
        seed: Decides the sides of questions, and random questions.
        model: How rewards are modelled. None is the default, Bayesian model averaging over structures;
            `PreferenceGP(...)` and `LinearPreference(...)` are others.
        acquisition: What makes a question good: "predictive-information" or "EPIG", "mutual-information" or
            "BALD", "best-information", "expected-utility" or "EUBO", "knowledge-gradient", "thompson-duel",
            another registered name, or an `AcquisitionFunction` of your own.
        answers: Of an earlier session, to continue it.
    """

    _meant_by = MEANT_BY

    def __init__(
        self,
        pool: Pool,
        *,
        seed: int = 0,
        model: Model | None = None,
        acquisition: AnyAcquisitionFunction | str = PURPOSES["learn"],
        answers: Iterable[Answer] = (),
    ) -> None:
        if not isinstance(pool, Pool):
            raise TypeError(f"a learner needs a prefero.Pool, but got {type(pool).__name__}: Pool(features)")
        if seed < 0:
            raise ValueError(f"the seed must be a whole number from 0 on, but is {seed!r}")
        self.pool = pool
        self.seed = int(seed)
        self.acquisition = acquisition_named(acquisition)
        self._beliefs = Beliefs(PreferenceGP() if model is None else model)
        self._beliefs.check_acquisition(self.acquisition)
        if pool.labels is not None:
            self._beliefs.check_kind(pool.labels.kind)
        self._beliefs.check_knowledge(pool)
        self._questions = AskedQuestions()
        self._file: Path | None = None
        self._progress: dict[tuple[tuple[Answer, ...], Pool], Progress] = {}  # shared with forks
        for answer in answers:
            self._tell_again(answer)

    @property
    def answers(self) -> tuple[Answer, ...]:
        """All answers, in the order of their questions."""
        return self._questions.answers

    @property
    def people(self) -> tuple[str, ...]:
        """The names of those who have answered, sorted; empty where nobody gave a name."""
        return self._questions.people

    @property
    def open_questions(self) -> tuple[Question, ...]:
        """Questions that wait for their answer."""
        return tuple(self._questions.open.values())

    @property
    def learns_from_ties(self) -> bool:
        """Whether "about equal" is an answer: not if the model has no margin, or the formula two answers."""
        try:
            self._beliefs.check_acquisition(self.acquisition, tied=True)
        except ValueError:
            return False
        return self._beliefs.learns_from_ties

    @property
    def file(self) -> Path | None:
        """The file that it was last saved to or loaded from, where `widget` saves every answer; or None."""
        return self._file

    def __repr__(self) -> str:
        model, given = self._beliefs.model, count_evidence(len(self.answers), len(self.pool.labels or ()))
        return f"Learner({len(self.pool)} trajectories, {given}, {model!r})"

    @overload
    def ask(
        self,
        purpose: Purpose | None = None,
        strategy: Strategy = "active",
        *,
        kind: Kind | Sequence[Kind] = "pair",
        count: None = None,
        person: str = "",
        about: About = "person",
        times: AnswerTimes | None = None,
    ) -> Question: ...

    @overload
    def ask(
        self,
        purpose: Purpose | None = None,
        strategy: Strategy = "active",
        *,
        kind: Kind | Sequence[Kind] = "pair",
        count: int,
    ) -> tuple[Question, ...]: ...

    def ask(
        self,
        purpose: Purpose | None = None,
        strategy: Strategy = "active",
        *,
        kind: Kind | Sequence[Kind] = "pair",
        count: int | None = None,
        person: str = "",
        about: About = "person",
        times: AnswerTimes | None = None,
    ) -> Question | tuple[Question, ...]:
        """The next question: the best by the learner's acquisition function.

        Args:
            purpose: Takes a built-in acquisition function instead: "learn" the predictive information, which
                learns the reward everywhere; "best" the information about which trajectory is best, which
                finds it soon.
            strategy: "active", or "random": every pair is equally likely, for comparison.
            kind: Of the answer: "pair", "strength", "best-of-3", "worst-of-3", "rank-3", up to 5; about one
                trajectory "success", or "rate-3" to "rate-7"; with "none" as an answer "pair-or-none",
                "best-or-none-3", "rank-or-none-3". Or several, such as ("pair", "rate-5"), and "auto" for the
                usual ones: the one whose answer tells most for the seconds that it takes this person.
                Functions of the moments of pairs, and formulas of the mutual information that are not exact,
                ask for "pair" and "strength" only. Of several trajectories, functions that find the best one
                take the expected utility of the best of them.
            count: Ask so many questions at once, which do not repeat each other: for people who answer
                later, or for several people.
            person: Who is asked, where several people answer.
            about: "person" takes the question that tells most about the person's own reward; "group" the
                pair whose answer by this person tells most about the reward that all people share, for
                acquisition functions that learn the reward.
            times: How long the person takes, where there are several kinds; None: as their answers say.

        Returns:
            The question, or with `count` a tuple of them; they stay open until answered or skipped.

        Raises:
            ValueError: If the acquisition function cannot score such questions.
        """
        check_strategy(strategy)
        kinds = allowed_kinds(kind)
        check_about(about)
        if count is not None and (person or about == "group"):
            raise ValueError(
                "questions that are asked several at once are for anybody: leave out person and about, and "
                "say who answered with tell(question, choice, person=...)"
            )
        if count is not None and len(kinds) > 1:
            raise ValueError(f"questions that are asked several at once are of one kind, not {kind!r}")
        acquisition = self.acquisition if purpose is None else acquisition_for(purpose)
        for one in kinds:
            self._beliefs.check_kind(one)
            if strategy == "active":
                self._beliefs.check_acquisition(acquisition, one)
                check_group_question(about, acquisition, one)
        beliefs, asked = self._beliefs, self._questions
        chooser = QuestionChooser(self.pool, asked, beliefs, acquisition, strategy, kinds, self.seed, times)
        return chooser.ask(person, about) if count is None else chooser.ask_several(count)

    def whom(self, people: Iterable[str]) -> str:
        """Which of these people to ask about the reward that all share: whose answer tells most about it.

        Args:
            people: Who is there to be asked.

        Returns:
            One of them; ask with `ask(person=..., about="group")`.
        """
        present = [str(person) for person in people]
        if not present:
            raise ValueError("whom() needs the names of the people who can be asked, but got none")
        self.belief()
        known, asked = self._beliefs.people, self._questions
        if known is None:
            return min(present, key=lambda name: sum(a.person == name for a in asked.answered.values()))
        return most_informative_person(known, present, self.pool.scaled, asked)

    def tell(
        self,
        question: Question,
        choice: str,
        *,
        person: str = "",
        seconds: float | None = None,
        source: str = "",
        because: str | None = None,
    ) -> None:
        """Learn from an answer. The same answer twice counts once.

        Args:
            question: A question of this learner.
            choice: "left", "right" or "equal"; for other kinds of questions see `prefero.questions`.
            person: Who answered, where several people do; "" takes the person who was asked.
            seconds: How long the answer took, from when the question was shown; None if that is not known.
                It is kept with the answer, and decides which kind `ask(kind="auto")` asks for.
            source: "labels" for an answer that nobody was asked for, which has a noise of its own.
            because: The feature that made the person choose so: more or less of it is better, as the answer
                says. The same answer again with another feature changes the reason, with "" takes it back,
                and with None leaves it as it is.

        Raises:
            AnswerConflict: If the question has another answer already.
            ValueError: If "equal" cannot be learned from, since the model has no margin or the acquisition
                function is a formula for two answers; if `seconds` is not a positive number; or if the two
                trajectories are equal in the feature that is the reason.
        """
        question = self._known(question)
        answer = self._questions.answer_to(question, choice, str(person), seconds, source, because)
        if answer.person in SOURCES[1:]:
            raise ValueError(
                f"{answer.person!r} is the name of what was known before any question: choose another name"
            )
        if answer.person in {one.judge for one in self.pool.knowledge.judgements}:
            raise ValueError(
                f"{answer.person!r} judges this pool: choose another name for the person, or tell what it "
                "says with learner.judge(...)"
            )
        self._beliefs.check_answer(answer, self._questions.answers)
        if answer.because:
            self._beliefs.check_reason(answer, self.pool)
        self._beliefs.check_acquisition(self.acquisition, tied=answer.tied)
        self._questions.tell(answer)

    def _tell_again(self, answer: Answer) -> None:
        self.tell(
            answer.question,
            answer.choice,
            person=answer.person,
            seconds=answer.seconds,
            source=answer.source,
            because=answer.because,
        )

    def skip(self, question: Question) -> None:
        """Leave a question unanswered; its pair is not asked again."""
        self._questions.skip(self._known(question))

    def reopen(self, question: Question) -> None:
        """Take back a skip: the question waits for its answer again."""
        self._questions.reopen(question.number)

    def undo(self) -> Answer:
        """Take back the last answer and return it; its question is open again."""
        return self._questions.undo()

    def add(self, trajectories: Trajectory | Rows) -> Indices:
        """Add trajectories to the pool, for example a plan; answers and belief do not change.

        Takes one trajectory or a batch, and returns their indices in `learner.pool`.
        """
        before = len(self.pool)
        self.pool = self.pool.extended(trajectories)
        return np.arange(before, len(self.pool))

    # --- what is known before the first question ----------------------------------------------------------

    def demonstrate(self, shown: knowing.Shown) -> None:
        """Learn from demonstrations: each is the best of itself and others that could have been shown.

        How clumsy the demonstrator is follows from the answers. In a world, plans near the demonstrated
        one count among those others. Of more than 16 demonstrations, 16 are chosen at random.

        Args:
            shown: Features, one row or several, or a table of them; trajectories of the pool's world, or a
                pool of them; an episode, or a dataset or its path, of which the pool's features are computed.
                They need not be in the pool: `learner.pool.features[[3, 8]]` are.
        """
        self._know(knowing.demonstrated(self.pool, shown))

    def prefer(self, better: knowing.Shown, worse: knowing.Shown) -> None:
        """Learn from corrections: what a person did is better than what a policy did in the same place.

        Args:
            better: What the person did, as in `demonstrate`.
            worse: What the policy did, as many rows.
        """
        self._know(knowing.corrected(self.pool, better, worse))

    def know(self, feature: str, better: Better, confidence: float = CONFIDENCE) -> None:
        """Learn from a statement: more of a feature is better, or less.

        If the answers contradict it, it is given up as a whole.

        Args:
            feature: Its name.
            better: "higher" or "lower".
            confidence: The probability that this is right, above 0.5.
        """
        self._know(knowing.directed(self.pool, feature, better, confidence))

    def judge(self, judgements: Judgements) -> None:
        """Learn from what a judge says of pairs, as from another person's answers.

        How far the judge's taste is the person's, and how reliable it is, follows from the answers of both.

        Args:
            judgements: All that this judge has said; they replace what it said before.
        """
        if judgements.judge in self.people:
            raise ValueError(
                f"{judgements.judge!r} answers questions here: choose another name for the judge"
            )
        self._know(self.pool.knowledge.judged(judgements))

    def sources(self, person: str | None = None) -> tuple[KnownSource, ...]:
        """How far each source of what was known before the first question is trusted, given the answers.

        Args:
            person: Whose answers, where several people have answered; None is all of them.

        Returns:
            For each source, how probably it is right.
        """
        belief = self.belief(person)
        answers = tuple(one for one in self.answers if person in (None, one.person))
        return tuple(known_source(part, self.pool, belief, answers) for part in self.pool.knowledge.parts)

    def worth_in_answers(self, source: str, name: str = "") -> int:
        """How many of the answers so far a source of what was known before has saved.

        With it, that many answers fewer predict as many further answers as all of them do without it. The
        model is fitted several times.

        Args:
            source: As in `sources`: "demonstration", "correction", "direction", "score" or "judge".
            name: Of the feature or the judge.
        """
        kept = self.pool.knowledge.without(source, name)
        if len(kept.parts) == len(self.pool.knowledge.parts):
            known = listed([f"{part.source} {part.name}".strip() for part in self.pool.knowledge.parts])
            raise ValueError(f"nothing is known from {f'{source} {name}'.strip()!r}, but from {known}")

        def expected(pool: Pool, count: int) -> float:
            belief = Beliefs(self._beliefs.model).given(self.answers[:count], pool)
            return progress_of(belief, pool.scaled, count).accuracy

        without = expected(self.pool.knowing(kept), len(self.answers))
        return worth_in_answers(len(self.answers), lambda count: expected(self.pool, count), without)

    def _know(self, knowledge: PriorKnowledge) -> None:
        pool = self.pool.knowing(knowledge)
        self._beliefs.check_knowledge(pool)
        self.pool = pool
        self._beliefs.forget()

    def fork(self) -> Self:
        """An independent copy with the same answers and no open questions."""
        other = copy(self)
        other._beliefs, other._questions = self._beliefs.copy(), self._questions.without_open()
        other._file = None
        return other

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the learner to a JSON file, whole or not at all: its pool, model, questions and answers.

        `Learner.load` reads it, and asks exactly the same next question.

        Args:
            path: The file, for example `learner.json`.
        """
        # a belief that was fitted answer by answer differs by rounding from one that is fitted to all at once
        self._beliefs.forget()
        state = LearnerState(self.pool, self.seed, self._beliefs.model, self.acquisition, self._questions)
        learner_file.write(Path(path), state)
        self._file = Path(path)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        model: Model | None = None,
        acquisition: AnyAcquisitionFunction | str | None = None,
    ) -> Self:
        """What `save` wrote: a learner that asks the same next question.

        Args:
            path: The file.
            model: A model of your own, which is not in the file.
            acquisition: An acquisition function of your own, likewise.

        Raises:
            LearnerFileError: If the file is damaged or of another kind, or lacks what is your own.
        """
        state = learner_file.read(Path(path), model, acquisition)
        assert state.acquisition is not None
        learner = cls(
            state.pool,
            seed=state.seed,
            model=state.model,
            acquisition=state.acquisition,
        )
        try:
            learner._continue(state.questions)
        except ValueError as error:
            raise LearnerFileError(f"{path} is damaged: {error}") from error
        learner._file = Path(path)
        return learner

    def _continue(self, stored: AskedQuestions) -> None:
        """Ask, tell and skip as it was done before, so that all of it is checked again."""
        for answer in stored.answered.values():
            self._tell_again(answer)
        for question in stored.skipped.values():
            self.skip(question)
        self._questions.wait_for(map(self._known, stored.open.values()), stored.last_number)
        self._questions.persons = stored.persons

    def reward(self, person: str | None = None) -> Reward:
        """The reward learned so far.

        Args:
            person: Whose, where several people have answered; None is the reward that they share. The reward
                of somebody who has not answered yet is what the others tell of it.

        Returns:
            The reward.

        Raises:
            ValueError: If the model learns one reward of several people, and a person's own is wanted.
        """
        belief, pool = self.belief(person), self.pool
        model = repr(self._beliefs.model)
        about = diagnostics_of(belief, self._questions, pool, person, model=model, seed=self.seed)
        whose = {} if person is None else {"person": person}
        return Reward(belief, whose | about, pool.feature_spec)

    def progress(self) -> Progress:
        """How many further answers are predicted, and what five more answers are likely to add."""
        key = self.answers, self.pool
        if key not in self._progress:
            found = progress_of(self.belief(), self.pool.scaled, len(self.answers))
            self._progress[key] = found
            while len(self._progress) > REMEMBERED:
                self._progress.pop(next(iter(self._progress)))
        return self._progress[key]

    def can_stop(self) -> bool:
        """Whether five more answers would change little, now and after each of the last two answers.

        There are at least ten answers, and five more are expected to raise the accuracy by less than half a
        percentage point. Labels that nobody was asked for are no answers here.
        """
        earlier = self.fork()
        for left in reversed(range(STEADY)):
            if not earlier.progress().can_stop:
                return False
            if left:
                earlier.undo()
        return True

    def surprises(self, most: int = 3) -> list[Surprise]:
        """The answers that are improbable given all others, perhaps slips; the most improbable first."""
        answers = self.answers
        if len(answers) < ENOUGH_ANSWERS:
            return []
        return surprises_among(answers, self._beliefs.leave_one_out(answers, self.pool))[:most]

    def plot(self) -> Any:
        """The best trajectories and the reward along each feature, as a matplotlib figure.

        Marks below a curve are the trajectories that were compared. Save it with `.savefig("learned.png")`.

        Returns:
            A matplotlib figure; it needs the extra `plots`.
        """
        pool = self.pool
        best = self.reward().diverse_best(pool)
        compared = sorted({item for answer in self.answers for item in answer.question.items})
        labels = pool.ids_of(best.tolist()) or [f"no. {index}" for index in best.tolist()]
        x = pool.scaled
        return plot_learner(self.belief(), pool.scaling, x, x[compared], best, labels, pool)

    def widget(
        self,
        questions: int = 30,
        until: float | None = None,
        purpose: Purpose | None = None,
        *,
        kind: Kind | Sequence[Kind] = "pair",
        words: Sequence[str] = (),
    ) -> "LearnerWidget":
        """A widget for notebooks in which a person answers this learner's questions, as on the page.

        If the learner has a `file`, every answer is saved there.

        Args:
            questions: How many answers you plan to give; you may continue after them.
            until: The fraction of predicted answers at which to stop asking, for example 0.9.
            purpose: As in `ask`.
            kind: Of the answers, as in `ask`.
            words: For the levels of a label, the lowest first, such as `["poor", "fair", "good"]` for
                "rate-3"; the usual ones, if none are given.

        Returns:
            The widget, which a notebook shows as the last value of a cell; it needs the extra `notebook`.
        """
        need("anywidget", extra="notebook")
        from prefero.notebook.teaching import Teaching
        from prefero.notebook.widget import LearnerWidget

        return LearnerWidget(Teaching(self, questions, until, purpose, kind, words))

    def belief(self, person: str | None = None) -> Distribution:
        """What is believed about the reward after all answers; the last good belief, should a fit fail.

        Args:
            person: About whose reward, where several people have answered; None is the one that they share.

        Returns:
            The posterior.

        Raises:
            ValueError: If the model learns one reward of several people, and a person's own is wanted.
        """
        return self._beliefs.of(person, self.answers, self.pool)

    def people_belief(self) -> PeoplePosterior:
        """What is believed about everybody: rewards, how each one answers, and how alike people are.

        Raises:
            ValueError: If fewer than two people have answered, or the model does not tell them apart.
        """
        return self._beliefs.of_people(self.answers, self.pool)

    def plot_agreement(self) -> Any:
        """How alike people are, as a matplotlib figure: on how many pairs they probably agree.

        Returns:
            A matplotlib figure; it needs the extra `plots`.
        """
        people = self.people_belief()
        places = [place for place, name in enumerate(people.names) if name not in SOURCES[1:]]
        agreement = people.agreement(self.pool.scaled)[np.ix_(places, places)]
        return plot_agreement(agreement, [people.names[place] for place in places])

    def _known(self, question: Question) -> Question:
        """The question with a number, after checking that it is one about this pool."""
        if not isinstance(question, Question):
            raise TypeError(f"wanted a question, as ask() returns it, but got {question!r}")
        for item in question.items:
            self.pool.check_index(item)
        return self._questions.numbered(question)
