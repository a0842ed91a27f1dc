"""How the reward depends on each feature alone: how much it matters, and whether more of it is better.

    profile    of a feature: the reward at some of its values, all other features at their mean
    values     of a feature: evenly spaced quantiles over the pool, so that outliers count as rarely as they
               occur
    effect     of a feature: its share of the sum of all profiles' standard deviations
    shape      of a profile: "rising", "falling", "peak", "valley" or "other"

All are properties of a reward, and the posterior gives each reward a probability. So an effect has a mean and
an interval, and a shape has a probability: the share of draws whose profile has that shape. A drop on the way
up that is smaller than `TOLERANCE` of the profile's range does not count.
"""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from prefero._support.arrays import Array, Flags, Indices, one_thread
from prefero.models.draws import Estimate, draw_rewards, interval
from prefero.models.posterior import Distribution

Shape = Literal["rising", "falling", "peak", "valley", "other"]
SHAPES: tuple[Shape, ...] = get_args(Shape)
VALUES = 15  # of each feature
MOST = 20  # features whose profiles are drawn jointly; of more, those that matter most
TOLERANCE = 0.1  # of a profile's range


@dataclass(frozen=True)
class Profile:
    """What the posterior says about the reward along one feature.

    feature    its column
    shapes     the probability of each shape
    extreme    a 90 % interval and the median of where the peak or the valley is, in the units of x; None for
               shapes without one
    largest    the probability that no other feature has a larger effect
    """

    feature: int
    effect: Estimate
    shapes: dict[Shape, float]
    extreme: tuple[float, float, float] | None
    largest: float

    @property
    def shape(self) -> Shape:
        """The most probable shape."""
        return max(self.shapes, key=lambda shape: self.shapes[shape])


@one_thread
def profiles(belief: Distribution, x: Array) -> list[Profile]:
    """The profiles of all features over the trajectories x, or of the `MOST` that matter most."""
    chosen = _leading(belief, x)
    draws = draw_rewards(belief, np.concatenate([_along(x, feature) for feature in chosen]))
    drawn = draws.rewards.reshape(-1, len(chosen), VALUES)
    effects = _shares(drawn.std(axis=2))
    largest = np.argmax(effects, axis=1)
    return [
        Profile(
            feature=int(feature),
            effect=_summary(effects[:, place], draws.weights),
            shapes=_probabilities(drawn[:, place], draws.weights),
            extreme=_extreme(drawn[:, place], draws.weights, quantiles(x, int(feature))),
            largest=float(draws.weights[largest == place].sum()),
        )
        for place, feature in enumerate(chosen)
    ]


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


def _along(x: Array, feature: int) -> Array:
    """Points that differ in one feature only, (VALUES, d)."""
    points = np.tile(x.mean(axis=0), (VALUES, 1))
    points[:, feature] = quantiles(x, feature)
    return points


def _leading(belief: Distribution, x: Array) -> Indices:
    """The features whose mean profiles vary most, in the order of their columns."""
    features = np.arange(x.shape[1])
    if len(features) <= MOST:
        return features
    stds = np.array([np.std(belief.marginals(_along(x, int(feature)))[0]) for feature in features])
    return np.sort(np.argsort(-stds, kind="stable")[:MOST])


def _shares(stds: Array) -> Array:
    total = stds.sum(axis=1, keepdims=True)
    equal = np.full_like(stds, 1.0 / stds.shape[1])
    shares: Array = np.divide(stds, total, out=equal, where=total > 0)
    return shares


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
