"""One person's reward, learned together with what other people have answered about the same trajectories.

    others    comparisons of other people, with their names
    own       comparisons of the person, as a learner has them

It is fitted to the person's own answers as any model is, and so takes its place in a learner: `posterior_` is
the posterior over the person's reward given everybody's answers (`prefero.models.people.posterior`). With few
answers of the person it is nearly the group's, with many the person's own.
"""

from dataclasses import replace
from typing import Self

import numpy as np

from prefero._support.arrays import Array
from prefero.models.people.posterior import PeoplePosterior
from prefero.models.posterior.gaussian import Distribution
from prefero.models.preference_gp import PreferenceGP
from prefero.questions import Comparisons
from prefero.questions.answer import JUDGE, SOURCES


class PersonModel:
    """The default model of one person's reward among others'.

    Args:
        others: What other people have answered, with their names.
        person: The name of the person, which none of the others has.
    """

    margin: None = None  # it is learned, so that "about equal" is an answer
    has_lapses = True

    def __init__(self, others: Comparisons, person: str) -> None:
        if others.people is None:
            raise ValueError("others' answers must have names: give each answer its person")
        if person in others.people:
            raise ValueError(f"{person!r} is the name of one of the others too: give everybody another name")
        self.others, self.person = others, person
        self._model = PreferenceGP()
        self.posterior_: Distribution = self._model.fit_comparisons(others[:0]).posterior_

    def __repr__(self) -> str:
        assert self.others.people is not None
        return f"PersonModel({self.person!r} among {len(np.unique(self.others.people))} others)"

    @property
    def people_(self) -> PeoplePosterior | None:
        """The posterior over everybody's rewards; None while the person is learned alone."""
        return getattr(self._model, "people_", None)

    def fit_comparisons(self, data: Comparisons, reference: Array | None = None) -> Self:
        """Learn from the person's comparisons and the others'.

        Args:
            data: The person's comparisons. The person is learned alone while there is only one other person
                and no answer yet.
            reference: Features of the trajectories that the reward is for, (M, d).

        Returns:
            The model itself.
        """
        together = self._with_others(data)
        alone = not together.has_people
        self._model.fit_comparisons(data if alone else together, reference)
        people = self.people_
        self.posterior_ = self._model.posterior_ if people is None else people.person(self.person)
        return self

    def leave_one_out(self, data: Comparisons) -> Array:
        """The probability of each of the person's answers given all others and everybody's, (N,)."""
        if self.people_ is None:
            return self._model.leave_one_out(data)
        return self._model.leave_one_out(self._with_others(data))[self.others.n_answers :]

    def _with_others(self, data: Comparisons) -> Comparisons:
        """Everybody's comparisons, the person's last; what was known before, first in `data`, is others'."""
        names = np.full(len(data), "") if data.people is None else data.people
        others = np.isin(names, SOURCES[1:]) | data.from_source(JUDGE)
        own = replace(data, people=np.where(others, names, self.person))
        return replace(self.others.joined(own), scaling=data.scaling)
