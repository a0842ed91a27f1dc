"""Candidates averaged by prior times evidence, and quickly again as answers are added.

    candidate      a model with fixed hyper-parameters; it is known by a key
    log weight     log prior + log evidence, before normalization
    upper bound    on a candidate's log weight: its log weight when it was last fitted

The evidence of a candidate can only fall with further answers, so one whose upper bound is negligible
relative to the best need not be fitted again. Others start from the sites of their last fit. The average
depends on the answers alone; what is kept from one to the next only saves time.
"""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from typing import Generic, NamedTuple, TypeVar

import numpy as np
from scipy.special import logsumexp

from prefero._support.arrays import Indices
from prefero.models.inference.fit import Fit
from prefero.models.inference.low_rank import LowRank
from prefero.models.inference.solution import ConvergenceError, Solution, WarmStart

TYPICAL_FALL = 0.7  # of the log evidence with one more answer
ALLOWANCE = 0.05  # by which EP's log evidence may rise with an answer

Key = TypeVar("Key", bound=Hashable)


def normalized_weights(log_weights: Mapping[Key, float], negligible: float) -> tuple[dict[Key, float], float]:
    """Weights that add up to 1, and the logarithm of what they added up to before.

    Args:
        log_weights: Of the candidates.
        negligible: Candidates of less than this fraction of the largest weight are left out.
    """
    least = max(log_weights.values()) + np.log(negligible)
    kept = {key: value for key, value in log_weights.items() if value >= least}
    total = float(logsumexp(list(kept.values())))
    return {key: float(np.exp(value - total)) for key, value in kept.items()}, total


@dataclass(frozen=True, eq=False)
class LastFit:
    """What is kept of a candidate's last fit: where the next one starts, and a bound on its log weight.

    Args:
        solution: The sites; in a basis of bounded rank the whole solution.
        answers: How many there were.
        bound: On the log weight; infinite where it is not known.
        pivots: Of the basis of bounded rank.
    """

    solution: Solution
    answers: int
    bound: float
    pivots: Indices | None = None

    @classmethod
    def of(cls, fit: Fit, log_weight: float) -> "LastFit":
        """Without the arrays that the next fit computes anew: a server holds many learners."""
        bound, answers = log_weight + ALLOWANCE, len(fit.data)
        if isinstance(fit.cholesky, LowRank):
            return cls(fit.solution, answers, bound, fit.cholesky.pivots)
        return cls(fit.solution.sites_alone(), answers, bound)


class Averaged(NamedTuple, Generic[Key]):
    """The candidates that are not negligible, with their weights, and the log evidence of all."""

    weights: dict[Key, float]
    fits: dict[Key, Fit]
    log_evidence: float


class ModelAverage(Generic[Key]):
    """Weighs candidates by prior times evidence.

    Args:
        negligible: Candidates of less than this fraction of the largest weight are left out.
    """

    def __init__(self, negligible: float) -> None:
        self.negligible = negligible
        self._settings: Hashable = None
        self._last: dict[Key, LastFit] = {}

    def copy(self) -> "ModelAverage[Key]":
        """One that goes its own way; what is kept of a fit is replaced and never changed."""
        other: ModelAverage[Key] = ModelAverage(self.negligible)
        other._settings, other._last = self._settings, dict(self._last)
        return other

    def begin(self, answers: int, settings: Hashable, continued: bool) -> None:
        """Begin with so many answers, or rows of them.

        Args:
            answers: How many there are.
            settings: What all candidates have in common, such as the margin. Bounds hold while it is equal.
            continued: Whether the answers begin with the last ones, or are the first of these; otherwise all
                is forgotten. After answers were taken back, fits to more of them are only starts.
        """
        if not continued:
            self._last = {}
        for key, last in self._last.items():
            if settings != self._settings or last.answers > answers:
                self._last[key] = replace(last, bound=np.inf)
        self._settings = settings

    def forget(self, which: Callable[[Key], bool]) -> None:
        """Forget some candidates, whose keys will mean others."""
        self._last = {key: last for key, last in self._last.items() if not which(key)}

    def start(self, key: Key, count: int) -> WarmStart | None:
        """The sites of a candidate's last fit, for so many rows of answers."""
        last = self._last.get(key)
        return None if last is None else WarmStart.from_solution(last.solution, count)

    def continued(self, key: Key, low: LowRank, start: WarmStart | None) -> WarmStart | None:
        """The start with the whole last solution, if that is of the first columns of this basis."""
        last = self._last.get(key)
        if start is None or last is None or last.pivots is None:
            return start
        same = np.array_equal(low.pivots[: len(last.pivots)], last.pivots)
        return replace(start, solution=last.solution) if same else start

    def over(
        self, log_priors: Mapping[Key, float], fit: Callable[[list[Key]], Mapping[Key, Fit | None]]
    ) -> Averaged[Key]:
        """Average the candidates.

        First those are fitted that the largest bound leaves, if it falls as it typically does; then those
        that the best of them leaves.

        Args:
            log_priors: Of the candidates.
            fit: Fits several candidates; None for one whose inference does not converge.

        Raises:
            ConvergenceError: If that is so for all of them.
        """
        bounds = {key: self._last[key].bound if key in self._last else np.inf for key in log_priors}
        fits: dict[Key, Fit] = {}
        log_weights: dict[Key, float] = {}
        best, waiting = max(bounds.values()) - TYPICAL_FALL, list(log_priors)
        while some := [key for key in waiting if bounds[key] >= best + np.log(self.negligible)]:
            waiting = [key for key in waiting if key not in set(some)]
            fits |= {key: found for key, found in fit(some).items() if found is not None}
            log_weights = {key: log_priors[key] + found.log_evidence for key, found in fits.items()}
            best = max(log_weights.values(), default=-np.inf)
        if not log_weights:
            raise ConvergenceError("inference did not converge for any structure with these answers")
        self._last |= {key: LastFit.of(found, log_weights[key]) for key, found in fits.items()}
        in_order = {key: log_weights[key] for key in log_priors if key in log_weights}
        weights, log_evidence = normalized_weights(in_order, self.negligible)
        return Averaged(weights, {key: fits[key] for key in weights}, log_evidence)
