"""Bayesian model averaging over structures and hyper-parameters: the default model.

Whether a reward is linear, quadratic or of another form, and how noisy the person's answers are, is not known
in advance. So the default model fits several Gaussian processes, the candidates of
`prefero.models.averaging.structures`, and weights each by prior times evidence (marginal likelihood). The
posterior over rewards is the mixture, in which a few candidates stand for all
(`prefero.models.averaging.reduction`).

    candidate      a structure with fixed hyper-parameters
    key            of a candidate: the list it is in (grid, ard, sparse), and its place there

`prefero.models.averaging.model_average` decides which candidates are fitted again after an answer.
"""

from contextlib import suppress
from copy import copy
from dataclasses import dataclass, field, replace

import numpy as np

from prefero._support.arrays import Array, one_thread
from prefero._support.parallel import map_parallel
from prefero.kernels import Kernel
from prefero.models.algebra.linalg import PivotedCholesky
from prefero.models.averaging.learned_margins import LearnedMargins
from prefero.models.averaging.milestones import last_milestone
from prefero.models.averaging.model_average import Averaged, ModelAverage
from prefero.models.averaging.reduction import ReferencePairs, reduced_weights
from prefero.models.averaging.reference import Reference
from prefero.models.averaging.score_share import ScoreShare
from prefero.models.averaging.screening import Screening
from prefero.models.averaging.searched_structures import SEARCHED, SearchedStructure
from prefero.models.averaging.source_trust import SourceTrust, Trust, source_noise
from prefero.models.averaging.step_structures import STEP_SEARCHED, step_candidates
from prefero.models.averaging.structures import Candidate, Margins, ModelSettings, grid_candidates, noise_grid
from prefero.models.inference.attempts import warm_starts
from prefero.models.inference.fit import Fit
from prefero.models.inference.growing_basis import low_rank_basis
from prefero.models.inference.infer import SOLVERS, Inference, check_answers, factored, infer
from prefero.models.inference.low_rank import FROM, LowRank, are_many
from prefero.models.inference.solution import ConvergenceError, WarmStart
from prefero.models.likelihood.regions import layout_of
from prefero.models.posterior.mixture import MixturePosterior
from prefero.questions import Comparisons

Key = tuple[int, int]


@dataclass(frozen=True)
class MixturePolicy:
    """How exact the mixture is, and how much work goes into it."""

    negligible: float = 2e-3  # of the largest weight: candidates of less are left out
    components: int = 8  # that candidates are reduced to
    pairs: int = 200  # of trajectories, whose predictions the components have in common with all candidates
    together: int = 100  # rows: with more, the linear algebra of one model outweighs the overhead of a sweep
    closer: float = 0.1  # of the tolerance, for all models together: results hardly depend on the start
    searched_in: int = 1000  # of very many answers, so many find the margin and search structures
    rough: float = 0.01  # tolerance of EP when candidates are screened
    rough_basis: float = 2.0  # and of its basis


