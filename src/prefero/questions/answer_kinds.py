"""The kinds of answers: what a person may be asked to say about a question, and the words for it.

    pair         which of two is better: "left", "right" or, where ties are allowed, "equal"
    strength     the same, and by how much: "left-much", "left-slightly", "equal", ...
    best-of-k    which of k is the best, by its place in the question: "1", "2", ...
    worst-of-k   which of k is the worst, likewise
    rank-k       all k from the best to the worst: "2>1>3"; where ties are allowed also "2>1=3"

`ANSWER_KINDS` is the one list of kinds. The database, the HTTP API, the exports, the command line and the
page's types follow it. A choice is a word of at most 16 letters, so that it fits in one column of a table
whatever its kind.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise, product
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple, get_args

import numpy as np

from prefero._support.arrays import Array

PairChoice = Literal["left", "right", "equal"]
CHOICES: tuple[PairChoice, ...] = get_args(PairChoice)
SLIGHTLY, MUCH = 1, 2  # in `Row.strength`


class Row(NamedTuple):
    """A part of an answer: two trajectories of which the first is preferred, or "about equal"."""

    winner: int
    loser: int
    tied: bool = False
    strength: int = 0  # SLIGHTLY, MUCH, or 0 where it was not asked


class ComparedPair(NamedTuple):
    """An answer, or a part of one, as an answer about a pair."""

    left: int
    right: int
    choice: PairChoice


@dataclass(frozen=True)
class AnswerKind(ABC):
    """A kind of answers about so many trajectories, which a question shows.

    name        in files, in the database, on the command line and on the page. Its first word is the form,
                what is asked whatever the number of trajectories, which models and the page know it by; if
                that number is not two, it is the last word
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
        """All answers that a person can give, ties too."""

    @abstractmethod
    def rows(self, items: Sequence[int], choice: str) -> tuple[Row, ...]:
        """A choice as pairs of the question's trajectories, in which the first is preferred or equal."""

    @abstractmethod
    def chosen(self, choice: str) -> int | None:
        """The place of the trajectory that a choice sets apart from all others; None if there is none."""

    @abstractmethod
    def choice_of(self, impressions: Array, margin: float, strong_margin: float) -> str:
        """What a person says who has these impressions of the trajectories, in the question's order."""

    @property
    def patterns(self) -> tuple[str, ...]:
        """Regular expressions, one of which each choice matches."""
        return self.choices

    def is_tied(self, choice: str) -> bool:
        """Whether a choice says of some trajectories that they are about equal."""
        return choice == "equal"

    def canonical(self, choice: str) -> str:
        """The choice as it is stored, or an error if the kind has no such choice."""
        if choice not in self.choices:
            *others, last = map(repr, self.choices)
            raise ValueError(
                f"an answer is {', '.join(others)} or {last}, but this is {choice!r}: "
                "to leave a question unanswered, skip it"
            )
        return choice

    def pairs(self, items: Sequence[int], choice: str) -> list[ComparedPair]:
        """A choice as answers about pairs without their strength: of more than two, the better one left."""
        return [
            ComparedPair(row.winner, row.loser, "equal" if row.tied else "left")
            for row in self.rows(items, choice)
        ]


class Pair(AnswerKind):
    """Which of two is better."""

    request = "Say which one you like better."

    @property
    def choices(self) -> tuple[str, ...]:
        """A side, or "equal"."""
        return CHOICES

    def rows(self, items: Sequence[int], choice: str) -> tuple[Row, ...]:
        """One row."""
        winner, loser = reversed(items) if choice.startswith("right") else items
        strength = {"slightly": SLIGHTLY, "much": MUCH}.get(choice.partition("-")[2], 0)
        return (Row(winner, loser, self.is_tied(choice), strength),)

    def pairs(self, items: Sequence[int], choice: str) -> list[ComparedPair]:
        """The pair as it was shown."""
        side: PairChoice = next(side for side in CHOICES if choice.startswith(side))
        left, right = items
        return [ComparedPair(left, right, side)]

    def chosen(self, choice: str) -> int | None:
        """The better one."""
        return None if self.is_tied(choice) else int(choice.startswith("right"))

    def choice_of(self, impressions: Array, margin: float, strong_margin: float) -> str:
        """Equal if they differ by less than the margin."""
        gap = float(impressions[0] - impressions[1])
        if abs(gap) < margin:
            return "equal"
        return self._side("left" if gap > 0 else "right", abs(gap) > strong_margin)

    def _side(self, side: str, much: bool) -> str:
        del much
        return side


