"""What kinds of rewards there may be: structures, each with its hyper-parameters and its prior weight.

    member       a structure with fixed hyper-parameters: a kernel of about unit variance, and a noise
    noise        the paper's sigma, beside a reward whose prior standard deviation is 1
    theta        the RBF parameter for features of unit size, divided by their number

Most structures are a small grid: that needs no optimiser, and what is believed depends on the answers alone,
not on the way to them. Two are sought among too many to list, and pay for the choice with their prior:

    uneven          an ARD kernel, whose thetas are those that explain the answers best; it pays by the share
                    of its prior's volume that fits as well
    few features    a simple reward of a few features among many; it pays by the number of such choices
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from prefero.kernels import RBF, Anchored, Kernel, Linear, Quadratic, Selected
from prefero.models.inference import Inference, NotSettled, infer
from prefero.models.likelihood import Probit
from prefero.models.marginal_likelihood import maximise
from prefero.questions import Comparisons

LINEAR, CURVED, SMOOTH, MIXED, UNEVEN = "linear", "quadratic", "smooth", "linear and smooth", "uneven"
FEW = "few features"
WORDS = {
    LINEAR: "linear",
    CURVED: "linear with a curve (quadratic)",
    SMOOTH: "smooth, of no simple form",
    MIXED: "linear with smooth deviations",
    UNEVEN: "smooth, and some features matter more than others",
    FEW: "simple, and only a few features matter",
}
GRID = {LINEAR: 0.25, CURVED: 0.1, SMOOTH: 0.35, MIXED: 0.3}  # prior weights of the structures
UNEVEN_SHARE = 0.2  # beside them
FEW_SHARE = 0.3  # beside them, where there are
MANY = 8  # features or more, so that some of them are probably useless
MOST = 4  # that matter then, at most
FEW_KINDS = (LINEAR, CURVED, SMOOTH)
NOISES = {0.3: 0.25, 0.1: 0.5, 0.03: 0.25}
THETAS = {0.06: 0.1, 0.2: 0.2, 0.6: 0.3, 2.0: 0.25, 6.0: 0.15}
TYPICAL_NOISE = 0.1


@dataclass(frozen=True)
class Member:
    """A structure with fixed hyper-parameters, and its prior weight."""

    structure: str
    kernel: Kernel
    noise: float
    log_prior: float


@dataclass(frozen=True)
class Given:
    """What is known before any answer: how many features, perhaps the noise and the margin, and the units."""

    features: int
    noise: float | None  # None: marginalised
    margin: float | None  # None: learned where there are ties
    inference: Inference
    standard: Callable[[Kernel], Kernel]  # a kernel of features of unit size, for features in their units

    def probit(self, noise: float, margin: float) -> Probit:
        """A learned margin is a multiple of the noise, a given one is in units of the reward."""
        return Probit(noise, margin * noise if self.margin is None else self.margin)

    def typical_probit(self, margin: float) -> Probit:
        """With the noise that people typically have, unless it is known."""
        return self.probit(self.noise or TYPICAL_NOISE, margin)

    def anchored(self, kernel: Kernel) -> Kernel:
        """A kernel of features of unit size, with reward 0 at their mean, for features in their units."""
        return self.standard(Anchored(kernel, (0.0,) * self.features))

    def evidence(self, kernel: Kernel, data: Comparisons, probit: Probit) -> float:
        """How well a model foretells the answers; never, if it does not settle."""
        try:
            return infer(kernel, data, probit, self.inference)[1].log_evidence
        except NotSettled:
            return -np.inf


def members(features: int, noise: float | None = None) -> list[Member]:
    """The grid: the prior weight of each structure, spread over its hyper-parameters."""
    return [
        Member(structure, Anchored(kernel, (0.0,) * features), sigma, float(np.log(weight * chance * share)))
        for structure, weight in GRID.items()
        for sigma, chance in noises_of(noise).items()
        for kernel, share in kernels_of(structure, features)
    ]


def noises_of(noise: float | None) -> dict[float, float]:
    """The noises that there may be, each with its share."""
    return NOISES if noise is None else {noise: 1.0}


def kernels_of(structure: str, features: int) -> list[tuple[Kernel, float]]:
    """The kernels of a structure, each with its share; a typical trajectory's reward has variance 1."""
    d = float(features)
    if structure == LINEAR:
        return [(1 / d * Linear(), 1.0)]
    if structure == CURVED:
        return [(1 / (2 * d + d * (d + 1) / 2) * (Linear() + Quadratic()), 1.0)]
    smooth = [(RBF(theta / d), share) for theta, share in THETAS.items()]
    if structure == SMOOTH:
        return [*smooth]
    return [((0.5 / d) * Linear() + 0.5 * rbf, share) for rbf, share in smooth]


