"""What participants read before and after the questions, unless the protocol has texts of its own."""

from prefero._support.sentences import unwrap
from prefero.questions.answer_kinds import Form, Kind, form_of, items_of

CONSENT = unwrap("""You are about to take part in a study of how people judge a robot's behavior.

You will compare examples of a robot's behavior, and say which of them you like better. We store your answers
and the time they take, and nothing else about you. You may stop at any time by closing the page.""")
ASKED: dict[Form, str] = {
    "pair": "Say which one you like better.",
    "strength": "Say which one you like better, and by how much.",
    "best": "Say which one you like best.",
    "worst": "Say which one you like least.",
    "rank": "Rank them, the one that you like best first.",
}


def general_instructions(kind: Kind) -> str:
    """For a study with questions of this kind, unless it has its own."""
    number = {2: "two", 3: "three", 4: "four", 5: "five"}[items_of(kind)]
    *first, last = list("ABCDE")[: items_of(kind)]
    shown = f"You will see {number} examples of a robot's behavior, {', '.join(first)} and {last}."
    return f"{shown}\n\n{ASKED[form_of(kind)]} There is no right or wrong answer. Take the time you need."


INSTRUCTIONS = general_instructions("pair")
THANKS = "You have answered all questions."
ARENA_INSTRUCTIONS = "Say which one does the task better. You are not told whose it is."
ARENA_THANKS = "The arena has ended: there are no more questions."
