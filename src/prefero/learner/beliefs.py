"""What a learner believes: a model fitted to its answers, and to likely answers to its open questions.

The model also decides which answers there may be: not every one learns from ties, or from all kinds.
"""

import warnings
from collections.abc import Iterable
from copy import copy, deepcopy
from dataclasses import replace
from typing import Any, Protocol, Self

import numpy as np

from prefero._support.arrays import Array
from prefero.acquisition.base import AnyAcquisitionFunction, check_answers
from prefero.acquisition.batches import likely_answer
from prefero.learner.asked_questions import AskedQuestions
from prefero.learner.learner_file import unfitted
from prefero.learner.reasons import reason_of, with_reasons
from prefero.models.inference.leave_one_out import leave_one_out
from prefero.models.inference.solution import ConvergenceError
from prefero.models.people.posterior import PeoplePosterior
from prefero.models.person_model import PersonModel
from prefero.models.posterior.gaussian import Distribution
from prefero.models.posterior.mixture import MixturePosterior
from prefero.models.preference_gp import PreferenceGP
from prefero.pools.pool import Pool
from prefero.questions import Answer, Comparisons
from prefero.questions.answer import LABELS
from prefero.questions.answer_kinds import Kind
from prefero.questions.labels import count_evidence

CHECK_EVERY = 3  # questions, one of which is chosen as if nothing had been known before the first


class Model(Protocol):
    """What a learner needs of a model: `PreferenceGP` or `LinearPreference`."""

    posterior_: Distribution

    def fit_comparisons(self, data: Comparisons, reference: Array | None = None) -> Self:
        """Learn from answers about trajectories of a pool, whose features, (M, d), are the reference."""


