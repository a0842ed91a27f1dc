"""Structures of rewards, and the grid of their hyper-parameters, for Bayesian model averaging.

    structure    the form of the reward: "linear", "quadratic", "rbf", "linear+rbf", "ard" or "sparse"
    candidate    a structure with fixed hyper-parameters: a kernel of about unit variance, and a noise
    noise        the paper's sigma, for a reward whose prior standard deviation is 1
    theta        the RBF hyper-parameter for standardized features, divided by their number

The first four structures have a small grid of hyper-parameters each: this needs no optimizer, and the
posterior depends on the answers alone, not on the order of fits. The other two, "ard" and "sparse", have too
many hyper-parameters for a grid and are searched (`prefero.models.searched_structures`).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from prefero.kernels import RBF, Anchored, Kernel, Linear, Quadratic
from prefero.models.inference import Inference, infer
from prefero.models.likelihood import Probit
from prefero.models.solution import ConvergenceError
from prefero.questions import Comparisons

DESCRIPTIONS = {  # of a reward that looks ...
    "linear": "linear",
    "quadratic": "quadratic: linear with a curve",
    "rbf": "smooth, of no simple form",
    "linear+rbf": "linear with smooth deviations",
    "ard": "smooth, and some features matter more than others",
    "sparse": "simple, and only a few features matter",
}
LABELS = {  # short descriptions, for lists
    "linear": "linear",
    "quadratic": "quadratic",
    "rbf": "smooth",
    "linear+rbf": "linear and smooth",
    "ard": "smooth with unequal features",
    "sparse": "of a few features",
}
GRID = {"linear": 0.25, "quadratic": 0.1, "rbf": 0.35, "linear+rbf": 0.3}  # prior weights of the structures
NOISES = {0.3: 0.25, 0.1: 0.5, 0.03: 0.25}  # with prior weights
THETAS = {0.06: 0.1, 0.2: 0.2, 0.6: 0.3, 2.0: 0.25, 6.0: 0.15}  # with prior weights
TYPICAL_NOISE = 0.1


@dataclass(frozen=True)
class Candidate:
    """A structure with fixed hyper-parameters, and its prior weight."""

    structure: str
    kernel: Kernel
    noise: float
    log_prior: float


@dataclass(frozen=True)
class ModelSettings:
    """What is fixed before any answer: features and their units, inference, perhaps noise and margin."""

    features: int
    noise: float | None  # None: averaged over
    margin: float | None  # None: learned where there are ties
    inference: Inference
    standardize: Callable[
        [Kernel], Kernel
    ]  # from a kernel of standardized features to one of the given features

    def probit(self, noise: float, margin: float) -> Probit:
        """A learned margin is a multiple of the noise, a given one is in units of the reward."""
        return Probit(noise, margin * noise if self.margin is None else self.margin)

    def typical_probit(self, margin: float) -> Probit:
        """With the noise that people typically have, unless it is given."""
        return self.probit(self.noise or TYPICAL_NOISE, margin)

    def anchored(self, kernel: Kernel) -> Kernel:
        """A kernel of standardized features, with reward 0 at their mean, for the features as given."""
        return self.standardize(Anchored(kernel, (0.0,) * self.features))

    def log_evidence(self, kernel: Kernel, data: Comparisons, probit: Probit) -> float:
        """The log evidence of a model; minus infinity if the inference does not converge."""
        try:
            return infer(kernel, data, probit, self.inference)[1].log_evidence
        except ConvergenceError:
            return -np.inf


def grid_candidates(features: int, noise: float | None = None) -> list[Candidate]:
    """The grid: the prior weight of each structure, divided among its hyper-parameters."""
    return [
        Candidate(
            structure, Anchored(kernel, (0.0,) * features), sigma, float(np.log(weight * chance * share))
        )
        for structure, weight in GRID.items()
        for sigma, chance in noise_grid(noise).items()
        for kernel, share in kernel_grid(structure, features)
    ]


def noise_grid(noise: float | None) -> dict[float, float]:
    """The noises on the grid with their prior weights; a given noise alone."""
    return NOISES if noise is None else {noise: 1.0}


def kernel_grid(structure: str, features: int) -> list[tuple[Kernel, float]]:
    """The kernels of a structure with their prior weights; a typical trajectory's reward has variance 1."""
    d = float(features)
    if structure == "linear":
        return [(1 / d * Linear(), 1.0)]
    if structure == "quadratic":
        return [(1 / (2 * d + d * (d + 1) / 2) * (Linear() + Quadratic()), 1.0)]
    smooth = [(RBF(theta / d), share) for theta, share in THETAS.items()]
    if structure == "rbf":
        return [*smooth]
    return [((0.5 / d) * Linear() + 0.5 * rbf, share) for rbf, share in smooth]


def typical_kernel(structure: str, features: int) -> Kernel:
    """The kernel in the middle of a structure's grid."""
    kernels = kernel_grid(structure, features)
    return kernels[len(kernels) // 2][0]
