"""Learner: active preference learning with ask and tell.

    open         questions that were asked and wait for their answer
    skipped      questions that the person would rather not answer; their pairs are not asked again
    number       every question has its own, so that an answer may come late, out of order, or twice

What a learner believes depends on its answers alone, so it is rebuilt from them:
`Learner(pool, answers=...)`.
"""

import os
import warnings
from collections.abc import Iterable
from copy import copy, deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self, overload

import numpy as np

from prefero import learner_file
from prefero._support.arrays import Array, Indices
from prefero._support.frames import Rows
from prefero._support.names import no_attribute, shortened
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
from prefero.acquisition.group_questions import About, best_group_question, check_about
from prefero.acquisition.imagined_answers import ImaginedAnswers, likely_answer
from prefero.acquisition.mutual_information import MutualInformation
from prefero.acquisition.pool_search import best_question, score_question
from prefero.acquisition.random_question import random_question
from prefero.acquisition.set_search import best_set
from prefero.learner_file import LearnerFileError, LearnerState, unfitted
from prefero.models.learning_progress import Progress, progress_of
from prefero.models.leave_one_out import leave_one_out
from prefero.models.mixture import ENOUGH_ANSWERS, MixturePosterior
from prefero.models.people import PeoplePosterior, PersonPosterior
from prefero.models.posterior import Distribution
from prefero.models.preference_gp import PreferenceGP
from prefero.models.solution import ConvergenceError
from prefero.pools.pool import Pool
from prefero.questions import Answer, Comparisons, Question
from prefero.questions.answer_kinds import Kind, check_kind, items_of
from prefero.reward import Reward
from prefero.reward_plots import plot_agreement, plot_learner
from prefero.trajectories.trajectory import Trajectory

if TYPE_CHECKING:
    from prefero.notebook.widget import LearnerWidget

SURPRISING = 0.25  # an answer that is less probable than this, given all others, may be a slip


TELL, REWARD = 'learner.tell(question, "left")', "learner.reward()"
GUESSES = {  # names that people try first, with what they mean
    **dict.fromkeys(("answer", "respond", "update", "fit", "observe", "record", "add_answer"), TELL),
    **dict.fromkeys(("query", "next", "next_question", "suggest", "question", "propose"), "learner.ask()"),
    **dict.fromkeys(("predict", "score", "predict_proba"), f"{REWARD}.predict(features)"),
    **dict.fromkeys(("best", "rank"), f"{REWARD}.best(learner.pool)"),
    **dict.fromkeys(("posterior", "model"), "learner.belief()"),
    **dict.fromkeys(("done", "is_done", "should_stop", "converged"), "learner.progress().reaches(0.9)"),
    **dict.fromkeys(("to_json", "dump", "export"), 'learner.save("learner.json")'),
}


class Model(Protocol):
    """What a learner needs of a model: `PreferenceGP` or `LinearPreference`."""

    posterior_: Distribution

    def fit_comparisons(self, data: Comparisons, reference: Array | None = None) -> Self:
        """Learn from answers about trajectories of a pool, whose features, (M, d), are the reference."""


@dataclass(frozen=True)
class Surprise:
    """An answer, and how probable the model finds it given all other answers.

    Args:
        answer: The answer.
        probability: How probable the model finds it.
    """

    answer: Answer
    probability: float


class AnswerConflict(ValueError):
    """A question was answered twice, and differently."""


