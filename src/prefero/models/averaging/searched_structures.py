"""Structures with too many hyper-parameters for a grid: searched, at a cost in prior weight.

    ard       an RBF kernel with one theta for each feature (automatic relevance determination), fitted by
              maximum evidence; its prior weight is multiplied by the fraction of the prior that fits as well
    sparse    a simple reward of a few features among many, selected greedily; its prior weight is divided by
              the number of such selections. Among more than MANY features, small sets of them and of their
              squares are averaged over as well (`prefero.models.averaging.feature_selection`): every feature
              counts by its relevance, and the prior weight is such that prior times evidence is that of all
              sets together
    threshold a reward that is linear in a few features and in soft thresholds of a few
              (`prefero.models.averaging.thresholds`), by the same average over small sets; among more than
              MANY features it is one more form of the sparse rewards

The search is repeated at milestones, when the number of answers has grown by half, or by a twentieth among
many features, so that its result depends on the answers alone.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import gammaln

from prefero._support.arrays import Array
from prefero._support.ordering import first_largest, largest_first
from prefero.kernels import RBF, Kernel, Linear, Quadratic, Selected, Standardized
from prefero.models.averaging.feature_selection import (
    STEPS_BEFORE,
    FeatureSelection,
    feature_relevance,
)
from prefero.models.averaging.milestones import last_milestone
from prefero.models.averaging.structures import (
    MANY,
    Candidate,
    Margins,
    ModelSettings,
    noise_grid,
    typical_kernel,
)
from prefero.models.inference.evidence import HyperparameterFit, fit_hyperparameters
from prefero.models.likelihood.probit import Probit
from prefero.questions import Comparisons

ARD_WEIGHT = 0.2  # prior weight, relative to that of the whole grid
SPARSE_WEIGHT = 0.3  # the same, where there are
SPARSE_FEATURES = 8  # features or more, so that some of them are probably irrelevant
MAX_SELECTED = 4  # features of a sparse reward
SPARSE_FORMS = ("linear", "quadratic", "rbf")
MANY_SPARSE_WEIGHT = 4.0  # relative to that of the grid, where there are more than MANY features
THRESHOLD_WEIGHT = 0.5  # relative to that of the grid, where there are at most MANY
THRESHOLD_FEATURES = 8  # features or more: with fewer, curves of each feature serve as well
SELECTION_NOISES = {0.1: 0.7, 0.5: 0.3}  # of the answers from which features are selected, with prior weights
MOST_RELEVANT, IRRELEVANT = 64, 1e-3  # features that a kernel has, and the least relevance, of the largest


@dataclass(frozen=True)
class SearchedStructure:
    """A structure whose candidates depend on the answers, and when to search for them."""

    structure: str
    weight: float  # prior weight, relative to that of the whole grid
    min_features: int
    max_features: float
    min_answers: int
    growth: int  # the search is repeated after so many answers more: their number divided by this
    search: Callable[[ModelSettings, Comparisons, Margins], list[Candidate]]  # from some answers

    def milestone(self, answers: int) -> int | None:
        """The number of answers of the last search: `min_answers`, some more, and so on; None before."""
        return last_milestone(answers, self.min_answers, self.growth)


def fit_variances(
    settings: ModelSettings, data: Comparisons, margin: Margins, start: Kernel
) -> HyperparameterFit:
    """The hyper-parameters of largest evidence, from a start on and with the typical noise."""
    return fit_hyperparameters(
        start,
        data,
        settings.typical_probit(margin),
        settings.inference,
        # a learned margin is a multiple of the noise, so with ties the noise is fixed
        learn_noise=settings.noise is None and not (margin.equal or margin.beyond),
        iterations=12,
    )


def search_ard(settings: ModelSettings, data: Comparisons, margin: Margins) -> list[Candidate]:
    """The ARD kernel of largest evidence."""
    d, alone = settings.reference.features, replace(settings, score_share=0.0)
    fit = fit_variances(alone, data, margin, alone.anchored(RBF((0.6 / d,) * d)))
    # the fraction of the prior's volume that fits as well, if an answer adds a tenth of the prior's precision
    log_volume = -0.5 * fit.free_parameters * float(np.log1p(0.1 * data.n_answers))
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


def search_sparse(settings: ModelSettings, data: Comparisons, margin: Margins) -> list[Candidate]:
    """Greedy forward selection: features are added one by one, as many as the evidence pays for."""
    columns, features = _selected(settings, data, margin), settings.reference.features
    log_weight = float(np.log(SPARSE_WEIGHT / len(SPARSE_FORMS))) - log_selections(features, len(columns))
    return [
        Candidate("sparse", kernel, noise, lapse, log_weight + float(np.log(chance)))
        for kernel in (_of_columns(settings, form, columns) for form in SPARSE_FORMS)
        for (noise, lapse), chance in noise_grid(settings.noise, settings.lapse).items()
    ]


def _selected(settings: ModelSettings, data: Comparisons, margin: Margins) -> tuple[int, ...]:
    """The features that greedy selection finds."""
    probit, features = settings.typical_probit(margin), settings.reference.features
    columns: tuple[int, ...] = ()
    steps: list[tuple[float, tuple[int, ...]]] = []
    for size in range(1, MAX_SELECTED + 1):
        # about unit variance, found without looking at the pool: many selections are compared here
        form = 1.0 / (2 * size + size * (size + 1) / 2) * (Linear() + Quadratic())
        wider = [(*columns, i) for i in range(features) if i not in columns]
        kernels = (settings.anchored(Selected(form, c)) for c in wider)
        evidence = np.array([settings.log_evidence(kernel, data, probit) for kernel in kernels])
        best = first_largest(evidence)
        columns = wider[best]
        steps.append((float(evidence[best]) - log_selections(features, size), columns))
    return steps[first_largest(np.array([log_weight for log_weight, _ in steps]))][1]


def _of_columns(settings: ModelSettings, form: str, columns: tuple[int, ...]) -> Kernel:
    """The typical kernel of a structure, of some features only."""

    def unit(kernel: Kernel) -> Kernel:
        return settings.reference.unit(Selected(kernel, columns))

    return settings.anchored(typical_kernel(form, len(columns), unit))


def log_selections(features: int, selected: int) -> float:
    """The logarithm of the number of selections of this size, times the number of sizes."""
    n, k = features, selected
    return float(np.log(MAX_SELECTED) + gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))


# --- among many features ----------------------------------------------------------------------------------


def search_relevant(settings: ModelSettings, data: Comparisons, margin: Margins) -> list[Candidate]:
    """Simple rewards in which every feature counts by its relevance."""
    found = _relevances(settings, data)
    relevance = found.smooth + np.bincount(
        settings.reference.thresholds.columns, found.steps, minlength=len(found.smooth)
    )
    kernels = [("sparse", _of_relevance(settings, form, relevance)) for form in SPARSE_FORMS]
    return _paid_for(
        settings, data, margin, kernels + _with_steps(settings, found), MANY_SPARSE_WEIGHT, found
    )


def search_thresholds(settings: ModelSettings, data: Comparisons, margin: Margins) -> list[Candidate]:
    """Rewards that step at thresholds of a few features, and are linear in a few."""
    found = _relevances(settings, data)
    return _paid_for(settings, data, margin, _with_steps(settings, found), THRESHOLD_WEIGHT, found)


def _relevances(settings: ModelSettings, data: Comparisons) -> FeatureSelection:
    noises = SELECTION_NOISES if settings.noise is None else {settings.noise: 1.0}
    return feature_relevance(*_standardized(settings, data), noises, settings.reference.thresholds)


def _paid_for(
    settings: ModelSettings,
    data: Comparisons,
    margin: Margins,
    kernels: Sequence[tuple[str, Kernel]],
    weight: float,
    found: FeatureSelection,
) -> list[Candidate]:
    """Candidates with these structures and kernels, which share a prior weight less the search's cost."""
    if not kernels:
        return []
    log_weight = float(np.log(weight / len(kernels)))
    alone = [kernel for _, kernel in kernels]
    log_weight += _price(settings, alone, data, settings.typical_probit(margin), found.log_evidence)
    return [
        Candidate(structure, kernel, noise, lapse, log_weight + float(np.log(chance)))
        for structure, kernel in kernels
        for (noise, lapse), chance in noise_grid(settings.noise, settings.lapse).items()
    ]


