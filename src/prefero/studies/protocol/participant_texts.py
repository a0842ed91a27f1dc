"""What participants read before and after the questions, unless the protocol has texts of its own."""

from prefero._support.sentences import unwrap
from prefero.questions.answer_kinds import PAIR, Kind, item_letter, kind_named

CONSENT = unwrap("""You are about to take part in a study of how people judge a robot's behavior.

You will compare examples of a robot's behavior, and say which of them you like better. We store your answers
and the time they take, and nothing else about you. You may stop at any time by closing the page.""")


def general_instructions(kind: Kind) -> str:
    """For a study with questions of this kind, unless it has its own."""
    asked = kind_named(kind)
    number = {2: "two", 3: "three", 4: "four", 5: "five"}.get(asked.items, str(asked.items))
    *first, last = map(item_letter, range(asked.items))
    shown = f"You will see {number} examples of a robot's behavior, {', '.join(first)} and {last}."
    return f"{shown}\n\n{asked.request} There is no right or wrong answer. Take the time you need."


INSTRUCTIONS = general_instructions(PAIR)
THANKS = "You have answered all questions."
ARENA_INSTRUCTIONS = "Say which one does the task better. You are not told whose it is."
ARENA_THANKS = "The arena has ended: there are no more questions."
