"""The log marginal likelihood (evidence) of a model, its gradient, and hyper-parameters that maximize it.

    C            (N, N)   prior covariance of the answered differences
    alpha        (N,)     shift - W mean: the gradient of the log-likelihood (EP: of the sites) at the mean
    A            (N, N)   W^1/2 B^-1 W^1/2 = (C + W^-1)^-1, with B = I + W^1/2 C W^1/2
    C_gradient   (N, N)   derivative of the log evidence by C
    z            (P,)     hyper-parameters: log value = log of the given one + prior std * z

The gradients are those of Rasmussen & Williams (GPML), section 5.5: at EP's fixed point the sites need not be
differentiated; at Laplace's mode they must be, through the third derivative of the likelihood. An answer
depends only on the ratios of rewards, noise and margin, so the derivative by the noise follows from the
others.

Hyper-parameters are optimized in bounded log-space under weak log-normal priors around the given ones, so
that few answers, or answers without a contradiction, cannot send them to infinity (maximum a posteriori, type
II).
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

import numpy as np
from scipy.linalg import LinAlgError

from prefero._support.arrays import Array, Indices, one_thread
from prefero.kernels import Kernel
from prefero.models.algebra.linalg import pivoted_cholesky, triangular_inverse
from prefero.models.inference.growing_basis import basis_of_pivots, low_rank_basis
from prefero.models.inference.infer import Inference, solve
from prefero.models.inference.low_rank import LowRank, are_many
from prefero.models.inference.sites import site_product
from prefero.models.inference.solution import ConvergenceError, Solution, WarmStart
from prefero.models.inference.tall_evidence import low_rank_log_evidence
from prefero.models.likelihood import cut_points
from prefero.models.likelihood.factors import factors_of
from prefero.models.likelihood.probit import Probit
from prefero.models.likelihood.regions import Layout, bounds_of, layout_of
from prefero.models.posterior.gaussian import covariance_of_differences
from prefero.questions import Comparisons
from prefero.questions.kinds.base import ANYWHERE, MARGIN, STRONG, TYPICAL_CUT_POINTS

PRIOR_STD = {
    "lengthscale": 0.75,
    "width": 0.75,
    "gap": 0.4,
}  # prior standard deviations of the logarithms of hyper-parameters
DEFAULT_PRIOR_STD = 1.5  # of all others: thetas, variances, noise, margin, parameters of your own kernels
SUBSET = 400  # of very many answers, so many find hyper-parameters, which
REFINEMENTS = 6  # further iterations refine with all of them
TOLERANCE = {"ep": 1e-9, "laplace": 1e-10}  # gradients need a better fixed point than predictions


@dataclass(frozen=True, eq=False)
class Evidence:
    """The log evidence and its derivatives by the logarithms of kernel parameters, noise and margin.

    Args:
        value: The log evidence.
        kernel_gradient: By the kernel's log-parameters, (P,).
        noise_gradient: By the log noise.
        margin_gradient: By the log margin.
        solution: What the inference found.
        strong_margin_gradient: By the log strong margin.
        cut_gradient: By the cut points of ratings, (20,).
    """

    value: float
    kernel_gradient: Array
    noise_gradient: float
    margin_gradient: float
    solution: Solution
    strong_margin_gradient: float = 0.0
    cut_gradient: Array = field(default_factory=lambda: np.zeros_like(TYPICAL_CUT_POINTS))


@one_thread
def log_evidence(
    kernel: Kernel,
    data: Comparisons,
    probit: Probit,
    inference: Inference = "ep",
    start: WarmStart | None = None,
    low: LowRank | None = None,
) -> Evidence:
    """The log evidence of the answers with its gradient.

    Args:
        kernel: The prior covariance of the reward.
        data: The comparisons.
        probit: The likelihood of answers.
        inference: "ep" or "laplace".
        start: Sites to start from.
        low: With very many answers, the basis of bounded rank; the gradient is that at its pivots.

    Returns:
        The evidence with its derivatives.

    Raises:
        ConvergenceError: If the inference does not converge.
    """
    if not len(data):
        prior = solve(np.empty((0, 0)), data, probit, inference)
        return Evidence(0.0, np.zeros(len(kernel.parameter_names)), 0.0, 0.0, prior)
    if low is not None or are_many(data):
        low = low or low_rank_basis(kernel, data, probit.noise)
        found = low_rank_log_evidence(kernel, data, probit, inference, low, start)
        return _evidence_of(found.solution, probit, found.by_kernel, found.by_scale, found.by_bounds)
    C, layout = covariance_of_differences(kernel, data), layout_of(data)
    basis = pivoted_cholesky(C, probit.noise).basis
    solution = solve(basis, data, probit, inference, start, TOLERANCE[inference])
    alpha = solution.shift - site_product(layout, solution.W, basis @ solution.u_mean)
    A = _marginal_precision(basis, layout, solution)
    C_gradient = 0.5 * (np.outer(alpha, alpha) - A)
    if inference == "ep":
        by_bounds = _bound_gradient(layout, probit, solution)
    else:
        drift, by_margin = _laplace_terms(data, probit, solution, A, C)
        C_gradient += 0.5 * (np.outer(drift, alpha) + np.outer(alpha, drift))
        by_bounds = np.zeros(ANYWHERE)
        by_bounds[MARGIN] = by_margin
    by_scale, by_kernel = float(np.sum(C_gradient * C)), _kernel_gradient(kernel, data, C_gradient)
    return _evidence_of(solution, probit, by_kernel, by_scale, by_bounds)


def _evidence_of(
    solution: Solution, probit: Probit, by_kernel: Array, by_scale: float, by_bounds: Array
) -> Evidence:
    """The evidence, given its derivatives by the kernel's parameters, by the log of C, and by the bounds.

    Answers depend on the ratios of rewards, noise and bounds, so the derivative by the noise follows.
    """
    by_log = by_bounds * bounds_of(probit)[:ANYWHERE]
    by_noise = -2.0 * by_scale - float(by_log.sum())
    by_margin, by_strong = float(by_log[MARGIN]), float(by_log[STRONG])
    cut_gradient = by_bounds[cut_points.FIRST :]
    return Evidence(solution.log_evidence, by_kernel, by_noise, by_margin, solution, by_strong, cut_gradient)


def _marginal_precision(basis: Array, layout: Layout, solution: Solution) -> Array:
    """(C + S^-1)^-1 = S - S basis Lambda^-1 basis.T S, shape (N, N)."""
    root = site_product(layout, solution.W, basis) @ triangular_inverse(solution.factor).T
    marginal: Array = site_product(layout, solution.W, np.eye(layout.rows)) - root @ root.T
    return marginal


def _bound_gradient(layout: Layout, probit: Probit, solution: Solution) -> Array:
    """Derivatives of the log evidence by the bounds at EP's fixed point, (ANYWHERE,)."""
    each = zip(factors_of(layout, [probit]), solution.cavities, strict=True)
    found = [factors.by_bounds(m[None], V[None])[0] for factors, (m, V) in each]
    return np.asarray(np.sum(found, axis=0))