class Strength(Pair):
    """Which of two is better, and by how much."""

    request = "Say which one you like better, and by how much."

    @property
    def choices(self) -> tuple[str, ...]:
        """A side and a strength, or "equal"."""
        return "left-much", "left-slightly", "equal", "right-slightly", "right-much"

    def _side(self, side: str, much: bool) -> str:
        return f"{side}-{'much' if much else 'slightly'}"


class Best(AnswerKind):
    """Which of several is the best; never a tie."""

    request = "Say which one you like best."

    @property
    def choices(self) -> tuple[str, ...]:
        """Places, from 1."""
        return tuple(str(place + 1) for place in range(self.items))

    def rows(self, items: Sequence[int], choice: str) -> tuple[Row, ...]:
        """The chosen one before each other one."""
        best = items[int(choice) - 1]
        return tuple(Row(best, item) for item in items if item != best)

    def chosen(self, choice: str) -> int | None:
        """It is the choice."""
        return int(choice) - 1

    def choice_of(self, impressions: Array, margin: float, strong_margin: float) -> str:
        """The place of the best impression."""
        del margin, strong_margin
        return str(int(np.argmax(impressions)) + 1)


class Worst(Best):
    """Which of several is the worst."""

    request = "Say which one you like least."

    def rows(self, items: Sequence[int], choice: str) -> tuple[Row, ...]:
        """Each other one before the chosen one."""
        return tuple(Row(row.loser, row.winner) for row in super().rows(items, choice))

    def choice_of(self, impressions: Array, margin: float, strong_margin: float) -> str:
        """The place of the worst impression."""
        return super().choice_of(-impressions, margin, strong_margin)


class Rank(AnswerKind):
    """Several from the best to the worst."""

    request = "Rank them, the one that you like best first."
    is_listed = False

    @property
    def choices(self) -> tuple[str, ...]:
        """All orders, with ties."""
        return tuple(ranking_word(order) for order in weak_orders(self.items))

    @property
    def patterns(self) -> tuple[str, ...]:
        """Places with signs between them."""
        place = f"[1-{self.items}]"
        return (f"{place}([>=]{place}){{{self.items - 1}}}",)

    def is_tied(self, choice: str) -> bool:
        """Whether some share a place."""
        return "=" in choice

    def canonical(self, choice: str) -> str:
        """Places that are tied in ascending order."""
        groups = ranking_of(choice)
        choice = ranking_word(groups)
        if sum(map(len, groups)) != self.items:
            raise ValueError(f"{choice!r} does not rank the {self.items} trajectories of the question")
        return choice

    def rows(self, items: Sequence[int], choice: str) -> tuple[Row, ...]:
        """Each trajectory before the next one; within a group the two are tied."""
        ranks = [(items[place], rank) for rank, group in enumerate(ranking_of(choice)) for place in group]
        return tuple(Row(a, b, rank == next_rank) for (a, rank), (b, next_rank) in pairwise(ranks))

    def chosen(self, choice: str) -> int | None:
        """The best one, if it is alone."""
        best, *_ = ranking_of(choice)
        return best[0] if len(best) == 1 else None

    def choice_of(self, impressions: Array, margin: float, strong_margin: float) -> str:
        """Neighbours that differ by less than the margin are equal."""
        del strong_margin
        order = np.argsort(-impressions, kind="stable")
        groups = [[int(order[0])]]
        for better, worse in pairwise(order.tolist()):
            if impressions[better] - impressions[worse] < margin:
                groups[-1].append(worse)
            else:
                groups.append([worse])
        return ranking_word(tuple(tuple(group) for group in groups))


SEVERAL = (3, 4, 5)  # trajectories that a person can compare at once
ANSWER_KINDS: tuple[AnswerKind, ...] = (
    Pair("pair"),
    Strength("strength"),
    *(Best(f"best-of-{items}", items) for items in SEVERAL),
    *(Worst(f"worst-of-{items}", items) for items in SEVERAL),
    *(Rank(f"rank-{items}", items) for items in SEVERAL),
)

