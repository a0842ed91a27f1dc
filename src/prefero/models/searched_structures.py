"""Structures with too many hyper-parameters for a grid: searched, at a cost in prior weight.

    ard       an RBF kernel with one theta for each feature (automatic relevance determination), fitted by
              maximum evidence; its prior weight is multiplied by the share of the prior that fits as well
    sparse    a simple reward of a few features among many, selected greedily; its prior weight is divided by
              the number of such selections

The search is repeated whenever the number of answers has grown by half, so that its result depends on the
answers alone.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from prefero.kernels import RBF, Kernel, Linear, Quadratic, Selected
from prefero.models.marginal_likelihood import fit_hyperparameters
from prefero.models.structures import Candidate, ModelSettings, noise_grid, typical_kernel
from prefero.questions import Comparisons

ARD_WEIGHT = 0.2  # prior weight, relative to that of the whole grid
SPARSE_WEIGHT = 0.3  # the same, where there are
SPARSE_FEATURES = 8  # features or more, so that some of them are probably irrelevant
MAX_SELECTED = 4  # features of a sparse reward
SPARSE_FORMS = ("linear", "quadratic", "rbf")


@dataclass(frozen=True)
class SearchedStructure:
    """A structure whose candidates depend on the answers, and when to search for them."""

    structure: str
    weight: float  # prior weight, relative to that of the whole grid
    min_features: int
    min_answers: int
    search: Callable[[ModelSettings, Comparisons, float], list[Candidate]]  # from some answers and the margin

    def milestone(self, answers: int) -> int:
        """The number of answers of the last search: none, `min_answers`, half as many more, and so on."""
        last, milestone = 0, self.min_answers
        while milestone <= answers:
            last, milestone = milestone, milestone + milestone // 2
        return last


def search_ard(settings: ModelSettings, data: Comparisons, margin: float) -> list[Candidate]:
    """The ARD kernel of largest evidence."""
    d = settings.reference.features
    start = settings.anchored(RBF((0.6 / d,) * d))
    # a learned margin is a multiple of the noise, so with ties the noise is fixed
    fit = fit_hyperparameters(
        start,
        data,
        settings.typical_probit(margin),
        settings.inference,
        learn_noise=settings.noise is None and not margin,
        iterations=12,
    )
    # the share of the prior's volume that fits as well, if each answer adds a tenth of the prior's precision
    log_volume = -0.5 * fit.free_parameters * float(np.log1p(0.1 * len(data)))
    kernel = RBF(tuple(np.exp(fit.kernel.log_parameters)))
    varies = settings.reference.varies(kernel) if settings.noise is None else 1.0
    # kernel and squared noise divided by the same number: the evidence is the same, and the prior's unit is 1
    return [
        Candidate(
            "ard",
            settings.anchored(1.0 / varies * kernel),
            fit.probit.noise / float(np.sqrt(varies)),
            fit.probit.lapse,
            fit.log_prior + log_volume + float(np.log(ARD_WEIGHT)),
        )
    ]


def search_sparse(settings: ModelSettings, data: Comparisons, margin: float) -> list[Candidate]:
    """Greedy forward selection: features are added one by one, as many as the evidence pays for."""
    columns, features = _selected(settings, data, margin), settings.reference.features
    log_weight = float(np.log(SPARSE_WEIGHT / len(SPARSE_FORMS))) - _log_selections(features, len(columns))
    return [
        Candidate("sparse", kernel, noise, lapse, log_weight + float(np.log(chance)))
        for kernel in (_of_columns(settings, form, columns) for form in SPARSE_FORMS)
        for (noise, lapse), chance in noise_grid(settings.noise, settings.lapse).items()
    ]


def _selected(settings: ModelSettings, data: Comparisons, margin: float) -> tuple[int, ...]:
    """The features that greedy selection finds."""
    probit, features = settings.typical_probit(margin), settings.reference.features
    columns: tuple[int, ...] = ()
    steps: list[tuple[float, tuple[int, ...]]] = []
    for size in range(1, MAX_SELECTED + 1):
        # about unit variance, found without looking at the pool: many selections are compared here
        form = 1.0 / (2 * size + size * (size + 1) / 2) * (Linear() + Quadratic())
        wider = [(*columns, i) for i in range(features) if i not in columns]
        kernels = ((settings.anchored(Selected(form, c)), c) for c in wider)
        evidence, columns = max((settings.log_evidence(kernel, data, probit), c) for kernel, c in kernels)
        steps.append((evidence - _log_selections(features, size), columns))
    return max(steps)[1]


def _of_columns(settings: ModelSettings, form: str, columns: tuple[int, ...]) -> Kernel:
    """The typical kernel of a structure, of some features only."""

    def unit(kernel: Kernel) -> Kernel:
        return settings.reference.unit(Selected(kernel, columns))

    return settings.anchored(typical_kernel(form, len(columns), unit))


def _log_selections(features: int, selected: int) -> float:
    """The logarithm of the number of selections of this size, times the number of sizes."""
    n, k = features, selected
    return float(np.log(MAX_SELECTED) + gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))


SEARCHED = (
    SearchedStructure("ard", ARD_WEIGHT, 2, 20, search_ard),
    SearchedStructure("sparse", SPARSE_WEIGHT, SPARSE_FEATURES, 10, search_sparse),
)
