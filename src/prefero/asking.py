"""The next question: the exactly best pair of a pool, a random one, or one made for the purpose.

    x            (M, d)    features of the pool, scaled
    parts        K         the Gaussians that make up the belief, with their weights
    mean, sd     (M,)      of the rewards, for each part
    learned      (M, r)    Cov[f(x_i), f(x_j)] = k(x_i, x_j) - learned_i . learned_j, for each part

`best_question` looks at every pair, a tile of the M x M square at a time, and never keeps more than a few
tiles. Most pairs are ruled out by a bound that is cheaper than their value: first whole tiles, since
spread <= (sd_i + sd_j)^2; then single pairs. What is left is computed exactly, so the answer is exact.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from prefero.arrays import AnyArray, Array, namespace_of
from prefero.information import Criterion, Formula, Information, Part, Utility
from prefero.kernels import Kernel
from prefero.likelihood import Probit
from prefero.questions import Question

Purpose = Literal["learn", "best"]
SAME = 1e-10  # values this close are equal: the pair with the smaller indices is taken
TILE = {"cpu": 512, "gpu": 8192}


class Gaussian(Protocol):
    """What the search needs of a posterior."""

    kernel: Kernel
    probit: Probit

    def project(self, x: AnyArray) -> tuple[AnyArray, AnyArray]:
        """Mean and learned covariance."""


class Mixture(Protocol):
    """A belief over rewards as weighted Gaussians."""

    @property
    def components(self) -> Sequence[tuple[float, Gaussian]]:
        """Weights and Gaussians."""


def criterion_for(purpose: Purpose, formula: Formula = "exact") -> Criterion:
    """Information to learn the reward everywhere, utility to find the best trajectory soon."""
    if purpose == "learn":
        return Information(formula)
    if purpose == "best":
        return Utility()
    raise ValueError(f"purpose must be 'learn' or 'best', but is {purpose!r}")


@dataclass(frozen=True, eq=False)
class View:
    """One Gaussian of the belief, seen from the pool."""

    kernel: Kernel
    x: AnyArray
    mean: AnyArray
    variance: AnyArray
    learned: AnyArray

    @classmethod
    def of(cls, part: Gaussian, x: AnyArray) -> "View":
        """Project a Gaussian onto the pool."""
        xp = namespace_of(x)
        mean, learned = part.project(x)
        variance = part.kernel.diagonal(x) - xp.sum(learned * learned, axis=1)
        return cls(part.kernel, x, mean, xp.clip(variance, min=0.0), learned)

    def spread(self, rows: slice, columns: slice) -> AnyArray:
        """Var[f(x_i) - f(x_j)] for a tile of pairs."""
        covariance = self.kernel(self.x[rows, :], self.x[columns, :])
        covariance -= self.learned[rows, :] @ self.learned[columns, :].T
        covariance *= -2.0
        covariance += self.variance[rows, None]
        covariance += self.variance[None, columns]
        return covariance


def score_all(
    belief: Mixture, x: AnyArray, purpose: Purpose = "learn", formula: Formula = "exact"
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


def best_question(
    belief: Mixture,
    x: AnyArray,
    *,
    purpose: Purpose = "learn",
    formula: Formula = "exact",
    exclude: Iterable[tuple[int, int]] = (),
    tile: int | None = None,
) -> Question:
    """The best of all M (M - 1) / 2 questions about a pool, exactly.

    The array library and the device of `x` decide where the work is done: NumPy here, torch on a GPU.
    Pairs in `exclude` are not asked; of equally good pairs the one with the smallest indices is.
    """
    count = x.shape[0]
    if count < 2:
        raise ValueError(f"a question needs two trajectories, but the pool has {count}")
    size = tile or TILE["cpu" if isinstance(x, np.ndarray) else "gpu"]
    search = _Search(belief, x, criterion_for(purpose, formula), exclude)
    search.look_at_a_few()
    for rows, columns in _tiles(count, size):
        search.look_at(rows, columns)
    return search.question()


def _parts(belief: Mixture) -> list[Part]:
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
        self, belief: Mixture, x: AnyArray, criterion: Criterion, exclude: Iterable[tuple[int, int]]
    ) -> None:
        self.criterion, self.parts, self.xp = criterion, _parts(belief), namespace_of(x)
        unsorted = [View.of(part, x) for _, part in belief.components]
        uncertainty = sum(
            part.weight * np.asarray(_host(v.variance)) for part, v in zip(self.parts, unsorted, strict=True)
        )
        self.order = np.argsort(-np.asarray(uncertainty), kind="stable")
        self.views = [self._sorted(view) for view in unsorted]
        self.widest = [np.sqrt(_host(view.variance)) for view in self.views]
        place = np.empty_like(self.order)
        place[self.order] = np.arange(len(self.order))
        self.excluded = {tuple(sorted((int(place[i]), int(place[j])))) for i, j in exclude}
        self.value, self.pair = -np.inf, (-1, -1)

    def _sorted(self, view: View) -> View:
        order = self.xp.asarray(self.order, device=getattr(view.x, "device", None))

        def take(values: AnyArray) -> AnyArray:
            return self.xp.take(values, order, axis=0)

        return View(view.kernel, take(view.x), take(view.mean), take(view.variance), take(view.learned))

    def look_at_a_few(self, count: int = 48) -> None:
        """A first good value, from pairs spread over the pool, so that most others need no closer look."""
        every = max(len(self.order) // count, 1)
        sparse = slice(0, every * min(count, len(self.order)), every)
        self._consider(sparse, sparse, np.arange(len(self.order))[sparse], np.arange(len(self.order))[sparse])

    def look_at(self, rows: slice, columns: slice) -> None:
        """Every pair of a tile, unless none of them can be the best."""
        wide = float(self.widest[0][rows].max() + self.widest[0][columns].max()) ** 2
        if len(self.parts) == 1 and wide < self._least_spread():
            return
        at = np.arange(len(self.order))
        self._consider(rows, columns, at[rows], at[columns])

    def _least_spread(self) -> float:
        return self.criterion.least_spread(self.parts, self.value)

    def _consider(self, rows: slice, columns: slice, row_at: Array, column_at: Array) -> None:
        spreads = [view.spread(rows, columns) for view in self.views]
        left = [view.mean[rows, None] for view in self.views]
        right = [view.mean[None, columns] for view in self.views]
        keep = self._candidates(left, right, spreads)
        for i, j in self._excluded_here(row_at, column_at):
            keep[i, j] = False
        i, j = self.xp.nonzero(keep)
        if rows == columns:
            above = i < j
            i, j = i[above], j[above]
        if i.shape[0] == 0:
            return
        flat = i * len(column_at) + j
        scores = self.criterion.score(
            self.parts,
            [self.xp.take(m[:, 0], i) for m in left],
            [self.xp.take(m[0, :], j) for m in right],
            [self.xp.clip(self.xp.take(self.xp.reshape(s, (-1,)), flat), min=0.0) for s in spreads],
        )
        self._remember(_host(scores), row_at[_host(i)], column_at[_host(j)])

    def _candidates(self, left: list[AnyArray], right: list[AnyArray], spreads: list[AnyArray]) -> AnyArray:
        least = self._least_spread() if len(self.parts) == 1 else 0.0
        if least > 0.0:
            return spreads[0] >= least
        positive = [self.xp.clip(s, min=0.0) for s in spreads]
        return self.criterion.ceiling(self.parts, left, right, positive) >= self.value - SAME

    def _excluded_here(self, row_at: Array, column_at: Array) -> list[tuple[int, int]]:
        if not self.excluded:
            return []
        rows = {int(p): n for n, p in enumerate(row_at)}
        columns = {int(p): n for n, p in enumerate(column_at)}
        return [(rows[p], columns[q]) for p, q in self.excluded if p in rows and q in columns]

    def _remember(self, scores: Array, rows: Array, columns: Array) -> None:
        top = float(scores.max())
        if top < self.value - SAME:
            return
        best = np.flatnonzero(scores >= max(top, self.value) - SAME)
        a, b = self.order[rows[best]], self.order[columns[best]]
        low, high = np.minimum(a, b), np.maximum(a, b)
        first = np.lexsort((high, low))[0]
        found = int(low[first]), int(high[first])
        self.pair = found if top > self.value + SAME else min(self.pair, found)
        self.value = max(top, self.value)

    def question(self) -> Question:
        """The best pair found."""
        if self.pair[0] < 0:
            raise ValueError("every question about this pool is excluded: nothing is left to ask")
        return Question(*self.pair, bits=self.value)


def _host(array: AnyArray) -> Array:
    """An array's values in NumPy, wherever they live."""
    return (
        array
        if isinstance(array, np.ndarray)
        else np.asarray(array.cpu() if hasattr(array, "cpu") else array)
    )
