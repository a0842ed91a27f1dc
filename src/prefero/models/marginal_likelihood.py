"""The log evidence of a model, its gradient, and the hyper-parameters that maximise it.

    C            (N, N)   prior covariance of the answered differences
    slope        (N,)     shift - W mean: how strongly each answer pulls
    A            (N, N)   W^1/2 B^-1 W^1/2 = (C + W^-1)^-1, with B = I + W^1/2 C W^1/2
    flow         (N, N)   derivative of the log evidence by C

The gradients are those of Rasmussen & Williams (GPML), section 5.5: at EP's fixed point the sites need not be
differentiated; at Laplace's mode they must, through the third derivative of the likelihood. Only the ratios
of rewards, noise and margin matter to an answer, so the derivative by the noise follows from the other two.

Hyper-parameters are sought in bounded log-space under weak log-normal priors around the given ones, so that
few answers, or answers without a contradiction, cannot send them to infinity.
"""

import time
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError

from prefero._support.arrays import Array, one_thread
from prefero.kernels import Kernel
from prefero.models.inference import Inference, NotSettled, Solution, Start, solve, weigh
from prefero.models.likelihood import Probit
from prefero.models.posterior import basis_of, covariance_of_differences
from prefero.questions import Comparisons

SPREADS = {"theta": 1.5, "lengthscale": 0.75, "variance": 1.5, "noise": 1.5, "margin": 1.5}  # of logarithms
PRECISE = {"ep": 1e-9, "laplace": 1e-10}  # gradients need a better fixed point than predictions


@dataclass(frozen=True, eq=False)
class Evidence:
    """The log evidence and its derivatives by the logarithms of kernel parameters, noise and margin."""

    value: float
    by_kernel: Array
    by_noise: float
    by_margin: float
    solution: Solution


@one_thread
def log_evidence(
    kernel: Kernel,
    data: Comparisons,
    probit: Probit,
    inference: Inference = "ep",
    start: Start | None = None,
) -> Evidence:
    """The log evidence of the answers with its gradient."""
    if not len(data):
        nothing = solve(np.empty((0, 0)), data.tied, probit, inference)
        return Evidence(0.0, np.zeros(len(kernel.names)), 0.0, 0.0, nothing)
    C = covariance_of_differences(kernel, data)
    basis = basis_of(C, probit.noise).basis
    solution = solve(basis, data.tied, probit, inference, start, PRECISE[inference])
    slope = solution.shift - solution.W * (basis @ solution.centre)
    A = weigh(basis, solution)
    flow = 0.5 * (np.outer(slope, slope) - A)
    if inference == "ep":
        by_margin = float(probit.by_margin(solution.cavity[0], data.tied, solution.cavity[1]).log.sum())
    else:
        drift, by_margin = _laplace_terms(data, probit, solution, A, C)
        flow += 0.5 * (np.outer(drift, slope) + np.outer(slope, drift))
    by_margin *= probit.margin
    by_noise = -2.0 * float(np.sum(flow * C)) - by_margin
    return Evidence(solution.log_evidence, _by_kernel(kernel, data, flow), by_noise, by_margin, solution)


def _laplace_terms(
    data: Comparisons, probit: Probit, solution: Solution, A: Array, C: Array
) -> tuple[Array, float]:
    """How the mode's own movement changes the evidence: by C (GPML 5.23), and by the margin."""
    mode = solution.cavity[0]
    variance = C.diagonal() - np.einsum("ij,jk,ki->i", C, A, C, optimize=True)
    pull = 0.5 * variance * solution.at.third
    drift = pull - A @ (C @ pull)
    moves = probit.by_margin(mode, data.tied)
    mode_moves = C @ (moves.slope - A @ (C @ moves.slope))
    return drift, float(moves.log.sum() - 0.5 * variance @ moves.curvature + pull @ mode_moves)


def _by_kernel(kernel: Kernel, data: Comparisons, flow: Array) -> Array:
    """Derivative of sum(flow * C) by the kernel's log-parameters, C being made of four blocks."""
    same = kernel.gradient(data.winners, data.winners, flow) + kernel.gradient(data.losers, data.losers, flow)
    return same - 2.0 * kernel.gradient(data.winners, data.losers, flow)


@dataclass(frozen=True, eq=False)
class Learned:
    """Hyper-parameters that maximise evidence and prior."""

    kernel: Kernel
    probit: Probit
    height: float  # log evidence plus log prior there, up to the prior's constant
    log_prior: float
    free: int  # how many were learned
    evaluations: int


