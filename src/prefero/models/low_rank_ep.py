"""EP and Laplace's method for very many answers, in the basis of bounded rank of `prefero.models.low_rank`.

A difference is basis_i . u + e_i. What an answer says about basis_i . u follows from adding the variance of
e_i to that of the person's noise, whatever the answer is: the likelihood of an answer with an uncertain
difference is known already (`Probit`). So the algorithms stay as they are, and only their products differ.
"""

from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np

from prefero._support.arrays import Array, Flags
from prefero.models import ep
from prefero.models.laplace import laplace
from prefero.models.likelihood import Likelihood, MarginDerivatives, Probit
from prefero.models.linalg import precision_factor, triangular_inverse
from prefero.models.low_rank import LowRank
from prefero.models.low_rank_update import updated_solution
from prefero.models.solution import ConvergenceError, Solution, WarmStart
from prefero.models.tall_matrix import TallMatrix

TOLERANCE = {"ep": 1e-3, "laplace": 1e-6}  # EP: then posterior means are within about 0.001 deviations
LADDER = ((96, 0.03), (250, 0.01), (500, 0.005), (900, 0.003))  # ranks to begin with, and the tolerance there
WORTH = 1.2  # times as many columns there must be
SWEEPS = 60


@dataclass(frozen=True, eq=False)
class BlurredProbit(Probit):
    """The likelihood of answers where each difference has a variance of its own besides.

    Args:
        noise: The paper's sigma.
        margin: Perceived differences below it are answered "about equal".
        lapse: The lapse rate.
        neglected: The further variances, (N,).
    """

    neglected: Array = field(default_factory=lambda: np.empty(0))

    @classmethod
    def of(cls, probit: Probit, neglected: Array) -> "BlurredProbit":
        """The same person, with these variances."""
        return cls(probit.noise, probit.margin, probit.lapse, neglected=neglected)

    def __call__(self, differences: Array, tied: Flags, variance: Array | float = 0.0) -> Likelihood:
        return super().__call__(differences, tied, variance + self.neglected)

    def by_margin(self, differences: Array, tied: Flags, variance: Array | float = 0.0) -> MarginDerivatives:
        person = Probit(self.noise, self.margin, self.lapse)
        return person.by_margin(differences, tied, variance + self.neglected)


def solve_low_rank(
    low: LowRank,
    tied: Flags,
    probit: Probit,
    inference: str,
    start: WarmStart | None = None,
    tolerance: float | None = None,
) -> Solution:
    """Run an inference in a basis of bounded rank.

    From nothing it begins with the first columns of the basis, where a sweep costs little, and goes on from
    the sites that it finds there with more columns.

    Args:
        low: The basis.
        tied: Which answers are "about equal", (N,).
        probit: The likelihood of answers.
        inference: "ep" or "laplace".
        start: Sites to start from.
        tolerance: When to stop, in standard deviations of the differences.

    Returns:
        What the inference found.
    """
    goal = TOLERANCE[inference] if tolerance is None else tolerance
    if start is not None:
        found = _updated(low, tied, probit, inference, start, goal)
        if isinstance(found, Solution):
            return found
        start = found or start
        with suppress(ConvergenceError):
            return _solve(low, tied, probit, inference, start, goal)
    with suppress(ConvergenceError):
        first = _with_few_columns(low, tied, probit, inference, goal)
        return _solve(low, tied, probit, inference, first, goal)
    return _solve(low, tied, probit, inference, WarmStart.zeros(len(tied)), goal)


def _updated(
    low: LowRank, tied: Flags, probit: Probit, inference: str, start: WarmStart, goal: float
) -> Solution | WarmStart | None:
    """The solution before the last answers, if it is known, with only the sites updated that move."""
    if start.solution is None or inference != "ep":
        return None
    return updated_solution(low, tied, BlurredProbit.of(probit, low.neglected), start.solution, goal)


def _with_few_columns(low: LowRank, tied: Flags, probit: Probit, inference: str, goal: float) -> WarmStart:
    """The sites that are found with the first columns of the basis, roughly."""
    start, rungs = WarmStart.zeros(len(tied)), [(low, 0.0)]
    for rank, rough in reversed(LADDER):
        if WORTH * rank < len(low.pivots):
            rungs.append((rungs[-1][0].of_rank(rank), max(rough, goal)))
    for fewer, tolerance in reversed(rungs[1:]):
        with suppress(ConvergenceError):
            found = _solve(fewer, tied, probit, inference, start, tolerance)
            start = WarmStart(found.W, found.shift)
    return start


def _solve(
    low: LowRank, tied: Flags, probit: Probit, inference: str, start: WarmStart, tolerance: float
) -> Solution:
    blurred = BlurredProbit.of(probit, low.neglected)
    if inference == "laplace":
        return laplace(low.basis, tied, blurred, start, tolerance)
    if not probit.lapse:
        return _Iteration(low.basis, tied, blurred).run(start, tolerance, SWEEPS)
    with suppress(ConvergenceError):  # sites of negative precision, see `prefero.models.ep`
        return _Iteration(low.basis, tied, blurred, lowest=-np.inf).run(start, tolerance, SWEEPS)
    bounded = _Iteration(low.basis, tied, blurred, damping=ep.CAUTIOUS)
    return bounded.run(_without_negative(start), tolerance, 2 * SWEEPS)


def _without_negative(start: WarmStart) -> WarmStart:
    return WarmStart(np.maximum(start.precision, 0.0), start.shift)


class _Iteration(ep.Iteration):
    """EP whose products are those of a tall matrix."""

    def __init__(
        self, matrix: TallMatrix, tied: Flags, probit: Probit, lowest: float = 0.0, damping: float = 1.0
    ) -> None:
        super().__init__(np.empty((len(tied), 0)), tied, probit, lowest, damping)
        self.matrix = matrix

    def _moments(self, precision: Array, shift: Array) -> tuple[Array, Array, Array, Array, Array]:
        factor = precision_factor(self.matrix, precision)
        inverse = triangular_inverse(factor)
        u_mean = inverse.T @ (inverse @ (self.matrix.T @ shift))
        return factor, inverse, u_mean, self.matrix @ u_mean, self.matrix.squared_norms(inverse)

    def _one_by_one(self, at: ep.Sweep) -> tuple[Array, Array]:
        raise ConvergenceError(
            f"expectation propagation did not converge: after {ep.PARALLEL_SWEEPS} sweeps the moments of "
            f"{len(self.matrix)} answers are still off by {at.residual:.1e} standard deviations"
        )
