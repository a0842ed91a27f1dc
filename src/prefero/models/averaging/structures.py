"""Structures of rewards, and the grid of their hyper-parameters, for Bayesian model averaging.

    structure    the form of the reward: "linear", "quadratic", "rbf", "linear+rbf", "additive", and others
    warped       a structure on compressed features, where some of them have heavy tails
    candidate    a structure with fixed hyper-parameters: a kernel, a noise and a lapse rate
    noise        the paper's sigma, for a reward that varies by 1 over the pool
    lapse        the fraction of answers that are given at random
    theta        the RBF hyper-parameter for standardized features, divided by their number

With many features, more than MANY, the grid is another one: dense rewards are linear or smooth, or functions
of the few directions in which the pool varies most ("low-rank"), and "sparse" has most of the prior weight.

Every kernel is scaled so that its reward varies by 1 over the pool (`prefero.models.averaging.reference`).
The structures here have a small grid of hyper-parameters each: this needs no optimizer, and the posterior
depends on the answers alone, not on the order of fits. Two more, "ard" and "sparse", have too many
hyper-parameters for a grid and are searched (`prefero.models.averaging.searched_structures`).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from prefero.kernels import RBF, Additive, Anchored, Kernel, Linear, Projected, Quadratic, Selected, WithBar
from prefero.models.averaging.reference import Reference
from prefero.models.inference.infer import Inference, infer
from prefero.models.inference.solution import ConvergenceError
from prefero.models.likelihood.cut_points import of_impressions
from prefero.models.likelihood.probit import Probit
from prefero.questions import Comparisons
from prefero.questions.answer import DEMONSTRATION, SOURCES

# Prior weights. Real people's rewards are mostly linear or additive, those of simulated tasks often quadratic
# or bumpy: these weights lie between what suits the ones and the others (docs/maths.md).
GRID = {"linear": 0.37, "quadratic": 0.17, "rbf": 0.23, "linear+rbf": 0.05, "additive": 0.18}
MANY = 15  # features; with more of them the grid is
MANY_GRID = {"linear": 0.4, "rbf": 0.2, "low-rank": 0.4}
RANK = 8  # principal components of the pool's features
WARPED = {"linear": 0.11, "rbf": 0.07, "additive": 0.09}  # what of these goes to compressed features
THETAS = {  # of a structure, with prior weights; of others the typical one
    "rbf": {0.06: 0.06, 0.2: 0.14, 0.6: 0.25, 2.0: 0.3, 6.0: 0.25},
    "additive": {0.4: 0.5, 1.6: 0.5},
    "low-rank": {0.2: 0.5, 0.6: 0.5},
    "warped rbf": {0.6: 0.5, 2.0: 0.5},
    "warped additive": {0.4: 1.0},
}
NOISES = {  # noise and lapse rate, with prior weights
    (0.03, 0.0): 0.06,
    (0.1, 0.0): 0.16,
    (0.2, 0.0): 0.16,
    (0.55, 0.0): 0.2,
    (1.0, 0.0): 0.13,
    (3.0, 0.0): 0.08,  # answers almost at random
    (0.1, 0.05): 0.1,
    (0.3, 0.05): 0.11,
}
TYPICAL_NOISE, TYPICAL_THETA = 0.1, 0.6
TYPICAL_SOURCE_NOISE = tuple({DEMONSTRATION: 2.0}.get(source, 1.0) for source in SOURCES)
TYPICAL_SCORE_SHARE = 0.6


@dataclass(frozen=True)
class Candidate:
    """A structure with fixed hyper-parameters, and its prior weight."""

    structure: str
    kernel: Kernel
    noise: float
    lapse: float
    log_prior: float


class Margins(NamedTuple):
    """What was learned of the margins; 0 where the answers do not need them."""

    equal: float = 0.0  # in multiples of the noise
    beyond: float = 0.0  # from there to the strong margin, in units of the reward
    cut_points: tuple[float, ...] = ()  # of ratings, in standard deviations of impressions over the pool
    source_noise: tuple[float, ...] = TYPICAL_SOURCE_NOISE  # in multiples of the person's noise


@dataclass(frozen=True)
class ModelSettings:
    """What is fixed before any answer: the pool, inference, perhaps noise and margins."""

    whole: Reference  # of all features
    noise: float | None  # None: averaged over
    margin: float | None  # None: learned where there are ties
    inference: Inference
    lapse: float | None = None  # None: averaged over, where the noise is
    strong_margin: float | None = None  # None: learned where answers have a strength
    bar: bool = False  # whether answers say what is acceptable
    scores: tuple[int, ...] = ()  # columns of features that were made to say how good trajectories are
    score_share: float = TYPICAL_SCORE_SHARE  # of the prior variance, which is a multiple of the scores

    @cached_property
    def reference(self) -> Reference:
        """Of the features that structures look at: all but scores, in which the reward is linear."""
        return self.whole.only(self.others)

    def probit(self, noise: float, margins: Margins, lapse: float = 0.0) -> Probit:
        """A learned margin is a multiple of the noise, a given one is in units of the reward."""
        margin = margins.equal * noise if self.margin is None else self.margin
        strong = self.strong_margin or (margin + margins.beyond if margins.beyond else 0.0)
        cut_points = of_impressions(margins.cut_points, noise)
        return Probit(noise, margin, lapse, strong, cut_points, margins.source_noise)

    def typical_probit(self, margins: Margins) -> Probit:
        """With a typical noise, unless it is given."""
        return self.probit(self.noise or TYPICAL_NOISE, margins, self.lapse or 0.0)

    def anchored(self, kernel: Kernel) -> Kernel:
        """A kernel of standardized features, with reward 0 at their mean, for the features as given."""
        return self.standardized(Anchored(self._with_scores(kernel), (0.0,) * self.whole.features))

    def _with_scores(self, kernel: Kernel) -> Kernel:
        """Scores have their share in a reward that is otherwise as the kernel says of the other features."""
        if not self.scores:
            return kernel
        others = Selected(kernel, self.others)
        if not self.score_share:
            return others
        of_scores = self.whole.unit(Selected(Linear(), self.scores))
        return (1.0 - self.score_share) * others + self.score_share * of_scores

    @property
    def others(self) -> tuple[int, ...]:
        """The columns of features that are no scores; all, if there are only scores."""
        every = tuple(range(self.whole.features))
        return tuple(column for column in every if column not in self.scores) or every

    def standardized(self, kernel: Kernel) -> Kernel:
        """A kernel of standardized features for the features as given, and for the bar if it is needed."""
        of_features = self.whole.standardized(kernel)
        return WithBar(of_features) if self.bar else of_features

    def log_evidence(self, kernel: Kernel, data: Comparisons, probit: Probit) -> float:
        """The log evidence of a model; minus infinity if the inference does not converge."""
        try:
            return infer(kernel, data, probit, self.inference).log_evidence
        except ConvergenceError:
            return -np.inf


def grid_candidates(settings: ModelSettings) -> list[Candidate]:
    """The grid: the prior weight of each structure, divided among its hyper-parameters."""
    return [
        Candidate(
            structure, settings.anchored(kernel), noise, lapse, float(np.log(weight * of_kernel * chance))
        )
        for structure, weight in grid_weights(settings.reference).items()
        for kernel, of_kernel in kernel_grid(structure, settings.reference)
        for (noise, lapse), chance in noise_grid(settings.noise, settings.lapse).items()
    ]


def grid_weights(reference: Reference) -> dict[str, float]:
    """The prior weights of the structures on the grid; they add up to 1."""
    grid = MANY_GRID if reference.features > MANY else GRID
    if not reference.has_heavy_tails:
        return grid
    warped = {structure: weight for structure, weight in WARPED.items() if structure in grid}
    raw = {structure: weight - warped.get(structure, 0.0) for structure, weight in grid.items()}
    return raw | {f"warped {structure}": weight for structure, weight in warped.items()}


def noise_grid(noise: float | None, lapse: float | None = None) -> dict[tuple[float, float], float]:
    """Noises and lapse rates on the grid with their prior weights; a given noise alone, without lapses."""
    if noise is not None:
        return {(noise, lapse or 0.0): 1.0}
    if lapse is None:
        return NOISES
    chances = dict.fromkeys(((sigma, lapse) for sigma, _ in NOISES), 0.0)
    for (sigma, _), chance in NOISES.items():
        chances[sigma, lapse] += chance
    return chances


def kernel_grid(structure: str, reference: Reference) -> list[tuple[Kernel, float]]:
    """The kernels of a structure with their prior weights, for standardized features."""
    form, unit = structure.removeprefix("warped "), reference.unit
    if form != structure:

        def unit(kernel: Kernel) -> Kernel:
            return reference.unit(reference.warped(kernel))

    if form == "low-rank":
        return _low_rank(reference)
    thetas = THETAS.get(structure, {TYPICAL_THETA: 1.0})
    return [(unit_kernel(form, theta, reference.features, unit), weight) for theta, weight in thetas.items()]


def _low_rank(reference: Reference) -> list[tuple[Kernel, float]]:
    """A linear term and an RBF of the first principal components of the pool, which keep their variances."""
    axes = np.linalg.svd(reference.rows, full_matrices=False)[2][:RANK].T
    axes = axes / np.sqrt(np.sum(np.var(reference.rows @ axes, axis=0)) + 1e-300)
    projected = tuple(map(tuple, axes.tolist()))

    def unit(kernel: Kernel) -> Kernel:
        return reference.unit(Projected(kernel, projected))

    return [
        (0.5 * unit(Linear()) + 0.5 * unit(RBF(theta)), weight)
        for theta, weight in THETAS["low-rank"].items()
    ]


def unit_kernel(form: str, theta: float, features: int, unit: Callable[[Kernel], Kernel]) -> Kernel:
    """The kernel of a form, scaled by `unit`; forms without theta ignore it."""
    rbf = RBF(theta / features)
    if form == "linear":
        return unit(Linear())
    if form == "quadratic":
        return unit(Linear() + Quadratic())
    if form == "additive":
        return unit(Additive(RBF(theta)))
    return unit(rbf) if form == "rbf" else 0.5 * unit(Linear()) + 0.5 * unit(rbf)


def typical_forms(reference: Reference) -> list[str]:
    """The forms that have a typical kernel: those of all features, as they are."""
    return [form for form in grid_weights(reference) if form in GRID]


def typical_kernel(form: str, features: int, unit: Callable[[Kernel], Kernel]) -> Kernel:
    """The kernel in the middle of a form's grid."""
    return unit_kernel(form, TYPICAL_THETA, features, unit)
