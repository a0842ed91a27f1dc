"""What a kind of answers is: its choices, the words for them, and what each choice says.

    place         of a trajectory in its question, from 0; the place after the last trajectory is the bar's
    bar           what a person finds just acceptable: an item without features, which no question shows
    impression    the reward of a trajectory plus noise, drawn anew each time that it is shown; of the bar too
    constraint    the impression at one place less that at another lies between two bounds
    region        the impressions for which several constraints hold
    bounds        ZERO, MARGIN, STRONG (margin), a cut point or ANYWHERE, or the negative of one of them
    cut points    how far above the bar the levels of a rating end, for each number of levels

A person gives the answer in one of whose regions their impressions lie. The regions of all choices are
disjoint and leave nothing out, so that each outcome of the impressions leads to exactly one answer; where
nobody says "about equal" the margin is 0, and the regions of ties are empty. The likelihood, the
probabilities of answers and simulated users follow from the regions.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from prefero._support.arrays import Array, Indices

PairChoice = Literal["left", "right", "equal"]
BAR = -1  # the bar, where trajectories are known by their indices
LEVELS = (3, 4, 5, 6, 7)  # that a rating may have
ZERO, MARGIN, STRONG = range(3)  # bounds
CUTS = {levels: 3 + sum(range(2, levels - 1)) + np.arange(levels - 1) for levels in LEVELS}  # more of them
ANYWHERE = 3 + sum(map(len, CUTS.values()))
TYPICAL_WIDTH = 3.0  # of the scale whose equal parts are the levels, in units of the reward


def even_cut_points(width: float = TYPICAL_WIDTH) -> Array:
    """The cut points of all numbers of levels, on a scale of this width around the bar, (20,)."""
    return np.concatenate([width * (np.arange(1, levels) / levels - 0.5) for levels in LEVELS])


TYPICAL_CUT_POINTS = even_cut_points()


def bound_values(
    margin: Array | float, strong_margin: Array | float, cut_points: Array = TYPICAL_CUT_POINTS
) -> Array:
    """The values of the bounds, at their own numbers: those of negative ones count from the end.

    Args:
        margin: (...).
        strong_margin: (...).
        cut_points: (..., 20).

    Returns:
        The values, (..., 2 ANYWHERE + 1).
    """
    cuts = np.moveaxis(np.asarray(cut_points), -1, 0)
    positive = 0.0, margin, strong_margin, *cuts, np.inf
    values = np.stack(np.broadcast_arrays(*positive), axis=-1)
    return np.concatenate([values, -values[..., :0:-1]], axis=-1)


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
        """With the items at its places, and BAR at the place after them."""
        points = (*items, BAR)
        return self._replace(better=points[self.better], worse=points[self.worse])


Region = tuple[Constraint, ...]


@dataclass(frozen=True)
class AnswerKind(ABC):
    """A kind of answers about so many trajectories, which a question shows.

    name        in files, in the database, on the command line and on the page: at most 16 letters. Its first
                word is the form, what is asked whatever the number of trajectories: the page knows it by that
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
    def uses_bar(self) -> bool:
        """Whether answers say what is acceptable."""
        return _uses_bar(self)

    @property
    def places(self) -> int:
        """Of the trajectories, and of the bar where answers are about it."""
        return self.items + self.uses_bar

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
        return self._shown_pairs(items, sorted(first.intersection(*others)))

    def _shown_pairs(self, items: Sequence[int], constraints: Iterable[Constraint]) -> list[ComparedPair]:
        """Without the bar."""
        return [one.of(items).pair for one in constraints if self.items not in one[:2]]

    def choice_of(
        self,
        impressions: Array,
        margin: float,
        strong_margin: float,
        cut_points: Array = TYPICAL_CUT_POINTS,
    ) -> str:
        """What a person says who has these impressions, (places,): of equals, the first of the choices."""
        choices, better, worse, low, high = _all_regions(self, margin > 0)
        bounds = bound_values(margin, strong_margin, cut_points)
        gaps = impressions[better] - impressions[worse]
        depth = np.minimum(gaps - bounds[low], bounds[high] - gaps).min(axis=1)
        return choices[int(np.argmax(depth))]


@cache
def _uses_bar(kind: AnswerKind) -> bool:
    every = (one for choice in kind.choices for region in kind.regions(choice) for one in region)
    return any(kind.items in one[:2] for one in every)


@cache
def _independent(kind: AnswerKind, choice: str) -> Region:
    """Constraints whose differences do not follow from those before: they join places not yet connected."""
    connected, found = list(range(kind.places)), []
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