@one_thread
def maximise(
    kernel: Kernel,
    data: Comparisons,
    probit: Probit,
    inference: Inference = "ep",
    *,
    learn_kernel: bool = True,
    learn_noise: bool = False,
    learn_margin: bool = False,
    restarts: int = 0,
    iterations: int = 60,
    seconds: float = np.inf,
    seed: int = 0,
) -> Learned:
    """The hyper-parameters of largest evidence, from the given ones and from `restarts` other places.

    Each climb takes at most so many `iterations`; all stop when `seconds` are over, with the best so far. A
    place where the inference fails counts as bad, not as an error; if every place fails, the given
    hyper-parameters come back.
    """
    space = _Space(kernel, probit, learn_kernel, learn_noise, learn_margin)
    if not len(data) or not len(space):
        return Learned(kernel, probit, 0.0, 0.0, len(space), 0)
    climb = _Climb(space, data, inference, iterations, time.monotonic() + seconds)
    rng = np.random.default_rng(seed)
    for z in [np.zeros(len(space)), *rng.uniform(-1.5, 1.5, (restarts, len(space)))]:
        climb.run(z)
    kernel, probit = space.at(climb.best)
    log_prior = -0.5 * float(climb.best @ climb.best)
    return Learned(kernel, probit, climb.height, log_prior, len(space), climb.evaluations)


class _Space:
    """Hyper-parameters as standard normals z: log value = log of the given one + spread * z."""

    def __init__(
        self,
        kernel: Kernel,
        probit: Probit,
        learn_kernel: bool,
        learn_noise: bool,
        learn_margin: bool,
    ) -> None:
        self.kernel, self.probit, self.learn_kernel = kernel, probit, learn_kernel
        self.names = [
            *(kernel.names if learn_kernel else ()),
            *["noise"] * learn_noise,
            *["margin"] * learn_margin,
        ]
        self.width = np.array([SPREADS[name] for name in self.names])
        values = [*(kernel.log_parameters if learn_kernel else ())]
        values += [np.log(probit.noise)] * learn_noise + [np.log(max(probit.margin, 1e-12))] * learn_margin
        self.centre = np.array(values)

    def __len__(self) -> int:
        return len(self.names)

    def at(self, z: Array) -> tuple[Kernel, Probit]:
        """The model at a place."""
        values = self.centre + self.width * z
        count = len(self.kernel.names) if self.learn_kernel else 0
        kernel = self.kernel.with_log_parameters(values[:count]) if count else self.kernel
        logs = dict(zip(self.names[count:], np.exp(values[count:]), strict=True))
        return kernel, Probit(
            float(logs.get("noise", self.probit.noise)), float(logs.get("margin", self.probit.margin))
        )

    def gradient(self, evidence: Evidence) -> Array:
        """The evidence's gradient by z."""
        single = {"noise": evidence.by_noise, "margin": evidence.by_margin}
        by = [
            *(evidence.by_kernel if self.learn_kernel else ()),
            *(single[n] for n in self.names if n in single),
        ]
        gradient: Array = np.array(by) * self.width
        return gradient


class _Climb:
    """L-BFGS-B on the negated evidence plus prior, warm-started from each place to the next."""

    def __init__(
        self, space: _Space, data: Comparisons, inference: Inference, iterations: int, deadline: float
    ) -> None:
        self.space, self.data, self.inference = space, data, inference
        self.iterations, self.deadline = iterations, deadline
        self.best, self.height, self.evaluations = np.zeros(len(space)), -np.inf, 0
        self.start: Start | None = None

    def run(self, z: Array) -> None:
        """Climb from z, and remember the top if it is the highest."""
        from scipy.optimize import minimize  # a third of the time of `import prefero`, and seldom needed

        if time.monotonic() > self.deadline and self.evaluations:
            return
        minimize(
            self._objective,
            z,
            jac=True,
            method="L-BFGS-B",
            bounds=[(-3.0, 3.0)] * len(z),
            callback=self._in_time,
            options={"maxiter": self.iterations},
        )

    def _objective(self, z: Array) -> tuple[float, Array]:
        self.evaluations += 1
        try:
            kernel, probit = self.space.at(z)
            evidence = log_evidence(kernel, self.data, probit, self.inference, self.start)
        except (NotSettled, LinAlgError):
            return 1e10, np.zeros(len(z))
        self.start = Start.after(evidence.solution, len(self.data))
        height = evidence.value - 0.5 * float(z @ z)
        if height > self.height:
            self.best, self.height = z.copy(), height
        return -height, z - self.space.gradient(evidence)

    def _in_time(self, z: Array) -> None:  # noqa: ARG002
        if time.monotonic() > self.deadline:
            raise StopIteration
