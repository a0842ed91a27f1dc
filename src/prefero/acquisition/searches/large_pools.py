"""The best pair of a large pool within a tolerance, by branch and bound over clusters of trajectories.

    bound       a value that no question between two clusters exceeds, or no single question
    terms       of one component in the sums that a bound is a function of, see `HasBoxBound`
    incumbent   the best question found so far

The search has four steps:

1. Find a good question: the best of a sample, of which one trajectory at a time is exchanged.
2. Bound all questions between each two clusters (`PoolClusters`), and drop the pairs of clusters whose bound
   does not exceed the incumbent's value by more than the tolerance.
3. Bound the single questions between the others, the most promising clusters first. The bound takes the exact
   terms of one component after another; the terms of the remaining ones are still those of the clusters. A
   pair of clusters is dropped as soon as none of its questions can be better.
4. Score the questions that may still be better.

If there are too many questions to bound, the pairs of clusters with the smallest bounds are given up. The
largest of these bounds then says how much better than the incumbent a question may be.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple, TypeVar, cast

import numpy as np

from prefero._support.arrays import AnyArray, Array, Indices, like_indices, namespace_of, to_numpy
from prefero._support.ordering import largest_first
from prefero._support.parallel import chunks_of, map_parallel
from prefero.acquisition.base import AcquisitionFunction, Component, HasBoxBound, Scorer
from prefero.acquisition.excluded import Excluded
from prefero.acquisition.projection import projections, tiles_of
from prefero.acquisition.searches.clusters import PoolClusters
from prefero.acquisition.searches.incumbent import Incumbent
from prefero.models.linear import ZeroKernel
from prefero.models.posterior.gaussian import Distribution
from prefero.questions import Question

FIRST_LOOK = 300  # trajectories of whose questions the best is taken first
EXCHANGES = 4  # times that one trajectory of the best question is exchanged for every other trajectory
PROMISING = 64  # questions that are scored of those
SCORED = 4096  # questions that are scored together
FEW = 0.7  # of the pairs of clusters: where fewer are left, the others are dropped
NO_QUESTIONS: Indices = np.empty((0, 2), dtype=np.intp)
T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True)
class Sizes:
    """How much is computed on a kind of device, and how much of it together."""

    cluster: int  # trajectories, at least
    clusters: int  # at most
    variances: int  # of trajectories and centers, at most
    questions: int  # whose bounds are computed, at most
    tile: int  # clusters on either side whose bounds are computed together
    chunk: int  # questions whose bounds are computed together
    wave: int  # chunks between which the incumbent stays, however many cores there are


SIZES = {
    "cpu": Sizes(5, 4096, 2_000_000_000, 500_000_000, tile=128, chunk=262_144, wave=8),
    "gpu": Sizes(20, 32_768, 40_000_000_000, 20_000_000_000, tile=2048, chunk=32_000_000, wave=1),
}


def suits(function: AcquisitionFunction, belief: Distribution) -> bool:
    """Whether a function has the bounds that this search needs, and the exact search is slower."""
    components = [Component(weight, gaussian.probit) for weight, gaussian in belief.components]
    known = any(isinstance(gaussian.kernel, ZeroKernel) for _, gaussian in belief.components)
    bounded = hasattr(function, "can_bound") and function.can_bound(components)
    return bounded and not known and len(components) > 1


class ClusterPairs(NamedTuple):
    """Pairs of clusters, the bounds of the questions between them, and the terms of every component in these.

    Args:
        clusters: (P, 2).
        bounds: (P,).
        terms: (K, c, P), for c sums.
    """

    clusters: Indices
    bounds: Array
    terms: AnyArray

    def at(self, places: Indices) -> "ClusterPairs":
        """Some of them."""
        terms = namespace_of(self.terms).take(self.terms, like_indices(places, self.terms), axis=2)
        return ClusterPairs(self.clusters[places], self.bounds[places], terms)


class ClusterSearch:
    """The search for a question that no other exceeds by more than the tolerance.

    Args:
        tolerance: A fraction of the value.
        scorer: Of pairs.
        function: Of their moments, by which it scores; it `suits` the belief.
        belief: The posterior over rewards.
        x: The pool, (M, d), as an array of the library, and on the device, that computes.
        excluded: Pairs that are not asked.
    """

    def __init__(
        self,
        tolerance: float,
        scorer: Scorer,
        function: AcquisitionFunction,
        belief: Distribution,
        x: AnyArray,
        excluded: Excluded,
    ) -> None:
        self.scorer, self.bounded = scorer, cast(HasBoxBound, function)
        self.belief, self.x, self.excluded = belief, x, excluded
        self.sizes = SIZES["cpu" if isinstance(x, np.ndarray) else "gpu"]
        self.incumbent, self.given_up = Incumbent(tolerance), -np.inf
        self.views = projections(belief, x)

    def run(self) -> Question:
        """The best question found, with its `optimality_gap`: the tolerance, or more if some was given up."""
        self.first_look()
        self.clusters = PoolClusters.of(self.belief, self.views, self._count())
        prepared = (clusters.prepared for clusters in self.clusters.components)
        self.rounding = sum(one.component.weight * one.rounding for one in prepared)
        self._look_into(self._promising_pairs())
        return self.incumbent.question(self.scorer.unit, self._gap())

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
        """How many clusters: a power of two."""
        size, sizes = int(self.x.shape[0]), self.sizes
        most = min(size // sizes.cluster, sizes.clusters, sizes.variances // size)
        return 1 << max(most.bit_length() - 1, 0)

    def first_look(self) -> None:
        """A good question: the best of a sample, of which one trajectory at a time is exchanged."""
        count = self.x.shape[0]
        sample = np.random.default_rng(count).choice(count, min(FIRST_LOOK, count), replace=False)
        self._score_best(sample, sample)
        for exchange in range(EXCHANGES if self.incumbent.items else 0):
            self._score_best(np.array([self.incumbent.items[exchange % 2]]), np.arange(count))

    def _score_best(self, rows: Indices, columns: Indices) -> None:
        """Score the questions that have the largest bounds."""
        left, right = ([v.taken(like_indices(side, self.x)) for v in self.views] for side in (rows, columns))
        pairs = (a.pairs_with(b) for a, b in zip(left, right, strict=True))
        bound = to_numpy(self.bounded.bound_of_sums(_added(map(self.bounded.question_terms, pairs))))
        best = largest_first(bound.reshape(-1), PROMISING)
        i, j = np.unravel_index(best, bound.shape)
        self._score(np.column_stack([rows[i], columns[j]]))

    def _score(self, pairs: Indices) -> None:
        """Score questions, and keep the best if it is better."""
        pairs = np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1)
        pairs = np.unique(pairs[self.excluded.free(pairs)], axis=0)  # the smallest indices first
        if len(pairs):
            some = [pairs[rows] for rows in chunks_of(len(pairs), SCORED)]
            self.incumbent.offer(pairs, np.concatenate(map_parallel(self.scorer.scores, some)))

    def _map(self, function: Callable[[T], R], items: Iterable[T]) -> list[R]:
        """On all cores, or one after another on the device."""
        here = isinstance(self.x, np.ndarray)
        return map_parallel(function, items) if here else [function(item) for item in items]

    def _promising_pairs(self) -> ClusterPairs:
        """Pairs of clusters between which there may be a better question, the most promising first."""
        found = self._map(self._promising, list(tiles_of(self.clusters.members.shape[0], self.sizes.tile)))
        concat = namespace_of(self.x).concat
        pairs = ClusterPairs(
            np.concatenate([some.clusters for some in found]),
            np.concatenate([some.bounds for some in found]),
            concat([some.terms for some in found], axis=2),
        )
        order = largest_first(pairs.bounds)
        kept = order[: self.sizes.questions // self.clusters.members.shape[1] ** 2]
        if len(kept) < len(order):
            self.given_up = float(pairs.bounds[order[len(kept)]]) + self.rounding
        return pairs.at(kept)

    def _promising(self, tile: tuple[slice, slice]) -> ClusterPairs:
        rows, columns = tile
        xp, width = namespace_of(self.x), columns.stop - columns.start
        terms = [self.bounded.box_terms(clusters.box(rows, columns)) for clusters in self.clusters.components]
        bound = self.bounded.bound_of_sums([0.0, 0.0], _added(terms))
        places = xp.nonzero(xp.reshape(bound, (-1,)) > self.threshold)[0]
        chosen = to_numpy(places)
        clusters = np.column_stack([rows.start + chosen // width, columns.start + chosen % width])
        found = ClusterPairs(
            clusters,
            to_numpy(xp.take(xp.reshape(bound, (-1,)), places)).astype(float),
            xp.stack([xp.stack([xp.take(xp.reshape(one, (-1,)), places) for one in each]) for each in terms]),
        )
        return found.at(np.flatnonzero(clusters[:, 0] <= clusters[:, 1])) if rows == columns else found

    def _look_into(self, pairs: ClusterPairs) -> None:
        """Score the questions between these clusters that may be better."""
        size = self.clusters.members.shape[1]
        chunks = chunks_of(len(pairs.bounds), max(self.sizes.chunk // size**2, 1))
        order = self._order(pairs.at(np.arange(len(pairs.bounds))[chunks[0]])) if chunks else []

        def look_into(chunk: slice) -> Indices:
            left = chunk.start + np.flatnonzero(pairs.bounds[chunk] > self.threshold)
            return self._may_be_better(pairs.at(left), order) if len(left) else NO_QUESTIONS

        for wave in chunks_of(len(chunks), self.sizes.wave):
            self._score(np.concatenate(self._map(look_into, chunks[wave])))

    def _order(self, pairs: ClusterPairs) -> list[int]:
        """The components, first those whose closer look lowers the bounds most."""
        boxes = namespace_of(self.x).sum(pairs.terms, axis=0)
        lowered = [
            self._bounds(self._question_terms(pairs, k), boxes - pairs.terms[k, ...])
            for k in range(len(self.clusters.components))
        ]
        return [int(k) for k in largest_first(np.array([-np.mean(to_numpy(bound)) for bound in lowered]))]

    def _may_be_better(self, pairs: ClusterPairs, order: list[int]) -> Indices:
        """The questions that may be better, (Q, 2), found by looking at one component after another."""
        xp, boxes = namespace_of(self.x), namespace_of(self.x).sum(pairs.terms, axis=0)
        sums: list[AnyArray] = [0.0, 0.0]
        for k in order:
            sums = _added([sums, self._question_terms(pairs, k)])
            boxes = boxes - pairs.terms[k, ...]
            left = np.flatnonzero(to_numpy(self._bounds(sums, boxes)) > self.threshold)
            if not len(left):
                return NO_QUESTIONS
            if len(left) < FEW * len(pairs.bounds):
                chosen = like_indices(left, self.x)
                pairs, boxes = pairs.at(left), xp.take(boxes, chosen, axis=1)
                sums = [xp.take(one, chosen, axis=0) for one in sums]
        return self._questions(pairs, self.bounded.bound_of_sums(sums))

    def _question_terms(self, pairs: ClusterPairs, component: int) -> list[AnyArray]:
        """The terms of a component in the bounds of all questions between each two clusters, (P, g, g)."""
        first, second = (like_indices(side, self.x) for side in pairs.clusters.T)
        return self.bounded.question_terms(self.clusters.components[component].questions(first, second))

    def _bounds(self, questions: list[AnyArray], boxes: AnyArray) -> AnyArray:
        """The bounds of each two clusters: sums over some components of questions, over others of boxes."""
        xp, rest = namespace_of(self.x), [boxes[c, :, None, None] for c in range(boxes.shape[0])]
        return xp.max(self.bounded.bound_of_sums(questions, rest), axis=(1, 2))

    def _questions(self, pairs: ClusterPairs, bounds: AnyArray) -> Indices:
        """The questions, of (P, g, g), whose bounds exceed the threshold."""
        xp, size = namespace_of(self.x), self.clusters.members.shape[1]
        places = to_numpy(xp.nonzero(xp.reshape(bounds, (-1,)) > self.threshold)[0])
        pair, i, j = places // size**2, places // size % size, places % size
        members = to_numpy(self.clusters.members)
        return np.column_stack([members[pairs.clusters[pair, 0], i], members[pairs.clusters[pair, 1], j]])


def _added(terms: Iterable[list[AnyArray]]) -> list[AnyArray]:
    """The sums of the terms of several components."""
    return [sum(same) for same in zip(*terms, strict=True)]
