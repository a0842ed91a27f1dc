"""Approximate inference: from comparisons to a Gaussian posterior, by EP or by Laplace's method.

    kernel     the prior covariance of the reward
    data       the comparisons
    probit     the likelihood of an answer

Expectation propagation (EP, `prefero.models.inference.ep`) is the default and Laplace
(`prefero.models.inference.laplace`) is the paper's. Both work on the answered differences in terms of
independent standard normals, and both may start from the solution of an earlier inference with fewer answers.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Literal

from prefero._support.arrays import AnyArray, Array, one_thread
from prefero.kernels import Kernel
from prefero.models.algebra.linalg import PivotedCholesky, pivoted_cholesky
from prefero.models.algebra.tall_matrix import TallMatrix
from prefero.models.inference.attempts import expectation_propagation
from prefero.models.inference.fit import Fit
from prefero.models.inference.growing_basis import low_rank_basis
from prefero.models.inference.laplace import laplace
from prefero.models.inference.low_rank import LowRank, are_many
from prefero.models.inference.solution import ConvergenceError, Solution, WarmStart
from prefero.models.inference.tall import solve_low_rank
from prefero.models.likelihood.probit import Probit
from prefero.models.likelihood.regions import Layout, layout_of
from prefero.models.posterior.gaussian import covariance_of_differences
from prefero.questions import Comparisons

Inference = Literal["ep", "laplace"]
Solver = Callable[[Array | TallMatrix, Layout, Probit, WarmStart, float, Array | float], Solution]
SOLVERS: dict[str, tuple[Solver, float]] = {  # each with its default tolerance
    "ep": (expectation_propagation, 1e-5),
    "laplace": (laplace, 1e-8),
}


def check_inference(inference: str) -> None:
    """An error unless there is such an inference."""
    if inference not in SOLVERS:
        raise ValueError(f"inference must be 'ep' or 'laplace', but is {inference!r}")


def check_answers(data: Comparisons, probit: Probit, inference: str) -> None:
    """An error if answers are impossible, or of a kind that the inference does not know."""
    if data.has_ties and probit.margin == 0:
        raise ValueError(
            "some answers are 'about equal', but the margin is 0, which makes them impossible: "
            "give a positive margin, or leave it to be learned"
        )
    if data.rows is None:
        return
    if inference != "ep":
        raise ValueError(f"inference {inference!r} knows answers about pairs only: take 'ep' for all others")
    if data.has_strengths and not probit.strong_margin:
        raise ValueError(
            "some answers say 'slightly' or 'much better', but the strong margin is 0: "
            "give a positive strong_margin, or leave it to be learned"
        )


@one_thread
def infer(
    kernel: Kernel,
    data: Comparisons,
    probit: Probit,
    inference: Inference = "ep",
    start: WarmStart | None = None,
    tolerance: float | None = None,
    cholesky: PivotedCholesky | LowRank | None = None,
    device: AnyArray | None = None,
) -> Fit:
    """The posterior over rewards given the answers, and what the next inference starts from.

    Args:
        kernel: The prior covariance of the reward.
        data: The comparisons.
        probit: The likelihood of answers.
        inference: "ep" or "laplace".
        start: Sites to start from, such as those of fewer answers.
        tolerance: When to stop, in standard deviations of the differences.
        cholesky: Of the prior covariance of the answered differences, where it is known already.
        device: An array of the library, and on the device, that computes with very many answers; None: NumPy.

    Returns:
        The fit, with the posterior and the solution that the inference found.

    Raises:
        ConvergenceError: If it does not converge.
    """
    check_inference(inference)
    if cholesky is None:
        cholesky = factored(kernel, data, probit.noise, device=device)
    basis = cholesky if isinstance(cholesky, LowRank) else cholesky.basis
    solution = solve(basis, data, probit, inference, start, tolerance)
    return Fit(kernel, probit, data, cholesky, solution)


def factored(
    kernel: Kernel,
    data: Comparisons,
    noise: float,
    start: LowRank | None = None,
    device: AnyArray | None = None,
) -> PivotedCholesky | LowRank:
    """The prior covariance of the answered differences: whole, or of very many answers in a low rank."""
    if not are_many(data):
        return pivoted_cholesky(covariance_of_differences(kernel, data), noise)
    return low_rank_basis(kernel, data, noise, start=start, device=device)


def solve(
    basis: Array | LowRank,
    data: Comparisons,
    probit: Probit,
    inference: Inference,
    start: WarmStart | None = None,
    tolerance: float | None = None,
) -> Solution:
    """Run an inference from `start`; if it does not converge from there, once more from the prior."""
    check_answers(data, probit, inference)
    layout = layout_of(data)
    if isinstance(basis, LowRank):
        return solve_low_rank(basis, layout, probit, inference, start, tolerance)
    solver, default = SOLVERS[inference]
    goal = default if tolerance is None else tolerance
    if start is not None:
        solved = start.solved(len(basis), goal)
        if solved is not None:
            return solved
        with suppress(ConvergenceError):  # a warm start may mislead where the model has changed much
            return solver(basis, layout, probit, start, goal, 0.0)
    return solver(basis, layout, probit, WarmStart.zeros(len(basis)), goal, 0.0)
