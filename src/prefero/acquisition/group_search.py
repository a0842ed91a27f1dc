"""The best question about a large pool within a stated share: pairs of groups are ruled out, then questions.

    bound       the value that no question between two groups, or no question, exceeds
    part        what one component contributes to a bound, see `HasBoxBound`
    incumbent   the best question found so far

A good question is found first: the best of a sample, of which one side at a time is exchanged. Then all pairs
of groups (`PoolGroups`) get a bound. Between those whose bound exceeds the incumbent's value by more than the
tolerance, the most promising first, the questions get bounds in single precision: one component after another
is looked at closely, and of the others what is known of the groups is kept, until no question can be better.
What may still be better then is scored.

If there are too many questions to look at, the groups with the smallest bounds are given up: the largest of
these bounds says how much better than the incumbent a question may be.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, TypeVar

import numpy as np

from prefero._support.arrays import AnyArray, Array, Indices, like_indices, namespace_of, to_numpy
from prefero._support.ordering import largest_first
from prefero._support.parallel import blocks_of, map_parallel
from prefero.acquisition.base import HasBoxBound
from prefero.acquisition.incumbent import Incumbent
from prefero.acquisition.pool_groups import PoolGroups
from prefero.acquisition.projection import projections
from prefero.questions import Question

GROUP = {"cpu": 5, "gpu": 20}  # trajectories in a group, at least
MOST_GROUPS = {"cpu": 4096, "gpu": 32_768}
MOST_VARIANCES = {"cpu": 2_000_000_000, "gpu": 40_000_000_000}  # of trajectories and centers, at most
TILE = {"cpu": 128, "gpu": 2048}  # groups on either side whose bounds are computed together
CHUNK = {"cpu": 262_144, "gpu": 32_000_000}  # questions whose bounds are computed together
MOST_QUESTIONS = {"cpu": 500_000_000, "gpu": 20_000_000_000}  # whose bounds are computed
FIRST_LOOK = 300  # trajectories of whose questions the best is taken first
EXCHANGES = 4  # times that one side of the best question is exchanged for every other trajectory
PROMISING = 64  # questions that are scored of those
WAVE = {"cpu": 8, "gpu": 1}  # chunks between which the incumbent stays, however many cores there are
NO_QUESTIONS: Indices = np.empty((0, 2), dtype=np.intp)
T = TypeVar("T")
R = TypeVar("R")
FEW = 0.7  # of the pairs of groups: where fewer are left, the others are dropped


class GroupPairs(NamedTuple):
    """Pairs of groups, the bounds of the questions between them, and every component's part in these.

    Args:
        groups: (P, 2).
        bounds: (P,).
        parts: (K, c, P), for c numbers in a part.
    """

    groups: Indices
    bounds: Array
    parts: AnyArray

    def at(self, places: Indices) -> "GroupPairs":
        """Some of them."""
        parts = namespace_of(self.parts).take(self.parts, like_indices(places, self.parts), axis=2)
        return GroupPairs(self.groups[places], self.bounds[places], parts)


class GroupSearch:
    """The search for the best question about a pool.

    Args:
        incumbent: The best question so far; its acquisition function can be bounded.
        x: The pool, (M, d), as an array of the library, and on the device, that computes.
    """

    def __init__(self, incumbent: Incumbent, x: AnyArray) -> None:
        assert isinstance(incumbent.acquisition, HasBoxBound)
        self.incumbent, self.bounded, self.x = incumbent, incumbent.acquisition, x
        self.kind = "cpu" if isinstance(x, np.ndarray) else "gpu"
        self.views = projections(incumbent.belief, x)
        self.given_up = -np.inf

    def run(self) -> Question:
        """The best question found, and how much better another may be."""
        best = self.incumbent
        self.first_look()
        self.groups = PoolGroups.of(best.belief, self.views, self._count())
        parts = (groups.prepared for groups in self.groups.components)
        self.rounding = sum(part.component.weight * part.rounding for part in parts)
        self._look_into(self._promising_pairs())
        return best.question(self._gap())

    def _gap(self) -> float:
        """How much better than the incumbent a question may be."""
        value, tolerance = self.incumbent.value, self.incumbent.tolerance
        if self.given_up <= value:
            return tolerance
        return max(tolerance, self.given_up / value - 1.0) if value > 0.0 else np.inf

    @property
    def threshold(self) -> float:
        """Bounds up to this value, which may be too low by rounding, rule out a question."""
        return self.incumbent.threshold - self.rounding

    def _count(self) -> int:
        """How many groups: a power of two."""
        size, kind = int(self.x.shape[0]), self.kind
        most = min(size // GROUP[kind], MOST_GROUPS[kind], MOST_VARIANCES[kind] // size)
        return 1 << max(most.bit_length() - 1, 0)

    def first_look(self) -> None:
        """A good question: the best of a sample, of which one side at a time is exchanged."""
        count = self.x.shape[0]
        sample = np.random.default_rng(count).choice(count, min(FIRST_LOOK, count), replace=False)
        self._score_best(sample, sample)
        for exchange in range(EXCHANGES if self.incumbent.pair[0] >= 0 else 0):
            self._score_best(np.array([self.incumbent.pair[exchange % 2]]), np.arange(count))

    def _score_best(self, rows: Indices, columns: Indices) -> None:
        """Score the questions that have the largest bounds."""
        left, right = ([v.taken(like_indices(side, self.x)) for v in self.views] for side in (rows, columns))
        pairs = (a.pairs_with(b) for a, b in zip(left, right, strict=True))
        bound = to_numpy(self.bounded.part_bound(_added(map(self.bounded.question_part, pairs))))
        best = largest_first(bound.reshape(-1), PROMISING)
        i, j = np.unravel_index(best, bound.shape)
        self.incumbent.score(np.column_stack([rows[i], columns[j]]))

    def _map(self, function: Callable[[T], R], items: Iterable[T]) -> list[R]:
        """On all cores, or one after another on the device."""
        return map_parallel(function, items) if self.kind == "cpu" else [function(item) for item in items]

    def _promising_pairs(self) -> GroupPairs:
        """Pairs of groups between which there may be a better question, the most promising first."""
        found = self._map(self._promising, list(_tiles(self.groups.members.shape[0], TILE[self.kind])))
        concat = namespace_of(self.x).concat
        pairs = GroupPairs(
            np.concatenate([some.groups for some in found]),
            np.concatenate([some.bounds for some in found]),
            concat([some.parts for some in found], axis=2),
        )
        order = largest_first(pairs.bounds)
        kept = order[: MOST_QUESTIONS[self.kind] // self.groups.members.shape[1] ** 2]
        if len(kept) < len(order):
            self.given_up = float(pairs.bounds[order[len(kept)]]) + self.rounding
        return pairs.at(kept)

    def _promising(self, tile: tuple[slice, slice]) -> GroupPairs:
        rows, columns = tile
        xp, width = namespace_of(self.x), columns.stop - columns.start
        parts = [self.bounded.box_part(groups.box(rows, columns)) for groups in self.groups.components]
        bound = self.bounded.part_bound([0.0, 0.0], _added(parts))
        places = xp.nonzero(xp.reshape(bound, (-1,)) > self.threshold)[0]
        chosen = to_numpy(places)
        groups = np.column_stack([rows.start + chosen // width, columns.start + chosen % width])
        found = GroupPairs(
            groups,
            to_numpy(xp.take(xp.reshape(bound, (-1,)), places)).astype(float),
            xp.stack([xp.stack([xp.take(xp.reshape(one, (-1,)), places) for one in part]) for part in parts]),
        )
        return found.at(np.flatnonzero(groups[:, 0] <= groups[:, 1])) if rows == columns else found

    def _look_into(self, pairs: GroupPairs) -> None:
        """Score the questions between these groups that may be better."""
        size = self.groups.members.shape[1]
        chunks = blocks_of(len(pairs.bounds), max(CHUNK[self.kind] // size**2, 1))
        order = self._order(pairs.at(np.arange(len(pairs.bounds))[chunks[0]])) if chunks else []

        def look_into(chunk: slice) -> Indices:
            left = chunk.start + np.flatnonzero(pairs.bounds[chunk] > self.threshold)
            return self._may_be_better(pairs.at(left), order) if len(left) else NO_QUESTIONS

        for wave in blocks_of(len(chunks), WAVE[self.kind]):
            self.incumbent.score(np.concatenate(self._map(look_into, chunks[wave])))

    def _order(self, pairs: GroupPairs) -> list[int]:
        """The components, first those whose closer look lowers the bounds most."""
        boxes = namespace_of(self.x).sum(pairs.parts, axis=0)
        lowered = [
            self._bounds(self._question_part(pairs, k), boxes - pairs.parts[k, ...])
            for k in range(len(self.groups.components))
        ]
        return [int(k) for k in largest_first(np.array([-np.mean(to_numpy(bound)) for bound in lowered]))]

    def _may_be_better(self, pairs: GroupPairs, order: list[int]) -> Indices:
        """The questions that may be better, (Q, 2), found by looking at one component after another."""
        xp, boxes = namespace_of(self.x), namespace_of(self.x).sum(pairs.parts, axis=0)
        sums: list[AnyArray] = [0.0, 0.0]
        for k in order:
            sums = _added([sums, self._question_part(pairs, k)])
            boxes = boxes - pairs.parts[k, ...]
            left = np.flatnonzero(to_numpy(self._bounds(sums, boxes)) > self.threshold)
            if not len(left):
                return NO_QUESTIONS
            if len(left) < FEW * len(pairs.bounds):
                chosen = like_indices(left, self.x)
                pairs, boxes = pairs.at(left), xp.take(boxes, chosen, axis=1)
                sums = [xp.take(one, chosen, axis=0) for one in sums]
        return self._questions(pairs, self.bounded.part_bound(sums))

    def _question_part(self, pairs: GroupPairs, component: int) -> list[AnyArray]:
        """What a component contributes to the bounds of all questions between each two groups, (P, g, g)."""
        first, second = (like_indices(side, self.x) for side in pairs.groups.T)
        return self.bounded.question_part(self.groups.components[component].questions(first, second))

    def _bounds(self, questions: list[AnyArray], boxes: AnyArray) -> AnyArray:
        """The bounds of each two groups, with parts of questions for some components, of boxes for others."""
        xp, rest = namespace_of(self.x), [boxes[c, :, None, None] for c in range(boxes.shape[0])]
        return xp.max(self.bounded.part_bound(questions, rest), axis=(1, 2))

    def _questions(self, pairs: GroupPairs, bounds: AnyArray) -> Indices:
        """The questions, of (P, g, g), whose bounds exceed the threshold."""
        xp, size = namespace_of(self.x), self.groups.members.shape[1]
        places = to_numpy(xp.nonzero(xp.reshape(bounds, (-1,)) > self.threshold)[0])
        pair, i, j = places // size**2, places // size % size, places % size
        members = to_numpy(self.groups.members)
        return np.column_stack([members[pairs.groups[pair, 0], i], members[pairs.groups[pair, 1], j]])


def _added(parts: Iterable[list[AnyArray]]) -> list[AnyArray]:
    """The sum of the parts of several components."""
    return [sum(numbers) for numbers in zip(*parts, strict=True)]


def _tiles(count: int, size: int) -> Iterator[tuple[slice, slice]]:
    """The upper triangle of the count x count square in tiles."""
    ends = blocks_of(count, size)
    return ((rows, columns) for place, rows in enumerate(ends) for columns in ends[place:])
