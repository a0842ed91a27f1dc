"""Variances of very many pairs of a pool under one component, computed in single precision.

    V_ij      Var[f(x_i) - f(x_j)] / scale^2, so in units of the noise
    vectors   (M, p)   of all trajectories: V_ij is a sum of functions of inner products of a vector of i with
                       one of j

The posterior covariance is a sum of inner products (what was learned from answers, a linear kernel) and of
functions of inner products (most other kernels). All plain inner products are joined into one, so that a V
takes one matrix product for these and one for each function. `rounding` bounds the error of a V. Where it
would be too large, everything is in double precision.

A stack has consecutive trajectories in its second dimension: (S, size, p).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from prefero._support.arrays import AnyArray, namespace_of
from prefero.acquisition.base import Component, PairMoments
from prefero.acquisition.projection import Projection
from prefero.kernels import Kernel
from prefero.kernels.base import Term
from prefero.models.likelihood.probit import Probit

UNIT_NOISE = 0.5**0.5  # the noise whose scale is 1
SINGLE = 6e-8  # the rounding error of single precision
ROUNDING = 1e-3  # the largest rounding error of a V, times the component's weight


class Side(NamedTuple):
    """What is needed of the trajectories on one side of questions.

    Args:
        mean: Of their rewards, (M,), less the average of all.
        vectors: Of the inner products, (M, p) each.
    """

    mean: AnyArray
    vectors: list[AnyArray]

    def rows(self, rows: slice) -> "Side":
        """The same of a range of the trajectories."""
        return Side(self.mean[rows], [vectors[rows, ...] for vectors in self.vectors])

    def stacked(self, size: int, stacks: AnyArray) -> "Side":
        """Some of the stacks of so many consecutive trajectories each."""
        xp = namespace_of(self.mean)

        def taken(array: AnyArray) -> AnyArray:
            return xp.take(
                xp.reshape(array, (array.shape[0] // size, size, *array.shape[1:])), stacks, axis=0
            )

        return Side(taken(self.mean), [taken(vectors) for vectors in self.vectors])


@dataclass(frozen=True, eq=False)
class SinglePrecision:
    """One component, for the trajectories of a pool.

    Args:
        component: With a noise whose scale is 1.
        left: All trajectories, as the first of a question.
        right: All trajectories, as the second.
        functions: What takes two arrays of vectors, and gives what is added to V.
        rounding: No V is off by more.
    """

    component: Component
    left: Side
    right: Side
    functions: list[Callable[[AnyArray, AnyArray], AnyArray]]
    rounding: float

    @classmethod
    def of(cls, view: Projection) -> "SinglePrecision":
        """In single precision, where that is precise enough."""
        xp, component, scale = namespace_of(view.x), view.component, view.component.probit.scale
        added = _added(view)
        rounding = SINGLE * sum(one.largest() for one in added)
        single = all(one.scale for one in added) and component.weight * rounding < ROUNDING
        dtype = xp.float32 if single else xp.float64
        mean = xp.astype((view.mean - xp.mean(view.mean)) / scale, dtype)
        left = Side(mean, [xp.astype(one.left, dtype) for one in added])
        right = Side(mean, [xp.astype(one.right, dtype) for one in added])
        unit = Component(component.weight, Probit(UNIT_NOISE, 0.0, component.probit.lapse))
        return cls(
            unit, left, right, [one.function for one in added], rounding if single else 1e-6 * rounding
        )

    def variances(self, left: Side, right: Side) -> AnyArray:
        """V_ij of some trajectories i and others j, (..., M, N). Rounding may leave it slightly below 0."""
        each = zip(self.functions, left.vectors, right.vectors, strict=True)
        function, one, other = next(each)
        total = function(one, other)
        for function, one, other in each:
            total += function(one, other)
        return total

    def pairs(self, left: Side, right: Side) -> PairMoments:
        """What an acquisition function sees of these pairs."""
        means = left.mean[..., :, None], right.mean[..., None, :]
        return PairMoments(self.component.weight, self.component.probit, *means, self.variances(left, right))


class _Added(NamedTuple):
    """What is added to V: a function of two arrays of vectors, which multiplies an inner product."""

    left: AnyArray
    right: AnyArray
    function: Callable[[AnyArray, AnyArray], AnyArray]
    scale: float = 1.0  # 0 where nothing is known of its rounding in single precision

    def largest(self) -> float:
        """No sum of the sizes of what an inner product adds up is larger."""
        xp, left, right = namespace_of(self.left), abs(self.left), abs(self.right)
        sums = left @ xp.max(right, axis=0), right @ xp.max(left, axis=0)
        return abs(self.scale) * min(float(xp.max(one)) for one in sums)


def _added(view: Projection) -> list[_Added]:
    """What V consists of."""
    xp, factor = namespace_of(view.x), -2.0 / view.component.probit.scale**2
    half, ones = -0.5 * view.diagonal[:, None], xp.ones_like(view.diagonal[:, None])
    terms = view.kernel.terms(view.x)
    inner = [Term(half, ones), Term(ones, half), Term(view.learned, view.learned, scale=-1.0)]
    inner += [term for term in terms or [] if not term.profile]
    left = xp.concat([factor * term.scale * term.left for term in inner], axis=1)
    added = [_Added(left, xp.concat([term.right for term in inner], axis=1), _inner_product)]
    if terms is None:
        added.append(_Added(view.x, view.x, _of_kernel(view.kernel, factor), 0.0))
    return added + [_of_term(term, factor * term.scale) for term in terms or [] if term.profile]


def _inner_product(left: AnyArray, right: AnyArray) -> AnyArray:
    return left @ right.mT


def _of_term(term: Term, scale: float) -> _Added:
    def function(left: AnyArray, right: AnyArray) -> AnyArray:
        assert term.profile is not None
        values = term.profile(left @ right.mT)
        values *= scale
        return values

    return _Added(term.left, term.right, function, scale)


def _of_kernel(kernel: Kernel, scale: float) -> Callable[[AnyArray, AnyArray], AnyArray]:
    """For a kernel without terms, whose vectors are the features."""

    def function(x: AnyArray, y: AnyArray) -> AnyArray:
        if x.ndim == 2:
            return scale * kernel(x, y)
        return scale * namespace_of(x).stack([kernel(x[s, ...], y[s, ...]) for s in range(x.shape[0])])

    return function