def _laplace_terms(
    data: Comparisons, probit: Probit, solution: Solution, A: Array, C: Array
) -> tuple[Array, float]:
    """How the mode's own movement changes the evidence: by C (GPML 5.23), and by the margin."""
    ((mode, _),) = solution.cavities
    variance = C.diagonal() - np.einsum("ij,jk,ki->i", C, A, C, optimize=True)
    pull = 0.5 * variance * probit(mode, data.tied).third
    drift = pull - A @ (C @ pull)
    by_margin = probit.by_margin(mode, data.tied)
    mode_by_margin = C @ (by_margin.gradient - A @ (C @ by_margin.gradient))
    direct = by_margin.log.sum() - 0.5 * variance @ by_margin.curvature
    return drift, float(direct + pull @ mode_by_margin)


def _kernel_gradient(kernel: Kernel, data: Comparisons, weights: Array) -> Array:
    """Derivative of sum(weights * C) by the kernel's log-parameters, C being made of four kernel matrices."""
    winners, losers = data.winners, data.losers
    same = kernel.gradient(winners, winners, weights) + kernel.gradient(losers, losers, weights)
    return same - 2.0 * kernel.gradient(winners, losers, weights)


@dataclass(frozen=True, eq=False)
class HyperparameterFit:
    """Hyper-parameters that maximize evidence times prior.

    Args:
        kernel: The kernel with them.
        probit: The likelihood with them.
        log_posterior: The log of evidence times prior.
        log_prior: The log of the prior.
        free_parameters: How many were learned.
        evaluations: How often the evidence was computed.
    """

    kernel: Kernel
    probit: Probit
    log_posterior: float  # log evidence plus log prior there, up to the prior's constant
    log_prior: float
    free_parameters: int
    evaluations: int


