"""Kinds of answers that Prefero does not have: several regions, and no order of the trajectories."""

from prefero.questions.kinds.base import MARGIN, AnswerKind, Constraint, Region


class Middle(AnswerKind):
    """Which of three is neither the best nor the worst."""

    request = "Say which one is in the middle."

    @property
    def choices(self) -> tuple[str, ...]:
        """Places, from 1."""
        return "1", "2", "3"

    def regions(self, choice: str) -> tuple[Region, ...]:
        """It lies between the two others, of which either may be the best."""
        middle = int(choice) - 1
        one, other = (place for place in range(3) if place != middle)
        return tuple((Constraint(a, middle), Constraint(middle, b)) for a, b in ((one, other), (other, one)))


class Alike(AnswerKind):
    """Whether two are about equal, and not which is better."""

    request = "Say whether you like them about equally."

    @property
    def choices(self) -> tuple[str, ...]:
        """Two words."""
        return "different", "alike"

    def regions(self, choice: str) -> tuple[Region, ...]:
        """They differ by less than the margin, or by more in either direction."""
        if choice == "alike":
            return ((Constraint(0, 1, -MARGIN, MARGIN),),)
        return ((Constraint(0, 1, MARGIN),), (Constraint(1, 0, MARGIN),))


MIDDLE, ALIKE = Middle("middle-of-3", 3), Alike("alike")
