"""The best question about a large pool, within a stated share, by branch and bound.

    pair        of groups of a `PoolTree`: all questions about a trajectory of the one and one of the other
    box         what is known of the questions of a pair under one component: ranges of the gap and of its
                standard deviation
    bound       the value that no question of a pair exceeds
    incumbent   the best question found so far

Level by level, pairs whose bound is not above the incumbent's value, by more than the tolerance, are ruled
out; each of the others is split into pairs of smaller groups, down to single questions, which are scored.
If there would be too many, those with the smallest bounds are given up: the largest of these bounds says how
much better than the incumbent a question may be.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from prefero._support.arrays import AnyArray, Array, Indices, like, like_indices, namespace_of, to_numpy
from prefero._support.parallel import blocks_of, map_parallel
from prefero.acquisition.base import Box, Component, HasBoxBound
from prefero.acquisition.incumbent import SCORED, Incumbent
from prefero.acquisition.pool_tree import Level, PoolTree, children_of
from prefero.questions import Question

MOST_PAIRS = {"cpu": 8_000_000, "gpu": 400_000_000}  # pairs of groups of one level that are looked at
CHUNK = {"cpu": 16_384, "gpu": 4_000_000}  # pairs whose bounds are computed together


class BranchAndBound:
    """The search for the best question about a pool.

    Args:
        incumbent: The best question so far; its acquisition function can be bounded.
        device: An array of the library, and on the device, that computes bounds; None: NumPy.
    """

    def __init__(self, incumbent: Incumbent, device: AnyArray | None = None) -> None:
        assert isinstance(incumbent.acquisition, HasBoxBound)
        self.incumbent, self.bounded = incumbent, incumbent.acquisition
        self.device = np.empty(0) if device is None else device
        self.kind = "cpu" if isinstance(self.device, np.ndarray) else "gpu"
        self.given_up = -np.inf

    def run(self) -> Question:
        """The best question found, and how much better another may be."""
        best = self.incumbent
        best.first_look()
        tree = PoolTree.of(best.belief, best.x)
        pairs = np.column_stack(np.triu_indices(len(tree.levels[0].starts)))
        bounds = np.empty(0)
        for place, level in enumerate(tree.levels):
            bounds = self._bounds(tree.components, level, pairs)
            best.score(tree.order[level.starts[pairs[np.argsort(-bounds)[:SCORED]]]])
            left = bounds > best.threshold
            pairs, bounds = pairs[left], bounds[left]
            if place + 1 < len(tree.levels):
                pairs = self._split(pairs, bounds, level, tree.levels[place + 1])
        self._score_all(tree.order[pairs], bounds)
        return best.question(max(best.tolerance, self.given_up / best.value - 1.0))

    def _bounds(self, components: Sequence[Component], level: Level, pairs: Indices) -> Array:
        """The bounds of pairs of groups."""
        groups = [_OnDevice.of(part, self.device) for part in level.components]

        def bound(b: slice) -> Array:
            a, c = (like_indices(pairs[b, side], groups[0].center) for side in (0, 1))
            boxes = [g.box(component, a, c) for component, g in zip(components, groups, strict=True)]
            return to_numpy(self.bounded.box_bound(boxes)).astype(float)

        chunks = blocks_of(len(pairs), CHUNK[self.kind])
        parts = map_parallel(bound, chunks) if self.kind == "cpu" else list(map(bound, chunks))
        return np.concatenate([np.empty(0), *parts])

    def _split(self, pairs: Indices, bounds: Array, level: Level, below: Level) -> Indices:
        """Pairs of the groups inside these, not too many of them."""
        sizes = [children_of(level, below, pairs[:, side]) for side in (0, 1)]
        counts = sizes[0][1] * sizes[1][1]
        order = np.argsort(-bounds, kind="stable")
        kept = int(np.searchsorted(np.cumsum(counts[order]), MOST_PAIRS[self.kind], side="right"))
        if kept < len(order):
            self.given_up = max(self.given_up, float(bounds[order[kept]]))
        chosen = order[:kept]
        return _products(*(part[chosen] for size in sizes for part in size))

    def _score_all(self, questions: Indices, bounds: Array) -> None:
        """Score single questions, the most promising first, until no other can be better."""
        order = np.argsort(-bounds, kind="stable")
        for block in blocks_of(len(order), 4 * SCORED):
            if bounds[order[block][0]] <= self.incumbent.threshold:
                break
            self.incumbent.score(questions[order[block]])


def _products(first: Indices, count: Indices, other: Indices, other_count: Indices) -> Indices:
    """All pairs of each two ranges of groups, given their starts and lengths; the one not after the other."""
    total = count * other_count
    place = np.arange(total.sum()) - np.repeat(np.cumsum(total) - total, total)
    across = np.repeat(other_count, total)
    a, b = np.repeat(first, total) + place // across, np.repeat(other, total) + place % across
    pairs: Indices = np.column_stack([a, b])[a <= b]
    return pairs


@dataclass(frozen=True, eq=False)
class _OnDevice:
    """Groups in single precision, where the work is done."""

    center: AnyArray
    radius: AnyArray
    low: AnyArray
    high: AnyArray

    @classmethod
    def of(cls, groups: object, device: AnyArray) -> "_OnDevice":
        xp = namespace_of(device)
        names = ("center", "radius", "low", "high")
        return cls(*(xp.astype(like(getattr(groups, name), device), xp.float32) for name in names))

    def box(self, component: Component, a: AnyArray, b: AnyArray) -> Box:
        """What is known of the questions between groups a and groups b."""
        xp = namespace_of(self.center)
        apart = xp.take(self.center, a, axis=0) - xp.take(self.center, b, axis=0)
        apart *= apart
        distance = xp.sqrt(xp.sum(apart, axis=1))
        reach = xp.take(self.radius, a) + xp.take(self.radius, b)
        return Box(
            component,
            xp.take(self.low, a) - xp.take(self.high, b),
            xp.take(self.high, a) - xp.take(self.low, b),
            xp.clip(distance - reach, min=0.0),
            distance + reach,
        )
