"""Rankings: several trajectories from the best to the worst, "2>1>3"; where ties are allowed also "2>1=3".

    tiers    places that are about equal together, in ascending order; the best tier first

A person sorts the impressions, and calls neighbours equal that differ by less than the margin. So a ranking
with ties is several regions, one for each order of the tied trajectories.
"""

from collections.abc import Sequence
from functools import cache
from itertools import chain, pairwise, permutations, product

from prefero.questions.kinds.base import ANYWHERE, MARGIN, ZERO, AnswerKind, ComparedPair, Constraint, Region

Tiers = tuple[tuple[int, ...], ...]
TIED, APART = (ZERO, MARGIN), (MARGIN, ANYWHERE)


class Rank(AnswerKind):
    """Several from the best to the worst."""

    request = "Rank them, the one that you like best first."
    is_listed = False

    @property
    def choices(self) -> tuple[str, ...]:
        """All orders, with ties."""
        return tuple(ranking_word(order) for order in weak_orders(self.items))

    @property
    def patterns(self) -> tuple[str, ...]:
        """Places with signs between them."""
        place = f"[1-{self.items}]"
        return (f"{place}([>=]{place}){{{self.items - 1}}}",)

    def canonical(self, choice: str) -> str:
        """Places that are tied in ascending order."""
        tiers = ranking_of(choice)
        choice = ranking_word(tiers)
        if sum(map(len, tiers)) != self.items:
            raise ValueError(f"{choice!r} does not rank the {self.items} trajectories of the question")
        return choice

    def is_tied(self, choice: str) -> bool:
        """Whether some share a place."""
        return "=" in choice

    def regions(self, choice: str) -> tuple[Region, ...]:
        """Each trajectory before the next one, in every order of those that are tied."""
        tiers = ranking_of(choice)
        rank = {place: number for number, tier in enumerate(tiers) for place in tier}
        orders = (chain(*order) for order in product(*map(permutations, tiers)))
        return tuple(
            tuple(Constraint(a, b, *(TIED if rank[a] == rank[b] else APART)) for a, b in pairwise(order))
            for order in orders
        )

    def pairs(self, items: Sequence[int], choice: str) -> list[ComparedPair]:
        """Each trajectory with the next one."""
        return self._shown_pairs(items, self.rows(choice))

    def chosen(self, choice: str) -> int | None:
        """The best one, if it is alone."""
        best, *_ = ranking_of(choice)
        return best[0] if len(best) == 1 else None


@cache
def weak_orders(count: int) -> tuple[Tiers, ...]:
    """All rankings with ties of the places 0 to count - 1."""
    ranks = (
        found for found in product(range(count), repeat=count) if set(found) == set(range(max(found) + 1))
    )
    return tuple(
        tuple(
            tuple(place for place in range(count) if found[place] == rank) for rank in range(max(found) + 1)
        )
        for found in ranks
    )


def ranking_word(tiers: Tiers) -> str:
    """The word for a ranking of places: ((1,), (0, 2)) is "2>1=3"."""
    return ">".join("=".join(str(place + 1) for place in sorted(tier)) for tier in tiers)


def ranking_of(word: str) -> Tiers:
    """The tiers that a ranking's word names.

    Args:
        word: Of a ranking, such as "2>1=3".

    Returns:
        The tiers, such as ((1,), (0, 2)).

    Raises:
        ValueError: If it is no ranking of all places.
    """
    try:
        tiers = tuple(tuple(sorted(int(p) - 1 for p in tier.split("="))) for tier in word.split(">"))
    except (AttributeError, ValueError):
        tiers = ()
    places = sorted(place for tier in tiers for place in tier)
    if not places or places != list(range(len(places))):
        raise ValueError(
            "a ranking names the place of each trajectory once, the best first, such as '2>1=3', "
            f"but this is {word!r}"
        )
    return tiers