POLICY = MixturePolicy()


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
    _found: dict[int, tuple[tuple[bytes, Margins], list[Candidate]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._score_share, self._source_trust = ScoreShare(), SourceTrust()
        self.trust: dict[str, Trust] = {}  # in demonstrations and corrections
        given = self.noise, self.margin, self.inference, self.lapse, self.strong_margin
        self._begin(ModelSettings(self.reference, *given))

    def _begin(self, settings: ModelSettings) -> None:
        """Begin anew, with kernels that know the bar and scores or without."""
        self.settings = settings
        self._data, self._found = None, {}
        of_steps = bool(self.reference.step_blocks)
        self._grid = step_candidates(self.settings) if of_steps else grid_candidates(self.settings)
        self._kinds = STEP_SEARCHED if of_steps else SEARCHED
        self._pairs = ReferencePairs(*self.reference.pairs(POLICY.pairs))
        self._margins = LearnedMargins(self.settings)
        self._factors: dict[Kernel, PivotedCholesky | LowRank] = {}
        self._last_factors: dict[Kernel, PivotedCholesky | LowRank] = {}
        self._screening: Screening[Candidate] = Screening()
        self._smallest: dict[Kernel, float] = {}  # noise of the candidates that very many answers leave
        self._average: ModelAverage[Key] = ModelAverage(POLICY.negligible)
        self._mixture: MixturePosterior | None = None
        self.sites: list[tuple[Array, Array]] = []  # of the answers, under each component of the mixture

    def __deepcopy__(self, memo: object) -> "MixtureFitter":
        """An independent fitter, with the same fits: they are replaced and never changed."""
        other = copy(self)
        other._average, other._screening = self._average.copy(), self._screening.copy()
        other._found, other._factors = dict(self._found), dict(self._factors)
        other._margins, other._pairs = copy(self._margins), self._pairs.copy()
        other._score_share, other._source_trust = copy(self._score_share), copy(self._source_trust)
        return other

    @one_thread
    def fit(self, data: Comparisons) -> MixturePosterior:
        """The posterior after these answers."""
        settings = replace(self.settings, bar=data.has_bar, scores=data.scores)
        settings = replace(settings, score_share=self._score_share.of(settings, data))
        if settings != self.settings:
            self._begin(settings)
        last = self._data
        continued = last is not None and _continues(last, data)
        if self._mixture is not None and last is not None and continued and len(last) == len(data):
            return self._mixture
        if not continued:
            self._factors, self._screening = {}, Screening()
        self._data, self._mixture = data, None
        self._last_factors, self._factors, self._smallest = self._factors, {}, {}
        margin = self._margins.of(_first_of_many(data))
        self.trust = self._source_trust.of(self.settings, data)
        margin = margin._replace(source_noise=source_noise(self.trust, margin.source_noise))
        self._average.begin(len(data), margin, continued)
        self._mixture = self._averaged(self._candidates(data, margin), data, margin)
        # keep no arrays that the next fit computes anew: a server holds many learners
        self._factors = {kernel: low for kernel, low in self._factors.items() if isinstance(low, LowRank)}
        self._last_factors = {}
        return self._mixture

    def _averaged(
        self, candidates: dict[Key, Candidate], data: Comparisons, margin: Margins
    ) -> MixturePosterior:
        structures = dict.fromkeys((candidate.structure for candidate in candidates.values()), 0.0)
        if are_many(data):
            candidates = self._screened(candidates, data, margin)
            for candidate in candidates.values():
                own = self._smallest.get(candidate.kernel, np.inf)
                self._smallest[candidate.kernel] = min(own, candidate.noise)
        averaged = self._average.over(
            {key: candidate.log_prior for key, candidate in candidates.items()},
            lambda keys: self._fit_together({key: candidates[key] for key in keys}, data, margin),
        )
        for key, weight in averaged.weights.items():
            structures[candidates[key].structure] += weight
        structures = {name: min(total, 1.0) for name, total in structures.items()}
        log_evidence = averaged.log_evidence - self._log_prior_total(data)
        components = self._components(averaged)
        self.sites = [fit.solution.sites for _, fit in components]
        return MixturePosterior(tuple((w, fit.posterior) for w, fit in components), structures, log_evidence)

    def _components(self, averaged: Averaged[Key]) -> list[tuple[float, Fit]]:
        """A few candidates that together predict what all of them do."""
        weights, fits = list(averaged.weights.values()), list(averaged.fits.values())
        if len(fits) <= POLICY.components:
            return list(zip(weights, fits, strict=True))
        reduced = reduced_weights(self._pairs.moments(fits), np.array(weights), POLICY.components)
        chosen = [(float(weight), fit) for weight, fit in zip(reduced, fits, strict=True) if weight > 0.0]
        return sorted(chosen, key=lambda pair: -pair[0])

    def _log_prior_total(self, data: Comparisons) -> float:
        """The logarithm of the sum of the structures' prior weights: the more are searched, the larger."""
        return float(np.log1p(sum(kind.weight for kind in self._searched(data))))

    def _searched(self, data: Comparisons) -> list[SearchedStructure]:
        """The searched structures that there are enough features and answers for."""
        d = self.settings.reference.features
        enough = [kind for kind in self._kinds if kind.min_features <= d <= kind.max_features]
        answers = self._believed(data).n_answers
        return [kind for kind in enough if self.searched and kind.milestone(answers) is not None]

    def _believed(self, data: Comparisons) -> Comparisons:
        """All but what sources say that are given up."""
        given_up = [name for name, trust in self.trust.items() if not trust.is_kept]
        return data[np.flatnonzero(~data.from_source(*given_up))] if given_up else data

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
        believed = self._believed(data)
        some = _first_of_many(believed.first(kind.milestone(believed.n_answers) or 0))
        searched_in = some.tobytes(), margin
        if number not in self._found or self._found[number][0] != searched_in:
            self._found[number] = searched_in, kind.search(self.settings, some, margin)
            self._average.forget(lambda key: key[0] == number)
        return self._found[number][1]

    def _fit_together(
        self, candidates: dict[Key, Candidate], data: Comparisons, margin: Margins
    ) -> dict[Key, Fit | None]:
        """The fits of several candidates; of very many answers, one on each core."""
        starts = self._warm_starts(candidates, data, margin)

        def fitted(key: Key) -> Fit | None:
            return self._fit(key, candidates[key], starts.get(key), data, margin)

        if not are_many(data):
            return {key: fitted(key) for key in candidates}
        kernels = dict.fromkeys(candidate.kernel for candidate in candidates.values())
        map_parallel(lambda kernel: self._factored(kernel, data), kernels)
        return dict(zip(candidates, map_parallel(fitted, candidates), strict=True))

    def _warm_starts(
        self, candidates: dict[Key, Candidate], data: Comparisons, margin: Margins
    ) -> dict[Key, WarmStart]:
        """Sites to start from: those of fewer answers, which few answers improve for all at once."""
        last = {key: self._start(key, candidate, data) for key, candidate in candidates.items()}
        if len(data) > POLICY.together or self.inference != "ep" or (data.has_ties and self.margin == 0):
            return {key: start for key, start in last.items() if start is not None}
        factors = [self._factored(candidate.kernel, data) for candidate in candidates.values()]
        bases = [factor.basis for factor in factors if isinstance(factor, PivotedCholesky)]
        probits = [self.settings.probit(c.noise, margin, c.lapse) for c in candidates.values()]
        check_answers(data, probits[0], self.inference)
        starts = [start or WarmStart.zeros(len(data)) for start in last.values()]
        found = warm_starts(bases, layout_of(data), probits, starts, POLICY.closer * SOLVERS["ep"][1])
        return dict(zip(candidates, found, strict=True))

    def _start(self, key: Key, candidate: Candidate, data: Comparisons) -> WarmStart | None:
        """The sites of fewer answers; not where lapses may give EP several fixed points."""
        several = candidate.lapse and not are_many(data)
        return None if several else self._average.start(key, len(data))

    def _fit(
        self, key: Key, candidate: Candidate, start: WarmStart | None, data: Comparisons, margin: Margins
    ) -> Fit | None:
        probit = self.settings.probit(candidate.noise, margin, candidate.lapse)
        with suppress(ConvergenceError):  # the mixture is made of the others
            cholesky = self._factored(candidate.kernel, data)
            if isinstance(cholesky, LowRank):
                cholesky = cholesky.for_noise(candidate.noise)
                start = self._average.continued(key, cholesky, start)
            return infer(candidate.kernel, data, probit, self.inference, start, cholesky=cholesky)
        return None

    def _factored(self, kernel: Kernel, data: Comparisons) -> PivotedCholesky | LowRank:
        """The prior covariance of the answered differences, the same for candidates with the same kernel."""
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
            low = low_rank_basis(candidate.kernel, some, candidate.noise, tolerance=POLICY.rough_basis)
            with suppress(ConvergenceError):
                found = infer(
                    candidate.kernel, some, probit, self.inference, tolerance=POLICY.rough, cholesky=low
                )
                return candidate.log_prior + found.log_evidence
            return -np.inf

        left = set(self._screening.left(list(candidates.values()), len(data), log_weight))
        return {key: candidate for key, candidate in candidates.items() if candidate in left}


def _first_of_many(data: Comparisons) -> Comparisons:
    """All answers, or of very many some of the first: the same until there are half as many more."""
    if not are_many(data):
        return data
    first = last_milestone(len(data), FROM, 2) or FROM
    return data[: first : -(-first // POLICY.searched_in)]


def _continues(old: Comparisons, new: Comparisons) -> bool:
    """Whether one of the two is the beginning of the other."""
    n = min(len(old), len(new))
    return old.scaling == new.scaling and old[:n].tobytes() == new[:n].tobytes()
