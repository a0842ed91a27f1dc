"""Small preference problems that the tests of inference share: kernels, answers and points to predict."""

from collections.abc import Sequence
from typing import NamedTuple, get_args

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from prefero._support.arrays import Array
from prefero.kernels import RBF, Anchored, Kernel, Linear, Matern, Quadratic
from prefero.models.inference.fit import Fit
from prefero.models.inference.infer import Inference, infer
from prefero.models.inference.sites import site_product
from prefero.models.likelihood.probit import Probit
from prefero.models.likelihood.regions import layout_of
from prefero.models.posterior.gaussian import Posterior, covariance_of_differences
from prefero.questions import Comparisons

INFERENCES: tuple[Inference, ...] = get_args(Inference)
ANCHOR = (0.2, -0.1)
PAPER = Anchored(RBF(theta=1.0), ANCHOR, mode="condition")
KERNELS: dict[str, Kernel] = {
    "the paper's": PAPER,
    "rbf": RBF(theta=0.5),
    "matern": 2.0 * Matern(lengthscale=(0.7, 1.5), nu=1.5),
    "linear": 3.0 * Linear(),
    "linear + quadratic": Linear() + 0.5 * Quadratic(),
    "rbf, subtracted": Anchored(RBF(theta=0.5) + 0.2 * Linear(), ANCHOR),
}
both_inferences = pytest.mark.parametrize("inference", INFERENCES)
every_kernel = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS.keys())


class Problem(NamedTuple):
    """Answers about a pool, and other points to predict."""

    data: Comparisons
    x: Array


def problem(seed: int, choices: int, ties: int = 0) -> Problem:
    rng = np.random.default_rng(seed)
    items = rng.standard_normal((12, 2))
    pairs = np.array([rng.choice(12, 2, replace=False) for _ in range(choices + ties)])
    return Problem(Comparisons.of(items, pairs[:choices], pairs[choices:]), rng.standard_normal((5, 2)))


def swapped(data: Comparisons) -> Comparisons:
    return Comparisons(data.losers, data.winners, data.tied)


def reordered(data: Comparisons, order: Sequence[int]) -> Comparisons:
    at = list(order)
    return Comparisons(data.winners[at], data.losers[at], data.tied[at])


def posterior(kernel: Kernel, data: Comparisons, probit: Probit, inference: Inference) -> Posterior:
    return infer(kernel, data, probit, inference).posterior


def from_sites(fit: Fit, x: Array) -> tuple[Array, Array]:
    """Mean and covariance of the rewards of x, from the sites and the prior alone, by dense formulas."""
    data, solution, prior = fit.data, fit.solution, fit.kernel
    C, cross = covariance_of_differences(prior, data), prior(x, data.winners) - prior(x, data.losers)
    W = site_product(layout_of(data), solution.W, np.eye(len(data)))
    weights = np.linalg.solve(np.eye(len(data)) + W @ C, np.column_stack([solution.shift, W @ cross.T]))
    return cross @ weights[:, 0], prior(x, x) - cross @ weights[:, 1:]


def assert_same(first: Posterior, second: Posterior, x: Array, tolerance: float) -> None:
    for found, expected in zip(first(x), second(x), strict=True):
        np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance)
    assert first.log_evidence == pytest.approx(second.log_evidence, abs=10 * tolerance, rel=tolerance)


def repeated(choice: str, times: int) -> Comparisons:
    items = np.array([[0.0, 0.0], [1.0, 0.5]])
    pair = [0, 1] if choice == "left" else [1, 0]
    return Comparisons.of(items, [pair] * times)


def joined(first: Comparisons, second: Comparisons) -> Comparisons:
    pairs = ((getattr(first, name), getattr(second, name)) for name in ("winners", "losers", "tied"))
    winners, losers, tied = (np.concatenate(pair) for pair in pairs)
    return Comparisons(winners, losers, tied)


# --- any answers about any pool ---------------------------------------------------------------------------

InferenceCase = tuple[Array, Comparisons, Kernel, Probit]  # with the features of the pool, (M, 2)
ROUNDED = st.floats(-3.0, 3.0).map(lambda value: round(value, 1))  # so that duplicates are common


@st.composite
def problems(draw: st.DrawFn, lapses: bool = False) -> InferenceCase:
    """Any pool, answers that may repeat and contradict, any kernel, noise from tiny to huge."""
    count = draw(st.integers(2, 8))
    items = draw(hnp.arrays(float, (count, 2), elements=ROUNDED))
    pair = st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)).filter(lambda p: p[0] != p[1])
    chosen, equal = draw(st.lists(pair, max_size=25)), draw(st.lists(pair, max_size=5))
    kernel = draw(st.sampled_from(list(KERNELS.values())))
    noise = 10 ** draw(st.floats(-3, 3))
    margin = noise * 10 ** draw(st.floats(-2, 2))
    lapse = 10 ** draw(st.floats(-4, -0.1)) if lapses else 0.0
    return items, Comparisons.of(items, chosen, equal), kernel, Probit(noise, margin, lapse)


def check_inference(case: InferenceCase, inference: Inference) -> Fit:
    """Infer, and check what always holds: all is finite, and answers never make less certain."""
    items, data, kernel, probit = case
    fit = infer(kernel, data, probit, inference)
    found = fit.posterior
    mean, covariance = found(items)
    assert np.isfinite(mean).all()
    assert np.isfinite(covariance).all()
    assert np.isfinite(found.log_evidence)
    prior = kernel(items, items)
    scale = 1e-8 * max(1.0, float(prior.max()))
    assert (covariance.diagonal() <= prior.diagonal() + scale).all()
    assert np.linalg.eigvalsh(covariance).min() >= -scale
    return fit
