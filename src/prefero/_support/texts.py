"""Numbers in sentences."""


def percent(share: float) -> str:
    """A share in whole percents, which never says that something is certain."""
    if share >= 0.995:
        return "over 99%"
    if share < 0.005:
        return "under 1%"
    return f"{share:.0%}"


def pluralize(count: int, noun: str) -> str:
    """The count and the noun: "1 answer", "2 answers"."""
    return f"{count} {noun}{'s' * (count != 1)}"
