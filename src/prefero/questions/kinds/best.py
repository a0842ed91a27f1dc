"""Answers about several trajectories: which is the best, or the worst, by its place: "1", "2", ..."""

from prefero.questions.kinds.base import AnswerKind, Constraint, Region


class Best(AnswerKind):
    """Which of several is the best; never a tie."""

    request = "Say which one you like best."

    @property
    def choices(self) -> tuple[str, ...]:
        """Places, from 1."""
        return tuple(str(place + 1) for place in range(self.items))

    def regions(self, choice: str) -> tuple[Region, ...]:
        """The chosen one before each other one."""
        best = int(choice) - 1
        return (tuple(Constraint(best, other) for other in range(self.items) if other != best),)

    def chosen(self, choice: str) -> int | None:
        """It is the choice."""
        return int(choice) - 1


class Worst(Best):
    """Which of several is the worst."""

    request = "Say which one you like least."

    def regions(self, choice: str) -> tuple[Region, ...]:
        """Each other one before the chosen one."""
        (region,) = super().regions(choice)
        return (tuple(Constraint(other, worst) for worst, other, *_ in region),)
