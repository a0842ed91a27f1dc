"""How the reward depends on each feature alone: how much it matters, and whether more of it is better.

    profile    of a feature: the reward at some of its values, all other features at their mean
    values     of a feature: evenly spaced quantiles over the pool, so that outliers count as rarely as they
               occur; of a category without an order its levels, which count as often as they occur
    effect     of a feature: its fraction of the sum of all profiles' standard deviations. One that matters
               has an effect of a tenth or more, and among few features at least half of the average effect
    shape      of a profile: "rising", "falling", "peak", "valley" or "other"

All are properties of a reward, and the posterior gives each reward a probability. So an effect has a mean and
an interval, and a shape has a probability: the fraction of draws whose profile has it. A drop on the way
up that is smaller than `TOLERANCE` of the profile's range does not count.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np

from prefero._support.arrays import Array, Flags, Indices, one_thread
from prefero._support.ordering import largest_first
from prefero.models.posterior.draws import Estimate, draw_rewards, interval
from prefero.models.posterior.gaussian import Distribution
from prefero.trajectories.categories import Variable
from prefero.trajectories.features import Scaling

Shape = Literal["rising", "falling", "peak", "valley", "other"]
VALUES = 15  # of each feature
MOST = 20  # features whose profiles are drawn jointly; of more, those that matter most
TOLERANCE = 0.1  # of a profile's range
MATTERS = 0.1  # least effect of a feature that matters
OF_AVERAGE = 0.5  # its least fraction of the average effect


@dataclass(frozen=True)
class Profile:
    """What the posterior says about the reward along one feature.

    feature    its place among the variables of the scaling; without categories that is its column
    matters    the probability that the feature matters
    shapes     the probability of each shape; none for a category without an order
    extreme    a 90 % interval and the median of where the peak or the valley is, in the units of x; None for
               shapes without one
    largest    the probability that no other feature has a larger effect
    best       the probability that each level of a category without an order is the best; none for a number
    worst      the same for the worst
    """

    feature: int
    effect: Estimate
    matters: float
    shapes: dict[Shape, float]
    extreme: tuple[float, float, float] | None
    largest: float
    best: tuple[float, ...] = ()
    worst: tuple[float, ...] = ()

    @property
    def shape(self) -> Shape:
        """The most probable shape."""
        return max(self.shapes, key=lambda shape: self.shapes[shape], default="other")


class _Line(NamedTuple):
    """The points along one variable."""

    points: Array  # (P, d)
    weights: Array  # (P,), which add up to 1
    values: Array  # (P,), of the variable; of a category without an order its places
    is_one_hot: bool


@one_thread
def profiles(belief: Distribution, x: Array, scaling: Scaling | None = None) -> list[Profile]:
    """The profiles of all features over the trajectories x, or of the `MOST` that matter most.

    With a scaling, the features of a category are one profile.
    """
    lines = [_line(x, variable, scaling) for variable in _variables(x, scaling)]
    if not lines:  # features of steps mean nothing alone
        return []
    chosen = _leading(belief, lines)
    draws = draw_rewards(belief, np.concatenate([lines[place].points for place in chosen]))
    ends = np.cumsum([len(lines[place].points) for place in chosen])[:-1]
    drawn = np.split(draws.rewards, ends, axis=1)
    stds = [_std(rewards, lines[place].weights) for place, rewards in zip(chosen, drawn, strict=True)]
    effects = _fractions(np.stack(stds, axis=1))
    largest, least = np.argmax(effects, axis=1), least_effect(len(chosen))
    return [
        _profile(int(place), effects[:, n], least, largest == n, lines[place], drawn[n], draws.weights)
        for n, place in enumerate(chosen.tolist())
    ]


def _profile(
    place: int, effects: Array, least: float, largest: Flags, line: _Line, drawn: Array, weights: Array
) -> Profile:
    some = Profile(
        feature=place,
        effect=_summary(effects, weights),
        matters=float(weights[effects >= least].sum()),
        shapes={},
        extreme=None,
        largest=float(weights[largest].sum()),
    )
    if line.is_one_hot:
        return replace(some, best=_extreme_levels(drawn, weights), worst=_extreme_levels(-drawn, weights))
    shapes, extreme = _probabilities(drawn, weights), _extreme(drawn, weights, line.values)
    return replace(some, shapes=shapes, extreme=extreme)


def least_effect(features: int) -> float:
    """The least effect of one of so many features that matters."""
    return max(OF_AVERAGE / features, MATTERS)


def _extreme_levels(drawn: Array, weights: Array) -> tuple[float, ...]:
    """How probable it is that each level has the highest reward."""
    highest = np.argmax(drawn, axis=1)
    return tuple(float(weights[highest == level].sum()) for level in range(drawn.shape[1]))


def _variables(x: Array, scaling: Scaling | None) -> tuple[Variable, ...]:
    if scaling is None:
        return tuple(Variable(str(place), (place,)) for place in range(x.shape[1]))
    return scaling.variables


def quantiles(x: Array, feature: int) -> Array:
    """The values of a feature at which its profile is drawn, (VALUES,)."""
    return np.quantile(x[:, feature], (np.arange(VALUES) + 0.5) / VALUES)


def shape_masks(profiles: Array) -> dict[Shape, Flags]:
    """Which rows of profiles (S, VALUES) have which shape; every row has one."""
    slack = TOLERANCE * np.ptp(profiles, axis=1)
    rising, falling = _drop(profiles) <= slack, _drop(-profiles) <= slack
    peak, valley = _rises_then_falls(profiles, slack), _rises_then_falls(-profiles, slack)
    simple = rising | falling
    return {
        "rising": rising & ~falling,
        "falling": falling & ~rising,
        "peak": peak & ~simple,
        "valley": valley & ~simple & ~peak,
        "other": ~simple & ~peak & ~valley | rising & falling,
    }


def _line(x: Array, variable: Variable, scaling: Scaling | None) -> _Line:
    """Points that differ in one variable only."""
    if scaling is not None and variable.is_one_hot:
        points = level_points(x.mean(axis=0), variable, scaling)
        counts = variable.counts(scaling.inverse(x))
        return _Line(points, counts / counts.sum(), np.arange(len(points), dtype=float), is_one_hot=True)
    feature = variable.features[0]
    points = np.tile(x.mean(axis=0), (VALUES, 1))
    points[:, feature] = quantiles(x, feature)
    return _Line(points, np.full(VALUES, 1 / VALUES), points[:, feature], is_one_hot=False)


def level_points(x: Array, variable: Variable, scaling: Scaling) -> Array:
    """Scaled features (levels, d): those of x (d,), with each level of a category in turn."""
    columns = list(variable.features)
    center, scale = np.array(scaling.center)[columns], np.array(scaling.scale)[columns]
    levels = variable.level_features()
    points = np.tile(x, (len(levels), 1))
    points[:, columns] = (levels - center) / scale
    return points


def _leading(belief: Distribution, lines: Sequence[_Line]) -> Indices:
    """The variables whose mean profiles vary most, in their order."""
    if len(lines) <= MOST:
        return np.arange(len(lines))
    stds = [_std(belief.marginals(line.points)[0][None], line.weights)[0] for line in lines]
    return np.sort(largest_first(np.array(stds), MOST))


def _std(rewards: Array, weights: Array) -> Array:
    """The standard deviation along each profile (S, P), whose points count by their weights (P,)."""
    mean = rewards @ weights
    stds: Array = np.sqrt(np.maximum((rewards - mean[:, None]) ** 2 @ weights, 0.0))
    return stds


def _fractions(stds: Array) -> Array:
    total = stds.sum(axis=1, keepdims=True)
    equal = np.full_like(stds, 1.0 / stds.shape[1])
    fractions: Array = np.divide(stds, total, out=equal, where=total > 0)
    return fractions


def _summary(values: Array, weights: Array) -> Estimate:
    return Estimate(float(weights @ values), *interval(values, weights))


def _probabilities(profiles: Array, weights: Array) -> dict[Shape, float]:
    return {shape: float(weights[mask].sum()) for shape, mask in shape_masks(profiles).items()}


def _extreme(profiles: Array, weights: Array, values: Array) -> tuple[float, float, float] | None:
    """Low end, median and high end of where the more probable one of peak and valley is."""
    masks = shape_masks(profiles)
    shape: Shape = max(("peak", "valley"), key=lambda shape: float(weights[masks[shape]].sum()))
    mask = masks[shape]
    if not mask.any():
        return None
    at = values[np.argmax(profiles[mask] if shape == "peak" else -profiles[mask], axis=1)]
    low, high = interval(at, weights[mask])
    return low, interval(at, weights[mask], 0.0)[0], high


def _drop(profiles: Array) -> Array:
    """The largest fall from one value to a later one, (S,)."""
    drops: Array = np.max(np.maximum.accumulate(profiles, axis=1) - profiles, axis=1)
    return drops


def _rises_then_falls(profiles: Array, slack: Array) -> Flags:
    """Whether a profile rises to its highest value and falls beyond it, up to the slack."""
    before = np.arange(profiles.shape[1]) <= np.argmax(profiles, axis=1)[:, None]
    highest = profiles.max(axis=1, keepdims=True)
    up, down = np.where(before, profiles, highest), np.where(before, highest, profiles)
    return (_drop(up) <= slack) & (_drop(-down) <= slack)
