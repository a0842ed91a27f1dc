"""Comparisons in which "none" is an answer: none of the trajectories is acceptable.

Who says "none" finds that the bar is above all of them; who chooses, or ranks, says also that the best one is
above the bar. So the best of k or none is the best of k + 1, of which one is the bar.
"""

from collections.abc import Sequence

from prefero.questions.kinds.base import MARGIN, ZERO, AnswerKind, ComparedPair, Constraint, Region
from prefero.questions.kinds.best import Best
from prefero.questions.kinds.pair import Pair
from prefero.questions.kinds.rank import Rank

NONE = "none"


class _OrNone(AnswerKind):
    """A kind of comparison, with "none"."""

    @property
    def choices(self) -> tuple[str, ...]:
        """Those of the comparison, and "none"."""
        return *super().choices, NONE  # type: ignore[safe-super]

    @property
    def patterns(self) -> tuple[str, ...]:
        """Those of the comparison, and "none"."""
        return tuple(dict.fromkeys((*super().patterns, NONE)))

    def regions(self, choice: str) -> tuple[Region, ...]:
        """The comparison, and the best above the bar; or all below it."""
        if choice == NONE:
            return (tuple(Constraint(self.items, place) for place in range(self.items)),)
        compared = super().regions(choice)  # type: ignore[safe-super]
        return tuple(
            (*ordered, Constraint(ordered[0].better, self.items))
            for region in compared
            for ordered in _in_both_orders(region)
        )

    def canonical(self, choice: str) -> str:
        """As in the comparison."""
        return choice if choice == NONE else super().canonical(choice)

    def is_tied(self, choice: str) -> bool:
        """As in the comparison."""
        return choice != NONE and super().is_tied(choice)

    def chosen(self, choice: str) -> int | None:
        """As in the comparison."""
        return None if choice == NONE else super().chosen(choice)

    def pairs(self, items: Sequence[int], choice: str) -> list[ComparedPair]:
        """What is said about pairs: nothing, if none is acceptable."""
        return [] if choice == NONE else super().pairs(items, choice)


def _in_both_orders(region: Region) -> tuple[Region, ...]:
    """Regions that begin with the best trajectory: of two that are about equal, either one may be it."""
    first = region[0]
    if first.low != -MARGIN:
        return (region,)
    one, other = first.better, first.worse
    return (Constraint(one, other, ZERO, MARGIN),), (Constraint(other, one, ZERO, MARGIN),)


class PairOrNone(_OrNone, Pair):
    """Which of two is better: "left", "right", "equal", or "none"."""

    request = "Say which one you like better, or that neither is acceptable."


class BestOrNone(_OrNone, Best):
    """Which of several is the best, or "none"."""

    request = "Say which one you like best, or that none is acceptable."


class RankOrNone(_OrNone, Rank):
    """Several from the best to the worst, or "none"."""

    request = "Rank them, the one that you like best first, or say that none is acceptable."
