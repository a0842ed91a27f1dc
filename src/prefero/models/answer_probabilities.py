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
from prefero.models.likelihood import SQRT_2, SQRT_2PI
from prefero.questions.answer_kinds import Kind, choices_of, form_of, items_of, weak_orders

NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(32)
WEIGHTS = WEIGHTS / WEIGHTS.sum()
REACH, STEP = 6.5, 0.25  # of the grid of a trajectory's impression, in units of the noise
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
    chains = _Chains(rewards, margin)
    orders = [order for order in weak_orders(count) if ties or len(order) == count]
    found = np.zeros((len(rewards), len(orders)))
    place = {order: column for column, order in enumerate(orders)}
    for tied in product((False, True), repeat=count - 1) if ties else [(False,) * (count - 1)]:
        for items in permutations(range(count)):
            found[:, place[_grouped(items, tied)]] += chains.probability(items, tied)
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

    def __init__(self, rewards: Array, margin: Array) -> None:
        self.rewards, self.margin = rewards, margin
        self.density = np.exp(-0.5 * GRID**2) / SQRT_2PI
        self.known: dict[tuple[tuple[int, ...], tuple[bool, ...]], tuple[Array, Array]] = {}

    def probability(self, items: tuple[int, ...], tied: tuple[bool, ...]) -> Array:
        """P(the chain), (S,)."""
        total: Array = self._integrand(items, tied).sum(axis=1) * STEP
        return total

    def _integrand(self, items: tuple[int, ...], tied: tuple[bool, ...]) -> Array:
        """The density of the first impression times P(all others in their order below it), on its grid."""
        at = self.rewards[:, items[0], None] + GRID
        lower = self._below(items[1:], tied[1:], at - self.margin[:, None])
        if tied[0]:
            lower = self._below(items[1:], tied[1:], at) - lower
        return self.density * lower

    def _below(self, items: tuple[int, ...], tied: tuple[bool, ...], x: Array) -> Array:
        """P(the first impression lies below x, and the others in their order below it)."""
        from_middle = x - self.rewards[:, items[0], None]
        if len(items) == 1:
            below: Array = ndtr(from_middle)
            return below
        if (items, tied) not in self.known:
            slope = self._integrand(items, tied)
            self.known[items, tied] = _cumulative(slope), slope
        return _interpolated(*self.known[items, tied], from_middle)


def _cumulative(slope: Array) -> Array:
    """The integral of a function up to each point of the grid: trapezoids with their first correction."""
    sums = np.cumsum(0.5 * STEP * (slope[:, 1:] + slope[:, :-1]), axis=1)
    return np.pad(sums, ((0, 0), (1, 0))) - STEP**2 / 12.0 * np.gradient(slope, STEP, axis=1)


def _interpolated(values: Array, slopes: Array, x: Array) -> Array:
    """Cubic Hermite interpolation of a function on the grid; constant beyond its ends."""
    place = np.clip((x + REACH) / STEP, 0.0, len(GRID) - 1.0)
    i = np.minimum(place.astype(np.intp), len(GRID) - 2)
    t = place - i
    a, b = np.take_along_axis(values, i, 1), np.take_along_axis(values, i + 1, 1)
    da, db = np.take_along_axis(slopes, i, 1), np.take_along_axis(slopes, i + 1, 1)
    u = 1.0 - t
    between: Array = a * u**2 * (1 + 2 * t) + b * t**2 * (3 - 2 * t) + STEP * t * u * (da * u - db * t)
    return between