class Learner:
    """Asks the best questions about a pool, and learns the reward from the answers.

    Args:
        pool: The trajectories.
        seed: Decides the sides of questions, and random questions.
        model: How rewards are modelled. None is the default, Bayesian model averaging over structures;
            `PreferenceGP(...)` and `LinearPreference(...)` are others.
        acquisition: What makes a question good: "predictive-information" (EPIG), "mutual-information"
            (BALD), "best-information", "expected-utility" (EUBO), "knowledge-gradient", "thompson-duel",
            another registered name, or an `AcquisitionFunction` of your own.
        answers: Of an earlier session, to continue it.
    """

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
        self._model: Model = PreferenceGP() if model is None else deepcopy(model)
        self._fantasy_model: Model = deepcopy(self._model)
        self._told: dict[int, Answer] = {}  # in the order in which they came
        self._open: dict[int, Question] = {}
        self._skipped: dict[int, Question] = {}
        self._numbers = 0
        self._belief: tuple[tuple[Answer, ...], Distribution] | None = None
        self._people: PeoplePosterior | None = None  # that belongs to the belief
        self._whom: dict[int, str] = {}  # who was asked a question
        self._warned = False
        self._file: Path | None = None
        for answer in answers:
            self.tell(answer.question, answer.choice, person=answer.person)

    if not TYPE_CHECKING:  # to a type checker, any attribute would be there

        def __getattr__(self, name: str) -> Any:
            """Called only for what a learner does not have: the error says what is meant."""
            raise no_attribute("Learner", name, dir(type(self)), GUESSES)

    @property
    def answers(self) -> tuple[Answer, ...]:
        """All answers, in the order of their questions."""
        return tuple(self._told[number] for number in sorted(self._told))

    @property
    def people(self) -> tuple[str, ...]:
        """The names of those who have answered, sorted; empty where nobody gave a name."""
        return tuple(sorted({answer.person for answer in self._told.values() if answer.person}))

    @property
    def open_questions(self) -> tuple[Question, ...]:
        """Questions that wait for their answer."""
        return tuple(self._open.values())

    @property
    def learns_from_ties(self) -> bool:
        """Whether its model can learn from "about equal": not if the model has no margin."""
        return getattr(self._model, "margin", None) != 0

    @property
    def file(self) -> Path | None:
        """The file that it was last saved to or loaded from, where `widget` saves every answer; or None."""
        return self._file

    def __repr__(self) -> str:
        return f"Learner({len(self.pool)} trajectories, {len(self._told)} answers, {self._model!r})"

    @overload
    def ask(
        self,
        purpose: Purpose | None = None,
        strategy: Strategy = "active",
        *,
        kind: Kind = "pair",
        count: None = None,
        person: str = "",
        about: About = "person",
    ) -> Question: ...

    @overload
    def ask(
        self,
        purpose: Purpose | None = None,
        strategy: Strategy = "active",
        *,
        kind: Kind = "pair",
        count: int,
        person: str = "",
        about: About = "person",
    ) -> tuple[Question, ...]: ...

    def ask(
        self,
        purpose: Purpose | None = None,
        strategy: Strategy = "active",
        *,
        kind: Kind = "pair",
        count: int | None = None,
        person: str = "",
        about: About = "person",
    ) -> Question | tuple[Question, ...]:
        """The next question: the best by the learner's acquisition function.

        Args:
            purpose: Takes a built-in acquisition function instead: "learn" the predictive information, which
                learns the reward everywhere; "best" the information about which trajectory is best, which
                finds it soon.
            strategy: "active", or "random": every pair is equally likely, for comparison.
            kind: Of the answer: "pair", "strength", "best-of-3", "worst-of-3", "rank-3", up to 5.
            count: Ask so many questions at once, which do not repeat each other: for people who answer
                later, or for several people.
            person: Who is asked, where several people answer.
            about: "person" takes the question that tells most about the person's own reward; "group" the
                pair whose answer by this person tells most about the reward that all people share.

        Returns:
            The question, or with `count` a tuple of them; they stay open until answered or skipped.
        """
        check_strategy(strategy)
        check_kind(kind)
        check_about(about)
        acquisition = self.acquisition if purpose is None else acquisition_for(purpose)
        if count is not None:
            return self._ask_jointly(acquisition, strategy, kind, count)
        belief = self._belief_for_asking(person)
        if about == "group" and strategy == "active" and self._people is not None:
            question = self._ask_about_group(self._people, person)
        else:
            question = self._asked(belief, acquisition, strategy, kind)
        if person:
            self._whom[question.number] = person
        return question

    def _ask_about_group(self, people: PeoplePosterior, person: str) -> Question:
        number = self._numbers + 1
        found = best_group_question(people, person, self.pool.scaled, self._unavailable(2))
        items = _shuffled(found.items, np.random.default_rng([self.seed, number]))
        self._numbers, self._open[number] = number, Question(*items, value=found.value, number=number)
        return self._open[number]

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
        known, x = self._people, self.pool.scaled
        if known is None:
            return min(present, key=lambda name: sum(a.person == name for a in self._told.values()))
        bits = {name: best_group_question(known, name, x, self._unavailable(2)).value for name in present}
        return max(bits, key=lambda name: bits[name])

    def _asked(
        self, belief: Distribution, acquisition: AnyAcquisitionFunction, strategy: Strategy, kind: Kind
    ) -> Question:
        """The next question, which is open from now on."""
        number = self._numbers + 1
        rng = np.random.default_rng([self.seed, number])
        question = self._chosen(belief, acquisition, strategy, kind, rng)
        return self._opened(question, belief, acquisition, rng)

    def _chosen(
        self,
        belief: Distribution,
        acquisition: AnyAcquisitionFunction,
        strategy: Strategy,
        kind: Kind,
        rng: np.random.Generator,
    ) -> Question:
        excluded = self._unavailable(items_of(kind))
        if strategy == "random":
            return random_question(len(self.pool), rng, excluded, kind)
        if kind == "pair":
            pairs = [(items[0], items[1]) for items in excluded]
            return best_question(belief, self.pool, acquisition=acquisition, exclude=pairs)
        return best_set(belief, self.pool, kind, acquisition, excluded)

    def _opened(
        self,
        question: Question,
        belief: Distribution,
        acquisition: AnyAcquisitionFunction,
        rng: np.random.Generator,
    ) -> Question:
        """The question with its trajectories in random order, its value and its number."""
        items, number = _shuffled(question.items, rng), self._numbers + 1
        if question.kind == "pair":
            gap = question.optimality_gap
            question = self._valued(belief, items[0], items[1], acquisition, number, gap)
        else:
            question = Question(
                *items, value=question.value, unit=question.unit, number=number, kind=question.kind
            )
        self._numbers, self._open[number] = number, question
        return question

    def _ask_jointly(
        self, acquisition: AnyAcquisitionFunction, strategy: Strategy, kind: Kind, count: int
    ) -> tuple[Question, ...]:
        """Questions that do not repeat each other: imagined answers to each are averaged over."""
        if count < 1:
            raise ValueError(f"count must be 1 or more, but is {count}")
        if strategy == "random" or count == 1:
            return tuple(
                self._asked(self._belief_for_asking(), acquisition, strategy, kind) for _ in range(count)
            )
        imagined = ImaginedAnswers(
            self._fit_imagined, self.answers, self.pool, self.open_questions, self.seed
        )
        asked: list[Question] = []
        for _ in range(count):
            rng = np.random.default_rng([self.seed, self._numbers + 1])
            found = imagined.best_question(kind, acquisition, self._unavailable(items_of(kind)))
            asked.append(self._opened(found, imagined.beliefs[0], acquisition, rng))
            imagined.answer(asked[-1])
        return tuple(asked)

    def _fit_imagined(self, answers: tuple[Answer, ...]) -> Distribution:
        return self._fit(self._fantasy_model, answers)

    def _unavailable(self, items: int) -> list[tuple[int, ...]]:
        """Sets of so many that are not asked about: those of open and of skipped questions."""
        asked = (q.items for q in (*self._open.values(), *self._skipped.values()))
        return [some for some in asked if len(some) == items]

    def _valued(
        self,
        belief: Distribution,
        left: int,
        right: int,
        acquisition: AnyAcquisitionFunction,
        number: int,
        gap: float,
    ) -> Question:
        """The question with its value; bits are exact, also if another formula chose it."""
        valuer = MutualInformation() if isinstance(acquisition, MutualInformation) else acquisition
        value = score_question(belief, self.pool, left, right, valuer)
        return Question(left, right, value=value, unit=acquisition.unit, number=number, optimality_gap=gap)

    def tell(self, question: Question, choice: str, *, person: str = "") -> None:
        """Learn from an answer. The same answer twice counts once.

        Args:
            question: A question of this learner.
            choice: "left", "right" or "equal"; for other kinds of questions see `prefero.questions`.
            person: Who answered, where several people do; "" takes the person who was asked.

        Raises:
            AnswerConflict: If the question has another answer already.
            ValueError: If the model has no margin, and so cannot learn from "equal".
        """
        known = self._known(question)
        answer = Answer(known, choice, str(person) or self._whom.get(known.number, ""))
        if answer.tied and not self.learns_from_ties:
            raise ValueError(
                f"{self._model!r} cannot learn from {choice!r}, since its margin is 0: give it a positive "
                "margin, or skip the question"
            )
        number = answer.question.number
        before = self._told.get(number)
        if before is not None and before.question != answer.question:
            raise AnswerConflict(
                f"question {number} was about {_listed(before.question)}, not about {_listed(question)}"
            )
        if before is not None and before != answer:
            raise AnswerConflict(
                f"question {number} ({_listed(before.question, 'or')}) was answered "
                f"{before.choice!r} before, and now {choice!r}: undo the first answer to change it"
            )
        if before is None:
            self._told[number] = answer
            self._numbers = max(self._numbers, number)
        self._open.pop(number, None)
        self._skipped.pop(number, None)

    def skip(self, question: Question) -> None:
        """Leave a question unanswered; its pair is not asked again."""
        known = self._known(question)
        if known.number in self._told:
            raise AnswerConflict(f"question {known.number} was answered already: undo that answer to skip it")
        self._open.pop(known.number, None)
        self._skipped[known.number] = known
        self._numbers = max(self._numbers, known.number)

    def reopen(self, question: Question) -> None:
        """Take back a skip: the question waits for its answer again."""
        if question.number not in self._skipped:
            raise ValueError(f"question {question.number} was not skipped, so there is no skip to take back")
        self._open[question.number] = self._skipped.pop(question.number)

    def undo(self) -> Answer:
        """Take back the last answer and return it; its question is open again."""
        if not self._told:
            raise ValueError("there is no answer to take back")
        number, answer = self._told.popitem()
        self._open[number] = answer.question
        return answer

    def add(self, trajectories: Trajectory | Rows) -> Indices:
        """Add trajectories to the pool, for example a plan; answers and belief do not change.

        Takes one trajectory or a batch, and returns their indices in `learner.pool`.
        """
        before = len(self.pool)
        self.pool = self.pool.extended(trajectories)
        return np.arange(before, len(self.pool))

    def fork(self) -> Self:
        """An independent copy with the same answers and no open questions."""
        other = copy(self)
        other._model, other._fantasy_model = deepcopy(self._model), deepcopy(self._fantasy_model)
        other._told, other._skipped, other._open = dict(self._told), dict(self._skipped), {}
        other._whom, other._file = dict(self._whom), None
        return other

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the learner to a JSON file, whole or not at all: its pool, model, questions and answers.

        `Learner.load` reads it, and asks exactly the same next question.

        Args:
            path: The file, for example `learner.json`.
        """
        # a belief that was fitted answer by answer differs by rounding from one that is fitted to all at once
        self._model, self._fantasy_model = unfitted(self._model), unfitted(self._fantasy_model)
        self._belief, self._people = None, None
        learner_file.write(
            Path(path),
            LearnerState(
                self.pool,
                self.seed,
                self._model,
                self.acquisition,
                tuple(self._told.values()),
                tuple(self._open.values()),
                tuple(self._skipped.values()),
                self._numbers,
            ),
        )
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
        state = learner_file.read(Path(path))
        model, acquisition = model or state.model, acquisition or state.acquisition
        for name, given in (("model", model), ("acquisition", acquisition)):
            if given is None:
                raise LearnerFileError(f"{path} was saved with your own {name}: give it, {name}=...")
        assert acquisition is not None
        learner = cls(state.pool, seed=state.seed, model=model, acquisition=acquisition)
        try:
            learner._continue(state)
        except ValueError as error:
            raise LearnerFileError(f"{path} is damaged: {error}") from error
        learner._file = Path(path)
        return learner

    def _continue(self, state: LearnerState) -> None:
        for answer in state.told:
            self.tell(answer.question, answer.choice, person=answer.person)
        for question in state.skipped:
            self.skip(question)
        self._open = {question.number: self._known(question) for question in state.open}
        self._numbers = max([self._numbers, state.numbers, *self._open])

    def reward(self, person: str | None = None) -> Reward:
        """The reward learned so far.

        Args:
            person: Whose, where several people have answered; None is the reward that they share. The reward
                of somebody who has not answered yet is what the others tell of it.

        Returns:
            The reward.
        """
        belief = self.belief(person)
        probit = belief.probit
        diagnostics = {
            **({} if person is None else {"person": person}),
            "answers": belief.answers if isinstance(belief, PersonPosterior) else len(self._told),
            "ties": sum(answer.tied for answer in self._told.values()),
            "skipped": len(self._skipped),
            "noise": probit.noise,
            "margin": probit.margin,
            "lapse": probit.lapse,
            "model": repr(self._model),
            "seed": self.seed,
            "trajectories": len(self.pool),
        }
        if isinstance(belief, MixturePosterior):
            diagnostics["looks"] = belief.describe()
        return Reward(belief, diagnostics, self.pool.feature_spec)

    def progress(self) -> Progress:
        """How many further answers are predicted, and what five more answers are likely to add."""
        return progress_of(self.belief(), self.pool.scaled, len(self._told))

    def surprises(self, most: int = 3) -> list[Surprise]:
        """The answers that are improbable given all others, perhaps slips; the most improbable first."""
        answers, belief = self.answers, self.belief()
        if len(answers) < ENOUGH_ANSWERS:
            return []
        data, people = self._comparisons(answers), self._people
        chances = leave_one_out(belief, data) if people is None else people.leave_one_out(data)
        found = [Surprise(a, float(p)) for a, p in zip(answers, chances, strict=True) if p < SURPRISING]
        return sorted(found, key=lambda surprise: surprise.probability)[:most]

    def plot(self) -> Any:
        """The best trajectories and the reward along each feature, as a matplotlib figure.

        Marks below a curve are the trajectories that were compared. Save it with `.savefig("learned.png")`.

        Returns:
            A matplotlib figure; it needs the extra `plots`.
        """
        reward, pool = self.reward(), self.pool
        best = reward.diverse_best(pool)
        compared = np.unique([item for answer in self.answers for item in answer.question.items]).astype(int)
        labels = pool.ids_of(best.tolist()) or [f"no. {index}" for index in best.tolist()]
        return plot_learner(
            reward.belief,
            pool.scaling,
            pool.scaled,
            pool.scaled[compared],
            best,
            [shortened(one) for one in labels],
        )

    def widget(
        self, questions: int = 30, until: float | None = None, purpose: Purpose | None = None
    ) -> "LearnerWidget":
        """A widget for notebooks in which a person answers this learner's questions, as on the page.

        If the learner has a `file`, every answer is saved there.

        Args:
            questions: How many answers you plan to give; you may continue after them.
            until: The share of predicted answers at which to stop asking, for example 0.9.
            purpose: As in `ask`.

        Returns:
            The widget, which a notebook shows as the last value of a cell; it needs the extra `notebook`.
        """
        need("anywidget", extra="notebook")
        from prefero.notebook.teaching import Teaching
        from prefero.notebook.widget import LearnerWidget

        return LearnerWidget(Teaching(self, questions, until, purpose))

    def belief(self, person: str | None = None) -> Distribution:
        """What is believed about the reward after all answers; the last good belief, should a fit fail.

        Args:
            person: About whose reward, where several people have answered; None is the one that they share.

        Returns:
            The posterior.
        """
        answers = self.answers
        if self._belief is None or self._belief[0] != answers:
            self._belief = answers, self._fit(self._model, answers)
            self._people = getattr(self._model, "people_", None)
        return self._belief[1] if person is None or self._people is None else self._people.person(person)

    def people_belief(self) -> PeoplePosterior:
        """What is believed about everybody: rewards, how each one answers, and how alike people are.

        Raises:
            ValueError: If fewer than two people have answered.
        """
        self.belief()
        if self._people is None:
            raise ValueError(
                "several people must have answered: tell(question, choice, person=...), at least two names"
            )
        return self._people

    def plot_agreement(self) -> Any:
        """How alike people are, as a matplotlib figure: on how many pairs they probably agree.

        Returns:
            A matplotlib figure; it needs the extra `plots`.
        """
        people = self.people_belief()
        return plot_agreement(people.agreement(self.pool.scaled), people.names)

    def _belief_for_asking(self, person: str = "") -> Distribution:
        """With open questions, after their likely answers (fantasies), so that no question is repeated."""
        belief = self.belief(person or None)
        if not self._open:
            return belief
        likely = (likely_answer(belief, self.pool.scaled, q) for q in self._open.values())
        fantasies = [replace(one, person=self._whom.get(one.question.number, "")) for one in likely]
        fantasy = self._fit(self._fantasy_model, (*self.answers, *fantasies))
        people: PeoplePosterior | None = getattr(self._fantasy_model, "people_", None)
        return people.person(person) if person and people is not None else fantasy

    def _fit(self, model: Model, answers: tuple[Answer, ...]) -> Distribution:
        try:
            return model.fit_comparisons(self._comparisons(answers), self.pool.scaled).posterior_
        except (ConvergenceError, np.linalg.LinAlgError) as error:
            if not self._warned:
                warnings.warn(f"the model could not be fitted and stays as it was: {error}", stacklevel=3)
                self._warned = True
            if self._belief is not None:
                return self._belief[1]
            nothing = Comparisons.none(len(self.pool.names), self.pool.scaling)
            return model.fit_comparisons(nothing, self.pool.scaled).posterior_

    def _comparisons(self, answers: tuple[Answer, ...]) -> Comparisons:
        return Comparisons.from_answers(self.pool.scaled, answers, self.pool.scaling)

    def _known(self, question: Question) -> Question:
        """The question with a number, after checking that it is one about this pool."""
        if not isinstance(question, Question):
            raise TypeError(f"wanted a question, as ask() returns it, but got {question!r}")
        for item in question.items:
            self.pool.check_index(item)
        if question.number == 0:
            return question.numbered(self._numbers + 1)
        asked = self._open.get(question.number) or self._skipped.get(question.number)
        if asked is not None and asked != question:
            raise ValueError(
                f"question {question.number} was about {_listed(asked)}, not about {_listed(question)}"
            )
        return question


def _shuffled(items: tuple[int, ...], rng: np.random.Generator) -> tuple[int, ...]:
    """The same trajectories in random order."""
    if len(items) == 2:
        return items if rng.random() < 0.5 else items[::-1]
    return tuple(items[place] for place in rng.permutation(len(items)))


def _listed(question: Question, word: str = "and") -> str:
    """The trajectories of a question in words."""
    *others, last = map(str, question.items)
    return f"{', '.join(others)} {word} {last}"