def _price(
    settings: ModelSettings, kernels: Sequence[Kernel], data: Comparisons, probit: Probit, log_evidence: float
) -> float:
    """What the best kernel owes to the search: the answers chose the features, so they count only once."""
    pairs = data.as_pairs()  # as the search takes them
    best = max(settings.log_evidence(kernel, pairs, Probit(probit.noise)) for kernel in kernels)
    return min(0.0, log_evidence - best)


def _standardized(settings: ModelSettings, data: Comparisons) -> tuple[Array, Array]:
    """Standardized features of preferred trajectories and of others; ties and the bar tell nothing here."""
    by, columns = settings.whole.standardization, list(settings.others)
    center, scale = (0.0, 1.0) if by is None else (np.array(by.center), np.array(by.scale))
    pairs = data.as_pairs()
    return ((pairs.winners - center) / scale)[:, columns], ((pairs.losers - center) / scale)[:, columns]


def _of_relevance(settings: ModelSettings, form: str, relevance: Array) -> Kernel:
    """The typical kernel of a structure, in which a feature's squared scale is its relevance."""
    order = largest_first(relevance, MOST_RELEVANT)
    columns = np.sort(order[relevance[order] >= IRRELEVANT * relevance.max()])
    scale = 1.0 / np.sqrt(relevance[columns] / relevance[columns].sum())

    def unit(kernel: Kernel) -> Kernel:
        weighted = Standardized(kernel, (0.0,) * len(columns), tuple(scale))
        return settings.reference.unit(Selected(weighted, tuple(columns)))

    return settings.anchored(typical_kernel(form, 1, unit))