class Beliefs:
    """Posteriors of a model given answers; the last one is kept while the answers stay the same.

    Args:
        model: It is copied, and the copy is fitted.
    """

    def __init__(self, model: Model) -> None:
        self.model = deepcopy(model)
        self.people: PeoplePosterior | None = None  # that belongs to the last belief
        self._fantasy_model = deepcopy(model)  # so that a fit to imagined answers starts from the last such
        self._last: tuple[tuple[Answer, ...], Distribution] | None = None
        self._warned = False

    def given(self, answers: tuple[Answer, ...], pool: Pool) -> Distribution:
        """The belief after these answers; the last good one, should the fit fail."""
        if self._last is None or self._last[0] != answers:
            self._last = answers, self._fitted(self.model, answers, pool)
            self.people = getattr(self.model, "people_", None)
        return self._last[1]

    def of(self, person: str | None, answers: tuple[Answer, ...], pool: Pool) -> Distribution:
        """The belief about a person's reward; about the one that people share for None.

        Raises:
            ValueError: If several people have answered, and the model learns one reward of all of them.
        """
        belief = self._about(person, answers, pool)
        if person is not None and self.people is None and _are_several(answers):
            raise ValueError(
                f"{self.model!r} learns one reward from everybody's answers, so there is no reward of "
                f"{person!r} alone: leave person out, or take a PreferenceGP with inference='ep'"
            )
        return belief

    def of_people(self, answers: tuple[Answer, ...], pool: Pool) -> PeoplePosterior:
        """The belief about everybody.

        Raises:
            ValueError: If fewer than two people have answered, or the model does not tell them apart.
        """
        self.given(answers, pool)
        if self.people is not None:
            return self.people
        if _are_several(answers):
            raise ValueError(
                f"{self.model!r} learns one reward from everybody's answers, and not who differs from whom: "
                "take a PreferenceGP with inference='ep'"
            )
        raise ValueError(
            "several people must have answered: tell(question, choice, person=...), at least two names"
        )

    def _about(self, person: str | None, answers: tuple[Answer, ...], pool: Pool) -> Distribution:
        """The belief about a person's reward, or about that of all where the model knows no other."""
        shared = self.given(answers, pool)
        return shared if person is None or self.people is None else self.people.person(person)

    def given_imagined(self, answers: tuple[Answer, ...], pool: Pool) -> Distribution:
        """The belief after answers of which some are imagined."""
        return self._fitted(self._fantasy_model, answers, pool)

    def for_asking(self, asked: AskedQuestions, pool: Pool, person: str = "") -> Distribution:
        """With open questions, after their likely answers (fantasies), so that no question is repeated.

        Every third time it leaves out what was known before the first question, so that answers check that.
        """
        belief = self._about(person or None, asked.answers, pool)
        known = pool.knowledge.unchecked if len(asked.answers) % CHECK_EVERY == 1 else pool.knowledge
        if not asked.open and known is pool.knowledge:
            return belief
        likely = (likely_answer(belief, pool.scaled, question) for question in asked.open.values())
        fantasies = [replace(one, person=asked.persons.get(one.question.number, "")) for one in likely]
        fantasy = self.given_imagined((*asked.answers, *fantasies), pool.knowing(known))
        people: PeoplePosterior | None = getattr(self._fantasy_model, "people_", None)
        return people.person(person) if person and people is not None else fantasy

    def leave_one_out(self, answers: tuple[Answer, ...], pool: Pool) -> Array:
        """How probable each answer is given all others and the pool's labels, (N,)."""
        belief, data = self.given(answers, pool), self._comparisons(answers, pool)
        if isinstance(self.model, PreferenceGP | PersonModel):
            found = self.model.leave_one_out(data)
        else:
            found = leave_one_out(belief, data)
        return found[np.unique(data.answer_numbers[data.known_before]).size :]

    # --- which answers it learns from -----------------------------------------------------------------

    @property
    def learns_from_ties(self) -> bool:
        """Whether the model can learn from "about equal": not if it has no margin."""
        return getattr(self.model, "margin", None) != 0

    def check_kind(self, kind: Kind) -> None:
        """An error if answers of this kind cannot be learned from."""
        if kind != "pair" and not getattr(self.model, "learns_from_all_kinds", True):
            raise ValueError(
                f"{self.model!r} learns from pairs, not from {kind!r}: take a PreferenceGP with "
                "inference='ep' for other kinds of answers"
            )

    def check_knowledge(self, pool: Pool) -> None:
        """An error if what is known before the first question cannot be learned from."""
        if pool.knowledge and not getattr(self.model, "learns_from_all_kinds", True):
            raise ValueError(
                f"{self.model!r} learns from answers alone, not from {pool.knowledge.describe()}: take a "
                "PreferenceGP with inference='ep'"
            )

    def check_reason(self, answer: Answer, pool: Pool) -> None:
        """An error if the reason of an answer cannot be learned from."""
        if not getattr(self.model, "learns_from_all_kinds", True):
            raise ValueError(
                f"{self.model!r} learns from answers alone, not from reasons: leave because out, or take a "
                "PreferenceGP with inference='ep'"
            )
        reason_of(answer, pool)

    def check_acquisition(
        self, function: AnyAcquisitionFunction, kind: Kind = "pair", *, tied: bool = False
    ) -> None:
        """An error if an acquisition function cannot score questions to people who answer as in the model.

        Args:
            function: The acquisition function.
            kind: Of the answers.
            tied: Whether there are ties, with which a margin is learned.
        """
        margin, lapses = getattr(self.model, "margin", None), getattr(self.model, "has_lapses", False)
        check_answers(function, kind, margin=tied or bool(margin), lapses=bool(lapses))

    def check_answer(self, answer: Answer, earlier: Iterable[Answer]) -> None:
        """An error if an answer cannot be learned from together with earlier ones."""
        self.check_kind(answer.question.kind)
        if not getattr(self.model, "learns_from_people", True):
            others = {before.person for before in earlier} - {answer.person}
            if others:
                raise ValueError(
                    f"{self.model!r} learns from one person, here {min(others)!r}, but {answer.person!r} is "
                    "another one: take a PreferenceGP with inference='ep' for several people"
                )
        if answer.tied and not self.learns_from_ties:
            raise ValueError(
                f"{self.model!r} cannot learn from {answer.choice!r}, since its margin is 0: give it a "
                "positive margin, or skip the question"
            )

    # --- fitting --------------------------------------------------------------------------------------

    def forget(self) -> None:
        """Fit anew next time, from the start."""
        self.model, self._fantasy_model = unfitted(self.model), unfitted(self._fantasy_model)
        self._last, self.people = None, None

    def copy(self) -> Self:
        """An independent copy."""
        other = copy(self)
        other.model, other._fantasy_model = deepcopy(self.model), deepcopy(self._fantasy_model)
        return other

    def _fitted(self, model: Model, answers: tuple[Answer, ...], pool: Pool) -> Distribution:
        try:
            fitted = model.fit_comparisons(self._comparisons(answers, pool), pool.scaled)
            judged: PeoplePosterior | None = getattr(model, "people_", None)
            if judged is None or _are_several(answers) or isinstance(model, PersonModel):
                return fitted.posterior_
            return judged.person(answers[0].person if answers else "")  # the only one who is no judge
        except (ConvergenceError, np.linalg.LinAlgError) as error:
            self._warn(error)
            if self._last is not None:
                return self._last[1]
            nothing = Comparisons.none(len(pool.names), pool.scaling)
            return model.fit_comparisons(nothing, pool.scaled).posterior_

    def _warn(self, error: Exception) -> None:
        """Once for every learner."""
        if not self._warned:
            warnings.warn(f"the model could not be fitted and stays as it was: {error}", stacklevel=6)
            self._warned = True

    def _comparisons(self, answers: tuple[Answer, ...], pool: Pool) -> Comparisons:
        """What is known of the pool, its labels, and then answers about it, as its scaled features."""
        several = _are_several(answers) or isinstance(self.model, PersonModel)
        only = answers[0].person if answers else ""  # what was known before counts as said by this person
        labels = () if pool.labels is None else pool.labels.answers(LABELS if several else only)
        said = with_reasons(labels, answers, pool)
        if not pool.knowledge:
            return said
        known = pool.knowledge.comparisons(pool.scaled, pool.scaling, None if several else only)
        if known.people is not None and said.people is None:  # beside judges even the only person has a name
            said = replace(said, people=np.full(len(said), only))
        return known.joined(said)


def _are_several(answers: tuple[Answer, ...]) -> bool:
    return len({answer.person for answer in answers}) > 1


def diagnostics_of(
    belief: Distribution, asked: AskedQuestions, pool: Pool, person: str | None, **more: object
) -> dict[str, Any]:
    """What a reward's file says of how it was learned: the answers, how the person answers, and more."""
    answers, probit = asked.answers, belief.probit
    everybody = person is None or not _are_several(answers)
    count, labels = sum(everybody or answer.person == person for answer in answers), len(pool.labels or ())
    known = pool.knowledge.describe() if pool.knowledge else ""
    given = count_evidence(count, labels) if labels or known else ""
    return {
        "answers": count,
        **({"labels": labels} if labels else {}),
        **({"known": known} if known else {}),
        "ties": sum(answer.tied for answer in answers),
        "skipped": len(asked.skipped),
        "noise": probit.noise,
        "margin": probit.margin,
        "lapse": probit.lapse,
        "trajectories": len(pool),
        **more,
        **({"looks": belief.describe(given)} if isinstance(belief, MixturePosterior) else {}),
    }
