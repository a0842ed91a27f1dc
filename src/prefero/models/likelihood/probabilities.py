"""The probability of every possible answer, given the rewards of the trajectories in a question.

    rewards    (S, k)   of the k trajectories, for S draws of the reward; where answers say what is
                        acceptable, the bar is the last of them
    noise      (S,)     standard deviation of an impression; margin, strong margin and lapse rate likewise
    impression          reward plus noise; the k impressions are independent given the rewards
    chain               an order of the k, and for each neighbours whether they differ by less than the margin

The probability of a choice is that of its regions (`prefero.questions.kinds.base`). For any kind it is found
by expectation propagation, with errors of about 0.01. Some have faster rules, with errors below 1e-4: an
interval of one difference is closed, and the best of k is a one-dimensional integral by Gauss-Hermite
quadrature. A ranking is a chain of integrals, from the worst trajectory to the best: below(x), the
probability that an impression lies below x and all worse ones in their order below it, is integrated on a
grid of each trajectory and interpolated on that of the next. Chains share their ends, so each end is
integrated once.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import permutations, product

import numpy as np
from scipy.special import ndtr

from prefero._support.arrays import Array
from prefero.models.likelihood.joint import region_probability
from prefero.models.likelihood.probit import SQRT_2, SQRT_2PI
from prefero.models.likelihood.regions import differences
from prefero.questions.answer_kinds import Kind, choices_of, kind_named
from prefero.questions.kinds.base import TYPICAL_CUT_POINTS, AnswerKind, bound_values
from prefero.questions.kinds.best import Best, Worst
from prefero.questions.kinds.or_none import BestOrNone, PairOrNone, RankOrNone
from prefero.questions.kinds.rank import Rank, ranking_of

NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(14)
WEIGHTS = WEIGHTS / WEIGHTS.sum()
REACH, STEP = 5.25, 0.25  # of the grid of a trajectory's impression, in units of the noise
GRID = np.arange(-REACH, REACH + 0.5 * STEP, STEP)


@dataclass(frozen=True, eq=False)
class People:
    """How draws of a person answer: noise, margins and lapse rate, (S,), and cut points, (S, 20)."""

    noise: Array
    margin: Array
    strong_margin: Array
    lapse: Array
    cut_points: Array = field(default_factory=lambda: TYPICAL_CUT_POINTS)

    def __post_init__(self) -> None:
        cut_points = np.broadcast_to(self.cut_points, (len(self.noise), len(TYPICAL_CUT_POINTS)))
        object.__setattr__(self, "cut_points", cut_points)

    def repeated(self, count: int) -> "People":
        """Each one so many times in a row."""
        return People(*(np.repeat(values, count, axis=0) for values in vars(self).values()))

    @property
    def bounds(self) -> Array:
        """The values of the bounds at their own numbers, (S, bounds)."""
        return bound_values(self.margin, self.strong_margin, self.cut_points)


def answer_probabilities(rewards: Array, kind: Kind, people: People, ties: bool) -> Array:
    """The probabilities of `choices_of(kind, ties)`, shape (S, choices).

    Args:
        rewards: Of the trajectories, and of the bar where the kind is about it, (S, places).
        kind: Of the answer.
        people: How each draw answers.
        ties: Whether "about equal" is an answer; without it the margin is 0.

    Returns:
        The probabilities.
    """
    asked = kind_named(kind)
    if rewards.shape[1] != asked.places:
        raise ValueError(f"{kind!r} needs {asked.places} rewards a row, but these have {rewards.shape[1]}")
    if not ties:
        people = replace(people, margin=np.zeros_like(people.margin))
    lapse, choices = people.lapse[:, None], choices_of(kind, ties)
    meant = _rule_for(asked)(asked, rewards, people, choices)
    return (1.0 - lapse) * meant + lapse / len(choices)


def takes_long(kind: Kind) -> bool:
    """Whether probabilities of this kind are more than an integral in one dimension."""
    return _rule_for(kind_named(kind)) not in (_intervals, _best, _worst, _pair_or_none)


Rule = Callable[[AnswerKind, Array, People, Sequence[str]], Array]


@cache
def _rule_for(kind: AnswerKind) -> Rule:
    """The fastest rule that there is for a kind."""
    intervals = all(len(region) == 1 for choice in kind.choices for region in kind.regions(choice))
    return _intervals if intervals else RULES.get(type(kind), _regions)


def _intervals(kind: AnswerKind, rewards: Array, people: People, choices: Sequence[str]) -> Array:
    """Where every region is an interval of one difference."""
    scale, bounds = SQRT_2 * people.noise, people.bounds.T

    def chance(better: int, worse: int, low: int, high: int) -> Array:
        gap = rewards[:, better] - rewards[:, worse]
        return np.asarray(ndtr((gap - bounds[low]) / scale) - ndtr((gap - bounds[high]) / scale))

    return np.column_stack([sum(chance(*one) for (one,) in kind.regions(choice)) for choice in choices])


def _regions(kind: AnswerKind, rewards: Array, people: People, choices: Sequence[str]) -> Array:
    """By expectation propagation, whose probabilities add up to one only nearly."""
    bounds, found = people.bounds, np.zeros((len(rewards), len(choices)))
    for column, choice in enumerate(choices):
        for region in kind.regions(choice):
            D, (_, _, low, high) = differences(region, kind.places), np.transpose(region)
            gaps, K = rewards @ D.T, people.noise[:, None, None] ** 2 * (D @ D.T)
            at, _, _ = region_probability(bounds[:, low] - gaps, bounds[:, high] - gaps, K)
            found[:, column] += np.exp(at.log)
    found /= found.sum(axis=1, keepdims=True)
    return found


def _best(kind: AnswerKind, rewards: Array, people: People, choices: Sequence[str]) -> Array:
    """P(each is the best)."""
    del kind, choices
    rewards = rewards / people.noise[:, None]
    found = np.empty_like(rewards)
    for best in range(rewards.shape[1]):
        others = np.delete(rewards, best, axis=1)
        lead = rewards[:, best, None, None] - others[:, :, None] + NODES
        found[:, best] = ndtr(lead).prod(axis=1) @ WEIGHTS
    return found


def _worst(kind: AnswerKind, rewards: Array, people: People, choices: Sequence[str]) -> Array:
    """P(each is the worst)."""
    return _best(kind, -rewards, people, choices)


def _pair_or_none(kind: AnswerKind, rewards: Array, people: People, choices: Sequence[str]) -> Array:
    """P(each side), P(about equal) where that is a choice, and P(none): integrals over the better one."""
    rewards, margin = rewards / people.noise[:, None], (people.margin / people.noise)[:, None]
    found = dict.fromkeys(kind.choices, np.zeros(len(rewards)))
    for side, (better, worse) in {"left": (0, 1), "right": (1, 0)}.items():
        seen = rewards[:, better, None] + NODES
        above, lead = ndtr(seen - rewards[:, 2:]), seen - rewards[:, worse, None]
        found[side] = (above * ndtr(lead - margin)) @ WEIGHTS
        found["equal"] = found["equal"] + (above * (ndtr(lead) - ndtr(lead - margin))) @ WEIGHTS
    found["none"] = 1.0 - found["left"] - found["right"] - found["equal"]
    return np.maximum(np.column_stack([found[choice] for choice in choices]), 0.0)


def _rankings_or_none(kind: AnswerKind, rewards: Array, people: People, choices: Sequence[str]) -> Array:
    """P(each ranking), less that of the same order below the bar, and P(none)."""
    *ranked, _ = choices
    found = _rankings(kind, rewards[:, :-1], people, ranked)
    ties = any(map(kind.is_tied, ranked))
    chains = _Chains(rewards / people.noise[:, None], people.margin / people.noise, ties)
    place = {ranking_of(choice): column for column, choice in enumerate(ranked)}
    for tied in product((False, True), repeat=kind.items - 1) if ties else [(False,) * (kind.items - 1)]:
        for items in permutations(range(kind.items)):
            integrands = chains.integrands((kind.items, *items), tied).values()
            below = STEP * sum(integrand.sum(axis=1) for integrand in integrands)
            found[:, place[_tiers(items, tied)]] -= below
    found = np.maximum(found, 0.0)
    return np.column_stack([found, np.maximum(1.0 - found.sum(axis=1), 0.0)])


def _rankings(kind: AnswerKind, rewards: Array, people: People, choices: Sequence[str]) -> Array:
    """P(each ranking)."""
    count, ties = kind.items, any(map(kind.is_tied, choices))
    chains = _Chains(rewards / people.noise[:, None], people.margin / people.noise, ties)
    found = np.zeros((len(rewards), len(choices)))
    place = {ranking_of(choice): column for column, choice in enumerate(choices)}
    for tied in product((False, True), repeat=count - 2) if ties else [(False,) * (count - 2)]:
        for items in permutations(range(count)):
            for first, integrand in chains.integrands(items, tied).items():
                found[:, place[_tiers(items, (first, *tied))]] += STEP * integrand.sum(axis=1)
    return found


def _tiers(items: tuple[int, ...], tied: tuple[bool, ...]) -> tuple[tuple[int, ...], ...]:
    """The ranking that a chain belongs to."""
    tiers = [[items[0]]]
    for item, together in zip(items[1:], tied, strict=True):
        if together:
            tiers[-1].append(item)
        else:
            tiers.append([item])
    return tuple(tuple(sorted(tier)) for tier in tiers)


RULES: dict[type[AnswerKind], Rule] = {
    Best: _best,
    Worst: _worst,
    Rank: _rankings,
    BestOrNone: _best,
    PairOrNone: _pair_or_none,
    RankOrNone: _rankings_or_none,
}


class _Chains:
    """The integrals of chains, from their ends on, for a noise of 1."""

    def __init__(self, rewards: Array, margin: Array, ties: bool) -> None:
        self.rewards, self.margin, self.ties = rewards, margin, ties
        self.density = np.exp(-0.5 * GRID**2) / SQRT_2PI
        self.ends: dict[tuple[tuple[int, ...], tuple[bool, ...]], tuple[Array, Array]] = {}
        self.places: dict[tuple[int, int, bool], _Interpolation] = {}

    def integrands(self, items: tuple[int, ...], tied: tuple[bool, ...]) -> dict[bool, Array]:
        """By whether the first two are tied: the density of the first impression times P(all others in their
        order below it), on its grid; `tied` is of the other neighbours.
        """
        apart = self._below(items, tied, clear=True)
        if not self.ties:
            return {False: self.density * apart}
        near = self._below(items, tied, clear=False) - apart
        return {False: self.density * apart, True: self.density * near}

    def _below(self, items: tuple[int, ...], tied: tuple[bool, ...], clear: bool) -> Array:
        """P(all others in their order below the first), `clear`: by the margin; on the grid of the first."""
        first, second, *more = items
        if not more:
            return np.asarray(ndtr(self._from_middle(first, second, clear)))
        if (first, second, clear) not in self.places:
            self.places[first, second, clear] = _Interpolation(self._from_middle(first, second, clear))
        return self.places[first, second, clear](*self._end(items[1:], tied))

    def _from_middle(self, first: int, second: int, clear: bool) -> Array:
        """The first's grid, perhaps less the margin, as distances from the reward of the second."""
        gap = self.rewards[:, first] - self.rewards[:, second] - (self.margin if clear else 0.0)
        distance: Array = gap[:, None] + GRID
        return distance

    def _end(self, items: tuple[int, ...], tied: tuple[bool, ...]) -> tuple[Array, Array]:
        """P(the first impression lies below x, and the others in their order below it), and its slope."""
        if (items, tied) not in self.ends:
            for first, slope in self.integrands(items, tied[1:]).items():
                self.ends[items, (first, *tied[1:])] = _cumulative(slope), slope
        return self.ends[items, tied]


