"""What participants read before and after the questions, unless the protocol has texts of its own."""

from collections.abc import Sequence

from prefero._support.sentences import unwrap
from prefero.arena.plan import PAIR_OR_NONE, SUCCESS
from prefero.questions.answer_kinds import PAIR, Kind, item_letter, kind_named
from prefero.questions.kinds.base import AnswerKind
from prefero.questions.kinds.label import words_of

CONSENT = unwrap("""You are about to take part in a study of how people judge a robot's behavior.

You will see examples of a robot's behavior, and say what you think of them. We store your answers and the
time they take, and nothing else about you. You may stop at any time by closing the page.""")
SEVERAL_KINDS = unwrap("""You will see examples of a robot's behavior, one or several at a time. What you are
asked about them changes from time to time, and is written above them.""")
MOST_KINDS = 3  # that are explained one by one


def general_instructions(kinds: Sequence[Kind], own_words: Sequence[str] = ()) -> str:
    """For a study with questions of these kinds, unless it has its own."""
    asked = [kind_named(kind) for kind in kinds]
    shown = _shown(asked[0]) if len(asked) == 1 else SEVERAL_KINDS
    requests = " ".join(f"{kind.request}{_levels(kind, own_words)}" for kind in asked[:MOST_KINDS])
    return f"{shown}\n\n{requests} There is no right or wrong answer. Take the time you need."


def _shown(kind: AnswerKind) -> str:
    if kind.items == 1:
        return "You will see examples of a robot's behavior, one at a time."
    number = {2: "two", 3: "three", 4: "four", 5: "five"}.get(kind.items, str(kind.items))
    *first, last = map(item_letter, range(kind.items))
    return f"You will see {number} examples of a robot's behavior, {', '.join(first)} and {last}."


def _levels(kind: AnswerKind, own_words: Sequence[str]) -> str:
    """The levels of a label, in words."""
    words = words_of(kind, own_words)
    if not words:
        return ""
    levels = zip(kind.choices, words, strict=True)
    named = [f"{level} ({word})" if level.isdigit() else word for level, word in levels]
    return f" The answers are: {', '.join(named)}."


INSTRUCTIONS = general_instructions([PAIR])
THANKS = "You have answered all questions."
ARENA_INSTRUCTIONS = {
    PAIR: "Say which one does the task better. You are not told whose it is.",
    SUCCESS: "Say whether it does the task well enough. You are not told whose it is.",
    PAIR_OR_NONE: "Say which one does the task better, or that none does it well enough. You are not told "
    "whose it is.",
}
ARENA_THANKS = "The arena has ended: there are no more questions."