def typical(structure: str, features: int) -> Kernel:
    """The kernel in the middle of a structure's."""
    choices = kernels_of(structure, features)
    return choices[len(choices) // 2][0]


# --- structures that are sought ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Sought:
    """A structure whose members depend on the answers; they are sought again now and then."""

    structure: str
    features: int  # at least so many are needed
    answers: int  # before which nobody can tell
    seek: Callable[[Given, Comparisons, float], list[Member]]  # from some answers and the margin

    def milestone(self, answers: int) -> int:
        """From how many of the answers it was last sought: none, `self.answers`, half as many more, ..."""
        last, milestone = 0, self.answers
        while milestone <= answers:
            last, milestone = milestone, milestone + milestone // 2
        return last


def seek_uneven(given: Given, some: Comparisons, margin: float) -> list[Member]:
    """The ARD kernel that explains the answers best."""
    d = given.features
    start = given.anchored(RBF((0.6 / d,) * d))
    # a learned margin is a multiple of the noise, so with ties the noise stays as it is
    learned = maximise(
        start,
        some,
        given.typical_probit(margin),
        given.inference,
        learn_noise=given.noise is None and not margin,
        iterations=12,
    )
    # the share of the prior that fits as well, had each answer told a tenth of what the prior does
    volume = -0.5 * learned.free * float(np.log1p(0.1 * len(some)))
    log_prior = learned.log_prior + volume + float(np.log(UNEVEN_SHARE))
    return [Member(UNEVEN, learned.kernel, learned.probit.noise, log_prior)]


def seek_few(given: Given, some: Comparisons, margin: float) -> list[Member]:
    """Features are added one by one; the evidence must pay for having chosen them."""
    probit = given.typical_probit(margin)
    columns: tuple[int, ...] = ()
    steps: list[tuple[float, tuple[int, ...]]] = []
    for _ in range(MOST):
        wider = [(*columns, i) for i in range(given.features) if i not in columns]
        height, columns = max((given.evidence(_of_few(given, CURVED, c), some, probit), c) for c in wider)
        steps.append((height - _log_choices(given.features, len(columns)), columns))
    _, columns = max(steps)
    log_share = float(np.log(FEW_SHARE / len(FEW_KINDS))) - _log_choices(given.features, len(columns))
    return [
        Member(FEW, _of_few(given, kind, columns), sigma, log_share + float(np.log(chance)))
        for kind in FEW_KINDS
        for sigma, chance in noises_of(given.noise).items()
    ]


def _of_few(given: Given, kind: str, columns: tuple[int, ...]) -> Kernel:
    """A structure's typical kernel, of some features only."""
    return given.anchored(Selected(typical(kind, len(columns)), columns))


def _log_choices(features: int, chosen: int) -> float:
    """How many sets of features there are of this size, and of which sizes."""
    return float(np.log(MOST) + gammaln(features + 1) - gammaln(chosen + 1) - gammaln(features - chosen + 1))


SOUGHT = (Sought(UNEVEN, 2, 20, seek_uneven), Sought(FEW, MANY, 10, seek_few))
