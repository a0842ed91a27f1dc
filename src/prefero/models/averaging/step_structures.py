"""Structures of rewards that are means over time of a reward of steps, g(state, action).

    block        of the step features (`prefero.trajectories.step_features`)
    number       one of the k numbers of a step that products and curves are of
    candidate    a linear kernel of some step features: a prior of g of one form, with one lengthscale

    step linear, step quadratic, step curves, step rbf     of all numbers
    step sparse                                            of a few of them, selected greedily
    step ard                                               of all, each with its own variance

The features of a trajectory are means of features of its steps, so every candidate is linear in them, and so
is the mean of the whole mixture. Lengthscales are averaged over, weighted by evidence like everything else.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Self

import numpy as np

from prefero.kernels import Kernel, Linear, Selected
from prefero.models.averaging.reference import UNCHANGED, Reference
from prefero.models.averaging.searched_structures import SearchedStructure, fit_variances, log_selections
from prefero.models.averaging.structures import Candidate, Margins, ModelSettings, noise_grid
from prefero.questions import Comparisons
from prefero.trajectories.step_features import CURVES, END, LINEAR, QUADRATIC, RBF

STEP_GRID = {
    "step linear": 0.25,
    "step quadratic": 0.25,
    "step curves": 0.2,
    "step rbf": 0.3,
}  # prior weights
SPARSE_WEIGHT, ARD_WEIGHT = 1.0, 0.3  # prior weights, relative to that of the grid
MOST_SELECTED = 5  # numbers of a sparse reward
END_SHARE = 0.5  # of a reward's variance, where trajectories may end early

Columns = tuple[int, ...]


@dataclass(frozen=True)
class StepColumns:
    """Which columns of a trajectory's features are which features of steps.

    Args:
        blocks: The columns of each block.
        numbers: How many numbers of a step products and curves are of: k.
    """

    blocks: dict[str, Columns]
    numbers: int

    @classmethod
    def of(cls, reference: Reference) -> Self:
        """By the names of the features."""
        blocks = reference.step_blocks
        products = len(blocks.get(QUADRATIC, ()))  # k (k + 1) / 2 of them
        return cls(blocks, int((np.sqrt(8 * products + 1) - 1) / 2))

    def all_of(self, structure: str) -> list[Columns]:
        """The columns of each kernel of a structure on the grid: one for each of its lengthscales."""
        if structure == "step rbf":
            return [columns for block, columns in self.blocks.items() if block.startswith(RBF)]
        if structure == "step curves":
            return [self.blocks[CURVES]]
        own = self.blocks[QUADRATIC] if structure == "step quadratic" else ()
        return [(*self.blocks[LINEAR], *own)]

    def squares(self, numbers: Sequence[int]) -> Columns:
        """Some numbers and their squares; of principal components, the squares alone."""
        first, second = np.triu_indices(self.numbers)
        quadratic = self.blocks[QUADRATIC]
        linear = numbers if len(self.blocks[LINEAR]) == self.numbers else ()
        squares = [int(np.flatnonzero((first == n) & (second == n))[0]) for n in numbers]
        return (*(self.blocks[LINEAR][n] for n in linear), *(quadratic[place] for place in squares))

    def products(self, numbers: Sequence[int]) -> Columns:
        """Some numbers and all their products with each other."""
        first, second = np.triu_indices(self.numbers)
        inside = np.flatnonzero(np.isin(first, numbers) & np.isin(second, numbers) & (first != second))
        return (*self.squares(numbers), *(self.blocks[QUADRATIC][place] for place in inside.tolist()))

    def curves(self, numbers: Sequence[int]) -> Columns:
        """The curves of some numbers: a cosine and a sine of each frequency."""
        columns = np.array(self.blocks[CURVES]).reshape(-1, self.numbers, 2)  # frequency, number, both
        return tuple(columns[:, list(numbers)].ravel().tolist())


def step_kernel(settings: ModelSettings, columns: Columns) -> Kernel:
    """Linear in these step features, with a reward that varies by 1 over the pool."""
    return settings.standardized(_with_end(settings.reference, _unit(settings.reference, columns)))


def _with_end(reference: Reference, kernel: Kernel) -> Kernel:
    """Where trajectories may end early, half of the reward is how long they last, and whether they end."""
    end = reference.step_blocks.get(END)
    return kernel if end is None else END_SHARE * _unit(reference, end) + (1.0 - END_SHARE) * kernel


def _unit(reference: Reference, columns: Columns) -> Kernel:
    """The same for standardized features; a linear reward varies by the sum of the features' variances."""
    varies = float(reference.rows[:, columns].var(axis=0).sum())
    kernel = Selected(Linear(), columns)
    return 1.0 / varies * kernel if varies > UNCHANGED else kernel


