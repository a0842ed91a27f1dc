"""Bayesian model averaging over structures and hyper-parameters: the default model's posterior is a mixture.

Whether a reward is linear, quadratic or of another form, and how noisy the person's answers are, is not known
in advance. So the default model fits several Gaussian processes, the candidates of
`prefero.models.structures`, and weights each by prior times evidence (marginal likelihood). The posterior
over rewards is the mixture.

    candidate      a structure with fixed hyper-parameters
    key            of a candidate: the list it is in (grid, ard, sparse), and its place there
    log weight     log prior + log evidence, before normalization
    upper bound    on a candidate's log weight: its log weight when it was last fitted

The evidence of a candidate can only fall with further answers, so one whose upper bound is negligible
relative to the best need not be fitted again.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.special import logsumexp

from prefero._support.arrays import Array, one_thread
from prefero._support.texts import percent, pluralize
from prefero.kernels import Kernel, Standardized
from prefero.models.inference import Inference, infer
from prefero.models.likelihood import Probit
from prefero.models.marginal_likelihood import fit_hyperparameters
from prefero.models.posterior import Posterior
from prefero.models.searched_structures import SEARCHED, SearchedStructure
from prefero.models.solution import ConvergenceError, Solution, WarmStart
from prefero.models.structures import (
    DESCRIPTIONS,
    GRID,
    LABELS,
    TYPICAL_NOISE,
    Candidate,
    ModelSettings,
    grid_candidates,
    typical_kernel,
)
from prefero.questions import Comparisons
from prefero.trajectories.features import Scaling

STALE = -1  # in place of a fit's number of answers, when some were taken back: it serves only as a warm start
MAX_COMPONENTS = 8  # of the mixture, unless more are needed to have
PER_STRUCTURE = 2  # components of each structure
NEGLIGIBLE = 1e-3  # of the largest weight
ENOUGH_ANSWERS = 5  # with fewer, a posterior is little more than its prior, and nothing is said about it
SURE = 0.6  # probability of a structure that is named: its odds are 2.8 times those of the prior or more

Key = tuple[int, int]


@dataclass(frozen=True, eq=False, repr=False)
class MixturePosterior:
    """A mixture of Gaussians over rewards. Call it with features for a mean and a covariance.

    Args:
        components: Posteriors with their weights.
        structures: The posterior probability of each structure, by its name.
        log_evidence: The log marginal likelihood of the answers.
    """

    components: tuple[tuple[float, Posterior], ...]
    structures: dict[str, float]  # the posterior probability of each structure
    log_evidence: float

    @property
    def probit(self) -> Probit:
        """The likelihood of answers, with noise, margin and lapse rate averaged over the components."""
        each = [(weight, part.probit) for weight, part in self.components]
        return Probit(
            noise=sum(weight * probit.noise for weight, probit in each),
            margin=sum(weight * probit.margin for weight, probit in each),
            lapse=sum(weight * probit.lapse for weight, probit in each),
        )

    @property
    def n_features(self) -> int:
        """The number of features."""
        return self.components[0][1].n_features

    @property
    def scaling(self) -> Scaling | None:
        """What scaled the features that it was fitted to; None: they are raw."""
        return self.components[0][1].scaling

    def __call__(self, x: Array) -> tuple[Array, Array]:
        """Mean (M,) and covariance (M, M) of the rewards of x under the mixture."""
        each = [(weight, *part(x)) for weight, part in self.components]
        mean: Array = sum(w * m for w, m, _ in each)  # type: ignore[assignment]
        covariance: Array = sum(w * (c + np.outer(m - mean, m - mean)) for w, m, c in each)  # type: ignore[assignment]
        return mean, covariance

    def marginals(self, x: Array) -> tuple[Array, Array]:
        """Mean (M,) and variance (M,) of the rewards of x."""
        return self._moments((w, *part.marginals(x)) for w, part in self.components)

    def difference(self, a: Array, b: Array) -> tuple[Array, Array]:
        """Mean and variance of f(a) - f(b), row by row."""
        return self._moments((w, *part.difference(a, b)) for w, part in self.components)

    def probability(self, a: Array, b: Array) -> Array:
        """P(a is preferred to b), row by row."""
        total: Array = sum(w * part.probability(a, b) for w, part in self.components)  # type: ignore[assignment]
        return total

    def sample(self, x: Array, count: int, rng: np.random.Generator) -> Array:
        """Joint samples of the rewards of x, shape (count, M)."""
        counts = rng.multinomial(count, [weight for weight, _ in self.components])
        samples = [p.sample(x, int(n), rng) for n, (_, p) in zip(counts, self.components, strict=True) if n]
        return rng.permutation(np.concatenate(samples)) if samples else np.empty((0, len(x)))

    def describe(self) -> str:
        """The most probable structure in words; nothing is claimed from the prior alone."""
        if self.answers < ENOUGH_ANSWERS:
            given = pluralize(self.answers, "answer")
            return f"it is too early to say what the reward looks like, after {given}"
        structure, weight = max(self.structures.items(), key=lambda item: item[1])
        if weight < SURE:
            return f"the reward's form is still open ({self._shares()})"
        return f"the reward seems {DESCRIPTIONS[structure]} ({percent(weight)} sure)"

    @property
    def answers(self) -> int:
        """How many answers it was fitted to."""
        return len(self.components[0][1].data)

    def __repr__(self) -> str:
        ranked = ", ".join(f"{name} {weight:.2f}" for name, weight in self._ranked() if weight >= 0.005)
        return f"MixturePosterior({ranked})"

    def _shares(self) -> str:
        return ", ".join(
            f"{LABELS[name]} {percent(weight)}" for name, weight in self._ranked() if weight >= 0.05
        )

    def _ranked(self) -> list[tuple[str, float]]:
        return sorted(self.structures.items(), key=lambda item: -item[1])

    @staticmethod
    def _moments(each: Iterator[tuple[float, Array, Array]]) -> tuple[Array, Array]:
        parts = list(each)
        mean: Array = sum(w * m for w, m, _ in parts)  # type: ignore[assignment]
        variance: Array = sum(w * (v + (m - mean) ** 2) for w, m, v in parts)  # type: ignore[assignment]
        return mean, variance


@dataclass(eq=False)
class _Fit:
    """The last inference of a candidate: its posterior, its solution, and the number of answers it had."""

    posterior: Posterior
    solution: Solution
    answers: int
    margin: float


@dataclass(eq=False)
class MixtureFitter:
    """Fits the mixture to answers, and quickly again as answers are added.

    The result depends on the answers alone; what is kept from one fit to the next only saves time.
    """

    features: int
    noise: float | None = None  # None: averaged over
    margin: float | None = None  # None: learned where there are ties
    inference: Inference = "ep"
    searched: bool = True  # with the searched structures, ARD and sparse
    standardization: Scaling | None = None  # of raw features; None: the features are standardized already
    _data: Comparisons | None = None
    _fits: dict[Key, _Fit] = field(default_factory=dict)
    _found: dict[str, tuple[tuple[bytes, float], list[Candidate]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        settings = (self.noise, self.margin, self.inference, self.searched)
        self.options = (self.features, *settings, self.standardization)
        self.settings = ModelSettings(
            self.features, self.noise, self.margin, self.inference, self._standardize
        )
        grid = grid_candidates(self.features, self.noise)
        self._grid = [replace(candidate, kernel=self._standardize(candidate.kernel)) for candidate in grid]

    def _standardize(self, kernel: Kernel) -> Kernel:
        by = self.standardization
        return kernel if by is None else Standardized(kernel, by.center, by.scale)

    @one_thread
    def fit(self, data: Comparisons) -> MixturePosterior:
        """The posterior after these answers."""
        self._forget_unless_continued(data)
        margin = self._margin(data)
        candidates = self._candidates(data, margin)
        log_weights = self._log_weights(candidates, data, margin)
        if not log_weights:
            raise ConvergenceError("inference did not converge for any structure with these answers")
        log_evidence = float(logsumexp(list(log_weights.values())))
        weights = {key: float(np.exp(value - log_evidence)) for key, value in log_weights.items()}
        structures = dict.fromkeys((candidate.structure for candidate in candidates.values()), 0.0)
        for key, weight in weights.items():
            structures[candidates[key].structure] += weight
        leading = _leading(weights, {key: candidates[key].structure for key in weights}, structures)
        components = tuple((weight, self._fits[key].posterior) for key, weight in leading.items())
        return MixturePosterior(components, structures, log_evidence)

    def _forget_unless_continued(self, data: Comparisons) -> None:
        if self._data is not None and not _continues(self._data, data):
            self._fits = {}
        for fit in self._fits.values():
            if fit.answers > len(data):
                fit.answers = STALE
        self._data = data

    def _candidates(self, data: Comparisons, margin: float) -> dict[Key, Candidate]:
        """The grid, and what was found of the searched structures."""
        structures = SEARCHED if self.searched else ()
        found = [self._search(number, kind, data, margin) for number, kind in enumerate(structures, 1)]
        lists = [self._grid, *found]
        return {(n, place): candidate for n, some in enumerate(lists) for place, candidate in enumerate(some)}

    def _search(
        self, number: int, kind: SearchedStructure, data: Comparisons, margin: float
    ) -> list[Candidate]:
        """The candidates of a searched structure, from the answers up to its last milestone."""
        first = kind.milestone(len(data))
        if self.features < kind.min_features or not first:
            return []
        some = data[:first]
        searched_in = (some.winners.tobytes() + some.losers.tobytes() + some.tied.tobytes(), margin)
        if kind.structure not in self._found or self._found[kind.structure][0] != searched_in:
            self._found[kind.structure] = searched_in, kind.search(self.settings, some, margin)
            self._fits = {key: fit for key, fit in self._fits.items() if key[0] != number}
        return self._found[kind.structure][1]

    def _log_weights(
        self, candidates: dict[Key, Candidate], data: Comparisons, margin: float
    ) -> dict[Key, float]:
        """Log weights of all candidates but negligible ones, fitted in the order of their upper bounds."""
        bounds = {key: self._upper_bound(key, candidate, margin) for key, candidate in candidates.items()}
        log_weights: dict[Key, float] = {}
        best = -np.inf
        for key in sorted(bounds, key=lambda key: (-bounds[key], key)):
            if bounds[key] < best + np.log(NEGLIGIBLE):
                break
            fit = self._infer(key, candidates[key], data, margin)
            if fit is not None:
                log_weights[key] = candidates[key].log_prior + fit.posterior.log_evidence
                best = max(best, log_weights[key])
        # negligible candidates that were fitted all the same are left out like those that were not
        return {key: value for key, value in log_weights.items() if value >= best + np.log(NEGLIGIBLE)}

    def _upper_bound(self, key: Key, candidate: Candidate, margin: float) -> float:
        """A bound on the log weight: that of the last fit, since further answers lower the evidence."""
        fit = self._fits.get(key)
        if fit is None or fit.answers == STALE or fit.margin != margin:
            return np.inf
        return candidate.log_prior + fit.posterior.log_evidence + 1e-3

    def _infer(self, key: Key, candidate: Candidate, data: Comparisons, margin: float) -> _Fit | None:
        old = self._fits.get(key)
        if old is not None and old.answers == len(data) and old.margin == margin:
            return old
        start = None if old is None else WarmStart.from_solution(old.solution, len(data))
        try:
            probit = self.settings.probit(candidate.noise, margin)
            posterior, solution = infer(candidate.kernel, data, probit, self.inference, start)
        except ConvergenceError:
            return None  # the mixture is made of the others
        self._fits[key] = _Fit(posterior, solution, len(data), margin)
        return self._fits[key]

    def _margin(self, data: Comparisons) -> float:
        """The margin in units of the noise: 0 without ties, else learned with the best typical model."""
        if self.margin is not None or not data.has_ties:
            return 0.0
        guess = Probit(self.noise or TYPICAL_NOISE, self.noise or TYPICAL_NOISE)
        kernels = [self._standardize(typical_kernel(structure, self.features)) for structure in GRID]
        kernel = max(kernels, key=lambda kernel: self.settings.log_evidence(kernel, data, guess))
        fit = fit_hyperparameters(kernel, data, guess, self.inference, learn_kernel=False, learn_margin=True)
        ratio = fit.probit.margin / fit.probit.noise
        # in steps of a tenth of the logarithm, so that most answers change no candidate's likelihood
        return float(np.exp(0.1 * np.round(10 * np.log(ratio))))


def _leading(
    weights: dict[Key, float], structure_of: dict[Key, str], structures: dict[str, float]
) -> dict[Key, float]:
    """The mixture's components: the heaviest candidates of each structure, then the heaviest of all.

    Within a structure they take over its whole weight, so that many small candidates count beside one.
    """
    ranked = sorted(weights, key=lambda key: (-weights[key], key))
    ranked = [key for key in ranked if structures[structure_of[key]] >= NEGLIGIBLE]
    first = [k for s in structures for k in [k for k in ranked if structure_of[k] == s][:PER_STRUCTURE]]
    chosen = [*first, *(key for key in ranked if key not in first)][: max(MAX_COMPONENTS, len(first))]
    totals = {s: sum(weights[key] for key in chosen if structure_of[key] == s) for s in structures}
    shares = {k: weights[k] / totals[structure_of[k]] * structures[structure_of[k]] for k in chosen}
    total = sum(shares.values())
    return {key: share / total for key, share in shares.items()}


def _continues(old: Comparisons, new: Comparisons) -> bool:
    """Whether one of the two is the beginning of the other."""
    n = min(len(old), len(new))
    pairs = ((old.winners, new.winners), (old.losers, new.losers), (old.tied, new.tied))
    return old.scaling == new.scaling and all(np.array_equal(a[:n], b[:n]) for a, b in pairs)
