"""Bayesian model averaging over structures and hyper-parameters: the default model.

Whether a reward is linear, quadratic or of another form, and how noisy the person's answers are, is not known
in advance. So the default model fits several Gaussian processes, the candidates of
`prefero.models.averaging.structures`, and weights each by prior times evidence (marginal likelihood). The
posterior over rewards is the mixture, in which a few candidates stand for all
(`prefero.models.averaging.reduction`).

    candidate      a structure with fixed hyper-parameters
    key            of a candidate: the list it is in (grid, ard, sparse), and its place there
    log weight     log prior + log evidence, before normalization
    upper bound    on a candidate's log weight: its log weight when it was last fitted

The evidence of a candidate can only fall with further answers, so one whose upper bound is negligible
relative to the best need not be fitted again.
"""

from contextlib import suppress
from copy import copy
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.special import logsumexp

from prefero._support.arrays import one_thread
from prefero._support.parallel import map_parallel
from prefero.kernels import Kernel
from prefero.models.algebra.linalg import PivotedCholesky
from prefero.models.averaging.learned_margins import LearnedMargins
from prefero.models.averaging.milestones import last_milestone
from prefero.models.averaging.reduction import ReferencePairs, reduced_weights
from prefero.models.averaging.reference import Reference
from prefero.models.averaging.screening import Screening
from prefero.models.averaging.searched_structures import SEARCHED, SearchedStructure
from prefero.models.averaging.step_structures import STEP_SEARCHED, step_candidates
from prefero.models.averaging.structures import Candidate, Margins, ModelSettings, grid_candidates, noise_grid
from prefero.models.inference.attempts import warm_starts
from prefero.models.inference.fit import Fit
from prefero.models.inference.growing_basis import low_rank_basis
from prefero.models.inference.infer import SOLVERS, Inference, check_answers, factored, infer
from prefero.models.inference.low_rank import FROM, LowRank, are_many
from prefero.models.inference.solution import ConvergenceError, Solution, WarmStart
from prefero.models.likelihood.regions import layout_of
from prefero.models.posterior.mixture import MixturePosterior
from prefero.questions import Comparisons

STALE = -1  # in place of a fit's number of answers, when some were taken back: it serves only as a warm start
MAX_COMPONENTS = 8  # of the mixture
PAIRS = 200  # of trajectories, whose predictions the components have in common with all candidates
NEGLIGIBLE = 3e-3  # of the largest weight
TYPICAL_FALL = 0.7  # of the log evidence with one more answer
MOST_TOGETHER = 100  # rows: with more, the linear algebra of one model outweighs the overhead of a sweep
CLOSER = 0.1  # of the tolerance: all models together go so far, so that results hardly depend on the start
FEW = 1000  # of very many answers, so many find the margin and search structures
ROUGH, ROUGH_BASIS = 0.01, 2.0  # tolerances of EP, and of its basis, when candidates are screened
ALLOWANCE = 0.05  # by which EP's log evidence may rise with an answer

Key = tuple[int, int]


@dataclass(eq=False)
class _Fit:
    """The last inference of a candidate: its fit, its solution, and the number of answers it had.

    The fit and the factor of the solution, which are large, are kept only while it is a component, or where
    the next inference starts from its basis.
    """

    fit: Fit | None
    log_evidence: float
    solution: Solution
    answers: int
    margin: Margins


