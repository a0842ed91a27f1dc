"""How far a score is trusted: its share in the reward's prior variance, learned by evidence.

A score is a feature that was made to say how good trajectories are. The reward is a multiple of it, and what
else the features say: share * k_score + (1 - share) * k. A good score leaves little to the rest, a worthless
one everything. The share is the posterior mean over a few values, found with typical models and learned anew
at milestones.
"""

from dataclasses import replace

import numpy as np
from scipy.special import logsumexp

from prefero.models.averaging.milestones import last_milestone
from prefero.models.averaging.source_trust import in_pairs
from prefero.models.averaging.structures import (
    TYPICAL_SCORE_SHARE,
    Margins,
    ModelSettings,
    typical_forms,
    typical_kernel,
)
from prefero.questions import Comparisons

SHARES = {0.0: 0.15, 0.3: 0.2, 0.6: 0.3, 0.85: 0.35}  # with prior weights
FORMS = ("linear", "rbf")
NOISES = (0.1, 0.5)  # with which answers are explained
MILESTONES = (2, 2)
STEP = 0.1  # in which the share changes, since every change means that all candidates are fitted anew


class ScoreShare:
    """The share of the scores after some answers; the last one is kept until the next milestone."""

    def __init__(self) -> None:
        self._last: tuple[bytes, float] | None = None

    def of(self, settings: ModelSettings, data: Comparisons) -> float:
        """The share, from a person's answers up to the last milestone and all that was known before."""
        before = data.known_before
        own = np.unique(data.answer_numbers[~before])
        known = own[: last_milestone(len(own), *MILESTONES) or 0]
        if not data.scores or not len(known):
            return TYPICAL_SCORE_SHARE
        some = in_pairs(data[np.flatnonzero(before | np.isin(data.answer_numbers, known))])
        content = some.tobytes()
        if self._last is None or self._last[0] != content:
            self._last = content, _learned(replace(settings, scores=data.scores), some)
        return self._last[1]


def _learned(settings: ModelSettings, data: Comparisons) -> float:
    """The posterior mean, in steps."""
    shares, chances = np.array(list(SHARES)), np.array(list(SHARES.values()))
    log_weights = np.log(chances) + [_log_evidence(settings, data, share) for share in SHARES]
    if not np.isfinite(log_weights).any():
        return TYPICAL_SCORE_SHARE
    mean = float(shares @ np.exp(log_weights - logsumexp(log_weights)))
    return STEP * round(mean / STEP)


def _log_evidence(settings: ModelSettings, data: Comparisons, share: float) -> float:
    """Of typical models with this share."""
    reference, given = settings.reference, replace(settings, score_share=share)
    forms = [form for form in typical_forms(reference) if form in FORMS]
    kernels = [given.anchored(typical_kernel(form, reference.features, reference.unit)) for form in forms]
    noises = NOISES if settings.noise is None else (settings.noise,)
    probits = [settings.probit(noise, Margins(), settings.lapse or 0.0) for noise in noises]
    found = [given.log_evidence(kernel, data, probit) for kernel in kernels for probit in probits]
    return float(logsumexp(found))