def step_candidates(settings: ModelSettings) -> list[Candidate]:
    """The grid: each form of g, each lengthscale, and each noise."""
    found, columns = [], StepColumns.of(settings.reference)
    for structure, weight in STEP_GRID.items():
        kernels = [step_kernel(settings, one) for one in columns.all_of(structure)]
        found += _with_noises(settings, structure, kernels, weight / len(kernels))
    return found


def typical_step_kernels(settings: ModelSettings) -> list[Kernel]:
    """One kernel of each structure on the grid."""
    columns = StepColumns.of(settings.reference)
    return [step_kernel(settings, columns.all_of(structure)[-1]) for structure in STEP_GRID]


def _with_noises(
    settings: ModelSettings, structure: str, kernels: Sequence[Kernel], weight: float
) -> list[Candidate]:
    """A candidate for each kernel and each noise; every kernel has this prior weight."""
    return [
        Candidate(structure, kernel, noise, lapse, float(np.log(weight * chance)))
        for kernel in kernels
        for (noise, lapse), chance in noise_grid(settings.noise, settings.lapse).items()
    ]


def search_step_sparse(settings: ModelSettings, data: Comparisons, margin: Margins) -> list[Candidate]:
    """A few numbers, selected greedily by the evidence, for each form that g may have in them."""
    columns = StepColumns.of(settings.reference)
    forms = (columns.squares, columns.products, columns.curves)
    found = []
    for form in forms:
        numbers = _selected(settings, form, columns.numbers, data, margin)
        weight = SPARSE_WEIGHT / len(forms) * np.exp(-log_selections(columns.numbers, len(numbers)))
        kernel = step_kernel(settings, form(numbers))
        found += _with_noises(settings, "step sparse", [kernel], float(weight))
    return found


def _selected(
    settings: ModelSettings,
    form: Callable[[Sequence[int]], Columns],
    numbers: int,
    data: Comparisons,
    margin: Margins,
) -> Columns:
    """The numbers that greedy forward selection finds, as many as the evidence pays for."""
    probit = settings.typical_probit(margin)
    chosen: Columns = ()
    sizes: list[tuple[float, Columns]] = []
    for size in range(1, min(MOST_SELECTED, numbers) + 1):
        wider: list[Columns] = [(*chosen, number) for number in range(numbers) if number not in chosen]
        kernels = ((step_kernel(settings, form(some)), some) for some in wider)
        evidence, chosen = max(
            (settings.log_evidence(kernel, data, probit), some) for kernel, some in kernels
        )
        sizes.append((evidence - log_selections(numbers, size), chosen))
    return max(sizes)[1]


def search_step_ard(settings: ModelSettings, data: Comparisons, margin: Margins) -> list[Candidate]:
    """Every number and its square with a variance of its own, of largest evidence."""
    columns, reference = StepColumns.of(settings.reference), settings.reference
    terms = [_unit(reference, columns.squares([number])) for number in range(columns.numbers)]
    whole: Kernel = _with_end(reference, reduce(add, [(1.0 / len(terms)) * term for term in terms]))
    fit = fit_variances(settings, data, margin, settings.standardized(whole))
    learned = whole.with_log_parameters(fit.kernel.log_parameters)
    varies = reference.varies(learned) if settings.noise is None else 1.0
    log_volume = -0.25 * fit.free_parameters * float(np.log1p(0.1 * data.n_answers))
    return [
        Candidate(
            "step ard",
            settings.standardized(1.0 / varies * learned),
            fit.probit.noise / float(np.sqrt(varies)),
            fit.probit.lapse,
            fit.log_prior + log_volume + float(np.log(ARD_WEIGHT)),
        )
    ]


STEP_SEARCHED = (
    SearchedStructure("step sparse", SPARSE_WEIGHT, 2, np.inf, 5, 2, search_step_sparse),
    SearchedStructure("step ard", ARD_WEIGHT, 2, np.inf, 20, 2, search_step_ard),
)