@dataclass(eq=False)
class MixtureFitter:
    """Fits the mixture to answers, and quickly again as answers are added.

    The result depends on the answers alone; what is kept from one fit to the next only saves time.
    """

    reference: Reference
    noise: float | None = None  # None: averaged over
    margin: float | None = None  # None: learned where there are ties
    inference: Inference = "ep"
    searched: bool = True  # with the searched structures, ARD and sparse
    lapse: float | None = None  # None: averaged over, where the noise is
    strong_margin: float | None = None  # None: learned where answers have a strength
    _data: Comparisons | None = None
    _fits: dict[Key, _Fit] = field(default_factory=dict)
    _found: dict[int, tuple[tuple[bytes, Margins], list[Candidate]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.settings = ModelSettings(
            self.reference, self.noise, self.margin, self.inference, self.lapse, self.strong_margin
        )
        of_steps = bool(self.reference.step_blocks)
        self._grid = step_candidates(self.settings) if of_steps else grid_candidates(self.settings)
        self._kinds = STEP_SEARCHED if of_steps else SEARCHED
        self._pairs = ReferencePairs(*self.reference.pairs(PAIRS))
        self._margins = LearnedMargins(self.settings)
        self._factors: dict[Kernel, PivotedCholesky | LowRank] = {}
        self._last_factors: dict[Kernel, PivotedCholesky | LowRank] = {}
        self._screening: Screening[Candidate] = Screening()
        self._smallest: dict[Kernel, float] = {}  # noise of the candidates that very many answers leave
        self._starts: dict[Key, WarmStart] = {}
        self.components: tuple[tuple[float, Fit], ...] = ()  # of the last mixture, with their weights

    def __deepcopy__(self, memo: object) -> "MixtureFitter":
        """An independent fitter, which shares the fits: they are replaced and never changed."""
        other = copy(self)
        other._fits = {key: copy(fit) for key, fit in self._fits.items()}
        other._found, other._factors = dict(self._found), dict(self._factors)
        other._last_factors, other._starts = dict(self._last_factors), dict(self._starts)
        other._smallest, other._screening = dict(self._smallest), self._screening.copy()
        other._margins, other._pairs = copy(self._margins), self._pairs.copy()
        return other

    @one_thread
    def fit(self, data: Comparisons) -> MixturePosterior:
        """The posterior after these answers."""
        self._forget_unless_continued(data)
        self._last_factors, self._factors, self._starts, self._smallest = self._factors, {}, {}, {}
        margin = self._margins.of(_first_of_many(data))
        candidates = self._candidates(data, margin)
        structures = dict.fromkeys((candidate.structure for candidate in candidates.values()), 0.0)
        if are_many(data):
            candidates = self._screened(candidates, data, margin)
            for candidate in candidates.values():
                own = self._smallest.get(candidate.kernel, np.inf)
                self._smallest[candidate.kernel] = min(own, candidate.noise)
        log_weights = self._log_weights(candidates, data, margin)
        if not log_weights:
            raise ConvergenceError("inference did not converge for any structure with these answers")
        log_evidence = float(logsumexp(list(log_weights.values())))
        weights = {key: float(np.exp(value - log_evidence)) for key, value in log_weights.items()}
        for key, weight in weights.items():
            structures[candidates[key].structure] += weight
        structures = {name: min(total, 1.0) for name, total in structures.items()}
        log_evidence -= self._log_prior_total(data)
        self.components = self._components(weights)
        self._drop_large()
        parts = tuple((weight, fit.posterior) for weight, fit in self.components)
        return MixturePosterior(parts, structures, log_evidence)

    def _drop_large(self) -> None:
        """Keep no arrays that the next fit computes anew: a server holds many learners."""
        kept = {id(fit) for _, fit in self.components}
        for last in self._fits.values():
            if last.fit is None or id(last.fit) in kept:
                continue
            if not isinstance(last.fit.cholesky, LowRank):
                last.fit, last.solution = None, last.solution.sites_alone()
        self._factors = {kernel: low for kernel, low in self._factors.items() if isinstance(low, LowRank)}
        self._last_factors, self._starts = {}, {}

    def _forget_unless_continued(self, data: Comparisons) -> None:
        if self._data is not None and not _continues(self._data, data):
            self._fits, self._factors, self._screening = {}, {}, Screening()
        for fit in self._fits.values():
            if fit.answers > len(data):
                fit.answers = STALE
        self._data = data

    def _components(self, weights: dict[Key, float]) -> tuple[tuple[float, Fit], ...]:
        """A few candidates that together predict what all of them do."""
        keys = sorted(weights)
        fits = [fit for fit in (self._fits[key].fit for key in keys) if fit is not None]
        if len(keys) <= MAX_COMPONENTS:
            return tuple((weights[key], part) for key, part in zip(keys, fits, strict=True))
        moments = self._pairs.moments(fits)
        reduced = reduced_weights(moments, np.array([weights[key] for key in keys]), MAX_COMPONENTS)
        parts = [(float(weight), part) for weight, part in zip(reduced, fits, strict=True) if weight > 0.0]
        return tuple(sorted(parts, key=lambda part: -part[0]))

    def _log_prior_total(self, data: Comparisons) -> float:
        """The logarithm of the sum of the structures' prior weights: the more are searched, the larger."""
        return float(np.log1p(sum(kind.weight for kind in self._searched(data))))

    def _searched(self, data: Comparisons) -> list[SearchedStructure]:
        """The searched structures that there are enough features and answers for."""
        d = self.reference.features
        enough = [kind for kind in self._kinds if kind.min_features <= d <= kind.max_features]
        return [kind for kind in enough if self.searched and kind.milestone(data.n_answers) is not None]

    def _candidates(self, data: Comparisons, margin: Margins) -> dict[Key, Candidate]:
        """The grid, and what was found of the searched structures."""
        lists = {0: self._grid}
        for kind in self._searched(data):
            number = 1 + self._kinds.index(kind)
            lists[number] = self._search(number, kind, data, margin)
        return {(n, place): candidate for n, some in lists.items() for place, candidate in enumerate(some)}

    def _search(
        self, number: int, kind: SearchedStructure, data: Comparisons, margin: Margins
    ) -> list[Candidate]:
        """The candidates of a searched structure, from the answers up to its last milestone."""
        some = _first_of_many(data.first(kind.milestone(data.n_answers) or 0))
        searched_in = some.tobytes(), margin
        if number not in self._found or self._found[number][0] != searched_in:
            self._found[number] = searched_in, kind.search(self.settings, some, margin)
            self._fits = {key: fit for key, fit in self._fits.items() if key[0] != number}
        return self._found[number][1]

    def _log_weights(
        self, candidates: dict[Key, Candidate], data: Comparisons, margin: Margins
    ) -> dict[Key, float]:
        """Log weights of all candidates but negligible ones, by their upper bounds.

        First those are fitted that the largest bound leaves, if it falls as it typically does; then those
        that the best of them leaves.
        """
        bounds = {key: self._upper_bound(key, candidate, margin) for key, candidate in candidates.items()}
        log_weights: dict[Key, float] = {}
        best, waiting = max(bounds.values()) - TYPICAL_FALL, dict(candidates)
        while some := {k: c for k, c in waiting.items() if bounds[k] >= best + np.log(NEGLIGIBLE)}:
            waiting = {key: candidate for key, candidate in waiting.items() if key not in some}
            self._warm_up(some, data, margin)
            for key, fit in self._inferred_together(some, data, margin).items():
                if fit is not None:
                    log_weights[key] = candidates[key].log_prior + fit.log_evidence
            best = max(log_weights.values(), default=-np.inf)
        # negligible candidates that were fitted all the same are left out like those that were not
        return {k: log_weights[k] for k in sorted(log_weights) if log_weights[k] >= best + np.log(NEGLIGIBLE)}

    def _upper_bound(self, key: Key, candidate: Candidate, margin: Margins) -> float:
        """A bound on the log weight: that of the last fit, since further answers lower the evidence.

        With lapses EP's evidence may rise by a little.
        """
        fit = self._fits.get(key)
        if fit is None or fit.answers == STALE or fit.margin != margin:
            return np.inf
        return candidate.log_prior + fit.log_evidence + ALLOWANCE

    def _warm_up(self, candidates: dict[Key, Candidate], data: Comparisons, margin: Margins) -> None:
        """Sites to start from, found for many candidates at once."""
        waiting = {k: c for k, c in candidates.items() if not self._is_fitted(k, data, margin)}
        if len(data) > MOST_TOGETHER:
            return
        if self.inference != "ep" or not waiting or (data.has_ties and self.margin == 0):
            return
        factors = [self._factored(candidate.kernel, data) for candidate in waiting.values()]
        bases = [factor.basis for factor in factors if isinstance(factor, PivotedCholesky)]
        probits = [self.settings.probit(c.noise, margin, c.lapse) for c in waiting.values()]
        starts = [self._start(key, c, data) or WarmStart.zeros(len(data)) for key, c in waiting.items()]
        check_answers(data, probits[0], self.inference)
        found = warm_starts(bases, layout_of(data), probits, starts, CLOSER * SOLVERS["ep"][1])
        self._starts = dict(zip(waiting, found, strict=True))

    def _inferred_together(
        self, candidates: dict[Key, Candidate], data: Comparisons, margin: Margins
    ) -> dict[Key, _Fit | None]:
        """The fits of several candidates; of very many answers, one on each core."""

        def inferred(key: Key) -> _Fit | None:
            return self._infer(key, candidates[key], data, margin)

        if not are_many(data):
            return {key: inferred(key) for key in candidates}
        kernels = dict.fromkeys(
            c.kernel for k, c in candidates.items() if not self._is_fitted(k, data, margin)
        )
        map_parallel(lambda kernel: self._factored(kernel, data), kernels)
        return dict(zip(candidates, map_parallel(inferred, candidates), strict=True))

    def _start(self, key: Key, candidate: Candidate, data: Comparisons) -> WarmStart | None:
        """The sites of fewer answers; not where lapses may give EP several fixed points."""
        old = self._fits.get(key)
        several = candidate.lapse and not are_many(data)
        return None if old is None or several else WarmStart.from_solution(old.solution, len(data))

    def _is_fitted(self, key: Key, data: Comparisons, margin: Margins) -> bool:
        old = self._fits.get(key)
        if old is None or old.fit is None:
            return False
        return old.answers == len(data) and old.margin == margin

    def _infer(self, key: Key, candidate: Candidate, data: Comparisons, margin: Margins) -> _Fit | None:
        if self._is_fitted(key, data, margin):
            return self._fits[key]
        start = self._starts.get(key) or self._start(key, candidate, data)
        try:
            probit = self.settings.probit(candidate.noise, margin, candidate.lapse)
            cholesky = self._factored(candidate.kernel, data)
            if isinstance(cholesky, LowRank):
                cholesky = cholesky.for_noise(candidate.noise)
                start = self._continued(key, cholesky, start)
            fit = infer(candidate.kernel, data, probit, self.inference, start, cholesky=cholesky)
        except ConvergenceError:
            return None  # the mixture is made of the others
        self._fits[key] = _Fit(fit, fit.log_evidence, fit.solution, len(data), margin)
        return self._fits[key]

    def _continued(self, key: Key, low: LowRank, start: WarmStart | None) -> WarmStart | None:
        """The start with the whole last solution, if that is of the same basis."""
        old = self._fits.get(key)
        if start is None or old is None or old.fit is None:
            return start
        if not isinstance(old.fit.cholesky, LowRank):
            return start
        pivots = old.fit.cholesky.pivots
        same = np.array_equal(low.pivots[: len(pivots)], pivots)
        return replace(start, solution=old.solution) if same else start

    def _factored(self, kernel: Kernel, data: Comparisons) -> PivotedCholesky | LowRank:
        """The prior covariance of the answered differences, shared by the candidates with the same kernel."""
        if kernel not in self._factors:
            smallest = min(noise for noise, _ in noise_grid(self.noise, self.lapse))
            smallest = self._smallest.get(kernel, smallest)
            last = self._last_factors.get(kernel)
            start = last if isinstance(last, LowRank) and len(last.basis) <= len(data) else None
            self._factors[kernel] = factored(kernel, data, smallest, start)
        return self._factors[kernel]

    def _screened(
        self, candidates: dict[Key, Candidate], data: Comparisons, margin: Margins
    ) -> dict[Key, Candidate]:
        """Of very many answers: the candidates that the first of them leave."""

        def log_weight(candidate: Candidate, stage: int) -> float:
            some, probit = data[:stage], self.settings.probit(candidate.noise, margin, candidate.lapse)
            low = low_rank_basis(candidate.kernel, some, candidate.noise, tolerance=ROUGH_BASIS)
            with suppress(ConvergenceError):
                found = infer(candidate.kernel, some, probit, self.inference, tolerance=ROUGH, cholesky=low)
                return candidate.log_prior + found.log_evidence
            return -np.inf

        left = set(self._screening.left(list(candidates.values()), len(data), log_weight))
        return {key: candidate for key, candidate in candidates.items() if candidate in left}


def _first_of_many(data: Comparisons) -> Comparisons:
    """All answers, or of very many some of the first: the same until there are half as many more."""
    if not are_many(data):
        return data
    first = last_milestone(len(data), FROM, 2) or FROM
    return data[: first : -(-first // FEW)]


def _continues(old: Comparisons, new: Comparisons) -> bool:
    """Whether one of the two is the beginning of the other."""
    n = min(len(old), len(new))
    return old.scaling == new.scaling and old[:n].tobytes() == new[:n].tobytes()
