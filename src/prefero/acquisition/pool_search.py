"""The next question: the exactly best pair of a pool, a random one, or one made for the purpose.

    x            (M, d)    features of the pool, scaled
    parts        K         the Gaussians that make up the belief, with their weights
    mean, sd     (M,)      of the rewards, for each part
    learned      (M, r)    Cov[f(x_i), f(x_j)] = k(x_i, x_j) - learned_i . learned_j, for each part

`best_question` looks at every pair, a tile of the M x M square at a time, and never keeps more than a few
tiles. Most pairs are ruled out by a bound that is cheaper than their value: first whole tiles, since
spread <= (sd_i + sd_j)^2; then, under a mixture of known rewards, pairs by two moments of the whole mixture;
then single pairs. What is left is computed exactly, so the answer is exact.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from prefero._support.arrays import AnyArray, Array, Indices, like_indices, namespace_of, one_thread, to_numpy
from prefero.acquisition.mutual_information import (
    Criterion,
    Formula,
    Information,
    Part,
    Utility,
    check_formula,
    limits,
)
from prefero.kernels import Kernel
from prefero.models.linear import ZeroKernel
from prefero.models.posterior import Distribution, Gaussian
from prefero.pools.pool import Pool
from prefero.questions import Question
from prefero.trajectories.features import feature_matrix

Purpose = Literal["learn", "best"]
SAME = 1e-10  # values this close are equal: the pair with the smaller indices is taken
FEW = 0.03  # a share of a tile's pairs whose values are cheaper than the whole tile's ceiling
TILE = {"cpu": 256, "gpu": 8192}


def criterion_for(purpose: Purpose, formula: Formula = "exact") -> Criterion:
    """Information to learn the reward everywhere, utility to find the best trajectory soon."""
    check_formula(formula)
    if purpose == "learn":
        return Information(formula)
    if purpose == "best":
        return Utility()
    raise ValueError(f"purpose must be 'learn' or 'best', but is {purpose!r}")


@dataclass(frozen=True, eq=False)
class View:
    """One Gaussian of the belief, seen from the pool."""

    kernel: Kernel  # for differences
    x: AnyArray
    mean: AnyArray
    variance: AnyArray
    level: AnyArray  # (M,) the kernel's diagonal less learned^2; not a variance, where the anchor is left out
    learned: AnyArray

    @classmethod
    def of(cls, part: Gaussian, x: AnyArray) -> "View":
        """Project a Gaussian onto the pool."""
        xp = namespace_of(x)
        mean, learned = part.project(x)
        kernel, known = part.kernel.for_differences, xp.sum(learned * learned, axis=1)
        variance = xp.clip(part.kernel.diagonal(x) - known, min=0.0)
        return cls(kernel, x, mean, variance, kernel.diagonal(x) - known, learned)

    def taken(self, order: AnyArray) -> "View":
        """The same of some trajectories, in another order."""
        take = namespace_of(self.x).take
        columns = (
            take(v, order, axis=0) for v in (self.x, self.mean, self.variance, self.level, self.learned)
        )
        return View(self.kernel, *columns)

    def spread(self, rows: slice, columns: slice) -> AnyArray:
        """Var[f(x_i) - f(x_j)] for a tile of pairs, or one 0 for all of them where the reward is certain."""
        if isinstance(self.kernel, ZeroKernel):
            return self.learned[:1, :] @ self.learned[:1, :].T
        covariance = self.kernel(self.x[rows, :], self.x[columns, :])
        covariance -= self.learned[rows, :] @ self.learned[columns, :].T
        covariance *= -2.0
        covariance += self.level[rows, None]
        covariance += self.level[None, columns]
        return covariance


@dataclass(frozen=True, eq=False)
class Outline:
    """The first two moments of (f(A) - f(B)) / scale under a mixture of many rewards, each of them known."""

    mean: AnyArray
    away: AnyArray  # (M, K) covariances are away_i . away_j
    variance: AnyArray

    @classmethod
    def of(cls, parts: Sequence[Part], views: Sequence[View], criterion: Criterion) -> "Outline | None":
        """None where these moments say nothing about the value, or are no cheaper."""
        known = all(isinstance(view.kernel, ZeroKernel) for view in views)
        exact = isinstance(criterion, Information) and criterion.formula == "exact"
        if not known or not exact or any(part.probit.margin for part in parts):
            return None
        xp, pairs = namespace_of(views[0].x), list(zip(parts, views, strict=True))
        x = xp.stack([view.mean / part.probit.scale for part, view in pairs], axis=1)
        mean = sum(part.weight * x[:, k] for k, part in enumerate(parts))
        roots = xp.stack([0.0 * mean + part.weight**0.5 for part in parts], axis=1)
        away = (x - mean[:, None]) * roots
        return cls(mean, away, xp.sum(away * away, axis=1))

    def hopeful(self, rows: slice, columns: slice, value: float) -> AnyArray:
        """Which pairs of a tile may be worth this much."""
        least, farthest = limits(value)
        variance = -2.0 * (self.away[rows, :] @ self.away[columns, :].T)
        variance += self.variance[rows, None]
        variance += self.variance[None, columns]
        gap = self.mean[rows, None] - self.mean[None, columns]
        return (variance >= least) & (gap * gap <= farthest * (1.0 + variance))


def score_all(
    belief: Distribution, x: AnyArray, purpose: Purpose = "learn", formula: Formula = "exact"
) -> AnyArray:
    """The value of every question about a pool, shape (M, M): bits, or expected utility."""
    parts, views = _parts(belief), [View.of(part, x) for _, part in belief.components]
    whole, xp = slice(None), namespace_of(x)
    return criterion_for(purpose, formula).score(
        parts,
        [view.mean[:, None] for view in views],
        [view.mean[None, :] for view in views],
        [xp.clip(view.spread(whole, whole), min=0.0) for view in views],
    )


@one_thread
def probabilities(belief: Distribution, x: Array) -> Array:
    """P(the first is preferred to the second) for every pair of rows, shape (M, M)."""
    total, whole = np.zeros((len(x), len(x))), slice(None)
    for weight, part in belief.components:
        view = View.of(part, x)
        gap, spread = view.mean[:, None] - view.mean[None, :], np.maximum(view.spread(whole, whole), 0.0)
        total += weight * part.probit.probabilities(gap, spread)[0]
    return total


@one_thread
def best_question(
    belief: Distribution,
    pool: Pool | AnyArray,
    *,
    purpose: Purpose = "learn",
    formula: Formula = "exact",
    exclude: Iterable[tuple[int, int]] = (),
    tile: int | None = None,
) -> Question:
    """The best of all M (M - 1) / 2 questions about a pool, exactly.

    A `Pool` stands for its scaled features, which a learner's belief is about; for a model that was fitted to
    other features, give those, shape (M, d). Their array library and device decide where the work is done:
    NumPy here, torch on a GPU.
    Pairs in `exclude` are not asked; of equally good pairs the one with the smallest indices is.
    """
    if not hasattr(belief, "components"):
        raise TypeError(
            f"wanted a belief about rewards, as model.posterior_ or learner.belief(), but got {belief!r}"
        )
    x = _features_of(pool)
    count, banned = x.shape[0], list(exclude)
    if count < 2:
        raise ValueError(f"a question needs two trajectories, but the pool has {count}")
    if not all(0 <= i < count for pair in banned for i in pair):
        raise ValueError(f"excluded pairs must be of trajectories 0 to {count - 1}, but are {banned}")
    if tile is not None and tile < 1:
        raise ValueError(f"tile must be 1 or more, but is {tile}")
    size = tile or TILE["cpu" if isinstance(x, np.ndarray) else "gpu"]
    search = _Search(belief, x, criterion_for(purpose, formula), banned)
    search.look_at_a_few()
    for rows, columns in _tiles(count, size):
        search.look_at(rows, columns)
    return search.question()


def _features_of(pool: Any) -> AnyArray:
    if isinstance(pool, Pool):
        return pool.scaled
    return feature_matrix(pool) if isinstance(pool, list | np.ndarray) else pool


def _parts(belief: Distribution) -> list[Part]:
    return [Part(weight, gaussian.probit) for weight, gaussian in belief.components]


def _tiles(count: int, size: int) -> Iterator[tuple[slice, slice]]:
    """The upper triangle of the count x count square in tiles."""
    starts = range(0, count, size)
    return (
        (slice(i, min(i + size, count)), slice(j, min(j + size, count)))
        for i in starts
        for j in starts
        if j >= i
    )


class _Search:
    """The best pair so far. The pool is walked from the most uncertain trajectory to the least."""

    def __init__(
        self, belief: Distribution, x: AnyArray, criterion: Criterion, exclude: Iterable[tuple[int, int]]
    ) -> None:
        self.criterion, self.parts, self.xp = criterion, _parts(belief), namespace_of(x)
        views = [View.of(part, x) for _, part in belief.components]
        weighted = [p.weight * to_numpy(v.variance) for p, v in zip(self.parts, views, strict=True)]
        self.order = np.argsort(-np.sum(weighted, axis=0), kind="stable")
        self.views = [view.taken(like_indices(self.order, x)) for view in views]
        self.sd = np.sqrt(to_numpy(self.views[0].variance))
        self.outline = Outline.of(self.parts, self.views, criterion)
        place = np.argsort(self.order, kind="stable")
        self.excluded = {(int(min(place[i], place[j])), int(max(place[i], place[j]))) for i, j in exclude}
        self.value, self.pair = -np.inf, (-1, -1)

    def look_at_a_few(self, count: int = 48) -> None:
        """A first good value, from pairs spread over the pool, so that most others need no closer look."""
        sparse = slice(0, None, max(len(self.order) // count, 1))
        self.look_at(sparse, sparse)

    def look_at(self, rows: slice, columns: slice) -> None:
        """Every pair of a tile, unless none of them can be the best."""
        widest = float(self.sd[rows].max() + self.sd[columns].max()) ** 2
        least = self.criterion.least_spread(self.parts, self.value)
        if widest < least:
            return
        hopeful = self.outline.hopeful(rows, columns, self.value) if self.outline else None
        if hopeful is not None and not self.xp.any(hopeful):
            return
        spreads = [view.spread(rows, columns) for view in self.views]
        left, right = [v.mean[rows, None] for v in self.views], [v.mean[None, columns] for v in self.views]
        if least > 0.0:
            hopeful = spreads[0] >= least
        elif hopeful is None or self.xp.count_nonzero(hopeful) > FEW * hopeful.shape[0] * hopeful.shape[1]:
            hopeful = self.criterion.ceiling(self.parts, left, right, spreads) >= self.value - SAME
        i, j = self._pairs(hopeful, rows, columns)
        if i.shape[0]:
            take = self.xp.take
            flat = i * hopeful.shape[1] + j
            scores = self.criterion.score(
                self.parts,
                [take(m[:, 0], i) for m in left],
                [take(m[0, :], j) for m in right],
                [self._picked(s, flat) for s in spreads],
            )
            at = np.arange(len(self.order))
            self._remember(to_numpy(scores), at[rows][to_numpy(i)], at[columns][to_numpy(j)])

    def _picked(self, spread: AnyArray, flat: AnyArray) -> AnyArray:
        if spread.shape == (1, 1):
            return spread[0, :]
        return self.xp.clip(self.xp.take(self.xp.reshape(spread, (-1,)), flat), min=0.0)

    def _pairs(self, hopeful: AnyArray, rows: slice, columns: slice) -> tuple[AnyArray, AnyArray]:
        """Where in the tile the hopeful pairs are; each pair once, and no excluded one."""
        at = range(len(self.order))
        if self.excluded:
            inside = {p: n for n, p in enumerate(at[rows])}, {p: n for n, p in enumerate(at[columns])}
            for p, q in self.excluded:
                if p in inside[0] and q in inside[1]:
                    hopeful[inside[0][p], inside[1][q]] = False
        i, j = self.xp.nonzero(hopeful)
        if rows == columns:
            above = i < j
            i, j = i[above], j[above]
        return i, j

    def _remember(self, scores: Array, rows: Indices, columns: Indices) -> None:
        """Keep the best; of pairs that are equally good, the one with the smallest indices."""
        top = float(scores.max())
        if not np.isfinite(top):
            raise ValueError("the value of a question is not finite: are the pool's features finite?")
        if top < self.value - SAME:
            return
        best = np.flatnonzero(scores >= max(top, self.value) - SAME)
        a, b = self.order[rows[best]], self.order[columns[best]]
        found = min(zip(np.minimum(a, b).tolist(), np.maximum(a, b).tolist(), strict=True))
        self.pair = found if top > self.value + SAME else min(self.pair, found)
        self.value = max(top, self.value)

    def question(self) -> Question:
        """The best pair found."""
        if self.pair[0] < 0:
            raise ValueError("every question about this pool is excluded: nothing is left to ask")
        return Question(*self.pair, value=self.value, unit=self.criterion.unit)


def random_question(
    count: int, rng: np.random.Generator, exclude: Iterable[tuple[int, int]] = ()
) -> Question:
    """Two different trajectories of a pool of `count`, every pair with the same probability."""
    if count < 2:
        raise ValueError(f"a question needs two trajectories, but the pool has {count}")
    banned = {(min(p), max(p)) for p in exclude if 0 <= min(p) < max(p) < count}
    if len(banned) >= count * (count - 1) // 2:
        raise ValueError("every question about this pool is excluded: nothing is left to ask")
    while True:
        left, right = (int(n) for n in rng.choice(count, 2, replace=False))
        if (min(left, right), max(left, right)) not in banned:
            return Question(left, right)


def bits_of(belief: Distribution, a: Array, b: Array) -> float:
    """The bits of one question, about two rows of features."""
    return float(score_all(belief, np.stack([a, b]))[0, 1])
