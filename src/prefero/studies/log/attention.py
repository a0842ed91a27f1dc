"""Signs of carelessness in a participant's answers, by rules with fixed thresholds.

    fast          half of the answers or more, or 10 in a row, were given in less than 1 second
    one side      9 of 10 answers or more prefer the same side, or 15 in a row do
    alternating   9 of 10 answers or more prefer the other side than the answer before, or 15 in a row do
    retests       the participant contradicts so many earlier answers that a person who agrees with themselves
                  in 7 of 10 questions would do so with a probability below 5 %: 3 of 3, 4 of 5, 6 of 10

The sides of a question are random, so a careful person prefers each side about as often, in no order. "Equal"
has no side and is left out. Fractions are judged from 10 times and from 15 sides on, so that short sessions
raise few false alarms. A sign is a reason to look at the answers, not a proof.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from math import comb
from typing import Literal

from prefero.questions.answer_kinds import item_letter, kind_named
from prefero.studies.log.event_log import ActiveAnswer, EventLog
from prefero.studies.protocol.protocol import RETEST

SignKind = Literal["fast", "one side", "alternating", "retests"]

FAST_SECONDS, FAST_FRACTION, FAST_RUN = 1.0, 0.5, 10
SIDE_FRACTION, SIDE_RUN = 0.9, 15
AGREEMENT, LEAST_CHANCE = 0.7, 0.05
SIDES = "left", "right"


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
        _retests(retest_agreements(log)),
    ]
    return [sign for sign in found if sign is not None]


def _fast(seconds: Sequence[float]) -> CarelessSign | None:
    fast = [time < FAST_SECONDS for time in seconds]
    often = len(fast) >= FAST_RUN and sum(fast) >= FAST_FRACTION * len(fast)
    if not often and _longest_run(fast) < FAST_RUN:
        return None
    return CarelessSign("fast", f"{sum(fast)} of {len(fast)} answers came in less than {FAST_SECONDS:g} s")


def _pattern(kind: SignKind, does: str, fits: Sequence[bool]) -> CarelessSign | None:
    """A pattern of sides; `fits` says which answers follow it."""
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
    first: dict[frozenset[int], ActiveAnswer] = {}
    agreed = []
    for active in log.answers:
        items = frozenset(active.asked.items)
        if active.asked.method == RETEST and items in first:
            agreed.append(_meaning(active) == _meaning(first[items]))
        else:
            first.setdefault(items, active)
    return agreed


def side_of(active: ActiveAnswer) -> str | None:
    """The side that an answer about a pair prefers; None for "about equal", and for other questions."""
    place = kind_named(active.asked.kind).chosen(active.choice)
    return None if place is None or len(active.asked.items) != 2 else SIDES[place]


def _meaning(active: ActiveAnswer) -> frozenset[frozenset[object]]:
    """What an answer says, whatever the order in which the trajectories were shown."""
    regions = kind_named(active.asked.kind).regions(active.choice)
    return frozenset(frozenset(one.of(active.asked.items).meaning for one in region) for region in regions)
