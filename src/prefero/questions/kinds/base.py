"""What a kind of answers is: its choices, the words for them, and what each choice says.

    place         of a trajectory in its question, from 0
    impression    the reward of a trajectory plus noise, drawn anew each time that it is shown
    constraint    the impression at one place less that at another lies between two bounds
    region        the impressions for which several constraints hold
    bounds        ZERO, MARGIN, STRONG (margin) and ANYWHERE, or the negative of one of them

A person gives the answer in one of whose regions their impressions lie. The regions of all choices are
disjoint and leave nothing out, so that each outcome of the impressions leads to exactly one answer; where
nobody says "about equal" the margin is 0, and the regions of ties are empty. The likelihood, the
probabilities of answers and simulated users follow from the regions.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from prefero._support.arrays import Array, Indices

PairChoice = Literal["left", "right", "equal"]
ZERO, MARGIN, STRONG, ANYWHERE = range(4)  # bounds


def bound_values(margin: Array | float, strong_margin: Array | float) -> Array:
    """The values of the bounds, (..., 7), at their own numbers: those of negative ones count from the end."""
    values = 0.0, margin, strong_margin, np.inf, -np.inf, -strong_margin, -margin
    return np.stack(np.broadcast_arrays(*values), axis=-1)


class ComparedPair(NamedTuple):
    """What an answer says about two trajectories, as an answer about a pair."""

    left: int
    right: int
    choice: PairChoice


class Constraint(NamedTuple):
    """The impression of `better` less that of `worse` lies between two bounds, the lower of them finite."""

    better: int
    worse: int
    low: int = ZERO
    high: int = ANYWHERE

    @property
    def tied(self) -> bool:
        """Whether the two are about equal."""
        return self.high == MARGIN

    @property
    def pair(self) -> ComparedPair:
        """As an answer about a pair, the better one left."""
        return ComparedPair(self.better, self.worse, "equal" if self.tied else "left")

    @property
    def meaning(self) -> frozenset["Constraint"]:
        """The constraint, and the same with its sides exchanged."""
        return frozenset([self, Constraint(self.worse, self.better, -self.high, -self.low)])

    def of(self, items: Sequence[int]) -> "Constraint":
        """With the items at its places."""
        return self._replace(better=items[self.better], worse=items[self.worse])


Region = tuple[Constraint, ...]


@dataclass(frozen=True)
class AnswerKind(ABC):
    """A kind of answers about so many trajectories, which a question shows.

    name        in files, in the database, on the command line and on the page: at most 16 letters. Its first
                word is the form, what is asked whatever the number of trajectories, which the page knows it
                by; if that number is not two, it is the last word
    request     what a participant is told to do
    is_listed   whether the page gets all choices; a ranking has too many
    """

    name: str
    items: int = 2
    request: ClassVar[str]
    is_listed: ClassVar[bool] = True

    @property
    def form(self) -> str:
        """What is asked, whatever the number of trajectories."""
        return self.name.partition("-")[0]

    @property
    @abstractmethod
    def choices(self) -> tuple[str, ...]:
        """All answers that a person can give, ties too: words of at most 16 letters."""

    @abstractmethod
    def regions(self, choice: str) -> tuple[Region, ...]:
        """The impressions for which a person gives this answer; all regions have as many constraints."""

    def chosen(self, choice: str) -> int | None:
        """The place of the trajectory that a choice sets apart from all others; None if there is none."""
        del choice
        return None

    @property
    def patterns(self) -> tuple[str, ...]:
        """Regular expressions, one of which each choice matches."""
        return tuple(re.escape(choice).replace("\\-", "-") for choice in self.choices)

    def canonical(self, choice: str) -> str:
        """The choice as it is stored, or an error if the kind has no such choice."""
        if choice not in self.choices:
            *others, last = map(repr, self.choices)
            raise ValueError(
                f"an answer is {', '.join(others)} or {last}, but this is {choice!r}: "
                "to leave a question unanswered, skip it"
            )
        return choice

    def is_tied(self, choice: str) -> bool:
        """Whether a choice says of some trajectories that they are about equal."""
        return any(constraint.tied for constraint in chain(*self.regions(choice)))

    def rows(self, choice: str) -> Region:
        """Constraints of a choice from whose differences those of all its constraints follow."""
        return _independent(self, choice)

    def pairs(self, items: Sequence[int], choice: str) -> list[ComparedPair]:
        """What a choice says about pairs of these items, in every region; the better one is left."""
        first, *others = map(set, self.regions(choice))
        return [one.of(items).pair for one in sorted(first.intersection(*others))]

    def choice_of(self, impressions: Array, margin: float, strong_margin: float) -> str:
        """What a person says who has these impressions, (k,): of equals, the first of the choices."""
        choices, better, worse, low, high = _all_regions(self, margin > 0)
        bounds, gaps = bound_values(margin, strong_margin), impressions[better] - impressions[worse]
        depth = np.minimum(gaps - bounds[low], bounds[high] - gaps).min(axis=1)
        return choices[int(np.argmax(depth))]


@cache
def _independent(kind: AnswerKind, choice: str) -> Region:
    """Constraints whose differences do not follow from those before: they join places not yet connected."""
    connected, found = list(range(kind.items)), []
    for constraint in chain(*kind.regions(choice)):
        one, other = connected[constraint.better], connected[constraint.worse]
        if one != other:
            connected = [one if place == other else place for place in connected]
            found.append(constraint)
    return tuple(found)


@cache
def _all_regions(kind: AnswerKind, ties: bool) -> tuple[tuple[str, ...], Indices, Indices, Indices, Indices]:
    """The choice of every region, and the constraints of all of them, field by field, (regions, most)."""
    found = [
        (choice, region)
        for choice in kind.choices
        if ties or not kind.is_tied(choice)
        for region in kind.regions(choice)
    ]
    most = max(len(region) for _, region in found)
    filled = np.array([region + region[-1:] * (most - len(region)) for _, region in found])
    return tuple(choice for choice, _ in found), *np.moveaxis(filled, 2, 0)