def _cumulative(slope: Array) -> Array:
    """The integral of a function up to each point of the grid: trapezoids with their first correction."""
    sums = np.cumsum(0.5 * STEP * (slope[:, 1:] + slope[:, :-1]), axis=1)
    return np.pad(sums, ((0, 0), (1, 0))) - STEP**2 / 12.0 * np.gradient(slope, STEP, axis=1)


class _Interpolation:
    """Cubic Hermite interpolation of functions on the grid at the same places x; constant beyond its ends."""

    def __init__(self, x: Array) -> None:
        place = np.clip((x + REACH) / STEP, 0.0, len(GRID) - 1.0)
        i = np.minimum(place.astype(np.intp), len(GRID) - 2)
        t, rows = place - i, len(GRID) * np.arange(len(x))[:, None]
        u = 1.0 - t
        self.left, self.right = rows + i, rows + i + 1
        self.values = u**2 * (1.0 + 2.0 * t), t**2 * (3.0 - 2.0 * t)
        self.slopes = STEP * t * u**2, -STEP * t**2 * u

    def __call__(self, values: Array, slopes: Array) -> Array:
        """The function with these values and slopes, (S, grid) each."""
        (a, b), (da, db) = self.values, self.slopes
        found: Array = a * values.take(self.left) + b * values.take(self.right)
        found += da * slopes.take(self.left)
        found += db * slopes.take(self.right)
        return found
