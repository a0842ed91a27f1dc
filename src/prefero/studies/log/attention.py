"""Signs of carelessness in a participant's answers, by rules with fixed thresholds.

    fast          half of the answers or more, or 10 in a row, were given in less than 1 second
    one side      9 of 10 answers or more prefer the same side, or 15 in a row do
    alternating   9 of 10 answers or more prefer the other side than the answer before, or 15 in a row do
    one level     9 of 10 labels or more are the same level, or 15 in a row are
    retests       the participant contradicts so many earlier answers that a person who agrees with themselves
                  in 7 of 10 questions would do so with a probability below 5 %: 3 of 3, 4 of 5, 6 of 10

The sides of a question are random, so a careful person prefers each side about as often, in no order. "Equal"
has no side and is left out. Neighbors among five levels or more do not contradict each other, and the same
level may be right where all trajectories are alike. Fractions are judged from 10 times, and from 15 sides or
levels on, so that short sessions raise few false alarms. A sign is a reason to look at the answers, not a
proof.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from math import comb
from typing import Literal

from prefero.questions.answer_kinds import item_letter, kind_named
from prefero.questions.kinds.label import levels_of
from prefero.studies.log.event_log import ActiveAnswer, EventLog
from prefero.studies.protocol.protocol import RETEST

SignKind = Literal["fast", "one side", "alternating", "one level", "retests"]

FAST_SECONDS, FAST_FRACTION, FAST_RUN = 1.0, 0.5, 10
SIDE_FRACTION, SIDE_RUN = 0.9, 15
AGREEMENT, LEAST_CHANCE = 0.7, 0.05
SIDES = "left", "right"
LEVELS_APART = 4  # from the lowest to the highest, for each level by which a second answer may differ


@dataclass(frozen=True)
class CarelessSign:
    """One rule that the answers meet, and the numbers that it was judged by."""

    kind: SignKind
    reason: str


def careless_signs(log: EventLog) -> list[CarelessSign]:
    """The signs of carelessness in the active answers."""
    sides = [side for active in log.answers if (side := side_of(active)) is not None]
    side = "left" if 2 * sides.count("left") >= len(sides) else "right"
    found = [
        _fast([active.event.seconds for active in log.answers if active.event.seconds is not None]),
        _pattern("one side", f"prefer {item_letter(SIDES.index(side))}", [one == side for one in sides]),
        _pattern(
            "alternating", "prefer the other side than the one before", [a != b for a, b in pairwise(sides)]
        ),
        _one_level([active for active in log.answers if levels_of(kind_named(active.asked.kind))]),
        _retests(retest_agreements(log)),
    ]
    return [sign for sign in found if sign is not None]


def _fast(seconds: Sequence[float]) -> CarelessSign | None:
    fast = [time < FAST_SECONDS for time in seconds]
    often = len(fast) >= FAST_RUN and sum(fast) >= FAST_FRACTION * len(fast)
    if not often and _longest_run(fast) < FAST_RUN:
        return None
    return CarelessSign("fast", f"{sum(fast)} of {len(fast)} answers came in less than {FAST_SECONDS:g} s")


def _one_level(labels: Sequence[ActiveAnswer]) -> CarelessSign | None:
    said = [(active.asked.kind, active.choice) for active in labels]
    if not said:
        return None
    usual = max(said, key=said.count)
    return _pattern("one level", f"are {usual[1]!r}", [one == usual for one in said])


def _pattern(kind: SignKind, does: str, fits: Sequence[bool]) -> CarelessSign | None:
    """A pattern of sides or levels; `fits` says which answers follow it."""
    run = _longest_run(fits)
    often = len(fits) >= SIDE_RUN and sum(fits) >= SIDE_FRACTION * len(fits)
    if not often and run < SIDE_RUN:
        return None
    together = f", {run} of them in a row" if run < len(fits) else ""
    return CarelessSign(kind, f"{sum(fits)} of {len(fits)} answers {does}{together}")


def _retests(agreed: Sequence[bool]) -> CarelessSign | None:
    same, n = sum(agreed), len(agreed)
    chance = sum(comb(n, k) * AGREEMENT**k * (1 - AGREEMENT) ** (n - k) for k in range(same + 1))
    if n == 0 or chance >= LEAST_CHANCE:
        return None
    return CarelessSign(
        "retests", f"{n - same} of {n} repeated questions were answered otherwise than before"
    )


def _longest_run(flags: Iterable[bool]) -> int:
    """The most flags in a row that are true."""
    return max((len(list(run)) for flag, run in groupby(flags) if flag), default=0)


# --- retests ----------------------------------------------------------------------------------------------


def retest_agreements(log: EventLog) -> list[bool]:
    """For each retest, whether it was answered in the same way as the first time."""
    first: dict[tuple[str, frozenset[int]], ActiveAnswer] = {}
    agreed = []
    for active in log.answers:
        asked = active.asked.asks_same
        if active.asked.method == RETEST and asked in first:
            agreed.append(_agree(active, first[asked]))
        else:
            first.setdefault(asked, active)
    return agreed


def _agree(active: ActiveAnswer, first: ActiveAnswer) -> bool:
    """Whether two answers of one kind about the same trajectories say the same, or are close levels."""
    kind = kind_named(active.asked.kind)
    levels = levels_of(kind)
    if not levels:
        return _meaning(active) == _meaning(first)
    apart = abs(kind.choices.index(active.choice) - kind.choices.index(first.choice))
    return apart <= (levels - 1) // LEVELS_APART


def side_of(active: ActiveAnswer) -> str | None:
    """The side that an answer about a pair prefers; None for "about equal", and for other questions."""
    place = kind_named(active.asked.kind).chosen(active.choice)
    return None if place is None or len(active.asked.items) != 2 else SIDES[place]


def _meaning(active: ActiveAnswer) -> frozenset[frozenset[object]]:
    """What an answer says, whatever the order in which the trajectories were shown."""
    regions = kind_named(active.asked.kind).regions(active.choice)
    return frozenset(frozenset(one.of(active.asked.items).meaning for one in region) for region in regions)
