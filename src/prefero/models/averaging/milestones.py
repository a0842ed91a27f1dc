"""Milestones: numbers of answers at which something is learned anew that one more answer changes little.

What is learned from the answers up to the last milestone depends on the answers alone, and not on when it was
asked for.
"""


def last_milestone(answers: int, first: int, growth: int) -> int | None:
    """The last milestone up to this number of answers; None before the first.

    Args:
        answers: How many there are.
        first: The first milestone.
        growth: The next one comes when there is one answer more for so many, and at least one more.
    """
    last, milestone = None, first
    while milestone <= answers:
        last, milestone = milestone, milestone + max(milestone // growth, 1)
    return last