KINDS: tuple[str, ...] = tuple(kind.name for kind in ANSWER_KINDS)
FORMS: tuple[str, ...] = tuple(dict.fromkeys(kind.form for kind in ANSWER_KINDS))  # files store places in it
EXAMPLES = tuple(next(kind.name for kind in ANSWER_KINDS if kind.form == form) for form in FORMS)
MOST_ITEMS = max(kind.items for kind in ANSWER_KINDS)
PAIR = KINDS[0]  # the kind of the paper, which every model learns from
if TYPE_CHECKING:
    Kind = str
else:
    Kind = Literal[KINDS]  # for the page's types


@cache
def kind_named(name: str) -> AnswerKind:
    """The kind of this name, or an error that lists them."""
    check_kind(name)
    return ANSWER_KINDS[KINDS.index(name)]


def check_kind(kind: str) -> None:
    """An error unless there is such a kind of answer."""
    if kind not in KINDS:
        raise ValueError(f"there is no answer kind {kind!r}: choose one of {', '.join(KINDS)}")


def form_of(kind: Kind) -> str:
    """What is asked, whatever the number of trajectories."""
    return kind_named(kind).form


def items_of(kind: Kind) -> int:
    """How many trajectories such a question shows."""
    return kind_named(kind).items


def default_kind(items: int) -> Kind:
    """The kind of a question about so many trajectories, if nothing else is said: which is the best?"""
    found = next((kind.name for kind in ANSWER_KINDS if kind.items == items), None)
    if found is None:
        raise ValueError(f"a question has 2 to {MOST_ITEMS} trajectories, but this one has {items}")
    return found


@cache
def choices_of(kind: Kind, ties: bool = True) -> tuple[str, ...]:
    """All answers that a person can give to a question of this kind.

    Args:
        kind: Of the answer.
        ties: Whether "about equal" is allowed; the best and the worst of several are never tied.

    Returns:
        The choices.
    """
    found = kind_named(kind)
    return tuple(choice for choice in found.choices if ties or not found.is_tied(choice))


def listed_choices(kind: Kind, ties: bool = True) -> tuple[str, ...]:
    """The choices that the page gets: none where there are too many to list."""
    return choices_of(kind, ties) if kind_named(kind).is_listed else ()


def item_letter(place: int) -> str:
    """A, B, C and so on: what people call the trajectories of a question, from place 0."""
    return chr(ord("A") + place)


def canonical(kind: Kind, choice: str) -> str:
    """The choice as it is stored: places that are tied in ascending order.

    Args:
        kind: Of the answer.
        choice: As it was given.

    Returns:
        One of `choices_of(kind)`.

    Raises:
        ValueError: If the kind of question has no such answer.
    """
    return kind_named(kind).canonical(choice)


# --- rankings ---------------------------------------------------------------------------------------------


@cache
def weak_orders(count: int) -> tuple[tuple[tuple[int, ...], ...], ...]:
    """All rankings with ties of the places 0 to count - 1: groups from the best, with ascending places."""
    ranks = (
        found for found in product(range(count), repeat=count) if set(found) == set(range(max(found) + 1))
    )
    return tuple(
        tuple(
            tuple(place for place in range(count) if found[place] == rank) for rank in range(max(found) + 1)
        )
        for found in ranks
    )


def ranking_word(groups: tuple[tuple[int, ...], ...]) -> str:
    """The word for a ranking of places: ((1,), (0, 2)) is "2>1=3"."""
    return ">".join("=".join(str(place + 1) for place in sorted(group)) for group in groups)


def ranking_of(word: str) -> tuple[tuple[int, ...], ...]:
    """The groups of places, from the best, that a ranking's word names.

    Args:
        word: Of a ranking, such as "2>1=3".

    Returns:
        The groups, such as ((1,), (0, 2)).

    Raises:
        ValueError: If it is no ranking of all places.
    """
    try:
        groups = tuple(tuple(sorted(int(p) - 1 for p in group.split("="))) for group in word.split(">"))
    except (AttributeError, ValueError):
        groups = ()
    places = sorted(place for group in groups for place in group)
    if not places or places != list(range(len(places))):
        raise ValueError(
            "a ranking names the place of each trajectory once, the best first, such as '2>1=3', "
            f"but this is {word!r}"
        )
    return groups
