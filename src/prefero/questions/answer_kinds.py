"""The kinds of answers: what a person may be asked to say about a question, and the words for it.

    pair         which of two is better: "left", "right" or, where ties are allowed, "equal"
    strength     the same, and by how much: "left-much", "left-slightly", "equal", ...
    best-of-k    which of k is the best, by its place in the question: "1", "2", ...
    worst-of-k   which of k is the worst, likewise
    rank-k       all k from the best to the worst: "2>1>3"; where ties are allowed also "2>1=3"

`KINDS` is the one list of kinds. The database, the HTTP API, the exports, the command line and the page
follow it. A choice is a word, so that it fits in one column of a table whatever its kind.
"""

from functools import cache
from itertools import product
from typing import Literal, get_args

Kind = Literal[
    "pair",
    "strength",
    "best-of-3",
    "best-of-4",
    "best-of-5",
    "worst-of-3",
    "worst-of-4",
    "worst-of-5",
    "rank-3",
    "rank-4",
    "rank-5",
]
Form = Literal["pair", "strength", "best", "worst", "rank"]
PairChoice = Literal["left", "right", "equal"]
StrengthChoice = Literal["left-much", "left-slightly", "equal", "right-slightly", "right-much"]

KINDS: tuple[Kind, ...] = get_args(Kind)
CHOICES: tuple[PairChoice, ...] = get_args(PairChoice)
STRENGTHS: tuple[StrengthChoice, ...] = get_args(StrengthChoice)
FORMS: tuple[Form, ...] = get_args(Form)
MOST_ITEMS = 5  # that a person can compare at once


def check_kind(kind: str) -> None:
    """An error unless there is such a kind of answer."""
    if kind not in KINDS:
        raise ValueError(f"there is no answer kind {kind!r}: choose one of {', '.join(KINDS)}")


def checked_kind(kind: str) -> Kind:
    """The kind of this name, or an error that lists them."""
    check_kind(kind)
    return kind  # type: ignore[return-value]


@cache
def form_of(kind: Kind) -> Form:
    """What is asked, whatever the number of trajectories."""
    check_kind(kind)
    forms: dict[str, Form] = {"pair": "pair", "strength": "strength", "best": "best", "worst": "worst"}
    return forms.get(kind.split("-")[0], "rank")


@cache
def items_of(kind: Kind) -> int:
    """How many trajectories such a question shows."""
    return 2 if form_of(kind) in ("pair", "strength") else int(kind.rsplit("-", 1)[1])


def default_kind(items: int) -> Kind:
    """The kind of a question about so many trajectories, if nothing else is said: which is the best?"""
    kind = "pair" if items == 2 else f"best-of-{items}"
    if kind not in KINDS:
        raise ValueError(f"a question has 2 to {MOST_ITEMS} trajectories, but this one has {items}")
    return kind


@cache
def choices_of(kind: Kind, ties: bool = True) -> tuple[str, ...]:
    """All answers that a person can give to a question of this kind.

    Args:
        kind: Of the answer.
        ties: Whether "about equal" is allowed; the best and the worst of several are never tied.

    Returns:
        The choices.
    """
    form, count = form_of(kind), items_of(kind)
    if form in ("best", "worst"):
        return tuple(str(place + 1) for place in range(count))
    words: tuple[str, ...] = {"pair": CHOICES, "strength": STRENGTHS}.get(form, ())
    words = words or tuple(ranking_word(order) for order in weak_orders(count))
    return words if ties else tuple(word for word in words if word != "equal" and "=" not in word)


def ties_in(choice: str) -> bool:
    """Whether a choice says of some trajectories that they are about equal."""
    return choice == "equal" or "=" in choice


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
    except ValueError:
        groups = ()
    places = sorted(place for group in groups for place in group)
    if not places or places != list(range(len(places))):
        raise ValueError(
            "a ranking names the place of each trajectory once, the best first, such as '2>1=3', "
            f"but this is {word!r}"
        )
    return groups


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
    if form_of(kind) == "rank" and isinstance(choice, str):
        groups = ranking_of(choice)
        choice = ranking_word(groups)
        if sum(map(len, groups)) != items_of(kind):
            raise ValueError(f"{choice!r} does not rank the {items_of(kind)} trajectories of the question")
    elif choice not in choices_of(kind):
        *others, last = map(repr, choices_of(kind))
        raise ValueError(
            f"an answer is {', '.join(others)} or {last}, but this is {choice!r}: "
            "to leave a question unanswered, skip it"
        )
    return choice
