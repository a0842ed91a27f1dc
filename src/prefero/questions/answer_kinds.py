"""The list of the kinds of answers: what a person may be asked to say about a question.

    pair         which of two is better: "left", "right" or, where ties are allowed, "equal"
    strength     the same, and by how much: "left-much", "left-slightly", "equal", ...
    best-of-k    which of k is the best, by its place in the question: "1", "2", ...
    worst-of-k   which of k is the worst, likewise
    rank-k       all k from the best to the worst: "2>1>3"; where ties are allowed also "2>1=3"
    success      whether one trajectory is acceptable: "pass" or "fail"
    rate-L       how good one trajectory is, in L levels: "1", the lowest, "2", ...

A pair, the best of k and a ranking may also be answered with "none", if none of the trajectories is
acceptable: pair-or-none, best-or-none-k and rank-or-none-k.

`ANSWER_KINDS` is the one list of kinds, to which another package may add. Models, the database, the HTTP API,
the exports, the command line and the page follow it.
"""

from collections.abc import Sequence
from functools import cache

from prefero._support.plugins import Registry
from prefero.questions.kinds.base import LEVELS, AnswerKind
from prefero.questions.kinds.best import Best, Worst
from prefero.questions.kinds.label import Rate, Success
from prefero.questions.kinds.or_none import NONE, BestOrNone, PairOrNone, RankOrNone
from prefero.questions.kinds.pair import Pair, Strength
from prefero.questions.kinds.rank import Rank

SEVERAL = (3, 4, 5)  # trajectories that a person can compare at once
OWN: tuple[AnswerKind, ...] = (
    Pair("pair"),
    Strength("strength"),
    *(Best(f"best-of-{items}", items) for items in SEVERAL),
    *(Worst(f"worst-of-{items}", items) for items in SEVERAL),
    *(Rank(f"rank-{items}", items) for items in SEVERAL),
    Success("success", 1),
    *(Rate(f"rate-{levels}", 1) for levels in LEVELS),
    PairOrNone("pair-or-none"),
    *(BestOrNone(f"best-or-none-{items}", items) for items in SEVERAL),
    *(RankOrNone(f"rank-or-none-{items}", items) for items in SEVERAL),
)
ANSWER_KINDS: Registry[AnswerKind] = Registry(
    "answer kind", "prefero.answer_kinds", {kind.name: kind for kind in OWN}
)

MOST_ITEMS = max(kind.items for kind in OWN)
PAIR = OWN[0].name  # the kind of the paper, which every model learns from
Kind = str  # one of the names
AUTO = "auto"  # the kind that tells most for its time, of
AUTO_KINDS = ("pair", "rate-5")


def kind_named(name: Kind) -> AnswerKind:
    """The kind of this name, or an error that lists them."""
    return ANSWER_KINDS.get(name)


def allowed_kinds(answers: str | Sequence[Kind]) -> tuple[Kind, ...]:
    """The kinds that a question may have.

    Args:
        answers: One kind; several, in a sequence or as "pair, rate-5"; or "auto" for the usual ones.

    Returns:
        The kinds, each once.

    Raises:
        ValueError: If one of them does not exist, or there is none.
    """
    if answers == AUTO:
        return AUTO_KINDS
    names = answers.split(",") if isinstance(answers, str) else answers
    found = tuple(dict.fromkeys(kind_named(name.strip()).name for name in names))
    if not found:
        raise ValueError(f"name at least one kind of answer, such as {', '.join(examples())}")
    return found


def examples() -> tuple[str, ...]:
    """The first kind of each form, without "none" and with it."""
    first: dict[str, str] = {}
    for name in ANSWER_KINDS.names():
        first.setdefault(name.rstrip("0123456789"), name)
    return tuple(first.values())


def items_of(kind: Kind) -> int:
    """How many trajectories such a question shows."""
    return kind_named(kind).items


def default_kind(items: int) -> Kind:
    """The kind of a question about so many trajectories, if nothing else is said: which is the best?"""
    found = next((name for name in ANSWER_KINDS if items_of(name) == items), None)
    if found is None:
        raise ValueError(f"a question has 1 to {MOST_ITEMS} trajectories, but this one has {items}")
    return found


def choices_of(kind: Kind, ties: bool = True) -> tuple[str, ...]:
    """All answers that a person can give to a question of this kind.

    Args:
        kind: Of the answer.
        ties: Whether "about equal" is allowed; the best and the worst of several are never tied.

    Returns:
        The choices.
    """
    return _choices(kind_named(kind), ties)


@cache
def _choices(kind: AnswerKind, ties: bool) -> tuple[str, ...]:
    return tuple(choice for choice in kind.choices if ties or not kind.is_tied(choice))


def canonical(kind: Kind, choice: str) -> str:
    """The choice as it is stored, or an error if the kind of question has no such answer."""
    return kind_named(kind).canonical(choice)


def listed_choices(kind: Kind, ties: bool = True) -> tuple[str, ...]:
    """The choices that the page gets: all; of a ranking, which has too many, only "none" if it has that."""
    listed = kind_named(kind).is_listed
    return tuple(choice for choice in choices_of(kind, ties) if listed or choice == NONE)


def has_ties(kind: Kind) -> bool:
    """Whether "about equal" can be an answer, or a part of one."""
    return choices_of(kind, ties=True) != choices_of(kind, ties=False)


def item_letter(place: int) -> str:
    """A, B, C and so on: what people call the trajectories of a question, from place 0."""
    return chr(ord("A") + place)
