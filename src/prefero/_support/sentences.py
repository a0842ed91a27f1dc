"""Words, numbers and paragraphs as people read them."""

import math
import re


def number(value: float, std: float) -> str:
    """A value without the digits that do not matter, where such values have this standard deviation."""
    digits = 1 - math.floor(math.log10(std))
    return f"{round(value, digits) + 0.0:.10g}"  # + 0.0: not "-0"


def percent(fraction: float) -> str:
    """A fraction in whole percents, which never says that something is certain."""
    if fraction >= 0.995:
        return "over 99%"
    if fraction < 0.005:
        return "under 1%"
    return f"{fraction:.0%}"


def pluralize(count: int, noun: str) -> str:
    """The count and the noun: "1 answer", "2 answers"."""
    return f"{count} {noun}{'s' * (count != 1)}"


def unwrap(text: str) -> str:
    """Paragraphs with their lines joined."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in re.split(r"\n\s*\n", text.strip()))


def capitalize(clause: str) -> str:
    """The clause as the beginning of a sentence."""
    return clause[:1].upper() + clause[1:]
