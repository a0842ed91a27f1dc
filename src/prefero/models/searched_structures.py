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

from prefero.kernels import RBF, Kernel, Selected
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
    d = settings.features
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
    log_prior = fit.log_prior + log_volume + float(np.log(ARD_WEIGHT))
    return [Candidate("ard", fit.kernel, fit.probit.noise, log_prior)]


def search_sparse(settings: ModelSettings, data: Comparisons, margin: float) -> list[Candidate]:
    """Greedy forward selection: features are added one by one, as many as the evidence pays for."""
    probit = settings.typical_probit(margin)
    columns: tuple[int, ...] = ()
    steps: list[tuple[float, tuple[int, ...]]] = []
    for _ in range(MAX_SELECTED):
        wider = [(*columns, i) for i in range(settings.features) if i not in columns]
        evidence, columns = max(
            (settings.log_evidence(_of_columns(settings, "quadratic", c), data, probit), c) for c in wider
        )
        steps.append((evidence - _log_selections(settings.features, len(columns)), columns))
    _, columns = max(steps)
    log_weight = float(np.log(SPARSE_WEIGHT / len(SPARSE_FORMS)))
    log_weight -= _log_selections(settings.features, len(columns))
    return [
        Candidate("sparse", _of_columns(settings, form, columns), sigma, log_weight + float(np.log(chance)))
        for form in SPARSE_FORMS
        for sigma, chance in noise_grid(settings.noise).items()
    ]


def _of_columns(settings: ModelSettings, form: str, columns: tuple[int, ...]) -> Kernel:
    """The typical kernel of a structure, of some features only."""
    return settings.anchored(Selected(typical_kernel(form, len(columns)), columns))


def _log_selections(features: int, selected: int) -> float:
    """The logarithm of the number of selections of this size, times the number of sizes."""
    n, k = features, selected
    return float(np.log(MAX_SELECTED) + gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))


SEARCHED = (
    SearchedStructure("ard", 2, 20, search_ard),
    SearchedStructure("sparse", SPARSE_FEATURES, 10, search_sparse),
)
