"""Labels: what a person says about one trajectory, compared with the bar.

A rating of L levels says between which two of L - 1 cut points the impression of the trajectory lies, less
that of the bar. With two levels the cut point is the bar itself: a success or a failure.
"""

from collections.abc import Sequence
from itertools import pairwise

from prefero.questions.kinds.base import ANYWHERE, CUTS, LEVELS, AnswerKind, Constraint, Region

LEVEL_WORDS: dict[int, tuple[str, ...]] = {  # the lowest first, if the user sets no others
    2: ("fail", "pass"),
    3: ("bad", "okay", "good"),
    4: ("very bad", "bad", "good", "very good"),
    5: ("very bad", "bad", "okay", "good", "very good"),
    6: ("very bad", "bad", "rather bad", "rather good", "good", "very good"),
    7: ("very bad", "bad", "rather bad", "okay", "rather good", "good", "very good"),
}


class Success(AnswerKind):
    """Whether a trajectory is acceptable: "fail" or "pass"."""

    request = "Say whether it is acceptable."

    @property
    def choices(self) -> tuple[str, ...]:
        """The lower one first."""
        return LEVEL_WORDS[2]

    def regions(self, choice: str) -> tuple[Region, ...]:
        """Above the bar, or below it."""
        return ((Constraint(*((0, 1) if choice == "pass" else (1, 0))),),)


class Rate(AnswerKind):
    """How good a trajectory is, in levels: "1", the lowest, "2" and so on."""

    request = "Say how good it is."

    @property
    def levels(self) -> int:
        """How many there are."""
        return int(self.name.rpartition("-")[2])

    @property
    def choices(self) -> tuple[str, ...]:
        """The levels from 1."""
        return tuple(str(level + 1) for level in range(self.levels))

    def regions(self, choice: str) -> tuple[Region, ...]:
        """Between two cut points; the lowest and the highest level have one."""
        ends = list(pairwise((-ANYWHERE, *CUTS[self.levels].tolist(), ANYWHERE)))
        low, high = ends[int(choice) - 1]
        if low == -ANYWHERE:  # a constraint has a finite lower bound
            return ((Constraint(1, 0, -high, ANYWHERE),),)
        return ((Constraint(0, 1, low, high),),)


def levels_of(kind: AnswerKind) -> int:
    """How many levels a label has; 0 for kinds that are no labels."""
    return len(kind.choices) if isinstance(kind, Success | Rate) else 0


def words_of(kind: AnswerKind, own: Sequence[str] = ()) -> tuple[str, ...]:
    """The words for the levels of a label: a user's own, if there are as many; none for other kinds."""
    levels = levels_of(kind)
    return tuple(own) if len(own) == levels else LEVEL_WORDS.get(levels, ())


def own_words(words: Sequence[str], kinds: Sequence[AnswerKind]) -> tuple[str, ...]:
    """A user's words for the levels of one of these kinds, none for the usual ones; or an error."""
    levels = [found for kind in kinds if (found := levels_of(kind))]
    if not words:
        return ()
    if not levels:
        raise ValueError(
            f"words for levels are for success and rate-{LEVELS[0]} to rate-{LEVELS[-1]}, but "
            f"{kinds[0].name!r} has no levels: leave them out"
        )
    return checked_words(words, len(words) if len(words) in levels else levels[0])


def checked_words(words: Sequence[str], levels: int) -> tuple[str, ...]:
    """The words for so many levels, the lowest first, or an error that says what is wrong with them."""
    stripped = tuple(word.strip() for word in words)
    if len(stripped) != levels or not all(stripped) or len(set(stripped)) != levels:
        raise ValueError(
            f"{levels} levels need {levels} different words, the lowest first, such as "
            f"{', '.join(LEVEL_WORDS[levels])}, but these are {', '.join(map(repr, words))}"
        )
    return stripped