def _with_steps(settings: ModelSettings, found: FeatureSelection) -> list[tuple[str, Kernel]]:
    """The kernel of rewards that are linear in features and in steps.

    None unless the answers make steps more relevant than they were: each candidate takes time.
    """
    smooth, steps = _relevant(found.smooth, found.steps), _relevant(found.steps, found.smooth)
    if found.steps.sum() <= STEPS_BEFORE or not steps.any():  # many steps may each be negligible
        return []
    kernel = settings.reference.thresholds.kernel(steps)
    if smooth.any():
        kernel = _weighted(Linear(), smooth) + kernel
    return [("threshold", settings.anchored(settings.reference.unit(kernel)))]


def _relevant(relevance: Array, others: Array) -> Array:
    """The largest of the relevances, as far as they are not negligible; 0 for the rest."""
    least = IRRELEVANT * max(relevance.max(initial=0.0), others.max(initial=0.0))
    kept = np.zeros_like(relevance)
    best = largest_first(relevance, MOST_RELEVANT)
    best = best[relevance[best] >= least]
    kept[best] = relevance[best]
    return kept


def _weighted(kernel: Kernel, relevance: Array) -> Kernel:
    """A kernel of the features with a relevance, whose root scales a feature."""
    columns = np.flatnonzero(relevance)
    scale = 1.0 / np.sqrt(relevance[columns])
    return Selected(Standardized(kernel, (0.0,) * len(columns), tuple(scale)), tuple(columns))


SEARCHED = (
    SearchedStructure("ard", ARD_WEIGHT, 2, MANY, 20, 2, search_ard),
    # greedy selection tries each feature at each step, so that of many features it is too slow
    SearchedStructure("sparse", SPARSE_WEIGHT, SPARSE_FEATURES, 64, 10, 2, search_sparse),
    SearchedStructure("threshold", THRESHOLD_WEIGHT, THRESHOLD_FEATURES, MANY, 5, 20, search_thresholds),
    SearchedStructure("sparse", MANY_SPARSE_WEIGHT, MANY + 1, np.inf, 0, 20, search_relevant),
)
