"""EP and Laplace's method for very many answers, in a basis of bounded rank.

A difference is basis_i . u + e_i. What an answer says about basis_i . u follows from adding the variance of
e_i to that of the person's noise, whatever the answer is: `prefero.models.likelihood.factors` do so with the
neglected variances. So the algorithms stay as they are, and only their products differ.
"""

from contextlib import suppress

from prefero.models.inference.attempts import expectation_propagation
from prefero.models.inference.laplace import laplace
from prefero.models.inference.low_rank import LowRank
from prefero.models.inference.solution import ConvergenceError, Solution, WarmStart
from prefero.models.inference.update import updated_solution
from prefero.models.likelihood.probit import Probit
from prefero.models.likelihood.regions import Layout

TOLERANCE = {"ep": 1e-3, "laplace": 1e-6}  # EP: then posterior means are within about 0.001 deviations
LADDER = ((96, 0.03), (250, 0.01), (500, 0.005), (900, 0.003))  # ranks to begin with, and the tolerance there
WORTH = 1.2  # times as many columns there must be
SWEEPS = 60


def solve_low_rank(
    low: LowRank,
    layout: Layout,
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
        layout: The answers.
        probit: The likelihood of answers.
        inference: "ep" or "laplace".
        start: Sites to start from.
        tolerance: When to stop, in standard deviations of the differences.

    Returns:
        What the inference found.
    """
    goal = TOLERANCE[inference] if tolerance is None else tolerance
    if start is not None:
        if start.solution is not None and inference == "ep":
            found = updated_solution(low, layout, probit, start.solution, goal)
            if isinstance(found, Solution):
                return found
            start = found or start
        with suppress(ConvergenceError):
            return _solve(low, layout, probit, inference, start, goal)
    with suppress(ConvergenceError):
        first = _with_few_columns(low, layout, probit, inference, goal)
        return _solve(low, layout, probit, inference, first, goal)
    return _solve(low, layout, probit, inference, WarmStart.zeros(layout.rows), goal)


def _with_few_columns(low: LowRank, layout: Layout, probit: Probit, inference: str, goal: float) -> WarmStart:
    """The sites that are found with the first columns of the basis, roughly."""
    start, rungs = WarmStart.zeros(layout.rows), [(low, 0.0)]
    for rank, rough in reversed(LADDER):
        if WORTH * rank < len(low.pivots):
            rungs.append((rungs[-1][0].of_rank(rank), max(rough, goal)))
    for fewer, tolerance in reversed(rungs[1:]):
        with suppress(ConvergenceError):
            found = _solve(fewer, layout, probit, inference, start, tolerance)
            start = WarmStart(found.W, found.shift)
    return start


def _solve(
    low: LowRank, layout: Layout, probit: Probit, inference: str, start: WarmStart, tolerance: float
) -> Solution:
    if inference == "laplace":
        return laplace(low.basis, layout, probit, start, tolerance, low.neglected)
    return expectation_propagation(low.basis, layout, probit, start, tolerance, low.neglected, SWEEPS)
