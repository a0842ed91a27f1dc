"""The probability of every possible answer, given the rewards of the trajectories in a question.

    rewards    (S, k)   of the k trajectories, for S draws of the reward
    noise      (S,)     standard deviation of an impression; margin, strong margin and lapse rate likewise
    impression          reward plus noise; the k impressions are independent given the rewards
    chain               an order of the k, and for each neighbours whether they differ by less than the margin

Pairs are closed. The best of k is a one-dimensional integral by Gauss-Hermite quadrature. A ranking is a
chain of integrals, from the worst trajectory to the best: below(x), the probability that an impression lies
below x and all worse ones in their order below it, is integrated on a grid of each trajectory and
interpolated on that of the next. Chains share their ends, so each end is integrated once.
"""

from dataclasses import dataclass
from itertools import permutations, product

import numpy as np
from scipy.special import ndtr

from prefero._support.arrays import Array
from prefero.models.likelihood.probit import SQRT_2, SQRT_2PI
from prefero.questions.answer_kinds import Kind, choices_of, form_of, items_of, weak_orders

NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(14)
WEIGHTS = WEIGHTS / WEIGHTS.sum()
REACH, STEP = 5.25, 0.25  # of the grid of a trajectory's impression, in units of the noise
GRID = np.arange(-REACH, REACH + 0.5 * STEP, STEP)


@dataclass(frozen=True, eq=False)
class People:
    """How draws of a person answer: noise, margin, strong margin and lapse rate, (S,) each."""

    noise: Array
    margin: Array
    strong_margin: Array
    lapse: Array


def answer_probabilities(rewards: Array, kind: Kind, people: People, ties: bool) -> Array:
    """The probabilities of `choices_of(kind, ties)`, shape (S, choices), with a quadrature error below 1e-4.

    Args:
        rewards: Of the trajectories, (S, k).
        kind: Of the answer.
        people: How each draw answers.
        ties: Whether "about equal" is an answer; without it the margin is 0.

    Returns:
        The probabilities.
    """
    form, margin = form_of(kind), people.margin if ties else np.zeros_like(people.margin)
    if rewards.shape[1] != items_of(kind):
        raise ValueError(f"{kind!r} needs {items_of(kind)} rewards a row, but these have {rewards.shape[1]}")
    if form in ("pair", "strength"):
        meant = _pairs(rewards, people, margin, form == "strength", ties)
    elif form == "rank":
        meant = _rankings(rewards / people.noise[:, None], margin / people.noise, ties)
    else:
        sign = 1.0 if form == "best" else -1.0
        meant = _best(sign * rewards / people.noise[:, None])
    lapse = people.lapse[:, None]
    return (1.0 - lapse) * meant + lapse / len(choices_of(kind, ties))


def _pairs(rewards: Array, people: People, margin: Array, strength: bool, ties: bool) -> Array:
    """left, right and equal; or much, slightly, equal, slightly, much."""
    gap, scale = rewards[:, 0] - rewards[:, 1], SQRT_2 * people.noise
    left, right = ndtr((gap - margin) / scale), ndtr((-gap - margin) / scale)
    equal = [ndtr((margin - gap) / scale) - right] if ties else []
    if not strength:
        return np.column_stack([left, right, *equal])
    strong = people.strong_margin
    much_left, much_right = ndtr((gap - strong) / scale), ndtr((-gap - strong) / scale)
    return np.column_stack([much_left, left - much_left, *equal, right - much_right, much_right])


def _best(rewards: Array) -> Array:
    """P(each is the best), for a noise of 1."""
    found = np.empty_like(rewards)
    for best in range(rewards.shape[1]):
        others = np.delete(rewards, best, axis=1)
        lead = rewards[:, best, None, None] - others[:, :, None] + NODES
        found[:, best] = ndtr(lead).prod(axis=1) @ WEIGHTS
    return found


def _rankings(rewards: Array, margin: Array, ties: bool) -> Array:
    """P(each ranking), for a noise of 1."""
    count = rewards.shape[1]
    chains = _Chains(rewards, margin, ties)
    orders = [order for order in weak_orders(count) if ties or len(order) == count]
    found = np.zeros((len(rewards), len(orders)))
    place = {order: column for column, order in enumerate(orders)}
    for tied in product((False, True), repeat=count - 2) if ties else [(False,) * (count - 2)]:
        for items in permutations(range(count)):
            for first, integrand in chains.integrands(items, tied).items():
                found[:, place[_grouped(items, (first, *tied))]] += STEP * integrand.sum(axis=1)
    return found


def _grouped(items: tuple[int, ...], tied: tuple[bool, ...]) -> tuple[tuple[int, ...], ...]:
    """The ranking that a chain belongs to."""
    groups = [[items[0]]]
    for item, together in zip(items[1:], tied, strict=True):
        if together:
            groups[-1].append(item)
        else:
            groups.append([item])
    return tuple(tuple(sorted(group)) for group in groups)


class _Chains:
    """The integrals of chains, from their ends on."""

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