@one_thread
def fit_hyperparameters(
    kernel: Kernel,
    data: Comparisons,
    probit: Probit,
    inference: Inference = "ep",
    *,
    learn_kernel: bool = True,
    learn_noise: bool = False,
    learn_margin: bool = False,
    learn_strong_margin: bool = False,
    learn_cut_points: Sequence[int] = (),
    restarts: int = 0,
    iterations: int = 60,
    seconds: float = np.inf,
    seed: int = 0,
) -> HyperparameterFit:
    """The hyper-parameters of largest evidence times prior.

    Values for which the inference does not converge count as bad, not as an error; if all do, the given
    hyper-parameters are returned.

    Args:
        kernel: The kernel, with hyper-parameters to start from.
        data: The comparisons.
        probit: Noise and margin to start from.
        inference: "ep" or "laplace".
        learn_kernel: Whether the kernel's hyper-parameters are learned.
        learn_noise: Whether the noise is learned.
        learn_margin: Whether the margin is learned.
        learn_strong_margin: Whether the distance of the strong margin from the margin is learned.
        learn_cut_points: Numbers of levels of ratings, the cut points of which are learned.
        restarts: How many more searches start from random hyper-parameters.
        iterations: The most that a search takes.
        seconds: When they are over, the best so far is returned.
        seed: Of the random starts.

    Returns:
        The best hyper-parameters.
    """
    learned = learn_kernel, learn_noise, learn_margin, learn_strong_margin, learn_cut_points
    space = _SearchSpace(kernel, probit, *learned)
    if not len(data) or not len(space):
        return HyperparameterFit(kernel, probit, 0.0, 0.0, len(space), 0)
    many, deadline = are_many(data), time.monotonic() + seconds
    some = data[:: -(-len(data) // SUBSET)] if many else data
    search = _Maximization(space, some, inference, iterations, deadline)
    rng = np.random.default_rng(seed)
    for z in [np.zeros(len(space)), *rng.uniform(-1.5, 1.5, (restarts, len(space)))]:
        search.run(z)
    if many:  # what some of the answers found is refined with all
        rough, search = search.best, _Maximization(space, data, inference, REFINEMENTS, deadline)
        search.run(rough)
    kernel, probit = space.at(search.best)
    log_prior = -0.5 * float(search.best @ search.best)
    return HyperparameterFit(kernel, probit, search.log_posterior, log_prior, len(space), search.evaluations)


class _SearchSpace:
    """Hyper-parameters as standard normals z: log value = log of the given one + prior std * z."""

    def __init__(
        self,
        kernel: Kernel,
        probit: Probit,
        learn_kernel: bool,
        learn_noise: bool,
        learn_margin: bool,
        learn_strong_margin: bool = False,
        learn_cut_points: Sequence[int] = (),
    ) -> None:
        self.kernel, self.probit, self.levels = kernel, probit, learn_cut_points
        self.of_kernel = kernel.parameter_names if learn_kernel else ()
        self.of_probit = ("noise",) * learn_noise + ("margin",) * learn_margin
        self.of_probit += ("beyond",) * learn_strong_margin  # from the margin to the strong margin
        # all inner levels of a rating are wider or narrower together, and each of them by itself
        of_cuts = [("width", *["gap"] * (levels - 2)) for levels in self.levels]
        self.names = (*self.of_kernel, *self.of_probit, *chain(*of_cuts))
        self.prior_std = np.array([PRIOR_STD.get(name, DEFAULT_PRIOR_STD) for name in self.names])
        values = [*(kernel.log_parameters if self.of_kernel else ())]
        values += [np.log(probit.noise)] * learn_noise + [np.log(max(probit.margin, 1e-12))] * learn_margin
        values += [np.log(max(probit.strong_margin - probit.margin, 1e-12))] * learn_strong_margin
        self.center = np.pad(values, (0, len(self.names) - len(values)))

    def __len__(self) -> int:
        return len(self.names)

    def at(self, z: Array) -> tuple[Kernel, Probit]:
        """The model with the hyper-parameters z."""
        values = self.center + self.prior_std * z
        count, end = len(self.of_kernel), len(self.of_kernel) + len(self.of_probit)
        kernel = self.kernel.with_log_parameters(values[:count]) if count else self.kernel
        learned = {k: float(v) for k, v in zip(self.of_probit, np.exp(values[count:end]), strict=True)}
        if "beyond" in learned:
            learned["strong_margin"] = learned.get("margin", self.probit.margin) + learned.pop("beyond")
        cuts = self._cut_points(values[end:])
        rating = replace(self.probit, cut_points=tuple(cuts.tolist()))
        return kernel, replace(rating, **learned)  # type: ignore[arg-type]

    def _cut_points(self, values: Array) -> Array:
        """With gaps of which these are the logarithms of factors: one of all, and one of each."""
        found = np.array(self.probit.cut_points)
        for levels in self.levels:
            (width, *each), values = values[: levels - 1], values[levels - 1 :]
            gaps = cut_points.gaps_of(found, levels) * np.exp(width + np.array(each))
            found = cut_points.with_gaps(found, levels, gaps)
        return found

    def _by_cuts(self, evidence: Evidence, probit: Probit) -> Iterator[float]:
        """The derivatives by the logarithms of these factors."""
        cuts = np.array(probit.cut_points)
        for levels in self.levels:
            by_gaps = evidence.cut_gradient[cut_points.cuts_of(levels)] @ cut_points.placed(levels)
            by_log = by_gaps * cut_points.gaps_of(cuts, levels)
            yield from (by_log.sum(), *by_log)

    def gradient(self, evidence: Evidence, probit: Probit) -> Array:
        """The gradient of the log evidence by z, which has this likelihood."""
        of_probit = {"noise": evidence.noise_gradient, "margin": evidence.margin_gradient}
        if "beyond" in self.of_probit:
            by_strong = evidence.strong_margin_gradient / probit.strong_margin
            of_probit["margin"] += probit.margin * by_strong  # the strong margin moves with it
            of_probit["beyond"] = (probit.strong_margin - probit.margin) * by_strong
        by_log = [
            *(evidence.kernel_gradient if self.of_kernel else ()),
            *(of_probit[name] for name in self.of_probit),
            *self._by_cuts(evidence, probit),
        ]
        gradient: Array = np.array(by_log) * self.prior_std
        return gradient


class _Maximization:
    """L-BFGS-B on the negated log posterior of z, each inference warm-started from the one before."""

    def __init__(
        self, space: _SearchSpace, data: Comparisons, inference: Inference, iterations: int, deadline: float
    ) -> None:
        self.space, self.data, self.inference = space, data, inference
        self.iterations, self.deadline = iterations, deadline
        self.best, self.log_posterior, self.evaluations = np.zeros(len(space)), -np.inf, 0
        self.start: WarmStart | None = None
        self.pivots: Indices | None = None  # of very many answers: fixed, so that the objective is smooth

    def run(self, z: Array) -> None:
        """Optimize from z, and keep the optimum if it is the best so far."""
        from scipy.optimize import minimize  # a third of the time of `import prefero`, and seldom needed

        if time.monotonic() > self.deadline and self.evaluations:
            return
        minimize(
            self._objective,
            z,
            jac=True,
            method="L-BFGS-B",
            bounds=[(-3.0, 3.0)] * len(z),
            callback=self._stop_at_deadline,
            options={"maxiter": self.iterations},
        )

    def _objective(self, z: Array) -> tuple[float, Array]:
        self.evaluations += 1
        try:
            kernel, probit = self.space.at(z)
            low = self._basis(kernel, probit) if are_many(self.data) else None
            evidence = log_evidence(kernel, self.data, probit, self.inference, self.start, low)
        except (ConvergenceError, LinAlgError):
            return 1e10, np.zeros(len(z))
        self.start = WarmStart.from_solution(evidence.solution, len(self.data))
        log_posterior = evidence.value - 0.5 * float(z @ z)
        if log_posterior > self.log_posterior:
            self.best, self.log_posterior = z.copy(), log_posterior
        return -log_posterior, z - self.space.gradient(evidence, probit)

    def _basis(self, kernel: Kernel, probit: Probit) -> LowRank:
        if self.pivots is None:
            self.pivots = low_rank_basis(kernel, self.data, probit.noise).pivots
        return basis_of_pivots(kernel, self.data, self.pivots)

    def _stop_at_deadline(self, z: Array) -> None:  # noqa: ARG002
        if time.monotonic() > self.deadline:
            raise StopIteration
